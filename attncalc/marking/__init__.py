"""Marking: written figures against a solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attncalc.marking.answers import Answers, answers_of, published
from attncalc.marking.methods import named
from attncalc.marking.verdicts import Figure, Marked, Marking, marked
from attncalc.mechanisms import solve
from attncalc.problem import Problem
from attncalc.solution import Solution

__all__ = ["Answers", "Figure", "Marked", "Marking", "mark", "mark_answers"]


def mark(problem: Problem, answers: Mapping[str, Any] | None = None) -> Marking:
    """The verdict on each figure of `answers`: by step id, numbers, texts, NumPy arrays, or lists of these; of None,
    on those that the problem says were published.

    Raises ProblemError for figures of another shape than their step's, and for a step that the problem has not.
    """
    solution = solve(problem)
    if answers is None:
        return mark_answers(problem, solution, published(problem, solution), printed=True)
    return mark_answers(problem, solution, answers_of(answers, solution))


def mark_answers(problem: Problem, solution: Solution, answers: Answers, *, printed: bool = False) -> Marking:
    """The same for answers that are read already. Figures that were `printed` elsewhere have as many decimals as each
    step was printed with, unless the problem says how many are asked for."""
    places = _printed(problem, solution, answers) if printed else {}
    marking = marked(solution, answers, problem.show.rule, places)
    return replace(marking, methods=named(problem, marking, places))


def _printed(problem: Problem, solution: Solution, answers: Answers) -> dict[str, int]:
    """The decimals of each step whose number is not asked for: the most that one of its figures was printed with; of a
    step that was not printed, the most of all."""
    most = {id: _most_decimals(figures) for id, figures in answers.figures.items()}
    of_all = max(most.values(), default=0)
    return {id: most.get(id, of_all) for id in solution.steps if not problem.show.rule.says(id)}


def _most_decimals(figures: Any) -> int:
    return max((each.decimals or 0 for each in np.ravel(figures) if each is not None), default=0)
