"""Figures as people type them: text -> (float, the text in its normal form)."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_DIGITS = 15  # of a figure that was typed with an exponent and is written out; longer ones keep their e
LONGEST = 1100  # characters; every figure of float64, written out exactly, has fewer

COMMAS_MISSING = "put a comma between two figures, and no space within one"

_plain = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?").fullmatch
# A row of such figures with a space after each, none of so many digits that it may leave float64's range.
_plain_row = re.compile(r"(?:-?+(?:0|[1-9][0-9]{0,149}+)(?:\.[0-9]{1,149}+)?+ )++").fullmatch
_general = re.compile(r"([+\-−]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+\-−]?)([0-9]+))?").fullmatch

# Why a text is no number: the first pattern that is found says it. {0} is the text.
_WHY_NOT = (
    (r"^\s*$", "empty", "write a number"),
    (r"^(true|false|yes|no|on|off)$", "{0} is not a number", "write 1 or 0"),
    (r"^(null|none|~|_)$", "{0} is not a number", "every entry must be given"),
    (r"^[+\-−]?\.?(nan|inf|infinity|∞)$", "{0} is not finite", "write a finite number"),
    (r"^[+\-−]?0[0-9]+(\.|e|$)", "{0} has a leading zero", "leave the zero out"),
    (r"^[+\-−]?0[xob]", "{0} is not a decimal number", "write it in base ten"),
    (r"[0-9]_[0-9]", "{0} is not a number", "leave the _ out"),
    (r"^[+\-−]?[0-9]+,[0-9]+$", "{0} is not a number", "write a decimal point"),
    (r"^[+\-−]?[0-9.]+/[0-9.]+$", "{0} is a fraction", "write it as a decimal number"),
    (r"^[0-9]+:[0-9:.]+$", "{0} is not a number", "write it as one decimal number"),
    (r"^[‐‑‒–—]", "{0} starts with a dash", "write - before a negative number"),
    (r"^[+\-−]?[0-9.]+(\s+[+\-−]?[0-9.]+)+$", "{0} is not a number", COMMAS_MISSING),
    (r"^\s|\s$", "spaces round a number", "leave them out"),
)


class NotANumber(ValueError):
    """Raised for a text that isn't a finite decimal number; `what` holds {0} where the text goes."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def number(text: str) -> tuple[float, str]:
    """The value of a figure and its normal form: `+.50` is (0.5, "0.50"), `-0` is (0.0, "0"), `1e-3` "0.001".

    The normal form keeps the decimal places that were typed and reads back as the same value.
    """
    if len(text) < 300 and _plain(text):  # nearly every figure, and too short to leave float64's range
        value = float(text)
        return (value, text) if value else (0.0, text.lstrip("-"))
    return _general_number(text)


def plain_row(texts: Sequence[str]) -> list[float] | None:
    """The values of a row of figures that are all in their normal form, as most rows are: told by one look at the row,
    since one at each figure takes twice as long. None where some may not be."""
    row = " ".join(texts) + " "
    if not _plain_row(row) or row.count(" ") != len(texts):  # "1 2" is no figure
        return None
    values = list(map(float, texts))
    return None if "-0" in row and 0.0 in values else values


def _general_number(text: str) -> tuple[float, str]:
    if len(text) > LONGEST:
        raise NotANumber(f"{{0}} has {len(text)} characters", f"write at most {LONGEST}")
    match = _general(text)
    if match is None:
        raise _why_not(text)
    sign, whole, fraction, exponent_sign, exponent = match.groups(default="")
    if not (whole or fraction) or (len(whole) > 1 and whole.startswith("0")):
        raise _why_not(text)
    whole = whole or "0"
    mantissa = f"{whole}.{fraction}" if fraction else whole
    if not mantissa.strip("0."):
        return 0.0, "0" if exponent else mantissa
    minus = "-" if sign in ("-", "−") else ""
    power = exponent.lstrip("0") or "0"
    if power != "0" and exponent_sign in ("-", "−"):
        power = f"-{power}"
    value = float(f"{minus}{mantissa}e{power}")
    if value - value != 0:
        raise NotANumber("{0} is too large for float64", "write a smaller number")
    if not value:
        raise NotANumber("{0} is too small for float64", "write 0, or a larger number")
    if power == "0":
        return value, minus + mantissa
    written = _written_out(whole, fraction, int(power))
    return value, minus + (written if len(written) - ("." in written) <= MOST_DIGITS else f"{mantissa}e{power}")


def _written_out(whole: str, fraction: str, power: int) -> str:
    """whole.fraction × 10^power without an exponent: 1.50 and 1 give 15.0."""
    digits, point = whole + fraction, len(whole) + power
    if point <= 0:
        return f"0.{'0' * -point}{digits}"
    before, after = digits[:point].ljust(point, "0"), digits[point:]
    before = before.lstrip("0") or "0"
    return f"{before}.{after}" if after else before


def _why_not(text: str) -> NotANumber:
    for pattern, what, hint in _WHY_NOT:
        if re.search(pattern, text, re.IGNORECASE):
            return NotANumber(what, hint)
    return NotANumber("{0} is not a number", "write it like 2, -0.5 or 1e-3")
