"""Steps whose figures are computed: cell by cell, folded, or as a product of matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import log, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc import expr
from attncalc.expr import Expr
from attncalc.intervals import largest_places
from attncalc.rounding import Bounds, Flags, Floats, rounded_or_not
from attncalc.steps.base import Figures, Numbers, Step, Work

# What leaves the range of float64 on the way is refused by what comes of it, or is of no account there.
_silently = np.errstate(all="ignore")
_BY_HAND = 2**20  # figures that are summed up; more are followed by nobody, and NumPy and BLAS may sum as they like


@dataclass(eq=False, kw_only=True, repr=False)
class _Computed(Step):
    """A step whose cells follow one expression: the law, with an array of figures for each of its slots."""

    def _law(self) -> Expr:
        raise NotImplementedError

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """What stands in each slot of the law, cell by cell: arrays that broadcast to n × m."""
        raise NotImplementedError

    @_silently
    def recomputed(self, operands: Sequence[Floats], work: Work = expr.evaluate) -> Floats:
        return np.asarray(work(self._law(), self._slots(operands)))

    @_silently
    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        if self._gives_decimals and all(flags.all() for flags in exact):
            return np.ones(self.shape, dtype=bool)
        return np.asarray(expr.exactness(self._law(), self._slots(operands), self._slots(exact)))

    @_silently
    def bounds(self, operands: Sequence[Bounds], places: int) -> Bounds:
        found = expr.bounds(self._law(), self._bounds_of_slots(operands), places)
        return Bounds(*(np.broadcast_to(np.asarray(each, dtype=np.float64), self.shape) for each in found))

    def _bounds_of_slots(self, operands: Sequence[Bounds]) -> list[Bounds]:
        low, value, high = (self._slots(each) for each in zip(*operands, strict=True))
        return [Bounds(*each) for each in zip(low, value, high, strict=True)]

    def reached(self, operands: Sequence[Flags]) -> Flags:
        flags = reduce(np.logical_or, self._slots(operands))
        return np.array(np.broadcast_to(flags, self.shape))

    @cached_property
    def _gives_decimals(self) -> bool:
        """Whether figures of decimals are decimals: sums and products are."""
        return self.decimals_from([0] * len(self.operands)) is not None

    @cached_property
    def _cells(self) -> list[Numbers]:
        return [np.broadcast_to(numbers, self.shape) for numbers in self._slots(self._numbered())]

    def workings(self, i: int, figures: Figures) -> list[tuple[Expr, list[Any]]]:
        law = self._law()
        return [(law, found) for found in figures(np.stack([slot[i] for slot in self._cells], axis=1)).tolist()]


@dataclass(eq=False, kw_only=True, repr=False)
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

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        return expr.decimals(self.law, operands)

    @property
    def in_working(self) -> int:
        return len(self.operands)

    @cached_property
    def digits(self) -> float:
        if self.law != expr.exp(expr.slot(0)):
            return super().digits
        (x,) = self.operands  # of which e^x has the error as many times as it is large
        return x.magnitude + float(np.max(x.values, where=np.isfinite(x.values), initial=0.0)) / log(10)

    def copies(self, i: int) -> bool:
        """Whether row i is the first operand's."""
        return self.where is not None and not self.where[i, 0]

    def recomputed(self, operands: Sequence[Floats], work: Work = expr.evaluate) -> Floats:
        result = super().recomputed(operands, work)
        if self.where is None:
            return result
        return np.where(self.where.reshape(self.where.shape + (1,) * (result.ndim - 2)), result, operands[0])

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        flags = super().exact_from(operands, exact)
        return flags if self.where is None else np.where(self.where, flags, exact[0])

    def reached(self, operands: Sequence[Flags]) -> Flags:
        flags = super().reached(operands)
        return flags if self.where is None else np.where(self.where, flags, operands[0])

    def bounds(self, operands: Sequence[Bounds], places: int) -> Bounds:
        found = super().bounds(operands, places)
        if self.where is None:
            return found
        return Bounds(*(np.where(self.where, *each) for each in zip(found, operands[0], strict=True)))

    def workings(self, i: int, figures: Figures) -> list[tuple[Expr, list[Any]]]:
        if self.copies(i):
            return [(expr.slot(0), [found]) for found in figures(self._numbered()[0][i]).tolist()]
        return super().workings(i, figures)

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


