r"""A document for XeLaTeX, or its body alone. Formulas are paragraphs: TeX breaks them where they may be broken.

A page needs amsmath, graphicx, longtable and, where it shows a Chinese token, ctex. What a body uses beyond these is
defined at its head, so that \input is all that a fragment needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

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
from attncalc.formats import latex_display
from attncalc.formats.headings import heading
from attncalc.formats.in_pieces import between, whole
from attncalc.formats.latex_lines import ROOM, formula_line, has_wide, whole_line
from attncalc.formats.latex_lines import sentence as inline
from attncalc.formats.latex_preamble import BLANKS, CTEX, FALLBACK, MACROS, PREAMBLE
from attncalc.formats.parts import GAP, is_grid, is_tall, table_parts, table_widths
from attncalc.formats.text import sentence as plain
from attncalc.formats.width import display_width, visible

HEADINGS = ("section", "subsection", "subsubsection")
WIDEST_LABEL = 30  # of a line of working; a longer one pushes its formula to the right
SHORT = 4  # of a column of a table, which keeps its width beside columns that are folded
FEW_ROWS = 10  # of a grid that is never parted from what stands above it
TALL = 20  # rows of a grid; one of more may go on over the page
MOST_LINES = 25  # to write on, in one piece
BLANK = 15  # the widest column that is a blank
LONGEST_WORD = 30  # of a sentence, in letters without a space; a longer one may be broken anywhere

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "`": r"\textasciigrave{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "-": "{-}", ",": "{,}",
    "[": "{[}", "]": "{]}", "|": r"\textbar{}", "?": "{?}", "!": "{!}",
}  # fmt: skip
_IN_WORDS = {"≈": r"$\approx$", "∞": r"$\infty$", "√": r"$\surd$", "≤": r"$\le$", "≥": r"$\ge$", "→": r"$\to$",
             "↑": r"$\uparrow$", "≠": r"$\ne$", "∈": r"$\in$", "×": r"$\times$", "·": r"$\cdot$",
             "-∞": r"$-\infty$", "-": "$-$"}  # fmt: skip
_WORDS = re.compile(r"-∞|(?<![\w-])-(?=\d)|[\\{}$&#%_^~<>`\"|≈∞√≤≥→↑≠∈×·]")
_CHINESE = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
# Neither of the Latin letters, marks and punctuation that every font has, nor what ctex sets, nor a joiner.
_UNSURE = re.compile(
    "[^\x00-\u017f\u0300-\u036f\u2010-\u201f\u2026\u200c\u200d\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
)
_STYLE = re.compile("[\ufe0e\ufe0f]")  # of an emoji; no font has a sign for it
_QUOTED = re.compile(r"\\text\{[^{}]*[\"'][^{}]*\}")


def pieces(document: Document, *, fragment: bool = False) -> Iterator[str]:
    """The page as a document, or its body alone: what goes between the title and the end, without the title."""
    if not fragment:
        yield from page("article", heading_of(sentence(document.title)), blocks(document.blocks))
        return
    body = [_signs(block) for block in blocks(document.blocks)]
    chinese = ", ctex" if any(map(_CHINESE.search, body)) else ""
    yield f"% needs amsmath, graphicx, longtable, fontspec, xcolor with [table]{chinese}\n{_macros(body)}\n"
    yield from between("\n\n", body)
    yield "\n"


render = whole(pieces)


def page(kind: str, title: str, body: Iterable[str], *, settings: str = "") -> Iterator[str]:
    """A document of that class, whole; `settings` are more commands at its head. The head depends on all of the body,
    which is held till then."""
    settings = _signs(settings)
    text = [_signs(each) for each in (title, *body)]
    of_all = [settings, *text]
    yield (
        f"\\documentclass[10pt]{{{kind}}}\n{PREAMBLE}{CTEX if any(map(_CHINESE.search, of_all)) else ''}"
        f"{_macros(of_all)}\\raggedright\\raggedbottom\n\\setlength\\parindent{{0pt}}\n"
        f"\\setlength\\parskip{{4pt plus 1pt}}\n{settings}\n\\begin{{document}}\n"
    )
    yield from between("\n\n", text)
    yield "\n\n\\end{document}\n"


def heading_of(title: str) -> str:
    return f"\\begin{{center}}\\LARGE {title}\\end{{center}}"


def _macros(body: Sequence[str]) -> str:
    blanks = BLANKS if _holds(body, r"\attnrow") or _holds(body, r"\attnroom") else ""
    return MACROS + blanks + (FALLBACK if _holds(body, r"\attnglyph") else "")


def _holds(body: Sequence[str], macro: str) -> bool:
    return any(macro in block for block in body)


def _signs(latex: str) -> str:
    """Signs that the font may lack are looked for when the page is set, and quotes in a label stay straight."""
    latex = _STYLE.sub("", _QUOTED.sub(_straight, latex))
    return _UNSURE.sub(lambda found: rf"\attnglyph{{{found[0]}}}{{{ord(found[0]):04X}}}", latex)


def _straight(label: re.Match[str]) -> str:
    return label[0].replace('"', r"\textquotedbl{}").replace("'", r"\textquotesingle{}")


def escaped(text: str) -> str:
    """Words of a sentence."""
    return _WORDS.sub(lambda found: _IN_WORDS.get(found[0]) or _SPECIAL[found[0]], visible(" ".join(text.split("\n"))))


def escaped_token(text: str) -> str:
    """A label, letter by letter as the problem has it."""
    shown = visible(text)
    letters = [_SPECIAL.get(letter, letter) for letter in shown]
    if max(map(len, shown.split()), default=0) > LONGEST_WORD:
        letters = [letter + r"\allowbreak " if i % 5 == 4 else letter for i, letter in enumerate(letters)]
    return "".join(letters).replace("  ", r"\ \ ")


def sentence(prose: Prose) -> str:
    return "".join(map(_part, prose.parts)).strip()


def _part(part: Inline) -> str:
    if isinstance(part, Math):
        return inline(part)
    if isinstance(part, Blank):
        return rf"\underline{{\hspace{{{part.width / 2}em}}}}"
    return escaped_token(part.text) if isinstance(part, Token) else escaped(part)


def blocks(blocks: Sequence[Block], depth: int = 0) -> Iterator[str]:
    """The blocks, each a paragraph or more; `depth` is that of their headings."""
    for block in blocks:
        yield from _block(block, depth)


def _block(block: Block, depth: int) -> Iterator[str]:
    match block:
        case Prose():
            yield sentence(block)
        case Items():
            items = "\n".join(rf"\item {{}}{sentence(item)}" for item in block.sentences)
            spacing = r"\setlength\itemsep{0pt}\setlength\parskip{0pt}\raggedright"
            yield f"\\begin{{itemize}}{spacing}\n{items}\n\\end{{itemize}}"
        case Formula():
            yield _formula(block)
        case Beside():
            yield from _beside(block)
        case Work():
            yield from _work(block)
        case Table():
            yield from map(_grid if is_grid(block) else _table, table_parts(block, ROOM))
        case Space(lines):
            yield rf"\attnroom{{{min(lines, MOST_LINES)}}}"
        case Section():
            yield _heading(block, depth)
            yield from blocks(block.blocks, depth + 1)


def _heading(section: Section, depth: int) -> str:
    title = sentence(heading(section))
    if section.minor or depth >= len(HEADINGS):
        return rf"\paragraph*{{{title}}}\mbox{{}}\par\nopagebreak"
    return rf"\{HEADINGS[depth]}*{{{title}}}"


def _left(latex: str) -> str:
    return rf"${latex}\;$" if latex else ""


def _formula(formula: Formula) -> str:
    """Lines below one another; those after the first go on below its first sign."""
    lines = [formula_line(math) for math in formula.lines]
    hang = _left(lines[0][0]) or (r"\quad" if len(lines) > 1 or "penalty" in lines[0][1] else "")
    first = rf"\attnline{{{_left(lines[0][0])}}}{{{lines[0][1]}}}" if lines[0][0] else _outdented(lines[0][1])
    rest = [rf"\attnline{{{_left(left)}}}{{{right}}}" for left, right in lines[1:]]
    return "\n\\nopagebreak\n".join([f"\\attnleft{{{hang}}}\n{first}", *rest])


def _outdented(right: str) -> str:
    return rf"\attnline{{\hskip-\attnhang}}{{{right}}}"


def _beside(beside: Beside) -> Iterator[str]:
    """As many side by side as there is room for."""
    row: list[str] = []
    for formula in beside.formulas:
        if any(latex_display.length(math) > ROOM or has_wide(math) or is_tall(math) for math in formula.lines):
            if row:
                yield _row(row)
                row = []
            yield _formula(formula)
            continue
        row.append(latex_display.display(formula.lines))
    if row:
        yield _row(row)


def _row(formulas: Sequence[str]) -> str:
    boxes = " \\qquad\n".join(rf"\mbox{{$\displaystyle {latex}$}}" for latex in formulas)
    return "\\attnleft{}\n\\attnline{}{" + boxes + "}"


def _work(work: Work) -> Iterator[str]:
    for labelled, group in groupby(work.lines, key=lambda line: line[0] is not None):
        lines = list(group)
        yield "\n".join(_labelled(lines) if labelled else _aligned([math for _, math in lines]))


def _labelled(lines: Sequence[tuple[Prose | None, Math]]) -> Iterator[str]:
    labels = [label for label, _ in lines if label]
    fitting = [label for label in labels if display_width(plain(label)) <= WIDEST_LABEL] or labels[:1]
    widest = max(fitting, key=lambda label: display_width(plain(label)))
    yield rf"\attnleft{{{sentence(widest)}\quad}}"
    for label, (_, math) in zip(labels, lines, strict=True):
        written = rf"{sentence(label)}\quad"
        if display_width(plain(label)) > ROOM:  # longer than a line: it is broken as a sentence is
            yield _outdented(f"{written} {whole_line(math)}")
        else:
            yield rf"\attnline[l]{{{written}}}{{{whole_line(math)}}}"


def _aligned(maths: Sequence[Math]) -> Iterator[str]:
    """Lines with their first signs below one another."""
    lines = [formula_line(math) for math in maths]
    widest = max(zip(maths, lines, strict=True), key=lambda each: len(each[1][0]))[1][0]
    yield rf"\attnleft{{{_left(widest)}}}"
    yield from (rf"\attnline{{{_left(left)}}}{{{right}}}" for left, right in lines)


def _table(table: Table) -> str:
    """Its head is repeated where it goes on over the page; columns of long sentences share the line."""
    layout = "".join(_columns(table_widths(table)))
    head, *rows = ["{}" + " & ".join(map(sentence, row)) + r" \\" for row in (table.head, *table.rows)]
    body = "\n".join(rows)
    return f"\\begin{{longtable}}[l]{{{layout}}}\n{head} \\hline\n\\endhead\n{body}\n\\end{{longtable}}"


def _grid(table: Table) -> str:
    """A table to fill in, in boxes; it stays on one page, below what stands above it, where it may."""
    first, *rest = _columns(table_widths(table), BLANK)
    layout = "|".join(["", first, *("c" if column == "l" else column for column in rest), ""])
    head = f"\\attnhead {' & '.join(map(sentence, table.head))} \\\\ \\hline"
    rows = "\n".join(f"\\attnrow {' & '.join(map(_box, row))} \\\\ \\hline" for row in table.rows)
    if len(table.rows) > TALL:
        return f"\\begin{{longtable}}[l]{{{layout}}}\n\\hline {head}\n\\endhead\n{rows}\n\\end{{longtable}}"
    together = 4 if len(table.rows) <= FEW_ROWS else 3
    start = rf"\par\nopagebreak[{together}]\vskip4pt\noindent\begin{{tabular}}{{{layout}}}"
    return f"{start}\n\\hline {head}\n{rows}\n\\end{{tabular}}\\par"


def _box(cell: Prose) -> str:
    """A cell of a grid: one that is a blank is room alone."""
    match cell.parts:
        case (Blank(width, _),):
            return rf"\hspace*{{{width / 2}em}}"
    return sentence(cell)


def _columns(widths: Sequence[int], short: int = SHORT) -> Iterator[str]:
    """How wide each column is: as its text where all have room, or it is short; else a share of what is left."""
    all_fit = sum(widths) + GAP * len(widths) <= ROOM
    shares = [0 if all_fit or width <= short else min(width, ROOM) for width in widths]
    left = 0.9 - sum(width for width, share in zip(widths, shares, strict=True) if not share) / ROOM
    for share in shares:
        part = f"{left * share / sum(shares):.3f}" if share else ""
        yield rf">{{\raggedright\arraybackslash}}p{{{part}\linewidth}}" if share else "l"
