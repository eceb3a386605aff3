"""What stands for each step in the steps after it: what was written, or what follows from what was written before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.rounding import TIE, Bounds, Flags, Floats, Rule, rounded, rounded_or_not
from attncalc.steps import Arrange, Given, Step
from attncalc.steps.base import DIGITS, LAST_BITS

Writings = NDArray[np.object_]  # of Written | None, n × m
_LAST_BIT = 2.0**-52  # of a figure


class Values(NamedTuple):
    """Written figures, n × m: nan where there is none, and how many decimals each has: ∞ of those that are exact."""

    values: Floats
    decimals: Floats


class Standing:
    """What stands for the steps so far, by id, n × m each; `asked` are the decimals that are asked for of each."""

    def __init__(self, asked: Mapping[str, int], rule: Rule) -> None:
        self.asked, self.rule = asked, rule
        self.bounds: dict[str, Bounds] = {}
        self._in_copies: dict[str, Bounds] = {}

    def copy(self) -> Standing:
        other = Standing(self.asked, self.rule)
        other.bounds, other._in_copies = dict(self.bounds), dict(self._in_copies)
        return other

    def _copied(self, step: Step) -> Bounds:
        """What stands for a step where it is copied; of one that was not written, made for the first copy."""
        if step.id not in self._in_copies:
            asked = self.asked[step.id]
            # Rounded to the decimals of a copy it would be the copy.
            kept = asked if may_add_up(step, self.rule) else asked + 1
            self._in_copies[step.id] = recomputed(step, self.follows(step), kept, self.rule)
        return self._in_copies[step.id]

    def operands(self, step: Step) -> list[Bounds]:
        """What a step is worked from. A copy of figures that were not written is as near to what they follow from as
        they: none is off by half a unit twice."""
        alike = [isinstance(step, Arrange) and self.asked[each.id] == self.asked[step.id] for each in step.operands]
        found = [self._copied(each) if same else self.bounds[each.id]
                 for each, same in zip(step.operands, alike, strict=True)]  # fmt: skip
        return self._as_held(found, step)

    def _as_held(self, operands: list[Bounds], step: Step) -> list[Bounds]:
        """The same, where a step takes figures of more digits than float64 holds, or makes some on its way, as near as
        it holds those: whoever works with all their digits has others in the last places, of which a difference may
        be left."""
        most = 10.0 ** (DIGITS - self.asked[step.id])
        return [each if isinstance(step, Arrange) else _with_last_bits(each, 0.0 if step.is_long else most)
                for each in operands]  # fmt: skip

    def follows(self, step: Step) -> Bounds:
        """Where its figures lie by honest habits."""
        return step.bounds(self.operands(step), self.asked[step.id])

    def allows(self, step: Step, values: Floats) -> Flags:
        """Which of the figures that were written for it may stand beside one another."""
        whole: Flags = ~np.isfinite(values) | (values == np.round(values)) | (not self.is_count(step))
        return np.asarray(whole & step.allows(values, self.operands(step)))

    def is_count(self, step: Step) -> bool:
        """Whether its figures are whole numbers and asked for as such: ids, positions, choices."""
        return step.is_whole and self.asked[step.id] == 0

    def instead(self, step: Step) -> Bounds:
        """What stands for a step, or for a figure of it, that was not written."""
        operands = self._as_held([self.bounds[each.id] for each in step.operands], step)
        follows = step.bounds(operands, self.asked[step.id])
        return recomputed(step, follows, self.asked[step.id], self.rule)

    def leave_out(self, step: Step) -> None:
        """Takes account of a step that was not written."""
        self.bounds[step.id] = self.instead(step)
        if isinstance(step, Arrange):  # at once, however long a chain of copies is
            self._copied(step)

    def put(self, id: str, bounds: Bounds) -> None:
        """Takes account of a step that was written."""
        self.bounds[id] = self._in_copies[id] = bounds


def recomputed(step: Step, follows: Bounds, places: int, rule: Rule) -> Bounds:
    """What stands for a step that was not written: it may have been rounded, or made to add up to 1. A copy was not."""
    if isinstance(step, Given | Arrange):
        return follows
    low, value, high = rounded_or_not(follows, places)
    unit = moved(step, follows, places, rule)
    return Bounds(np.minimum(low, follows.low - unit), value, np.maximum(high, follows.high + unit))


def may_add_up(step: Step, rule: Rule) -> bool:
    """Whether its figures are weights that may have been made to add up to 1, or copies of some."""
    if isinstance(step, Arrange):
        return any(may_add_up(each, rule) for each in step.copied)
    return step.rows_sum_to_one and rule.weights == "sum-to-one"


def moved(step: Step, follows: Bounds, asked: int, rule: Rule) -> Floats:
    """How much further from what they follow from weights may be that were made to add up to 1: a unit; none where that
    is 0, as of a hidden key, or 1."""
    may_be = may_add_up(step, rule) & (follows.high > 0) & (follows.value < 1)
    return np.where(may_be, 10.0**-asked, 0.0)


def _with_last_bits(bounds: Bounds, at_least: float) -> Bounds:
    """Bounds a few last bits wider, of figures at least so large."""

    def last_bits(end: Floats) -> Floats:
        return np.where((np.abs(end) >= at_least) & np.isfinite(end), 4 * _LAST_BIT * np.abs(end), 0.0)

    low, value, high = bounds
    return Bounds(low - last_bits(low), value, high + last_bits(high))


def values_of(written: Writings) -> Values:
    """What figures are, each as two numbers."""
    cells: list[Any] = written.ravel().tolist()
    values = [np.nan if each is None or each.value is None else each.value for each in cells]
    decimals = [np.inf if each is None or each.decimals is None else each.decimals for each in cells]
    return Values(*(np.array(each, dtype=np.float64).reshape(written.shape) for each in (values, decimals)))


def as_shown(values: Floats, decimals: Floats, asked: int) -> Floats:
    """Figures that are exact, as √2, as they would be written with so many decimals; the others as they are."""
    is_exact = np.isinf(decimals) & np.isfinite(values)
    return np.where(is_exact, rounded(np.where(is_exact, values, 0.0), asked), values)


def half_units(decimals: Floats, asked: Floats | int) -> Floats:
    """Half a unit of the last decimal that was asked for, or written; of an exact figure, of that asked for."""
    return 0.5 * 10.0 ** -np.maximum(np.where(np.isinf(decimals), asked, decimals), asked)


def within(values: Floats, bounds: Bounds, slack: Floats | float, noise: float = np.inf) -> Flags:
    """Which figures lie within bounds, or no further from them than `slack`, and what float64 may have added: the
    `noise` of their step, where that is known."""
    with np.errstate(invalid="ignore"):
        size = np.where(np.isfinite(values), np.abs(values), 0.0)
        noise = TIE * slack + np.clip(noise, LAST_BITS * size, 1e-12 * size)
        inside = (values >= bounds.low - slack - noise) & (values <= bounds.high + slack + noise)
    return np.asarray(inside | (values == bounds.value))  # -∞ too


def chosen(where: Flags, bounds: Bounds, others: Bounds) -> Bounds:
    """These bounds where it is said, and others elsewhere."""
    return Bounds(*(np.where(where, each, other) for each, other in zip(bounds, others, strict=True)))


def exactly(values: Floats) -> Bounds:
    return Bounds(values, values, values)
