"""What an operation gives of arguments that are known only to lie between two figures: interval arithmetic.

An `Interval` is (low, high), figures or arrays of them; ends may be infinite. Each function takes one for each argument
and gives one that holds every value which the operation can take (R. E. Moore, Interval Analysis, 1966, chapter 2).
Operations that rise with each of their arguments need none: their ends are those of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = Any  # a float or an array of them
Interval = tuple[Value, Value]
OfIntervals = Callable[[Sequence[Interval]], Interval]


def rising(evaluate: Callable[..., Value]) -> OfIntervals:
    """Of an operation that falls with none of its arguments."""
    return lambda bounds: (evaluate(low for low, _ in bounds), evaluate(high for _, high in bounds))


def rising_from_zero(evaluate: Callable[[Value], Value]) -> OfIntervals:
    """Of one argument below which there is nothing: √x, ln x."""
    return lambda bounds: (evaluate(np.maximum(bounds[0][0], 0.0)), evaluate(np.maximum(bounds[0][1], 0.0)))


def difference(bounds: Sequence[Interval]) -> Interval:
    (a, a_high), (b, b_high) = bounds
    return a - b_high, a_high - b


def negation(bounds: Sequence[Interval]) -> Interval:
    ((low, high),) = bounds
    return -high, -low


def product(bounds: Sequence[Interval]) -> Interval:
    return reduce(_product_of_two, bounds)


def quotient(bounds: Sequence[Interval]) -> Interval:
    """0/0 is 0, as in a row with nothing visible; what may be divided by 0 otherwise may be anything on that side."""
    dividend, (low, high) = bounds
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    zero = (low == 0) & (high == 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        within = (low < 0) & (high > 0)
        from_ = np.where(within | (high == 0), -np.inf, 1 / high)
        to = np.where(within | (low == 0), np.inf, 1 / low)
    found = _product_of_two(dividend, (from_, to))
    nothing = zero & (np.asarray(dividend[0]) == 0) & (np.asarray(dividend[1]) == 0)
    unknown = (np.isinf(dividend[0]) | np.isinf(dividend[1])) & (np.isinf(low) | np.isinf(high))
    ends = (np.where(unknown, end, found_) for end, found_ in zip((-np.inf, np.inf), found, strict=True))
    least, most = (np.where(nothing, 0.0, end) for end in ends)
    return least, most


def power(bounds: Sequence[Interval]) -> Interval:
    """Of a base that may be below 0 only where the exponent is one whole number."""
    (low, high), (p, q) = bounds
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    with np.errstate(all="ignore"):
        corners = [np.power(base, exponent) for base in (low, high) for exponent in (p, q)]
    least, most = reduce(np.fmin, corners), reduce(np.fmax, corners)
    over_zero, divides = (low <= 0) & (high >= 0), np.asarray(p) < 0
    least = np.where(over_zero & (np.asarray(p) > 0), np.minimum(0, least), least)
    least = np.where(over_zero & divides & (low < 0), -np.inf, least)
    return least, np.where(over_zero & divides, np.inf, most)


def largest_places(bounds: Sequence[Interval]) -> NDArray[np.bool_]:
    """Which of n figures may be the largest, n × their shape; of equal ones it is the first."""
    low = np.stack(np.broadcast_arrays(*(low for low, _ in bounds)))
    high = np.stack(np.broadcast_arrays(*(high for _, high in bounds)))
    low, high = (np.asarray(end, dtype=np.float64) for end in (low, high))
    may = np.ones(low.shape, dtype=bool)
    for k in range(len(bounds)):
        for other in range(len(bounds)):
            if other != k:
                may[k] &= high[k] > low[other] if other < k else high[k] >= low[other]
    return may


def largest_place(bounds: Sequence[Interval]) -> Interval:
    """The first and the last place where the largest may stand."""
    may = largest_places(bounds)
    first = np.argmax(may, axis=0)
    last = len(bounds) - 1 - np.argmax(may[::-1], axis=0)
    return first.astype(np.float64), last.astype(np.float64)


def wave(evaluate: Callable[[Value], Value], peak: float, period: float) -> OfIntervals:
    """Of a sine or cosine that is 1 at `peak` and again each `period`, and -1 halfway."""

    def bounds_of(bounds: Sequence[Interval]) -> Interval:
        ((low, high),) = bounds
        low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        ends = evaluate(low), evaluate(high)

        def passes(place: float) -> Value:
            return np.floor((high - place) / period) >= np.ceil((low - place) / period)

        least = np.where(passes(peak + period / 2), -1.0, np.minimum(*ends))
        return least, np.where(passes(peak), 1.0, np.maximum(*ends))

    return bounds_of


def _product_of_two(a: Interval, b: Interval) -> Interval:
    with np.errstate(invalid="ignore", over="ignore"):
        corners = [np.where((x == 0) | (y == 0), 0.0, np.multiply(x, y)) for x in a for y in b]  # 0·∞ is 0 here
    return reduce(np.minimum, corners), reduce(np.maximum, corners)
