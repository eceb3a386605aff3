"""`mask:` of an attention."""

from __future__ import annotations

import yaml

from attncalc.problem.nodes import ListNode, MapNode, Node
from attncalc.problem.readers import none_of, scalar, switch
from attncalc.problem.schema import Key, Table, later
from attncalc.problem.source import Source

_CHOICES = ("none", "causal")
_KEPT_OR_HIDDEN = frozenset(("0", "1", "true", "false", "yes", "no"))

KEYS = Table(
    (Key("causal", switch, False, "yes: no query sees a later key"),),
    later=dict.fromkeys(("keep", "hide", "add", "window", "align", "past"), ""),
)


def mask(source: Source, node: Node, path: str) -> bool:
    """Whether the mask is causal: none, causal or {causal: yes}."""
    if isinstance(node, MapNode):
        if not node.entries:
            raise source.error(node, path, "says nothing", "write causal or none")
        causal: bool = KEYS.read(source, node, path)["causal"]
        return causal
    if isinstance(node, ListNode):
        entries = _entries(node)
        if entries and all(entry.lower() in _KEPT_OR_HIDDEN for entry in entries):
            hint = "say keep, hide or add: mask: {keep: [[..]]}, which a later version of attncalc reads"
            raise source.error(node, path, "a matrix of 0 and 1 may mean kept, hidden or added", hint)
        raise later(source, node, path, "a mask matrix")
    word = scalar(source, node, path, "none or causal")
    if word not in _CHOICES:
        raise none_of(source, node, path, word, _CHOICES)
    return word == "causal"


def _entries(node: ListNode) -> list[str]:
    """The texts of a list of rows, or of a flat list; what lies deeper is no matrix and comes out as "..."."""
    cells = [cell for row in node.items for cell in (row.items if isinstance(row, ListNode) else [row])]
    return [cell.value if isinstance(cell, yaml.ScalarEvent) else "..." for cell in cells]
