"""The marking of a class as a page: a line for each who handed in, and one for each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from attncalc import digits
from attncalc.blocks import Block, Document, Items, Prose, Section, Table, Token
from attncalc.layout.report import SIGNS, Report, indexed, number, symbol_of
from attncalc.marking import Figure, Marking
from attncalc.marking.marks import Score, total
from attncalc.marking.students import by_student
from attncalc.marking.verdicts import CORRECT, FOLLOWS, SLIP, VERDICTS
from attncalc.show import Show
from attncalc.wording import Wording


class Graded(NamedTuple):
    """What somebody wrote to one problem; `number` says which, "2: ", where each has several."""

    report: Report
    scores: Sequence[Score]
    number: Prose

    @property
    def first_slip(self) -> Figure | None:
        return self.report.marking.first_slip


def lay_out_class(
    students: Sequence[tuple[Marking, Sequence[Score]]], show: Show, lang: str, *, title: str | None, kind: str
) -> Document:
    """The page of a class: a line for each who handed in, to however many problems, and one for each step."""
    say = Wording(lang)
    problem = Prose((title,)) if title else say(f"title.{kind}")
    groups = [
        [Graded(Report(marking, show, lang), scores, say("report.class.number", n=k + 1) if len(own) > 1 else Prose(()))
         for k, (marking, scores) in enumerate(own)]
        for own in by_student(students, lambda each: each[0].name)
    ]  # fmt: skip
    firsts = (first.first_slip for first in map(_first, groups) if first)
    methods = list(dict.fromkeys(slip.method for slip in firsts if slip and slip.method))
    legend = say.joined([Prose((SIGNS[verdict], " ", *say(f"report.verdicts.{verdict}.name").parts))
                         for verdict in VERDICTS])  # fmt: skip
    means = [say("report.class.means", n=k + 1, method=say(f"methods.{each}")) for k, each in enumerate(methods)]
    earned = [total(score for paper in own for score in paper.scores) for own in groups]
    with_marks = any(paper.scores for own in groups for paper in own)
    blocks: list[Block] = [_students(say, groups, methods, earned if with_marks else ())]
    blocks.append(Items((legend, *means, *(_of_all(say, earned) if with_marks else ()))))
    blocks.append(Section(say("report.sections.class"), "by-step", (_steps_of_class(say, groups),)))
    return Document(say("report.class.title", problem=problem), lang, tuple(blocks), colon=say.text("colon"))


def _first(own: Sequence[Graded]) -> Graded | None:
    """The paper that a student's first slip is in."""
    return next((paper for paper in own if paper.first_slip), None)


def _students(
    say: Wording, groups: Sequence[Sequence[Graded]], methods: Sequence[str],
    earned: Sequence[tuple[Fraction, Fraction]],
) -> Table:  # fmt: skip
    """A line for each: how many figures have each verdict, the first slip and the number of its method, the marks."""
    names = ["first_slip", *(["method"] if methods else []), *(["marks", "out_of"] if earned else [])]
    head = (say("report.class.name"), *(Prose((SIGNS[verdict],)) for verdict in VERDICTS),
            *(say(f"report.class.{name}") for name in names))  # fmt: skip
    rows = []
    for k, own in enumerate(groups):
        paper = _first(own)
        slip = paper and paper.first_slip
        counts = [sum(each.report.marking.counts[verdict] for each in own) for verdict in VERDICTS]
        row = [Prose((Token(own[0].report.marking.name),)), *(Prose((str(n),)) for n in counts)]
        row.append(_numbered(paper, indexed(paper.report, slip)) if paper and slip else Prose(("–",)))
        if methods:
            row.append(Prose((str(methods.index(slip.method) + 1) if slip and slip.method else "–",)))
        if earned:
            row += map(number, earned[k])
        rows.append(tuple(row))
    return Table(head, tuple(rows))


def _numbered(paper: Graded, prose: Prose) -> Prose:
    return Prose((*paper.number.parts, *prose.parts))


def _of_all(say: Wording, earned: Sequence[tuple[Fraction, Fraction]]) -> Iterator[Prose]:
    """The mean and the highest marks."""
    given, (worth, *_) = zip(*earned, strict=True)
    mean, highest = sum(given, Fraction(0)) / len(given), max(given)
    yield say("report.class.of_all", mean=number(mean), highest=number(highest), worth=number(worth))


def _steps_of_class(say: Wording, groups: Sequence[Sequence[Graded]]) -> Table:
    """Of each step that somebody wrote, how many figures were asked for, who slipped there, and how many are right."""
    rows = []
    for papers in zip_longest(*groups):
        of_one = [paper for paper in papers if paper]
        for id in of_one[0].report.marking.solution.steps:
            steps = (paper.report.marking.steps.get(id) for paper in of_one)
            verdicts = [step.verdicts for step in steps if step]
            asked = sum(int((each != "").sum()) for each in verdicts)
            if asked:
                slipped = sum(bool((each == SLIP).any()) for each in verdicts)
                right = sum(int(((each == CORRECT) | (each == FOLLOWS)).sum()) for each in verdicts)
                share = digits.fraction(Fraction(100 * right, asked), 0)
                texts = str(asked), str(slipped), f"{share}%"
                symbol = _numbered(of_one[0], symbol_of(of_one[0].report, id))
                rows.append((symbol, *(Prose((text,)) for text in texts)))
    head = (say("report.columns.step"), *(say(f"report.class.{name}") for name in ("asked", "slipped", "right")))
    return Table(head, tuple(rows))
