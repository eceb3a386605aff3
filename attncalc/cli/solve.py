"""attncalc solve: the worked solution of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from attncalc.cli.options import Decimals, Detail, Format, Fragment, Lang, Maths, Output, Pager, Rounding

if TYPE_CHECKING:
    from attncalc.solution import Solution
    from attncalc.steps import Step


def solve(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="A problem file (YAML), or - for standard input.")],
    format: Format = None,
    math: Maths = "github",
    fragment: Fragment = False,
    lang: Lang = None,
    decimals: Decimals = None,
    rounding: Rounding = None,
    detail: Detail = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", metavar="ID", help="Show only this step (S, A, O); may be repeated.")
    ] = None,
    output: Output = None,
    pager: Pager = False,
) -> None:
    """Print the worked solution of a problem: every matrix, exponential, row sum and weighted sum."""
    from attncalc import mechanisms
    from attncalc import problem as problems
    from attncalc.cli.output import language, render, said, screen, write

    read = problems.load(problem).with_show(**said(decimals=decimals, rounding=rounding, detail=detail))
    solution = mechanisms.solve(read)
    only = [_step(solution, id) for id in step or ()]
    on = screen(output)
    lang = language(lang, read, on)
    page = render(read, solution, format=format, lang=lang, math=math, fragment=fragment, only=only, on=on)
    write(page, output, on if pager else None)


def _step(solution: Solution, id: str) -> Step:
    """The step of this id, or `result`."""
    if id == "result":
        return solution.result
    if id in solution.steps:
        return solution.steps[id]
    from attncalc.errors import UsageError

    raise UsageError(f"no step {id!r} in this solution", f"it has {', '.join(solution.steps)}")


