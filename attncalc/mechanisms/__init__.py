"""Each mechanism of the Transformer as a short composition of steps, and `solve`, which works a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attncalc.mechanisms.attention import attention
from attncalc.mechanisms.mask_table import mask_table
from attncalc.problem import Problem, Show
from attncalc.sheet import Sheet
from attncalc.steps import Solution, Step

MECHANISMS: dict[str, Callable[[Sheet, Any, Show], Step]] = {"attention": attention, "mask": mask_table}


def solve(problem: Problem) -> Solution:
    """The worked solution; a carried one has the exact one beside it."""
    rule = problem.show.rule
    solution = _worked(problem)
    if rule.carried:
        solution.exact = _worked(problem.with_show(rounding="exact"))
    return solution


def _worked(problem: Problem) -> Solution:
    sheet = Sheet(problem.show.rule)
    MECHANISMS[problem.kind](sheet, problem.given, problem.show)
    return sheet.solution()
