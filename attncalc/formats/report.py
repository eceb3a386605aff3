"""json and csv of a marking, for scripts and spreadsheets; the keys of the json are a contract."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from attncalc.blocks import Math
from attncalc.formats.notation import line
from attncalc.formats.text_math import TEXT
from attncalc.marking import Figure, Marking
from attncalc.marking.marks import Score, total

Working = Callable[[Figure], Math]
Marked = tuple[Marking, Sequence[Score], Working]


def to_json(marked: Sequence[Marked], *, of_class: bool) -> str:
    """One object; of a class, one with the object of each who handed in."""
    if not of_class:
        return _dump({"format": "attncalc-check/1", **_student(*marked[0])})
    students = ",\n".join(_dump(_student(*each)).rstrip() for each in marked)
    return f'{{"format": "attncalc-check/1", "students": [\n{students}\n]}}\n'


def to_csv(marked: Sequence[Marked], *, of_class: bool, count_from: int = 1) -> str:
    """A line for each figure; of a class, one for each who handed in."""
    rows = _of_class(marked, count_from) if of_class else _of_figures(marked[0][0], count_from)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _student(marking: Marking, scores: Sequence[Score], working: Working) -> dict[str, Any]:
    first = marking.first_slip
    found: dict[str, Any] = {
        "name": marking.name,
        "figures": [_figure(each, working) for each in marking.figures],
        "first_slip": first and {"step": first.step, "index": [first.row, first.column]},
        "counts": marking.counts,
    }
    if scores:
        found["marks"] = {score.step: {"given": float(score.given), "of": float(score.worth)} for score in scores}
    return found


def _figure(found: Figure, working: Working) -> dict[str, Any]:
    return {
        "step": found.step,
        "index": [found.row, found.column],
        "written": found.written.text,
        "exact": _value(found.exact),
        "follows": _value(found.follows),
        "verdict": found.verdict,
        "method": found.method,
        "working": line(working(found), TEXT),
    }


def _value(x: float) -> float | str | None:
    """12 significant digits; none where a figure is divided by 0."""
    if x != x or x == float("inf"):
        return None
    return "-inf" if x == float("-inf") else float(f"{x:.12g}") + 0.0


def _of_figures(marking: Marking, count_from: int) -> list[list[Any]]:
    head = ["step", "row", "column", "written", "exact", "follows", "verdict", "method"]
    rows = [
        [each.step, each.row + count_from, each.column + count_from, each.written.text, _value(each.exact),
         _value(each.follows), each.verdict, each.method or ""]
        for each in marking.figures
    ]  # fmt: skip
    return [head, *rows]


def _of_class(marked: Sequence[Marked], count_from: int) -> list[list[Any]]:
    steps = [score.step for score in marked[0][1]]
    counted = list(marked[0][0].counts)
    rows: list[list[Any]] = [["name", *counted, "first_slip", *(f"marks.{step}" for step in steps)]]
    if steps:
        rows[0].append("marks")
    for marking, scores, _ in marked:
        first = marking.first_slip
        place = f"{first.step}[{first.row + count_from},{first.column + count_from}]" if first else ""
        given = [_plain(float(score.given)) for score in scores]
        in_all = [_plain(float(total(scores)[0]))] if scores else []
        rows.append([marking.name, *marking.counts.values(), place, *given, *in_all])
    return rows


def _plain(x: float) -> str:
    return f"{x:.4f}".rstrip("0").rstrip(".")
