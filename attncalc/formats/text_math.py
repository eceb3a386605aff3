"""Formulas as plain text: the table of the notation, and formulas with matrices laid out over several lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

from attncalc.blocks import Grid, Math
from attncalc.expr import Expr, walk
from attncalc.formats.boxes import EMPTY, Box, flow, grid_box, joined, stacked
from attncalc.formats.notation import (
    Form,
    Notation,
    Segment,
    compiled,
    continues,
    holds_grid,
    infix,
    line,
    segments,
    spaced,
)

GAP = 4  # between things that stand side by side
INDENT = 2
TILDE = "\u0303"
# Symbols that stand on the left of a matrix, on its own line; anything longer has a line to itself.
BARE = frozenset({"name", "tilde", "transpose", "sub", "cell", "shape", "sized", "slot", "number", "call"})


def _holds(*ops: str) -> Callable[[Iterable[Expr]], bool]:
    return lambda args: any(part.op in ops for arg in args for part in walk(arg))


def _is_symbolic(args: tuple[Expr, ...]) -> bool:
    """S / √d_k and S / √2 have room around the stroke, 2.028/5.056 and 1/n have none."""
    return not _holds("slot")(args) and _holds("name", "grid")(args[:1])


def _inline(grid: Grid) -> str:
    return "[" + "; ".join(", ".join(row) for row in grid.cells) + "]"


def _accented(symbol: str) -> str:
    return symbol[:1] + TILDE + symbol[1:]


TEXT = Notation(
    forms={
        "plus": infix(" + ", 1),
        "minus": infix(" - ", 1),
        "times": infix("×", 2, apart=["over"], roomy=_holds("grid", "shape")),
        "dot": infix("·", 2, apart=["over"], roomy=_holds("grid", "shape")),
        "over": infix("/", 2, apart=["over"], roomy=_is_symbolic),
        "exp": Form(before="e^", least=(4, 4)),
        "sqrt": Form(before="√", least=(4, 4), guarded=(True, True)),
        "max": Form(before="max(", after=")"),
        "call": Form(first="(", after=")", least=(8, 0)),
        "vector": Form(before="[", after="]"),
        "list": Form(),
        "cell": Form(first="[", between=",", after="]", least=(8, 0)),
        "sub": Form(first="_", between=",", least=(8, 8)),
        "transpose": Form(after="ᵀ", least=(8, 8), guarded=(True, True)),
        "shape": Form(before="(", between="×", after=")", least=(3, 3)),
        "sized": Form(between=" "),
        "beside": Form(between=" " * GAP),
    },
    name=str,
    accented=_accented,
    function=str,
    sign=str,
    figure=str,
    grid=_inline,
)


def formula_box(math: Math, width: int) -> Box:
    """A displayed formula, in lines of at most `width` columns where it holds matrices, else in one line."""
    pattern = math.pattern
    if pattern.op == "beside":
        children = [formula_box(replace(math, pattern=part), width) for part in pattern.args]
        return stacked(flow(children, width, GAP), apart=True)
    if pattern.op == "derivation":
        return _derivation(math, width)
    if is_flat(pattern):
        return Box.of(line(math, TEXT))
    return _chain(math, width)


@lru_cache(maxsize=4096)
def is_flat(pattern: Expr) -> bool:
    """Whether the formula is one line, however long."""
    return pattern.op not in {"beside", "derivation"} and not holds_grid(pattern)


def _chain(math: Math, width: int) -> Box:
    """On one line where it fits, after what stands before the first matrix; else each sign on a line of its own."""
    parts = segments(math.pattern)
    first = next(i for i, segment in enumerate(parts) if segment.part and holds_grid(segment.part))
    alone = first > 1 or (first == 1 and parts[0].part is not None and parts[0].part.op not in BARE)
    lines = [parts[:first], parts[first:]] if alone and not continues(math.pattern) else [parts]
    boxes: list[Box] = []
    for group in lines:
        room = width - INDENT * bool(boxes)
        one = joined([box for i, s in enumerate(group) for box in _boxes(s, math.figures, None, i == 0)])
        rows = [one] if one.width <= room else _broken(group, math.figures, width)
        for box in rows:
            boxes.append(box.indented(INDENT if boxes else 0))
    return stacked(boxes)


def _broken(group: list[Segment], figures: tuple[str, ...], width: int) -> list[Box]:
    """Each sign on a line of its own; where even that is too wide, its matrices below one another."""
    found = []
    for segment in group:
        sign = Box.of(spaced(segment.sign, True)) if segment.sign else EMPTY
        room = width - INDENT - sign.width
        rows = flow(_boxes(segment._replace(sign=""), figures, room, True), room, 0)
        found.append(joined([sign, stacked(rows)]))
    return found


def _derivation(math: Math, width: int) -> Box:
    """Each sign below the first: o = a·b, = .., = ..."""
    lead, *rest = segments(math.pattern)
    if lead.sign:
        lead, rest = Segment("", None), [lead, *rest]
    start = joined(_boxes(lead, math.figures, None, True))
    margin = start.width + 1 if start.width else 0
    lines = [joined(_boxes(segment, math.figures, None, True)).indented(margin) for segment in rest]
    if not lines:
        return start
    first = joined([start, EMPTY.indented(margin - start.width), *_boxes(rest[0], math.figures, None, True)])
    return stacked([first, *lines[1:]])


def _boxes(segment: Segment, figures: tuple[str, ...], width: int | None, at_start: bool) -> list[Box]:
    """The sign, the stretches of text and the matrices of one part of a chain, from left to right."""
    boxes = [Box.of(spaced(segment.sign, at_start))] if segment.sign else []
    for piece in compiled(segment.part, TEXT) if segment.part else ():
        boxes.append(grid_box(piece, width) if isinstance(piece, Grid) else Box.of(piece.fill(figures, str)))
    return boxes
