"""An exercise sheet for scripts: which figures are asked for and, in the key, what they are. Keys are a contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncalc.blocks import Asked, Question, Sheet
from attncalc.formats.in_pieces import between, whole
from attncalc.formats.json_text import dumped
from attncalc.formats.text import sentence


def pieces(sheet: Sheet, *, key: bool = False) -> Iterator[str]:
    """One object; a line for each step that is asked for."""
    head = {
        "format": "attncalc-exercise/1",
        "title": sentence(sheet.key_title if key else sheet.title),
        "lang": sheet.lang,
        "head": [sentence(line) for line in sheet.head],
        "foot": sentence(sheet.foot),
    }
    yield f'{dumped(head)[:-1]}, "questions": [\n '
    yield from between(",\n ", (_question(question, key) for question in sheet.questions))
    yield "\n]}\n"


render = whole(pieces)


def _question(question: Question, key: bool) -> str:
    head = {"title": sentence(question.title), "marks": float(question.marks) if question.marks else None}
    asked = ",\n  ".join(dumped(_asked(each, key)) for each in question.asked)
    return f'{dumped(head)[:-1]}, "asked": [\n  {asked}\n ]}}' if asked else f'{dumped(head)[:-1]}, "asked": []}}'


def _asked(asked: Asked, key: bool) -> dict[str, Any]:
    """Places from 0, and in the key what belongs there; where the shape is asked for as well, the sheet tells none."""
    said: dict[str, Any] = {"step": asked.step, "shape_asked": asked.shape_asked}
    if asked.shape_asked and not key:
        return said
    figures = [
        {"index": place, **({"shown": text} if key else {})}
        for place, text in zip(asked.places, asked.figures, strict=True)
    ]
    return {**said, "shape": asked.shape, "rows": asked.rows, "columns": asked.columns, "figures": figures}
