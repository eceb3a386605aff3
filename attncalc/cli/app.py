"""The commands, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, get_type_hints

import typer

from attncalc import __version__
from attncalc.cli import COMMANDS, completion, options


def app(arguments: Sequence[str] | None = None) -> typer.Typer:
    """All commands; for arguments, the command that they call, or the names of all."""
    made = typer.Typer(
        help="Worked solutions of Transformer calculations, every figure on the page.",
        add_completion=False,  # its own options guess the shell; ours are told it
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    made.callback()(callback)
    first = next((each for each in arguments or () if not each.startswith("-")), None)
    called = [name for name in COMMANDS if name == first]
    for name in called or COMMANDS:
        function: Callable[..., object] = getattr(import_module(f"attncalc.cli.{name}"), name)
        made.command(name, help=function.__doc__)(_declared(function) if called or arguments is None else _by_name)
    return made


def _declared(function: Callable[..., object]) -> Callable[..., object]:
    """A command with what its parameters are read, as typer wants them: a command by itself does without typer."""
    known = {**vars(options), **vars(import_module(function.__module__))}
    function.__annotations__ = get_type_hints(function, known, include_extras=True)
    return function


def _by_name() -> None:
    """A command that is listed, and not called."""


def _version(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        typer.echo(f"attncalc {__version__}")
        raise typer.Exit


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
