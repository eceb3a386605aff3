"""Sizes of models: parameters from a plain list of matrices and from what others count, caches, charts, errors."""

import itertools
import json
import re
import subprocess
import sys
from math import prod
from pathlib import Path

import pytest
from test_laws import check_recomputed, check_workings

from attncalc import formats, mechanisms, problem
from attncalc.errors import ProblemError
from attncalc.layout import lay_out
from attncalc.mechanisms import sized, solve
from attncalc.problem import parse
from attncalc.steps import Matrix

ROOT = Path(__file__).resolve().parent.parent


def said(**keys):
    return "".join(f"{key}: {value}\n" for key, value in {"kind": "size", **keys}.items())


def figures(text):
    return {id: step.values.item() for id, step in solve(parse(text.encode())).steps.items()}


def page(text, lang="en", name="text"):
    read = parse(text.encode())
    return formats.render(name, lay_out(solve(read), read.show, lang, kind=read.kind))


def matrices(
    *, skeleton="decoder", layers=1, encoder_layers=None, d_model, heads=0, kv_heads=None, d_k=None, d_ff=0,
    activation="relu", vocabulary=0, positions=0, tied="yes", biases="no", norm="layer-norm", final_norm="no",
    experts=0, top_k=None, active=False,
):  # fmt: skip
    """Every matrix and vector of a model as (part, rows, columns), one after the other."""
    kv_heads, d_k = kv_heads or heads, d_k or (heads and d_model // heads)
    stacks = {"decoder": [(layers, 1)], "encoder": [(layers, 1)]}.get(
        skeleton, [(encoder_layers or layers, 1), (layers, 2)]
    )
    uses = len(stacks) + (skeleton != "encoder")  # embeddings and the output
    yield from [("embedding", vocabulary, d_model)] * (1 if tied == "yes" or skeleton == "encoder" else uses)
    for count, attentions in stacks:
        yield "embedding", positions, d_model
        for _ in range(count):
            for _ in range(attentions if heads else 0):
                for rows, columns in [(d_model, heads * d_k), *[(d_model, kv_heads * d_k)] * 2, (heads * d_k, d_model)]:
                    yield "attention", rows, columns
                    if biases == "yes":
                        yield "attention", 1, columns
                yield from norms(norm, d_model)
            if experts:
                yield "router", d_model, experts
            for _ in range((top_k if active else experts) or 1 if d_ff else 0):
                hidden = 2 if activation in ("swiglu", "geglu") else 1
                for rows, columns in [*[(d_model, d_ff)] * hidden, (d_ff, d_model)]:
                    yield "experts" if experts else "feed_forward", rows, columns
                    if biases != "no":
                        yield "experts" if experts else "feed_forward", 1, columns
            if d_ff:
                yield from norms(norm, d_model)
        if final_norm == "yes":
            yield from norms(norm, d_model)


def norms(norm, d_model):
    yield from [("norm", 1, d_model)] * {"layer-norm": 2, "rms-norm": 1, "none": 0}[norm]


def counted(**keys):
    """What plain loops count: by part, and in all."""
    found = {}
    for part, rows, columns in matrices(**keys):
        for name in (part, "total"):
            found[name] = found.get(name, 0) + rows * columns
    return found


SMALL = {"d_model": 12, "heads": 4, "d_ff": 20, "vocabulary": 50}
MODELS = [
    {**SMALL, "skeleton": skeleton, "layers": 3, "biases": biases, "norm": norm, "tied": tied, **more}
    for skeleton, biases, norm, tied, more in itertools.product(
        ("decoder", "encoder", "encoder-decoder"),
        ("no", "yes", "feed-forward"),
        ("layer-norm", "rms-norm", "none"),
        ("yes", "no"),
        (
            {},
            {"kv_heads": 2, "d_k": 5, "activation": "swiglu", "positions": 7},
            {"experts": 6, "top_k": 2, "activation": "geglu"},
        ),
    )
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(map(str, model.values())))
@pytest.mark.parametrize("rounding", ["exact", "carried"])
def test_parameters_are_those_of_the_matrices_one_by_one(model, rounding):
    model = model if model["norm"] == "none" else {**model, "final_norm": "yes"}
    found = figures(said(**model, show=f"{{rounding: {rounding}}}"))
    expected = counted(**model)
    for part, count in expected.items():
        id = "all_experts" if part == "experts" else part
        assert found.get(f"parameters.{id}", 0) == count, part
    if "experts" in model:
        assert found["parameters.active"] == counted(**model, active=True)["total"]


def test_an_encoder_may_have_other_layers_than_its_decoder():
    model = {**SMALL, "skeleton": "encoder-decoder", "layers": 2, "encoder_layers": 5}
    assert figures(said(**model))["parameters.total"] == counted(**model)["total"]


LLAMA = {"d_model": 4096, "layers": 32, "heads": 32, "activation": "swiglu", "vocabulary": 32000, "tied": "no",
         "norm": "rms-norm", "final_norm": "yes"}  # fmt: skip
# What the libraries that load these models count: num_parameters() of Hugging Face's classes.
KNOWN = {
    "GPT-2": (124439808, {"d_model": 768, "layers": 12, "heads": 12, "d_ff": 3072, "vocabulary": 50257,
                          "positions": 1024, "biases": "yes", "final_norm": "yes", "activation": "gelu-tanh"}),
    "Llama 2 7B": (6738415616, {**LLAMA, "d_ff": 11008}),
    "Mistral 7B": (7241732096, {**LLAMA, "d_ff": 14336, "kv_heads": 8}),
    "Mixtral 8x7B": (46702792704, {**LLAMA, "d_ff": 14336, "kv_heads": 8, "experts": 8, "top_k": 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_known_models(name):
    total, model = KNOWN[name]
    assert figures(said(**model))["parameters.total"] == total
    assert f" = {total}\n" in page(said(**model))


def test_the_base_model_of_the_paper():
    found = figures((ROOT / "problems" / "size-paper.yaml").read_text("utf-8"))
    assert found["parameters.embedding"] == 37000 * 512
    assert found["parameters.attention"] == 18 * 4 * 512 * 512
    assert found["parameters.feed_forward"] == 12 * (2 * 512 * 2048 + 2048 + 512)
    assert found["parameters.norm"] == 30 * 2 * 512
    assert found["parameters.total"] == 63045632


def test_experts_of_ten_million():
    found = figures(said(experts=8, top_k=2, expert_parameters=10000000))
    assert (found["parameters.expert"], found["parameters.total"], found["parameters.active"]) == (1e7, 8e7, 2e7)
    assert "parameters.active" not in figures(said(experts=8, expert_parameters=10000000))


# rasbt/LLMs-from-scratch, ch04/07_moe/README.md: one layer's feed-forward, dense and of experts.
def test_a_published_mixture_of_experts():
    dense = figures(said(d_model=7168, d_ff=14336, activation="swiglu"))
    assert dense["parameters.total"] == 308281344
    found = figures(said(d_model=7168, d_ff=1792, activation="swiglu", experts=8, top_k=2))
    names = ("expert", "router", "total", "active")
    assert [found[f"parameters.{name}"] for name in names] == [38535168, 57344, 308338688, 77127680]


# The cache


# An IETF draft on inference benchmarks; torchedup.dev; rasbt/LLMs-from-scratch, ch04/04_gqa, 05_mla, 06_swa; dl-note.
CACHES = {
    "70B": ({"layers": 80, "kv_heads": 8, "d_k": 128, "length": 4096}, "1342177280", None),
    "Llama 2 7B": ({"layers": 32, "kv_heads": 32, "d_k": 128, "length": 2048}, None, "1.07"),
    "32 heads": ({"layers": 32, "heads": 32, "d_k": 128, "length": 32768}, None, "17.18"),
    "32 heads on 8": ({"layers": 32, "heads": 32, "kv_heads": 8, "d_k": 128, "length": 32768}, None, "4.29"),
    "24 heads": ({"layers": 48, "heads": 24, "d_k": 86, "length": 8192}, None, "3.25"),
    "24 heads on 6": ({"layers": 48, "heads": 24, "kv_heads": 6, "d_k": 86, "length": 8192}, None, "0.81"),
    "latents": ({"layers": 48, "latent": 1024, "length": 8192}, None, "0.81"),
    "32 heads, windows": ({"layers": 32, "heads": 32, "d_k": 128, "length": 32768, "window": 1024, "window_layers": 27},
                          "3137339392", "3.14"),
    "32 heads on 8, windows": ({"layers": 32, "heads": 32, "kv_heads": 8, "d_k": 128, "length": 32768, "window": 1024,
                                "window_layers": 27}, "784334848", "0.78"),
    "80 heads": ({"layers": 32, "heads": 80, "d_k": 128, "length": 4000}, None, "5.2"),
}  # fmt: skip


def kept(*, layers, length, heads=0, kv_heads=None, d_k=0, latent=None, window=None, window_layers=None, batch=1):
    """How many figures a cache keeps: those of each token that each layer still has at the end."""
    count = 0
    for layer in range(layers):
        tokens = []
        for position in range(length):
            tokens.append(position)
            if window and layer < (layers if window_layers is None else window_layers):
                tokens = tokens[-window:]
        count += len(tokens) * (latent or sum((kv_heads or heads) * d_k for _ in ("key", "value")))
    return batch * count


@pytest.mark.parametrize("name", CACHES)
def test_published_caches(name):
    model, exact, gigabytes = CACHES[name]
    found = figures(said(**model, bytes=2))["cache.bytes"]
    assert found == 2 * kept(**model)
    assert exact is None or found == int(exact)
    assert gigabytes is None or f"{found / 1e9:.{len(gigabytes.partition('.')[2])}f}" == gigabytes


@pytest.mark.parametrize("more", [{"heads": 6, "d_k": 5}, {"heads": 6, "kv_heads": 2, "d_k": 5}, {"latent": 7},
                                  {"heads": 6, "d_k": 5, "latent": 7}])  # fmt: skip
@pytest.mark.parametrize("window", [1, 4, 9, 10, 50])
@pytest.mark.parametrize("window_layers", [None, 1, 3])
@pytest.mark.parametrize("rounding", ["exact", "carried"])
def test_a_cache_keeps_the_last_tokens_of_a_window(more, window, window_layers, rounding):
    model = {"layers": 3, "length": 9, "batch": 2, "window": window, **more}
    model |= {} if window_layers is None else {"window_layers": window_layers}
    text = said(**model, bytes=4, show=f"{{rounding: {rounding}}}")
    solution = solve(parse(text.encode()))
    assert solution.steps["cache.bytes"].values.item() == 4 * kept(**model)
    check_workings(solution, parse(text.encode()).show.rule)
    check_recomputed(solution, parse(text.encode()).show.rule)
    for lang in ("en", "zh"):
        assert f"min(9, {window}) = {min(9, window)}\n" in page(text, lang)


def test_a_latent_is_set_against_keys_and_values():
    text = (ROOT / "problems" / "size-latent.yaml").read_text("utf-8")
    assert "would be 2×24×86 = 4128: the cache is 1024/4128 ≈ 0.248 of that\n" in page(text)
    assert "2×24×86 = 4128 个数：缓存是它的 1024/4128 ≈ 0.248\n" in page(text, "zh")


def test_8_key_value_heads_of_32_take_a_quarter():
    model = {"layers": 4, "heads": 32, "d_k": 128, "length": 100}
    own, shared = (figures(said(**model, **more))["cache.bytes"] for more in ({}, {"kv_heads": 8}))
    assert shared == own / 4
    assert "the cache is 8/32 = 0.25 of what" in page(said(**model, kv_heads=8))


@pytest.mark.parametrize(("bytes", "times"), [("0.5", 0.5), ("1", 1), ("2", 2), ("4", 4), ("8", 8)])
def test_the_number_format_scales_the_cache(bytes, times):
    model = {"layers": 3, "heads": 2, "d_k": 5, "length": 7, "batch": 2}
    found = figures(said(**model, bytes=bytes, show="{rounding: carried, numbers: fixed}"))
    assert found["cache.token_bytes"] == 2 * 3 * 2 * 5 * times
    assert found["cache.bytes"] == 2 * 7 * 2 * 3 * 2 * 5 * times


def test_the_cache_of_an_encoder_decoder_holds_the_encoders_tokens_too():
    found = figures(said(**SMALL, skeleton="encoder-decoder", layers=3, length=5, memory_length=9, batch=2))
    assert found["cache.bytes"] == 2 * (5 + 9) * 2 * 3 * 4 * 3 * 2
    same = figures(said(**SMALL, skeleton="encoder-decoder", length=5))
    assert same["cache.bytes"] == 2 * 5 * same["cache.token_bytes"]


def test_an_encoder_keeps_no_cache():
    assert not [id for id in figures(said(**SMALL, skeleton="encoder", length=5)) if id.startswith("cache")]


def test_without_a_length_there_are_the_bytes_of_a_token():
    found = solve(parse(said(**SMALL).encode()))
    assert found.result.id == "cache.token_bytes" and "batch" not in found.steps


@pytest.mark.parametrize(
    ("length", "binary", "decimal"),
    [
        (1, "8 bytes ≈ 0.008 KiB", "8 bytes = 0.008 KB"),
        (128, "1024 bytes = 1 KiB", "1024 bytes = 1.024 KB"),
        (131072, "1048576 bytes = 1024 KiB = 1 MiB", "1048576 bytes = 1048.576 KB ≈ 1.049 MB"),
        (125000, "1000000 bytes = 976.5625 KiB", "1000000 bytes = 1000 KB = 1 MB"),
        (10**12, "8000000000000 bytes = 7812500000 KiB", "= 8000000000 KB = 8000000 MB = 8000 GB = 8 TB"),
    ],
)
def test_units_of_1024_and_of_1000_are_told_apart(length, binary, decimal):
    decimals = 4 if length == 125000 else 3
    text = page(said(heads=1, d_k=2, length=length, show=f"{{decimals: {decimals}}}"))
    assert binary in text and decimal in text


# The page


def test_every_product_is_in_print_and_true():
    for path in sorted((ROOT / "problems").glob("size-*.yaml")):
        text = page(path.read_text("utf-8"))
        worked = [line for line in text.splitlines() if re.search(r" = (?:min|[\d×+(), -])+ = \d+$", line)]
        assert worked or "experts" not in path.stem
        for line in worked:
            *_, working, result = line.split(" = ")
            assert eval(working.replace("×", "*")) == int(result), line


def test_large_figures_are_printed_to_their_last_digit():
    model = said(layers=99999, d_model=77777, heads=7, d_ff=99991, vocabulary=999983)
    total = sum(prod(part[1:]) for part in matrices(layers=1, d_model=77777, heads=7, d_ff=99991))
    total = 99999 * total + 999983 * 77777
    assert total > 10**15 and f" = {total}\n" in page(model)
    shown = json.loads(formats.render("json", solve(parse(model.encode())), parse(model.encode()).show.rule))
    assert [step["shown"] for step in shown["steps"] if step["id"] == "parameters.total"] == [[[str(total)]]]


def rows(text):
    """The rows of the chart from the bottom up, each cell without its name; a row is [its number, cell, ..]."""
    chart = text.split("\n  ↑", 1)[1].split("\n\n", 1)[0].splitlines()
    edges = [match.start() for match in re.finditer("-+", chart[1])]
    cells = [[line[a:b].strip() for a, b in zip(edges, [*edges[1:], None], strict=True)] for line in chart[2:]]
    return [[cell.rpartition(": ")[2] for cell in row] for row in reversed(cells)]


def test_the_chart_of_a_decoder():
    found = rows(page(said(**SMALL, kv_heads=2, layers=3, length=5, batch=6)))
    assert found == [[str(k), shape] for k, shape in enumerate([
        "[B, N] = [6, 5]", "[B, N, d_model] = [6, 5, 12]", "[B, heads, N, d_k] = [6, 4, 5, 3]",
        "[B, kv_heads, N, d_k] = [6, 2, 5, 3]", "[B, heads, N, N] = [6, 4, 5, 5]",
        "[B, N, heads×d_k] = [6, 5, 12]", "[B, N, d_model] = [6, 5, 12]", "[B, N, d_ff] = [6, 5, 20]",
        "[B, N, d_model] = [6, 5, 12]", "[B, N, V] = [6, 5, 50]"], start=1)]  # fmt: skip


def test_the_encoder_enters_the_decoder_at_its_keys_and_values():
    for more in ({}, {"experts": 4, "top_k": 1}):
        found = rows(page(said(**SMALL, **more, skeleton="encoder-decoder", length=5, memory_length=9)))
        (entering,) = [row for row in found if "→" in row[1]]
        assert entering[1:] == ["[B, M, d_model] = [1, 9, 12] →", "[B, heads, M, d_k] = [1, 4, 9, 3]"]
        assert found[found.index(entering) + 1][1:] == ["", "[B, heads, N, M] = [1, 4, 5, 9]"]
        assert [row[0] for row in found] == [str(k + 1) for k in range(len(found))]


def test_a_chart_has_letters_where_no_length_is_said():
    found = rows(page(said(d_model=12, d_ff=20, experts=4, top_k=2, layers=3)))
    assert [row[1] for row in found] == ["[B, N, d_model]", "[B, N, E]", "[B, N, k, d_ff]", "[B, N, d_model]"]
    assert "↑" not in page(said(experts=4, expert_parameters=10))


def test_encoder_and_decoder_stand_beside_one_another_in_every_format_that_has_room():
    text = (ROOT / "problems" / "size-paper.yaml").read_text("utf-8")
    assert page(text, name="html").count("<table") == 1 and page(text, name="latex").count(r"\begin{longtable}") == 1
    assert "| ↑ | encoder | decoder |" in page(text, name="markdown")


def test_a_step_by_itself():
    read = parse(said(**SMALL).encode())
    solution = mechanisms.solve(read)
    only = [solution.steps["parameters.W_Q"]]
    text = formats.render("text", lay_out(solution, read.show, "en", kind=read.kind, only=only))
    assert text.endswith("1. Parameters of attention\n  query weights  p_Q = d_model×heads×d_k = 12×4×3 = 144\n")


def test_matrices_without_working():
    text = page(said(**SMALL, show="{detail: matrices}"))
    assert "  query weights     p_Q = 144\n" in text and "×3" not in text


# The command


def test_the_command_prints_what_solve_prints():
    def output(*arguments):
        command = [sys.executable, "-m", "attncalc", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    path = "problems/size-gqa.yaml"
    assert output("size", path, "--lang", "zh").stdout == output("solve", path, "--lang", "zh").stdout != ""
    refused = output("size", "problems/abc.yaml")
    assert (refused.returncode, refused.stdout) == (2, "") and refused.stderr.count("\n") == 1
    assert refused.stderr.startswith("problems/abc.yaml: kind: ") and refused.stderr.endswith(
        "give one of kind: size, encoder, decoder or encoder-decoder\n"
    )


# A model that is given by its matrices

SHIPPED = [
    "abc-block", "abc-block-pre", "decoder-modern", "generation", "generation-anew", "generation-drawn",
    "i-love-you-model", "small-decoder",
]  # fmt: skip


def entries(given, skip=("H", "memory", "padding", "mask", "generate")):
    """How many figures stand in all the matrices of a model, whatever they are called."""
    if isinstance(given, Matrix):
        return given.values.size
    if not isinstance(given, tuple):
        return 0
    names = getattr(given, "_fields", [""] * len(given))
    return sum(entries(part) for name, part in zip(names, given, strict=True) if name not in skip)


def sized_figures(text, folder=None):
    return {id: step.values.item() for id, step in solve(sized(parse(text.encode(), folder=folder))).steps.items()}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_parameters_of_a_model_are_the_figures_of_its_matrices(name):
    read = problem.load(ROOT / "problems" / f"{name}.yaml")
    assert solve(sized(read)).steps["parameters.total"].values.item() == entries(read.given)


def model(kind, layer, **more):
    keys = {"kind": kind, "H": "{random: normal, seed: 1}", "layers": f"[{layer}]", **more}
    return "".join(f"{key}: {value}\n" for key, value in keys.items())


ROW, SQUARE, WIDE, TALL = "[1, 2]", "[[1, 2], [3, 4]]", "[[1, 2, 3], [4, 5, 6]]", "[[1, 2], [3, 4], [5, 6]]"
WEIGHTS = f"W_Q: {SQUARE}, W_K: {SQUARE}, W_V: {SQUARE}"
BIASED = f"attention: {{{WEIGHTS}, b_Q: {ROW}, b_K: {ROW}, b_V: {ROW}}}"
FULL = f"attention: {{{WEIGHTS}, W_O: {SQUARE}, b_Q: {ROW}, b_K: {ROW}, b_V: {ROW}, b_O: {ROW}}}"
THROUGH = f"feed_forward: {{W_1: {WIDE}, W_2: {TALL}}}"
THROUGH_BIASED = f"feed_forward: {{W_1: {WIDE}, b_1: [1, 2, 3], W_2: {TALL}, b_2: {ROW}}}"
GATED = f"feed_forward: {{activation: swiglu, W_gate: {WIDE}, W_1: {WIDE}, W_2: {TALL}}}"
EXPERTS = (
    f"experts: {{router: {SQUARE}, top_k: 1, experts: [{{W_1: {WIDE}, W_2: {TALL}}}, {{W_1: {WIDE}, W_2: {TALL}}}]}}"
)
NORM = f"norm: {{place: pre, gain: {ROW}, bias: {ROW}}}"
RMS = f"norm: {{kind: rms-norm, place: pre, gain: {ROW}}}"
HEADS = f"attention: {{heads: [{{{WEIGHTS}}}, {{{WEIGHTS}}}], W_O: [[1, 2], [3, 4], [5, 6], [7, 8]]}}"


@pytest.mark.parametrize("layer", [
    f"{{attention: {{{WEIGHTS}}}}}", f"{{{BIASED}}}", f"{{{FULL}}}", f"{{{FULL}, {THROUGH_BIASED}, {NORM}}}",
    f"{{{THROUGH}, repeat: 3, {RMS}}}", f"{{{BIASED}, {THROUGH_BIASED}}}", f"{{{GATED}, norm: {{place: post}}}}",
    f"{{{HEADS}, {EXPERTS}, {NORM}, repeat: 2}}", f"{{{EXPERTS}}}", f"{{attention: {{{WEIGHTS}}}, {THROUGH_BIASED}}}",
])  # fmt: skip
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_the_parameters_of_each_makeup_of_a_layer_are_counted(kind, layer):
    text = model(kind, layer, H=SQUARE)
    assert sized_figures(text)["parameters.total"] == entries(parse(text.encode()).given)


def test_a_small_decoder_from_8_ids_to_50_scores():
    read = problem.load(ROOT / "problems" / "small-decoder.yaml")
    text = formats.render("text", lay_out(solve(sized(read)), read.show, "en", kind="size"))
    found = [row[1] for row in rows(text)]
    assert found[-1] == "[B, N, V] = [1, 8, 50]" and "[B, heads, N, N] = [1, 2, 8, 8]" in found


def test_a_chart_has_no_output_of_an_attention_without_W_O():
    text = model("encoder", f"{{attention: {{{WEIGHTS}}}}}", H=SQUARE)
    sizes = sized(parse(text.encode()))
    found = [row[1] for row in rows(formats.render("text", lay_out(solve(sizes), sizes.show, "en", kind="size")))]
    assert found[-1] == "[B, N, heads×d_k] = [1, 2, 2]"


def test_the_show_of_a_model_is_not_that_of_its_size():
    text = model(
        "encoder", f"{{attention: {{{WEIGHTS}}}}}", H=SQUARE, show="{detail: result, decimals: {layer1.attention.A: 2}}"
    )
    assert sized_figures(text)["parameters.total"] == 12


UNSAID = [
    ("encoder", f"{{attention: {{{WEIGHTS}}}}}, {{{THROUGH}}}", {}, "layers[2]: no heads, but the first layer"),
    ("encoder", f"{{{THROUGH}}}, {{{GATED}}}", {}, "layers[2]: activation swiglu, but the first layer"),
    ("encoder", f"{{{THROUGH}}}, {{{THROUGH_BIASED}}}", {}, "layers[2]: biases feed-forward, but the first layer"),
    ("encoder", f"{{{THROUGH}, {NORM}}}, {{{THROUGH}}}", {}, "layers[2]: norm none, but the first layer"),
    ("encoder", f"{{{BIASED}, {THROUGH}}}", {}, "layers[1]: attention has biases, but the feed-forward has none"),
    ("encoder", f"{{attention: {{{WEIGHTS}, b_Q: {ROW}}}}}", {},
     "layers[1]: attention: biases of some matrices only"),
    ("encoder", f"{{{THROUGH}, norm: {{place: pre, gain: {ROW}}}}}", {}, "layers[1]: a norm with a gain"),
    ("encoder", f"{{{THROUGH}}}", {"final_norm": f"{{gain: {ROW}, bias: {ROW}}}"}, "final_norm: parameters"),
    ("encoder", f"{{{THROUGH}}}", {"output": f"{{W: {SQUARE}}}"}, "output: an encoder with an output"),
    ("decoder", f"{{{THROUGH}}}", {"output": f"{{W: {SQUARE}}}"}, "output: words come out, but H goes in"),
    ("decoder", f"{{{THROUGH}, cross_attention: {{{WEIGHTS}}}}}", {"memory": f"{{H: {SQUARE}}}"},
     "layers[1]: a cross-attention"),
    ("decoder", f"{{experts: {{router: {SQUARE}, top_k: 1}}}}", {}, "layers[1]: a router without experts"),
    ("decoder", f"{{attention: {{W_Q: {WIDE}, W_K: {WIDE}, W_V: {SQUARE}}}}}", {}, "layers[1]: keys of width 3"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "layer", "more", "line"), UNSAID, ids=[line for *_, line in UNSAID])
def test_a_model_that_no_size_says_is_refused_with_one_line(kind, layer, more, line):
    read = parse(model(kind, layer, **{"H": SQUARE, **more}).encode())
    with pytest.raises(ProblemError) as refused:
        sized(read)
    assert str(refused.value).startswith(f"<text>: {line}") and "; " in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_shipped_model_is_sized_or_refused_with_its_layer():
    for path in sorted((ROOT / "problems").glob("*.yaml")):
        read = problem.load(path)
        if read.kind not in ("encoder", "decoder", "encoder-decoder") or path.stem in SHIPPED:
            continue
        with pytest.raises(ProblemError, match=r"layers\[\d\]"):
            sized(read)


def test_an_encoder_and_a_decoder_have_one_matrix_of_words_or_three_and_widths_in_common():
    text = (ROOT / "problems" / "i-love-you-model.yaml").read_text("utf-8")
    tied = re.sub(r"  output:\n    W: .*", "  output: tied", text)
    parameters = [sized_figures(each)["parameters.embedding"] for each in (text, tied)]
    assert parameters == [3 * 8 * 4, 8 * 4]
    placed = text.replace("position: sinusoidal", "position: {kind: learned, table: {random: integers, from: 0, to: 1, "
                          "seed: 1, rows: 9}}", 1)  # fmt: skip
    with pytest.raises(ProblemError, match="decoder: no positions, but the encoder has positions 9"):
        sized(parse(placed.encode()))


# What is refused

ERRORS = [
    ({}, "nothing to count", "give d_model with"),
    ({"d_model": 4}, "nothing to count", "give d_model with"),
    ({"vocabulary": 4}, "vocabulary: of no use without d_model", "vocabulary × d_model"),
    ({"positions": 4}, "positions: of no use without d_model", "positions × d_model"),
    ({"heads": 2}, "heads: of no use without d_k or d_model", "how wide"),
    ({"kv_heads": 2}, "kv_heads: of no use without d_k or heads", "how wide"),
    ({"d_ff": 2}, "d_ff: of no use without d_model", "d_model × d_ff"),
    ({"experts": 2}, "experts: of no use without d_ff or expert_parameters", "how large"),
    ({**SMALL, "top_k": 2}, "top_k: of no use without experts", "chooses from"),
    ({**SMALL, "batch": 2}, "batch: of no use without length", "how long"),
    ({"d_model": 2, "d_ff": 2, "bytes": 2}, "bytes: of no use without heads, kv_heads or latent", "no keys and"),
    ({"vocabulary": 2, "d_model": 2, "length": 3, "window": 2}, "window: of no use without heads, kv_heads", "no keys"),
    ({"latent": 2, "window": 2}, "window: of no use without length", "how long"),
    ({"latent": 2, "length": 3, "window_layers": 1}, "window_layers: of no use without window", "at most"),
    ({"latent": 2, "length": 3, "window": 2, "window_layers": 2}, "window_layers: 2 of 1 layer", "at most 1"),
    ({**SMALL, "latent": 2}, "latent: the matrices of an attention with latents are not counted", "leave d_model out"),
    ({"latent": 2, "kv_heads": 2, "d_k": 2}, "kv_heads: latent says already", "one of them"),
    ({"skeleton": "encoder", "latent": 2}, "latent: an encoder keeps no keys and values", "leave it out"),
    ({**SMALL, "skeleton": "encoder-decoder", "length": 3, "window": 2},
     "window: not used with skeleton: encoder-decoder", "skeleton: decoder"),
    ({**SMALL, "heads": 5}, "heads: 5 heads, but d_model is 12, which 5 does not divide", "say d_k"),
    ({**SMALL, "kv_heads": 3}, "kv_heads: 3 does not divide 4 heads", "as many query heads"),
    ({**SMALL, "experts": 3, "top_k": 4}, "top_k: 4 of 3 experts", "at most 3"),
    ({**SMALL, "experts": 3, "expert_parameters": 4}, "expert_parameters: d_ff says already", "one of them"),
    ({**SMALL, "encoder_layers": 3}, "encoder_layers: not used with skeleton: decoder", "encoder-decoder"),
    ({**SMALL, "length": 3, "memory_length": 3}, "memory_length: not used with skeleton: decoder", "encoder-decoder"),
    ({**SMALL, "norm": "none", "final_norm": "yes"}, "final_norm: not used with norm: none", "which norm"),
    ({**SMALL, "skeleton": "encoder", "bytes": 2}, "bytes: an encoder keeps no keys and values", "leave it out"),
    ({**SMALL, "bytes": 3}, 'bytes: "3" is not 0.5, 1, 2, 4 or 8', ""),
    ({**SMALL, "biases": "some"}, 'biases: "some" is not no, yes or feed-forward', ""),
    ({**SMALL, "layers": 0}, "layers: 0 is not a whole number from 1 to 100000", ""),
]


@pytest.mark.parametrize(("model", "what", "hint"), ERRORS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_can_not_be_counted_is_refused(model, what, hint):
    with pytest.raises(ProblemError) as refused:
        parse(said(**model).encode())
    error = refused.value
    assert f"{error.path}: {error.what}".removeprefix(": ").startswith(what) and hint in error.hint
    assert error.line and error.column


def test_a_figure_that_would_not_be_exact_is_refused():
    with pytest.raises(ProblemError, match=r"cache\.token_bytes\[1,1\]: 4e\+16 is too large to be exact"):
        solve(parse(said(heads=100000, d_k=10000000, layers=10000).encode()))
