"""Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1): one head, worked on steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attncalc.expr import Expr, function, number, slot, sqrt
from attncalc.mechanisms import masks
from attncalc.mechanisms.softmax import renormalised, softmax
from attncalc.problem.attention import Scale
from attncalc.problem.masks import Mask
from attncalc.sheet import Sheet
from attncalc.steps import Step


class Rules(NamedTuple):
    """What a head does to its scores: how they are scaled, capped and masked, and how softmax is shifted.

    `mask` gives M, n × m, for these scores when the page comes to it; None where everything is visible.
    """

    scale: Scale
    d_k: int | None = None
    softcap: tuple[float, str] | None = None
    mask: Callable[[Sheet, Step], Step] | None = None
    refuse_empty_rows: bool = False
    shift: str = "needed"
    additive: bool = False
    v_a: Step | None = None  # what an additive score weighs its terms by, 1 × d_k
    relative: bool = False  # whether one query and one key stand at every place, so that only their distance matters


def head(sheet: Sheet, Q: Step, K: Step, V: Step | None, rules: Rules) -> Step:
    """O = softmax(Q·Kᵀ / √d_k + M)·V, n × d_v; A alone, n × m, where there is no V."""
    S = additive_scores(sheet, Q, K, rules.v_a) if rules.additive else scores(sheet, Q, K, rules.relative)
    A = weights(sheet, S, rules)
    return A if V is None else weighted_sum(sheet, A, V)


def scores(sheet: Sheet, Q: Step, K: Step, relative: bool = False) -> Step:
    """S = Q·Kᵀ, n × m: S[i,j] is the dot product of query i and key j."""
    with sheet.group("scores"):
        K_T = sheet.arrange("K_T", np.transpose, K, symbol=Expr("transpose", K.symbol), columns=K.rows)
        S = sheet.contract("S", Q, K_T, role="scores")
        if relative:
            sheet.remark("relative", S)
        return S


def additive_scores(sheet: Sheet, Q: Step, K: Step, v_a: Step | None = None) -> Step:
    """S[i,j], n × m: the sum of tanh(q_i + k_j), each of its figures times that of v_a where there is one (Bahdanau et
    al. 2015, section 3.1 and appendix A.1.2)."""
    term = function("tanh", slot(0) + slot(1))
    with sheet.group("scores"):
        if v_a is None:
            return sheet.pair("S", term, Q, K, role="scores")
        return sheet.pair("S", slot(2) * term, Q, K, v_a, role="scores")


def weights(sheet: Sheet, S: Step, rules: Rules) -> Step:
    """A = softmax(S̃ + M), n × m."""
    S = scaled(sheet, S, rules.scale, rules.d_k)
    if rules.softcap:
        S = capped(sheet, S, *rules.softcap)
    if rules.mask:
        with sheet.group("mask"):
            M = rules.mask(sheet, S)
            S = sheet.map("masked", slot(0) + slot(1), S, M, symbol=sheet.symbol("S_masked"), role="masked")
            if rules.refuse_empty_rows:
                masks.refuse_empty_rows(M, S.values > -np.inf)
    return softmax(sheet, S, shift=rules.shift)


def scaled(sheet: Sheet, S: Step, scale: Scale, d_k: int | None) -> Step:
    """S̃ = S / √d_k, n × m, or by the factor that the problem states."""
    match scale.kind:
        case "none":
            return S
        case "sqrt_d_k":
            assert d_k is not None
            law = slot(0) / sqrt(number(float(d_k), symbol="d_k"))
        case "divide":
            law = slot(0) / number(scale.value, scale.written)
        case _:
            law = slot(0) * number(scale.value, scale.written)
    with sheet.group("scaling"):
        return sheet.map("scaled", law, S, symbol=Expr("tilde", S.symbol), role="scaled")


def capped(sheet: Sheet, S: Step, cap: float, written: str) -> Step:
    """c·tanh(S̃ / c), n × m: scores held between -c and c (Gemma Team 2024, Gemma 2, section 2)."""
    c = number(cap, written)
    with sheet.group("softcap"):
        law = c * function("tanh", slot(0) / c)
        return sheet.map("softcap", law, S, symbol=sheet.symbol("S_capped"), role="scaled")


def weighted_sum(sheet: Sheet, A: Step, V: Step) -> Step:
    """O = A·V, n × d_v."""
    with sheet.group("weighted_sum"):
        return sheet.contract("O", A, V, role="weighted_sum")


def masked_weights(sheet: Sheet, A: Step, mask: Mask, refuse: bool) -> Step:
    """Given weights, n × m, cut down to what a mask leaves and divided by what is left of each row."""
    with sheet.group("mask"):
        assert A.rows and A.columns
        M = masks.keeping(sheet, mask, A.rows, A.columns, A.shape)
        if refuse:
            masks.refuse_empty_rows(M, A.values * M.values > 0)
    kept = renormalised(sheet, A, M)
    sheet.remark("before_and_after", A, kept, M)
    return kept