@dataclass(eq=False, kw_only=True, repr=False)
class Reduce(_Computed):
    """A fold of figures into one: `over` each row, n × 1; each column, 1 × m; or the start of each row up to each of
    its cells, n × m (sum, product, max: what is folded so far, with the next figure, gives the next)."""

    fold: str
    over: str = "row"  # or column, or start

    def _law(self) -> Expr:
        return FOLDS[self.fold].law(self._length)

    @property
    def _length(self) -> int:
        return self.operands[0].shape[0 if self.over == "column" else 1]

    @property
    def in_working(self) -> int:
        return self._length

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        (cells,) = operands
        if self.over == "column":
            return [cells[k, None, :] for k in range(cells.shape[0])]
        return [cells[:, k, None] for k in range(cells.shape[1])]

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        return expr.decimals(self._law(), list(operands) * self._length)

    @property
    def _is_large_sum(self) -> bool:
        return self.fold == "sum" and self.over == "row" and prod(self.operands[0].shape) > _BY_HAND

    @_silently
    def recomputed(self, operands: Sequence[Floats], work: Work = expr.evaluate) -> Floats:
        (figures,) = operands
        if self._is_large_sum and figures.ndim == 2 and work is expr.evaluate:
            return np.asarray(np.ascontiguousarray(figures).sum(axis=1, keepdims=True))
        if self.over != "start":
            return super().recomputed(operands, work)
        first, *others = self._slots(operands)
        folded = [first]
        for each in others:
            folded.append(np.asarray(work(FOLDS[self.fold].law(2), [folded[-1], each])))
        return np.concatenate(folded, axis=1)

    @_silently
    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        if self.over != "start":
            return super().exact_from(operands, exact)
        folded, (first, *others) = self._slots([self.recomputed(operands)]), self._slots(exact)
        flags = [first]
        for so_far, figures, exactly in zip(folded, self._slots(operands)[1:], others, strict=False):
            both = [flags[-1], exactly]
            flags.append(np.asarray(expr.exactness(FOLDS[self.fold].law(2), [so_far, figures], both)))
        return np.concatenate(flags, axis=1)

    def reached(self, operands: Sequence[Flags]) -> Flags:
        return np.logical_or.accumulate(operands[0], axis=1) if self.over == "start" else super().reached(operands)

    @_silently
    def bounds(self, operands: Sequence[Bounds], places: int) -> Bounds:
        if self.over != "start":
            return super().bounds(operands, places)
        first, *others = self._bounds_of_slots(operands)
        folded = [first]
        for figures in others:
            folded.append(self._folded(rounded_or_not(folded[-1], places), figures, places))
        return _beside(folded)

    def allows(self, values: Floats, operands: Sequence[Bounds]) -> Flags:
        """Of places of the largest, those where it may stand, and none between them."""
        if self.fold != "argmax":
            return super().allows(values, operands)
        may = largest_places([(low, high) for low, _, high in self._bounds_of_slots(operands)])
        is_there = np.arange(len(may))[:, None, None] == values
        return np.asarray(np.isnan(values) | (is_there & may).any(axis=0))

    @_silently
    def running_bounds(self, operands: Sequence[Bounds], own: Bounds, places: int) -> Bounds:
        """The same of a fold of the starts of rows, where each figure is worked from `own`, the one before it."""
        first, *others = self._bounds_of_slots(operands)
        so_far = self._bounds_of_slots([own])[:-1]
        return _beside([first, *(self._folded(*each, places) for each in zip(so_far, others, strict=True))])

    def _folded(self, so_far: Bounds, figures: Bounds, places: int) -> Bounds:
        return expr.bounds(FOLDS[self.fold].law(2), [so_far, figures], places)

    def workings(self, i: int, figures: Figures) -> list[tuple[Expr, list[Any]]]:
        if self.over != "start":
            return super().workings(i, figures)
        row = figures(self._numbered()[0][i]).tolist()
        return [(FOLDS[self.fold].law(j + 1), row[: j + 1]) for j in range(len(row))]

    @property
    def formula(self) -> Expr:
        fold = FOLDS[self.fold]
        return Expr("call", expr.name(fold.names.get(self.over, fold.name)), self.operands[0].symbol)


