"""attncalc exercise: what a sheet asks and shows, and that it gives nothing away; many sheets at once."""

from __future__ import annotations

import csv
import gc
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest
import sheets

from attncalc import formats, load, solve
from attncalc.blocks import Document, Math, Prose, Question, Section
from attncalc.cli import sheets as files
from attncalc.errors import AttncalcError
from attncalc.exercises import variants
from attncalc.exercises.blanks import by_level, by_names, hidden
from attncalc.exercises.students import ids_of, safe
from attncalc.expr import Expr
from attncalc.layout import exercise as layout
from attncalc.layout.exercise import Exercise, Head, as_document, lay_sheet
from attncalc.marking import mark_answers
from attncalc.marking.answers import read_answers
from attncalc.marking.template import blanks_of, by_choice
from attncalc.steps import Given
from attncalc.wording import Wording

ROOT = Path(__file__).resolve().parent.parent
ABC = str(ROOT / "problems" / "abc.yaml")
ONE_QUERY = str(ROOT / "problems" / "one-query.yaml")  # has a single row, and gives V
DRAWN = "problems/draw-one-head.yaml"
SHIPPED = sorted((ROOT / "problems").glob("*.yaml"))


def exercise(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "attncalc", "exercise", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False)


def one_line(run: subprocess.CompletedProcess[str]) -> str:
    assert run.returncode == 2 and run.stdout == "" and run.stderr.count("\n") == 1, run
    return run.stderr


# What is asked


def test_levels() -> None:
    solution = solve(load(ABC))
    assert set(by_level(solution, 1)) == {"A", "O"}
    every = by_level(solution, 2)
    assert list(every) == ["Q", "K", "V", "S", "scaled", "exp", "row_sum", "A", "O"]
    assert all(flags.all() for flags in every.values())
    worked = by_level(solution, 3)
    # Row 1 of O is worked from all of V and row 1 of A, that from row 1 of S, and that from all of K and row 1 of Q.
    assert list(worked) == ["Q", "S", "scaled", "exp", "row_sum", "A", "O"]
    assert all(not flags[0].any() and flags[1:].all() for flags in worked.values())


@pytest.mark.parametrize(("name", "row"), [
    ("abc", 0), ("abc-causal", 1), ("next-token-mask", 1), ("draw-causal", 1), ("draw-decoder-layer", 1),
    ("decoder-layer", 1), ("draw-cross", 0), ("experts", 0),
])  # fmt: skip
def test_the_row_that_is_worked_is_the_first_that_weighs_more_than_one(name: str, row: int) -> None:
    """Under a causal mask the first token sees itself alone: [1, 0, 0] shows nothing."""
    solution = solve(load(ROOT / "problems" / f"{name}.yaml"))
    asked = by_level(solution, 3)
    weights = [step for id, step in solution.steps.items() if id in asked and step.role == "weights"]
    for step in [*weights, solution.result]:
        shown = [i for i, flags in enumerate(asked[step.id]) if not flags.any()]
        assert shown == [row], step.id
    assert all((step.values[row] > 0).sum() > 1 for step in weights)


def test_names() -> None:
    solution = solve(load(ABC))
    asked = by_names(solution, ["exp[1,*]", "A[2,1]", "result"])
    assert asked["exp"].tolist() == [[True] * 3, [False] * 3, [False] * 3]
    assert np.argwhere(asked["A"]).tolist() == [[1, 0]] and asked["O"].all()
    heads = by_names(solve(load(ROOT / "problems" / "two-heads.yaml")), ["A"])
    assert list(heads) == ["head1.A", "head2.A"]


@pytest.mark.parametrize(("blank", "said"), [
    ("B", "no step"), ("H", "no step"), ("A[4,1]", "3"), ("A[0,1]", "3"), ("A[1", "not like"), ("", "not like"),
])  # fmt: skip
def test_a_blank_that_matches_nothing_is_one_line(blank: str, said: str) -> None:
    assert said in one_line(exercise(ABC, "--blank", blank))


