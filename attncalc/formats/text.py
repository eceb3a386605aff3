"""Plain text, UTF-8, for pipes, files and diffs: matrices in two dimensions, one line for each line of working.

Words and workings that follow a formula belong to it and stand two columns further in; what takes several lines has
an empty line before and after it. A line of working is never wrapped, however long, and no figure is ever cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncalc.blocks import Beside, Block, Document, Formula, Items, Math, Prose, Section, Table, Token, Work
from attncalc.formats.boxes import Box, joined
from attncalc.formats.headings import heading
from attncalc.formats.notation import line
from attncalc.formats.text_math import INDENT, TEXT, beside_box, formula_box, is_flat
from attncalc.formats.width import display_width, padded, visible

BETWEEN = "  "  # a label and its formula, the columns of a table


def render(document: Document, *, width: int = 100) -> str:
    """The page; formulas with matrices are broken to fit in `width` columns."""
    title = sentence(document.title)
    lines = [title, "=" * max(1, display_width(title))]
    body, _ = _laid(document.blocks, width)
    if body:
        lines += ["", *body]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def sentence(prose: Prose) -> str:
    """A sentence as one line."""
    return "".join(map(_part, prose.parts)).strip()


def _part(part: str | Math | Token) -> str:
    if isinstance(part, Math):
        return line(part, TEXT)
    return visible(part.text if isinstance(part, Token) else " ".join(part.split("\n")))


def _laid(blocks: Sequence[Block], width: int) -> tuple[list[str], bool]:
    """The blocks of a section in lines, with empty lines around what is tall, and whether anything was."""
    lines: list[str] = []
    tall_before = any_tall = False
    for group in _groups(blocks):
        laid, tall = _laid_group(group, width)
        if lines and laid and (tall or tall_before):
            lines.append("")
        lines += laid
        tall_before = tall
        any_tall = any_tall or tall
    return lines, any_tall


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


def _laid_group(group: list[Block], width: int) -> tuple[list[str], bool]:
    first, *rest = group
    if isinstance(first, Section):
        return _section(first, width)
    lines = list(_lines(first, width))
    tall = isinstance(first, Table) or (isinstance(first, Formula | Beside) and len(lines) > 1)
    for block in rest:
        lines += [" " * INDENT + line for line in _lines(block, width - INDENT)]
    return lines, tall


def _section(section: Section, width: int) -> tuple[list[str], bool]:
    """Sections stand apart, also from the title above them; minor ones only where something in them is tall."""
    body, tall = _laid(section.blocks, width - INDENT)
    title = [sentence(heading(section))]
    if body and isinstance(section.blocks[0], Section) and not section.blocks[0].minor:
        title.append("")
    return [*title, *(" " * INDENT + line for line in body)], tall or not section.minor


def _lines(block: Block, width: int) -> Sequence[str]:
    match block:
        case Prose():
            return [sentence(block)]
        case Items():
            return [sentence(item) for item in block.sentences]
        case Formula():
            return formula_box(block.lines, width).lines
        case Beside():
            return beside_box(block, width).lines
        case Work():
            return _work(block, width)
        case Table():
            return _table(block)
        case Section():
            raise TypeError("a section is laid out as a group of its own")


def _work(work: Work, width: int) -> list[str]:
    """A column of labels, and the formulas after it; a line without a label starts at the left."""
    labels = [None if label is None else sentence(label) for label, _ in work.lines]
    widest = max((display_width(label) for label in labels if label is not None), default=0)
    lines: list[str] = []
    for label, (_, math) in zip(labels, work.lines, strict=True):
        start = "" if label is None else padded(label, widest) + BETWEEN
        if is_flat(math):  # nearly always: thousands of lines pass here
            lines.append(start + line(math, TEXT))
        else:
            box = Box.of(start)
            lines += joined([box, formula_box((math,), width - box.width)]).lines
    return lines


def _table(table: Table) -> list[str]:
    rows = [[sentence(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return [BETWEEN.join(map(padded, row, widths)) for row in rows]
