"""Whose answers files are: their names, and the files of a class."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path, PurePath
from typing import NamedTuple, TypeVar

from attncalc.errors import UsageError
from attncalc.problem.source import either, one_line

T = TypeVar("T")

YAML = (".yaml", ".yml")
_ENDINGS = (*YAML, ".csv", ".txt")
INDEX = "index.csv"
DELIMITERS = ",;\t"  # of CSV, as spreadsheets of different countries write it


class Listed(NamedTuple):
    """A line of the index of a folder: a student, or "", and the files of one problem; "" where a format has none."""

    id: str
    fingerprint: str
    sheet: str
    key: str
    problem: str
    answers: str

    @property
    def files(self) -> tuple[str, ...]:
        return self[2:]

    @property
    def of(self) -> tuple[str, str]:
        """What is the same in every format."""
        return self.fingerprint, self.problem


class PaperFiles(NamedTuple):
    """A problem and the answers to it; `student` is whose they are, or "" where no index says so."""

    problem: Path
    answers: Path
    student: str = ""


def student_of(name: str) -> str:
    """Who wrote a file: answers-mei.yaml is Mei's."""
    stem = PurePath(name).stem or name
    return stem.removeprefix("answers-") or stem


def class_of(paths: Iterable[str | Path]) -> list[tuple[str, Path]]:
    """Files and folders of answers as files, each with its student. Raises UsageError where two are one student's."""
    files: dict[str, Path] = {}
    for path in (inner for each in paths for inner in _files(each)):
        student = unicodedata.normalize("NFC", student_of(path.name))
        if student in files:
            both = f"{one_line(str(files[student]))} and {one_line(str(path))}"
            raise UsageError(f"two files for {one_line(student)}: {both}", "keep one, or rename it")
        files[student] = path
    return list(files.items())


def by_student(every: Iterable[T], name: Callable[[T], str]) -> list[list[T]]:
    """What was handed in, student by student: one paper, or one for each of several problems."""
    found: dict[str, list[T]] = {}
    for each in every:
        found.setdefault(name(each), []).append(each)
    return list(found.values())


def inside(folder: Path, path: Path) -> Path:
    """A file that was handed in, in its folder. Raises UsageError for a link that leads elsewhere, such as to a key,
    and for what is no file: a named pipe might never end."""
    if not path.is_file():
        raise UsageError(f"{one_line(str(path))} is not a file", "put a file in its place, or take it away")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{one_line(str(path))} is a link out of its folder", "put the file itself there")
    return path


def _files(name: str | Path) -> list[Path]:
    if not str(name):
        raise UsageError("the name of a file of answers is empty", "give files or folders of answers")
    path = Path(name)
    shown = one_line(str(path))
    try:
        if not path.is_dir():
            if str(path) != "-":
                path.stat()
            return [path]
        found = sorted(inside(path, inner) for inner in path.iterdir() if _holds_answers(inner))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"can't read {shown}: {reason}", "give files or folders of answers") from None
    if not found:
        raise UsageError(f"no answers in {shown}", f"they are files that end with {either(_ENDINGS)}")
    return found


def _holds_answers(path: Path) -> bool:
    other = path.name.startswith((".", "problem-")) or path.name == INDEX
    return path.suffix.lower() in _ENDINGS and not other and not path.is_dir()


def delimiter(head: str) -> str:
    """What stands between the columns of CSV: the sign that the head has most of."""
    return max(DELIMITERS, key=head.count)


def listed(folder: Path) -> list[Listed]:
    """What the index of a folder lists; nothing where it has none, or one that attncalc did not make."""
    path = folder / INDEX
    text = path.read_text(encoding="utf-8-sig", errors="replace") if path.is_file() else ""
    head, *rows = csv.reader(StringIO(text), delimiter=delimiter(text.partition("\n")[0])) if text else [()]
    if tuple(head) != Listed._fields or any(len(row) != len(head) for row in rows):
        return []
    found = [Listed(*row) for row in rows]
    return found if all(map(_is_ours, found)) else []


def _is_ours(row: Listed) -> bool:
    """Whether all files are in the folder itself, by the names that attncalc gives them."""
    named = zip(Listed._fields[2:], row.files, strict=True)
    return all(not file or (file.startswith(kind) and PurePath(file).name == file) for kind, file in named)


def papers_of(folder: Path) -> list[PaperFiles]:
    """The problems and answers in a folder: those that its index lists; without one problem-ID.yaml, or problem.yaml,
    with answers-ID.yaml beside it. Raises UsageError where one has not the other."""
    rows = dict.fromkeys((row.problem, row.answers, row.id) for row in listed(folder))
    if rows:
        return [PaperFiles(_there(folder, problem), _there(folder, answers), id) for problem, answers, id in rows]
    problems, answers = (
        {path.stem.removeprefix(name): inside(folder, path) for path in sorted(folder.glob(f"{name}*"))
         if path.suffix in YAML and path.stem.removeprefix(name)[:1] in ("", "-")}
        for name in ("problem", "answers")
    )  # fmt: skip
    for id in sorted(problems.keys() ^ answers.keys()):
        path, other = (problems[id], "answers") if id in problems else (answers[id], "problem")
        hint = f"put it there, or {path.name} elsewhere"
        raise UsageError(f"{one_line(str(path))} has no {other}{one_line(id)}.yaml beside it", hint)
    if not problems:
        hint = "attncalc exercise --output-dir makes such a folder"
        raise UsageError(f"{one_line(str(folder))} has no answers-ID.yaml beside a problem-ID.yaml", hint)
    return [PaperFiles(problems[id], answers[id]) for id in problems]


def _there(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.exists():
        what = f"{one_line(str(path))} is not there, and {INDEX} lists it"
        raise UsageError(what, "put it there, or take its line out of the list")
    return inside(folder, path)
