"""`mask:` and `padding:` of an attention or a softmax: which keys a query sees, and what is added to its scores."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from attncalc.problem import mask_entries
from attncalc.problem.mask_entries import Part
from attncalc.problem.matrices import text_of
from attncalc.problem.nodes import ListNode, MapNode, Node
from attncalc.problem.readers import choice, none_of, scalar, switch, whole
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.sizes import Operand, Sizes
from attncalc.problem.source import Source
from attncalc.steps import Matrix

FARTHEST = 1_000_000_000
_CHOICES = ("none", "causal")
_ALIGN = "align: start, align: end or past: N"


class Mask(NamedTuple):
    """What is visible to query i (of n) among m keys, and what is added to the scores. Indices count from 0."""

    causal: bool = False  # no key after i + past
    window: tuple[int, int] | None = None  # before, after: the keys from i + past - before to i + past + after
    past: int = 0  # the key that the first query stands at; below 0 where the first queries stand before all keys
    keep: tuple[Matrix, ...] = ()  # of 1 and 0, n × m; none, one for all heads, or one a head
    hide: tuple[Matrix, ...] = ()  # likewise
    add: tuple[Matrix, ...] = ()  # likewise; -inf (written -∞) where hidden, else as given
    padding: Matrix | None = None  # 1 × m: 1 a token, 0 padding
    read_as_hidden: tuple[str, ...] = ()  # the finite figures of `add` that were read as -∞, as written, each once

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.causal or self.window or self.keep or self.hide or self.add or self.padding is not None)


class Asked(NamedTuple):
    """A `mask:` as it was read, before anything is known of sizes; `said` where it is a mapping."""

    causal: bool = False
    parts: Mapping[str, tuple[Part, ...]] = MappingProxyType({})  # by keep, hide and add
    node: Node | None = None
    path: str = "mask"
    said: Reading | None = None

    def operands(self) -> list[Operand]:
        """Its matrices, n × m, so that they are sized and checked with all others."""
        return [
            Operand(each.name, each.path, each.node, each.given, ("n", "m"))
            for parts in self.parts.values()
            for each in parts
        ]


def window(source: Source, node: Node, path: str) -> tuple[int, int]:
    """N keys on either side, the query's own among them, or {before: b, after: a}: (before, after)."""
    if not isinstance(node, MapNode):
        count: int = whole(1, FARTHEST)(source, node, path)
        return count - 1, count - 1
    said = WINDOW.read(source, node, path)
    for name in ("before", "after"):
        if name not in said:
            raise source.error(node, f"{path}.{name}", "missing", "write {before: 2, after: 0}")
    return said["before"], said["after"]


def _parts(key: str) -> partial[tuple[Part, ...]]:
    return partial(mask_entries.parts, key=key, name=f"mask.{key}")


WINDOW = Table((
    Key("before", whole(0, FARTHEST), None, "keys before the query's own"),
    Key("after", whole(0, FARTHEST), None, "keys after it"),
))  # fmt: skip
KEYS = Table((
    Key("causal", switch, False, "yes: no query sees a later key"),
    Key("align", choice("start", "end"), None,
        "start: the first query stands at the first key; end: the last query at the last key"),
    Key("past", whole(0, FARTHEST), None, "the key, from 0, that the first query stands at"),
    Key("window", window, None, "N: keys less than N away are visible; or {before: b, after: a}"),
    Key("keep", _parts("keep"), (), "n × m, or one such a head: 1 where a key is visible"),
    Key("hide", _parts("hide"), (), "n × m, or one such a head: 1 where a key is hidden"),
    Key("add", _parts("add"), (), "n × m, or one such a head: added to the scores; -inf hides"),
))  # fmt: skip


