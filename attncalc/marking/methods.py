"""Which slips are what a known wrong method gives: of a whole row or a whole step, or nothing is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from attncalc.marking.catalogue import CATALOGUE, WRONG, Way
from attncalc.marking.standing import followed, recomputed, values_of
from attncalc.marking.verdicts import BLANK, SLIP, Marked, Marking, follow
from attncalc.problem import Problem
from attncalc.rounding import Bounds, Flags, Floats, fits
from attncalc.solution import Solution
from attncalc.steps import Given, Step

# One slip that agrees with a wrong method may be a coincidence; so may two that are off by one unit.
FEWEST = 2
RARE = 0.04


def named(problem: Problem, marking: Marking, places: Mapping[str, int]) -> dict[tuple[str, int, int], str]:
    """The key of the method that gives each slip, by its step, row and column (from 0); of slips that none gives,
    nothing. `places` are the decimals asked for where they are not those of a step.

    Where several fit, that which gives the most figures of a step is named, the first of the catalogue's.
    """
    slips = {id: marked for id, marked in marking.steps.items() if (marked.verdicts == SLIP).sum() >= FEWEST}
    fitting: dict[str, list[tuple[str, Flags]]] = {id: [] for id in slips}
    for key, way in CATALOGUE.items() if slips else ():
        for id, where in _given_by(way(problem, marking.solution), problem, marking, slips, places):
            fitting[id].append((key, where))
    found: dict[tuple[str, int, int], str] = {}
    for id, each in fitting.items():
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
) -> Iterator[tuple[str, Flags]]:
    """The steps among `slips` that a wrong way changes, each with its slips that this way gives."""
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
        follows = followed(step, operands, asked)
        marked = marking.steps.get(id)
        has_place = marked is not None and marked.step.shape == step.shape  # for what was written
        if not has_place or isinstance(step, Given):
            stands[id] = recomputed(step, follows, asked, problem.show.rule)
        if has_place and id in slips:
            fitting = follow(step, slips[id].written, follows, asked, problem.show.rule)
            yield id, _agreeing(slips[id], fitting, follows)


def _is_other(step: Step, solution: Solution) -> bool:
    """Whether a step has other figures than the right one of its id, or there is none."""
    right = solution.steps.get(step.id)
    return right is not step and (right is None or not np.array_equal(right.values, step.values))


def _agreeing(marked: Marked, fitting: Flags, follows: Bounds) -> Flags:
    """Which slips the figures of a wrong method explain: those of a step that agrees with it whole, or of a whole row,
    but for what may well be a coincidence."""
    slips = marked.verdicts == SLIP
    agrees = fitting | np.isin(marked.verdicts, ["", BLANK])
    chances = np.where(slips, _chances(marked, follows), 1.0)
    rows = agrees.all(axis=1) & (slips.sum(axis=1) >= FEWEST) & (chances.prod(axis=1) < RARE)
    whole = agrees.all() & (slips.sum() >= FEWEST) & (chances.prod() < RARE)
    return np.asarray(slips & (rows[:, None] | whole))


def _chances(marked: Marked, follows: Bounds) -> Floats:
    """How many of the figures that are no further from the right one than what was written lie in these bounds too;
    where one is hidden and the other is not, one of two. Where all are whole numbers, so would others be."""
    written, right = values_of(marked.written)[0], marked.follows.value
    known = np.concatenate([each[np.isfinite(each)] for each in (written, right)])
    places = next((d for d in range(marked.places) if fits(known, d).all()), marked.places)
    with np.errstate(all="ignore"):
        off, wide = np.abs(written - right), follows.high - follows.low
        shares = (wide * 10.0**places + 1) / (2 * off * 10.0**places + 1)
    return np.where(np.isfinite(shares), np.minimum(shares, 1.0), 0.5)
