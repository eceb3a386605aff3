"""The last digits of long figures, and figures next to a tie: those of the page are what its own figures give, by
fractions; whoever works with all digits is told no slip; and what a page says of figures holds of those it prints."""

from __future__ import annotations

from contextlib import suppress
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction
from math import prod
from random import Random

import pytest

from attncalc import expr, mark, parse, sheet, solve
from attncalc.errors import AttncalcError
from attncalc.formats import render
from attncalc.layout import lay_out
from attncalc.layout.figures import Printed
from attncalc.problem import Problem
from attncalc.solution import Solution
from attncalc.steps import Arrange, Given

WIDE = Context(prec=700, Emax=99999, Emin=-99999)
TIES = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN}
HOW = [(rounding, ties) for rounding in ("exact", "carried") for ties in TIES]


def as_decimal(x: Fraction) -> Decimal:
    return WIDE.divide(Decimal(x.numerator), Decimal(x.denominator))


def rounded(x: Fraction, places: int, ties: str = "half-up") -> Decimal:
    """Of a decimal, or of what is none and so no tie."""
    return as_decimal(x).quantize(Decimal(1).scaleb(-places), TIES[ties], WIDE)


def near_a_tie(random: Random, digits: int, places: int) -> str:
    """A figure of so many digits before its point that is a tie, or is next to one by less than float64 can say."""
    whole, unit = random.randrange(10 ** (digits - 1), 10**digits), random.randrange(10**places)
    off = Fraction(random.choice([-1, 0, 1]) * random.randint(1, 9), 10 ** random.randint(16 - digits, 22 - digits))
    tie = whole + Fraction(2 * unit + 1, 2 * 10**places)
    with localcontext(WIDE):
        return f"{random.choice([1, -1]) * as_decimal(tie + off / 10 ** places):f}"


@pytest.mark.parametrize(("rounding", "ties"), HOW)
@pytest.mark.parametrize("digits", [1, 5, 8, 10, 11, 12])
def test_what_is_next_to_a_tie_is_rounded_to_its_own_side(digits: int, rounding: str, ties: str) -> None:
    random = Random(f"{digits} {rounding} {ties}")
    for places in (0, 1, 3):
        figures = [near_a_tie(random, digits, places) for _ in range(60)]
        read = parse(f"kind: residual\nx: [[{', '.join(figures)}]]\nf: [[{', '.join('0' * 60)}]]\n".encode())
        read = read.with_show(rounding=rounding, ties=ties, decimals=places)
        solution = solve(read)
        shown = Printed(solution, read.show.rule)[solution.result].texts[0]
        assert [*map(Decimal, shown)] == [rounded(Fraction(x), places, ties) for x in figures]


@pytest.mark.parametrize(("rounding", "ties"), HOW)
def test_a_quotient_next_to_a_tie_is_rounded_to_its_own_side(rounding: str, ties: str) -> None:
    """x/0.7 and x/3 are next to a tie, or are one, where x is what the tie times that is, or a little beside it."""
    random = Random(f"{rounding} {ties}")
    for temperature in ("0.7", "3", "0.3"):
        figures = []
        for _ in range(40):
            tie = Fraction(2 * random.randrange(10**13, 10**14) + 1, 2000)
            beside = Fraction(random.choice([-1, 0, 0, 1]), 10 ** random.randint(6, 9))
            figures.append(f"{as_decimal(tie * Fraction(temperature) + beside):f}")
        text = f"kind: softmax\nx: [[{', '.join(figures)}]]\ntemperature: {temperature}\n"
        read = parse(text.encode()).with_show(rounding=rounding, ties=ties)
        solution = solve(read)
        shown = Printed(solution, read.show.rule)[solution.steps["scaled"]].texts[0]
        expected = [rounded(Fraction(x) / Fraction(temperature), 3, ties) for x in figures]
        assert [*map(Decimal, shown)] == expected


