"""Steps whose figures are the problem's: stated by it, or copied from those of other steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc import expr
from attncalc.digits import MINUS_INFINITY
from attncalc.expr import Expr
from attncalc.rounding import Bounds, Flags, Floats, Texts, rounded_or_not
from attncalc.steps.base import Figures, Numbers, Step, Work
from attncalc.steps.matrices import Matrix, OneOfTwo

FILL, ONE = -1, -2  # the numbers of cells that are no operand's: the fill of a step, and 1


@dataclass(eq=False, kw_only=True, repr=False)
class Given(Step):
    """What the problem says: inputs, weights, masks."""

    matrix: Matrix | OneOfTwo

    @property
    def written(self) -> Texts | None:
        return self.matrix.written

    @cached_property
    def exact(self) -> Flags:
        return np.full(self.shape, self.is_exact)

    @property
    def is_exact(self) -> bool:
        return self.matrix.is_written

    def recomputed(self, operands: Sequence[Floats], work: Work = expr.evaluate) -> Floats:
        return self.matrix.values

    def bounds(self, operands: Sequence[Bounds], places: int) -> Bounds:
        given = Bounds(self.values, self.values, self.values)
        return given if self.is_exact else rounded_or_not(given, places)  # of a file, as printed or not

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        return self.exact

    def reached(self, operands: Sequence[Flags]) -> Flags:
        return np.zeros(self.shape, dtype=bool)

    def workings(self, i: int, figures: Figures) -> list[tuple[Expr, list[Any]]]:
        """Each cell is the figure itself, as it was written."""
        values = self.values[i].tolist()
        texts = map(repr, values) if self.written is None else self.written[i].tolist()
        return [(expr.number(value, text), []) for value, text in zip(values, texts, strict=True)]

    @cached_property
    def own_decimals(self) -> int | None:
        return self.matrix.decimals


@dataclass(eq=False, kw_only=True, repr=False)
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

    @cached_property
    def may_be_off(self) -> bool:
        return any(operand.may_be_off for operand in self.operands)  # a copy is as good as what is copied

    @property
    def is_told(self) -> bool:
        return all(operand.is_told for operand in self.copied)

    def worked(self) -> Floats:
        return self.recomputed([operand.values for operand in self.operands])  # and is worked from no digits

    def recomputed(self, operands: Sequence[Floats], work: Work = expr.evaluate) -> Floats:
        many = np.broadcast_shapes(*(operand.shape[2:] for operand in operands))
        if self.choosers and many:  # each chooses for itself
            each = [np.broadcast_to(operand, operand.shape[:2] + many) for operand in operands]
            return np.stack([self.recomputed([o[..., k] for o in each]) for k in range(many[0])], axis=-1)
        return self._picked(operands, (1.0, self.fill), self._chosen(operands))

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        return self._picked(exact, (True, True), self._chosen(operands))

    @cached_property
    def exact(self) -> Flags:
        return self.exact_from([o.values for o in self.operands], [o.exact for o in self.operands])

    @property
    def is_exact(self) -> bool:
        return bool(self.exact.all())

    def bounds(self, operands: Sequence[Bounds], places: int) -> Bounds:
        """Those of the cells that are copied; of all that may be, where the choosers leave a choice."""
        copied, choosers = operands[: len(operands) - self.choosers], operands[len(operands) - self.choosers :]
        low, high = [], []
        for chosen in _choices(choosers):
            low.append(self.recomputed([*(each.low for each in copied), *chosen]))
            high.append(self.recomputed([*(each.high for each in copied), *chosen]))
        value = self.recomputed([each.value for each in operands])
        return Bounds(np.min(low, axis=0), value, np.max(high, axis=0))

    def allows(self, values: Floats, operands: Sequence[Bounds]) -> Flags:
        """Where a row says only what is chosen, as many as may be: of two that are equal, one."""
        if self.copied:
            return super().allows(values, operands)
        totals = [self.recomputed(chosen).sum(axis=1, keepdims=True) for chosen in _choices(operands)]
        own = values.sum(axis=1, keepdims=True)
        fewest, most = np.min(totals, axis=0), np.max(totals, axis=0)
        return np.broadcast_to(np.isnan(own) | (own >= fewest) & (own <= most), self.shape)

    def reached(self, operands: Sequence[Flags]) -> Flags:
        """Where a chooser is marked, all that it chooses."""
        chosen = any(flags.any() for flags in operands[len(self.copied) :])
        return np.ones(self.shape, dtype=bool) if chosen else self._picked(operands, (False, False), self.numbers)

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

    def workings(self, i: int, figures: Figures) -> list[tuple[Expr, list[Any]]]:
        own = {ONE: expr.number(1.0, "1"), FILL: expr.number(self.fill, self._fill_as_text)}
        numbers = self.numbers[i]
        found = zip(numbers.tolist(), figures(np.maximum(numbers, 0)).tolist(), strict=True)
        return [(own[number], []) if number in own else (expr.slot(0), [each]) for number, each in found]

    @property
    def is_worked(self) -> bool:
        return self.choosers > 0

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
        found = self._with(*(chooser.values for chooser in self.operands[len(self.copied) :]))
        return found.copy()  # a view of a few would keep those of all its operands' cells

    def _chosen(self, operands: Sequence[Floats]) -> Numbers:
        """The same by other choosers."""
        return self._with(*operands[len(self.copied) :]) if self.choosers else self.numbers

    def _with(self, *choosers: Floats) -> Numbers:
        return self.sources(*self._numbered()[: len(self.copied)], *choosers)

    def _picked(self, arrays: Sequence[NDArray[Any]], own: tuple[Any, Any], sources: Numbers) -> NDArray[Any]:
        copied = arrays[: len(arrays) - self.choosers]
        many = np.broadcast_shapes(*(array.shape[2:] for array in copied))
        cells = [np.broadcast_to(a, a.shape[:2] + many).reshape(-1, *many) for a in copied]
        pool = np.concatenate([*cells, *(np.full((1, *many), each, dtype=arrays[0].dtype) for each in own)])
        return pool[sources]  # FILL, -1, is the last of the pool, and ONE, -2, the one before it


def _with_finite_ends(bounds: Bounds) -> Bounds:
    """Of a figure that may be anything, as the largest of scores that are undefined, no other choice is tried."""
    low, value, high = bounds
    return Bounds(np.where(np.isfinite(low), low, value), value, np.where(np.isfinite(high), high, value))


def _choices(choosers: Sequence[Bounds]) -> Iterator[tuple[Floats, ...]]:
    """What choosers within their bounds may be, as far as that makes another choice: the figures themselves; all at one
    end; of the first chooser, each column at one end and the rest at the other."""
    yield tuple(each.value for each in choosers)
    if all(np.array_equal(each.low, each.high) for each in choosers):
        return
    first, *others = map(_with_finite_ends, choosers)
    columns = np.arange(first.value.shape[1])
    ends = [first.low, first.high]
    if len(columns) == 1:  # ids: any between may be meant
        ends = [np.clip(id, *ends) for id in range(int(first.low.min()), int(first.high.max()) + 1)]
    for j in columns:
        ends += [np.where(columns == j, first.high, first.low), np.where(columns == j, first.low, first.high)]
    yield from product(ends, *((each.low, each.high) for each in others))
