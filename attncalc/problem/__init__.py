"""Problem files: bytes -> events with positions -> typed values -> a frozen Problem. All input is validated here."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from attncalc.errors import ProblemError, UsageError
from attncalc.problem import drawing
from attncalc.problem.attention import Attention, Scale
from attncalc.problem.decoding import decode
from attncalc.problem.forms import Random
from attncalc.problem.heads import Head
from attncalc.problem.masks import Mask
from attncalc.problem.matrices import matrix
from attncalc.problem.nodes import MapNode, Node, compose, is_empty
from attncalc.problem.readers import anything, choice, scalar, text
from attncalc.problem.room import Room
from attncalc.problem.schema import Key, Kind, Table, nearest
from attncalc.problem.show import show
from attncalc.problem.source import Source, called, either, one_line, short
from attncalc.show import Show
from attncalc.steps import Matrix

__all__ = [
    "Attention", "Head", "Mask", "Problem", "Scale", "Show", "Template", "load", "load_template", "parse", "read",
    "template",
]  # fmt: skip

LARGEST = 50_000_000  # bytes of a file that is read; a device may have no end


class Problem(NamedTuple):
    """What a problem file says, checked. `given` is what those of its kind say."""

    name: str  # the file's name as given by the user
    title: str | None
    lang: str | None  # en or zh; None: nothing said
    kind: str
    show: Show
    given: Any
    published: Node | None = None  # figures printed elsewhere, for marking
    variant: str | None = None  # which one this is of those drawn from a problem
    drawn: tuple[str, ...] = ()  # the matrices that the file leaves to `draw`, of which these figures are an example
    characters: int = 0  # that were read for it: of the file, and bytes of those that it names

    def with_show(self, **changes: Any) -> Problem:
        """The same problem shown otherwise, as Show.changed says: `with_show(decimals=4, rounding="carried")`."""
        return self._replace(show=self.show.changed(**changes))


# Where each kind is: the module is imported for a problem of that kind.
HOMES = {
    "attention": "attention", "softmax": "softmax", "layer-norm": "norms", "rms-norm": "norms",
    "feed-forward": "feed_forward", "gate": "feed_forward", "residual": "feed_forward", "positions": "positions",
    "rotary": "rotary", "encoder": "models", "decoder": "models", "encoder-decoder": "models", "experts": "experts",
    "output": "output", "loss": "loss", "size": "size",
}  # fmt: skip


def kind_of(name: str) -> Kind:
    """The kind of this name."""
    problems: dict[str, Kind] = import_module(f"{__name__}.{HOMES[name]}").PROBLEMS
    return problems[name]


def _kind(source: Source, node: Node, path: str) -> str:
    name = scalar(source, node, path, "a kind")
    if name not in HOMES:
        hint = nearest(name, list(HOMES)) or f"give {either(list(HOMES))}"
        raise source.error(node, path, f"unknown kind {short(name)}", hint)
    return name


KEYS = Table(
    (
        Key("title", text, None, "the heading of the page"),
        Key("lang", choice("en", "zh"), None, "the language of the page"),
        Key("kind", _kind, "attention", f"the kind of problem: {', '.join(HOMES)}"),
        Key("show", show, Show(), "how figures are rounded and what is shown"),
        Key("published", anything, None, "figures printed elsewhere, by step id, for marking"),
        Key("variant", text, None, "which variant of a problem this is; answers that say another are not marked by it"),
        Key("draw", anything, None, "which matrices are drawn for exercises: {W_Q: {of: integers, from: -2, to: 2}}"),
    )
)


def _of_other_kinds() -> Table:
    """No keys, but where those of every kind are: for a file that gives some to another kind."""
    owners: dict[str, list[str]] = {}
    for name in HOMES:
        for key in kind_of(name).keys.keys:
            owners.setdefault(key.name, []).append(name)
    return Table((), {key: f"kind: {either(kinds)}" for key, kinds in owners.items()})


def load(path: str | os.PathLike[str]) -> Problem:
    """The problem in a file; "-" is standard input. Raises UsageError where it can't be read, else as parse does."""
    name = os.fspath(path)
    data = read(name)
    return parse(data, called(name), Path(name).parent)


