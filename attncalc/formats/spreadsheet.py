"""CSV that a spreadsheet shows as it is: no cell of it is run as a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from attncalc.formats.width import visible

_starts_a_formula = re.compile("[=+@＝＋－＠-]").match
_is_figure = re.compile(r"[+-](?:\.?inf|[\deE.,+*/^()√∞×·%\s-]*)").fullmatch  # nothing that a function is called by


def to_csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(each) for each in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A text without signs that are not seen, and with ' before what would be run."""
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if _starts_a_formula(shown.lstrip()) and not _is_figure(shown) else shown
