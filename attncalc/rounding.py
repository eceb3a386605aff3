"""The only place where a figure is rounded or turned into digits.

Rounding is that of school: by the decimal figure, not by its binary neighbour. 2.675 is 2.68 and 1.005 is 1.01, where
`"%.2f"` gives 2.67 and 1.00. Half goes away from zero (`half-up`) or to the even digit (`half-even`); what is within
1e-9 unit of a half (or, in long figures, within its last bits) is a half, so that noise never decides a
computed tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from math import ulp
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

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
MINUS_INFINITY = "-∞"
EXACTLY = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)  # for sums and products, with all their digits
_WHOLE = 22  # decimals, up to which float64 holds 10^decimals as it is
_LEAST = 308  # decimals, of which float64 has no smaller unit: what it says of 1e-320 is noise
_MOST_DECIMALS = 12  # of a product of carried figures; more are not written out


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


class Figures(Protocol):
    """What `printed` and `shown` need of a step: n × m figures, and what is known of each."""

    @property
    def values(self) -> Floats: ...
    @property
    def written(self) -> Texts | None: ...  # as the problem writes them; None for computed ones, or for all
    @property
    def exact(self) -> Flags: ...
    @property
    def places(self) -> int: ...
    @property
    def rows_sum_to_one(self) -> bool: ...


def _units(places: int) -> float:
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
    scale = _units(places)
    with np.errstate(over="ignore", invalid="ignore"):  # of ±inf, and of figures that go to Decimal
        size = np.abs(values) * scale
        floor = np.floor(size)
        rest = size - floor
        up = rest > 0.5 - TIE
        if ties == "half-even":
            up &= (rest > 0.5 + TIE) | (floor % 2 == 1)
        result = np.copysign((floor + up) / scale, values) + 0.0  # + 0.0: never -0.0
    if not size.max(initial=0.0) <= _SAFE:
        clear = (size <= _CLEAR) & (np.abs(rest - 0.5) > 2 * _NEAR) & (places <= _WHOLE)
        large = ~((size <= _SAFE) | clear) & np.isfinite(values)
        result[large] = [_rounded_decimal(value, places, ties) for value in values[large].tolist()]
    return result


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
    scale = _units(places)
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
        units = np.rint(values * _units(places))
        return np.where(np.abs(units) < 2.0**52, units / _units(places), values)


def decimals_of(texts: Texts) -> int:
    """How many decimals the figures have that are written so: 2 of 0.25, 20 of 1e-20."""
    return max(map(_decimals, set(texts.ravel().tolist())), default=0)


def _decimals(text: str) -> int:
    if "e" not in text:
        return len(text.partition(".")[2])
    exponent = Decimal(text).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def fits(values: Floats, places: int, noise: float = NOISE) -> Flags:
    """Which figures need no more than `places` decimals (but for the noise of float64).

    Next to 0 the noise is that of the matrix's largest figure, so that 1e-12, given so, is not taken for 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0) * _units(places)
        return _in_parts(lambda part: _fits(part, places, min(TIE, noise * largest)), values)


def _fits(values: Floats, places: int, noise: float) -> Flags:
    """The same; next to 0 the noise is given."""
    size = np.abs(values) * _units(places)
    nearest = np.rint(size)
    near = np.abs(size - nearest) <= np.where(nearest == 0, noise, np.maximum(TIE, 4e-16 * size))
    return near | ~np.isfinite(values)


def rounded_or_not(bounds: Bounds, places: int) -> Bounds:
    """Where figures may lie that may have been rounded to `places` decimals, or to one more, or not: rounding keeps
    their order, so that the ends are the ends rounded. A tie may have gone either way."""
    low, value, high = (np.asarray(each, dtype=np.float64) for each in bounds)
    unit = 1 / _units(places)
    whole = fits(value, places) & (low == high)  # nobody rounds it
    with np.errstate(invalid="ignore", over="ignore"):
        down = np.minimum(np.ceil(low / unit - 0.5 - TIE) * unit, low - unit / 20)
        up = np.maximum(np.floor(high / unit + 0.5 + TIE) * unit, high + unit / 20)
    return Bounds(np.where(whole, low, down), value, np.where(whole, high, up))


def constant_bounds(value: float, places: int) -> Bounds:
    """Where a constant may lie that is used as it is, or with `places` decimals or one more; whole, or too small to
    show, it is used as it is."""
    if is_whole(value, places) or abs(value) < 0.5 / _units(places):
        return Bounds(value, value, value)
    low, _, high = rounded_or_not(Bounds(value, value, value), places)
    return Bounds(float(low), value, float(high))


def printed(figures: Figures, rule: Rule, rows: slice = slice(None)) -> Floats:
    """The figures as they are printed, all or those of some rows, as float64: given ones as they are, the rest rounded
    to their decimals."""
    values = figures.values[rows]
    if figures.written is None:
        adjusts = figures.rows_sum_to_one and rule.weights == "sum-to-one"
        return (apportioned if adjusts else rounded)(values, figures.places, rule.ties)
    given = _is_text(figures.written[rows])
    return values if given.all() else np.where(given, values, rounded(values, figures.places, rule.ties))


def shown(figures: Figures, rule: Rule) -> Texts:
    """The figures as text, n × m: the one way from a value to its digits, in every format.

    `trimmed` prints an exact figure bare (1, 0.5, -2) and an inexact one with all its decimals (0.140);
    `fixed` prints all decimals everywhere. Given figures are printed as written, padded where `fixed`.
    """
    trimmed = rule.numbers == "trimmed"
    written = figures.written
    if written is not None and not trimmed:
        written = _each(lambda text: text and _padded(text, figures.places), written)
    if written is not None and _is_text(written).all():
        return written
    texts = digits(printed(figures, rule), figures.places)
    if trimmed:
        exact = figures.exact
        texts[exact] = [_bare(text) for text in texts[exact]]
    return texts if written is None else np.where(_is_text(written), written, texts)


