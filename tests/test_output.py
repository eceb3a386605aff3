"""kind: output: logits, probabilities, top-k and top-p, against plain loops and figures that others printed."""

import random

import numpy as np
import oracle
import plain_loops
import pytest
import yaml

from attncalc import rounding
from attncalc.errors import ProblemError
from attncalc.mechanisms import solve
from attncalc.problem import parse

WAYS = {"exact": oracle.Exact, "carried": oracle.Carried}


def worked(problem, kind, **show):
    text = yaml.safe_dump({"kind": kind, "show": show, **problem}, default_flow_style=None, allow_unicode=True)
    return solve(parse(text.encode())).steps


def check(problem, kind, loops, way, places=3):
    """Every step that the loops find is there, and has its figures."""
    steps = worked(problem, kind, rounding=way, decimals=places)
    expected = loops(problem, WAYS[way]({"default": places}))
    assert set(expected) <= set(steps)
    for id, rows in expected.items():
        figures = np.array([[float(x) for x in row] for row in rows])
        assert steps[id].values == pytest.approx(figures, abs=1e-12), id
    return steps


def figures(draw, n, m, low=-30, high=30):
    return [[str(draw.randint(low, high) / 10) for _ in range(m)] for _ in range(n)]


def problems():
    """Outputs of all starts, with and without each of the choices; many with figures that are equal."""
    for seed in range(60):
        draw = random.Random(seed)
        n, d, m = draw.randint(1, 3), draw.randint(1, 3), draw.randint(2, 6)
        start = draw.choice(["W", "tied", "logits", "logits of few", "probabilities"])
        problem = {}
        if start in ("W", "tied"):
            problem["x"] = figures(draw, n, d, -10, 10)
            problem[start] = figures(draw, *((d, m) if start == "W" else (m, d)), -10, 10)
            if draw.random() < 0.5:
                problem["b"] = figures(draw, 1, m)[0]
        elif start == "probabilities":
            problem[start] = figures(draw, n, m, 1, 9)
        else:
            problem["logits"] = figures(draw, n, m, *((-30, 30) if start == "logits" else (0, 2)))
        if start != "probabilities" and draw.random() < 0.4:
            problem["temperature"] = draw.choice(["0.5", "2", "3"])
        if start == "probabilities" or draw.random() < 0.6:
            problem["top_k"] = draw.randint(1, m)
        if draw.random() < 0.5:
            problem["top_p"] = draw.choice(["0.25", "0.5", "0.8", "1"])
        if problem.keys() & {"top_k", "top_p"} and draw.random() < 0.3:
            problem["renormalise"] = False
        yield problem


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("problem", list(problems()))
def test_every_step_is_that_of_plain_loops(problem, way):
    check(problem, "output", plain_loops.output, way)


def test_a_row_that_is_shifted_has_the_same_probabilities():
    steps = worked({"logits": [["100", "99", "98"]]}, "output")
    assert {"row_max", "shifted"} <= set(steps)
    assert steps["probabilities"].values == pytest.approx(np.array([[0.66524096, 0.24472847, 0.09003057]]), abs=1e-8)


def test_the_result_is_the_last_of_what_is_asked_for():
    logits = {"logits": [["2", "1", "0"]]}
    for more, result in ({}, "probabilities"), ({"top_k": 2}, "kept"), ({"top_k": 2, "top_p": "0.5"}, "kept"):
        assert list(worked({**logits, **more}, "output"))[-1] == result


def test_article_2_merchant_buyer_unknown():
    """Article 2, section 7: 商家, 买家, 未知 with logits [2, 1, 0]."""
    problem = {"logits": [["2", "1", "0"]], "vocabulary": ["商家", "买家", "未知"]}
    for way in WAYS:
        probabilities = worked(problem, "output", rounding=way)["probabilities"]
        assert rounding.rounded(probabilities.values, 3).tolist() == [[0.665, 0.245, 0.090]]
        assert probabilities.columns.labels == ("商家", "买家", "未知")


