"""Matrices that are described instead of written out: `identity`, and `{random: integers, ..}`.

A form becomes a Matrix once its size is known from what it must fit: sizes.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from attncalc import draws
from attncalc.problem.nodes import Node
from attncalc.problem.readers import choice, integer, scalar, whole
from attncalc.problem.schema import Key, Table
from attncalc.problem.source import Source
from attncalc.rounding import Floats
from attncalc.steps import Matrix

MOST_DRAWN = 1_000_000  # entries of a matrix that isn't written out
LARGEST = 1_000_000  # of a draw


@dataclass(frozen=True)
class Identity:
    """1 on the diagonal, 0 elsewhere; square."""

    @property
    def shape(self) -> tuple[int | None, int | None]:
        return None, None

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        return as_written(np.eye(rows, columns))


@dataclass(frozen=True)
class Random:
    """Whole numbers from low to high; rows and columns where the file says them."""

    low: int
    high: int
    seed: str
    rows: int | None
    columns: int | None

    @property
    def shape(self) -> tuple[int | None, int | None]:
        return self.rows, self.columns

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        drawn = draws.integers(self.seed, name, self.low, self.high, rows * columns)
        return as_written(np.array(drawn, dtype=np.float64).reshape(rows, columns))


Form: TypeAlias = Identity | Random

_size = whole(1, MOST_DRAWN)
KEYS = Table((
    Key("random", choice("integers"), None, "integers: whole numbers, drawn anew for each seed and matrix"),
    Key("from", integer(-LARGEST, LARGEST), None, "the lowest of them"),
    Key("to", integer(-LARGEST, LARGEST), None, "the highest of them"),
    Key("seed", lambda source, node, path: scalar(source, node, path, "a seed"), None, "any text"),
    Key("rows", _size, None, "rows, where what the matrix must fit does not say"),
    Key("columns", _size, None, "columns, where what the matrix must fit does not say"),
))  # fmt: skip
_EXAMPLE = "write {random: integers, from: -2, to: 2, seed: 7}"


def random(source: Source, node: Node, path: str, low: float, high: float) -> Random:
    """The Random of a mapping, whose draws must lie between low and high."""
    said = KEYS.read(source, node, path)
    for key in ("from", "to", "seed"):
        if key not in said:
            raise source.error(node, f"{path}.{key}", "missing", _EXAMPLE)
    if said["from"] > said["to"]:
        raise source.error(said.at("from"), f"{path}.from", f"{said['from']} is above to: {said['to']}", "swap them")
    for key in ("from", "to"):
        if not low <= said[key] <= high:
            what = f"{said[key]} is {'below' if said[key] < low else 'above'} what may stand here"
            wanted = f"draw from {low:g} to {high:g}" if high < LARGEST else f"draw from {low:g} up"
            raise source.error(said.at(key), f"{path}.{key}", what, wanted)
    return Random(said["from"], said["to"], said["seed"], said["rows"], said["columns"])


def as_written(values: Floats) -> Matrix:
    """A Matrix of whole numbers (or -∞), each written as it would be by hand."""
    texts = [["-∞" if value == -np.inf else str(int(value)) for value in row] for row in values.tolist()]
    written = np.empty(values.shape, dtype=object)
    written[:] = texts
    return Matrix(values, written)
