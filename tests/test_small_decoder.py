"""The decoder of article 2: PyTorch's figures (small_decoder.json, made by small_decoder.py) against the oracle's."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from transformer_oracle import solve

HERE = Path(__file__).resolve().parent
SMALL = json.loads((HERE / "small_decoder.json").read_text("utf-8"))


def check(got, expected, tolerance):
    assert np.shape(got) == np.shape(expected)
    assert np.abs(np.subtract(got, expected)).max() <= tolerance


def filled(said, folder):
    """A problem with its matrices instead of the names of their files."""
    if isinstance(said, list):
        return [filled(each, folder) for each in said]
    if not isinstance(said, dict):
        return said
    if "file" in said:
        return np.load(folder / said["file"])[said["name"]].tolist()
    return {key: filled(each, folder) for key, each in said.items()}


@pytest.mark.parametrize(("variant", "heads", "mask"), [
    ("two heads", 2, "causal"), ("four heads", 4, "causal"), ("no mask", 2, "none"), ("four heads, no mask", 4, "none"),
])  # fmt: skip
def test_the_oracle_agrees_with_the_small_decoder(variant, heads, mask):
    problems, expected = HERE.parent / "problems", SMALL[variant]
    problem = filled(yaml.safe_load((problems / "small-decoder.yaml").read_text("utf-8")), problems)
    problem["layers"][0]["attention"] |= {"heads": heads, "mask": mask}
    steps = solve(problem)
    for figures, tolerance in (("", 1e-6), ("64", 1e-10)):
        check(steps["output.logits"], expected[f"logits{figures}"], tolerance)
        for h, A in enumerate(expected[f"attention{figures}"], 1):
            check(steps[f"layer1.attention.head{h}.A"], A, tolerance)
    kept = steps["output.kept"][-1]
    check([[kept[id] for id in expected["top"]]], [expected["probabilities"]], 1e-6)
    assert sorted(expected["top"]) == [id for id, p in enumerate(kept) if p]
