"""A marking as a page: the first slip with its working, how many figures are right, and each step with its verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from attncalc.blocks import Block, Document, Formula, Items, Math, Prose, Section, Table, Token, Work, compose
from attncalc.layout.page import Page
from attncalc.marking import Figure, Marked, Marking
from attncalc.marking.degenerate import degenerate
from attncalc.marking.marks import Score, as_text, total
from attncalc.marking.template import is_single
from attncalc.marking.verdicts import BLANK, CORRECT, FOLLOWS, IMPRECISE, INVALID, SLIP
from attncalc.marking.working import as_written
from attncalc.marking.written import LONGEST
from attncalc.show import Show
from attncalc.steps import Axis, Step
from attncalc.wording import Wording

SIGNS: Mapping[str, str] = {CORRECT: "✓", FOLLOWS: "→", IMPRECISE: "≈", SLIP: "✗", BLANK: "_", INVALID: "?", "": "·"}
MOST_WORKED = 6  # slips of a step whose working is shown, where no known method explains them
MOST_NAMED = 12  # figures that a sentence names
MOST_REPEATED = 20  # characters of a figure that a sentence repeats


class Report:
    """What a page says of one marking, in one language."""

    def __init__(self, marking: Marking, show: Show, lang: str) -> None:
        self.marking = marking
        # What follows from written figures is shown to the decimals of its step, whatever is carried elsewhere.
        self.show = show._replace(rule=show.rule._replace(rounding="exact"))
        self.say = Wording(lang)
        self.page = Page(marking.solution, self.show, self.say)
        self._as_written: dict[str, Step] = {}
        self._row = lru_cache(maxsize=1)(self.page.workings)  # made together, and asked for one by one

    def working(self, found: Figure) -> Math:
        """S[1,2] = 1×1.43 + .. = 4.54, from the figures that were written before it."""
        if found.step not in self._as_written:
            self._as_written[found.step] = as_written(self.marking, found.step)
        step = self._as_written[found.step]
        i, j = found.row, found.column
        place = self.page.figure_of(step, i, j)
        result = self.page.cell(step, i, j)
        if not step.is_worked:  # given, or a copy of a figure that has a name
            cells = step.working(i, j).cells if step.operands else ()
            copied = [self.page.figure_of(*cell) for cell in cells]
            return compose("chain", *(part for each in (place, *copied) for part in (each, "=")), result)
        return compose("chain", place, "=", self._row(step, i)[j], self.page.sign(step, i, j), result)


def lay_out_report(
    marking: Marking, show: Show, lang: str, *, title: str | None, kind: str, scores: Sequence[Score] = ()
) -> Document:
    """The page of a marking of some kind of problem, with the marks of some steps, where they were asked for."""
    report = Report(marking, show, lang)
    written = [marked.step for marked in marking.steps.values()]
    report.page.refuse_long_labels(written, "give shorter tokens, mark fewer steps, or ask for --format json")
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
        yield say("report.no_slip") if marking.is_right else say("report.no_slip_but", amiss=_amiss(report))
        return
    source = "worked" if marking.solution.steps[first.step].operands else "given"
    yield say(
        f"report.first_slip.{source}", figure=_place(report, first), written=Token(first.written.text),
    )  # fmt: skip
    yield Formula((report.working(first),))
    if first.method:
        yield _method(report, first.method, _slips_by_method(marking, first.step)[first.method])


def _amiss(report: Report) -> Prose:
    """How many figures are not there as they were asked for, in words."""
    counts = report.marking.counts
    return report.say.joined([
        report.say(f"report.amiss.{verdict}", n=counts[verdict])
        for verdict in (IMPRECISE, BLANK, INVALID) if counts[verdict]
    ])  # fmt: skip


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
        (symbol_of(report, score.step), Prose((f"{as_text(score.earned)}/{score.figures}",)),
         number(score.given), number(score.worth))
        for score in scores
    ]  # fmt: skip
    given, worth = total(scores)
    head = tuple(say(f"report.columns.{name}") for name in ("step", "counted", "marks", "of"))
    return Table(head, (*rows, (say("report.total"), Prose(()), number(given), number(worth))))


def _left_out(report: Report) -> list[Block]:
    """Which computed steps were not written: what follows from those before stands for them."""
    say, marking = report.say, report.marking
    left = [
        step for id, step in marking.solution.steps.items()
        if id not in marking.steps and step.is_worked
    ]  # fmt: skip
    if not left or not marking.steps:
        return []
    return [say("report.left_out", steps=_listed(report, [symbol_of(report, step.id) for step in left]))]


def _step(report: Report, id: str, marked: Marked) -> Section:
    """A table of the figures with their signs; below it, in words, each that is not right."""
    figures = report.marking.of_step[id]
    written = _line if is_single(marked.step, (marked.step.rows, marked.step.columns)) else _table
    blocks: list[Block] = [written(report, marked), *_slips(report, id)]
    notes = [
        *_follows(report, figures), *_imprecise(report, figures, marked), *_blank(report, figures),
        *_invalid(report, figures), *_not_here(report, figures, marked), *_degenerate(report, id),
    ]  # fmt: skip
    if notes:
        blocks.append(Items(tuple(notes)))
    right = sum(each.verdict in (CORRECT, FOLLOWS) for each in figures)
    title = report.say("report.step", step=symbol_of(report, id), right=right, figures=len(figures))
    return Section(title, f"step-{id}", tuple(blocks), minor=True)


def _table(report: Report, marked: Marked) -> Table:
    step = marked.step
    n, m = step.shape
    head = (Prose((Math(step.symbol),)), *(_header(report, step.columns, j) for j in range(m)))
    rows = [
        (_header(report, step.rows, i), *(_cell(marked.written[i, j], marked.verdicts[i, j]) for j in range(m)))
        for i in range(n)
    ]
    return Table(head, tuple(rows))


def _line(report: Report, marked: Marked) -> Prose:
    """C = 131072 ✓"""
    cell = _cell(marked.written[0, 0], marked.verdicts[0, 0])
    return report.say("sheet.figure", symbol=Math(marked.step.symbol), figure=cell)


def _header(report: Report, axis: Axis | None, k: int) -> Prose:
    """The label of a row or column, or its number."""
    labels = report.page.labels(axis)
    return Prose((Token(labels[k]) if labels else report.page.count(k),))


def _cell(written: object, verdict: str) -> Prose:
    text = getattr(written, "text", "")
    if verdict in ("", BLANK):
        return Prose((SIGNS[verdict],))
    return Prose((Token(_shortened(text) if verdict == INVALID else text), f" {SIGNS[verdict]}"))


def _slips(report: Report, id: str) -> Iterator[Block]:
    """The slips of a step: what a known method explains with one working, but for the method of the first slip, which
    is said with it; of the others, the working of some."""
    say, first = report.say, report.marking.first_slip
    for method, slips in _slips_by_method(report.marking, id).items():
        if method and first and (first.step, first.method) == (id, method):
            continue
        if method:
            yield _method(report, method, slips)
        yield Work(tuple(
            (say("report.slip", written=Token(each.written.text)), report.working(each))
            for each in slips[: 1 if method else MOST_WORKED]
        ))  # fmt: skip
        if not method and len(slips) > MOST_WORKED:
            yield say("report.more_slips", n=len(slips) - MOST_WORKED)


def _slips_by_method(marking: Marking, id: str) -> dict[str, list[Figure]]:
    """The slips of a step by the method that gives them; last, under "", those that no known one does."""
    slips = [each for each in marking.of_step[id] if each.verdict == SLIP]
    methods = [*dict.fromkeys(each.method for each in slips if each.method), ""]
    found = {method: [each for each in slips if (each.method or "") == method] for method in methods}
    return {method: those for method, those in found.items() if those}


def _method(report: Report, method: str, slips: Sequence[Figure]) -> Prose:
    """S[1,2] and 7 more, as if .."""
    figures = _listed(report, [indexed(report, each) for each in slips], most=1)
    return report.say("report.method", figures=figures, method=report.say(f"methods.{method}"))


def _follows(report: Report, figures: Sequence[Figure]) -> Iterator[Prose]:
    """Those that follow from a slip; what follows from rounding is nothing to speak of."""
    slipped = report.marking.from_slips
    found = [each for each in figures if each.verdict == FOLLOWS and slipped[each.step][each.row, each.column]]
    if found:
        yield report.say("report.notes.follows", figures=_places(report, found))


def _imprecise(report: Report, figures: Sequence[Figure], marked: Marked) -> Iterator[Prose]:
    found = [each for each in figures if each.verdict == IMPRECISE]
    if found:
        yield report.say("report.notes.imprecise", figures=_places(report, found), decimals=marked.places)


def _blank(report: Report, figures: Sequence[Figure]) -> Iterator[Prose]:
    count = sum(each.verdict == BLANK for each in figures)
    if count:
        yield report.say("report.notes.blank", n=count)


def _not_here(report: Report, figures: Sequence[Figure], marked: Marked) -> Iterator[Prose]:
    if len(figures) < marked.verdicts.size:
        yield report.say("report.notes.not_here", n=marked.verdicts.size - len(figures), all=marked.verdicts.size)


def _invalid(report: Report, figures: Sequence[Figure]) -> Iterator[Prose]:
    """Those that are no figures, and why: each reason once, of the first that has it."""
    say, found = report.say, [each for each in figures if each.verdict == INVALID]
    if not found:
        return
    names = [_at(report, each) for each in found]
    first = {each.written.why: each for each in reversed(found)}
    reasons = [say(f"report.why.{why}", written=_short(first[why]), most=LONGEST) for why in reversed(first)]
    yield say("report.notes.invalid", figures=_listed(report, names), why=say.joined(reasons, "list.semicolon"))


def _at(report: Report, found: Figure) -> Prose:
    """S[1,2], and what was written there; in which place of the file, where that is known."""
    about: dict[str, Prose | Token] = {"figure": indexed(report, found), "written": _short(found)}
    if not found.written.line:
        return report.say("report.notes.written", **about)
    return report.say("report.notes.written_at", line=found.written.line, column=found.written.column, **about)


def _short(found: Figure) -> Token:
    return Token(_shortened(found.written.text))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_REPEATED else f"{text[: MOST_REPEATED - 1]}…"


def _degenerate(report: Report, id: str) -> Iterator[Prose]:
    """Rows of a step that were written too simple: what follows from them is easily right."""
    say = report.say
    for found in degenerate(report.marking, id):
        rows = say.enumeration([Prose((report.page.count(i),)) for i in found.rows])
        later = _listed(report, [symbol_of(report, each) for each in found.later])
        count = "one" if len(found.rows) == 1 else "many"
        yield say(f"report.degenerate.{found.kind}.{count}", step=symbol_of(report, id), rows=rows, later=later)


def symbol_of(report: Report, id: str) -> Prose:
    return report.page.called(report.marking.solution.steps[id])


def _place(report: Report, found: Figure) -> Prose:
    """S, row 1 (A), column 2 (B); of a step that is one figure, the step alone."""
    step, name = report.marking.solution.steps[found.step], report.page.row_name
    place = [name("row.other", step.rows, found.row), name("row.column", step.columns, found.column)]
    return report.say.joined([symbol_of(report, found.step), *(place if step.values.size > 1 else [])])


def indexed(report: Report, found: Figure) -> Prose:
    """S[1,2]."""
    return Prose((report.page.figure_of(report.marking.solution.steps[found.step], found.row, found.column),))


def _places(report: Report, figures: Iterable[Figure]) -> Prose:
    """S[1,2], S[1,3] and so on."""
    return _listed(report, [indexed(report, each) for each in figures])


def _listed(report: Report, names: Sequence[Prose], most: int = MOST_NAMED) -> Prose:
    """Some names, and how many more there are."""
    listed = report.say.joined(list(names[:most]))
    more = len(names) - most
    return report.say("report.and_more", figures=listed, n=more) if more > 0 else listed


def number(value: Fraction) -> Prose:
    return Prose((as_text(value),))
