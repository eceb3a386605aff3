"""kind: experts: routing and mixing, against plain loops and figures that others printed."""

import random

import numpy as np
import plain_loops
import pytest
from test_output import WAYS, check, figures, worked

from attncalc import rounding
from attncalc.errors import ProblemError
from attncalc.mechanisms import solve
from attncalc.mechanisms.experts import experts, stated
from attncalc.problem import parse
from attncalc.rounding import Rule
from attncalc.sheet import Sheet
from attncalc.steps import Axis


def problems():
    for seed in range(40):
        draw = random.Random(seed)
        n, d, count = draw.randint(1, 3), draw.randint(1, 3), draw.randint(1, 4)
        problem = {"x": figures(draw, n, d, -20, 20), "router": figures(draw, d, count, -10, 10), "experts": []}
        for _ in range(count):
            width = draw.randint(1, 3)
            expert = {"W_1": figures(draw, d, width, -20, 20), "W_2": figures(draw, width, d, -20, 20)}
            if draw.random() < 0.5:
                expert["b_1"] = figures(draw, 1, width)[0]
            if draw.random() < 0.5:
                expert["b_2"] = figures(draw, 1, d)[0]
            if draw.random() < 0.3:
                expert["activation"] = "none"
            problem["experts"].append(expert)
        problem["top_k"] = draw.randint(1, count)
        problem["normalise"] = draw.choice(["after", "before"])
        if problem["normalise"] == "before" and draw.random() < 0.4:
            problem["renormalise"] = False
        yield problem


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("problem", list(problems()))
def test_every_step_is_that_of_plain_loops(problem, way):
    steps = check(problem, "experts", plain_loops.experts, way)
    assert list(steps)[-1] == "combined"


def test_tokens_go_to_experts_of_their_own():
    text = "kind: experts\nx: [[1, 0], [0, 1]]\nrouter: [[2, 1, 0], [0, 1, 2]]\ntop_k: 1\n"
    steps = solve(parse(text.encode())).steps
    assert steps["chosen"].values.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert steps["load"].values.tolist() == [[1, 0, 1]]
    assert steps["gates"].values.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert list(steps)[-1] == "gates"  # without experts the routing is all there is


def test_of_equal_experts_the_first_are_chosen():
    for normalise in ("after", "before"):
        text = f"kind: experts\nx: [[1]]\nrouter: [[1, 2, 2, 2]]\ntop_k: 2\nnormalise: {normalise}\n"
        assert solve(parse(text.encode())).steps["chosen"].values.tolist() == [[0, 1, 1, 0]]


def test_both_ways_of_normalising_agree_where_the_chosen_are_divided_by_their_sum():
    text = "kind: experts\nx: [[1, -2]]\nrouter: [[2, 1, 0.3], [0, 1, -0.5]]\ntop_k: 2\nnormalise: "
    after, before = (solve(parse((text + way).encode())).steps["gates"].values for way in ("after", "before"))
    assert after == pytest.approx(before)


def test_the_lesson_of_the_gate():
    """Public course notes, Lesson 4: The Gate. They print softmax [0.21, 0.24, 0.28, 0.27] and from it 0.51 and 0.49;
    the largest logit, 1.0, has the largest share."""
    problem = {
        "x": [["1", "0", "0.5"]],
        "router": [["0.1", "0.2", "0.3", "0.4"], ["0.5", "0.6", "0.7", "0.8"], ["0.9", "1", "1.1", "1.2"]],
        "top_k": 2,
        "normalise": "before",
    }
    steps = worked(problem, "experts")
    assert steps["logits"].values.tolist() == [[0.55, 0.7, 0.85, 1.0]]
    shares = np.array([[0.1968501908, 0.2287072924, 0.2657199638, 0.308722553]])
    assert steps["probabilities"].values == pytest.approx(shares)
    assert steps["gates"].values == pytest.approx(np.array([[0, 0, 0.4625701547, 0.5374298453]]))


LINEAR = {"W_2": "identity", "activation": "none"}  # an expert of one matrix, W_1


def test_deep_ml_125_example():
    """Deep-ML problem 125, a sparse layer of linear experts; four gates that are equal."""
    problem = {
        "x": [[str(2 * k), str(2 * k + 1)] for k in range(6)],
        "router": [["1"] * 4] * 2,
        "experts": [{"W_1": [["1", "1"], ["1", "1"]], **LINEAR}] * 4,
        "top_k": 1,
        "normalise": "before",
    }
    for way in WAYS:
        steps = worked(problem, "experts", rounding=way)
        assert steps["combined"].values.tolist() == [[value] * 2 for value in (1, 5, 9, 13, 17, 21)]
        assert steps["load"].values.tolist() == [[6, 0, 0, 0]]


