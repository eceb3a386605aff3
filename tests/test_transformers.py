"""The engine against plain loops, PyTorch and Hugging Face: everything around one attention."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from random_transformers import KINDS, problems, text_of
from transformer_oracle import solve as by_loops

from attncalc.mechanisms import solve
from attncalc.problem import parse

HERE = Path(__file__).resolve().parent
PROBLEMS = HERE.parent / "problems"
CASES = {case["name"]: case for case in json.loads((HERE / "transformer_cases.json").read_text("utf-8"))["cases"]}


def worked(problem):
    return solve(parse(text_of(problem).encode(), folder=PROBLEMS)).steps


def check(id, got, expected, tolerance):
    assert [len(row) for row in got] == [len(row) for row in expected], id
    for got_row, row in zip(got, expected, strict=True):
        for figure, true in zip(got_row, row, strict=True):
            near = math.isfinite(true) and abs(figure - true) <= tolerance * max(1, abs(true))
            assert figure == true or near, (id, got, expected)


def compare(steps, expected, tolerance):
    """How many of the oracle's figures were compared: those of steps that are called the same."""
    compared = 0
    for id, rows in expected.items():
        name = id.replace("last_logits", "output.logits").replace("last_probabilities", "output.probabilities")
        if name in steps:
            check(id, steps[name].values.tolist(), rows, tolerance)
            compared += 1
    return compared


@pytest.mark.parametrize("name", CASES)
def test_the_engine_agrees_with_pytorch_and_hugging_face(name):
    case = CASES[name]
    steps = worked(case["problem"])
    for id, expected in case["expected"].items():
        step = list(steps.values())[-1] if id == "result" else steps[id]
        check(id, step.values.tolist(), expected, case["tolerance"])
    if "generated" in case:
        within = "decoder." if case["problem"]["kind"] == "encoder-decoder" else ""
        generated = [int(id) for (id,) in steps[f"{within}generated"].values.tolist()]
        assert case["generated"][-len(generated) :] == generated
        for step, row in enumerate(case["last_logits"], 1):
            check(f"step{step}", steps[f"{within}step{step}.output.logits"].values.tolist(), [row], case["tolerance"])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "attention"])
def test_the_engine_agrees_with_plain_loops(kind):
    @settings(max_examples=40)
    @given(problems(kind))
    def agrees(problem):
        # Probabilities alone: nothing is left to calculate.
        assume(problem["kind"] != "output" or "probabilities" not in problem or {"top_k", "top_p"} & set(problem))
        assert compare(worked(problem), by_loops(problem), 1e-11)

    agrees()


@pytest.mark.parametrize(
    ("kind", "part", "memory"),
    [
        ("encoder", "attention", ""),
        ("decoder", "attention", ""),
        ("decoder", "cross_attention", "memory: {H: [[1, 1], [0, 2]]}\n"),
    ],
)
def test_a_layer_takes_heads_one_by_one_as_it_takes_them_side_by_side(kind, part, memory):
    listed = "heads: [{W_Q: [[1], [2]], W_K: [[1], [0]], W_V: [[1], [1]]}, {W_Q: [[0], [1]], W_K: [[1], [1]], " \
             "W_V: [[2], [1]]}]"  # fmt: skip
    joined = "heads: 2, W_Q: [[1, 0], [2, 1]], W_K: [[1, 1], [0, 1]], W_V: [[1, 2], [1, 1]]"
    head = f"kind: {kind}\nH: [[1, 2], [3, -4]]\n{memory}"
    one, other = (
        solve(parse(f"{head}layers: [{{{part}: {{{heads}, W_O: [[1, 2], [0, 1]]}}}}]\n".encode()))
        for heads in (listed, joined)
    )
    assert one.result.values.tolist() == other.result.values.tolist()
