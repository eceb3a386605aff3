"""`layers:` of a model: attention, cross-attention and feed-forward, each with its residual and its norm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from attncalc.problem import experts as mixtures
from attncalc.problem import norms, positions, rotary
from attncalc.problem.attention import KEYS as ATTENTION
from attncalc.problem.attention import Attention, attention_of_layer
from attncalc.problem.experts import EXPERTS, Experts
from attncalc.problem.feed_forward import FEED_FORWARD, FeedForward, axes, check, feed_forward
from attncalc.problem.fitting import Inputs
from attncalc.problem.nodes import ListNode, Node
from attncalc.problem.norms import Norm
from attncalc.problem.readers import choice, switch, whole
from attncalc.problem.rotary import Rotary
from attncalc.problem.rows import fitted, operands
from attncalc.problem.schema import Key, Reading, Table, nested
from attncalc.problem.sizes import Fact
from attncalc.problem.source import Source, counted
from attncalc.steps import Matrix

MOST_LAYERS = 1000

Given: TypeAlias = Attention | FeedForward | Experts


class Part(NamedTuple):
    """One part of a layer: what it does to its rows, whether they are added to what comes out, and how they are
    normalised: `pre`, before the part, or `post`, after the residual."""

    name: str  # attention, cross_attention, feed_forward or experts
    given: Given
    residual: bool
    norm: Norm | None
    place: str  # pre or post


class Layer(NamedTuple):
    """The parts of a layer in their order, and the number (from 1) of the first layer that has these weights."""

    parts: tuple[Part, ...]
    number: int


RESIDUAL = Table(
    (Key("residual", switch, True, "no: the rows that go in are not added to what comes out"),),
    elsewhere=dict.fromkeys(("norm", "norms", "repeat"), "the layer, beside its parts"),
)
_PLACE = choice("pre", "post")
NORM = Table((
    Key("kind", choice("layer-norm", "rms-norm"), "layer-norm", "layer-norm or rms-norm"),
    Key("place", _PLACE, None, "pre: before each part; post: after each residual"),
)) + norms.LAYER_NORM  # fmt: skip
FINAL_NORM = Table((NORM.keys[0],)) + norms.LAYER_NORM


def _norms(source: Source, node: Node, path: str) -> tuple[Reading, ...]:
    """A list of norms, one a part."""
    if not isinstance(node, ListNode) or not node.items:
        raise source.error(node, path, "must be a list of norms, one a part", "write [{place: pre}, {place: pre}]")
    return tuple(NORM.read(source, item, source.cell(path, k)) for k, item in enumerate(node.items))


LAYER_ATTENTION = ATTENTION + RESIDUAL
LAYER_FEED_FORWARD = FEED_FORWARD + RESIDUAL
LAYER_EXPERTS = EXPERTS + RESIDUAL
PARTS = {
    "attention": LAYER_ATTENTION, "cross_attention": LAYER_ATTENTION, "feed_forward": LAYER_FEED_FORWARD,
    "experts": LAYER_EXPERTS,
}  # fmt: skip
LAYER = Table((
    Key("attention", nested(LAYER_ATTENTION), None, "as kind: attention without H; the rows look at one another"),
    Key("cross_attention", nested(LAYER_ATTENTION), None, "likewise, but keys and values come from the memory"),
    Key("feed_forward", nested(LAYER_FEED_FORWARD), None, "as kind: feed-forward, without x"),
    Key("experts", nested(LAYER_EXPERTS), None, "as kind: experts, without x, instead of a feed-forward"),
    Key("norm", nested(NORM), None, "{kind, place, eps, ..}: the norm of each part, place: pre or post"),
    Key("norms", _norms, (), "a list of such, one a part, where they differ"),
    Key("repeat", whole(1, MOST_LAYERS), 1, "how many layers there are of this kind, one above the other"),
))  # fmt: skip


def layers(source: Source, node: Node, path: str) -> tuple[Reading, ...]:
    """A list of layers."""
    if not isinstance(node, ListNode):
        raise source.error(node, path, "must be a list of layers", "write - attention: {..}, a line for each layer")
    if not node.items:
        raise source.error(node, path, "an empty list", "give a layer: - attention: {..}")
    return tuple(LAYER.read(source, item, source.cell(path, k)) for k, item in enumerate(node.items))


class Rows(NamedTuple):
    """What a stack of layers works on: n rows of width d_model, perhaps with a memory; `causal`: no row of a decoder
    sees a later one, unless its mask says otherwise. Paddings are 1 × n and 1 × m."""

    inputs: Inputs
    causal: bool
    padding: Matrix | None = None
    memory_padding: Matrix | None = None
    rotary: positions.Asked | None = None
    longest: int = 0  # rows that generation comes to; 0: nothing is generated


def stacked(source: Source, said: tuple[Reading, ...], rows: Rows) -> tuple[Layer, ...]:
    """The layers, from bottom to top, with `repeat` carried out. Raises ProblemError where something doesn't fit."""
    found: list[Layer] = []
    for k, layer in enumerate(said):
        one = Layer(_parts(source.inside("layers", k), layer, rows), len(found) + 1)
        found += [one] * layer["repeat"]
        if len(found) > MOST_LAYERS:
            raise source.error(layer.node, "layers", f"more than {MOST_LAYERS} layers", "repeat fewer")
    return tuple(found)


