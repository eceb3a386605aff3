"""The commands, by name."""

from __future__ import annotations

from typing import Annotated

import typer

from attncalc import __version__
from attncalc.cli import completion
from attncalc.cli.check import check
from attncalc.cli.mask import mask
from attncalc.cli.new import new
from attncalc.cli.size import size
from attncalc.cli.solve import solve

app = typer.Typer(
    help="Worked solutions of Transformer calculations, every figure on the page.",
    add_completion=False,  # its own options guess the shell; ours are told it
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(solve)
app.command()(check)
app.command()(mask)
app.command()(size)
app.command()(new)


def _version(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        typer.echo(f"attncalc {__version__}")
        raise typer.Exit


@app.callback()
def callback(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    show_completion: Annotated[
        completion.Shell | None,
        typer.Option(
            "--show-completion", metavar="SHELL", callback=completion.show, is_eager=True,
            help="Print the script by which bash, zsh or fish completes attncalc.",
        ),
    ] = None,
    install_completion: Annotated[
        completion.Shell | None,
        typer.Option(
            "--install-completion", metavar="SHELL", callback=completion.install, is_eager=True,
            help="Put that script where bash, zsh or fish reads it.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Worked solutions of Transformer calculations, every figure on the page."""
