"""Softmax, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.expr import Expr, exp, number, slot
from attncalc.mechanisms import masks
from attncalc.problem.softmax import Softmax
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step

_MOST, _LEAST = 1e12, 10  # units: an e^x of more is too long to write, and has digits that float64 does not; one of
# fewer has lost its digits to rounding


def softmax(sheet: Sheet, scores: Step, *, shift: str = "needed") -> Step:
    """The weights e^x / Σ e^x of each row, n × m; a row of -∞ alone gets weights of 0.

    A row is shifted by its maximum, in steps of their own, where its largest e^x has more than twelve digits, or is
    less than 1 and has fewer than two (`needed`), or always (`max`). The weights are the same: the factor e^-max
    cancels.
    """
    if shift == "max":
        sheet.convention("shift", "max")
    with sheet.group("softmax", order="by row", function="softmax"):
        largest = scores.values.max(axis=1, keepdims=True)
        to_shift = np.isfinite(largest)
        if shift == "needed":
            unit = sheet.unit("exp")
            to_shift &= (largest > np.log(_MOST * unit)) | (largest < np.log(min(_LEAST * unit, 1.0)))
        x = scores
        if to_shift.any():
            m = sheet.reduce("row_max", "max", scores, symbol=sheet.symbol("m"), role="row_max")
            law = slot(0) - slot(1)
            x = sheet.map("shifted", law, scores, m, where=to_shift, symbol=sheet.symbol("X"), role="shifted")
            if shift == "needed":
                sheet.remark("shifted", scores, x)
        powers = sheet.map("exp", exp(slot(0)), x, symbol=sheet.symbol("E"), role="exp")
        return _shares(sheet, powers)


def renormalised(sheet: Sheet, weights: Step, keep: Step) -> Step:
    """Each row of given weights cut down to what `keep` (1 or 0) leaves, and divided by what is left, n × m."""
    with sheet.group("renormalise", order="by row"):
        # What is kept, and its sum, keep the decimals that they were given with: a small weight is not lost.
        most = min(weights.decimals or 0, 12)
        places = {id: {"places": max(most, sheet.places(id))} for id in ("kept", "row_sum")}
        law, symbol = slot(0) * slot(1), sheet.symbol("A_kept")
        kept = sheet.map("kept", law, weights, keep, symbol=symbol, role="kept", **places["kept"])
        return _shares(sheet, kept, **places["row_sum"])


def _shares(sheet: Sheet, parts: Step, **about: Any) -> Step:
    total = sheet.reduce("row_sum", "sum", parts, symbol=sheet.symbol("r"), role="row_sum", **about)
    return sheet.map("A", slot(0) / slot(1), parts, total, role="weights", rows_sum_to_one=True)


def softmax_alone(sheet: Sheet, given: Softmax, show: Show) -> Step:
    """`kind: softmax`: rows of scores, divided by a temperature and masked if the problem says so, then softmax."""
    rows, columns = Axis(given.tokens, "row"), Axis(given.vocabulary, "column")
    masks.conventions(sheet, given.mask)
    with sheet.group("given"):
        x = sheet.given("x", given.x, rows=rows, columns=columns, role="scores")
    if given.temperature:
        value, written = given.temperature
        sheet.convention("temperature", "divides", value=written)
        with sheet.group("temperature"):
            law = slot(0) / number(value, written, "T")
            x = sheet.map("scaled", law, x, symbol=Expr("tilde", x.symbol), role="scaled")
    if given.mask:
        with sheet.group("mask"):
            M = masks.added(sheet, given.mask, rows, columns, x.shape)
            x = sheet.map("masked", slot(0) + slot(1), x, M, symbol=sheet.symbol("x_masked"), role="masked")
            if given.masked_row == "error":
                masks.refuse_empty_rows(M, x.values > -np.inf)
    return softmax(sheet, x, shift=show.shift)