def test_raschka_top_k_and_temperature():
    """github.com/rasbt/LLMs-from-scratch, ch05.ipynb, section 5.3; its printed figures are cut off, not rounded."""
    problem = {
        "logits": [["4.51", "0.89", "-1.9", "6.75", "1.63", "-1.62", "-1.89", "6.28", "1.79"]],
        "vocabulary": ["closer", "every", "effort", "forward", "inches", "moves", "pizza", "toward", "you"],
    }
    kept = worked({**problem, "top_k": 3}, "output")["kept"].values
    assert np.floor(kept * 1e4).tolist() == [[614, 0, 0, 5775, 0, 0, 0, 3609, 0]]
    assert rounding.rounded(kept, 4).tolist() == [[0.0615, 0, 0, 0.5775, 0, 0, 0, 0.3610, 0]]
    steps = worked({**problem, "temperature": "0.1"}, "output")
    assert steps["probabilities"].values[0, [3, 7]] == pytest.approx([0.9909867012, 0.009013298651])
    assert worked({**problem, "temperature": "5"}, "output")["probabilities"].values[0, 0] == pytest.approx(0.15464817)


@pytest.mark.parametrize(
    ("x", "printed"),
    [
        (["1", "2", "3"], [0.09, 0.2447, 0.6652]),
        (["1", "1", "1"], [0.3333] * 3),
        (["-1", "0", "5"], [0.0025, 0.0067, 0.9909]),
    ],
)
def test_deep_ml_23(x, printed):
    """Deep-ML problem 23, softmax."""
    probabilities = worked({"logits": [x]}, "output")["probabilities"].values
    assert rounding.rounded(probabilities, 4).tolist() == [printed]


def test_of_equal_words_the_first_is_kept():
    steps = worked({"logits": [["1", "2", "2", "2"], ["0", "0", "0", "0"]], "top_k": 2}, "output")
    assert steps["chosen"].values.tolist() == [[0, 1, 1, 0], [1, 1, 0, 0]]
    # 0.1 + 0.2 is 0.30000000000000004 in float64, and as likely as 0.3.
    problem = {"x": [["0.1", "0.2"]], "W": [["0", "1", "1"], ["1.5", "0", "1"]], "top_k": 1}
    assert worked(problem, "output")["chosen"].values.tolist() == [[1, 0, 0]]


def test_top_p_is_reached_where_the_sum_is_equal_to_it():
    problem = {"probabilities": [["0.1", "0.7", "0.2"]]}
    for p, chosen in ("0.7", [0, 1, 0]), ("0.71", [0, 1, 1]), ("0.9", [0, 1, 1]), ("1", [1, 1, 1]):
        assert worked({**problem, "top_p": p}, "output")["chosen"].values.tolist() == [chosen]


def test_the_choice_of_a_carried_solution_is_that_of_the_rounded_figures():
    problem = {"logits": [["1", "1.001"]], "top_k": 1}
    assert worked(problem, "output", decimals=1)["chosen"].values.tolist() == [[0, 1]]
    assert worked(problem, "output", decimals=1, rounding="carried")["chosen"].values.tolist() == [[1, 0]]


def test_top_k_comes_before_top_p_and_has_ids_of_its_own():
    steps = worked({"probabilities": [["0.4", "0.3", "0.2", "0.1"]], "top_k": 3, "top_p": "0.5"}, "output")
    assert steps["top_k.kept"].values == pytest.approx(np.array([[4 / 9, 3 / 9, 2 / 9, 0]]))
    assert steps["chosen"].values.tolist() == [[1, 1, 0, 0]]


def test_a_step_after_another_choice_follows_it():
    """What marking rests on: other probabilities, others that are chosen."""
    chosen = worked({"logits": [["2", "1", "0"]], "top_k": 1}, "output")["chosen"]
    assert chosen.recomputed([np.array([[0.1, 0.2, 0.7]])]).tolist() == [[0, 0, 1]]
    steps = worked({"probabilities": [["0.5", "0.3", "0.2"]], "top_p": "0.8"}, "output")
    assert steps["sorted"].recomputed([np.array([[0.1, 0.2, 0.7]])] * 2).tolist() == [[0.7, 0.2, 0.1]]