def _is_text(written: Texts) -> Flags:
    return np.asarray(written != np.array(None))


def digits(values: Floats, places: int) -> Texts:
    """Figures that are already rounded, with all their decimals; -inf is -∞."""
    finite = np.isfinite(values)
    if not finite.all():
        texts = digits(np.where(finite, values, 0.0), places)
        texts[~finite] = "?"  # what written figures give may be no figure: ∞/∞
        texts[values == np.inf], texts[values == -np.inf] = "∞", MINUS_INFINITY
        return texts
    with np.errstate(over="ignore"):
        units = np.rint(values * _units(places))
        least = units.min(initial=0.0)
        spread = units.max(initial=0.0) - least
    if spread < values.size:  # as in a large matrix: a figure is there many times, and is written once
        once = _written((least + np.arange(spread + 1)) / _units(places), places)
        return np.asarray(once[(units - least).astype(np.intp)])
    texts = _written(values.ravel(), places).reshape(values.shape)
    if spread > 2.0**53:  # more digits than float64 holds: those of its shortest decimal
        for place in zip(*np.nonzero(np.abs(units) > 2.0**53), strict=True):
            texts[place] = f"{Decimal(repr(float(values[place]))):.{places}f}"
    return texts


def _written(values: Floats, places: int) -> Texts:
    template = "\n".join([f"%.{places}f"] * values.size)
    return np.array((template % tuple(values.tolist())).split("\n")[: values.size], dtype=object)


def as_text(values: Floats, places: int, *, bare: bool = True) -> Texts:
    """Figures rounded to `places` decimals, as text; `bare` where so many say them whole."""
    texts = digits(rounded(values, places), places)
    if bare:
        whole = fits(values, places)
        texts[whole] = [_bare(text) for text in texts[whole]]
    return texts


def one(value: float, places: int, rule: Rule) -> str:
    """A single computed figure as text, with all its decimals."""
    return str(digits(rounded(np.array([[value]]), places, rule.ties), places)[0, 0])


def constant(value: float, places: int, rule: Rule) -> str:
    """A constant of a formula as text: bare where `places` decimals say it whole."""
    text = one(value, places, rule)
    return _bare(text) if is_whole(value, places) else text


def is_whole(value: float, places: int) -> bool:
    """Whether so many decimals say a constant whole."""
    return bool(fits(np.array([value]), places)[0])


def as_right(value: float, places: int, text: str) -> tuple[str, ...]:
    """Figures of so many decimals within half a unit of a value, besides the one that is shown: the other one of a tie,
    or what a weight is before its last digit is set."""
    if not np.isfinite(value):
        return ()
    with localcontext(prec=400):
        exact, unit, shown = Decimal(repr(value)), Decimal(1).scaleb(-places), Decimal(text)
        down = exact.quantize(unit, ROUND_FLOOR)
        near = [each for each in (down, down + unit) if abs(each - exact) <= unit / 2 + unit * Decimal(repr(TIE))]
        return tuple(_plain(each) for each in near if each != shown)


def half_unit(places: int) -> str:
    """Half a unit of the last of so many decimals: 0.0005 of 3."""
    return _plain(Decimal(5).scaleb(-places - 1))


def fraction(value: Fraction, places: int = 2) -> str:
    """A number of marks: bare where it is whole, else with at most so many decimals."""
    return _bare(str(digits(rounded(np.array([[float(value)]]), places), places)[0, 0]))


def percent(text: str) -> str:
    """A share of 1, as it is shown, as a percentage of the same digits: 0.404 is 40.4%, 0.5 is 50%."""
    return f"{_plain(Decimal(text).scaleb(2))}%"


def total(texts: Iterable[str]) -> str:
    """What figures add up to as they are shown, with the most decimals that one of them has."""
    with localcontext(EXACTLY):
        return _plain(sum(map(Decimal, texts), Decimal(0)))


def decimals(texts: Texts) -> NDArray[Any]:
    """What figures are exactly as they are shown: of dtype object, holding Decimal; for sums and products of them in
    the context EXACTLY."""
    flat = texts.ravel().tolist()
    known = {text: Decimal(text) for text in set(flat)}  # in a large matrix nearly all are there several times
    return np.array([known[text] for text in flat], dtype=object).reshape(texts.shape)


def _plain(value: Decimal) -> str:
    """A decimal without an exponent."""
    return f"{value:f}"


def terms(values: Floats, exact: Flags, places: int, rule: Rule) -> Texts:
    """Products inside sums, as text. They are no steps and so are not rounded where figures are carried: 0.401×0.25 is
    0.10025 there; in full precision they are shown to the decimals of their step, as all else."""
    bare = exact & (rule.numbers == "trimmed")
    needed = np.where(bare, 0, places)
    for k in range(_MOST_DECIMALS if rule.carried else places):
        if k > needed.max(initial=0):
            break
        needed[(needed == k) & ~fits(values, k)] += 1
    texts = np.empty(values.shape, dtype=object)
    for k in set(needed.ravel().tolist()):
        texts[needed == k] = digits(rounded(values[needed == k], k, rule.ties), k)
    return texts


def _bare(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _padded(text: str, places: int) -> str:
    if not text.lstrip("-").replace(".", "", 1).isdigit():
        return text  # -∞, 1e-20
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.ljust(places, '0')}" if places else text


def _each(change: Callable[[str], str], texts: Texts) -> Texts:
    return np.array([change(text) for text in texts.ravel()], dtype=object).reshape(texts.shape)
