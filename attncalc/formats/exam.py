r"""An exercise sheet as a LaTeX document of class exam: the key is in its `solution` environments, and is printed after
\printanswers. XeLaTeX sets it; a second run fills in the table of marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attncalc.blocks import Block, Question, Sheet
from attncalc.formats import latex
from attncalc.formats.in_pieces import whole

IN_A_ROW = 10  # questions of the table of marks
MOST_MARKS = 4  # digits that exam can count with

# No box may hold the tables of a solution, which go on over the page; matrices need the width of the page. A key has an
# answer in the place of the room for it.
_SETTINGS = r"""\pagestyle{foot}
\clubpenalty=10000\widowpenalty=10000
\ifprintanswers\def\attnroom#1{}\fi
\renewenvironment{TheSolution}{\par\bigskip\solutiontitle\par\nopagebreak}{\par}
\renewcommand\questionshook{\setlength\leftmargin{0pt}\setlength\labelwidth{-\labelsep}}"""


def pieces(sheet: Sheet, *, key: bool = False) -> Iterator[str]:
    """The sheet with its key in one file; `key`: set so that the key is printed."""
    title = rf"\ifprintanswers {latex.sentence(sheet.key_title)}\else {latex.sentence(sheet.title)}\fi"
    questions = "\n\n".join(_question(sheet, question) for question in sheet.questions)
    body = [_head(sheet), f"\\begin{{questions}}\n{questions}\n\\end{{questions}}"]
    return latex.page("exam", latex.heading_of(title), body, settings="\n".join(_settings(sheet, key)) + "\n")


render = whole(pieces)


def _settings(sheet: Sheet, key: bool) -> Iterator[str]:
    words = sheet.words
    yield f"% {words.with_key}\n{'' if key else '% '}\\printanswers"
    yield _SETTINGS
    yield rf"\renewcommand\solutiontitle{{\noindent\textbf{{{latex.escaped(words.solution)}}}}}"
    yield rf"\footer{{{latex.sentence(sheet.foot)}}}{{}}{{\thepage}}"
    if _has_marks(sheet):
        opening, closing = tuple(words.brackets)
        names = "".join(f"{{{latex.escaped(word)}}}" for word in (words.mark, words.marks))
        yield rf"\addpoints\pointpoints{names}\pointname{{\points}}\pointformat{{{opening}\thepoints{closing}}}"
        heads = {"hqword": words.question, "hpword": words.worth, "hsword": words.score, "htword": words.total}
        yield "".join(rf"\{command}{{{latex.escaped(word)}}}" for command, word in heads.items())


def _head(sheet: Sheet) -> str:
    """What stands above the questions, and what a student, and who marks, fills in there."""
    lines = [latex.sentence(sheet.name)]
    if _has_marks(sheet) and len(sheet.questions) > 1:
        lines.append(rf"\multirowgradetable{{{-(-len(sheet.questions) // IN_A_ROW)}}}[questions]")
    of_both = "".join(f"{latex.sentence(line)}\n\n" for line in sheet.head)
    return of_both + "\\ifprintanswers\\else\n" + "\n\n".join(lines) + "\n\n\\fi"


def _question(sheet: Sheet, question: Question) -> str:
    """Its title is left out where it is the sheet's. One in words stands on one page if that holds it. `solution` is
    not even set where it is not printed, nor are grids to fill in where it is: it says all that stands above them."""
    alone = len(sheet.questions) == 1 and question.title == sheet.title
    title = r"\textbf{" + latex.sentence(question.title) + "}"
    skip = r"\par\bigskip" if question.asked else r"\filbreak\bigskip"
    start = r"\renewcommand\questionlabel{}\question" if alone else rf"{skip}\question"
    asks = _blocks(question.blocks)
    if question.asked:
        asks = f"\\ifprintanswers\\else\n{asks}\n\n\\fi"
    return (
        f"{start}{_worth(sheet, question.marks)} {'' if alone else title}\\mbox{{}}\\par\\nopagebreak\n\n{asks}\n\n"
        f"\\ifprintanswers\\begin{{solution}}\n{_blocks(question.answer)}\n\n\\end{{solution}}\\fi"
    )


def _blocks(blocks: Sequence[Block]) -> str:
    return "\n\n".join(latex.blocks(blocks, 1))


def _has_marks(sheet: Sheet) -> bool:
    """Whether the marks are such that exam can add them up."""
    marks = [question.marks for question in sheet.questions if question.marks]
    return bool(marks) and all(map(_points, marks))


def _worth(sheet: Sheet, marks: str) -> str:
    r"""Marks after a \question: such as exam adds up, or their words alone."""
    if not marks:
        return ""
    opening, closing = map(latex.escaped, sheet.words.brackets)
    words = f" {opening}{latex.escaped(sheet.words.marked(marks))}{closing}"
    return f"[{_points(marks)}]" if _has_marks(sheet) else words


def _points(marks: str) -> str:
    r"""2 is 2, 2.5 is 2\half; nothing where exam has no way to write it."""
    found = re.fullmatch(r"(\d+)(\.5)?", marks)
    if not found or len(found[1]) > MOST_MARKS:
        return ""
    return found[1] if not found[2] else rf"{found[1].lstrip('0')}\half"
