"""Random small problems of every kind around one attention, as mappings that transformer_oracle.solve reads.

    @given(problems())                 a problem of any kind
    @given(problems("experts"))        of one kind
    text_of(problem)                   the same as a problem file

Sizes go from 1 to 4, figures have at most two decimals, every option is drawn. What the problem format leaves open is
left out, and so are choices (of an expert, of a token) that hang on the last digits of a float.
"""

import json

from hypothesis import assume
from hypothesis import strategies as st
from transformer_oracle import id_of, matrix, solve, words_of

SIZES = st.integers(1, 4)
FEW = st.integers(1, 3)
NEAR = 1e-7  # two figures that a choice is made between are further apart, or the same to the last digit
TIED = "tied"  # how a model says that its output is its embedding
WORDS = ["a", "b", "<s>", "我", "you"]
ACTIVATIONS = ["none", "relu", "gelu", "gelu-tanh", "silu", "swiglu", "geglu"]


def text_of(problem):
    """A problem file: one line a key. JSON is YAML too."""
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in problem.items())


# Figures


def figures(low=-2, high=2):
    """One sort of figure, for a whole matrix: integers, tenths or hundredths."""
    sorts = []
    for parts in (1, 10, 100):
        counts = st.integers(round(low * parts), round(high * parts))
        sorts.append(counts if parts == 1 else counts.map(lambda count, parts=parts: plain(count / parts)))
    return st.sampled_from(sorts)


def plain(x):
    return int(x) if x == int(x) else x


def rows(draw, n, m, low=-2, high=2, sort=None):
    sort = draw(figures(low, high)) if sort is None else sort
    return [[draw(sort) for _ in range(m)] for _ in range(n)]


def flat(draw, m, low=-2, high=2):
    return rows(draw, 1, m, low, high)[0]


def one_of(draw, *choices):
    return draw(st.sampled_from(choices))


def maybe(draw, one_in=2):
    return draw(st.integers(1, one_in)) == one_in


def switch(draw, value):
    return one_of(draw, value, "yes" if value else "no")


def stored(draw, said, names):
    """Weights stored out × in, now and then."""
    if not maybe(draw, 3):
        return said if maybe(draw) else said | {"orientation": "in-out"}
    turned = {name: [list(column) for column in zip(*said[name], strict=True)] for name in names if name in said}
    return said | turned | {"orientation": "out-in"}


# One mechanism


@st.composite
def positions(draw):
    n, width = draw(SIZES), one_of(draw, 2, 4)
    said = {"kind": "positions", "length": n, "width": width} | table_options(draw)
    if maybe(draw):
        del said["length"], said["width"]
        said["x"] = rows(draw, n, width)
    return said


def table_options(draw):
    said = {}
    if maybe(draw):
        said["base"] = one_of(draw, 10000, 100, 2.5)
    if maybe(draw):
        said["columns"] = one_of(draw, "interleaved", "concatenated")
    return said


@st.composite
def rotary(draw):
    n, width = draw(SIZES), one_of(draw, 2, 4, 6)
    said = {"kind": "rotary", "x": rows(draw, n, width)} | rotary_options(draw, width)
    of_pairs = said.get("rotary_dim", width) // 2
    how = one_of(draw, "base", "angles", "one row", "cos and sin")
    if how != "base":
        said = {key: value for key, value in said.items() if key not in ("base", "ntk")}
    if how == "one row" and n > 1:
        said["angles"] = rows(draw, 1, of_pairs, -3, 3)
    elif how in ("angles", "one row"):
        assume(n > 1)
        said["angles"] = rows(draw, n, of_pairs, -3, 3)
    elif how == "cos and sin":
        said |= {"cos": rows(draw, n, of_pairs, -1, 1), "sin": rows(draw, n, of_pairs, -1, 1)}
    if "angles" in said and maybe(draw):
        said |= {"degrees": switch(draw, True), "angles": [[30 * x for x in row] for row in said["angles"]]}
    if "cos" in said or len(said.get("angles", [[]])) > 1:
        said.pop("start", None)  # a row a position: which is the first?
    return said


