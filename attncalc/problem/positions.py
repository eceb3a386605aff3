"""`position:` of an attention or a model, and `kind: positions`: how places get into the figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from attncalc.problem import rotary as rotations
from attncalc.problem.forms import MOST_DRAWN
from attncalc.problem.matrices import matrix
from attncalc.problem.nodes import MapNode, Node
from attncalc.problem.readers import choice, labels, none_of, positive, scalar, whole
from attncalc.problem.rotary import BASE, Rotary
from attncalc.problem.rows import fitted, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.sizes import Fact, Mismatch, Operand, Sizes
from attncalc.problem.source import Source, counted
from attncalc.steps import Matrix


class Sinusoidal(NamedTuple):
    """PE[pos, 2i] = sin(pos / base^(2i/d)) and PE[pos, 2i+1] = cos of the same, added to H."""

    base: tuple[float, str] = BASE  # and how it was written
    columns: str = "interleaved"  # or concatenated: all sines first


class Learned(NamedTuple):
    """Row pos of the table is added to row pos of H."""

    table: Matrix  # as many positions as it has × d_model


Position: TypeAlias = Sinusoidal | Learned | Rotary | None


class Asked(NamedTuple):
    """A `position:` as it was read, before anything is known of sizes."""

    kind: str = "none"  # one of KINDS
    node: Node | None = None
    path: str = "position"
    said: Reading | None = None  # None where a word says it all
    rotary: Rotary | None = None

    def operands(self) -> list[Operand]:
        """The learned table, positions × d_model."""
        if self.kind != "learned" or self.said is None:
            return []
        path = f"{self.path}.table"
        return [Operand(path, path, self.said.at("table"), self.said["table"], ("positions", "d_model"))]

    def mismatches(self, sizes: Sizes) -> Iterator[Mismatch]:
        """More rows than the learned table has positions."""
        for operand in sizes.operands:
            if operand.path == f"{self.path}.table" and sizes["n"] > sizes["positions"]:
                what = f"{operand.shown(0, here=True)}, but there are {sizes['n']} positions: {sizes.origin('n').shown}"
                yield Mismatch(operand.node, operand.path, what)

    def position(self, sizes: Sizes) -> Position:
        """What is added to H, once all sizes are known; a Rotary has still to be held against its width (rotary.py)."""
        if self.kind == "learned":
            return Learned(next(each.matrix for each in sizes.operands if each.path == f"{self.path}.table"))
        if self.kind == "sinusoidal":
            return Sinusoidal(self.said["base"], self.said["columns"]) if self.said else Sinusoidal()
        return self.rotary


_KIND = Key(
    "kind",
    lambda source, node, path: scalar(source, node, path, "a kind"),
    None,
    "none, sinusoidal (base, columns), learned (table), or rotary (the other keys)",
)
_SINUSOIDAL = Table((
    Key("base", positive, BASE, "what is raised to 2i/d"),
    Key("columns", choice("interleaved", "concatenated"), "interleaved",
        "interleaved: a sine and a cosine in turn; concatenated: all sines, then all cosines"),
))  # fmt: skip
_LEARNED = Table((Key("table", matrix, None, "a row a position, from the first; as wide as H"),))
KINDS = {
    "none": Table((_KIND,)),
    "sinusoidal": Table((_KIND,)) + _SINUSOIDAL,
    "learned": Table((_KIND,)) + _LEARNED,
    "rotary": Table((_KIND,)) + rotations.KEYS,
}
MAPPING = Table((_KIND,)) + _LEARNED + Table(tuple(_SINUSOIDAL.keys[1:])) + rotations.KEYS  # those of all kinds
_WORDS = ("none", "sinusoidal", "rotary")
NOTHING = Asked()


def position(source: Source, node: Node, path: str) -> Asked:
    """none, sinusoidal or rotary; or a mapping with a kind and the keys of it."""
    if not isinstance(node, MapNode):
        word = scalar(source, node, path, "a kind of positions")
        if word == "learned":
            raise source.error(node, path, "learned needs a table", "write {kind: learned, table: [..]}")
        if word not in _WORDS:
            raise none_of(source, node, path, word, tuple(KINDS))
        return Asked(word, node, path, None, Rotary() if word == "rotary" else None)
    if "kind" not in node.entries:
        raise source.error(node, f"{path}.kind", "missing", "write {kind: sinusoidal}")
    entry = node.entries["kind"].value
    kind = choice(*KINDS)(source, entry, f"{path}.kind")
    said = KINDS[kind].read(source, node, path)
    if kind == "learned" and "table" not in said:
        raise source.error(node, f"{path}.table", "missing", "write {kind: learned, table: [..]}")
    return Asked(kind, node, path, said, rotations.rotary(source, said, path) if kind == "rotary" else None)


# kind: positions


class Positions(NamedTuple):
    """The sinusoidal positions of `length` rows of `width` figures, and perhaps rows x that they are added to."""

    length: int
    width: int
    position: Sinusoidal
    x: Matrix | None  # length × width
    tokens: tuple[str, ...] | None


_size = whole(1, MOST_DRAWN)
ALONE = Table((
    Key("length", _size, None, "how many positions; not needed where x says it"),
    Key("width", _size, None, "how many figures a position; not needed where x says it"),
    Key("x", matrix, None, "rows that the positions are added to, length × width"),
    Key("tokens", labels, None, "labels of the rows"),
)) + _SINUSOIDAL  # fmt: skip
_SIDES = {"length": "n", "width": "d"}


def positions(source: Source, said: Reading) -> Positions:
    """The positions that a file's keys give. Raises ProblemError where they don't go together."""
    facts = [Fact(side, said[name], f"{name} is {said[name]}") for name, side in _SIDES.items() if name in said]
    missing = [name for name in _SIDES if name not in said]
    if missing and "x" not in said:
        raise source.error(said.node, missing[0], "missing", f"write {missing[0]}: 4, or rows x")
    given = operands(said, {"x": ("n", "d")})
    sizes = fitted(source, said, given, labels=(("tokens", "n"),), facts=facts)
    for name, side in _SIDES.items():
        if name in said and said[name] != sizes[side]:
            raise source.error(said.at(name), name, f"{said[name]}, but {sizes.origin(side).shown}", "leave it out")
    length, width = sizes["n"], sizes["d"]
    if length * width > MOST_DRAWN:
        what = f"{counted(length, 'position')} of {counted(width, 'figure')} are too many"
        raise source.error(said.at("length"), "length", what, f"at most {MOST_DRAWN} figures")
    x = given[0].matrix if given else None
    return Positions(length, width, Sinusoidal(said["base"], said["columns"]), x, said["tokens"])


PROBLEMS = {"positions": Kind(ALONE, positions)}
