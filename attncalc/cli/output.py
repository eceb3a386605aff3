"""From a solution to the bytes that leave: the format, the language, the place."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attncalc.errors import UsageError
from attncalc.problem import Problem
from attncalc.solution import Solution
from attncalc.steps import Step


def render(
    problem: Problem, solution: Solution, *, format: str | None, lang: str, math: str, only: Sequence[Step] = (),
) -> str:  # fmt: skip
    """The page of a solution, whole, as text."""
    from attncalc import formats

    name = "text" if format is None else format
    if formats.FORMATS[formats.known(name)].takes == "solution":
        return formats.render(name, solution, problem.show.rule, only=only)
    from attncalc.layout import lay_out

    document = lay_out(solution, problem.show, lang, title=problem.title, kind=problem.kind, only=only)
    return formats.render(name, document, math=math)


def language(asked: str | None, problem: Problem, output: Path | None) -> str:
    """The one asked for, else the file's, else, on a terminal only, the locale's, else English."""
    if asked is not None:
        return asked
    if problem.lang is None and output is None and sys.stdout.isatty():
        said = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
        return "zh" if next(filter(None, said), "").startswith("zh") else "en"
    return problem.lang or "en"


def said(**options: object) -> dict[str, object]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def write(text: str, output: Path | None) -> None:
    """To standard output, or to a file: whole or not at all."""
    data = text.encode("utf-8")
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        if output.exists() and not output.is_file():
            output.write_bytes(data)  # /dev/stderr, a named pipe: nothing to keep whole
        else:
            _replace(output, data)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, on Python 3.11 and 3.12
        reason = getattr(error, "strerror", None) or "links that lead nowhere"
        raise UsageError(f"{output} can't be written: {reason}", "choose another --output") from error


def _replace(output: Path, data: bytes) -> None:
    """A new file beside the old one takes its place in one move."""
    target = output.resolve()
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".attncalc-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
