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
from attncalc.steps import Arrange, Given, Reduce, Step

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
        """Which figures are worked from a slip, or from a figure that is none: by step id, n × m."""
        found: dict[str, Flags] = {}
        through: dict[str, Flags] = {}
        for id, step in self.solution.steps.items():
            found[id] = through[id] = step.reached([through[operand.id] for operand in step.operands])
            marked = self.steps.get(id)
            if marked is not None:
                wrong = np.isin(marked.verdicts, [SLIP, INVALID])
                if isinstance(step, Reduce) and step.over == "start":  # each may go on from the one before it
                    found[id][:, 1:] |= np.logical_or.accumulate(wrong, axis=1)[:, :-1]
                through[id] = (found[id] | wrong) & (marked.verdicts != CORRECT)
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
    asked = {id: (places or {}).get(id, step.places) for id, step in solution.steps.items()}
    stands: dict[str, Bounds] = {}
    in_copies: dict[str, Bounds] = {}  # what stands for a step in copies of it that have as many decimals
    steps: dict[str, Marked] = {}
    for id, step in solution.steps.items():
        operands = [stands[each.id] for each in step.operands]
        seen = [
            in_copies[each.id] if isinstance(step, Arrange) and asked[each.id] == asked[id] else stands[each.id]
            for each in step.operands
        ]
        follows = followed(step, seen, asked[id])
        instead = recomputed(step, followed(step, operands, asked[id]), asked[id], rule)
        written = answers.figures.get(id)
        if written is not None:
            steps[id] = _step(step, solution, written, seen, follows, asked[id], rule)
            stands[id] = in_copies[id] = _stand(steps[id], instead, rule)
        else:
            stands[id] = instead
            # Rounded to the decimals of a copy it would be the copy: no figure is off by half a unit twice.
            in_copies[id] = recomputed(step, follows, asked[id] + (not _made_to_add_up(step, rule)), rule)
    return Marking(answers.name, solution, steps, stands, {})


def followed(step: Step, operands: list[Bounds], places: int) -> Bounds:
    """Where a step's figures lie, from what stands for its operands; those of the solution where nothing follows, as
    from an id that the vocabulary has not."""
    try:
        return step.bounds(operands, places)
    except (IndexError, ValueError):
        return Bounds(step.values, step.values, step.values)


def recomputed(step: Step, follows: Bounds, places: int, rule: Rule) -> Bounds:
    """What stands for a step that was not written: it may have been rounded, and made to add up to 1. A copy was
    not."""
    if isinstance(step, Given | Arrange):
        return follows
    low, value, high = rounded_or_not(follows, places)
    moved = _moved(step, follows, places, rule)
    return Bounds(low - moved, value, high + moved)


def figures(written: NDArray[np.object_]) -> Floats:
    """The values of figures, nan where there is none."""
    return _figures(written)[0]


def follow(step: Step, written: NDArray[np.object_], follows: Bounds, asked: int, rule: Rule) -> Flags:
    """Which written figures are within half a unit of what some figures give that stand before them; weights that were
    made to add up to 1, within one unit more."""
    values, half = _to_be_judged(written, asked)
    return _within(values, follows, half + _moved(step, follows, asked, rule))


def _step(
    step: Step, solution: Solution, written: NDArray[np.object_], operands: list[Bounds], follows: Bounds, asked: int,
    rule: Rule,
) -> Marked:  # fmt: skip
    exact = _in_full_precision(solution, step).values
    values, decimals = _figures(written)
    is_given = ~np.isnan(values)
    verdicts = np.full(step.shape, "", dtype=object)
    verdicts[[[each is not None and each.is_blank for each in row] for row in written]] = BLANK
    verdicts[[[each is not None and each.is_invalid for each in row] for row in written]] = INVALID
    verdicts[is_given] = SLIP
    judged, half = _to_be_judged(written, asked)
    right = _within(judged, Bounds(exact, exact, exact), half)
    right |= rounded(judged, asked, rule.ties) == rounded(exact, asked, rule.ties)
    following = follow(step, written, follows, asked, rule)
    following |= _within(judged, Bounds(step.values, step.values, step.values), half)  # what the key itself has
    if isinstance(step, Reduce) and step.over == "start":
        own = _as_written(values, half, follows)
        following |= _within(judged, step.running_bounds(operands, own, asked), half)
    short = is_given & (decimals == asked - 1) & (values != 0)
    nearly = _within(values, Bounds(exact, exact, exact), 10 * half) | _within(values, follows, 10 * half)
    for verdict, where in ((IMPRECISE, short & nearly), (FOLLOWS, following), (CORRECT, right)):
        verdicts[is_given & where] = verdict
    return Marked(step, written, verdicts, exact, follows, asked)


