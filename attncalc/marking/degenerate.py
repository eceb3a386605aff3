"""Rows that were written too simple: all 0, or all the weight on one figure, where the right row is neither. What
follows from such a row counts as right, and is easier to work than it should be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attncalc.marking.verdicts import CORRECT, FOLLOWS, SLIP, Marked, Marking
from attncalc.rounding import Flags, Floats, rounded

ONE_WEIGHT, ALL_ZERO = "one_weight", "all_zero"


class Degenerate(NamedTuple):
    """Rows (from 0) of a step that are of one kind, and the `later` steps where something follows from them."""

    step: str
    kind: str
    rows: tuple[int, ...]
    later: tuple[str, ...]


def degenerate(marking: Marking, id: str) -> list[Degenerate]:
    """The degenerate rows of a written step, of each kind, where something was written that follows from them."""
    marked = marking.steps[id]
    found = []
    for kind, rows in _kinds(marked):
        later = _following(marking, id, rows)
        if later:
            found.append(Degenerate(id, kind, tuple(np.flatnonzero(rows).tolist()), later))
    return found


def _kinds(marked: Marked) -> list[tuple[str, Flags]]:
    """Which rows that hold a slip are of each kind, and are not so in the solution."""
    written, right = marked.read.values, rounded(marked.exact, marked.places)
    wrong = (marked.verdicts == SLIP).any(axis=1)
    kinds = [(ALL_ZERO, wrong & ~written.any(axis=1) & right.any(axis=1))]  # nan, where nothing is written, is not 0
    if marked.step.rows_sum_to_one:
        kinds.append((ONE_WEIGHT, wrong & _one_weight(written) & ~_one_weight(right)))
    return kinds


def _one_weight(values: Floats) -> Flags:
    others = (values == 0).sum(axis=1)
    return np.asarray((values == 1).any(axis=1) & (others == values.shape[1] - 1))


def _following(marking: Marking, id: str, rows: Flags) -> tuple[str, ...]:
    """The written steps where a figure follows that is worked from these rows of a step, not by way of another slip, or
    of a figure that is right all the same."""
    if not rows.any():
        return ()
    others = {each: np.isin(marked.verdicts, [SLIP, CORRECT]) for each, marked in marking.steps.items()}
    those = np.repeat(rows[:, None], marking.solution.steps[id].shape[1], axis=1)
    reached = marking.solution.reached({id: those}, but_by=others)
    follows = {each: marked.verdicts == FOLLOWS for each, marked in marking.steps.items()}
    return tuple(each for each, flags in follows.items() if (flags & reached[each]).any())
