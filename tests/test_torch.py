"""PyTorch's figures (torch_cases.json, which torch_cases.py made) against those of the engine and of the oracle."""

import json
from pathlib import Path

import oracle
import pytest
from problem_files import data_of

from attncalc.mechanisms import solve
from attncalc.problem import parse

MADE = json.loads(Path(__file__).with_name("torch_cases.json").read_text("utf-8"))
CASES = {case["name"]: case for case in MADE["cases"]}
MOST = 1e-10


def differences(got, expected):
    assert [len(row) for row in got] == [len(row) for row in expected]
    return [abs(a - b) for rows in zip(got, expected, strict=True) for a, b in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", CASES)
def test_the_engine_agrees_with_pytorch(name):
    steps = solve(parse(CASES[name]["problem"].encode())).steps
    assert next(reversed(steps)) in CASES[name]["figures"]  # the result is among what is compared
    for id, expected in CASES[name]["figures"].items():
        assert max(differences(steps[id].values.tolist(), expected)) <= MOST, id


@pytest.mark.parametrize("name", CASES)
def test_the_oracle_agrees_with_pytorch(name):
    steps = oracle.attention(data_of(CASES[name]["problem"]), oracle.Exact())
    for id, expected in CASES[name]["figures"].items():
        assert max(differences(steps[id], expected)) <= MOST, id


def test_there_are_cases_of_all_that_pytorch_has():
    assert len(CASES) == len(MADE["cases"]) >= 40
    text = "".join(case["problem"] for case in CASES.values())
    for word in ("causal", "align: start", "align: end", "keep:", "hide:", "add:", "window:", "-inf", "multiply:",
                 "kv_heads:", "W_QKV:", "b_QKV:", "b_O:", "padding:", "memory:"):  # fmt: skip
        assert word in text, word


def test_another_scale_is_seen():
    """The comparison can fail: the same problems without their factor give other figures."""
    problem, figures = CASES["scale 0.125"]["problem"], CASES["scale 0.125"]["figures"]
    steps = solve(parse(problem.replace("scale: {multiply: 0.125}\n", "").encode())).steps
    assert max(differences(steps["O"].values.tolist(), figures["O"])) > 0.01