def mask(source: Source, node: Node, path: str) -> Asked:
    """none, causal, a mapping of KEYS, or a matrix that is added to the scores."""
    if isinstance(node, ListNode) or (isinstance(node, MapNode) and {"file", "random"} & node.entries.keys()):
        return Asked(parts={"add": mask_entries.bare(source, node, path)}, node=node, path=path)
    if isinstance(node, MapNode):
        if not node.entries:
            raise source.error(node, path, "says nothing", "write causal or none")
        said = KEYS.read(source, node, path)
        return Asked(said["causal"], {key: said[key] for key in mask_entries.ENTRIES}, node, path, said)
    word = scalar(source, node, path, "none or causal")
    if word == "identity":
        mask_entries.bare(source, node, path)  # refuses it
    if word not in _CHOICES:
        raise none_of(source, node, path, word, _CHOICES)
    return Asked(word == "causal", node=node, path=path)


def check(
    source: Source, asked: Asked, padding: Part | None, sizes: Sizes, *, heads: int = 1, on_weights: bool = False
) -> Mask:
    """The Mask that was asked for, once all sizes are known. `on_weights`: it is put on weights, not on scores."""
    found = {operand.name: operand.matrix for operand in sizes.operands}
    for key, parts in asked.parts.items():
        node, path = asked.node, asked.path
        if asked.said is not None:
            node, path = asked.said.at(key) if key in asked.said else None, f"{asked.path}.{key}"
        if node is not None:
            mask_entries.check_count(source, node, path, parts, heads)
    matrices = {key: tuple(found[part.name] for part in parts) for key, parts in asked.parts.items()}
    if on_weights:
        for part in asked.parts.get("add", ()):
            _check_only_hides(source, part, found[part.name])
    hidden = [text for part in asked.parts.get("add", ()) for text in part.hidden]
    return Mask(
        causal=asked.causal,
        window=asked.said["window"] if asked.said else None,
        past=_past(source, asked, sizes),
        padding=found["padding"] if padding else None,
        read_as_hidden=tuple(dict.fromkeys(hidden)),
        **matrices,
    )


def _past(source: Source, asked: Asked, sizes: Sizes) -> int:
    """The key that the first query stands at."""
    queries, keys = sizes["n"], sizes["m"]
    said: dict[str, object] = {}
    if asked.said is not None:
        said = {name: asked.said[name] for name in ("window", "align", "past") if name in asked.said}
    places = [name for name in ("align", "past") if name in said]
    if len(places) == 2 and asked.said is not None:
        what = "can't be given together with align"
        raise source.error(asked.said.at("past"), f"{asked.path}.past", what, "keep one of them")
    if not asked.causal and "window" not in said:
        if places and asked.said is not None:
            raise source.error(asked.said.at(places[0]), f"{asked.path}.{places[0]}",
                               "not used without causal or window", "leave it out")  # fmt: skip
        return 0
    if "past" in said and asked.said is not None:
        past: int = asked.said["past"]
        if past + queries > keys:
            what = f"{past} and {queries} queries need {past + queries} keys, but {sizes.origin('m').shown}"
            raise source.error(asked.said.at("past"), f"{asked.path}.past", what, f"at most {max(keys - queries, 0)}")
        return past
    if "align" in said:
        return keys - queries if said["align"] == "end" else 0
    if queries != keys:
        assert asked.node is not None
        name = "causal" if asked.causal else "window"
        what = f"{name} needs align, as keys differ in number from queries: {keys} and {queries}"
        hint = f"add {_ALIGN}" if asked.said else f"write {{causal: yes, align: start}}, or {_ALIGN.partition(', ')[2]}"
        raise source.error(asked.node, asked.path, what, hint)
    return 0


def _check_only_hides(source: Source, part: Part, added: Matrix) -> None:
    bad = np.argwhere((added.values != 0) & np.isfinite(added.values))
    if not len(bad):
        return
    i, j = (int(index) for index in bad[0])
    row = part.node.items[i] if isinstance(part.node, ListNode) else part.node
    cell = row.items[j] if isinstance(row, ListNode) else part.node
    text = added.written[i, j] if added.written is not None else text_of(added.values[i, j])
    what = f"{text} can be added to scores, not to weights"
    raise source.error(cell, source.cell(part.path, i, j), what, "only 0 and -inf can stand here where A is given")
