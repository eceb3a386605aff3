"""Written figures against a solution: which are right, which follow from what was written before them, which are slips.

Each step is marked from the figures that stand before it: those that were written, and where none were, those that
follow from what was written before them. `bounds` of the step's law say what honest habits make of them: whoever
rounds at every step, and whoever never rounds, are within; what is neither there nor the exact figure is a slip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attncalc.marking.answers import Answers
from attncalc.marking.written import Written
from attncalc.rounding import TIE, Bounds, Flags, Floats, Rule, rounded, rounded_or_not
from attncalc.solution import Solution
from attncalc.steps import Arrange, Given, Step

CORRECT, FOLLOWS, IMPRECISE, SLIP, BLANK, INVALID = "correct", "follows", "imprecise", "slip", "blank", "invalid"
VERDICTS = (CORRECT, FOLLOWS, IMPRECISE, SLIP, BLANK, INVALID)
FAULTS = frozenset({SLIP, IMPRECISE, BLANK, INVALID})


@dataclass(frozen=True, eq=False)
class Marked:
    """A step whose figures were written, all n × m: each with its verdict ("" where nothing was asked), the exact
    figure, and what follows from the figures before it: nothing but arithmetic (`value`), and where it may lie.

    `places` are the decimals that were asked for.
    """

    step: Step
    written: NDArray[np.object_]  # of Written | None
    verdicts: NDArray[np.object_]  # of str
    exact: Floats
    is_exact: Flags  # whether that is a figure that nobody rounds
    follows: Bounds
    places: int


@dataclass(frozen=True, eq=False)
class Figure:
    """One written figure, rows and columns from 0, of the step of this id, with its verdict; `method` is the known
    wrong one that gives it."""

    step: str
    row: int
    column: int
    written: Written
    verdict: str
    exact: float
    follows: float
    method: str | None = None


@dataclass(frozen=True, eq=False)
class Marking:
    """What is said of somebody's written figures, step by step, in the order of the solution.

    `stands` has, for each step of the solution, what stands for it in the steps after it: written, or recomputed from
    what was.
    """

    name: str
    solution: Solution
    steps: Mapping[str, Marked]
    stands: Mapping[str, Bounds]
    methods: Mapping[tuple[str, int, int], str]

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """All figures that were asked for, those of the first step first, row by row."""
        return tuple(
            Figure(
                id, i, j, marked.written[i, j], marked.verdicts[i, j], float(marked.exact[i, j]),
                float(marked.follows.value[i, j]), self.methods.get((id, i, j)),
            )
            for id, marked in self.steps.items()
            for i, j in np.argwhere(marked.verdicts != "").tolist()
        )  # fmt: skip

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many figures have each verdict."""
        found = dict.fromkeys(VERDICTS, 0)
        for marked in self.steps.values():
            for verdict in VERDICTS:
                found[verdict] += int(np.count_nonzero(marked.verdicts == verdict))
        return found

    @cached_property
    def from_slips(self) -> dict[str, Flags]:
        """Which figures rest on a slip, or on a figure that is none: by step id, n × m."""
        found: dict[str, Flags] = {}
        for id, step in self.solution.steps.items():
            # What is worked from nan is nan.
            copied = step.copied if isinstance(step, Arrange) else step.operands
            operands = [np.where(found[each.id], np.nan, each.values) if each in copied else each.values
                        for each in step.operands]  # fmt: skip
            rests = np.isnan(step.recomputed(operands)) if operands else np.zeros(step.shape, dtype=bool)
            marked = self.steps.get(id)
            if marked is not None:
                rests = np.where(marked.verdicts == CORRECT, False, rests | np.isin(marked.verdicts, [SLIP, INVALID]))
            found[id] = rests
        return found

    @property
    def first_slip(self) -> Figure | None:
        return next((figure for figure in self.figures if figure.verdict == SLIP), None)

    @property
    def is_right(self) -> bool:
        """Whether every figure is correct, or follows from what was written before it."""
        return not any(count for verdict, count in self.counts.items() if verdict in FAULTS)


def marked(solution: Solution, answers: Answers, rule: Rule, places: Mapping[str, int] | None = None) -> Marking:
    """The verdict on each written figure.

    `places` are the decimals asked for, by step id, where they are not those of the step: of figures that were printed
    elsewhere, as many as they were printed with.
    """
    stands: dict[str, Bounds] = {}
    steps: dict[str, Marked] = {}
    for id, step in solution.steps.items():
        asked = (places or {}).get(id, step.places)
        follows = followed(step, [stands[operand.id] for operand in step.operands], asked)
        written = answers.figures.get(id)
        if written is None:
            stands[id] = recomputed(step, follows, asked)
            continue
        each = steps[id] = _step(step, solution, written, follows, asked, rule)
        stands[id] = _stand(each, rule)
    return Marking(answers.name, solution, steps, stands, {})


def followed(step: Step, operands: list[Bounds], places: int) -> Bounds:
    """Where a step's figures lie, from what stands for its operands; those of the solution where nothing follows, as
    from an id that the vocabulary has not."""
    try:
        return step.bounds(operands, places)
    except (IndexError, ValueError):
        return Bounds(step.values, step.values, step.values)


def recomputed(step: Step, follows: Bounds, places: int) -> Bounds:
    """What stands for a step that was not written: it may have been rounded. A copy was not."""
    return follows if isinstance(step, Given | Arrange) else rounded_or_not(follows, places)


