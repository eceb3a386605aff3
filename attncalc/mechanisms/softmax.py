"""Softmax, row by row."""

from __future__ import annotations

import numpy as np

from attncalc.expr import exp, name, slot
from attncalc.sheet import Sheet
from attncalc.steps import Step

_DIGITS = 1e15  # what float64 resolves: an e^x of more units than this would be printed with digits that mean nothing


def softmax(sheet: Sheet, scores: Step, *, shift: str = "needed") -> Step:
    """The weights e^x / Σ e^x of each row, n × m; a row of -∞ alone gets weights of 0.

    A row is shifted by its maximum, in steps of their own, where its largest e^x has more digits than float64 or is
    less than a unit (`needed`), or always (`max`). The weights are the same: the factor e^-max cancels.
    """
    with sheet.group("softmax", order="by row", function="softmax"):
        largest = scores.values.max(axis=1, keepdims=True)
        to_shift = np.isfinite(largest)
        if shift == "needed":
            unit = sheet.unit("exp")
            to_shift &= (largest > np.log(_DIGITS * unit)) | (largest < np.log(unit))
        x = scores
        if to_shift.any():
            row_max = sheet.reduce("row_max", "max", scores, symbol=name("m"))
            x = sheet.map("shifted", slot(0) - slot(1), scores, row_max, where=to_shift, symbol=name("S_shifted"))
        powers = sheet.map("exp", exp(slot(0)), x, symbol=name("E"), role="exponentials")
        return _shares(sheet, powers)


def renormalised(sheet: Sheet, weights: Step, keep: Step) -> Step:
    """Each row of given weights cut down to what `keep` (1 or 0) leaves, and divided by what is left, n × m."""
    with sheet.group("renormalise", order="by row"):
        return _shares(sheet, sheet.map("kept", slot(0) * slot(1), weights, keep, symbol=name("A_kept")))


def _shares(sheet: Sheet, parts: Step) -> Step:
    total = sheet.reduce("row_sum", "sum", parts, symbol=name("r"))
    return sheet.map("A", slot(0) / slot(1), parts, total, role="weights", rows_sum_to_one=True)

