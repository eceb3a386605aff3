"""Which draws make a fair exercise: none degenerate, none that hides a mistake, none whose digits hang on a habit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncalc.errors import UsageError
from attncalc.exercises.batches import Batch, any_of, has_flat_matrices, has_like_matrices, has_like_rows, is_plain
from attncalc.exercises.habits import EXACT, Habit, Many, digits, habits, worked
from attncalc.marking.catalogue import WRONG
from attncalc.mechanisms import solve
from attncalc.problem import Problem
from attncalc.problem.fitness import is_its_transpose
from attncalc.rounding import Flags, Floats
from attncalc.solution import Solution
from attncalc.steps import Contract, Given, Step

Asked: TypeAlias = Callable[[Solution], Mapping[str, Flags]]  # which figures are asked for, by step

# Why a draw is refused; "method" is followed by the key of a known wrong method that gives the right figures.
DEGENERATE, SYMMETRIC, NEAR_TIE, HABITS, METHOD = "degenerate", "symmetric", "near_tie", "habits", "method"
WHY = {  # in words
    DEGENERATE: "something is 0 throughout, all alike, or without variance",
    SYMMETRIC: "a matrix is symmetric, or the same as another, so that a swap would not show",
    NEAR_TIE: "a figure that is asked for is near a tie of rounding",
    HABITS: "those who round at each step and those who do not would write other digits",
    METHOD: "a known wrong method gives the right figures",
}
NEAR = 0.02  # of a unit: figures so near to a tie are not asked for
# How long it takes to draw and look at a matrix, to compute a figure that is no sum of products, and to work by the
# habits as well: measured in products of a sum, the longest time of some problems.
A_MATRIX, A_FIGURE, BY_HAND = 2800, 16, 8
RARE = 0.05  # of draws: a method that changes the digits of fewer can't be told from the right one here
ENOUGH = 0.02  # of draws: so many must be fair to some steps for these to be asked together


class Test(NamedTuple):
    """A reason to refuse draws, and which of them fail."""

    reason: str
    fails: Callable[[Batch], Flags]


@dataclass(frozen=True, eq=False)
class Wrong:
    """A known wrong way: the steps to work anew after those of the right way, and those of them that are asked for."""

    key: str
    steps: tuple[Step, ...]
    asked: tuple[Step, ...]


class Judge:
    """Judges draws of one problem, many at a time. `problem` is an example of them: its steps are those of each."""

    def __init__(self, problem: Problem, asked: Asked) -> None:
        self._problem = problem.with_show(rounding="exact")
        self.solution = solve(self._problem)
        self.steps = self.solution.steps
        self.asked = {id: flags for id, flags in asked(self.solution).items() if flags.any()}
        if not self.asked:
            raise UsageError("no figure is asked for", "ask for one at least")
        needed = _leading_to(self.steps, self.asked)
        self._needed = tuple(step for id, step in self.steps.items() if id in needed)
        self._asked = tuple(step for step in self._needed if step.id in self.asked)
        self._habits = habits(problem.show.rule)
        self._wrong: tuple[Wrong, ...] = ()

    @cached_property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Of the drawn matrices, by path."""
        given = [step.matrix for step in self.steps.values() if isinstance(step, Given)]
        return {m.drawn: (m.values.shape[0], m.values.shape[1]) for m in given if m.drawn}

    @cached_property
    def figures(self) -> int:
        """How many there are in the steps that are judged, and are others in each draw; 1 where none are, as where
        weights are asked for, and the values alone are drawn."""
        return max(1, sum(step.values.size for step in self._changing))

    def cost(self, reason: str) -> int:
        """How long it takes, about, to refuse a draw for this reason, in products of a sum."""
        times = 1 if reason in (DEGENERATE, SYMMETRIC, NEAR_TIE) else BY_HAND
        return self._cost_of_matrices + self._cost_of_steps * times

    @cached_property
    def _cost_of_matrices(self) -> int:
        """Of their draws, and their ranks, which take as long as the product of each with itself."""
        return sum(A_MATRIX + rows * columns * min(rows, columns) for rows, columns in self.shapes.values())

    @cached_property
    def _cost_of_steps(self) -> int:
        factors = (step.operands[0].shape[1] if isinstance(step, Contract) else A_FIGURE for step in self._changing)
        return sum(step.values.size * factor for step, factor in zip(self._changing, factors, strict=True))

    @cached_property
    def _changing(self) -> list[Step]:
        """The steps that rest on a drawn matrix."""
        found: dict[str, Step] = {}
        for step in self._needed:
            of_draw = step.matrix.drawn if isinstance(step, Given) else any(each.id in found for each in step.operands)
            if of_draw:
                found[step.id] = step
        return list(found.values())

    def consider(self, drawn: Many, examples: Iterable[Problem]) -> None:
        """Take up the known wrong methods that these draws can be asked about: those that give other digits to some.

        Each goes the way of that example in which it changes most: not every one can be gone in all, as where the
        scores of a row add up to 0.
        """
        _, batch = self._first_failing(self._batch(drawn), self._plain_tests)
        if not batch.size:
            return
        exact = [self._problem, *(problem.with_show(rounding="exact") for problem in examples)]
        solved = [(problem, solve(problem)) for problem in exact]
        alike = [(problem, solution) for problem, solution in solved if solution.steps.keys() == self.steps.keys()]
        found = []
        for key, method in WRONG.items():
            ways = (self._way(key, method(*each), each[1]) for each in alike)
            wrong = max(ways, key=lambda way: len(way.steps))
            if wrong.asked and np.mean(~self._gives_the_same(wrong, batch)) > RARE:
                found.append(wrong)
        self._wrong = tuple(found)

    def verdicts(self, drawn: Many) -> list[str]:
        """Why each draw is refused, the first reason that is found; "" where it is not."""
        return self.judged([drawn])[0]

    def judged(self, parts: Iterable[Many]) -> tuple[list[str], Many]:
        """The same of draws that come in parts, and the draws themselves that are not refused.

        Of a part few are left for the tests of habits and methods, which judge those of all parts together.
        """
        first = [
            (found, batch.drawn) for drawn in parts
            for found, batch in [self._first_failing(self._batch(drawn), self._plain_tests)]
        ]  # fmt: skip
        reasons = np.concatenate([found for found, _ in first])
        left = {path: np.concatenate([drawn[path] for _, drawn in first], axis=-1) for path in first[0][1]}
        others = [*self._tests_of_habits, *self._tests_of_methods]
        reasons[reasons == ""], good = self._first_failing(self._batch(left), others)
        return reasons.tolist(), good.drawn

    def less(self, drawn: Many) -> list[str]:
        """Some of the steps that are asked for, by id, that enough of these draws are fair to: the result first, then
        weights, then those that are rarely unfair."""
        batch = self._batch(drawn)
        enough = ENOUGH * batch.size
        _, batch = self._first_failing(batch, self._tests_of_figures)
        if not batch.size:
            return []
        unfair = {step.id: self._is_near_a_tie_at(step, batch) for step in self._asked}
        for habit in self._habits:
            figures = worked(self._needed, batch.drawn, habit)
            for step in self._asked:
                unfair[step.id] |= self._is_other_at(step, figures[step.id], batch, habit)
        found: list[str] = []
        left = np.ones(batch.size, dtype=bool)
        for step in sorted(self._asked, key=lambda step: self._rank(step, unfair[step.id])):
            still = left & ~unfair[step.id]
            if np.count_nonzero(still) > enough:
                found, left = [*found, step.id], still
        return [step.id for step in self._asked if step.id in found]

    def _rank(self, step: Step, unfair: Flags) -> tuple[bool, bool, int]:
        return step.id != self.solution.result.id, not step.rows_sum_to_one, int(np.count_nonzero(unfair))

    def _batch(self, drawn: Many) -> Batch:
        return Batch(drawn, self._needed, self.asked)

    def _first_failing(self, batch: Batch, tests: Iterable[Test]) -> tuple[NDArray[Any], Batch]:
        """The reason of the first test that each draw fails, and those that fail none."""
        reasons = np.full(batch.size, "", dtype=object)
        left = np.arange(batch.size)
        for reason, fails in tests:
            if not left.size:
                break
            bad = fails(batch)
            reasons[left[bad]] = reason
            left, batch = left[~bad], batch.only(~bad)
        return reasons, batch

    @property
    def _plain_tests(self) -> list[Test]:
        """What can be seen without another habit or method; the cheapest first."""
        return [*self._tests_of_figures, Test(NEAR_TIE, self._is_near_a_tie)]

    @property
    def _tests_of_figures(self) -> list[Test]:
        """What has nothing to do with digits."""
        return [
            Test(DEGENERATE, has_flat_matrices), Test(SYMMETRIC, has_like_matrices),
            Test(DEGENERATE, self._is_pointless), Test(SYMMETRIC, self._is_the_same_swapped),
        ]  # fmt: skip

    @property
    def _tests_of_habits(self) -> Iterator[Test]:
        return (Test(HABITS, partial(self._differs, habit)) for habit in self._habits)

    @property
    def _tests_of_methods(self) -> Iterator[Test]:
        return (Test(f"{METHOD}:{wrong.key}", partial(self._gives_the_same, wrong)) for wrong in self._wrong)

    def _is_pointless(self, batch: Batch) -> Flags:
        """Products or asked results that are 0 everywhere, or whose rows are all alike as they are shown: who has
        worked one has worked them all; weights all alike or all on one, rows without variance."""
        bad = np.zeros(batch.size, dtype=bool)
        for step in self._needed:
            figures = batch.exact[step.id]
            if not np.isfinite(figures).all() and step in self._asked:
                bad |= np.isnan(figures).any(axis=(0, 1))
            if isinstance(step, Contract) or step.role == "activated" or step in self._asked:
                bad |= (figures == 0).all(axis=(0, 1))
            if (isinstance(step, Contract) or step in self._asked) and step.shape[0] > 1:
                bad |= has_like_rows(step, figures)
            if step.role in ("variance", "mean_square"):
                bad |= (figures < 1e-9).any(axis=(0, 1))
            if step.rows_sum_to_one and not isinstance(step, Given):
                bad |= is_plain(figures, step.places).any(axis=0)
        return bad

    def _is_the_same_swapped(self, batch: Batch) -> Flags:
        """Scores that are their own transpose."""
        bad = np.zeros(batch.size, dtype=bool)
        for step in self._needed:
            if step.role == "scores":
                bad |= is_its_transpose(batch.exact[step.id])
        return bad

    def _is_near_a_tie(self, batch: Batch) -> Flags:
        return any_of(batch, (self._is_near_a_tie_at(step, batch) for step in self._asked))

    def _is_near_a_tie_at(self, step: Step, batch: Batch) -> Flags:
        figures = batch.exact[step.id][self.asked[step.id]]
        with np.errstate(invalid="ignore"):
            units = np.abs(figures) * 10.0**step.places
            return np.asarray((np.abs(units - np.floor(units) - 0.5) < NEAR).any(axis=0))

    def _differs(self, habit: Habit, batch: Batch) -> Flags:
        """Whether a habit writes other digits somewhere."""
        return self._others(self._asked, worked(self._needed, batch.drawn, habit), batch, habit)

    def _gives_the_same(self, wrong: Wrong, batch: Batch) -> Flags:
        """Whether a wrong method writes the right digits everywhere."""
        return ~self._others(wrong.asked, worked(wrong.steps, batch.drawn, known=batch.exact), batch)

    def _others(self, steps: Iterable[Step], figures: Many, batch: Batch, habit: Habit = EXACT) -> Flags:
        return any_of(batch, (self._is_other_at(step, figures[step.id], batch, habit) for step in steps))

    def _is_other_at(self, step: Step, figures: Floats, batch: Batch, habit: Habit = EXACT) -> Flags:
        here = digits(self.steps[step.id], figures[self.asked[step.id]], habit)
        return np.asarray((here != batch.written[step.id]).any(axis=0))

    def _way(self, key: str, way: Mapping[str, Step], solution: Solution) -> Wrong:
        """What of a wrong way is other than on the right one, and leads to what is asked."""
        comparable = [id for id in self.asked if id in way and way[id].shape == self.steps[id].shape]
        needed = _leading_to(way, comparable)
        right = {step.id for step in self._needed if way.get(step.id) is solution.steps[step.id]}
        other: dict[str, Step] = {}
        for id, step in way.items():
            if id in needed and (id not in right or any(operand.id in other for operand in step.operands)):
                other[id] = step
        return Wrong(key, tuple(other.values()), tuple(other[id] for id in comparable if id in other))


def _leading_to(steps: Mapping[str, Step], ids: Iterable[str]) -> set[str]:
    """The ids of these steps and of all that they rest on, by id."""
    found: set[str] = set()
    waiting = list(ids)
    while waiting:
        id = waiting.pop()
        if id not in found:
            found.add(id)
            waiting += [operand.id for operand in steps[id].operands]
    return found
