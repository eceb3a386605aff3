"""Figures as people write them in answers: text -> value, and how many decimals were written.

A decimal stands for what rounds to it; an exact form (1/3, √2, e^0.707, 3×4) for itself alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from attncalc.problem import numbers

LONGEST = numbers.LONGEST  # characters; of what a page prints, nothing is longer
DEEPEST = 20  # brackets, roots and powers inside one another

_FULL_WIDTH = {0xFF01 + offset: 0x21 + offset for offset in range(0x5E)}  # ！ to ～, digits and signs among them
_SIGNS = {ord("−"): "-", ord("×"): "*", ord("·"): "*", ord("⋅"): "*", ord("÷"): "/", ord("　"): " ", ord("π"): "pi"}
_PLAIN_SIGNS: dict[int, int | str] = {**_FULL_WIDTH, **_SIGNS}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_raised = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_TIMES_TEN = frozenset("eEx*")
_minus_infinity = re.compile(r"- ?(?:\.?inf|infinity|∞)", re.IGNORECASE).fullmatch
_grouped = re.compile(r"[+-]?[0-9]{1,3}(?:(?:[,.][0-9]{3}){2,}|(?:[\s'’][0-9]{3})+)").fullmatch  # 4,294,967,296
_in_brackets = re.compile(r"\(([^()]*)\)").fullmatch
_decimal = re.compile(
    r"""([+-]?)\ *(0|[1-9][0-9]*|(?=\.[0-9]))(?:\.([0-9]*))?
        (?:[eE]([+-]?[0-9]+)|\ *[*x]\ *10\ *(?:\^|\*\*)\ *(?:([+-]?[0-9]+)|\(\ *([+-]?[0-9]+)\ *\)))?
        (\ *%)?""",
    re.VERBOSE,
).fullmatch
_token = re.compile(
    r"""\ *(?:((?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
        |(\*\*|sqrt|exp|pi|[-+*/^√e()]))""",
    re.VERBOSE,
).match
_STARTS_A_FACTOR = ("√", "sqrt", "exp", "e", "pi", "(")

# Why a text that is no expression is no figure: the first pattern that is found says it.
_WHY_NOT = (
    (r"^[+-]?\.?(nan|inf|infinity|∞)$", "not_finite"),
    (r"^[+-]?0[0-9]+(\.|e|$)", "leading_zero"),
    (r"^[+-]?0[xob]", "other_base"),
    (r"[0-9]_[0-9]", "underscore"),
    (r"^[‐‑‒–—]", "dash"),
    ("", "not_a_number"),
)


class Written(NamedTuple):
    """One figure as it was written, and where (0: not known).

    `value` is None where nothing was written, or no number; `decimals` is None for an exact figure; `why` is the key of
    what is wrong with an invalid one (`report.why` of the wordings has the sentences).
    """

    text: str
    value: float | None
    decimals: int | None
    why: str = ""
    line: int = 0
    column: int = 0

    @property
    def is_blank(self) -> bool:
        return self.value is None and not self.why

    @property
    def is_invalid(self) -> bool:
        return bool(self.why)

    @property
    def has_exponent(self) -> bool:
        """Whether it is a decimal times a power of ten, such as 6.03e-06."""
        return self.decimals is not None and not _TIMES_TEN.isdisjoint(self.text.translate(_PLAIN_SIGNS))


def written(text: str, decimal_comma: bool = False) -> Written:
    """The figure of a text, of any text."""
    if len(text) > LONGEST:
        return Written(text, None, None, "too_long")
    plain = text.translate(_PLAIN_SIGNS).strip()
    if plain in ("", "_"):
        return Written(text, None, None)
    if _minus_infinity(plain):
        return Written(text, -math.inf, None)
    if _grouped(plain):
        return Written(text, None, None, "grouped")
    if "," in plain and not decimal_comma:
        return Written(text, None, None, "decimal_comma")
    if decimal_comma:
        plain = plain.replace(",", ".")
    plain = _raised.sub(lambda raised: f"^({raised[0].translate(_RAISED)})", plain)
    try:
        return _decimal_figure(text, plain) or Written(text, _Exact(plain).value(), None)
    except _NoValue as error:
        return Written(text, None, None, str(error))
    except _NoExpression:
        found = (why for pattern, why in _WHY_NOT if re.search(pattern, plain, re.IGNORECASE))
        return Written(text, None, None, next(found))


class _NoValue(Exception):
    """Raised for an expression that has no value; its text is the key of why."""


class _NoExpression(Exception):
    """Raised for a text that is no expression."""


def _decimal_figure(text: str, plain: str) -> Written | None:
    inner = _in_brackets(plain)
    match = _decimal(inner[1].strip() if inner else plain)
    if match is None:
        return None
    sign, whole, fraction, *exponents, per_cent = match.groups()
    fraction = fraction or ""
    power = int(next(filter(None, exponents), "0")) - (2 if per_cent else 0)
    digits = f"{whole or '0'}.{fraction or '0'}"
    value = float(f"{digits}e{power}")
    if not digits.strip("0."):
        return Written(text, 0.0, len(fraction) + (2 if per_cent else 0))
    if not value or math.isinf(value):
        raise _NoValue("too_large" if value else "too_small")
    return Written(text, -value if sign == "-" else value, max(0, len(fraction) - power))


class _Exact:
    """The value of an expression, from its text on: + - × / ^, roots, e and π, a factor before a root or a bracket.

    What people read in two ways (3/2√2, e^2√2) has no value here.
    """

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        self.depth = 0
        place, end = 0, len(text.rstrip())
        while place < end:
            match = _token(text, place)
            if match is None:
                raise _NoExpression
            self.tokens.append("^" if match[2] == "**" else match[1] or match[2])
            place = match.end()
        self.tokens.reverse()  # the next one is the last

    def value(self) -> float:
        result = self.sum()
        if self.tokens:
            raise _NoExpression
        return result + 0.0  # never -0.0

    def sum(self) -> float:
        result = self.product()
        while sign := self.taken("+", "-"):
            other = self.product()
            result = _finite(result + other if sign == "+" else result - other)
        return result

    def product(self) -> float:
        result, closed = self.signed()
        divided = False
        while True:
            if sign := self.taken("*", "/"):
                other, closed = self.signed()
                divided = sign == "/"
                if divided and not other:
                    raise _NoValue("divides_by_0")
                result = _finite(result / other if divided else result * other)
            elif self.tokens and self.tokens[-1] in _STARTS_A_FACTOR:
                if divided or not closed:
                    raise _NoValue("two_ways")
                other, closed = self.power()
                result = _finite(result * other)
            else:
                return result

    def signed(self) -> tuple[float, bool]:
        """A factor, and whether another may stand right behind it."""
        sign = self.taken("+", "-")
        value, closed = self.power()
        return -value if sign == "-" else value, closed

    def power(self) -> tuple[float, bool]:
        self.deeper()
        base, closed = self.factor()
        if self.taken("^"):
            closed = self.tokens[-1:] == ["("]
            exponent, _ = self.signed()
            base = _of(math.pow, base, exponent)
        self.depth -= 1
        return base, closed

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _NoValue("too_deep")

    def factor(self) -> tuple[float, bool]:
        if not self.tokens:
            raise _NoExpression
        token = self.tokens.pop()
        if token == "(":
            return self.rest_of_brackets(), True
        if token in ("√", "sqrt", "exp"):
            return self.function(token)
        if token in ("e", "pi"):
            return (math.e if token == "e" else math.pi), True
        if token[0] not in "0123456789.":
            raise _NoExpression
        return _finite(float(token)), True

    def function(self, name: str) -> tuple[float, bool]:
        if self.taken("("):
            inner, closed = self.rest_of_brackets(), True
        elif name != "exp":
            self.deeper()
            if self.tokens[-1:] == ["-"]:
                raise _NoValue("root_below_0")
            inner, closed = self.factor()[0], False
            self.depth -= 1
        else:
            raise _NoExpression
        return _of(math.exp if name == "exp" else math.sqrt, inner), closed

    def rest_of_brackets(self) -> float:
        inner = self.sum()
        if not self.taken(")"):
            raise _NoExpression
        return inner

    def taken(self, *wanted: str) -> str:
        """The next token, which is then taken, where it is one of these."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in wanted else ""


def _of(function: Callable[..., float], *arguments: float) -> float:
    try:
        return _finite(function(*arguments))
    except OverflowError:
        raise _NoValue("too_large") from None
    except ValueError:
        root = function is math.sqrt
        raise _NoValue("root_below_0" if root else "no_power") from None


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise _NoValue("too_large")
    return value
