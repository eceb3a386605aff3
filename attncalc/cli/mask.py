"""attncalc mask: a mask as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from attncalc.cli.options import Decimals, Format, Fragment, Lang, Maths, Output, Pager, Rounding

if TYPE_CHECKING:
    from attncalc.problem import Mask
    from attncalc.problem.mask_table import MaskTable
    from attncalc.steps import Matrix

MOST = 500  # positions; a mask of more is no table


def mask(
    causal: Annotated[bool, typer.Option("--causal", help="No position sees a later one.")] = False,
    window: Annotated[
        int | None, typer.Option("--window", metavar="N", min=1, help="Sees fewer than N positions away.")
    ] = None,
    padding: Annotated[
        str | None, typer.Option("--padding", metavar="0,1,1", help="One entry a position: 1 a token, 0 padding.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="FILE", help="A matrix of 1 (may be seen) and 0.")
    ] = None,
    hide: Annotated[
        str | None, typer.Option("--hide", metavar="FILE", help="A matrix of 1 (is hidden) and 0.")
    ] = None,
    add: Annotated[str | None, typer.Option("--add", metavar="FILE", help="A matrix added to the scores.")] = None,
    size: Annotated[
        int | None, typer.Option("--size", metavar="N", min=1, max=MOST, help="How many positions; 4 if nothing says.")
    ] = None,
    tokens: Annotated[str | None, typer.Option("--tokens", metavar="A,B,C", help="The positions' labels.")] = None,
    scores: Annotated[
        str | None,
        typer.Option("--scores", metavar="FILE", help="Scores, ready for softmax: weights before and after the mask."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", metavar="FILE", help="Weights: what the mask leaves of them.")
    ] = None,
    format: Format = None,
    math: Maths = None,
    fragment: Fragment = None,
    lang: Lang = None,
    decimals: Decimals = None,
    rounding: Rounding = None,
    output: Output = None,
    pager: Pager = False,
) -> None:
    """Print a mask as a table: who may look at whom, its parts, and what is added to the scores.

    FILE (or - for standard input) holds rows of figures: a row a line, a YAML list of rows, or a mapping with S, A,
    keep, hide or add.
    """
    from attncalc import mechanisms
    from attncalc.cli.output import format_for, language, pieces, said, screen, write
    from attncalc.cli.progress import Progress
    from attncalc.errors import UsageError
    from attncalc.problem import Mask, Problem, Show

    on = screen(output)
    of_format = said(math=math, fragment=fragment)
    format = format_for(format, on, of_format)
    if scores is not None and weights is not None:
        raise UsageError("--scores and --weights together", "give one of them")
    files = {"keep": keep, "hide": hide, "add": add}
    asked = _mask(causal, window, padding, files)
    if not asked:
        raise UsageError("no mask is asked for", "add --causal, --window, --padding, --keep, --hide or --add")
    assert isinstance(asked, Mask)
    show = Show().changed(**said(decimals=decimals, rounding=rounding))
    table = _table(asked, size, tokens, {"--scores": scores, "--weights": weights})
    problem = Problem("mask", None, None, "mask", show, table)
    lang = language(lang, problem, on)
    with Progress() as tell:
        solution = mechanisms.solve(problem, lambda id: tell(f"working {id}"))
        page = pieces(problem, solution, format=format, lang=lang, on=on, tell=tell, **of_format)
        write(page, output, on if pager else None, ready=tell.end)


def _mask(causal: bool, window: int | None, padding: str | None, files: dict[str, str | None]) -> Mask:
    from attncalc.problem import Mask, read
    from attncalc.problem.standalone import mask_matrix_from_bytes, padding_vector

    found = {key: mask_matrix_from_bytes(read(path), path, key) for key, path in files.items() if path is not None}
    matrices = {key: (matrix,) for key, (matrix, _) in found.items()}
    return Mask(
        causal=causal,
        window=(window - 1, window - 1) if window else None,
        padding=None if padding is None else padding_vector(padding.split(",")),
        keep=matrices.get("keep", ()),
        hide=matrices.get("hide", ()),
        add=matrices.get("add", ()),
        read_as_hidden=tuple(figure for _, figures in found.values() for figure in figures),
    )


def _table(mask: Mask, size: int | None, tokens: str | None, files: dict[str, str | None]) -> MaskTable:
    """What the options ask about; they must agree on the number of positions."""
    import numpy as np

    from attncalc.errors import UsageError
    from attncalc.problem import read
    from attncalc.problem.mask_table import MaskTable
    from attncalc.problem.standalone import matrix_from_bytes

    figures: dict[str, Matrix] = {}
    names = None if tokens is None else tuple(token.strip() for token in tokens.split(","))
    for option, path in files.items():
        if path is not None:
            key = "S" if option == "--scores" else "A"
            figures[option], labels = matrix_from_bytes(read(path), path, key)
            names = names or labels
    square = figures | {f"--{part}": matrix for part in ("keep", "hide", "add") for matrix in getattr(mask, part)}
    for option, matrix in square.items():
        rows, columns = matrix.values.shape
        if rows != columns:
            raise UsageError(f"{option}: {rows} × {columns}", "give as many rows as columns: a position a row")
    if "--weights" in figures and any(matrix.values[np.isfinite(matrix.values)].any() for matrix in mask.add):
        raise UsageError("--add: figures can be added to scores, not to weights", "give --scores, or 0 and -inf")
    counts = {"--size": size, "--tokens": None if names is None else len(names)}
    counts |= {option: len(matrix.values) for option, matrix in square.items()}
    if mask.padding is not None:
        counts["--padding"] = mask.padding.values.size
    said = {option: count for option, count in counts.items() if count is not None}
    if len(set(said.values())) > 1:
        listed = ", ".join(f"{option} {count}" for option, count in said.items())
        raise UsageError(f"the numbers of positions differ: {listed}", "make them agree")
    n = next(iter(said.values()), 4)
    if n > MOST:
        raise UsageError(f"{n} positions are too many for a table", f"give at most {MOST}")
    return MaskTable(n, mask, names, S=figures.get("--scores"), A=figures.get("--weights"))
