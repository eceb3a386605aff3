"""The laws of steps (design.md, section 2), on every problem in problems/ and on random ones.

1. The working of a cell evaluates to the cell.
2. A step recomputed from its recorded operands is the step.
3. With carried rounding, the printed working of printed figures gives the printed figure.

Where rows of weights are made to add up to 1, the laws hold up to one unit. And a figure that says it is exact is.
"""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_problems import cases
from random_transformers import KINDS, problems, text_of
from test_oracle import ARTICLE_1

from attncalc import digits, rounding
from attncalc.errors import ProblemError
from attncalc.expr import name
from attncalc.mechanisms import solve
from attncalc.problem import parse
from attncalc.steps import Arrange, Given, Map, Matrix, Pair, Reduce

FOLDER = Path(__file__).resolve().parent.parent / "problems"
FILES = sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))
TEXTS = {how: ARTICLE_1 % how for how in ("exact", "carried")} | {path.name: path.read_text("utf-8") for path in FILES}


def worked(text, **show):
    """(the solution, its rule) of a problem file, shown as it says or otherwise."""
    problem = parse(text.encode(), folder=FOLDER).with_show(**show)
    return solve(problem), problem.show.rule


def shown_figures(solution, rule):
    """The texts of every step, by id: what each format must print."""
    return {id: digits.shown(step, rule) for id, step in solution.steps.items()}


def as_float(text):
    return -math.inf if text == "-∞" else float(text)


def computed_steps(solution):
    return [step for step in solution.steps.values() if not isinstance(step, Given)]


def cells_of(step):
    return [(i, j) for i in range(step.shape[0]) for j in range(step.shape[1])]


def same(a, b):
    """Equal but for the last bit or two: NumPy's e^x of one figure and of many need not agree there."""
    return a == b or math.isclose(a, b, rel_tol=1e-15)


def slack(step, rule):
    """How far a figure may be from its own rounding: one unit of a weight that is apportioned, else nothing."""
    apportioned = step.rows_sum_to_one and rule.weights == "sum-to-one"
    return 1.000001 * 10.0**-step.places if apportioned else 0.0


def ruled(step, values, rule):
    """`values` as a carried solution keeps them. What is only moved, of figures rounded before, is as it was."""
    if isinstance(step, Arrange) or not rule.carried:
        return values
    return rounding.rounded(values, step.places, rule.ties)


def noise(step):
    """What float64 may add to a step's figures: so much of the largest figure in them."""
    figures = [np.abs(operand.values[np.isfinite(operand.values)]).max(initial=1.0) for operand in step.operands]
    return 1e-13 * math.prod(figures) * max(1, *(operand.shape[1] for operand in step.operands))


def near(a, b, most):
    with np.errstate(invalid="ignore"):  # -∞ - -∞
        return bool(np.all((a == b) | (np.abs(a - b) <= most)))


def check_workings(solution, rule):
    """Law 1."""
    for step in computed_steps(solution):
        unrounded = step.recomputed([operand.values for operand in step.operands])
        for i, j in cells_of(step):
            value = step.working(i, j).evaluate()
            assert same(value, unrounded[i, j]), (step.id, i, j)
            half = 0.5000001 * 10.0**-step.places if rule.carried and not isinstance(step, Arrange) else 0.0
            assert near(step.values[i, j], value, slack(step, rule) + half + noise(step)), (step.id, i, j)


def check_recomputed(solution, rule):
    """Law 2."""
    for step in computed_steps(solution):
        recomputed = step.recomputed([operand.values for operand in step.operands])
        assert recomputed.shape == step.shape
        # What float64 adds to sums of decimals is taken off, so that it decides no tie; nothing else is.
        assert near(recomputed, step.unrounded, noise(step)), step.id
        values = ruled(step, step.unrounded, rule)
        assert near(values, step.values, slack(step, rule) if rule.carried else 0.0), step.id
        check_it_depends_on_its_operands(step)


SATURATES = 15  # a figure whose sum with another of the usual size has a tanh of 1