def _parts(source: Source, layer: Reading, rows: Rows) -> tuple[Part, ...]:
    named = [name for name in PARTS if name in layer]
    if not named:
        raise source.error(layer.node, "", "says no part", "write attention: {..} or feed_forward: {..}")
    if "feed_forward" in layer and "experts" in layer:
        what = "can't be given together with feed_forward"
        raise source.error(layer.at("experts"), "experts", what, "keep one of them")
    if "cross_attention" in named and rows.inputs.m is None:
        what = "there is no memory to look at"
        raise source.error(layer.at("cross_attention"), "cross_attention", what, "give memory: {H: ..}, or an encoder")
    each = _norm_of_each(source, layer, named)
    found = []
    for name, norm in zip(named, each, strict=True):
        said: Reading = layer[name]
        given = _READ[name](source.inside(name), said, rows)
        _check_width(source, said, name, given, rows.inputs.d_model)
        found.append(Part(name, given, said["residual"], *norm(rows.inputs.d_model)))
    return tuple(found)


def _check_width(source: Source, said: Reading, name: str, given: Given, d_model: Fact) -> None:
    if given.width != d_model.size:
        what = f"gives rows of width {given.width}, but {d_model.shown}, and what comes out is to be as wide"
        hint = "give W_O" if isinstance(given, Attention) and given.W_O is None else "check its last matrix"
        raise source.error(said.node, name, what, hint)


_OfWidth: TypeAlias = Callable[[Fact], tuple[Norm | None, str]]


def _norm_of_each(source: Source, layer: Reading, named: list[str]) -> list[_OfWidth]:
    """What gives the norm of each part and its place, once the width is known."""
    if "norm" in layer and "norms" in layer:
        raise source.error(layer.at("norms"), "norms", "can't be given together with norm", "keep one of them")
    if "norms" in layer:
        said: tuple[Reading, ...] = layer["norms"]
        if len(said) != len(named):
            parts = counted(len(named), "part")
            what = f"{counted(len(said), 'norm')}, but the layer has {parts}: {', '.join(named)}"
            raise source.error(layer.at("norms"), "norms", what, "give one a part")
        return [_of_width(source.inside("norms", k), one) for k, one in enumerate(said)]
    if "norm" in layer:
        return [_of_width(source.inside("norm"), layer["norm"])] * len(named)
    return [lambda _: (None, "pre")] * len(named)


def _of_width(source: Source, said: Reading) -> _OfWidth:
    if said["place"] is None:
        raise source.error(said.node, "place", "missing", "pre: before each part; post: after each residual")
    return lambda d_model: (norm_of(source, said, d_model), said["place"])


def norm_of(source: Source, said: Reading, d_model: Fact) -> Norm:
    """The norm of rows of a known width. Raises ProblemError."""
    kind: str = said["kind"]
    if kind == "rms-norm":
        for name in ("variance", "bias"):
            if name in said:
                raise source.error(said.at(name), name, "not used with kind: rms-norm", "leave it out")
    given = operands(said, norms.AXES)
    fitted(source, said, given, facts=[d_model._replace(dimension="d")])
    norms.check(source, said, d_model.size)
    matrices = {operand.name: operand.matrix for operand in given}
    return norms.norm(kind, said, matrices.get("gain"), matrices.get("bias"))


def _attention(source: Source, said: Reading, rows: Rows) -> Attention:
    given = attention_of_layer(source, said, Inputs(rows.inputs.n, rows.inputs.d_model))
    causal = rows.causal if "mask" not in said else given.mask.causal
    _check_grows(source, said, rows, given)
    own = given.mask.padding
    mask = given.mask._replace(causal=causal, padding=rows.padding if own is None else own)
    return given._replace(mask=mask, position=_rotary(source, rows, given))


def _check_grows(source: Source, said: Reading, rows: Rows, given: Attention) -> None:
    """Refuse a mask that is written out where rows grow in number. Raises ProblemError."""
    if rows.longest and (given.mask.keep or given.mask.hide or given.mask.add):
        what = "a matrix can't be the mask of generation, where rows grow in number"
        raise source.error(said.at("mask"), "mask", what, "use causal and window")


def _rotary(source: Source, rows: Rows, given: Attention) -> Rotary | None:
    """The rotation of the heads of one attention. Raises ProblemError where their width doesn't go with it."""
    asked = rows.rotary
    if asked is None:
        return None
    assert asked.rotary and asked.node and given.d_k
    shown = f"d_k is {given.d_k}"
    whole, places = replace(source, within="", scope=""), max(rows.inputs.n.size, rows.longest)
    return rotary.check(
        whole, asked.rotary, given.d_k, places, shown=shown, node=asked.node, said=asked.said, path=asked.path
    )


def _cross_attention(source: Source, said: Reading, rows: Rows) -> Attention:
    given = attention_of_layer(source, said, rows.inputs)
    _check_grows(source, said, rows, given)
    own = given.mask.padding
    return given._replace(mask=given.mask._replace(padding=rows.memory_padding if own is None else own))


def _feed_forward(source: Source, said: Reading, rows: Rows) -> FeedForward:
    check(source, said)
    given = operands(said, axes(said))
    d = rows.inputs.d_model
    fitted(source, said, given, facts=[d._replace(dimension="d")], defaults=[("d_out", "d")])
    return feed_forward(said, {operand.name: operand.matrix for operand in given})


def _experts(source: Source, said: Reading, rows: Rows) -> Experts:
    mixtures.check(source, said)
    given = mixtures.matrices_of(source, said)
    d = rows.inputs.d_model
    sizes = fitted(source, said, given, facts=[d._replace(dimension="d")], defaults=[("d_out", "d")])
    return mixtures.experts(source, said, given, sizes)


_READ: dict[str, Callable[[Source, Reading, Rows], Any]] = {
    "attention": _attention,
    "cross_attention": _cross_attention,
    "feed_forward": _feed_forward,
    "experts": _experts,
}
