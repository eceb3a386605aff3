"""Variants: the same for the same seed, all different, solvable by themselves, and fair to every honest habit."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from by_hand import Hand, rounded
from hypothesis import given, settings
from hypothesis import strategies as st
from test_draws import expected

from attncalc.digits import shown
from attncalc.draws import encoded
from attncalc.errors import ProblemError, UsageError
from attncalc.exercises import batches, judging
from attncalc.exercises import variants as drawing
from attncalc.exercises.blanks import by_level, by_names
from attncalc.exercises.variants import Variant, variants
from attncalc.marking.catalogue import WRONG
from attncalc.mechanisms import solve
from attncalc.problem import Template, load, load_template, parse, template
from attncalc.problem.emit import text_of
from attncalc.problem.fitness import has_equal_rows
from attncalc.problem.nodes import MapNode, compose
from attncalc.problem.source import Source
from attncalc.rounding import Flags
from attncalc.solution import Solution
from attncalc.steps import Arrange, Given, Step

ROOT = Path(__file__).resolve().parent.parent
RECIPES = sorted((ROOT / "problems").glob("draw-*.yaml"))
MANY = int(os.environ.get("ATTNCALC_VARIANTS", "20"))  # 1000 for the whole promise of the recipes

each_recipe = pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)

SMALL = b"""
H: [[1, 0], [0, 1]]
W_Q: [[1], [1]]
W_K: [[1], [-1]]
W_V: [[2], [1]]
draw: {W_Q: {from: -2, to: 2}, W_K: {from: -2, to: 2}}
show: {decimals: {default: 4, O: 1}}
"""


def results(solution: Solution) -> dict[str, Flags]:
    return {solution.result.id: np.ones(solution.result.shape, dtype=bool)}


def numbered(count: int) -> list[str]:
    return [f"student-{k}" for k in range(1, count + 1)]


def drawn(source: Template, count: int, seed: str = "winter") -> list[Variant]:
    return list(variants(source, numbered(count), seed, results))


@cache
def of_recipe(path: Path) -> list[Variant]:
    return drawn(load_template(path), 6)


def given_figures(solution: Solution) -> dict[str, Any]:
    return {id: step.values.tolist() for id, step in solution.steps.items() if isinstance(step, Given)}


# The recipes


@each_recipe
def test_recipes_give_as_many_variants_as_they_promise(path: Path) -> None:
    fingerprints = set()
    for variant in variants(load_template(path), numbered(MANY), "recipes", results):
        fingerprints.add(variant.fingerprint)
    assert len(fingerprints) == MANY


def test_there_are_recipes_of_rising_difficulty() -> None:
    solutions = {path.stem: of_recipe(path)[0].solution for path in RECIPES}
    figures = {name: sum(step.values.size for step in each.steps.values()) for name, each in solutions.items()}
    assert len(figures) >= 8
    assert min(figures.values()) < 50 and figures["draw-decoder-layer"] == max(figures.values())


@each_recipe
def test_a_variant_is_a_problem_by_itself(path: Path) -> None:
    source = load_template(path)
    said = yaml.load(path.read_text("utf-8"), yaml.BaseLoader)
    for variant in of_recipe(path):
        text = yaml.load(variant.text, yaml.BaseLoader)
        assert "draw" not in text and {key: text[key] for key in ("title", "show") if key in said} == {
            key: said[key] for key in ("title", "show") if key in said
        }
        alone = solve(parse(variant.text.encode()))
        assert given_figures(alone) == given_figures(variant.solution)
        for id, step in alone.steps.items():
            here, there = (shown(one, source.problem.show.rule).tolist() for one in (step, variant.solution.steps[id]))
            assert here == there
        assert variant.problem.drawn == () and not any("draw" in each.key for each in alone.conventions)


@each_recipe
def test_a_template_is_the_same_after_it_was_filled(path: Path) -> None:
    source = load_template(path)
    before = text_of(source.root)
    source.filled({})
    drawn(source, 1)
    assert text_of(source.root) == before and "draw:" in before


@each_recipe
def test_solve_works_one_example_and_says_so(path: Path) -> None:
    source = parse(path.read_bytes())
    conventions = [each for each in solve(source).conventions if each.key == "drawn"]
    assert [each.details["matrices"] for each in conventions] == [source.drawn] and source.drawn


# Fair to every habit, and to no wrong method

HANDS = [
    Hand(carries, constants, parts, ties)
    for ties in ("half-up", "half-even")
    for carries, constants, parts in itertools.product((False, True), repeat=3)
]


@settings(max_examples=10)
@given(st.sampled_from(RECIPES), st.text(max_size=4))
def test_honest_habits_write_the_same_digits_at_every_asked_figure(path: Path, seed: str) -> None:
    for variant in variants(load_template(path), ["a", "b"], seed, results):
        exact = solve(variant.problem.with_show(rounding="exact"))
        (asked,) = results(exact)
        right, used = Hand().writes(exact.steps)
        assert np.allclose(used[asked], exact.steps[asked].values, rtol=0, atol=1e-12)
        assert shown(variant.solution.steps[asked], variant.problem.show.rule).astype(float).tolist() == right[asked]
        unit = 10.0 ** -exact.steps[asked].places
        rest = np.abs(np.array(used[asked])) / unit % 1
        assert (np.abs(rest - 0.5) >= 0.02).all()
        for hand in HANDS:
            assert hand.writes(exact.steps)[0][asked] == right[asked], vars(hand)


def followed(way: Mapping[str, Step], asked: Step) -> Any:
    """What comes of a wrong way at the asked step, each wrong step leading on; None where it doesn't lead there."""
    figures: dict[str, Any] = {}
    for id, step in way.items():
        operands = [figures[operand.id] for operand in step.operands]
        figures[id] = step.values if isinstance(step, Given) else step.recomputed(operands)
    found = figures.get(asked.id)
    return found if found is not None and found.shape == asked.shape else None