# What is shown

SENTINEL = 7345  # a figure that no shipped problem has


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_sheet_shows_no_figure_that_is_asked_for_or_worked_from_an_answer(
    path: Path, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each figure that is hidden, by the flow of figures from those that are asked for, is replaced by one that stands
    nowhere else: no format shows it before the key."""
    laid = of_level(path, level)
    for id, step in laid.solution.steps.items():
        if not isinstance(step, Given):
            secret = [[laid.hidden.hides(id, i, j) or level == 1 for j in range(step.shape[1])]
                      for i in range(step.shape[0])]  # fmt: skip
            step.values = np.where(secret, SENTINEL, step.values)
    monkeypatch.setattr(layout, "lay_out", lambda *_, **about: Document(Prose(()), "en", ()))  # the way, in the key
    sheet = lay_sheet([laid], Head(), "en")
    for name, form in formats.SHEETS.items():
        subject = sheet if form.takes == "sheet" else as_document(sheet)
        page = "".join(formats.sheet_pieces(name, subject, key=False))
        # These have the key in them: in the blanks and in what is said afterwards; where \\printanswers is said.
        page = re.sub(r"\{\d+:NUMERICAL:.*?\}|<generalfeedback.*?</generalfeedback>", "", page, flags=re.S)
        page = re.sub(r"\\begin\{solution\}.*?\\end\{solution\}", "", page, flags=re.S)
        assert str(SENTINEL) not in page, name
    assert str(SENTINEL) in formats.render("text", as_document(sheet, key=True)) or not laid.hidden.asked


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_no_figure_that_a_sheet_may_show_rests_on_an_answer(path: Path, level: int) -> None:
    """Worked again from other answers it is the same."""
    laid = of_level(path, level)
    solution, asked = laid.solution, laid.hidden.asked
    other: dict[str, np.ndarray] = {}
    for id, step in solution.steps.items():
        operands = [other[each.id] for each in step.operands]
        try:
            values = step.values if isinstance(step, Given) else step.recomputed(operands)
        except (IndexError, ValueError):
            return  # other ids than there are: nothing to compare
        other[id] = np.where(asked[id], values + 7.25, values) if id in asked else np.array(values)
    for id, step in solution.steps.items():
        true = step.recomputed([each.values for each in step.operands])
        same = (other[id] == true) | np.isclose(other[id], true, rtol=1e-9)
        assert all(same[i, j] or laid.hidden.hides(id, i, j) for i, j in np.ndindex(step.shape)), id


def of_level(path: Path, level: int) -> Exercise:
    problem = load(path).with_show(rounding="exact")
    solution = solve(problem)
    asked = hidden(solution, by_level(solution, level))
    return Exercise(solution, problem.show, problem.kind, problem.title, asked, given_alone=level == 1)


def symbols_in(formula: Expr, known: Collection[Expr]) -> Iterator[Expr]:
    """The parts of a formula that are the symbols of steps, the largest of them alone."""
    if formula in known:
        yield formula
    else:
        for part in formula.args:
            yield from symbols_in(part, known) if isinstance(part, Expr) else ()


def laid_question(path: Path, level: int) -> tuple[Exercise, Question]:
    laid = of_level(path, level)
    return laid, lay_sheet([laid], Head(), "en").questions[0]


def maths(block: object) -> Iterator[Math]:
    """All formulas of a block."""
    if isinstance(block, Math):
        yield block
    elif isinstance(block, tuple):
        for part in block:
            yield from maths(part)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_each_symbol_in_a_formula_of_a_sheet_is_explained(path: Path, level: int) -> None:
    """It is given, or asked for, or has a law or a sentence: nobody has to guess which columns are those of a head."""
    laid, question = laid_question(path, level)
    steps = laid.solution.steps.values()
    symbols = {step.symbol for step in steps if step.symbol != step.formula}  # ln(p) is said by its name
    laws: set[Expr] = set()
    explained = {step.symbol for step in steps if isinstance(step, Given) or laid.asks(step)}
    used: set[Expr] = set()
    for block in question.blocks:
        for pattern, _ in () if isinstance(block, Section) and block.anchor == "conventions" else maths(block):
            if pattern.op == "chain" and len(pattern.args) > 2 and pattern.args[1] == Expr("text", "="):  # a law
                explained.add(pattern.args[0].args[0] if pattern.args[0].op == "cell" else pattern.args[0])
                laws.add(pattern.args[2])
                used.update(symbols_in(pattern.args[2], symbols))
            elif pattern.op == "chain":
                explained.add(pattern.args[0])
    for section in question.blocks:
        if isinstance(section, Section) and section.anchor == "arranged":
            for sentence in section.blocks[0].sentences:
                symbol, *of = (part.pattern for part in sentence.parts if isinstance(part, Math))
                explained.add(symbol)
                used.update(each for formula in of for each in symbols_in(formula, symbols))
    explained |= {step.symbol for step in steps if step.formula in laws}  # a step of generation like the first one
    plain = {each.args[0] if each.op == "transpose" else each for each in used}
    assert not {each for each in plain if each not in explained}, (path.stem, level)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", ["experts", "experts-before", "decoder-modern"])
def test_a_sheet_does_not_tell_which_experts_are_chosen(name: str, level: int) -> None:
    """Whatever the choice, the sheet has the same formulas and shows the figures of no expert."""
    laid, question = laid_question(ROOT / "problems" / f"{name}.yaml", level)
    solution = laid.solution
    told = {solution.steps[id].symbol for id in by_choice(solution)} - {
        step.symbol for id, step in solution.steps.items() if id not in by_choice(solution)
    }
    formulas = [math.pattern for block in question.blocks for math in maths(block)]
    shown = {symbol for formula in formulas for symbol in symbols_in(formula, told)}
    assert not shown and (told or name != "experts")


def test_what_is_not_asked_but_rests_on_an_answer_is_a_dash() -> None:
    page = exercise(ABC, "--blank", "A,O[1,*]", "-f", "text").stdout
    assert page.count("–") == 5 and "1.504" not in page and "1.576" not in page  # four figures, and what a dash is
    assert "8.339" in page and "0.576" not in page


def test_a_weight_is_not_told_by_the_others_of_its_row() -> None:
    """They add up to 1: where one is asked for, the rest of its row is kept back, and all that is worked from it."""
    page = exercise(ABC, "--blank", "A[1,1],A[2,1],A[2,3]", "-f", "text").stdout
    rows = [line.split() for line in page.splitlines() if "______" in line and "Name" not in line]
    assert rows == [["A", "______", "–", "–"], ["B", "______", "0.248", "______"]]
    solution = solve(load(ABC))
    for step in (step for step in solution.steps.values() if step.rows_sum_to_one):
        for i, j in np.ndindex(step.shape):
            flags = np.zeros(step.shape, dtype=bool)
            flags[i, j] = True
            assert all(hidden(solution, {step.id: flags}).hides(step.id, i, k) for k in range(step.shape[1]))


def test_shapes_are_asked_without_a_grid_and_told_by_the_key() -> None:
    page = exercise(ABC, "--ask", "shapes", "-f", "text").stdout
    assert "Q has ____ rows and ____ columns" in page and "A  ______" not in page
    assert "Q (3×2)" in exercise(ABC, "--ask", "shapes", "--key", "-f", "text").stdout


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_to_be_filled_in_tells_no_shape_that_is_asked_for(lang: str, tmp_path: Path) -> None:
    asked = ("--ask", "shapes", "--lang", lang, "--variants", "1", "--output-dir", str(tmp_path / "out"))
    assert exercise("problems/draw-cross.yaml", "--level", "1", *asked).returncode == 0
    variant, _, blank = (tmp_path / "out" / "answers-1.yaml").read_text(encoding="utf-8").partition("\n")
    assert variant.startswith("variant: ")
    like = "按行写，如" if lang == "zh" else "row by row, like"
    assert blank == "".join(f"# {like} [[1, 2], [3, 4]]\n{id}: _\n{end}" for id, end in (("A", "\n"), ("O", "")))
    command = [sys.executable, "-m", "attncalc", "check", str(tmp_path / "out"), "--format", "csv"]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)
    assert next(csv.DictReader(run.stdout.splitlines()))["blank"] == "10"


def test_what_is_to_be_filled_in_is_in_the_language_of_the_sheet(tmp_path: Path) -> None:
    assert exercise(ABC, "--lang", "zh", "--output-dir", str(tmp_path / "out")).returncode == 0
    comments = re.findall("^#.*", (tmp_path / "out" / "answers.yaml").read_text(encoding="utf-8"), re.M)
    assert comments[0] == "# 3 × 2；行（A、B、C）" and not [each for each in comments if "rows" in each]


def test_questions_have_their_marks_and_concepts_come_after_them() -> None:
    run = exercise(ABC, "problems/cross.yaml", "--level", "1", "--marks", "4,6", "--concepts", "1", "-f", "text")
    titles = re.findall(r"^Question (\d).*$", run.stdout, re.M)
    assert titles == ["1", "2", "3"] and "(4 marks)" in run.stdout and "(6 marks)" in run.stdout


@pytest.mark.parametrize(
    ("files", "marks", "more", "said"),
    [
        ([ABC], "3,4", (), "there is one problem, but --marks '3,4' is 2 numbers; write one number, like 4"),
        ([ABC], "x", (), "there is one problem, but --marks 'x' is not a number above 0 for each; write one number"),
        ([ABC] * 2, "3", (), "there are 2 problems, but --marks '3' is 1 number; write one number for each, with"),
        ([ABC] * 2, "3,4,5", (), "there are 2 problems, but --marks '3,4,5' is 3 numbers; write one number for each"),
        ([ABC] * 2, "3", ("--concepts", "1"), "4,6, and after them those of the questions in words"),
    ],
)
def test_marks_of_another_number_of_problems_are_told(
    files: list[str], marks: str, more: tuple[str, ...], said: str
) -> None:
    run = exercise(*files, "--marks", marks, *more)
    assert run.returncode == 2 and said in run.stderr and run.stderr.count("\n") == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("key", [(), ("--key",)], ids=["sheet", "key"])
@pytest.mark.parametrize("marks", ["4", "0.25"])
@pytest.mark.parametrize("format", ["markdown", "text", "html", "latex"])
def test_the_marks_of_a_question_that_is_alone_are_said(
    format: str, marks: str, key: tuple[str, ...], lang: str
) -> None:
    page = exercise(ABC, "--level", "1", "--marks", marks, "-f", format, "--lang", lang, *key).stdout
    said = f"({marks} marks)" if lang == "en" else f"（{marks}分）"
    assert said in page or rf"\question[{marks}]" in page


@pytest.mark.parametrize(("marks", "of_concepts"), [("4", []), ("4,1", ["1"] * 3), ("4,2,1", ["2", "1", "1"])])
def test_the_marks_after_those_of_the_problems_are_for_the_questions_in_words(
    marks: str, of_concepts: list[str]
) -> None:
    page = exercise(ABC, "--level", "1", "--marks", marks, "--concepts", "3", "-f", "text").stdout
    assert re.findall(r"^Question .*\((.*) marks?\)$", page, re.M) == ["4", *of_concepts]
    assert "(1 marks)" not in page


# Many


def test_a_class_gets_a_folder(tmp_path: Path) -> None:
    (tmp_path / "class.txt").write_text("mei\nbo\n王 小明\n", encoding="utf-8")
    students = ("--students", str(tmp_path / "class.txt"), "--seed", "w")
    run = exercise(DRAWN, *students, "--level", "1", "--output-dir", str(tmp_path / "sheets"))
    assert run.returncode == 0 and run.stdout == "" and run.stderr == ""
    names = {path.name for path in (tmp_path / "sheets").iterdir()}
    assert names == {"index.csv"} | {f"{kind}-{who}.{ending}" for who in ("mei", "bo", "王_小明")
                                     for kind, ending in (("sheet", "md"), ("key", "md"), ("problem", "yaml"),
                                                          ("answers", "yaml"))}  # fmt: skip
    with (tmp_path / "sheets" / "index.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["mei", "bo", "王 小明"] and len({row["fingerprint"] for row in rows}) == 3
    for row in rows:
        sheet = (tmp_path / "sheets" / row["sheet"]).read_text(encoding="utf-8")
        assert row["fingerprint"] in sheet and row["id"] in sheet
        own = load(tmp_path / "sheets" / row["problem"])
        blank = (tmp_path / "sheets" / row["answers"]).read_text(encoding="utf-8")
        assert not re.search(r"\[[^_\]]*\d", blank.split(":", 1)[1])
        for step in ("A", "O"):
            digits = set(re.findall(r"\d\.\d{2,}", str(solve(own).steps[step].values)))
            assert not digits & set(re.findall(r"\d\.\d+", sheet))


def test_a_class_of_three_is_marked_in_its_folder(tmp_path: Path) -> None:
    """Mei has the figures of her key, Bo another O, Lin has handed in nothing."""
    (tmp_path / "class.txt").write_text("mei\nbo\nlin\n", encoding="utf-8")
    students = ("--students", str(tmp_path / "class.txt"), "--seed", "w", "--level", "1")
    out = tmp_path / "sheets"
    assert exercise(DRAWN, *students, "--output-dir", str(out)).returncode == 0
    for who, off in (("mei", 0.0), ("bo", 1.0)):
        steps = solve(load(out / f"problem-{who}.yaml")).steps
        figures = {"A": steps["A"].values, "O": steps["O"].values + off}
        filled = [f"{id}: {np.round(values, 6).tolist()}" for id, values in figures.items()]
        (out / f"answers-{who}.yaml").write_text("\n".join(filled), encoding="utf-8")
    command = [sys.executable, "-m", "attncalc", "check", str(out), "--marks", "A=2,O=3", "--format", "csv"]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)
    rows = {row["name"]: row for row in csv.DictReader(run.stdout.splitlines())}
    marks = {name: row["marks"] for name, row in rows.items()}
    assert run.returncode == 1 and marks == {"mei": "5", "bo": "2", "lin": "0"}
    assert rows["mei"]["correct"] == rows["lin"]["blank"] and rows["bo"]["first_slip"].startswith("O[")
    (out / "problem-mei.yaml").unlink()
    again = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)
    assert again.returncode == 1 and "problem-mei.yaml" in again.stdout


def test_nothing_is_replaced_and_nothing_is_half_written(tmp_path: Path) -> None:
    arguments = (DRAWN, "--variants", "2", "--level", "1", "--output-dir", str(tmp_path / "out"))
    assert exercise(*arguments).returncode == 0
    (tmp_path / "out" / "sheet-1.md").write_text("mine", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert "there already" in one_line(exercise(*arguments))
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert exercise(*arguments, "--force").returncode == 0
    assert (tmp_path / "out" / "sheet-1.md").read_bytes() != b"mine"
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    one_line(exercise(*arguments[:-1], str(file)))
    one_line(exercise(*arguments[:-1], "/proc/none/out"))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".attncalc")]


@pytest.mark.parametrize(("arguments", "said"), [
    (("--variants", "2"), "--output-dir"),
    (("--variants", "2", "--students", "x"), "give one"),
    (("--column", "id"), "--students"),
    (("--students", "nowhere.txt"), "nowhere.txt"),
    (("--level", "1", "--blank", "A"), "give one"),
    (("--output", "a", "--output-dir", "b"), "give one"),
    (("--marks", "1,2"), "there is one problem, but"),
    (("--marks", "1,2", ABC, ABC), "there are 3 problems, but"),
    (("--marks", "x"), "above 0"),
    (("--format", "pdf"), "markdown"),
    (("--format", "html", "--math", "dollars"), "markdown"),
    (("--concepts", "nothing"), "concepts"),
    (("--marks", "1,2,3", "--concepts", "1"), "2 numbers for 1 question in words"),
    (("--marks", "1,x", "--concepts", "1"), "above 0"),
    (("--seed", "x"), "add --variants 1"),
    (("--explain",), "add --variants 1"),
    (("--force",), "--output-dir"),
    (("--key", "--output-dir", "b"), "leave --key out"),
    (("--level", "4"), "level"),
    (("-", "-"), "standard input"),
    ((ONE_QUERY, "--level", "3"), "--level 3 asks nothing of problem 2"),
    ((ONE_QUERY, "--level", "3", "--variants", "1"), "--level 3 asks nothing of problem 2"),
    ((ONE_QUERY, "--blank", "V"), "--blank asks nothing of problem 2"),
])  # fmt: skip
def test_what_can_not_be_done_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    assert said in one_line(exercise(ABC, *arguments))


def test_why_draws_are_refused_is_explained_where_none_will_do() -> None:
    run = exercise(str(ROOT / "problems" / "gqa.yaml"), "--level", "1", "--variants", "1", "--explain")
    assert run.returncode == 2 and not run.stdout
    head, *reasons, error = run.stderr.splitlines()
    assert head == "attncalc: 10000 draws were refused" and error.startswith("attncalc: no variant was found")
    assert sum(int(reason.split()[0]) for reason in reasons) == 10_000


def test_of_several_problems_the_one_is_named_of_which_too_few_draws_will_do(tmp_path: Path) -> None:
    run = exercise("problems/draw-scale.yaml", ABC, "--variants", "1", "--output-dir", str(tmp_path / "s"))
    assert one_line(run).startswith("attncalc: problem 2: no variant was found")


@pytest.mark.parametrize(("text", "column", "said"), [
    ("a\nb\na\n", None, "twice, on lines 1 and 3"),
    ("a/b\na:b\n", None, "one name"),
    ("\n \n", None, "no student"),
    ("id,name\n1,x\n", "nr", "no column"),
    ("id,name\n,x\n", "id", "nothing stands"),
    ("id;name\n1;x\n", "nr", "its columns are id and name"),
    (f"{'x' * 5000},b\n1,2\n", "nr", "its columns are x{39}… and b$"),
    (",".join(f"c{k}" for k in range(3000)), "nr", "c18, c19 and 2980 more$"),
])  # fmt: skip
def test_lists_of_students_that_can_not_be_used(text: str, column: str | None, said: str) -> None:
    with pytest.raises(AttncalcError, match=said):
        ids_of(text.encode(), "class.csv" if column else "class.txt", column)


@pytest.mark.parametrize("text", ["id,name\n1,x\n", "id\nmei\n", "mei\n"])
def test_of_csv_the_column_must_be_said(text: str) -> None:
    """Else the head of one with a single column would be a student."""
    with pytest.raises(AttncalcError, match="say which column"):
        ids_of(text.encode(), "class.CSV")


def test_ids_are_made_safe() -> None:
    assert ids_of(b"\xef\xbb\xbfname,id\r\nx,7\r\ny,../8\r\n", "class.csv", "id") == ["7", "../8"]
    assert [safe(id) for id in ("../8", "a b", "王", ".")] == ["_8", "a_b", "王", "_"]
    for long in ("x" * 300, "王" * 300, "𠀀" * 300, "x" + "𠀀" * 300):
        assert long.startswith(safe(long)) and 196 < len(safe(long).encode()) <= 200


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_table_of_students_is_csv_as_spreadsheets_write_it(sign: str) -> None:
    table = f'id{sign}name\r\n7{sign}"Wei, Mei; \'M\'"\r\n8{sign}Bo\r\n'
    assert ids_of(table.encode(), "class.csv", "id") == ["7", "8"]
    assert ids_of(table.encode(), "class.csv", "name") == ["Wei, Mei; 'M'", "Bo"]


@pytest.mark.parametrize("format", ["markdown", "moodle"])
def test_memory_does_not_grow_with_the_number_of_sheets(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many sheets with their keys: what is held at most grows by far less than one sheet for each."""
    for name, most in {"_MOST": 256, "_PARTS": 1}.items():  # draws at a time, of few sheets as of many
        monkeypatch.setattr(variants, name, most)

    def held(numbers: range) -> tuple[int, int]:
        """The most bytes that are held while these are written, and how many are written."""
        form = files.Form(format, None, None, False, True, (), None, None, None, None, "")
        recipe, ids = str(ROOT / "problems" / "draw-feed-forward.yaml"), [str(k) for k in numbers]
        made = files.made([recipe], ids, "s", blanks=None, level=1, refused=Counter())
        pieces = files.quiz(made, form) if format == "moodle" else (
            text for _, texts in files.files(made, form) for text in texts.values()
        )  # fmt: skip
        tracemalloc.start()
        try:
            written = sum(map(len, pieces))
            return tracemalloc.get_traced_memory()[1], written
        finally:
            tracemalloc.stop()

    held(range(100, 164))  # what is made once; and caches of other sheets are as full as they get
    (few, written), (many, more) = held(range(8)), held(range(32))
    assert more > 3 * written and many - few < (more - written) / 4


@pytest.mark.parametrize("format", files.ENDINGS)
def test_nothing_of_a_sheet_waits_for_the_collector(format: str) -> None:
    """No part of it holds itself, at whatever remove: of many sheets there would be hundreds before it looks."""
    form = files.Form(format, None, None, False, False, (), None, None, None, "all", "")
    recipe = str(ROOT / "problems" / "draw-causal.yaml")
    made = files.files(files.made([recipe], ["1", "2", "3"], "s", blanks=None, level=1, refused=Counter()), form)
    next(made)
    gc.collect()
    gc.disable()
    try:
        assert len(list(made)) == 2 and gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "text"])
