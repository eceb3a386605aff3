"""How a step of each kind is laid out: its formula, its matrices, the working of its rows or cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncalc import rounding
from attncalc.blocks import Beside, Block, Formula, Items, Math, Prose, Work, compose, figure
from attncalc.expr import LEAVES, Expr, constants, evaluate, in_symbols, name, walk
from attncalc.layout.looks import look
from attncalc.layout.page import Page, small
from attncalc.layout.weighted_sum import weighted_sum
from attncalc.steps import FILL, Arrange, Contract, Given, Map, Reduce, Step

LONGEST_IN_A_ROW = 4  # figures and constants of a working; those of more stand one below the other


def lay_step(page: Page, step: Step) -> list[Block]:
    """A step by itself, as much of it as the page shows."""
    return [*KINDS[type(step)](page, step), *_read(page, step)]


def given(page: Page, *steps: Step) -> Block:
    """H (3×2) = [..]; several stand side by side."""
    formulas = []
    for step in steps:
        sized = compose("sized", Math(step.symbol), page.shape(step))
        formulas.append(Formula((compose("chain", sized, "=", page.grid(step, labelled=True)),)))
    return formulas[0] if len(formulas) == 1 else Beside(tuple(formulas))


def _given(page: Page, step: Step) -> list[Block]:
    return [given(page, step)]


def _arrange(page: Page, step: Arrange) -> list[Block]:
    described = _described(page, step) if page.detail == "full" else None
    return [page.matrix(step, labelled=False), *([described] if described else [])]


def _described(page: Page, step: Arrange) -> Prose | None:
    """Where the cells come from, in words: columns 1 to 4 of Q; O⁽¹⁾ and O⁽²⁾ side by side; as the sources show."""
    say, symbol = page.say, Math(step.symbol)
    if len(step.operands) > 1:
        parts = say.enumeration([Prose((Math(operand.symbol),)) for operand in step.operands])
        return say("arranged.side_by_side", symbol=symbol, parts=parts)
    (operand,) = step.operands
    if (step.numbers == FILL).any():
        return None  # a head without a bias has one of 0
    first = step.working(0, 0).cells[0].column
    columns = np.arange(operand.values.size).reshape(operand.shape)[:, first : first + step.shape[1]]
    if operand.shape[1] == step.shape[1] or not np.array_equal(step.numbers, columns):
        return None
    start, end = page.count(first), page.count(first + step.shape[1] - 1)
    key = "arranged.column" if start == end else "arranged.columns"
    return say(key, symbol=symbol, start=start, end=end, source=Math(operand.symbol))


def _reduce(page: Page, step: Reduce) -> list[Block]:
    law = compose("chain", Math(step.symbol), "=", Math(step.formula), page.sign(step), page.grid(step))
    return [Formula((law,))]


def _map(page: Page, step: Map) -> list[Block]:
    blocks: list[Block] = []
    for constant in constants(step.law):
        blocks += _constant(page, step, constant)
    result = compose("chain", page.sign(step), page.grid(step, labelled=True))
    blocks.append(Formula((equation(step.symbol, step.formula), result)))
    if page.detail == "full" and look(step).work == "rows":
        blocks.append(_each(page, step) if _is_long(step) else _rows(page, step, page.row_working))
    return blocks


def _is_long(step: Map) -> bool:
    """Whether the working of one cell wants a line of its own."""
    return sum(part.op in LEAVES for part in walk(step.law)) > LONGEST_IN_A_ROW


def _each(page: Page, step: Step) -> Block:
    """GELU(Z)[1,1] = .. ≈ 0.841, for every cell."""
    n, m = step.shape
    return Work(
        tuple(
            (None, compose("chain", page.place(step.symbol, i, j), "=", working, page.sign(step, i, j), figure_of))
            for i in range(n)
            for j in range(m)
            for working, figure_of in [(page.working(step, i, j), page.cell(step, i, j))]
        )
    )


def _constant(page: Page, step: Step, constant: Expr) -> list[Block]:
    """√d_k = √2 ≈ 1.414, with the remark that √2 itself is used."""
    value = float(evaluate(constant, ()))
    text = rounding.constant(value, step.places, page.rule)
    symbols = in_symbols(constant, ())
    named: list[Math | str] = [Math(symbols), "="] if symbols != constant else []
    is_whole = rounding.is_whole(value, step.places)
    formula = Formula((compose("chain", *named, Math(constant), "=" if is_whole else "≈", figure(text)),))
    return [formula] if is_whole else [formula, page.say("remarks.constant", constant=Math(constant), shown=text)]


def _contract(page: Page, step: Contract) -> list[Block]:
    a, b = step.operands
    work = look(step).work if page.detail == "full" else "none"
    head = [equation(step.symbol, step.formula), *([_score_law(step)] if look(step).work == "cells" else [])]
    shapes = compose("chain", compose("dot", page.shape(a), page.shape(b)), "=", page.shape(step))
    first = compose("spaced", *head, shapes)
    product = compose("dot", page.grid(a), page.grid(b))
    result = page.grid(step, labelled=work == "cells")
    match work:
        case "none":
            return [Formula((first, compose("chain", page.sign(step), page.grid(step, labelled=True))))]
        case "weighted sum":  # the product is written out, worked row by row, and only then whole
            written_out = Formula((first, compose("chain", "=", product)))
            return [written_out, *weighted_sum(page, step), page.matrix(step)]
    blocks: list[Block] = [Formula((first, compose("chain", "=", product, page.sign(step), result)))]
    if isinstance(b, Given) and _is_identity(b) and page.sign(step) == "=":
        remark = page.say("remarks.identity", weight=Math(b.symbol), product=equation(step.symbol, a.symbol))
        blocks.append(remark)
    if work == "cells":
        return [*blocks, _cells(page, step)]
    return [*blocks, _rows(page, step, lambda _, i: compose("dot", page.row(a, i), Math(b.symbol)))]


def equation(symbol: Expr, law: Expr | None) -> Math:
    """Q = H·W_Q; a step that is called by its law, as H·W_Q before a bias, has no other name to equate it with."""
    assert law is not None
    return Math(law) if symbol == law else compose("chain", Math(symbol), "=", Math(law))


def _score_law(step: Step) -> Math:
    """S[i,j] = q_i·k_j."""
    i, j = name("i"), name("j")
    q, k = (small(operand.symbol) for operand in step.operands)
    return compose(
        "chain", Math(Expr("cell", step.symbol, i, j)), "=", Math(Expr("dot", Expr("sub", q, i), Expr("sub", k, j)))
    )


def _is_identity(step: Step) -> bool:
    n, m = step.shape
    return n == m and bool(np.array_equal(step.values, np.eye(n)))


def _rows(page: Page, step: Step, working: Callable[[Step, int], Math]) -> Block:
    """key 1 (A) = [1, 0]·W_K = [1, 1]."""
    lines = (
        (
            page.row_name(look(step).row, step.rows, i),
            compose("chain", working(step, i), page.sign(step, i), page.row(step, i)),
        )
        for i in range(step.shape[0])
    )
    return Work(tuple(lines))


def _cells(page: Page, step: Step) -> Block:
    """S[1,1] = 1×1 + 0×1 = 1, for every cell."""
    n, m = step.shape
    products = page.has_real_products(step)
    return Work(
        tuple(
            (None, compose("chain", page.place(step.symbol, i, j), *page.summed(step, i, j, products=products)))
            for i in range(n)
            for j in range(m)
        )
    )


def _read(page: Page, step: Step) -> list[Block]:
    reading = look(step).reading
    return [Items(reading(page, step))] if reading and page.detail == "full" else []


KINDS: dict[type[Step], Callable[..., list[Block]]] = {
    Given: _given,
    Arrange: _arrange,
    Map: _map,
    Reduce: _reduce,
    Contract: _contract,
}
