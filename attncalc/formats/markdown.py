"""Markdown as GitHub reads it (```` ```math ```` and $`..`$), or with dollars, for pandoc and others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby

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
from attncalc.errors import UsageError
from attncalc.formats.headings import heading
from attncalc.formats.in_pieces import whole
from attncalc.formats.latex_display import display, displays, is_long
from attncalc.formats.latex_math import inline
from attncalc.formats.notation import grids_of
from attncalc.formats.width import visible

_INLINE = {"github": ("$`", "`$"), "dollars": ("$", "$")}
_DISPLAY = {"github": ("```math", "```"), "dollars": ("$$", "$$")}
LINE = 40  # letters of a line to write on
DEEPEST_HEADING = 6
LINES_IN_FORMULA = 40  # of working; more would make one formula that takes a browser long to set

_SPECIAL = re.compile(r"[\\`*_\[\]<>|$&#~^]")
_SPECIAL_IN_TOKEN = re.compile(r"[\\`*_\[\]<>|$&#~^\"'.+!-]")  # and what "smart" typography would change
_EMOJI_NAME = re.compile(r":(?=[\w+-]+:)")
_LINE_START = re.compile(r"^(?:([+-])|(\d+)([.)]))")


def pieces(document: Document, *, math: str = "github") -> Iterator[str]:
    """The page, with formulas between the delimiters that GitHub knows or between dollars."""
    if math not in _INLINE:
        raise UsageError(f"there is no math style {math!r}", f"choose one of {', '.join(_INLINE)}")
    page = _Page(math, document.colon)
    yield f"# {page.sentence(document.title)}\n"
    for block in page.blocks(document.blocks, 1):
        yield f"\n{block}\n"


render = whole(pieces)


@lru_cache(maxsize=512)  # the words of a page come again and again
def escaped(text: str) -> str:
    """Words that Markdown leaves as they are."""
    return _EMOJI_NAME.sub(r"\:", _SPECIAL.sub(r"\\\g<0>", visible(text.replace("\n", " "))))


@lru_cache(maxsize=512)
def escaped_token(text: str) -> str:
    """A label, letter by letter as the problem file has it."""
    return _EMOJI_NAME.sub(r"\:", _SPECIAL_IN_TOKEN.sub(r"\\\g<0>", visible(text)))


def at_line_start(text: str) -> str:
    """A sentence that starts a line and is no list, heading or rule."""
    return _LINE_START.sub(lambda found: rf"\{found[1]}" if found[1] else rf"{found[2]}\{found[3]}", text)


def _is_wide(char: str) -> bool:
    return char != "" and unicodedata.east_asian_width(char) in "WF"


def _is_wide_letter(char: str) -> bool:
    return _is_wide(char) and unicodedata.category(char) == "Lo"


class _Page:
    """One page, with its delimiters and the colon of its language."""

    def __init__(self, math: str, colon: str) -> None:
        self.colon = colon
        self.opening, self.closing = _INLINE[math]
        # GitHub takes a `$` right after a letter or mark of East Asian writing, which has no spaces, for no formula.
        self.gap = " " if math == "github" else ""
        self.fence = _DISPLAY[math]

    def sentence(self, prose: Prose) -> str:
        text = ""
        for k, part in enumerate(prose.parts):
            piece = self._part(part)
            starts = isinstance(part, Math) and _is_wide(text[-1:])
            ended = k > 0 and isinstance(prose.parts[k - 1], Math) and _is_wide_letter(piece[:1])
            text += self.gap + piece if starts or ended else piece
        return text.strip()

    def _part(self, part: Inline) -> str:
        if isinstance(part, Math):
            return self._inline(part)
        if isinstance(part, Blank):
            return r"\_" * part.width
        return escaped_token(part.text) if isinstance(part, Token) else escaped(part)

    def _inline(self, math: Math) -> str:
        return f"{self.opening}{inline(math)}{self.closing}"

    def _display(self, latex: str, indent: str = "") -> str:
        lines = [self.fence[0], *latex.split("\n"), self.fence[1]]
        return "\n".join(indent + line for line in lines)

    def blocks(self, blocks: Sequence[Block], depth: int) -> Iterator[str]:
        for block in blocks:
            yield from self._block(block, depth)

    def _block(self, block: Block, depth: int) -> Iterator[str]:
        match block:
            case Prose():
                yield at_line_start(self.sentence(block))
            case Items():
                # "*", since a list with "-" right before or after it, a working, is another list.
                yield "\n".join(f"* {at_line_start(self.sentence(item))}" for item in block.sentences)
            case Formula():
                yield self._display(display(block.lines))
            case Beside():
                yield from map(self._display, displays(block))
            case Work():
                yield from self._work(block)
            case Table():
                yield self._table(block)
            case Space(lines):
                yield "\n\n".join([r"\_" * LINE] * lines)
            case Section():
                title = self.sentence(heading(block))
                level = "#" * min(depth + 1, DEEPEST_HEADING)
                yield f"**{title}**" if block.minor else f"{level} {title}"
                yield from self.blocks(block.blocks, depth + 1)

    def _work(self, work: Work) -> Iterator[str]:
        """Labelled lines as a list, the others as formulas aligned at their first signs."""
        for is_labelled, lines in groupby(work.lines, key=lambda line: line[0] is not None):
            if is_labelled:
                yield "\n".join(self._item(self.sentence(label), math) for label, math in lines if label).strip("\n")
            else:
                yield from self._formulas([math for _, math in lines])

    def _formulas(self, maths: Sequence[Math]) -> Iterator[str]:
        for start in range(0, len(maths), LINES_IN_FORMULA):
            yield self._display(display(maths[start : start + LINES_IN_FORMULA]))

    def _item(self, label: str, math: Math) -> str:
        start = f"- {at_line_start(label)}" + ("" if label.endswith((":", "：")) else self.colon)
        if grids_of(math) or is_long(math):
            return f"{start}\n\n{self._display(display([math]), '  ')}\n"
        return f"{start} {self._inline(math)}"

    def _table(self, table: Table) -> str:
        rule = ["---"] * len(table.head)
        known = {cell: self.sentence(cell) for cell in {*table.head, *chain(*table.rows)}}  # most are one blank
        rows = [[known[cell] for cell in row] for row in (table.head, *table.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))
