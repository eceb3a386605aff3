"""Where only the result is asked for, the figures on the way to it go, and are the same again for who asks for them."""

from pathlib import Path

import numpy as np
import pytest

from attncalc import formats
from attncalc.layout import figures, lay_out
from attncalc.mechanisms import solve
from attncalc.problem import load, parse
from attncalc.steps import Matrix, OneOfTwo, computed

PROBLEMS = Path(__file__).resolve().parent.parent / "problems"


@pytest.mark.parametrize("rounding", ["exact", "carried"])
@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.yaml")), ids=lambda path: path.stem)
def test_what_went_is_the_same_again(path, rounding):
    read = load(path).with_show(rounding=rounding)
    whole, result = solve(read), solve(read.with_show(detail="result"))
    assert list(whole.steps) == list(result.steps)
    for id, step in reversed(result.steps.items()):
        assert np.array_equal(step.values, whole.steps[id].values), id
        assert np.array_equal(step.exact, whole.steps[id].exact), id


@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_page_of_the_result_is_the_same_whether_figures_went_or_not(path):
    read = load(path)
    shown = read.with_show(detail="result").show
    kept, went = (
        formats.render("text", lay_out(solve(read.with_show(detail=detail)), shown, "en", kind=read.kind))
        for detail in ("full", "result")
    )
    assert kept == went


def test_figures_go_once_they_are_used():
    read = load(PROBLEMS / "abc.yaml").with_show(detail="result")
    steps = solve(read).steps
    assert {id for id, step in steps.items() if "values" not in vars(step)} >= {"H", "W_Q", "Q", "K", "S", "scaled"}
    assert steps["O"].values.shape == steps["Q"].shape


@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_last_row_of_a_large_product_says_what_all_of_them_do(path, monkeypatch):
    monkeypatch.setattr(figures, "LARGE", 0)
    read = load(path)
    for step, found in figures.Printed(solve(read), read.show.rule).items():
        assert found.hold() == found.true.all(), step.id


@pytest.mark.parametrize("decimals", [0, 1])
def test_a_product_of_very_many_terms_is_what_a_sum_of_them_gives(decimals):
    """Above 2^20 terms NumPy adds them up, in whatever order: tenths are the same in any."""
    random = np.random.default_rng(7)
    q, k = (random.integers(-9, 10, size=(n, 30)) for n in (190, 200))
    text = "".join(f"{name}: {(of / 10**decimals).tolist()}\n" for name, of in (("Q", q), ("K", k)))
    found = solve(parse(f"{text}scale: none\nshow: {{detail: matrices}}\n".encode())).steps["S"].values
    expected = [[sum(int(x) * int(y) for x, y in zip(a, b, strict=True)) / 100**decimals for b in k] for a in q]
    assert q.shape[0] * k.shape[0] * 30 > computed._BY_HAND and found.tolist() == expected


def test_a_mask_holds_its_flags_alone():
    flags = np.tri(3, dtype=bool)
    mask = OneOfTwo(flags, (0.0, "0"), (-np.inf, "-∞"))
    assert mask.values.tolist() == [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]]
    assert mask.written.tolist() == [["0", "-∞", "-∞"], ["0", "0", "-∞"], ["0", "0", "0"]]
    assert (mask.decimals, Matrix(mask.values, mask.written).decimals) == (0, 0)
