"""How a step of each kind is laid out: its formula, its matrices, the working of its rows or cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncalc import rounding
from attncalc.blocks import Block, Formula, Items, Math, Work, compose, figure
from attncalc.expr import Expr, evaluate, name, walk
from attncalc.layout import masks, readings
from attncalc.layout.page import Page, Reading
from attncalc.layout.weighted_sum import weighted_sum
from attncalc.steps import Arrange, Contract, Given, Map, Reduce, Step

NOTHING = Math(Expr("text", ""))


def lay_step(page: Page, step: Step) -> list[Block]:
    """A step by itself, as much of it as the page shows."""
    return KINDS[type(step)](page, step)


def given(page: Page, *steps: Step) -> Block:
    """H (3×2) = [..]; several stand side by side."""
    equations = [compose("chain", page.sized(s), "=", page.grid(s, labelled=True)) for s in steps]
    return Formula(equations[0] if len(equations) == 1 else compose("beside", *equations))


def matrix(page: Page, step: Step, *, labelled: bool = True) -> Block:
    """A = [..], with the tokens beside its rows and above its columns."""
    return Formula(compose("chain", Math(step.symbol), page.sign(step), page.grid(step, labelled=labelled)))


def equation(symbol: Expr, law: Expr) -> Math:
    """Q = H·W_Q; a step that is called by its law, as H·W_Q before a bias, has no other name to equate it with."""
    return Math(law) if symbol == law else compose("chain", Math(symbol), "=", Math(law))


def _given(page: Page, step: Step) -> list[Block]:
    if step.role == "visibility":
        return masks.table(page, step)
    return [given(page, step), *_read(page, step)]


def _arrange(page: Page, step: Step) -> list[Block]:
    return [matrix(page, step, labelled=False)]


def _reduce(page: Page, step: Step) -> list[Block]:
    assert step.formula is not None
    return [Formula(compose("chain", Math(step.symbol), "=", Math(step.formula), page.sign(step), page.grid(step)))]


def _map(page: Page, step: Map) -> list[Block]:
    formula = [_constant(page, step, part) for part in walk(step.law) if part.op == "sqrt"]
    formula.append(Formula(compose("chain", Math(step.symbol), "=", Math(step.formula))))
    result = Formula(compose("chain", NOTHING, page.sign(step), page.grid(step, labelled=True)))
    blocks: list[Block] = [*formula, result]
    if page.detail == "full" and step.role in ROWS:
        blocks.append(_rows(page, step, page.row_working))
    return blocks


def _constant(page: Page, step: Step, root: Expr) -> Block:
    """√d_k = √2 ≈ 1.414."""
    (radicand,) = root.args
    value = float(evaluate(root, ()))
    text = rounding.constant(value, step.places, page.rule)
    value_of_root = (Math(root), "=" if float(text) == value else "≈", figure(text))
    symbol: list[Math | str] = [Math(Expr("sqrt", name(radicand.args[2]))), "="] if radicand.args[2] else []
    return Formula(compose("chain", *symbol, *value_of_root))


def _contract(page: Page, step: Step) -> list[Block]:
    a, b = step.operands
    assert step.formula is not None
    law = equation(step.symbol, step.formula)
    shapes = compose("chain", compose("dot", page.shape(a), page.shape(b)), "=", page.shape(step))
    heads = [law, shapes] if step.role != "scores" else [law, _score_law(page, step), shapes]
    if page.detail != "full":
        result = compose("chain", NOTHING, page.sign(step), page.grid(step))
        return [Formula(compose("beside", *heads)), Formula(result)]
    product = compose("dot", page.grid(a), page.grid(b))
    if step.role == "output":  # the product is written out, worked row by row, and only then whole
        written_out = Formula(compose("chain", NOTHING, "=", product))
        return [Formula(compose("beside", *heads)), written_out, *weighted_sum(page, step), matrix(page, step)]
    blocks: list[Block] = [
        Formula(compose("beside", *heads)),
        Formula(compose("chain", NOTHING, "=", product, page.sign(step), page.grid(step))),
    ]
    if isinstance(b, Given) and is_identity(b):
        remark = page.say("remarks.identity", weight=Math(b.symbol), product=equation(step.symbol, a.symbol))
        blocks.append(remark)
    blocks += _cells(page, step) if step.role == "scores" else _product_rows(page, step)
    return [*blocks, *_read(page, step)]


def _score_law(page: Page, step: Step) -> Math:
    """S[i,j] = q_i·k_j."""
    i, j = name("i"), name("j")
    q_k = Expr("dot", Expr("sub", name("q"), i), Expr("sub", name("k"), j))
    return compose("chain", Math(Expr("cell", step.symbol, i, j)), "=", Math(q_k))


def is_identity(step: Step) -> bool:
    n, m = step.shape
    return n == m and bool(np.array_equal(step.values, np.eye(n)))


def _product_rows(page: Page, step: Step) -> list[Block]:
    """key 1 (A) = [1, 0]·W_K = [1, 1]."""
    a, b = step.operands
    return [_rows(page, step, lambda _, i: compose("dot", page.row(a, i), Math(b.symbol)))]


def _rows(page: Page, step: Step, working: Callable[[Step, int], Math]) -> Block:
    key = f"row.{step.role}" if f"row.{step.role}.plain" in page.say else "row.other"
    return Work(
        tuple(
            (
                page.row_name(key, step.rows, i),
                compose("chain", working(step, i), page.sign(step, i), page.row(step, i)),
            )
            for i in range(step.shape[0])
        )
    )


def _cells(page: Page, step: Step) -> list[Block]:
    """S[1,1] = 1×1 + 0×1 = 1, for every cell."""
    n, m = step.shape
    lines = []
    for i in range(n):
        for j in range(m):
            cell = compose("chain", page.place(step.symbol, i, j), *page.summed(step, i, j))
            lines.append((None, cell))
    return [Work(tuple(lines))]


def _read(page: Page, step: Step) -> list[Block]:
    reading: Reading | None = READINGS.get(step.role)
    return [Items(reading(page, step))] if reading and page.detail == "full" else []


KINDS: dict[type[Step], Callable[..., list[Block]]] = {
    Given: _given,
    Arrange: _arrange,
    Map: _map,
    Reduce: _reduce,
    Contract: _contract,
}
READINGS: dict[str, Reading] = {"scores": readings.scores, "weights": readings.weights, "mask": masks.seen}
# Maps whose rows are worked out by themselves; of scaled and masked scores every cell is plain from the matrix.
ROWS = frozenset({"query", "key", "value"})

