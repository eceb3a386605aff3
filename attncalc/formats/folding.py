"""Long lines folded: sentences between words, formulas before their signs, never within a figure or a token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attncalc.blocks import Math
from attncalc.formats.boxes import Box, flow, stacked
from attncalc.formats.forms import RELATIONS, segments, set_off
from attncalc.formats.notation import line
from attncalc.formats.text_math import GAP, INDENT, TEXT
from attncalc.formats.width import display_width

NARROWEST = 8  # what is left to a line that is deep inside narrow sections

_EASTERN = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60"
_UNITS = re.compile(f" +|[{_EASTERN}]|[^ {_EASTERN}]+")  # letters that a line may end after each make a unit
_BREAKS = re.compile(r"[()\[\]]|(?<=[,+]) |(?<= -) ")  # brackets, and the spaces after a comma, a plus or a minus
_IS_EASTERN = re.compile(f"[{_EASTERN}]")
_OPENING, _CLOSING = "（「『《〈【“‘([", "）」』》〉】”’)],.;:!?，。、；：！？…·"
# Where a word that is wider than a line is broken: after a full stop (layer1.attention.A), a stroke or a hyphen.
_JOINTS = re.compile(r"(?<=\w[./-])(?=[^\W\d])")
_SPACE = re.compile(r"(?<=\S) (?=\S)")


class Word(NamedTuple):
    """What is not broken, but between its pieces where it is wider than a line; `spaced`: it stands after a space."""

    pieces: tuple[str, ...]
    spaced: bool = True

    @staticmethod
    def of(text: str) -> Word:
        return Word(tuple(_JOINTS.split(text)))

    def joined(self, other: tuple[str, ...]) -> Word:
        """The word with others right after it."""
        first, *rest = other
        return self._replace(pieces=(*self.pieces[:-1], self.pieces[-1] + first, *rest))


def filled(words: Iterable[Word], width: int, hanging: int = INDENT) -> list[str]:
    """As many words on each line as there is room for; lines after the first stand `hanging` columns further in."""
    lines: list[str] = []
    current, used, width = "", 0, max(width, NARROWEST)
    for text, spaced in _unbroken(words, width - hanging):
        wide = display_width(text)
        if current and used + spaced + wide > width:
            lines.append(current)
            current, used = " " * hanging, hanging
        elif current and spaced:
            current, used = current + " ", used + 1
        current, used = current + text, used + wide
    return [*lines, current] if current else lines


def _unbroken(words: Iterable[Word], width: int) -> Iterator[tuple[str, bool]]:
    """The words, and the pieces of those that are wider than a line, each with whether it stands after a space."""
    for pieces, spaced in words:
        text = "".join(pieces)
        if display_width(text) <= width:
            yield text, spaced
        else:
            yield from ((piece, spaced and k == 0) for k, piece in enumerate(pieces))


def words(parts: Iterable[str | tuple[str, ...]]) -> list[Word]:
    """The words of a sentence, from its texts; the pieces of a token or a formula are one word."""
    found: list[Word] = []
    spaced = False
    for part in parts:
        for unit in [part] if isinstance(part, tuple) else _UNITS.findall(part):
            if isinstance(unit, str) and unit.isspace():
                spaced = True
                continue
            pieces = unit if isinstance(unit, tuple) else Word.of(unit).pieces
            if found and not spaced and not _may_break(found[-1].pieces[-1], pieces[0]):
                found[-1] = found[-1].joined(pieces)
            else:
                found.append(Word(pieces, spaced))
            spaced = False
    return found


def _may_break(before: str, after: str) -> bool:
    """Between letters that stand without spaces, except before a mark that closes and after one that opens."""
    eastern = _IS_EASTERN.match(before[-1:]) or _IS_EASTERN.match(after[:1])
    return bool(eastern) and before[-1:] not in _OPENING and after[:1] not in _CLOSING


def folded(math: Math, width: int, column: int) -> Box:
    """A formula without matrices in as many lines as it needs; `column`: where its first sign stands."""
    width = max(width, NARROWEST)
    whole = line(math, TEXT)
    if display_width(whole) <= width:
        return Box.of(whole)
    if math.pattern.op == "spaced":
        parts = [math._replace(pattern=part) for part in math.pattern.args]
        top, *below = flow([folded(part, width - INDENT, column) for part in parts], width - INDENT, GAP)
        return stacked([top, *(box.indented(INDENT) for box in below)])
    head, *rest = _relations(math)
    if rest and 0 < column <= width // 2:
        beside = _box(_in_lines(f"{head} {rest[0]}", rest[1:], column, width))
        if beside.width <= width:
            return beside
    return _box(_in_lines(head, rest, INDENT if rest and head[0] not in RELATIONS else 0, width))


def _relations(math: Math) -> list[str]:
    """A chain in its parts, each from its sign on; a comma stays with what is before it."""
    found = [""]
    for sign, part in segments(math.pattern):
        if sign in RELATIONS and found[-1]:
            found.append("")
        found[-1] += set_off(sign, not found[-1]) if sign else ""
        found[-1] += line(math._replace(pattern=part), TEXT) if part else ""
    return found


def _in_lines(head: str, rest: Sequence[str], column: int, width: int) -> list[str]:
    """The parts of a chain, as many on a line as have room; the other lines start at `column`, below the first sign.

    What follows a part that takes several lines itself is not put at the end of them.
    """
    lines = _part(head, width, column + INDENT)
    single = len(lines) == 1
    for part in rest:
        if single and display_width(lines[-1]) + 1 + display_width(part) <= width:
            lines[-1] += f" {part}"
        else:
            more = _part(part, width - column, INDENT)
            lines += [" " * column + each for each in more]
            single = len(more) == 1
    return lines


def _part(text: str, width: int, hanging: int) -> list[str]:
    """A part of a chain; where it starts with a vector too wide for a line, the next goes on within its bracket."""
    bracket = re.match(r"(\S )?\[", text)
    if bracket and display_width(next(_split(text, outside=True))) > width - hanging:
        hanging = bracket.end()
    return filled(_terms(text, width - hanging), width, hanging)


def _terms(text: str, width: int) -> Iterator[Word]:
    """A part of a formula where it may be broken: after a plus, a minus or a comma, within brackets only if need be."""
    for term in _split(text, outside=True):
        if display_width(term) <= width:
            yield Word.of(term)
        else:
            yield from map(Word.of, _split(term, outside=False))


def _split(text: str, outside: bool) -> Iterator[str]:
    start = depth = 0
    for found in _BREAKS.finditer(text):
        match found[0]:
            case "(" | "[":
                depth += 1
            case ")" | "]":
                depth -= 1
            case _ if not (outside and depth):
                yield text[start : found.start()]
                start = found.end()
    yield text[start:]


def _box(lines: Sequence[str]) -> Box:
    return Box(tuple(lines), 0, max(map(display_width, lines), default=0))


def long_words(math: Math, width: int) -> list[Word]:
    """A formula in a sentence: one word, or, where it is wider than a line, several."""
    text = line(math, TEXT)
    if display_width(text) <= width:
        return [Word.of(text)]
    return [word for part in _relations(math) for word in _terms(part, width)]


def long_token(text: str, width: int) -> list[Word]:
    """A token likewise."""
    return [Word.of(word) for word in (_SPACE.split(text) if display_width(text) > width else [text])]
