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


def softmax(sheet: Sheet, scores: Step, *, shift: str = "needed", id: str = "A", **about: Any) -> Step:
    """The weights e^x / Σ e^x of each row, n × m; a row of -∞ alone gets weights of 0. They may be called otherwise and
    play another part (`id`, and `about` as in every step).

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
        return shares(sheet, powers, id=id, **about)


def renormalised(sheet: Sheet, weights: Step, keep: Step) -> Step:
    """Each row of given weights cut down to what `keep` (1 or 0) leaves, and divided by what is left, n × m."""
    with sheet.group("renormalise", order="by row"):
        # What is kept, and its sum, keep the decimals that they were given with: a small weight is not lost.
        most = min(weights.decimals or 0, 12)
        places = {id: max(most, sheet.places(id)) for id in ("kept", "row_sum")}
        law, symbol = slot(0) * slot(1), sheet.symbol("A_kept")
        kept = sheet.map("kept", law, weights, keep, symbol=symbol, role="kept", places=places["kept"])
        total = sheet.reduce("row_sum", "sum", kept, symbol=sheet.symbol("r"), role="row_sum", places=places["row_sum"])
        return quotients(sheet, kept, total)


def shares(sheet: Sheet, parts: Step, *, total_id: str = "row_sum", id: str = "A", **about: Any) -> Step:
    """Each figure divided by the sum of its row, n × m."""
    total = sheet.reduce(total_id, "sum", parts, symbol=sheet.symbol("r"), role="row_sum")
    return quotients(sheet, parts, total, id=id, **about)


def quotients(sheet: Sheet, parts: Step, total: Step, *, id: str = "A", **about: Any) -> Step:
    """Each figure divided by that of its row, n × m: shares that add up to 1."""
    about = {"role": "weights", **about}
    return sheet.map(id, slot(0) / slot(1), parts, total, rows_sum_to_one=True, **about)


def tempered(sheet: Sheet, x: Step, temperature: tuple[float, str], role: str = "scaled") -> Step:
    """x / T, n × m: a softmax of it is flatter where T is above 1, and sharper below."""
    value, written = temperature
    with sheet.group("temperature"):
        law = slot(0) / number(value, written, "T")
        return sheet.map("scaled", law, x, symbol=Expr("tilde", x.symbol), role=role)


def softmax_alone(sheet: Sheet, given: Softmax, show: Show) -> Step:
    """`kind: softmax`: rows of scores, divided by a temperature and masked if the problem says so, then softmax."""
    rows, columns = Axis(given.tokens, "row"), Axis(given.vocabulary, "column")
    masks.conventions(sheet, given.mask)
    with sheet.group("given"):
        x = sheet.given("x", given.x, rows=rows, columns=columns, role="scores")
    if given.temperature:
        sheet.convention("temperature", "divides", value=given.temperature[1])
        x = tempered(sheet, x, given.temperature)
    if given.mask:
        with sheet.group("mask"):
            M = masks.added(sheet, given.mask, rows, columns, x.shape)
            x = sheet.map("masked", slot(0) + slot(1), x, M, symbol=sheet.symbol("x_masked"), role="masked")
            if given.masked_row == "error":
                masks.refuse_empty_rows(M, x.values > -np.inf)
    return softmax(sheet, x, shift=show.shift)
