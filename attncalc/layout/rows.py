"""Groups that go row by row: row 1 through all their steps, then row 2; softmax and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from attncalc import rounding
from attncalc.blocks import Block, Items, Math, Prose, Section, Work, compose
from attncalc.layout.kinds import READINGS, lay_step, matrix
from attncalc.layout.page import Page
from attncalc.steps import Group, Map, Reduce, Step


def lay_rows(page: Page, group: Group, wanted: Sequence[Step]) -> list[Block]:
    """A section for each row, with a line for each wanted step; then the last matrix whole, and what it says."""
    if page.detail != "full":
        return [block for step in wanted for block in lay_step(page, step)]
    steps = list(group.steps())
    last = wanted[-1]
    rows: list[Block] = [
        Section(
            page.row_name("row", last.rows, i),
            f"{last.id}-{i + 1}",
            tuple(_row(page, steps, wanted, i)),
        )
        for i in range(last.shape[0])
    ]
    reading = READINGS.get(last.role)
    return [*rows, matrix(page, last), *([Items(reading(page, last))] if reading else [])]


def _row(page: Page, steps: list[Step], wanted: Sequence[Step], i: int) -> list[Block]:
    needed = _needed(steps, i)
    lines: list[tuple[Prose | None, Math]] = []
    for step in _inputs(steps):
        if step.shape[0] > 1 or i == 0:
            lines.append((_label(page, step), page.row(step, i)))
    for step in wanted:
        if id(step) in needed:
            lines.append((_label(page, step), _line(page, step, i)))
    return [Work(tuple(lines)), *_remarks(page, wanted[-1], i)]


def _inputs(steps: list[Step]) -> list[Step]:
    """What the group works on, from outside it, in the order of use."""
    inside = {id(step) for step in steps}
    outside = [operand for step in steps for operand in step.operands if id(operand) not in inside]
    return list(dict.fromkeys(outside))


def _needed(steps: list[Step], i: int) -> set[int]:
    """The steps whose figures row i of the last one rests on: a row that is not shifted needs no maximum."""
    pending = [steps[-1]]
    needed: set[int] = set()
    while pending:
        step = pending.pop()
        if id(step) in needed or step not in steps:
            continue
        copied = isinstance(step, Map) and step.where is not None and not step.where[i, 0]
        if not copied:
            needed.add(id(step))
        pending += [step.operands[0]] if copied else step.operands
    return needed


def _label(page: Page, step: Step) -> Prose:
    last = step.id.rpartition(".")[2]
    return page.say(f"lines.{last}") if f"lines.{last}" in page.say else page.say(f"lines.{step.role}")


def _line(page: Page, step: Step, i: int) -> Math:
    if step.role == "exponentials" and page.show.exponentials == "equations":
        cells = (
            compose("chain", page.working(step, i, j), page.sign(step, i, j), page.cell(step, i, j))
            for j in range(step.shape[1])
        )
        return compose("list", *cells)
    working = page.working(step, i, 0) if isinstance(step, Reduce) else page.row_working(step, i)
    return compose("chain", working, page.sign(step, i), page.row(step, i))


def _remarks(page: Page, step: Step, i: int) -> list[Block]:
    """What a row of weights does not say by itself: who took the unit that was missing from 1, or that one is."""
    if not step.rows_sum_to_one or not step.operands:
        return []
    texts, values, _ = page.figures(step)
    if not values[i].any():
        return [page.say("remarks.nothing_visible", row=page.who(step.rows, i))]
    total = sum(map(Fraction, texts[i]))
    if total == 1:
        remark = _apportioned(page, step, i) if page.rule.weights == "sum-to-one" else None
        return [remark] if remark else []
    key = "remarks.row_sum_carried" if page.rule.carried else "remarks.row_sum"
    return [page.say(key, sum=_decimal(float(total), step, page))]


def _apportioned(page: Page, step: Step, i: int) -> Prose | None:
    """Which cells differ from what each would be, rounded alone."""
    with np.errstate(all="ignore"):
        unrounded = step.recomputed([operand.values for operand in step.operands])
    alone = rounding.rounded(unrounded, step.places, page.rule.ties)[i]
    changes = np.rint((page.figures(step).values[i] - alone) * 10**step.places)
    changed = [int(j) for j in np.nonzero(changes)[0]]
    if not changed:
        return None
    total = _decimal(float(alone.sum()), step, page)

    def unit(j: int) -> str:
        return _decimal(abs(changes[j]) * 10.0**-step.places, step, page)

    if len(changed) == 1:
        (j,) = changed
        key = "takes" if changes[j] > 0 else "gives"
        return page.say(f"remarks.apportioned.{key}", sum=total, token=page.who(step.columns, j), unit=unit(j))
    parts = [
        page.say("remarks.apportioned.change", token=page.who(step.columns, j), unit="+-"[changes[j] < 0] + unit(j))
        for j in changed
    ]
    return page.say("remarks.apportioned.several", sum=total, changes=page.say.joined(parts))


def _decimal(value: float, step: Step, page: Page) -> str:
    return rounding.one(value, step.places, page.rule)