@pytest.mark.parametrize("rounding", ["exact", "carried"])
def test_a_long_perplexity_has_the_digits_of_what_it_is_worked_from_or_is_named(rounding: str) -> None:
    """float64 holds 27.6 to within 1.8e-15, and so e^27.6 to within 0.0017."""
    random, named = Random(rounding), 0
    for _ in range(150):
        probability = f"{random.randint(1000, 9999)}e-{random.randint(9, 16)}"
        read = parse(f"kind: loss\nprobabilities: [{probability}]\n".encode()).with_show(rounding=rounding)
        solution = solve(read)
        printed = Printed(solution, read.show.rule)
        (mean,), (shown,) = (printed[solution.steps[id]].texts[0] for id in ("mean", "perplexity"))
        right = WIDE.exp(Decimal(mean)) if rounding == "carried" else 1 / Decimal(probability)
        if solution.steps["perplexity"].may_be_off:
            named += 1
            page = render("text", lay_out(solution, read.show, "en", kind=read.kind))
            assert "the last ones that are shown of PPL may be off" in page
            assert abs(Decimal(shown) - right) <= right * Decimal("1e-13")
        elif rounding == "carried":
            assert Decimal(shown) == right.quantize(Decimal("0.001"), ROUND_HALF_UP, WIDE)
        else:  # of which a last bit may say on which side of a tie it is
            assert abs(Decimal(shown) - right) < Decimal("0.00075")
    assert 0 < named < 150


@pytest.mark.parametrize(("rounding", "ties"), HOW)
def test_a_tanh_next_to_a_tie_or_of_long_figures_has_the_digits_of_what_it_is_worked_from(
    rounding: str, ties: str
) -> None:
    """30·tanh(0.0005/30) is less than 0.0005 by 5e-14; and 10¹⁶ + 1 - 10¹⁶ is 1."""
    figures = ["0.0005", "-0.0005", "0.00050000000000000001", "0.0005000000001", "2", "-36", "1000"]
    for cap in ("30", "0.7", "100000"):
        text = f"S: [[{', '.join(figures)}]]\nscale: none\nsoftcap: {cap}\n"
        read = parse(text.encode()).with_show(rounding=rounding, ties=ties)
        solution = solve(read)
        shown = Printed(solution, read.show.rule)[solution.steps["softcap"]].texts[0]
        expected = [Fraction(cap) * tanh(Fraction(x) / Fraction(cap)) for x in figures]
        assert [*map(Decimal, shown)] == [rounded(x, 3, ties) for x in expected]
    text = "Q: [[10000000000000001, 1]]\nK: [[-1e16, 2], [-1e16, -1e16]]\nscores: additive\nv_a: [-2, 3]\n"
    read = parse(text.encode()).with_show(rounding=rounding, ties=ties)
    solution = solve(read)
    shown = Printed(solution, read.show.rule)[solution.steps["S"]].texts[0]
    expected = [-2 * tanh(Fraction(1)) + 3 * tanh(Fraction(3)), -2 * tanh(Fraction(1)) - 3]
    assert [*map(Decimal, shown)] == [rounded(x, 3, ties) for x in expected]


@pytest.mark.parametrize("degrees", ["yes", "no"])
def test_sines_and_cosines_of_angles_whose_last_digits_may_be_off_are_named(degrees: str) -> None:
    """Their law says the digits of some figures only: cos 60° is 0.5."""
    named = {}
    for angle in ("1000000000000000.3", "1000.3"):
        text = f"kind: rotary\nx: [[1, 0]]\nangles: [[{angle}]]\nstart: 1\ndegrees: {degrees}\n"
        steps = solve(parse(text.encode()).with_show(rounding="carried")).steps
        named[angle] = {id for id in ("cos", "sin") if steps[id].may_be_off}
    assert named == {"1000000000000000.3": {"cos", "sin"}, "1000.3": set()}


def tanh(x: Fraction) -> Fraction:
    power = Fraction(WIDE.exp(as_decimal(2 * x)))
    return (power - 1) / (power + 1)


