"""How a step of each kind is laid out: its formula, its matrices, the working of its rows or cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncalc import digits, rounding
from attncalc.blocks import Beside, Block, Formula, Items, Math, Prose, Work, compose, figure
from attncalc.expr import LEAVES, Expr, constants, evaluate, in_symbols, name, small, walk
from attncalc.layout.looks import look
from attncalc.layout.page import Page, worked
from attncalc.layout.weighted_sum import weighted_sum
from attncalc.steps import FILL, Arrange, Contract, Given, Map, Pair, Reduce, Step

LONGEST_STARTS = 6  # of a row whose starts are each added up; those of a longer one would fill the page
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


def arranged(page: Page, step: Step) -> Prose | None:
    """In words, where the figures of a step are copied from; None where its symbol or its law says it."""
    if not isinstance(step, Arrange) or (step.formula is not None and step.choosers):
        return None
    if step.role in CHOSEN:
        symbols = [Math(operand.symbol) for operand in step.operands]
        return page.say(f"arranged.{step.role}", symbol=Math(step.symbol), source=symbols[0], by=symbols[-1])
    described = HOW.get(step.how, _described)(page, step)
    return described if isinstance(described, Prose) else None


def _arrange(page: Page, step: Arrange) -> list[Block]:
    matrix = page.matrix(step, labelled=step.choosers > 0 or step.how == "cache" or look(step).labelled)
    if page.detail != "full":
        return [matrix]
    if step.choosers and not step.how:
        return [matrix, *_chosen(page, step)]
    described = HOW.get(step.how, _described)(page, step)
    return [matrix, *([described] if described else [])]


def _chosen(page: Page, step: Arrange) -> list[Block]:
    """Which cell each row of a column was picked from, p = P[1,2]; and a choice that printed figures do not show."""
    blocks: list[Block] = []
    if step.copied and step.shape[1] == 1 and (step.numbers >= 0).all():
        cells = [step.working(i, 0).cells[0] for i in range(step.shape[0])]
        blocks.append(_rows(page, step, lambda _, i: page.place(cells[i].step.symbol, cells[i].row, cells[i].column)))
    if page.sign(step) != "=":
        blocks.append(page.say("remarks.unrounded_choice"))
    return blocks


def _described(page: Page, step: Arrange) -> Prose | None:
    """Where the cells come from, in words: columns 1 to 4 of Q; O⁽¹⁾ and O⁽²⁾ side by side; as the sources show."""
    if len(step.operands) > 1:
        beside = step.operands[0].shape[0] == step.shape[0]
        return _together(page, step, "side_by_side" if beside else "below")
    (operand,) = step.operands
    if step.symbol.op == "transpose" or (step.numbers == FILL).any():
        return None  # its symbol says it; a head without a bias has one of 0
    row, column = step.working(0, 0).cells[0][1:]
    numbers = np.arange(operand.values.size).reshape(operand.shape)
    n, m = step.shape
    apart = 1 if m < 2 else step.working(0, 1).cells[0].column - column
    cuts = {
        "rows": (n, row, numbers[row : row + n]),
        "columns": (m, column, numbers[:, column : column + m]),
        "every": (m, column, numbers[:, column :: max(apart, 1)][:, :m]),
    }
    for kind, (count, first, cut) in cuts.items():
        if np.array_equal(step.numbers, cut):
            return _cut(page, step, kind, first, first + (count - 1) * (apart if kind == "every" else 1), apart)
    return None


def _cut(page: Page, step: Arrange, kind: str, first: int, last: int, apart: int) -> Prose:
    """Rows or columns of a matrix, one after the other or every second; or the whole of it."""
    (operand,) = step.operands
    names = {"symbol": Math(step.symbol), "source": Math(operand.symbol)}
    if step.shape == operand.shape:
        return page.say("arranged.same", **names)
    start, end = page.count(first), page.count(last)
    if kind == "every":
        return page.say("arranged.every", start=start, end=end, apart=apart, **names)
    if start == end:
        return page.say(f"arranged.{kind.removesuffix('s')}", start=start, **names)
    return page.say(f"arranged.{kind}", start=start, end=end, **names)


def _together(page: Page, step: Arrange, key: str) -> Prose:
    """Matrices side by side, or a column of each in turn."""
    parts = page.say.enumeration([Prose((Math(operand.symbol),)) for operand in step.operands])
    return page.say(f"arranged.{key}", symbol=Math(step.symbol), parts=parts)


def _cached(page: Page, step: Arrange) -> Prose:
    """The keys or values from before, and below them those of the new row."""
    before, new = (Math(operand.symbol) for operand in step.operands)
    return page.say("arranged.cache", symbol=Math(step.symbol), before=before, new=new)


def _looked_up(page: Page, step: Arrange) -> Work:
    """我 (id 0), row 1 of E: [1, 0, 1, 0]."""
    table, ids = step.operands
    lines = [
        (page.say("arranged.lookup", token=page.who(step.rows, i), id=page.figures(ids).texts[i, 0],
                  row=page.count(int(id)), source=Math(table.symbol)), page.row(step, i))
        for i, id in enumerate(ids.values[:, 0])
    ]  # fmt: skip
    return Work(tuple(lines))


# By role, what is copied because of a choice: to say it cell by cell would tell what was chosen.
CHOSEN = ("chosen", "left_logits", "sorted", "target_probabilities", "row_of_gates", "outputs_of_experts")

# How an arrangement is described that its sources do not tell.
HOW: dict[str, Callable[[Page, Arrange], Block]] = {
    "cache": _cached,
    "in turn": lambda page, step: _together(page, step, "in_turn"),
    "lookup": _looked_up,
    "interleave": lambda page, step: _together(page, step, "interleave"),
}


def are_written_out(step: Step) -> bool:
    """Whether the workings of a step are, where those of all steps are wanted."""
    return not (isinstance(step, Reduce) and step.over == "start" and step.shape[1] > LONGEST_STARTS)


def _reduce(page: Page, step: Reduce) -> list[Block]:
    if _is_figure(page, step):
        return [_figure(page, step)]
    law = compose("chain", Math(step.symbol), "=", Math(step.formula), page.sign(step),
                  page.grid(step, labelled=step.over != "row"))  # fmt: skip
    worked = page.detail == "full" and look(step).work == "rows" and are_written_out(step)
    return [Formula((law,)), *([_each(page, step)] if worked else [])]


def _is_figure(page: Page, step: Step) -> bool:
    return page.detail == "full" and look(step).work == "figure" and step.shape == (1, 1)


def _figure(page: Page, step: Step) -> Block:
    """PPL = e^ℓ_mean = e^0.584 ≈ 1.793: a figure by itself."""
    head = equation(step.symbol, step.formula)
    return Formula((compose("chain", head, "=", page.workings(step, 0)[0], page.sign(step), page.cell(step, 0, 0)),))


def _map(page: Page, step: Map) -> list[Block]:
    if _is_figure(page, step):
        return [_figure(page, step)]
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
    return Work(
        tuple(
            (None, compose("chain", page.place(step.symbol, i, j), "=", *parts))
            for i in range(step.shape[0])
            for j, working in enumerate(page.workings(step, i))
            for parts in [worked(working, page.sign(step, i, j), page.cell(step, i, j))]
        )
    )


def _constant(page: Page, step: Step, constant: Expr) -> list[Block]:
    """√d_k = √2 ≈ 1.414, with the remark that √2 itself is used."""
    value = float(evaluate(constant, ()))
    text = digits.constant(value, step.places, page.rule)
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
    if work == "none":
        return [Formula((first, compose("chain", page.sign(step), page.grid(step, labelled=True))))]
    product = compose("dot", page.grid(a), page.grid(b))
    result = page.grid(step, labelled=work == "cells")
    if work == "weighted sum":  # the product is written out, worked row by row, and only then whole
        return [Formula((first, compose("chain", "=", product))), *weighted_sum(page, step), page.matrix(step)]
    blocks: list[Block] = [Formula((first, compose("chain", "=", product, page.sign(step), result)))]
    if isinstance(b, Given) and _is_identity(b) and page.sign(step) == "=":
        remark = page.say("remarks.identity", weight=Math(b.symbol), product=equation(step.symbol, a.symbol))
        blocks.append(remark)
    if work == "cells":
        return [*blocks, _cells(page, step)]
    return [*blocks, _rows(page, step, lambda _, i: compose("dot", page.row(a, i), Math(b.symbol)))]


def _pair(page: Page, step: Pair) -> list[Block]:
    """S[i,j] = rowsum(tanh(q_i + k_j)); S whole; and each cell."""
    cells = [_each(page, step)] if page.detail == "full" else []
    return [Formula((equation(step.named, step.formula),)), page.matrix(step), *cells]


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
    products = page.has_real_products(step)
    return Work(
        tuple(
            (None, compose("chain", page.place(step.symbol, i, j), *parts))
            for i in range(step.shape[0])
            for j, parts in enumerate(page.sums(step, i, products=products))
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
    Pair: _pair,
}
