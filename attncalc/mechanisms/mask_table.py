"""A mask by itself: who may look at whom, what is added to the scores, and what it does to given weights."""

from __future__ import annotations

from typing import Any

from attncalc.expr import name
from attncalc.mechanisms import masks
from attncalc.mechanisms.attention import masked_scores
from attncalc.mechanisms.softmax import renormalised, softmax
from attncalc.problem import Show
from attncalc.problem.mask_table import MaskTable
from attncalc.sheet import Sheet
from attncalc.steps import Step


def mask_table(sheet: Sheet, given: MaskTable, show: Show) -> Step:
    """The causal mask over n positions, n × n; with scores or weights, the weights before it and after it."""
    visible = masks.causal(given.size)
    labels: dict[str, Any] = {"rows": given.tokens, "columns": given.tokens}
    sheet.convention("mask", "causal")
    with sheet.group("who"):
        see = sheet.given("visible", masks.kept(visible), symbol=name("M"), places=0, role="visibility", **labels)
    if given.A is not None:
        with sheet.group("given"):
            A = sheet.given("given_A", given.A, symbol=name("A_given"), role="weights", **labels)
        return renormalised(sheet, A, see)
    if given.S is None:
        with sheet.group("added"):
            return sheet.given("mask", masks.additive(visible), symbol=name("M"), places=0, role="mask", **labels)
    with sheet.group("given"):
        S = sheet.given("S", given.S, role="scores", **labels)
    with sheet.group("before", prefix="before"):
        softmax(sheet, S, shift=show.shift)
    return softmax(sheet, masked_scores(sheet, S), shift=show.shift)
