"""From problems to sheets, keys and the files of a class, one student after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from attncalc import formats, problem
from attncalc.blocks import Question, Sheet
from attncalc.digits import fraction
from attncalc.errors import UsageError
from attncalc.exercises.blanks import (
    Asked,
    asks_a_matrix,
    by_level,
    hidden,
    is_here,
    names,
    of_several,
    refuse_without_room,
)
from attncalc.exercises.students import safe
from attncalc.exercises.variants import WHY, Variant, variants
from attncalc.layout.concepts import in_words
from attncalc.layout.exercise import Exercise, Head, as_document, lay_sheet
from attncalc.marking.methods import wrong_figures
from attncalc.marking.students import Listed
from attncalc.marking.template import blanks_of
from attncalc.mechanisms import solve
from attncalc.problem.source import called
from attncalc.rounding import Flags
from attncalc.solution import Solution
from attncalc.wording import Wording

ENDINGS = {"markdown": "md", "latex": "tex", "html": "html", "moodle": "xml", "text": "txt", "json": "json"}


@dataclass(frozen=True)
class Form:
    """How sheets are to look."""

    format: str
    math: str | None
    lang: str | None
    shapes: bool
    given_alone: bool
    marks: Sequence[Fraction]  # of each problem, then of the questions in words; none where none are given
    title: str | None
    course: str | None
    date: str | None
    concepts: str | None
    seed: str


class Made(NamedTuple):
    """A sheet to be: its id, "" where there is one for all; of each problem a variant, and what is asked of it."""

    id: str
    variants: tuple[Variant, ...]
    asked: tuple[Asked, ...]

    @property
    def fingerprint(self) -> str:
        return "-".join(each.fingerprint for each in self.variants)


def made(
    paths: Sequence[str], ids: Sequence[str] | None, seed: str, *, blanks: Sequence[str] | None, level: int,
    refused: Counter[str],
) -> Iterator[Made]:  # fmt: skip
    """The sheets of problem files, one at a time: as they are, or a variant for each id."""
    if list(paths).count("-") > 1:
        raise UsageError("standard input can be read once", "give a file for the rest")
    data = [problem.read(path) for path in paths]
    places = [(called(path), Path(path).parent) for path in paths]
    if ids is None:
        read = [problem.parse(each, *place) for each, place in zip(data, places, strict=True)]
        solutions = [solve(each) for each in read]
        texts = [each.decode("utf-8-sig", "replace") for each in data]
        given = tuple(Variant("", *each, "") for each in zip(read, solutions, texts, strict=True))
        return iter([Made("", given, tuple(_asked(solutions, blanks, level)))])
    templates = [problem.template(each, *place) for each, place in zip(data, places, strict=True)]
    examples = [solve(each.problem) for each in templates]
    own = [tuple(asked) for asked in _asked(examples, blanks, level)]  # says what no problem has
    wanted = [partial(_again, blanks, level, of) for of in own]
    drawn = [
        variants(template, ids, f"{seed}/{k}" if k else seed, asked, refused)
        for k, (template, asked) in enumerate(zip(templates, wanted, strict=True))
    ]
    if len(drawn) > 1:
        drawn = [_numbered(k + 1, each) for k, each in enumerate(drawn)]
    return (
        Made(id, each, tuple(dict(asked(variant.solution)) for asked, variant in zip(wanted, each, strict=True)))
        for id, *rest in zip(ids, *drawn, strict=True)
        for each in [tuple(rest)]
    )


def _numbered(number: int, drawn: Iterator[Variant]) -> Iterator[Variant]:
    """The variants of one of several problems; an error says of which."""
    try:
        yield from drawn
    except UsageError as error:
        raise UsageError(f"problem {number}: {error.what}", error.hint) from None


def _asked(solutions: Sequence[Solution], blanks: Sequence[str] | None, level: int) -> list[Asked]:
    """What is asked of each of several problems: of each something."""
    found = of_several(solutions, names(blanks)) if blanks else [by_level(each, level) for each in solutions]
    for k, asked in enumerate(found):
        if not asked:
            what = f"{'--blank' if blanks else f'--level {level}'} asks nothing of problem {k + 1}"
            raise UsageError(what, "name a step of each with --blank, or give --level 2")
    return found


def _again(
    blanks: Sequence[str] | None, level: int, of: Sequence[str], solution: Solution
) -> Mapping[str, Flags]:  # fmt: skip
    """What is asked of another variant of a problem, of whose example the steps `of` are."""
    if not blanks:
        return by_level(solution, level)
    found = of_several([solution], [each for each in names(blanks) if is_here(solution, each)])[0]
    return {id: flags for id, flags in found.items() if id in of}


def sheet(one: Made, form: Form) -> Sheet:
    refuse_without_room(zip((each.solution for each in one.variants), one.asked, strict=True))
    of_each = zip(one.variants, one.asked, strict=True)
    if form.shapes and not any(asks_a_matrix(each.solution, asked) for each, asked in of_each):
        raise UsageError("--ask shapes asks nothing of single numbers, and nothing else is asked for", "leave it out")
    exercises = [
        Exercise(each.solution, each.problem.show, each.problem.kind, each.problem.title,
                 hidden(each.solution, asked), form.shapes, form.given_alone, worth,
                 wrong_figures(each.problem, each.solution) if form.format == "moodle" else None)
        for each, asked, worth in zip(one.variants, one.asked, form.marks or repeat(None), strict=False)
    ]  # fmt: skip
    lang = form.lang or one.variants[0].problem.lang or "en"
    own_seed = f"{form.seed}/{one.id}" if one.id else form.seed
    added = in_words(exercises, lang, form.concepts, own_seed) if form.concepts is not None else ()
    worded = _worth(added, form.marks[len(one.variants) :])
    return lay_sheet(exercises, Head(form.title, form.course, form.date, one.id, one.fingerprint), lang, worded)


def _worth(questions: Sequence[Question], worth: Sequence[Fraction]) -> Sequence[Question]:
    """The questions in words with their marks: the last of these is for all that are left."""
    if len(worth) > len(questions):
        plural = "s" if len(questions) > 1 else ""
        what = f"--marks has {len(worth)} numbers for {len(questions)} question{plural} in words"
        raise UsageError(what, "leave some out: the last one is for all that are left")
    if not worth:
        return questions
    return [each._replace(marks=fraction(worth[min(k, len(worth) - 1)])) for k, each in enumerate(questions)]


def page(one: Made, form: Form, *, key: bool) -> Iterator[str]:
    """The sheet, or its key, piece by piece."""
    return _pieces(sheet(one, form), form, key=key)


def _pieces(laid: Sheet, form: Form, *, key: bool) -> Iterator[str]:
    options: dict[str, Any] = {"math": form.math} if form.math else {}
    subject = laid if formats.SHEETS[form.format].takes == "sheet" else as_document(laid, key=key)
    return formats.sheet_pieces(form.format, subject, key=key, **options)


def quiz(every: Iterable[Made], form: Form) -> Iterator[str]:
    """All sheets as one quiz for Moodle, piece by piece."""
    from attncalc.formats import moodle

    return moodle.lines(sheet(one, form) for one in every)


def files(every: Iterable[Made], form: Form) -> Iterator[tuple[Listed, dict[str, str]]]:
    """The files of each sheet by name, one problem at a time: itself and what is to be filled in, with the first the
    sheet and its key; and what an index says of them."""
    ending = ENDINGS[form.format]
    for one in every:
        own = f"-{safe(one.id)}" if one.id else ""
        laid = sheet(one, form)
        page, key = f"sheet{own}.{ending}", "" if form.format == "moodle" else f"key{own}.{ending}"
        texts = {page: "".join(_pieces(laid, form, key=False))}
        if key:  # a quiz has its key in it
            texts[key] = "".join(_pieces(laid, form, key=True))
        for k, (each, asked) in enumerate(zip(one.variants, one.asked, strict=True)):
            of = f"{own}-{k + 1}" if len(one.variants) > 1 else own
            row = Listed(one.id, each.fingerprint, page, key, f"problem{of}.yaml", f"answers{of}.yaml")
            head = f"variant: {each.fingerprint} {safe(one.id)}\n" if each.fingerprint else ""
            texts[row.problem] = head + each.text
            texts[row.answers] = head + blanks_of(each.solution, asked, laid.lang, shapes=form.shapes)
            yield row, texts
            texts = {}


def explained(refused: Mapping[str, int]) -> str:
    """How many draws were refused, and why, the most frequent reason first."""
    say = Wording("en")
    lines = [f"attncalc: {sum(refused.values())} draws were refused"]
    for reason, count in sorted(refused.items(), key=lambda each: (-each[1], each[0])):
        kind, _, method = reason.partition(":")
        as_if = ": " + say.text(f"methods.{method}") if method else ""
        lines.append(f"{count:7} {WHY[kind]}{as_if}")
    return "\n".join(lines)
