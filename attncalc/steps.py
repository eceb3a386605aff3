"""Matrix and the five kinds of step: what was computed, in no language and no format.

A step is a matrix of figures with the law of its cells. All that is asked of a step follows from that law: its figures
(`recomputed`, from any operands), the expression of a cell (`working`), which figures are exact (`exact_from`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc import expr
from attncalc.expr import Expr
from attncalc.rounding import MINUS_INFINITY, NOISE, Flags, Floats, Texts, decimals_of, fits, snapped

Numbers = NDArray[np.int64]  # of cells: those of a step's operands, one after the other, row by row
FILL, ONE = -1, -2  # the numbers of cells that are no operand's: the fill of a step, and 1
_BY_HAND = 2**20  # products; beyond it nobody follows a matrix product figure by figure, and BLAS may sum as it likes


@dataclass(frozen=True, eq=False)
class Matrix:
    """Figures that were given: `values` (n × m, float64) and, cell by cell, how each was `written`.

    `written` is None where figures come from a binary file: those are printed to the decimals, and inexact.
    """

    values: Floats
    written: Texts | None


@dataclass(frozen=True, eq=False)
class Axis:
    """What the rows or columns of matrices stand for: the tokens of one sequence. Known by identity: the queries and
    the keys of self-attention are one axis, those of cross-attention two, whatever their labels."""

    labels: tuple[str, ...] | None = None
    name: str = "position"  # what one of them is called that has no label: position, query, key


class Cell(NamedTuple):
    """A figure of a step, rows and columns from 0."""

    step: Step
    row: int
    column: int

    @property
    def value(self) -> float:
        return float(self.step.values[self.row, self.column])


class Working(NamedTuple):
    """How one cell is computed: `pattern`, with the figure of `cells[k]` in the place of slot k."""

    pattern: Expr
    cells: tuple[Cell, ...]

    def evaluate(self, figures: Callable[[Step], Floats] = lambda step: step.values) -> float:
        return float(expr.evaluate(self.pattern, [figures(step)[row, column] for step, row, column in self.cells]))


@dataclass(eq=False, kw_only=True)
class Step:
    """One named matrix of a solution, n × m.

    `rows` and `columns` are its axes (tokens) or None; `role` says what part it plays (query, key, value, scores,
    weights ...; "" where none); `places` are the decimals that it is shown to, and in a carried solution rounded to;
    `rows_sum_to_one` marks weights. `values` and `decimals` are set by the sheet, once, when the step is recorded.
    """

    id: str
    symbol: Expr
    values: Floats = field(init=False)
    operands: tuple[Step, ...] = ()
    rows: Axis | None = None
    columns: Axis | None = None
    role: str = ""
    places: int = 3
    rows_sum_to_one: bool = False
    decimals: int | None = None  # how many decimals hold every figure whole; None: they may be no decimals

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.values.shape
        return n, m

    @property
    def written(self) -> Texts | None:
        """How figures were written in the problem: None for computed ones, cell by cell; or None for the whole."""
        return None

    @cached_property
    def exact(self) -> Flags:
        """Which figures are exact: from exact operands, and with no more decimals than are shown."""
        operands = [operand.values for operand in self.operands]
        flags = self.exact_from(operands, [operand.exact for operand in self.operands])
        noise = NOISE if self.own_decimals is None else 0.0  # decimals are rid of it
        return np.asarray(flags & fits(self.unrounded, self.places, noise))

    @property
    def unrounded(self) -> Floats:
        """The figures as the operands give them, before a carried solution rounds them.

        Where those are decimals, so is each sum and product of them: what float64 adds to that is taken off, so that it
        decides no tie.
        """
        values = self.recomputed([operand.values for operand in self.operands])
        decimals = self.own_decimals
        return values if decimals is None else snapped(values, decimals)

    @property
    def own_decimals(self) -> int | None:
        """How many decimals the law gives, before rounding."""
        return self.decimals_from([operand.decimals for operand in self.operands])

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        """How many decimals the law gives of operands of so many; None where it may give no decimal."""
        return None

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        """The step's figures from these in the place of its operands', unrounded."""
        raise NotImplementedError

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        """Which figures would be exact, given that so are those of the operands that `exact` marks; with however many
        decimals. e^x is not, but for e^0; 0 times anything is."""
        raise NotImplementedError

    def working(self, i: int, j: int) -> Working:
        """The expression of cell i, j (from 0)."""
        raise NotImplementedError

    @property
    def formula(self) -> Expr | None:
        """The law in symbols, Q·Kᵀ; None where there is none."""
        return None

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(operand.values.size for operand in self.operands)]

    def _numbered(self) -> list[Numbers]:
        """The numbers of the operands' cells, each shaped as its operand is."""
        return [
            start + np.arange(operand.values.size).reshape(operand.shape)
            for start, operand in zip(self._starts, self.operands, strict=False)
        ]

    def _cell(self, number: int) -> Cell:
        for start, operand in zip(self._starts, self.operands, strict=False):
            if number < start + operand.values.size:
                return Cell(operand, *divmod(number - start, operand.shape[1]))
        raise IndexError(number)


