"""The size of a model that is given by its matrices: the numbers that `attncalc size` counts by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from attncalc.errors import StepError
from attncalc.problem.attention import Attention
from attncalc.problem.experts import Experts
from attncalc.problem.feed_forward import FeedForward
from attncalc.problem.layers import Given, Layer
from attncalc.problem.models import Model, Stack
from attncalc.problem.norms import Norm
from attncalc.problem.positions import Learned
from attncalc.problem.size import Size

Numbers: TypeAlias = dict[str, Any]  # fields of a Size
ALIKE = "a size is that of layers which are all alike"
TOGETHER = "a size has all of them or none"


def size_of(model: Model) -> Size:
    """The Size of a model. Raises StepError, with the key of the file, where a Size can't say what it is made of."""
    given = {name: stack for name in ("encoder", "decoder") if (stack := getattr(model, name))}
    both = len(given) == 2
    before = {name: f"{name}." if both else "" for name in given}
    found: Numbers = {"skeleton": "-".join(given), **_alike({name: _widths(stack) for name, stack in given.items()})}
    found |= _layers(given, before)
    for name, stack in given.items():
        found |= _final_norm(stack.final_norm, found, f"{before[name]}final_norm")
    found["tied"] = _tied(model)
    lengths = {name: _length(stack) for name, stack in given.items()}
    found["length"] = lengths.get("decoder", lengths.get("encoder"))
    found["layers"] = len((model.decoder or next(iter(given.values()))).layers)
    if both:
        found |= {"encoder_layers": len(given["encoder"].layers), "memory_length": lengths["encoder"]}
    return Size(**found)


# A stack


def _width(stack: Stack) -> int:
    matrix = stack.words.embedding if stack.words else stack.H
    assert matrix is not None
    return int(matrix.values.shape[1])


def _widths(stack: Stack) -> Numbers:
    table = stack.position.table if isinstance(stack.position, Learned) else None
    return {
        "d_model": _width(stack),
        "vocabulary": len(stack.words.vocabulary) if stack.words else None,
        "positions": len(table.values) if table else None,
    }


def _alike(widths: Mapping[str, Numbers]) -> Numbers:
    """The numbers of every stack, which are to be the same."""
    found = next(iter(widths.values()))
    for name, others in widths.items():
        if key := _difference(found, others):
            what = f"{_said(others, key)}, but the encoder has {_said(found, key)}"
            raise StepError(name, (), what, "a size has one for both")
    return found


def _length(stack: Stack) -> int:
    if stack.generate and not stack.has_input:
        return stack.generate.longest
    if stack.words:
        return len(stack.words.ids)
    assert stack.H
    return len(stack.H.values)


def _tied(model: Model) -> bool:
    """Whether one matrix is every embedding and the output."""
    if model.encoder and model.encoder.output:
        path = "encoder.output" if model.decoder else "output"
        raise StepError(path, (), "an encoder with an output", "a size counts that of a decoder alone")
    decoder = model.decoder
    if decoder is None:
        return True
    path = "decoder.output" if model.encoder else "output"
    if (decoder.words is None) != (decoder.output is None):
        what = "words go in, but none come out" if decoder.words else "words come out, but H goes in"
        raise StepError(path, (), what, "a size has an embedding and an output, or neither")
    if decoder.output and decoder.output.b is not None:
        raise StepError(path, (), "has a bias", "a size counts its matrix alone")
    tied = decoder.output is None or decoder.output.W is None
    if tied and model.encoder and decoder.words and model.encoder.words:
        first, second = model.encoder.words.embedding, decoder.words.embedding
        if not np.array_equal(first.values, second.values):
            what = "tied to an embedding that is not the encoder's"
            raise StepError(path, (), what, "a size has one matrix for all, or three")
    return tied


def _final_norm(norm: Norm | None, found: Numbers, path: str) -> Numbers:
    """Whether every stack has one; where it has parameters, they are as those of the norms of layers."""
    kind = _norm(norm, path, ()) if norm else "none"
    if norm and kind != found["norm"]:
        raise StepError(path, (), f"parameters of {kind}, but those of layers are of {found['norm']}", ALIKE)
    has = kind != "none"
    if found.get("final_norm", has) != has:
        raise StepError(path, (), "in one stack only", TOGETHER)
    return {"final_norm": has}


# Its layers


def _layers(stacks: Mapping[str, Stack], before: Mapping[str, str]) -> Numbers:
    """What every layer is made of."""
    first: Numbers | None = None
    for name, stack in stacks.items():
        for layer in stack.layers:
            _check_cross(layer, name == "decoder" and len(stacks) == 2, f"{before[name]}layers")
            found = _makeup(layer, f"{before[name]}layers")
            first = first or found
            if key := _difference(first, found):
                what = f"{_said(found, key)}, but the first layer has {_said(first, key)}"
                raise StepError(f"{before[name]}layers", (layer.number - 1,), what, ALIKE)
    assert first is not None
    return first


