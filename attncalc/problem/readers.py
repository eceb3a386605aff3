"""Readers of single values: texts, choices, switches, whole numbers, positive numbers, labels."""

from __future__ import annotations

import math
import re
from collections.abc import Container
from typing import Any

import yaml

from attncalc.errors import ProblemError
from attncalc.problem.nodes import ListNode, MapNode, Node, is_empty
from attncalc.problem.numbers import NotANumber, number
from attncalc.problem.schema import Reader, nearest
from attncalc.problem.slips import row_hint
from attncalc.problem.source import Source, either, look_alike, short

SWITCHES = {"true": True, "yes": True, "false": False, "no": False}
_whole = re.compile(r"\+?(0|[1-9][0-9]{0,15})").fullmatch
_integer = re.compile(r"([+\-−]?)(0|[1-9][0-9]{0,15})").fullmatch


def scalar(source: Source, node: Node, path: str, wanted: str) -> str:
    """The text of a scalar, as written; `wanted` names what should stand there."""
    if isinstance(node, yaml.ScalarEvent):
        value: str = node.value
        return value
    found = "a list" if isinstance(node, ListNode) else "a mapping"
    raise source.error(node, path, f"{wanted} is wanted here, not {found}", "put quotes round a text with [ ] { or }")


def text(source: Source, node: Node, path: str) -> str:
    """Any text."""
    return scalar(source, node, path, "a text")


def anything(source: Source, node: Node, path: str) -> Node:
    """The node itself, for whoever reads it later."""
    return node


def choice(*names: str) -> Reader:
    """One of some words."""

    def read(source: Source, node: Node, path: str) -> str:
        value = scalar(source, node, path, either(names))
        if value not in names:
            raise none_of(source, node, path, value, names)
        return value

    return read


def none_of(source: Source, node: Node, path: str, value: str, names: tuple[str, ...]) -> ProblemError:
    """The error of a word that isn't one of the choices."""
    hint = nearest(value, list(names))
    return source.error(node, path, f'"{short(value)}" is not {either(names)}', hint if hint.startswith("did") else "")


def switch(source: Source, node: Node, path: str) -> bool:
    """true or false, yes or no, in any case."""
    value = scalar(source, node, path, "true or false")
    if value.lower() not in SWITCHES:
        raise source.error(node, path, f'"{short(value)}" is not true or false', "yes and no are read too")
    return SWITCHES[value.lower()]


def whole(low: int, high: int) -> Reader:
    """A whole number within bounds, written without a point."""

    def read(source: Source, node: Node, path: str) -> int:
        value = scalar(source, node, path, "a whole number")
        match = _whole(value)
        if match is None or not low <= int(match[1]) <= high:
            raise _not_whole(source, node, path, value, low, high)
        return int(match[1])

    return read


def integer(low: int, high: int) -> Reader:
    """A whole number within bounds that may be below 0."""

    def read(source: Source, node: Node, path: str) -> int:
        value = scalar(source, node, path, "a whole number")
        match = _integer(value)
        number = int(match[2]) * (-1 if match[1] in ("-", "−") else 1) if match else high + 1
        if not low <= number <= high:
            raise _not_whole(source, node, path, value, low, high)
        return number

    return read


def _not_whole(source: Source, node: Node, path: str, value: str, low: int, high: int) -> ProblemError:
    """The error of a text that isn't a whole number within bounds, or is one that is not written as one: 1e5, 2.0."""
    try:
        meant = number(value)[0]
    except NotANumber:
        meant = math.inf
    if low <= meant <= high and meant.is_integer() and not _integer(value):
        return source.error(node, path, f"{short(value)} is not written in digits alone", f"write {int(meant)}")
    what = f"{short(value) or 'an empty text'} is not a whole number from {low} to {high}"
    return source.error(node, path, what, look_alike(value))


def figure(source: Source, node: Node, path: str) -> tuple[float, str]:
    """A number: its value and its normal form."""
    value = scalar(source, node, path, "a number")
    try:
        return number(value)
    except NotANumber as error:
        raise not_a_number(source, node, path, value, error) from None


def positive(source: Source, node: Node, path: str) -> tuple[float, str]:
    """A number above 0: its value and its normal form."""
    value, written = figure(source, node, path)
    if value <= 0:
        raise source.error(node, path, f"{short(written)} is not above 0", "give a positive number")
    return value, written


def not_a_number(source: Source, node: Node, path: str, value: str, error: NotANumber) -> ProblemError:
    """The error of a text that isn't a number, at its cell."""
    return source.error(node, path, error.what.format(short(value)), look_alike(value) or error.hint)


def not_rows(source: Source, node: Node, path: str, hint: str = "", besides: Container[str] = ()) -> ProblemError:
    """The error of what isn't a list of rows; where no `hint` is given, that of the text which stands for a row."""
    typed = node.items[0] if isinstance(node, ListNode) and node.items else node
    hint = hint or (row_hint(typed.value, besides) if isinstance(typed, yaml.ScalarEvent) else "")
    return source.error(node, path, "must be a list of rows", hint or "write [[1, 2], [3, 4]]")


def labels(source: Source, node: Node, path: str) -> tuple[str, ...]:
    """A list of texts, each as it was typed: `no`, `007` and `~` are what they look like."""
    if not isinstance(node, ListNode):
        hint = look_alike(node.value) if isinstance(node, yaml.ScalarEvent) else ""
        raise source.error(node, path, "must be a list of texts", hint or "write [a, b, c]")
    if not node.items:
        raise source.error(node, path, "an empty list", "name every row, or leave it out")
    for index, item in enumerate(node.items):
        if not isinstance(item, yaml.ScalarEvent):
            raise source.error(item, source.cell(path, index), *_unquoted(item))
        if is_empty(item):
            raise source.error(item, source.cell(path, index), "empty", 'write "" for an empty text')
    return tuple(item.value for item in node.items if isinstance(item, yaml.ScalarEvent))


def _unquoted(node: ListNode | MapNode) -> tuple[str, str]:
    """What is wrong with a list or a mapping among texts, and what to do: most are words in brackets, like [CLS]."""
    if isinstance(node, ListNode):
        inside: list[Any] = [getattr(item, "value", None) for item in node.items]
        if all(isinstance(word, str) for word in inside):
            return "a text is wanted here, not a list", f'quote it: "[{short(", ".join(inside))}]"'
    return f"a text is wanted here, not a {'list' if isinstance(node, ListNode) else 'mapping'}", "put quotes round it"
