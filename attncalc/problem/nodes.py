"""YAML events -> nodes with positions: no types, no tags, no duplicate keys, and aliases within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeAlias

import yaml

from attncalc.problem.source import Placed, Source, short

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 64  # collections inside one another
MOST_ALIASED = 2_000_000  # nodes that aliases may stand for; what is written out may be of any size


class Collection:
    """A list or a mapping. `size` counts its nodes with aliases expanded, itself included; 0 while it is open."""

    __slots__ = ("depth", "inner", "size", "start")

    def __init__(self, start: yaml.Event) -> None:
        self.start = start
        self.size = 0
        self.depth = 1  # of collections, itself included
        self.inner = 1  # its size so far, without its direct scalars

    @property
    def start_mark(self) -> Any:
        return self.start.start_mark

    def holds(self, other: Node) -> None:
        """Take account of a collection, or of what an alias stands for."""
        if isinstance(other, Collection):
            self.inner += other.size - 1  # itself is counted as one of the direct nodes
            self.depth = max(self.depth, other.depth + 1)


class ListNode(Collection):
    """`items` in order."""

    __slots__ = ("items",)

    def __init__(self, start: yaml.Event) -> None:
        super().__init__(start)
        self.items: list[Node] = []


class MapNode(Collection):
    """`entries` by key, in order; `key` is the one whose value is awaited."""

    __slots__ = ("entries", "key")

    def __init__(self, start: yaml.Event) -> None:
        super().__init__(start)
        self.entries: dict[str, Entry] = {}
        self.key: yaml.ScalarEvent | None = None


# A scalar is its event: making anything more for each of 10,000 figures would cost as much as parsing them.
Node: TypeAlias = yaml.ScalarEvent | ListNode | MapNode


class Entry(NamedTuple):
    """A key and its value, each with its place."""

    key: yaml.ScalarEvent
    value: Node


def is_empty(node: Node) -> bool:
    """Whether nothing is written there; `""` is something."""
    return isinstance(node, yaml.ScalarEvent) and not node.value and bool(node.implicit[0])


def scalar_at(value: str, line: int, column: int, style: str | None = None) -> yaml.ScalarEvent:
    """The node of a text that YAML didn't read; line and column from 0."""
    mark = yaml.Mark("", 0, line, column, None, 0)
    return yaml.ScalarEvent(None, None, (True, False), value, mark, mark, style=style)


def line_of(placed: Placed) -> int:
    """The line of a node, from 1."""
    return int(placed.start_mark.line) + 1


def compose(source: Source, typed: str = "") -> Node | None:
    """The one document of a text, or None where there is only blank space and comments. `typed` is the text as it is in
    the file, where pairs of escapes are joined in that of the source.

    Raises ProblemError for text that is not YAML, and for what attncalc doesn't read of YAML.
    """
    composer = _Composer(source)
    try:
        return composer.document(LOADER(source.text))
    except yaml.YAMLError as error:
        from attncalc.problem.syntax import pairs_joined, syntax_error

        joined = pairs_joined(source.text)
        if joined != source.text:
            return compose(replace(source, text=joined), source.text)
        raise syntax_error(source, error, composer.last, typed or source.text) from None


