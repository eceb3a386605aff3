"""The keys of a mapping as data: what each is called, how it is read, what it is when nothing is said, what it means.

A key or a kind is added by adding a row; the man page is made from the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import yaml

from attncalc.errors import ProblemError
from attncalc.problem.nodes import MapNode, Node, is_empty
from attncalc.problem.slips import key_hint
from attncalc.problem.source import Source, short

# (source, node, path of the node) -> value. Raises ProblemError.
LONGEST = 80  # characters of a name that others are held against
Reader: TypeAlias = Callable[[Source, Node, str], Any]


class Key(NamedTuple):
    """One key: its reader, its value where it isn't given, and one line on what it means."""

    name: str
    read: Reader
    default: Any
    doc: str


@dataclass(eq=False, repr=False)
class Reading:
    """The values of a mapping that was read: `reading["H"]`; and what was said: `"H" in reading`, `reading.at("H")`."""

    node: MapNode
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.node.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.node.entries)

    def at(self, name: str) -> Node:
        return self.node.entries[name].value


@dataclass(eq=False, repr=False)
class Table:
    """The keys of one mapping. `elsewhere` are keys that are read in another place, each with that place."""

    keys: tuple[Key, ...]
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: Table) -> Table:
        return Table(self.keys + other.keys, {**self.elsewhere, **other.elsewhere})

    def read(self, source: Source, node: Node, path: str = "") -> Reading:
        """Every value of a mapping, in the order of the file; defaults for the keys that aren't there."""
        if not isinstance(node, MapNode):
            raise self._not_a_mapping(source, node, path)
        rows = {key.name: key for key in self.keys}
        values = {key.name: key.default for key in self.keys}
        for name, entry in node.entries.items():
            if name not in rows:
                raise self._refused(source, entry.key, path)
        for name, entry in node.entries.items():
            inner = f"{path}.{name}" if path else name
            if is_empty(entry.value):
                raise source.error(entry.key, inner, "empty", "give its value, indented if it is on the next line")
            values[name] = rows[name].read(source, entry.value, inner)
        return Reading(node, values)

    def _refused(self, source: Source, key: yaml.ScalarEvent, path: str) -> ProblemError:
        name: str = key.value
        if name in self.elsewhere:
            return source.error(key, path, f"unknown key {name}", f"it is a key of {self.elsewhere[name]}")
        hint = key_hint(name) or nearest(name, [row.name for row in self.keys])
        return source.error(key, path, f"unknown key {short(name)}" if name else "an empty key", hint)

    def _not_a_mapping(self, source: Source, node: Node, path: str) -> ProblemError:
        hint = f"write lines like {self.keys[0].name}: .."
        if isinstance(node, yaml.ScalarEvent):
            hint = key_hint(node.value) or hint
        return source.error(node, path, "expected a mapping" if path else "expected a mapping at top level", hint)


class Kind(NamedTuple):
    """One kind of problem: its keys, and what makes something checked of their values."""

    keys: Table
    build: Callable[[Source, Reading], Any]


def nested(table: Table) -> Reader:
    """A reader of a mapping within a mapping; its value is a Reading."""
    return table.read


def nearest(name: str, known: list[str]) -> str:
    """A hint: the known name that is most like `name`; else all of them, where they are few; else nothing."""
    for candidate in known:
        if _letters(candidate) == _letters(name):
            return f"did you mean {short(candidate)}?"
    import difflib  # only needed by who mistypes

    close = difflib.get_close_matches(name[:LONGEST], [each for each in known if len(each) <= LONGEST], 1)
    if close:
        return f"did you mean {short(close[0])}?"
    return f"known here: {', '.join(map(short, known))}" if len(known) <= 12 else ""


def _letters(name: str) -> str:
    return name.lower().replace("_", "")
