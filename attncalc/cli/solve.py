"""attncalc solve: the worked solution of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

    from attncalc.cli.options import Decimals, Detail, Format, Fragment, Lang, Maths, Output, Pager, Rounding
    from attncalc.solution import Solution
    from attncalc.steps import Step


def solve(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="A problem file (YAML), or - for standard input.")],
    format: Format = None,
    math: Maths = None,
    fragment: Fragment = None,
    lang: Lang = None,
    decimals: Decimals = None,
    rounding: Rounding = None,
    detail: Detail = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            "--step", metavar="ID", help="Show only this step (A), or those of a part (layer1); may be repeated."
        ),
    ] = None,
    output: Output = None,
    pager: Pager = False,
) -> None:
    """Print the worked solution of a problem: every matrix, exponential, row sum and weighted sum."""
    from attncalc import mechanisms
    from attncalc import problem as problems
    from attncalc.cli.output import format_for, language, pieces, said, screen, write
    from attncalc.cli.progress import Progress

    on = screen(output)
    of_format = said(math=math, fragment=fragment)
    format = format_for(format, on, of_format)
    read = problems.load(problem).with_show(**said(decimals=decimals, rounding=rounding, detail=detail))
    lang = language(lang, read, on)
    with Progress() as tell:
        solution = mechanisms.solve(read, lambda id: tell(f"working {id}"))
        only = [each for id in step or () for each in _steps(solution, id)]
        page = pieces(read, solution, format=format, lang=lang, only=only, on=on, tell=tell, **of_format)
        write(page, output, on if pager else None, ready=tell.end)


def _steps(solution: Solution, id: str) -> list[Step]:
    """The step of this id, or `result`; where there is none, the steps whose ids end with it: A is head1.A, head2.A;
    where there is none of these either, the steps of the part that is called so: layer1 is layer1.norm1.mean, .."""
    found = solution.called(id) or [step for full, step in solution.steps.items() if f".{id}." in f".{full}"]
    if found and id:
        return found
    from difflib import get_close_matches

    from attncalc.errors import UsageError
    from attncalc.marking.naming import of_symbol
    from attncalc.problem.source import MOST_IDS, some_of

    known = list(solution.steps)
    close = get_close_matches(id, [*known, *(full.rpartition(".")[2] for full in known)], 1)
    hint = f"did you mean {close[0]}? " if close else ""
    hint = of_symbol(solution, id) or f"{hint}it has {some_of(known, MOST_IDS)}"
    raise UsageError(f"no step {id!r} in this solution", hint)