def test_what_comes_of_figures_that_may_be_off_may_be_off_too() -> None:
    """(10¹⁶ + 1)/√2 less 10¹⁶/√2 is 0.707, and what is left of it in float64 is 0 or 2; not so where each is carried
    with its digits."""
    text = "Q: [[1, 1e16]]\nK: [[1, 1], [0, 1]]\nV: [[1], [2]]\n"
    after = {"shifted", "exp", "row_sum", "A", "O"}
    for rounding, named in (("exact", {"S", "scaled", "row_max", *after}), ("carried", {"S", "scaled", "row_max"})):
        steps = solve(parse(text.encode()).with_show(rounding=rounding)).steps.values()
        assert {step.id for step in steps if step.may_be_off and not isinstance(step, Arrange)} == named


def test_how_much_of_a_problem_is_worked_with_all_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it takes a hundred times as long: however many steps there are, and of what is left as it is, it is said."""
    text = "H: [[1, 1e13], [1e13, 3]]\nheads: 2\n" + "".join(f"W_{x}: [[1, 2], [3, 4]]\n" for x in "QKV")
    read = parse(text.encode()).with_show(rounding="carried")
    worked = [step for step in solve(read).steps.values() if step.in_digits]
    most = sum(step.in_digits for step in worked[:2])
    monkeypatch.setattr(sheet, "MOST_IN_DIGITS", most)
    steps = solve(read).steps
    assert [step.id for step in steps.values() if step.in_digits] == [step.id for step in worked[:2]]
    assert len(worked) > 2 and steps[worked[2].id].may_be_off and not steps[worked[0].id].may_be_off


# --- honest figures after a slip --------------------------------------------------------------------------------------


def value_of(tree: expr.Expr, figures: list[Fraction]) -> Fraction:
    """A working's value with hundreds of digits."""
    if tree.op == "slot":
        return figures[tree.args[0]]
    if tree.op == "number":
        return Fraction(tree.args[1])
    called, arguments = (tree.args[0].args[0], tree.args[1:]) if tree.op == "call" else (tree.op, tree.args)
    a, *others = (value_of(each, figures) for each in arguments)
    if called in ("exp", "sqrt", "ln"):
        return Fraction(getattr(WIDE, called)(as_decimal(a)))
    if called == "over":
        return a / others[0] if a or others[0] else a
    if called in ("max", "argmax"):
        return max([a, *others]) if called == "max" else Fraction([a, *others].index(max([a, *others])))
    return {"plus": lambda: sum(others, a), "minus": lambda: a - others[0], "negated": lambda: -a,
            "times": lambda: prod(others, start=a), "power": lambda: a ** int(others[0])}[called]()  # fmt: skip


LARGE = ["1e16", "-1e16", "123456789012345678", "-123456789012345677", "123456789.123456789", "1e150", "-1e150", "1",
         "-1", "0.1", "0", "2.5", "1e-16"]  # fmt: skip


def some_problem(random: Random) -> str:
    """Of few figures, so that some sums are nearly the same."""
    figures, n, m = random.sample(LARGE, random.randint(2, 4)), random.randint(1, 3), random.randint(2, 3)

    def matrix(n: int, m: int) -> str:
        return "[" + ", ".join("[" + ", ".join(random.choices(figures, k=m)) + "]" for _ in range(n)) + "]"

    return random.choice([
        f"Q: {matrix(n, m)}\nK: {matrix(n, m)}\nV: {matrix(n, m)}\n",
        f"H: {matrix(n, m)}\nW_Q: {matrix(m, 2)}\nW_K: {matrix(m, 2)}\nW_V: {matrix(m, 2)}\n",
        f"S: {matrix(n, m)}\nV: {matrix(m, 2)}\nscale: none\nmask: {{add: {matrix(n, m)}}}\n",
        f"kind: softmax\nx: {matrix(n, m)}\ntemperature: {random.choice(['0.7', '1e-300', '1e300'])}\n",
        f"kind: feed-forward\nx: {matrix(n, m)}\nW_1: {matrix(m, 2)}\nW_2: {matrix(2, m)}\n",
        f"kind: loss\nlogits: {matrix(n, m)}\ntargets: {[random.randrange(m) for _ in range(n)]}\n",
        f"kind: {random.choice(['layer-norm', 'rms-norm'])}\nx: {matrix(n, m)}\n",
    ])  # fmt: skip


