"""Known wrong methods: whoever uses one is told so where it was used, and nowhere else; whoever does not, never is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import random_transformers
import reports
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_problems import cases

from attncalc import formats, mark, problem, wording
from attncalc.layout.report import lay_out_report
from attncalc.marking import Marking
from attncalc.marking.catalogue import DETOURS, WRONG, Way
from attncalc.marking.verdicts import SLIP
from attncalc.mechanisms import solve
from attncalc.problem import Problem
from attncalc.rounding import rounded
from attncalc.solution import Solution
from attncalc.steps import Arrange, Given, Step

ROOT = Path(__file__).resolve().parent.parent
Values = Mapping[str, Any]  # arrays by step id

# Students


def worked(solution: Solution, wrong: Values | None = None) -> dict[str, Any]:
    """What somebody writes who rounds every step, has `wrong` figures for some and goes on rightly."""
    own: dict[str, Any] = {}
    for id, step in solution.steps.items():
        is_wrong = wrong is not None and id in wrong
        values = wrong[id] if is_wrong else step.recomputed([own[operand.id] for operand in step.operands])
        own[id] = values if is_copy(step) and not is_wrong else rounded(np.asarray(values), step.places)
    return own


def is_copy(step: Step) -> bool:
    return isinstance(step, Given | Arrange)


def texts(solution: Solution, values: Values) -> dict[str, Any]:
    """Figures as somebody writes them."""

    def text(step: Step, value: float) -> str:
        return repr(float(value)) if is_copy(step) else f"{value:.{step.places}f}"

    return {id: [[text(solution.steps[id], x) for x in row] for row in rows] for id, rows in values.items()}


def marked(read: Problem, solution: Solution, values: Values) -> Marking:
    return mark(read, texts(solution, values))


# Each entry: the figures that it gives, worked out with nothing of the engine


def softmax(x: Any) -> Any:
    powers = np.exp(x)
    return powers / powers.sum(axis=1, keepdims=True)


def root(x: Any, eps: float = 0.0) -> Any:
    return np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)


class Case(NamedTuple):
    """A problem, the step where the method is used, and what it gives from the right figures before it; `unwritten` are
    steps that whoever uses it does not write."""

    text: str
    step: str
    figures: Callable[[Values], Any]
    unwritten: tuple[str, ...] = ()


H = "H: [[1, 0.5, -2, 0.3], [2, -1, 0.7, 1.5], [-1.2, 1.1, 0.4, 2]]\n"
W = "[[1, 0.5], [-0.4, 1], [0.7, 0.2], [0.1, -1]]"
V = "[[0.3, 1], [1.2, -0.4], [0.5, 0.9], [1, 0.1]]"
ATTENTION = f"{H}W_Q: {W}\nW_K: {V}\nW_V: {W}\n"
WIDE = "[[1, 0.5, 0.2, -1], [-0.4, 1, 0.9, 0.3], [0.7, 0.2, 1.5, 0.6], [0.1, -1, 0.8, 1.1]]"
HEADS = f"{H}W_Q: {WIDE}\nW_K: {WIDE}\nW_V: {WIDE}\nheads: 2\n"
SHARED = f"{H}W_Q: {[[1, 2, 0, 1, -1, 1, 2, 0]] * 4}\nW_K: {WIDE}\nW_V: {WIDE}\nheads: 4\nkv_heads: 2\n"
NARROW = (
    "H: [[1, 0.5, -2], [2, -1, 0.7]]\nW_Q: [[1, 0.5], [-0.4, 1], [0.7, 0.2]]\nW_K: [[1, 2], [0, 1], [2, 1]]\n"
    "W_V: [[1], [2], [3]]\n"
)
SQUARE = "Q: [[1, 0.5], [2, -1]]\nK: [[0.3, 1], [1.2, -0.4]]\nV: [[1, 2], [0.7, -3]]\n"
SCORES = "S: [[1, 2, 0.5], [0.3, 1.2, 2], [2, 0.1, 1]]\nV: [[1, 2], [0.7, -3], [0.2, 1.1]]\n"
NORM = "kind: layer-norm\nx: [[1, 3, 2, 7], [0.5, -1, 4, 2]]\n"
SOFTMAX = "kind: softmax\nx: [[1, 2, 0.5], [0.3, 1.2, 2]]\n"
NETWORK = (
    "kind: feed-forward\nx: [[1, 2], [0.5, -1]]\nW_1: [[1, -2, 0.3], [0.4, 1, -1]]\nW_2: [[1, 0], [2, 1], [0, 3]]\n"
)
LAYER = (
    "kind: encoder\nH: [[1, 3, 2], [0.5, -1, 4]]\nlayers:\n- feed_forward: {W_1: [[1, 0.2, 2], [0.5, 1, 0], [1, 2, 3]],"
    " W_2: [[1, 2, 0], [0, 1, 0.4], [0.3, 0, 1]]}\n"
)
ROTARY = "kind: rotary\nx: [[1, 0.5, -2, 0.3], [2, -1, 0.7, 1.5], [-1.2, 1.1, 0.4, 2]]\n"
POSITIONS = "kind: positions\nlength: 3\nwidth: 4\n"
LOSS = "kind: loss\nprobabilities: [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]\ntargets: [1, 2]\n"
ROUTER = "kind: experts\nx: [[1, 2], [0.5, -1]]\nrouter: [[1, 0.2, 0.5], [0.3, 1, 0.9]]\ntop_k: 2\n"


SOFT = ("exp", "row_sum")
MASKED = ("masked", *SOFT)
TURNED = ("a", "b", "a_rotated", "b_rotated")


def halves(x: Any, cos: Any, sin: Any) -> Any:
    a, b = x[:, :2], x[:, 2:]
    return np.hstack([a * cos - b * sin, a * sin + b * cos])


CASES = {
    "no_scale": Case(ATTENTION, "scaled", lambda s: s["S"]),
    "by_d_k": Case(ATTENTION, "scaled", lambda s: s["S"] / 2),
    "by_sqrt_d_model": Case(NARROW, "scaled", lambda s: s["S"] / np.sqrt(3)),
    "times_sqrt_d_k": Case(ATTENTION, "scaled", lambda s: s["S"] * np.sqrt(2)),
    "scale_unasked": Case(SCORES + "scale: none\nd_k: 2\n", "A", lambda s: softmax(s["S"] / np.sqrt(2)), SOFT),
    "no_factor": Case(SCORES + "scale: 8\n", "scaled", lambda s: s["S"]),
    "no_temperature": Case(SOFTMAX + "temperature: 2\n", "scaled", lambda s: s["x"]),
    "times_temperature": Case(SOFTMAX + "temperature: 2\n", "scaled", lambda s: s["x"] * 2),
    "no_mask": Case(SCORES + "d_k: 2\nmask: causal\n", "A", lambda s: softmax(s["scaled"]), MASKED),
    "hidden_are_0": Case(SCORES + "d_k: 2\nmask: causal\n", "A", lambda s: softmax(np.tril(s["scaled"])), MASKED),
    "mask_transposed": Case(
        SCORES + "d_k: 2\nmask: causal\n", "A", lambda s: np.triu(np.exp(s["scaled"]))
        / np.triu(np.exp(s["scaled"])).sum(axis=1, keepdims=True), MASKED,
    ),
    "mask_after_softmax": Case(SCORES + "d_k: 2\nmask: causal\n", "A", lambda s: np.tril(softmax(s["scaled"]))),
    "softmax_of_columns": Case(ATTENTION, "A", lambda s: softmax(s["scaled"].T).T),
    "no_exp": Case(SCORES + "d_k: 2\n", "A", lambda s: s["scaled"] / s["scaled"].sum(axis=1, keepdims=True)),
    "no_sum": Case(ATTENTION, "A", lambda s: np.exp(s["scaled"])),
    "K_not_transposed": Case(SQUARE, "S", lambda s: s["Q"] @ s["K"]),
    "K_by_Q": Case(ATTENTION, "S", lambda s: s["K"] @ s["Q"].T),
    "A_transposed": Case(ATTENTION, "O", lambda s: s["A"].T @ s["V"]),
    "W_transposed": Case(HEADS, "Q", lambda s: s["H"] @ s["W_Q"].T),
    "no_bias": Case(ATTENTION + "b_Q: [1, 0.5]\n", "Q", lambda s: s["H"] @ s["W_Q"]),
    "heads_reshaped": Case(HEADS, "head2.Q", lambda s: s["Q"].reshape(2, 3, 2)[1]),
    "heads_dealt_out": Case(HEADS, "head1.K", lambda s: s["K"].reshape(3, 2, 2)[:, :, 0]),
    "heads_in_turn": Case(SHARED, "head2.V", lambda s: s["V"][:, 2:]),
    "by_d_minus_1": Case(NORM, "variance", lambda s: s["x"].var(axis=1, ddof=1, keepdims=True)),
    "by_d": Case(NORM + "variance: unbiased\n", "variance", lambda s: s["x"].var(axis=1, keepdims=True)),
    "no_root": Case(NORM, "root", lambda s: s["x"].var(axis=1, keepdims=True) + 1e-5),
    "no_mean": Case(NORM, "normalised", lambda s: s["x"] / s["x"].std(axis=1, keepdims=True)),
    "eps_outside": Case(
        NORM + "eps: 0.5\n", "normalised", lambda s: s["deviations"] / (root(s["deviations"]) + 0.5), ("root",),
    ),
    "eps_in_root": Case(
        NORM + "eps: 0.5\neps_in: outside\n", "normalised", lambda s: s["deviations"] / root(s["deviations"], 0.5),
        ("root",),
    ),
    "no_gain": Case(NORM + "gain: [2, 0.5, 3, 1]\n", "gained", lambda s: s["normalised"]),
    "no_residual": Case(LAYER, "layer1.residual1", lambda s: s["layer1.feed_forward.output"]),
    "norm_before": Case(
        LAYER + "  norm: {place: post}\n", "layer1.norm1.deviations",
        lambda s: s["H"] - s["H"].mean(axis=1, keepdims=True), ("layer1.norm1.mean",),
    ),
    "norm_after": Case(
        LAYER + "  norm: {place: pre}\n", "layer1.feed_forward.hidden", lambda s: s["H"] @ s["layer1.feed_forward.W_1"]
    ),
    "no_activation": Case(NETWORK, "activated", lambda s: s["hidden"]),
    "no_positions": Case(H + f"W_Q: {W}\nW_K: {V}\nW_V: {W}\nposition: sinusoidal\n", "X", lambda s: s["H"]),
    "pairs_of_neighbours": Case(
        ROTARY + "pairs: halves\n", "rotated",
        lambda s: halves(s["x"][:, [0, 2, 1, 3]], s["cos"], s["sin"])[:, [0, 2, 1, 3]],
        TURNED,
    ),
    "pairs_of_halves": Case(ROTARY, "rotated", lambda s: halves(s["x"], s["cos"], s["sin"]), TURNED),
    "turned_backwards": Case(
        ROTARY + "pairs: halves\n", "rotated", lambda s: halves(s["x"], s["cos"], -s["sin"]), TURNED
    ),
    "from_1": Case(POSITIONS, "angle", lambda s: np.array([[1, 0.01], [2, 0.02], [3, 0.03]])),
    "in_degrees": Case(POSITIONS, "sin", lambda s: np.sin(np.radians(s["angle"]))),
    "in_radians": Case(
        ROTARY + "angles: [30, 45]\ndegrees: yes\n", "cos", lambda s: np.cos(np.outer([0, 1, 2], [30, 45]))
    ),
    "sin_cos_swapped": Case(
        POSITIONS, "positions", lambda s: np.stack([s["cos"], s["sin"]], axis=2).reshape(3, 4)
    ),
    "waves_in_turn": Case(
        POSITIONS + "columns: concatenated\n", "positions",
        lambda s: np.stack([s["sin"], s["cos"]], axis=2).reshape(3, 4),
    ),
    "waves_side_by_side": Case(POSITIONS, "positions", lambda s: np.hstack([s["sin"], s["cos"]])),
    "renormalised": Case(
        "kind: output\nprobabilities: [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]\ntop_k: 2\nrenormalise: no\n", "kept",
        lambda s: np.array([[0.5 / 0.8, 0.3 / 0.8, 0], [0, 0.7 / 0.9, 0.2 / 0.9]]),
    ),
    "softmax_first": Case(ROUTER, "gates", lambda s: softmax(s["logits"]) * s["chosen"], MASKED),
    "log_10": Case(LOSS, "log_probabilities", lambda s: np.log10([[0.3], [0.2]])),
    "no_minus": Case(LOSS, "losses", lambda s: np.log([[0.3], [0.2]])),
}  # fmt: skip


BY_DETOUR = {
    "max_subtracted": Case(SOFTMAX, "exp", lambda s: np.exp(s["x"] - s["x"].max(axis=1, keepdims=True))),
    "max_not_subtracted": Case(
        SOFTMAX + "show: {shift: max}\n", "exp", lambda s: np.exp(s["x"]), ("row_max", "shifted")
    ),
}  # fmt: skip


def test_each_entry_has_a_case_and_a_sentence_in_every_language() -> None:
    assert list(CASES) == list(WRONG) and list(BY_DETOUR) == list(DETOURS)
    for lang in wording.languages():
        keys = list(wording._templates(lang).of_group("methods"))
        assert keys == [f"methods.{key}" for key in [*WRONG, *DETOURS]], lang


@pytest.mark.parametrize("lang", wording.languages())
def test_a_report_says_each_method_of_the_first_slip_and_of_its_step(lang: str) -> None:
    read, marking, _ = reports.marked("a known method")
    for key in [*WRONG, *DETOURS]:
        told = replace(marking, methods=dict.fromkeys(marking.methods, key))
        page = formats.render("text", lay_out_report(told, read.show, lang, title=None, kind=read.kind))
        assert page.count(wording._templates(lang)[f"methods.{key}"]) == 1


@pytest.mark.parametrize("key", CASES)
@pytest.mark.parametrize("decimals", [3, 5])
def test_a_method_is_named_where_it_was_used_and_what_comes_after_follows(key: str, decimals: int) -> None:
    text, id, figures, unwritten = CASES[key]
    read = problem.parse(text.encode()).with_show(decimals=decimals)
    solution = solve(read)
    right = worked(solution)
    own = worked(solution, {id: figures(right)})
    marking = marked(read, solution, {id: own[id] for id in own if id not in unwritten})
    slips = {(each.step, each.row, each.column) for each in marking.figures if each.verdict == SLIP}
    assert len(slips) >= 2
    assert {step for step, _, _ in slips} == {id}
    assert marking.methods == dict.fromkeys(slips, key)
    assert [each.method for each in marking.figures if each.verdict == SLIP] == [key] * len(slips)


@pytest.mark.parametrize("key", BY_DETOUR)
def test_another_right_way_follows_and_is_named(key: str) -> None:
    text, id, figures, unwritten = BY_DETOUR[key]
    read = problem.parse(text.encode()).with_show(decimals=2)
    solution = solve(read)
    own = worked(solution, {id: figures(worked(solution))})
    for only in (slice(None), slice(1, 2)):  # a row alone too, and one figure
        told = {id: {"row": 2, "values": own[id][1]} if only.start else own[id] for id in own if id not in unwritten}
        marking = mark(read, told if only.start else texts(solution, {id: own[id] for id in told}))
        assert marking.is_right and set(marking.methods.values()) == {key}
    assert not any(flags.any() for flags in marking.from_slips.values())


# Any problem


def on_the_way(way: Way, solution: Solution, own: Values, written: Collection[str] = ()) -> dict[str, Any]:
    """The figures of the steps that a wrong way changes, for whoever has the right ones (`own`) of all others, and of
    those that are `written`."""
    found: dict[str, Any] = {}
    for id, step in way.items():
        right = solution.steps.get(id)
        is_other = right is None or not np.array_equal(right.values, step.values)
        if is_other or any(operand.id in found for operand in step.operands):
            stands = {**own, **{each: found[each] for each in found if each not in written}}
            found[id] = step.recomputed([stands[each.id] for each in step.operands])
    return found


def check_uses(read: Problem, solution: Solution, key: str, pick: Callable[[list[str]], str]) -> bool | None:
    """Whoever uses this method at one step, with nothing written on the way there, is told so there alone. Whether
    somebody was; None where it has no place in the problem."""
    with np.errstate(all="ignore"):
        return _check_uses(read, solution, key, pick)


def _check_uses(read: Problem, solution: Solution, key: str, pick: Callable[[list[str]], str]) -> bool | None:
    own = worked(solution)
    changed = on_the_way(WRONG[key](read, solution), solution, own)
    ids = [id for id in changed if id in own and changed[id].shape == own[id].shape and is_tame(changed[id], own[id])]
    if not ids:
        return None
    id = pick(ids)
    written = worked(solution, {id: changed[id]})
    left_out = list(changed)[: list(changed).index(id)]
    told = {id: written[id] for id in written if id not in left_out}
    marking = marked(read, solution, told)
    slips = marking.steps[id].verdicts == SLIP
    assert {step for step, _, _ in marking.methods} <= {id}
    if not any(isinstance(step, Arrange) and step.choosers for step in solution.steps.values()):
        assert {each.step for each in marking.figures if each.verdict == SLIP} <= {id}
    follows = marking.steps[id].follows
    off, wide = (np.abs(a[slips] - b[slips]) for a, b in ((written[id], follows.value), (follows.high, follows.low)))
    if slips.sum() >= 4 and (off > 1).all() and (wide < 0.05).all():
        assert len(marking.methods) == slips.sum()
    others = set(marking.methods.values()) - {key}  # those that give the same figures, where all is written
    for other in () if left_out else others:
        same = on_the_way(WRONG[other](read, solution), solution, own, told)[id]
        named = [(i, j) for _, i, j in marking.methods if marking.methods[id, i, j] == other]
        assert all(abs(same[where] - changed[id][where]) < 0.05 for where in named), (key, other)
    return bool(marking.methods)


def is_tame(*figures: Any) -> bool:
    return all((np.abs(each[np.isfinite(each)]) < 1e4).all() and not np.isnan(each).any() for each in figures)


def parsed(text: str) -> tuple[Problem, Solution]:
    read = problem.parse(text.encode()).with_show(decimals=3)
    return read, solve(read)


SHIPPED = [path for path in sorted((ROOT / "problems").glob("*.yaml")) if "generation" not in path.name]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_each_method_is_named_where_it_was_used_in_the_shipped_problems(path: Path) -> None:
    read = problem.load(path)
    solution = solve(read)
    if len(solution.steps) <= 36:
        told = [check_uses(read, solution, key, lambda ids: ids[0]) for key in WRONG]
        uses = [each for each in told if each is not None]
        assert sum(uses) >= len(uses) // 3  # of some the figures are right ones, or too few


@settings(max_examples=60)
@given(st.data())
def test_each_method_is_named_where_it_was_used_in_random_attentions(data: st.DataObject) -> None:
    check_any_use(*parsed(data.draw(cases()).text), data)


@settings(max_examples=60)
@given(st.data())
def test_each_method_is_named_where_it_was_used_in_random_transformers(data: st.DataObject) -> None:
    check_any_use(*parsed(random_transformers.text_of(data.draw(random_transformers.problems()))), data)


def check_any_use(read: Problem, solution: Solution, data: st.DataObject) -> None:
    """Of the first method, in any order, that has a place in the problem."""
    keys = data.draw(st.permutations(list(WRONG)))
    uses = (check_uses(read, solution, key, lambda ids: data.draw(st.sampled_from(ids))) for key in keys)
    assume(any(use is not None for use in uses))


# Silence

VARIED = [ATTENTION, HEADS, SQUARE, SCORES + "d_k: 2\nmask: causal\n", NORM + "gain: [2, 0.5, 3, 1]\n", LAYER, ROTARY]


@pytest.mark.parametrize("text", VARIED)
def test_whoever_works_rightly_is_never_told_of_a_method(text: str) -> None:
    read, solution = parsed(text)
    exact = {id: step.values for id, step in solution.steps.items()}
    assert marked(read, solution, worked(solution)).methods == {}
    assert marked(read, solution, exact).methods == {}


@pytest.mark.parametrize("text", VARIED)
def test_random_wrong_figures_and_a_single_one_are_never_named(text: str) -> None:
    read, solution = parsed(text)
    own = worked(solution)
    draw = np.random.default_rng(1)
    ids = [id for id, step in solution.steps.items() if not is_copy(step)]
    for k in range(40):
        id = ids[draw.integers(len(ids))]
        wrong = own[id].copy()
        i, j = draw.integers(wrong.shape[0]), draw.integers(wrong.shape[1])
        if k % 2:
            wrong[i, j] += draw.uniform(-3, 3)
        else:
            wrong[i] = draw.uniform(-3, 3, wrong.shape[1])
        written = worked(solution, {id: wrong})
        left_out = {each for each in ids if each != id and draw.random() < 0.3}
        marking = marked(read, solution, {id: written[id] for id in written if id not in left_out})
        assert marking.methods == {}, (id, wrong)


def test_two_figures_that_are_off_by_one_may_be_a_coincidence_and_more_are_none() -> None:
    text = "H: [[1, 0], [1, 1], [0, 1]]\nW_Q: [[1, 2], [1, 1]]\nW_K: identity\nW_V: identity\n"
    read, _ = parsed(text)  # Q is [[1, 2], [2, 3], [1, 1]]; with W_Q transposed [[1, 1], [3, 2], [2, 1]]
    assert mark(read, {"Q": [["1", "2"], ["3", "2"], ["1", "1"]]}).methods == {}
    of_all = mark(read, {"Q": [["1", "1"], ["3", "2"], ["2", "1"]]}).methods
    assert of_all == dict.fromkeys([("Q", 0, 1), ("Q", 1, 0), ("Q", 1, 1), ("Q", 2, 0)], "W_transposed")


def test_a_method_that_gives_the_right_figures_is_never_named() -> None:
    text = f"{H.replace(', 0.3', '').replace(', 1.5', '').replace(', 2]]', ']]')}" + "".join(
        f"{W}: [[1, 0.5, 2], [0.5, 3, 1], [2, 1, 0.2]]\n" for W in ("W_Q", "W_K", "W_V")
    )
    read, solution = parsed(text)
    assert marked(read, solution, worked(solution)).is_right
    wrong = solution.steps["Q"].values + np.array([[0.5, -0.25, 1]])
    marking = marked(read, solution, worked(solution, {"Q": wrong}))
    assert marking.counts[SLIP] == 9 and marking.methods == {}


def test_a_figure_that_is_hidden_where_it_should_not_be_is_a_slip() -> None:
    read, solution = parsed(SCORES + "d_k: 2\nmask: causal\n")
    seen = np.triu(np.ones((3, 3))) == 1
    wrong = np.where(seen, solution.steps["scaled"].values, -np.inf)
    marking = marked(read, solution, worked(solution, {"masked": wrong}))
    places = [(i, j) for i in range(3) for j in range(3) if i != j]
    assert marking.methods == {("masked", i, j): "mask_transposed" for i, j in places}


def test_a_row_that_agrees_is_named_and_the_others_are_not() -> None:
    read, solution = parsed(ATTENTION)
    wrong = solution.steps["scaled"].values.copy()
    wrong[0] = solution.steps["S"].values[0]
    wrong[1] += [0.3, -0.2, 0.7]
    marking = marked(read, solution, worked(solution, {"scaled": wrong}))
    assert marking.methods == {("scaled", 0, j): "no_scale" for j in range(3)}
    assert (marking.steps["scaled"].verdicts[1] == SLIP).all()


@pytest.mark.parametrize("text, answers", [
    ("kind: rotary\nx: [[1, 0, 2, 0], [1, 1, 0, 1], [0, 1, 1, 2]]\nbase: 100\n",
     {"cos": [["0.540", "0.995"], ["1", "1"], ["-0.416", "0.980"]]}),
    ("kind: positions\nlength: 4\nwidth: 4\nbase: 100\n",
     {"angle": [["1", "0.1"], ["0", "0"], ["2", "0.2"], ["3", "0.3"]]}),
    ("H: [[1, 0, 1, 2], [0, 1, 2, 1], [2, 1, 0, 1]]\nW_Q: identity\nW_K: [[1, 2, 0, 1], [1, 1, 1, 0], [0, 0, 3, 0], "
     "[0, 1, 0, 1]]\nW_V: identity\nheads: 2\n", {"head1.K": [["1", "4"], ["3", "6"], ["1", "2"]]}),
])  # fmt: skip
def test_rows_that_changed_places_are_no_method(text: str, answers: Any) -> None:
    marking = mark(problem.parse(text.encode()), answers)
    assert marking.counts[SLIP] >= 4 and marking.methods == {}


def test_a_method_is_found_from_the_last_step_alone() -> None:
    read, solution = parsed(ATTENTION)
    Q, K, V = (solution.steps[id].values for id in "QKV")
    methods = mark(read, {"O": np.round(softmax(Q @ K.T) @ V, 3)}).methods
    assert methods and set(methods.values()) == {"no_scale"}


def test_a_method_is_named_of_printed_figures_with_as_many_decimals_as_they_have() -> None:
    _, solution = parsed(ATTENTION)
    Q, K = solution.steps["Q"].values, solution.steps["K"].values
    printed = [[f"{x:.2f}" for x in row] for row in softmax(Q @ K.T)]
    read = problem.parse(f"{ATTENTION}published: {{A: {printed}}}\n".encode())
    marking = mark(read)
    assert set(marking.methods.values()) == {"no_scale"} and len(marking.methods) == marking.counts[SLIP]


@pytest.mark.parametrize(("first", "second", "named"), [(1, 0.5, False), (1, 2, True), (10, 20, True)])
def test_a_method_is_named_where_its_figures_are_no_coincidence(first: float, second: float, named: bool) -> None:
    """Scores not divided by 2. Of the whole numbers as far off as 4 from 2 there are 5, as 2 from 1 three: of 15 pairs
    one is these; of those as far off as 4 from 2 and 8 from 4, one of 45."""
    Q = [[first] * 4, [second] * 4]
    read = problem.parse(f"Q: {Q}\nK: [[1, 1, 1, 1]]\n".encode())
    marking = mark(read, {"scaled": [[f"{4 * first:g}"], [f"{4 * second:g}"]]})
    assert (marking.steps["scaled"].verdicts == SLIP).all()
    assert set(marking.methods.values()) == ({"no_scale"} if named else set())