def check_it_depends_on_its_operands(step):
    """Other figures in the operands' place give other figures: what marking a slip rests on."""
    if step.role == "chosen" and step.values.all():
        return  # all are chosen, whatever they are
    operands = [operand.values for operand in step.operands]
    for k, operand in enumerate(operands):
        if np.isfinite(operand).all() and operand.any():
            # Changes that cancel in no sum; much smaller figures too, as the tanh of large ones is 1; and the order
            # turned round, so that other figures are the largest.
            uneven = np.sqrt(np.arange(2.0, 2 + operand.size)).reshape(operand.shape) / 8
            changed = [
                step.recomputed([*operands[:k], operand * by + uneven, *operands[k + 1 :]]) for by in (1.5, 0.001, -1)
            ]
            rest = [other for n, other in enumerate(operands) if n != k]
            if isinstance(step, Pair) and k < 2 and np.abs(rest[0]).min() > SATURATES:
                continue
            if all(np.isfinite(other).all() and other.all() for other in rest) and getattr(step, "where", None) is None:
                assert not all(np.array_equal(each, step.recomputed(operands)) for each in changed), step.id


def check_in_working(solution):
    """How many figures a working has is known without it; of the starts of a row, how many the longest has."""
    for step in computed_steps(solution):
        held = {len(step.working(i, j).cells) for i, j in cells_of(step)}
        if isinstance(step, Reduce) and step.over == "start":
            held = {max(held)}
        copied = {1} if isinstance(step, Map) and step.where is not None else set()
        assert held - copied <= ({0, 1} if isinstance(step, Arrange) else {step.in_working}), step.id


def check_printed(solution, rule):
    """Law 3, of a carried solution: from the texts alone."""
    texts = shown_figures(solution, rule)
    printed = {id: np.vectorize(as_float, otypes=[float])(rows) for id, rows in texts.items()}
    for step in computed_steps(solution):
        for i, j in cells_of(step):
            value = step.working(i, j).evaluate(lambda operand: printed[operand.id])
            if step.written is None:  # a given figure that was only moved is printed as written, however long
                value = rounding.rounded(np.array([[value]]), step.places, rule.ties)[0, 0]
            assert near(printed[step.id][i, j], value, slack(step, rule)), (step.id, i, j, texts[step.id])


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(
    "how", [{}, {"rounding": "exact"}, {"rounding": "carried"}, {"rounding": "carried", "decimals": 2}]
)
def test_the_laws_hold_in_every_problem(text, how):
    solution, rule = worked(text, **how)
    assert computed_steps(solution)
    check_workings(solution, rule)
    check_recomputed(solution, rule)
    check_in_working(solution)
    if rule.carried:
        check_printed(solution, rule)


@given(cases())
def test_law_1_a_working_evaluates_to_its_cell(case):
    check_workings(*worked(case.text))


@given(cases())
def test_law_2_a_step_is_what_its_operands_make_of_it(case):
    check_recomputed(*worked(case.text))


@given(cases(rounding="carried"))
def test_law_3_printed_figures_give_the_printed_figure(case):
    check_printed(*worked(case.text))


FEW_EXAMPLES = {"generation": 3, "encoder-decoder": 4, "decoder": 5, "encoder": 7}  # they have hundreds of steps


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "attention"])
def test_the_laws_hold_around_attention(kind):
    """Of every other kind, exact and carried. Carried, a figure may be rounded to 0 that nothing can be done with."""

    @settings(max_examples=FEW_EXAMPLES.get(kind, 12))
    @given(problems(kind), st.integers(0, 5), st.sampled_from(["plain", "sum-to-one"]))
    def hold(problem, decimals, weights):
        # Probabilities alone: nothing is left to calculate.
        assume(problem["kind"] != "output" or "probabilities" not in problem or {"top_k", "top_p"} & set(problem))
        for how in ("exact", "carried"):
            try:
                solution, rule = worked(text_of(problem), rounding=how, decimals=decimals, weights=weights)
            except ProblemError as error:
                assert how == "carried" and re.match("is 0( everywhere)?, ", error.what)
                continue
            check_workings(solution, rule)
            check_recomputed(solution, rule)
            if rule.carried:
                check_printed(solution, rule)

    hold()


