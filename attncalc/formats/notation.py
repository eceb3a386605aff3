"""From a pattern to text, by the table of a `Notation`.

A pattern is compiled once into pieces: templates with a place for each figure and, where a figure is a matrix, its
slot, which a format draws in its own way. The thousands of workings that share a pattern then cost one `%` each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from attncalc.blocks import Grid, Math, precedence
from attncalc.expr import Expr
from attncalc.formats.forms import Form, Grids, Notation, kinds, segments, set_off

NO_GRIDS: Grids = frozenset()


class Slot(NamedTuple):
    """The place of figure k; `guarded` where a negative one needs brackets."""

    k: int
    guarded: bool


class Raised(NamedTuple):
    """The place of figure k, written above."""

    k: int


Pick = Callable[[Sequence[Any]], tuple[Any, ...]]


class Template(NamedTuple):
    """Text with `%s` in the place of each of the figures that `pick` takes. `choose` takes each of these as it is or,
    where it is guarded, as `held` has it."""

    text: str
    pick: Pick
    choose: Pick
    held: Callable[[str], str]
    minus: str

    def fill(self, figures: Sequence[Any]) -> str:
        placed = self.pick(figures)
        if self.minus in "".join(placed):
            placed = self.choose((*placed, *map(self.held, placed)))
        return self.text % placed


def _picking(places: Sequence[int]) -> Pick:
    return itemgetter(*places) if len(places) > 1 else lambda figures: tuple(figures[k] for k in places)


Piece = Template | Slot | Raised
Atom = str | Slot | Raised


def grids_of(math: Math) -> Grids:
    if Grid not in map(type, math.figures):  # nearly always: thousands of workings pass here
        return NO_GRIDS
    return frozenset(k for k, figure in enumerate(math.figures) if isinstance(figure, Grid))


@lru_cache(maxsize=4096)
def compiled(pattern: Expr, notation: Notation, grids: Grids = NO_GRIDS) -> tuple[Piece, ...]:
    """The pattern as templates and, between them, the slots of its matrices."""
    pieces: list[Piece] = []
    text: list[str] = []
    slots: list[Slot] = []

    def close() -> None:
        if text:
            pick = _picking([k for k, _ in slots])
            choose = _picking([place + len(slots) * guarded for place, (_, guarded) in enumerate(slots)])
            pieces.append(Template("".join(text), pick, choose, notation.held, notation.minus))
        text.clear()
        slots.clear()

    for atom in _Setting(notation, grids).atoms(pattern):
        if isinstance(atom, str):
            text.append(atom.replace("%", "%%"))
        elif isinstance(atom, Raised) or atom.k in grids:
            close()
            pieces.append(atom)
        else:
            text.append("%s")
            slots.append(atom)
    close()
    return tuple(pieces)


def pieces(math: Math, notation: Notation) -> Iterator[str | Grid]:
    """The formula as stretches of text and, between them, its matrices."""
    grids = grids_of(math)
    figures = _written(math.figures, notation, grids)
    text = ""
    for piece in compiled(math.pattern, notation, grids):
        match piece:
            case Template():
                text += piece.fill(figures)
            case Raised(k):
                text += notation.raised(figures[k])
            case Slot(k):
                if text:
                    yield text
                yield figures[k]
                text = ""
    if text:
        yield text


def _written(figures: Sequence[Any], notation: Notation, grids: Grids) -> Sequence[Any]:
    write = notation.figure
    if write is str:  # they are as they should be
        return figures
    if grids:
        return [figure if k in grids else write(figure) for k, figure in enumerate(figures)]
    return list(map(write, figures))


def line(math: Math, notation: Notation, grid: Callable[[Grid], str] | None = None) -> str:
    """The formula as one line of text; `grid`: how a matrix is set, where not as the notation has it."""
    if not (grids := grids_of(math)):
        whole = compiled(math.pattern, notation)
        if len(whole) == 1 and isinstance(whole[0], Template):  # nearly always
            return whole[0].fill(_written(math.figures, notation, grids))
    draw = grid or notation.grid
    return "".join([piece if isinstance(piece, str) else draw(piece) for piece in pieces(math, notation)])


class _Setting:
    """The setting of one pattern, as atoms: stretches of text and slots."""

    def __init__(self, notation: Notation, grids: Grids) -> None:
        self.notation = notation
        self.grids = grids

    def atoms(self, expr: Expr, guarded: bool = False) -> Iterator[Atom]:
        notation, args = self.notation, expr.args
        match expr.op:
            case "slot":
                yield Slot(args[0], guarded)
            case "name":
                yield notation.name(args[0])
            case "text":
                yield notation.sign(args[0])
            case "number":
                written = notation.figure(args[1])
                yield notation.guard % written if guarded and written.startswith(notation.minus) else written
            case "tilde":
                yield from self._under_tilde(args[0])
            case "chain":
                for i, (sign, part) in enumerate(segments(expr)):
                    if sign:
                        yield set_off(notation.sign(sign), i == 0)
                    if part:
                        yield from self.atoms(part)
            case _:
                yield from self._formed(expr, guarded)

    def _under_tilde(self, part: Expr) -> Iterator[Atom]:
        """The tilde stands on the letter: that of S with an index is S̃ with the index."""
        if part.op == "name":
            yield self.notation.accented(part.args[0])
        elif part.op in {"cell", "of", "sub", "transpose"}:
            yield from self.atoms(Expr(part.op, Expr("tilde", part.args[0]), *part.args[1:]))
        else:
            raise LookupError(f"no tilde for {part!r}")

    def _formed(self, expr: Expr, guarded: bool) -> Iterator[Atom]:
        form = self.notation.forms.get(expr.op)
        if form is None:
            raise LookupError(f"no notation for the operation {expr.op!r}")
        between = form.between
        if form.roomy and form.roomy([kinds(part, self.grids) for part in expr.args]):
            between = f" {between} "
        yield form.before
        for i, part in enumerate(expr.args):
            if i:
                yield form.first if i == 1 and form.first is not None else between
            if expr.op == "call" and i == 0 and part.op == "name":
                yield self.notation.function(part.args[0])
            elif expr.op == "of" and i == 1:
                yield self._raised(part)
            else:
                yield from self._argument(part, form, min(i, 1), guarded)
        yield form.after

    def _argument(self, part: Expr, form: Form, place: int, guarded: bool) -> Iterator[Atom]:
        guard = form.guarded[place]
        own = self.notation.forms.get(part.op)
        binds = own.binds if own and own.binds is not None else precedence(part)
        if binds < form.least[place] or (form.least[place] and part.op in form.apart):
            opening, closing = self.notation.brackets
            yield from (opening, *self.atoms(part), closing)
        elif place == 0 and form.script and form.script in self._scripts(part):
            yield from ("{", *self.atoms(part), "}")
        else:
            yield from self.atoms(part, guarded if guard is None else guard)

    def _scripts(self, part: Expr) -> str:
        """The scripts that the setting of a part ends with: those of W_Q and S_{1,2} are "_"."""
        if part.op == "name":
            return "_" if "_" in part.args[0] else ""
        form = self.notation.forms.get(part.op)
        own = form.script if form else ""
        return own + self._scripts(part.args[0]) if own or part.op == "tilde" else ""

    def _raised(self, part: Expr) -> Atom:
        notation = self.notation
        match part.op:
            case "slot":
                return Raised(part.args[0])
            case "number":
                return notation.raised(notation.figure(part.args[1]))
            case "name":
                return notation.raised(notation.name(part.args[0]))
        raise LookupError(f"{part!r} can't be written above")
