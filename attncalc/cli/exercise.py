"""attncalc exercise: sheets with blanks, and their keys."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from attncalc.cli.options import Lang, Maths, Output, place

if TYPE_CHECKING:
    from fractions import Fraction

FORMATS = ("markdown", "latex", "html", "moodle", "text", "json")


def exercise(
    problems: Annotated[
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
                     help="1: the weights and the result; 2: every step; 3: every step, with one row worked."),
    ] = None,
    ask: Annotated[
        Literal["shapes"] | None,
        typer.Option("--ask", metavar="shapes", help="Ask for the shape of each matrix as well."),
    ] = None,
    concepts: Annotated[
        str | None,
        typer.Option("--concepts", metavar="WHICH",
                     help="Add questions in words: all, so many of them, or by name (scale,heads)."),
    ] = None,
    key: Annotated[bool, typer.Option("--key", help="Print the key instead: the worked solutions.")] = False,
    marks: Annotated[
        str | None,
        typer.Option("--marks", metavar="4,6",
                     help="What each question is worth; one number more: each question in words."),
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
    variants: Annotated[
        int | None,
        typer.Option("--variants", metavar="N", min=1, max=100_000, help="Draw so many variants, called 1, 2, .."),
    ] = None,
    students: Annotated[
        str | None,
        typer.Option("--students", metavar="FILE", help="Draw one for each student: a file with an id a line, or CSV."),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="The column of a CSV file that holds the ids.")
    ] = None,
    seed: Annotated[
        str, typer.Option("--seed", metavar="TEXT", help="What variants are drawn from: the same seed, the same draws.")
    ] = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Say on standard error how many draws were refused, and why.")
    ] = False,
    output_dir: Annotated[
        Path | None,
        typer.Option("--output-dir", metavar="FOLDER", help="Write sheets, keys, problems, answers to fill in there.",
                     parser=place("--output-dir", "a folder")),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    output: Output = None,
) -> None:  # fmt: skip
    """Make exercise sheets of problems, with blanks to fill in, and their keys: one for all, or drawn for each."""
    from attncalc.cli import note, sheets
    from attncalc.cli.folder import fill
    from attncalc.cli.output import write
    from attncalc.cli.progress import Progress
    from attncalc.errors import UsageError

    if format not in FORMATS:
        raise UsageError(f"exercise has no format {format!r}", f"choose one of {', '.join(FORMATS)}")
    if key and format == "moodle":
        raise UsageError("a Moodle quiz has its key in it, as feedback", "leave --key out")
    if math and format != "markdown":
        raise UsageError(f"--math is an option of markdown, not of {format}", "add --format markdown")
    if blank and level is not None:
        raise UsageError("--blank and --level both say what is left to fill in", "give one of them")
    if output and output_dir:
        raise UsageError("--output and --output-dir both say where to write", "give one of them")
    ids = _ids(variants, students, column)
    if ids and len(ids) > 1 and output_dir is None and format != "moodle":
        raise UsageError(f"{len(ids)} sheets go into a folder", "name it: --output-dir sheets")
    for clashes, what, hint in (
        (seed and not ids and concepts is None, "--seed is what variants are drawn from", "add --variants 1"),
        (explain and not ids, "--explain counts the draws of variants", "add --variants 1"),
        (force and not output_dir, "--force is for the files of --output-dir", "leave it out"),
        (key and output_dir, "--output-dir gets the keys as well", "leave --key out"),
    ):
        if clashes:
            raise UsageError(what, hint)
    worth = _worth(marks, len(problems), worded=concepts is not None)
    form = sheets.Form(format, math, lang, ask == "shapes", level == 1, worth, title, course, date, concepts, seed)
    refused: Counter[str] = Counter()
    try:
        with Progress() as tell:
            made = sheets.made(problems, ids, seed, blanks=blank, level=level or 2, refused=refused)
            if output_dir:
                fill(output_dir, sheets.files(made, form), force=force, tell=tell)
            elif format == "moodle":
                write(sheets.quiz(made, form), output, ready=tell.end)
            else:
                write(sheets.page(next(iter(made)), form, key=key), output, ready=tell.end)
    except UsageError:
        if explain and refused:  # too few draws will do
            note(sheets.explained(refused))
        raise
    if explain:
        note(sheets.explained(refused))


def _ids(variants: int | None, students: str | None, column: str | None) -> list[str] | None:
    """Who the variants are for; None: the problems are as they are."""
    from attncalc import problem
    from attncalc.errors import UsageError
    from attncalc.exercises.students import ids_of

    if variants is not None and students is not None:
        raise UsageError("--variants and --students both say how many", "give one of them")
    if column is not None and students is None:
        raise UsageError("--column is that of a CSV file of students", "name it: --students class.csv")
    if students is not None:
        return ids_of(problem.read(students), students, column)
    return None if variants is None else [str(k + 1) for k in range(variants)]


def _worth(marks: str | None, count: int, *, worded: bool) -> list[Fraction]:
    """4,6: a number for each problem; those after them are for the questions in words."""
    from attncalc.errors import UsageError
    from attncalc.marking.marks import read_marks
    from attncalc.problem.source import counted

    if marks is None:
        return []
    parts = marks.split(",")
    worth = [each for each in map(read_marks, parts) if each is not None]
    if len(worth) < len(parts) or len(worth) < count or (len(worth) > count and not worded):
        there = f"there are {count} problems" if count > 1 else "there is one problem"
        given = counted(len(worth), "number") if len(worth) == len(parts) else "not a number above 0 for each"
        hint = "write one number for each, with commas: 4,6" if count > 1 or worded else "write one number, like 4"
        more = ", and after them those of the questions in words" if worded else ""
        raise UsageError(f"{there}, but --marks {marks!r} is {given}", f"{hint}{more}")
    return worth