# What each recipe must tell from the right way: a head of width 1 has no scale, a norm by itself no attention, and in
# cross-attention, where queries and keys are other tokens, nobody can write K·Qᵀ for Q·Kᵀ.
SOFTMAX = {"softmax_of_columns", "no_sum", "W_transposed"}
SCALE = {"no_scale", "by_d_k", "times_sqrt_d_k"}
MASK = {"no_mask", "mask_transposed", "mask_after_softmax", "hidden_are_0"}
OWN = {"K_by_Q", "A_transposed"}
LAYER = {"by_sqrt_d_model", "no_activation", "no_residual", "norm_before", "no_mean", "no_root", "by_d_minus_1"}
METHODS = {
    "draw-causal": SOFTMAX | SCALE | MASK | OWN,
    "draw-cross": SOFTMAX | SCALE,
    "draw-decoder-layer": SOFTMAX | SCALE | MASK | OWN | LAYER,
    "draw-encoder-layer": SOFTMAX | SCALE | OWN | LAYER,
    "draw-feed-forward": {"no_activation", "no_bias"},
    "draw-layer-norm": {"no_mean", "no_root", "by_d_minus_1", "no_gain", "no_bias"},
    "draw-one-head": SOFTMAX | OWN | {"by_sqrt_d_model"},
    "draw-scale": SOFTMAX | SCALE | OWN,
    "draw-two-heads": SOFTMAX | SCALE | OWN | {"by_sqrt_d_model", "heads_dealt_out", "heads_reshaped"},
}


