"""Pages of a fixed width: wide matrices and tables in blocks of columns, tall ones in blocks of rows, formulas in the
stretches between which a line may end. Widths are those of the same thing as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from attncalc.blocks import Blank, Grid, Math, Prose, Table
from attncalc.expr import Expr
from attncalc.formats.boxes import spans
from attncalc.formats.forms import RELATIONS, Segment, segments
from attncalc.formats.notation import line
from attncalc.formats.text import sentence
from attncalc.formats.text_math import TEXT
from attncalc.formats.width import display_width, visible

GAP = 2  # between columns
MOST_ROWS = 32  # of a matrix, on a page
SHADES = 10


class Part(NamedTuple):
    """A block of a matrix; `place` says which one, as the page counts ([:,1..8]), where labels do not."""

    grid: Grid
    place: str


def parts(grid: Grid, room: int) -> list[Part]:
    """The matrix in blocks of as many columns as there is room for, at least one, from left to right, then down."""
    count = len(grid.cells)
    widths = column_widths(grid)
    margin = min(room // 2, max(map(display_width, map(visible, grid.rows or ())), default=0))
    bands = [(start, min(start + MOST_ROWS, count)) for start in range(0, count, MOST_ROWS)] or [(0, 0)]
    stretches = list(spans(widths, room - margin)) or [(0, 0)]
    return [
        Part(_cut(grid, rows, columns), _place(grid, len(bands) > 1, rows, len(stretches) > 1, columns))
        for rows in bands
        for columns in stretches
    ]


def is_tall(math: Math) -> bool:
    """Whether one of the formula's matrices takes several blocks of rows."""
    return any(isinstance(figure, Grid) and len(figure.cells) > MOST_ROWS for figure in math.figures)


def column_widths(grid: Grid) -> list[int]:
    """How wide each column is, with its label."""
    count = grid.cells.shape[1] if grid.cells.ndim == 2 else 0
    heads = [display_width(visible(label)) for label in grid.columns] if grid.columns else [0] * count
    return [max([head, *map(_cell_width, set(grid.cells[:, j].tolist()))]) for j, head in enumerate(heads)]


def _cell_width(figure: str) -> int:
    return display_width(figure) + figure.startswith("-") + figure.endswith("∞")  # wider than letters are


def _cut(grid: Grid, rows: tuple[int, int], columns: tuple[int, int]) -> Grid:
    (top, bottom), (left, right) = rows, columns
    return replace(
        grid,
        cells=grid.cells[top:bottom, left:right],
        rows=grid.rows[top:bottom] if grid.rows else None,
        columns=grid.columns[left:right] if grid.columns else None,
    )


def _place(grid: Grid, in_rows: bool, rows: tuple[int, int], in_columns: bool, columns: tuple[int, int]) -> str:
    down = _numbers(grid.first, rows) if in_rows and not grid.rows else ""
    across = _numbers(grid.first, columns) if in_columns and not grid.columns else ""
    return f"[{down or ':'},{across or ':'}]" if down or across else ""


def _numbers(first: int, span: tuple[int, int]) -> str:
    start, end = span[0] + first, span[1] + first - 1
    return f"{start}..{end}" if end > start else str(start)


def table_parts(table: Table, room: int) -> list[Table]:
    """A table of many columns as several, each with the first column; two beside it stay together and are folded."""
    widths = table_widths(table)
    if len(widths) < 4:
        return [table]
    found = [(a + 1, b + 1) for a, b in spans(widths[1:], room - widths[0] - GAP)]
    return [Table(_picked(table.head, *span), tuple(_picked(row, *span) for row in table.rows)) for span in found]


def table_widths(table: Table) -> list[int]:
    rows = [[display_width(sentence(cell)) for cell in row] for row in (table.head, *table.rows)]
    return [max(column) for column in zip(*rows, strict=True)]


def is_grid(table: Table) -> bool:
    """Whether there is something to fill in."""
    return any(isinstance(part, Blank) for row in table.rows for cell in row for part in cell.parts)


def _picked(row: Sequence[Prose], start: int, end: int) -> tuple[Prose, ...]:
    return (row[0], *row[start:end])


_SHADED = frozenset({"weights", "given_weights", "probabilities", "given_probabilities", "left", "gates"})


def shade(role: str, cell: str) -> int:
    """How dark a cell of weights or probabilities is shown, 0 to 10 by its figure; 0 in a matrix of any other role."""
    if role not in _SHADED:
        return 0
    try:
        value = float(cell)
    except ValueError:
        return 0
    return round(SHADES * min(1.0, value)) if value > 0 else 0


class Stretch(NamedTuple):
    """A part of a formula with the sign before it; a line may end before it where it is `breakable`."""

    sign: str
    math: Math | None
    breakable: bool


def stretches(math: Math) -> tuple[list[Stretch], list[list[Stretch]]]:
    """What stands before the first relation of a formula, then the rest: formulas with wide space between them."""
    first, *others = math.pattern.args if math.pattern.op == "spaced" else (math.pattern,)
    found = [_stretch(math, segment) for segment in segments(first)]
    start = next((i for i, stretch in enumerate(found) if stretch.breakable), None)
    start = 0 if start is None else start
    return found[:start], [found[start:], *([_stretch(math, s) for s in segments(other)] for other in others)]


def _stretch(math: Math, segment: Segment) -> Stretch:
    part = segment.part
    return Stretch(segment.sign, math._replace(pattern=part) if part else None, segment.sign in RELATIONS)


def label(math: Math) -> str:
    """What a formula is about, as plain text: A of A = softmax(S)."""
    first = math.pattern.args[0] if math.pattern.op in {"spaced", "chain"} else math.pattern
    if isinstance(first, Expr) and first.op == "chain":
        first = first.args[0]
    return "" if first.op in {"text", "slot"} else line(math._replace(pattern=first), TEXT)