def read(name: str) -> bytes:
    """The bytes of a file; "-" is standard input. Raises ProblemError where it can't be read, or has no end
    in sight, and UsageError for no name."""
    if not name:
        raise UsageError("the name of a file is empty", "give the path of a file, or -")
    try:
        if name == "-":
            if sys.stdin is None:
                raise OSError(errno.EBADF, "it is closed")
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        what = f"can't be read: {getattr(error, 'strerror', None) or error}"
        raise ProblemError.of_file(one_line(called(name)), what, "give the path of a file, or -") from None
    if len(data) > LARGEST:
        raise ProblemError.of_file(one_line(called(name)), f"is larger than {LARGEST} bytes", "give a part of it")
    return data


def parse(data: bytes, name: str = "<text>", folder: Path | None = None) -> Problem:
    """The problem in some bytes. Raises ProblemError for all that can't be used, with its place.

    `folder` is where the files that it names are; None: it may not name any.
    """
    source, root = _tree(data, name, folder)
    root, drawn = drawing.filled(source, root, drawing.asked(source, root))
    return _built(source, root)._replace(drawn=drawn)


class Template(NamedTuple):
    """A file whose matrices are drawn anew for each problem: `problem` is an example, in which each of `draws` is."""

    problem: Problem
    draws: Mapping[str, Random]
    source: Source
    root: Node

    def example(self, seed: str) -> Problem:
        """Another example, drawn from a seed."""
        root = self.root
        for path, form in self.draws.items():
            root = drawing.placed(self.source, root, path, drawing.Drawn(root, replace(form, seed=seed)))
        return _built(self.source, root)

    def filled(self, matrices: Mapping[str, Matrix]) -> tuple[Problem, str]:
        """The file with these matrices written out as rows, by their paths: a problem by itself, and its text."""
        root = self.root
        for path, figures in matrices.items():
            assert figures.written is not None
            root = drawing.placed(self.source, root, path, drawing.rows_of(figures.written))
        from attncalc.problem.emit import text_of

        root = drawing.without_own(root)
        return _built(self.source, root), text_of(root)


def template(data: bytes, name: str = "<text>", folder: Path | None = None) -> Template:
    """What problems are drawn from: a file with `draw`, or any whose inputs and weights are written out as rows."""
    source, root = _tree(data, name, folder)
    root, found = drawing.redrawn(source, root, drawing.asked(source, root))
    if not found:
        matrices = (key.name for key in kind_of(_kind_of(source, root)).keys.keys if key.read is matrix)
        hints = (f"say draw: {{{name}: integers, ..}}" for name in matrices)
        hint = next(hints, "where it has no matrix, one sheet is for all: leave out --students and --variants")
        raise source.error(root, "draw", "there is nothing to draw", hint)
    return Template(_built(source, root), found, source, root)


def load_template(path: str | os.PathLike[str]) -> Template:
    """The template in a file; "-" is standard input. Raises as `load` does."""
    name = os.fspath(path)
    data = read(name)
    return template(data, called(name), Path(name).parent)


def _tree(data: bytes, name: str, folder: Path | None) -> tuple[Source, Node]:
    source = replace(decode(data, name), folder=folder)
    root = compose(source)
    if root is None:
        raise source.error_at(1, 1, "", "expected a mapping at top level", "the file is empty")
    return replace(source, count_from=_count_from(root)), root


def _built(source: Source, root: Node) -> Problem:
    source = replace(source, room=Room())
    name = _kind_of(source, root)
    kind = kind_of(name)
    table = kind.keys + KEYS
    if isinstance(root, MapNode) and not {key.name for key in table.keys}.issuperset(root.entries):
        table += _of_other_kinds()
    said = table.read(source, root)
    given = kind.build(source, said)
    return Problem(
        source.name, said["title"], said["lang"], name, said["show"], given, said["published"], said["variant"],
        characters=len(source.text) + source.room.bytes,
    )  # fmt: skip


def _count_from(root: Node) -> int:
    """show.count_from, read before all else as messages hold indices; what is wrong with it is said in its turn."""
    show_node = root.entries["show"].value if isinstance(root, MapNode) and "show" in root.entries else None
    said = show_node.entries.get("count_from") if isinstance(show_node, MapNode) else None
    return 0 if said and isinstance(said.value, yaml.ScalarEvent) and said.value.value == "0" else 1


def _kind_of(source: Source, root: Node) -> str:
    """The kind, read before the other keys as it says which they are."""
    node = root.entries["kind"].value if isinstance(root, MapNode) and "kind" in root.entries else None
    return "attention" if node is None or is_empty(node) else _kind(source, node, "kind")
