"""attncalc.rounding against Decimal: by the decimal figure, ties as the rule says, whatever float64 makes of them."""

import itertools
import math
import random
import re
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attncalc import digits, rounding
from attncalc.rounding import Rule

TIES = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN}
PLACES = range(7)


@dataclass
class Figures:
    """As `digits.shown` wants them: one row."""

    values: np.ndarray
    exact: np.ndarray
    places: int
    written: np.ndarray | None = None
    rows_sum_to_one: bool = False
    is_rounded: bool = False

    def rounded(self, values, ties, rows):
        return rounding.rounded(values, self.places, ties)


def computed(values, exact=True, places=3, **about):
    row = np.array([values], dtype=float)
    return Figures(row, np.broadcast_to(np.array(exact), row.shape).copy(), places, **about)


def given_figures(texts, places=3):
    row = np.array([texts], dtype=object)
    values = np.array([[float(text.replace("∞", "inf")) for text in texts]])
    return Figures(values, np.ones(row.shape, dtype=bool), places, written=row)


def texts_of(figures, **rule):
    return list(digits.shown(figures, Rule(**rule))[0])


def one_rounded(value, places, ties="half-up"):
    return float(rounding.rounded(np.array([[value]]), places, ties)[0, 0])


def by_hand(value: Decimal, places: int, ties: str = "half-up") -> Decimal:
    """The reference: what lies within 1e-9 unit of a half is a half; then Decimal rounds."""
    with localcontext(prec=1000):
        units = value.scaleb(places)
        half = units.to_integral_value(ROUND_FLOOR) + Decimal("0.5")
        if abs(units - half) <= Decimal("1e-9"):
            units = half
        return units.quantize(Decimal(1), rounding=TIES[ties]).scaleb(-places)


def on_the_edge(value: Decimal, places: int) -> bool:
    """Whether the figure stands where a tie begins to be one, so closely that float64 can't say on which side; among
    figures of more than a million units, that is a last bit or two from the half."""
    with localcontext(prec=1000):
        units = value.scaleb(places)
        distance = abs(units - units.to_integral_value(ROUND_FLOOR) - Decimal("0.5"))
        bits = Decimal(5 * math.ulp(float(value))).scaleb(places)
        if abs(units) > 10**6 and Decimal("1e-9") < distance < min(bits, Decimal("0.0101")):
            return True
        return abs(distance - Decimal("1e-9")) < Decimal("3e-10")


def check(values: list[float], exact: list[Decimal], places: int) -> None:
    """That float `values`, each of which stands for a decimal, are rounded as those decimals are, under both rules."""
    for ties in TIES:
        got = rounding.rounded(np.array([values]), places, ties)[0].tolist()
        for value, decimal, figure in zip(values, exact, got, strict=True):
            assert figure == float(by_hand(decimal, places, ties)), (value, decimal, places, ties)


# --- random figures ---------------------------------------------------------------------------------------------------


def test_random_figures_of_every_size():
    draw = random.Random("random figures")
    by_places = {places: [] for places in PLACES}
    for _ in range(100_000):
        size = 10.0 ** draw.uniform(-9, 9)
        by_places[draw.choice(PLACES)].append(draw.choice((-1, 1)) * draw.random() * size)
    for places, values in by_places.items():
        decimals = [Decimal(repr(value)) for value in values]
        sure = [k for k, decimal in enumerate(decimals) if not on_the_edge(decimal, places)]
        assert len(sure) > 0.99 * len(values)
        check([values[k] for k in sure], [decimals[k] for k in sure], places)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(PLACES), st.sampled_from(sorted(TIES)))
