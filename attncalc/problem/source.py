"""Where text came from, and how a complaint about it is worded: one line, printable, with its place."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from attncalc.errors import ProblemError
from attncalc.problem.room import Room

LONGEST = 40  # characters of a user's text that a message repeats
MOST_IDS = 40  # of steps that a message names

FULL_WIDTH = {
    "：": ("colon", ":"), "，": ("comma", ","), "、": ("comma", ","), "；": ("semicolon", ","), "．": ("point", "."),
    "［": ("bracket", "["), "］": ("bracket", "]"), "【": ("bracket", "["), "】": ("bracket", "]"),
    "｛": ("brace", "{"), "｝": ("brace", "}"), "＂": ("quote", '"'), "＇": ("quote", "'"),
    "－": ("minus", "-"), "＋": ("plus", "+"), **{chr(0xFF10 + digit): ("digit", str(digit)) for digit in range(10)},
}  # fmt: skip
CURLY = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"}


def called(name: str) -> str:
    """What messages and pages call a file; "-" is standard input."""
    return "<stdin>" if name == "-" else name


class Placed(Protocol):
    """Anything that knows where it starts, as line and column from 0: an event, or a node."""

    @property
    def start_mark(self) -> Any: ...


@dataclass(frozen=True, repr=False)
class Source:
    """One text with the name the user gave it; `count_from` is where indices in messages start (0 or 1).

    `folder` is where the files that it names are; None: it can't name any. Within a part of the file (`inside`), paths
    are those of the part: `within` is what stands before them in messages, `scope` the same with indices from 1. All
    parts share its `room`.
    """

    name: str
    text: str = ""
    count_from: int = 1
    folder: Path | None = None
    within: str = ""
    scope: str = ""
    room: Room = field(default_factory=Room)

    def inside(self, key: str, *index: int) -> Source:
        """The same text, for a part of it: `layers` and an index from 0, then `attention`."""
        one_up = [number + 1 - self.count_from for number in index]  # `cell` counts as the user does; a scope from 1
        within = f"{self.within}{self.cell(key, *index) if index else key}."
        return replace(self, within=within, scope=f"{self.scope}{self.cell(key, *one_up) if index else key}.")

    def error(self, at: Placed, path: str, what: str, hint: str = "") -> ProblemError:
        """The error of the thing `at`, to be raised by the caller."""
        mark = at.start_mark
        return self.error_at(mark.line + 1, mark.column + 1, path, what, hint)

    def error_at(self, line: int, column: int, path: str, what: str, hint: str = "") -> ProblemError:
        """The error of a place counted from 1. Every ProblemError is made here, so none can span two lines."""
        path = (path if path.startswith(self.within) else f"{self.within}{path}").rstrip(".")
        return ProblemError(one_line(self.name), line, column, one_line(path), one_line(what), one_line(hint))

    def cell(self, path: str, *index: int) -> str:
        """The path of an entry, from indices that count from 0: `H[2,1]`."""
        return f"{path}[{','.join(str(number + self.count_from) for number in index)}]"


def one_line(text: str) -> str:
    """`text` with every character that doesn't print as itself written as an escape, a newline as \\n."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def short(text: str) -> str:
    """A user's text as a message repeats it: escaped, and cut where it is long."""
    text = one_line(text[: LONGEST + 1])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def look_alike(text: str, besides: Container[str] = ()) -> str:
    """A hint that names the first full-width sign or curly quote in `text`, `besides` those that may stand there."""
    for character in text:
        if character in besides:
            continue
        if character in FULL_WIDTH:
            name, plain = FULL_WIDTH[character]
            return f"{character} is a full-width {name}, type {plain}"
        if character in CURLY:
            return f"{character} is a curly quote, type {CURLY[character]}"
    return ""


def counted(count: int, noun: str) -> str:
    """`1 row`, `2 rows`; the noun is given in the singular."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def either(names: Sequence[str], last: str = "or") -> str:
    """`a, b or c`."""
    *most, final = names
    return f"{', '.join(most)} {last} {final}" if most else final


def some_of(names: Sequence[str], most: int) -> str:
    """`a, b and c`; of more than `most` names `a, b and 7 more`."""
    return either([*names[:most], f"{len(names) - most} more"] if len(names) > most else names, "and")
