"""The engine against plain loops: every step of random problems, and article 1 digit by digit."""

import math
import re
from fractions import Fraction
from pathlib import Path

import oracle
import pytest
from hypothesis import given
from problem_files import data_of, decimals_of
from random_problems import cases

from attncalc import digits
from attncalc.errors import ProblemError
from attncalc.mechanisms import solve
from attncalc.problem import parse

# What float64 tells apart: a figure of more units is compared as a float64 is, not digit by digit.
MOST_UNITS = 10**9

# Attention and softmax, but for those with a matrix that is drawn.
SHIPPED = [
    path
    for path in sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))
    # Additive scores and query masks have plain loops of their own: test_additive.py.
    if not re.search("^draw:|^scores:|^query_mask:|random:", text := path.read_text("utf-8"), re.MULTILINE)
    and ("kind:" not in text or "kind: softmax" in text)
]

ARTICLE_1 = """
title: One head, three tokens
H:   [[1, 0], [0, 1], [1, 1]]
W_Q: [[1, 0], [0, 1]]
W_K: [[1, 1], [0, 1]]
W_V: [[1, 0], [1, 1]]
show: {decimals: 3, rounding: %s, weights: sum-to-one}
"""
ARTICLE_1_DATA = {
    "H": [["1", "0"], ["0", "1"], ["1", "1"]],
    "W_Q": [["1", "0"], ["0", "1"]],
    "W_K": [["1", "1"], ["0", "1"]],
    "W_V": [["1", "0"], ["1", "1"]],
}


def solution_of(text):
    return solve(parse(text.encode()))


def compared(case):
    """(id, the engine's figures, the oracle's) of every step: both have the same ones."""
    solution = solution_of(case.text)
    expected = oracle.attention(case.data, case.arithmetic())
    assert set(solution.steps) == set(expected)
    for id, rows in expected.items():
        yield id, solution.steps[id].values.tolist(), rows


def check_exact(id, got, expected):
    assert [len(row) for row in got] == [len(row) for row in expected], id
    for got_row, row in zip(got, expected, strict=True):
        for figure, true in zip(got_row, row, strict=True):
            near = math.isfinite(true) and abs(figure - true) <= 1e-12 * max(1, abs(true))
            assert figure == true or near, (id, got, expected)


def check_carried(id, got, expected, decimals):
    places = oracle.decimals_of(id, decimals)
    assert [len(row) for row in got] == [len(row) for row in expected], id
    for got_row, row in zip(got, expected, strict=True):
        for figure, true in zip(got_row, row, strict=True):
            if math.isinf(true) or abs(true) * 10**places <= MOST_UNITS:
                assert figure == float(true), (id, got, [[float(x) for x in row] for row in expected])
            else:
                assert figure == pytest.approx(float(true), rel=1e-12), id


@given(cases(rounding="exact"))
def test_exact_figures_are_those_of_plain_loops(case):
    for id, got, expected in compared(case):
        check_exact(id, got, expected)


@given(cases(rounding="carried"))
def test_carried_figures_are_those_of_pencil_and_paper(case):
    for id, got, expected in compared(case):
        check_carried(id, got, expected, case.decimals)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_figures_of_shipped_problems(path):
    text = path.read_text("utf-8")
    data, decimals = data_of(text), decimals_of(text)
    problem = parse(text.encode())
    for how in ("exact", "carried"):
        shown = problem.with_show(rounding=how)
        rule = shown.show.rule
        carried = oracle.Carried(decimals, rule.ties, rule.weights)
        expected = oracle.attention(data, oracle.Exact(decimals) if how == "exact" else carried)
        steps = solve(shown).steps
        assert set(steps) == set(expected)
        for id, rows in expected.items():
            if how == "exact":
                check_exact(id, steps[id].values.tolist(), rows)
            else:
                check_carried(id, steps[id].values.tolist(), rows, decimals)


