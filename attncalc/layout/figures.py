"""The figures of a solution as they are printed, and where the line that they stand in is true of them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import localcontext
from fractions import Fraction
from functools import cache, cached_property
from math import ceil
from typing import NamedTuple

import numpy as np

from attncalc import digits, expr
from attncalc.rounding import Flags, Floats, Rule, Texts
from attncalc.solution import Solution
from attncalc.steps import Contract, Step
from attncalc.steps.base import DIGITS, MOST_DIGITS

LARGE = 100_000  # figures of a matrix of which the last row is looked at first
CLOSE = 1e-9  # of figures of 1 or more: what float64 may add to figures that are equal
_BY_HAND = 2**20  # figures of workings that are looked at digit by digit; of more nobody does, and none is claimed
_LAST = slice(-1, None)


class Terms(NamedTuple):
    """The products of which each cell of a matrix product is the sum."""

    texts: Texts  # n × m × k
    exact: Flags  # where they add up to what the printed figures give, n × m
    whole: Flags  # and to the figure that is printed


class Figures:
    """A step's figures as they are printed: text, and the same as float64; where `true`, "=" may be written. Each is
    made when it is asked for: of what a large result is worked from, no text is shown."""

    def __init__(self, step: Step, operands: Sequence[Figures], rule: Rule) -> None:
        self._step, self._operands, self._rule = step, operands, rule

    @cached_property
    def texts(self) -> Texts:
        return digits.shown(self._step, self._rule)

    @cached_property
    def values(self) -> Floats:
        return digits.printed(self._step, self._rule)

    @cached_property
    def unrounded(self) -> Floats:
        """What they were before a carried solution rounded them."""
        return self._step.unrounded

    @cached_property
    def used(self) -> Texts:
        """The texts of the operands, one after the other, row by row."""
        return np.concatenate([operand.texts.ravel() for operand in self._operands])

    @cached_property
    def decimals(self) -> int:
        """The most that one of them has: all of its step, where one is no exact figure."""
        step = self._step
        return step.places if step.written is None and not step.is_exact else digits.decimals_of(self.texts)

    def hold(self, i: int | None = None, j: int | None = None) -> bool:
        """Whether the printed operands give, as it stands, the printed figure i, j; all of row i; all of the matrix."""
        if i is None:
            return not self._are_rounded_below and bool(self._near.all() and self.true.all())
        return bool(self.true[i].all() if j is None else self.true[i, j])

    @cached_property
    def true(self) -> Flags:
        """Where the printed operands give the printed figure as it stands, without rounding."""
        near, values, step = self._near.copy(), self.values, self._step
        if not self._operands or not near.any():
            return near
        decimals = step.decimals_from([operand.decimals for operand in self._operands])
        if decimals is not None:
            places = max(decimals, self.decimals)
            if places + self._digits < DIGITS:  # float64 tells them apart
                return near & (self._off < 0.25 * 10.0**-places)
        in_doubt = near & np.isfinite(values)
        if np.count_nonzero(in_doubt) * step.in_working > _BY_HAND:
            return np.asarray(near & ~in_doubt)
        if decimals is not None and isinstance(step, Contract):
            return self._are_sums_of_products(in_doubt) | (near & ~in_doubt)
        holds = cache(_holds)  # in a large matrix of weights most are 0, of the same figures
        for i in np.nonzero(in_doubt.any(axis=1))[0].tolist():
            workings = step.workings(i, self.used.__getitem__)
            for j in np.nonzero(in_doubt[i])[0].tolist():
                pattern, texts = workings[j]
                near[i, j] = holds(pattern, tuple(texts), self.texts[i, j])
        return near

    def _are_sums_of_products(self, asked: Flags) -> Flags:
        """Which of these figures of a product of matrices of decimals are exactly what the printed operands give."""
        rows = asked.any(axis=1)
        a, b = (operand.texts for operand in self._operands)
        found = np.zeros(asked.shape, dtype=bool)
        with localcontext(digits.EXACTLY):
            found[rows] = digits.decimals(a[rows]) @ digits.decimals(b) == digits.decimals(self.texts[rows])
        return np.asarray(found & asked)

    @property
    def _digits(self) -> float:
        return max(ceil(self._step.magnitude), self._step.digits)

    @cached_property
    def _near(self) -> Flags:
        """Where they may be so, as far as float64 can tell."""
        if not self._operands:
            return np.ones(self._step.shape, dtype=bool)
        noise = 10.0 ** min(self._digits - DIGITS, MOST_DIGITS)
        near: Flags = _is_close(self._off, self.values) | (self._off <= noise)
        if not near.any():  # as nearly always in a large matrix
            return near
        # e^x and √2 are no decimals, however near: nothing printed is equal to them.
        operands = [operand.values for operand in self._operands]
        return near & self._step.exact_from(operands, [np.ones(each.shape, dtype=bool) for each in operands])

    @cached_property
    def _off(self) -> Floats:
        """How far what the printed operands give is off, without rounding."""
        if all(operand.are_used for operand in self._operands):
            return _distance(self.unrounded, self.values)
        return _distance(self._step.recomputed([operand.values for operand in self._operands]), self.values)

    @cached_property
    def are_used(self) -> bool:
        """Whether other steps are worked from the figures as they are printed."""
        return self.values is self._step.values or np.array_equal(self.values, self._step.values)

    @cached_property
    def _are_rounded_below(self) -> bool:
        """Whether printed figures do not give the last row of a product of matrices as it is printed: of a large one,
        where it takes long to look at every row, that row nearly always says it."""
        step = self._step
        if not isinstance(step, Contract) or step.operands[0].values.size <= LARGE:
            return False
        row = digits.printed(step.operands[0], self._rule, _LAST)
        given, values = step.recomputed([row, self._operands[1].values]), self.values[_LAST]
        return not _is_close(_distance(given, values), values).all()

    @cached_property
    def terms(self) -> Terms:
        """Of a product of matrices."""
        a, b = self._step.operands
        values = a.values[:, None, :] * b.values.T[None, :, :]
        nothing = [(x.values == 0) & x.exact for x in (a, b)]
        exact = (a.exact[:, None, :] & b.exact.T[None]) | nothing[0][:, None, :] | nothing[1].T[None]
        texts = digits.terms(values, exact, self._step.places, self._rule)
        a_, b_, own, added = map(digits.decimals, (*(each.texts for each in (*self._operands, self)), texts))
        with localcontext(digits.EXACTLY):
            sums = added.sum(axis=2)
            return Terms(texts, sums == a_ @ b_, sums == own)


class Printed(dict[Step, Figures]):
    """The figures of each step of a solution; and of any other step that is asked for, worked from its steps or not."""

    def __init__(self, solution: Solution, rule: Rule) -> None:
        self.rule = rule
        for step in solution.steps.values():  # those of operands come first, however deep a model is
            self.__missing__(step)

    def __missing__(self, step: Step) -> Figures:
        self[step] = found = Figures(step, [self[operand] for operand in step.operands], self.rule)
        return found


def _distance(one: Floats, other: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # -∞ less -∞
        return np.where(one == other, 0.0, np.abs(one - other))


def _is_close(off: Floats, values: Floats) -> Flags:
    return np.asarray(off <= CLOSE * np.maximum(1, np.abs(values)))


def _holds(pattern: expr.Expr, texts: Sequence[str], text: str) -> bool:
    """Whether figures give another, as it stands; where one is infinite, float64 has said so."""
    if any(each.endswith("∞") for each in texts):
        return True
    return expr.rational(pattern, [*map(Fraction, texts)]) == Fraction(text)
