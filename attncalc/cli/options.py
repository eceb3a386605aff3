"""The options that several commands share: each is declared once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer


def place(option: str, what: str) -> Callable[[str], Path]:
    """Reads the path that an option names; an empty one, as of a variable that is not set, would be this folder."""

    def read(text: str) -> Path:
        from attncalc.errors import UsageError

        if not text:
            raise UsageError(f"{option} is an empty path", f"name {what}")
        return Path(text)

    return read


def file_place(option: str) -> Callable[[str], Path]:
    """The same of a file, which may not be called as a folder is: Path leaves the end of `page/` out."""
    read = place(option, "a file")

    def read_file(text: str) -> Path:
        from attncalc.errors import UsageError

        path = read(text)
        if os.path.split(text)[1] in ("", "."):
            raise UsageError(f"{option} {text} is the name of a folder", "add that of a file in it")
        return path

    return read_file


def _formats() -> list[str]:
    from attncalc.formats import FORMATS

    return list(FORMATS)


def _languages() -> list[str]:
    from attncalc.wording import languages

    return languages()


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="terminal, text, markdown, latex, html or json.",
        show_default="terminal on a terminal, else text",
        autocompletion=_formats,
    ),
]
Maths = Annotated[
    Literal["github", "dollars"] | None,
    typer.Option("--math", metavar="STYLE", help="How Markdown writes formulas: github (the default) or dollars."),
]
Fragment = Annotated[
    bool | None, typer.Option("--fragment", help="Of LaTeX the body alone, to be put into a document of your own.")
]
Lang = Annotated[
    str | None,
    typer.Option("--lang", metavar="LANG", help="The page's language: en or zh.", autocompletion=_languages),
]
Decimals = Annotated[
    int | None, typer.Option("--decimals", metavar="N", min=0, max=12, help="Decimals of every figure, 0 to 12.")
]
Rounding = Annotated[
    Literal["exact", "carried"] | None,
    typer.Option(
        "--rounding", metavar="RULE", help="exact (only what is shown is rounded) or carried (rounded at each step)."
    ),
]
Detail = Annotated[
    Literal["full", "matrices", "result"] | None,
    typer.Option("--detail", metavar="HOW", help="full (every working), matrices, or result."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to standard output.",
                 parser=file_place("--output")),
]  # fmt: skip
Pager = Annotated[
    bool,
    typer.Option("--pager", help="On a terminal, show what is longer than the screen in $PAGER, or less -R."),
]
