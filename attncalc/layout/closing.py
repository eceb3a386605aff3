"""The end of a page: the formulas of the whole, and the exact answer beside a carried one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np

from attncalc import digits, rounding
from attncalc.blocks import Block, Items, Math, Prose, Section, Token, Work, compose, figure
from attncalc.expr import Expr, in_symbols, name
from attncalc.layout.page import Page
from attncalc.solution import Group
from attncalc.steps import Map, Step

TITLED = ("encoder", "decoder", "step", "single_pass")  # each has formulas of its own
AGAIN = ("step", "single_pass")  # of these only what was not so before
ADDED = ("gained", "biased")  # to what a function gives
ANEW = ("attention", "cross_attention")  # another of them in the same layer has the same symbols


def formulas(page: Page, title: Callable[[Group], Prose], only: Collection[Step] | None = None) -> Section | None:
    """Q = H·W_Q, .., A = softmax(S̃), O = A·V; of a model part by part, and of a step of generation what is new.

    Of `only` some steps, where any are named: those too that a page says in a line of their own.
    """
    blocks = tuple(_parts(page, page.solution.root, title, set(), only))
    return Section(page.say("sections.formulas"), "formulas", blocks) if blocks else None


def _parts(
    page: Page, group: Group, title: Callable[[Group], Prose], said: set[Expr], only: Collection[Step] | None
) -> Iterator[Block]:
    """The formulas of a group, and under their titles those of the parts in it."""
    known = frozenset(said) if group.key in AGAIN else frozenset()
    chunk: dict[tuple[object, Expr, Expr], None] = {}
    for line in _laws(group, group, only):
        if isinstance(line, Group):
            yield from _work(chunk, known)
            chunk = {}
            blocks = tuple(_parts(page, line, title, said, only))
            if blocks:
                yield Section(title(line), f"formulas-{line.key}{line.number or ''}", blocks, minor=True)
        else:
            chunk[line] = None  # several layers may have the same
            said.add(line[-1])
    yield from _work(chunk, known)


def _work(chunk: Iterable[tuple[object, Expr, Expr]], known: frozenset[Expr]) -> Iterator[Work]:
    lines = tuple(
        (None, compose("chain", Math(symbol), "=", Math(law))) for _, symbol, law in chunk if law not in known
    )
    if lines:
        yield Work(lines)


def _laws(
    group: Group, scope: Group, only: Collection[Step] | None
) -> Iterator[tuple[object, Expr, Expr] | Group]:
    """Each formula with the group in which it is said once, and the groups that have formulas of their own."""
    if group.order == "by line" and only is None:
        return  # each line has said its own
    for member in group.members:
        if isinstance(member, Group):
            steps = list(member.steps())
            if member.key in TITLED:
                yield member
            elif member.function and steps and (only is None or steps[-1] in only):
                yield scope, steps[-1].symbol, _law(member.function, steps)
            else:
                yield from _laws(member, member if member.key in ANEW else scope, only)
        elif isinstance(member, Step) and (only is None or member in only):
            if member.formula is None or member.formula == member.symbol:
                continue
            yield scope, member.named, member.formula


def _law(function: str, steps: list[Step]) -> Expr:
    """LayerNorm(X); with a gain and a bias, LayerNorm(X) ⊙ γ + β."""
    law = Expr("call", name(function), _input(steps).symbol)
    for step in steps:
        if isinstance(step, Map) and step.role in ADDED:
            law = in_symbols(step.law, [law, *(operand.symbol for operand in step.operands[1:])], single=step.single)
    return law


def _input(steps: list[Step]) -> Step:
    return next(operand for step in steps for operand in step.operands if operand not in steps)


def against_exact(page: Page) -> Section | None:
    """O differs most at O[2,1], by 0.00051 (1.50349 in full precision, 1.504 here); and so for the weights."""
    exact = page.solution.exact
    if exact is None:
        return None
    steps = page.solution.steps
    weights = [s for s in steps.values() if s.rows_sum_to_one and s.operands and s is not page.solution.result]
    pairs = [(step, exact.steps[step.id]) for step in (page.solution.result, *weights) if step.id in exact.steps]
    called = Counter(step.symbol for step, _ in pairs)
    sentences = tuple(
        _difference(page, step, other, _name(page, step, is_only=called[step.symbol] == 1)) for step, other in pairs
    )
    return Section(page.say("sections.rounding"), "rounding", (Items(sentences),))


def _name(page: Page, step: Step, *, is_only: bool) -> Prose:
    """The symbol of a step, with its id where others have the same."""
    symbol = Math(step.symbol)
    return Prose((symbol,)) if is_only else page.say("rounding.one_of_many", symbol=symbol, id=Token(step.id))


def _difference(page: Page, step: Step, exact: Step, called: Prose) -> Prose:
    if exact.shape != step.shape:  # other words were chosen, and another number of them
        return page.say("rounding.of_another_shape", symbol=called, there=page.shape(exact), here=page.shape(step))
    places = step.places + 2
    here = page.figures(step).values
    there = rounding.rounded(exact.values, places, page.rule.ties)
    off = rounding.rounded(np.abs(there - here), places, page.rule.ties)
    i, j = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
    if off[i, j] == 0:
        return page.say("rounding.equal", symbol=called)
    return page.say(
        "rounding.differs",
        symbol=called,
        cell=page.place(step.symbol, i, j),
        difference=figure(digits.one(float(off[i, j]), places, page.rule)),
        there=figure(digits.one(float(exact.values[i, j]), places, page.rule)),
        here=page.cell(step, i, j),
    )