def test_sheet_and_key_name_course_and_date_and_the_sheet_alone_asks_for_a_name(form: str) -> None:
    said = ("--course", "Linear algebra", "--date", "12 May", "--format", form)
    for key in ((), ("--key",)):
        page = exercise(ABC, *said, *key).stdout
        assert page.count("Linear algebra") == page.count("12 May") == 1, (form, key)
        above, _, below = page.partition("12 May")
        is_printed = "printanswers" not in below and not key  # LaTeX: one file, in which the name is in what hides it
        assert ("Name:" in page) == (is_printed or form == "latex")
        if form == "latex":
            assert "\\ifprintanswers\\else" not in above
            assert below.partition("Name:")[0].rstrip().endswith("\\ifprintanswers\\else")


# Single figures


SIZES = sorted(path.stem for path in SHIPPED if path.stem.startswith("size-"))
LINES = {"text": " = _{12}$", "markdown": r"`\$ = (\\_){12}$", "html": '</math> = <span class="blank"',
         "latex": r"\$ = \\underline\{\\hspace\{", "moodle": r"</math> = \{1:NUMERICAL:="}  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", SIZES)
def test_a_single_figure_has_a_line_to_fill_in(name: str, lang: str) -> None:
    """In each format; its key has the figure as a line too."""
    asks = sheets.exercise(name, 2)
    sheet = lay_sheet([asks], sheets.HEAD, lang)
    for form, line in LINES.items():
        subject = sheet if formats.SHEETS[form].takes == "sheet" else as_document(sheet)
        page = "".join(formats.sheet_pieces(form, subject, key=False))
        assert len(re.findall(line, page, re.MULTILINE)) == len(asks.hidden.asked), form
    answers = formats.render("text", as_document(sheet, key=True)).split("\n\n")[2]
    for id in asks.hidden.asked:
        assert re.search(rf"= {asks.solution.steps[id].values[0, 0]:.0f}\b", answers)


