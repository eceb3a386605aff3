"""The end of a page: what came out of what went in, the formulas, and the exact answer beside a carried one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attncalc import rounding
from attncalc.blocks import Block, Items, Math, Prose, Section, Work, compose, figure
from attncalc.expr import Expr, name
from attncalc.layout.masks import before_and_after
from attncalc.layout.page import Page, is_self_attention
from attncalc.layout.readings import largest_other
from attncalc.steps import Arrange, Group, Step


def outcome(page: Page) -> Section | None:
    """A: [1, 0] became [1.401, 0.599]; largest share from another: C, 40.1%."""
    by_role = {step.role: step for step in page.solution.steps.values()}
    before, weights, after = (by_role.get(role) for role in ("input", "weights", "output"))
    if weights is None or after is None or not is_self_attention(weights):
        return None
    say = page.say
    sentences = []
    for i in range(after.shape[0]):
        parts = [largest_other(page, weights, i)]
        who = page.who(after.rows, i)
        if before is not None:
            parts.insert(0, say("readings.became", before=page.row(before, i), after=page.row(after, i)))
        sentences.append(say("readings.outcome", token=who, parts=say.joined(parts, "list.semicolon")))
    return Section(say("sections.outcome"), "outcome", (Items(tuple(sentences)),))


def formulas(page: Page) -> Section | None:
    """Q = H·W_Q, .., A = softmax(S̃), O = A·V."""
    lines = tuple((None, compose("chain", Math(symbol), "=", Math(law))) for symbol, law in _laws(page.solution.root))
    if not lines:
        return None
    return Section(page.say("sections.formulas"), "formulas", (Work(lines),))


def _laws(group: Group) -> Iterator[tuple[Expr, Expr]]:
    for member in group.members:
        if isinstance(member, Group):
            steps = list(member.steps())
            if member.function:
                yield steps[-1].symbol, Expr("call", name(member.function), _input(steps).symbol)
            else:
                yield from _laws(member)
        elif member.formula not in (None, member.symbol) and not isinstance(member, Arrange):
            yield member.symbol, member.formula


def _input(steps: list[Step]) -> Step:
    return next(operand for step in steps for operand in step.operands if operand not in steps)


def against_exact(page: Page) -> Section | None:
    """In full precision O differs most at O[2,1], by 0.00051 (1.50349), and A at A[2,3], by 0.00051 (0.50349)."""
    exact = page.solution.exact
    if exact is None:
        return None
    result = page.solution.result
    weights = [s for s in page.solution.steps.values() if s.rows_sum_to_one and s.operands and s is not result]
    compared = [result, *weights]
    say = page.say
    parts = [_difference(page, step, exact.steps[step.id]) for step in compared if step.id in exact.steps]
    sentence = say("rounding.differs", parts=say.enumeration(parts))
    return Section(say("sections.rounding"), "rounding", (Items((sentence,)),))


def _difference(page: Page, step: Step, exact: Step) -> Prose:
    off = np.abs(exact.values - page.figures(step).values)
    i, j = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
    places = step.places + 2
    if rounding.rounded(off, places, page.rule.ties)[i, j] == 0:
        return page.say("rounding.equal", symbol=Math(step.symbol))
    return page.say(
        "rounding.part",
        symbol=Math(step.symbol),
        cell=page.place(step.symbol, i, j),
        difference=figure(rounding.one(off[i, j], places, page.rule)),
        value=figure(rounding.one(exact.values[i, j], places, page.rule)),
    )


def closing(page: Page) -> list[Block]:
    found = [before_and_after(page), outcome(page), formulas(page), against_exact(page)]
    return [section for section in found if section is not None]
