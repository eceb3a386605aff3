"""Problem files of layers and models, and of what they are made of, in which two things don't go together: one line
that names the place, both figures, and what to do. None of them ends in a figure, or in a traceback."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_transformers import problems, text_of

from attncalc.cli.output import pieces
from attncalc.errors import AttncalcError, ProblemError
from attncalc.mechanisms import solve
from attncalc.problem import parse

FOLDER = Path(__file__).resolve().parent.parent / "problems"
I2 = [[1, 0], [0, 1]]
I3 = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
ATTENTION = {"W_Q": I2, "W_K": I2, "W_V": I2}
EXPERT = {"W_1": I2, "W_2": I2}
LAYER = {
    "attention": ATTENTION,
    "feed_forward": {"W_1": I2, "b_1": [0, 1], "W_2": I2, "b_2": [1, 0]},
    "norm": {"place": "pre", "gain": [1, 2], "bias": [0, 1]},
}
ENCODER = {"kind": "encoder", "H": I2, "layers": [LAYER], "final_norm": {"gain": [1, 1]}, "output": {"W": I2}}
DECODER = ENCODER | {
    "kind": "decoder",
    "memory": {"tokens": ["a", "b", "c"], "H": I3},
    "layers": [{"cross_attention": {"W_Q": I2, "W_K": [[1, 0], [0, 1], [1, 1]], "W_V": [[1, 0], [0, 1], [1, 1]]}}],
}
WRITER = {
    "kind": "decoder",
    "vocabulary": ["a", "b", "c"],
    "embedding": [[1, 0], [0, 1], [1, 1]],
    "position": {"kind": "learned", "table": [[0, 1], [1, 0]]},
    "layers": [LAYER],
    "output": {"W": [[1, 0, 1], [0, 1, 1]], "top_k": 2},
    "generate": {"from": ["a"], "steps": 2, "stop": "c", "choose": {"sample": [0.1, 0.2]}},
}
MIXED = ENCODER | {"layers": [{"experts": {"router": I2, "top_k": 1, "experts": [EXPERT, EXPERT]}}]}
BASES = {"encoder": ENCODER, "decoder": DECODER, "writer": WRITER, "mixed": MIXED}


def changed(problem: Any, path: str, value: Any) -> Any:
    """The same with something else (nothing, where it is None) at a path like layers.0.attention.W_Q."""
    problem = json.loads(json.dumps(problem))  # nothing in it is there twice
    *within, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    at = problem
    for part in within:
        at = at[part]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return problem


def refusal(problem: Any) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        solve(parse(text_of(problem).encode(), "p.yaml"))
    return caught.value


@pytest.mark.parametrize("name", BASES)
def test_control(name: str) -> None:
    assert solve(parse(text_of(BASES[name]).encode()))


BEFORE = "H has 2 columns (2 × 2, line 2)"
MISFITS = [
    # (what is changed, into what, the path that is named, what is said)
    ("encoder", "layers.0.attention.W_Q", I3, "layers[1].attention.W_Q", f"3 rows (3 × 3), but {BEFORE}"),
    ("encoder", "layers.0.attention.W_K", I3, "layers[1].attention.W_K", f"3 rows (3 × 3), but {BEFORE}"),
    ("encoder", "layers.0.attention", {"W_QKV": [[1] * 6] * 3, "d_k": 2}, "layers[1].attention.W_QKV",
     f"3 rows (3 × 6), but {BEFORE}"),
    ("encoder", "layers.0.feed_forward.W_1", I3, "layers[1].feed_forward.W_1", f"3 rows (3 × 3), but {BEFORE}"),
    ("encoder", "layers.0.feed_forward.W_2", I3, "layers[1].feed_forward.W_2",
     "3 rows (3 × 3), but W_1 has 2 columns (2 × 2, line 3)"),
    ("encoder", "layers.0.feed_forward.b_1", [1, 2, 3], "layers[1].feed_forward.b_1",
     "3 columns (1 × 3), but W_1 has 2"),
    ("encoder", "layers.0.norm.gain", [1, 2, 3], "layers[1].norm.gain", f"3 columns (1 × 3), but {BEFORE}"),
    ("encoder", "layers.0.norm.bias", [1], "layers[1].norm.bias", "1 column (1 × 1), but gain has 2 columns"),
    ("encoder", "final_norm.gain", [1, 2, 3], "final_norm.gain", f"3 columns (1 × 3), but {BEFORE}"),
    ("encoder", "output.W", I3, "output.W", f"3 rows (3 × 3), but {BEFORE}"),
    ("encoder", "layers.0.attention.heads", 3, "layers[1].attention.heads", "3, but W_Q has 2 columns"),
    ("encoder", "layers.0.attention", {"heads": [{"W_Q": I3, "W_K": I2, "W_V": I2}]},
     "layers[1].attention.heads[1].W_Q", f"3 rows (3 × 3), but {BEFORE}"),
    ("encoder", "layers.0.attention", {"heads": [{"W_Q": I2, "W_K": I2}]}, "layers[1].attention.heads[1].W_V",
     "missing"),
    ("encoder", "padding", [1, 1, 0], "padding", "3 columns (1 × 3), but H has 2 rows"),
    ("encoder", "tokens", ["a"], "tokens", "1 label, but H has 2 rows"),
    ("encoder", "targets", [0], "targets", "1 target, but H has 2 rows"),
    ("encoder", "layers.0.cross_attention", ATTENTION, "layers[1].cross_attention", "there is no memory to look at"),
    ("decoder", "layers.0.cross_attention.W_K", I2, "layers[1].cross_attention.W_K",
     "2 rows (2 × 2), but memory.H has 3 columns (3 × 3, line 6)"),
    ("decoder", "memory.tokens", ["a", "b"], "memory.tokens", "2 labels, but memory.H has 3 rows (3 × 3, line 6)"),
    ("decoder", "memory", None, "layers[1].cross_attention", "there is no memory to look at"),
    ("decoder", "layers", [LAYER], "memory", "not used where no layer has a cross_attention"),
    ("writer", "output.W", I2, "output.W", "2 columns (2 × 2), but vocabulary has 3 words"),
    ("writer", "output.W", I3, "output.W", "3 rows (3 × 3), but embedding has 2 columns (3 × 2, line 3)"),
    ("writer", "output.top_k", 4, "output.top_k", "4 is not a whole number from 1 to 3"),
    ("writer", "output.top_k", 0, "output.top_k", "0 is not a whole number from 1 to 3"),
    ("writer", "position.table", [[0, 1]], "position.table",
     "1 row (1 × 2), but there are 2 positions: generate has 2 positions"),
    ("writer", "generate.steps", 0, "generate.steps", "0 is not a whole number"),
    ("writer", "generate.stop", "d", "generate.stop", '"d" is not in the vocabulary'),
    ("writer", "generate.from", ["d"], "generate.from[1]", '"d" is not in the vocabulary'),
    ("writer", "generate.choose.sample", [0.1, 1], "generate.choose.sample[2]", "1 is not a draw"),
    ("mixed", "layers.0.experts.router", I3, "layers[1].experts.router", f"3 rows (3 × 3), but {BEFORE}"),
    ("mixed", "layers.0.experts.experts", [EXPERT] * 3, "layers[1].experts.experts",
     "3 experts, but router has 2 columns"),
    ("mixed", "layers.0.experts.experts.1.W_1", I3, "layers[1].experts.experts[2].W_1", "3 rows (3 × 3), but"),
    ("mixed", "layers.0.experts.top_k", 3, "layers[1].experts.top_k", "3 is not a whole number from 1 to 2"),
    ("mixed", "layers.0.repeat", 0, "layers[1].repeat", "0 is not a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "value", "at", "what"), MISFITS)
def test_what_does_not_fit_is_named_with_both_figures(name: str, path: str, value: Any, at: str, what: str) -> None:
    error = refusal(changed(BASES[name], path, value))
    assert error.path == at and error.what.startswith(what)
    assert error.line and error.column and "\n" not in str(error)


def test_heads_may_be_a_list_in_a_layer() -> None:
    """Each by itself, or each with a part of the columns; they give what whole matrices give."""
    whole = {"heads": 2, "W_Q": I2, "W_K": I2, "W_V": I2}
    each = {"heads": [{f"W_{name}": rows for name in "QKV"} for rows in ([[1], [0]], [[0], [1]])]}
    cut = {"heads": [{f"W_{name}": [[1]] for name in "QKV"}] * 2, "split": "input"}
    first, *others = (
        solve(parse(text_of(changed(ENCODER, "layers.0.attention", said)).encode())) for said in (whole, each, cut)
    )
    assert all((other.result.values == first.result.values).all() for other in others)


def test_a_key_of_the_layer_within_a_part_is_sent_there() -> None:
    for name in ("norm", "norms", "repeat"):
        error = refusal(changed(ENCODER, f"layers.0.attention.{name}", 2))
        assert (error.what, error.hint) == (f"unknown key {name}", "it is a key of the layer, beside its parts")


def test_an_unknown_kind_is_told_the_kinds() -> None:
    assert refusal({"kind": "[CLS]"}).hint.startswith("give attention, softmax, ")


def test_what_a_norm_normalises_may_be_anything() -> None:
    """Without a residual that is what its part gives, by whatever step it ends."""
    for last in ({"W_1": I2, "W_2": I2, "activation": "none"}, {"W_1": I2, "W_2": I2, "b_2": [1, 2]}):
        layers = [{"feed_forward": last | {"residual": "no"}}]
        problem = {"kind": "encoder", "H": I2, "layers": layers, "final_norm": {}}
        read = parse(text_of(problem).encode())
        for lang, word in (("en", "row"), ("zh", "行")):
            assert word in "".join(pieces(read, solve(read), format="text", lang=lang))


@pytest.mark.parametrize("after", ["layer-norm", "rms-norm"])
@pytest.mark.parametrize("norm", ["{kind: layer-norm, place: post}", "{kind: layer-norm, place: post, bias: [1, 0]}",
                                  "{kind: rms-norm, place: post}", "{kind: rms-norm, place: post, gain: [2, 1]}",
                                  "{kind: layer-norm, place: pre}"])  # fmt: skip
def test_the_row_that_a_norm_works_on_is_a_row_whatever_it_comes_from(norm: str, after: str) -> None:
    layer = f"{{feed_forward: {{W_1: identity, W_2: identity}}, norm: {norm}}}"
    text = f"kind: encoder\nH: [[1, 2], [3, 5]]\nlayers: [{layer}]\nfinal_norm: {{kind: {after}}}\n"
    read = parse(text.encode())
    page = "".join(pieces(read, solve(read), format="text", lang="en"))
    last = page[page.index("Norm after the last layer") :].splitlines()
    assert [line.split()[0] for above, line in pairwise(last) if above.strip().startswith("Row ")] == ["row", "row"]


def test_a_mixture_of_experts_in_a_layer_has_its_section() -> None:
    read = parse(text_of(MIXED).encode())
    assert "Mixture of experts" in "".join(pieces(read, solve(read), format="text", lang="en"))


@pytest.mark.parametrize("kind", ["encoder", "decoder", "generation", "encoder-decoder", "experts", "output", "loss"])
def test_whatever_is_worked_has_its_page(kind: str) -> None:
    @settings(max_examples=3)
    @given(problems(kind), st.sampled_from(["text", "markdown", "latex", "html"]))
    def laid_out(problem: dict[str, Any], format: str) -> None:
        assume(problem["kind"] != "output" or "probabilities" not in problem)
        read = parse(text_of(problem).encode())
        try:
            solution = solve(read)
        except ProblemError as error:  # words that are not divided by their sum may all be below a draw
            assume("is above what all words add up to" not in str(error))
            raise
        assert "".join(pieces(read, solution, format=format, lang="zh"))

    laid_out()


# Whatever is changed


VALUES = [
    0, -1, 2, 99, 1.5, "1e308", "1e-308", "1e-320", "text", "", "yes", "-inf", "nan", "identity", "causal", "none",
    "rotary", "sinusoidal", "learned", "tied", [], {}, [[]], [[1]], [1, 2], [[1, 2], [3]], [{}], [["-inf"]], ["1e308"],
    {"file": "none.npz"}, {"random": "integers"}, {"kind": "rotary"}, {"kind": "learned"}, {"sample": [1]},
    {"causal": "yes", "window": 0}, {"keep": [[1]]},
]  # fmt: skip


def places(value: Any, path: str = "") -> Iterator[str]:
    """The path of each value within another."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        if "." not in str(key):
            at = f"{path}.{key}".lstrip(".")
            yield at
            yield from places(one, at)


