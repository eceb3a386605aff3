"""`draw:`, which says what matrices of a file are drawn for exercises: its entries, and where the matrices stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

import yaml

from attncalc.problem.fitness import is_weight
from attncalc.problem.forms import KEYS as RANDOM
from attncalc.problem.forms import KINDS, Random, bounds_of
from attncalc.problem.nodes import Entry, ListNode, MapNode, Node, is_empty, scalar_at
from attncalc.problem.readers import choice
from attncalc.problem.schema import Key, Table
from attncalc.problem.source import Source, counted, short
from attncalc.rounding import Texts

Place: TypeAlias = tuple[str | int, ...]  # keys, and indices from 0

MOST_MATRICES = 1_000  # that are drawn: each is put in its place in the file by itself
_FEWER = f"at most {MOST_MATRICES} of them"
EXAMPLE = "example"  # the seed of what `solve` works where a file leaves a drawn matrix out
OWN = ("draw", "published", "variant")  # keys that are not those of a problem that was drawn
_BESIDES = tuple(key for key in RANDOM.keys if key.name in ("from", "to", "rows", "columns"))
_kind = choice(*KINDS)
KEYS = Table((Key("of", _kind, "integers", "integers, or quarters: multiples of 1/4"), *_BESIDES))
_INPUTS = ("H", "x", "f", "Q", "K", "V", "S", "logits")
_step = re.compile(r"([A-Za-z]\w*)(?:\[([1-9][0-9]{0,5})\])?").fullmatch


class Drawn(MapNode):
    """A matrix that is drawn, in the place of one that is written out."""

    __slots__ = ("form",)

    def __init__(self, start: Any, form: Random) -> None:
        super().__init__(start)
        self.form = form


def asked(source: Source, root: Node) -> dict[str, Drawn]:
    """The entries of `draw`, by path. Raises ProblemError."""
    if not isinstance(root, MapNode) or "draw" not in root.entries:
        return {}
    entry = root.entries["draw"]
    if not isinstance(entry.value, MapNode) or not entry.value.entries:
        what = "must say what is drawn, matrix by matrix"
        raise source.error(entry.key, "draw", what, "write {H: integers, W_Q: {from: -1, to: 1}}")
    if len(entry.value.entries) > MOST_MATRICES:
        raise source.error(entry.key, "draw", f"{len(entry.value.entries)} matrices are too many", _FEWER)
    return {path: _drawn(source, path, *one) for path, one in entry.value.entries.items()}


def filled(source: Source, root: Node, drawn: Mapping[str, Drawn]) -> tuple[Node, tuple[str, ...]]:
    """The file with a draw in the place of each matrix of `draw` that it leaves out; and which those are."""
    left_out = []
    for path, node in drawn.items():
        if _at(root, _place(source, path, node)) is None:
            root = placed(source, root, path, node)
            left_out.append(path)
    return root, tuple(left_out)


def redrawn(source: Source, root: Node, drawn: Mapping[str, Drawn]) -> tuple[Node, dict[str, Random]]:
    """The file with a draw in the place of all that is to be drawn, written out or not; and those draws, by path.

    Where the file has no `draw`, that is every input and every matrix of weights that is written out as rows.
    """
    drawn = drawn or {path: _as_large(node) for path, node in islice(_written_out(root), MOST_MATRICES + 1)}
    if len(drawn) > MOST_MATRICES:
        raise source.error(root, "", f"more than {MOST_MATRICES} matrices would be drawn", f"name in draw: {_FEWER}")
    for path, node in drawn.items():
        there = _at(root, _place(source, path, node))
        if there is not None:
            node = _fitted(source, path, node, there)
        root = placed(source, root, path, node)
        drawn = {**drawn, path: node}
    return root, {path: node.form for path, node in drawn.items()}


def placed(source: Source, root: Node, path: str, node: Node) -> Node:
    """The file with this node at a path. Raises ProblemError where there is no such place."""
    try:
        return _put(root, _place(source, path, node), node)
    except LookupError:
        hint = "give the path of a matrix, as layers[1].attention.W_Q, indices from 1"
        raise source.error(node, f"draw.{short(path)}", "there is no such place in the file", hint) from None


def _put(here: Node | None, place: Place, node: Node) -> Node:
    """The node in its place, and all that it is in; raises LookupError where there is no such place."""
    if not place:
        return node
    first, *others = place
    if isinstance(here, MapNode) and isinstance(first, str) and (len(others) == 0 or first in here.entries):
        old = here.entries.get(first)
        mark = _mark(node)
        key = old.key if old else scalar_at(first, mark.line, mark.column)
        entry = Entry(key, _put(old and old.value, tuple(others), node))
        copy = MapNode(here.start)
        for name, other in here.entries.items():
            if name == "draw" and not old:  # what it says of a matrix gives way to the matrix
                copy.entries[first] = entry
            copy.entries[name] = other
        copy.entries[first] = entry
        return copy
    if isinstance(here, ListNode) and isinstance(first, int) and first < len(here.items):
        items = ListNode(here.start)
        items.items = [_put(item, tuple(others), node) if k == first else item for k, item in enumerate(here.items)]
        return items
    raise LookupError(place)


def without_own(root: Node) -> MapNode:
    """The file without the keys that are not those of a problem that was drawn."""
    assert isinstance(root, MapNode)
    copy = MapNode(root.start)
    copy.entries = {name: entry for name, entry in root.entries.items() if name not in OWN}
    return copy


def rows_of(texts: Texts) -> ListNode:
    """Figures as the rows of a file."""
    found = ListNode(scalar_at("", 0, 0))
    for row in texts.tolist():
        cells = ListNode(scalar_at("", 0, 0))
        cells.items = [scalar_at(text, 0, 0) for text in row]
        found.items.append(cells)
    return found


def _drawn(source: Source, path: str, key: yaml.ScalarEvent, node: Node) -> Drawn:
    inner = f"draw.{path}"
    if is_empty(node):
        raise source.error(key, inner, "empty", "write integers, quarters or {from: -2, to: 2}")
    width = 0 if is_weight(path) else 1
    if isinstance(node, yaml.ScalarEvent):
        return Drawn(key, Random(_kind(source, node, inner), None, None, EXAMPLE, None, None, width=width, fit=True))
    said = KEYS.read(source, node, inner)
    low, high = bounds_of(source, said, inner)
    return Drawn(key, Random(said["of"], low, high, EXAMPLE, said["rows"], said["columns"], width=width, fit=True))


def _place(source: Source, path: str, at: Node) -> Place:
    place: list[str | int] = []
    for part in path.split("."):
        match = _step(part)
        if match is None:
            hint = "write W_Q, or layers[1].attention.W_Q, indices from 1"
            raise source.error(at, f"draw.{short(path)}", "not the path of a matrix", hint)
        place += [match[1], int(match[2]) - 1] if match[2] else [match[1]]
    return tuple(place)


def _at(root: Node, place: Place) -> Node | None:
    here: Node | None = root
    for key in place:
        if isinstance(here, MapNode) and isinstance(key, str):
            here = here.entries[key].value if key in here.entries else None
        elif isinstance(here, ListNode) and isinstance(key, int):
            here = here.items[key] if key < len(here.items) else None
        else:
            return None
    return here


def _mark(node: Node) -> Any:
    return node.start_mark


def _size(node: Node) -> tuple[int, int] | None:
    """Rows and columns of what is written out as rows of figures."""
    if not isinstance(node, ListNode) or not node.items:
        return None
    widths = {len(row.items) if isinstance(row, ListNode) else 0 for row in node.items}
    return (len(node.items), widths.pop()) if len(widths) == 1 and 0 not in widths else None


def _as_large(node: Node) -> Drawn:
    size = _size(node)
    assert size is not None
    mark = _mark(node)
    start = scalar_at("", mark.line, mark.column)
    return Drawn(start, Random("integers", None, None, EXAMPLE, *size, fit=True))


def _fitted(source: Source, path: str, node: Drawn, there: Node) -> Drawn:
    """A draw of the size of what the file gives there. Raises ProblemError where `draw` says another."""
    size = _size(there)
    if size is None:
        return node
    form = replace(node.form, width=0 if is_weight(path) else 1)
    for said, side, count in zip((form.rows, form.columns), ("row", "column"), size, strict=True):
        if said not in (None, count):
            what = f"{counted(said or 0, side)}, but what the file gives there has {count}"
            raise source.error(node, f"draw.{path}", what, "leave the size out, or the matrix")
    return Drawn(node.start, replace(form, rows=size[0], columns=size[1]))


def _written_out(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """Every input and matrix of weights that is written out as rows."""
    if isinstance(node, ListNode):
        for k, item in enumerate(node.items, start=1):
            if isinstance(item, MapNode):
                yield from _written_out(item, f"{path}[{k}]")
    elif isinstance(node, MapNode):
        for key, (_, value) in node.entries.items():
            inner = f"{path}.{key}" if path else key
            if _size(value) and (is_weight(key) or key in _INPUTS):
                yield inner, value
            elif key not in OWN:
                yield from _written_out(value, inner)
