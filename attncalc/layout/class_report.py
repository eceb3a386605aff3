"""The marking of a class as a page: a line for each who handed in, and one for each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from attncalc import digits
from attncalc.blocks import Block, Document, Items, Prose, Section, Table, Token
from attncalc.layout.report import SIGNS, Report, indexed, number, symbol_of
from attncalc.marking.marks import about
from attncalc.marking.papers import Paper, by_student, earned
from attncalc.marking.verdicts import CORRECT, FOLLOWS, SLIP, VERDICTS
from attncalc.wording import Wording

NONE = Prose(("–",))


class Graded(NamedTuple):
    """What somebody wrote to one problem; `number` says which, "2: ", where each has several."""

    report: Report
    number: Prose


class Student(NamedTuple):
    """What one student handed in, a paper for each problem, and how each is graded; None: it can't be read."""

    papers: Sequence[Paper]
    graded: Sequence[Graded | None]

    @property
    def read(self) -> list[Graded]:
        return [each for each in self.graded if each]

    @property
    def method(self) -> str | None:
        """That of the first slip."""
        slips = (each.report.marking.first_slip for each in self.read)
        return next((slip.method for slip in slips if slip), None)


def lay_out_class(papers: Sequence[Paper], lang: str, *, title: str | None, kind: str) -> Document:
    """The page of a class: a line for each who handed in, to however many problems, and one for each step."""
    say = Wording(lang)
    problem = Prose((title,)) if title else say(f"title.{kind}")
    students = [_student(say, own, lang) for own in by_student(papers)]
    methods = list(dict.fromkeys(each.method for each in students if each.method))
    legend = say.joined([Prose((SIGNS[verdict], " ", *say(f"report.verdicts.{verdict}.name").parts))
                         for verdict in VERDICTS])  # fmt: skip
    means = [say("report.class.means", n=k + 1, method=say(f"methods.{each}")) for k, each in enumerate(methods)]
    with_marks = any(paper.scores for paper in papers)
    unread = tuple(_unread(say, paper) for paper in papers if paper.error)
    blocks: list[Block] = [
        _students(say, students, methods, with_marks=with_marks),
        Items((legend, *means, *(_of_all(say, students) if with_marks else ()))),
        *([Section(say("report.sections.unread"), "unread", (Items(unread),))] if unread else []),
        Section(say("report.sections.class"), "by-step", (_steps_of_class(say, students),)),
    ]
    return Document(say("report.class.title", problem=problem), lang, tuple(blocks), colon=say.text("colon"))


def _student(say: Wording, own: Sequence[Paper], lang: str) -> Student:
    numbers = [say("report.class.number", n=k + 1) if len(own) > 1 else Prose(()) for k in range(len(own))]
    graded = [Graded(Report(paper.marking, paper.show, lang), number) if paper.marking else None
              for paper, number in zip(own, numbers, strict=True)]  # fmt: skip
    return Student(own, graded)


def _students(say: Wording, students: Sequence[Student], methods: Sequence[str], *, with_marks: bool) -> Table:
    """A line for each: how many figures have each verdict, the first slip and the number of its method, the marks."""
    names = ["first_slip", *(["method"] if methods else []), *(["marks", "out_of"] if with_marks else [])]
    head = (say("report.class.name"), *(Prose((SIGNS[verdict],)) for verdict in VERDICTS),
            *(say(f"report.class.{name}") for name in names))  # fmt: skip
    rows = []
    for each in students:
        row = [Prose((Token(each.papers[0].name),)), *_counts(each), _first_slip(each)]
        if methods:
            row.append(Prose((str(methods.index(each.method) + 1),)) if each.method else NONE)
        if with_marks:
            row += map(number, marks) if (marks := earned(each.papers)) else (NONE, NONE)
        rows.append(tuple(row))
    return Table(head, tuple(rows))


def _counts(student: Student) -> Iterator[Prose]:
    for verdict in VERDICTS:
        counts = [each.report.marking.counts[verdict] for each in student.read]
        yield Prose((str(sum(counts)),)) if counts else NONE


def _first_slip(student: Student) -> Prose:
    for report, of in student.read:
        if report.marking.first_slip:
            return Prose((*of.parts, *indexed(report, report.marking.first_slip).parts))
    return NONE


def _unread(say: Wording, paper: Paper) -> Prose:
    return say("report.class.unread", name=Token(paper.name), error=Token(paper.error))


def _of_all(say: Wording, students: Sequence[Student]) -> Iterator[Prose]:
    """The mean and the highest marks of those whose papers could all be read."""
    known = [marks for each in students if (marks := earned(each.papers))]
    if not known:
        return
    given, worth = zip(*known, strict=True)
    mean = about(sum(given, Fraction(0)) / len(given), Fraction(0))
    yield say("report.class.of_all", mean=number(mean), highest=number(max(given)), worth=number(max(worth)))


def _steps_of_class(say: Wording, students: Sequence[Student]) -> Table:
    """Of each step that somebody wrote, how many figures were asked for, who slipped there, and how many are right."""
    rows = []
    for papers in zip_longest(*(student.graded for student in students)):
        of_one = [paper for paper in papers if paper]
        for id in of_one[0].report.marking.solution.steps if of_one else ():
            steps = (paper.report.marking.steps.get(id) for paper in of_one)
            verdicts = [step.verdicts for step in steps if step]
            asked = sum(int((each != "").sum()) for each in verdicts)
            if asked:
                slipped = sum(bool((each == SLIP).any()) for each in verdicts)
                right = sum(int(((each == CORRECT) | (each == FOLLOWS)).sum()) for each in verdicts)
                share = digits.fraction(Fraction(100 * right, asked), 0)
                texts = str(asked), str(slipped), f"{share}%"
                symbol = Prose((*of_one[0].number.parts, *symbol_of(of_one[0].report, id).parts))
                rows.append((symbol, *(Prose((text,)) for text in texts)))
    head = (say("report.columns.step"), *(say(f"report.class.{name}") for name in ("asked", "slipped", "right")))
    return Table(head, tuple(rows))
