"""Which slips are what a known wrong method gives: of a whole row or a whole step, or nothing is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncalc.marking.catalogue import DETOURS, WRONG, Method, Way
from attncalc.marking.standing import half_units, recomputed, within
from attncalc.marking.verdicts import BLANK, SLIP, Marked, Marking, follow
from attncalc.problem import Problem
from attncalc.rounding import Bounds, Flags, Floats, fits
from attncalc.solution import Solution
from attncalc.steps import Given, Step

Methods: TypeAlias = dict[tuple[str, int, int], str]

# One slip that agrees with a wrong method may be a coincidence; so may two that are off by one unit.
FEWEST = 2
RARE = 0.04
MOST_COMPARED = 2**25  # figures of rows that are held against all others


def named(problem: Problem, marking: Marking, places: Mapping[str, int]) -> Methods:
    """The key of the wrong method that gives each slip, by its step, row and column (from 0); of slips that none gives,
    nothing. `places` are the decimals asked for where they are not those of a step.

    Where several fit, that which gives the most figures of a step is named, the first of the catalogue's.
    """
    return _giving(WRONG, problem, marking, places, FEWEST, RARE)


def detours(problem: Problem, marking: Marking, places: Mapping[str, int]) -> Methods:
    """The same of slips that another right way gives, so that they are none."""
    return _giving(DETOURS, problem, marking, places, 1, 1.0)


def _giving(
    methods: Mapping[str, Method], problem: Problem, marking: Marking, places: Mapping[str, int], fewest: int,
    chance: float,
) -> Methods:  # fmt: skip
    slips = {id: marked for id, marked in marking.steps.items() if (marked.verdicts == SLIP).sum() >= fewest}
    explained: dict[str, list[tuple[str, Flags]]] = {id: [] for id in slips}
    for key, way in methods.items() if slips else ():
        for id, fitting, follows in _given_by(way(problem, marking.solution), problem, marking, slips, places):
            explained[id].append((key, _agreeing(slips[id], fitting, follows, fewest, chance)))
    found: Methods = {}
    for id, each in explained.items():
        for key, where in sorted(each, key=lambda one: -np.count_nonzero(one[1])):
            for i, j in np.argwhere(where).tolist():
                found.setdefault((id, i, j), key)
    return found


def wrong_figures(problem: Problem, solution: Solution) -> dict[str, list[Floats]]:
    """The figures that each wrong method gives, n × m, of the steps that it changes; by step id, the first of the
    catalogue's first."""
    found: dict[str, list[Floats]] = {}
    for way in WRONG.values():
        for id, step in way(problem, solution).items():
            right = solution.steps.get(id)
            if right is not None and right.shape == step.shape and _is_other(step, solution):
                found.setdefault(id, []).append(step.values)
    return found


def _given_by(
    way: Way, problem: Problem, marking: Marking, slips: Mapping[str, Marked], places: Mapping[str, int]
) -> Iterator[tuple[str, Flags, Bounds]]:
    """The steps among `slips` that another way changes, each with those of its figures that this way gives, and where
    the figures of this way lie."""
    stands: dict[str, Bounds] = {}  # of steps that were not written, and are other ones on this way
    left = set(slips)
    for id, step in way.items():
        if not left:
            return
        left.discard(id)
        if not _is_other(step, marking.solution) and all(operand.id not in stands for operand in step.operands):
            continue
        asked = places.get(id, step.places)
        operands = [stands[each.id] if each.id in stands else marking.stands[each.id] for each in step.operands]
        follows = step.bounds(operands, asked)
        marked = marking.steps.get(id)
        has_place = marked is not None and marked.step.shape == step.shape  # for what was written
        if not has_place or isinstance(step, Given):
            stands[id] = recomputed(step, follows, asked, problem.show.rule)
        if has_place and id in slips:
            yield id, follow(step, slips[id].read, follows, asked, problem.show.rule), follows


def _is_other(step: Step, solution: Solution) -> bool:
    """Whether a step has other figures than the right one of its id, or there is none."""
    right = solution.steps.get(step.id)
    return right is not step and (right is None or not np.array_equal(right.values, step.values))


def _agreeing(marked: Marked, fitting: Flags, follows: Bounds, fewest: int, chance: float) -> Flags:
    """Which slips the figures of a method explain: those of a step that agrees with it whole, or of a whole row that is
    not another's; but for what may well be a coincidence."""
    slips = marked.verdicts == SLIP
    agrees = fitting | np.isin(marked.verdicts, ["", BLANK])
    chances = np.where(slips, _chances(marked, follows), 1.0)
    rows = agrees.all(axis=1) & (slips.sum(axis=1) >= fewest) & (chances.prod(axis=1) <= chance)
    rows[rows] = ~_misplaced(marked, np.flatnonzero(rows))
    whole = agrees.all() & (slips.sum() >= fewest) & (chances.prod() <= chance)
    return np.asarray(slips & (rows[:, None] | whole))


def _misplaced(marked: Marked, rows: NDArray[np.intp]) -> Flags:
    """Which of these rows are written as another row should be; all of them, where they are too many to be held against
    every other."""
    if len(rows) * marked.written.size > MOST_COMPARED:
        return np.ones(len(rows), dtype=bool)
    values, decimals = marked.read
    slack = half_units(decimals, marked.places)
    fits = [within(values[i], marked.follows, slack[i]).all(axis=1) for i in rows]
    return np.array([np.delete(each, i).any() for i, each in zip(rows, fits, strict=True)], dtype=bool)


def _chances(marked: Marked, follows: Bounds) -> Floats:
    """How many of the figures that are no further from the right one than what was written lie in these bounds too;
    where one is hidden and the other is not, one of two. Where all are whole numbers, so would others be."""
    written, right = marked.read.values, marked.follows.value
    known = np.concatenate([each[np.isfinite(each)] for each in (written, right)])
    places = next((d for d in range(marked.places) if fits(known, d).all()), marked.places)
    with np.errstate(all="ignore"):
        off, wide = np.abs(written - right), follows.high - follows.low
        shares = (wide * 10.0**places + 1) / (2 * off * 10.0**places + 1)
    return np.where(np.isfinite(shares), np.minimum(shares, 1.0), 0.5)