def _beside(columns: Sequence[Bounds]) -> Bounds:
    return Bounds(*(np.concatenate(each, axis=1) for each in zip(*columns, strict=True)))


@dataclass(eq=False, kw_only=True, repr=False)
class Contract(_Computed):
    """A product of matrices: cell i, j is the sum over k of a[i,k] × b[k,j]."""

    def _law(self) -> Expr:
        return expr.sum_of_products(self.operands[0].shape[1])

    @property
    def in_working(self) -> int:
        return 2 * self.operands[0].shape[1]

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        a, b = operands
        return [array for k in range(a.shape[1]) for array in (a[:, k, None], b[None, k, :])]

    @property
    def _is_large(self) -> bool:
        a, b = self.operands
        return prod(a.shape) * b.shape[1] > _BY_HAND

    @_silently
    def recomputed(self, operands: Sequence[Floats], work: Work = expr.evaluate) -> Floats:
        if self._is_large and operands[0].ndim == operands[1].ndim == 2:
            return operands[0] @ operands[1]
        return super().recomputed(operands, work)

    @_silently
    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        (a, b), (a_exact, b_exact) = operands, exact
        if a_exact.all() and b_exact.all():
            return np.ones((len(a), b.shape[1]), dtype=bool)
        a_counts, b_counts = ~((a == 0) & a_exact), ~((b == 0) & b_exact)  # an exact 0 makes its product exact
        inexact = (~a_exact).astype(float) @ b_counts + a_counts.astype(float) @ (~b_exact)
        return np.asarray(inexact == 0)

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        a, b = operands
        return None if a is None or b is None else a + b

    @property
    def formula(self) -> Expr:
        a, b = self.operands
        return expr.dot(a.symbol, b.symbol)


@dataclass(eq=False, kw_only=True, repr=False)
class Pair(_Computed):
    """Each row of one matrix with each row of another: cell i, j is the sum over k of the `term` of a[i,k], b[j,k] and,
    where there is a third operand, a single row, c[k]."""

    term: Expr

    def _law(self) -> Expr:
        return expr.sum_of_terms(self.term, len(self.operands), self.operands[0].shape[1])

    @property
    def in_working(self) -> int:
        return len(self.operands) * self.operands[0].shape[1]

    def _slots(self, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return [slot for k in range(operands[0].shape[1]) for slot in self._of_term(operands, k)]

    def _of_term(self, operands: Sequence[NDArray[Any]], k: int) -> list[NDArray[Any]]:
        a, b, *rows = operands
        return [a[:, k, None], b[None, :, k], *(row[:, k, None] for row in rows)]

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        return expr.decimals(self._law(), list(operands) * self.operands[0].shape[1])

    @_silently
    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        flags = np.ones((len(operands[0]), len(operands[1])), dtype=bool)
        for k in range(operands[0].shape[1]):  # term by term: there may be as many as n × m × k
            flags &= expr.exactness(self.term, self._of_term(operands, k), self._of_term(exact, k))
        return flags

    @property
    def named(self) -> Expr:
        return Expr("cell", self.symbol, expr.name("i"), expr.name("j"))

    @property
    def formula(self) -> Expr:
        a, b, *rows = (operand.symbol for operand in self.operands)
        indexed = [Expr("sub", expr.small(each), expr.name(index)) for each, index in ((a, "i"), (b, "j"))]
        return Expr("call", expr.name(FOLDS["sum"].name), expr.in_symbols(self.term, [*indexed, *rows]))
