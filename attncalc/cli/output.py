"""From a solution to the bytes that leave: the format, the language, the place."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

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


def screen(output: Path | None) -> Screen:
    """What standard output is, unless the page goes to a file."""
    if not (sys.stdout.isatty() or {"COLUMNS", "LINES"} & os.environ.keys()):
        return PAPER
    from shutil import get_terminal_size

    return Screen(*get_terminal_size(), terminal=output is None and sys.stdout.isatty())


def render(
    problem: Problem, solution: Solution, *, format: str, lang: str, only: Sequence[Step] = (), on: Screen = PAPER,
    tell: Callable[[str], object] = lambda _: None, **of_format: Any,
) -> str:  # fmt: skip
    """The page of a solution, whole, as text. `of_format` are options of the format; `tell` hears what is done."""
    from attncalc import formats

    if formats.FORMATS[formats.known(format)].takes == "solution":
        tell(f"writing {format}")
        return formats.render(format, solution, problem.show.rule, only=only)
    from attncalc.layout import lay_out

    document = lay_out(
        solution, problem.show, lang, title=problem.title, kind=problem.kind, only=only,
        on_section=lambda anchor: tell(f"laying out {anchor}"),
    )  # fmt: skip
    tell(f"writing {format}")
    return formats.render(format, document, columns=on.columns, terminal=on.terminal, **of_format)


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


def write(text: str, output: Path | None, pager: Screen | None = None) -> None:
    """To standard output, or to a file, whole or not at all; what is longer than the screen `pager`, to a pager."""
    data = _encoded(text)
    if pager and pager.terminal and _rows(text, pager.columns) >= pager.lines and _paged(data):
        return
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    save([data], output)


def write_pieces(pieces: Iterable[str], output: Path | None) -> None:
    """The same of a page piece by piece, which is never held in memory: what goes to standard output waits in a file
    until it is whole."""
    if output is not None:
        save(map(_encoded, pieces), output)
        return
    import shutil
    import tempfile

    with tempfile.TemporaryFile() as waiting:
        try:
            waiting.writelines(map(_encoded, pieces))
        except OSError as error:
            what = f"can't write into {tempfile.gettempdir()}: {error.strerror}"
            raise UsageError(what, "make room there, or give --output") from error
        waiting.seek(0)
        shutil.copyfileobj(waiting, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")  # a file's name may be no UTF-8


def save(pieces: Iterable[bytes], output: Path) -> None:
    """To a file, whole or not at all."""
    try:
        if output.exists() and not output.is_file():
            with output.open("wb") as place:  # /dev/stderr, a named pipe: nothing to keep whole
                place.writelines(pieces)
        else:
            _replace(output, pieces)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, on Python 3.11 and 3.12
        reason = getattr(error, "strerror", None) or "links that lead nowhere"
        raise UsageError(f"{output} can't be written: {reason}", "choose another --output") from error


def _rows(text: str, columns: int) -> int:
    """How many lines of a screen a page takes, about; its colours take none."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    return sum(max(1, -(-len(line) // columns)) for line in lines)


def _paged(data: bytes) -> bool:
    """Shows a page in the user's pager, for as long as they like; whether there was one."""
    import shlex
    import signal
    import subprocess

    command = shlex.split(os.environ.get("PAGER", "")) or ["less", "-R"]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": "-R", **os.environ})
    except OSError:
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's while it runs
    try:
        with suppress(BrokenPipeError):  # it was quit before the end
            process.communicate(data)
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _replace(output: Path, pieces: Iterable[bytes]) -> None:
    """A new file beside the old one takes its place in one move."""
    from attncalc.cli.waiting import waiting

    target = output.resolve()
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
