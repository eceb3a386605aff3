"""What people type for something else, where a key or a row of figures should stand: a hint, or nothing."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from attncalc.problem.source import look_alike, short

_dash = re.compile(r"^-\s*(?=[(\[{])")
_in_brackets = re.compile(r"[(\[{]+([^()\[\]{}]*)[)\]}]").match
_parted = re.compile(r"[,;]\s|[,;].*[,;]|[0-9.%]\s+[+\-−]?[0-9.]", re.DOTALL).search
_zero_and_decimals = re.compile(r"(?<![0-9.])0,(?=0*[1-9][0-9]*(?:,|$))").findall
_apart = re.compile(r"[0-9.%](?:\s*;|\s+[+\-−]?[0-9.])").search


def key_hint(text: str) -> str:
    """A hint where a key was run together with its value."""
    if hint := look_alike(text):
        return hint
    name, colon, value = text.partition(":")
    return f"put a space after the colon: {short(name)}: {short(value)}" if colon and value and name.strip() else ""


def row_hint(text: str, besides: Container[str] = ()) -> str:
    """A hint where a row of figures became one text; signs `besides` are read as they are."""
    if hint := look_alike(text, besides):
        return hint
    bare = _dash.sub("", text)
    brackets = _in_brackets(bare)
    row = brackets[1].strip() if brackets else bare.strip("[]{} ")
    if not _parted(row) and not (brackets and re.search("[,;]", row)):
        return ""
    row = row if re.search("[,;]", row) else ", ".join(row.split())
    return f"put a space after the dash: - [{short(row)}]" if bare != text else f"write a row in [ ]: [{short(row)}]"


def commas_missing(text: str) -> bool:
    """Whether a text has figures with blank space, or a semicolon, between them."""
    return _apart(text) is not None


def cut_in_two(texts: Sequence[str]) -> int:
    """How many figures a row has, if those of 0,5 were cut at a decimal comma: four texts 0, 5, 0 and 1 are three."""
    return len(texts) - len(_zero_and_decimals(",".join(texts)))
