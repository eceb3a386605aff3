"""Layers of attention and feed-forward: with the norm after each residual (Vaswani et al. 2017, section 3.1), or before
each part (Xiong et al. 2020, section 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from attncalc.mechanisms import experts, heads, norms
from attncalc.mechanisms import feed_forward as ff
from attncalc.mechanisms.cache import Cache
from attncalc.mechanisms.projections import Parts, usable
from attncalc.mechanisms.projections import stated as stated_attention
from attncalc.problem.attention import Attention
from attncalc.problem.experts import Experts
from attncalc.problem.feed_forward import FeedForward
from attncalc.problem.layers import Layer, Part
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Step

_NO_AXES = {"queries": None, "keys": None, "": None}


class Stated(NamedTuple):
    """What a problem states of a part of a layer, as steps: its matrices, those of single heads, its norm's."""

    parts: Parts
    each: list[Parts]
    norm: Parts


def stated(sheet: Sheet, layers: Iterable[Layer], *, several: bool) -> Mapping[int, list[Stated]]:
    """The weights of every layer, by its number; those of a repeated one once."""
    found: dict[int, list[Stated]] = {}
    for layer in layers:
        if layer.number not in found:
            with of_layer(sheet, layer.number, several=several):
                found[layer.number] = [_stated(sheet, part, k) for k, part in enumerate(layer.parts, 1)]
    return found


def of_layer(sheet: Sheet, number: int, *, several: bool) -> AbstractContextManager[object]:
    """The group of a layer: ids layer2.residual1, and symbols R⁽²⁾ where there are several."""
    return sheet.group("layer", number, prefix=f"layer{number}", mark=str(number) if several else "")


def _stated(sheet: Sheet, part: Part, k: int) -> Stated:
    normed: Parts = {}
    if part.norm:
        with sheet.group("norm_weights", k, prefix=f"norm{k}"):
            normed = norms.stated(sheet, part.norm)
    with sheet.group(part.name, prefix=part.name):
        match part.given:
            case FeedForward() as given:
                return Stated(ff.stated(sheet, given), [], normed)
            case Experts() as given:
                return Stated(experts.stated(sheet, given), [], normed)
            case given:
                parts = stated_attention(sheet, given, _NO_AXES)
                each = []
                for h, one in enumerate(given.per_head):
                    with heads.of_head(sheet, h):
                        each.append(stated_attention(sheet, one, _NO_AXES))
                return Stated(*usable(sheet, parts, each, given), normed)


def layer(
    sheet: Sheet, x: Step, given: Layer, stated: list[Stated], show: Show, memory: Step | None = None,
    caches: list[Cache] | None = None,
) -> Step:  # fmt: skip
    """x through the parts of a layer, n × d: x + f(norm(x)) with the norm before a part, norm(x + f(x)) after it.

    `caches`, one a part, keep keys and values where x are the rows of one step of generation.
    """
    for k, (part, of_part) in enumerate(zip(given.parts, stated, strict=True), 1):
        def normed(rows: Step, part: Part = part, of_part: Stated = of_part, k: int = k) -> Step:
            assert part.norm
            return norms.norm(sheet, rows, part.norm, of_part.norm, f"N_{k}", f"norm{k}")

        inner = normed(x) if part.norm and part.place == "pre" else x
        with sheet.group(part.name, prefix=part.name):
            f = _worked(sheet, part, inner, of_part, show, memory, caches[k - 1] if caches else None)
        x = ff.residual(sheet, x, f, f"R_{k}", f"residual{k}") if part.residual else f
        if part.norm and part.place == "post":
            x = normed(x)
    return x


def _worked(
    sheet: Sheet, part: Part, x: Step, stated: Stated, show: Show, memory: Step | None, cache: Cache | None
) -> Step:
    match part.given:
        case FeedForward() as given:
            return ff.feed_forward(sheet, x, given, stated.parts)
        case Experts() as given:
            return experts.experts(sheet, x, given, stated.parts, shift=show.shift, first=show.count_from)
        case given:
            rows = {"H": x}
            if part.name == "cross_attention":
                assert memory
                rows["memory"] = memory
            return heads.attend(sheet, stated.parts | rows, stated.each, given, show, cache)


def conventions(sheet: Sheet, layers: Sequence[Layer], stack: str = "") -> None:
    """What the figures of the layers rest on, each said once; `stack`: encoder or decoder, where the page has both."""
    for number, count in Counter(layer.number for layer in layers).items():
        if count > 1:
            sheet.convention("repeat", "shared", first=number, last=number + count - 1)
    for part in (part for layer in layers for part in layer.parts):
        if isinstance(part.given, Attention):
            own = part.name == "attention"
            of = stack if own else part.name
            heads.conventions_of_scores(sheet, part.given, square=own, of=of)
        elif isinstance(part.given, Experts):
            experts.conventions(sheet, part.given)
        else:
            ff.conventions(sheet, part.given)
        if part.norm:
            sheet.convention("norm_place", part.place)
            norms.conventions(sheet, part.norm)
