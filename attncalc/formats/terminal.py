"""A terminal: the page of text, folded to the width of the screen, with colours by role and shaded weights.

Colour is decoration: every figure, bracket and label is there without it. Lines are folded between words and before
the signs of a formula, never within a figure or a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from attncalc.blocks import Document, Grid, Inline, Math, Prose, Section, Table, Token, Work
from attncalc.formats import styles
from attncalc.formats.boxes import Box, grid_box, joined
from attncalc.formats.folding import NARROWEST, filled, folded, long_token, long_words, words
from attncalc.formats.headings import heading
from attncalc.formats.in_pieces import whole
from attncalc.formats.styles import styled
from attncalc.formats.text import BETWEEN, Page, aligned, column_of
from attncalc.formats.text_math import INDENT, Formulas
from attncalc.formats.width import display_width, padded, visible

LEAST = 20  # columns
MARK = 2  # columns of a comma that stands after a formula, in any language


def pieces(document: Document, *, columns: int = 80, terminal: bool = False) -> Iterator[str]:
    """The page, `columns` wide; `terminal`: whether it goes to one, and may have colour."""
    return styles.painted(_Page().laid(document, max(LEAST, columns)), terminal)


render = whole(pieces)


class _Formulas(Formulas):
    def matrix(self, grid: Grid, width: int | None) -> Box:
        return grid_box(grid, width, styles.cell)

    def flat(self, math: Math, width: int) -> Box:
        return folded(math, width, self.sign_column(math))

    def crowded(self, rest: Sequence[Math], margin: int, width: int) -> bool:
        return margin > width // 4 and any(self.unbroken(math).width > width - margin for math in rest)


class _Page(Page):
    formulas = _Formulas()

    def title(self, title: Prose, width: int) -> list[str]:
        lines = self._folded(title, width, 0)
        rule = "=" * max(1, *map(display_width, lines))
        return [*(styled(line, "title") for line in lines), styled(rule, "title")]

    def heading(self, section: Section, width: int) -> list[str]:
        return [styled(line, "heading") for line in self._folded(heading(section), width, INDENT)]

    def part(self, part: Inline) -> str:
        text = super().part(part)
        return styled(text, "token") if isinstance(part, Token) else text

    def prose(self, prose: Prose, width: int) -> list[str]:
        return self._folded(prose, width, INDENT)

    def work(self, work: Work, width: int) -> list[str]:
        """A column of labels and the formulas beside it, or, where one would need more lines there, below."""
        labels = [None if label is None else styled(self.sentence(label), "line") for label, _ in work.lines]
        widest = column_of(labels)
        lines: list[str] = []
        for label, (said, math) in zip(labels, work.lines, strict=True):
            if label is None or said is None:
                lines += self.formulas.box((math,), width).lines
                continue
            start = Box.of(padded(label, widest) + BETWEEN)
            beside = self.formulas.box((math,), width - start.width)
            if start.width + beside.width <= width and len(beside.lines) <= 2:
                lines += joined([start, beside]).lines
                continue
            below = self.formulas.box((math,), width - INDENT).indented(INDENT)
            if start.width + beside.width <= width and len(beside.lines) <= len(below.lines):
                lines += joined([start, beside]).lines
            else:
                lines += [styled(each, "line") for each in self._folded(said, width, INDENT)]
                lines += below.lines
        return lines

    def table(self, table: Table, width: int) -> list[str]:
        """Where it is too wide: two columns are folded below their heads, more are in blocks of columns, each beside
        the headers of the rows, which are folded where they take more than two thirds of a line, or all the room."""
        head = [styled(self.sentence(cell), "token") for cell in table.head]
        rows = [head, *([self.sentence(cell) for cell in row] for row in table.rows)]
        widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
        room = width - len(BETWEEN) * (len(widths) - 1)
        if len(widths) < 4 and sum(widths) > room:
            shares = _shared(widths, room)
            if all(display_width(each) <= share for each, share in zip(head, shares, strict=True)):
                return self._folded_table(table, shares)
        share = min(2 * width // 3, width - len(BETWEEN) - max(widths[1:], default=0))
        if sum(widths) > room and widths[0] > share:
            rows = [head, *self._with_folded_headers(table, rows[1:], share)]
            widths[0] = max(display_width(row[0]) for row in rows)
        lines: list[str] = []
        for start, end in _blocks(widths, width):
            lines += [*([""] if lines else []), *aligned([[row[0], *row[start:end]] for row in rows])]
        return lines

    def _folded_table(self, table: Table, widths: Sequence[int]) -> list[str]:
        """Each cell in as many lines as it needs in the width of its column."""
        lines = [[styled(self.sentence(cell), "token") for cell in table.head]]
        for row in table.rows:
            cells = [self._folded(cell, width, INDENT) for cell, width in zip(row, widths, strict=True)]
            lines += map(list, zip_longest(*cells, fillvalue=""))
        return aligned(lines)

    def _with_folded_headers(self, table: Table, rows: Sequence[list[str]], width: int) -> Iterator[list[str]]:
        for (header, *_), (_, *rest) in zip(table.rows, rows, strict=True):
            first, *more = self._folded(header, width, INDENT)
            yield from ([first, *rest], *([line, *[""] * len(rest)] for line in more))

    def _folded(self, prose: Prose, width: int, hanging: int) -> list[str]:
        return filled(words(self._texts(prose, width)), width, hanging) or [""]

    def _texts(self, prose: Prose, width: int) -> Iterator[str | tuple[str, ...]]:
        """The texts of a sentence; of a token or a formula, the pieces of it."""
        room = width - INDENT - MARK
        for part in prose.parts:
            if isinstance(part, Math | Token):
                name = "token" if isinstance(part, Token) else ""
                found = long_words(part, room) if isinstance(part, Math) else long_token(visible(part.text), room)
                for i, word in enumerate(found):
                    yield " " if i else ""
                    yield tuple(styled(piece, name) for piece in word.pieces)
            else:
                yield self.part(part)


def _blocks(widths: list[int], room: int) -> Iterator[tuple[int, int]]:
    """Which columns of a table stand together: as many as there is room for beside the first, at least one."""
    start, gap = 1, len(BETWEEN)
    while start < len(widths):
        end, used = start + 1, widths[0] + gap + widths[start]
        while end < len(widths) and used + gap + widths[end] <= room:
            used += gap + widths[end]
            end += 1
        yield start, end
        start = end


def _shared(widths: Sequence[int], room: int) -> list[int]:
    """The room that each column gets: what it needs where that is less than its share, the rest to the others."""
    shares = list(widths)
    for left, j in zip(range(len(widths), 0, -1), sorted(range(len(widths)), key=widths.__getitem__), strict=True):
        shares[j] = min(widths[j], max(NARROWEST, room // left))
        room -= shares[j]
    return shares
