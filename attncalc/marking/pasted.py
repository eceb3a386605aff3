"""Rows of figures as they are pasted: from a page, a table, a spreadsheet, or an array that was printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import yaml

from attncalc.problem.nodes import ListNode, scalar_at
from attncalc.problem.source import FULL_WIDTH

_line_end = re.compile("\r\n|[\n\r]")
_drawn_bracket = re.compile("[⎡⎢⎣]([^⎡⎢⎣⎤⎥⎦]*)[⎤⎥⎦]").search  # a matrix of a page, its name before and labels behind it
_comment = re.compile(r"(?:(?<=\s)|^)#[^\n]*")
_outer_bars = re.compile(r"^\s*[|│┃]|[|│┃]\s*$")
_dash = re.compile(r"^(\s*)-(?=\s*\[)")  # of a list of rows in brackets
_BRACKETS = {ord(sign): plain for sign, (_, plain) in FULL_WIDTH.items() if plain in "[]"}
_BARS = str.maketrans("|│┃", ";;;")


def rows(text: str, line: int, column: int | None, decimal_comma: bool) -> ListNode:
    """The rows of a text that starts on `line` (from 0), as the nodes that YAML would have given.

    A row is a line, or what stands between brackets where there are any. `column` is that of the text; None: no place
    in a line is known; so with a line below 0.
    """
    found = ListNode(scalar_at("", line, 0))
    text = text.translate(_BRACKETS)
    between_brackets = "[" in text
    row: list[yaml.ScalarEvent] = []
    for offset, content in enumerate(_line_end.split(text)):
        content = content.partition("#")[0]
        if _is_rule(content):
            if len(found.items) == 1:  # the heading of a table
                found.items.clear()
            continue
        for start, segment, is_whole in _segments(content, between_brackets):
            for place, figure in _figures(segment, decimal_comma):
                at = -1 if column is None else start + place + column
                row.append(scalar_at(figure, line + offset if line >= 0 else -1, at))
            if is_whole and row:
                found.items.append(_row(row))
                row = []
    if row:
        found.items.append(_row(row))
    return found


def with_decimal_commas(node: ListNode, text: str) -> ListNode:
    """A list of YAML, [0,707; 0; 0,707] or [0,707, 0, 0,707], read from the text of its file again: a comma between
    digits is a decimal comma. Itself, where it is no such list, or has quotes round its figures."""
    cells = [item for item in node.items if isinstance(item, yaml.ScalarEvent) and item.style in (None, "")]
    event = node.start
    if not getattr(event, "flow_style", False) or len(cells) != len(node.items) or node.start_mark.line < 0:
        return node
    start = text.find("[", node.start_mark.index) + 1  # after an anchor
    end = text.find("]", start)
    inner = _comment.sub(lambda comment: " " * len(comment[0]), text[start:end]).replace("\r", " ")
    found = ListNode(event)
    first_line, first_column = node.start_mark.line, node.start_mark.column + start - node.start_mark.index
    for place, figure in _figures(inner.replace("\n", " "), decimal_comma=True):
        line_start = inner.rfind("\n", 0, place) + 1
        column = place - line_start if line_start else first_column + place
        found.items.append(scalar_at(figure, first_line + inner.count("\n", 0, place), column))
    return found


def _figures(text: str, decimal_comma: bool) -> Iterator[tuple[int, str]]:
    """The figures of a text, each with its place."""
    for match in _fields(decimal_comma).finditer(text):
        figure = match[0].strip('"')
        yield match.start(), figure.removesuffix(",") or figure


def _row(figures: list[yaml.ScalarEvent]) -> ListNode:
    row = ListNode(figures[0])
    row.items = [*figures]
    return row


def _segments(content: str, between_brackets: bool) -> list[tuple[int, str, bool]]:
    """The parts of a line that hold figures: where each starts, its text, and whether it ends a row."""
    drawn = _drawn_bracket(content)
    if drawn:
        return [(drawn.start(1), drawn[1].rstrip(), True)]
    content = _outer_bars.sub(lambda bars: " " * len(bars[0]), content).translate(_BARS)
    if not between_brackets:
        return [(0, content.rstrip(), True)] if content.strip() else []
    parts, start = [], 0
    for part in _dash.sub(r"\1 ", content).replace("[", " ").split("]"):
        inner = part.lstrip(" ,\t")
        parts.append((start + len(part) - len(inner), inner.rstrip(" ,\t"), True))
        start += len(part) + 1
    last_start, last, _ = parts[-1]
    return [*parts[:-1], (last_start, last, False)]


@lru_cache
def _fields(decimal_comma: bool) -> re.Pattern[str]:
    """Figures between blank space and separators; nothing between two separators is a blank figure."""
    separators = ";；" if decimal_comma else ",;，；、"
    return re.compile(
        rf'"[^"]*"|[^{separators}\s]+|(?<=[{separators}])(?=\s*(?:[{separators}]|$))|^(?=\s*[{separators}])'
    )


def _is_rule(content: str) -> bool:
    """Whether a line is the rule under the heading of a table."""
    return ("--" in content or "──" in content) and set(content) <= set(" \t|:+-│┃┼─")