@example(1e300, 6, "half-up")
@example(1e305, 6, "half-up")  # in units, beyond float64
@example(-1.7976931348623157e308, 6, "half-even")
@example(1e-300, 3, "half-up")
@example(5e-324, 6, "half-up")
@example(9007199254740993.0, 0, "half-up")
@example(4503599627370496.5, 0, "half-up")
@example(4503599627370497.5, 0, "half-even")
def test_any_float_at_all(value, places, ties):
    decimal = Decimal(repr(value))
    assume(not on_the_edge(decimal, places))
    expected = by_hand(decimal, places, ties)
    assert one_rounded(value, places, ties) == float(expected)
    # A text has every digit of the decimal; beyond 2^53 units, those of the nearest float64, written as short as it is.
    text = texts_of(computed([value], exact=False, places=places), ties=ties)[0]
    exact_text = abs(expected.scaleb(places)) <= 2**53
    assert Decimal(text) == (expected if exact_text else Decimal(repr(float(expected))))
    plain = r"-?\d{1,16}" + (rf"\.\d{{{places}}}" if places else "")
    assert re.fullmatch(plain if abs(expected) < 10**16 else r"-?\d(\.\d+)?e[1-9]\d+", text)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(PLACES), st.sampled_from(sorted(TIES)))
@example(2.675, 2, "half-even")
@example(123456789.0125, 3, "half-up")
@example(1e300, 6, "half-up")
def test_what_is_rounded_stays_as_it_is(value, places, ties):
    """So that carried figures are printed as they are used."""
    once = one_rounded(value, places, ties)
    assert one_rounded(once, places, ties) == once
    figures = replace(computed([once], exact=False, places=places), is_rounded=True)
    assert texts_of(figures) == texts_of(replace(figures, is_rounded=False), ties=ties)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(PLACES))
@example(-0.0, 3)
@example(-0.0004, 3)
@example(-5e-324, 0)
def test_there_is_no_minus_zero(value, places):
    figure = one_rounded(value, places)
    assert figure != 0 or math.copysign(1, figure) == 1
    for exact, numbers in itertools.product((True, False), ("trimmed", "fixed")):
        (text,) = texts_of(computed([value], exact, places), numbers=numbers)
        assert not re.fullmatch(r"-0(\.0*)?", text)


# --- ties -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("places", PLACES)
def test_every_tie_within_200_units(places):
    ties = [Decimal(10 * k + 5).scaleb(-places - 1) for k in range(-201, 201)]
    check([float(str(tie)) for tie in ties], ties, places)


@pytest.mark.parametrize("places", PLACES)
def test_ties_of_as_many_digits_as_float64_keeps(places):
    draw = random.Random(f"long ties {places}")
    ties = [Decimal(10 * draw.randrange(10 ** draw.randint(3, 14)) + 5).scaleb(-places - 1) for _ in range(1000)]
    check([float(str(tie)) for tie in ties], ties, places)


@pytest.mark.parametrize(
    ("written", "places", "half_up", "half_even"),
    [
        ("0.425", 2, "0.43", "0.42"),
        ("2.675", 2, "2.68", "2.68"),
        ("1.005", 2, "1.01", "1.00"),
        ("-0.0004", 3, "0.000", "0.000"),
        ("-0.0005", 3, "-0.001", "0.000"),
        ("-0.425", 2, "-0.43", "-0.42"),
        ("0.5", 0, "1", "0"),
        ("1.5", 0, "2", "2"),
        ("-2.5", 0, "-3", "-2"),
        ("0.4999999", 0, "0", "0"),
        ("0.00000049", 6, "0.000000", "0.000000"),
        ("9.995", 2, "10.00", "10.00"),
        ("123456789012.345", 2, "123456789012.35", "123456789012.34"),
    ],
)
def test_ties_by_name(written, places, half_up, half_even):
    assert digits.one(float(written), places, Rule(ties="half-up")) == half_up
    assert digits.one(float(written), places, Rule(ties="half-even")) == half_even


def computed_ties(draw, places, most_units):
    """(a float that some arithmetic gives, the tie that the same arithmetic gives on paper), of all sorts."""
    unit = Decimal(1).scaleb(-places)
    for _ in range(1500):
        k = draw.randrange(-most_units, most_units)
        tie = (2 * k + 1) * unit / 2
        part = draw.randrange(-most_units, most_units) * unit / 100
        yield float(part) + float(tie - part), tie
        yield float(tie + part) - float(part), tie
        cut = draw.randint(0, places + 1)  # two factors whose decimals add up to those of a tie
        a = Decimal(draw.randrange(1, 2 * math.isqrt(most_units))).scaleb(-cut)
        b = Decimal(5 * draw.randrange(1, math.isqrt(most_units), 2)).scaleb(cut - places - 1)
        if int((a * b).scaleb(places + 1)) % 10 == 5:
            yield float(a) * float(b), a * b
        by = Decimal(draw.randrange(2, 100)) / 10
        yield float(tie * by) / float(by), tie
        n = draw.randrange(2, 50)
        yield math.sqrt(n) * math.sqrt(n) * (float(tie) / n), tie
        yield float(tie) * math.sqrt(n) / math.sqrt(n), tie
        yield math.exp(math.log(2)) * (float(tie) / 2), tie