def _in_full_precision(solution: Solution, step: Step) -> Step:
    """The same step where nothing is rounded on the way; itself where that chose otherwise, and has none like it."""
    exact = (solution.exact or solution).steps.get(step.id, step)
    return exact if exact.shape == step.shape else step


def _figures(written: NDArray[np.object_]) -> tuple[Floats, Floats]:
    """The values of figures, nan where there is none, and how many decimals each has: ∞ of those that are exact."""
    values = [[np.nan if each is None or each.value is None else each.value for each in row] for row in written]
    decimals = [[np.inf if each is None or each.decimals is None else each.decimals for each in row] for row in written]
    return np.array(values, dtype=np.float64), np.array(decimals, dtype=np.float64)


def _to_be_judged(written: NDArray[np.object_], asked: int) -> tuple[Floats, float]:
    """The values of figures, and how far off they may be: half a unit of the decimals asked for, however many were
    written. Those that are exact, as 1/3, are judged as they would be written with so many."""
    return _shown(*_figures(written), asked), 0.5 * 10.0**-asked


def _within(values: Floats, bounds: Bounds, slack: Floats | float) -> Flags:
    """Which figures lie within bounds, or no further from them than `slack`."""
    with np.errstate(invalid="ignore"):
        noise = TIE * slack + 1e-12 * np.where(np.isfinite(values), np.abs(values), 0.0)
        inside = (values >= bounds.low - slack - noise) & (values <= bounds.high + slack + noise)
    return np.asarray(inside | (values == bounds.value))  # -∞ too


def _made_to_add_up(step: Step, rule: Rule) -> bool:
    """Whether its figures are weights that may have been made to add up to 1, or copies of some."""
    if isinstance(step, Arrange):
        return any(_made_to_add_up(each, rule) for each in step.copied)
    return step.rows_sum_to_one and rule.weights == "sum-to-one"


def _moved(step: Step, follows: Bounds, asked: int, rule: Rule) -> Floats:
    """How much further from what they follow from weights may be that were made to add up to 1: a unit; none where that
    is 0, as of a hidden key, or 1."""
    may_be = _made_to_add_up(step, rule) & (follows.high > 0) & (follows.value < 1)
    return np.where(may_be, 10.0**-asked, 0.0)


def _stand(marked: Marked, instead: Bounds, rule: Rule) -> Bounds:
    """What stands for a written step in the steps after it, and something `instead` where nothing was written: the
    figures as they were written; or, of one that is right or follows, what it was rounded from, which is the exact
    figure or lies where that follows; of a slip, whatever rounds to it."""
    step, asked, follows = marked.step, marked.places, marked.follows
    values, decimals = _figures(marked.written)
    half = 0.5 * 10.0 ** -np.where(marked.verdicts == IMPRECISE, decimals, np.maximum(decimals, asked))
    is_choice = (decimals == 0) & (step.own_decimals == 0) | np.isinf(values)  # an id; what is hidden
    half = np.where(is_choice, 0.0, half)
    # Somebody may keep one decimal more; a weight that was made to add up to 1 may be used as it was before, rounded.
    moved = _moved(step, follows, asked, rule)
    more = np.where(moved > 0, 0.5, 0.05) * 10.0**-asked
    moved = moved + half
    from_ = np.where(marked.verdicts == CORRECT, np.minimum(follows.low, marked.exact), follows.low) - more
    to = np.where(marked.verdicts == CORRECT, np.maximum(follows.high, marked.exact), follows.high) + more
    known = np.isin(marked.verdicts, [CORRECT, FOLLOWS, IMPRECISE])
    with np.errstate(invalid="ignore"):
        alone = (follows.low == follows.high) & (np.abs(values - follows.value) <= TIE * half)  # nobody rounds it
        low = np.where(known, np.minimum(values, np.clip(from_, values - moved, None)), values - half)
        high = np.where(known, np.maximum(values, np.clip(to, None, values + moved)), values + half)
    shown = _shown(values, decimals, asked)  # of √2, which may have been used as 1.414
    low, high = np.minimum(low, shown), np.maximum(high, shown)
    own = np.where(alone, values, low), values, np.where(alone, values, high)
    there = ~np.isnan(values)
    return Bounds(*(np.where(there, each, other) for each, other in zip(own, instead, strict=True)))


def _shown(values: Floats, decimals: Floats, asked: int) -> Floats:
    """Figures that are exact as they would be written with so many decimals; the others as they are."""
    is_exact = np.isinf(decimals) & np.isfinite(values)
    return np.where(is_exact, rounded(np.where(is_exact, values, 0.0), asked), values)


def _as_written(values: Floats, half: Floats | float, instead: Bounds) -> Bounds:
    """Where figures lie that are written so, to half a unit; others where nothing is."""
    there = ~np.isnan(values)
    own = values - half, values, values + half
    return Bounds(*(np.where(there, each, other) for each, other in zip(own, instead, strict=True)))
