"""From a problem to Q, K and V: what is stated, weights as they are used, and the products with H."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attncalc.expr import Expr, dot, slot
from attncalc.problem.attention import Attention
from attncalc.sheet import Sheet
from attncalc.steps import FILL, Axis, Matrix, Numbers, Step

Parts = dict[str, Step]

# The matrices that a problem may state, in the order of the page: what their rows and columns stand for, their role.
STATED = {
    "H": ("queries", "", "input"),
    "memory": ("keys", "", "memory"),
    **{f"{kind}_{of}": ("", "", "weight") for of in ("QKV", "Q", "K", "V") for kind in "Wb"},
    "Q": ("queries", "", "query"),
    "K": ("keys", "", "key"),
    "v_a": ("", "", "weight"),
    "S": ("queries", "keys", "scores"),
    "A": ("queries", "keys", "weights"),
    "V": ("keys", "", "value"),
    "W_O": ("", "", "weight"),
    "b_O": ("", "", "weight"),
    "query_mask": ("queries", "", "query_mask"),
}
ROLES = {"Q": "query", "K": "key", "V": "value"}
LETTERS = {"memory": "H_memory", "given_A": "A_given", "query_mask": "m_Q"}


def stated(sheet: Sheet, given: Any, axes: Mapping[str, Axis | None]) -> Parts:
    """The matrices that a problem, or one head of it, states, as steps."""
    parts: Parts = {}
    for id, (rows, columns, role) in STATED.items():
        matrix: Matrix | None = getattr(given, id, None)
        if matrix is None:
            continue
        # Weights under a mask are not yet those that the calculation ends with.
        name, role = ("given_A", "given_weights") if id == "A" and given.mask else (id, role)
        symbol = sheet.symbol(LETTERS.get(name, name))
        parts[id] = sheet.given(name, matrix, symbol=symbol, rows=axes[rows], columns=axes[columns], role=role)
    return parts


def usable(sheet: Sheet, parts: Parts, each: list[Parts], given: Attention) -> tuple[Parts, list[Parts]]:
    """The weights as they are multiplied by, in × out: stored ones transposed, a stack of three cut into its parts,
    those of single heads put side by side (unless each head projects columns of its own)."""
    with sheet.group("weights"):
        if given.orientation == "out-in":
            parts = _transposed(sheet, parts)
            each = [_transposed(sheet, one, f"head{h}.") for h, one in enumerate(each, 1)]
        for stack in [id for id in ("W_QKV", "b_QKV") if id in parts]:
            for of, (start, end) in _cuts(parts[stack].shape[1], given).items():
                id = f"{stack[0]}_{of}"
                parts[id] = sheet.arrange(id, columns(start, end), parts[stack], role="weight")
        if given.split == "projection" and len(each) > 1:
            for id in [f"{kind}_{of}" for of in ROLES for kind in "Wb"]:
                if found := [one[id] for one in each if id in one]:
                    parts[id] = sheet.arrange(id, _of_heads(id, each), *found, role="weight")
    return (parts | each[0], each) if len(each) == 1 else (parts, each)


def _of_heads(id: str, each: list[Parts]) -> Callable[..., Numbers]:
    """The matrices or biases of heads side by side; a head that has weights and no bias has one of 0."""
    widths = [(id in one, one[f"W_{id[-1]}"].shape[1]) for one in each if f"W_{id[-1]}" in one]

    def sources(*cells: Numbers) -> Numbers:
        given = iter(cells)
        return side_by_side(*(next(given) if has else np.full((1, width), FILL) for has, width in widths))

    return sources


def _transposed(sheet: Sheet, parts: Parts, prefix: str = "") -> Parts:
    turned = {
        id: sheet.arrange(
            f"{prefix}{id}_T", np.transpose, step, symbol=Expr("transpose", step.symbol), role="weight"
        )
        for id, step in parts.items()
        if id.startswith("W_")
    }
    return parts | turned


def _cuts(width: int, given: Attention) -> dict[str, tuple[int, int]]:
    """Where the columns of W_Q, W_K and W_V begin and end in a stack of them."""
    assert given.d_k is not None
    queries, keys = given.heads * given.d_k, given.kv_heads * given.d_k
    return {"Q": (0, queries), "K": (queries, queries + keys), "V": (queries + keys, width)}


def projections(sheet: Sheet, parts: Parts) -> Parts:
    """Q = H·W_Q + b_Q, n × d_k; K and V likewise, from the memory where there is one, m × d_k and m × d_v."""
    projected: Parts = {}
    with sheet.group("projections"):
        for id, role in ((id, role) for id, role in ROLES.items() if id not in parts):
            source = parts["H"] if id == "Q" else parts.get("memory", parts["H"])
            projected[id] = affine(sheet, id, source, parts[f"W_{id}"], parts.get(f"b_{id}"), role)
        if len(projected) > 1:
            sheet.remark("side_by_side", *projected.values())
    return projected


def affine(sheet: Sheet, id: str, x: Step, W: Step, b: Step | None, role: str, **about: Any) -> Step:
    """x·W + b, n × d; the product has a step of its own where a bias follows."""
    if b is None:
        return sheet.contract(id, x, W, role=role, **about)
    product = sheet.contract(f"{id}.product", x, W, symbol=dot(x.symbol, W.symbol))
    return sheet.map(id, slot(0) + slot(1), product, b, role=role, **about)


def columns(start: int, end: int) -> Callable[[Numbers], Numbers]:
    """The columns from start to end of a matrix."""
    return lambda cells: cells[:, start:end]


def side_by_side(*cells: Numbers) -> Numbers:
    """Matrices of as many rows, put one beside the other."""
    return np.concatenate(cells, axis=1)


def below(*cells: Numbers) -> Numbers:
    """Matrices of as many columns, put one below the other."""
    return np.concatenate(cells, axis=0)
