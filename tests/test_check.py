"""attncalc check: what it prints, what it exits with, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import reports

from attncalc import formats, load, mark, parse, solve
from attncalc.formats import report as for_scripts
from attncalc.layout.page import Page
from attncalc.layout.report import Report, lay_out_report
from attncalc.marking.papers import Paper

ROOT = Path(__file__).resolve().parent.parent
ABC, GQA = (str(ROOT / "problems" / f"{name}.yaml") for name in ("abc", "size-gqa"))
RIGHT = """\
A: [[.401, .198, .401], [.248, .248, .504], [.284, .140, .576]]
O: [[1.401, .599], [1.504, .752], [1.576, .716]]
"""
SLIP = "S: [[1, 3, 2], [1, 1, 2], [2, 1, 3]]\n"


def check(*arguments: str, stdin: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "attncalc", "check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", input=stdin, cwd=cwd, check=False)


def one_line(run: subprocess.CompletedProcess[str]) -> str:
    assert run.returncode == 2 and run.stdout == "" and run.stderr.count("\n") == 1, run
    return run.stderr


# What it exits with


def test_it_exits_with_0_where_all_is_right_and_1_where_not() -> None:
    assert check(ABC, "-", stdin=RIGHT).returncode == 0
    run = check(ABC, "-", stdin=SLIP)
    assert run.returncode == 1 and run.stderr == ""
    assert "S[1,2] = 1×0 + 0×1 = 0" in run.stdout
    assert check(ABC, "-", stdin="S: _\n").returncode == 1  # blank
    assert check(ABC, "-", stdin="S: [{row: 1, values: [1, 0, x]}]\n").returncode == 1  # no number


def test_figures_that_cannot_be_read_have_their_places_and_hints_and_the_others_their_marks() -> None:
    answers = """O: [["1.401", "０.599"], ["1,504", " 0.752 "], ["nan", "0.7_16"]]"""
    run = check(ABC, "-", stdin=answers)
    assert (run.returncode, run.stderr) == (1, "")
    assert "correct, 3:" in run.stdout and "invalid, 3:" in run.stdout
    for what in ("O[2,1] (1,504; line 1, column 26)", "O[3,1] (nan; line 1, column 48)",
                 "O[3,2] (0.7_16; line 1, column 55)", "1,504 has a comma, which --decimal-comma reads",
                 "nan is not finite", "0.7_16 has a _ between its digits"):  # fmt: skip
        assert what in run.stdout


def test_a_template_is_filled_in_and_read_again(tmp_path: Path) -> None:
    run = check(ABC, "--template")
    assert run.returncode == 0
    blank = check(ABC, "-", "--format", "json", stdin=run.stdout)
    counts = json.loads(blank.stdout)["counts"]
    assert blank.returncode == 1 and counts.pop("blank") == 63 and not any(counts.values())
    filled = run.stdout.replace("_, _, _", "1, 1, 1")
    assert check(ABC, "-", stdin=filled).returncode == 1


def test_standard_input_is_called_so() -> None:
    """Of answers, as of a problem in what `solve` says of it; the name of a file, -, says nothing."""
    assert check(ABC, "-", stdin=RIGHT).stdout.startswith("<stdin>: ")
    assert json.loads(check(ABC, "-", "-f", "json", stdin=RIGHT).stdout)["name"] == "<stdin>"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_single_figure_is_named_by_its_step(lang: str) -> None:
    """It has no row and no column: neither where it slips, nor where it is no number, nor in a class, nor in JSON."""
    written = "concat: 4096\ncache.token_bytes: 13107\nbytes_: x\n".replace("bytes_", "cache.bytes")
    page = check(GQA, "-", "--lang", lang, stdin=written).stdout
    assert {"en": "In C_1 (cache.token_bytes), 13107 was", "zh": "C_1（cache.token_bytes），写的是13107"}[lang] in page
    assert "  C_1 = 2×32×8×128×2 = 131072\n" in page and "  heads×d_k = 4096 ✓\n" in page and "  C = x ?\n" in page
    assert "[1,1]" not in page and ("row" not in page if lang == "en" else "第1行" not in page)
    found = json.loads(check(GQA, "-", "-f", "json", stdin=written).stdout)
    assert [each["working"] for each in found["figures"]][1] == "C_1 = 2×32×8×128×2 = 131072"


# The class


def test_a_class_is_a_line_for_each(tmp_path: Path) -> None:
    for name, text in {"answers-mei": RIGHT, "answers-bo": SLIP, "answers-王": "O: _\n"}.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    run = check(ABC, str(tmp_path), "--format", "csv", "--marks", "A=2,O=3")
    assert run.returncode == 1
    rows = {row["name"]: row for row in csv.DictReader(run.stdout.splitlines())}
    assert {name: row["marks"] for name, row in rows.items()} == {"mei": "5", "bo": "0", "王": "0"}
    assert rows["bo"]["first_slip"] == "S[1,2]" and rows["bo"]["slip"] == "2" and rows["王"]["blank"] == "6"
    students = json.loads(check(ABC, str(tmp_path), "--format", "json").stdout)["students"]
    assert [(student["name"], student["problem"]) for student in students] == [("bo", 1), ("mei", 1), ("王", 1)]
    assert {row["out_of"] for row in rows.values()} == {"5"} and rows["bo"]["method"] == ""
    text = check(ABC, str(tmp_path), "--lang", "zh").stdout
    assert "全班" in text and "王" in text and "S[1,2]" in text


def test_a_class_has_the_method_of_each_first_slip_and_what_became_of_each_step(tmp_path: Path) -> None:
    no_scale = "A: [[.422, .155, .422], [.212, .212, .576], [.245, .09, .665]]\n"
    unscaled = "scaled: [[1, 0, 1], [1, 1, 2], [2, 1, 3]]\n"
    for name, text in {"mei": RIGHT, "bo": no_scale, "cy": unscaled, "di": no_scale}.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    text = check(ABC, str(tmp_path), "--marks", "A=3,O=3").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"^cy +1 +.* S̃\[1,1\] +1 +0 +6$", text, re.M), text
    assert "Method 1: as if the scores had not been divided by √d_k" in text and "Method 2" not in text
    assert "Marks: mean 1.5, highest 6, out of 6" in text
    table = text.partition("By step")[2]
    assert re.search(r"^ *A +27 +2 +33%$", table, re.M) and re.search(r"^ *O +6 +0 +100%$", table, re.M), table
    rows = list(csv.DictReader(check(ABC, str(tmp_path), "--format", "csv").stdout.splitlines()))
    assert [row["method"] for row in rows] == ["no_scale", "no_scale", "no_scale", ""]


def test_students_are_called_as_the_class_calls_them(tmp_path: Path) -> None:
    (tmp_path / "answers-Ame\u0301lie.yaml").write_text(RIGHT, encoding="utf-8")
    assert json.loads(check(ABC, str(tmp_path), "--format", "json").stdout)["students"][0]["name"] == "Am\u00e9lie"


def test_marks_are_named_by_an_ending() -> None:
    run = check("problems/decoder-layer.yaml", "-", "--marks", "norm1.mean=2", "--format", "json", stdin="result: _")
    assert list(json.loads(run.stdout)["marks"]) == ["layer1.norm1.mean"]


def test_what_can_not_be_read_says_the_same_in_a_class_and_alone(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "b.yaml").write_text("S: [[1, 2]]\n", encoding="utf-8")
    line = one_line(check(ABC, str(tmp_path / "b.yaml")))
    assert "b.yaml:1:4: S" in line and "3 × 3" in line
    run = check(ABC, str(tmp_path), "-f", "json")
    assert run.returncode == 1 and json.loads(run.stdout)["students"][1]["error"] == line[:-1]


# What it refuses


@pytest.mark.parametrize(("arguments", "said"), [
    ((ABC, "-", "--marks", "A"), "A=2"),
    ((ABC, "-", "--marks", "A=2,A=3"), "twice"),
    ((ABC, "-", "--marks", "A=-2"), "A=2"),
    ((ABC, "-", "--marks", "B=2"), "no step"),
    ((ABC, "-", "--marks", "2: A=2"), "write A=2"),
    ((ABC, "-", "--format", "latex"), "terminal, text"),
    ((ABC, "-", "--format", "json", "--math", "dollars"), "markdown"),
    ((ABC, "-", "-"), "standard input"),
    ((ABC, "nowhere.yaml"), "nowhere.yaml"),
    (("problems/cross.yaml",), "--template"),
    ((ABC, "-", "--step", "A", "--step", "O"), "--step"),
    ((ABC, "-", "--follow-through", "some"), "follow-through"),
    ((ABC, "-", "--follow-through", "half"), "--marks A=2"),
    ((ABC, "-", "--template"), "--template makes"),
    ((ABC, "--template", "--marks", "A=2"), "--template makes"),
    (("problems/two-heads.yaml", "-", "--marks", "A=2"), "head1.A and head2.A"),
    (("problems/two-heads.yaml", "--template", "--step", "A"), "head1.A and head2.A"),
    (("problems/two-heads.yaml", "-", "--step", "A"), "head1.A and head2.A"),
    ((ABC, "--template", "--step", "B"), "no step"),
])  # fmt: skip
def test_what_can_not_be_used_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    assert said in one_line(check(*arguments, stdin=RIGHT))


# The report


def test_the_json_is_the_contract() -> None:
    found = json.loads(check(ABC, "-", "--format", "json", "--marks", "S=9", stdin=SLIP).stdout)
    assert list(found) == ["format", "name", "figures", "first_slip", "counts", "marks"]
    assert found["format"] == "attncalc-check/1" and found["first_slip"] == {"step": "S", "index": [0, 1]}
    assert found["marks"] == {"S": {"given": 7.0, "of": 9.0}}
    figure = found["figures"][1]
    assert figure == {
        "step": "S", "index": [0, 1], "written": "3", "exact": 0.0, "follows": 0.0, "verdict": "slip", "method": None,
        "working": "S[1,2] = 1×0 + 0×1 = 0",
    }  # fmt: skip


def test_rounding_costs_nothing_and_following_a_slip_as_much_as_is_said() -> None:
    """8.339 is e^2.121, not e^(3/√2), and follows from rounding alone; what follows from a slip costs by request."""
    rounded = "scaled: [{row: 3, values: [1.414, .707, 2.121]}]\nexp: [{row: 3, values: [4.113, 2.028, 8.339]}]\n"
    slipped = "S: [{row: 3, values: [2, 1, 4]}]\nscaled: [{row: 3, values: [1.414, .707, 2.828]}]\n"
    for text, step, marks in ((rounded, "exp", (3, 3, 3)), (slipped, "scaled", (3, 2.5, 2))):
        for how, given in zip(("full", "half", "none"), marks, strict=True):
            arguments = (ABC, "-", "--marks", f"{step}=3", "--follow-through", how, "--format", "json")
            assert json.loads(check(*arguments, stdin=text).stdout)["marks"][step]["given"] == given, (step, how)


@pytest.mark.parametrize("name", reports.ANSWERS)
def test_every_format_has_every_written_figure_and_its_verdict(name: str) -> None:
    problem, marking, earned = reports.marked(name)
    document = dict(reports.documents("en"))[name]
    signs = {"correct": "✓", "follows": "→", "imprecise": "≈", "slip": "✗"}
    pages = {form: formats.render(form, document) for form in ("terminal", "text", "markdown", "html")}
    pages["html"] = re.sub(r"</?bdi>", "", pages["html"])
    for figure in marking.figures:
        for form, page in pages.items():
            if figure.verdict in signs:
                text = figure.written.text.replace(".", "\\.") if form == "markdown" else figure.written.text
                assert f"{text} {signs[figure.verdict]}" in page, (form, figure)
    rows = [Paper(name, marking, problem.show, earned)]
    text = "".join(for_scripts.to_json(rows, partial(Report, lang="en"), of_class=False))
    assert len(json.loads(text)["figures"]) == len(marking.figures)
    assert len(list(csv.reader(for_scripts.to_csv(rows, of_class=False).splitlines()))) == 1 + len(marking.figures)


def test_the_working_is_from_the_figures_that_were_written() -> None:
    """The line of a slip holds the written figures of the step before it, and arithmetic on them."""
    problem = load(ABC)
    marking = mark(problem, {"Q": [[1, 7], [0, 1], [1, 1]], "S": [[9, 3, 5], [1, 1, 2], [2, 1, 3]]})
    slips = [(figure.step, figure.row, figure.column) for figure in marking.figures if figure.verdict == "slip"]
    assert slips == [("Q", 0, 1), ("S", 0, 0), ("S", 0, 1), ("S", 0, 2)]
    working = Report(marking, problem.show, "en").working(marking.figures[6])
    assert working.figures[2:] == ("1", "1", "7", "1", "8")  # S[1,1] = 1×1 + 7×1 = 8


# What it says of the figures


def said_of(answers: dict[str, object], lang: str = "en", problem: str = ABC) -> str:
    read = load(problem)
    document = lay_out_report(mark(read, answers), read.show, lang, title=None, kind=read.kind)
    return formats.render("text", document)


def test_figures_that_are_none_are_said_once_with_each_reason_once() -> None:
    text = said_of({"S": [["0,707", "x", "y"], ["_", "1,5", "1/0"], ["z"] * 3]})
    assert text.count("Not a number:") == 1 and "S[1,1] (0,707), S[1,2] (x), S[1,3] (y), S[2,2] (1,5)" in text
    assert text.count("decimal comma") == text.count("such as 0.5") == text.count("divides by 0") == 1
    long = said_of({"S": [["x" * 150] * 3] * 3})
    assert "x" * 19 + "…" in long and "x" * 20 not in long


def test_a_long_list_ends_in_how_many_more() -> None:
    text = said_of({"H": [["x"] * 4] * 3, "S": [[9, 9, 9]] * 3}, problem=str(ROOT / "problems" / "i-love-you.yaml"))
    assert text.count("(x)") == 12 and "H[2,3] (x). x is" in text and "and 3 more" in text
    heads = said_of({"result": [["_"] * 4] * 3}, problem=str(ROOT / "problems" / "two-heads.yaml"))
    assert re.search(r"\(head2\.\w+\) and \d more\.", heads)


def test_a_row_that_is_too_simple_is_pointed_out_where_something_follows_from_it() -> None:
    simple = [[1, 0, 0], [".248", ".248", ".504"], [".284", ".140", ".576"]]
    follows, other = {"row": 1, "values": [1, 0]}, {"row": 2, "values": ["1.504", ".752"]}
    assert "in A, row 1 has one weight of 1 and no other." in said_of({"A": simple, "O": follows})
    assert "A，第1行只有一个权重为1" in said_of({"A": simple, "O": follows}, "zh")
    for answers in (
        {"A": simple},  # nothing follows
        {"A": simple, "O": other},  # what was written follows from another row
        {"A": simple, "O": {"row": 1, "values": [5, 5]}},  # it does not follow
        {"S": [[1, 0, 0], [1, 1, 2], [2, 1, 3]], "scaled": {"row": 1, "values": [".707", 0, 0]}},  # no weights
    ):
        assert "For the teacher" not in said_of(answers), answers
    zeros = {"S": [[0, 0, 0], [0, 0, 0], [2, 1, 3]], "scaled": {"rows": [1, 2], "values": [[0, 0, 0], [0, 0, 0]]}}
    assert "in S, rows 1 and 2 are 0 everywhere." in said_of(zeros)
    # Half of the row is left blank; the right row is 0; by way of another slip.
    assert "For the teacher" not in said_of(zeros | {"S": [[0, "_", 0], [1, 1, 2], [2, 1, 3]]})
    slip_between = zeros | {"scaled": {"row": 1, "values": [1, 1, 1]}, "exp": {"row": 1, "values": ["2.718"] * 3}}
    assert "in S" not in said_of(slip_between).partition("Step by step")[2].partition("S̃ (scaled): ")[0]


def test_what_follows_from_a_right_figure_does_not_follow_from_a_row_of_zeros() -> None:
    answers = {"S": [[0, 0, 0], [1, 1, 2], [2, 1, 3]], "A": {"row": 1, "values": [0, ".198", 1]},
               "O": {"row": 1, "values": ["2.198", "1.198"]}}  # fmt: skip
    text = said_of(answers)
    assert "2.198 →" in text and "For the teacher" not in text


def test_a_slip_in_a_given_matrix_is_told_from_the_problem() -> None:
    text = said_of({"H": [[1, 0], [0, 1], [1, 2]]})
    assert "was written. The problem says:\n  H[3,2] = 1\n" in text and "figures before it:" not in text


def test_what_follows_from_rounding_alone_is_not_named() -> None:
    rounded = said_of({"scaled": {"row": 3, "values": ["1.414", ".707", "2.121"]},
                       "exp": {"row": 3, "values": ["4.113", "2.028", "8.339"]}})  # fmt: skip
    assert "8.339 →" in rounded and "Follows from" not in rounded
    slipped = said_of({"S": [[2, 0, 1], [1, 1, 2], [2, 1, 3]], "scaled": {"row": 1, "values": ["1.414", 0, ".707"]}})
    assert "Follows from an earlier slip: S̃[1,1]." in slipped


def test_a_misconception_is_said_once_with_one_working() -> None:
    no_scale = {"A": [[".422", ".155", ".422"], [".212", ".212", ".576"], [".245", ".09", ".665"]]}
    text = said_of(no_scale)
    assert "A[1,1] and 8 more, as if the scores had not been divided by √d_k." in text
    assert text.count("as if") == 1 and text.count("A[1,1] = ") == 1 and "A[1,2] = " not in text
    later = said_of({"S": {"row": 1, "values": [5, 0, 1]}, **no_scale})
    assert "A[1,1] = 143.992" not in later and later.count("as if the scores had not been divided") == 1
    assert later.count("slip, written .") == 1 + 3  # one of the method's, below its sentence; those of row 1
    assert later.index("as if") < later.index("slip, written .212") < later.index("slip, written .422")


def test_slips_that_no_method_gives_are_worked_up_to_six() -> None:
    text = said_of({"S": [[9] * 3] * 3})
    assert text.count("slip, written 9") == 6 and "and 3 more" in text


def test_blanks_are_counted_and_what_is_amiss_without_a_slip_is_said() -> None:
    text = said_of({"scaled": [[".71", "_", "_"], ["_", "x", "1.414"], ["_"] * 3]})
    assert "not every figure is there as it was asked for: 1 a decimal short, 6 left blank, 1 unreadable." in text
    assert "Left blank: 6." in text


def test_a_copy_says_which_figure_it_is_of() -> None:
    text = said_of({"K_T": [[1, 0, 1], [1, 1, 9]]})
    assert "Kᵀ[2,3] = K[3,2] = 2" in text


def test_figures_that_are_not_here_are_counted() -> None:
    assert "Not here, and not counted: 6 of 9 (·)." in said_of({"A": {"row": 1, "values": [0.401, 0.198, 0.401]}})


def test_marks_add_up_to_those_of_all_as_they_are_shown() -> None:
    text = "S: [[1, 0, 1], [1, 1, 3], [2, 1, 3]]\nA: [[.401, .198, .401], [.164, .164, .672], [.284, .14, .576]]\n"
    call = (ABC, "-", "--marks", "S=3,A=2,O=3", "--follow-through", "half")
    text += "O: [[1.401, .599], [1.672, .836], [1.576, .716]]\n"
    of_each = json.loads(check(*call, "--format", "json", stdin=text).stdout)["marks"]
    assert f"{sum(each['given'] for each in of_each.values()):.2f}" in check(*call, stdin=text).stdout


def test_a_problem_without_answers_and_answers_without_a_problem_are_told(tmp_path: Path) -> None:
    for name in ("problem-a.yaml", "problem-b.yaml", "answers-a.yml"):
        (tmp_path / name).write_bytes((ROOT / ABC).read_bytes() if name[0] == "p" else b"A: _\n")
    assert f": {tmp_path}/answers-b.yaml: not there, beside problem-b.yaml; " in check(str(tmp_path)).stdout
    (tmp_path / "problem-b.yaml").rename(tmp_path / "b.yaml")
    assert check(str(tmp_path)).returncode == 1
    (tmp_path / "answers-c.yaml").write_text("A: _\n")
    assert f": {tmp_path}/problem-c.yaml: not there, beside answers-c.yaml; " in check(str(tmp_path)).stdout


def test_figures_of_many_steps_are_sorted_once_and_workings_of_a_row_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many heads have many of both."""
    made: list[int] = []
    workings = Page.workings
    monkeypatch.setattr(Page, "workings", lambda page, step, i: made.append(i) or workings(page, step, i))
    read = parse(b"Q: &x [[1, 2, 3], [2, 1, 0]]\nK: *x\nV: *x\nheads: 3\nshow: {decimals: 2}\n")
    steps = {id: step for id, step in solve(read).steps.items() if step.is_worked}
    marking = mark(read, {id: (step.values + 1).tolist() for id, step in steps.items()})
    assert [each for figures in marking.of_step.values() for each in figures] == list(marking.figures)
    report = Report(marking, read.show, "en")
    for figure in marking.figures:
        report.working(figure)
    assert len(made) <= sum(step.shape[0] for step in steps.values())
