"""Text in two dimensions: boxes of lines, set side by side and below one another, and matrices drawn as boxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from attncalc.blocks import Grid
from attncalc.formats.width import centred, display_width, padded, visible

BETWEEN = "  "  # the columns of a matrix
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
        return Box(tuple(" " * by + line for line in self.lines), self.middle, self.width + by)


EMPTY = Box.of("")


def joined(boxes: Iterable[Box], gap: int = 0) -> Box:
    """The boxes side by side, their middles on one line."""
    boxes = list(boxes)
    if len(boxes) == 1:
        return boxes[0]
    above = max((box.middle for box in boxes), default=0)
    below = max((len(box.lines) - box.middle for box in boxes), default=1)
    columns = []
    for box in boxes:
        empty, over = [" " * box.width], above - box.middle
        under = above + below - over - len(box.lines)
        columns.append([*empty * over, *(padded(line, box.width) for line in box.lines), *empty * under])
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
    cells: list[str]  # all of them `width` columns wide
    width: int


def grid_box(grid: Grid, width: int | None = None, paint: Paint | None = None) -> Box:
    """A matrix; one wider than `width` is drawn in blocks of columns, each under what its columns are called.

    What `paint` adds to a text takes no room.
    """
    columns, legend = _columns(grid, paint)
    rows = tuple(_label(label, paint) for label in grid.rows or ())
    edges = 4 + max((1 + display_width(label) for label in rows), default=0)
    count = len(grid.cells)
    if width is None or edges + _total(columns) <= width:
        blocks = [_block(columns, rows, count)]
    else:
        blocks = [
            _numbered(_block(part, rows, count), start + grid.first, len(part), bool(grid.columns))
            for start, part in _parts(columns, width - edges)
        ]
    return stacked([*blocks, *map(Box.of, legend)])


def _numbered(block: Box, start: int, count: int, labelled: bool) -> Box:
    """A block of columns under their numbers, as the page counts; labels of the columns say it better."""
    if labelled:
        return block
    numbers = f"{start}..{start + count - 1}" if count > 1 else str(start)
    return stacked([Box.of(f"[:,{numbers}]"), block])._replace(middle=1 + block.middle)


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(BETWEEN) * max(0, len(columns) - 1)


def _parts(columns: Sequence[_Column], room: int) -> Iterator[tuple[int, Sequence[_Column]]]:
    """As many columns as fit, at least one, and where they start."""
    start = 0
    while start < len(columns):
        end = start + 1
        while end < len(columns) and _total(columns[start : end + 1]) <= room:
            end += 1
        yield start, columns[start:end]
        start = end


def _label(label: str, paint: Paint | None) -> str:
    return paint(visible(label), "token") if paint else visible(label)


def _columns(grid: Grid, paint: Paint | None) -> tuple[list[_Column], list[str]]:
    """The columns as text, and what stands below the matrix for headers that are too long."""
    headers, legend = column_headers(grid.columns)
    if paint:
        headers = [paint(header, "token") for header in headers]
    count = grid.cells.shape[1] if grid.cells.ndim == 2 else 0
    columns = []
    for j in range(count):
        cells, width = _aligned(grid.cells[:, j].tolist())
        header = headers[j] if headers else ""
        if display_width(header) > width:
            width = display_width(header)
            cells = [centred(cell, width) for cell in cells]
        columns.append(_Column(header, [paint(cell, grid.role) for cell in cells] if paint else cells, width))
    return columns, legend


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


def _aligned(cells: list[str]) -> tuple[list[str], int]:
    """Figures with their decimal points below one another, 0 under the 0 of 0.707, all of one width; and that."""
    if _have_equal_decimals(cells):  # nearly always in a large matrix, of a million cells
        width = max(map(len, cells))
        return (f"%{width}s\n" * len(cells) % tuple(cells)).split("\n")[:-1], width
    wholes = [display_width(cell.partition(".")[0]) for cell in cells]
    most = max(wholes, default=0)
    shifted = [" " * (most - whole) + cell for whole, cell in zip(wholes, cells, strict=True)]
    width = max(map(display_width, shifted), default=0)
    return [padded(cell, width) for cell in shifted], width


def _have_equal_decimals(cells: Sequence[str]) -> bool:
    """Whether every cell has its one point at the same place from the end, or none has any."""
    text = "".join(cells)
    points = text.count(".")
    if not (text and text.isascii() and text.isprintable()):
        return False
    if not points:
        return True
    after = len(cells[0]) - cells[0].find(".")
    is_long = points == len(cells) and min(map(len, cells)) >= after
    return is_long and set(map(itemgetter(-after), cells)) == {"."}


def _block(columns: Sequence[_Column], rows: Sequence[str], count: int) -> Box:
    """Brackets around the columns, their headers above, the labels of the rows to the right."""
    cells = zip(*(column.cells for column in columns), strict=True) if columns else [()] * count
    labels = [f" {label}" for label in rows] or [""] * count
    lines = [
        f"{left} {BETWEEN.join(row)} {right}{label}"
        for (left, right), row, label in zip(_brackets(count), cells, labels, strict=True)
    ] or ["[ ]"]
    header = BETWEEN.join(centred(column.header, column.width) for column in columns)
    middle = (len(lines) - 1) // 2
    if header.strip():
        lines.insert(0, f"  {header}  ")
        middle += 1
    if not rows and not header.strip():
        return Box(tuple(lines), middle, display_width(lines[0]))  # cells and brackets alone are of one width
    width = max(map(display_width, lines))
    return Box(tuple(padded(line, width) for line in lines), middle, width)


def _brackets(count: int) -> list[tuple[str, str]]:
    if count < 2:
        return [("[", "]")] * count
    return [("⎡", "⎤"), *[("⎢", "⎥")] * (count - 2), ("⎣", "⎦")]
