"""Formulas as plain text: the table of the notation, and formulas with matrices laid out over several lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attncalc.blocks import Beside, Grid, Math
from attncalc.expr import Expr
from attncalc.formats.boxes import EMPTY, Box, flow, grid_box, joined, stacked
from attncalc.formats.forms import RELATIONS, Form, Kinds, Notation, Segment, infix, kinds, segments, set_off
from attncalc.formats.notation import grids_of, line, pieces

GAP = 4  # between things that stand side by side
INDENT = 2
TILDE = "\u0303"
# Symbols that stand on the left of a matrix, on its own line; anything longer has a line to itself.
BARE = frozenset({"name", "tilde", "transpose", "of", "sub", "cell", "shape", "sized", "slot", "number", "call"})
_RAISED = str.maketrans("0123456789()+-hijklmnt", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾⁺⁻ʰⁱʲᵏˡᵐⁿᵗ")


def _holds(*some: str) -> Callable[[Kinds], bool]:
    return lambda found: any(not part.isdisjoint(some) for part in found)


def _is_symbolic(found: Kinds) -> bool:
    """S / √d_k and S / √2 have room around the stroke, 2.028/5.056 and 1/n have none."""
    return not _holds("slot")(found) and _holds("name", "grid")(found[:1])


def _inline(grid: Grid) -> str:
    return "[" + "; ".join(", ".join(row) for row in grid.cells) + "]"


def _accented(symbol: str) -> str:
    return symbol[:1] + TILDE + symbol[1:]


def _raised(text: str) -> str:
    return f"({text})".translate(_RAISED) if all(ord(letter) in _RAISED for letter in text) else f"^({text})"


TEXT = Notation(
    forms={
        "plus": infix(" + ", 1),
        "minus": infix(" - ", 1),
        "times": infix("×", 2, apart=["over", "hadamard"], roomy=_holds("grid", "shape")),
        "dot": infix("·", 2, apart=["over", "hadamard"], roomy=_holds("grid", "shape")),
        "hadamard": infix(" ⊙ ", 2, apart=["over", "times", "dot"]),
        "over": infix("/", 2, apart=["over", "hadamard"], roomy=_is_symbolic),
        "negated": Form(before="-", least=(2, 2), guarded=(True, True)),
        "power": Form(between="^", least=(4, 4), guarded=(True, True)),
        "exp": Form(before="e^", least=(4, 4)),
        "sqrt": Form(before="√", least=(4, 4), guarded=(True, True)),
        "max": Form(before="max(", after=")"),
        "cos_degrees": Form(before="cos(", after="°)"),
        "sin_degrees": Form(before="sin(", after="°)"),
        "call": Form(first="(", after=")", least=(8, 0)),
        "vector": Form(before="[", after="]"),
        "list": Form(),
        "cell": Form(first="[", between=",", after="]", least=(8, 0)),
        "sub": Form(first="_", between=",", least=(8, 8)),
        "of": Form(between="", least=(8, 0)),
        "transpose": Form(after="ᵀ", least=(8, 8), guarded=(True, True)),
        "shape": Form(before="(", between="×", after=")", least=(3, 3)),
        "sized": Form(between=" "),
        "spaced": Form(between=" " * GAP),
    },
    name=str,
    accented=_accented,
    function=str,
    sign=str,
    figure=str,
    raised=_raised,
    grid=_inline,
)


def is_flat(math: Math) -> bool:
    """Whether the formula is one line, however long."""
    return not grids_of(math)


def _before_matrices(math: Math) -> list[Math]:
    """K = H·W_K and, if that is more than a bare symbol, what it is in figures as another line: = [..]·[..]."""
    pattern, grids = math.pattern, grids_of(math)
    if pattern.op != "chain" or pattern.args[0].op == "text":
        return [math]
    holding = (i for i, part in enumerate(pattern.args) if part.op != "text" and "grid" in kinds(part, grids))
    sign = next(holding, 0) - 1  # the one before the first part that holds a matrix
    if sign < 1 or pattern.args[sign].op != "text" or (sign == 1 and pattern.args[0].op in BARE):
        return [math]
    return [math._replace(pattern=Expr("chain", *part)) for part in (pattern.args[:sign], pattern.args[sign:])]


def _may_fit(math: Math, width: int) -> bool:
    """Whether it is worth setting in one row: a column takes a figure and two spaces, at least."""
    return all(3 * figure.cells.shape[-1] <= width for figure in math.figures if isinstance(figure, Grid))


class Formulas:
    """Lays formulas out in two dimensions. How a matrix is drawn, and a line without one, a format may change."""

    def matrix(self, grid: Grid, width: int | None) -> Box:
        return grid_box(grid, width)

    def flat(self, math: Math, width: int) -> Box:
        """A formula without matrices: one line, however long."""
        return Box.of(line(math, TEXT))

    def crowded(self, rest: Sequence[Math], margin: int, width: int) -> bool:
        """Whether the later lines of a formula want the `margin` to the left of its first sign: matrices need room."""
        return margin > width // 2 and not all(map(is_flat, rest))

    def beside(self, beside: Beside, width: int) -> Box:
        """Formulas side by side while there is room, else on the next line."""
        boxes = [self.box(formula.lines, width) for formula in beside.formulas]
        return stacked(flow(boxes, width, GAP), apart=True)

    def box(self, lines: Sequence[Math], width: int) -> Box:
        """A displayed formula: a line is at most `width` columns wide where it holds matrices, else as `flat` has it.

        The lines after the first go on from its first sign.
        """
        if len(lines) == 1 and is_flat(lines[0]):
            return self.flat(lines[0], width)
        first, *rest = (*_before_matrices(lines[0]), *lines[1:])
        rows = self._rows(first, width)
        margin = self.sign_column(first, broken=len(rows) > 1)
        if self.crowded(rest, margin, width):
            margin = INDENT
        rows += [row for math in rest for row in self._rows(math, width - margin)]
        return stacked([rows[0], *(row.indented(margin) for row in rows[1:])])

    def sign_column(self, math: Math, broken: bool = False) -> int:
        """Where the first sign stands, below which the others go; where there is none, a bit further in."""
        pattern = math.pattern
        if pattern.op == "spaced":
            return self.sign_column(math._replace(pattern=pattern.args[0]), broken)
        if pattern.op != "chain":
            return INDENT
        signs = (i for i, part in enumerate(pattern.args) if part.op == "text" and part.args[0] in RELATIONS)
        first = next(signs, None)
        if first == 0:
            return 0
        if first is None or broken:
            return INDENT
        before = math._replace(pattern=Expr("chain", *pattern.args[:first]))
        return self.unbroken(before).width + 1

    def _rows(self, math: Math, width: int) -> list[Box]:
        """One row where it fits or is flat; else each sign on a row of its own, its matrices below one another."""
        if is_flat(math):
            return [self.flat(math, width)]
        if _may_fit(math, width):
            one = self.unbroken(math)
            if one.width <= width:
                return [one]
        parts, found = segments(math.pattern), []
        for part in parts:
            sign = Box.of(set_off(part.sign, True)) if part.sign else EMPTY
            room = width - sign.width - (0 if parts[0].sign else INDENT)
            boxes = self._boxes(part._replace(sign=""), math, room, True)
            found.append(joined([sign, stacked(flow(boxes, room, 0))]))
        return found

    def unbroken(self, math: Math) -> Box:
        """A formula on one row, as wide as that is."""
        parts = enumerate(segments(math.pattern))
        return joined([box for i, part in parts for box in self._boxes(part, math, None, i == 0)])

    def _boxes(self, segment: Segment, math: Math, width: int | None, at_start: bool) -> list[Box]:
        """The sign, the stretches of text and the matrices of one part of a chain, from left to right."""
        boxes = [Box.of(set_off(segment.sign, at_start))] if segment.sign else []
        if segment.part:
            for piece in pieces(math._replace(pattern=segment.part), TEXT):
                boxes.append(self.matrix(piece, width) if isinstance(piece, Grid) else Box.of(piece))
        return boxes
