"""attncalc new: the shipped problems, to look at or to start from."""

from __future__ import annotations

from typing import Annotated

import typer

from attncalc.cli.options import Output


def _names(incomplete: str) -> list[str]:
    from attncalc.shipped import problems

    return [name for name in problems() if name.startswith(incomplete)]


def new(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The problem to print.", autocompletion=_names)
    ] = None,
    output: Output = None,
) -> None:
    """List the shipped problems; with NAME print that one, to start your own from.

    attncalc new abc > mine.yaml
    """
    from attncalc.cli.output import write
    from attncalc.errors import UsageError
    from attncalc.shipped import first_line, problems

    shipped = problems()
    if name is None:
        widest = max(map(len, shipped), default=0)
        write("".join(f"{each:<{widest}}  {first_line(path)}\n" for each, path in shipped.items()), output)
        return
    if name not in shipped:
        from difflib import get_close_matches

        close = get_close_matches(name, shipped, 1)
        raise UsageError(
            f"no problem is called {name!r}", f"did you mean {close[0]}?" if close else "attncalc new lists them"
        )
    write(shipped[name].read_text(encoding="utf-8"), output)
