"""Written figures against a solution: which are right, which follow from what was written before them, which are slips.

Each step is marked from the figures that stand before it: those that were written, and where none were, those that
follow from what was written before them. `bounds` of the step's law say what honest habits make of them: whoever
rounds at every step, and whoever never rounds, are within; what is neither there nor the exact figure is a slip.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.marking.answers import Answers
from attncalc.marking.standing import (
    Standing,
    Values,
    Writings,
    as_shown,
    chosen,
    exactly,
    half_units,
    moved,
    values_of,
    within,
)
from attncalc.marking.written import Written
from attncalc.rounding import TIE, Bounds, Flags, Floats, Rule, rounded
from attncalc.solution import Solution
from attncalc.steps import Reduce, Step

CORRECT, FOLLOWS, IMPRECISE, SLIP, BLANK, INVALID = "correct", "follows", "imprecise", "slip", "blank", "invalid"
VERDICTS = (CORRECT, FOLLOWS, IMPRECISE, SLIP, BLANK, INVALID)
HIDDEN = -1e9  # as many programs write -∞ in a mask
FAULTS = frozenset({SLIP, IMPRECISE, BLANK, INVALID})


class Marked(NamedTuple):
    """A step whose figures were written, all n × m: each with its verdict ("" where nothing was asked), the exact
    figure, and what follows from the figures before it: nothing but arithmetic (`value`), and where it may lie;
    `as_meant` is the same where slips before it were of the pen alone.

    `from_slips` are the figures that follow from a slip before them, and from nothing else; `places` the decimals that
    were asked for.
    """

    step: Step
    written: Writings
    read: Values
    verdicts: NDArray[np.object_]  # of str
    exact: Floats
    follows: Bounds
    as_meant: Bounds
    from_slips: Flags
    places: int


class Figure(NamedTuple):
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


@dataclass(eq=False, repr=False)
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

    @property
    def from_slips(self) -> dict[str, Flags]:
        """Which figures follow from a slip before them, and from nothing else: by step id, n × m."""
        return {id: marked.from_slips for id, marked in self.steps.items()}

    @cached_property
    def of_step(self) -> Mapping[str, list[Figure]]:
        """All figures that were asked for, by step id, in the same order."""
        found: dict[str, list[Figure]] = {id: [] for id in self.steps}
        for figure in self.figures:
            found[figure.step].append(figure)
        return found

    @cached_property
    def first_slip(self) -> Figure | None:
        return next((figure for figure in self.figures if figure.verdict == SLIP), None)

    @property
    def is_right(self) -> bool:
        """Whether every figure is correct, or follows from what was written before it."""
        return not any(count for verdict, count in self.counts.items() if verdict in FAULTS)


def marked(
    solution: Solution, answers: Answers, rule: Rule, places: Mapping[str, int] | None = None,
    others: Collection[tuple[str, int, int]] = (),
) -> Marking:  # fmt: skip
    """The verdict on each written figure.

    `places` are the decimals asked for, by step id, where they are not those of the step: of figures that were printed
    elsewhere, as many as they were printed with. `others` are figures (step, row, column) that follow by another way
    than that of the solution.
    """
    asked = {id: (places or {}).get(id, step.places) for id, step in solution.steps.items()}
    standing = Standing(asked, rule)
    # The same where slips were of the pen alone, and what follows was worked from the right figures: nobody is failed
    # twice for one. And where somebody works with a decimal less than is asked for.
    meant, shorter = standing, Standing({id: max(0, each - 1) for id, each in asked.items()}, rule)
    steps: dict[str, Marked] = {}
    for id, step in solution.steps.items():
        apart = () if meant is standing else (meant,)
        written = answers.figures.get(id)
        if written is None:
            for each in (standing, *apart, shorter):
                each.leave_out(step)
            continue
        written = _hidden(written, step)
        other = np.array([[(id, i, j) in others for j in range(step.shape[1])] for i in range(step.shape[0])])
        marked = steps[id] = _step(step, solution, written, other, standing, meant, shorter)
        stand = _stand(marked, (marked.follows, marked.as_meant), standing.instead(step), rule)
        slips = marked.verdicts == SLIP
        if slips.any() and meant is standing:
            meant = standing.copy()
        if meant is not standing:
            instead = meant.instead(step)
            stand_meant = _stand(marked, (marked.as_meant, marked.follows), instead, rule)
            meant.put(id, chosen(slips | marked.from_slips, instead, stand_meant))
        standing.put(id, stand)
        shorter.put(id, stand)
    return Marking(answers.name, solution, steps, standing.bounds, {})


def _hidden(written: Writings, step: Step) -> Writings:
    """The figures as they were written; a large number below 0 for a hidden score is -∞."""
    found = written.copy()
    for i, j in np.argwhere(np.isneginf(step.values) & (values_of(written)[0] <= HIDDEN)).tolist():
        found[i, j] = found[i, j]._replace(value=-np.inf, decimals=None)
    return found


def follow(step: Step, read: Values, follows: Bounds, asked: int, rule: Rule) -> Flags:
    """Which written figures are within half a unit of what some figures give that stand before them; weights that were
    made to add up to 1, within one unit more. Exact ones, as 1/3, are judged as they would be written."""
    slack = half_units(read.decimals, asked) + moved(step, follows, asked, rule)
    return within(as_shown(*read, asked), follows, slack, step.noise)


def _step(
    step: Step, solution: Solution, written: Writings, other: Flags, standing: Standing, meant: Standing,
    shorter: Standing,
) -> Marked:  # fmt: skip
    asked, rule = standing.asked[step.id], standing.rule
    full, follows = _in_full_precision(solution, step), standing.follows(step)
    exact = full.values
    read = values, decimals = values_of(written)
    judged, half = as_shown(values, decimals, asked), half_units(decimals, asked)

    def is_figure(of: Step) -> Flags:
        """Which are within half a unit of a step's, or the same once both are rounded."""
        alike = rounded(judged, asked, rule.ties) == rounded(of.values, asked, rule.ties)
        return np.asarray(within(judged, exactly(of.values), half, of.noise) | (alike & (not standing.is_count(step))))

    right = is_figure(full)
    following = follow(step, read, follows, asked, rule)
    if meant is not standing:  # one operand's slip was used, and another's was of the pen alone
        ways = product(*zip(standing.operands(step), meant.operands(step), strict=True))
        following |= np.any([follow(step, read, step.bounds([*way], asked), asked, rule) for way in ways], axis=0)
    as_meant = meant.follows(step) if meant is not standing else follows
    intended = follow(step, read, as_meant, asked, rule) | is_figure(step)  # or the key's
    if isinstance(step, Reduce) and step.over == "start":  # each may go on from the one before it, as it was written
        own = chosen(~np.isnan(values), Bounds(values - half, values, values + half), follows)
        following |= within(judged, step.running_bounds(standing.operands(step), own, asked), half)
    following &= standing.allows(step, judged)
    intended &= meant.allows(step, judged)
    short = (decimals == asked - 1) & (values != 0)
    near_intended = within(values, exactly(exact), 10 * half) | follow(step, read, as_meant, asked - 1, rule)
    near_own = near_intended | follow(step, read, follows, asked - 1, rule)
    near = near_own | follow(step, read, shorter.follows(step), asked - 1, rule)
    # The key keeps more decimals than were asked for where fewer would lose the figure: nobody else need.
    enough = short & near_own & (asked == step.places) & (decimals >= rule.places(step.id))
    verdicts = _first({
        CORRECT: right, FOLLOWS: following | intended | enough | other, IMPRECISE: short & near,
        SLIP: ~np.isnan(values), BLANK: _that(written, "is_blank"), INVALID: _that(written, "is_invalid"),
    })  # fmt: skip
    from_slips = np.isin(verdicts, [FOLLOWS, IMPRECISE]) & ~intended & ~(short & near_intended) & ~other
    from_slips &= (verdicts == SLIP).any(axis=1, keepdims=True) | (meant is not standing)
    return Marked(step, written, read, verdicts, exact, follows, as_meant, from_slips, asked)