def _check_cross(layer: Layer, needed: bool, path: str) -> None:
    """A layer has a cross-attention where it is one of a decoder beside an encoder, and nowhere else."""
    parts = {part.name: part.given for part in layer.parts}
    at = (path, (layer.number - 1,))
    if "cross_attention" in parts and not needed:
        what = "a cross-attention, but there is no encoder"
        raise StepError(*at, what, "a size has one in the decoder of an encoder-decoder")
    if needed and ("attention" in parts) != ("cross_attention" in parts):
        missing = "cross_attention" if "attention" in parts else "attention"
        raise StepError(*at, f"no {missing}", "a layer of the decoder of a size has both")


def _makeup(layer: Layer, path: str) -> Numbers:
    """The numbers of one layer; those that two of its parts say are to be the same."""
    at = (path, (layer.number - 1,))
    found: Numbers = {}
    norms = {_norm(part.norm, *at) if part.norm else "none" for part in layer.parts}
    if len(norms) > 1:
        raise StepError(*at, f"parameters of {' and of '.join(sorted(norms))}", "a size has one kind of norm")
    for part in layer.parts:
        numbers = _part(part.given, *at)
        place = "attention" if isinstance(part.given, Attention) else "feed-forward"
        numbers |= {place: _all_or_none(_has_biases(part.given), part.name, *at)}
        if key := next((key for key in numbers if found.get(key, numbers[key]) != numbers[key]), ""):
            raise StepError(*at, f"{part.name}: {_said(numbers, key)}, but attention has {_said(found, key)}", ALIKE)
        found |= numbers
    biased: dict[str, bool] = {place: found.pop(place) for place in ("attention", "feed-forward") if place in found}
    return {**found, "biases": _biases(biased, *at), "norm": norms.pop()}


def _part(given: Given, path: str, index: tuple[int, ...]) -> Numbers:
    if isinstance(given, Attention):
        return _attention(given, path, index)
    if isinstance(given, FeedForward):
        return {"d_ff": given.d_ff, "activation": given.activation}
    return _experts(given, path, index)


def _attention(given: Attention, path: str, index: tuple[int, ...]) -> Numbers:
    if given.d_k != given.d_v:
        what = f"keys of width {given.d_k} and values of width {given.d_v}"
        raise StepError(path, index, what, "a size has one width of a head")
    if given.v_a is not None:
        raise StepError(path, index, "additive scores with v_a", "a size has attentions without it")
    if given.split == "input" and given.heads > 1:
        raise StepError(path, index, "heads that project their own columns", "a size has heads that project all")
    return {"heads": given.heads, "kv_heads": given.kv_heads, "d_k": given.d_k, "W_O": given.W_O is not None}


def _experts(given: Experts, path: str, index: tuple[int, ...]) -> Numbers:
    each = [{"d_ff": expert.d_ff, "activation": expert.activation} for expert in given.experts]
    if not each:
        raise StepError(path, index, "a router without experts", "give their matrices")
    for other in each:
        if key := _difference(each[0], other):
            raise StepError(path, index, f"experts with {_said(each[0], key)} and {_said(other, key)}", ALIKE)
    return {"experts": len(each), "top_k": given.top_k, **each[0]}


def _norm(norm: Norm, path: str, index: tuple[int, ...]) -> str:
    """What is counted of it: a kind, or none where it has no parameters."""
    if norm.gain is None and norm.bias is None:
        return "none"
    if norm.gain is None or (norm.kind == "layer-norm") != (norm.bias is not None):
        raise StepError(path, index, "a norm with a gain or a bias alone", TOGETHER)
    return norm.kind


# Biases


def _has_biases(given: Given) -> list[bool]:
    """Of each matrix that may have one, whether it has."""
    if isinstance(given, Experts):
        return [has for expert in given.experts for has in _has_biases(expert)]
    if isinstance(given, FeedForward):
        pairs = [(given.W_1, given.b_1), (given.W_gate, given.b_gate), (given.W_2, given.b_2)]
    else:
        pairs = [(given.W_QKV, given.b_QKV), (given.W_O, given.b_O)]
        for each in given.per_head or (given,):
            pairs += [(each.W_Q, each.b_Q), (each.W_K, each.b_K), (each.W_V, each.b_V)]
    return [bias is not None for matrix, bias in pairs if matrix is not None]


def _all_or_none(has: Sequence[bool], name: str, path: str, index: tuple[int, ...]) -> bool:
    if len(set(has)) > 1:
        raise StepError(path, index, f"{name}: biases of some matrices only", TOGETHER)
    return has[0]


def _biases(biased: Mapping[str, bool], path: str, index: tuple[int, ...]) -> str:
    """no, yes or feed-forward."""
    if not any(biased.values()):
        return "no"
    if biased.get("attention"):
        if not biased.get("feed-forward", True):
            raise StepError(path, index, "attention has biases, but the feed-forward has none", TOGETHER)
        return "yes"
    return "feed-forward"


# What differs


def _difference(one: Numbers, other: Numbers) -> str:
    """The first number that differs; "" where none does."""
    return next((key for key in {**one, **other} if one.get(key) != other.get(key)), "")


def _said(numbers: Numbers, key: str) -> str:
    value = numbers.get(key)
    return f"no {key}" if value in (None, False) else key if value is True else f"{key} {value}"