@each_recipe
def test_every_known_wrong_method_changes_an_asked_figure(path: Path) -> None:
    """Of those that change one by a unit in any variant, and of those that the recipe is for: they can be asked about,
    and must show in all in which they can be gone: where the scores of a row add up to 0, nobody divides by their sum.
    """
    changes: dict[str, list[tuple[int, bool, bool]]] = {key: [] for key in WRONG}
    for variant in of_recipe(path):
        exact = variant.problem.with_show(rounding="exact")
        right = solve(exact)
        asked = right.result
        for key, method in WRONG.items():
            with np.errstate(all="ignore"):
                way = method(exact, right)
                other = followed(way, asked)
            wrong = sum(step is not right.steps.get(id) for id, step in way.items())
            if wrong and other is not None:
                much = (np.abs(other - asked.values) > 10.0**-asked.places).any()
                written = [[[rounded(x, asked.places, "half-up") for x in row] for row in each.tolist()]
                           for each in (other, asked.values)]  # fmt: skip
                changes[key].append((wrong, bool(much), written[0] != written[1]))
    applying = {key: each for key, each in changes.items() if any(much for _, much, _ in each)}
    whole = {key: max(wrong for wrong, *_ in each) for key, each in applying.items()}
    assert applying.keys() >= METHODS[path.stem]
    for key, each in applying.items():
        assert all(shows for wrong, _, shows in each if wrong == whole[key]), key


def test_what_hides_a_mistake_is_refused() -> None:
    judge = judging.Judge(template(SMALL).problem, results)
    columns = [[1, 1], [1, -1], [1, 0], [1, 1]], [[1, 1], [1, 2], [1, 1], [-1, 1]]
    Q, K = (np.array(each, dtype=float).T[:, None, :] for each in columns)
    reasons = judge.verdicts({"W_Q": Q, "W_K": K})
    # W_Q = W_K; 1/(1 + e) is other digits of e as it is rounded; a row of W_Q is 0; both rows of Q are alike.
    assert reasons == ["symmetric", "habits", "degenerate", "degenerate"]


@pytest.mark.parametrize("size", [1, 50, 700, 2000])
def test_draws_are_judged_in_parts_as_all_at_once(size: int) -> None:
    source = load_template(ROOT / "problems" / "draw-one-head.yaml")
    judge = judging.Judge(source.problem, lambda solution: by_level(solution, 2))
    seeds = encoded([str(k) for k in range(max(100, size))])
    drawn = {path: form.drawn(seeds, path, *judge.shapes[path]) for path, form in source.draws.items()}
    parts = [{path: each[..., k : k + size] for path, each in drawn.items()} for k in range(0, len(seeds), size)]
    reasons, good = judge.judged(parts)
    assert reasons == judge.verdicts(drawn)
    fair = [k for k, reason in enumerate(reasons) if not reason]
    assert fair and all(np.array_equal(good[path], each[..., fair]) for path, each in drawn.items())


def test_rows_that_are_all_alike_are_degenerate() -> None:
    """Who has worked one row of the weights has worked them all."""
    judge = judging.Judge(template(SMALL).problem, results)
    W_Q, W_K = (np.array(each, dtype=float).T[:, None, :] for each in ([[1, 1], [1, 2]], [[1, -1], [1, -1]]))
    assert judge.verdicts({"W_Q": W_Q, "W_K": W_K})[0] == "degenerate"
    assert judge.verdicts({"W_Q": W_Q, "W_K": W_K})[1] != "degenerate"


@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 999))
def test_an_input_with_two_equal_rows_is_flat(n: int, m: int, seed: int) -> None:
    figures = np.random.default_rng(seed).integers(-1, 2, (n, m, 2, 3)) * 1.0
    pairs = [(figures[i] == figures[j]).all(axis=0) for i, j in itertools.combinations(range(n), 2)]
    assert np.array_equal(has_equal_rows(figures), np.any([np.zeros((2, 3), dtype=bool), *pairs], axis=0))


def test_what_is_too_large_to_be_worked_is_found_out_at_once() -> None:
    """Whether two of 100,000 rows are equal takes no longer than to sort them: not each pair is looked at."""
    W = b"{columns: 2}"
    large = b"draw: {H: {rows: 100000, columns: 2}, W_Q: %b, W_K: %b, W_V: %b}" % (W, W, W)
    start = time.process_time()
    with pytest.raises(ProblemError, match="more than there is room for"):
        solve(parse(large, "large.yaml"))
    assert time.process_time() - start < 10


