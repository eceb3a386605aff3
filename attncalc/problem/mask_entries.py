"""What may stand in a mask's matrices: kept or not, hidden or not, or figures to add, -inf among them."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import yaml

from attncalc.problem.forms import as_written
from attncalc.problem.matrices import Entries, Given, matrix, row_vector, text_of
from attncalc.problem.nodes import ListNode, MapNode, Node
from attncalc.problem.numbers import NotANumber, number
from attncalc.problem.readers import SWITCHES
from attncalc.problem.source import Source, counted
from attncalc.steps import Matrix

HIDDEN = "-∞"  # how a hidden entry of an additive mask is written
HIDES = -1e9  # a figure that hides as -inf does, and so does any below it
_minus_infinity = re.compile(r"[-−](\.?inf|\.?infinity|∞)", re.IGNORECASE).fullmatch
_ASK = "say keep, hide or add: mask: {keep: [[..]]}"


class Part(NamedTuple):
    """One matrix of a mask, its name and its place; `hidden` are the finite figures in it that were read as -∞."""

    name: str
    path: str
    node: Node
    given: Given
    hidden: tuple[str, ...] = ()


def _switch(hint: str) -> Entries:
    def read(text: str) -> tuple[float, str]:
        value = SWITCHES.get(text.lower())
        if value is None:
            try:
                value = {0.0: False, 1.0: True}.get(number(text)[0])
            except NotANumber:
                value = None
        if value is None:
            raise NotANumber("{0} is not 0 or 1", hint)
        return float(value), str(int(value))

    return Entries(read, lambda values: (values == 0) | (values == 1), 0, 1)


def _added(text: str) -> tuple[float, str]:
    """A figure, or -inf; one that is so low that it hides keeps its text for now."""
    if _minus_infinity(text):
        return -np.inf, HIDDEN
    try:
        value, written = number(text)
    except NotANumber as error:
        if "too large" in error.what and text[0] in "-−":
            return -np.inf, text
        raise
    return (value, text) if value <= HIDES else (value, written)


KEPT = _switch("1 or true: kept; 0 or false: hidden; figures to be added to the scores are add")
HIDDEN_ONES = _switch("1 or true: hidden; 0 or false: kept; figures to be added to the scores are add")
TOKENS = _switch("1 for a token, 0 for padding")
QUERIES = _switch("1 for a query, 0 for one whose row of the output is 0")
ADDED = Entries(_added, lambda values: values < np.inf)
ENTRIES = {"keep": KEPT, "hide": HIDDEN_ONES, "add": ADDED}


def padding(source: Source, node: Node, path: str) -> Part:
    """One entry a key: 1 for a token, 0 for padding."""
    given = row_vector(source, node, path, TOKENS)
    return Part("padding", path, node, _rewritten(given))


def query_mask(source: Source, node: Node, path: str) -> Part:
    """One entry a query: 1, or 0 where its row of the output is to be 0."""
    return Part("query_mask", path, node, _rewritten(row_vector(source, node, path, QUERIES)))


def part(source: Source, node: Node, path: str, key: str, name: str) -> Part:
    """One matrix to keep, hide or add."""
    given = matrix(source, node, path, ENTRIES[key])
    if key != "add":
        return Part(name, path, node, _rewritten(given))
    read, hidden = hiding(given)
    return Part(name, path, node, read, hidden)


def parts(source: Source, node: Node, path: str, key: str, name: str) -> tuple[Part, ...]:
    """A matrix for all heads, or a list of them, one a head."""
    if not _is_list_of_matrices(node):
        return (part(source, node, path, key, name),)
    assert isinstance(node, ListNode)
    return tuple(
        part(source, item, source.cell(path, index), key, f"{name}[{index + 1}]")
        for index, item in enumerate(node.items)
    )


def bare(source: Source, node: Node, path: str) -> tuple[Part, ...]:
    """The additive matrices of a mask that says no key; one of only 0 and 1 could mean anything."""
    what = "a matrix of 0 and 1 may mean kept, hidden or added"
    texts = _texts(node)
    if isinstance(node, MapNode) and "random" in node.entries:
        raise source.error(node, path, "a drawn matrix may mean kept, hidden or added", _ASK)
    if texts and all(_is_switch(text) for text in texts):
        raise source.error(node, path, what, _ASK)
    read = parts(source, node, path, "add", path)
    if all(isinstance(each.given, Matrix) and np.isin(each.given.values, (0, 1)).all() for each in read):
        raise source.error(node, path, what, _ASK)
    return read


def hiding(given: Given) -> tuple[Given, tuple[str, ...]]:
    """An additive matrix with -inf wherever it hides, and the finite figures that were read so, each once."""
    if not isinstance(given, Matrix):
        return given, ()
    hides = given.values <= HIDES
    values = np.where(hides, -np.inf, given.values)
    if given.written is None:
        read = [text_of(value) for value in given.values[hides & np.isfinite(given.values)].tolist()]
        whole = np.isneginf(values) | (values == np.round(values))
        return as_written(values) if whole.all() else Matrix(values, None), tuple(dict.fromkeys(read))
    read = [text for text in given.written[hides].tolist() if text != HIDDEN]
    return Matrix(values, np.where(hides, HIDDEN, given.written)), tuple(dict.fromkeys(read))


def check_count(source: Source, node: Node, path: str, found: tuple[Part, ...], heads: int) -> None:
    """A list of matrices must be one a head."""
    if _is_list_of_matrices(node) and len(found) != heads:
        what = f"{counted(len(found), 'matrix').replace('matrixs', 'matrices')}, but {counted(heads, 'head')}"
        raise source.error(node, path, what, "give one for all heads, [[..]], or a list of one a head")


def _rewritten(given: Given) -> Given:
    """0 and 1 as such, whatever they were in a file."""
    return as_written(given.values) if isinstance(given, Matrix) else given


def _is_list_of_matrices(node: Node) -> bool:
    if not isinstance(node, ListNode) or not node.items:
        return False
    first = node.items[0]
    if isinstance(first, ListNode):
        return bool(first.items) and isinstance(first.items[0], ListNode)
    return isinstance(first, MapNode) or first.value == "identity"


def _is_switch(text: str) -> bool:
    try:
        KEPT.text(text)
    except NotANumber:
        return text == "identity"
    return True


def _texts(node: Node) -> list[str]:
    """The texts of a list of rows, of a list of those, or of a flat list; a mapping comes out as "..."."""
    if isinstance(node, ListNode):
        return [text for item in node.items for text in _texts(item)]
    return [node.value] if isinstance(node, yaml.ScalarEvent) else ["..."]
