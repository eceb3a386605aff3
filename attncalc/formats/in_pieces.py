"""A page comes in pieces, of which a large one is written without ever being held; here it is one string."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ParamSpec

PORTION = 1_000  # lines
P = ParamSpec("P")


def whole(pieces: Callable[P, Iterator[str]]) -> Callable[P, str]:
    """The `render` of a format: all its pieces together."""

    def render(*subject: P.args, **options: P.kwargs) -> str:
        return "".join(pieces(*subject, **options))

    return render


def between(space: str, parts: Iterable[str]) -> Iterator[str]:
    """The parts with space between them."""
    for k, part in enumerate(parts):
        yield space + part if k else part


def portions(lines: list[str]) -> Iterator[list[str]]:
    """The lines, so many at a time as can be written at once."""
    for start in range(0, len(lines), PORTION):
        yield lines[start : start + PORTION]
