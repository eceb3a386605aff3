"""The honest habits of people who calculate by hand, and what each of them writes: many draws at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from attncalc import expr
from attncalc.expr import Expr
from attncalc.rounding import Floats, Rule, apportioned, is_whole, rounded
from attncalc.steps import Arrange, Given, Step

Many: TypeAlias = Mapping[str, Floats]  # figures of b draws, n × m × b, by the id of a step or the path of a matrix


class Habit(NamedTuple):
    """`carries`: each result is used as it is rounded; `constants` are (√2 as 1.41), and so is each part that is worked
    on the way (`parts`: the products of a sum); `adjusts`: rows of weights are made to add up to 1."""

    carries: bool = False
    constants: bool = False
    parts: bool = False
    ties: str = "half-up"
    adjusts: bool = False


EXACT = Habit()


def habits(rule: Rule) -> list[Habit]:
    """All of them but the exact one, those first that are likeliest to write other digits."""
    choices = product(("half-up", "half-even"), (True, False), (True, False), (True, False))
    found = [Habit(carries, constants, parts, ties) for ties, carries, parts, constants in choices]
    rounds = [habit for habit in found if habit.carries or habit.constants or habit.parts]
    adjusting = [habit._replace(adjusts=True) for habit in rounds if habit.carries]
    return rounds + adjusting if rule.weights == "sum-to-one" else rounds


def worked(steps: Iterable[Step], drawn: Many, habit: Habit = EXACT, known: Many | None = None) -> dict[str, Floats]:
    """What a habit uses for each step, by id, from the figures of the matrices that are drawn, by path, and those of
    `known` steps."""
    figures: dict[str, Floats] = dict(known or {})
    for step in steps:
        if isinstance(step, Given):
            figures[step.id] = drawn.get(step.matrix.drawn, step.values[..., None])
        else:
            figures[step.id] = _used(step, [figures[operand.id] for operand in step.operands], habit)
    return figures


def digits(step: Step, figures: Floats, habit: Habit = EXACT) -> Floats:
    """What is written of figures that are used, rounded."""
    return figures if habit.carries and not isinstance(step, Given) else rounded(figures, step.places, habit.ties)


def _used(step: Step, operands: list[Floats], habit: Habit) -> Floats:
    if habit.constants or habit.parts:
        result = step.recomputed(operands, partial(_by_hand, step=step, habit=habit))
    else:
        result = step.recomputed(operands)
    if not habit.carries or isinstance(step, Arrange):
        return result
    if habit.adjusts and step.rows_sum_to_one:
        return np.stack([apportioned(one, step.places, habit.ties) for one in np.moveaxis(result, -1, 0)], axis=-1)
    return rounded(result, step.places, habit.ties)


def _by_hand(law: Expr, figures: Any, step: Step, habit: Habit) -> Any:
    def constant(value: float) -> float:
        if not habit.constants or is_whole(value, step.places):
            return value
        return float(rounded(np.array(value), step.places, habit.ties)) or value

    def part(value: Any) -> Any:
        return rounded(value, step.places, habit.ties) if habit.parts else value

    return expr.by_hand(law, figures, constant, part)