@pytest.mark.parametrize("places", PLACES)
def test_the_noise_of_arithmetic_decides_no_tie(places):
    """Up to 10^5 units, where float64's last bits are far less than 1e-9 unit."""
    pairs = list(computed_ties(random.Random(f"computed {places}"), places, 100_000))
    noisy = [value for value, tie in pairs if value != float(tie)]
    assert len(noisy) > len(pairs) / 20  # the noise is there
    check([value for value, _ in pairs], [tie for _, tie in pairs], places)


@pytest.mark.parametrize("places", [4, 6])
def test_nor_in_figures_of_more_digits(places):
    """31372.32945, a tie at 4 decimals, is 864251.5 × 0.0363; float64 makes 31372.329449999997 of it."""
    pairs = list(computed_ties(random.Random(f"long computed {places}"), places, 10**9))
    check(
        [864251.5 * 0.0363, *(value for value, _ in pairs)],
        [Decimal("31372.32945"), *(tie for _, tie in pairs)],
        places,
    )


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (0.67 * 1.5, 2, "1.01"),  # 1.005
        (1.15 + 2.30 - 0.775, 2, "2.68"),  # 2.675
        (0.1 + 0.2 - 0.175, 2, "0.13"),  # 0.125
        (0.35 * 0.3, 2, "0.11"),  # 0.105
        (4.35 / 100 * 10, 2, "0.44"),  # 0.435
        (math.sqrt(2) * math.sqrt(2) / 16, 2, "0.13"),  # 0.125
        (math.sqrt(3) * math.sqrt(3) * 0.015, 2, "0.05"),  # 0.045
        (sum([0.1] * 25), 0, "3"),  # 2.5
    ],
)
def test_computed_ties_by_name(value, places, text):
    assert digits.one(value, places, Rule()) == text


def test_what_is_near_a_tie_and_not_one():
    assert one_rounded(0.4999999, 0) == 0
    assert one_rounded(0.125 - 3e-9 / 100, 2) == 0.12  # 3e-9 unit below a half
    assert one_rounded(0.125 + 3e-9 / 100, 2, "half-even") == 0.13
    assert one_rounded(0.125 + 3e-10 / 100, 2, "half-even") == 0.12


# --- figures as text --------------------------------------------------------------------------------------------------


def test_trimmed_prints_exact_figures_bare_and_others_in_full():
    values = [1, 0.5, -2, 0, 100, 0.14, 0.0001, -np.inf]
    assert texts_of(computed(values)) == ["1", "0.5", "-2", "0", "100", "0.14", "0", "-∞"]
    inexact = computed(values, [False] * 7 + [True])
    assert texts_of(inexact) == ["1.000", "0.500", "-2.000", "0.000", "100.000", "0.140", "0.000", "-∞"]
    assert texts_of(computed([10, 200.4, 0.4], places=0)) == ["10", "200", "0"]


def test_fixed_prints_all_decimals_everywhere():
    values = [1, 0.5, -2, 0, -np.inf]
    for exact in (True, False):
        assert texts_of(computed(values, exact, 2), numbers="fixed") == ["1.00", "0.50", "-2.00", "0.00", "-∞"]


def test_given_figures_are_printed_as_written():
    written = ["2", "0.50", "-1.23456", "0", "1e-20", "-∞", "100", "007.5"]
    assert texts_of(given_figures(written, 2)) == written
    assert texts_of(given_figures(written, 2), rounding="carried", weights="sum-to-one") == written


def test_fixed_pads_given_figures_and_never_cuts_them():
    written = ["2", "0.5", "-1.23456", "0", "1e-20", "-∞", "100"]
    assert texts_of(given_figures(written, 2), numbers="fixed") == [
        "2.00", "0.50", "-1.23456", "0.00", "1e-20", "-∞", "100.00",
    ]  # fmt: skip
    assert texts_of(given_figures(["2", "-0.5", "10"], 0), numbers="fixed") == ["2", "-0.5", "10"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.sampled_from(PLACES))
