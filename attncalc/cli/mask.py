"""attncalc mask: a mask as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attncalc.cli.options import Decimals, Format, Lang, Maths, Output, Rounding

if TYPE_CHECKING:
    from attncalc.problem.mask_table import MaskTable


def mask(
    causal: Annotated[bool, typer.Option("--causal", help="No position sees a later one.")] = False,
    size: Annotated[
        int | None, typer.Option("--size", metavar="N", min=1, max=1000, help="How many positions; 4 if nothing says.")
    ] = None,
    tokens: Annotated[str | None, typer.Option("--tokens", metavar="A,B,C", help="The positions' labels.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", metavar="FILE", help="Scores, ready for softmax: weights before and after the mask."),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option("--weights", metavar="FILE", help="Weights: what the mask leaves of them.")
    ] = None,
    format: Format = None,
    math: Maths = "github",
    lang: Lang = None,
    decimals: Decimals = None,
    rounding: Rounding = None,
    output: Output = None,
) -> None:
    """Print a mask as a table: who may look at whom, and what is added to the scores.

    FILE holds rows of figures: a row a line, a YAML list of rows, or a problem file with S or A.
    """
    from attncalc import mechanisms
    from attncalc.cli.output import render, said, write
    from attncalc.errors import UsageError
    from attncalc.problem import Problem, Show

    if not causal:
        raise UsageError("no mask is asked for", "add --causal")
    show = Show().changed(**said(decimals=decimals, rounding=rounding))
    problem = Problem("mask", None, None, "mask", show, _table(size, tokens, scores, weights))
    write(render(problem, mechanisms.solve(problem), format=format, lang=lang, math=math), output)


def _table(size: int | None, tokens: str | None, scores: Path | None, weights: Path | None) -> MaskTable:
    """What the options ask about; they must agree on the number of positions."""
    from attncalc.errors import UsageError
    from attncalc.problem import matrix_from_bytes
    from attncalc.problem.mask_table import MaskTable

    if scores and weights:
        raise UsageError("--scores and --weights together", "give one of them")
    matrix, labels = None, None
    name, path = ("--scores", scores) if scores else ("--weights", weights)
    if path:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path} can't be read: {error.strerror}", f"check {name}") from error
        matrix, labels = matrix_from_bytes(data, str(path), "S" if scores else "A")
        rows, columns = matrix.values.shape
        if rows != columns:
            raise UsageError(f"{path} is {rows}×{columns}", "a causal mask needs as many rows as columns")
    names = tuple(token.strip() for token in tokens.split(",")) if tokens else labels
    counts = {
        "--size": size,
        "--tokens": len(names) if names else None,
        name: len(matrix.values) if matrix else None,
    }
    said = {option: count for option, count in counts.items() if count is not None}
    if len(set(said.values())) > 1:
        listed = ", ".join(f"{option} {count}" for option, count in said.items())
        raise UsageError(f"the numbers of positions differ: {listed}", "make them agree")
    n = next(iter(said.values()), 4)
    return MaskTable(n, names, **{("S" if scores else "A"): matrix})