def of_size(n: int, d: int, *, rest: str = "show: {decimals: 3}") -> str:
    matrices = "".join(f"  W_{name}: {{from: -2, to: 2, columns: {d}}}\n" for name in "QKV")
    return f"draw:\n  H: {{from: -2, to: 2, rows: {n}, columns: {d}}}\n{matrices}{rest}\n"


def matrix(rows: int, columns: int) -> list[list[int]]:
    return [[(3 * i + j * j + i * j) % 5 - 2 for j in range(columns)] for i in range(rows)]


def of_layers(n: int, d: int, layers: int) -> str:
    attention = "".join(f"W_{name}: {matrix(d, d)}, " for name in "QKV")
    layer = (f"  - attention: {{{attention}heads: 2}}\n    norm: {{kind: layer-norm, place: pre}}\n"
             f"    feed_forward: {{W_1: {matrix(d, 2 * d)}, W_2: {matrix(2 * d, d)}, activation: gelu}}\n")  # fmt: skip
    return f"kind: decoder\nH: {matrix(n, d)}\nlayers:\n{layer * layers}"


# What takes long: ranks, sums of products, products rounded one by one, e^x and GELU, many small matrices, a draw that
# is few of many figures.
HOPELESS = {
    "wide": (of_size(16, 24), by_level), "long": (of_size(60, 6), by_level), "large": (of_size(80, 80), by_level),
    "too large": (of_size(400, 300), by_level),
    "one figure": (of_size(60, 60, rest="scale: {multiply: 0.002}\nshow: {decimals: 1}"), "O[1,1]"),
    "feed-forward": ("kind: feed-forward\nactivation: gelu\ndraw: {x: {of: quarters, rows: 40, columns: 40}, "
                     "W_1: {of: quarters, columns: 40}, W_2: {of: quarters, columns: 40}}", "output[1,1]"),
    "deep": (of_layers(4, 4, 24), by_level), "many matrices": (of_layers(3, 2, 60), by_level),
    "one figure of many layers": (of_layers(8, 8, 8), "result[1,1]"),
    "few drawn": (f"H: {matrix(60, 40)}\nW_Q: identity\nW_K: identity\nW_V: identity\nscale: {{multiply: 0.01}}\n"
                  "draw: {b_V: {columns: 40}}", by_level),
    "few draws": (f"H: {matrix(150, 12)}\nW_Q: identity\nW_K: identity\nW_V: identity\nscale: {{multiply: 0.01}}\n"
                  "draw: {b_V: {from: 0, to: 1, columns: 12}}", by_level),
}  # fmt: skip


@pytest.mark.parametrize("name", HOPELESS)
def test_where_no_draw_will_do_it_is_found_out_in_time(name: str) -> None:
    text, asked = HOPELESS[name]
    of = (lambda solution: by_level(solution, 2)) if callable(asked) else lambda solution: by_names(solution, [asked])
    start = time.process_time()
    with pytest.raises(UsageError, match=r"no variant was found in|too large for its draws") as caught:
        next(variants(template(text.encode()), ["a"], "s", of))
    assert time.process_time() - start < 5 and "; draw " in str(caught.value)


@pytest.mark.parametrize("columns", [1, 6])
def test_what_is_asked_for_may_rest_on_nothing_that_is_drawn(columns: int) -> None:
    """Whatever the values are, scores and weights are the same: of few draws that there are in all, and of many."""
    text = f"Q: [[1.1, 1]]\nK: [[1, 0.1], [2, 0.3]]\ndraw: {{V: {{from: 1, to: 9, rows: 2, columns: {columns}}}}}\n"
    source = template(f"{text}scale: none\n".encode())
    for asked in "SAO":
        found = list(variants(source, numbered(3), "s", lambda solution, asked=asked: by_names(solution, [asked])))
        assert len({each.fingerprint for each in found}) == 3, asked