def rotary_options(draw, width):
    said = {}
    if maybe(draw):
        said["pairs"] = one_of(draw, "adjacent", "halves")
    if maybe(draw, 3):
        said["start"] = draw(st.integers(0, 3))
    if maybe(draw, 3):
        said["rotary_dim"] = draw(st.integers(1, width // 2)) * 2
    if maybe(draw):
        said["base"] = one_of(draw, 10000, 100, 2.5)
    if said.get("rotary_dim", width) > 2 and maybe(draw, 3):
        said["ntk"] = one_of(draw, 2, 4, 1.5)
    return said


def norm_options(draw, width):
    """A norm of rows so wide. Its eps is large enough that no float's last digits are blown up."""
    said = {"kind": one_of(draw, "layer-norm", "rms-norm")}
    if maybe(draw):
        said["eps"] = one_of(draw, 0.01, 0.5, "1e-5", 0.001)
    if maybe(draw):
        said["eps_in"] = one_of(draw, "root", "outside")
    if maybe(draw):
        said["gain"] = flat(draw, width)
    if said["kind"] == "layer-norm":
        if width > 1 and maybe(draw):
            said["variance"] = one_of(draw, "biased", "unbiased")
        if "gain" in said and maybe(draw):
            said["bias"] = flat(draw, width)
    return said


@st.composite
def norms(draw):
    n, width = draw(SIZES), draw(SIZES)
    return norm_options(draw, width) | {"x": rows(draw, n, width, -3, 3)}


def feed_forward_options(draw, width, out=None):
    d_ff, out = draw(SIZES), out or draw(SIZES)
    said = {"W_1": rows(draw, width, d_ff), "W_2": rows(draw, d_ff, out)}
    activation = one_of(draw, *ACTIVATIONS)
    if activation != "relu" or maybe(draw):
        said["activation"] = activation
    if activation in ("swiglu", "geglu"):
        said["W_gate"] = rows(draw, width, d_ff)
        if maybe(draw):
            said["b_gate"] = flat(draw, d_ff)
    for name, length in (("b_1", d_ff), ("b_2", out)):
        if maybe(draw):
            said[name] = flat(draw, length)
    return stored(draw, said, ("W_1", "W_gate", "W_2"))


@st.composite
def feed_forwards(draw):
    n, width = draw(SIZES), draw(SIZES)
    return {"kind": "feed-forward", "x": rows(draw, n, width)} | feed_forward_options(draw, width)


@st.composite
def gates(draw):
    n, width = draw(SIZES), draw(SIZES)
    return {"kind": "gate", "value": rows(draw, n, width), "gate": rows(draw, n, width)}


@st.composite
def residuals(draw):
    n, width = draw(SIZES), draw(SIZES)
    return {"kind": "residual", "x": rows(draw, n, width), "f": rows(draw, n, width)}


def expert_options(draw, width, out=None, sort=None):
    count, out = draw(SIZES), out or draw(FEW)
    said = {"router": rows(draw, width, count, sort=sort), "top_k": draw(st.integers(1, count))}
    if maybe(draw):
        said["normalise"] = one_of(draw, "after", "before")
        if said["normalise"] == "before":
            said["renormalise"] = switch(draw, maybe(draw))
    said["experts"] = [feed_forward_options(draw, width, out) for _ in range(count)]
    return said


@st.composite
def experts(draw):
    n, width = draw(FEW), draw(FEW)
    whole = st.integers(-2, 2) if maybe(draw) else None  # then logits are integers, and may be the same
    said = {"kind": "experts", "x": rows(draw, n, width, sort=whole)} | expert_options(draw, width, sort=whole)
    if maybe(draw, 4):
        del said["experts"]
    return said


def output_options(draw, count):
    """What is done to so many logits."""
    said = {}
    if maybe(draw):
        said["temperature"] = one_of(draw, 0.5, 2, 1.25)
    kept = one_of(draw, "all", "top_k", "top_p")
    if kept == "top_k":
        said["top_k"] = draw(st.integers(1, count))
    elif kept == "top_p":
        said["top_p"] = one_of(draw, 0.3, 0.55, 0.9)
    if kept != "all":
        said["renormalise"] = switch(draw, maybe(draw))
    return said


def output_keys(output):
    return {"temperature", "top_k", "top_p"} & output.keys()


@st.composite
def outputs(draw):
    n, width, count = draw(SIZES), draw(SIZES), draw(st.integers(2, 5))
    said = {"kind": "output"} | output_options(draw, count)
    start = one_of(draw, "W", "tied", "logits", "probabilities")
    if start == "W":
        said |= {"x": rows(draw, n, width), "W": rows(draw, width, count)}
        if maybe(draw):
            said["b"] = flat(draw, count)
    elif start == "tied":
        said |= {"x": rows(draw, n, width), "tied": rows(draw, count, width)}
    elif start == "logits":
        said["logits"] = rows(draw, n, count, -4, 4)
    else:
        said.pop("temperature", None)
        if not {"top_k", "top_p"} & said.keys():
            said["top_k"] = draw(st.integers(1, count))
        said["probabilities"] = [distribution(draw, count) for _ in range(n)]
    if maybe(draw):
        said["vocabulary"] = WORDS[:count]
    return said


def distribution(draw, count):
    """Hundredths above 0 that add up to 1."""
    cuts = sorted(draw(st.lists(st.integers(1, 99), min_size=count - 1, max_size=count - 1, unique=True)))
    return [plain((high - low) / 100) for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]


@st.composite
def losses(draw):
    n, count = draw(SIZES), draw(st.integers(2, 5))
    start = one_of(draw, "logits", "probabilities", "the targets' own")
    said = {"kind": "loss"}
    if start == "logits":
        said["logits"] = rows(draw, n, count, -4, 4)
    elif start == "probabilities":
        said["probabilities"] = [distribution(draw, count) for _ in range(n)]
    else:
        said["probabilities"] = [draw(st.integers(1, 100)) / 100 for _ in range(n)]
    if start != "the targets' own":
        said["targets"] = [draw(st.integers(0, count - 1)) for _ in range(n)]
        if maybe(draw):
            said["vocabulary"] = WORDS[:count]
            said["targets"] = [WORDS[id] if maybe(draw) else id for id in said["targets"]]
    if maybe(draw):
        said["reduction"] = one_of(draw, "mean", "sum", "none")
    return said


# Attention


def attention_options(draw, width, n, out=None, rotary=False, others=None, causal=False):
    """An attention of n rows; of `others`, (how many, how wide), if keys and values come from there. With `out`, the
    width that comes out; `causal`: its mask, if it says one, shows nothing that is later."""
    m, of_keys = others or (n, width)
    heads = one_of(draw, 1, 1, 2, 3)
    kv_heads = one_of(draw, *[count for count in range(1, heads + 1) if heads % count == 0])
    d_k, d_v = one_of(draw, 2, 4) if rotary else draw(FEW), draw(FEW)
    if out and maybe(draw, 3) and out % heads == 0:
        d_v, projected = out // heads, False
    else:
        projected = out is not None or maybe(draw)
    said = {"heads": heads} if heads > 1 or maybe(draw, 3) else {}
    if kv_heads < heads or maybe(draw, 4):
        said["kv_heads"] = kv_heads
    widths = {"Q": heads * d_k, "K": kv_heads * d_k, "V": kv_heads * d_v}
    if others is None and maybe(draw, 3):
        said |= {"W_QKV": rows(draw, width, sum(widths.values())), "d_k": d_k}
        if maybe(draw):
            said["b_QKV"] = flat(draw, sum(widths.values()))
    else:
        for name, wide in widths.items():
            said[f"W_{name}"] = rows(draw, width if name == "Q" else of_keys, wide)
            if maybe(draw, 3):
                said[f"b_{name}"] = flat(draw, wide)
    if projected:
        out = out or draw(SIZES)
        said["W_O"] = rows(draw, heads * d_v, out)
        if maybe(draw):
            said["b_O"] = flat(draw, out)
    if maybe(draw, 3):
        said["scale"] = one_of(draw, "sqrt_d_k", "none", 2, {"multiply": 0.25})
    if maybe(draw, 4):
        said["scores"] = "additive"
        if heads == 1 and maybe(draw):
            said["v_a"] = flat(draw, d_k)
    if maybe(draw, 4):
        said["softcap"] = one_of(draw, 1.5, 5, 30)
    mask = mask_options(draw, n, m, causal)
    if mask is not None:
        said["mask"] = mask
    return stored(draw, said, ("W_Q", "W_K", "W_V", "W_QKV", "W_O"))


def mask_options(draw, n, m, causal):
    """A mask, or nothing; in what generates, a causal one that does not depend on the length."""
    if causal:
        return one_of(draw, None, "causal", {"causal": True, "window": draw(FEW)})
    if n == m:
        choices = [None, None, "none", "causal", {"window": draw(FEW)}, {"causal": switch(draw, True), "window": 2},
                   {"window": {"before": draw(st.integers(0, 2)), "after": draw(st.integers(0, 2))}}]  # fmt: skip
    else:
        choices = [None, None, {"causal": True, "align": one_of(draw, "start", "end")}]
    binary = rows(draw, n, m, sort=st.integers(0, 1))
    choices += [{"keep": binary}, {"hide": binary}, {"add": rows(draw, n, m, sort=st.sampled_from([0, -1.5, "-inf"]))}]
    return one_of(draw, *choices)


def tokens_options(draw, n, width, count=None):
    """(what gives n rows so wide, the words of the vocabulary or None): H, or words or ids and their embedding."""
    if count is None and maybe(draw):
        return {"H": rows(draw, n, width)}, None
    count = count or draw(st.integers(2, 5))
    words, embedding = WORDS[:count], rows(draw, count, width)
    ids = [draw(st.integers(0, count - 1)) for _ in range(n)]
    how = one_of(draw, "ids", "vocabulary", "mapping")
    if how == "ids":
        return {"embedding": embedding, "input": ids}, None
    said = {"embedding": embedding, "vocabulary": words, "input": [words[id] if maybe(draw) else id for id in ids]}
    if how == "mapping":
        said = {"embedding": dict(zip(words, embedding, strict=True)), "vocabulary": words,
                "input": [words[id] for id in ids]}  # fmt: skip
    return said, words


def position_options(draw, longest, width):
    """(what `position` says, or nothing; whether it turns queries and keys)"""
    kinds = ["none", "none", "learned", "rotary"] + ["sinusoidal"] * (width % 2 == 0)
    kind = one_of(draw, *kinds)
    if kind == "none":
        return ({"position": "none"} if maybe(draw, 4) else {}), False
    said = {"kind": kind}
    if kind == "learned":
        said["table"] = rows(draw, longest + draw(st.integers(0, 1)), width)
    elif kind == "sinusoidal":
        said |= table_options(draw)
    else:
        said |= {key: value for key, value in rotary_options(draw, 2).items() if key in ("pairs", "base", "start")}
    return {"position": kind if said == {"kind": kind} and maybe(draw) else said}, kind == "rotary"


@st.composite
def attentions(draw):
    n, width = draw(FEW), draw(SIZES)
    position, rotary = position_options(draw, n, width)
    tokens, _ = tokens_options(draw, n, width)
    said = {"kind": "attention", **tokens, **position}
    others = None
    if not rotary and maybe(draw, 4):
        others = (draw(FEW), draw(SIZES))
        said["memory"] = {"H": rows(draw, *others)}
    if maybe(draw, 3):
        said["query_mask"] = rows(draw, 1, n, sort=st.integers(0, 1))[0]
    return said | attention_options(draw, width, n, rotary=rotary, others=others)


# Models


def layer_options(draw, width, n, rotary, others=None, causal=False):
    layer = {"attention": attention_options(draw, width, n, out=width, rotary=rotary, causal=causal)}
    if others:
        layer["cross_attention"] = attention_options(draw, width, n, out=width, others=others)
        if causal and "mask" in layer["cross_attention"]:
            del layer["cross_attention"]["mask"]
    if maybe(draw, 4):
        layer["experts"] = expert_options(draw, width, width)
    else:
        layer["feed_forward"] = feed_forward_options(draw, width, width)
    for part in layer.values():
        if maybe(draw, 5):
            part["residual"] = switch(draw, False)
    place = one_of(draw, "pre", "post")
    if maybe(draw, 3):
        return layer
    if maybe(draw):
        return layer | {"norm": norm_options(draw, width) | {"place": place}}
    return layer | {"norms": [norm_options(draw, width) | {"place": place} for _ in layer]}


def model_options(draw, others=None, generates=False, predicts=True):
    """(an encoder or a decoder, how many rows come out, how wide)"""
    n, width = draw(FEW), draw(st.integers(2, 4))
    steps = draw(FEW) if generates else 0
    position, rotary = position_options(draw, n + steps, width)
    count = draw(st.integers(2, 5))
    tokens, words = tokens_options(draw, n, width, count if generates or maybe(draw) else None)
    said = {**tokens, **position}
    if not generates and n > 1 and maybe(draw, 5):
        said["padding"] = [*[1] * (n - 1), 0]
    layers = [layer_options(draw, width, n, rotary, others, generates) for _ in range(draw(st.integers(1, 2)))]
    if maybe(draw, 4):
        layers[0]["repeat"] = 2
    said["layers"] = layers
    if maybe(draw):
        said["final_norm"] = norm_options(draw, width)
    if generates or (predicts and maybe(draw)):
        count = len(said.get("embedding", [])) or count
        if "embedding" in said and maybe(draw, 3):
            said["output"] = TIED
        else:
            said["output"] = {"W": rows(draw, width, count)} | output_options(draw, count)
            if maybe(draw, 3):
                said["output"]["b"] = flat(draw, count)
        plain_output = said["output"] == TIED or not output_keys(said["output"])
        if not generates and plain_output and maybe(draw):  # else: of which probabilities is it the loss?
            ids = [draw(st.integers(0, count - 1)) for _ in range(n)]
            said["targets"] = [words[id] if words and maybe(draw) else id for id in ids]
    if generates:
        generate = {"from": said.pop("input"), "steps": steps}
        if maybe(draw):
            generate["cache"] = switch(draw, maybe(draw))
        if maybe(draw):
            generate["stop"] = draw(st.integers(0, count - 1))
            if words:
                generate["stop"] = words[generate["stop"]]
        if maybe(draw):
            generate["choose"] = one_of(draw, "greedy", {"sample": rows(draw, 1, steps, 0.01, 0.99, HUNDREDTHS)[0]})
        said["generate"] = generate
    return said, n, width


HUNDREDTHS = st.integers(1, 99).map(lambda count: count / 100)


@st.composite
def encoders(draw):
    return {"kind": "encoder"} | model_options(draw)[0]


@st.composite
def decoders(draw, generates=False):
    others = (draw(FEW), draw(FEW)) if maybe(draw, 3) else None
    memory = {"memory": {"H": rows(draw, *others)}} if others else {}
    return {"kind": "decoder", **memory} | model_options(draw, others, generates)[0]


@st.composite
def encoder_decoders(draw):
    encoder, m, width = model_options(draw, predicts=False)
    encoder.pop("padding", None)  # are its rows hidden from the decoder too?
    return {"kind": "encoder-decoder", "encoder": encoder, "decoder": model_options(draw, (m, width))[0]}


KINDS = {
    "positions": positions(),
    "rotary": rotary(),
    "norm": norms(),
    "feed-forward": feed_forwards(),
    "gate": gates(),
    "residual": residuals(),
    "experts": experts(),
    "output": outputs(),
    "loss": losses(),
    "attention": attentions(),
    "encoder": encoders(),
    "decoder": decoders(),
    "generation": decoders(generates=True),
    "encoder-decoder": encoder_decoders(),
}


@st.composite
def problems(draw, kind=None):
    """A problem of that kind, or of any; none hangs on the last digits of a float."""
    problem = draw(KINDS[kind or one_of(draw, *KINDS)])
    steps = solve(problem)
    assume(is_tame(steps) and is_settled(problem, steps))
    return problem


def is_tame(steps):
    """Whether no figure is huge, and no target so unlikely that its probability is lost in float64."""
    huge = any(abs(x) > 1e6 for rows in steps.values() for row in rows for x in row)
    return not huge and all(x < 30 for id, rows in steps.items() if id.endswith("losses") for row in rows for x in row)


# Choices


def is_settled(problem, steps):
    """Whether each choice (of experts, of tokens) stays the same when floats are added up in another order."""
    if problem["kind"] == "experts":
        # Of whole numbers logits are exact, and of those that are the same the first is chosen.
        exact = is_whole(problem["router"]) and is_whole(problem["x"])
        return all(chosen_clearly(row, problem["top_k"], exact) for row in steps["logits"])
    if problem["kind"] == "output":
        given = next((matrix(problem[key]) for key in ("logits", "probabilities") if key in problem), None)
        return all(kept_clearly(row, problem, given is not None) for row in steps.get("probabilities", given))
    if problem["kind"] == "encoder-decoder":
        return all(is_model_settled(problem[part], steps, f"{part}.") for part in ("encoder", "decoder"))
    if "generate" in problem:
        return is_generation_settled(problem, steps)
    return "layers" not in problem or is_model_settled(problem, steps)


def is_model_settled(model, steps, prefix=""):
    layers = [layer for layer in model["layers"] for _ in range(layer.get("repeat", 1))]
    of_experts = all(
        chosen_clearly(row, layer["experts"]["top_k"])
        for k, layer in enumerate(layers, 1)
        if "experts" in layer
        for row in steps[f"{prefix}layer{k}.experts.logits"]
    )
    output = model.get("output", TIED)
    rows = steps.get(f"{prefix}output.probabilities", [])
    return of_experts and (output == TIED or all(kept_clearly(row, output) for row in rows))


def kept_clearly(row, output, exact=False):
    """Whether top_k or top_p tells what it keeps from what it does not."""
    if "top_k" in output:
        return chosen_clearly(row, output["top_k"], exact)
    return "top_p" not in output or reached_clearly(row, output["top_p"], exact)


def is_whole(matrix):
    return all(isinstance(x, int) for row in matrix for x in row)


def chosen_clearly(row, count, exact=False):
    """Whether the last that is chosen and the first that is not are told apart."""
    order = sorted(row, reverse=True)
    if count >= len(order):
        return True
    gap = order[count - 1] - order[count]
    return gap > NEAR or (exact and gap == 0)


def reached_clearly(row, top_p, exact):
    """Whether no sum of the highest comes near top_p, and what is chosen last is told from what comes after."""
    total, order = 0.0, sorted(row, reverse=True)
    for count, p in enumerate(order, 1):
        total += p
        if abs(total - top_p) <= NEAR:
            return False
        if total > top_p:
            return chosen_clearly(row, count, exact)
    return True


def is_generation_settled(problem, steps):
    """Whether each token, and each expert of each token, is chosen clearly."""
    output = {} if problem["output"] == TIED else problem["output"]
    choose = problem["generate"].get("choose", "greedy")
    tokens = [int(token) for token in steps["tokens"][0]]
    for step in range(len(tokens)):
        row = steps[f"step{step + 1}.last_probabilities"][0]
        if not kept_clearly(row, output):
            return False
        if choose == "greedy":
            if not chosen_clearly(row, 1):
                return False
            continue
        said = {key: output[key] for key in ("top_k", "top_p", "renormalise") if key in output}
        kept = solve({"kind": "output", "probabilities": [row], **said})["kept"][0] if said else row
        sums = [sum(kept[: j + 1]) / sum(kept) for j in range(len(kept))]
        if any(abs(total - choose["sample"][step]) <= NEAR for total in sums):
            return False
    # All that was worked out on the way is worked out once more for the tokens before the last.
    words = words_of(problem)[0]
    whole = {key: value for key, value in problem.items() if key not in ("generate", "output")}
    whole["input"] = [id_of(word, words) for word in problem["generate"]["from"]] + tokens[:-1]
    return is_model_settled(whole, solve(whole))
