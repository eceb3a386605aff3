"""Many files at once: a folder gets all of them, or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attncalc.cli.waiting import hidden, undone_at_the_end, waiting
from attncalc.errors import UsageError
from attncalc.formats.spreadsheet import to_csv
from attncalc.marking.students import INDEX, Listed, listed
from attncalc.marking.template import is_untouched


def fill(
    folder: Path, every: Iterable[tuple[Listed, Mapping[str, str]]], *, force: bool, tell: Callable[[str], object]
) -> None:
    """Writes the files of each student (name, text) into a folder, which is made where there is none, and an index.

    They wait beside it, and are moved in when all are there. Those that it has already are left; others of its own are
    replaced, or removed where its index alone lists them, with `force`; answers that are filled in never are.
    """
    try:
        old = listed(folder)
        with _beside(folder) as beside:
            rows, names = [], []
            for row, texts in every:
                rows.append(row)
                for name, text in _fresh(folder, row, texts, force=force).items():
                    tell(f"writing {name}")
                    (beside / name).write_text(text, encoding="utf-8", newline="\n")
                    names.append(name)
            made = {row.of for row in rows}
            kept = [row for row in old if row.of in made]  # other formats of the same
            index = to_csv([Listed._fields, *{row.files: row for row in (*kept, *rows)}.values()])
            if _is_new(folder / INDEX, index, force=force or (bool(old) and kept == old)):
                (beside / INDEX).write_text(index, encoding="utf-8", newline="\n")
                names.append(INDEX)
            _refuse_orphans(folder, old, [*kept, *rows])
            _move(folder, beside, names, _outdated(folder, old, [*kept, *rows]))
    except OSError as error:
        raise UsageError(f"can't write into {folder}: {error.strerror}", "choose another --output-dir") from None


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files into a folder that has none of them, which is made where there is none."""
    with _beside(folder) as beside:
        for name, data in files.items():
            (beside / name).write_bytes(data)
        _move(folder, beside, list(files), [])


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A hidden folder in another, or in the first above it that is there, for what is to be moved from there."""
    with waiting(next(each for each in (folder, *folder.parents) if os.path.lexists(each))) as path:
        _make(path)
        yield path


def _make(hidden: Path) -> None:
    """A folder that its owner can write into, whatever the umask."""
    hidden.mkdir(0o700)
    hidden.chmod(0o700)


def _fresh(folder: Path, row: Listed, texts: Mapping[str, str], *, force: bool) -> dict[str, str]:
    """The files of a student that the folder has not got. Raises UsageError for those that may not be replaced."""
    skip = set()
    if _is_filled_in(folder / row.answers):
        if not _has(folder / row.problem, texts[row.problem]):
            raise _of_another_problem(folder / row.answers)
        skip.add(row.answers)
    return {name: text for name, text in texts.items()
            if name not in skip and _is_new(folder / name, text, force=force)}  # fmt: skip


def _is_new(path: Path, text: str, *, force: bool) -> bool:
    """Whether the folder has no such file, or another, which may be replaced."""
    if not os.path.lexists(path):
        return True
    if not path.is_file():
        raise UsageError(f"{path} is there already, and is no file", "choose another --output-dir")
    if _has(path, text):
        return False
    if not force:
        raise UsageError(f"{path} is there already", "choose another --output-dir, or give --force")
    return True


def _has(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _is_filled_in(path: Path) -> bool:
    return path.is_file() and not is_untouched(path.read_text(encoding="utf-8", errors="replace"))


def _of_another_problem(path: Path) -> UsageError:
    what = f"{path} is filled in, and is of another problem"
    return UsageError(what, "take it elsewhere, or choose another --output-dir")


def _refuse_orphans(folder: Path, old: Sequence[Listed], rows: Sequence[Listed]) -> None:
    """Raises UsageError for answers of a student who is still there that nothing would list any more: where there were
    two problems, and is one."""
    listed_now, students = {row.answers for row in rows}, {row.id for row in rows}
    for row in old:
        if row.id in students and row.answers not in listed_now and _is_filled_in(folder / row.answers):
            raise _of_another_problem(folder / row.answers)


def _outdated(folder: Path, old: Sequence[Listed], rows: Sequence[Listed]) -> list[str]:
    """The files that the old index alone lists, but for those that go with answers that are filled in."""
    stay = [*rows, *(row for row in old if _is_filled_in(folder / row.answers))]
    gone = {name for row in old for name in row.files} - {name for row in stay for name in row.files}
    return [name for name in sorted(gone) if (folder / name).is_file()]


def _move(folder: Path, beside: Path, names: Sequence[str], gone: Sequence[str]) -> None:
    """Moves files in, and aside those that they replace, and those that are to go. All are moved back, and folders that
    were made for them removed, on an error or an interrupt."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    aside = hidden(beside.parent)  # stays, with what it holds, where no way leads back
    replaced = [name for name in (*names, *gone) if (folder / name).exists()]
    moves = [(replaced, folder, aside), (names, beside, folder)]
    all_moved = False

    def settle() -> None:
        if all_moved:
            shutil.rmtree(aside, ignore_errors=True)
            return
        for moved, source, target in reversed(moves):
            for name in moved:
                if os.path.lexists(target / name) and not os.path.lexists(source / name):
                    (target / name).replace(source / name)
        for each in (aside, *missing):
            if os.path.lexists(each):  # False, too, in a folder that the umask closes
                each.rmdir()

    with undone_at_the_end(settle):
        _make(aside)
        folder.mkdir(parents=True, exist_ok=True)
        for moved, source, target in moves:
            for name in moved:
                (source / name).replace(target / name)
        all_moved = True
