"""Our own solutions, as they are printed, handed in as answers: nothing in them is a slip."""

import itertools
from dataclasses import replace

import pytest
from students import Exercise, exercises

from attncalc.digits import shown
from attncalc.errors import AttncalcError
from attncalc.marking import answers_of, mark_answers

WAYS = [
    {"rounding": rounding, "ties": ties, "weights": weights, "numbers": numbers}
    for rounding, ties, weights, numbers in itertools.product(
        ("exact", "carried"), ("half-up", "half-even"), ("plain", "sum-to-one"), ("trimmed", "fixed")
    )
]
EXERCISES = exercises(1, start=3)


@pytest.mark.parametrize("number", range(len(EXERCISES)), ids=lambda number: EXERCISES[number].name)
def test_what_is_printed_is_right(number: int):
    """A third of the ways for each, at 1 to 4 decimals."""
    for k in range(number % 3, len(WAYS), 3):
        read_back(EXERCISES[number], 1 + k % 4, WAYS[k])


def read_back(exercise: Exercise, decimals: int, way: dict[str, str]) -> None:
    exercise = replace(exercise, decimals=decimals, show=way)
    rule = exercise.problem.show.rule
    try:
        solution = exercise.solution
    except AttncalcError:  # figures that are carried may be divided by 0
        return
    texts = {id: shown(step, rule).tolist() for id, step in solution.steps.items()}
    marking = mark_answers(exercise.problem, solution, answers_of(texts, solution))
    wrong = [figure for figure in marking.figures if figure.verdict not in ("correct", "follows")]
    assert marking.is_right, (str(exercise), wrong[:3])
    assert len(marking.figures) == sum(step.values.size for step in solution.steps.values())
