"""attncalc check: marks written figures."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction

    import typer

    from attncalc.cli.options import Lang, Maths, Output, Pager
    from attncalc.cli.output import Screen
    from attncalc.errors import AttncalcError
    from attncalc.marking import Answers
    from attncalc.marking.papers import Paper
    from attncalc.problem import Problem
    from attncalc.solution import Solution

FORMATS = ("terminal", "text", "markdown", "html", "json", "csv")


def check(
    problem: Annotated[
        str,
        typer.Argument(metavar="PROBLEM", help="A problem file (YAML), or -; or a folder that attncalc exercise made."),
    ],
    answers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ANSWERS]...", help="Files or folders of answers (YAML, CSV or pasted rows), or -.",
                       show_default="the figures under published: in the problem"),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a file of answers to fill in, with _ for each figure.")
    ] = False,
    step: Annotated[
        list[str] | None,
        typer.Option("--step", metavar="ID", help="The step (or the end of its id) that pasted rows or CSV are of; "
                     "with --template, a step to ask for (may be repeated)."),
    ] = None,
    marks: Annotated[
        str | None,
        typer.Option("--marks", metavar="A=2,O=3",
                     help="Marks for steps, shared out over their figures; 2: A=2 is of the second problem."),
    ] = None,
    follow_through: Annotated[
        Literal["full", "half", "none"] | None,
        typer.Option("--follow-through", metavar="HOW", show_default="full",
                     help="What a figure is worth that follows from an earlier slip: full, half or none."),
    ] = None,
    decimal_comma: Annotated[
        bool, typer.Option("--decimal-comma", help="Read 0,5 as a figure; figures are apart by spaces or ;, in "
                                        "lists by ; or a comma and a space.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="NAME", help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
                     show_default="terminal on a terminal, else text", autocompletion=lambda: list(FORMATS)),
    ] = None,
    math: Maths = None,
    lang: Lang = None,
    output: Output = None,
    pager: Pager = False,
) -> int:  # fmt: skip
    """Mark written figures: which are right, which follow from an earlier slip, and where the first slip is."""
    from attncalc.cli.marks import by_id, worth_of
    from attncalc.cli.output import language, screen, write
    from attncalc.cli.progress import Progress
    from attncalc.problem.source import one_line

    _refuse(template, answers, marks, follow_through)
    on = screen(output)
    asked = _format(format, on.terminal, math)
    of_folder = bool(problem) and Path(problem).is_dir()
    if template and not of_folder:
        write([_template(problem, step or [], lang, on)], output)
        return 0
    with Progress() as tell:
        if of_folder:
            _refuse_with_folder(template, answers, step)
            papers = _folder(Path(problem), decimal_comma)
        else:
            papers = _papers(problem, answers or [], step or [], decimal_comma)
        readable = [each for each in papers if isinstance(each, _Read)]
        if not readable:  # nobody is marked
            raise next(each.error for each in papers if isinstance(each, _Unread))
        numbers = _numbers(papers)
        worth = worth_of(marks, max(numbers))
        marked = []
        for number, each in zip(numbers, papers, strict=True):
            tell(f"marking {one_line(each.name)}")
            own = partial(by_id, worth, number=number, several=max(numbers) > 1)
            paper = _marked(each, own, follow_through or "full", printed=not (answers or of_folder))
            marked.append(paper._replace(number=number))
        of_class = of_folder or len(answers or []) > 1 or any(Path(each).is_dir() for each in answers or [])
        page = _page(readable, marked, asked, language(lang, readable[0].problem, on), of_class, on, math)
        write(page, output, on if pager else None, ready=tell.end)
    return 0 if all(paper.is_right for paper in marked) else 1


class _Read(NamedTuple):
    """What somebody handed in, and the problem that it answers."""

    name: str
    problem: Problem
    solution: Solution
    answers: Answers


class _Unread(NamedTuple):
    """Somebody whose paper can't be read: in a class the rest are marked."""

    name: str
    error: AttncalcError


def _handed_in(name: str, read: Callable[[], _Read]) -> _Read | _Unread:
    from attncalc.errors import AttncalcError

    try:
        return read()._replace(name=name)
    except AttncalcError as error:
        return _Unread(name, error)


def _marked(
    handed_in: _Read | _Unread, worth: Callable[[Solution], dict[str, Fraction]], follow_through: str, *, printed: bool
) -> Paper:
    from attncalc.marking import mark_answers
    from attncalc.marking.marks import scores
    from attncalc.marking.papers import Paper

    if isinstance(handed_in, _Unread):
        return Paper(handed_in.name, None, error=str(handed_in.error))
    name, problem, solution, answers = handed_in
    marking = mark_answers(problem, solution, answers._replace(name=name), printed=printed)
    return Paper(name, marking, problem.show, scores(marking, worth(solution), follow_through))


def _refuse_with_folder(template: bool, answers: list[str] | None, step: list[str] | None) -> None:
    from attncalc.errors import UsageError

    if template or answers or step:
        what = "a folder of problems has the answers to each beside it"
        raise UsageError(what, "leave out --template, --step and ANSWERS, or name one problem")