def test_trimmed_and_fixed_say_the_same(values, places):
    fixed = texts_of(computed(values, places=places), numbers="fixed")
    bare = texts_of(computed(values, places=places))
    for long, short in zip(fixed, bare, strict=True):
        assert Fraction(long) == Fraction(short)
        assert len(long.partition(".")[2]) == places
        assert not ("." in short and short[-1] in "0.")


def test_printed_is_what_the_text_says():
    figures = computed([0.2483, 0.2483, 0.5034, 1e7 / 3], exact=False)
    printed = digits.printed(figures, Rule())
    assert [float(text) for text in texts_of(figures)] == printed[0].tolist()
    kept = given_figures(["0.12345"], 2)
    assert digits.printed(kept, Rule())[0, 0] == 0.12345


def test_minus_infinity_stays():
    assert one_rounded(-math.inf, 3) == -math.inf
    assert digits.one(-math.inf, 3, Rule()) == "-∞"
    mixed = rounding.rounded(np.array([[-np.inf, 0.0005], [1e300, -np.inf]]), 3)
    assert mixed.tolist() == [[-math.inf, 0.001], [1e300, -math.inf]]


def test_figures_of_more_digits_than_float64_holds():
    assert digits.one(1e300, 3, Rule()) == "1e300"
    assert digits.one(-1e300, 0, Rule()) == "-1e300"
    assert digits.one(12345678901234567890.0, 3, Rule()) == "1.2345678901234567e19"  # 17 digits name it
    assert [*map(digits.decimals_in, ("1.25e19", "6.03e-06", "0.250", "-∞"))] == [0, 8, 3, 0]
    assert digits.constant(3e20, 3, Rule()) == "3e20"  # its 0 is none that is left out
    assert digits.as_text(np.array([[1e16, 1.5]]), 2).tolist() == [["1e16", "1.5"]]
    assert digits.one(1e-300, 3, Rule()) == "0.000"
    assert digits.one(5e-324, 6, Rule()) == "0.000000"
    assert digits.one(123456789012345.67, 6, Rule()) == "123456789012345.670000"
    assert digits.one(1234567890123456.5, 0, Rule()) == "1234567890123457"
    assert digits.one(0.1, 20, Rule()) == "0.10000000000000000000"


# --- weights that add up to 1 -----------------------------------------------------------------------------------------

parts = st.lists(st.integers(0, 1000), min_size=1, max_size=8).filter(any)


def units_of(row, places):
    units = [Decimal(repr(float(figure))).scaleb(places) for figure in row]
    assert all(unit == unit.to_integral_value() for unit in units), row
    return [int(unit) for unit in units]


def closest(quotas, choices, total):
    """Of all ways to give so many units the one with the least squared error; of equals, that of the first columns."""
    ways = [units for units in itertools.product(*choices) if sum(units) == total]
    error = {units: sum((unit - quota) ** 2 for unit, quota in zip(units, quotas, strict=True)) for units in ways}
    least = min(error.values())
    return list(max(units for units in ways if error[units] == least))


def apportioned_units(counts, places):
    row = np.array([counts], dtype=float) / sum(counts)
    return units_of(rounding.apportioned(row, places)[0], places)


@given(parts, st.integers(0, 9))
@example([1, 1, 1], 3)
@example([0, 1, 0], 3)
@example([1, 1, 1, 1, 1, 1, 0], 3)
def test_a_row_of_weights_adds_up_to_1(counts, places):
    units = apportioned_units(counts, places)
    assert sum(units) == 10**places
    assert all(unit == 0 for unit, count in zip(units, counts, strict=True) if count == 0)
    plain = [by_hand(Decimal(count) / sum(counts), places).scaleb(places) for count in counts]
    assert all(abs(unit - other) <= 1 for unit, other in zip(units, plain, strict=True))


