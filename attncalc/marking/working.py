"""A marked step as whoever wrote the figures before it had to work it: from those figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attncalc.digits import as_text, decimals_in
from attncalc.marking.verdicts import Marking
from attncalc.rounding import Texts
from attncalc.steps import Given, Matrix, Step


def as_written(marking: Marking, id: str) -> Step:
    """The step of this id, n × m, with what stands for its operands in their place, as text, and what follows."""
    marked = marking.steps[id]
    operands = tuple(_stood(marking, operand) for operand in marked.step.operands)
    # What the figures give, not what makes a row of weights add up to 1; nothing of it is rounded yet.
    step = replace(marked.step, operands=operands, places=marked.places, rows_sum_to_one=False, is_rounded=False)
    step.unrounded = step.worked()
    step.values = marked.follows.value if step.written is None else step.unrounded  # a copy is a copy of what is shown
    step.decimals = step.own_decimals
    return step


def _stood(marking: Marking, step: Step) -> Step:
    """What stands for a step: itself, where nothing else was written; else its figures as given ones."""
    values = marking.stands[step.id].value
    written = marking.steps.get(step.id)
    if written is None and np.array_equal(values, step.values):
        return step
    places = written.places if written else step.places
    texts: Texts = as_text(values, places)
    if written:
        own, decimals = written.read
        for each in np.unique(decimals[np.isfinite(decimals) & ~np.isnan(own)]):
            those = (decimals == each) & ~np.isnan(own)
            texts[those] = as_text(own[those], int(each), bare=False)
    printed = np.reshape([_value_of(text) for text in texts.flat], texts.shape)  # not what it was before it was rounded
    stood = Given(
        id=step.id, symbol=step.symbol, rows=step.rows, columns=step.columns, role=step.role, places=places,
        rows_sum_to_one=step.rows_sum_to_one, matrix=Matrix(printed, texts),
    )  # fmt: skip
    stood.values = printed
    decimals = np.reshape([decimals_in(text) for text in texts.flat], texts.shape)
    stood.exact = step.exact | (decimals < places)  # -1.0000 is -0.99998 rounded, so what it gives is -1.00
    stood.decimals = stood.own_decimals
    return stood


def _value_of(text: str) -> float:
    return float(text.replace("∞", "inf").replace("?", "nan"))
