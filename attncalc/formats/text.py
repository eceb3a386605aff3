"""Plain text, UTF-8, for pipes, files and diffs: matrices in two dimensions, one line for each line of working.

Words and workings that follow a formula belong to it and stand two columns further in; what takes several lines has
an empty line before and after it. A line of working is never wrapped, however long, and no figure is ever cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncalc.blocks import (
    Beside,
    Blank,
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
from attncalc.formats.notation import line
from attncalc.formats.text_math import INDENT, TEXT, Formulas, is_flat
from attncalc.formats.width import display_width, padded, visible

LINE = 60  # letters of a line to write on
BETWEEN = "  "  # a label and its formula, the columns of a table
LABEL = 40  # columns of a label; one that is longer stands out and leaves the formulas of the others where they are


def render(document: Document, *, width: int = 100) -> str:
    """The page; formulas with matrices are broken to fit in `width` columns."""
    return "\n".join(line.rstrip() for line in Page().lines(document, width)) + "\n"


def sentence(prose: Prose) -> str:
    """A sentence as one line of plain text."""
    return Page().sentence(prose)


class Page:
    """A document in lines. A format that folds or paints them overrides what it does in its own way."""

    formulas = Formulas()

    def lines(self, document: Document, width: int) -> list[str]:
        lines = self.title(document.title, width)
        body, _ = self._laid(document.blocks, width)
        return [*lines, "", *body] if body else lines

    def title(self, title: Prose, width: int) -> list[str]:
        text = self.sentence(title)
        return [text, "=" * max(1, display_width(text))]

    def heading(self, section: Section, width: int) -> list[str]:
        return [self.sentence(heading(section))]

    def sentence(self, prose: Prose) -> str:
        """A sentence as one line."""
        return "".join(map(self.part, prose.parts)).strip()

    def part(self, part: Inline) -> str:
        if isinstance(part, Math):
            return line(part, TEXT)
        if isinstance(part, Blank):
            return "_" * part.width
        return visible(part.text if isinstance(part, Token) else part.replace("\n", " "))

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

    def _laid(self, blocks: Sequence[Block], width: int) -> tuple[list[str], bool]:
        """The blocks of a section in lines, with empty lines around what is tall, and whether anything was."""
        lines: list[str] = []
        tall_before = any_tall = False
        for group in _groups(blocks):
            laid, tall = self._laid_group(group, width)
            if lines and laid and (tall or tall_before):
                lines.append("")
            lines += laid
            tall_before = tall
            any_tall = any_tall or tall
        return lines, any_tall

    def _laid_group(self, group: list[Block], width: int) -> tuple[list[str], bool]:
        first, *rest = group
        if isinstance(first, Section):
            return self._section(first, width)
        lines = list(self._lines(first, width))
        tall = isinstance(first, Table) or (len(lines) > 1 and _may_be_tall(first))
        for block in rest:
            lines += [" " * INDENT + line for line in self._lines(block, width - INDENT)]
        return lines, tall

    def _section(self, section: Section, width: int) -> tuple[list[str], bool]:
        """Sections stand apart, also from the title above them; minor ones only where something in them is tall."""
        body, tall = self._laid(section.blocks, width - INDENT)
        title = self.heading(section, width)
        if body and isinstance(section.blocks[0], Section) and not section.blocks[0].minor:
            title.append("")
        return [*title, *(" " * INDENT + line for line in body)], tall or not section.minor

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