@given(parts.filter(lambda counts: len(counts) <= 6), st.integers(0, 4))
@example([1, 1, 1], 3)
@example([1, 1, 2], 0)
@example([3, 3, 3, 3, 3, 1], 2)
def test_the_largest_remainders_get_what_is_left(counts, places):
    quotas = [Fraction(count, sum(counts)) * 10**places for count in counts]
    choices = [(math.floor(quota), math.floor(quota) + 1) for quota in quotas]
    assert apportioned_units(counts, places) == closest(quotas, choices, 10**places)


@given(parts.filter(lambda counts: len(counts) <= 4))
def test_no_other_row_of_tenths_is_nearer(counts):
    quotas = [Fraction(count, sum(counts)) * 10 for count in counts]
    assert apportioned_units(counts, 1) == closest(quotas, [range(11)] * len(counts), 10)


@pytest.mark.parametrize(
    ("row", "places", "texts"),
    [
        # Article 1, rows 2 and 3 of A: e^0.707.. and e^1.414.. over their sums; 0.248, 0.248, 0.503 each rounded alone
        ([0.24825, 0.24825, 0.5035], 3, ["0.248", "0.248", "0.504"]),
        ([1 / 3, 1 / 3, 1 / 3], 2, ["0.34", "0.33", "0.33"]),
        ([0.125, 0.125, 0.75], 2, ["0.13", "0.12", "0.75"]),
        ([0.1 + 0.2 - 0.175, 0.125, 0.75], 2, ["0.13", "0.12", "0.75"]),  # noise makes no remainder larger
        ([0.125, 0.1 + 0.2 - 0.175, 0.75], 2, ["0.13", "0.12", "0.75"]),
        ([0.5, 0.5], 0, ["1", "0"]),
        ([0.0, 0.25, 0.75], 1, ["0.0", "0.3", "0.7"]),
        ([0.0, 0.0, 0.0], 2, ["0.00", "0.00", "0.00"]),  # nothing visible: it does not add up to 1, and stays
    ],
)
def test_rows_of_weights_by_name(row, places, texts):
    weights = computed(row, False, places, rows_sum_to_one=True)
    assert texts_of(weights, weights="sum-to-one") == texts
    assert texts_of(weights, weights="plain") == [digits.one(value, places, Rule()) for value in row]


def test_each_row_of_weights_is_apportioned_by_itself():
    rows = np.array([[1 / 3, 1 / 3, 1 / 3], [0, 0, 0], [0.015, 0.015, 0.97]])
    assert rounding.apportioned(rows, 2).tolist() == [[0.34, 0.33, 0.33], [0, 0, 0], [0.02, 0.01, 0.97]]


def test_a_row_that_does_not_add_up_to_1_is_rounded_figure_by_figure():
    rows = np.array([[0.125, 0.125], [0.5, 0.505], [2.0, 1.005]])
    for ties in TIES:
        assert rounding.apportioned(rows, 2, ties).tolist() == rounding.rounded(rows, 2, ties).tolist()


@pytest.mark.parametrize(
    ("row", "places"),
    [
        ([0.9999995, 0.0], 7),  # the hidden key gets a unit
        ([0.9999992, 0.0, 0.0], 8),  # both hidden keys do
        ([0.50000001, 0.5], 8),  # one unit too many, and one more is added
    ],
)
def test_rows_that_nearly_add_up_to_1(row, places):
    """They come of a carried solution whose row sums have fewer decimals than its weights."""
    units = units_of(rounding.apportioned(np.array([row]), places)[0], places)
    plain = [int(by_hand(Decimal(repr(value)), places).scaleb(places)) for value in row]
    near = all(abs(unit - other) <= (other > 0) for unit, other in zip(units, plain, strict=True))
    assert units == plain or (near and sum(units) == 10**places)


# --- which figures need no more decimals ------------------------------------------------------------------------------


@given(st.integers(-(10**7), 10**7), st.integers(0, 6), st.sampled_from(PLACES))
@example(425, 3, 2)
@example(0, 3, 0)
def test_a_figure_fits_the_decimals_it_is_written_with(digits, decimals, places):
    figure = Decimal(digits).scaleb(-decimals)
    expected = figure == figure.quantize(Decimal(1).scaleb(-places))
    assert bool(rounding.fits(np.array([float(figure)]), places)[0]) == expected


