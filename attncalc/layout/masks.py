"""A mask on the page: who may look at whom, in words and as a table, and weights before it beside those after it."""

from __future__ import annotations

from attncalc.blocks import Block, Formula, Items, Math, Prose, Section, Table, compose
from attncalc.layout.page import Page
from attncalc.layout.readings import key_name, percent, query_name
from attncalc.rounding import Flags
from attncalc.steps import Step


def table(page: Page, step: Step) -> list[Block]:
    """A row for each query, a column for each key: yes or no."""
    say = page.say
    n, m = step.shape
    head = (say("mask.corner"), *(page.who(step.columns, j) for j in range(m)))
    words = {True: say("mask.yes"), False: say("mask.no")}
    rows = tuple((page.who(step.rows, i), *(words[bool(step.values[i, j])] for j in range(m))) for i in range(n))
    return [Table(head, rows)]


def seen(page: Page, step: Step) -> tuple[Prose, ...]:
    """B sees A and itself: of a mask of 0 and -∞ or of 1 and 0."""
    visible = step.values == step.values.max()
    return tuple(_seen(page, step, visible[i], i) for i in range(len(visible)))


def _seen(page: Page, step: Step, visible: Flags, i: int) -> Prose:
    query = query_name(page, step, i)
    if visible.all():
        return page.say("mask.sees_all", query=query)
    keys = [key_name(page, step, i, int(j)) for j in visible.nonzero()[0]]
    return page.say("mask.sees", query=query, seen=page.say.enumeration(keys))


def before_and_after(page: Page) -> Section | None:
    """The weights before a mask and after it, side by side, with a remark on each row."""
    steps = page.solution.steps
    before, after = steps.get("given_A", steps.get("before.A")), steps.get("A")
    if before is None or after is None:
        return None
    say = page.say
    equations = (
        compose("chain", Math(step.symbol), page.sign(step), page.grid(step, labelled=True)) for step in (before, after)
    )
    remarks = tuple(_remark(page, before, after, i) for i in range(after.shape[0]))
    blocks = (Formula(compose("beside", *equations)), Items(remarks))
    return Section(say("sections.before_and_after"), "before-and-after", blocks)


def _remark(page: Page, before: Step, after: Step, i: int) -> Prose:
    """I sees <s> and itself: 78.1% of its weight was there, and that is scaled up to 1."""
    say = page.say
    visible = ~((after.values[i] == 0) & after.exact[i])
    query = query_name(page, after, i)
    if visible.all():
        return say("mask.keeps_all", query=query)
    keys = [key_name(page, after, i, int(j)) for j in visible.nonzero()[0]]
    kept = float(page.figures(before).values[i][visible].sum())
    return say("mask.keeps", query=query, seen=say.enumeration(keys), share=percent(page, kept, before))
