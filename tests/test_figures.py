"""Where "=" may stand: for whole matrices at once as for each figure by itself, by Fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attncalc import expr
from attncalc.formats import render
from attncalc.layout import figures, lay_out
from attncalc.layout.figures import Figures, Printed
from attncalc.mechanisms import solve
from attncalc.problem import load, parse
from attncalc.steps import Arrange, Step

PROBLEMS = sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))
MOST = 200  # figures of a step that are looked at one by one


def is_true(printed: Mapping[Step, Figures], step: Step, i: int, j: int) -> bool | None:
    """Whether the texts of the operands give that of the cell; None where one is no number."""
    pattern, cells = step.working(i, j)
    texts = [str(printed[of].texts[row, column]) for of, row, column in cells]
    own = str(printed[step].texts[i, j])
    if any(text.strip("-") in ("∞", "?") for text in (own, *texts)):
        return None
    return expr.rational(pattern, [*map(Fraction, texts)]) == Fraction(own)


@pytest.mark.parametrize("how", [{}, {"rounding": "carried"}, {"decimals": 1}], ids=str)
@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_matrix_at_once_is_true_where_each_of_its_figures_is(path: Path, how: dict[str, str]) -> None:
    read = load(path).with_show(**how)
    printed = Printed(solve(read), read.show.rule)
    for step in [step for step in printed if step.operands and np.prod(step.shape) <= MOST]:
        if isinstance(step, Arrange) and step.choosers:
            continue  # says as well what is chosen
        alone = [[is_true(printed, step, i, j) for j in range(step.shape[1])] for i in range(step.shape[0])]
        at_once = printed[step].true.tolist()
        for row, own in zip(alone, at_once, strict=True):
            assert own == [here if each is None else each for each, here in zip(row, own, strict=True)], step.id


NUMBERS = st.sampled_from([
    "0", "1", "-1", "0.5", "0.25", "0.1", "0.3", "-0.7", "3", "1e308", "-1e308", "1e-300", "0.0005", "12345678.5",
    "1.000000000000000000000000000000000001",
])  # fmt: skip


def rows(n: int, m: int) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(NUMBERS, min_size=m, max_size=m), min_size=n, max_size=n)


def written(matrix: list[list[str]]) -> str:
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in matrix) + "]"


@given(rows(2, 3), st.sampled_from(["exact", "carried"]), st.integers(0, 6))
@example([["1e308", "0", "0"], ["1", "0", "0.5"]], "exact", 3)  # 1e308/2 + 1/2 is not 1e308/2
@example([["1.000000000000000000000000000000000001", "1", "1"], ["1", "1", "1"]], "exact", 3)
def test_a_sum_of_products_says_at_once_what_each_says_alone(V: list[list[str]], rounding: str, places: int) -> None:
    text = f"A: [[0.5, 0.5], [1, 0], [0, 1]]\nV: {written(V)}\n"
    read = parse(text.encode()).with_show(rounding=rounding, decimals=places)
    solution = solve(read)
    printed = Printed(solution, read.show.rule)
    step = solution.result
    assert [operand.id for operand in step.operands] == ["A", "V"]
    (a, v), own = (printed[operand].texts for operand in step.operands), printed[step].texts
    terms = printed[step].terms
    for i, j in np.ndindex(step.shape):
        added = sum(map(Fraction, terms.texts[i, j]))
        exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a[i], v[:, j], strict=True))
        assert terms.exact[i, j] == (added == exact)
        assert terms.whole[i, j] == (added == Fraction(own[i, j]))
        assert printed[step].true[i, j] == is_true(printed, step, i, j)


def long_figures(draw: np.random.Generator, n: int, m: int, digits: int, places: int) -> str:
    return written([[f"{x:.{places}f}" for x in row] for row in draw.uniform(-1, 1, size=(n, m)) * 10.0**digits])


@pytest.mark.parametrize("places", [0, 2, 5])
@pytest.mark.parametrize("digits", [1, 4, 6, 8])
def test_long_figures_are_told_apart_as_each_is_alone(digits: int, places: int) -> None:
    """Where float64 is sure of them, and where it is not."""
    draw = np.random.default_rng(digits)
    text = "".join(f"{name}: {long_figures(draw, 6, 2, digits, places)}\n" for name in "QKV") + "scale: none\n"
    for how in ({"decimals": 2 * places}, {"decimals": 3}):
        read = parse(text.encode()).with_show(**how)
        printed = Printed(solve(read), read.show.rule)
        for step in [step for step in printed if step.operands]:
            alone = [[is_true(printed, step, i, j) for j in range(step.shape[1])] for i in range(step.shape[0])]
            assert printed[step].true.tolist() == alone, step.id


def test_large_matrices_of_whole_numbers_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def one(*_: object) -> bool:
        looked.append(1)
        return True

    looked: list[int] = []
    monkeypatch.setattr(figures, "_holds", one)
    draw = np.random.default_rng(1)
    text = "".join(f"{name}: {written(draw.integers(0, 20_000, (60, 2)).astype(str).tolist())}\n" for name in "QKV")
    read = parse(f"{text}scale: none\nshow: {{detail: matrices}}\n".encode())
    printed = Printed(solve(read), read.show.rule)
    assert all(printed[step].true.all() for step in printed if step.id in ("S", "shifted", "K_T")) and not looked


@pytest.mark.parametrize("carried", [False, True])
def test_products_of_long_figures_are_not_looked_at_one_by_one(
    carried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where 12 decimals are more than float64 tells apart."""
    monkeypatch.setattr(figures, "_holds", lambda *_: pytest.fail("a figure by itself"))
    draw = np.random.default_rng(2)
    text = "".join(f"{name}: {long_figures(draw, 20, 3, 8, 6)}\n" for name in "QKV") + "scale: none\n"
    read = parse(text.encode()).with_show(decimals=12, rounding="carried" if carried else "exact")
    printed = Printed(solve(read), read.show.rule)
    found = printed[next(step for step in printed if step.id == "S")]
    assert found._near.any() and found.true.shape == (20, 20)