@dataclass(eq=False, kw_only=True)
class Given(Step):
    """What the problem says: inputs, weights, masks."""

    matrix: Matrix

    @property
    def written(self) -> Texts | None:
        return self.matrix.written

    @cached_property
    def exact(self) -> Flags:
        return np.full(self.shape, self.written is not None)

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        return self.matrix.values

    @property
    def own_decimals(self) -> int | None:
        return None if self.written is None else decimals_of(self.written)


@dataclass(eq=False, kw_only=True)
class Arrange(Step):
    """Cells copied from named cells of the operands, or a fill: transpose, split, concat, lookup, choice.

    `sources` gives the number of the cell that each cell is copied from, or FILL, or ONE; it is called with the numbers
    of the operands' cells, each shaped as its operand. The last operands may be `choosers`: their figures say which
    cells are copied (ids, positions of the largest) and are passed instead of numbers, so that others choose otherwise.
    All of them may be: what is chosen is then ONE.
    `law` is what it does in symbols, and `how` the key of a sentence that says it, where the sources don't.
    """

    sources: Callable[..., Numbers]
    choosers: int = 0
    fill: float = 0.0
    law: Expr | None = None
    how: str = ""

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        return self._picked(operands, (1.0, self.fill), self._chosen(operands))

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        return self._picked(exact, (True, True), self._chosen(operands))

    @cached_property
    def exact(self) -> Flags:
        return self.exact_from([o.values for o in self.operands], [o.exact for o in self.operands])

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        copied = operands[: len(operands) - self.choosers]
        known = [decimals for decimals in copied if decimals is not None]
        return max(known, default=0) if len(known) == len(copied) else None

    @cached_property
    def written(self) -> Texts | None:
        if all(operand.written is None for operand in self.operands):
            return None
        nothing = [np.full(operand.shape, None, dtype=object) for operand in self.operands]
        texts = [n if o.written is None else o.written for o, n in zip(self.operands, nothing, strict=True)]
        return self._picked(texts, ("1", self._fill_as_text), self.numbers)

    def working(self, i: int, j: int) -> Working:
        number = int(self.numbers[i, j])
        if number in (FILL, ONE):
            one = number == ONE
            return Working(expr.number(1.0 if one else self.fill, "1" if one else self._fill_as_text), ())
        return Working(expr.slot(0), (self._cell(number),))

    @property
    def copied(self) -> tuple[Step, ...]:
        """The operands that cells are copied from: all but the choosers."""
        return self.operands[: len(self.operands) - self.choosers]

    @property
    def _fill_as_text(self) -> str:
        return MINUS_INFINITY if self.fill == -np.inf else f"{self.fill:g}"

    @property
    def formula(self) -> Expr | None:
        """[O⁽¹⁾, O⁽²⁾] of matrices that are put side by side; a part of one has no law but one that was given."""
        if self.law is not None:
            return self.law
        beside = len(self.copied) > 1 and self.shape[0] == self.copied[0].shape[0]
        return Expr("vector", *(operand.symbol for operand in self.copied)) if beside else None

    @cached_property
    def numbers(self) -> Numbers:
        """The number of the operands' cell that each cell is copied from, or FILL, or ONE."""
        return self._chosen([operand.values for operand in self.operands])

    def _chosen(self, operands: Sequence[Floats]) -> Numbers:
        copied = len(self.operands) - self.choosers
        return self.sources(*self._numbered()[:copied], *operands[copied:])

    def _picked(self, arrays: Sequence[NDArray[Any]], own: tuple[Any, Any], sources: Numbers) -> NDArray[Any]:
        copied = arrays[: len(arrays) - self.choosers]
        pool = np.concatenate([*(array.ravel() for array in copied), np.array(own, dtype=arrays[0].dtype)])
        return pool[sources]  # FILL, -1, is the last of the pool, and ONE, -2, the one before it


@dataclass(eq=False, kw_only=True)
class _Computed(Step):
    """A step whose cells follow one expression: the law, with an array of figures for each of its slots."""

    def _law(self) -> Expr:
        raise NotImplementedError

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """What stands in each slot of the law, cell by cell: arrays that broadcast to n × m."""
        raise NotImplementedError

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(expr.evaluate(self._law(), self._slots(operands)))

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        with np.errstate(all="ignore"):
            return np.asarray(expr.exactness(self._law(), self._slots(operands), self._slots(exact)))

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        shapes = [operand.shape for operand in self.operands]
        decimals = [np.broadcast_to(np.array(d, dtype=object), s) for d, s in zip(operands, shapes, strict=True)]
        return expr.decimals(self._law(), [slot.flat[0] for slot in self._slots(decimals)])

    @cached_property
    def _cells(self) -> list[Numbers]:
        return [np.broadcast_to(numbers, self.shape) for numbers in self._slots(self._numbered())]

    def working(self, i: int, j: int) -> Working:
        return Working(self._law(), tuple(self._cell(int(numbers[i, j])) for numbers in self._cells))


