"""How each operation is set in one kind of text: a `Notation` is the table, which `notation` sets patterns by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from attncalc.blocks import Grid
from attncalc.expr import Expr, walk

RELATIONS = frozenset("=≈∈≠<>≤≥→")  # signs at which a chain may be broken

Grids = frozenset[int]  # the slots whose figures are matrices
Kinds = Sequence[set[str]]  # what each argument of an operation is made of: its operations, with "grid" for a matrix
Write = Callable[[str], str]


class Form(NamedTuple):
    """How an operation is set: `before`, its arguments with `between` them, `after`.

    Of the pairs, the first is for the first argument and the second for the others. An argument that binds less
    tightly than `least`, or is one of `apart`, gets brackets; where `least` is 0 it has a place of its own and never
    does. A negative figure gets brackets where an argument is `guarded`; None: where the operation as a whole is.
    """

    before: str = ""
    between: str = ", "
    after: str = ""
    first: str | None = None  # after the first argument, where that is not `between`
    least: tuple[int, int] = (0, 0)
    guarded: tuple[bool | None, bool] = (False, False)
    apart: frozenset[str] = frozenset()
    binds: int | None = None  # how tightly it binds itself, where this notation changes that: a/b, but \frac{a}{b}
    script: str = ""  # "_" or "^", where it is set as one: a first argument that has one already is held in {}
    roomy: Callable[[Kinds], bool] | None = None  # whether spaces go around `between`


def infix(sign: str, binds: int, apart: Iterable[str] = (), roomy: Callable[[Kinds], bool] | None = None) -> Form:
    """a - b, a - (b - c), (-2) only after a sign."""
    return Form(between=sign, least=(binds, binds + 1), guarded=(None, True), apart=frozenset(apart), roomy=roomy)


@dataclass(frozen=True, eq=False, repr=False)
class Notation:
    """The table of one kind of text: a form for each operation, and how the leaves are written."""

    forms: Mapping[str, Form]
    name: Write
    accented: Write  # a name under a tilde
    function: Write  # the name of a function
    sign: Write
    figure: Write
    raised: Write  # what is written above, in brackets: (2), that of the second head
    grid: Callable[[Grid], str]  # a matrix within a line
    brackets: tuple[str, str] = ("(", ")")
    minus: str = "-"  # what a negative figure starts with, once it is written
    guard: str = "(%s)"  # a negative figure in brackets

    @cached_property
    def held(self) -> Write:
        """A figure, once it is written, where a negative one needs brackets."""
        return lru_cache(maxsize=4096)(lambda text: self.guard % text if text.startswith(self.minus) else text)


class Segment(NamedTuple):
    """A part of a chain with the sign before it ("" for the first part); a sign may stand alone."""

    sign: str
    part: Expr | None


@lru_cache(maxsize=4096)
def segments(pattern: Expr) -> tuple[Segment, ...]:
    """A chain in its parts; any other pattern is a chain of one part."""
    if pattern.op != "chain":
        return (Segment("", pattern),)
    found: list[Segment] = []
    for part in pattern.args:
        if part.op == "text":
            found.append(Segment(part.args[0], None))
        elif found and found[-1].part is None:
            found[-1] = Segment(found[-1].sign, part)
        else:
            found.append(Segment("", part))
    return tuple(found)


def kinds(pattern: Expr, grids: Grids) -> set[str]:
    """The operations in a pattern; a slot with a matrix is a "grid"."""
    return {"grid" if part.op == "slot" and part.args[0] in grids else part.op for part in walk(pattern)}


def set_off(sign: str, at_start: bool) -> str:
    """A sign with the space around it."""
    return f"{sign} " if at_start or sign in ",;:" else f" {sign} "
