"""The only place where a figure is rounded; `digits` alone writes it.

Rounding is that of school: by the decimal figure, not by its binary neighbour. 2.675 is 2.68 and 1.005 is 1.01, where
`"%.2f"` gives 2.67 and 1.00. Half goes away from zero (`half-up`) or to the even digit (`half-even`); what is within
1e-9 unit of a half (or, in long figures, within its last bits) is a half, so that noise never decides a
computed tie. That is for figures of which no more is known than float64 says; where a step is worked from figures of
which all digits are known, what is in doubt is rounded from its own digits (Step.rounded).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import ulp
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Texts = NDArray[Any]  # of dtype object, holding str

TIE = 1e-9  # of a unit
NOISE = 1e-14  # of a matrix's largest figure: a sum that cancels to less than this is 0
_SAFE = 1e6  # units; above it, float64 does not resolve a TIE well enough and Decimal takes over where one may be
_CLEAR = 1e12  # units, up to which float64 tells what is no tie by _NEAR
_NEAR = 0.01  # of a unit: further off there is no tie, however long the figure
_AT_ONCE = 2**14  # figures: what is made of them on the way to their digits stays near the processor
_WHOLE = 22  # decimals, up to which float64 holds 10^decimals as it is
_LAST_DIGITS = 1e-14  # of a figure, that float64 may have wrong, also of e^x of an x of two digits
SMALLEST = 2.0**-1022  # of which float64 has all bits
LARGEST = 1e308  # and what is worked from figures of all their digits, and is less, is a float64
_LEAST = 308  # decimals, of which float64 has no smaller unit: what it says of 1e-320 is noise


class Rule(NamedTuple):
    """How the figures of one solution are rounded and printed (`show:` in a problem file)."""

    decimals: int = 3
    by_step: Mapping[str, int] = MappingProxyType({})
    rounding: str = "exact"  # or carried: each step's result is rounded, and used as rounded
    ties: str = "half-up"  # or half-even
    weights: str = "plain"  # or sum-to-one
    numbers: str = "trimmed"  # or fixed
    asked: bool = False  # whether `decimals` were asked for, or only hold where nothing is said

    def places(self, step_id: str) -> int:
        """The decimals of a step: those of its id, else of its id's last part, else the default."""
        last = step_id.rpartition(".")[2]
        return self.by_step.get(step_id, self.by_step.get(last, self.decimals))

    def says(self, step_id: str) -> bool:
        """Whether the decimals of a step were asked for."""
        return self.asked or step_id in self.by_step or step_id.rpartition(".")[2] in self.by_step

    @property
    def carried(self) -> bool:
        return self.rounding == "carried"


class Bounds(NamedTuple):
    """Figures and where they may lie by honest habits: three floats, or three arrays of one shape."""

    low: Any
    value: Any
    high: Any


def units_of_one(places: int) -> float:
    """How many units of so many decimals 1 has."""
    return 10.0 ** min(places, _LEAST)


def rounded(values: Floats, places: int, ties: str = "half-up") -> Floats:
    """Each figure rounded to `places` decimals, as the float64 next to that decimal; ±inf stays as it is."""
    values = np.asarray(values, dtype=np.float64)
    return _in_parts(lambda part: _rounded(part, places, ties), values)


def _in_parts(function: Callable[[Floats], NDArray[Any]], values: Floats) -> NDArray[Any]:
    """What a function makes of each figure by itself."""
    if values.size <= _AT_ONCE:
        return function(values)
    flat = values.ravel()
    parts = [function(flat[k : k + _AT_ONCE]) for k in range(0, flat.size, _AT_ONCE)]
    return np.concatenate(parts).reshape(values.shape)


def _rounded(values: Floats, places: int, ties: str) -> Floats:
    scale = units_of_one(places)
    with np.errstate(over="ignore", invalid="ignore"):  # of ±inf, and of figures that go to Decimal
        size = np.abs(values) * scale
        floor = np.floor(size)
        rest = size - floor
        up = rest > 0.5 - TIE
        if ties == "half-even":
            up &= (rest > 0.5 + TIE) | (floor % 2 == 1)
        result = np.asarray(np.copysign((floor + up) / scale, values) + 0.0)  # + 0.0: never -0.0
    if not size.max(initial=0.0) <= _SAFE:
        clear = (size <= _CLEAR) & (np.abs(rest - 0.5) > 2 * _NEAR) & (places <= _WHOLE)
        whole = np.abs(values) >= 2.0**53  # so are all figures from there on, and ±inf
        result[whole] = values[whole]
        large = ~((size <= _SAFE) | clear | whole | np.isnan(values))
        result[large] = [_rounded_decimal(value, places, ties) for value in values[large].tolist()]
    return result


def in_doubt(values: Floats, places: int) -> Flags:
    """Which figures are so near a tie that the last bits of float64 say on which side of it; of more digits than
    float64 tells apart all are."""
    with np.errstate(over="ignore", invalid="ignore"):  # of ±inf
        size = np.abs(values) * units_of_one(places)
        near = np.abs(size - np.floor(size) - 0.5) <= np.maximum(2 * TIE, _LAST_DIGITS * size)
        return np.asarray((near | (size * _LAST_DIGITS >= 0.5)) & np.isfinite(values))


