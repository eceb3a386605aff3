"""attncalc new: the shipped problems, to look at or to start from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from attncalc.cli.options import Output, place


def _names() -> list[str]:
    from attncalc.shipped import problems

    return list(problems())


def new(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The problem to print.", autocompletion=_names)
    ] = None,
    all: Annotated[
        Path | None,
        typer.Option("--all", metavar="FOLDER", help="Put every shipped problem into this folder.",
                     parser=place("--all", "a folder")),
    ] = None,
    output: Output = None,
) -> None:  # fmt: skip
    """List the shipped problems; with NAME print that one, to start your own from.

    attncalc new abc > mine.yaml
    """
    from attncalc.cli import note
    from attncalc.cli.output import write
    from attncalc.errors import UsageError
    from attncalc.shipped import data_of, first_line, problems

    shipped = problems()
    if all is not None:
        if name is not None or output is not None:
            raise UsageError("--all with NAME or --output", "give --all FOLDER alone")
        _copy([file for problem in shipped.values() for file in (problem, *data_of(problem))], all)
        return
    if name is None:
        widest = max(map(len, shipped), default=0)
        write((f"{each:<{widest}}  {first_line(path)}\n" for each, path in shipped.items()), output)
        return
    if name not in shipped:
        from difflib import get_close_matches

        close = get_close_matches(name, shipped, 1)
        raise UsageError(
            f"no problem is called {name!r}", f"did you mean {close[0]}?" if close else "attncalc new lists them"
        )
    data = data_of(shipped[name])
    to_file = output is not None and (output.is_file() or not output.exists())
    if output is not None and to_file:
        _copy(data, output.parent)
    write([shipped[name].read_text(encoding="utf-8")], output)
    if data and not to_file:
        note(f"attncalc: {name} reads {data[0].name}; --output FILE brings that too")


def _copy(files: Iterable[Path], folder: Path) -> None:
    """The files into a folder, which is made: all or none, as where one stands there and differs."""
    from attncalc.cli.folder import put
    from attncalc.errors import UsageError

    wanted = {file.name: file.read_bytes() for file in files}
    try:
        for path in map(folder.joinpath, wanted):
            if os.path.lexists(path) and path.read_bytes() != wanted[path.name]:
                raise UsageError(f"{path} is there already, and differs", "choose another folder")
        missing = {name: data for name, data in wanted.items() if not (folder / name).exists()}
        put(folder, missing) if missing else folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} can't be used: {error.strerror}", "choose another folder") from error
