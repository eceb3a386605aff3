"""From a pattern of `expr` to text, by tables: a `Notation` says how each operation is set in one kind of text.

A pattern is compiled once into pieces, templates with a place for each figure (and matrices, which a format draws in
its own way); the thousands of workings that share a pattern then cost one `%` each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from attncalc.blocks import Grid, Math
from attncalc.expr import Expr, precedence, walk

CHAINS = frozenset({"chain", "derivation"})
RELATIONS = frozenset("=≈∈≠<>≤≥→")  # signs at which a chain may be broken


@dataclass(frozen=True)
class Form:
    """How an operation is set: `before`, its arguments with `between` them, `after`.

    Of the pairs, the first is for the first argument and the second for the others. An argument that binds less
    tightly than `least`, or is one of `apart`, gets brackets. A negative figure gets brackets where an argument is
    `guarded`; None: where the operation as a whole is.
    """

    before: str = ""
    between: str = ", "
    after: str = ""
    first: str | None = None  # after the first argument, where that is not `between`
    least: tuple[int, int] = (0, 0)
    guarded: tuple[bool | None, bool] = (False, False)
    apart: frozenset[str] = frozenset()
    binds: int | None = None  # how tightly it binds itself, where this notation changes that: a/b, but \frac{a}{b}
    hold: tuple[str, str] = ("", "")  # around a first argument of more than one letter
    roomy: Callable[[tuple[Expr, ...]], bool] | None = None  # whether spaces go around `between`


def infix(sign: str, binds: int, apart: Iterable[str] = (), roomy: Callable[..., bool] | None = None) -> Form:
    """a - b, a - (b - c), (-2) only after a sign."""
    return Form(between=sign, least=(binds, binds + 1), guarded=(None, True), apart=frozenset(apart), roomy=roomy)


@dataclass(frozen=True, eq=False)
class Notation:
    """The table of one kind of text: a form for each operation, and how the leaves are written."""

    forms: Mapping[str, Form]
    name: Callable[[str], str]
    accented: Callable[[str], str]  # a name under a tilde
    function: Callable[[str], str]  # the name of a function
    sign: Callable[[str], str]
    figure: Callable[[str], str]
    grid: Callable[[Grid], str]  # a matrix within a line
    brackets: tuple[str, str] = ("(", ")")


class Slot(NamedTuple):
    """The place of figure k; `guarded` where a negative one needs brackets."""

    k: int
    guarded: bool


@dataclass(frozen=True)
class Template:
    """Text with `%s` in the place of each figure."""

    text: str
    slots: tuple[Slot, ...]

    def fill(self, figures: tuple[str, ...], written: Callable[[str], str]) -> str:
        return self.text % tuple(
            [
                f"({written(figures[k])})" if guarded and figures[k][:1] == "-" else written(figures[k])
                for k, guarded in self.slots
            ]
        )


Atom = str | Slot | Grid
Piece = Template | Grid


@lru_cache(maxsize=4096)
def compiled(pattern: Expr, notation: Notation) -> tuple[Piece, ...]:
    """The pattern as templates and, between them, its matrices."""
    pieces: list[Piece] = []
    text: list[str] = []
    slots: list[Slot] = []

    def close() -> None:
        if text:
            pieces.append(Template("".join(text), tuple(slots)))
        text.clear()
        slots.clear()

    for atom in _atoms(pattern, notation):
        if isinstance(atom, Grid):
            close()
            pieces.append(atom)
        elif isinstance(atom, Slot):
            text.append("%s")
            slots.append(atom)
        else:
            text.append(atom.replace("%", "%%"))
    close()
    return tuple(pieces)


def line(math: Math, notation: Notation) -> str:
    """The formula as one line of text."""
    return "".join(
        notation.grid(piece) if isinstance(piece, Grid) else piece.fill(math.figures, notation.figure)
        for piece in compiled(math.pattern, notation)
    )


def plain(symbol: Expr, notation: Notation) -> str:
    """A pattern without figures, as one line."""
    return line(Math(symbol), notation)


class Segment(NamedTuple):
    """A part of a chain with the sign before it ("" for the first part); a sign may stand alone."""

    sign: str
    part: Expr | None


def segments(pattern: Expr) -> list[Segment]:
    """A chain in its parts; any other pattern is a chain of one part."""
    if pattern.op not in CHAINS:
        return [Segment("", pattern)]
    found: list[Segment] = []
    for part in pattern.args:
        if part.op == "text":
            if part.args[0]:
                found.append(Segment(part.args[0], None))
        elif found and found[-1].part is None:
            found[-1] = Segment(found[-1].sign, part)
        else:
            found.append(Segment("", part))
    return found


def continues(pattern: Expr) -> bool:
    """Whether the chain has nothing before its first sign: it goes on from the formula above it."""
    return pattern.op in CHAINS and bool(pattern.args) and pattern.args[0] == Expr("text", "")


def holds_grid(pattern: Expr) -> bool:
    return any(part.op == "grid" for part in walk(pattern))


def spaced(sign: str, at_start: bool) -> str:
    return f"{sign} " if at_start or sign in ",;:" else f" {sign} "


def _atoms(expr: Expr, notation: Notation, guarded: bool = False) -> Iterator[Atom]:
    leaf = _LEAVES.get(expr.op)
    if leaf:
        yield from leaf(expr, notation, guarded)
        return
    form = notation.forms.get(expr.op)
    if form is None:
        raise LookupError(f"no notation for the operation {expr.op!r}")
    yield form.before
    for i, part in enumerate(expr.args):
        if i == 0:
            yield from _held(part, form, _argument(part, 0, form, notation, guarded, expr.op))
        else:
            yield form.first if i == 1 and form.first is not None else _between(form, expr)
            yield from _argument(part, 1, form, notation, guarded, expr.op)
    yield form.after


def _argument(part: Expr, place: int, form: Form, notation: Notation, guarded: bool, op: str) -> Iterator[Atom]:
    if op == "call" and place == 0 and part.op == "name":
        yield notation.function(part.args[0])
        return
    guard = form.guarded[place]
    own = notation.forms.get(part.op)
    binds = own.binds if own and own.binds is not None else precedence(part)
    if binds >= form.least[place] and part.op not in form.apart:
        yield from _atoms(part, notation, guarded if guard is None else guard)
        return
    opening, closing = notation.brackets
    yield opening
    yield from _atoms(part, notation)
    yield closing


def _held(part: Expr, form: Form, atoms: Iterator[Atom]) -> Iterator[Atom]:
    if form.hold[0] and not (part.op == "name" and "_" not in part.args[0]):
        yield form.hold[0]
        yield from atoms
        yield form.hold[1]
    else:
        yield from atoms


def _between(form: Form, expr: Expr) -> str:
    return f" {form.between} " if form.roomy and form.roomy(expr.args) else form.between


def _chain(expr: Expr, notation: Notation, _: bool) -> Iterator[Atom]:
    for i, (sign, part) in enumerate(segments(expr)):
        if sign:
            yield spaced(notation.sign(sign), i == 0)
        if part:
            yield from _atoms(part, notation)


def _number(expr: Expr, notation: Notation, guarded: bool) -> Iterator[Atom]:
    written = notation.figure(expr.args[1])
    yield f"({written})" if guarded and expr.args[1].startswith("-") else written


def _tilde(expr: Expr, notation: Notation, guarded: bool) -> Iterator[Atom]:
    """The tilde stands on the letter: that of S with an index is S̃ with the index."""
    (part,) = expr.args
    if part.op == "name":
        yield notation.accented(part.args[0])
    elif part.op in _LEAVES and part.op != "tilde":
        raise LookupError(f"no tilde for {part!r}")
    else:
        yield from _atoms(Expr(part.op, Expr("tilde", part.args[0]), *part.args[1:]), notation, guarded)


_LEAVES: dict[str, Callable[[Expr, Notation, bool], Iterator[Atom]]] = {
    "slot": lambda expr, _, guarded: iter([Slot(expr.args[0], guarded)]),
    "grid": lambda expr, _, __: iter([expr.args[0]]),
    "name": lambda expr, notation, _: iter([notation.name(expr.args[0])]),
    "text": lambda expr, notation, _: iter([notation.sign(expr.args[0])]),
    "number": _number,
    "tilde": _tilde,
    "chain": _chain,
    "derivation": _chain,
}
