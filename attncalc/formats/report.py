"""json and csv of a marking, for scripts and spreadsheets; the keys of the json are a contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from attncalc.blocks import Math
from attncalc.formats import spreadsheet
from attncalc.formats.in_pieces import between
from attncalc.formats.json_text import dumped
from attncalc.formats.notation import line
from attncalc.formats.text_math import TEXT
from attncalc.marking import Figure
from attncalc.marking.marks import as_text
from attncalc.marking.papers import Paper, by_student, earned
from attncalc.marking.verdicts import VERDICTS

WorkingOf = Callable[[Figure], Math]
ReportOf = Callable[..., Any]  # of a marking and how it is shown, what knows the working of each figure


def to_json(papers: Sequence[Paper], report_of: ReportOf, *, of_class: bool) -> Iterator[str]:
    """One object, piece by piece; of a class, one with the object of each paper that was handed in, and the number of
    its problem."""
    yield '{"format": "attncalc-check/1", '
    if not of_class:
        yield from _paper(papers[0], report_of)
    else:
        yield '"students": [\n'
        for k, each in enumerate(papers):
            yield ",\n{" if k else "{"
            yield f'"problem": {each.number}, '
            yield from _paper(each, report_of)
            yield "}"
        yield "\n]"
    yield "}\n"


def to_csv(papers: Sequence[Paper], *, of_class: bool, count_from: int = 1) -> str:
    """A line for each figure; of a class, one for each who handed in, to however many problems."""
    rows = _of_class(papers, count_from) if of_class else _of_figures(papers[0], count_from)
    return spreadsheet.to_csv(rows)


def _paper(paper: Paper, report_of: ReportOf) -> Iterator[str]:
    """What stands between the braces of its object."""
    marking = paper.marking
    if marking is None:
        none: Any = dict.fromkeys(VERDICTS, 0)
        about = {"name": paper.name, "figures": [], "first_slip": None, "counts": none, "error": paper.error}
        yield dumped(about)[1:-1]
        return
    first, working = marking.first_slip, report_of(marking, paper.show).working
    yield f'{dumped({"name": paper.name})[1:-1]}, "figures": ['
    yield from between(", ", (dumped(_figure(each, working)) for each in marking.figures))
    found: dict[str, Any] = {
        "first_slip": first and {"step": first.step, "index": [first.row, first.column]},
        "counts": marking.counts,
    }
    if paper.scores:
        found["marks"] = {score.step: {"given": float(score.given), "of": float(score.worth)} for score in paper.scores}
    yield f"], {dumped(found)[1:-1]}"


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


def _of_figures(paper: Paper, count_from: int) -> list[list[Any]]:
    head = ["step", "row", "column", "written", "exact", "follows", "verdict", "method"]
    rows = [
        [each.step, each.row + count_from, each.column + count_from, each.written.text, _value(each.exact),
         _value(each.follows), each.verdict, each.method or ""]
        for each in (paper.marking.figures if paper.marking else ())
    ]  # fmt: skip
    return [head, *rows]


def _of_class(papers: Sequence[Paper], count_from: int) -> list[list[Any]]:
    groups = by_student(papers)
    problems = [next((paper.scores for paper in each if paper and paper.marking), ()) for each in zip_longest(*groups)]
    numbers = [f"{k + 1}." for k in range(len(problems))] if len(problems) > 1 else [""]
    steps = [f"marks.{n}{score.step}" for n, scores in zip(numbers, problems, strict=True) for score in scores]
    in_all = ["marks", "out_of"] if steps else []
    rows: list[list[Any]] = [["name", *VERDICTS, "first_slip", "method", *steps, *in_all, "error"]]
    for own in groups:
        marked = [(n, paper.marking) for n, paper in zip(numbers, own, strict=False) if paper.marking]
        counts = [sum(marking.counts[verdict] for _, marking in marked) if marked else "" for verdict in VERDICTS]
        n, first = next(((n, marking.first_slip) for n, marking in marked if marking.first_slip), ("", None))
        place = f"{n}{first.step}[{first.row + count_from},{first.column + count_from}]" if first else ""
        method = (first and first.method) or ""
        given = [as_text(paper.scores[k].given) if paper and paper.marking else ""
                 for paper, scores in zip_longest(own, problems) for k in range(len(scores))]  # fmt: skip
        sums = [as_text(each) for each in earned(own) or ()] or ["", ""]
        errors = " | ".join(paper.error for paper in own if paper.error)
        rows.append([own[0].name, *counts, place, method, *given, *sums[: len(in_all)], errors])
    return rows