def _template(problem: str, steps: list[str], lang: str | None, on: Screen) -> str:
    from attncalc import mechanisms
    from attncalc import problem as problems
    from attncalc.cli.output import language
    from attncalc.marking.template import template

    read = problems.load(problem)
    return template(mechanisms.solve(read), only=steps, lang=language(lang, read, on))


def _folder(folder: Path, decimal_comma: bool) -> list[_Read | _Unread]:
    """The papers of a class of which each has a problem of its own."""
    from attncalc.marking.students import PaperFiles, papers_of

    def read(files: PaperFiles) -> _Read:
        _, problem, answers = files.checked()
        return _read(*_solved(str(problem)), answers, None, decimal_comma)

    return [_handed_in(each.student, partial(read, each)) for each in papers_of(folder)]


def _refuse(template: bool, answers: list[str] | None, marks: str | None, follow_through: str | None) -> None:
    """Refuse options that say nothing together."""
    from attncalc.errors import UsageError

    if template and answers:
        raise UsageError("--template makes a file of answers, and marks none", "leave out one of them")
    if template and marks is not None:
        raise UsageError("--template makes a file of answers, and --marks gives marks for one", "leave out one of them")
    if follow_through and marks is None:
        raise UsageError("--follow-through says what marks are given, and there are none", "add --marks A=2")


def _format(asked: str | None, terminal: bool, math: str | None) -> str:
    from attncalc.errors import UsageError

    name = ("terminal" if terminal else "text") if asked is None else asked
    if name not in FORMATS:
        raise UsageError(f"check has no format {name!r}", f"choose one of {', '.join(FORMATS)}")
    if math and name != "markdown":
        raise UsageError(f"--math is an option of markdown, not of {name}", "add --format markdown")
    return name


def _papers(name: str, paths: list[str], steps: list[str], decimal_comma: bool) -> list[_Read | _Unread]:
    """The papers of each student on one problem, or the figures that it says were published. All are read before one is
    marked."""
    from attncalc.errors import UsageError
    from attncalc.marking.answers import published
    from attncalc.marking.students import Answered, class_of

    if len(steps) > 1:
        raise UsageError("--step names the one step that rows are of", "give one, or a file of YAML for several")
    if [name, *paths].count("-") > 1:
        raise UsageError("standard input can be read once", "give a file for the rest")
    problem, solution = _solved(name)
    if not paths:
        answers = published(problem, solution)
        return [_Read(answers.name, problem, solution, answers)]

    def read(student: Answered) -> _Read:
        return _read(problem, solution, student.file, steps[0] if steps else None, decimal_comma)

    return [_handed_in(each.student, partial(read, each)) for each in class_of(paths)]


def _solved(name: str) -> tuple[Problem, Solution]:
    from attncalc import mechanisms
    from attncalc import problem as problems

    problem = problems.load(name)
    return problem, mechanisms.solve(problem)


def _read(problem: Problem, solution: Solution, file: Path, step: str | None, decimal_comma: bool) -> _Read:
    from attncalc import problem as problems
    from attncalc.marking.answers import read_answers
    from attncalc.problem.source import called

    answers = read_answers(
        problems.read(str(file)), called(str(file)), solution, step=step,
        decimal_comma=decimal_comma, count_from=problem.show.count_from, variant=problem.variant,
    )  # fmt: skip
    return _Read(answers.name, problem, solution, answers)


def _numbers(papers: Sequence[_Read | _Unread]) -> list[int]:
    """The how manieth problem of a student's each paper is of, from 1."""
    counts: Counter[str] = Counter()
    numbers = []
    for paper in papers:
        counts[paper.name] += 1
        numbers.append(counts[paper.name])
    return numbers


def _page(
    readable: Sequence[_Read], papers: Sequence[Paper], format: str, lang: str, of_class: bool, on: Screen,
    math: str | None,
) -> Iterable[str]:  # fmt: skip
    from attncalc import formats
    from attncalc.layout.report import Report, lay_out_report

    first, problem = papers[0], readable[0].problem
    if format in ("json", "csv"):
        from attncalc.formats import report as for_scripts

        if format == "json":
            return for_scripts.to_json(papers, partial(Report, lang=lang), of_class=of_class)
        return [for_scripts.to_csv(papers, of_class=of_class, count_from=problem.show.count_from)]
    own = [each.problem for each in readable if each.name == readable[0].name]
    title, kind = " · ".join(each.title for each in own if each.title) or None, problem.kind
    if of_class:
        from attncalc.layout.class_report import lay_out_class

        document = lay_out_class(papers, lang, title=title, kind=kind)
    elif first.marking:
        document = lay_out_report(first.marking, first.show, lang, title=title, kind=kind, scores=first.scores)
    options = {"math": math} if math else {}
    return formats.pieces(format, document, columns=on.columns, terminal=on.terminal, **options)
