"""How large a model is: the shapes of its figures, its parameters part by part, and its key/value cache."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np

from attncalc.errors import StepError
from attncalc.expr import Expr, function, in_symbols, number, slot, sum_of_slots
from attncalc.mechanisms.chart import LETTERS, Known, stacks
from attncalc.problem.feed_forward import GATED
from attncalc.problem.size import Size
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Matrix, Step

LARGEST = 2.0**53  # below it float64 holds every whole number

# What a number is called, by its key and whether there is an encoder beside a decoder, where that is not its key.
_OTHERWISE = {
    ("layers", True): ("decoder_layers", "L_d"),
    ("bytes", True): ("number", "b"),
    ("bytes", False): ("number", "b"),
}


class Piece(NamedTuple):
    """A figure that is not recorded yet: its id, its letter, and the law of it and of what it is worked."""

    id: str
    letter: str
    law: Expr
    of: tuple[Step, ...]


def sizes(sheet: Sheet, given: Size, show: Show) -> Step:
    """`kind: size`: the shapes, the parameters and the cache of a model, each a single figure, 1 × 1.

    Raises StepError for a figure that float64 may not hold to its last digit.
    """
    _conventions(sheet, given)
    known = _stated(sheet, given)
    columns = tuple(stack for stack in stacks(given, known) if stack.layer)
    if columns:
        sheet.remark("chart", stacks=columns)
    fixed = [embedding(sheet, given, known), attention(sheet, given, known), feed_forward(sheet, given, known),
             norms(sheet, given, known)]  # fmt: skip
    router, every, chosen = experts(sheet, given, known)
    parts = [part for part in (*fixed, router) if part]
    last = total(sheet, parts, every, chosen) if parts or every else None
    last = cache(sheet, given, known) or last
    assert last is not None  # a problem that counts nothing is refused when it is read
    return last


def _stated(sheet: Sheet, given: Size) -> Known:
    """The numbers that the problem states and something is counted by, and the widths that follow from them."""
    keys = [key for key in LETTERS if getattr(given, key) is not None and _is_used(given, key)]
    both = given.encoder_layers is not None
    known: dict[str, Step] = {}
    with sheet.group("given", order="by line"):
        for key in keys:
            role, letter = _OTHERWISE.get((key, both), (key, LETTERS[key]))
            known[key] = _given(sheet, key, letter, str(getattr(given, key)), role)
        if given.heads:
            if "d_k" not in known:
                law = slot(0) / slot(1)
                known["d_k"] = _figure(sheet, Piece("d_k", "d_k", law, (known["d_model"], known["heads"])))
            known["concat"] = _figure(sheet, _product("concat", "", known["heads"], known["d_k"]))
            known.setdefault("kv_heads", known["heads"])
    return known


def _is_used(given: Size, key: str) -> bool:
    if key == "batch":
        return given.length is not None
    return key != "bytes" or _has_cache(given)


def _has_cache(given: Size) -> bool:
    return given.skeleton != "encoder" and bool(given.heads or given.kv_heads or given.latent)


# Parameters


def embedding(sheet: Sheet, given: Size, known: Known) -> Step | None:
    """V × d_model for each matrix of embeddings and for the output, which may be one (Vaswani et al. 2017, section
    3.4); and a learned table of positions for each stack, N_max × d_model."""
    both = given.skeleton == "encoder-decoder"
    pieces = []
    if given.vocabulary:
        matrices = 1 if given.tied or given.skeleton == "encoder" else 3 if both else 2
        pieces.append(_product("words", "p_W", known["vocabulary"], known["d_model"], times=matrices))
    if given.positions:
        pieces.append(_product("position_table", "p_P", known["positions"], known["d_model"], times=1 + both))
    if not pieces:
        return None
    with sheet.group("embedding_size", prefix="parameters", order="by line"):
        return _added(sheet, "embedding", "P_E", pieces)


def attention(sheet: Sheet, given: Size, known: Known) -> Step | None:
    """The four matrices of an attention (Vaswani et al. 2017, section 3.2.2), as often as there is one; where query
    heads share keys and values, W_K and W_V are narrower (Ainslie et al. 2023, section 2.2)."""
    if not (given.heads and given.d_model):
        return None
    d_model, heads, kv_heads, d_k = (known[key] for key in ("d_model", "heads", "kv_heads", "d_k"))
    pieces = [
        _product("W_Q", "p_Q", d_model, heads, d_k),
        _product("W_K", "p_K", d_model, kv_heads, d_k),
        _product("W_V", "p_V", d_model, kv_heads, d_k),
    ]
    if given.W_O:
        pieces.append(_product("W_O", "p_O", heads, d_k, d_model))
    if given.biases == "yes":
        law, of = slot(0) * slot(1) + number(2.0) * slot(2) * slot(1), (heads, d_k, kv_heads)
        pieces.append(Piece("attention_biases", "p_b", *((law + slot(3), (*of, d_model)) if given.W_O else (law, of))))
    with sheet.group("attention_size", prefix="parameters", order="by line"):
        one = _added(sheet, "one_attention", "p_A", pieces)
        # The decoder of an encoder-decoder has two in a layer, its own and that over the encoder's output.
        count = _of_layers(sheet, known, "attentions", "n_A", slot(0) + number(2.0) * slot(1))
        return _figure(sheet, _product("attention", "P_A", count, one))


def _of_layers(sheet: Sheet, known: Known, id: str, letter: str, law: Expr) -> Step:
    """How many there are of what each layer has: L, or a law of the layers of the encoder and of the decoder."""
    if "encoder_layers" not in known:
        return known["layers"]
    return _figure(sheet, Piece(id, letter, law, (known["encoder_layers"], known["layers"])))


def _transformed(sheet: Sheet, given: Size, known: Known, id: str, letter: str) -> Step:
    """The parameters of one feed-forward: 2 × d_model × d_ff, or 3 with a gate (Shazeer 2020, section 2)."""
    d_model, d_ff = known["d_model"], known["d_ff"]
    gated = given.activation in GATED
    pieces = [_product(f"{id}_weights", f"{letter}W", d_model, d_ff, times=2 + gated)]
    if given.biases != "no":
        hidden = number(2.0) * slot(0) if gated else slot(0)
        pieces.append(Piece(f"{id}_biases", f"{letter}b", hidden + slot(1), (d_ff, d_model)))
    return _added(sheet, id, letter, pieces)


def feed_forward(sheet: Sheet, given: Size, known: Known) -> Step | None:
    """One feed-forward a layer (Vaswani et al. 2017, section 3.3)."""
    if given.experts or not given.d_ff:
        return None
    with sheet.group("feed_forward_size", prefix="parameters", order="by line"):
        one = _transformed(sheet, given, known, "one_feed_forward", "p_F")
        count = _of_layers(sheet, known, "feed_forwards", "n_F", slot(0) + slot(1))
        return _figure(sheet, _product("feed_forward", "P_F", count, one))


def experts(sheet: Sheet, given: Size, known: Known) -> tuple[Step | None, Step | None, Step | None]:
    """The router, d_model × E in each layer, the experts, and those that one token goes through (Shazeer et al. 2017,
    section 2)."""
    if not given.experts:
        return None, None, None
    with sheet.group("experts_size", prefix="parameters", order="by line"):
        if given.expert_parameters:
            one = _given(sheet, "expert", "p_X", str(given.expert_parameters))
        else:
            one = _transformed(sheet, given, known, "expert", "p_X")
        count = _of_layers(sheet, known, "feed_forwards", "n_F", slot(0) + slot(1))
        every = _figure(sheet, _product("all_experts", "P_X", count, known["experts"], one))
        chosen = _figure(sheet, _product("chosen_experts", "P_k", count, known["top_k"], one)) if given.top_k else None
        router = None
        if given.d_model:
            router = _figure(sheet, _product("router", "P_R", count, known["d_model"], known["experts"]))
    return router, every, chosen


def norms(sheet: Sheet, given: Size, known: Known) -> Step | None:
    """A norm for each part of a layer, and perhaps a last one for each stack: a gain and a bias (Ba et al. 2016) or a
    gain (Zhang and Sennrich 2019), each d_model wide."""
    if given.norm == "none" or not given.d_model:
        return None
    n_stacks, parts = 1 + (given.encoder_layers is not None), float(given.parts)
    across = number(parts + (given.heads is not None))  # cross-attention has a norm too
    law = number(parts) * slot(0) + across * slot(1) if n_stacks == 2 else number(parts) * slot(0)
    if given.final_norm:
        law = law + number(float(n_stacks))
    layers = tuple(known[key] for key in ("encoder_layers", "layers") if key in known)
    rows = 2 if given.norm == "layer-norm" else 1
    with sheet.group("norm_size", prefix="parameters", order="by line"):
        one = _figure(sheet, _product("one_norm", "p_N", known["d_model"], times=rows))
        count = _figure(sheet, Piece("norms", "n_N", law, layers))
        return _figure(sheet, _product("norm", "P_N", count, one))


def total(sheet: Sheet, parts: list[Step], every: Step | None, chosen: Step | None) -> Step:
    """All parameters; and those that one token goes through, where it goes through some experts only."""
    with sheet.group("total_size", prefix="parameters", order="by line"):
        last = _figure(sheet, _sum("total", "P", [*parts, *([every] if every else [])]))
        return _figure(sheet, _sum("active", "P_active", [*parts, chosen])) if chosen else last


# The cache


def cache(sheet: Sheet, given: Size, known: Known) -> Step | None:
    """The keys and values that a decoder keeps: 2 × L × kv_heads × d_k numbers for each token (Shazeer 2019, section
    2.4.1), or L × d_c (DeepSeek-AI 2024, DeepSeek-V2, section 2.1). Those of an encoder's output are kept likewise,
    for the cross-attention."""
    if not _has_cache(given):
        return None
    with sheet.group("cache_size", prefix="cache", order="by line"):
        if given.window:
            token = _figure(sheet, _of_token(given, known, "layer_bytes", "c_1"))
        else:
            token = _figure(sheet, _of_token(given, known, "token_bytes", "C_1", known["layers"]))
        if given.heads and given.latent:
            sheet.remark("latent_share", known["latent"], known["heads"], known["d_k"])
        elif given.heads and given.kv_heads and given.kv_heads < given.heads:
            sheet.remark("kv_share", known["kv_heads"], known["heads"])
        last = token
        if given.window:
            last = _figure(sheet, _product("bytes", "C", known["batch"], _kept(sheet, known), token))
        elif given.length:
            last = _figure(sheet, _all_bytes(known, token))
        sheet.remark("bytes", last)
    return last


def _of_token(given: Size, known: Known, id: str, letter: str, *layers: Step) -> Piece:
    """The bytes of one token, in one layer or in so many."""
    kept = [known["latent"]] if given.latent else [known["kv_heads"], known["d_k"]]
    return _product(id, letter, *layers, *kept, known["bytes"], times=1 if given.latent else 2)


def _kept(sheet: Sheet, known: Known) -> Step:
    """How many tokens are kept in all layers: those with a sliding window keep min(N, W) (Beltagy et al. 2020, section
    3.1; Jiang et al. 2023, Mistral 7B, section 2)."""
    law = function("min", slot(0), slot(1))
    tokens = _figure(sheet, Piece("window_tokens", "N_W", law, (known["length"], known["window"])))
    if "window_layers" not in known:
        return _figure(sheet, _product("kept_tokens", "T", known["layers"], tokens))
    windowed = known["window_layers"]
    full = _figure(sheet, Piece("full_layers", "L_f", slot(0) - slot(1), (known["layers"], windowed)))
    law = slot(0) * slot(1) + slot(2) * slot(3)
    return _figure(sheet, Piece("kept_tokens", "T", law, (full, known["length"], windowed, tokens)))


def _all_bytes(known: Known, token: Step) -> Piece:
    B, N = known["batch"], known["length"]
    if "memory_length" not in known:
        return _product("bytes", "C", B, N, token)
    return Piece("bytes", "C", slot(0) * (slot(1) + slot(2)) * slot(3), (B, N, known["memory_length"], token))


def _conventions(sheet: Sheet, given: Size) -> None:
    """What is there and what is counted, for the head of the page."""
    if given.d_model and given.heads:
        sheet.convention("skeleton", given.skeleton)
    if given.vocabulary and given.skeleton != "encoder":
        sheet.convention("tied", "yes" if given.tied else "no")
    if given.d_ff:
        sheet.convention("matrices", "gated" if given.activation in GATED else "plain")
    if given.parts and given.d_model:
        sheet.convention("biases", given.biases)
        sheet.convention("counted_norm", given.norm)
    if _has_cache(given):
        both = given.skeleton == "encoder-decoder"
        sheet.convention("cache", "latent" if given.latent else "both" if both else "own")
    if given.window:
        sheet.convention("cache_window", "some" if given.window_layers else "all",
                         layers=given.window_layers, window=given.window)  # fmt: skip


# One figure


def _given(sheet: Sheet, id: str, letter: str, written: str, role: str = "") -> Step:
    matrix = Matrix(np.array([[float(written)]]), np.array([[written]], dtype=object))
    return sheet.given(id, matrix, symbol=sheet.symbol(letter), role=role or id, places=0)


def _figure(sheet: Sheet, piece: Piece) -> Step:
    """The piece as a step; one without a letter is called by its law."""
    id, letter, law, of = piece
    symbol = sheet.symbol(letter) if letter else in_symbols(law, [each.symbol for each in of], single=True)
    step = sheet.map(id, law, *of, symbol=symbol, role=id, places=0, single=True)
    if step.values[0, 0] >= LARGEST:
        what = f"{step.values[0, 0]:.3g} is too large to be exact: whole numbers are, up to 2^53"
        raise StepError(step.id, (0, 0), what, "give smaller numbers")
    return step


def _product(id: str, letter: str, *of: Step, times: int = 1) -> Piece:
    factors = [*([number(float(times))] if times > 1 else []), *map(slot, range(len(of)))]
    return Piece(id, letter, reduce(mul, factors), of)


def _sum(id: str, letter: str, of: Sequence[Step]) -> Piece:
    return Piece(id, letter, sum_of_slots(len(of)) if len(of) > 1 else slot(0), tuple(of))


def _added(sheet: Sheet, id: str, letter: str, pieces: Sequence[Piece]) -> Step:
    """The sum of the pieces, each recorded before it; one piece alone is the sum itself."""
    if len(pieces) == 1:
        return _figure(sheet, pieces[0]._replace(id=id, letter=letter))
    return _figure(sheet, _sum(id, letter, [_figure(sheet, piece) for piece in pieces]))