LARGE = st.sampled_from(["1e16", "-1e16", "123456789012345678", "-123456789012345677", "1", "-1", "0.5", "0", "1e-3"])


@given(
    st.lists(st.lists(LARGE, min_size=4, max_size=4), min_size=2, max_size=2),
    st.lists(st.lists(st.sampled_from(["0", "1", "-1", "3", "1e15"]), min_size=2, max_size=2), min_size=4, max_size=4),
    st.sampled_from(["exact", "carried"]),
)
def test_a_small_sum_of_large_figures_is_right(H: list[list[str]], W: list[list[str]], rounding: str) -> None:
    """10¹⁶ + 1 - 10¹⁶ is 1, which float64 has lost."""
    text = f"kind: feed-forward\nx: {written(H)}\nW_1: {written(W)}\nW_2: [[1], [1]]\nactivation: none\n"
    read = parse(text.encode()).with_show(rounding=rounding)
    solution = solve(read)
    hidden = solution.steps["hidden"]
    assert hidden.operands
    for i, j in np.ndindex(hidden.shape):
        exact = sum(Fraction(H[i][k]) * Fraction(W[k][j]) for k in range(4))
        assert abs(Fraction(hidden.values[i, j]) - exact) <= max(abs(exact) / 2**53, Fraction(1, 2000)), (i, j)
    printed = Printed(solution, read.show.rule)
    for step in [step for step in printed if step.operands]:
        alone = [[is_true(printed, step, i, j) for j in range(step.shape[1])] for i in range(step.shape[0])]
        assert printed[step].true.tolist() == alone, step.id


@pytest.mark.parametrize(("figure", "says"), [("1e11", False), ("1e13", True)])
def test_a_page_says_which_figures_float64_does_not_hold(figure: str, says: bool) -> None:
    read = parse(f"Q: [[1, 0]]\nK: [[1, 0], [0, 1]]\nV: [[{figure}], [-{figure}]]\n".encode())
    steps = [step.id for step in solve(read).steps.values() if step.may_be_off]
    assert steps == (["O"] if says else [])
    page = render("text", lay_out(solve(read), read.show, "en", kind=read.kind))
    assert ("float64 holds about 15 digits" in page) is says


def test_many_figures_of_a_small_working_are_looked_at() -> None:
    """However many rows and columns there are: each is one score and what divides it."""
    scores = (3 * np.random.default_rng(3).integers(-9, 9, (150, 150))).astype(str).tolist()
    read = parse(f"S: {written(scores)}\nd_k: 9\nshow: {{detail: matrices}}\n".encode())
    printed = Printed(solve(read), read.show.rule)
    assert next(figures for step, figures in printed.items() if step.id == "scaled").true.all()


def test_a_large_matrix_holds_no_fewer_digits_of_each_figure() -> None:
    """The noise of a sum is that of its terms, not of all that stands beside them."""
    for n in (2, 300):
        rows = written([["1e10"] * n])
        steps = solve(parse(f"kind: residual\nx: {rows}\nf: {rows}\n".encode())).steps.values()
        assert not [step.id for step in steps if step.may_be_off]


@pytest.mark.parametrize("scale", ["1e-15", "{multiply: 1e15}", "1e-300", "{multiply: 123456789012345.6}"])
@pytest.mark.parametrize("rounding", ["exact", "carried"])
def test_long_figures_that_a_constant_makes_are_worked_from_their_digits(scale: str, rounding: str) -> None:
    """0.7 / 1e-15 is 699999999999999.9 in float64."""
    given = ["0.3", "0.1", "0.7", "1.1"]
    read = parse(f"S: {written([given])}\nscale: {scale}\n".encode()).with_show(rounding=rounding)
    scaled = solve(read).steps["scaled"]
    factor = Fraction(scale[11:-1]) if scale.startswith("{") else 1 / Fraction(scale)
    assert scaled.values.tolist() == [[float(round(Fraction(x) * factor, 3)) for x in given]]
    assert scaled.may_be_off


def test_a_long_perplexity_is_said_to_be_off() -> None:
    """1/√(1.2e-27) is 28867513459481.288, of which float64 has 14 digits by way of ln."""
    steps = solve(parse(b"kind: loss\nprobabilities: [1e-13, 1.2e-14]\n")).steps.values()
    assert [step.id for step in steps if step.may_be_off] == ["perplexity"]