def test_deep_ml_125_test():
    """The test of the same problem: the figures that NumPy's generator draws from seed 42."""
    experts_of = [
        [["0.8324426408", "0.2123391107"], ["0.1818249672", "0.1834045099"]],
        [["0.304242243", "0.5247564316"], ["0.4319450186", "0.2912291402"]],
        [["0.6118528947", "0.1394938607"], ["0.2921446485", "0.3663618433"]],
        [["0.4560699842", "0.7851759614"], ["0.1996737822", "0.5142344384"]],
    ]
    problem = {
        "x": [
            ["0.3745401188", "0.9507143064"], ["0.7319939418", "0.5986584842"], ["0.1560186404", "0.1559945203"],
            ["0.05808361217", "0.8661761458"], ["0.6011150117", "0.7080725778"], ["0.0205844943", "0.9699098522"],
        ],
        "router": [
            ["0.5924145689", "0.04645041272", "0.6075448519", "0.1705241237"],
            ["0.06505159299", "0.9488855373", "0.9656320331", "0.8083973481"],
        ],
        "experts": [{"W_1": W, **LINEAR} for W in experts_of],
        "top_k": 2,
        "normalise": "before",
    }  # fmt: skip
    combined = worked(problem, "experts")["combined"].values
    assert rounding.rounded(combined, 4).tolist() == [
        [0.5148, 0.4329], [0.5554, 0.5447], [0.1285, 0.1020], [0.3390, 0.3046], [0.5391, 0.4170], [0.3597, 0.3262],
    ]  # fmt: skip


def test_it_serves_a_layer_that_has_rows_already():
    text = "kind: experts\nx: [[1, 2]]\nrouter: [[1, 2], [3, 4]]\ntop_k: 1\n"
    text += "experts: [&e {W_1: identity, W_2: identity}, *e]\n"
    given = parse(text.encode()).given
    sheet = Sheet(Rule())
    with sheet.group("layer", 1, prefix="layer1"):
        x = sheet.given("x", given.x, rows=Axis(("A",)))
        out = experts(sheet, x, given.experts, stated(sheet, given.experts))
    assert out.id == "layer1.combined" and out.rows is x.rows and out.values.tolist() == [[1, 2]]
    assert "layer1.token1.expert2.hidden" in sheet.solution().steps


EXPERT = "{W_1: [[1]], W_2: [[1]]}"


@pytest.mark.parametrize(
    ("text", "line", "path", "what"),
    [
        ("router: [[1]]\ntop_k: 1\n", 1, "x", "missing"),
        ("x: [[1]]\ntop_k: 1\n", 1, "router", "missing"),
        ("x: [[1]]\nrouter: [[1, 2]]\n", 1, "top_k", "missing; write top_k: 2"),
        ("x: [[1]]\nrouter: [[1, 2]]\ntop_k: 3\n", 4, "top_k", "3 is not a whole number from 1 to 2"),
        ("x: [[1]]\nrouter: [[1, 2]]\ntop_k: 0\n", 4, "top_k", "0 is not a whole number from 1 to 2"),
        ("x: [[1]]\nrouter: [[1], [2]]\ntop_k: 1\n", 3, "router", "2 rows (2 × 1), but x has 1 column (1 × 1, line 2)"),
        (f"x: [[1]]\nrouter: [[1, 2]]\ntop_k: 1\nexperts: [{EXPERT}]\n", 5, "experts",
         "1 expert, but router has 2 columns (1 × 2, line 3); the router has a column for each expert"),
        ("x: [[1]]\nrouter: [[1]]\ntop_k: 1\nexperts: []\n", 5, "experts", "an empty list"),
        ("x: [[1]]\nrouter: [[1]]\ntop_k: 1\nexperts: 2\n", 5, "experts", "must be a list of feed-forwards"),
        ("x: [[1]]\nrouter: [[1]]\ntop_k: 1\nexperts: [{W_1: [[1]]}]\n", 5, "experts[1].W_2", "missing"),
        (f"x: [[1]]\nrouter: [[1, 2]]\ntop_k: 1\nexperts:\n- {EXPERT}\n- {{W_1: [[1, 2]], W_2: [[1]]}}\n", 7,
         "experts[2].W_2", "1 row (1 × 1), but experts[2].W_1 has 2 columns (1 × 2, line 7)"),
        (f"x: [[1]]\nrouter: [[1, 2]]\ntop_k: 1\nexperts:\n- {EXPERT}\n- {{W_1: [[1]], W_2: [[1, 2]]}}\n", 7,
         "experts[2].W_2", "2 columns (1 × 2), but experts[1].W_2 has 1 column (1 × 1, line 6)"),
        ("x: [[1]]\nrouter: [[1]]\ntop_k: 1\nrenormalise: no\n", 5, "renormalise", "not used with normalise: after"),
        ("x: [[1]]\nrouter: [[1]]\ntop_k: 1\nnormalise: never\n", 5, "normalise", '"never" is not after or before'),
        ("x: [[1]]\nrouter: [[1, 1, 1]]\ntop_k: 1\nnormalise: before\nshow: {decimals: 0, rounding: carried}\n", 0,
         "gates.product[1]", "is 0 everywhere, so that nothing is left; show more decimals"),
    ],
)  # fmt: skip
def test_what_is_refused(text, line, path, what):
    with pytest.raises(ProblemError) as caught:
        solve(parse(f"kind: experts\n{text}".encode(), "p.yaml"))
    error = caught.value
    assert (error.line, error.path) == (line, path) and what in str(error)