def _first(flags: Mapping[str, Flags]) -> NDArray[np.object_]:
    """Of each figure the first verdict that is true of it; "" where none is."""
    return np.select([*flags.values()], [*flags], default="").astype(object)


def _that(written: Writings, says: str) -> Flags:
    return np.array([[getattr(each, says, False) for each in row] for row in written], dtype=bool)


def _in_full_precision(solution: Solution, step: Step) -> Step:
    """The same step where nothing is rounded on the way; itself where that chose otherwise, and has none like it."""
    exact = (solution.exact or solution).steps.get(step.id, step)
    return exact if exact.shape == step.shape else step


def _stand(marked: Marked, origins: tuple[Bounds, Bounds], instead: Bounds, rule: Rule) -> Bounds:
    """What stands for a written step in the steps after it, and something `instead` where nothing was written: the
    figures as they were written; or, of one that is right or follows, what it was rounded from, which is the exact
    figure or lies where that follows, by the first of two `origins` that it follows from; of others, whatever rounds to
    it."""
    step, asked = marked.step, marked.places
    follows_first, follows_other = (follow(step, marked.read, each, asked, rule) for each in origins)
    follows = chosen(follows_first, *origins)
    values, decimals = marked.read
    is_right = marked.verdicts == CORRECT
    source = chosen(is_right, _with(follows, marked.exact), follows)
    known = is_right | ((marked.verdicts == FOLLOWS) & (follows_first | follows_other))
    is_choice = (decimals == 0) & step.is_whole | np.isinf(values)  # an id; what is hidden
    short = np.isin(marked.verdicts, [FOLLOWS, IMPRECISE]) & (decimals < asked) & ~known
    half = np.where(is_choice, 0.0, half_units(decimals, np.where(short, decimals, asked)))
    unit = moved(step, follows, asked, rule)
    with np.errstate(invalid="ignore", over="ignore"):
        nobody_rounds = (follows.low == follows.high) & (np.abs(values - follows.value) <= TIE * half)
        # Somebody may keep one decimal more; a weight that was made to add up to 1 may be used as it was, rounded.
        seen = _about(source, np.where(unit > 0, 0.5, 0.05) * 10.0**-asked)
        rounds_to_it = _about(exactly(values), half + unit)
        unknown = _about(exactly(values), half + np.where(short, moved(step, follows, asked - 1, rule), 0.0))
        origin = Bounds(np.clip(seen.low, rounds_to_it.low, None), values, np.clip(seen.high, None, rounds_to_it.high))
        own = _with(chosen(known, _with(origin, values), unknown), as_shown(values, decimals, asked))
    return chosen(~np.isnan(values), chosen(nobody_rounds, exactly(values), own), instead)


def _about(bounds: Bounds, by: Floats | float) -> Bounds:
    return Bounds(bounds.low - by, bounds.value, bounds.high + by)


def _with(bounds: Bounds, values: Floats) -> Bounds:
    """Bounds that hold these figures too."""
    return Bounds(np.minimum(bounds.low, values), bounds.value, np.maximum(bounds.high, values))