@dataclass(eq=False, kw_only=True)
class Map(_Computed):
    """An expression of the cells at the same place; an operand of one row or one column serves all of them.

    Where `where` (n × 1) is False, the row is copied from the first operand. `single`: its operands are numbers rather
    than matrices, and their products are written so.
    """

    law: Expr
    where: Flags | None = None
    single: bool = False

    def _law(self) -> Expr:
        return self.law

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return list(operands)

    def copies(self, i: int) -> bool:
        """Whether row i is the first operand's."""
        return self.where is not None and not self.where[i, 0]

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        result = super().recomputed(operands)
        return result if self.where is None else np.where(self.where, result, operands[0])

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        flags = super().exact_from(operands, exact)
        return flags if self.where is None else np.where(self.where, flags, exact[0])

    def working(self, i: int, j: int) -> Working:
        if self.copies(i):
            return Working(expr.slot(0), (Cell(self.operands[0], i, j),))
        return super().working(i, j)

    @property
    def formula(self) -> Expr:
        return expr.in_symbols(self.law, [operand.symbol for operand in self.operands], single=self.single)


class Fold(NamedTuple):
    """How a row becomes one figure: an expression of as many slots as the row has, and the fold's name; that of a
    column and that of the starts of a row, where they differ."""

    law: Callable[[int], Expr]
    name: str
    names: Mapping[str, str] = {}


FOLDS: Mapping[str, Fold] = {
    "sum": Fold(expr.sum_of_slots, "rowsum", {"column": "colsum", "start": "cumsum"}),
    "product": Fold(expr.product_of_slots, "product"),
    "argmax": Fold(expr.argmax_of_slots, "argmax"),
    "max": Fold(expr.max_of_slots, "rowmax", {"column": "colmax", "start": "cummax"}),
    "mean": Fold(lambda n: expr.mean_of_slots(n, n), "mean"),
    "unbiased mean": Fold(lambda n: expr.mean_of_slots(n, n - 1), "mean_unbiased"),  # of n squared deviations
}


@dataclass(eq=False, kw_only=True)
class Reduce(_Computed):
    """A fold of figures into one: `over` each row, n × 1; each column, 1 × m; or the start of each row up to each of
    its cells, n × m (sum, product, max: what is folded so far, with the next figure, gives the next)."""

    fold: str
    over: str = "row"  # or column, or start

    def _law(self) -> Expr:
        return FOLDS[self.fold].law(self.operands[0].shape[0 if self.over == "column" else 1])

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        (cells,) = operands
        if self.over == "column":
            return [cells[k, None, :] for k in range(cells.shape[0])]
        return [cells[:, k, None] for k in range(cells.shape[1])]

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        if self.over != "start":
            return super().recomputed(operands)
        first, *others = self._slots(operands)
        folded = [first]
        for figures in others:
            folded.append(np.asarray(expr.evaluate(FOLDS[self.fold].law(2), [folded[-1], figures])))
        return np.concatenate(folded, axis=1)

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        if self.over != "start":
            return super().exact_from(operands, exact)
        folded, (first, *others) = self._slots([self.recomputed(operands)]), self._slots(exact)
        flags = [first]
        for so_far, figures, exactly in zip(folded, self._slots(operands)[1:], others, strict=False):
            both = [flags[-1], exactly]
            flags.append(np.asarray(expr.exactness(FOLDS[self.fold].law(2), [so_far, figures], both)))
        return np.concatenate(flags, axis=1)

    def working(self, i: int, j: int) -> Working:
        if self.over != "start":
            return super().working(i, j)
        (operand,) = self.operands
        return Working(FOLDS[self.fold].law(j + 1), tuple(Cell(operand, i, k) for k in range(j + 1)))

    @property
    def formula(self) -> Expr:
        fold = FOLDS[self.fold]
        return Expr("call", expr.name(fold.names.get(self.over, fold.name)), self.operands[0].symbol)


@dataclass(eq=False, kw_only=True)
class Contract(_Computed):
    """A product of matrices: cell i, j is the sum over k of a[i,k] × b[k,j]."""

    def _law(self) -> Expr:
        return expr.sum_of_products(self.operands[0].shape[1])

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        a, b = operands
        return [array for k in range(a.shape[1]) for array in (a[:, k, None], b[None, k, :])]

    @property
    def _is_large(self) -> bool:
        a, b = self.operands
        return a.values.size * b.shape[1] > _BY_HAND

    def recomputed(self, operands: Sequence[Floats]) -> Floats:
        return operands[0] @ operands[1] if self._is_large else super().recomputed(operands)

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        if not self._is_large:
            return super().exact_from(operands, exact)
        (a, b), (a_exact, b_exact) = operands, exact
        a_counts, b_counts = ~((a == 0) & a_exact), ~((b == 0) & b_exact)  # an exact 0 makes its product exact
        inexact = (~a_exact).astype(float) @ b_counts + a_counts.astype(float) @ (~b_exact)
        return np.asarray(inexact == 0)

    @property
    def formula(self) -> Expr:
        a, b = self.operands
        return expr.dot(a.symbol, b.symbol)
