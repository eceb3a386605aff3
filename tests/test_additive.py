"""Additive scores and masks of queries: against plain loops, by the laws of steps, on the page, and their errors."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_transformers import problems, text_of
from test_laws import check_printed, check_recomputed, check_workings
from test_transformers import compare, worked
from transformer_oracle import solve as by_loops

from attncalc import formats
from attncalc.errors import ProblemError
from attncalc.layout import lay_out
from attncalc.mechanisms import solve
from attncalc.problem import parse
from attncalc.steps import Pair

PROBLEMS = Path(__file__).resolve().parent.parent / "problems"
QKV = "Q: [[1, 0], [0, 1]]\nK: [[0, 1], [1, 0]]\nV: [[1, 2], [3, 4]]\n"


def page(text: str, name: str = "text", lang: str = "en") -> str:
    read = parse(text.encode(), folder=PROBLEMS)
    return formats.render(name, lay_out(solve(read), read.show, lang, kind=read.kind))


@settings(max_examples=80)
@given(problems("attention"))
def test_the_engine_agrees_with_plain_loops(problem: dict[str, Any]) -> None:
    assume("scores" in problem or "query_mask" in problem)
    expected = by_loops(problem)
    steps = worked(problem)
    assert compare(steps, expected, 1e-11)
    if "query_mask" in problem:
        assert next(reversed(steps)) == "masked_output" in expected
    if "heads" not in problem and "scores" in problem:
        assert isinstance(steps["S"], Pair) and "S" in expected


@settings(max_examples=60)
@given(problems("attention"), st.integers(0, 5))
def test_the_laws_of_steps_hold(problem: dict[str, Any], decimals: int) -> None:
    assume("scores" in problem or "query_mask" in problem)
    for rounding in ("exact", "carried"):
        read = parse(text_of(problem).encode()).with_show(rounding=rounding, decimals=decimals)
        solution, rule = solve(read), read.show.rule
        check_workings(solution, rule)
        check_recomputed(solution, rule)
        if rule.carried:
            check_printed(solution, rule)


@pytest.mark.parametrize("path", [PROBLEMS / "additive.yaml", PROBLEMS / "query-mask.yaml"], ids=lambda path: path.name)
def test_each_cell_is_worked_out_in_every_format_and_language(path: Path) -> None:
    text = path.read_text("utf-8")
    ways = itertools.product(("text", "markdown", "html", "latex"), ("en", "zh"))
    pages = [page(text, name, lang) for name, lang in ways]
    assert all(pages)
    if path.name == "additive.yaml":
        assert "S[1,1] = 1×tanh(1 + 0) + 0.5×tanh(0 + 1) ≈ 1.142\n" in pages[0]
        assert pages[0].count("S[i,j] = rowsum(v_a ⊙ tanh(q_i + k_j))\n") == 2
    else:
        assert "row 3 (<pad>)  [" in pages[0] and "×0] = [0, 0]\n" in pages[0]


def test_additive_scores_are_not_scaled_unless_that_is_said() -> None:
    for said, scaled in (("", False), ("scale: none\n", False), ("scale: sqrt_d_k\n", True), ("scale: 2\n", True)):
        steps = solve(parse(f"{QKV}scores: additive\n{said}".encode())).steps
        assert ("scaled" in steps) == scaled, said
    assert "scaled" in solve(parse(f"{QKV}scores: dot\n".encode())).steps


def test_a_tanh_of_0_is_exact_and_no_other() -> None:
    text = "Q: [[1, 2], [1, 3]]\nK: [[-1, -2], [0, 0]]\nscores: additive\n"
    S = solve(parse(text.encode())).steps["S"]
    assert S.exact.tolist() == [[True, False], [False, False]]
    assert "S[1,1] = tanh(1 + (-1)) + tanh(2 + (-2)) = 0\n" in page(text)


def test_a_large_one_is_as_the_small_one() -> None:
    """More terms than anybody follows, and the same figures in the same places."""
    drawn = "{random: integers, from: -2, to: 2, seed: %d, rows: 110, columns: 90}"
    S = solve(parse(f"Q: {drawn % 1}\nK: {drawn % 2}\nscores: additive\n".encode())).steps["S"]
    Q, K = (operand.values for operand in S.operands)
    assert np.allclose(S.values, np.tanh(Q[:, None, :] + K[None, :, :]).sum(axis=2), rtol=1e-12)
    assert S.exact.shape == (110, 110)


WRONG = [
    ("scores: concat\n", "scores", ""),
    ("v_a: [1, 2]\n", "v_a", "not used with scores: dot"),
    ("scores: additive\nv_a: [1, 2, 3]\n", "v_a", ""),
    ("scores: additive\nv_a: [1]\nheads: 2\n", "v_a", "that of one head, but there are 2"),
    ("query_mask: [1]\n", "query_mask", ""),
    ("query_mask: [1, 2]\n", "query_mask[2]", "2 is not 0 or 1"),
]


@pytest.mark.parametrize(("more", "path", "what"), WRONG)
def test_what_does_not_fit_is_refused(more: str, path: str, what: str) -> None:
    with pytest.raises(ProblemError) as caught:
        parse((QKV + more).encode())
    assert caught.value.path == path and what in caught.value.what


@pytest.mark.parametrize(
    ("text", "path", "what"),
    [
        ("S: [[1]]\nscale: none\nscores: additive\n", "scores", "not used where S is given"),
        ("A: [[1]]\nv_a: [1]\n", "v_a", "not used where A is given"),
        ("Q: [[1]]\nK: [[1]]\nquery_mask: [1]\n", "query_mask", "not used where no V is given"),
    ],
)
def test_what_is_of_no_use_is_refused(text: str, path: str, what: str) -> None:
    with pytest.raises(ProblemError) as caught:
        parse(text.encode())
    assert (caught.value.path, caught.value.what) == (path, what)


def test_a_layer_has_no_mask_of_queries() -> None:
    layer = "{attention: {W_Q: identity, W_K: identity, W_V: identity, query_mask: [1]}}"
    with pytest.raises(ProblemError) as caught:
        parse(f"kind: encoder\nH: [[1]]\nlayers: [{layer}]\n".encode())
    assert (caught.value.path, caught.value.hint) == ("layers[1].attention.query_mask", "leave it out")
