"""Which sides of a problem's matrices must agree, and the size of each; matrices that aren't written out get theirs.

Every side is some number of times a unit: with 4 heads, W_Q has 4 times d_k columns. The first matrix that has a side
of a unit says how large the unit is; all others are held against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from attncalc.errors import ProblemError
from attncalc.problem.forms import MOST_DRAWN, Identity
from attncalc.problem.matrices import Given
from attncalc.problem.nodes import MapNode, Node, line_of
from attncalc.problem.source import Source, counted, short
from attncalc.steps import Matrix

_SIDES = ("row", "column")


class Dimension(NamedTuple):
    """A side: `times` units, as many as there are `of` (heads or kv_heads)."""

    unit: str
    times: int = 1
    of: str = ""


@dataclass(eq=False, repr=False)
class Operand:
    """A matrix of the problem: its name (indices from 1), its place, and the dimensions of its rows and columns."""

    name: str
    path: str
    node: Node
    given: Given
    axes: tuple[str, str]

    @property
    def matrix(self) -> Matrix:
        assert isinstance(self.given, Matrix)
        return self.given

    @property
    def shape(self) -> tuple[int | None, int | None]:
        if isinstance(self.given, Matrix):
            rows, columns = self.given.values.shape
            return rows, columns
        return self.given.shape

    def shown(self, axis: int, here: bool = False) -> str:
        """`2 rows (2 × 3, line 7)`: a side, the size of the whole, and where that was read; nothing said of `here`."""
        rows, columns = self.shape
        entry = self.node.entries.get("file") if isinstance(self.node, MapNode) else None
        if entry is not None:
            place = f", {short(getattr(entry.value, 'value', ''))}"
        else:
            place = "" if here else f", line {line_of(self.node)}"
        return f"{counted(self.shape[axis] or 0, _SIDES[axis])} ({rows or '?'} × {columns or '?'}{place})"


class Fact(NamedTuple):
    """The size of a dimension that is said by something else than a matrix."""

    dimension: str
    size: int
    shown: str  # `d_k is 4`


class Origin(NamedTuple):
    """What says how large a unit is: a side of a matrix, or a fact."""

    size: int
    times: int
    operand: Operand | None
    axis: int
    fact: str = ""

    @property
    def shown(self) -> str:
        return f"{self.operand.path} has {self.operand.shown(self.axis)}" if self.operand else self.fact


class Mismatch(NamedTuple):
    node: Node
    path: str
    what: str


@dataclass(eq=False, repr=False)
class Sizes:
    """The operands of a problem with the sizes of their dimensions.

    `settled` are facts of the surroundings, which matrices are held against; other `facts` are what no matrix says.
    `dividers` are the places of heads and kv_heads; `defaults` are dimensions that are as large as another where
    nothing else says it; `derive` is called when sizes were learnt, and may `put` more.
    """

    source: Source
    operands: list[Operand]
    dimensions: Mapping[str, Dimension]
    dividers: Mapping[str, tuple[Node, str]] = field(default_factory=dict)
    settled: tuple[Fact, ...] = ()
    facts: tuple[Fact, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()
    derive: Callable[[Sizes], None] = lambda sizes: None
    units: dict[str, Origin] = field(default_factory=dict)
    derived: int = -1  # how many units were known when more was derived from them

    def __getitem__(self, dimension: str) -> int:
        size = self.get(dimension)
        assert size is not None
        return size

    def get(self, dimension: str) -> int | None:
        unit, times, _ = self._of(dimension)
        return self.units[unit].size * times if unit in self.units else None

    def origin(self, dimension: str) -> Origin:
        return self.units[self._of(dimension).unit]

    def put(self, dimension: str, size: int, operand: Operand | None, axis: int = 1, fact: str = "") -> None:
        """Learn the size of a dimension, if it isn't known. Raises ProblemError where it can't be cut into units."""
        unit, times, of = self._of(dimension)
        if unit in self.units:
            return
        if size % times:
            node, path = self.dividers[of]
            what = f"{operand.path} has {counted(size, _SIDES[axis])}" if operand else fact
            raise self.source.error(node, path, f"{times}, but {what}, which {times} does not divide",
                                    "each head has as many columns as the others")  # fmt: skip
        self.units[unit] = Origin(size // times, times, operand, axis, fact)

    def solve(self) -> None:
        """Give every operand its matrix. Raises ProblemError for one whose size nothing says."""
        self._take(self.settled)
        self._learn(self.operands)
        self._take(self.facts)
        while True:
            self._learn(self.operands)
            if self._fit():
                continue
            if not any(self._assume(dimension, other) for dimension, other in self.defaults):
                break
        for operand in self.operands:
            if not isinstance(operand.given, Matrix):
                raise self._unsized(operand)

    def mismatches(self) -> list[Mismatch]:
        """Every side that isn't as large as it must be."""
        found = []
        for operand in self.operands:
            for axis, dimension in enumerate(operand.axes):
                size, wanted = operand.shape[axis], self.get(dimension)
                if size and wanted and size != wanted:
                    what = f"{operand.shown(axis, here=True)}, but {self._wanted(operand, dimension, wanted)}"
                    found.append(Mismatch(operand.node, operand.path, what))
        return found

    def refuse_mismatches(self) -> None:
        """Raise ProblemError for the first side that isn't as large as it must be."""
        for mismatch in self.mismatches():
            raise self.source.error(mismatch.node, mismatch.path, mismatch.what)

    def _of(self, dimension: str) -> Dimension:
        return self.dimensions.get(dimension, Dimension(dimension))

    def _take(self, facts: tuple[Fact, ...]) -> None:
        for fact in facts:
            self.put(fact.dimension, fact.size, None, fact=fact.shown)

    def _learn(self, operands: Sequence[Operand]) -> None:
        for operand in operands:
            for axis, dimension in enumerate(operand.axes):
                if (size := operand.shape[axis]) is not None:
                    self.put(dimension, size, operand, axis)
            if self.derived != len(self.units):  # a list of heads may have thousands of operands that say nothing new
                self.derive(self)
                self.derived = len(self.units)

    def _fit(self) -> bool:
        """Make a matrix of each form whose size is known by now; whether there was one."""
        fitted = False
        for operand in self.operands:
            if isinstance(operand.given, Matrix):
                continue
            said = operand.given.shape
            rows, columns = (size or self.get(name) for size, name in zip(said, operand.axes, strict=True))
            if isinstance(operand.given, Identity):
                if rows and columns and rows != columns:
                    self.refuse_mismatches()  # of a matrix that is written out, rather than of this one
                    raise self._not_square(operand, rows, columns)
                rows, columns = rows or columns, columns or rows
            if rows and columns:
                self._refuse_large(operand, rows, columns)
                operand.given = operand.given.matrix(f"{self.source.scope}{operand.name}", rows, columns)
                self._learn([operand])
                fitted = True
        return fitted

    def _refuse_large(self, operand: Operand, rows: int, columns: int) -> None:
        """Raise ProblemError where there is no room for so many entries that nobody wrote out."""
        room = self.source.room
        if rows * columns > min(MOST_DRAWN, room.left):
            hint = f"at most {MOST_DRAWN} entries" if room.left >= MOST_DRAWN else f"at most {room.left} entries more"
            raise self.source.error(operand.node, operand.path, f"{rows} × {columns} is too large", hint)
        room.left -= rows * columns

    def _assume(self, dimension: str, other: str) -> bool:
        size = self.get(other)
        if size is None or self.get(dimension) is not None:
            return False
        self.units[dimension] = self.origin(other)._replace(size=size)
        return True

    def _wanted(self, operand: Operand, dimension: str, wanted: int) -> str:
        """`W_Q has 2 columns (2 × 2, line 2)`, and what that means where heads stand between."""
        before = self.operands[: self.operands.index(operand)] if operand.axes[0] == "one" else []
        for other in before:  # a bias is held against its own weights: b_K against W_K rather than W_Q
            for axis, name in enumerate(other.axes):
                if name == dimension and other.shape[axis] == wanted:
                    return f"{other.path} has {other.shown(axis)}"
        _, times, of = self._of(dimension)
        origin = self.origin(dimension)
        if origin.operand is None or origin.operand.shape[origin.axis] == wanted:
            return origin.shown
        by = f" for {of} {times}" if times > 1 else ""
        parts = f" for {counted(origin.times, 'head')}" if origin.times > 1 else ""
        return f"{wanted} {'is' if wanted == 1 else 'are'} needed{by}: {origin.shown}{parts}"

    def _not_square(self, operand: Operand, rows: int, columns: int) -> ProblemError:
        origins = " and ".join(dict.fromkeys(self.origin(name).shown for name in operand.axes))
        what = f"identity is square, but {rows} × {columns} is needed: {origins}"
        return self.source.error(operand.node, operand.path, what, "write the matrix out")

    def _unsized(self, operand: Operand) -> ProblemError:
        known = [size or self.get(name) for size, name in zip(operand.shape, operand.axes, strict=True)]
        missing = [f"{side}s" for side, size in zip(_SIDES, known, strict=True) if size is None]
        hint = "write it out" if isinstance(operand.given, Identity) else f"add {missing[0]}: to it"
        what = f"its size is not determined: how many {' and '.join(missing)}?"
        return self.source.error(operand.node, operand.path, what, hint)
