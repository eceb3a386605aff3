"""The marking of a class as a page: a line for each who handed in, and one for each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from attncalc import rounding
from attncalc.blocks import Block, Document, Items, Prose, Section, Table, Token
from attncalc.layout.report import SIGNS, Report, indexed, number, symbol_of
from attncalc.marking import Marking
from attncalc.marking.marks import Score, total
from attncalc.marking.verdicts import CORRECT, FOLLOWS, SLIP, VERDICTS
from attncalc.show import Show
from attncalc.wording import Wording


def lay_out_class(
    students: Sequence[tuple[Marking, Sequence[Score]]], show: Show, lang: str, *, title: str | None, kind: str
) -> Document:
    """The page of a class: a line for each who handed in, and one for each step."""
    say = Wording(lang)
    problem = Prose((title,)) if title else say(f"title.{kind}")
    reports = [Report(marking, show, lang) for marking, _ in students]
    firsts = (marking.first_slip for marking, _ in students)
    methods = list(dict.fromkeys(first.method for first in firsts if first and first.method))
    legend = say.joined([Prose((SIGNS[verdict], " ", *say(f"report.verdicts.{verdict}.name").parts))
                         for verdict in VERDICTS])  # fmt: skip
    means = [say("report.class.means", n=k + 1, method=say(f"methods.{each}")) for k, each in enumerate(methods)]
    blocks: list[Block] = [_students(reports, [scores for _, scores in students], methods)]
    blocks.append(Items((legend, *means, *_of_all(say, [scores for _, scores in students]))))
    blocks.append(Section(say("report.sections.class"), "by-step", (_steps_of_class(reports),)))
    return Document(say("report.class.title", problem=problem), lang, tuple(blocks), colon=say.text("colon"))


def _students(reports: Sequence[Report], scores: Sequence[Sequence[Score]], methods: Sequence[str]) -> Table:
    """A line for each: how many figures have each verdict, the first slip and the number of its method, the marks."""
    say, with_marks = reports[0].say, any(scores)
    names = ["first_slip", *(["method"] if methods else []), *(["marks", "out_of"] if with_marks else [])]
    head = (say("report.class.name"), *(Prose((SIGNS[verdict],)) for verdict in VERDICTS),
            *(say(f"report.class.{name}") for name in names))  # fmt: skip
    rows = []
    for report, earned in zip(reports, scores, strict=True):
        first = report.marking.first_slip
        row = [Prose((Token(report.marking.name),)), *(Prose((str(n),)) for n in report.marking.counts.values())]
        row.append(indexed(report, first) if first else Prose(("–",)))
        if methods:
            row.append(Prose((str(methods.index(first.method) + 1) if first and first.method else "–",)))
        if with_marks:
            row += map(number, total(earned))
        rows.append(tuple(row))
    return Table(head, tuple(rows))


def _of_all(say: Wording, scores: Sequence[Sequence[Score]]) -> Iterator[Prose]:
    """The mean and the highest marks."""
    if any(scores):
        given, (worth, *_) = zip(*map(total, scores), strict=True)
        mean, highest = sum(given, Fraction(0)) / len(given), max(given)
        yield say("report.class.of_all", mean=number(mean), highest=number(highest), worth=number(worth))


def _steps_of_class(reports: Sequence[Report]) -> Table:
    """Of each step that somebody wrote, how many figures were asked for, who slipped there, and how many are right."""
    say = reports[0].say
    rows = []
    for id in reports[0].marking.solution.steps:
        verdicts = [report.marking.steps[id].verdicts for report in reports if id in report.marking.steps]
        asked = sum(int((each != "").sum()) for each in verdicts)
        if asked:
            slipped = sum(bool((each == SLIP).any()) for each in verdicts)
            right = sum(int(((each == CORRECT) | (each == FOLLOWS)).sum()) for each in verdicts)
            share = rounding.fraction(Fraction(100 * right, asked), 0)
            texts = str(asked), str(slipped), f"{share}%"
            rows.append((symbol_of(reports[0], id), *(Prose((text,)) for text in texts)))
    head = (say("report.columns.step"), *(say(f"report.class.{name}") for name in ("asked", "slipped", "right")))
    return Table(head, tuple(rows))
