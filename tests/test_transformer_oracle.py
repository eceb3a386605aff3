"""What PyTorch and Hugging Face give (transformer_cases.json, made by transformer_cases.py) against the oracle."""

import json
import math
from copy import deepcopy
from pathlib import Path

import oracle
import pytest
import yaml
from hypothesis import assume, given, settings
from random_problems import cases
from random_transformers import KINDS, problems, text_of
from transformer_oracle import solve

HERE = Path(__file__).resolve().parent
MADE = json.loads((HERE / "transformer_cases.json").read_text("utf-8"))
CASES = {case["name"]: case for case in MADE["cases"]}


def check(got, expected, tolerance):
    assert [len(row) for row in got] == [len(row) for row in expected]
    for got_row, row in zip(got, expected, strict=True):
        for figure, true in zip(got_row, row, strict=True):
            assert abs(figure - true) <= tolerance * max(1, abs(true)), (figure, true)


@pytest.mark.parametrize("name", CASES)
def test_the_oracle_agrees_with_pytorch_and_hugging_face(name):
    case = CASES[name]
    steps = solve(case["problem"])
    for id, expected in case["expected"].items():
        check(steps[id], expected, case["tolerance"])
    if "generated" in case:
        within = "decoder." if case["problem"]["kind"] == "encoder-decoder" else ""
        assert steps[f"{within}tokens"] == [case["generated"]]
        for step, row in enumerate(case["last_logits"], 1):
            check(steps[f"{within}step{step}.last_logits"], [row], case["tolerance"])


def test_every_name_is_there_once_and_every_case_has_figures():
    assert len(CASES) == len(MADE["cases"])
    assert all(case["expected"] or case["generated"] for case in CASES.values())
    kinds = {case["problem"]["kind"] for case in CASES.values()}
    assert kinds >= {"positions", "rotary", "layer-norm", "rms-norm", "feed-forward", "experts", "output", "loss",
                     "encoder", "decoder", "encoder-decoder"}  # fmt: skip


def test_other_conventions_are_seen():
    """The comparison can fail: the same problems read otherwise give other figures."""

    def differs(name, change):
        problem = deepcopy(CASES[name]["problem"])
        change(problem)
        with pytest.raises(AssertionError):
            for id, expected in CASES[name]["expected"].items():
                check(solve(problem)[id], expected, CASES[name]["tolerance"])

    differs("Llama of one layer", lambda said: said["position"].update(pairs="adjacent"))
    differs("Llama of one layer", lambda said: said["layers"][0]["attention"].update(mask="none"))
    differs("GPT-2 of two layers", lambda said: said["layers"][1]["feed_forward"].update(activation="gelu"))
    differs("two experts of four", lambda said: said.update(renormalise="no"))
    differs("Mistral, a window of two", lambda said: said["layers"][0]["attention"].update(mask="causal"))
    differs("encoder layer, post-norm, relu", lambda said: said["layers"][0]["norms"][0].update(place="pre"))
    differs("layer norm, unbiased, eps outside the root", lambda said: said.update(variance="biased"))
    differs("rotary in halves, from position 3", lambda said: said.update(start=2))


# Attention, of which there is another oracle


def test_the_oracle_agrees_with_pytorch_on_attention():
    for case in json.loads((HERE / "torch_cases.json").read_text("utf-8"))["cases"]:
        steps = solve(yaml.safe_load(case["problem"]))
        for id, expected in case["figures"].items():
            check(steps[id], expected, 1e-10)


@given(cases(rounding="exact"))
def test_the_two_oracles_agree_on_attention(case):
    problem = yaml.safe_load(case.text)
    assume(problem.get("kind") != "softmax" and ("H" in problem or {"Q", "V"} <= problem.keys()))
    steps, expected = solve(problem), oracle.attention(case.data, oracle.Exact())
    both = steps.keys() & expected.keys()
    assert both >= {id for id in expected if id.rpartition(".")[2] in ("A", "O", "output", "concat")}
    for id in both:
        check(steps[id], expected[id], 1e-11)


# Random problems


@pytest.mark.parametrize("kind", KINDS)
def test_random_problems_have_finite_solutions(kind):
    @settings(max_examples=25)
    @given(problems(kind))
    def solved(problem):
        steps = solve(yaml.safe_load(text_of(problem)))
        assert all(math.isfinite(x) for rows in steps.values() for row in rows for x in row)
        assert steps == solve(problem)

    solved()


@settings(max_examples=60)
@given(problems("generation"))
def test_a_cache_changes_nothing(problem):
    with_cache, without = (
        solve(problem | {"generate": problem["generate"] | {"cache": cache}}) for cache in (True, False)
    )
    assert set(with_cache) == set(without)
    assert with_cache["tokens"] == without["tokens"]
    for id, rows in with_cache.items():
        check(rows, without[id], 1e-9)


@settings(max_examples=60)
@given(problems("rotary"))
def test_a_rotation_keeps_lengths(problem):
    assume("cos" not in problem)
    for before, after in zip(problem["x"], solve(problem)["rotated"], strict=True):
        assert math.hypot(*after) == pytest.approx(math.hypot(*before))