def test_a_single_figure_that_is_worked_already_is_a_line_too() -> None:
    """As in the key, in words and with no brackets round it."""
    page = formats.render("text", as_document(lay_sheet([sheets.exercise("size-gqa", ["bytes"])], sheets.HEAD, "en")))
    assert "Worked already\n  heads side by side  heads×d_k = 4096\n  bytes of one token  C_1 = 131072\n" in page


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", SIZES)
def test_a_size_says_in_words_what_is_asked_for(name: str, lang: str) -> None:
    """As the page of its solution does."""
    asks = sheets.exercise(name, 2)
    page = formats.render("text", as_document(lay_sheet([asks], sheets.HEAD, lang)))
    say = Wording(lang)
    for id in asks.hidden.asked:
        symbol_and_id = f"({id}): " if lang == "en" else f"（{id}）："
        assert f"{symbol_and_id}{say.text(f'figures.{asks.solution.steps[id].role}')}\n" in page


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_level_3_asks_for_the_result_or_for_nothing(path: Path) -> None:
    """Of which no row is an example where all that is worked on the way there has one row."""
    solution = solve(load(path))
    asked = by_level(solution, 3)
    worked = [step for step in solution.leading_to([solution.result.id]) if step.is_worked]
    assert (solution.result.id in asked) == bool(asked)
    assert asked or all(step.shape[0] == 1 for step in [*worked, solution.result])


