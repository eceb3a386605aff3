"""A mask on the page: who may look at whom, in words and as a table, and weights before it beside those after it."""

from __future__ import annotations

import numpy as np

from attncalc import digits
from attncalc.blocks import Beside, Block, Items, Prose, Table
from attncalc.layout.page import Page
from attncalc.layout.readings import names, no_weights, query_name
from attncalc.rounding import Flags
from attncalc.steps import Step


def visible(mask: Step) -> Flags:
    """Where a mask lets a query look: what is added to scores, where it is not -∞; what is kept of weights, where 1."""
    return np.asarray(mask.values == 1 if mask.role == "keep" else ~np.isneginf(mask.values))


def table(page: Page, mask: Step) -> list[Block]:
    """A row for each query, a column for each key: yes or no."""
    say = page.say
    seen = visible(mask)
    n, m = mask.shape
    words = {True: say("mask.yes"), False: say("mask.no")}
    head = (say("mask.corner"), *(page.who(mask.columns, j, "header") for j in range(m)))
    rows = tuple((page.who(mask.rows, i, "header"), *(words[see] for see in seen[i].tolist())) for i in range(n))
    return [Table(head, rows)]


def seen(page: Page, mask: Step) -> tuple[Prose, ...]:
    """B sees A and itself."""
    return tuple(_seen(page, mask, row, i) for i, row in enumerate(visible(mask)))


def _seen(page: Page, mask: Step, row: Flags, i: int) -> Prose:
    query = query_name(page, mask, i)
    if row.all():
        return page.say("mask.sees_all", query=query)
    if not row.any():
        return page.say("mask.sees_nothing", query=query)
    return page.say("mask.sees", query=query, seen=names(page, mask, i, row.nonzero()[0].tolist()))


def before_and_after(page: Page, before: Step, after: Step, mask: Step) -> list[Block]:
    """The weights before a mask and after it, side by side, with a remark on each row."""
    adds = mask.role == "mask" and bool(mask.values[np.isfinite(mask.values)].any())  # more than 0 and -∞
    remarks = tuple(_remark(page, before, after, row, i, adds) for i, row in enumerate(visible(mask)))
    return [Beside((page.matrix(before), page.matrix(after))), Items(remarks)]


def _remark(page: Page, before: Step, after: Step, row: Flags, i: int, adds: bool) -> Prose:
    """I sees <s> and itself: the weight there adds up to 0.781, and is scaled to 1."""
    say, query = page.say, query_name(page, after, i)
    seen = say("mask.all") if row.all() else names(page, after, i, row.nonzero()[0].tolist())
    old, new = page.figures(before).texts[i], page.figures(after).texts[i]
    if nothing := no_weights(page, after, i):
        return nothing
    if (digits.decimals(old) == digits.decimals(new)).all():
        return say("mask.keeps", query=query, seen=seen)
    if adds:
        return say("mask.sees", query=query, seen=seen)
    return say("mask.scales", query=query, seen=seen, sum=digits.total(old[row]))


