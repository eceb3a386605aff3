"""Matrix, the five kinds of step, Group and Solution: what was computed, in no language and no format.

A step is a matrix of figures with the law of its cells. Every kind but Given answers `working(i, j)`: the expression
of that cell and the figures in it, made when asked for. A kind also says how it follows from its operands
(`recomputed`), so that it can be checked, bounded, and worked again from other figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc import expr
from attncalc.expr import Expr
from attncalc.rounding import Flags, Floats, Texts, fits

Labels = tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Figures that were given: `values` (n × m, float64) and, cell by cell, how each was `written`."""

    values: Floats
    written: Texts


class Cell(NamedTuple):
    """A figure of a step, rows and columns from 0."""

    step: Step
    row: int
    column: int

    @property
    def value(self) -> float:
        return float(self.step.values[self.row, self.column])

    @property
    def exact(self) -> bool:
        return bool(self.step.exact[self.row, self.column])


class Working(NamedTuple):
    """How one cell is computed: `pattern`, with the figure of `cells[k]` in the place of slot k."""

    pattern: Expr
    cells: tuple[Cell, ...]

    def evaluate(self, figures: Callable[[Step], Floats] = lambda step: step.values) -> float:
        return float(expr.evaluate(self.pattern, [figures(step)[row, column] for step, row, column in self.cells]))


@dataclass(eq=False, kw_only=True)
class Step:
    """One named matrix of a solution, n × m.

    `rows` and `columns` are the labels of its axes (tokens) or None; `role` says what part it plays (query, key,
    value, scores, weights, output ...; "" where none); `places` are the decimals that it is shown to, and in a carried
    solution rounded to; `rows_sum_to_one` marks weights.
    """

    id: str
    symbol: Expr
    values: Floats
    operands: tuple[Step, ...] = ()
    rows: Labels = None
    columns: Labels = None
    role: str = ""
    places: int = 3
    rows_sum_to_one: bool = False

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.values.shape
        return n, m

    @property
    def written(self) -> Texts | None:
        """The figures as a problem file writes them; None where they were computed."""
        return None

    @cached_property
    def exact(self) -> Flags:
        """Which figures are exact: from exact operands, and with no more decimals than are shown."""
        raise NotImplementedError

    def working(self, i: int, j: int) -> Working:
        """The expression of cell i, j (from 0)."""
        raise NotImplementedError

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        """The step's figures from other figures in the place of its operands', unrounded."""
        raise NotImplementedError

    @property
    def formula(self) -> Expr | None:
        """The law in symbols, Q·Kᵀ; None where there is nothing to say."""
        return None


@dataclass(eq=False, kw_only=True)
class Given(Step):
    """What the problem says: inputs, weights, masks."""

    matrix: Matrix

    @property
    def written(self) -> Texts:
        return self.matrix.written

    @cached_property
    def exact(self) -> Flags:
        return np.ones(self.shape, dtype=bool)

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        return self.values


@dataclass(eq=False, kw_only=True)
class Arrange(Step):
    """Cells copied from named cells: transpose, split, concat.

    `arrangement` moves the cells of any arrays shaped as the operands are, so that it serves figures, texts, flags and
    the numbers of the cells alike.
    """

    arrangement: Callable[..., NDArray[Any]]
    formula_: Expr | None = None

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        return self.arrangement(*operands)

    @cached_property
    def written(self) -> Texts | None:
        texts = [operand.written for operand in self.operands]
        return None if any(text is None for text in texts) else self.arrangement(*texts)

    @cached_property
    def exact(self) -> Flags:
        return self.arrangement(*(operand.exact for operand in self.operands))

    @cached_property
    def _sources(self) -> NDArray[np.int64]:
        sizes = [operand.values.size for operand in self.operands]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        numbered = [
            start + np.arange(size).reshape(operand.shape)
            for start, size, operand in zip(starts, sizes, self.operands, strict=True)
        ]
        return self.arrangement(*numbered)

    def working(self, i: int, j: int) -> Working:
        place = int(self._sources[i, j])
        for operand in self.operands:
            if place < operand.values.size:
                return Working(expr.slot(0), (Cell(operand, *divmod(place, operand.shape[1])),))
            place -= operand.values.size
        raise IndexError(place)

    @property
    def formula(self) -> Expr | None:
        return self.formula_


@dataclass(eq=False, kw_only=True)
class Map(Step):
    """An expression of the cells at the same place; an operand of one row or one column serves all of them.

    Where `where` (n × 1) is False, the row is copied from the first operand.
    """

    law: Expr
    where: Flags | None = None

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        result = np.broadcast_to(expr.evaluate(self.law, operands), self.shape)
        return result if self.where is None else np.where(self.where, result, operands[0])

    @cached_property
    def exact(self) -> Flags:
        exact = [operand.exact for operand in self.operands]
        flags = expr.exactness(self.law, [operand.values for operand in self.operands], exact)
        if self.where is not None:
            flags = np.where(self.where, flags, exact[0])
        return np.logical_and(flags, fits(self.values, self.places))

    def working(self, i: int, j: int) -> Working:
        if self.where is not None and not self.where[i, 0]:
            return Working(expr.slot(0), (Cell(self.operands[0], i, j),))
        cells = (
            Cell(operand, i if operand.shape[0] > 1 else 0, j if operand.shape[1] > 1 else 0)
            for operand in self.operands
        )
        return Working(self.law, tuple(cells))

    @property
    def formula(self) -> Expr:
        return expr.in_symbols(self.law, [operand.symbol for operand in self.operands])


