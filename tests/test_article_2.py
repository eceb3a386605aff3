"""The figures of article 2, "A sentence through the Transformer", part by part, each from a problem file."""

import numpy as np
import pytest

from attncalc import digits
from attncalc.mechanisms import solve
from attncalc.problem import parse


def shown(text, id="result"):
    """A step as the page prints it."""
    problem = parse(text.encode())
    solution = solve(problem)
    step = solution.result if id == "result" else solution.steps[id]
    return digits.shown(step, problem.show.rule).tolist()


FEED_FORWARD = "kind: feed-forward\nx: [[1, -1]]\nW_1: [[1, 0, 1], [0, 1, -1]]\nW_2: [[1, 0], [0, 1], [0, 1]]\n"


@pytest.mark.parametrize("rounding", ["exact", "carried"])
@pytest.mark.parametrize(
    ("text", "id", "figures"),
    [
        ("kind: layer-norm\nx: [[1, 3]]\neps: 0\n", "normalised", [["-1", "1"]]),
        ("kind: layer-norm\nx: [[1, 3]]\neps: 0\n", "mean", [["2"]]),
        ("kind: rms-norm\nx: [[1, 3]]\neps: 0\n", "normalised", [["0.447", "1.342"]]),
        ("kind: residual\nx: [[2, 1]]\nf: [[0.1, -0.2]]\n", "output", [["2.1", "0.8"]]),
        ("kind: gate\nvalue: [[3]]\ngate: [[0.2]]\n", "output", [["0.6"]]),
        (FEED_FORWARD, "hidden", [["1", "-1", "2"]]),
        (FEED_FORWARD, "activated", [["1", "0", "2"]]),
        (FEED_FORWARD, "output", [["1", "2"]]),
        (f"{FEED_FORWARD}activation: none\n", "output", [["1", "1"]]),
        (f"{FEED_FORWARD}activation: none\n", "W_1.W_2", [["1", "1"], ["0", "0"]]),
        ("kind: output\nvocabulary: [商家, 买家, 未知]\nlogits: [[2, 1, 0]]\n", "probabilities",
         [["0.665", "0.245", "0.090"]]),
        ("Q: [[1, 0]]\nK: [[1, 0], [1, 0]]\nscale: none\nposition: {kind: rotary, angles: [60], degrees: yes}\n", "S",
         [["1", "0.5"]]),
        ("kind: size\nskeleton: decoder\nexperts: 8\ntop_k: 2\nexpert_parameters: 10000000\n",
         "parameters.all_experts", [["80000000"]]),
        ("kind: size\nskeleton: decoder\nexperts: 8\ntop_k: 2\nexpert_parameters: 10000000\n",
         "parameters.chosen_experts", [["20000000"]]),
    ],
)  # fmt: skip
def test_a_figure(text, id, figures, rounding):
    assert shown(f"{text}show: {{rounding: {rounding}}}\n", id) == figures


def test_eight_key_value_heads_for_thirty_two_query_heads_take_a_quarter():
    text = "kind: size\nd_model: 4096\nheads: 32\nkv_heads: %d\nlayers: 32\nlength: 1000\n"
    few, many = (float(shown(text % count, "cache.bytes")[0][0]) for count in (8, 32))
    assert few * 4 == many


def test_a_dot_product_of_turned_vectors_rests_on_how_far_apart_they_stand():
    """(R_i q)·(R_j k) = q·(R_(j-i) k)."""
    q, k = "[0.3, -1.2, 0.5, 2]", "[1.1, 0.4, -0.7, 0.9]"
    rows = ", ".join
    text = f"Q: [{rows([q] * 4)}]\nK: [{rows([k] * 4)}]\nscale: none\nposition: rotary\n"
    S = solve(parse(text.encode())).steps["S"].values
    for i in range(4):
        for j in range(4):
            assert S[i, j] == pytest.approx(S[0, j - i] if j >= i else S[i - j, 0], abs=1e-12)
    assert not np.allclose(S[0], S[0, 0])
