"""The output formats by name. Each is a module with a `render`, imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from attncalc.errors import UsageError


class Format(NamedTuple):
    """A format: its module, what it is in one line, which options it has, and what its `render` takes."""

    module: str
    about: str
    options: frozenset[str] = frozenset()
    takes: str = "document"  # or solution


FORMATS: dict[str, Format] = {
    "terminal": Format("terminal", "text folded to the screen, in colour", frozenset({"columns", "terminal"})),
    "text": Format("text", "plain text, matrices drawn in two dimensions", frozenset({"width"})),
    "markdown": Format("markdown", "Markdown with LaTeX formulas, as GitHub shows it", frozenset({"math"})),
    "latex": Format("latex", "a document for XeLaTeX, to print", frozenset({"fragment"})),
    "html": Format("html", "one HTML file with MathML, to read and to print"),
    "json": Format("json", "every figure of the solution, for scripts", frozenset({"only"}), takes="solution"),
}


def known(name: str) -> str:
    """The name, if there is a format of that name."""
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}", f"choose one of {', '.join(FORMATS)}")
    return name


def render(name: str, *subject: Any, **options: Any) -> str:
    """A document (json: a solution and its rule) in the format of that name.

    Of the options, a format gets those that it has: a command passes what it was given, whatever the format.
    """
    form = FORMATS[known(name)]
    own = {key: value for key, value in options.items() if key in form.options}
    rendered: str = import_module(f"{__name__}.{form.module}").render(*subject, **own)
    return rendered