@given(cases())
def test_a_row_that_sees_nothing_is_refused_where_that_is_asked_for(case):
    steps = oracle.attention(case.data, case.arithmetic())
    before = "kept" if "given_A" in steps else "masked"
    masked = [rows for id, rows in steps.items() if id.rpartition(".")[2] == before]
    none_left = oracle.HIDDEN if before == "masked" else 0
    nothing = any(all(x == none_left for x in row) for rows in masked for row in rows)
    text = f"{case.text}masked_row: error\n"
    if nothing and not carried_to_nothing(case, steps):
        with pytest.raises(ProblemError, match="sees nothing"):
            solution_of(text)
    else:
        assert set(solution_of(text).steps) == set(steps)


def carried_to_nothing(case, steps):
    """Whether weights that may be seen were only rounded to nothing."""
    if "kept" not in steps:
        return False
    exact = oracle.attention(case.data, oracle.Exact())["kept"]
    return not any(not any(row) for row in exact)


@given(cases(rounding="carried"))
def test_a_carried_solution_has_the_exact_one_beside_it(case):
    beside = solution_of(case.text).exact
    exact = solution_of(case.text.replace("rounding: carried", "rounding: exact"))
    assert exact.exact is None
    assert {id: step.values.tolist() for id, step in beside.steps.items()} == {
        id: step.values.tolist() for id, step in exact.steps.items()
    }


# Figures as article 1 prints them, parts 四 to 十三. It is neither carried nor exact throughout: its 4.113 is e^√2, and
# its 8.339 is e^2.121, so that each way of rounding has figures of its own in two steps.
ARTICLE_1_FIGURES = {
    "Q": [["1", "0"], ["0", "1"], ["1", "1"]],
    "K": [["1", "1"], ["0", "1"], ["1", "2"]],
    "V": [["1", "0"], ["1", "1"], ["2", "1"]],
    "S": [["1", "0", "1"], ["1", "1", "2"], ["2", "1", "3"]],
    "scaled": [["0.707", "0", "0.707"], ["0.707", "0.707", "1.414"], ["1.414", "0.707", "2.121"]],
    "exp": [["2.028", "1", "2.028"], ["2.028", "2.028", "4.113"], ["4.113", "2.028", "8.339"]],
    "row_sum": [["5.056"], ["8.169"], ["14.480"]],
    "A": [["0.401", "0.198", "0.401"], ["0.248", "0.248", "0.504"], ["0.284", "0.140", "0.576"]],
    "O": [["1.401", "0.599"], ["1.504", "0.752"], ["1.576", "0.716"]],
}
CARRIED_FIGURES = {
    "exp": [["2.028", "1", "2.028"], ["2.028", "2.028", "4.112"], ["4.112", "2.028", "8.339"]],  # e^1.414, not e^√2
    "row_sum": [["5.056"], ["8.168"], ["14.479"]],
}


EXACT_FIGURES = {
    "exp": [["2.028", "1", "2.028"], ["2.028", "2.028", "4.113"], ["4.113", "2.028", "8.342"]],  # e^(3/√2), not e^2.121
    "row_sum": [["5.056"], ["8.169"], ["14.484"]],
    "O": [["1.401", "0.599"], ["1.503", "0.752"], ["1.576", "0.716"]],  # the article's is from its rounded A
}
HOW = {"carried": CARRIED_FIGURES, "exact": EXACT_FIGURES}


@pytest.mark.parametrize("how", sorted(HOW))
@pytest.mark.parametrize("id", sorted(ARTICLE_1_FIGURES))
def test_article_1_digit_by_digit(id, how):
    problem = parse((ARTICLE_1 % how).encode())
    texts = digits.shown(solve(problem).steps[id], problem.show.rule).tolist()
    assert texts == HOW[how].get(id, ARTICLE_1_FIGURES[id])