@pytest.mark.parametrize(
    ("name", "id", "row"), [("loss", "losses", 0), ("likelihood", "losses", 0), ("decoder-modern", "loss.losses", 1)]
)
def test_level_3_of_a_perplexity_works_the_loss_of_one_position(name: str, id: str, row: int) -> None:
    """Of the first token whose weights are more than one 1; the others, and their mean, are asked for."""
    solution = solve(load(ROOT / f"problems/{name}.yaml"))
    asked = by_level(solution, 3)
    assert [i for i, flags in enumerate(asked[id]) if not flags.all()] == [row]
    assert all(asked[each.id].all() for each in solution.steps.values() if each.operands and each.shape == (1, 1))


def test_the_shape_of_a_single_number_is_not_asked_for() -> None:
    """It has a line beside the matrices, and one figure to fill in; a sheet of nothing else has no shapes."""
    asks = sheets.exercise("loss", 2, shapes=True)
    sheet = lay_sheet([asks], sheets.HEAD, "en")
    page, key = (formats.render("text", as_document(sheet, key=key)) for key in (False, True))
    assert "E has ____ rows" in page and "PPL has" not in page and "PPL = ____________\n" in page
    assert "E (4×4)" in key and "PPL (1×1)" not in key
    assert [each.step for each in sheet.questions[0].asked if not each.shape_asked] == [
        "likelihood", "sum", "mean", "perplexity",
    ]  # fmt: skip
    filled = blanks_of(asks.solution, asks.hidden.asked, shapes=True)
    assert "row by row" not in filled.partition("likelihood")[2]
    said = exercise("problems/size-gqa.yaml", "--ask", "shapes")
    assert (said.returncode, said.stdout) == (2, "") and "--ask shapes asks nothing of single numbers" in said.stderr


@pytest.mark.parametrize("name", SIZES)
def test_level_1_asks_for_all_that_a_size_comes_to(name: str) -> None:
    """Whichever of them the problem counts; and the figures of answers are read back."""
    problem = load(ROOT / "problems" / f"{name}.yaml")
    solution = solve(problem)
    asked = by_level(solution, 1)
    final = ("parameters.total", "parameters.active", "cache.bytes")
    assert list(asked) == [id for id in final if id in solution.steps]
    filled = blanks_of(solution, asked)
    for id in asked:
        filled = filled.replace(f"{id}: _", f"{id}: {solution.steps[id].values[0, 0]:.0f}")
    marking = mark_answers(problem, solution, read_answers(filled.encode(), "a", solution, variant=""))
    assert marking.counts["correct"] == len(asked)
