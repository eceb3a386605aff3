"""What every step is: a matrix of figures with the law of its cells, and all that is asked of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil, isfinite, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc import expr
from attncalc.expr import Expr
from attncalc.rounding import (
    LARGEST,
    NOISE,
    SMALLEST,
    Bounds,
    Flags,
    Floats,
    Texts,
    fits,
    in_doubt,
    rounded,
    rounded_exactly,
    snapped,
)
from attncalc.steps.matrices import Axis

Work = Callable[[Expr, Sequence[Any]], Any]  # the value of an expression from the figures in its slots
Numbers = NDArray[np.int64]  # of cells: those of a step's operands, one after the other, row by row
Figures = Callable[[Numbers], NDArray[Any]]  # what stands for cells of these numbers: texts, or the numbers themselves

DIGITS = 15  # that float64 holds of any decimal
MOST_DIGITS = 308  # before the point of the largest figure that it holds, less one
LAST_BITS = 1e-15  # of a figure, that a few operations of float64 may change
_APART = 9  # more digits than are shown, of which the last may be taken for noise next to a tie
MOST_IN_DIGITS = 2**16  # figures in the workings of a step that are worked as fractions: a third of a second


class Cell(NamedTuple):
    """A figure of a step, rows and columns from 0."""

    step: Step
    row: int
    column: int

    @property
    def value(self) -> float:
        return float(self.step.values[self.row, self.column])


class _Digits(dict[int, "Fraction | None"]):
    """The figures of cells by their numbers, as they were written, or the decimals that float64 stands for; None of
    what is infinite. Each is looked up once, as many workings have the same ones."""

    def __init__(self, cell: Callable[[int], Cell]) -> None:
        self._cell = cell
        self._written: dict[Step, Texts | None] = {}

    def __missing__(self, number: int) -> Fraction | None:
        step, row, column = cell = self._cell(number)
        if step not in self._written:
            self._written[step] = step.written
        texts = self._written[step]
        text = None if texts is None else texts[row, column]
        self[number] = found = Fraction(text or repr(cell.value)) if isfinite(cell.value) else None
        return found


class Working(NamedTuple):
    """How one cell is computed: `pattern`, with the figure of `cells[k]` in the place of slot k."""

    pattern: Expr
    cells: tuple[Cell, ...]

    def evaluate(self, figures: Callable[[Step], Floats] = lambda step: step.values) -> float:
        return float(expr.evaluate(self.pattern, [figures(step)[row, column] for step, row, column in self.cells]))


@dataclass(eq=False, kw_only=True, repr=False)
class Step:
    """One named matrix of a solution, n × m.

    `rows` and `columns` are its axes (tokens) or None; `role` says what part it plays (query, key, value, scores,
    weights ...; "" where none); `places` are the decimals that it is shown to, and in a carried solution rounded to;
    `rows_sum_to_one` marks weights. `values` and `decimals` are set by the sheet, once, when the step is recorded.
    """

    id: str
    symbol: Expr
    operands: tuple[Step, ...] = ()
    rows: Axis | None = None
    columns: Axis | None = None
    role: str = ""
    places: int = 3
    rows_sum_to_one: bool = False
    is_rounded: bool = False  # whether `values` are, in a carried solution
    again: Callable[[], Floats] | None = None  # works `values` anew, where the sheet let them go
    decimals: int | None = None  # how many decimals hold every figure whole; None: they may be no decimals
    most_in_digits: int = MOST_IN_DIGITS  # figures in its workings; more are left as float64 has them

    def __repr__(self) -> str:
        # Not its operands, which have operands of their own.
        return f"{type(self).__name__}({self.id})"

    @cached_property
    def values(self) -> Floats:
        assert self.again, f"{self.id} has no figures yet"
        return self.again()

    def let_go(self) -> None:
        """Forgets the figures, but not how many, until somebody asks for them."""
        assert self.shape
        for figures in ("values", "unrounded"):
            vars(self).pop(figures, None)

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()

    @cached_property
    def shape(self) -> tuple[int, int]:
        n, m = self.values.shape
        return n, m

    @property
    def is_worked(self) -> bool:
        """Whether there is something to work out: it is neither given nor a mere copy."""
        return bool(self.operands)

    @property
    def written(self) -> Texts | None:
        """How figures were written in the problem: None for computed ones, cell by cell; or None for the whole."""
        return None

    @cached_property
    def exact(self) -> Flags:
        """Which figures are exact: from exact operands, and with no more decimals than are shown."""
        if not self._fitting.any():  # as nearly always in a large matrix
            return self._fitting
        operands = [operand.values for operand in self.operands]
        return np.asarray(self._fitting & self.exact_from(operands, [operand.exact for operand in self.operands]))

    @property
    def is_exact(self) -> bool:
        """Whether every figure is."""
        return bool(self._fitting.all() and self.exact.all())

    @cached_property
    def _fitting(self) -> Flags:
        own = self.own_decimals
        if own is not None and own <= self.places:
            return np.ones(self.shape, dtype=bool)
        return fits(self.unrounded, self.places, NOISE if own is None else 0.0)  # decimals are rid of it

    @cached_property
    def unrounded(self) -> Floats:
        """The figures as the operands give them, before a carried solution rounds them: set where they are worked."""
        return self.worked() if self.is_rounded else self.values

    def worked(self) -> Floats:
        """The same, worked from the operands.

        Where those are decimals, so is each sum and product of them: what float64 adds to that is taken off, so that it
        decides no tie. Long ones are worked from their digits, as float64 has nothing left of 10¹⁶ + 1 - 10¹⁶; so is
        what comes of figures so small that float64 has but a few bits of them.
        """
        values = self.recomputed([operand.values for operand in self.operands])
        self.shape = values.shape[0], values.shape[1]  # which its workings ask for, before it has figures
        decimals = self.own_decimals
        if self._is_long(_magnitude(values)):
            lost = np.isfinite(values)
        elif decimals is None:
            lost = self._comes_of_few_bits()
        else:
            lost = np.zeros(self.shape, dtype=bool)
        if self._are_few(lost):
            values = values.copy()
            for i, j, exact in self._in_digits(lost, range(len(values))):
                values[i, j] = float(exact)
        return values if decimals is None else snapped(values, decimals)

    def rounded(self, values: Floats, ties: str, rows: range) -> Floats:
        """Unrounded figures of these rows, rounded to the step's decimals: those that are so near a tie that float64
        can't say on which side, from the digits of what they are worked from, where those are known."""
        result = rounded(values, self.places, ties)
        if not self._is_of_digits or self._is_short(values):
            return result
        doubt = in_doubt(values, self.places)
        if self._are_few(doubt):
            for i, j, exact in self._in_digits(doubt, rows):
                result[i, j] = rounded_exactly(exact, self.places, ties)
        return result

    def _in_digits(self, which: Flags, rows: range) -> Iterator[tuple[int, int, Fraction]]:
        """Figures of these rows from all digits of what they are worked from; none where there is none."""
        digits = _Digits(self._cell)
        for i in np.nonzero(which.any(axis=1))[0].tolist():
            known = self._known.setdefault(rows[i], {})
            columns = np.nonzero(which[i])[0].tolist()
            if not known.keys() >= set(columns):
                workings = self.workings(rows[i], lambda numbers: numbers)
                known.update((j, _of_digits(*workings[j], digits)) for j in columns)
            yield from ((i, j, exact) for j in columns if (exact := known[j]) is not None)

    @cached_property
    def _known(self) -> dict[int, dict[int, Fraction | None]]:
        """What is known so far of its figures with all their digits, by row and column."""
        return {}

    @property
    def in_digits(self) -> int:
        """How many figures in its workings were worked with all their digits so far."""
        return sum(map(len, self._known.values())) * self.in_working

    def _are_few(self, which: Flags) -> bool:
        """Whether there are some such figures, and not too many to work them with all their digits."""
        return 0 < int(np.count_nonzero(which)) * self.in_working <= self.most_in_digits

    def _comes_of_few_bits(self) -> Flags:
        """Which figures are worked from one that is too small for float64 to have all bits of it."""
        small = [(operand.values != 0) & (np.abs(operand.values) < SMALLEST) for operand in self.operands]
        return self.reached(small) if any(each.any() for each in small) else np.zeros(self.shape, dtype=bool)

    def _is_short(self, values: Floats) -> bool:
        """Whether each of these figures is a decimal of so few digits that float64 tells it from what is near it."""
        own = self.own_decimals
        return own is not None and own - self.places < _APART and _magnitude(values) + own < DIGITS

    @property
    def is_told(self) -> bool:
        """Whether all digits of its figures are known: as they were written, or are carried on."""
        return self.is_rounded or self.is_held

    @property
    def _is_of_digits(self) -> bool:
        """Whether all digits are known of what it is worked from."""
        return all(operand.is_told for operand in self.operands)

    @cached_property
    def magnitude(self) -> float:
        """How many digits before the point the largest figure has, less than one more."""
        return _magnitude(self.values)

    @cached_property
    def digits(self) -> float:
        """How many digits before the point the parts of a working may have, and what adding them up loses: products of
        figures have the digits of all of them, sums those of the longest, as is so of decimals. A sum of n terms may be
        n times as large as one, and be off by n roundings of that."""
        digits = self.decimals_from([ceil(operand.magnitude) for operand in self.operands])
        if digits is None:
            digits = max(ceil(operand.magnitude) for operand in self.operands)
        return digits + 2 * log10(self.in_working / len(self.operands))

    @property
    def is_long(self) -> bool:
        return self._is_long(self.magnitude)

    def _is_long(self, magnitude: float) -> bool:
        """Whether a figure of so many digits, or a part of its working, as far as its decimals are shown, has more than
        float64: a constant of the law (0.7 / 1e-15), or e^x, makes long ones of short ones."""
        return bool(self.operands) and max(self.digits, ceil(magnitude)) + self.places > DIGITS

    @cached_property
    def noise(self) -> float:
        """What float64 may add to a figure worked from these operands, but for what it adds to any figure of its size;
        ∞ where no more is known than that it is little: of figures that come of others than short decimals."""
        if self.own_decimals is None or not all(operand.is_held for operand in self.operands):
            return np.inf
        if not self.operands:
            return 0.0
        magnitudes: list[Any] = [operand.magnitude for operand in self.operands]  # which are added up like decimals
        largest = 10.0 ** min(self.decimals_from(magnitudes) or 0.0, MOST_DIGITS)
        return LAST_BITS * largest * self.in_working / len(self.operands)

    @property
    def is_held(self) -> bool:
        """Whether each figure is as it was written, or float64 holds it whole."""
        return self.decimals is not None and (not self.operands or self.magnitude + self.decimals <= DIGITS)

    @cached_property
    def may_be_off(self) -> bool:
        """Whether the last digits that are shown of a figure may be what float64 adds to it, or to what it is worked
        from: but for those that were rounded from its own digits, as many as float64 holds."""
        if any(operand.may_be_off and not operand.is_told for operand in self.operands):
            return True
        if not self.is_long or self.rows_sum_to_one:
            return False
        if not (self._is_of_digits and self._gives_digits and self._are_few(np.ones(self.shape, dtype=bool))):
            return True
        own = self.places if self.own_decimals is None else min(self.own_decimals, self.places)
        return self.magnitude + own > DIGITS

    @property
    def _gives_digits(self) -> bool:
        """Whether its law says all digits of a figure."""
        return expr.has_digits(self.working(0, 0).pattern)

    @cached_property
    def own_decimals(self) -> int | None:
        """How many decimals the law gives, before rounding."""
        return self.decimals_from([operand.decimals for operand in self.operands])

    @cached_property
    def is_whole(self) -> bool:
        """Whether the law gives whole numbers before anything is rounded: ids, positions, choices, sums of such."""
        if not self.operands:
            return self.own_decimals == 0
        return self.decimals_from([0 if operand.is_whole else None for operand in self.operands]) == 0

    def decimals_from(self, operands: Sequence[int | None]) -> int | None:
        """How many decimals the law gives of operands of so many; None where it may give no decimal."""
        return None

    def recomputed(self, operands: Sequence[Floats], work: Work = expr.evaluate) -> Floats:
        """The step's figures from these in the place of its operands', unrounded.

        Operands of n × m × b are b of them at once, and so is what they give; a last side of 1 serves all. `work` gives
        the value of an expression, by another habit than the exact one.
        """
        raise NotImplementedError

    def exact_from(self, operands: Sequence[Floats], exact: Sequence[Flags]) -> Flags:
        """Which figures would be exact, given that so are those of the operands that `exact` marks; with however many
        decimals. e^x is not, but for e^0; 0 times anything is."""
        raise NotImplementedError

    def bounds(self, operands: Sequence[Bounds], places: int) -> Bounds:
        """Where the figures lie for whoever works them by hand from operands that lie in these bounds, each n × m: with
        constants, and parts worked on the way, rounded to `places` decimals or not; and what they are of the operands'
        figures themselves, with nothing rounded."""
        raise NotImplementedError

    def allows(self, values: Floats, operands: Sequence[Bounds]) -> Flags:
        """Which of these figures, n × m and nan where there is none, may stand beside one another, and not only each
        within its bounds: of operands that lie in these."""
        return np.ones(self.shape, dtype=bool)

    def reached(self, operands: Sequence[Flags]) -> Flags:
        """Which figures are worked from one of the operands' figures that these flags mark, each n × m."""
        raise NotImplementedError

    def working(self, i: int, j: int) -> Working:
        """The expression of cell i, j (from 0)."""
        pattern, numbers = self.workings(i, lambda numbers: numbers)[j]
        return Working(pattern, tuple(map(self._cell, numbers)))

    def workings(self, i: int, figures: Figures) -> list[tuple[Expr, list[Any]]]:
        """The expressions of the cells of row i (from 0), and what stands in the slots of each, for the numbers of the
        cells that are theirs."""
        raise NotImplementedError

    @property
    def in_working(self) -> int:
        """How many figures the working of a cell has, at most."""
        return 1

    @property
    def formula(self) -> Expr | None:
        """The law in symbols, Q·Kᵀ; None where there is none."""
        return None

    @property
    def named(self) -> Expr:
        """What the formula is equal to: the step, or S[i,j], a cell of it."""
        return self.symbol

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
        k = bisect_right(self._starts, number) - 1  # a page of many figures asks for as many cells
        operand = self.operands[k]
        return Cell(operand, *divmod(number - self._starts[k], operand.values.shape[1]))


def _magnitude(values: Floats) -> float:
    return log10(np.max(np.abs(values), where=np.isfinite(values), initial=1.0))


def _of_digits(pattern: Expr, numbers: Sequence[int], digits: _Digits) -> Fraction | None:
    """The value of a working of the cells of these numbers."""
    figures = [digits[number] for number in numbers]
    known = [each for each in figures if each is not None]
    exact = expr.rational(pattern, known, near=True) if len(known) == len(figures) else None
    return exact if exact is not None and abs(exact) < LARGEST else None
