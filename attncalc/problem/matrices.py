"""Readers of matrices: lists of rows, files or forms -> Matrix, with the cell and the place of whatever is wrong."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import yaml

from attncalc.errors import ProblemError
from attncalc.problem import files
from attncalc.problem.decoding import decode
from attncalc.problem.drawing import Drawn
from attncalc.problem.forms import Form, Identity, Random, random
from attncalc.problem.nodes import ListNode, MapNode, Node, scalar_at
from attncalc.problem.numbers import NotANumber, number, plain_row
from attncalc.problem.readers import not_a_number, not_rows
from attncalc.problem.schema import Reading
from attncalc.problem.source import Source, counted, short
from attncalc.rounding import Flags, Floats
from attncalc.steps import Matrix

Given: TypeAlias = Matrix | Form  # what a key may hold; a Form is sized later
_field = re.compile(r"[^,\s]+|(?<=,)(?=\s*(?:,|$))|^(?=\s*,)")


class Entries(NamedTuple):
    """What the entries of a matrix may be: texts, which may raise NotANumber; figures of an array; and draws."""

    text: Callable[[str], tuple[float, str]]
    array: Callable[[Floats], Flags]
    low: float = -np.inf
    high: float = np.inf


def _weight(text: str) -> tuple[float, str]:
    value, written = number(text)
    if value < 0:
        raise NotANumber("{0} is below 0", "weights are 0 or more; give scores as S")
    return value, written


def _probability(text: str) -> tuple[float, str]:
    value, written = number(text)
    if not 0 <= value <= 1:
        raise NotANumber("{0} is not from 0 to 1", "probabilities are; give scores as logits")
    return value, written


FIGURES = Entries(number, np.isfinite)
PROBABILITIES = Entries(_probability, lambda values: (values >= 0) & (values <= 1), low=0, high=1)
WEIGHTS = Entries(_weight, lambda values: np.isfinite(values) & (values >= 0), low=0)


def matrix(source: Source, node: Node, path: str, entries: Entries = FIGURES) -> Given:
    """A list of rows, all as long as one another; or identity, or {file: ..}, or {random: ..}."""
    if isinstance(node, ListNode):
        return rows(source, node, path, entries)
    return _described(source, node, path, entries, vector=False)


def row_vector(source: Source, node: Node, path: str, entries: Entries = FIGURES) -> Given:
    """A 1 × d Matrix from one row, flat ([1, 2]) or as a list of one row ([[1, 2]]); or from a file, or draws."""
    if isinstance(node, ListNode) and node.items and not any(isinstance(item, ListNode) for item in node.items):
        values, written = _row(source, node, path, None, entries)
        return Matrix(np.array([values]), np.array([written], dtype=object))
    if isinstance(node, ListNode):
        given: Given = rows(source, node, path, entries)
    else:
        given = _described(source, node, path, entries, vector=True)
    if isinstance(given, Identity):
        raise source.error(node, path, "identity is a matrix, but it is one row", "write [1, 2]")
    count = given.rows if isinstance(given, Random) else len(given.values)
    if count not in (None, 1):
        raise source.error(node, path, f"{count} rows, but it is one row", "write [1, 2]")
    return given


def weights(source: Source, node: Node, path: str) -> Given:
    """A matrix of attention weights: none below 0."""
    return matrix(source, node, path, WEIGHTS)


def probabilities(source: Source, node: Node, path: str) -> Given:
    """A matrix of probabilities; a flat list is a column, one figure a row."""
    if isinstance(node, ListNode) and node.items and not any(isinstance(item, ListNode) for item in node.items):
        flat = row_vector(source, node, path, PROBABILITIES)
        assert isinstance(flat, Matrix) and flat.written is not None
        return Matrix(flat.values.T, flat.written.T)
    return matrix(source, node, path, PROBABILITIES)


def rows(source: Source, node: ListNode, path: str, entries: Entries = FIGURES) -> Matrix:
    """A Matrix from a list of rows that are written out."""
    values, written = array("d"), list[str]()
    width = 0
    for index, row in enumerate(node.items):
        if not isinstance(row, ListNode):
            raise _not_rows(source, row if index else node, path)
        width = width if index else len(row.items)
        row_values, row_written = _row(source, row, path, index, entries)
        if len(row_values) != width:
            what = f"{counted(len(row_values), 'number')}, but the rows above have {width}"
            raise source.error(row, source.cell(path, index), what, "give every row the same length")
        values.extend(row_values)
        written += row_written
    if not values:
        raise source.error(node, path, "no figures", "write rows of numbers: [[1, 0], [0, 1]]")
    return Matrix(np.array(values).reshape(-1, width), np.array(written, dtype=object).reshape(-1, width))


def plain_rows(source: Source) -> ListNode:
    """Lines of figures as the nodes that YAML would have given, so that one reader serves both."""
    found = ListNode(scalar_at("", 0, 0))
    found.items = _Lines(re.split("\r\n|[\n\r]", source.text))  # type: ignore[assignment]  # a list to whoever reads it
    return found


class _Lines(Sequence[Node]):
    """The rows of lines of figures, each made when it is asked for: all at once would take the room of a hundred such
    files."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._filled = [k for k, line in enumerate(lines) if line.partition("#")[0].strip()]

    def __len__(self) -> int:
        return len(self._filled)

    def __getitem__(self, index: Any) -> Any:
        line = self._filled[index]
        content = self._lines[line].partition("#")[0].rstrip()
        row = ListNode(scalar_at("", line, 0))
        row.items = [scalar_at(match[0], line, match.start()) for match in _field.finditer(content)]
        return row