def rounded_exactly(value: Fraction, places: int, ties: str) -> float:
    """A figure of which all digits are known, rounded: nothing but a tie is one."""
    units = abs(value) * 10**places
    whole, rest = divmod(units, 1)
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and (ties == "half-up" or whole % 2 == 1))
    return float(Fraction(whole + up, 10**places)) * (-1 if value < 0 else 1) + 0.0  # never -0.0


def _rounded_decimal(value: float, places: int, ties: str) -> float:
    """The same for one figure of many digits: its shortest decimal is what it stands for."""
    with localcontext(prec=400):  # as many digits as any float64 times 10^12 has
        size = abs(Decimal(repr(value))).scaleb(places)
        units = size.to_integral_value(ROUND_FLOOR)
        rest = size - units
        last_bits = Decimal(4 * ulp(value)).scaleb(places)  # what a few operations may be off by
        near = min(max(Decimal(repr(TIE)), last_bits), Decimal(repr(_NEAR)))
        tie = abs(rest - Decimal("0.5")) <= near
        up = units % 2 == 1 if tie and ties == "half-even" else tie or rest > Decimal("0.5")
        return float((units + up).scaleb(-places).copy_sign(Decimal(value)))


def apportioned(values: Floats, places: int, ties: str = "half-up") -> Floats:
    """Rows of weights rounded so that each printed row adds up to 1, by largest remainder (ties: the first column).

    A row that does not add up to 1 itself, to within half a unit (nothing visible; divided by a sum of fewer decimals),
    is rounded figure by figure. Source: the method of Hamilton, as in M. L. Balinski and H. P. Young, Fair
    Representation (1982), chapter 3.
    """
    scale = units_of_one(places)
    result = rounded(values, places, ties)
    for i, row in enumerate(values):
        if not np.isfinite(row).all():
            continue
        size = row * scale
        floor = np.floor(size + TIE)
        rest = np.round(np.maximum(size - floor, 0), 9)  # to TIE, so that equal remainders are equal
        missing = round(scale - floor.sum())
        if abs(size.sum() - scale) < 0.5 and 0 <= missing <= np.count_nonzero(rest):
            floor[np.argsort(-rest, kind="stable")[:missing]] += 1
            result[i] = floor / scale
    return result


def snapped(values: Floats, places: int) -> Floats:
    """Figures that are known to be decimals of so many places, rid of the noise of float64; long ones as they are."""
    with np.errstate(over="ignore", invalid="ignore"):
        units = np.rint(values * units_of_one(places))
        return np.where(np.abs(units) < 2.0**52, units / units_of_one(places), values)


def fits(values: Floats, places: int, noise: float = NOISE) -> Flags:
    """Which figures need no more than `places` decimals (but for the noise of float64).

    Next to 0 the noise is that of the matrix's largest figure, so that 1e-12, given so, is not taken for 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0) * units_of_one(places)
        return _in_parts(lambda part: _fits(part, places, min(TIE, noise * largest)), values)


def _fits(values: Floats, places: int, noise: float) -> Flags:
    """The same; next to 0 the noise is given."""
    size = np.abs(values) * units_of_one(places)
    nearest = np.rint(size)
    near = np.abs(size - nearest) <= np.where(nearest == 0, noise, np.maximum(TIE, 4e-16 * size))
    return near | ~np.isfinite(values)


def rounded_or_not(bounds: Bounds, places: int) -> Bounds:
    """Where figures may lie that may have been rounded to `places` decimals, or to one more, or not: rounding keeps
    their order, so that the ends are the ends rounded. A tie may have gone either way."""
    low, value, high = (np.asarray(each, dtype=np.float64) for each in bounds)
    unit = 1 / units_of_one(places)
    whole = fits(value, places) & (low == high)  # nobody rounds it
    with np.errstate(invalid="ignore", over="ignore"):
        down = np.minimum(np.ceil(low / unit - 0.5 - TIE) * unit, low - unit / 20)
        up = np.maximum(np.floor(high / unit + 0.5 + TIE) * unit, high + unit / 20)
    return Bounds(np.where(whole, low, down), value, np.where(whole, high, up))


def constant_bounds(value: float, places: int) -> Bounds:
    """Where a constant may lie that is used as it is, or with `places` decimals or one more; whole, or too small to
    show, it is used as it is."""
    if is_whole(value, places) or abs(value) < 0.5 / units_of_one(places):
        return Bounds(value, value, value)
    low, _, high = rounded_or_not(Bounds(value, value, value), places)
    return Bounds(float(low), value, float(high))


def is_whole(value: float, places: int) -> bool:
    """Whether so many decimals say a constant whole."""
    return bool(fits(np.array([value]), places)[0])


def decimals_of(number: Fraction) -> int | None:
    """How many decimals a number has; None: no end of them."""
    most = number.denominator.bit_length()
    return next((k for k in range(most + 1) if 10**k % number.denominator == 0), None)
