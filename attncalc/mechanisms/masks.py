"""Who may look at whom: masks, as matrices of what is added to the scores or of what is kept of the weights."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from attncalc.digits import MINUS_INFINITY
from attncalc.errors import StepError
from attncalc.expr import Expr, slot, sum_of_slots
from attncalc.problem.masks import Mask
from attncalc.rounding import Flags
from attncalc.sheet import Sheet
from attncalc.steps import Axis, Matrix, OneOfTwo, Step


def causal(n: int, m: int, past: int = 0) -> Flags:
    """Query i, which stands at key i + past, sees the keys up to there, n × m (Vaswani et al. 2017, section 3.2.3)."""
    return np.arange(m)[None, :] <= np.arange(n)[:, None] + past


def window(n: int, m: int, past: int, before: int, after: int) -> Flags:
    """Query i sees the keys from `before` keys before its own to `after` after it, n × m (Beltagy et al. 2020,
    section 3.1)."""
    distance = np.arange(m)[None, :] - np.arange(n)[:, None] - past
    return (-before <= distance) & (distance <= after)


def parts(mask: Mask, n: int, m: int, head: int = 0) -> dict[str, Flags | Matrix]:
    """What a mask is made of, by name: what is visible, or (add) what is added to the scores; each n × m."""

    def of_head(matrices: tuple[Matrix, ...]) -> Matrix:
        return matrices[head if len(matrices) > 1 else 0]

    found: dict[str, Flags | Matrix] = {}
    if mask.causal:
        found["causal"] = causal(n, m, mask.past)
    if mask.window:
        found["window"] = window(n, m, mask.past, *mask.window)
    if mask.padding is not None:
        found["padding"] = np.broadcast_to(mask.padding.values == 1, (n, m))
    if mask.keep:
        found["keep"] = of_head(mask.keep).values == 1
    if mask.hide:
        found["hide"] = of_head(mask.hide).values == 0
    if mask.add:
        found["add"] = of_head(mask.add)
    return found


def visible(part: Flags | Matrix) -> Flags:
    """Where a part lets a query look."""
    return part.values > -np.inf if isinstance(part, Matrix) else part


def additive(part: Flags | Matrix) -> Matrix | OneOfTwo:
    """0 where a key is visible, -∞ where it is not; e^-∞ is 0."""
    return part if isinstance(part, Matrix) else OneOfTwo(part, (0.0, "0"), (-np.inf, MINUS_INFINITY))


def kept(part: Flags | Matrix) -> OneOfTwo:
    """1 where a key is visible, 0 where it is not."""
    return OneOfTwo(visible(part), (1.0, "1"), (0.0, "0"))


def is_per_head(mask: Mask) -> bool:
    return any(len(matrices) > 1 for matrices in (mask.keep, mask.hide, mask.add))


def added(sheet: Sheet, mask: Mask, rows: Axis, columns: Axis, shape: tuple[int, int], head: int = 0) -> Step:
    """M, what is added to the scores, n × m: the sum of its parts."""
    found = parts(mask, *shape, head)
    about: dict[str, Any] = {"rows": rows, "columns": columns, "role": "mask"}
    if not any(isinstance(part, Matrix) for part in found.values()):
        about["places"] = 0  # 0 and -∞ are no figures of the calculation
    matrices = {part: additive(each) for part, each in found.items()}
    return _whole(sheet, matrices, sum_of_slots(len(matrices)), "M", about)


def keeping(sheet: Sheet, mask: Mask, rows: Axis, columns: Axis, shape: tuple[int, int]) -> Step:
    """M_keep, 1 where a key is visible and 0 where it is not, n × m: the product of its parts."""
    about: dict[str, Any] = {"rows": rows, "columns": columns, "role": "keep", "places": 0}
    matrices = {part: kept(each) for part, each in parts(mask, *shape).items()}
    law = reduce(mul, map(slot, range(len(matrices))))
    return _whole(sheet, matrices, law, "M_keep", about)


def _whole(
    sheet: Sheet, matrices: Mapping[str, Matrix | OneOfTwo], law: Expr, letter: str, about: dict[str, Any]
) -> Step:
    """The mask, of one part or of several that are shown first."""
    if len(matrices) == 1:
        return sheet.given("mask", *matrices.values(), **{"symbol": sheet.symbol(letter), **about})
    steps = [
        sheet.given(f"mask.{part}", matrix, **{"symbol": sheet.symbol(f"M_{part}"), **about})
        for part, matrix in matrices.items()
    ]
    return sheet.map("mask", law, *steps, **{"symbol": sheet.symbol(letter), **about})


def refuse_empty_rows(step: Step, something: Flags) -> None:
    """`masked_row: error`: a row that may see nothing, or of whose weights nothing is left, is refused.

    `something`, n × m, says where a row has something left."""
    nothing = ~something.any(axis=1)
    if nothing.any():
        raise StepError(step.id, (int(nothing.argmax()),), "sees nothing", "change the mask, or say masked_row: zero")


def conventions(
    sheet: Sheet, mask: Mask, *, on_weights: bool = False, square: bool = True, of: str = ""
) -> None:  # fmt: skip
    """What a mask hides, part by part, for the head of the page; `square` where queries and keys are as many. `of`:
    which attention it is, where the page has others that may have a mask."""
    if not mask:
        sheet.convention(*(("no_mask", of) if of else ("mask", "none")))
        return
    sheet.convention("mask", "on_weights" if on_weights else "on_scores")
    if mask.causal:
        sheet.convention("causal", "plain" if square and not mask.past else "placed")
    if mask.window:
        sheet.convention("window", "keys", before=mask.window[0], after=mask.window[1])
    if (mask.causal or mask.window) and (mask.past or not square):
        sheet.convention("placed", "first", past=mask.past)
    for part in ("padding", "keep", "hide", "add"):
        if getattr(mask, part) not in (None, ()):
            sheet.convention(part, "given")
    if mask.read_as_hidden:
        sheet.convention("read_as_hidden", "figures", figures=list(mask.read_as_hidden))