def _described(source: Source, node: Node, path: str, entries: Entries, vector: bool) -> Given:
    if isinstance(node, yaml.ScalarEvent) and node.value == "identity":
        return Identity()
    if isinstance(node, Drawn):
        return replace(node.form, least=entries.low)
    if isinstance(node, MapNode) and "file" in node.entries:
        return _from_file(source, node, path, entries, vector)
    if isinstance(node, MapNode) and "random" in node.entries:
        return random(source, node, path, entries.low, entries.high)
    raise _not_rows(source, node, path)


def _from_file(source: Source, node: Node, path: str, entries: Entries, vector: bool) -> Matrix:
    said, file = files.contents(source, node, path)
    read = partial(_read, source, said, file, path, entries, vector)
    found: Matrix = source.room.once((file, said["name"], entries, vector), read)
    if found.values.size > source.room.left:
        what = f"used again, but there is room for {source.room.left} entries more"
        raise files.unusable(source, said, path, files.NotUsable(what, "use it less often"))
    source.room.left -= found.values.size
    return found


def _read(source: Source, said: Reading, file: files.File, path: str, entries: Entries, vector: bool) -> Matrix:
    if file.ending in (".csv", ".txt"):
        name = str(source.folder / said["file"]) if source.folder else said["file"]
        table = decode(file.data, name)
        table = Source(name, table.text, source.count_from)
        return rows(table, plain_rows(table), path, entries)
    values = files.array(source, said, path, file)
    if values.ndim == 1:
        if not vector:
            error = files.NotUsable(f"{len(values)} figures in one dimension, not rows", "save a matrix")
            raise files.unusable(source, said, path, error)
        values = values[None, :]
    bad = np.argwhere(~entries.array(values))
    if len(bad):
        i, j = (int(index) for index in bad[0])
        try:
            entries.text(text_of(values[i, j]))
        except NotANumber as error:
            at = source.cell(path, i, j)
            raise not_a_number(source, said.at("file"), at, text_of(values[i, j]), error) from None
    return Matrix(values, None)


def text_of(value: float) -> str:
    """A figure of an array as it would be typed."""
    text = f"{value:.17g}"
    return number(text)[1] if np.isfinite(value) else text


def _row(
    source: Source, row: ListNode, path: str, index: int | None, entries: Entries
) -> tuple[list[float], list[str]]:
    """The figures of row `index`, from 0; None for the only row of a flat vector."""
    texts = [cell.value for cell in row.items if isinstance(cell, yaml.ScalarEvent)]
    if entries is FIGURES and len(texts) == len(row.items) and (plain := plain_row(texts)) is not None:
        return plain, texts
    values: list[float] = []
    written: list[str] = []
    read = entries.text
    for column, cell in enumerate(row.items):
        try:
            value, text = read(cell.value)  # type: ignore[union-attr]  # a list has no value: told apart below
        except (NotANumber, AttributeError) as error:
            place = source.cell(path, column) if index is None else source.cell(path, index, column)
            raise _bad_cell(source, cell, place, error) from None
        values.append(value)
        written.append(text)
    return values, written


def _bad_cell(source: Source, cell: Node, place: str, error: Exception) -> ProblemError:
    if isinstance(cell, yaml.ScalarEvent) and isinstance(error, NotANumber):
        return not_a_number(source, cell, place, cell.value, error)
    found = "a list" if isinstance(cell, ListNode) else "a mapping"
    return source.error(cell, place, f"a number is wanted here, not {found}", "check the brackets")


def _not_rows(source: Source, node: Node, path: str) -> ProblemError:
    name = node.value if isinstance(node, yaml.ScalarEvent) else ""
    is_file = name.lower().endswith(tuple(files.LARGEST))
    return not_rows(source, node, path, f"write {{file: {short(name)}}}" if is_file else "")
