"""attncalc size: the shapes, parameters and cache of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

    from attncalc.cli.options import Format, Fragment, Lang, Maths, Output, Pager


def size(
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM", help="A problem file (YAML) of kind: size or of a model, or - for standard input."
        ),
    ],
    format: Format = None,
    math: Maths = None,
    fragment: Fragment = None,
    lang: Lang = None,
    output: Output = None,
    pager: Pager = False,
) -> None:
    """Print how large a model is: its shapes from bottom to top, its parameters part by part, its key/value cache."""
    from attncalc import mechanisms
    from attncalc import problem as problems
    from attncalc.cli.output import format_for, language, pieces, said, screen, write
    from attncalc.cli.progress import Progress

    on = screen(output)
    of_format = said(math=math, fragment=fragment)
    format = format_for(format, on, of_format)
    read = mechanisms.sized(problems.load(problem))
    lang = language(lang, read, on)
    with Progress() as tell:
        page = pieces(read, mechanisms.solve(read), format=format, lang=lang, on=on, tell=tell, **of_format)
        write(page, output, on if pager else None, ready=tell.end)
