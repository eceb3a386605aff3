"""attncalc check: what it prints, what it exits with, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import reports

from attncalc import formats, load, mark
from attncalc.formats import report as for_scripts
from attncalc.layout.report import Report

ROOT = Path(__file__).resolve().parent.parent
ABC = str(ROOT / "problems" / "abc.yaml")
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


def test_a_template_is_filled_in_and_read_again(tmp_path: Path) -> None:
    run = check(ABC, "--template")
    assert run.returncode == 0
    blank = check(ABC, "-", "--format", "json", stdin=run.stdout)
    counts = json.loads(blank.stdout)["counts"]
    assert blank.returncode == 1 and counts.pop("blank") == 63 and not any(counts.values())
    filled = run.stdout.replace("_, _, _", "1, 1, 1")
    assert check(ABC, "-", stdin=filled).returncode == 1


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
    assert [student["name"] for student in students] == ["bo", "mei", "王"]
    text = check(ABC, str(tmp_path), "--lang", "zh").stdout
    assert "全班" in text and "王" in text and "S[1,2]" in text


def test_a_class_is_read_whole_before_one_is_marked(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "b.yaml").write_text("S: [[1, 2]]\n", encoding="utf-8")
    line = one_line(check(ABC, str(tmp_path)))
    assert "b.yaml:1:4: S" in line and "3 × 3" in line


# What it refuses


@pytest.mark.parametrize(("arguments", "said"), [
    ((ABC, "-", "--marks", "A"), "A=2"),
    ((ABC, "-", "--marks", "A=2,A=3"), "twice"),
    ((ABC, "-", "--marks", "A=-2"), "A=2"),
    ((ABC, "-", "--marks", "B=2"), "no step"),
    ((ABC, "-", "--format", "latex"), "terminal, text"),
    ((ABC, "-", "--format", "json", "--math", "dollars"), "markdown"),
    ((ABC, "-", "-"), "standard input"),
    ((ABC, "nowhere.yaml"), "nowhere.yaml"),
    (("problems/cross.yaml",), "--template"),
    ((ABC, "-", "--step", "A", "--step", "O"), "--step"),
    ((ABC, "-", "--follow-through", "some"), "follow-through"),
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
    pages = {form: formats.render(form, document) for form in ("text", "markdown", "html")}
    pages["html"] = re.sub(r"</?bdi>", "", pages["html"])
    for figure in marking.figures:
        for form, page in pages.items():
            if figure.verdict in signs:
                text = figure.written.text.replace(".", "\\.") if form == "markdown" else figure.written.text
                assert f"{text} {signs[figure.verdict]}" in page, (form, figure)
    rows = [(marking, earned, Report(marking, problem.show, "en").working)]
    assert len(json.loads(for_scripts.to_json(rows, of_class=False))["figures"]) == len(marking.figures)
    assert len(list(csv.reader(for_scripts.to_csv(rows, of_class=False).splitlines()))) == 1 + len(marking.figures)


def test_the_working_is_from_the_figures_that_were_written() -> None:
    """The line of a slip holds the written figures of the step before it, and arithmetic on them."""
    problem = load(ABC)
    marking = mark(problem, {"Q": [[1, 7], [0, 1], [1, 1]], "S": [[9, 3, 5], [1, 1, 2], [2, 1, 3]]})
    slips = [(figure.step, figure.row, figure.column) for figure in marking.figures if figure.verdict == "slip"]
    assert slips == [("Q", 0, 1), ("S", 0, 0), ("S", 0, 1), ("S", 0, 2)]
    working = Report(marking, problem.show, "en").working(marking.figures[6])
    assert working.figures[2:] == ("1", "1", "7", "1", "8")  # S[1,1] = 1×1 + 7×1 = 8
