"""A row of a product of weights and values as the weighted sum of vectors: by components, or vector by vector."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attncalc.blocks import Block, Formula, Math, Prose, Section, Work, compose, figure
from attncalc.expr import Expr, small, sum_of_terms
from attncalc.layout.page import Page, vector
from attncalc.steps import Step


def weighted_sum(page: Page, step: Step) -> list[Block]:
    """A section for each row of the product."""
    lay = {"components": _components, "vectors": _vectors}[page.show.weighted_sum]
    return [
        Section(page.row_name("row", step.rows, i), f"{step.id}-{i + 1}", tuple(lay(page, step, i)), minor=True)
        for i in range(step.shape[0])
    ]


def _components(page: Page, step: Step, i: int) -> list[Block]:
    """o_1 = 0.401·[1, 0] + ..; component 1: 0.401×1 + .. = 0.401 + .. = 1.401; o_1 = [1.401, 0.599]."""
    o, sign = _named(page, step.symbol, *_row(step, i)), page.sign(step, i)
    lines: list[tuple[Prose | None, Math]] = [
        (
            page.say("lines.component", n=page.count(j)),
            compose("chain", *parts[1:]),
        )
        for j, parts in enumerate(page.sums(step, i, products=True))
    ]
    return [
        Formula((compose("chain", o, sign, _scaled_vectors(page, step, i)),)),
        Work(tuple(lines)),
        Formula((compose("chain", o, "=", page.row(step, i)),)),
    ]


def _vectors(page: Page, step: Step, i: int) -> list[Block]:
    """o_0 = a_00·v_0 + ..; the same in figures; the products; the sum."""
    a, v = step.operands
    count = a.shape[1]
    letters = [compose("dot", _named(page, a.symbol, *_row(a, i), k), _named(page, v.symbol, k)) for k in range(count)]
    # Each component is a chain of its own, a×v + .. = products = sum; a line of vectors is true where all of them are.
    chains = [*page.sums(step, i, products=True)]
    rows = [
        compose("chain", _named(page, step.symbol, *_row(step, i)), "=", compose("plus", *letters)),
        compose("chain", "=", _scaled_vectors(page, step, i)),
    ]
    if count > 1:
        products = [vector(page.figures(step).terms.texts[i, :, k].tolist()) for k in range(count)]
        rows.append(compose("chain", _sign(chain[2] for chain in chains), compose("plus", *products)))
    rows.append(compose("chain", _sign(chain[-2] for chain in chains), page.row(step, i)))
    return [Formula(tuple(rows))]


def _named(page: Page, symbol: Expr, *indices: int) -> Math:
    """o_1, a_12; y_2,1 where y_2 is what it is called already."""
    if symbol.op != "sub":
        return page.subscripted(symbol, *indices)
    letter, own = small(symbol).args
    return compose("sub", Math(letter), Math(own), *(figure(page.count(k)) for k in indices))


def _row(step: Step, i: int) -> tuple[int, ...]:
    """The index of a row; none where the step is one row that has an index already, y_2."""
    return () if step.shape[0] == 1 and step.symbol.op == "sub" else (i,)


def _sign(signs: Iterable[Math | str]) -> str:
    return "=" if all(sign == "=" for sign in signs) else "≈"


def _scaled_vectors(page: Page, step: Step, i: int) -> Math:
    """0.401·[1, 0] + 0.198·[1, 1] + ..."""
    weights, values = (page.figures(operand).texts for operand in step.operands)
    term = compose("dot", figure(weights[i, 0]), vector(values[0].tolist()))
    figures = np.column_stack([weights[i], values])
    return Math(sum_of_terms(term.pattern, figures.shape[1], len(figures)), tuple(figures.ravel().tolist()))
