"""kind: loss: cross-entropy, perplexity and likelihood, against plain loops and figures that others printed."""

import random

import numpy as np
import plain_loops
import pytest
from test_output import WAYS, check, figures, worked

from attncalc import rounding
from attncalc.blocks import Math, Table
from attncalc.errors import ProblemError
from attncalc.layout import lay_out
from attncalc.mechanisms import solve
from attncalc.problem import parse


def shown(step, places):
    return rounding.rounded(step.values, places).tolist()


def problems():
    for seed in range(40):
        draw = random.Random(seed)
        n, m = draw.randint(1, 5), draw.randint(2, 5)
        start = draw.choice(["logits", "probabilities", "of_targets"])
        problem = {"reduction": draw.choice(["mean", "sum", "none"])}
        if start == "of_targets":
            problem["of_targets"] = [str(draw.randint(1, 10) / 10) for _ in range(n)]
        else:
            problem[start] = figures(draw, n, m, *((-30, 30) if start == "logits" else (1, 9)))
            problem["targets"] = [draw.randrange(m) for _ in range(n)]
        yield problem


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("problem", list(problems()))
def test_every_step_is_that_of_plain_loops(problem, way):
    if "of_targets" in problem:
        asked = {"probabilities": problem["of_targets"], "reduction": problem["reduction"]}
    else:
        asked = problem
    check(asked, "loss", lambda _, arithmetic: plain_loops.loss(problem, arithmetic), way)


@pytest.mark.parametrize(("reduction", "result"), [("mean", "perplexity"), ("sum", "sum"), ("none", "losses")])
def test_the_result_is_what_the_reduction_makes(reduction, result):
    problem = {"probabilities": ["0.5", "0.25"], "reduction": reduction}
    assert list(worked(problem, "loss"))[-1] == result


def test_targets_are_words_or_numbers_from_0():
    problem = {"logits": [["1", "2", "3"], ["1", "2", "3"]], "vocabulary": ["a", "b", "1"]}
    for targets, expected in (["b", "a"], [1, 0]), ([0, 2], [0, 2]), (["1", "0"], [2, 0]):
        assert worked({**problem, "targets": targets}, "loss")["targets"].values[:, 0].tolist() == expected


def test_the_perplexity_of_i_like_apples():
    """A public note on perplexity; it prints ln 0.1 cut off as -2.302, and 5.297 and 1.7657 after it."""
    steps = worked({"targets": ["I", "like", "apples"], "probabilities": ["0.2", "0.1", "0.25"]}, "loss")
    assert shown(steps["log_probabilities"], 3) == [[-1.609], [-2.303], [-1.386]]
    assert shown(steps["sum"], 3) == [[5.298]]
    assert shown(steps["mean"], 4) == [[1.7661]]
    assert shown(steps["perplexity"], 2) == [[5.85]]


@pytest.mark.parametrize(
    ("probabilities", "printed"), [(["0.5", "0.4", "0.4", "0.6"], 0.048), (["0.5", "0.3", "0.6", "0.6"], 0.054)]
)
def test_the_likelihood_of_greedy_search_and_of_a_better_one(probabilities, printed):
    """d2l.ai, Beam Search: the product of the conditional probabilities."""
    for way in WAYS:
        assert shown(worked({"probabilities": probabilities}, "loss", rounding=way)["likelihood"], 3) == [[printed]]


def test_the_loss_of_run_casing():
    """github.com/djimrastephane/tiny-transformer-by-hand, HAND_CALCULATION.md: cross-entropy of the word "shoe"."""
    problem = {
        "logits": [["0", "0.6698", "0.3302", "0.3395", "-0.6698", "-0.3302"]],
        "vocabulary": ["<BOS>", "run", "casing", "shoe", "cement", "<EOS>"],
        "targets": ["shoe"],
    }
    steps = worked(problem, "loss", decimals=4)
    assert shown(steps["probabilities"], 4) == [[0.1433, 0.2799, 0.1993, 0.2012, 0.0733, 0.1030]]
    assert shown(steps["losses"], 4) == [[1.6035]]


@pytest.mark.parametrize(
    ("x", "printed"),
    [
        (["1", "2", "3"], [-2.4076, -1.4076, -0.4076]),
        (["1", "1", "1"], [-1.0986] * 3),
        (["1", "1", "1e-7"], [-0.862, -0.862, -1.862]),
    ],
)
def test_deep_ml_39(x, printed):
    """Deep-ML problem 39, log-softmax: as the log-probability of each word in turn."""
    steps = worked({"logits": [x, x, x], "targets": [0, 1, 2]}, "loss")
    assert shown(steps["log_probabilities"], 4) == [[figure] for figure in printed]