def some_solution(random: Random, **show: object) -> tuple[Problem, Solution]:
    """The first of some problems that has a solution: not one that overflows, or divides a row by 0."""
    for _ in range(20):
        read = parse(some_problem(random).encode()).with_show(**show)
        with suppress(AttncalcError):
            return read, solve(read)
    raise AssertionError("20 problems without a solution")


@pytest.mark.parametrize("seed", range(80))
def test_each_figure_of_a_carried_page_is_what_its_printed_figures_give(seed: int) -> None:
    """To its last digit; or, of more digits than float64 holds, as near as it does."""
    random = Random(f"carried {seed}")
    ties, decimals = random.choice([*TIES]), random.choice([0, 1, 3, 6, 12])
    read, solution = some_solution(random, rounding="carried", ties=ties, decimals=decimals)
    printed = Printed(solution, read.show.rule)
    for step in (step for step in solution.steps.values() if step.operands and not isinstance(step, Arrange)):
        for i, row in enumerate(printed[step].texts):
            for j, text in enumerate(row):
                pattern, cells = step.working(i, j)
                used = [printed[cell.step].texts[cell.row, cell.column] for cell in cells]
                if "-∞" in (text, *used):
                    continue
                right = value_of(pattern, [*map(Fraction, used)])
                off = abs(Fraction(text) - Fraction(rounded(right, step.places, ties)))
                assert off <= (abs(right) / 2**52 if step.may_be_off else 0), (step.id, used, text)


@pytest.mark.parametrize("rounding", ["exact", "carried"])
def test_what_float64_holds_a_few_bits_of_is_worked_from_its_digits(rounding: str) -> None:
    """5e-324 is 4.94e-324 there."""
    read = parse(b"kind: loss\nprobabilities: [5e-324, 3e-323, 0.5]\n").with_show(rounding=rounding, decimals=6)
    solution = solve(read)
    for id, sign in (("log_probabilities", 1), ("losses", -1)):
        shown = Printed(solution, read.show.rule)[solution.steps[id]].texts[:, 0]
        right = [rounded(Fraction(WIDE.ln(Decimal(p))), 6) for p in ("5e-324", "3e-323", "0.5")]
        assert [sign * Decimal(each) for each in shown] == right