@each_recipe
def test_no_asked_step_shows_one_row_over_and_over(path: Path) -> None:
    """Of draw-scale, seed s, the 15th would else show A = [0.14, 0.284, 0.576] three times."""
    source = load_template(path)
    for variant in variants(source, [str(k) for k in range(1, 21)], "s", lambda solution: by_level(solution, 1)):
        for id in by_level(variant.solution, 1):
            rows = shown(variant.solution.steps[id], source.problem.show.rule).tolist()
            assert len(rows) == 1 or len(set(map(tuple, rows))) > 1, (variant.id, id)


@pytest.mark.parametrize("matrix", [b"W_V", b"W_K"])
def test_what_rests_on_no_drawn_matrix_is_judged_once_for_all_draws(matrix: bytes) -> None:
    """V or, with W_V drawn alone, all but V and O: figures that are the same in each."""
    text = SMALL.replace(b"W_Q: [[1], [1]]", b"W_Q: [[1], [2]]").replace(b"{W_Q: {from: -2, to: 2}, W_K", b"{" + matrix)
    judge = judging.Judge(template(text).problem, lambda solution: by_level(solution, 2))
    figures = np.array([[1, 2], [0, 1], [-1, 1]], dtype=float).T[:, None, :]
    drawn = {matrix.decode(): figures}
    one_by_one = [judge.verdicts({path: each[..., k : k + 1] for path, each in drawn.items()})[0] for k in range(3)]
    assert judge.verdicts(drawn) == one_by_one


def test_uniform_and_one_hot_weights_are_degenerate() -> None:
    weights = np.array([[0.5, 0.5], [0.9996, 0.0004], [0.6, 0.4], [1.0, 0.0]]).T[None]  # four draws of one row
    assert batches.is_plain(weights, 3).tolist() == [[True, True, False, False]]  # the last sees only one


@pytest.mark.parametrize("path", sorted((ROOT / "problems").glob("*.yaml")), ids=lambda path: path.stem)
def test_many_draws_are_worked_at_once_as_each_by_itself(path: Path) -> None:
    for step in solve(load(path)).steps.values():
        if isinstance(step, Given):
            continue
        chosen = step.choosers if isinstance(step, Arrange) else 0
        one = [operand.values for operand in step.operands]
        other = [values if k >= len(one) - chosen else values / 2 + 1 for k, values in enumerate(one)]
        both = [np.stack(each, axis=-1) for each in zip(one, other, strict=True)]
        with np.errstate(all="ignore"):
            together, each = step.recomputed(both), [step.recomputed(operands) for operands in (one, other)]
        assert np.allclose(together, np.stack(each, axis=-1), rtol=1e-13, atol=1e-13, equal_nan=True), step.id


# The same everywhere

GOLDEN: dict[str, dict[str, dict[str, list[list[int]]]]] = {  # two variants each: what is drawn, by fingerprint
    "draw-one-head": {
        "576a06d6fb3e": {"H": [[2, 2], [0, -1]], "W_Q": [[-1], [-1]], "W_K": [[1], [-1]], "W_V": [[2, -2], [1, 1]]},
        "76eb04cf4314": {"H": [[-2, 0], [-2, -1]], "W_Q": [[-1], [1]], "W_K": [[-1], [-1]], "W_V": [[2, -1], [-2, 0]]},
    },
    "draw-layer-norm": {
        "8beafbbef78f": {"x": [[-3, 5, 5, -2], [1, 4, 2, 4]]},
        "541d79a9e600": {"x": [[2, -3, -1, 4], [-3, 3, 4, 3]]},
    },
}


def test_golden_variants() -> None:
    """The same for ever: sheets that were handed out rest on them."""
    for name, golden in GOLDEN.items():
        source = load_template(ROOT / "problems" / f"{name}.yaml")
        made = {each.fingerprint: given_figures(each.solution) for each in drawn(source, 2, "golden")}
        assert {key: {path: each[path] for path in source.draws} for key, each in made.items()} == golden


