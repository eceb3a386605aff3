"""The only place where figures are written: `rounding` says what they are, this how each is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from attncalc.rounding import TIE, Flags, Floats, Rule, Texts, apportioned, fits, is_whole, rounded, units_of_one

MINUS_INFINITY = "-∞"
EXACTLY = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # sums and products, with all their digits
_LONGEST = 1e16  # the first figure that Python writes with an exponent
_NO_FIGURES = {"inf": "∞", "-inf": MINUS_INFINITY, "nan": "?"}  # what written figures give may be none: ∞/∞
_MOST_DECIMALS = 12  # of a product of carried figures; more are not written out


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
    def rounded(self, values: Floats, ties: str, rows: range) -> Floats: ...  # these rows, to `places`
    @property
    def is_rounded(self) -> bool: ...  # whether the values are, as `rule` says


def decimals_of(texts: Texts) -> int:
    """How many decimals the figures have that are written so: 2 of 0.25, 20 of 1e-20."""
    return max(map(decimals_in, set(texts.ravel().tolist())), default=0)


def decimals_in(text: str) -> int:
    """The same of one figure."""
    if "e" not in text:
        return len(text.partition(".")[2])
    exponent = Decimal(text).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def printed(figures: Figures, rule: Rule, rows: slice = slice(None)) -> Floats:
    """The figures as they are printed, all or those of some rows, as float64: given ones as they are, the rest rounded
    to their decimals."""
    values = figures.values[rows]
    if figures.is_rounded:
        return values
    if figures.written is None and figures.rows_sum_to_one and rule.weights == "sum-to-one":
        return apportioned(values, figures.places, rule.ties)
    given = False if figures.written is None else _is_text(figures.written[rows])
    if np.all(given):
        return values
    return np.where(given, values, figures.rounded(values, rule.ties, range(len(figures.values))[rows]))


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
    texts = in_full(printed(figures, rule), figures.places)
    if trimmed:
        exact = figures.exact
        texts[exact] = [_bare(text) for text in texts[exact]]
    return texts if written is None else np.where(_is_text(written), written, texts)


def _is_text(written: Texts) -> Flags:
    return np.asarray(written != np.array(None))


def in_full(values: Floats, places: int) -> Texts:
    """Figures that are already rounded, with all their decimals; -inf is -∞, and 10^20 is 1e20."""
    plain = np.abs(values) < _LONGEST
    if not plain.all():
        texts = in_full(np.where(plain, values, 0.0), places)
        texts[~plain] = [_scientific(value) for value in values[~plain].tolist()]
        return texts
    with np.errstate(over="ignore"):
        units = np.rint(values * units_of_one(places))
        least, most = units.min(initial=0.0), units.max(initial=0.0)
        spread = most - least
    if spread < values.size:  # as in a large matrix: a figure is there many times, and is written once
        once = _written((least + np.arange(spread + 1)) / units_of_one(places), places)
        return np.asarray(once[(units - least).astype(np.intp)])
    if max(most, -least) < (values.size - units_of_one(places)) * units_of_one(places) / 2:
        return _of_halves(units.astype(np.intp), places)
    texts = _written(values.ravel(), places).reshape(values.shape)
    if spread > 2.0**53:  # more digits than float64 holds: those of its shortest decimal
        for place in zip(*np.nonzero(np.abs(units) > 2.0**53), strict=True):
            texts[place] = f"{Decimal(repr(float(values[place]))):.{places}f}"
    return texts


def _of_halves(units: NDArray[np.intp], places: int) -> Texts:
    """Figures from what stands before their points and their decimals: each of these is there many times, and is
    written once."""
    before, after = np.divmod(np.abs(units), 10**places)
    wholes = range(before.max() + 1)
    heads = [*(f"{k}." for k in wholes), *(f"-{k}." for k in reversed(wholes))]
    signed = np.where(units < 0, -1 - before, before)  # -0. is the last one
    return np.asarray(np.array(heads, dtype=object)[signed] + _every_decimals(places)[after])


def _scientific(value: float) -> str:
    """A figure of more digits than float64 tells apart, by those that it does; or what is no figure: ∞, ?."""
    return _NO_FIGURES.get(repr(value)) or repr(value).replace("e+", "e")


@lru_cache(maxsize=1)
def _every_decimals(places: int) -> Texts:
    return np.array([f"{k:0{places}}" for k in range(10**places)], dtype=object)


def _written(values: Floats, places: int) -> Texts:
    template = "\n".join([f"%.{places}f"] * values.size)
    return np.array((template % tuple(values.tolist())).split("\n")[: values.size], dtype=object)


def as_text(values: Floats, places: int, *, bare: bool = True) -> Texts:
    """Figures rounded to `places` decimals, as text; `bare` where so many say them whole."""
    texts = in_full(rounded(values, places), places)
    if bare:
        whole = fits(values, places)
        texts[whole] = [_bare(text) for text in texts[whole]]
    return texts


def one(value: float, places: int, rule: Rule) -> str:
    """A single computed figure as text, with all its decimals."""
    return _one(value, places, rule.ties)


@lru_cache(maxsize=1024)  # constants come again on every page
def _one(value: float, places: int, ties: str) -> str:
    return str(in_full(rounded(np.array([[value]]), places, ties), places)[0, 0])


def constant(value: float, places: int, rule: Rule) -> str:
    """A constant of a formula as text: bare where `places` decimals say it whole."""
    text = one(value, places, rule)
    return _bare(text) if is_whole(value, places) else text


def as_right(value: float, places: int, text: str) -> tuple[str, ...]:
    """Figures of so many decimals within half a unit of a value, besides the one that is shown: the other one of a tie,
    or what a weight is before its last digit is set."""
    if not np.isfinite(value):
        return ()
    with localcontext(prec=400):
        exact, unit, shown = Decimal(repr(value)), Decimal(1).scaleb(-places), Decimal(text.replace("∞", "inf"))
        down = exact.quantize(unit, ROUND_FLOOR)
        near = [each for each in (down, down + unit) if abs(each - exact) <= unit / 2 + unit * Decimal(repr(TIE))]
        return tuple(_plain(each) for each in near if each != shown)


def half_unit(places: int) -> str:
    """Half a unit of the last of so many decimals: 0.0005 of 3."""
    return _plain(Decimal(5).scaleb(-places - 1))


def fraction(value: Fraction, places: int = 2) -> str:
    """A number of marks: bare where it is whole, else with at most so many decimals."""
    return _bare(str(in_full(rounded(np.array([[float(value)]]), places), places)[0, 0]))


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
    different = set(flat)  # in a large matrix nearly all are there several times
    known = {text: Decimal(text.replace("∞", "inf").replace("?", "nan")) for text in different}
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
        texts[needed == k] = in_full(rounded(values[needed == k], k, rule.ties), k)
    return texts


def _bare(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _padded(text: str, places: int) -> str:
    if not text.lstrip("-").replace(".", "", 1).isdigit():
        return text  # -∞, 1e-20
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.ljust(places, '0')}" if places else text


def _each(change: Callable[[str], str], texts: Texts) -> Texts:
    return np.array([change(text) for text in texts.ravel()], dtype=object).reshape(texts.shape)