def table_of(text):
    read = parse(text.encode())
    page = lay_out(solve(read), read.show, "en", kind=read.kind)
    blocks = [block for section in page.blocks for block in getattr(section, "blocks", ())]
    (table,) = [block for block in blocks if isinstance(block, Table)]

    def words(prose):
        parts = (part.figures[0] if isinstance(part, Math) else getattr(part, "text", part) for part in prose.parts)
        return "".join(parts)

    return [[words(cell) for cell in row] for row in (table.head, *table.rows)]


def test_the_table_says_what_each_position_sees_and_is_to_predict():
    text = "kind: loss\nvocabulary: [I, you]\nlogits: [[0, 0], [0, 0]]\ntargets: [you, I]\nshow: {count_from: 0}\n"
    assert table_of(text) == [
        ["position", "is to predict", "probability", "loss"],
        ["0", "you", "0.5", "0.693"],
        ["1", "I", "0.5", "0.693"],
    ]
    assert table_of(text + "tokens: [<s>, you]\n") == [
        ["position", "sees", "is to predict", "probability", "loss"],
        ["0", "<s>", "you", "0.5", "0.693"],
        ["1", "<s>, you", "I", "0.5", "0.693"],
    ]
    assert table_of("kind: loss\nprobabilities: [0.5]\n")[0] == ["position", "probability", "loss"]


def test_the_figures_of_a_step_follow_other_targets():
    steps = worked({"probabilities": [["0.2", "0.8"]], "targets": [0]}, "loss")
    picked = steps["target_probabilities"]
    assert picked.values.tolist() == [[0.2]]
    assert picked.recomputed([np.array([[0.3, 0.7]]), np.array([[1.0]])]).tolist() == [[0.7]]


@pytest.mark.parametrize(
    ("text", "line", "path", "what"),
    [
        ("targets: [1]\n", 1, "", "nothing to calculate from; give logits or probabilities, and targets"),
        ("logits: [[1]]\nprobabilities: [[1]]\n", 3, "probabilities", "can't be given together with logits"),
        ("logits: [[1, 2]]\n", 2, "targets", "missing: logits has 2 columns (1 × 2, line 2); say which column"),
        ("probabilities: [[0.5, 0.5]]\n", 2, "targets", "each row is to predict; or give one column"),
        ("logits: [[1, 2]]\ntargets: 1\n", 3, "targets", "must be a list of texts"),
        ("logits: [[1, 2]]\ntargets: [0, 1]\n", 3, "targets", "2 targets, but logits has 1 row (1 × 2, line 2)"),
        ("logits: [[1, 2]]\ntargets: [2]\n", 3, "targets[1]", "2, but there are 2 words; ids go from 0 to 1"),
        ("logits: [[1, 2]]\ntargets: [-1]\n", 3, "targets[1]", '"-1" is no number, and there is no vocabulary'),
        ("logits: [[1, 2]]\nvocabulary: [ab, cd]\ntargets: [abb]\n", 4, "targets[1]",
         '"abb" is not in the vocabulary; did you mean ab?'),
        ("logits: [[1, 2]]\nvocabulary: [a, a]\ntargets: [a]\n", 4, "targets[1]",
         "a stands twice in the vocabulary; give its id, from 0"),
        ("probabilities: [0.5]\ntokens: [a]\ntargets: [b]\n", 3, "tokens", "not used beside targets"),
        ("probabilities: [0.5]\ntargets: [a, b]\n", 3, "targets", "2 targets, but probabilities has 1 row"),
        ("probabilities: [0.5, 2]\n", 2, "probabilities[2]", "2 is not from 0 to 1"),
        ("logits: [[1]]\ntargets: [0]\nreduction: max\n", 4, "reduction", '"max" is not mean, sum or none'),
        ("probabilities: [0.5, 0]\n", 0, "target_probabilities[2,1]", "is 0, and 0 has no logarithm"),
        ("logits: [[9, 0]]\ntargets: [1]\nshow: {rounding: carried}\n", 0, "target_probabilities[1,1]", "is 0"),
    ],
)  # fmt: skip
def test_what_is_refused(text, line, path, what):
    with pytest.raises(ProblemError) as caught:
        solve(parse(f"kind: loss\n{text}".encode(), "p.yaml"))
    error = caught.value
    assert (error.line, error.path) == (line, path) and what in str(error)
