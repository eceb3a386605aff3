"""The folder of a class: all its files or none, no answers lost, nobody marked by another's problem."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attncalc import load, solve
from attncalc.cli.folder import fill
from attncalc.errors import UsageError
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
    with pytest.raises(UsageError, match=r"answers-bo\.yaml is not there"):
        papers_of(tmp_path)


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
        for arguments in ((tmp_path / "x",), (tmp_path / "x" / "problem-mei.yaml", own)):
            said = one_line(call("check", *arguments))
            assert "answers-mei.yaml:1:10: variant: these answers are of" in said
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
