"""The output formats by name. Each is a module with `pieces`, imported when it is first asked for; `render` gives the
same page as one string."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from attncalc.errors import UsageError


class Format(NamedTuple):
    """A format: its module, what it is in one line, which options it has, and what it is made of."""

    module: str
    about: str
    options: frozenset[str] = frozenset()
    takes: str = "document"  # or solution, or sheet


FORMATS: dict[str, Format] = {
    "terminal": Format("terminal", "text folded to the screen, in colour", frozenset({"columns", "terminal"})),
    "text": Format("text", "plain text, matrices drawn in two dimensions", frozenset({"width"})),
    "markdown": Format("markdown", "Markdown with LaTeX formulas, as GitHub shows it", frozenset({"math"})),
    "latex": Format("latex", "a document for XeLaTeX, to print", frozenset({"fragment"})),
    "html": Format("html", "one HTML file with MathML, to read and to print"),
    "json": Format("json", "every figure of the solution, for scripts", frozenset({"only"}), takes="solution"),
}

# What an exercise sheet can be; those that take a sheet know the key apart from it.
SHEETS: dict[str, Format] = {
    "markdown": FORMATS["markdown"],
    "latex": Format("exam", "one document of class exam for XeLaTeX, with the key", frozenset({"key"}), takes="sheet"),
    "html": FORMATS["html"],
    "moodle": Format("moodle", "Moodle's XML: Cloze questions, with the key as feedback", takes="sheet"),
    "text": FORMATS["text"],
    "json": Format("sheet_json", "what is asked, for scripts", frozenset({"key"}), takes="sheet"),
}


def known(name: str) -> str:
    """The name, if there is a format of that name."""
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}", f"choose one of {', '.join(FORMATS)}")
    return name


def pieces(name: str, *subject: Any, **options: Any) -> Iterator[str]:
    """A document (json: a solution and its rule) in the format of that name, piece by piece.

    Of the options, a format gets those that it has: a command passes what it was given, whatever the format.
    """
    return _pieces(FORMATS[known(name)], subject, options)


def render(name: str, *subject: Any, **options: Any) -> str:
    """The same as one string."""
    return "".join(pieces(name, *subject, **options))


def sheet_pieces(name: str, subject: Any, **options: Any) -> Iterator[str]:
    """An exercise sheet in the format of that name, piece by piece; `subject` is what that format takes."""
    return _pieces(SHEETS[name], (subject,), options)


def _pieces(form: Format, subject: tuple[Any, ...], options: dict[str, Any]) -> Iterator[str]:
    own = {key: value for key, value in options.items() if key in form.options}
    found: Iterator[str] = import_module(f"{__name__}.{form.module}").pieces(*subject, **own)
    return found
