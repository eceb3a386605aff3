"""Plain text, UTF-8, for pipes, files and diffs: matrices in two dimensions, one line for each line of working.

Words and workings that follow a formula belong to it and stand two columns further in; what takes several lines has
an empty line before and after it. A line of working is never wrapped, however long, and no figure is ever cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from attncalc.blocks import (
    Beside,
    Block,
    Document,
    Formula,
    Inline,
    Items,
    Math,
    Prose,
    Section,
    Space,
    Table,
    Token,
    Work,
)
from attncalc.formats.boxes import Box, joined
from attncalc.formats.headings import heading
from attncalc.formats.in_pieces import portions, whole
from attncalc.formats.notation import line
from attncalc.formats.text_math import INDENT, TEXT, Formulas, is_flat
from attncalc.formats.width import display_width, padded, visible

FURTHER = " " * INDENT
LINE = 60  # letters of a line to write on
BETWEEN = "  "  # a label and its formula, the columns of a table
LABEL = 40  # columns of a label; one that is longer stands out and leaves the formulas of the others where they are


def pieces(document: Document, *, width: int = 100) -> Iterator[str]:
    """The page, a block or a part of a large one at a time; formulas with matrices are broken to fit in `width`
    columns."""
    for lines in Page().laid(document, width):
        yield "\n".join([line.rstrip() for line in lines]) + "\n"


render = whole(pieces)


def sentence(prose: Prose) -> str:
    """A sentence as one line of plain text."""
    return Page().sentence(prose)


class _Laid(NamedTuple):
    """What stands together, in lists of lines; `tall`: with empty lines around it."""

    lists: Iterable[list[str]]
    tall: bool


class Page:
    """A document in lines. A format that folds or paints them overrides what it does in its own way."""

    formulas = Formulas()

    def laid(self, document: Document, width: int) -> Iterator[list[str]]:
        """The lines, a few at a time: a large page is never held whole."""
        yield self.title(document.title, width)
        if document.blocks:
            yield [""]
        for lines in _spaced(self._laid(document.blocks, width)):
            yield from portions(lines)

    def title(self, title: Prose, width: int) -> list[str]:
        text = self.sentence(title)
        return [text, "=" * max(1, display_width(text))]

    def heading(self, section: Section, width: int) -> list[str]:
        return [self.sentence(heading(section))]

    def sentence(self, prose: Prose) -> str:
        """A sentence as one line."""
        return "".join(map(self.part, prose.parts)).strip()

    def part(self, part: Inline) -> str:
        if isinstance(part, str):
            return visible(part.replace("\n", " "))
        if isinstance(part, Token):
            return visible(part.text)
        return line(part, TEXT) if isinstance(part, Math) else "_" * part.width

    def prose(self, prose: Prose, width: int) -> list[str]:
        return [self.sentence(prose)]

    def work(self, work: Work, width: int) -> list[str]:
        """A column of labels, and the formulas after it; a line without a label starts at the left."""
        labels = [None if label is None else self.sentence(label) for label, _ in work.lines]
        widest = column_of(labels)
        lines: list[str] = []
        for label, (_, math) in zip(labels, work.lines, strict=True):
            start = "" if label is None else padded(label, widest) + BETWEEN
            if is_flat(math):  # nearly always: thousands of lines pass here
                lines.append(start + line(math, TEXT))
            else:
                box = Box.of(start)
                lines += joined([box, self.formulas.box((math,), width - box.width)]).lines
        return lines

    def table(self, table: Table, width: int) -> list[str]:
        return aligned([[self.sentence(cell) for cell in row] for row in (table.head, *table.rows)])

    def _laid(self, blocks: Sequence[Block], width: int, margin: str = "") -> Iterator[_Laid]:
        """The blocks of a section, each with what belongs to it; their lines start with the margin."""
        for group in _groups(blocks):
            yield self._group(group, width, margin)

    def _group(self, group: list[Block], width: int, margin: str) -> _Laid:
        first, *rest = group
        if isinstance(first, Section):
            return self._section(first, width, margin)
        lines = [margin + line for line in self._lines(first, width)]
        tall = isinstance(first, Table) or (len(lines) > 1 and _may_be_tall(first))
        for block in rest:
            lines += [margin + FURTHER + line for line in self._lines(block, width - INDENT)]
        return _Laid([lines] if lines else [], tall)

    def _section(self, section: Section, width: int, margin: str) -> _Laid:
        """Sections stand apart, also from the title above them; minor ones only where something in them is tall."""
        title = [margin + line for line in self.heading(section, width)]
        if section.blocks and _is_major(section.blocks[0]):
            title.append("")
        body: Iterable[_Laid] = self._laid(section.blocks, width - INDENT, margin + FURTHER)
        if section.minor:
            body = list(body)
        tall = not section.minor or any(each.tall for each in body)
        return _Laid(chain([title], _spaced(body)), tall)

    def _lines(self, block: Block, width: int) -> Sequence[str]:
        match block:
            case Prose():
                return self.prose(block, width)
            case Items():
                return [line for item in block.sentences for line in self.prose(item, width)]
            case Formula():
                return self.formulas.box(block.lines, width).lines
            case Beside():
                return self.formulas.beside(block, width).lines
            case Work():
                return self.work(block, width)
            case Table():
                return self.table(block, width)
            case Space(lines):
                return ["_" * min(width, LINE) for _ in range(lines)]
            case Section():
                raise TypeError("a section is laid out as a group of its own")


def _spaced(every: Iterable[_Laid]) -> Iterator[list[str]]:
    """What stands below one another, with empty lines around what is tall."""
    started = tall_before = False
    for lists, tall in every:
        for k, lines in enumerate(lists):
            yield ["", *lines] if started and k == 0 and (tall or tall_before) else lines
            started = True
        tall_before = tall


def _is_major(block: Block) -> bool:
    return isinstance(block, Section) and not block.minor


def _may_be_tall(block: Block) -> bool:
    """Whether it is one for its matrices or its several formulas, not because its one line is folded."""
    if isinstance(block, Formula):
        return len(block.lines) > 1 or not is_flat(block.lines[0])
    return isinstance(block, Beside)


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """A formula, or several side by side, with what is said of it; every other block by itself."""
    group: list[Block] = []
    for block in blocks:
        if group and isinstance(group[0], Formula | Beside) and isinstance(block, Prose | Items | Work):
            group.append(block)
            continue
        if group:
            yield group
        group = [block]
    if group:
        yield group


def column_of(labels: Sequence[str | None]) -> int:
    """How wide the column of these labels is."""
    widths = (display_width(label) for label in labels if label is not None)
    return max((width for width in widths if width <= LABEL), default=0)


def aligned(rows: list[list[str]]) -> list[str]:
    """The rows of a table, the first of them its head, in columns."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    head, *body = rows
    return [BETWEEN.join(map(padded, row, widths)) for row in (head, ["-" * width for width in widths], *body)]
