"""Choosing the largest figures of a row: so many of them, or as few as add up to a share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from attncalc.errors import StepError
from attncalc.expr import slot
from attncalc.mechanisms.softmax import shares
from attncalc.rounding import Floats
from attncalc.sheet import Sheet
from attncalc.steps import FILL, ONE, Numbers, Step

_BITS = 40  # figures that agree in so many are equal: the noise of float64 decides no choice


def largest(sheet: Sheet, x: Step, k: int) -> Step:
    """1 for the k largest figures of each row and 0 for the others, n × m; of equal ones, those that come first."""
    return _choice(sheet, partial(_largest, k), x)


def smallest_set(sheet: Sheet, x: Step, p: float) -> Step:
    """1 for the largest figures of each row whose sum reaches p, and no more of them than that takes, n × m (nucleus
    sampling: Holtzman et al. 2020, section 3.1); of equal ones, those that come first."""
    symbol = sheet.symbol("P_sorted")
    x_sorted = sheet.arrange("sorted", _sorted, x, x, choosers=1, symbol=symbol, rows=x.rows, role="sorted")
    symbol = sheet.symbol("P_cumulative")
    sums = sheet.reduce("cumulative", "sum", x_sorted, over="start", symbol=symbol, role="cumulative")
    return _choice(sheet, partial(_smallest_set, p), x, sums)


def kept(
    sheet: Sheet, x: Step, chosen: Step, *, id: str, letter: str, role: str, part_letter: str, renormalise: bool
) -> Step:  # fmt: skip
    """What is chosen of x and 0 elsewhere, n × m; divided by its sum if asked to. Raises StepError for a row of 0."""
    part_id, part_letter = (f"{id}.product", part_letter) if renormalise else (id, letter)
    about: dict[str, Any] = {"symbol": sheet.symbol(part_letter), "role": "kept" if renormalise else role}
    part = sheet.map(part_id, slot(0) * slot(1), x, chosen, **about)
    for i, row in enumerate(part.values):
        if not row.any():
            raise StepError(part.id, (i,), "is 0 everywhere, so that nothing is left", "show more decimals")
    if not renormalise:
        return part
    return shares(sheet, part, total_id=f"{id}.row_sum", id=id, symbol=sheet.symbol(letter), role=role)


def _choice(sheet: Sheet, sources: Any, *by: Step) -> Step:
    about: dict[str, Any] = {"rows": by[0].rows, "columns": by[0].columns}
    symbol = sheet.symbol("C")
    return sheet.arrange("chosen", sources, *by, choosers=len(by), symbol=symbol, role="chosen", **about)


def _order(x: Floats) -> Numbers:
    """The columns of each row, the largest figure first."""
    digits, exponents = np.frexp(x)
    return np.argsort(-np.ldexp(np.round(digits * 2.0**_BITS), exponents - _BITS), axis=1, kind="stable")


def _sorted(cells: Numbers, x: Floats) -> Numbers:
    return np.take_along_axis(cells, _order(x), axis=1)


def _largest(k: int, x: Floats) -> Numbers:
    return _marked(x, np.arange(x.shape[1])[None, :] < k)


def _smallest_set(p: float, x: Floats, sums: Floats) -> Numbers:
    reached = sums >= p - 2.0**-_BITS
    return _marked(x, np.hstack([np.ones((len(x), 1), dtype=bool), ~reached[:, :-1]]))


def _marked(x: Floats, ranks: Any) -> Numbers:
    """ONE at the figures of each row whose rank is marked, 1 × m or n × m, the largest first."""
    numbers = np.empty(x.shape, dtype=np.int64)
    np.put_along_axis(numbers, _order(x), np.where(np.broadcast_to(ranks, x.shape), ONE, FILL), axis=1)
    return numbers
