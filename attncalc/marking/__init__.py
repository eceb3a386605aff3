"""Marking: written figures against a solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from attncalc.errors import UsageError
from attncalc.marking.answers import Answers, answers_of, published
from attncalc.marking.methods import detours, named
from attncalc.marking.verdicts import Figure, Marked, Marking, marked
from attncalc.marking.written import Written
from attncalc.mechanisms import solve
from attncalc.problem import Problem
from attncalc.solution import Solution

MOST_FIGURES = 1_000_000  # of all steps, written or not: bounds of each are held
MARGIN = 250  # figures: what a step takes besides its own

__all__ = ["Answers", "Figure", "Marked", "Marking", "mark", "mark_answers"]


def mark(problem: Problem, answers: Mapping[str, Any] | None = None) -> Marking:
    """The verdict on each figure of `answers`: by step id, numbers, texts, NumPy arrays, or lists of these; of None,
    on those that the problem says were published.

    Raises ProblemError for figures of another shape than their step's, and for a step that the problem has not;
    UsageError for a problem that is too large.
    """
    solution = solve(problem)
    if answers is None:
        return mark_answers(problem, solution, published(problem, solution), printed=True)
    return mark_answers(problem, solution, answers_of(answers, solution))


def mark_answers(problem: Problem, solution: Solution, answers: Answers, *, printed: bool = False) -> Marking:
    """The same for answers that are read already. Figures that were `printed` elsewhere have as many decimals as each
    step was printed with, unless the problem says how many are asked for."""
    figures = sum(prod(step.shape) + MARGIN for step in solution.steps.values())
    if figures > MOST_FIGURES:
        what = f"a problem of {len(solution.steps)} steps, as long as {figures} figures, is more than there is room for"
        raise UsageError(what, f"give a part of it, as long as {MOST_FIGURES}")
    places = _printed(problem, solution, answers) if printed else {}
    marking = marked(solution, answers, problem.show.rule, places)
    others = detours(problem, marking, places)
    if others:
        marking = marked(solution, answers, problem.show.rule, places, others)
    return replace(marking, methods={**named(problem, marking, places), **others})


def _printed(problem: Problem, solution: Solution, answers: Answers) -> dict[str, int]:
    """The decimals of each step whose number is not asked for: those that it was printed with; of a step that was not
    printed, the most of all."""
    found = {id: _decimals_printed(figures) for id, figures in answers.figures.items()}
    of_all = max(found.values(), default=0)
    return {id: found.get(id, of_all) for id in solution.steps if not problem.show.rule.says(id)}


def _decimals_printed(figures: Any) -> int:
    """The most that one of the figures of a step has. One with an exponent has its own (6.03e-06 has eight), which say
    nothing of those beside it (9.82e-01): where no other figure has any, the fewest."""
    those: list[Written] = [each for each in np.ravel(figures) if each is not None]
    plain = [each.decimals or 0 for each in those if not each.has_exponent]
    own = [each.decimals or 0 for each in those if each.has_exponent]
    return max(plain, default=0) or min(own, default=0)
