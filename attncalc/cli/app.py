"""The commands, by name."""

from __future__ import annotations

from typing import Annotated

import typer

from attncalc import __version__
from attncalc.cli.mask import mask
from attncalc.cli.new import new
from attncalc.cli.solve import solve

app = typer.Typer(
    help="Worked solutions of Transformer calculations, every figure on the page.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(solve)
app.command()(mask)
app.command()(new)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"attncalc {__version__}")
        raise typer.Exit


@app.callback()
def callback(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Worked solutions of Transformer calculations, every figure on the page."""
