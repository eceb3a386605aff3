"""Groups that go row by row: row 1 through all their steps, then row 2; softmax and its kin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attncalc import digits, rounding
from attncalc.blocks import Block, Items, Math, Prose, Section, Work, compose
from attncalc.layout.kinds import are_written_out, lay_step
from attncalc.layout.looks import look
from attncalc.layout.page import Page, worked
from attncalc.layout.readings import no_weights
from attncalc.steps import Arrange, Map, Reduce, Step


def lay_rows(page: Page, steps: Sequence[Step], wanted: Sequence[Step]) -> list[Block]:
    """A section for each row, with a line for each wanted step; then the last matrix whole, and what it says."""
    last = wanted[-1]
    if page.detail != "full":
        remarks = tuple(remark for step in wanted for i in range(step.shape[0]) for remark in _remarks(page, step, i))
        blocks = [block for step in wanted for block in lay_step(page, step)]
        return [*blocks, Items(remarks)] if remarks else blocks
    rows: list[Block] = [
        Section(title, f"{last.id}-{i + 1}", tuple(_row(page, steps, wanted, i)), minor=True)
        for i in range(last.shape[0])
        for title in [page.row_name("row", last.rows, i)]
    ]
    reading = look(last).reading
    return [*rows, page.matrix(last), *([Items(reading(page, last))] if reading else [])]


def _row(page: Page, steps: Sequence[Step], wanted: Sequence[Step], i: int) -> list[Block]:
    needed = _needed(steps, i)
    lines: list[tuple[Prose | None, Math]] = [
        (page.say(look(step).again or look(step).line), page.row(step, i)) for step in _inputs(wanted, needed, i)
    ]
    lines += [(page.say(look(step).line), _line(page, step, i)) for step in wanted if step in needed]
    chosen = [step for step in wanted if isinstance(step, Arrange) and page.sign(step, i) != "="]
    return [
        Work(tuple(lines)),
        *(page.say("remarks.unrounded_choice") for _ in chosen[:1]),
        *_remarks(page, wanted[-1], i),
    ]


def _inputs(wanted: Sequence[Step], needed: set[Step], i: int) -> list[Step]:
    """What the wanted steps work on and are not themselves, in the order of use; a gain has been given once for all."""
    outside: list[Step] = []
    for step in wanted:
        if step in needed:
            copied = isinstance(step.operands[0], Map) and step.operands[0].copies(i)
            operands = step.operands[0].operands[:1] if copied else step.operands
            outside += [operand for operand in operands if operand not in wanted and look(operand).line]
    return list(dict.fromkeys(outside))


def _needed(steps: Sequence[Step], i: int) -> set[Step]:
    """The steps whose figures row i of the last one rests on: a row that is not shifted needs no maximum."""
    pending, needed = [steps[-1]], set()
    while pending:
        step = pending.pop()
        if step in needed or step not in steps:
            continue
        if isinstance(step, Map) and step.copies(i):
            pending.append(step.operands[0])
        else:
            needed.add(step)
            pending += step.operands
    return needed


def _line(page: Page, step: Step, i: int) -> Math:
    if step.rows_sum_to_one and not page.figures(step).unrounded[i].any():
        return page.row(step, i)  # 0/0 is no working; the remark says why the weights are 0
    if isinstance(step, Arrange):
        return page.row(step, i)
    if isinstance(step, Reduce) and not are_written_out(step):
        return compose("chain", Math(step.formula), page.sign(step, i), page.row(step, i))
    if step.role == "exp" and page.show.exponentials == "equations":
        cells = (
            compose("chain", working, page.sign(step, i, j), page.cell(step, i, j))
            for j, working in enumerate(page.workings(step, i))
        )
        return compose("list", *cells)
    working = page.row_working(step, i)
    return compose("chain", *worked(working, page.sign(step, i), page.row(step, i)))


def _remarks(page: Page, step: Step, i: int) -> list[Prose]:
    """What a row of weights does not say by itself: who took the unit that was missing from 1, or that one is."""
    if not step.rows_sum_to_one or not step.operands:
        return []
    if nothing := no_weights(page, step, i):
        return [nothing]
    total, called = digits.total(page.figures(step).texts[i]), page.say(look(step).called)
    if float(total) == 1:
        remark = _apportioned(page, step, i) if page.rule.weights == "sum-to-one" else None
        return [remark] if remark else []
    key = "remarks.row_sum_carried" if page.rule.carried else "remarks.row_sum"
    return [page.say(key, called=called, sum=total)]


def _apportioned(page: Page, step: Step, i: int) -> Prose | None:
    """Which cells differ from what each would be, rounded alone."""
    alone = rounding.rounded(page.figures(step).unrounded[i : i + 1], step.places, page.rule.ties)[0]
    changes = np.rint((page.figures(step).values[i] - alone) * 10**step.places)
    changed = [int(j) for j in np.nonzero(changes)[0]]
    if not changed:
        return None

    def decimal(value: float) -> str:
        return digits.one(value, step.places, page.rule)

    def unit(j: int) -> str:
        return decimal(abs(float(changes[j])) * 10.0**-step.places)

    total = decimal(float(alone.sum()))
    if len(changed) == 1:
        (j,) = changed
        key = "takes" if changes[j] > 0 else "gives"
        return page.say(f"remarks.apportioned.{key}", sum=total, token=page.who(step.columns, j), unit=unit(j))
    parts = [
        page.say("remarks.apportioned.change", token=page.who(step.columns, j), unit=sign + unit(j))
        for j in changed
        for sign in ["-" if changes[j] < 0 else "+"]
    ]
    return page.say("remarks.apportioned.several", sum=total, changes=page.say.joined(parts))
