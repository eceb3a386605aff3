"""Scaled dot-product attention, one head (Vaswani et al. 2017, section 3.2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncalc.expr import Expr, dot, name, number, slot, sqrt
from attncalc.mechanisms import masks
from attncalc.mechanisms.softmax import renormalised, softmax
from attncalc.problem import Attention, Scale, Show
from attncalc.sheet import Sheet
from attncalc.steps import Step

K_T = Expr("transpose", name("K"))
S_SCALED = Expr("tilde", name("S"))
S_MASKED = Expr("tilde", name("S_masked"))

# The matrices that a problem may state, in the order of the page: what their rows and columns stand for, their role.
GIVEN = {
    "H": ("queries", "", "input"),
    "W_Q": ("", "", "weight"),
    "b_Q": ("", "", "weight"),
    "W_K": ("", "", "weight"),
    "b_K": ("", "", "weight"),
    "W_V": ("", "", "weight"),
    "b_V": ("", "", "weight"),
    "Q": ("queries", "", "query"),
    "K": ("keys", "", "key"),
    "S": ("queries", "keys", "scores"),
    "A": ("queries", "keys", "weights"),
    "V": ("keys", "", "value"),
}
PROJECTED = {"Q": "query", "K": "key", "V": "value"}


def attention(sheet: Sheet, given: Attention, show: Show) -> Step:
    """O = softmax(Q·Kᵀ / √d_k + M)·V, n × d_v, from wherever the problem starts: H and weights; Q, K, V; S; or A."""
    conventions(sheet, given)
    parts = stated(sheet, given)
    if "H" in parts:
        parts |= projections(sheet, parts)
    if "A" in parts:
        A = masked_weights(sheet, parts["A"]) if given.causal else parts["A"]
    else:
        S = parts.get("S") or scores(sheet, parts["Q"], parts["K"])
        S = scaled(sheet, S, given.scale, given.d_k)
        if given.causal:
            S = masked_scores(sheet, S)
        A = softmax(sheet, S, shift=show.shift)
    if "V" not in parts:
        return A
    with sheet.group("weighted_sum"):
        return sheet.contract("O", A, parts["V"], role="output")


def stated(sheet: Sheet, given: Attention) -> dict[str, Step]:
    """The matrices of the problem as steps."""
    labels = {"queries": given.tokens, "keys": given.memory_tokens or given.tokens, "": None}
    parts: dict[str, Step] = {}
    with sheet.group("given"):
        for id, (rows, columns, role) in GIVEN.items():
            matrix = getattr(given, id)
            if matrix is None:
                continue
            about: dict[str, Any] = {"rows": labels[rows], "columns": labels[columns], "role": role}
            if id == "A" and given.causal:
                parts[id] = sheet.given("given_A", matrix, symbol=name("A_given"), **about)
            else:
                parts[id] = sheet.given(id, matrix, **about)
    return parts


def projections(sheet: Sheet, parts: Mapping[str, Step]) -> dict[str, Step]:
    """Q = H·W_Q + b_Q, and K and V likewise, each n × d_k (V: n × d_v)."""
    projected = {}
    with sheet.group("projections"):
        for id, role in PROJECTED.items():
            weight, bias = parts[f"W_{id}"], parts.get(f"b_{id}")
            if bias is None:
                projected[id] = sheet.contract(id, parts["H"], weight, role=role)
            else:
                product = sheet.contract(f"{id}.product", parts["H"], weight, symbol=dot(name("H"), weight.symbol))
                projected[id] = sheet.map(id, slot(0) + slot(1), product, bias, role=role)
    return projected


def scores(sheet: Sheet, Q: Step, K: Step) -> Step:
    """S = Q·Kᵀ, n × m: S[i,j] is the dot product of query i and key j."""
    with sheet.group("scores"):
        transposed = sheet.arrange("K_T", lambda cells: cells.T, K, symbol=K_T, columns=K.rows, formula=K_T)
        return sheet.contract("S", Q, transposed, role="scores")


def scaled(sheet: Sheet, S: Step, scale: Scale, d_k: int | None) -> Step:
    """S̃ = S / √d_k, n × m, or by the factor that the problem states."""
    factor = number(scale.value, scale.written)
    law = {
        "none": None,
        "sqrt_d_k": slot(0) / sqrt(number(float(d_k or 1), symbol="d_k")),
        "divide": slot(0) / factor,
        "multiply": slot(0) * factor,
    }[scale.kind]
    if law is None:
        return S
    with sheet.group("scaling"):
        return sheet.map("scaled", law, S, symbol=S_SCALED, role="scores")


def masked_scores(sheet: Sheet, S: Step) -> Step:
    """S̃ + M, n × m: what may not be seen gets -∞, and so a weight of 0."""
    with sheet.group("mask"):
        mask = masks.additive(masks.causal(S.shape[0]))
        M = sheet.given("mask", mask, symbol=name("M"), places=0, rows=S.rows, columns=S.columns, role="mask")
        return sheet.map("masked", slot(0) + slot(1), S, M, symbol=S_MASKED, role="scores")


def masked_weights(sheet: Sheet, A: Step) -> Step:
    """Given weights, n × m, cut down to what the mask leaves and divided by what is left of each row."""
    with sheet.group("mask"):
        kept = masks.kept(masks.causal(A.shape[0]))
        keep = sheet.given("mask", kept, symbol=name("M"), places=0, rows=A.rows, columns=A.columns, role="mask")
    return renormalised(sheet, A, keep)


def conventions(sheet: Sheet, given: Attention) -> None:
    """What the figures rest on, for the head of the page."""
    sheet.convention("start", given.start)
    if given.start != "A":
        scale = given.scale
        sheet.convention("scale", scale.kind, d_k=given.d_k, value=scale.written)
    mask = "none" if not given.causal else "causal_weights" if given.start == "A" else "causal"
    sheet.convention("mask", mask)