def test_the_figures_are_those_of_the_stream() -> None:
    """Each matrix is the first that is fit by itself, of those that the stream of its seed and path gives in turn."""
    (variant,) = variants(load_template(ROOT / "problems" / "draw-layer-norm.yaml"), ["me"], "s", results)
    x = variant.solution.steps["x"].values
    for attempt in range(50):
        figures = expected(f"s/me/{attempt}", "x", -3, 5, 8 * 8)
        if [figures[k : k + 8] for k in range(0, 64, 8)].count(x.ravel().tolist()):
            return
    raise AssertionError(x)


def test_hash_seed_and_the_other_students_play_no_part() -> None:
    script = (
        "import sys; sys.path.insert(0, 'tests'); from test_variants import *; "
        "print(*(v.fingerprint for v in drawn(load_template(ROOT / 'problems' / 'draw-causal.yaml'), 3)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True,
            text=True, check=True,
        ).stdout.split().__repr__()
        for seed in ("0", "1")
    }  # fmt: skip
    source = load_template(ROOT / "problems" / "draw-causal.yaml")
    assert printed == {repr([each.fingerprint for each in drawn(source, 3)])}
    alone = [next(variants(source, [id], "winter", results)).fingerprint for id in numbered(3)]
    assert printed == {repr(alone)}


def test_another_seed_gives_others() -> None:
    source = load_template(RECIPES[0])
    assert not {v.fingerprint for v in drawn(source, 3, "a")} & {v.fingerprint for v in drawn(source, 3, "b")}


def test_the_fingerprint_is_of_what_is_given_and_asked() -> None:
    source = load_template(ROOT / "problems" / "draw-layer-norm.yaml")
    (one,) = variants(source, ["a"], "s", results)
    (other,) = variants(source, ["a"], "s", lambda solution: {solution.result.id: np.eye(2, 4, dtype=bool)})
    assert given_figures(one.solution) == given_figures(other.solution) and one.fingerprint != other.fingerprint


# What is drawn


def test_without_draw_what_is_written_out_keeps_its_size() -> None:
    text = b"H: [[1, 0, 1], [0, 1, 1]]\nW_Q: [[1, 0, 1], [0, 1, 1], [0, 0, 2]]\nW_K: identity\nW_V: [[1], [1], [2]]\n"
    assert list(template(text + b"mask: {add: [[0, 1], [1, 0]]}\n").draws) == ["H", "W_Q", "W_V"]
    for variant in drawn(template(text.replace(b"identity", b"[[1, 0, 0], [0, 1, 0], [1, 1, 1]]"), "p"), 3):
        for id, shape in (("H", (2, 3)), ("W_Q", (3, 3)), ("W_K", (3, 3)), ("W_V", (3, 1))):
            values = variant.solution.steps[id].values
            assert values.shape == shape and set(values.ravel()) <= {-1, 0, 1}, id


@pytest.mark.parametrize(
    ("said", "low", "high", "parts"),
    [
        ("integers", -2, 2, 1),
        ("{from: 1, to: 3}", 1, 3, 1),
        ("quarters", -2, 2, 4),
        ("{of: quarters, to: 1}", -2, 1, 4),
    ],
)
def test_integers_and_quarters(said: str, low: int, high: int, parts: int) -> None:
    text = f"kind: feed-forward\nx: [[1, 2], [2, 3]]\nW_1: [[1, 2], [3, 4]]\nW_2: [[1], [2]]\ndraw: {{x: {said}}}\n"
    figures = [v.solution.steps["x"].values for v in drawn(template(text.encode()), 12)]
    assert {float(f) * parts % 1 for x in figures for f in x.ravel()} == {0.0}
    assert low <= min(x.min() for x in figures) and max(x.max() for x in figures) <= high
    assert parts == 1 or any(float(f) % 1 for x in figures for f in x.ravel())


def test_published_figures_are_not_those_of_a_variant() -> None:
    text = SMALL + b"published: {O: [[1], [2]]}\n"
    (variant,) = drawn(template(text), 1)
    assert variant.problem.published is None and "published" not in variant.text


