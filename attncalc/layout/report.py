"""A marking as a page: the first slip with its working, how many figures are right, and each step with its verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from attncalc import rounding
from attncalc.blocks import Block, Document, Formula, Items, Math, Prose, Section, Table, Token, Work, compose
from attncalc.layout.page import Page
from attncalc.marking import Figure, Marked, Marking
from attncalc.marking.marks import Score, total
from attncalc.marking.verdicts import BLANK, CORRECT, FOLLOWS, IMPRECISE, INVALID, SLIP, VERDICTS
from attncalc.marking.working import as_written
from attncalc.show import Show
from attncalc.steps import Arrange, Axis, Step
from attncalc.wording import Wording

SIGNS: Mapping[str, str] = {CORRECT: "✓", FOLLOWS: "→", IMPRECISE: "≈", SLIP: "✗", BLANK: "_", INVALID: "?", "": "·"}
MOST_WORKED = 12  # slips of a step whose working is shown
MOST_NAMED = 24  # figures that a sentence names


class Report:
    """What a page says of one marking, in one language."""

    def __init__(self, marking: Marking, show: Show, lang: str) -> None:
        self.marking = marking
        # What follows from written figures is shown to the decimals of its step, whatever is carried elsewhere.
        self.show = replace(show, rule=replace(show.rule, rounding="exact"))
        self.say = Wording(lang)
        self.page = Page(marking.solution, self.show, self.say)
        self._as_written: dict[str, Step] = {}

    def working(self, found: Figure) -> Math:
        """S[1,2] = 1×1.43 + .. = 4.54, from the figures that were written before it."""
        if found.step not in self._as_written:
            self._as_written[found.step] = as_written(self.marking, found.step)
        step = self._as_written[found.step]
        i, j = found.row, found.column
        place = self.page.place(step.symbol, i, j)
        result = self.page.cell(step, i, j)
        if not step.operands:
            return compose("chain", place, "=", result)
        return compose("chain", place, "=", self.page.working(step, i, j), self.page.sign(step, i, j), result)


def lay_out_report(
    marking: Marking, show: Show, lang: str, *, title: str | None, kind: str, scores: Sequence[Score] = ()
) -> Document:
    """The page of a marking of some kind of problem, with the marks of some steps, where they were asked for."""
    report = Report(marking, show, lang)
    say = report.say
    problem = Prose((title,)) if title else say(f"title.{kind}")
    blocks: list[Block] = [
        Section(say("report.sections.first_slip"), "first-slip", tuple(_first_slip(report))),
        Section(say("report.sections.verdicts"), "verdicts", (_counts(report),)),
    ]
    if scores:
        blocks.append(Section(say("report.sections.marks"), "marks", (_marks(report, scores),)))
    steps = tuple(_step(report, id, marked) for id, marked in marking.steps.items())
    blocks.append(Section(say("report.sections.steps"), "steps", (*_left_out(report), *steps)))
    heading = say("report.title", name=Token(marking.name), problem=problem)
    return Document(heading, lang, tuple(blocks), colon=say.text("colon"))


def _first_slip(report: Report) -> Iterator[Block]:
    say, marking = report.say, report.marking
    first = marking.first_slip
    if first is None:
        yield say("report.no_slip" if marking.is_right else "report.no_slip_but")
        return
    yield say(
        "report.first_slip", step=_symbol(report, first.step), place=_place(report, first),
        written=Token(first.written.text),
    )  # fmt: skip
    yield Formula((report.working(first),))
    if first.method:
        yield say(f"methods.{first.method}")


def _counts(report: Report) -> Block:
    """How many figures have each verdict that one has, and what it means."""
    say = report.say
    return Items(tuple(
        say("report.count", sign=SIGNS[verdict], verdict=say(f"report.verdicts.{verdict}.name"), n=count,
            means=say(f"report.verdicts.{verdict}.means"))
        for verdict, count in report.marking.counts.items() if count
    ))  # fmt: skip


def _marks(report: Report, scores: Sequence[Score]) -> Block:
    say = report.say
    rows = [
        (_symbol(report, score.step), Prose((f"{rounding.fraction(score.earned)}/{score.figures}",)),
         _number(score.given), _number(score.worth))
        for score in scores
    ]  # fmt: skip
    given, worth = total(scores)
    head = tuple(say(f"report.columns.{name}") for name in ("step", "right", "marks", "of"))
    return Table(head, (*rows, (say("report.total"), Prose(()), _number(given), _number(worth))))


def _left_out(report: Report) -> list[Block]:
    """Which computed steps were not written: what follows from those before stands for them."""
    say, marking = report.say, report.marking
    left = [
        step for id, step in marking.solution.steps.items()
        if id not in marking.steps and step.operands and not (isinstance(step, Arrange) and not step.choosers)
    ]  # fmt: skip
    if not left or not marking.steps:
        return []
    names = say.joined([_symbol(report, step.id) for step in left[:MOST_NAMED]])
    if len(left) > MOST_NAMED:
        names = say("report.and_more", figures=names, n=len(left) - MOST_NAMED)
    return [say("report.left_out", steps=names)]


def _step(report: Report, id: str, marked: Marked) -> Section:
    """A table of the figures with their signs; below it, in words, each that is not right."""
    say, figures = report.say, [each for each in report.marking.figures if each.step == id]
    blocks: list[Block] = [_table(report, marked)]
    slips = [each for each in figures if each.verdict == SLIP]
    if slips:
        lines = [(say("report.slip", written=Token(each.written.text)), report.working(each)) for each in slips]
        blocks.append(Work(tuple(lines[:MOST_WORKED])))
    notes = [_note(report, verdict, figures, marked) for verdict in (SLIP, FOLLOWS, IMPRECISE, BLANK, INVALID)]
    notes += [say("report.method", method=say(f"methods.{method}"), figures=_places(report, named))
              for method, named in _by_method(slips)]  # fmt: skip
    degenerate = _degenerate(report, marked)
    found = [note for note in (*notes, degenerate) if note]
    if found:
        blocks.append(Items(tuple(found)))
    right = sum(each.verdict in (CORRECT, FOLLOWS) for each in figures)
    title = say("report.step", step=_symbol(report, id), right=right, figures=len(figures))
    return Section(title, f"step-{id}", tuple(blocks), minor=True)


def _table(report: Report, marked: Marked) -> Table:
    step = marked.step
    n, m = step.shape
    head = (_symbol(report, step.id), *(_header(report, step.columns, j) for j in range(m)))
    rows = [
        (_header(report, step.rows, i), *(_cell(marked.written[i, j], marked.verdicts[i, j]) for j in range(m)))
        for i in range(n)
    ]
    return Table(head, tuple(rows))


def _header(report: Report, axis: Axis | None, k: int) -> Prose:
    """The label of a row or column, or its number."""
    labels = report.page.labels(axis)
    return Prose((Token(labels[k]) if labels else report.page.count(k),))


def _cell(written: object, verdict: str) -> Prose:
    text = getattr(written, "text", "")
    if verdict in ("", BLANK):
        return Prose((SIGNS[verdict],))
    return Prose((Token(text), f" {SIGNS[verdict]}"))


def _note(report: Report, verdict: str, figures: Sequence[Figure], marked: Marked) -> Prose | None:
    """The figures of one verdict, in words."""
    found = [each for each in figures if each.verdict == verdict]
    if not found or verdict == SLIP:
        return None
    if verdict == INVALID:
        return report.say.joined([_invalid(report, each) for each in found[:MOST_NAMED]], "list.semicolon")
    return report.say(f"report.notes.{verdict}", figures=_places(report, found), decimals=marked.places)


def _invalid(report: Report, found: Figure) -> Prose:
    place, text = _indexed(report, found), Token(found.written.text)
    return report.say("report.notes.invalid", figure=place, written=text, why=Token(found.written.why))


def _by_method(slips: Sequence[Figure]) -> list[tuple[str, list[Figure]]]:
    found: dict[str, list[Figure]] = {}
    for each in slips:
        if each.method:
            found.setdefault(each.method, []).append(each)
    return list(found.items())


def _degenerate(report: Report, marked: Marked) -> Prose | None:
    """Rows of weights that were written as one 1 or as nothing, and are not: what follows from them is easily right."""
    values = report.marking.stands[marked.step.id].value
    wrong = (marked.verdicts == SLIP).any(axis=1)
    nothing = ~values.any(axis=1)
    one = marked.step.rows_sum_to_one & (np.count_nonzero(values, axis=1) == 1) & (values.max(axis=1) == 1)
    rows = np.flatnonzero(wrong & (nothing | one) & (marked.step.shape[1] > 1)).tolist()
    later = [each for each in report.marking.steps.values() if _rests_on(each, marked)]
    if not rows or not later:
        return None
    names = report.say.enumeration([_symbol(report, each.step.id) for each in later])
    which = report.say.enumeration([Prose((report.page.count(i),)) for i in rows])
    return report.say("report.degenerate", step=_symbol(report, marked.step.id), rows=which, later=names)


def _rests_on(later: Marked, earlier: Marked) -> bool:
    """Whether a step is worked from another, at whatever remove."""
    waiting, seen = list(later.step.operands), set()
    while waiting:
        step = waiting.pop()
        if step is earlier.step:
            return True
        if step.id not in seen:
            seen.add(step.id)
            waiting += step.operands
    return False


def _symbol(report: Report, id: str) -> Prose:
    """S; with its id, where it is not called so: Q⁽²⁾ (head2.Q)."""
    symbol = report.marking.solution.steps[id].symbol
    if symbol.op == "name" and symbol.args[0] == id:
        return Prose((Math(symbol),))
    return report.say("report.symbol", symbol=Math(symbol), id=Token(id))


def _place(report: Report, found: Figure) -> Prose:
    """Row 1 (A), column 2 (B) of a step."""
    step, name = report.marking.solution.steps[found.step], report.page.row_name
    row, column = name("row.other", step.rows, found.row), name("row.column", step.columns, found.column)
    return report.say.joined([row, column])


def _indexed(report: Report, found: Figure) -> Prose:
    symbol = report.marking.solution.steps[found.step].symbol
    return Prose((report.page.place(symbol, found.row, found.column),))


def _places(report: Report, figures: Sequence[Figure]) -> Prose:
    """S[1,2], S[1,3] and so on."""
    names = report.say.joined([_indexed(report, each) for each in figures[:MOST_NAMED]])
    if len(figures) <= MOST_NAMED:
        return names
    return report.say("report.and_more", figures=names, n=len(figures) - MOST_NAMED)


def _number(value: Fraction) -> Prose:
    return Prose((rounding.fraction(value),))


def lay_out_class(
    reports: Sequence[tuple[Marking, Sequence[Score]]], show: Show, lang: str, *, title: str | None, kind: str
) -> Document:
    """The page of a class: a line for each who handed in."""
    say = Wording(lang)
    problem = Prose((title,)) if title else say(f"title.{kind}")
    with_marks = any(scores for _, scores in reports)
    verdicts = [Prose((SIGNS[verdict], " ", *say(f"report.verdicts.{verdict}.name").parts)) for verdict in VERDICTS]
    last = [say("report.class.first_slip"), *([say("report.columns.marks")] if with_marks else [])]
    head = (say("report.class.name"), *verdicts, *last)
    rows = []
    for marking, scores in reports:
        first = marking.first_slip
        row = [Prose((Token(marking.name),)), *(Prose((str(n),)) for n in marking.counts.values())]
        row.append(Prose((_in_text(first, show.count_from),)) if first else Prose(("–",)))
        if with_marks:
            given, worth = total(scores)
            row.append(Prose((f"{rounding.fraction(given)}/{rounding.fraction(worth)}",)))
        rows.append(tuple(row))
    heading = say("report.class.title", problem=problem)
    return Document(heading, lang, (Table(head, tuple(rows)),), colon=say.text("colon"))


def _in_text(found: Figure, count_from: int) -> str:
    return f"{found.step}[{found.row + count_from},{found.column + count_from}]"
