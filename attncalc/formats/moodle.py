"""Exercise sheets as a quiz in Moodle's XML: a Cloze question for each question, with a box for each figure.

Moodle marks each box by itself, by an absolute tolerance; it can carry nothing on from a slip, and its text says so.
The key is the feedback. The Cloze syntax: https://docs.moodle.org/en/Embedded_Answers_(Cloze)_question_type
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from html import escape

from attncalc.blocks import Blank, Block, Expected, Prose, Question, Section, Sheet, Space
from attncalc.formats import html
from attncalc.formats.headings import heading
from attncalc.formats.in_pieces import whole
from attncalc.formats.text import sentence as plain
from attncalc.formats.width import visible

HALF = 50  # percent, for the figure of a known wrong method
LEVEL = 4  # of headings in a question
NO_SIGN = "\ufffd"  # in the place of one that XML can't hold

# What Moodle, or a filter of it, would take for something of its own: boxes, its links, formulas between other signs.
_OWN = str.maketrans({sign: f"&#{ord(sign)};" for sign in "{}[]\\$@~"})
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BOX = re.compile("\0([0-9]+)\0")
_CLASS = re.compile(r' class="([^"]*)"')
# As there is no style sheet: the few looks without which a table is hard to read.
_LOOKS = {
    "table": "border-collapse:collapse;width:auto",
    "matrix": "border-collapse:collapse;margin:.2em .3em;text-align:right",
    "l": "border-left:1.5px solid",
    "r": "border-right:1.5px solid",
    "row": "display:flex;flex-wrap:wrap;align-items:center",
    "led": "display:flex;align-items:center",
    "beside": "display:flex;flex-wrap:wrap;align-items:center;column-gap:2.5em",
    "scroll": "overflow-x:auto",
    "formula": "margin:.7em 0",
}
_TABLES = {'<table class="matrix"': 'cellpadding="3"', '<table class="table': 'border="1" cellpadding="6"'}.items()


def pieces(*sheets: Sheet) -> Iterator[str]:
    """The questions of all sheets as one quiz."""
    return lines(sheets)


render = whole(pieces)


def lines(sheets: Iterable[Sheet]) -> Iterator[str]:
    """The same of any number of sheets, of which no more than one is held."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n'
    for k, sheet in enumerate(sheets):
        if k == 0:
            yield _category(sheet.title)
        for n, question in enumerate(sheet.questions):
            yield _question(sheet, n, question)
    yield "</quiz>\n"


def _category(title: Prose) -> str:
    name = plain(title).replace("/", "//")
    return (
        f'<question type="category">\n<category><text>{_xml(f"$course$/top/{name}")}</text></category>\n</question>\n'
    )


def _question(sheet: Sheet, n: int, question: Question) -> str:
    """One without a figure to mark is an essay, which a person marks by the key; what one with boxes is worth is for
    Moodle the number of its boxes."""
    boxes: list[str] = []
    body = _markup(question.blocks, boxes)
    note = _markup((Prose((sheet.words.by_itself,)),), []) if boxes else ""
    kind, key = ("cloze", "generalfeedback") if boxes else ("essay", "graderinfo")
    worth = "" if boxes or not question.marks else f"<defaultgrade>{question.marks}</defaultgrade>\n"
    return (
        f'<question type="{kind}">\n<name><text>{_xml(_name(sheet, n, question))}</text></name>\n'
        f"{_text('questiontext', note + body)}{worth}{_text(key, _markup(question.answer, []))}</question>\n"
    )


def _name(sheet: Sheet, n: int, question: Question) -> str:
    number = f"{n + 1}. " if len(sheet.questions) > 1 else ""
    marks = sheet.words.marked(question.marks) if question.marks else ""
    parts = (f"{number}{plain(question.title)}", marks, plain(sheet.foot))
    return ", ".join(part for part in parts if part)


def _xml(text: str) -> str:
    return escape(_NO_XML.sub(NO_SIGN, visible(text)), quote=False)


def _text(tag: str, markup: str) -> str:
    return f'<{tag} format="html"><text><![CDATA[{_NO_XML.sub(NO_SIGN, markup)}]]></text></{tag}>\n'


def _markup(blocks: Sequence[Block], boxes: list[str]) -> str:
    """The blocks as HTML, with their boxes, which are also added to `boxes`."""
    markup = "".join(_Page(boxes).blocks(blocks, LEVEL)).removesuffix("\n").translate(_OWN)
    for table, looks in _TABLES:
        markup = markup.replace(table, f"{table[:6]} {looks}{table[6:]}")
    return _BOX.sub(lambda found: boxes[int(found[1])], _CLASS.sub(_looks, markup))


def _looks(classes: re.Match[str]) -> str:
    looks = ";".join(_LOOKS[each] for each in classes[1].split() if each in _LOOKS)
    return f' style="{looks}"' if looks else ""


class _Page(html.Page):
    """The HTML of a question: no links, no room to write, and each box of a figure at first as \\0number\\0, which no
    text can hold."""

    def __init__(self, boxes: list[str]) -> None:
        super().__init__()
        self.boxes = boxes

    def blank(self, blank: Blank) -> str:
        if blank.expected is None:
            return "…"
        figure = _number(blank.expected.figure)
        if figure is None:  # -∞ can't be typed in
            return escape(blank.expected.figure)
        self.boxes.append(cloze(figure, blank.expected))
        return f"\0{len(self.boxes) - 1}\0"

    def space(self, space: Space) -> str:
        return ""

    def section(self, section: Section, level: int) -> Iterator[str]:
        yield f"<h{LEVEL}>{self.sentence(heading(section))}</h{LEVEL}>\n"
        yield from self.blocks(section.blocks, level)


def cloze(figure: Decimal, expected: Expected) -> str:
    """{1:NUMERICAL:=0.401:0.0005~%50%0.284:0.0005}: the right figure, or several, then those of known wrong methods."""
    tolerance = Decimal(expected.tolerance)
    right = dict.fromkeys([figure, *_numbers(expected.also)])
    wrong = (each for each in dict.fromkeys(_numbers(expected.wrong)) if all(abs(each - r) > tolerance for r in right))
    answers = [*(("=", each) for each in right), *((f"%{HALF}%", each) for each in wrong)]
    return f"{{1:NUMERICAL:{'~'.join(f'{worth}{each:f}:{tolerance:f}' for worth, each in answers)}}}"


def _numbers(texts: Iterable[str]) -> list[Decimal]:
    return [number for number in map(_number, texts) if number is not None]


def _number(text: str) -> Decimal | None:
    """A figure as a number, never -0; nothing for -∞."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number + 0 if number.is_finite() else None
