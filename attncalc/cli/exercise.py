"""attncalc exercise: sheets with blanks, and their keys."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from attncalc.cli.options import Lang, Maths, Output

if TYPE_CHECKING:
    from attncalc.exercises.blanks import Asked
    from attncalc.solution import Solution

FORMATS = ("markdown", "latex", "html", "moodle", "text", "json")


def exercise(
    problems_named: Annotated[
        list[str],
        typer.Argument(metavar="PROBLEM...", help="Problem files (YAML), a question each; - is standard input."),
    ],
    blank: Annotated[
        list[str] | None,
        typer.Option("--blank", metavar="A,O",
                     help="What is left to fill in: steps, rows (exp[1,*]) or figures (A[2,1])."),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option("--level", metavar="N", min=1, max=3, show_default="2",
                     help="1: the weights and the result; 2: every step; 3: every step, with a first row worked."),
    ] = None,
    ask: Annotated[
        Literal["shapes"] | None,
        typer.Option("--ask", metavar="shapes", help="Ask for the shape of each matrix as well."),
    ] = None,
    key: Annotated[bool, typer.Option("--key", help="Print the key instead: the worked solutions.")] = False,
    marks: Annotated[
        str | None, typer.Option("--marks", metavar="4,6", help="What each question is worth.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--sheet-title", metavar="TEXT", help="The heading of the sheet.")
    ] = None,
    course: Annotated[str | None, typer.Option("--course", metavar="TEXT", help="A line above the questions.")] = None,
    date: Annotated[str | None, typer.Option("--date", metavar="TEXT", help="Another, as it is written.")] = None,
    format: Annotated[
        str, typer.Option("--format", "-f", metavar="NAME", help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
                          autocompletion=lambda: list(FORMATS)),
    ] = "markdown",
    math: Maths = None,
    lang: Lang = None,
    output: Output = None,
) -> None:  # fmt: skip
    """Make an exercise sheet of problems, with blanks to fill in, and its key."""
    from attncalc import formats, mechanisms
    from attncalc import problem as problems
    from attncalc.cli.output import PAPER, language, said, write
    from attncalc.errors import UsageError
    from attncalc.exercises.blanks import hidden
    from attncalc.layout.exercise import Exercise, Head, as_document, lay_sheet

    if format not in FORMATS:
        raise UsageError(f"exercise has no format {format!r}", f"choose one of {', '.join(FORMATS)}")
    if key and format == "moodle":
        raise UsageError("a Moodle quiz has its key in it, as feedback", "leave --key out")
    if blank and level is not None:
        raise UsageError("--blank and --level both say what is left to fill in", "give one of them")
    if problems_named.count("-") > 1:
        raise UsageError("standard input can be read once", "give a file for the rest")
    read = [problems.load(each) for each in problems_named]
    worth = _worth(marks, len(read))
    questions = []
    for each, points in zip(read, worth, strict=True):
        solution = mechanisms.solve(each)
        asked = hidden(solution, _asked(solution, blank, level))
        questions.append(Exercise(
            solution, each.show, each.kind, each.title, asked, shapes=ask == "shapes", given_alone=level == 1,
            worth=points,
        ))  # fmt: skip
    sheet = lay_sheet(questions, Head(title, course, date), language(lang, read[0], PAPER))
    subject = sheet if formats.SHEETS[format].takes == "sheet" else as_document(sheet, key=key)
    write(formats.render_sheet(format, subject, key=key, **said(math=math)), output)


def _asked(solution: Solution, blank: list[str] | None, level: int | None) -> Asked:
    from attncalc.exercises.blanks import by_level, by_names, names

    return by_names(solution, names(blank)) if blank else by_level(solution, level or 2)


def _worth(marks: str | None, count: int) -> list[Fraction | None]:
    """4,6: a number for each question."""
    from attncalc.errors import UsageError
    from attncalc.marking.written import written

    if marks is None:
        return [None] * count
    figures = [written(part) for part in marks.split(",")]
    if len(figures) != count or any(each.decimals is None or not each.value or each.value < 0 for each in figures):
        what = f"--marks {marks!r} is not a number above 0 for each of {count} questions"
        raise UsageError(what, "write them with commas: 4,6")
    return [Fraction(str(each.value)) for each in figures]
