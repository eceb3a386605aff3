"""An exercise sheet and its key: what is given, and for each step that is asked a grid to fill in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from attncalc import digits
from attncalc.blocks import (
    Asked,
    Beside,
    Blank,
    Block,
    Document,
    Expected,
    Formula,
    Items,
    Math,
    Prose,
    Question,
    Section,
    Sheet,
    SheetWords,
    Space,
    Table,
    Token,
    Work,
    compose,
    figure,
)
from attncalc.exercises.blanks import Hidden
from attncalc.layout import lay_out, section_title
from attncalc.layout.closing import formulas
from attncalc.layout.conventions import conventions
from attncalc.layout.figures import Printed
from attncalc.layout.kinds import arranged, given
from attncalc.layout.lines import lay_lines
from attncalc.layout.page import Page
from attncalc.marking.marks import as_text
from attncalc.marking.template import by_choice, is_single, known_axes
from attncalc.rounding import Floats, Texts
from attncalc.show import Show
from attncalc.solution import Group, Solution
from attncalc.steps import Axis, Given, Step
from attncalc.wording import Wording

ROOM = 6  # lines to write in, where the size of a matrix is not to be told
LINE = 12  # letters of a line for one number, however many digits it has
UNKNOWN = "?"  # in a working, a figure that is asked for


@dataclass(frozen=True)
class Exercise:
    """One problem as a question: what its sheet hides, and what it is worth. `shapes`: the shape of each matrix is
    asked for as well. `given_alone`: steps that are not asked for are not shown either. `wrong` are the figures, n × m,
    that known wrong methods give, by step id; None where no format marks what is filled in."""

    solution: Solution
    show: Show
    kind: str
    title: str | None
    hidden: Hidden
    shapes: bool = False
    given_alone: bool = False
    worth: Fraction | None = None
    wrong: Mapping[str, Sequence[Floats]] | None = field(default_factory=dict)

    def asks(self, step: Step) -> bool:
        return step.id in self.hidden.asked

    def shows(self, step: Step) -> bool:
        """Whether a step that is not asked for is shown, as nothing that is asked for leads to it."""
        return not self.given_alone and not self.asks(step) and not self.hidden.rest[step.id].any()


@dataclass(frozen=True)
class Head:
    """What stands above the questions."""

    title: str | None = None
    course: str | None = None
    date: str | None = None
    variant: str = ""
    fingerprint: str = ""


def lay_sheet(exercises: Sequence[Exercise], head: Head, lang: str, concepts: Sequence[Question] = ()) -> Sheet:
    """The sheet of some problems, one question each, and of questions in words after them."""
    say = Wording(lang)
    questions = (*(_question(exercise, lang) for exercise in exercises), *concepts)
    only = exercises[0] if exercises else None
    alone = _title(say, only) if only and len(questions) == 1 else say("sheet.title")
    title = Prose((head.title,)) if head.title else alone
    lines = tuple(Prose((Token(text),)) for text in (head.course, head.date) if text)
    name = say("sheet.name", blank=Blank(30))
    foot = say("sheet.foot", variant=Token(head.variant), fingerprint=Token(head.fingerprint))
    words = SheetWords(**{name: say.text(f"sheet.words.{name}") for name in SheetWords._fields})
    return Sheet(
        title, lang, lines, name, questions, foot if head.variant else Prose(()), say("sheet.key", title=title), words,
        say.text("colon"),
    )  # fmt: skip


def as_document(sheet: Sheet, *, key: bool = False) -> Document:
    """The sheet, or its key, as a page; a question that is alone has no heading of its own."""
    say = Wording(sheet.lang)
    title = sheet.key_title if key else sheet.title
    sections: list[Block] = []
    for k, question in enumerate(sheet.questions):
        blocks = question.answer if key else question.blocks
        if len(sheet.questions) == 1:
            title = _worth(say, sheet, title, question)
            sections += blocks
        else:
            heading = _worth(say, sheet, say("sheet.question", n=k + 1, title=question.title), question)
            sections.append(Section(heading, f"question-{k + 1}", blocks))
    head = sheet.head if key else (*sheet.head, sheet.name)
    foot = (sheet.foot,) if sheet.foot.parts else ()
    return Document(title, sheet.lang, (*head, *sections, *foot), colon=sheet.colon)


def _worth(say: Wording, sheet: Sheet, title: Prose, question: Question) -> Prose:
    """A title with what the question is worth, where that is said."""
    if not question.marks:
        return title
    return say("sheet.worth", title=title, marks=sheet.words.marked(question.marks))


def _title(say: Wording, exercise: Exercise) -> Prose:
    return Prose((exercise.title,)) if exercise.title else say(f"title.{exercise.kind}")


def _question(exercise: Exercise, lang: str) -> Question:
    say = Wording(lang)
    title = _title(say, exercise)
    figures = Printed(exercise.solution, exercise.show.rule)  # as the question shows them and its answer
    answer = lay_out(
        exercise.solution, exercise.show, lang, title=exercise.title, kind=exercise.kind, figures=figures
    )  # fmt: skip
    marks = as_text(exercise.worth) if exercise.worth is not None else ""
    question = _Question(exercise, say, figures)
    answers, asked = tuple(question.answers()), tuple(map(question.asked, question.steps))
    return Question(title, tuple(question.blocks()), (*answers, *answer.blocks), marks, asked)


class _Question:
    """The blocks of one problem's question."""

    def __init__(self, exercise: Exercise, say: Wording, figures: Printed) -> None:
        self.exercise, self.say, self.hidden = exercise, say, exercise.hidden
        show = exercise.show._replace(detail="matrices")
        self.page = _Page(exercise.solution, show, say, exercise.hidden, figures)
        self.known = known_axes(exercise.solution)
        self.lines = set(_by_line(exercise.solution.root))
        self.steps = [step for step in exercise.solution.steps.values() if exercise.asks(step)]
        chosen = by_choice(exercise.solution)
        way = exercise.solution.leading_to(exercise.hidden.asked)
        self.way = {step for step in way if step.id not in chosen or exercise.asks(step)}

    def blocks(self) -> Iterator[Block]:
        say, steps = self.say, list(self.exercise.solution.steps.values())
        yield conventions(self.page)
        yield Section(say("sections.given"), "given", tuple(self.given()))
        worked = [step for step in steps if step.is_worked and not self.exercise.asks(step)]
        shown = [step for step in worked if self.exercise.shows(step)]
        seen = [*(step for step in steps if isinstance(step, Given)), *shown, *self.steps]
        self.page.refuse_many_figures(seen, "give fewer rows or columns, or show none that is worked, --level 1")
        self.page.refuse_long_labels(seen, "give shorter tokens, or show none that is worked, --level 1")
        if shown:
            yield Section(say("sheet.worked"), "worked", (*self.by_line(shown), *map(self.answer, self.others(shown))))
        unseen = [step for step in worked if step in self.way and step not in shown]
        # The way to what is asked may lead through steps that are not on the sheet.
        laws = formulas(self.page, partial(section_title, self.page), self.way) if unseen else None
        if laws:
            yield laws
        copied = [step for step in steps if step in self.way and step not in shown and not self.exercise.asks(step)]
        found = (arranged(self.page, step) for step in copied if laws is None or step.formula is None)
        sentences = tuple(dict.fromkeys(sentence for sentence in found if sentence))
        if sentences:
            yield Section(say("sheet.arranged"), "arranged", (Items(sentences),))
        shaped = [step for step in self.steps if self.is_shaped(step)]
        if shaped:
            yield Section(say("sheet.shapes"), "shapes", (Items(tuple(map(self.shape, shaped))),))
        if any(map(self.is_dashed, self.steps)):
            yield say("sheet.dash")
        for step in self.steps:
            yield Section(self.called(step), f"ask-{step.id}", tuple(self.ask(step, law=laws is None)))

    def given(self) -> Iterator[Block]:
        """The matrices of the problem; of a problem of single figures, a line for each."""
        inputs = [step for step in self.exercise.solution.steps.values() if isinstance(step, Given)]
        yield from self.by_line(inputs)
        yield from (given(self.page, step) for step in self.others(inputs))

    def by_line(self, steps: Sequence[Step]) -> Iterator[Block]:
        """Those that have a line each, which says in words what they are."""
        if self.lines.intersection(steps):
            yield lay_lines(self.page, [step for step in steps if step in self.lines])

    def others(self, steps: Sequence[Step]) -> list[Step]:
        return [step for step in steps if step not in self.lines]

    def called(self, step: Step) -> Prose:
        """S; C (cache.bytes), bytes in all."""
        name = self.page.called(step)
        if step not in self.lines:
            return name
        return self.say("sheet.called", name=name, what=self.say(f"figures.{step.role}"))

    def answers(self) -> Iterator[Block]:
        """All that is asked for in one place, before the way there: the shapes, and each step as a matrix."""
        shaped = [step for step in self.steps if self.is_shaped(step)]
        sizes = [Prose((compose("sized", Math(step.symbol), self.page.shape(step)),)) for step in shaped]
        if sizes:
            yield Section(self.say("sheet.shapes"), "shapes", (Items(tuple(sizes)),))
        matrices = tuple(map(self.answer, self.others(self.steps)))
        beside = (Beside(matrices),) if matrices else ()
        yield Section(self.say("sheet.answers"), "answers", (*self.by_line(self.steps), *beside))

    def answer(self, step: Step) -> Formula:
        """A step as a matrix, or as the number that it is."""
        if not self.is_single(step):
            return self.page.matrix(step)
        return Formula((compose("chain", Math(step.symbol), self.page.sign(step), self.page.cell(step, 0, 0)),))

    def is_single(self, step: Step) -> bool:
        """Whether a step has a line to itself, not a grid."""
        return is_single(step, self.known)

    def is_shaped(self, step: Step) -> bool:
        """Whether its shape is asked for as well."""
        return self.exercise.shapes and not self.is_single(step)

    def shape(self, step: Step) -> Prose:
        rows, columns = (Blank(4, Expected(str(size), "0")) for size in step.shape)
        return self.say("sheet.shape", symbol=Math(step.symbol), rows=rows, columns=columns)

    def asked(self, step: Step) -> Asked:
        flags = self.hidden.asked[step.id]
        places = tuple((i, j) for i, j in np.argwhere(flags).tolist())
        rows, columns = (self.labels(axis) for axis in (step.rows, step.columns))
        figures = tuple(self.page.figures(step).texts[flags].tolist())
        return Asked(step.id, step.shape, rows, columns, places, figures, self.is_shaped(step))

    def is_dashed(self, step: Step) -> bool:
        return bool((self.hidden.rest[step.id] & ~self.hidden.asked[step.id]).any())

    def ask(self, step: Step, *, law: bool) -> Iterator[Block]:
        """A grid or a line to fill in, or room; above it the law of the step, and below it the rows that are worked."""
        says = step.formula not in (None, step.symbol)  # D² is said by its name
        if law and says and step.formula is not None:
            yield Formula((compose("chain", Math(step.symbol), "=", Math(step.formula)),))
        sentence = arranged(self.page, step) if step.formula is None else None
        if sentence:
            yield sentence
        if self.is_shaped(step):
            yield Space(ROOM)
            return
        if self.is_single(step):
            yield self.line(step)
            return
        yield self.grid(step)
        n, m = step.shape
        worked = [i for i in range(n) if not any(self.hidden.hides(step.id, i, j) for j in range(m))]
        if worked:
            lines = [(self.row(step, i), self.working(step, i)) for i in worked]
            yield Work(tuple(lines))

    def row(self, step: Step, i: int) -> Prose:
        return self.page.row_name("row.other", step.rows if step.rows in self.known else None, i)

    def working(self, step: Step, i: int) -> Math:
        return compose("chain", self.page.row_working(step, i), self.page.sign(step, i), self.page.row(step, i))

    def line(self, step: Step) -> Prose:
        """C = ____"""
        text = self.page.figures(step).texts[0, 0]
        parts = self.cell(step, 0, 0, LINE, text).parts
        return self.say("sheet.figure", symbol=Math(step.symbol), figure=Prose(parts))

    def grid(self, step: Step) -> Table:
        """A table with the labels of rows and columns, a blank for each figure that is asked."""
        n, m = step.shape
        texts = self.page.figures(step).texts
        width = max(6, 3 + step.places)
        rows = []
        for i in range(n):
            rows.append((self.label(step.rows, i), *(self.cell(step, i, j, width, texts[i, j]) for j in range(m))))
        head = (Prose((Math(step.symbol),)), *(self.label(step.columns, j) for j in range(m)))
        return Table(head, tuple(rows))

    def cell(self, step: Step, i: int, j: int, width: int, text: str) -> Prose:
        """A blank; what is not asked for but would give an answer away is a dash."""
        if self.hidden.is_asked(step.id, i, j):
            wrong = self.exercise.wrong
            return Prose((Blank(width, None if wrong is None else self.expected(step, i, j, text, wrong)),))
        return Prose(("–",)) if self.hidden.hides(step.id, i, j) else Prose((figure(text),))

    def expected(self, step: Step, i: int, j: int, text: str, wrong: Mapping[str, Sequence[Floats]]) -> Expected:
        """Right is also what nobody has rounded on the way."""
        exact = self.exercise.solution.exact
        twins = [step, *([exact.steps[step.id]] if exact and step.id in exact.steps else [])]
        values = [float(each.values[i, j]) for each in twins if each.shape == step.shape]
        also = [figure for value in values for figure in digits.as_right(value, step.places, text)]
        others = (each[i, j] for each in wrong.get(step.id, ()) if np.isfinite(each[i, j]))
        known = tuple(digits.one(float(each), step.places, self.page.rule) for each in others)
        return Expected(text, digits.half_unit(step.places), known, tuple(dict.fromkeys(also)))

    def labels(self, axis: Axis | None) -> tuple[str, ...] | None:
        return self.page.labels(axis) if axis in self.known else None

    def label(self, axis: Axis | None, k: int) -> Prose:
        labels = self.labels(axis)
        return Prose((Token(labels[k]) if labels else self.page.count(k),))


def _by_line(group: Group) -> Iterator[Step]:
    """The steps that have a line each, 1 × 1."""
    for member in group.members:
        if isinstance(member, Group):
            yield from member.steps() if member.order == "by line" else _by_line(member)


class _Page(Page):
    """A page that does not tell what is asked for."""

    def __init__(
        self, solution: Solution, show: Show, say: Wording, hidden: Hidden, figures: Printed
    ) -> None:
        super().__init__(solution, show, say, figures=figures)
        self.hidden = hidden

    def used(self, step: Step) -> Texts:
        hidden = [self.hidden.figures(operand.id).ravel() for operand in step.operands]
        return np.where(np.concatenate(hidden), UNKNOWN, super().used(step))
