"""What the operations of an expression compute, on single figures and on whole arrays alike: as tables.

Each operation says what it computes, when its result is still an exact figure, how tightly it binds, how many decimals
it gives of decimals, and its exact value among fractions. A new one is a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from math import erfc, isqrt, pi, prod
from operator import mul
from typing import NamedTuple

import numpy as np

from attncalc import intervals
from attncalc.intervals import Interval, OfIntervals, Value

# Far more digits than float64 tells apart, and larger figures; what is larger still is infinite, and none of interest.
_LONG = Context(prec=50, Emax=9999, Emin=-9999, traps=[])


def _total(terms: Iterator[Value]) -> Value:
    # From left to right, as one adds by hand, and one term at a time: a long sum of large arrays holds two of them.
    total = next(terms)
    for term in terms:
        total = total + term
    return total


def _quotient(arguments: Iterator[Value]) -> Value:
    # 0/0 is 0: a row with nothing visible has a sum of 0 and gets weights of 0.
    a, b = arguments
    if not np.any(b == 0):
        return np.divide(a, b)
    a, b = np.broadcast_arrays(a, b)
    nothing = (a == 0) & (b == 0)
    return np.divide(a, np.where(nothing, 1.0, b))


def _product(arguments: Iterator[Value]) -> Value:
    return reduce(mul, arguments)


def _difference(arguments: Iterator[Value]) -> Value:
    a, b = arguments
    return a - b


def _largest(arguments: Iterator[Value]) -> Value:
    return reduce(np.maximum, arguments)


def _least(arguments: Iterator[Value]) -> Value:
    return reduce(np.minimum, arguments)


def _of_one(function: Callable[[Value], Value]) -> Callable[[Iterator[Value]], Value]:
    return lambda arguments: function(next(arguments))


def _all(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return reduce(np.logical_and, exact)


def _exact_product(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    zero = reduce(np.logical_or, ((v == 0) & e for v, e in zip(values, exact, strict=True)))
    return zero | _all(values, exact)


def _exact_sum(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    hidden = reduce(np.logical_or, map(np.isneginf, values))
    return hidden | _all(values, exact)


def _exact_difference(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return _exact_sum(values, exact) | (values[0] == values[1])  # the largest score less itself is an exact 0


def _exact_quotient(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return ((values[0] == 0) & exact[0]) | _all(values, exact)


def _exact_exp(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return exact[0] & ((values[0] == 0) | np.isneginf(values[0]))  # e^0 is 1 and e^-∞ is 0; no other is a decimal


def _exact_root(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    root = np.sqrt(values[0])
    return exact[0] & (np.rint(root * 1e6) ** 2 == values[0] * 1e12)  # √4 and √0.25; √2 is no decimal


def _exact_largest(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return _exact_equal(reduce(np.maximum, values), values, exact)


def _exact_least(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return _exact_equal(reduce(np.minimum, values), values, exact)


def _exact_equal(chosen: Value, values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return reduce(np.logical_or, ((v == chosen) & e for v, e in zip(values, exact, strict=True)))


def _rational_quotient(values: Sequence[Fraction]) -> Fraction | None:
    a, b = values
    return a / b if b else None if a else Fraction(0)


def _rational_root(values: Sequence[Fraction]) -> Fraction | None:
    root = Fraction(isqrt(values[0].numerator), isqrt(values[0].denominator))
    return root if root * root == values[0] else None


def _decimal(x: Fraction) -> Decimal:
    return _LONG.divide(Decimal(x.numerator), Decimal(x.denominator))


def _in_digits(function: Callable[..., Decimal]) -> Callable[[Sequence[Fraction]], Fraction | None]:
    """What a function of decimals gives of fractions, with more digits than float64 tells apart."""

    def digits(values: Sequence[Fraction]) -> Fraction | None:
        found = function(*map(_decimal, values))
        return Fraction(found) if found.is_finite() else None

    return digits


def _tanh(x: Decimal) -> Decimal:
    size = x.copy_abs()
    if size < Decimal("1e-12"):  # two terms of its series have all the digits, where 1 - e^-2x would have few
        return _LONG.subtract(x, _LONG.divide(_LONG.power(x, 3), 3))
    small = _LONG.exp(_LONG.multiply(-2, size)) if size < 60 else Decimal(0)  # which is nothing beside 1
    return _LONG.divide(_LONG.subtract(1, small), _LONG.add(1, small)).copy_sign(x)


def _power(arguments: Iterator[Value]) -> Value:
    base, exponent = arguments
    return np.power(np.asarray(base, dtype=np.float64), exponent)


def _exact_power(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    power = _power(iter(values))
    near = np.abs(power - np.rint(power * 1e6) / 1e6) <= 4e-16 * np.abs(power)  # 10000^(1/2); 10^(1/3) is no decimal
    return _all(values, exact) & (near | (np.rint(values[1]) == values[1]))


def _rational_power(values: Sequence[Fraction]) -> Fraction | None:
    base, exponent = values
    if exponent.denominator > 1:
        root = _nth_root(base, exponent.denominator)
        return None if root is None else _rational_power([root, Fraction(exponent.numerator)])
    return base**exponent.numerator if base or exponent > 0 else None


def _nth_root(x: Fraction, n: int) -> Fraction | None:
    """The n-th root of x, where it is a fraction; None where it is none, or nobody would look for it."""
    if x <= 0 or n > 64:
        return None if x else x
    root = Fraction(_whole_root(x.numerator, n), _whole_root(x.denominator, n))
    return root if root**n == x else None


def _whole_root(x: int, n: int) -> int:
    """The largest whole number of which the n-th power is at most x, which is 1 or more, by Newton's steps from above:
    float64 has no room for the digits of 1e-308 as a fraction."""
    root = 1 << -(-x.bit_length() // n)
    while (lower := ((n - 1) * root + x // root ** (n - 1)) // n) < root:
        root = lower
    return root


def _exact_at_zero(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return exact[0] & (values[0] == 0)


def _turned(x: Value, by: float) -> Value:
    """cos(x - by), of degrees; where that is a fraction, it is 0, ±1/2 or ±1 (Niven 1956), and given without noise."""
    angle = np.remainder(np.asarray(x, dtype=np.float64) - by, 360.0)
    cosine = np.cos(np.deg2rad(angle))
    return np.where(_is_fraction(angle), np.rint(cosine * 2) / 2, cosine)


def _is_fraction(angle: Value) -> Value:
    return (np.remainder(angle, 60.0) == 0) | (np.remainder(angle, 90.0) == 0)


def _exact_log(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return exact[0] & (values[0] == 1)


def _normal(x: Value) -> Value:
    """The standard normal distribution function, (1 + erf(x/√2))/2; by erfc, so that it is right far below 0 too."""
    return np.asarray(np.frompyfunc(lambda each: erfc(-each / 2**0.5) / 2, 1, 1)(x), dtype=np.float64)


def _place_of_largest(arguments: Iterator[Value]) -> Value:
    # The noise of float64 decides no choice: what agrees in 40 bits is equal.
    digits, exponents = np.frexp(np.stack(np.broadcast_arrays(*arguments)))
    return np.argmax(np.ldexp(np.round(digits * 2.0**40), exponents - 40), axis=0).astype(np.float64)


def _reached(arguments: Iterator[Value]) -> Value:
    return np.asarray(next(arguments) >= 0, dtype=np.float64)


def _always(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return np.ones(np.broadcast_shapes(*(np.shape(value) for value in values)), dtype=bool)


class Operation(NamedTuple):
    """What an operation computes of its arguments, when its result is still an exact figure, how tightly it binds, and
    how many decimals its result has where its arguments are decimals (None: it may be no decimal).

    `rational` is its value of fractions; None where it is none, and then `digits` gives many of its digits, but for
    what is `partly` known: fractions alone."""

    evaluate: Callable[[Iterator[Value]], Value]
    exact: Callable[[Sequence[Value], Sequence[Value]], Value]
    precedence: int
    decimals: Callable[[Sequence[int]], int] | None = None
    rational: Callable[[Sequence[Fraction]], Fraction | None] | None = None
    digits: Callable[[Sequence[Fraction]], Fraction | None] | None = None
    whole: bool = False  # whether it gives a whole number, whatever its arguments are
    partly: bool = False
    zero: bool = False  # whether a first argument of 0 gives 0, whatever the others are
    between: OfIntervals | None = None  # of intervals; None: it falls with none of its arguments

    def bounds(self, arguments: Sequence[Interval]) -> Interval:
        """Where its value lies, of arguments that lie in these intervals."""
        return (self.between or intervals.rising(self.evaluate))(arguments)


def _of_degrees(by: float) -> Operation:
    def rational(values: Sequence[Fraction]) -> Fraction | None:
        angle = (values[0] - Fraction(by)) % 360
        return Fraction(float(_turned(float(angle), 0.0))) if angle % 60 == 0 or angle % 90 == 0 else None

    return Operation(
        _of_one(lambda x: _turned(x, by)), lambda v, exact: exact[0] & _is_fraction(v[0] - by), 9, None, rational,
        partly=True, between=intervals.wave(lambda x: _turned(x, by), by, 360.0),
    )  # fmt: skip


OPERATIONS: dict[str, Operation] = {
    "plus": Operation(_total, _exact_sum, 1, max, lambda v: sum(v, Fraction(0))),
    "minus": Operation(_difference, _exact_difference, 1, max, lambda v: v[0] - v[1], between=intervals.difference),
    "times": Operation(_product, _exact_product, 2, sum, lambda v: prod(v, start=Fraction(1)), zero=True,
                       between=intervals.product),
    "over": Operation(_quotient, _exact_quotient, 2, None, _rational_quotient, zero=True, between=intervals.quotient),
    "negated": Operation(_of_one(np.negative), _all, 1, max, lambda v: -v[0], between=intervals.negation),
    "power": Operation(_power, _exact_power, 3, None, _rational_power, _in_digits(_LONG.power),
                       between=intervals.power),
    "exp": Operation(_of_one(np.exp), _exact_exp, 3, None, lambda v: None if v[0] else Fraction(1),
                     _in_digits(_LONG.exp)),
    "sqrt": Operation(_of_one(np.sqrt), _exact_root, 3, None, _rational_root, _in_digits(_LONG.sqrt),
                      between=intervals.rising_from_zero(np.sqrt)),
    "cos_degrees": _of_degrees(0.0),
    "sin_degrees": _of_degrees(90.0),
}  # fmt: skip
# Of call(name, x, ..): functions that are written by their name. Adding one is a row here and nothing in a format.
FUNCTIONS: dict[str, Operation] = {
    "max": Operation(_largest, _exact_largest, 9, max, max),
    "min": Operation(_least, _exact_least, 9, max, min),
    "argmax": Operation(_place_of_largest, _always, 9, None, lambda v: Fraction(v.index(max(v))), whole=True,
                        between=intervals.largest_place),
    "step": Operation(_reached, _always, 9, None, lambda v: Fraction(v[0] >= 0), whole=True),  # Heaviside's
    "tanh": Operation(_of_one(np.tanh), _exact_at_zero, 9, None, lambda v: None if v[0] else v[0], _in_digits(_tanh),
                      zero=True),
    "sin": Operation(_of_one(np.sin), _exact_at_zero, 9, zero=True, between=intervals.wave(np.sin, pi / 2, 2 * pi)),
    "cos": Operation(_of_one(np.cos), _exact_at_zero, 9, None, lambda v: None if v[0] else Fraction(1), partly=True,
                     between=intervals.wave(np.cos, 0.0, 2 * pi)),
    "ln": Operation(_of_one(np.log), _exact_log, 9, None, lambda v: Fraction(0) if v[0] == 1 else None,
                    _in_digits(_LONG.ln), between=intervals.rising_from_zero(np.log)),
    "Φ": Operation(_of_one(_normal), _exact_at_zero, 9, None, lambda v: None if v[0] else Fraction(1, 2),
                   partly=True),
}  # fmt: skip
