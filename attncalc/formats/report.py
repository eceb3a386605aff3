"""json and csv of a marking, for scripts and spreadsheets; the keys of the json are a contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attncalc.blocks import Math
from attncalc.formats import spreadsheet
from attncalc.formats.json_text import dumped
from attncalc.formats.notation import line
from attncalc.formats.text_math import TEXT
from attncalc.marking import Figure, Marking
from attncalc.marking.marks import Score, as_text, total
from attncalc.marking.students import by_student
from attncalc.marking.verdicts import VERDICTS

WorkingOf = Callable[[Figure], Math]
Student = tuple[Marking, Sequence[Score], WorkingOf]


def to_json(students: Sequence[Student], *, of_class: bool) -> str:
    """One object; of a class, one with the object of each paper that was handed in."""
    if not of_class:
        return dumped({"format": "attncalc-check/1", **_student(*students[0])}) + "\n"
    of_each = ",\n".join(dumped(_student(*each)) for each in students)
    return f'{{"format": "attncalc-check/1", "students": [\n{of_each}\n]}}\n'


def to_csv(students: Sequence[Student], *, of_class: bool, count_from: int = 1) -> str:
    """A line for each figure; of a class, one for each who handed in, to however many problems."""
    rows = _of_class(students, count_from) if of_class else _of_figures(students[0][0], count_from)
    return spreadsheet.to_csv(rows)


def _student(marking: Marking, scores: Sequence[Score], working: WorkingOf) -> dict[str, Any]:
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


def _figure(found: Figure, working: WorkingOf) -> dict[str, Any]:
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


def _of_class(students: Sequence[Student], count_from: int) -> list[list[Any]]:
    groups = by_student(students, lambda each: each[0].name)
    most = max(groups, key=lambda own: len(own))
    numbers = [f"{k + 1}." for k in range(len(most))] if len(most) > 1 else [""]
    steps = [f"marks.{n}{score.step}" for n, (_, scores, _) in zip(numbers, most, strict=True) for score in scores]
    in_all = ["marks", "out_of"] if steps else []
    rows: list[list[Any]] = [["name", *VERDICTS, "first_slip", "method", *steps, *in_all]]
    for own in groups:
        slips = ((n, marking.first_slip) for n, (marking, _, _) in zip(numbers, own, strict=False))
        n, first = next((each for each in slips if each[1]), ("", None))
        place = f"{n}{first.step}[{first.row + count_from},{first.column + count_from}]" if first else ""
        method = (first and first.method) or ""
        every = [score for _, scores, _ in own for score in scores]
        given = [as_text(score.given) for score in every] + [""] * (len(steps) - len(every))
        sums = [as_text(each) for each in total(every)] if steps else []
        counts = [sum(marking.counts[verdict] for marking, _, _ in own) for verdict in VERDICTS]
        rows.append([own[0][0].name, *counts, place, method, *given, *sums])
    return rows
