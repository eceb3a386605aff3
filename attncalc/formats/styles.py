"""Stretches of text that are to be shown in a style, marked within the text, so that laying it out is the same job.

A stretch stands between two signs that take no room and that no page holds otherwise: they are letters of Unicode's
tags, which `visible` writes out wherever a file has them. `painted` turns the marks into what rich writes for them, as
the terminal, NO_COLOR and the other wishes of its user will have them.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

# The colours of a terminal's own palette, which suit its background, be it light or dark. A shade has a background of
# its own and letters that can be read on it: blue, purple, red, orange; with 16 colours they are still these four.
STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "heading": {"bold": True},
    "line": {"dim": True},  # what a line of working gives
    "token": {"bold": True},
    "query": {"color": "magenta"},
    "key": {"color": "green"},
    "value": {"color": "cyan"},
    "nothing": {"dim": True},
    "shade 1": {"color": "color(231)", "bgcolor": "color(19)"},
    "shade 2": {"color": "color(231)", "bgcolor": "color(91)"},
    "shade 3": {"color": "color(231)", "bgcolor": "color(124)"},
    "shade 4": {"color": "color(16)", "bgcolor": "color(172)"},
}
SHADES = 4
_SHADED = frozenset({"weights", "given_weights"})
_TAGS = 0xE0020
_END = "\U000e007f"
_OPENING = {name: chr(_TAGS + i) for i, name in enumerate(STYLES)}
_NAMES = {sign: name for name, sign in _OPENING.items()}
_SIGNS = re.compile(f"([{''.join(_NAMES)}{_END}])")


def styled(text: str, name: str) -> str:
    """The text, marked; where no style has this name, as it is."""
    return f"{_OPENING[name]}{text}{_END}" if text and name in STYLES else text


def cell(text: str, role: str) -> str:
    """A cell of a matrix, marked by the matrix's role; weights are shaded by what they are."""
    if role in _SHADED:
        return styled(text, _shade(text))
    return styled(text, "nothing" if text.strip() == "-∞" else role)


def _shade(text: str) -> str:
    try:
        weight = float(text)
    except ValueError:  # a blank
        return ""
    return f"shade {min(SHADES, 1 + int(min(weight, 1) * SHADES))}" if weight > 0 else "nothing"


def painted(pages: Iterable[list[str]], terminal: bool) -> Iterator[str]:
    """Lines, some at a time, for a terminal, or for something else, which has colour only where FORCE_COLOR asks for
    it."""
    codes = _codes(terminal)
    for lines in pages:
        yield "".join([_painted(line.rstrip(), codes) + "\n" for line in lines])


def _painted(line: str, codes: Mapping[str, tuple[str, str]]) -> str:
    """A line with what rich puts before and after each style; within a style another one takes its place."""
    if _END not in line:
        return line
    text, styles = [], [("", "")]
    for part in _SIGNS.split(line):
        if part == _END:
            styles.pop()
        elif part in codes:
            styles.append(codes[part])
        elif part:
            before, after = styles[-1]
            text.append(f"{before}{part}{after}")
    return "".join(text)


def _codes(terminal: bool) -> dict[str, tuple[str, str]]:
    """What rich writes before and after a text of each style, by the sign that opens it: nothing where there is to be
    no colour."""
    no_color = True if os.environ.get("CLICOLOR") == "0" and not os.environ.get("FORCE_COLOR") else None
    page = _Page(terminal)
    console = Console(file=page, width=80, no_color=no_color, legacy_windows=False)
    # New ones each time: a Style keeps the codes of the terminal that it was first written for.
    samples = [part for style in STYLES.values() for part in (Segment("x", Style(**style)), Segment("\n"))]
    console.print(Segments(samples), soft_wrap=True, end="")
    around = [tuple(sample.split("x")) for sample in page.getvalue().splitlines()]
    return {sign: (before, after) for sign, (before, after) in zip(_NAMES, around, strict=True)}


class _Page(io.StringIO):
    """Text in memory that is taken for a terminal if it is to go to one."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal
