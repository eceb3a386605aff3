"""Text in two dimensions: boxes of lines, set side by side and below one another, and matrices drawn as boxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.blocks import Grid
from attncalc.formats.width import centred, display_width, padded, visible

BETWEEN = "  "  # the columns of a matrix
BRACKETS = 4  # columns of both, with their spaces
BAND = 1_000  # rows of a matrix that are written at once: the parts of a large one are larger than it is
LONGEST_HEADER = 12  # of a column; a longer label is written below the matrix

# Paints a cell, at the width of its column, or a label: (text, what it is: the matrix's role, or "token").
Paint = Callable[[str, str], str]


class Box(NamedTuple):
    """Lines of text; `middle` is the line that a formula goes on from."""

    lines: tuple[str, ...]
    middle: int
    width: int

    @staticmethod
    def of(text: str) -> Box:
        return Box((text,), 0, display_width(text))

    def indented(self, by: int) -> Box:
        margin = " " * by
        return Box(tuple([margin + line for line in self.lines]), self.middle, self.width + by)


EMPTY = Box.of("")


def joined(boxes: Iterable[Box], gap: int = 0) -> Box:
    """The boxes side by side, their middles on one line."""
    boxes = list(boxes)
    if len(boxes) == 1:
        return boxes[0]
    above = max((box.middle for box in boxes), default=0)
    below = max((len(box.lines) - box.middle for box in boxes), default=1)
    columns = []
    for k, box in enumerate(boxes, start=1):
        empty, over = [" " * box.width], above - box.middle
        under = above + below - over - len(box.lines)
        own = box.lines if k == len(boxes) else [padded(line, box.width) for line in box.lines]
        columns.append([*empty * over, *own, *empty * under])
    lines = map((" " * gap).join, zip(*columns, strict=True)) if columns else [""]
    return Box(tuple(lines), above, sum(box.width for box in boxes) + gap * max(0, len(boxes) - 1))


def stacked(boxes: Sequence[Box], *, apart: bool = False) -> Box:
    """The boxes below one another; `apart`: with an empty line between where one has several lines."""
    lines: list[str] = []
    for i, box in enumerate(boxes):
        if apart and i and (len(box.lines) > 1 or len(boxes[i - 1].lines) > 1):
            lines.append("")
        lines += box.lines
    return Box(tuple(lines), boxes[0].middle if boxes else 0, max((box.width for box in boxes), default=0))


def flow(boxes: Iterable[Box], width: int, gap: int) -> list[Box]:
    """The boxes side by side while there is room, else on the next line."""
    rows: list[Box] = []
    for box in boxes:
        if rows and rows[-1].width + gap + box.width <= width:
            rows[-1] = joined([rows[-1], box], gap)
        else:
            rows.append(_without_space_before(box) if rows else box)
    return rows


def _without_space_before(box: Box) -> Box:
    return Box.of(box.lines[0].lstrip()) if len(box.lines) == 1 else box


class _Column(NamedTuple):
    header: str
    width: int


def grid_box(grid: Grid, width: int | None = None, paint: Paint | None = None) -> Box:
    """A matrix; one wider than `width` is drawn in blocks of columns, each under what its columns are called.

    What `paint` adds to a text takes no room.
    """
    columns, cells, legend = _columns(grid, paint)
    labels = tuple(_label(label, paint) for label in grid.rows or ())
    paint_cell = (lambda text: paint(text, grid.role)) if paint else None

    edges = BRACKETS + max((1 + display_width(label) for label in labels), default=0)
    if width is not None and edges > width:
        edges = BRACKETS  # such a label has no room beside a single column: it stands out
    if width is None or edges + _total(columns) <= width:
        blocks = [_block(columns, cells, labels, paint_cell)]
    else:
        blocks = [
            _numbered(_block(columns[start:end], cells[:, start:end], labels, paint_cell), grid, start, end)
            for start, end in spans([column.width for column in columns], width - edges)
        ]
    return stacked([*blocks, *map(Box.of, legend)])


def _numbered(block: Box, grid: Grid, start: int, end: int) -> Box:
    """A block of columns under their numbers, as the page counts; labels of the columns say it better."""
    if grid.columns:
        return block
    first, last = start + grid.first, end + grid.first - 1
    numbers = f"{first}..{last}" if last > first else str(first)
    return stacked([Box.of(f"[:,{numbers}]"), block])._replace(middle=1 + block.middle)


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(BETWEEN) * max(0, len(columns) - 1)


def spans(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Where columns start and end that have room side by side: as many as fit, at least one."""
    start, used = 0, 0
    for j, width in enumerate(widths):
        if j > start and used + width > room:
            yield start, j
            start, used = j, 0
        used += width + len(BETWEEN)
    if widths:
        yield start, len(widths)


def _label(label: str, paint: Paint | None) -> str:
    return paint(visible(label), "token") if paint else visible(label)


def _columns(grid: Grid, paint: Paint | None) -> tuple[list[_Column], NDArray[Any], list[str]]:
    """The columns, their figures, and what stands below the matrix for headers that are too long."""
    headers, legend = column_headers(grid.columns)
    if paint:
        headers = [paint(header, "token") for header in headers]
    cells = grid.cells if grid.cells.ndim == 2 else grid.cells.reshape(len(grid.cells), 0)
    headers = headers or [""] * cells.shape[1]
    cells, widths = _aligned(cells, np.array([*map(display_width, headers)], dtype=np.intp))
    return list(map(_Column, headers, widths)), cells, legend


def column_headers(labels: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """What stands over the columns, and what the numbers mean that stand there for labels that are too long."""
    headers = [visible(label) for label in labels or ()]
    if all(display_width(header) <= LONGEST_HEADER for header in headers):
        return headers, []
    legend = []
    for j, header in enumerate(headers):
        # A label that looks like one of the numbers gets one too, so that each is told from the others.
        if display_width(header) > LONGEST_HEADER or re.fullmatch(r"\(\d+\)", header):
            headers[j] = f"({j + 1})"
            legend.append(f"({j + 1}) = {header}")
    return headers, legend


def _aligned(cells: NDArray[Any], least: NDArray[np.intp]) -> tuple[NDArray[Any], list[int]]:
    """Figures that, set to the right, have their decimal points below one another, 0 under the 0 of 0.707, in the
    middle of columns that are `least` as wide as is said; and how wide each is."""
    wholes, rests = _measured(cells)
    whole, rest = wholes.max(axis=0, initial=0), rests.max(axis=0, initial=0)
    gap = np.maximum(0, least - whole - rest)
    after = rest - rests + gap - gap // 2
    if after.any():
        blanks = np.array([" " * k for k in range(1 + after.max())], dtype=object)
        cells, short = cells.copy(), after > 0
        cells[short] += blanks[after[short]]
    return cells, (whole + rest + gap).tolist()


def _measured(cells: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """How many letters each figure has up to its decimal point, and from there on, n × m: of a million, at once."""
    text = "\n".join([*cells.ravel().tolist(), ""])
    letters = np.frombuffer(text.encode("ascii", "replace"), dtype=np.uint8)
    ends, points = np.flatnonzero(letters == ord("\n")), np.flatnonzero(letters == ord("."))
    rests = np.zeros(len(ends), dtype=np.intp)
    with_point = np.searchsorted(ends, points) if len(points) < len(ends) else slice(None)
    rests[with_point] = ends[with_point] - points
    wholes = np.diff(ends, prepend=-1) - 1 - rests
    return wholes.reshape(cells.shape), rests.reshape(cells.shape)


def _block(
    columns: Sequence[_Column], cells: NDArray[Any], labels: Sequence[str], paint: Callable[[str], str] | None
) -> Box:
    """Brackets around the columns, their headers above, the labels of the rows to the right. Figures are set to the
    right of their columns, those of a band of rows at once."""
    row = BETWEEN.join(f"%{column.width}s" for column in columns)
    after = [f" {label}".replace("%", "%%") for label in labels] or [""] * len(cells)
    edges = _brackets(len(cells))
    lines: list[str] = [] if len(cells) else ["[ ]"]
    for start in range(0, len(cells), BAND):
        band = slice(start, start + BAND)
        rows = [f"{left} {row} {right}{label}" for (left, right), label in zip(edges[band], after[band], strict=True)]
        figures = cells[band].ravel().tolist()
        if paint:
            figures = list(map(paint, map(str.rjust, figures, cycle([column.width for column in columns]))))
        lines += ("\n".join(rows) % tuple(figures)).split("\n")
    headed = any(column.header for column in columns)
    header = BETWEEN.join(centred(column.header, column.width) for column in columns) if headed else ""
    middle = (len(lines) - 1) // 2
    if header.strip():
        lines.insert(0, f"  {header}  ")
        middle += 1
    if not labels and not header.strip():
        return Box(tuple(lines), middle, display_width(lines[0]))  # cells and brackets alone are of one width
    return Box(tuple(lines), middle, max(map(display_width, lines)))


def _brackets(count: int) -> list[tuple[str, str]]:
    if count < 2:
        return [("[", "]")] * count
    return [("⎡", "⎤"), *[("⎢", "⎥")] * (count - 2), ("⎣", "⎦")]
