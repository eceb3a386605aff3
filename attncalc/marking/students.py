"""Whose answers files are: their names, and the files of a class."""

from __future__ import annotations

import csv
import os
import unicodedata
from collections.abc import Iterable
from io import StringIO
from pathlib import Path, PurePath
from typing import NamedTuple

from attncalc.errors import ProblemError, UsageError
from attncalc.problem.source import called, either, one_line

YAML = (".yaml", ".yml")
_ENDINGS = (*YAML, ".csv", ".txt")
INDEX = "index.csv"
ANYONE = "answers"  # who fills in a sheet that is for all, of however many problems
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


def student_of(name: str) -> str:
    """Who wrote a file: answers-mei.yaml is Mei's."""
    stem = PurePath(called(name)).stem or name
    return stem.removeprefix("answers-") or stem


class Answered(NamedTuple):
    """The answers of a student: a file, in the `folder` that holds those of the class, if one does."""

    student: str
    files: tuple[Path, ...]
    folder: Path | None = None

    @property
    def file(self) -> Path:
        """Raises ProblemError where there are two, and for what `_inside` refuses."""
        if len(self.files) > 1:
            first, second, *_ = self.files
            what = f"a second file for {one_line(self.student)}, after {one_line(str(first))}"
            raise _refused(second, what, "keep one, or rename it")
        return _inside(self.folder, self.files[0]) if self.folder else self.files[0]


class PaperFiles(NamedTuple):
    """A problem and the answers to it, in a folder."""

    student: str
    problem: Path
    answers: Path

    def checked(self) -> PaperFiles:
        """The same. Raises ProblemError where one is not there, and for what `_inside` refuses."""
        for path, other in ((self.problem, self.answers), (self.answers, self.problem)):
            if _is_there(path):
                _inside(path.parent, path)
            elif _is_there(other):
                hint = f"put it there, or {one_line(other.name)} elsewhere"
                raise _refused(path, f"not there, beside {one_line(other.name)}", hint)
            else:
                hint = "put it there, or take its line out of the list"
                raise _refused(path, f"not there, and {INDEX} lists it", hint)
        return self


def class_of(paths: Iterable[str | Path]) -> list[Answered]:
    """Files and folders of answers, by student."""
    found: dict[str, Answered] = {}
    for folder, path in (inner for each in paths for inner in _files(each)):
        student = unicodedata.normalize("NFC", student_of(path.name))
        others = found[student].files if student in found else ()
        found[student] = Answered(student, (*others, path), folder)
    return list(found.values())


def _inside(folder: Path, path: Path) -> Path:
    """A file that was handed in, in its folder. Raises ProblemError for a link that leads elsewhere, such as to a key,
    and for what is no file: a named pipe might never end."""
    if not path.is_file():
        raise _refused(path, "is not a file", "put a file in its place, or take it away")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _refused(path, "is a link out of its folder", "put the file itself there")
    return path


def _refused(path: Path, what: str, hint: str) -> ProblemError:
    return ProblemError.of_file(one_line(str(path)), what, hint)


def _is_there(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110, Path.exists raises for a name that no file can have, on Python 3.11


def _files(name: str | Path) -> list[tuple[Path | None, Path]]:
    """The files that a name stands for, each with its folder where that was named."""
    if not str(name):
        raise UsageError("the name of a file of answers is empty", "give files or folders of answers")
    path = Path(name)
    try:
        if not path.is_dir():
            if str(path) != "-":
                path.stat()
            return [(None, path)]
        found = sorted(inner for inner in path.iterdir() if _holds_answers(inner))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused(path, f"can't be read: {reason}", "give files or folders of answers") from None
    if not found:
        raise UsageError(f"no answers in {one_line(str(path))}", f"they are files that end with {either(_ENDINGS)}")
    return [(path, inner) for inner in found]


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
    try:
        head, *rows = csv.reader(StringIO(text), delimiter=delimiter(text.partition("\n")[0])) if text else [()]
    except csv.Error:  # a field of more than 131,072 letters, as where a quote is not closed
        return []
    if tuple(head) != Listed._fields or any(len(row) != len(head) for row in rows):
        return []
    found = [Listed(*row) for row in rows]
    return found if all(map(_is_ours, found)) else []


def _is_ours(row: Listed) -> bool:
    """Whether all files are in the folder itself, by the names that attncalc gives them."""
    named = zip(Listed._fields[2:], row.files, strict=True)
    return all(not file or (file.startswith(kind) and PurePath(file).name == file) for kind, file in named)


def papers_of(folder: Path) -> list[PaperFiles]:
    """The problems and answers in a folder, whether they are there or not: those that its index lists; without one
    problem-ID.yaml, or problem.yaml, with answers-ID.yaml beside it."""
    rows = dict.fromkeys((row.id, row.problem, row.answers) for row in listed(folder))
    if rows:
        return [PaperFiles(id or ANYONE, folder / problem, folder / answers)
                for id, problem, answers in rows]  # fmt: skip
    problems, answers = (
        {path.stem.removeprefix(name): path for path in sorted(folder.glob(f"{name}*"))
         if path.suffix in YAML and path.stem.removeprefix(name)[:1] in ("", "-")}
        for name in ("problem", "answers")
    )  # fmt: skip
    ids = sorted(problems.keys() | answers.keys())
    if not ids:
        hint = "attncalc exercise --output-dir makes such a folder"
        raise UsageError(f"{one_line(str(folder))} has no answers-ID.yaml beside a problem-ID.yaml", hint)
    places = ((problems.get(id, folder / f"problem{id}.yaml"), answers.get(id, folder / f"answers{id}.yaml"))
              for id in ids)  # fmt: skip
    return [PaperFiles(student_of(answers.name), problem, answers) for problem, answers in places]