@pytest.mark.parametrize(
    ("text", "line", "path", "what"),
    [
        ("vocabulary: [a]\n", 1, "", "nothing to calculate from; give x with W or tied, or logits, or probabilities"),
        ("x: [[1]]\n", 2, "W", "missing; write W: [[1, 0], [0, 1]], or tied: with an embedding"),
        ("x: [[1]]\nW: [[1]]\ntied: [[1]]\n", 4, "tied", "can't be given together with W; keep one of them"),
        ("x: [[1, 2]]\nW: [[1]]\n", 3, "W", "1 row (1 × 1), but x has 2 columns (1 × 2, line 2)"),
        ("x: [[1, 2]]\ntied: [[1]]\n", 3, "tied", "1 column (1 × 1), but x has 2 columns (1 × 2, line 2)"),
        ("x: [[1]]\nW: [[1, 2]]\nb: [1]\n", 4, "b", "1 column (1 × 1), but W has 2 columns (1 × 2, line 3)"),
        ("logits: [[1]]\nx: [[1]]\n", 3, "x", "can't be given together with logits; leave it out"),
        ("logits: [[1]]\nb: [1]\n", 3, "b", "not used where logits is given; leave it out"),
        ("probabilities: [[1]]\ntemperature: 2\n", 3, "temperature", "not used where probabilities is given"),
        ("probabilities: [[1]]\n", 2, "probabilities", "nothing to calculate from them; give top_k, top_p, or both"),
        ("probabilities: [[0.5, 1.5]]\ntop_k: 1\n", 2, "probabilities[1,2]", "1.5 is not from 0 to 1"),
        ("logits: [[1, 2]]\nvocabulary: [a]\n", 3, "vocabulary", "1 label, but logits has 2 columns (1 × 2, line 2)"),
        ("logits: [[1, 2]]\ntop_k: 3\n", 3, "top_k", "3 is not a whole number from 1 to 2"),
        ("logits: [[1, 2]]\ntop_k: 0\n", 3, "top_k", "0 is not a whole number from 1 to 2"),
        ("logits: [[1, 2]]\ntop_k: 1.5\n", 3, "top_k", "1.5 is not a whole number from 1 to 2"),
        ("logits: [[1, 2]]\ntop_p: 0\n", 3, "top_p", "0 is not above 0 and up to 1; 0.9 is usual"),
        ("logits: [[1, 2]]\ntop_p: 90\n", 3, "top_p", "90 is not above 0 and up to 1"),
        ("logits: [[1, 2]]\ntemperature: 0\n", 3, "temperature", "0 is not above 0"),
        ("logits: [[1, 2]]\nrenormalise: no\n", 3, "renormalise", "not used without top_k or top_p; leave it out"),
        ("probabilities: [[0, 0]]\ntop_k: 1\n", 0, "kept.product[1]", "is 0 everywhere, so that nothing is left"),
    ],
)
def test_what_is_refused(text, line, path, what):
    with pytest.raises(ProblemError) as caught:
        solve(parse(f"kind: output\n{text}".encode(), "p.yaml"))
    error = caught.value
    assert (error.line, error.path) == (line, path) and what in str(error)


def test_a_sum_is_exact_as_far_as_its_figures_are():
    given = worked({"probabilities": [["0.5", "0.25", "0.25"]], "top_p": "1"}, "output")["cumulative"]
    assert given.exact.all() and given.values.tolist() == [[0.5, 0.75, 1]]
    assert [working.evaluate() for working in map(given.working, [0] * 3, range(3))] == [0.5, 0.75, 1]
    assert not worked({"logits": [["2", "1"]], "top_p": "1"}, "output")["cumulative"].exact.any()
