"""Completion in the shell, by typer; a user asks for it once."""

from __future__ import annotations

import os
from typing import Literal

import typer

from attncalc.errors import UsageError

Shell = Literal["bash", "zsh", "fish"]
_ABOUT = {"prog_name": "attncalc", "complete_var": "_ATTNCALC_COMPLETE"}


def prepare() -> bool:
    """Where a shell asks for completions, and not for a page, typer is made to answer; whether it is so."""
    asked = _ABOUT["complete_var"] in os.environ
    if asked:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    return asked


def script(shell: Shell) -> str:
    """What defines the completion in a shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    text = f"{get_completion_script(shell=shell, **_ABOUT)}\n"
    if shell == "zsh":  # which takes a file of its fpath, when first asked to complete, for the function itself
        text += '[[ $zsh_eval_context[-1] != loadautofunc ]] || _attncalc_completion "$@"\n'
    return text


def show(context: typer.Context, shell: Shell | None) -> None:
    if shell and not context.resilient_parsing:  # not where the line that is being completed says so
        typer.echo(script(shell), nl=False)
        raise typer.Exit


def install(context: typer.Context, shell: Shell | None) -> None:
    if shell and not context.resilient_parsing:
        from typer.completion import install  # type: ignore[attr-defined]

        try:
            _, path = install(shell=shell, **_ABOUT)
            path.write_text(script(shell), encoding="utf-8")
        except (OSError, RuntimeError, UnicodeError) as error:  # RuntimeError: there is no home
            what = f"completion can't be installed: {getattr(error, 'strerror', None) or error}"
            raise UsageError(what, f"save what --show-completion {shell} prints where {shell} reads it") from error
        typer.echo(f"{path} completes attncalc in every new {shell}")
        raise typer.Exit