def _step(
    step: Step, solution: Solution, written: NDArray[np.object_], follows: Bounds, asked: int, rule: Rule
) -> Marked:  # fmt: skip
    full = solution.exact or solution
    in_full = full.steps.get(step.id, step)
    exact = in_full.values
    values, decimals = _figures(written)
    units = _units(decimals, asked)
    is_given = ~np.isnan(values)
    verdicts = np.full(step.shape, "", dtype=object)
    verdicts[[[each is not None and each.is_blank for each in row] for row in written]] = BLANK
    verdicts[[[each is not None and each.is_invalid for each in row] for row in written]] = INVALID
    verdicts[is_given] = SLIP
    short = is_given & (decimals == asked - 1) & (values != 0)
    own = np.where(short, 10.0 ** -(asked - 1), units)
    right, following = (_right(values, exact, units, asked, rule), _follows(step, values, follows, units, asked, rule))
    nearly = _near(values, exact, own) | _within(values, follows, own / 2)
    for verdict, where in ((IMPRECISE, short & nearly), (FOLLOWS, following), (CORRECT, right)):
        verdicts[is_given & where] = verdict
    return Marked(step, written, verdicts, exact, in_full.exact, follows, asked)


def figures(written: NDArray[np.object_]) -> Floats:
    """The values of figures, nan where there is none."""
    return _figures(written)[0]


def _figures(written: NDArray[np.object_]) -> tuple[Floats, Floats]:
    """The values of figures, nan where there is none, and how many decimals each has: ∞ of those that are exact."""
    values = [[np.nan if each is None or each.value is None else each.value for each in row] for row in written]
    decimals = [[np.inf if each is None or each.decimals is None else each.decimals for each in row] for row in written]
    return np.array(values, dtype=np.float64), np.array(decimals, dtype=np.float64)


def _units(decimals: Floats, asked: int) -> Floats:
    """One unit of the last decimal of each figure; 0 of those that are exact."""
    return np.where(np.isinf(decimals), 0.0, 10.0 ** -np.maximum(np.where(np.isinf(decimals), 0, decimals), asked))


def _near(values: Floats, exact: Floats, units: Floats) -> Flags:
    """Which figures are within half a unit of the exact ones."""
    return _within(values, Bounds(exact, exact, exact), units / 2)


def _within(values: Floats, bounds: Bounds, slack: Floats) -> Flags:
    """Which figures lie within bounds, or no further from them than `slack`."""
    with np.errstate(invalid="ignore"):
        noise = TIE * slack + 1e-12 * np.abs(values)
        inside = (values >= bounds.low - slack - noise) & (values <= bounds.high + slack + noise)
    return np.asarray(inside | (values == bounds.value))  # -∞ too


def _right(values: Floats, exact: Floats, units: Floats, asked: int, rule: Rule) -> Flags:
    """Which figures are within half a unit of the exact ones, or are the same once both are rounded."""
    same = rounded(np.nan_to_num(values), asked, rule.ties) == rounded(exact, asked, rule.ties)
    return np.asarray(_near(values, exact, units) | same)


def _follows(step: Step, values: Floats, follows: Bounds, units: Floats, asked: int, rule: Rule) -> Flags:
    """Which figures are within half a unit of what some figures give that stand before them, or are so once they are
    rounded; weights that were made to add up to 1, within one unit more."""
    more = 10.0**-asked if _made_to_add_up(step, rule) else 0.0
    shorter, half = rounded(np.nan_to_num(values), asked, rule.ties), np.full_like(units, 0.5 * 10.0**-asked)
    return _within(values, follows, units / 2 + more) | _within(shorter, follows, half + more)


def follow(step: Step, written: NDArray[np.object_], follows: Bounds, asked: int, rule: Rule) -> Flags:
    """Which written figures follow, were `step` the one that they were written for."""
    values, decimals = _figures(written)
    return _follows(step, values, follows, _units(decimals, asked), asked, rule)


def _made_to_add_up(step: Step, rule: Rule) -> bool:
    return step.rows_sum_to_one and rule.weights == "sum-to-one"


def _stand(marked: Marked, rule: Rule) -> Bounds:
    """What stands for a written step in the steps after it: the figures that round to those that were written; where
    nothing was, what follows from what was written before."""
    step, asked = marked.step, marked.places
    values, decimals = _figures(marked.written)
    units = _units(decimals, asked)
    units = np.where(marked.verdicts == IMPRECISE, 10.0**-decimals, units)
    alone = (decimals == 0) & (step.own_decimals == 0) | np.isinf(values)  # an id, a choice; what is hidden
    with np.errstate(invalid="ignore"):
        same = np.abs(values - marked.exact) <= TIE * units
    alone |= same & ((decimals < asked) | marked.is_exact)
    half = np.where(alone, 0.0, units / 2)
    low, high = values - half, values + half
    if _made_to_add_up(step, rule):  # the figure before that was done is one that follows, at most a unit further
        low = np.minimum(low, np.clip(marked.follows.low, low - units, None))
        high = np.maximum(high, np.clip(marked.follows.high, None, high + units))
    there = ~np.isnan(values)
    instead = recomputed(step, marked.follows, asked)
    return Bounds(*(np.where(there, own, other) for own, other in zip((low, values, high), instead, strict=True)))