def test_matrices_that_the_file_gives_are_solved_as_given_and_drawn_anew() -> None:
    assert parse(SMALL).drawn == ()
    assert solve(parse(SMALL)).steps["W_Q"].values.tolist() == [[1], [1]]
    (variant,) = drawn(template(SMALL), 1)
    assert variant.solution.steps["H"].values.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("draw", "what"),
    [
        ("{W_Q: {rows: 3}}", "3 rows, but what the file gives there has 2"),
        ("{K_X: integers}", "unknown key K_X"),
        ("{A: integers}", "can't be given together with"),
    ],
)
def test_a_draw_that_does_not_fit(draw: str, what: str) -> None:
    text = SMALL.replace(SMALL[SMALL.index(b"draw") : SMALL.index(b"show")], f"draw: {draw}\n".encode())
    with pytest.raises(ProblemError) as caught:
        template(text)
    assert what in str(caught.value)


@pytest.mark.parametrize(("text", "hint"), [
    (b"kind: positions\nlength: 3\nwidth: 2\n", "say draw: {x: integers, ..}"),
    (b"kind: size\nlayers: 2\nd_model: 8\nheads: 2\n", "leave out --students and --variants"),
])  # fmt: skip
def test_a_file_with_nothing_to_draw(text: bytes, hint: str) -> None:
    """What is proposed is a key of such a problem."""
    with pytest.raises(ProblemError, match="draw: there is nothing to draw") as caught:
        template(text)
    assert hint in caught.value.hint


each_problem = pytest.mark.parametrize("path", sorted((ROOT / "problems").glob("*.yaml")), ids=lambda path: path.stem)


@pytest.mark.parametrize("decimals", [0, 5, 6, 9, 12])
@pytest.mark.parametrize("path", sorted((ROOT / "problems").glob("draw-*.yaml")), ids=lambda path: path.stem)
def test_every_recipe_can_be_drawn_from_at_any_decimals(
    path: Path, decimals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "TRIES", 100)
    tree = yaml.load(path.read_text("utf-8"), yaml.BaseLoader)
    tree.setdefault("show", {})["decimals"] = str(decimals)
    try:
        (variant,) = variants(template(json.dumps(tree).encode()), ["a"], "s", results)
    except UsageError as error:
        assert error.hint.startswith("draw from more numbers, show fewer decimals, or ask for less")
    else:
        assert variant.problem.show.rule.decimals == decimals


@each_problem
@pytest.mark.filterwarnings("error")
def test_every_problem_can_be_drawn_from_or_says_why_not(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "TRIES", 100)
    try:
        (variant,) = variants(load_template(path), ["a"], "s", results)
    except ProblemError as error:
        assert error.what == "there is nothing to draw"
    except UsageError as error:
        assert error.hint.startswith("draw from more numbers, show fewer decimals, or ask for less")
    else:
        assert variant.solution.steps.keys() == solve(load_template(path).problem).steps.keys()


@each_problem
def test_a_file_is_written_anew_as_it_was(path: Path) -> None:
    text = path.read_text("utf-8")
    root = compose(Source(path.name, text))
    assert isinstance(root, MapNode)
    assert yaml.load(text_of(root), yaml.BaseLoader) == yaml.load(text, yaml.BaseLoader)


TEXTS = st.text(max_size=12).filter(lambda text: all(c.isprintable() or c in "\n\t" for c in text))


@given(st.dictionaries(TEXTS.filter(lambda key: key != "<<"), st.recursive(TEXTS, st.lists, max_leaves=8), min_size=1))
def test_any_text_is_written_anew_as_it_was(said: Any) -> None:
    """Whatever it is quoted by: by PyYAML here, plain where that will do, and by us again."""
    for style in (None, "'", '"', "|", ">"):
        source = yaml.dump(said, default_style=style, allow_unicode=True)  # type: ignore[arg-type]
        root = compose(Source("p", source))
        assert isinstance(root, MapNode)
        assert yaml.load(text_of(root), yaml.BaseLoader) == yaml.load(source, yaml.BaseLoader)


# Counts


