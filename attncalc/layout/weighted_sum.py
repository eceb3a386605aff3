"""A row of a product of weights and values as the weighted sum of vectors: by components, or vector by vector."""

from __future__ import annotations

from collections.abc import Iterable

from attncalc.blocks import Block, Formula, Math, Prose, Section, Work, compose
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
    o, sign = page.subscripted(step.symbol, i), page.sign(step, i)
    lines: list[tuple[Prose | None, Math]] = [
        (
            page.say("lines.component", n=page.count(j)),
            compose("chain", *page.summed(step, i, j, products=True)[1:]),
        )
        for j in range(step.shape[1])
    ]
    return [
        Formula((compose("chain", o, sign, _scaled_vectors(page, step, i)),)),
        Work(tuple(lines)),
        Formula((compose("chain", o, "=", page.row(step, i)),)),
    ]


def _vectors(page: Page, step: Step, i: int) -> list[Block]:
    """o_0 = a_00·v_0 + ..; the same in figures; the products; the sum."""
    a, v = (operand.symbol for operand in step.operands)
    count = step.operands[0].shape[1]
    letters = [compose("dot", page.subscripted(a, i, k), page.subscripted(v, k)) for k in range(count)]
    # Each component is a chain of its own, a×v + .. = products = sum; a line of vectors is true where all of them are.
    chains = [page.summed(step, i, j, products=True) for j in range(step.shape[1])]
    rows = [
        compose("chain", page.subscripted(step.symbol, i), "=", compose("plus", *letters)),
        compose("chain", "=", _scaled_vectors(page, step, i)),
    ]
    if count > 1:
        products = [vector(page.terms(step)[i, :, k].tolist()) for k in range(count)]
        rows.append(compose("chain", _sign(chain[2] for chain in chains), compose("plus", *products)))
    rows.append(compose("chain", _sign(chain[-2] for chain in chains), page.row(step, i)))
    return [Formula(tuple(rows))]


def _sign(signs: Iterable[Math | str]) -> str:
    return "=" if all(sign == "=" for sign in signs) else "≈"


def _scaled_vectors(page: Page, step: Step, i: int) -> Math:
    """0.401·[1, 0] + 0.198·[1, 1] + ..."""
    weights, values = step.operands
    return compose(
        "plus",
        *(compose("dot", page.cell(weights, i, k), page.row(values, k)) for k in range(weights.shape[1])),
    )