@pytest.mark.parametrize("decimals", ["{default: 3, K_T: 1}", "{default: 1, K: 3, S: 3}"])
def test_law_3_where_a_transposed_matrix_has_fewer_decimals(decimals):
    text = "H: [[0.123, 1]]\nW_Q: [[1], [1]]\nW_K: [[1], [0]]\nW_V: [[1], [1]]\n"
    solution, rule = worked(f"{text}show: {{rounding: carried, decimals: {decimals}}}\n")
    assert solution.steps["K"].values.tolist() == [[0.123]]
    check_printed(solution, rule)


@given(cases())
def test_an_exact_figure_is_the_figure_itself(case):
    """What is flagged exact is, as a fraction, what plain loops over fractions find; in a carried solution, over the
    rounded ones. Hidden keys have exact weights of 0."""
    solution, rule = worked(case.text)
    precise = case.arithmetic() if rule.carried else oracle.Precise(case.decimals)
    truth = oracle.attention(case.data, precise)
    texts = shown_figures(solution, rule)
    for step in computed_steps(solution):
        for i, j in cells_of(step):
            if step.id.rpartition(".")[2] == "A":
                h = int(step.id[4:-2]) - 1 if "." in step.id else 0
                assert step.exact[i, j] or oracle.visible(case.data, i, j, *step.shape, h)
            if not step.exact[i, j] or slack(step, rule):
                continue
            true, figure = truth[step.id][i][j], texts[step.id][i, j]
            if true == oracle.HIDDEN or figure == "-∞":
                assert (true, figure) == (oracle.HIDDEN, "-∞")
                continue
            units = abs(Fraction(figure) - Fraction(true)) * 10**step.places
            assert units <= max(Fraction(1, 10**9), abs(Fraction(true)) * 10**step.places / 10**15), (
                step.id,
                i,
                j,
                figure,
            )


def test_an_arranged_figure_is_exact_only_where_its_decimals_say_it_whole():
    text = "H: [[0.5]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[1]]\n"
    solution, rule = worked(f"{text}show: {{decimals: {{default: 1, K_T: 0}}}}\n")
    step = solution.steps["K_T"]
    assert not step.exact[0, 0] or Fraction(shown_figures(solution, rule)["K_T"][0, 0]) == Fraction(1, 2)


def test_the_laws_can_be_broken():
    """The checks above see a figure that is off by one unit, and one that is off in full precision."""
    solution, rule = worked(ARTICLE_1 % "carried")
    solution.steps["O"].values[0, 0] += 0.001
    for check in (check_workings, check_recomputed, check_printed):
        with pytest.raises(AssertionError, match="O"):
            check(solution, rule)
    solution, rule = worked(ARTICLE_1 % "exact")
    solution.steps["scaled"].values[0, 0] *= 1 + 1e-11
    for check in (check_workings, check_recomputed):
        with pytest.raises(AssertionError, match=r"scaled|exp"):
            check(solution, rule)


@pytest.mark.parametrize("largest", [1.0, 1e308])
@pytest.mark.filterwarnings("error")
def test_a_long_sum_is_the_same_however_its_figures_lie_and_silent_where_they_are_too_large(largest):
    """One machine adds what lies side by side in another order than what lies apart: the order is fixed."""
    figures = np.random.default_rng(0).uniform(size=(1100, 1000)) * largest
    step = Reduce(id="E", symbol=name("E"), fold="sum", operands=(of(figures),))
    found = step.recomputed([figures])
    assert np.array_equal(found, step.recomputed([np.asfortranarray(figures)]))
    assert found[:, 0].tolist() == pytest.approx([sum(row) for row in figures.tolist()], rel=1e-12)


def test_draws_that_are_summed_together_are_summed_as_each_is():
    """A sum by hand goes from left to right, however many of them are worked at a time."""
    draws = np.random.default_rng(0).normal(size=(200, 60, 90))
    step = Reduce(id="E", symbol=name("E"), fold="sum", operands=(of(draws[0]),))
    together = step.recomputed([np.moveaxis(draws, 0, -1)])
    assert draws.size > 2**20 and all(
        np.array_equal(together[..., k], step.recomputed([figures])) for k, figures in enumerate(draws)
    )


def of(figures):
    step = Given(id="S", symbol=name("S"), matrix=Matrix(figures, None))
    step.values = figures
    return step
