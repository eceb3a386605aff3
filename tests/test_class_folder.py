"""The folder of a class: all its files or none, no answers lost, nobody marked by another's problem."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attncalc import load, solve
from attncalc.cli import main
from attncalc.cli.folder import fill
from attncalc.errors import ProblemError, UsageError
from attncalc.exercises.blanks import by_level, by_names
from attncalc.marking.students import Listed, listed, papers_of
from attncalc.marking.template import blanks_of, is_untouched, template

ROOT = Path(__file__).resolve().parent.parent
DRAWN = str(ROOT / "problems" / "draw-scale.yaml")
SHIPPED = sorted((ROOT / "problems").glob("*.yaml"))


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "attncalc", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)


def one_line(run: subprocess.CompletedProcess[str]) -> str:
    assert run.returncode == 2 and run.stdout == "" and run.stderr.count("\n") == 1, run
    return run.stderr


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"/" for path in folder.rglob("*")}


def files_of(*ids: str, seed: str = "w", ending: str = "md") -> Iterator[tuple[Listed, dict[str, str]]]:
    """Sheets as exercise makes them, in little."""
    for id in ids:
        row = Listed(id, f"{seed}{id}", f"sheet-{id}.{ending}", f"key-{id}.{ending}", f"problem-{id}.yaml",
                     f"answers-{id}.yaml")  # fmt: skip
        page, key, problem, answers = row.files
        yield row, {page: f"{seed} {ending}", key: seed, problem: f"variant: {seed}{id}\nx: [[1]]\n",
                    answers: f"variant: {seed}{id}\nA: _\n"}  # fmt: skip


def put(folder: Path, *ids: str, force: bool = False, **of: str) -> None:
    fill(folder, files_of(*ids, **of), force=force, tell=str)


def fill_in(folder: Path, id: str) -> Path:
    path = folder / f"answers-{id}.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("_", "0.5", 1), encoding="utf-8")
    return path


# Answers are never lost


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_blank_is_told_from_one_that_is_filled_in(path: Path) -> None:
    problem = load(path)
    solution = solve(problem)
    for lang in ("en", "zh"):
        levels = [by_level(solution, level) for level in (1, 2, 3)]
        parts = [by_names(solution, [f"{solution.result.id}[1,1]"])]
        blanks = [blanks_of(solution, asked, lang, shapes=shapes) for asked in (*levels, *parts) for shapes in (0, 1)]
        for text in (template(solution, lang=lang), *blanks):
            assert is_untouched(text) and is_untouched(f"variant: 0a mei\n{text}".replace("\n", "\r\n"))
            for k, found in enumerate(re.finditer(r"(?<=[ \[])_(?=[],\n])", text)):
                if k in (0, 7):
                    assert not is_untouched(f"{text[: found.start()]}0.5{text[found.end() :]}")


@pytest.mark.parametrize("force", [False, True])
def test_answers_that_are_filled_in_stay(tmp_path: Path, force: bool) -> None:
    put(tmp_path, "mei", "bo")
    filled = fill_in(tmp_path, "mei")
    before = held(tmp_path)
    with pytest.raises(UsageError, match=r"answers-mei\.yaml is filled in"):
        put(tmp_path, "mei", "bo", seed="x", force=force)
    assert held(tmp_path) == before
    put(tmp_path, "mei", "bo", ending="tex", force=force)
    assert filled.read_bytes() == before[filled.name] and held(tmp_path).items() > {
        name: text for name, text in before.items() if name != "index.csv"
    }.items()
    sheets = {f"sheet-{who}.{ending}" for who in ("mei", "bo") for ending in ("md", "tex")}
    assert {row.sheet for row in listed(tmp_path)} == sheets
    assert len(papers_of(tmp_path)) == 2
    before = held(tmp_path)
    put(tmp_path, "mei", "bo", force=force)
    assert held(tmp_path) == before


# All or none


@pytest.mark.parametrize("error", [OSError(5, "no"), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize("started", [False, True], ids=["no folder", "a class"])
def test_whichever_move_fails_nothing_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, started: bool
) -> None:
    folder = tmp_path / "a" / "b"
    if started:
        put(folder, "mei", "bo", "lin")
    before = held(tmp_path)
    move = Path.replace
    done = 0
    for k in range(100):
        calls = iter(range(1000))

        def failing(self: Path, target: Path, k: int = k, calls: Iterator[int] = calls) -> Path:
            if next(calls) == k:
                raise error
            return move(self, target)

        monkeypatch.setattr(Path, "replace", failing)
        try:
            put(folder, "mei", "bo", seed="x", force=True)
            done = k
            break
        except (UsageError, KeyboardInterrupt):
            assert held(tmp_path) == before
    assert done == (13 + 9 if started else 9)  # aside, and in
    assert {path.name for path in folder.iterdir()} == {"index.csv", *(
        name for row, _ in files_of("mei", "bo") for name in row.files
    )}  # fmt: skip


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    put(tmp_path, "mei", "bo")
    (tmp_path / "key-bo.md").unlink()
    (tmp_path / "key-bo.md" / "x").mkdir(parents=True)
    before = held(tmp_path)
    with pytest.raises(UsageError, match=r"key-bo\.md is there already, and is no file"):
        put(tmp_path, "mei", "bo", seed="x", force=True)
    assert held(tmp_path) == before


def test_a_folder_is_made_when_all_is_drawn(tmp_path: Path) -> None:
    few = tmp_path / "few.yaml"
    few.write_text("kind: softmax\nx: [[1, 2]]\ndraw: {x: {from: 0, to: 1}}\n", encoding="utf-8")
    one_line(call("exercise", few, "--variants", 9, "--output-dir", tmp_path / "a" / "b"))
    assert [*tmp_path.iterdir()] == [few]


# Who is marked, and by what


def test_with_force_nobody_is_left_of_an_old_class_but_who_has_answered(tmp_path: Path) -> None:
    put(tmp_path, "mei", "bo", "lin")
    (tmp_path / "notes.md").write_text("mine", encoding="utf-8")
    fill_in(tmp_path, "mei")
    with pytest.raises(UsageError, match=r"index\.csv is there already"):
        put(tmp_path, "bo")
    put(tmp_path, "bo", force=True)
    theirs = {name for row, _ in files_of("mei", "bo") for name in row.files}
    assert {path.name for path in tmp_path.iterdir()} == {"index.csv", "notes.md", *theirs}
    assert [paper.student for paper in papers_of(tmp_path)] == ["bo"]


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (3, 2)])
@pytest.mark.parametrize("filled", ["first", "last"])
def test_answers_stay_listed_where_the_problems_become_fewer_or_more(
    before: int, after: int, filled: str, tmp_path: Path
) -> None:
    """Or nothing is written, and it says which answers are in the way."""

    def of(problems: int) -> Iterator[tuple[Listed, dict[str, str]]]:
        for k in range(1, problems + 1):
            ((row, texts),) = files_of("mei" if problems == 1 else f"mei-{k}")
            yield row._replace(id="mei"), texts

    fill(tmp_path, of(before), force=False, tell=str)
    path = sorted(tmp_path.glob("answers-*"))[0 if filled == "first" else -1]
    fill_in(tmp_path, path.stem.removeprefix("answers-"))
    there = {each: each.read_bytes() for each in tmp_path.iterdir()}
    if before > after > 1 and filled == "first":
        fill(tmp_path, of(after), force=True, tell=str)
        assert path in [paper.answers for paper in papers_of(tmp_path)]
    else:
        with pytest.raises(UsageError, match=f"{path.name} is filled in, and is of another problem"):
            fill(tmp_path, of(after), force=True, tell=str)
        assert there == {each: each.read_bytes() for each in tmp_path.iterdir()}


def test_a_list_that_names_files_elsewhere_is_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "key.txt"
    mine.write_text("mine", encoding="utf-8")
    folder = tmp_path / "sheets"
    put(folder, "mei", "bo")
    for name in ("../key.txt", "notes.md", str(mine)):
        rows = [",".join(Listed._fields), f"zoe,1,sheet-zoe.md,{name},problem-zoe.yaml,answers-zoe.yaml"]
        (folder / "index.csv").write_text("\n".join(rows), encoding="utf-8")
        (folder / "notes.md").write_text("mine", encoding="utf-8")
        assert [paper.problem.name for paper in papers_of(folder)] == ["problem-bo.yaml", "problem-mei.yaml"]
        put(folder, "mei", "bo", force=True)
        assert mine.exists() and (folder / "notes.md").exists()


def test_a_list_may_be_saved_by_a_spreadsheet(tmp_path: Path) -> None:
    put(tmp_path, "mei", "bo")
    index = tmp_path / "index.csv"
    saved = index.read_text(encoding="utf-8").replace(",", ";").replace("\n", "\r\n")
    index.write_bytes(b"\xef\xbb\xbf" + saved.encode())
    assert [paper.student for paper in papers_of(tmp_path)] == ["mei", "bo"]
    (tmp_path / "answers-bo.yaml").unlink()
    with pytest.raises(ProblemError, match=r"/answers-bo\.yaml: not there, beside problem-bo\.yaml; put it there"):
        _ = [each.checked() for each in papers_of(tmp_path)]
    (tmp_path / "problem-bo.yaml").unlink()
    with pytest.raises(ProblemError, match=r"/problem-bo\.yaml: not there, and index\.csv lists it; put it there"):
        _ = [each.checked() for each in papers_of(tmp_path)]


def test_answers_are_marked_by_their_own_variant_alone(tmp_path: Path) -> None:
    for seed in "xy":
        made = ("--students", tmp_path / "class.txt", "--seed", seed, "--level", 1, "--output-dir", tmp_path / seed)
        (tmp_path / "class.txt").write_text("mei\n-\n", encoding="utf-8")
        assert call("exercise", DRAWN, *made).returncode == 0
    own = tmp_path / "x" / "answers-mei.yaml"
    assert call("check", tmp_path / "x").returncode == 1
    text = own.read_text(encoding="utf-8")
    for other in (tmp_path / "x" / "answers--.yaml", tmp_path / "y" / "answers-mei.yaml"):
        own.write_bytes(other.read_bytes())
        said = one_line(call("check", tmp_path / "x" / "problem-mei.yaml", own))
        assert "answers-mei.yaml:1:10: variant: these answers are of" in said
        mei, _ = csv.DictReader(call("check", tmp_path / "x", "-f", "csv").stdout.splitlines())
        assert mei["error"] == said[:-1]
    own.write_text(text.partition("\n")[2], encoding="utf-8")  # by hand, or by an older version
    assert call("check", tmp_path / "x").returncode == 1
    assert call("check", ROOT / "problems" / "abc.yaml", tmp_path / "y" / "answers-mei.yaml").returncode == 1
    again = ("--variants", 1, "--level", 1, "--output-dir", tmp_path / "z")
    assert call("exercise", tmp_path / "x" / "problem-mei.yaml", *again).returncode == 0
    assert load(tmp_path / "z" / "problem-1.yaml").variant


def test_a_shape_that_is_asked_for_may_be_wrong(tmp_path: Path) -> None:
    """The class is marked, and what was worked from that matrix by the right figures."""
    (tmp_path / "class.txt").write_text("mei\nbo\n", encoding="utf-8")
    made = ("--students", tmp_path / "class.txt", "--level", 1, "--ask", "shapes", "--output-dir", tmp_path / "s")
    assert call("exercise", DRAWN, *made).returncode == 0
    right = solve(load(tmp_path / "s" / "problem-mei.yaml")).steps["O"].values.round(6).tolist()
    own = tmp_path / "s" / "answers-mei.yaml"
    said = own.read_text(encoding="utf-8").partition("\n")[0]
    own.write_text(f"{said}\nA: [[0.5, 0.5], [0.5, 0.5]]\nO: {right}\n", encoding="utf-8")
    mei, bo = csv.DictReader(call("check", tmp_path / "s", "-f", "csv").stdout.splitlines())
    assert (mei["invalid"], mei["correct"], bo["blank"]) == ("9", "6", "15")
    page = call("check", tmp_path / "s" / "problem-mei.yaml", own).stdout
    assert "2 × 2 is not the shape of the matrix." in page


@pytest.mark.parametrize("with_index", [True, False])
def test_the_folder_of_one_sheet_for_all_is_marked(tmp_path: Path, with_index: bool) -> None:
    assert call("exercise", ROOT / "problems" / "abc.yaml", "--output-dir", tmp_path / "f").returncode == 0
    if not with_index:
        (tmp_path / "f" / "index.csv").unlink()
    run = call("check", tmp_path / "f", "-f", "csv")
    assert run.returncode == 1 and run.stdout.splitlines()[1].startswith("answers,0,")


def test_a_student_with_two_problems_has_one_line(tmp_path: Path) -> None:
    """Mei has all figures of the second problem wrong, Bo has the first right; each is worth 2 marks."""
    (tmp_path / "class.txt").write_text("mei\nbo\n", encoding="utf-8")
    made = ("--students", tmp_path / "class.txt", "--blank", "A", "--output-dir", tmp_path / "s")
    assert call("exercise", DRAWN, DRAWN.replace("scale", "causal"), *made).returncode == 0
    for who, k, off in (("mei", 2, 7), ("bo", 1, 0)):
        figures = solve(load(tmp_path / "s" / f"problem-{who}-{k}.yaml")).steps["A"].values + off
        (tmp_path / "s" / f"answers-{who}-{k}.yaml").write_text(f"A: {figures.round(6).tolist()}", encoding="utf-8")
    for lang, place in (("en", "2: A[1,1]"), ("zh", "2：A[1,1]")):
        page = call("check", tmp_path / "s", "--marks", "A=2", "-f", "markdown", "--lang", lang).stdout
        assert page.count("| mei ") == page.count("| bo ") == 1 and place.replace("A[1,1]", "") in page, page
    run = call("check", tmp_path / "s", "--marks", "A=2", "-f", "csv")
    mei, bo = csv.DictReader(run.stdout.splitlines())
    assert (mei["name"], mei["blank"], mei["slip"], mei["first_slip"]) == ("mei", "9", "9", "2.A[1,1]")
    assert (bo["name"], bo["blank"], bo["correct"], bo["first_slip"]) == ("bo", "9", "9", "")
    assert [bo[key] for key in ("marks.1.A", "marks.2.A", "marks", "out_of")] == ["2", "0", "2", "4"]


def test_each_of_two_problems_has_marks_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first has two heads, the second one: no step of either is in the other."""
    folder = tmp_path / "s"
    made = ("--blank", "A", "--variants", "1", "--output-dir", folder)
    assert call("exercise", DRAWN, DRAWN.replace("scale", "two-heads"), *made).returncode == 0
    for k in ("1-1", "1-2"):
        steps = solve(load(folder / f"problem-{k}.yaml")).steps
        said = "".join(f"{id}: {steps[id].values.round(6).tolist()}\n" for id in steps if id.split(".")[-1] == "A")
        (folder / f"answers-{k}.yaml").write_text(said, encoding="utf-8")
    for marks in ("1: A=2,2: head1.A=3,2:head2.A=1", "1：A=2,2：head1.A=3,2：head2.A=1"):
        assert main(["check", str(folder), "--marks", marks, "-f", "csv"]) == 0
        (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
        given = [row[key] for key in ("marks.1.A", "marks.2.head1.A", "marks.2.head2.A", "marks", "out_of")]
        assert given == ["2", "3", "1", "6", "6"]
    for marks, said in (
        ("head1.A=2", "--marks, in problem 1: this problem has no step head1.A; say which problem it is of, as in 1: "),
        ("1: head1.A=2", "--marks: this problem has no step head1.A"),
        ("3: A=2", "--marks '3: A=2' names a problem that is not there; number it from 1 to 2"),
        ("x: A=2", "--marks 'x: A=2' names a problem that is not there; number it from 1 to 2"),
        ("1: A=2,A=2", "--marks names A twice"),
    ):
        assert main(["check", str(folder), "--marks", marks]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("text", ["\n", '"', f'"{"x" * 200_000}', "\0", "id;\n", ",,,,,\n" * 9], ids=range(6))
def test_an_index_that_is_none_of_ours_lists_nothing(text: str, tmp_path: Path) -> None:
    for head in ("", ",".join(Listed._fields) + "\n"):
        (tmp_path / "index.csv").write_text(head + text, encoding="utf-8")
        assert not [row for row in listed(tmp_path) if row.problem or row.answers]


# What is wrong with one paper stops nobody else's


def outside(folder: Path) -> Path:
    path = folder.parent / "elsewhere.yaml"
    path.write_text("A: _\n", encoding="utf-8")
    return path


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "broken YAML": (lambda path: path.write_text("A: [[1, 2\nO: _"), "1:"),
    "no text": (lambda path: path.write_bytes(b"\xff\x00\xfe"), ""),
    "another encoding": (lambda path: path.write_text("title: 没有", encoding="gbk"), "GBK"),
    "nothing in it": (lambda path: path.write_text("- 1"), ""),
    "a step that is none": (lambda path: path.write_text("Z: [[1]]"), ""),
    "a link out": (lambda path: path.unlink() or path.symlink_to(outside(path.parent)), "a link out of its folder"),
    "a link to nowhere": (lambda path: path.unlink() or path.symlink_to("nowhere"), "not there, beside"),
    "a link to itself": (lambda path: path.unlink() or path.symlink_to(path.name), "not there, beside"),
    "a folder": (lambda path: path.unlink() or path.mkdir(), "is not a file"),
    "a pipe": (lambda path: path.unlink() or os.mkfifo(path), "is not a file"),
    "gone": (lambda path: path.unlink(), "not there, beside"),
    "locked": (lambda path: path.chmod(0), "can't be read"),
}  # fmt: skip
if not os.geteuid():
    del SPOILT["locked"]  # nothing is to root


@pytest.fixture(scope="module")
def drawn_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bo, Lin and Mei have each a problem; Bo and Mei have all figures right."""
    place = tmp_path_factory.mktemp("drawn")
    (place / "class.txt").write_text("bo\nlin\nmei\n", encoding="utf-8")
    made = ("--students", place / "class.txt", "--level", 1, "--output-dir", place / "class")
    assert call("exercise", DRAWN, *made).returncode == 0
    for who in ("bo", "mei"):
        steps = solve(load(place / "class" / f"problem-{who}.yaml")).steps
        right = "".join(f"{id}: {steps[id].values.round(6).tolist()}\n" for id in ("A", "O"))
        (place / "class" / f"answers-{who}.yaml").write_text(right, encoding="utf-8")
    return place / "class"


@pytest.fixture
def class_of_three(drawn_class: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(drawn_class, tmp_path / "class"))


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("file", ["problem", "answers"])
@pytest.mark.parametrize("with_index", [True, False], ids=["listed", "not listed"])
def test_what_is_wrong_with_one_paper_stops_nobody_else(
    how: str, file: str, with_index: bool, class_of_three: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil, said = SPOILT[how]
    spoil(class_of_three / f"{file}-lin.yaml")
    if not with_index:
        (class_of_three / "index.csv").unlink()
    assert main(["check", str(class_of_three), "--marks", "A=2", "--format", "csv"]) == 1
    out, err = capsys.readouterr()
    bo, lin, mei = csv.DictReader(out.splitlines())
    assert not err and [each["name"] for each in (bo, lin, mei)] == ["bo", "lin", "mei"]
    for each in (bo, mei):
        assert (each["correct"], each["slip"], each["marks"], each["error"]) == ("15", "0", "2", "")
    where = lin["error"].partition(": ")[0]
    assert re.fullmatch(rf"{class_of_three}/(problem|answers)-lin\.yaml(:\d+)*", where)
    assert said in lin["error"] and f"{file}-lin.yaml" in lin["error"] and lin["error"].isprintable()
    assert not any(text for key, text in lin.items() if key not in ("name", "error"))


@pytest.mark.parametrize("form", ["terminal", "text", "markdown", "html", "json"])
def test_every_format_says_what_is_wrong_with_a_paper(
    form: str, class_of_three: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(class_of_three)
    (class_of_three / "answers-lin.yaml").write_text("A: [[1, 2\n", encoding="utf-8")
    assert main(["check", ".", "--marks", "A=2", "--format", form, "--lang", "en"]) == 1
    page = capsys.readouterr().out
    assert "answers-lin.yaml:1:5: this [ is not closed" in " ".join(page.replace("\\", "").split())  # broken at spaces
    if form == "json":
        bo, lin, _ = json.loads(page)["students"]
        assert (lin["name"], lin["figures"], lin["first_slip"]) == ("lin", [], None) and lin["error"]
        assert lin["counts"].keys() == bo["counts"].keys() and "error" not in bo
    if form == "text":
        assert "Marks: mean 2, highest 2, out of 2" in page  # of those who are marked


def test_the_papers_of_two_problems_stay_apart_where_one_can_not_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "class.txt").write_text("mei\nbo\n", encoding="utf-8")
    made = ("--students", tmp_path / "class.txt", "--blank", "A", "--output-dir", tmp_path / "s")
    assert call("exercise", DRAWN, DRAWN.replace("scale", "causal"), *made).returncode == 0
    (tmp_path / "s" / "answers-mei-1.yaml").write_text("A: [", encoding="utf-8")
    figures = solve(load(tmp_path / "s" / "problem-mei-2.yaml")).steps["A"].values
    (tmp_path / "s" / "answers-mei-2.yaml").write_text(f"A: {figures.round(6).tolist()}", encoding="utf-8")
    assert main(["check", str(tmp_path / "s"), "--marks", "A=2", "-f", "csv"]) == 1
    mei, bo = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [mei[key] for key in ("correct", "marks.1.A", "marks.2.A", "marks", "out_of")] == ["9", "", "2", "", ""]
    assert [bo[key] for key in ("blank", "marks.1.A", "marks.2.A", "marks", "out_of")] == ["18", "0", "0", "0", "4"]
    assert "answers-mei-1.yaml" in mei["error"] and not bo["error"]
    assert main(["check", str(tmp_path / "s"), "-f", "json"]) == 1
    papers = json.loads(capsys.readouterr().out)["students"]
    assert [(each["name"], each["problem"], "error" in each) for each in papers] == [
        ("mei", 1, True), ("mei", 2, False), ("bo", 1, False), ("bo", 2, False),
    ]  # fmt: skip
    assert main(["check", str(tmp_path / "s"), "--marks", "A=2", "-f", "markdown"]) == 1
    page = capsys.readouterr().out
    (line,) = (line for line in page.splitlines() if line.startswith("| mei "))
    assert [cell.strip() for cell in line.split("|")[-3:-1]] == ["–", "–"]
    assert "mean 0, highest 0, out of 4" in page
    assert main(["check", str(tmp_path / "s"), "-f", "markdown"]) == 1
    *_, first, second = capsys.readouterr().out.rstrip().splitlines()
    assert first.startswith("| 1: ") and first.split("|")[2].strip() == "9"
    assert second.startswith("| 2: ") and second.split("|")[2].strip() == "18"


@pytest.mark.parametrize("problems", [1, 2, 3])
def test_a_sheet_for_all_is_one_paper_of_all_its_problems(
    problems: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As one that is drawn for each student is; without the list of files each is by itself."""
    made = ("--blank", "A", "--output-dir", tmp_path / "s")
    assert call("exercise", *[DRAWN] * problems, *made).returncode == 0
    marks = ",".join(f"{k + 1}: A=2" for k in range(problems))
    assert main(["check", str(tmp_path / "s"), "--marks", marks, "-f", "csv"]) == 1
    (anyone,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [anyone[key] for key in ("name", "blank", "out_of")] == ["answers", str(9 * problems), str(2 * problems)]
    (tmp_path / "s" / "index.csv").unlink()
    assert main(["check", str(tmp_path / "s"), "-f", "csv"]) == 1
    assert len([*csv.DictReader(capsys.readouterr().out.splitlines())]) == problems


def test_one_of_several_files_of_answers_stops_nobody_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    abc = str(ROOT / "problems" / "abc.yaml")
    for name, text in (("bo", "V: [[1, 0], [0, 1], [1, 1]]"), ("lin", "V: ["), ("mei", "V: [[1]]")):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "mei.txt").write_text("1", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("bo.yaml", "lin.yaml", "mei.yaml", "mei.txt")]
    for answers in (files, [str(tmp_path)]):
        assert main(["check", abc, *answers, "-f", "csv"]) == 1
        bo, lin, mei = csv.DictReader(capsys.readouterr().out.splitlines())
        assert not bo["error"] and "lin.yaml:" in lin["error"]
        assert re.match(rf"{tmp_path}/mei\.\w+: a second file for mei, after {tmp_path}/mei\.\w+; ", mei["error"])


def test_where_nobody_can_be_marked_it_is_one_line(class_of_three: Path) -> None:
    for path in class_of_three.glob("answers-*"):
        path.write_text("A: [", encoding="utf-8")
    assert "answers-bo.yaml:" in one_line(call("check", class_of_three))