def test_noise_needs_no_decimals():
    sums = np.array([0.1 + 0.2, 0.1 * 3, 1.1 * 1.1 - 1.21, 0.3 - 0.1 * 3])
    assert rounding.fits(sums, 1).tolist() == [True, True, True, True]
    assert rounding.fits(np.array([2 / 3, 0.301, math.sqrt(2), math.e]), 2).tolist() == [False] * 4
    assert rounding.fits(np.array([-np.inf, 0.0]), 0).tolist() == [True, True]


def test_a_small_figure_is_not_taken_for_0():
    assert rounding.fits(np.array([1e-12, 1.0]), 3).tolist() == [False, True]
    assert rounding.fits(np.array([1e-300]), 3).tolist() == [False]
    assert rounding.fits(np.array([math.exp(-30), math.exp(-1)]), 6).tolist() == [False, False]


def test_a_constant_is_bare_where_it_can_be():
    assert digits.constant(2.0, 3, Rule()) == "2"
    assert digits.constant(math.sqrt(2), 3, Rule()) == "1.414"
    assert digits.constant(0.5, 3, Rule()) == "0.5"


@pytest.mark.parametrize("ties", ["half-up", "half-even"])
def test_many_figures_are_rounded_as_each_is(ties: str) -> None:
    few = np.array([[0.0005, -0.0015, 2.675], [1e9 + 0.0005, -np.inf, -0.0004]])
    many = np.tile(few, (20_000, 1))
    assert many.size > 2**16
    assert (rounding.rounded(many, 3, ties) == np.tile(rounding.rounded(few, 3, ties), (20_000, 1))).all()


@pytest.mark.parametrize("places", range(13))
def test_long_figures_are_rounded_as_by_decimals(places: int) -> None:
    draws = np.random.default_rng(places)
    values = np.exp(draws.uniform(np.log(1e5), np.log(2e13), 1200)) * draws.choice([-1, 1], 1200) / 10**places
    values[::4] = (np.rint(values[::4] * 10**places) + 0.5) / 10**places  # ties, and figures of few digits
    values[1::4] = values[1::4].round(2)
    long = values[np.abs(values) * 10**places > 1e6].tolist()
    judged = [(each, Decimal(repr(each))) for each in long if not on_the_edge(Decimal(repr(each)), places)]
    assert len(judged) > 700
    check([value for value, _ in judged], [decimal for _, decimal in judged], places)


@pytest.mark.parametrize("places", [0, 1, 3, 12])
@pytest.mark.parametrize("spread", [3.0, 1e3, 1e17])
def test_many_figures_are_written_as_each_is(places: int, spread: float) -> None:
    values = rounding.rounded(np.random.default_rng(places).normal(scale=spread, size=(40, 50)), places)
    values[::7, 3], values[5, ::9], values[1, 1] = -np.inf, np.inf, np.nan
    alone = [[digits.in_full(np.array([[value]]), places)[0, 0] for value in row] for row in values.tolist()]
    assert digits.in_full(values, places).tolist() == alone


LARGEST = 1.7976931348623157e308


@pytest.mark.parametrize("places", [0, 3, 12, 308])
@pytest.mark.parametrize("values", [
    [[1e308, -1.5e308]], [[LARGEST, -LARGEST, 5e-324]], [[math.inf, -math.inf], [math.nan, -0.0]],
    [[-1e308] * 5], [[2.0**53, 0.5], [-(2.0**53) - 2, 1e16]], [[]], [[], []],
])  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_the_largest_figures_and_none_at_all_are_written_as_each_is(values: list[list[float]], places: int) -> None:
    figures = rounding.rounded(np.array(values), places)
    alone = [[digits.in_full(np.array([[value]]), places)[0, 0] for value in row] for row in figures.tolist()]
    found = digits.in_full(figures, places)
    assert found.tolist() == alone and found.shape == figures.shape
    assert not [text for text in found.flat if text.startswith("-") and not text.strip("-0.")]


# --- what other modules ask -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("places", [0, 3, 6, 12])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 1, 1)])
def test_a_figure_is_rounded_alike_in_an_array_of_any_shape(shape: tuple[int, ...], places: int) -> None:
    for value in (0.0, 0.0005, -2.5, 1234567.8901234, 1e15 + 0.5, 2.0**60, -1e300, np.inf):
        found = rounding.rounded(np.full(shape, value), places)
        assert np.shape(found) == shape and float(np.ravel(found)[0]) == rounding.rounded(np.full(9, value), places)[0]