def test_few_draws_are_counted_before_the_first_variant() -> None:
    source = template(SMALL)
    refused: Counter[str] = Counter()
    with pytest.raises(UsageError) as caught:
        next(variants(source, numbered(500), "s", results, refused))
    said = re.search(r"of the 625 draws that there are (\d+) will do, mostly because", str(caught.value))
    assert said
    count = int(said[1])
    assert sum(refused.values()) == 625 - count > 0
    made = drawn(source, count)
    assert len({each.fingerprint for each in made}) == count
    by_sampling = {each.fingerprint for each in drawn(source, count, "another")}
    assert by_sampling == {each.fingerprint for each in made}


def test_too_few_draws_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "SMALL", 0)
    monkeypatch.setattr(drawing, "TRIES", 300)
    said = r"[1-9]\d* variants were found, and no other in 300 draws, mostly because .*; draw from more"
    with pytest.raises(UsageError, match=said):
        drawn(template(SMALL), 500)


def test_the_reason_that_is_named_is_none_that_draws_always_have() -> None:
    """The first call of a newcomer: of ten draws five are degenerate, whatever is asked for."""
    refused: Counter[str] = Counter()
    with pytest.raises(UsageError) as caught:
        next(variants(load_template(ROOT / "problems" / "abc.yaml"), ["1"], "", lambda s: by_level(s, 2), refused))
    assert refused.most_common(1)[0][0] == "degenerate" and str(caught.value).startswith(
        f"attncalc: no variant was found in 10000 draws, mostly because {drawing.WHY['near_tie']}; "
    )


def test_refusals_are_counted_by_reason() -> None:
    refused: Counter[str] = Counter()
    list(variants(load_template(ROOT / "problems" / "draw-decoder-layer.yaml"), numbered(20), "s", results, refused))
    assert {"degenerate", "near_tie"} <= set(refused)
    methods = {key.partition(":")[2] for key in refused if key.startswith("method:")}
    assert methods and methods <= set(WRONG)
    known = {"degenerate", "symmetric", "near_tie", "habits", "method", "repeated", "other_steps"}
    assert {key.partition(":")[0] for key in refused} <= known == set(drawing.WHY)


def test_what_is_proposed_where_too_much_is_asked_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    source = load_template(ROOT / "problems" / "draw-encoder-layer.yaml")
    monkeypatch.setattr(drawing, "TRIES", 300)
    with pytest.raises(UsageError, match="no variant was found in 300 draws, mostly because a figure") as caught:
        list(variants(source, ["a"], "s", lambda solution: by_level(solution, 2)))
    monkeypatch.undo()
    proposed = caught.value.hint.rpartition("--blank ")[2].split(",")
    assert len(proposed) >= 5 and "layer1.norm2.normalised" in proposed and "layer1.attention.A" in proposed
    assert len(list(variants(source, ["a", "b"], "s", lambda solution: by_names(solution, proposed)))) == 2


def test_two_variants_with_one_id() -> None:
    with pytest.raises(UsageError, match="two variants with one id"):
        list(variants(template(SMALL), ["a", "a"], "s", results))


def test_nothing_is_asked() -> None:
    with pytest.raises(UsageError, match="no figure is asked for"):
        list(variants(template(SMALL), ["a"], "s", lambda solution: {}))


def test_variants_are_made_one_at_a_time() -> None:
    made: Iterator[Variant] = variants(load_template(RECIPES[0]), numbered(100_000), "s", results)
    assert [next(made).id for _ in range(3)] == numbered(3)


# Quarters, drawn in any problem


def test_a_matrix_of_quarters() -> None:
    drawn = "{random: quarters, from: -1, to: 1, seed: 7, rows: 2, columns: 2}"
    x = solve(parse(f"kind: residual\nf: [[1, 2], [3, 4]]\nx: {drawn}\n".encode())).steps["x"]
    assert x.values.ravel().tolist() == [figure / 4 for figure in expected("7", "x", -4, 4, 4)]
    assert x.written is not None and [float(text) for text in x.written.ravel()] == x.values.ravel().tolist()
