"""A file's nodes -> the text of a file that reads the same: comments and aliases are gone, nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import yaml

from attncalc.problem.nodes import ListNode, MapNode, Node

_plain = re.compile(r"[^\n]*").fullmatch  # of what was plain in a file, on one line or folded
_plain_in_flow = re.compile(r"[^\s\"'\[\]{},#&*!|>%@`:?-][^\[\]{},\n:#]*|-?[\d.][^\[\]{},\s:#]*").fullmatch
_not_printable = re.compile(r"[\\\"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def text_of(root: MapNode) -> str:
    """The text of a mapping: a line a key, lists of figures and of texts in brackets."""
    return "".join(
        f"{line}\n" for entry in root.entries.values() for line in _with_head(f"{_scalar(entry.key)}:", entry.value)
    )


def _block(node: Node) -> Iterator[str]:
    if isinstance(node, MapNode) and node.entries:
        for entry in node.entries.values():
            yield from _with_head(f"{_scalar(entry.key)}:", entry.value)
    elif isinstance(node, ListNode) and not _is_flat(node):
        for item in node.items:
            first, *rest = _block(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _flow(node)


def _with_head(head: str, node: Node) -> Iterator[str]:
    if isinstance(node, yaml.ScalarEvent):
        yield f"{head} {_scalar(node)}".rstrip()
    elif _is_flat(node):
        yield f"{head} {_flow(node)}"
    else:
        yield head
        yield from (f"  {line}" for line in _block(node))


def _is_flat(node: Node) -> bool:
    """Whether a node is written on one line: figures, texts, lists of them; a mapping of such single ones."""
    if isinstance(node, ListNode):
        return all(not isinstance(item, MapNode) and _is_flat(item) for item in node.items)
    return not isinstance(node, MapNode) or not node.entries


def _flow(node: Node) -> str:
    if isinstance(node, ListNode):
        return f"[{', '.join(map(_flow, node.items))}]"
    if isinstance(node, MapNode):
        return "{}"
    return _scalar(node, _plain_in_flow)


def _scalar(event: yaml.ScalarEvent, stands_plain: Callable[[str], object] = _plain) -> str:
    """A scalar as it was, where it can stand there without quotes, else between them."""
    value: str = event.value
    if event.implicit[0] and (not value or (value == value.strip() and stands_plain(value))):
        return value
    return f'"{_not_printable.sub(_escaped, value)}"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return f"\\{character}" if character in '\\"' else f"\\u{ord(character):04x}"
