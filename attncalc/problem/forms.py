"""Matrices that are described instead of written out: `identity`, `{random: integers, ..}`, and those of `draw:`.

A form becomes a Matrix once its size is known from what it must fit: sizes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncalc import draws
from attncalc.problem import fitness
from attncalc.problem.nodes import Node
from attncalc.problem.readers import choice, integer, scalar, whole
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.source import Source
from attncalc.rounding import Floats
from attncalc.steps import Matrix

MOST_DRAWN = 1_000_000  # entries of one matrix
LARGEST = 1_000_000  # of a draw
CANDIDATES = 8  # for a matrix that is to be fit for an exercise

Places: TypeAlias = NDArray[np.intp]


class Identity:
    """1 on the diagonal, 0 elsewhere; square."""

    @property
    def shape(self) -> tuple[int | None, int | None]:
        return None, None

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        return as_written(np.eye(rows, columns))


KINDS = {"integers": 1, "quarters": 4}  # of what is drawn, each with how many there are from 0 to 1


@dataclass(frozen=True)
class Random:
    """Whole numbers or quarters from low to high; rows and columns where the file says them.

    `width` says the bounds where the file does not: the side of the matrix that is as wide as the rows that it takes
    part in, 0 that of its rows, 1 that of its columns.
    """

    of: str
    low: int | None
    high: int | None
    seed: str
    rows: int | None
    columns: int | None
    least: float = -np.inf  # that may stand there
    width: int = 1
    fit: bool = False  # whether it is drawn again where it is degenerate by itself

    @property
    def shape(self) -> tuple[int | None, int | None]:
        return self.rows, self.columns

    def bounds(self, rows: int, columns: int) -> tuple[int, int]:
        """The lowest and the highest: from -2 to 2 at width 2, from -1 to 1 above it, where nothing is said."""
        reach = 2 if (rows, columns)[self.width] <= 2 else 1
        low = int(max(-reach, self.least)) if self.low is None else self.low
        return low, reach if self.high is None else self.high

    def count(self, rows: int, columns: int) -> int:
        """How many matrices there are of that size."""
        low, high = self.bounds(rows, columns)
        return int(((high - low) * KINDS[self.of] + 1) ** (rows * columns))

    def drawn(self, seeds: Sequence[bytes], name: str, rows: int, columns: int) -> Floats:
        """What each of some seeds (draws.encoded) gives the matrix of this name, n × m × seeds: the first of its draws,
        or, where it is to be fit, the first of CANDIDATES that is; if none is, the first."""
        streams = draws.Streams(seeds, name)
        found = self._next(streams, rows, columns, np.arange(len(seeds)))
        unfit = np.flatnonzero(fitness.unfit(name, found)) if self.fit else np.arange(0)
        for _ in range(1, CANDIDATES):
            if not unfit.size:
                break
            again = self._next(streams, rows, columns, unfit)
            still = fitness.unfit(name, again)
            found[..., unfit[~still]] = again[..., ~still]
            unfit = unfit[still]
        return found

    def _next(self, streams: draws.Streams, rows: int, columns: int, of: Places) -> Floats:
        parts = KINDS[self.of]
        low, high = self.bounds(rows, columns)
        numbers = streams.below((high - low) * parts + 1, rows * columns, of).astype(np.float64)
        return ((numbers + low * parts) / parts).reshape(rows, columns, -1)

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        return replace(as_written(self.drawn(draws.encoded([self.seed]), name, rows, columns)[..., 0]), drawn=name)


Form: TypeAlias = Identity | Random

_size = whole(1, MOST_DRAWN)
KEYS = Table((
    Key("random", choice(*KINDS), None, "integers: whole numbers, drawn anew for each seed and matrix; or quarters"),
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
    bounds = bounds_of(source, said, path, low, high)
    return Random(said["random"], *bounds, said["seed"], said["rows"], said["columns"], low)


def bounds_of(
    source: Source, said: Reading, path: str, low: float = -LARGEST, high: float = LARGEST
) -> tuple[int | None, int | None]:
    """What `from` and `to` say. Raises ProblemError where they are swapped, or beyond what may stand there."""
    if None not in (said["from"], said["to"]) and said["from"] > said["to"]:
        raise source.error(said.at("from"), f"{path}.from", f"{said['from']} is above to: {said['to']}", "swap them")
    for key in ("from", "to"):
        if said[key] is not None and not low <= said[key] <= high:
            what = f"{said[key]} is {'below' if said[key] < low else 'above'} what may stand here"
            wanted = f"draw from {low:g} to {high:g}" if high < LARGEST else f"draw from {low:g} up"
            raise source.error(said.at(key), f"{path}.{key}", what, wanted)
    return said["from"], said["to"]


def as_written(values: Floats) -> Matrix:
    """A Matrix of whole numbers, quarters (or -∞), each written as it would be by hand."""
    different, places = np.unique(values, return_inverse=True)
    texts = np.array([_text(value) for value in different.tolist()], dtype=object)
    return Matrix(values, texts[places].reshape(values.shape))


def _text(value: float) -> str:
    if value == -np.inf:
        return "-∞"
    return str(int(value)) if value == int(value) else repr(value)
