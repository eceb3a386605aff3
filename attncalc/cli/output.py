"""From a solution to the bytes that leave: the format, the language, the place."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from attncalc.cli import forget_output
from attncalc.errors import UsageError
from attncalc.problem import Problem
from attncalc.solution import Solution
from attncalc.steps import Step


class Screen(NamedTuple):
    """What a page is shown on: its size, and whether it is a terminal."""

    columns: int = 80
    lines: int = 24
    terminal: bool = False


PAPER = Screen()
LONG = 8_000_000  # bytes of a page; one of more is not held in memory


def screen(output: Path | None) -> Screen:
    """What standard output is, unless the page goes to a file."""
    if not (sys.stdout.isatty() or {"COLUMNS", "LINES"} & os.environ.keys()):
        return PAPER
    from shutil import get_terminal_size

    return Screen(*get_terminal_size(), terminal=output is None and sys.stdout.isatty())


def pieces(
    problem: Problem, solution: Solution, *, format: str, lang: str, only: Sequence[Step] = (), on: Screen = PAPER,
    tell: Callable[[str], object] = lambda _: None, **of_format: Any,
) -> Iterator[str]:  # fmt: skip
    """The page of a solution, piece by piece. `of_format` are options of the format; `tell` hears what is done."""
    from attncalc import formats

    if formats.FORMATS[formats.known(format)].takes == "solution":
        tell(f"writing {format}")
        return formats.pieces(format, solution, problem.show.rule, only=only)
    from attncalc.layout import lay_out

    document = lay_out(
        solution, problem.show, lang, title=problem.title, kind=problem.kind, only=only,
        on_section=lambda anchor: tell(f"laying out {anchor}"),
    )  # fmt: skip
    tell(f"writing {format}")
    return formats.pieces(format, document, columns=on.columns, terminal=on.terminal, **of_format)


def format_for(asked: str | None, on: Screen, of_format: Iterable[str]) -> str:
    """The format asked for, else what suits the place; it must have the options `of_format` that were given."""
    from attncalc import formats

    name = formats.known(("terminal" if on.terminal else "text") if asked is None else asked)
    for option in of_format:
        if option not in formats.FORMATS[name].options:
            having = " or ".join(each for each, form in formats.FORMATS.items() if option in form.options)
            raise UsageError(f"--{option} is an option of {having}, not of {name}", f"add --format {having}")
    return name


def language(asked: str | None, problem: Problem, on: Screen) -> str:
    """The one asked for, else the file's, else, on a terminal only, the locale's, else English."""
    if asked is not None:
        return asked
    if problem.lang is None and on.terminal:
        said = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
        return "zh" if next(filter(None, said), "").startswith("zh") else "en"
    return problem.lang or "en"


def said(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def write(
    pieces: Iterable[str], output: Path | None, pager: Screen | None = None, *,
    ready: Callable[[], object] = lambda: None,
) -> None:  # fmt: skip
    """To standard output, or to a file, whole or not at all; what is longer than the screen `pager`, to a pager.

    Nothing of a page leaves before all of it is there, since the last piece may fail as well; then `ready` is called.
    """
    if output is not None:
        save(map(_encoded, pieces), output)
        return
    with _held(map(_encoded, pieces)) as page:
        ready()
        if not (pager and pager.terminal and _is_longer(page, pager) and _paged(page)):
            _print(page)


def _print(page: IO[bytes]) -> None:
    try:
        sys.stdout.buffer.writelines(page)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # the reader has seen enough (`| head`), which is no error; typer would make one of it
        forget_output()


def _held(pieces: Iterator[bytes]) -> IO[bytes]:
    """A page that is whole: in memory or, a long one, in a file."""
    page = io.BytesIO()
    for piece in pieces:
        page.write(piece)
        if page.tell() > LONG:
            return _held_in_file(chain([page.getvalue()], pieces))
    page.seek(0)
    return page


def _held_in_file(pieces: Iterable[bytes]) -> IO[bytes]:
    import tempfile

    try:
        page = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed by whom it is for
        page.writelines(pieces)
        page.seek(0)
    except OSError as error:
        what = f"can't write a temporary file: {error.strerror}"
        raise UsageError(what, "make room for it, name another folder in TMPDIR, or give --output") from error
    return page


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")  # a file's name may be no UTF-8


def save(pieces: Iterable[bytes], output: Path) -> None:
    """To a file, whole or not at all."""
    try:
        place = _stream(output)
        if place is None:
            _replace(output, pieces)
            return
        with (
            _held(iter(pieces)) as page,
            suppress(BrokenPipeError),  # as in _print
            open(place, "wb", closefd=place is output) as file,
        ):
            file.writelines(page)
    except OSError as error:
        raise UsageError(f"{output} can't be written: {error.strerror}", "choose another --output") from error


def _stream(output: Path) -> Path | int | None:
    """What is written into as it stands: a pipe or a device; or, by its number, standard output or error, which
    /dev/stdout names: the file that it is may hold what others wrote, and they go on where this ends."""
    if not output.exists():
        return None
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(output.stat(), os.fstat(number)):
                return number
    return None if output.is_file() else output


def _is_longer(page: IO[bytes], screen: Screen) -> bool:
    """Whether a page takes as many lines as a screen has, about; its colours take none."""
    rows = 0
    for line in page:
        letters = len(re.sub(r"\x1b\[[\d;]*m", "", line.decode()).rstrip("\n"))
        rows += max(1, -(-letters // screen.columns))
        if rows >= screen.lines:
            break
    page.seek(0)
    return rows >= screen.lines


def _paged(page: IO[bytes]) -> bool:
    """Shows a page in the user's pager, for as long as they like; whether there was one."""
    import shlex
    import signal
    import subprocess

    try:
        command = shlex.split(os.environ.get("PAGER", "")) or ["less", "-R"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": "-R", **os.environ})
    except (OSError, ValueError):  # no such program, or a quote that is never closed
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's while it runs
    try:
        assert process.stdin is not None
        with process, suppress(BrokenPipeError), process.stdin:  # it may be quit before the end
            process.stdin.writelines(page)
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _replace(output: Path, pieces: Iterable[bytes]) -> None:
    """A new file beside the old one takes its place in one move."""
    from attncalc.cli.waiting import waiting

    try:
        target = output.resolve()
    except RuntimeError as error:  # a loop of links, on Python 3.11 and 3.12
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    with waiting(target.parent) as new:
        with open(new, "xb", opener=partial(os.open, mode=0o600)) as file:
            file.writelines(pieces)
        new.chmod(mode)
        new.replace(target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