class _Composer:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.stack: list[ListNode | MapNode] = []
        self.anchors: dict[str, Node] = {}
        self.aliased = 0
        self.root: Node | None = None
        self.last: yaml.Event | None = None

    def document(self, loader: Any) -> Node | None:
        add: Callable[[Any], None] = self.set_root
        next_event = loader.get_event
        scalar, documents = yaml.ScalarEvent, 0
        while True:
            event = next_event()
            kind = type(event)
            if kind is scalar:
                if event.tag is not None or event.anchor is not None:
                    self.mark(event, event)
                event.end_mark = None  # a fifth of what it takes
                add(event)
                continue
            self.last = event
            if kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
                self.open(event)
                add = self.adder()
            elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
                node = self.close()
                add = self.adder()
                add(node)
            elif kind is yaml.AliasEvent:
                add(self.alias(event))
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    self.refuse(event, f"found a second document at line {line_of(event)}",
                                "put each problem in a file of its own")  # fmt: skip
            elif kind is yaml.StreamEndEvent:
                loader.dispose()
                return self.root

    def set_root(self, node: Node) -> None:
        self.root = node

    def adder(self) -> Callable[[Any], None]:
        """What takes the next node: the list's own append, as most nodes are figures in rows."""
        if not self.stack:
            return self.set_root
        parent = self.stack[-1]
        return parent.items.append if isinstance(parent, ListNode) else partial(self.enter, parent)

    def open(self, event: yaml.Event) -> None:
        node = MapNode(event) if isinstance(event, yaml.MappingStartEvent) else ListNode(event)
        if len(self.stack) >= DEEPEST:
            self.refuse(event, "nesting too deep", f"at most {DEEPEST} lists inside one another are read")
        self.mark(event, node)
        self.stack.append(node)

    def close(self) -> Node:
        node = self.stack.pop()
        direct = len(node.items) if isinstance(node, ListNode) else len(node.entries)
        node.size = node.inner + direct
        if self.stack:
            self.stack[-1].holds(node)
        return node

    def enter(self, mapping: MapNode, node: Node) -> None:
        """Take a node of a mapping: a key, or the value of the key before it."""
        if mapping.key is not None:
            mapping.entries[mapping.key.value] = Entry(mapping.key, node)
            mapping.key = None
            return
        if not isinstance(node, yaml.ScalarEvent):
            self.refuse(node, "a list or mapping can't be a key", "put quotes round a text with [ ] { or }")
        if is_empty(node):
            start = mapping.start_mark
            lone = self.source.text[getattr(start, "index", 0) :][:1] == "?"
            what = 'a lone "?" starts a key here' if lone else "a key is missing before the colon"
            self.refuse(mapping if lone else node, what, 'put quotes round it: "?"' if lone else "name it")
        if node.value == "<<" and node.implicit[0]:
            self.refuse(node, "merge keys (<<) are not read", "write the keys out")
        if node.value in mapping.entries:
            first, second = (line_of(key) for key in (mapping.entries[node.value].key, node))
            where = f"lines {first} and {second}" if first != second else f"both on line {first}"
            self.refuse(node, f"duplicate key {short(node.value)}, {where}", "keep one of them")
        mapping.key = node

    def mark(self, event: Any, node: Node) -> None:
        """Remember an anchor; refuse a tag."""
        if event.tag is not None:
            tag = short(event.tag.replace("tag:yaml.org,2002:", "!!"))
            self.refuse(event, f"the tag {tag} is not read", "put quotes round a text that starts with !")
        if event.anchor is not None:
            self.anchors[event.anchor] = node

    def alias(self, event: Any) -> Node:
        name = short(event.anchor)
        node = self.anchors.get(event.anchor)
        if node is None:
            what = f"*{name} stands for nothing above it"
            self.refuse(event, what, "put quotes round a text that starts with *")
        if isinstance(node, Collection):
            if not node.size:
                hint = f"write out what *{name} stands for"
                raise self.source.error(event, self.path_of(node), "refers to itself", hint)
            if len(self.stack) + node.depth > DEEPEST:
                self.refuse(event, "nesting too deep", f"at most {DEEPEST} lists inside one another are read")
        self.aliased += node.size if isinstance(node, Collection) else 1
        if self.aliased > MOST_ALIASED:
            self.refuse(event, f"aliases stand for more than {MOST_ALIASED} entries", "write the entries out")
        if self.stack:
            self.stack[-1].holds(node)
        return node

    def path_of(self, node: ListNode | MapNode) -> str:
        """The keys that lead to a collection which is still open."""
        above = self.stack[: self.stack.index(node)]
        keys = [short(parent.key.value) for parent in above if isinstance(parent, MapNode) and parent.key is not None]
        return ".".join(keys)

    def refuse(self, at: Any, what: str, hint: str) -> NoReturn:
        raise self.source.error(at, "", what, hint)
