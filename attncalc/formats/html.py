"""One HTML file that needs nothing else: formulas in MathML, tables with headers, sections to link to.

A formula that is wider than the page scrolls in a box of its own; the page itself never does. On paper nothing can be
scrolled: matrices and tables come in blocks that fit, and formulas are broken at their signs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from html import escape
from itertools import groupby

from attncalc.blocks import (
    Beside,
    Blank,
    Block,
    Document,
    Formula,
    Grid,
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
from attncalc.formats import mathml
from attncalc.formats.headings import heading
from attncalc.formats.html_style import STYLE, shades
from attncalc.formats.in_pieces import between, whole
from attncalc.formats.mathml import ROOM
from attncalc.formats.parts import SHADES, is_grid, label, parts, shade, table_parts
from attncalc.formats.text import sentence as plain
from attncalc.formats.width import visible

DEEPEST_HEADING = 4
SPACE = 2  # em, for a line to write on
JOINER = "\u2060"  # a formula is no letter: without one, a line may end between it and a bracket or a comma
_NEGATIVE = re.compile(r"(?<![\w-])-(?=[\d∞])")  # of a figure in words: no hyphen of GPT-2 or 2026-12-01
_LOOSE = re.compile("(?<=[(\\[（「“])(?=<math>)|(?<=</math>)(?=[)\\].,;:）」”。，、；：])")


def pieces(document: Document) -> Iterator[str]:
    """The page, a line or a part of a large one at a time."""
    page = Page()
    yield (
        f'<!doctype html>\n<html lang="{escape(document.lang)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(plain(document.title))}</title>\n<style>{STYLE}{shades(SHADES)}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{page.sentence(document.title)}</h1>\n"
    )
    yield from page.blocks(document.blocks, 2)
    yield "</main>\n</body>\n</html>\n"


render = whole(pieces)


def _within(math: Math) -> str:
    """A formula within a sentence, in pieces as narrow as can be; a matrix scrolls."""
    if math.pattern.op == "slot" and isinstance(figure := math.figures[math.pattern.args[0]], str):
        return escape(figure.replace("-", mathml.MINUS))
    pieces = (markup + (mathml.matrix(grid) if grid else "") for markup, grid in mathml.formula(math))
    return "<wbr>".join(
        f'<span class="scroll">{mathml.whole(piece)}</span>' if "<mtable>" in piece else mathml.whole(piece)
        for piece in pieces
    )


class Page:
    """One page: no two of its anchors are the same. A page of another kind has blanks and sections of its own."""

    def __init__(self) -> None:
        self.anchors: Counter[str] = Counter()

    def anchor(self, wanted: str) -> str:
        name = escape(wanted) or "section"
        while True:
            self.anchors[name] += 1
            if self.anchors[name] == 1:
                return name
            name = f"{name}-{self.anchors[name]}"

    def blank(self, blank: Blank) -> str:
        return f'<span class="blank" style="min-width:{blank.width}ch"></span>'

    def space(self, space: Space) -> str:
        return f'<div class="space" style="height:{SPACE * space.lines}em"></div>'

    def section(self, section: Section, level: int) -> Iterator[str]:
        anchor = self.anchor(section.anchor)
        tag = f"h{min(level, DEEPEST_HEADING)}"
        yield f'<section id="{anchor}">\n<{tag}><a href="#{anchor}">{self.sentence(heading(section))}</a></{tag}>\n'
        yield from self.blocks(section.blocks, level + 1)
        yield "</section>\n"

    def blocks(self, blocks: Sequence[Block], level: int) -> Iterator[str]:
        """The blocks, each in one or more pieces with the end of a line after the last."""
        for block in blocks:
            if isinstance(block, Section):
                yield from self.section(block, level)
            else:
                yield from self._block(block)
                yield "\n"

    def sentence(self, prose: Prose) -> str:
        written = [self._part(part) for part in prose.parts]
        return _LOOSE.sub(JOINER, "".join(written)).strip()

    def _part(self, part: Inline) -> str:
        match part:
            case Math():
                return _within(part)
            case Token(text):
                return f"<bdi>{escape(visible(text))}</bdi>"
            case Blank():
                return self.blank(part)
        return escape(_NEGATIVE.sub(mathml.MINUS, visible(" ".join(part.split("\n")))))

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Prose():
                yield f"<p>{self.sentence(block)}</p>"
            case Items():
                yield f"<ul>\n{_lines(f'<li>{self.sentence(each)}</li>' for each in block.sentences)}\n</ul>"
            case Formula():
                yield from _formula(block.lines)
            case Beside():
                yield from _held("beside", (_formula(each.lines) for each in block.formulas))
            case Work():
                yield from self._work(block)
            case Table():
                yield from between("\n", map(self._table, table_parts(block, ROOM)))
            case Space():
                yield self.space(block)

    def _work(self, work: Work) -> Iterator[str]:
        for k, (labelled, lines) in enumerate(groupby(work.lines, key=lambda line: line[0] is not None)):
            yield "\n" if k else ""
            if labelled:
                rows = (self._named(name, math) for name, math in lines if name)
                yield f'<dl class="work">\n{_lines(rows)}\n</dl>'
            else:
                yield from _held("formula", (_line(math, label(math)) for _, math in lines))

    def _named(self, name: Prose, math: Math) -> str:
        return f"<div><dt>{self.sentence(name)}</dt><dd>{''.join(_line(math, plain(name)))}</dd></div>"

    def _table(self, table: Table) -> str:
        """A grid to fill in has boxes."""
        head = "".join(f'<th scope="col">{self.sentence(cell)}</th>' for cell in table.head)
        rows = (
            f'<tr><th scope="row">{self.sentence(first)}</th>'
            + "".join(f"<td>{self.sentence(cell)}</td>" for cell in rest)
            + "</tr>"
            for first, *rest in table.rows
        )
        kind = "table grid" if is_grid(table) else "table"
        body = f"<thead><tr>{head}</tr></thead><tbody>\n{_lines(rows)}\n</tbody>"
        return f'<div class="scroll"><table class="{kind}">{body}</table></div>'


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(parts)


def _held(kind: str, lines: Iterable[Iterator[str]], end: str = "\n") -> Iterator[str]:
    """Lines in a box of their own."""
    yield f'<div class="{kind}">{end}'
    for k, line in enumerate(lines):
        yield "\n" if k else ""
        yield from line
    yield f"{end}</div>"


def _formula(maths: Sequence[Math]) -> Iterator[str]:
    """A line below the other; those after the first stand further in."""
    about = label(maths[0])
    lines = (_line(math, about, "f on" if i and len(maths) > 1 else "f") for i, math in enumerate(maths))
    return _held("formula", lines, end="")


def _line(math: Math, about: str, kind: str = "f") -> Iterator[str]:
    """A formula that is broken where it may be; with a matrix that has labels, which is a table, its parts in a row."""
    pieces = mathml.formula(math)
    if not mathml.has_table(math):
        yield f'<div class="{kind}">'
        yield from between("<wbr>", (mathml.whole(markup) for markup, _ in pieces))
    else:
        yield f'<div class="{kind} row">'
        for markup, grid in pieces:
            yield from [mathml.whole(markup)] if grid is None else _led(markup, grid, about)
    yield "</div>"


def _led(markup: str, grid: Grid, about: str) -> Iterator[str]:
    """A matrix with labels and what goes before it on its line."""
    yield f'<div class="led">{mathml.whole(markup) if markup else ""}<div class="scroll">'
    yield from (_block(part.grid, part.place, about) for part in parts(grid, ROOM))
    yield "</div></div>"


def _block(grid: Grid, place: str, about: str) -> str:
    name = escape(f"{about}{place}")
    head = ""
    if grid.columns:
        corner = "<td></td>" if grid.rows else ""
        head = f"<thead><tr>{corner}{''.join(_header('col', each) for each in grid.columns)}</tr></thead>"
    caption = f"<caption>{place}</caption>" if place else ""
    pads = mathml.padding(grid)
    last = grid.cells.shape[1] - 1
    written = cache(partial(_cell, grid.role))
    rows = [
        f"<tr>{_header('row', grid.rows[i]) if grid.rows else ''}"
        + "".join(written(cell, pads[i][j], j == 0, j == last) for j, cell in enumerate(row))
        + "</tr>"
        for i, row in enumerate(grid.cells.tolist())
    ]
    labelled = f' aria-label="{name}"' if name else ""
    return f'<table class="matrix"{labelled}>{caption}{head}<tbody>\n{_lines(rows)}\n</tbody></table>'


@lru_cache(maxsize=1024)  # each block of a large matrix has them again
def _header(scope: str, text: str) -> str:
    return f'<th scope="{scope}"><bdi>{escape(visible(text))}</bdi></th>'


def _cell(role: str, cell: str, pad: str, first: bool, last: bool) -> str:
    dark = shade(role, cell)
    classes = [*(["l"] if first else []), *(["r"] if last else []), *([f"w{dark}"] if dark else [])]
    kind = f' class="{" ".join(classes)}"' if classes else ""
    return f"<td{kind}>{mathml.whole(mathml.figure(cell) + pad)}</td>"
