"""Matrices that the command line takes from files of their own, and vectors from its options."""

from __future__ import annotations

import re

import numpy as np

from attncalc.errors import UsageError
from attncalc.problem.decoding import decode
from attncalc.problem.forms import as_written
from attncalc.problem.mask_entries import ENTRIES, TOKENS, hiding
from attncalc.problem.matrices import FIGURES, WEIGHTS, Entries, matrix, plain_rows
from attncalc.problem.nodes import MapNode, Node, compose
from attncalc.problem.numbers import NotANumber
from attncalc.problem.readers import SWITCHES, labels
from attncalc.problem.source import Source, counted, short
from attncalc.steps import Matrix

_OF_KEY: dict[str, Entries] = {"S": FIGURES, "A": WEIGHTS, **ENTRIES}
_significant = re.compile(r"^(?!\s*(?:#|$)).*$", re.MULTILINE)
_starts_a_row = re.compile(rf"\s*(?:[+−-]?\.?[0-9∞]|[+−-]\.?inf|(?:{'|'.join(SWITCHES)})[\s,])", re.IGNORECASE).match


def matrix_from_bytes(data: bytes, name: str, key: str) -> tuple[Matrix, tuple[str, ...] | None]:
    """The matrix `key` ("S" or "A") of a file, and its tokens where it has some.

    The file holds a YAML list of rows, or a mapping with `key` and perhaps `tokens` (whatever else it holds is left
    alone), or plain rows of figures with spaces, tabs or commas between them. Raises ProblemError.
    """
    source, node = _node(data, name, key)
    if not isinstance(node, MapNode):
        return _written_out(source, node, key), None
    given = _written_out(source, node.entries[key].value, key)
    tokens = node.entries.get("tokens")
    if tokens is None:
        return given, None
    texts = labels(source, tokens.value, "tokens")
    if len(texts) != len(given.values):
        what = f"{counted(len(texts), 'label')}, but {key} has {counted(len(given.values), 'row')}"
        raise source.error(tokens.value, "tokens", what, "give one a row")
    return given, texts


def mask_matrix_from_bytes(data: bytes, name: str, key: str) -> tuple[Matrix, tuple[str, ...]]:
    """The mask matrix `key` ("keep", "hide" or "add") of a file, which is read as by matrix_from_bytes.

    That of keep and hide is of 1 and 0; that of add is -inf (written -∞) where it hides: with it come the finite
    figures that were read so. Raises ProblemError.
    """
    source, node = _node(data, name, key)
    if isinstance(node, MapNode):
        node = node.entries[key].value
    given = _written_out(source, node, key)
    if key != "add":
        return given, ()
    hidden, figures = hiding(given)
    assert isinstance(hidden, Matrix)
    return hidden, figures


def padding_vector(texts: list[str]) -> Matrix:
    """The 1 × m Matrix of `--padding 0,0,1,1`, cut at its commas. Raises UsageError."""
    values = []
    for place, text in enumerate(texts, start=1):
        try:
            values.append(TOKENS.text(text.strip())[0])
        except NotANumber as error:
            what = error.what.format(short(text.strip()) or "nothing")
            raise UsageError(f"--padding, entry {place}: {what}", error.hint) from None
    if not values:
        raise UsageError("--padding is empty", "write 1 for a token and 0 for padding: 0,0,1,1")
    return as_written(np.array([values]))


def _node(data: bytes, name: str, key: str) -> tuple[Source, Node]:
    """What a file holds; a mapping only where it has the key."""
    source = decode(data, name)
    first = _significant.search(source.text)
    if first is not None and _starts_a_row(first[0]):
        return source, plain_rows(source)
    node = compose(source)
    if node is None:
        raise source.error_at(1, 1, key, "missing", "the file is empty")
    if isinstance(node, MapNode) and key not in node.entries:
        raise source.error(node, key, "missing", f"write {key}: followed by rows of figures")
    return source, node


def _written_out(source: Source, node: Node, key: str) -> Matrix:
    given = matrix(source, node, key, _OF_KEY[key])
    if not isinstance(given, Matrix):
        raise source.error(node, key, "its size is not determined here", "write it out")
    return given