def value_at(problem: Any, path: str) -> Any:
    for part in path.split("."):
        problem = problem[int(part) if isinstance(problem, list) else part]
    return problem


SHIPPED = [
    said
    for path in sorted(FOLDER.glob("*.yaml"))
    for said in [yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)]
    if "kind" in said and path.name != "small-decoder.yaml"  # every figure of it is in a file of arrays
]


def spoilt(draws: random.Random) -> Any:
    """A shipped problem with something at one place gone, twice, or something else; or taken from another problem."""
    problem = draws.choice(SHIPPED)
    path = draws.choice([path for path in places(problem) if draws.random() < 0.5 or not path[-1].isdigit()])
    other = draws.choice(SHIPPED)
    values: list[Callable[[], Any]] = [
        lambda: None,
        lambda: draws.choice(VALUES),
        lambda: value_at(other, draws.choice(list(places(other)))),
        lambda: [value_at(problem, path)] * draws.randint(1, 2),
        lambda: value_at(problem, path)[:-1] if isinstance(value_at(problem, path), list) else "",
    ]
    return changed(problem, path, draws.choice(values)())


def test_a_spoilt_problem_is_worked_or_refused_in_one_line() -> None:
    draws = random.Random(7)
    worked = 0
    for _ in range(1200):
        problem = spoilt(draws)
        try:
            read = parse(text_of(problem).encode(), "p.yaml", FOLDER)
            solution = solve(read)
            if draws.random() < 0.2:
                "".join(pieces(read, solution, format=draws.choice(["text", "latex", "json"]), lang="en"))
            worked += 1
        except AttncalcError as error:
            assert "\n" not in str(error) and str(error).startswith("p.yaml:")
        except Exception as error:
            raise AssertionError(text_of(problem)) from error
    assert 50 < worked < 1100
