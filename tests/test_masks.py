"""Masks by their definitions: which keys each query sees, and with what weights, cell by cell in plain loops."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc import parse, solve
from attncalc.errors import ProblemError
from attncalc.problem import Problem

Rows = list[list[float]]
KEEP, HIDE, ADD = "keep", "hide", "add"


def problem(text: str) -> Problem:
    return parse(text.encode(), "p.yaml")


def weights_of(said: dict[str, Any], id: str = "A") -> Rows:
    """As a problem file says it: JSON is YAML."""
    found: Rows = solve(problem(json.dumps(said))).steps[id].values.tolist()
    return found


def expected(n: int, m: int, mask: dict[str, Any], padding: list[int] | None, head: int = 0) -> Rows:
    """The weights of n queries that score each of m keys 0."""
    past = mask.get("past", m - n if mask.get("align") == "end" else 0)
    window = mask.get("window", m + n)
    before, after = (window["before"], window["after"]) if isinstance(window, dict) else (window - 1, window - 1)
    rows = []
    for i in range(n):
        own, row = i + past, []
        for j in range(m):
            seen = own - before <= j <= own + after and not (mask.get("causal") and j > own)
            if padding is not None:
                seen = seen and padding[j] == 1
            of = {name: mask[name][head] if isinstance(mask[name][0][0], list) else mask[name]
                  for name in (KEEP, HIDE, ADD) if name in mask}  # fmt: skip
            seen = seen and (KEEP not in of or of[KEEP][i][j] == 1) and (HIDE not in of or of[HIDE][i][j] == 0)
            row.append(math.exp(of[ADD][i][j] if ADD in of else 0) if seen else 0.0)
        rows.append([each / sum(row) if sum(row) else 0.0 for each in row])
    return rows


def is_about(found: Rows, wanted: Rows) -> bool:
    return all(one == pytest.approx(other, rel=1e-12) for one, other in zip(found, wanted, strict=True))


@st.composite
def masks(draw: st.DrawFn) -> tuple[int, int, dict[str, Any], list[int] | None]:
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 5))

    def matrix(*entries: float) -> Rows:
        return draw(st.lists(st.lists(st.sampled_from(entries), min_size=m, max_size=m), min_size=n, max_size=n))

    mask: dict[str, Any] = {"causal": True} if draw(st.booleans()) else {}
    reach = draw(st.sampled_from(["none", "window", "before"]))
    if reach == "window":
        mask["window"] = draw(st.integers(1, 6))
    elif reach == "before":
        mask["window"] = {"before": draw(st.integers(0, 5)), "after": draw(st.integers(0, 5))}
    if mask and draw(st.booleans()) and n <= m:
        mask["past"] = draw(st.integers(0, m - n))
    elif mask and (n != m or draw(st.booleans())):
        mask["align"] = draw(st.sampled_from(["start", "end"]))
    for name, entries in ((KEEP, (0, 1)), (HIDE, (0, 1)), (ADD, (0, 1, -2, 0.5))):
        if draw(st.integers(0, 3)) == 0:
            mask[name] = matrix(*entries)
    padding = draw(st.none() | st.lists(st.integers(0, 1), min_size=m, max_size=m))
    return n, m, mask, padding


@given(masks())
def test_a_query_sees_what_each_part_of_its_mask_lets_it_see(drawn: tuple[int, int, dict[str, Any], Any]) -> None:
    n, m, mask, padding = drawn
    said: dict[str, Any] = {"S": [[0] * m] * n, "scale": "none"}
    said |= {"mask": mask} if mask else {}
    said |= {"padding": padding} if padding is not None else {}
    assert is_about(weights_of(said), expected(n, m, mask, padding))
    of_softmax = {"kind": "softmax", "x": said["S"], **{key: said[key] for key in ("mask", "padding") if key in said}}
    assert is_about(weights_of(of_softmax), expected(n, m, mask, padding))


@given(st.integers(1, 3), st.data())
def test_each_head_has_the_mask_of_its_place(heads: int, data: st.DataObject) -> None:
    """A list of matrices is one a head, in their order; a matrix is that of all of them."""
    n = data.draw(st.integers(1, 3))
    one = st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=n, max_size=n)
    mask = {name: data.draw(st.one_of(one, st.lists(one, min_size=heads, max_size=heads))) for name in (KEEP, ADD)}
    zero = [[0] * (2 * heads) for _ in range(2 * heads)]
    said = {"H": [[1] * 2 * heads] * n, "W_Q": zero, "W_K": zero, "W_V": zero, "heads": heads, "mask": mask}
    for head in range(heads):
        id = f"head{head + 1}.A" if heads > 1 else "A"
        assert is_about(weights_of(said, id), expected(n, n, mask, None, head))


@pytest.mark.parametrize(("mask", "path", "what"), [
    ("{keep: {random: integers, from: -1, to: 1, seed: 1}}", "mask.keep.from", "-1 is below what may stand here"),
    ("{hide: {random: integers, from: 0, to: 2, seed: 1}}", "mask.hide.to", "2 is above what may stand here"),
    ("{keep: [[[1, 1], [1, 1]], [[1, 1], [1, 3]]]}", "mask.keep[2][2,2]", "3 is not 0 or 1"),
    ("{keep: [[[1, 1], [1, 1]], [[1, 1], [1]]]}", "mask.keep[2][2]", "but the rows above have 2"),
    ("{keep: [[[1, 1], [1, 1]], [[1, 1, 1], [1, 1, 1]]]}", "mask.keep[2]", "3 columns (2 × 3), but H has 2 rows"),
])  # fmt: skip
def test_what_is_wrong_is_said_of_the_part_that_it_stands_in(mask: str, path: str, what: str) -> None:
    base = "H: [[1, 0], [0, 1]]\nW_Q: identity\nW_K: identity\nW_V: identity\nheads: 2\n"
    with pytest.raises(ProblemError) as caught:
        problem(f"{base}mask: {mask}\n")
    assert caught.value.path == path and what in caught.value.what


@pytest.mark.parametrize(("queries", "keys", "past", "most"), [(2, 4, 3, 2), (2, 5, 4, 3), (3, 3, 1, 0), (3, 2, 0, 0)])
def test_the_most_that_may_have_passed_is_said(queries: int, keys: int, past: int, most: int) -> None:
    with pytest.raises(ProblemError) as caught:
        problem(json.dumps({"S": [[0] * keys] * queries, "scale": "none", "mask": {"causal": True, "past": past}}))
    assert caught.value.hint == f"at most {most}"


def test_the_row_that_sees_nothing_is_named() -> None:
    mask = {KEEP: [[1, 0, 0], [0, 0, 0], [1, 1, 1]]}
    with pytest.raises(ProblemError, match=r"mask\[2\]: sees nothing"):
        solve(problem(json.dumps({"S": [[0] * 3] * 3, "scale": "none", "masked_row": "error", "mask": mask})))


@pytest.mark.parametrize(("mask", "square", "keys"), [
    ({"causal": True}, True, {"causal"}),
    ({"causal": True, "align": "end"}, False, {"causal", "placed"}),
    ({"window": 2}, True, {"window"}),
    ({"window": 2, "past": 1}, False, {"window", "placed"}),
    ({KEEP: [[1] * 3] * 2}, False, {KEEP}),
    ({KEEP: [[1] * 2] * 2}, True, {KEEP}),
])  # fmt: skip
def test_conventions_say_where_queries_stand_where_that_matters(
    mask: dict[str, Any], square: bool, keys: set[str]
) -> None:
    columns = 2 if square else 3
    solution = solve(problem(json.dumps({"S": [[0] * columns] * 2, "scale": "none", "mask": mask})))
    known = {"causal", "window", "placed", "padding", KEEP, HIDE, ADD}
    assert {key for key, *_ in solution.conventions} & known == keys
