"""A mask by itself: who may look at whom, what is added to the scores, and what it does to given weights."""

from __future__ import annotations

from attncalc.expr import name
from attncalc.mechanisms import masks
from attncalc.mechanisms.attention import Rules, masked_weights, weights
from attncalc.mechanisms.softmax import softmax
from attncalc.problem.attention import Scale
from attncalc.problem.mask_table import MaskTable
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step


def mask_table(sheet: Sheet, given: MaskTable, show: Show) -> Step:
    """A mask over n positions, n × n; with scores or weights, the weights before it and after it."""
    axis = Axis(given.tokens)
    shape = (given.size, given.size)
    masks.conventions(sheet, given.mask, on_weights=given.A is not None)
    if given.A is not None:
        with sheet.group("given"):
            A = sheet.given("given_A", given.A, symbol=name("A_given"), rows=axis, columns=axis, role="given_weights")
        return masked_weights(sheet, A, given.mask, refuse=False)
    with sheet.group("mask"):
        M = masks.added(sheet, given.mask, axis, axis, shape)
        sheet.remark("who", M)
    if given.S is None:
        return M
    with sheet.group("given"):
        S = sheet.given("S", given.S, rows=axis, columns=axis, role="scores")
    with sheet.group("before", prefix="before", mark="before"):
        before = softmax(sheet, S, shift=show.shift)
    A = weights(sheet, S, Rules(Scale("none"), mask=lambda _, __: M, shift=show.shift))
    sheet.remark("before_and_after", before, A, M)
    return A
