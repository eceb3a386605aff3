"""A row of outputs as the weighted sum of the rows of V: component by component, or vector by vector."""

from __future__ import annotations

from attncalc.blocks import Block, Formula, Math, Prose, Section, Work, compose, figure
from attncalc.layout.page import Page
from attncalc.steps import Step


def weighted_sum(page: Page, step: Step) -> list[Block]:
    """A section for each row of the product of weights and values."""
    lay = {"components": _components, "vectors": _vectors}[page.show.weighted_sum]
    return [
        Section(page.row_name("row", step.rows, i), f"{step.id}-{i + 1}", tuple(lay(page, step, i)))
        for i in range(step.shape[0])
    ]


def _components(page: Page, step: Step, i: int) -> list[Block]:
    """o_1 = 0.401·[1, 0] + ..; component 1: 0.401×1 + .. = 0.401 + .. = 1.401; o_1 = [1.401, 0.599]."""
    o = page.subscripted("o", i)
    lines: list[tuple[Prose | None, Math]] = [
        (
            page.say("lines.component", n=page.count(j)),
            compose("chain", *page.summed(step, i, j, products=True)[1:]),
        )
        for j in range(step.shape[1])
    ]
    return [
        Formula(compose("chain", o, "=", _scaled_vectors(page, step, i))),
        Work(tuple(lines)),
        Formula(compose("chain", o, "=", page.row(step, i))),
    ]


def _vectors(page: Page, step: Step, i: int) -> list[Block]:
    """o_0 = a_00·v_0 + ..; the same in figures; the products; the sum."""
    weights, _ = step.operands
    letters = [
        compose("dot", page.subscripted("a", i, k), page.subscripted("v", k)) for k in range(weights.shape[1])
    ]
    terms = [page.terms(step, i, j) for j in range(step.shape[1])]
    products = [_vector([column.texts[k] for column in terms]) for k in range(weights.shape[1])]
    exact_products = all(column.true for column in terms)
    sums = all(column.adds_up for column in terms)
    return [
        Formula(
            compose(
                "derivation",
                page.subscripted("o", i), "=", compose("plus", *letters),
                "=", _scaled_vectors(page, step, i),
                "=" if exact_products else "≈", compose("plus", *products),
                "=" if sums else "≈", page.row(step, i),
            )
        )
    ]  # fmt: skip


def _scaled_vectors(page: Page, step: Step, i: int) -> Math:
    """0.401·[1, 0] + 0.198·[1, 1] + ..."""
    weights, values = step.operands
    return compose(
        "plus",
        *(compose("dot", page.cell(weights, i, k), page.row(values, k)) for k in range(weights.shape[1])),
    )


def _vector(texts: list[str]) -> Math:
    return compose("vector", *map(figure, texts))