def test_the_comparisons_can_fail():
    for got, expected in (([[0.1 + 1e-11]], [[0.1]]), ([[-1e9]], [[oracle.HIDDEN]]), ([[oracle.HIDDEN]], [[-1e9]])):
        with pytest.raises(AssertionError):
            check_exact("A", got, expected)
        with pytest.raises(AssertionError):
            check_carried("A", got, [[Fraction(x) if x > oracle.HIDDEN else x for x in row] for row in expected], {})
    check_exact("A", [[0.1 + 1e-14, oracle.HIDDEN]], [[0.1, oracle.HIDDEN]])


def test_the_oracle_itself_finds_article_1():
    steps = oracle.attention(ARTICLE_1_DATA, oracle.Carried({"default": 3}, weights="sum-to-one"))
    for id, rows in {**ARTICLE_1_FIGURES, **CARRIED_FIGURES}.items():
        assert steps[id] == [[Fraction(figure) for figure in row] for row in rows], id
    exact = oracle.attention(ARTICLE_1_DATA, oracle.Exact())
    for id in set(ARTICLE_1_FIGURES) - {"A"}:  # its second row is apportioned where it is shown
        for row, figures in zip(exact[id], EXACT_FIGURES.get(id, ARTICLE_1_FIGURES[id]), strict=True):
            assert [f"{figure:.3f}" for figure in row] == [f"{float(figure):.3f}" for figure in figures], id
    starts_later = oracle.attention({"A": ARTICLE_1_FIGURES["A"], "V": ARTICLE_1_FIGURES["V"]}, oracle.Carried())
    assert starts_later["O"] == steps["O"]


def test_the_oracle_rounds_as_at_school():
    assert oracle.rounded(Fraction("0.4999999998"), 0) == 1  # a tie, by the rule; below is none
    assert oracle.rounded(Fraction("0.499999998"), 0) == oracle.rounded(Fraction("0.4999999998"), 0, "half-even") == 0
    assert [oracle.figure(oracle.rounded(Fraction(text), 2), 2) for text in ("0.425", "-2.675", "1.005", "-0.004")] == [
        "0.43", "-2.68", "1.01", "0.00",
    ]  # fmt: skip
    assert [oracle.figure(oracle.rounded(Fraction(text), 0, "half-even"), 0) for text in ("0.5", "1.5", "-2.5")] == [
        "0", "2", "-2",
    ]  # fmt: skip
    assert oracle.shared_out([Fraction(1, 3)] * 3, 2) == [Fraction(34, 100), Fraction(33, 100), Fraction(33, 100)]


@pytest.mark.parametrize("text", {
    "a bias of one head only, d_k 1": """
        H: [[1, 2], [0, 1]]
        heads:
          - {W_Q: [[1], [1]], W_K: [[1], [0]], W_V: [[1], [0]], b_Q: [1]}
          - {W_Q: [[2], [1]], W_K: [[0], [1]], W_V: [[1], [2]]}
    """,
    "a bias of one head only, d_k 2": """
        H: [[1, 2], [0, 1]]
        heads:
          - {W_Q: [[1, 0], [1, 0]], W_K: [[1, 0], [0, 1]], W_V: [[1], [0]]}
          - {W_Q: [[2, 0], [1, 1]], W_K: [[0, 1], [1, 1]], W_V: [[1], [2]], b_V: [1]}
    """,
    "W_O stored out × in after S": """
        S: [[1, 2]]
        scale: none
        V: [[1, 2], [3, 4]]
        W_O: [[1, 2], [3, 4]]
        orientation: out-in
    """,
    "W_O stored out × in after A": """
        A: [[0.5, 0.5]]
        V: [[1, 2], [3, 4]]
        W_O: [[1, 2], [3, 4], [5, 6]]
        orientation: out-in
    """,
}.values())  # fmt: skip
def test_what_was_once_worked_wrongly(text):
    expected = oracle.attention(data_of(text), oracle.Exact())
    steps = solution_of(text).steps
    for id in {id.replace("W_O_T", "W_O") for id in expected if not id.startswith("b_")}:
        check_exact(id, steps[id].values.tolist(), expected[id])
