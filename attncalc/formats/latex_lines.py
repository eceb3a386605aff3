"""Formulas as lines of a LaTeX document: broken before relations, before plus signs, after commas, wherever they must
be, and never cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attncalc.blocks import Grid, Math
from attncalc.formats import latex_math
from attncalc.formats.boxes import column_headers
from attncalc.formats.forms import Form, infix
from attncalc.formats.latex_math import LATEX
from attncalc.formats.notation import line
from attncalc.formats.parts import GAP, Part, Stretch, column_widths, parts, shade, stretches
from attncalc.formats.width import display_width

ROOM = 80  # the columns of text, as plain text, that a line of A4 has room for
SURE = 50  # a matrix so wide fits; a wider one is measured by LaTeX, and set smaller if it must be

# Where a line may end, and how gladly.
RELATION = r"\penalty50 "
PLUS = r"\penalty300 "
MATRIX = r"\penalty400 "
COMMA = r"\penalty800 "

LINES = replace(
    LATEX,
    forms={
        **LATEX.forms,
        "plus": infix(rf" {PLUS}+ ", 1),
        "minus": infix(rf" {PLUS}- ", 1),
        "list": Form(between=rf", {RELATION}"),
        "max": Form(before=r"\max(", between=rf", {COMMA}", after=")"),
        "call": Form(first="(", between=rf", {COMMA}", after=")", least=(8, 0)),
        "vector": Form(before="[", between=rf", {COMMA}", after="]"),
    },
)


def matrix(grid: Grid) -> str:
    """A matrix in as many blocks as it takes; labels too long to stand over a column are told below it."""
    headers, legend = column_headers(grid.columns)
    short = replace(grid, columns=tuple(headers) or None)
    told = [rf"\quad {_fitted(latex_math.token(told), display_width(told) > SURE)}" for told in legend]
    return "".join([*(MATRIX + _part(part) for part in parts(short, ROOM)), *(MATRIX + each for each in told)])


def _part(part: Part) -> str:
    grid = part.grid
    latex = _shaded(grid) if grid.columns else latex_math.grid(grid)
    if part.place:
        latex = rf"\overset{{\text{{{part.place}}}}}{{{latex}}}"
    return _fitted(latex, _is_wide(grid))


def _fitted(latex: str, wide: bool) -> str:
    return rf"\attnfit{{{latex}}}" if wide else latex


def has_wide(math: Math) -> bool:
    """Whether one of the formula's matrices may be wider than a line, with its labels."""
    return any(isinstance(figure, Grid) and _is_wide(figure) for figure in math.figures)


def _is_wide(grid: Grid) -> bool:
    labels = max(map(len, grid.rows or ()), default=0)
    return sum(column_widths(grid)) + GAP * int(grid.cells.shape[1]) + labels > SURE


def _shaded(grid: Grid) -> str:
    """A matrix with labels on its columns; weights are shaded."""
    assert grid.columns is not None
    head = [latex_math.token(label) for label in grid.columns]
    rows = [[_shade(grid, str(cell)) for cell in row] for row in grid.cells]
    layout = "r" * len(head)
    if grid.rows:
        rows = [[latex_math.token(label), *row] for label, row in zip(grid.rows, rows, strict=True)]
        head, layout = ["", *head], "l|" + layout
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{array}}{{{layout}}} {' & '.join(head)} \\ \hline {body} \end{{array}}"


def _shade(grid: Grid, cell: str) -> str:
    dark = shade(grid.role, cell)
    return (rf"\attnshade{{{3 * dark}}}" if dark else "") + latex_math.figure(cell)


def sentence(math: Math) -> str:
    """A formula within a sentence."""
    return f"${line(math, LINES).strip()}$"


def formula_line(math: Math) -> tuple[str, str]:
    """What stands before the first relation, and the rest of the line."""
    before, rest = stretches(math)
    left = " ".join(_set(stretch) for stretch in before).strip()
    return left, r" \qquad ".join(rf"$\displaystyle {_sum(found)}$" for found in rest)


def whole_line(math: Math) -> str:
    """The formula as one line."""
    before, (first, *others) = stretches(math)
    return r" \qquad ".join(rf"$\displaystyle {_sum(found)}$" for found in ([*before, *first], *others))


def _sum(found: Sequence[Stretch]) -> str:
    return "".join(
        ((RELATION if i else "") if stretch.breakable else "") + _set(stretch) + " " for i, stretch in enumerate(found)
    ).strip()


def _set(stretch: Stretch) -> str:
    part = line(stretch.math, LINES, grid=matrix).strip().removeprefix(MATRIX) if stretch.math else ""
    if not stretch.sign:
        return part
    return f"{LATEX.sign(stretch.sign)} {part}"
