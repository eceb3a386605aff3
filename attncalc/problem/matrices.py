"""Readers of matrices: lists of rows -> Matrix, with the cell and the place of whatever is wrong."""

from __future__ import annotations

import re

import numpy as np
import yaml

from attncalc.errors import ProblemError
from attncalc.problem.decoding import decode
from attncalc.problem.nodes import ListNode, MapNode, Node, compose
from attncalc.problem.numbers import NotANumber, number
from attncalc.problem.readers import labels, not_a_number
from attncalc.problem.schema import Reader, later
from attncalc.problem.source import Source, counted, look_alike
from attncalc.steps import Matrix

LATER_FORMS = ("file", "random")  # mappings that stand for a matrix, in a later version
_significant = re.compile(r"^(?!\s*(?:#|$)).*$", re.MULTILINE)
_starts_a_row = re.compile(r"\s*[+−-]?\.?[0-9]").match
_field = re.compile(r"[^,\s]+|(?<=,)(?=\s*(?:,|$))|^(?=\s*,)")


def matrix(source: Source, node: Node, path: str) -> Matrix:
    """A list of rows of numbers, all as long as one another."""
    if not isinstance(node, ListNode):
        raise _not_rows(source, node, path)
    values: list[list[float]] = []
    written: list[list[str]] = []
    for index, row in enumerate(node.items):
        if not isinstance(row, ListNode):
            raise _not_rows(source, row if index else node, path)
        row_values, row_written = _row(source, row, path, index)
        if len(row_values) != len(values[0] if values else row_values):
            what = f"{counted(len(row_values), 'number')}, but the rows above have {len(values[0])}"
            raise source.error(row, source.cell(path, index), what, "give every row the same length")
        values.append(row_values)
        written.append(row_written)
    if not values or not values[0]:
        raise source.error(node, path, "no figures", "write rows of numbers: [[1, 0], [0, 1]]")
    return Matrix(np.array(values), np.array(written, dtype=object))


def row_vector(source: Source, node: Node, path: str) -> Matrix:
    """A 1 × d Matrix from one row, flat ([1, 2]) or as a list of one row ([[1, 2]])."""
    if isinstance(node, ListNode) and node.items and not any(isinstance(item, ListNode) for item in node.items):
        values, written = _row(source, node, path, None)
        return Matrix(np.array([values]), np.array([written], dtype=object))
    vector = matrix(source, node, path)
    if len(vector.values) != 1:
        raise source.error(node, path, f"{len(vector.values)} rows, but it is one row", "write [1, 2]")
    return vector


def weights(source: Source, node: Node, path: str) -> Matrix:
    """A matrix of attention weights: none below 0."""
    given = matrix(source, node, path)
    if given.values.min() < 0:
        i, j = (int(index) for index in np.argwhere(given.values < 0)[0])
        rows = node.items if isinstance(node, ListNode) else []
        row = rows[i]
        cell = row.items[j] if isinstance(row, ListNode) else row
        what = f"{given.written[i, j]} is below 0"
        raise source.error(cell, source.cell(path, i, j), what, "weights are 0 or more; give scores as S")
    return given


READERS: dict[str, Reader] = {"S": matrix, "A": weights}


def matrix_from_bytes(data: bytes, name: str, key: str) -> tuple[Matrix, tuple[str, ...] | None]:
    """The matrix `key` ("S" or "A") of a file, and its tokens where it has some.

    The file holds a YAML list of rows, or a mapping with `key` and perhaps `tokens` (whatever else it holds is left
    alone), or plain rows of figures with spaces, tabs or commas between them. Raises ProblemError.
    """
    source = decode(data, name)
    first = _significant.search(source.text)
    if first is not None and _starts_a_row(first[0]):
        return READERS[key](source, _plain_rows(source), key), None
    node = compose(source)
    if node is None:
        raise source.error_at(1, 1, key, "missing", "the file is empty")
    if not isinstance(node, MapNode):
        return READERS[key](source, node, key), None
    if key not in node.entries:
        raise source.error(node, key, "missing", f"write {key}: followed by rows of figures")
    given: Matrix = READERS[key](source, node.entries[key].value, key)
    tokens = node.entries.get("tokens")
    if tokens is None:
        return given, None
    texts = labels(source, tokens.value, "tokens")
    if len(texts) != len(given.values):
        what = f"{counted(len(texts), 'label')}, but {key} has {counted(len(given.values), 'row')}"
        raise source.error(tokens.value, "tokens", what, "give one a row")
    return given, texts


def _row(source: Source, row: ListNode, path: str, index: int | None) -> tuple[list[float], list[str]]:
    """The figures of row `index`, from 0; None for the only row of a flat vector."""
    values: list[float] = []
    written: list[str] = []
    for column, cell in enumerate(row.items):
        try:
            value, text = number(cell.value)  # type: ignore[union-attr]  # a list has no value: told apart below
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
    if isinstance(node, yaml.ScalarEvent) and node.value == "identity":
        return later(source, node, path, "identity")
    if isinstance(node, MapNode):
        for form in LATER_FORMS:
            if form in node.entries:
                return later(source, node, path, f"{{{form}: ..}}")
    hint = look_alike(node.value) if isinstance(node, yaml.ScalarEvent) else ""
    return source.error(node, path, "must be a list of rows", hint or "write [[1, 2], [3, 4]]")


def _plain_rows(source: Source) -> ListNode:
    """Lines of figures as the nodes that YAML would have given, so that one reader serves both."""
    rows = ListNode(_scalar("", 0, 0))
    for number_of_line, line in enumerate(re.split("\r\n|[\n\r]", source.text)):
        content = line.partition("#")[0].rstrip()
        if content.strip():
            row = ListNode(_scalar("", number_of_line, 0))
            row.items = [_scalar(match[0], number_of_line, match.start()) for match in _field.finditer(content)]
            rows.items.append(row)
    return rows


def _scalar(value: str, line: int, column: int) -> yaml.ScalarEvent:
    mark = yaml.Mark("", 0, line, column, None, 0)
    return yaml.ScalarEvent(None, None, (True, False), value, mark, mark)