@pytest.mark.parametrize("places", range(13))
def test_half_a_unit(places: int) -> None:
    text = digits.half_unit(places)
    assert 2 * Fraction(text) * 10**places == 1 and set(text) <= set("0.5")


@given(st.integers(-(10**9), 10**9), st.integers(0, 6), st.integers(0, 6))
@example(25, 1, 0)  # a tie: 2 is shown by one rule, 3 by the other
@example(-25, 1, 0)
@example(3, 0, 2)
def test_the_figures_that_are_right_besides_the_one_that_is_shown(units: int, decimals: int, places: int) -> None:
    """Those within half a unit: the other end of a tie, or the nearest, where another one is shown."""
    exact, unit = Fraction(units, 10**decimals), Fraction(1, 10**places)
    below = exact // unit * unit
    near = {each for each in (below, below + unit) if abs(each - exact) * 2 <= unit}
    value = float(Decimal(units).scaleb(-decimals))
    for shown in (below, below + unit, below - unit):
        text = digits.as_text(np.array([float(shown)]), places, bare=False)[0]
        assert {Fraction(each) for each in digits.as_right(value, places, text)} == near - {shown}


def test_nothing_is_right_besides_minus_infinity() -> None:
    assert digits.as_right(-math.inf, 3, "-∞") == ()


@given(st.integers(-(10**15) + 1, 10**15 - 1), st.integers(0, 12))
def test_decimals_are_rid_of_noise_and_long_figures_are_left_as_they_are(units: int, places: int) -> None:
    value = units / 10**places  # the nearest float64
    noisy = value + value * 4e-16 * (abs(units) < 10**12)
    assert rounding.snapped(np.array([noisy]), places)[0] == value
    long = float(units) * 1e8 + 0.125
    if abs(long) * 10.0**places >= 2.0**52:
        assert rounding.snapped(np.array([long, -np.inf]), places).tolist() == [long, -np.inf]


@given(st.integers(10**7, 10**14), st.integers(0, 6), st.sampled_from(PLACES))
def test_a_long_figure_fits_the_decimals_it_is_written_with(digits: int, decimals: int, places: int) -> None:
    """Its float64 is off by as much as 1e-16 of itself, which may be many times 1e-9 unit."""
    figure = Decimal(digits).scaleb(-decimals)
    if figure == figure.quantize(Decimal(1).scaleb(-places)):
        assert rounding.fits(np.array([float(figure)]), places)[0]
    elif digits < 10**11:
        assert not rounding.fits(np.array([float(figure)]), places)[0]


@pytest.mark.parametrize(("value", "places", "moves"), [
    (math.sqrt(2), 3, True), (2.0, 3, False), (0.25, 2, False), (0.25, 1, True), (1e-5, 3, False), (0.0004, 3, False),
    (0.0006, 3, True), (0.6, 0, True), (0.4, 0, False), (1e12 + 0.25, 0, True), (-math.sqrt(3), 2, True),
])  # fmt: skip
def test_where_a_constant_may_lie(value: float, places: int, moves: bool) -> None:
    """As it is, or with so many decimals or one more, whichever way a tie goes; whole or too small, as it is."""
    low, kept, high = rounding.constant_bounds(value, places)
    assert kept == value and (low < value < high) == moves and (low == value == high) != moves
    if moves:
        unit, exact = Decimal(1).scaleb(-places), Decimal(value)
        written = [exact.quantize(each, rounding) for each in (unit, unit / 10)
                   for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)]  # fmt: skip
        assert all(low <= each <= high for each in map(float, written))
        assert high - low <= float(unit) * 1.11  # no wider than a decimal


def test_the_decimals_of_a_step_are_those_of_its_id_else_of_the_end_of_it() -> None:
    rule = Rule(decimals=3, by_step={"A": 2, "head2.A": 5, "head2": 7})
    assert [rule.places(id) for id in ("A", "head1.A", "head2.A", "layer1.head2.A", "head2.O")] == [2, 2, 5, 2, 3]
    assert [rule.says(id) for id in ("A", "head1.A", "head2.O", "O")] == [True, True, False, False]
    assert Rule(asked=True).says("O")