@pytest.mark.parametrize("carries", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_whoever_works_with_all_digits_after_a_slip_is_told_that_one_alone(seed: int, carries: bool) -> None:
    """Figures of hundreds of digits, each rounded or not before it is used; one is written wrongly, and used so."""
    random = Random(f"{seed} {carries}")
    rounding, decimals = random.choice(["exact", "carried"]), random.choice([0, 1, 3, 6, 12])
    read, solution = some_solution(random, rounding=rounding, decimals=decimals)
    if any("-∞" in step.written for step in solution.steps.values() if isinstance(step, Given)):
        return  # -1e9 and less is as good as -∞ in a mask
    computed = [step for step in solution.steps.values() if step.operands and not isinstance(step, Arrange)]
    slip = random.choice(computed)
    place = random.randrange(slip.shape[0]), random.randrange(slip.shape[1])
    used, texts = {}, {}
    for step in solution.steps.values():
        if isinstance(step, Given):
            used[step] = [[*map(Fraction, row)] for row in step.written]
            continue
        workings = [[step.working(i, j) for j in range(step.shape[1])] for i in range(step.shape[0])]
        try:
            rows = [[value_of(pattern, [used[of][i][j] for of, i, j in cells]) for pattern, cells in row]
                    for row in workings]  # fmt: skip
        except (ArithmeticError, OverflowError):  # ln of what a slip made negative
            break
        if step is slip:
            rows[place[0]][place[1]] += random.choice([1, -1]) * (1 + abs(rows[place[0]][place[1]]))
        written = [[rounded(x, step.places) for x in row] for row in rows]
        slipped = step is slip and rows
        carried = not isinstance(step, Arrange) and (carries or slipped)
        used[step] = [[*map(Fraction, row)] for row in written] if carried else rows
        if step in computed:
            texts[step.id] = [[f"{x:f}" for x in row] for row in written]
    told = {(each.step, each.row, each.column) for each in mark(read, texts).figures
            if each.verdict in ("slip", "imprecise")}  # fmt: skip
    assert told <= {(slip.id, *place)}, (seed, read.show, slip.id, place)


def test_a_figure_that_was_asked_for_without_decimals_need_not_be_a_whole_number() -> None:
    """With 12 for the sum of e and e, 0.227 is the probability, written 0, and 1.485 the loss, written 1: of which,
    used as it is, comes e^1.485 = 4.4."""
    read = parse(b"kind: loss\nlogits: [[1, 1]]\ntargets: [1]\n").with_show(rounding="carried", decimals=0)
    answers = {"exp": [["3", "3"]], "row_sum": [["12"]], "probabilities": [["0", "0"]], "log_probabilities": [["-1"]],
               "losses": [["1"]], "sum": [["1"]], "mean": [["1"]], "perplexity": [["4"]]}  # fmt: skip
    assert [each.step for each in mark(read, answers).figures if each.verdict == "slip"] == ["row_sum"]


# --- what a page says of its figures ----------------------------------------------------------------------------------


def page_of(text: str, **how: object) -> str:
    read = parse(text.encode()).with_show(**how)
    return render("text", lay_out(solve(read), read.show, "en", kind=read.kind))


def test_scores_that_their_digits_tell_apart_are_not_the_same() -> None:
    page = page_of("kind: softmax\nx: [[10000000000000000.1, 10000000000000000.2, 10000000000000000.10]]\n")
    assert "column 2 (10000000000000000.2), then column 1 and column 3 (10000000000000000.1)" in page


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0.3333333333333333, 0.3333333333333334", "the largest on position 2"),
        ("0.30, 0.3", "the same on each"),
        ("0.30000000000000000001, 0.3", "the largest on itself"),
        ("1e-13, 2e-13", "the largest on position 2"),
    ],
)
def test_weights_that_their_digits_tell_apart_are_not_the_same(row: str, said: str) -> None:
    for rounding in ("exact", "carried"):
        page = page_of(f"A: [[{row}], [1, 0]]\nV: [[1], [2]]\n", rounding=rounding)
        (line,) = (line for line in page.splitlines() if "position 1: weight" in line)
        assert line.endswith(f"; {said}")


def test_weights_that_were_rounded_to_0_are_not_said_to_be_hidden() -> None:
    text = "A: [[4e-13, 1], [0.5, 0.5]]\nV: [[1], [2]]\nmask: "
    page = page_of(text + "causal\n", rounding="carried")
    assert page.count("position 1: what is left rounds to 0, so its weights are set to 0") == 3
    assert "nothing is left" not in page and "position 1: all its weight" not in page
    page = page_of(text + "{keep: [[0, 0], [1, 1]]}\n", rounding="carried")
    assert page.count("position 1: nothing is left to attend to, so its weights are set to 0") == 3
    text = "A: [[0.3, 0.3, 0.4]]\nV: [[1], [2], [3]]\nmask: {keep: [[1, 1, 0]]}\n"
    page = page_of(text, rounding="carried", decimals=0)
    assert "rounds to 0" not in page and "nothing is left" not in page


def test_a_mask_changes_what_its_digits_say_it_changes() -> None:
    page = page_of("A: [[1, 4e-13], [1.000, 0]]\nV: [[1], [2]]\nmask: causal\n")
    assert "position 1 sees itself: its weight there adds up to 1 and is scaled to 1" in page
    assert "position 2 sees all: nothing changes" in page