class Fold(NamedTuple):
    """How a row becomes one figure: on an array's rows, as an expression of `count` slots, and its exactness."""

    rows: Callable[[Floats], Floats]
    pattern: Callable[[int], Expr]
    exact: Callable[[Floats, Flags], Flags]


def _running_sum(rows: Floats) -> Floats:
    # One column after the other, as by hand; np.sum groups, and its last bit depends on the grouping.
    total = np.zeros((len(rows), 1))
    for column in rows.T:
        total[:, 0] += column
    return total


def _all_exact(rows: Floats, exact: Flags) -> Flags:
    return np.asarray(exact.all(axis=1, keepdims=True))


def _exact_at_max(rows: Floats, exact: Flags) -> Flags:
    return np.take_along_axis(exact, rows.argmax(axis=1, keepdims=True), axis=1)


FOLDS: Mapping[str, Fold] = {
    "sum": Fold(_running_sum, expr.sum_of_slots, _all_exact),
    "max": Fold(lambda rows: rows.max(axis=1, keepdims=True), expr.max_of_slots, _exact_at_max),
}


@dataclass(eq=False, kw_only=True)
class Reduce(Step):
    """A fold of each row into one figure, n × 1."""

    fold: str

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        return FOLDS[self.fold].rows(operands[0])

    @cached_property
    def exact(self) -> Flags:
        (operand,) = self.operands
        return FOLDS[self.fold].exact(operand.values, operand.exact) & fits(self.values, self.places)

    def working(self, i: int, j: int) -> Working:
        (operand,) = self.operands
        count = operand.shape[1]
        return Working(FOLDS[self.fold].pattern(count), tuple(Cell(operand, i, k) for k in range(count)))

    @property
    def formula(self) -> Expr:
        return Expr("call", expr.name(self.fold), self.operands[0].symbol)


@dataclass(eq=False, kw_only=True)
class Contract(Step):
    """A product of matrices: cell i, j is the sum over k of a[i,k] × b[k,j]."""

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        return product(*operands)

    @cached_property
    def exact(self) -> Flags:
        a, b = self.operands
        a_counts, b_counts = (~((x.values == 0) & x.exact) for x in (a, b))  # an exact 0 makes its product exact
        inexact = (~a.exact).astype(float) @ b_counts + a_counts.astype(float) @ (~b.exact)
        return np.asarray((inexact == 0) & fits(self.values, self.places))

    def working(self, i: int, j: int) -> Working:
        a, b = self.operands
        count = a.shape[1]
        cells = (cell for k in range(count) for cell in (Cell(a, i, k), Cell(b, k, j)))
        return Working(expr.sum_of_products(count), tuple(cells))

    @property
    def formula(self) -> Expr:
        a, b = self.operands
        return expr.dot(a.symbol, b.symbol)


def product(a: Floats, b: Floats) -> Floats:
    """a·b, n × k by k × m, each cell summed over k from left to right, as by hand.

    BLAS sums in an order of its own, which differs from machine to machine in the last bit. That is let pass only where
    a product is too large for anybody to work by hand.
    """
    if a.shape[0] * a.shape[1] * b.shape[1] > 2**20:
        return a @ b
    total = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[None, k, :]
    return total


@dataclass(eq=False)
class Group:
    """Steps that belong together: a softmax, a head, a section of the page. It has no law of its own.

    `order` is by step (each matrix whole, one after the other) or by row (row 1 through all steps, then row 2).
    `function` names a group that is one function of its input: softmax.
    """

    key: str
    order: str = "by step"
    function: str = ""
    members: list[Step | Group] = field(default_factory=list)

    def steps(self) -> Iterator[Step]:
        for member in self.members:
            if isinstance(member, Group):
                yield from member.steps()
            else:
                yield member


class Convention(NamedTuple):
    """A choice that the figures rest on: ("scale", "sqrt_d_k", {"d_k": 2})."""

    key: str
    choice: str
    details: Mapping[str, Any]


@dataclass(eq=False)
class Solution:
    """The steps of a calculation, in groups, with what they rest on.

    `exact` is the same calculation in full precision, where this one was carried with rounded figures.
    """

    root: Group
    conventions: tuple[Convention, ...]
    exact: Solution | None = None

    @cached_property
    def steps(self) -> dict[str, Step]:
        return {step.id: step for step in self.root.steps()}

    @property
    def result(self) -> Step:
        return next(reversed(self.steps.values()))
