"""What once went wrong around caches, masks over a memory, repeated layers and words of a message."""

import numpy as np
import pytest

from attncalc.errors import ProblemError
from attncalc.layout import lay_out
from attncalc.mechanisms import solve
from attncalc.problem import parse

WORDS = "kind: decoder\nvocabulary: [<s>, a, b, c, <eos>]\nembedding: [[1, 0], [0, 1], [1, 1], [-1, 1], [0.5, -1]]\n"
WEIGHTS = "W_Q: [[1, 0], [0, 1]], W_K: [[1, 1], [0, 1]], W_V: [[1, 0], [0, -1]]"
OUT = "output: {W: [[0, 1, -1, 2, 1], [1, 0, 2, -1, -1]]}\n"
MEMORY = "memory: {H: [[1, 0], [0, 1], [1, 1]]}\n"


def steps(text):
    return solve(parse(text.encode())).steps


@pytest.mark.parametrize("mask", [
    "{causal: yes, align: start}", "{causal: yes, past: 1}", "{window: 2, align: start}", "none",
])  # fmt: skip
@pytest.mark.parametrize("start", ["[<s>]", "[<s>, a]"])
def test_a_mask_over_a_memory_moves_on_with_the_cache(mask, start):
    if mask == "{causal: yes, past: 1}" and start == "[<s>, a]":
        start = "[a]"  # two queries at most stand before the last of three keys
    count = 2 if start != "[<s>, a]" else 1
    text = (f"{WORDS}{MEMORY}layers: [{{attention: {{{WEIGHTS}}}, cross_attention: {{{WEIGHTS}, mask: {mask}}}}}]\n"
            f"{OUT}generate: {{from: {start}, steps: {count}, cache: %s}}\n")  # fmt: skip
    kept, anew = steps(text % "yes"), steps(text % "no")
    for k in range(1, count + 1):
        np.testing.assert_allclose(kept[f"step{k}.output.logits"].values, anew[f"step{k}.output.logits"].values)
    last = f"step{count}.layer1.cross_attention.A"
    np.testing.assert_allclose(kept[last].values[-1], anew[last].values[-1])


def test_heads_that_cut_the_memory_keep_causality():
    each = "{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}"
    text = (f"{WORDS}{MEMORY}layers: [{{attention: {{{WEIGHTS}}}, "
            f"cross_attention: {{split: input, heads: [{each}, {each}]}}}}]\n"
            f"{OUT}generate: {{from: [<s>], steps: 3, cache: %s}}\n")  # fmt: skip
    kept, anew = steps(text % "yes"), steps(text % "no")
    np.testing.assert_allclose(kept["step3.output.logits"].values, anew["step3.output.logits"].values)


ATTENTION = f"layers: [{{attention: {{{WEIGHTS}}}}}]\n"


@pytest.mark.parametrize(("text", "path", "what"), [
    (f"{WORDS}{MEMORY}layers: [{{attention: {{{WEIGHTS}}}, cross_attention: {{{WEIGHTS}, mask: {{keep: "
     f"[[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]]}}}}}}]\n{OUT}generate: {{from: [<s>, a], steps: 3}}\n",
     "layers[1].cross_attention.mask", "rows grow in number"),
    ("kind: encoder-decoder\nencoder: {H: [[1]], layers: [{feed_forward: {W_1: [[1]], W_2: [[1]]}}], "
     "output: {W: [[1]]}}\ndecoder: {H: [[1]], layers: [{feed_forward: {W_1: [[1]], W_2: [[1]]}}]}\n",
     "encoder.output", "not used beside a decoder"),
    (f"{WORDS}input: [<s>, a]\nposition: {{kind: rotary, angles: [[0.1], [0.2]]}}\n{ATTENTION}{OUT}"
     "generate: {from: [<s>, a], steps: 3}\n", "position.angles", "2 rows, but there are 4 positions"),
    (f"{WORDS}H: [[1, 2]]\n{ATTENTION}{OUT}generate: {{from: [<s>], steps: 1}}\n", "H", "starts from words"),
    (f"{WORDS}{ATTENTION}{OUT}show: {{decimals: 1, rounding: carried}}\n"
     "generate: {from: [<s>], choose: {sample: [0.99, 0.99, 0.99]}}\n", None, "show more decimals"),
    (f"{WORDS}input: [<s>, a]\n{MEMORY}layers: [{{cross_attention: {{{WEIGHTS}, mask: {{window: 1}}}}}}]\n",
     "layers[1].cross_attention.mask", "window needs align"),
])  # fmt: skip
def test_what_is_refused(text, path, what):
    with pytest.raises(ProblemError) as caught:
        solve(parse(text.encode()))
    assert what in str(caught.value) and path in (None, caught.value.path)


def test_layers_after_a_repeated_one_are_counted_on():
    text = f"{WORDS}input: [<s>, a]\nlayers: [{{attention: {{{WEIGHTS}}}, repeat: 2}}, {{attention: {{{WEIGHTS}}}}}]\n"
    read = parse(text.encode())
    solution = solve(read)
    assert solution.steps["layer3.attention.Q"].operands[1].id == "layer3.attention.W_Q"
    assert solution.steps["layer2.attention.Q"].operands[1].id == "layer1.attention.W_Q"
    assert "layer2.attention.W_Q" not in solution.steps
    assert ("repeat", "shared", {"first": 1, "last": 2}) in solution.conventions
    assert lay_out(solution, read.show, "en", kind=read.kind)
