"""Heads, weights in other clothes, memory, masks, matrices from files and draws, softmax: key by key."""

from __future__ import annotations

import io
import os
import pickle
import re
import struct
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc.draws import integers
from attncalc.errors import AttncalcError, ProblemError, UsageError
from attncalc.problem import Attention, Mask, Problem, load, parse
from attncalc.problem.softmax import Softmax
from attncalc.problem.standalone import mask_matrix_from_bytes, matrix_from_bytes, padding_vector
from attncalc.steps import Matrix

I2 = "[[1, 0], [0, 1]]"
I4 = "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"
H4 = "H: [[1, 0, 2, 0], [0, 1, 0, 2], [1, 1, 0, 0]]\n"
BASE = f"H: {I2}\nW_Q: {I2}\nW_K: {I2}\nW_V: {I2}\n"  # four lines: what a test adds stands on line 5
WIDE = f"{H4}W_Q: {I4}\nW_K: {I4}\nW_V: {I4}\n"
THREE = "H: [[1, 0], [0, 1], [1, 1]]\nW_Q: identity\nW_K: identity\nW_V: identity\n"


def read(text: str) -> Attention:
    attention = parse(text.encode(), "p.yaml").given
    assert isinstance(attention, Attention)
    return attention


def refused(text: str) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        parse(text.encode(), "p.yaml")
    assert str(caught.value).isprintable()
    return caught.value


def rows(matrix: Matrix | None) -> list[list[float]]:
    assert matrix is not None
    values: list[list[float]] = matrix.values.tolist()
    return values


def block(height: int, width: int, entry: str = "1") -> str:
    return listed([listed([entry] * width)] * height)


def listed(entries: list[str]) -> str:
    return f"[{', '.join(entries)}]"


# Heads


@pytest.mark.parametrize(
    ("text", "heads", "kv_heads", "d_k", "d_v"),
    [
        (WIDE, 1, 1, 4, 4),
        (f"{WIDE}heads: 2\n", 2, 2, 2, 2),
        (f"{WIDE}heads: '2'\nd_k: 2\n", 2, 2, 2, 2),
        (f"{H4}W_Q: {I4}\nW_K: {block(4, 2)}\nW_V: {block(4, 6)}\nheads: 4\nkv_heads: 2\n", 4, 2, 1, 3),
        (f"{H4}W_Q: {I4}\nW_K: {block(4, 1)}\nW_V: {block(4, 3)}\nheads: 4\nkv_heads: 1\nd_k: 1\n", 4, 1, 1, 3),
        ("Q: [[1, 2, 3, 4]]\nK: [[1, 2], [3, 4]]\nheads: 2\nkv_heads: 1\n", 2, 1, 2, None),
        ("Q: [[1, 2, 3, 4]]\nK: [[1, 2], [3, 4]]\nV: [[1, 2, 3], [4, 5, 6]]\nheads: 2\nkv_heads: 1\n", 2, 1, 2, 3),
        ("S: [[1]]\nd_k: 4\nheads: 1\n", 1, 1, 4, None),
        ("A: [[1]]\nV: [[1, 2]]\nheads: 1\n", 1, 1, None, 2),
    ],
)
def test_heads_and_widths(text: str, heads: int, kv_heads: int, d_k: int, d_v: int | None) -> None:
    attention = read(text)
    assert (attention.heads, attention.kv_heads, attention.d_k, attention.d_v) == (heads, kv_heads, d_k, d_v)
    assert attention.per_head == () and attention.split == "projection"


def test_b16_and_b13() -> None:
    given_ = read(f"{H4}W_Q: {I4}\nW_K: [[1,0],[0,1],[0,0],[0,0]]\nW_V: [[1,0],[0,0],[0,1],[0,0]]\n"
                  "heads: 4\nkv_heads: 2\nd_k: 1\n")  # fmt: skip
    assert (given_.heads, given_.kv_heads, given_.d_k, given_.d_v) == (4, 2, 1, 1)


BY_HEAD = f"{H4}heads:\n  - {{W_Q: {block(4, 2)}, W_K: {block(4, 2, '2')}, W_V: {block(4, 3)}}}\n"
SECOND = f"  - {{W_Q: {block(4, 2, '3')}"


def test_a_list_of_heads() -> None:
    attention = read(f"{BY_HEAD}{SECOND}, W_K: {block(4, 2)}, W_V: {block(4, 3)}, b_Q: [5, 6]}}\n")
    assert (attention.heads, attention.kv_heads, attention.d_k, attention.d_v) == (2, 2, 2, 3)
    assert attention.W_Q is None and attention.W_K is None
    first, second = attention.per_head
    assert rows(first.W_K)[0] == [2, 2] and rows(second.W_Q)[0] == [3, 3] and rows(second.b_Q) == [[5, 6]]
    assert first.b_Q is None


def test_a_list_of_heads_that_share_keys_and_values() -> None:
    attention = read(f"{BY_HEAD}{SECOND}}}\nkv_heads: 1\nW_O: {block(6, 5)}\nb_O: [0, 0, 0, 0, 0]\n")
    assert (attention.heads, attention.kv_heads) == (2, 1)
    assert attention.per_head[0].W_K is not None and attention.per_head[1].W_K is None
    assert attention.W_O is not None and attention.W_O.values.shape == (6, 5)


def test_split_of_the_input() -> None:
    head = f"{{W_Q: {block(2, 2)}, W_K: {block(2, 2)}, W_V: {block(2, 3)}}}"
    attention = read(f"{H4}split: input\nheads: [{head}, {head}]\n")
    assert (attention.split, attention.heads, attention.d_k, attention.d_v) == ("input", 2, 2, 3)
    memory = f"memory: {{H: {block(5, 6)}}}\n"
    other = f"{{W_Q: {block(2, 2)}, W_K: {block(3, 2)}, W_V: {block(3, 3)}}}"
    assert read(f"{H4}split: input\nheads: [{other}, {other}]\n{memory}").memory is not None
    assert read(f"{WIDE}split: input\nheads: 1\n").d_k == 4


# Weights in other clothes


def test_orientation_keeps_the_stored_shapes() -> None:
    attention = read(f"{H4}W_Q: {block(6, 4)}\nW_K: {block(3, 4)}\nW_V: {block(2, 4)}\nW_O: {block(7, 4)}\n"
                     "b_O: [1, 2, 3, 4, 5, 6, 7]\nheads: 2\nkv_heads: 1\norientation: out-in\n")  # fmt: skip
    assert (attention.orientation, attention.d_k, attention.d_v) == ("out-in", 3, 2)
    assert attention.W_Q is not None and attention.W_Q.values.shape == (6, 4)


@pytest.mark.parametrize(
    ("width", "more", "d_k", "d_v"),
    [
        (12, "", 4, 4),
        (12, "heads: 2\n", 2, 2),
        (8, "heads: 2\nkv_heads: 1\n", 2, 2),
        (9, "d_k: 3\n", 3, 3),
        (10, "d_k: 3\n", 3, 4),
        (14, "heads: 2\nd_k: 2\nW_O: [[1], [1], [1], [1], [1], [1]]\n", 2, 3),
    ],
)
@pytest.mark.parametrize("transposed", [False, True])
def test_w_qkv(width: int, more: str, d_k: int, d_v: int, transposed: bool) -> None:
    if transposed:
        more = more.replace("[[1], [1], [1], [1], [1], [1]]", "[[1, 1, 1, 1, 1, 1]]")
    shape = (width, 4) if transposed else (4, width)
    attention = read(
        f"{H4}W_QKV: {block(*shape)}\nb_QKV: {block(1, width)[1:-1]}\n{more}"
        f"orientation: {'out-in' if transposed else 'in-out'}\n"
    )
    assert (attention.start, attention.d_k, attention.d_v) == ("H", d_k, d_v)
    assert attention.W_QKV is not None and attention.W_QKV.values.shape == shape and attention.W_Q is None
    assert attention.b_QKV is not None and attention.b_QKV.values.shape == (1, width)


def test_memory() -> None:
    weights = f"W_Q: {I2}\nW_K: {block(3, 2)}\nW_V: {block(3, 2)}\n"
    attention = read(f"tokens: [a, b]\nH: {I2}\n{weights}memory: {{tokens: [p, q, r, s, t], H: {block(5, 3)}}}\n")
    assert attention.memory is not None and attention.memory.values.shape == (5, 3)
    assert attention.memory_tokens == ("p", "q", "r", "s", "t") and attention.tokens == ("a", "b")
    assert not attention.mask


def test_softcap() -> None:
    assert read(f"{BASE}softcap: 30\n").softcap == (30.0, "30") and read(BASE).softcap is None


# (text, line or None, path, what)
UNFIT = [
    (f"{WIDE}heads: 3\n", 5, "heads", "3, but W_Q has 4 columns, which 3 does not divide"),
    (f"{WIDE}heads: 5\n", 5, "heads", "5, but W_Q has 4 columns, which 5 does not divide"),
    (f"{WIDE}heads: 4\nkv_heads: 3\n", 6, "kv_heads", "3, but there are 4 heads, which 3 does not divide"),
    (f"{WIDE}kv_heads: 2\n", 5, "kv_heads", "2, but there is 1 head, which 2 does not divide"),
    (f"{WIDE}heads: 4\nkv_heads: 2\n", 3, "W_K",
     "4 columns (4 × 4), but 2 are needed for kv_heads 2: W_Q has 4 columns (4 × 4, line 2) for 4 heads"),
    (f"{H4}W_Q: {I4}\nW_K: {block(4, 2)}\nW_V: {block(4, 3)}\nheads: 4\nkv_heads: 2\n", 6, "kv_heads",
     "2, but W_V has 3 columns, which 2 does not divide"),
    (f"{WIDE}heads: 2\nd_k: 4\n", 6, "d_k", "4, but W_K has 4 columns (4 × 4, line 3) for 2 heads"),
    (f"{WIDE}heads: []\n", 5, "heads", "an empty list"),
    (f"{WIDE}heads: [1]\n", 5, "heads[1]", "expected a mapping"),
    (f"{WIDE}heads: {{a: b}}\n", 5, "heads", "a whole number is wanted here, not a mapping"),
    ("Q: [[1, 2, 3]]\nK: [[1, 2, 3]]\nheads: 2\n", 3, "heads", "2, but Q has 3 columns, which 2 does not divide"),
    ("S: [[1]]\nd_k: 1\nheads: 2\n", 3, "heads", "2, but S is that of one head"),
    ("A: [[1]]\nheads: 2\n", 2, "heads", "2, but A is that of one head"),
    (f"S: [[1]]\nheads: [{{W_Q: {I2}, W_K: {I2}, W_V: {I2}}}]\n", 2, "heads", "can't be given together with S"),
    (f"heads: [{{W_Q: {I2}, W_K: {I2}, W_V: {I2}}}]\nQ: [[1]]\n", 2, "Q",
     "can't be given together with a list of heads"),
    (f"heads: [{{W_Q: {I2}, W_K: {I2}, W_V: {I2}}}]\n", 1, "H", "missing"),
    (f"{BASE}heads: [{{W_Q: {I2}, W_K: {I2}, W_V: {I2}}}]\n", 2, "W_Q", "can't be given together with a list of heads"),
    (f"{H4}heads: [{{W_Q: {I4}, W_K: {I4}}}]\n", 2, "heads[1].W_V", "missing"),
    (f"{H4}heads: [{{W_K: {I4}}}]\n", 2, "heads[1].W_Q", "missing"),
    (f"{BY_HEAD}{SECOND}}}\n", 4, "heads[2].W_K", "missing"),
    (f"{BY_HEAD}{SECOND}, W_K: {I4}}}\nkv_heads: 1\n", 4, "heads[2].W_K",
     "heads[1] gives it to 2 heads, as kv_heads is 1"),
    (f"{BY_HEAD}{SECOND}, b_V: [1, 2]}}\nkv_heads: 1\n", 4, "heads[2].b_V",
     "heads[1] gives it to 2 heads, as kv_heads is 1"),
    (f"{BY_HEAD}  - {{W_Q: {block(4, 3)}}}\nkv_heads: 1\n", 4, "heads[2].W_Q",
     "3 columns (4 × 3), but heads[1].W_Q has 2 columns (4 × 2, line 3)"),
    (f"{BY_HEAD}  - {{W_Q: {block(3, 2)}}}\nkv_heads: 1\n", 4, "heads[2].W_Q",
     "3 rows (3 × 2), but H has 4 columns (3 × 4, line 1)"),
    (f"show: {{count_from: 0}}\n{BY_HEAD}{SECOND}}}\n", 5, "heads[1].W_K", "missing"),
    (f"{H4}heads: [{{W_O: {I4}}}]\n", 2, "heads[1]", "unknown key W_O"),
    (f"{WIDE}split: input\nheads: 2\n", 5, "split", "input needs a list of heads, but heads is 2"),
    (f"{BY_HEAD}{SECOND}}}\nkv_heads: 1\nsplit: input\n", 6, "split",
     "input gives each head its own keys, but kv_heads is 1 for 2 heads"),
    ("Q: [[1]]\nK: [[1]]\nsplit: input\n", 3, "split", "not used where H is not given"),
    (f"H: [[1, 2, 3]]\nsplit: input\nheads:\n  - &h {{W_Q: {I2}, W_K: {I2}, W_V: {I2}}}\n  - *h\n", 4, "heads",
     "2, but H has 3 columns, which 2 does not divide"),
    (f"{H4}split: input\nheads:\n  - &h {{W_Q: {I4}, W_K: {I4}, W_V: {I4}}}\n  - *h\n", 4, "heads[1].W_Q",
     "4 rows (4 × 4), but 2 are needed: H has 4 columns (3 × 4, line 1) for 2 heads; heads[1].W_K: "),
    (f"{BASE}split: inputs\n", 5, "split", '"inputs" is not projection or input'),
    (f"{BASE}orientation: io\n", 5, "orientation", '"io" is not in-out or out-in'),
    ("Q: [[1]]\nK: [[1]]\norientation: out-in\n", 3, "orientation", "not used where no weights are given"),
    (f"H: [[1, 2, 3]]\nW_Q: {block(3, 2)}\nW_K: {block(2, 3)}\nW_V: {block(2, 3)}\norientation: out-in\n", 2, "W_Q",
     "2 columns (3 × 2), but H has 3 columns (1 × 3, line 1); W_K: 2 rows (2 × 3), but W_Q has 3 rows (3 × 2, line 2)"),
    (f"{H4}W_QKV: {block(4, 7)}\n", 2, "W_QKV", "7 columns (4 × 7), but Q, K and V side by side need a multiple of 3"),
    (f"{H4}W_QKV: {block(7, 4)}\norientation: out-in\n", 2, "W_QKV",
     "7 rows (7 × 4), but Q, K and V side by side need a multiple of 3"),
    (f"{H4}W_QKV: {block(4, 6)}\nheads: 2\nkv_heads: 1\n", 2, "W_QKV",
     "6 columns (4 × 6), but Q, K and V side by side need a multiple of 4 (heads 2 + 2 × kv_heads 1)"),
    (f"{H4}W_QKV: {block(4, 6)}\nd_k: 3\n", 2, "W_QKV",
     "6 columns (4 × 6), but Q and K of d_k 3 take 6, which leaves 0 for V"),
    (f"{H4}W_QKV: {block(4, 9)}\nd_k: 2\nheads: 2\n", 2, "W_QKV",
     "9 columns (4 × 9), but Q and K of d_k 2 take 8, which leaves 1 for V of 2 heads"),
    (f"{H4}W_QKV: {block(4, 1)}\n", 2, "W_QKV", "1 column (4 × 1), but Q, K and V side by side need a multiple of 3"),
    (f"{H4}W_QKV: {block(3, 6)}\n", 2, "W_QKV", "3 rows (3 × 6), but H has 4 columns (3 × 4, line 1)"),
    (f"{H4}W_QKV: {block(4, 6)}\nb_QKV: [1, 2]\n", 3, "b_QKV",
     "2 columns (1 × 2), but W_QKV has 6 columns (4 × 6, line 2)"),
    (f"{H4}W_QKV: {block(4, 6)}\nW_Q: {I4}\n", 3, "W_Q", "can't be given together with W_QKV"),
    (f"{H4}W_QKV: {block(4, 6)}\nb_Q: [1, 2]\n", 3, "b_Q", "can't be given together with W_QKV"),
    (f"{BASE}b_QKV: [1]\n", 5, "b_QKV", "can't be given together with W_Q, W_K and W_V"),
    ("H: [[1]]\nb_QKV: [1]\n", 1, "W_QKV", "missing"),
    ("W_QKV: [[1, 2, 3]]\n", 1, "H", "missing"),
    ("Q: [[1]]\nK: [[1]]\nW_QKV: [[1]]\n", 3, "W_QKV", "can't be given together with Q"),
    (f"{H4}W_QKV: {block(4, 6)}\nW_O: {block(3, 1)}\n", 3, "W_O",
     "3 rows (3 × 1), but 2 are needed: W_QKV has 6 columns (4 × 6, line 2)"),
    (f"{H4}W_QKV: {block(4, 6)}\nmemory: {{H: {I4}}}\n", 2, "W_QKV",
     "can't be given together with memory: H gives the queries, memory.H keys and values"),
    (f"{BASE}W_O: [[1], [2], [3]]\n", 5, "W_O", "3 rows (3 × 1), but W_V has 2 columns (2 × 2, line 4)"),
    (f"{H4}W_Q: {I4}\nW_K: {block(4, 2)}\nW_V: {block(4, 3)}\nheads: 2\nkv_heads: 1\nW_O: [[1]]\n", 7, "W_O",
     "1 row (1 × 1), but 6 are needed for heads 2: W_V has 3 columns (4 × 3, line 4)"),
    (f"{BASE}W_O: {I2}\nb_O: [1]\n", 6, "b_O", "1 column (1 × 1), but W_O has 2 columns (2 × 2, line 5)"),
    (f"{BASE}b_O: [1]\n", 5, "b_O", "not used without W_O"),
    ("Q: [[1]]\nK: [[1]]\nW_O: [[1]]\n", 3, "W_O", "not used where no V is given"),
    ("A: [[1]]\nsoftcap: 2\n", 2, "softcap", "not used where A is given"),
    (f"{BASE}softcap: 0\n", 5, "softcap", "0 is not above 0"),
    (f"{BASE}memory: {{H: [[1]]}}\n", 3, "W_K", "2 rows (2 × 2), but memory.H has 1 column (1 × 1, line 5); "
     "W_V: 2 rows (2 × 2), but memory.H has 1 column (1 × 1, line 5)"),
    (f"Q: [[1]]\nK: [[1]]\nmemory: {{H: {I2}}}\n", 3, "memory.H", "not used where Q is given"),
    (f"tokens: [a, b]\n{BASE}memory: {{H: {I2}}}\n", 1, "tokens", "labels for the rows, but none for 2 keys"),
    (f"{BASE}memory: {{H: {I2}, tokens: [a]}}\n", 5, "memory.tokens",
     "1 label, but memory.H has 2 rows (2 × 2, line 5)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "path", "what"), UNFIT)
def test_what_does_not_go_together(text: str, line: int, path: str, what: str) -> None:
    error = refused(text)
    assert (error.line, error.path) == (line, path)
    assert error.what.startswith(what) if what.endswith(": ") else error.what == what
    assert error.column > 0


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_sizes_that_fit_are_read_and_others_refused(
    heads: int, group: int, kv: int, d_k: int, d_v: int, transposed: bool
) -> None:
    heads = kv * group
    if heads > 8:
        return
    shapes = {"W_Q": (3, heads * d_k), "W_K": (3, kv * d_k), "W_V": (3, kv * d_v), "W_O": (heads * d_v, 2)}

    def problem(wrong: str = "") -> str:
        lines = ["H: [[1, 2, 3], [4, 5, 6]]", f"heads: {heads}", f"kv_heads: {kv}", f"d_k: {d_k}"]
        for name, (height, width) in shapes.items():
            height += name == wrong
            lines.append(f"{name}: {block(width, height) if transposed else block(height, width)}")
        return "\n".join([*lines, f"orientation: {'out-in' if transposed else 'in-out'}\n"])

    attention = read(problem())
    assert (attention.heads, attention.kv_heads, attention.d_k, attention.d_v) == (heads, kv, d_k, d_v)
    for name in shapes:
        assert refused(problem(name)).path == name


# Masks


def masked(text: str, base: str = THREE) -> Mask:
    return read(f"{base}{text}\n").mask


def test_no_mask() -> None:
    for text in ("mask: none", "mask: {causal: no}", ""):
        assert not masked(text)


ADDED = [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]]


@pytest.mark.parametrize("minus", ["-inf", "-.inf", "−∞", "-Inf", "-.INF", "-∞", "-infinity", "'-inf'"])
def test_bare_additive_matrix(minus: str) -> None:
    mask = masked(f"mask:\n  - [0, {minus}, {minus}]\n  - [0, 0, {minus}]\n  - [0, 0, 0]")
    assert mask and not mask.causal
    (added,) = mask.add
    assert added.values.tolist() == ADDED
    assert added.written is not None
    assert added.written.tolist() == [["0", "-∞", "-∞"], ["0", "0", "-∞"], ["0", "0", "0"]]
    assert mask.read_as_hidden == ()


def test_low_figures_are_read_as_hidden_and_kept() -> None:
    mask = masked("mask: {add: [[0, -1e9, -1e9], [-999999999, 0.50, -inf], [−1e10, -1e999, -1e9]]}")
    assert mask.read_as_hidden == ("-1e9", "−1e10", "-1e999")
    inf = np.inf
    assert rows(mask.add[0]) == [[0, -inf, -inf], [-999999999, 0.5, -inf], [-inf, -inf, -inf]]
    assert mask.add[0].written is not None
    assert mask.add[0].written.tolist()[1] == ["-999999999", "0.50", "-∞"]


@pytest.mark.parametrize("key", ["keep", "hide"])
@pytest.mark.parametrize("words", ["1 0", "true false", "Yes NO", "'1' '0'", "1.0 0.0", "+1 -0"])
def test_keep_and_hide(key: str, words: str) -> None:
    one, zero = words.split()
    mask = masked(f"mask: {{{key}: [[{one}, {zero}, {zero}], [{one}, {one}, {zero}], [{one}, {one}, {one}]]}}")
    (matrix,) = getattr(mask, key)
    assert matrix.values.tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]] and matrix.values.dtype == np.float64
    assert matrix.written.tolist() == [["1", "0", "0"], ["1", "1", "0"], ["1", "1", "1"]]
    assert mask


def test_one_mask_a_head_and_all_kinds_together() -> None:
    keep = block(3, 3)
    mask = masked(f"heads: 2\nmask: {{keep: [{keep}, identity], hide: {block(3, 3, '0')}, add: {block(3, 3, '0.5')}, "
                  "causal: yes, window: 2}\npadding: [yes, '1', 0]", WIDE)  # fmt: skip
    assert len(mask.keep) == 2 and len(mask.hide) == len(mask.add) == 1
    assert rows(mask.keep[1]) == np.eye(3).tolist()
    assert mask.causal and mask.window == (1, 1) and mask.past == 0
    assert rows(mask.padding) == [[1, 1, 0]]
    assert mask.padding is not None and mask.padding.written is not None
    assert mask.padding.written.tolist() == [["1", "1", "0"]]


def test_padding_alone_is_a_mask() -> None:
    assert masked("padding: [1, 1, 1]") and rows(masked("padding: [[1, 0, true]]").padding) == [[1, 0, 1]]


CROSS = "Q: [[1], [2]]\nK: [[1], [2], [3], [4], [5]]\n"


@pytest.mark.parametrize(
    ("text", "window", "past"),
    [
        ("{causal: yes, align: start}", None, 0),
        ("{causal: yes, align: end}", None, 3),
        ("{causal: yes, past: 0}", None, 0),
        ("{causal: yes, past: 3}", None, 3),
        ("{window: 1, past: 2}", (0, 0), 2),
        ("{window: {before: 3, after: 0}, align: end}", (3, 0), 3),
        ("{window: {before: '0', after: 1}, align: start}", (0, 1), 0),
    ],
)
def test_alignment(text: str, window: tuple[int, int] | None, past: int) -> None:
    mask = masked(f"mask: {text}", CROSS)
    assert (mask.window, mask.past, mask.causal) == (window, past, "causal" in text)


def test_more_queries_than_keys_can_be_aligned() -> None:
    tall = "Q: [[1], [2], [3]]\nK: [[1]]\n"
    assert masked("mask: {causal: yes, align: end}", tall).past == -2
    assert masked("mask: {causal: yes, align: start}", tall).past == 0


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 6))
def test_past_is_allowed_as_long_as_all_queries_stand_at_keys(queries: int, keys: int, past: int) -> None:
    text = f"S: {block(queries, keys)}\nscale: none\nmask: {{causal: yes, past: {past}}}\n"
    if past + queries <= keys:
        assert read(text).mask.past == past
    else:
        error = refused(text)
        assert error.path == "mask.past"
        expected = f"{past} and {queries} queries need {past + queries} keys, but S has {keys} column"
        assert error.what.startswith(expected)


A2 = "A: [[0.5, 0.5], [1, 0]]\n"


def test_masks_on_weights() -> None:
    mask = masked("mask: {add: [[0, -inf], [-1e9, 0]], keep: identity, window: 1}\npadding: [1, 0]", A2)
    assert mask.add and mask.keep and mask.window == (0, 0) and mask.read_as_hidden == ("-1e9",)


# Added to THREE, whose four lines come first: (text, line, column, path, what, hint)
BAD_MASKS = [
    ("mask: [[1, 0, 0], [1, 1, 0], [1, 1, 1]]", 5, 7, "mask", "a matrix of 0 and 1 may mean kept, hidden or added",
     "say keep, hide or add"),
    ("mask: [[1.0, 0, -0], [1, yes, 0], [1, 1, 1]]", 5, 7, "mask", "a matrix of 0 and 1 may mean kept, hidden or added",
     "keep"),
    ("mask: [[[1]], [[0]]]", 5, 7, "mask", "a matrix of 0 and 1 may mean kept, hidden or added", "keep"),
    ("mask: identity", 5, 7, "mask", "a matrix of 0 and 1 may mean kept, hidden or added", "keep"),
    ("mask: [identity]", 5, 7, "mask", "a matrix of 0 and 1 may mean kept, hidden or added", "keep"),
    ("mask: {random: integers, from: 0, to: 1, seed: 1}", 5, 7, "mask",
     "a drawn matrix may mean kept, hidden or added", "keep"),
    ("mask: [[0, true, -inf], [0, 0, 0], [0, 0, 0]]", 5, 12, "mask[1,2]", "true is not a number", ""),
    ("mask: [[0, nan, -inf], [0, 0, 0], [0, 0, 0]]", 5, 12, "mask[1,2]", "nan is not finite", ""),
    ("mask: {add: [[0, .inf, 0], [0, 0, 0], [0, 0, 0]]}", 5, 18, "mask.add[1,2]", ".inf is not finite", ""),
    ("mask: {add: [[0, 1e999, 0], [0, 0, 0], [0, 0, 0]]}", 5, 18, "mask.add[1,2]",
     "1e999 is too large for float64", ""),
    ("mask: {keep: [[0, 2, 0], [0, 0, 0], [0, 0, 0]]}", 5, 19, "mask.keep[1,2]", "2 is not 0 or 1", "1 or true: kept"),
    ("mask: {hide: [[0, -inf, 0], [0, 0, 0], [0, 0, 0]]}", 5, 19, "mask.hide[1,2]", "-inf is not 0 or 1", "are add"),
    ("mask: {keep: [[0, 0.5, 0], [0, 0, 0], [0, 0, 0]]}", 5, 19, "mask.keep[1,2]", "0.5 is not 0 or 1", ""),
    ("mask: {keep: [[0, [1], 0], [0, 0, 0], [0, 0, 0]]}", 5, 19, "mask.keep[1,2]",
     "a number is wanted here, not a list", ""),
    ("mask: {keep: [[1, 0], [1, 1]]}", 5, 14, "mask.keep", "2 rows (2 × 2), but H has 3 rows (3 × 2, line 1); "
     "mask.keep: 2 columns (2 × 2), but H has 3 rows (3 × 2, line 1)", ""),
    ("mask: {keep: 1}", 5, 14, "mask.keep", "must be a list of rows", ""),
    ("mask: {keep: []}", 5, 14, "mask.keep", "no figures", ""),
    ("mask: {keep: [identity, identity]}", 5, 14, "mask.keep", "2 matrices, but 1 head", "one a head"),
    ("mask: {add: [[[0, 0, 0], [0, 0, 0], [0, 0, x]]]}", 5, 44, "mask.add[1][3,3]", "x is not a number", ""),
    ("mask: {hide: {random: integers, from: 0, to: 2, seed: 1}}", 5, 46, "mask.hide.to",
     "2 is above what may stand here", "draw from 0 to 1"),
    ("mask: {window: 0}", 5, 16, "mask.window", "0 is not a whole number from 1 to 1000000000", ""),
    ("mask: {window: -1}", 5, 16, "mask.window", "-1 is not a whole number from 1 to 1000000000", ""),
    ("mask: {window: {before: 1}}", 5, 16, "mask.window.after", "missing", "before: 2, after: 0"),
    ("mask: {window: {before: 1, behind: 1}}", 5, 28, "mask.window", "unknown key behind", ""),
    ("mask: {causal: yes, align: left}", 5, 28, "mask.align", '"left" is not start or end', ""),
    ("mask: {align: start}", 5, 15, "mask.align", "not used without causal or window", ""),
    ("mask: {keep: identity, past: 1}", 5, 30, "mask.past", "not used without causal or window", ""),
    ("mask: {causal: yes, align: end, past: 0}", 5, 39, "mask.past", "can't be given together with align", ""),
    ("mask: {causal: yes, past: 1}", 5, 27, "mask.past",
     "1 and 3 queries need 4 keys, but H has 3 rows (3 × 2, line 1)", "at most 0"),
    ("mask: {causal: yes, past: -1}", 5, 27, "mask.past", "-1 is not a whole number from 0 to 1000000000", ""),
    ("mask: {casual: yes}", 5, 8, "mask", "unknown key casual", "did you mean causal?"),
    ("padding: [1, 0]", 5, 10, "padding", "2 columns (1 × 2), but H has 3 rows (3 × 2, line 1)", ""),
    ("padding: [[1], [0], [0]]", 5, 10, "padding", "3 rows, but it is one row", ""),
    ("padding: [1, 0, 3]", 5, 17, "padding[3]", "3 is not 0 or 1", "1 for a token"),
    ("padding: 1", 5, 10, "padding", "must be a list of rows", ""),
    ("padding: identity", 5, 10, "padding", "identity is a matrix, but it is one row", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "path", "what", "hint"), BAD_MASKS)
def test_bad_masks(text: str, line: int, column: int, path: str, what: str, hint: str) -> None:
    error = refused(f"{THREE}{text}\n")
    assert (error.line, error.column, error.path, error.what) == (line, column, path, what)
    assert hint in error.hint


@pytest.mark.parametrize(("mask", "name", "hint"), [
    ("causal", "causal", "write {causal: yes, align: start}"),
    ("{causal: yes}", "causal", "add align: start, align: end or past: N"),
    ("{window: 2}", "window", "add align: start"),
    ("{window: 2, causal: yes}", "causal", "past: N"),
])  # fmt: skip
def test_unequal_numbers_ask_for_align(mask: str, name: str, hint: str) -> None:
    error = refused(f"{CROSS}mask: {mask}\n")
    assert error.what == f"{name} needs align, as keys differ in number from queries: 5 and 2"
    assert (error.line, error.path) == (3, "mask") and hint in error.hint


def test_a_long_list_of_mismatches_is_cut() -> None:
    error = refused(f"{H4}heads: {listed([f'{{W_Q: {I2}, W_K: {I2}, W_V: {I2}}}'] * 50)}\n")
    assert error.what.count("but H has 4 columns") == 6 and error.what.endswith("; and 144 more")


def test_figures_can_not_be_added_to_weights() -> None:
    error = refused(f"{A2}mask: {{add: [[0, -inf], [0, -0.50]]}}\n")
    assert (error.line, error.column, error.path) == (2, 29, "mask.add[2,2]")
    assert error.what == "-0.50 can be added to scores, not to weights"
    drawn = refused(f"{A2}mask: {{add: {{random: integers, from: -3, to: -1, seed: 1}}}}\n")
    assert drawn.path == "mask.add[1,1]" and "can be added to scores" in drawn.what


ENTRY = st.sampled_from(["0", "1", "true", "no", "-inf", "-1e9", "-2e9", "0.5", "-3", "−∞"])


@given(st.lists(st.lists(ENTRY, min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_bare_matrix_is_additive_ambiguous_or_refused(entries: list[list[str]]) -> None:
    cells = [cell for row in entries for cell in row]
    text = f"{THREE}mask: {listed([listed(row) for row in entries])}\n"
    words = {"true", "no"}
    if set(cells) <= {"0", "1"} | words:
        assert refused(text).what == "a matrix of 0 and 1 may mean kept, hidden or added"
    elif set(cells) & words:
        assert refused(text).what.endswith("is not a number")
    else:
        mask = read(text).mask
        hidden = {"-inf", "−∞", "-1e9", "-2e9"}
        expected = [-np.inf if cell in hidden else float(cell) for cell in cells]
        assert mask.add[0].values.ravel().tolist() == expected
        assert list(mask.read_as_hidden) == [c for c in dict.fromkeys(cells) if c in ("-1e9", "-2e9")]


# identity and random


def test_identity_takes_its_size_from_what_it_fits() -> None:
    attention = read(f"{H4}W_Q: identity\nW_K: identity\nW_V: identity\nW_O: identity\nheads: 2\n")
    for matrix in (attention.W_Q, attention.W_K, attention.W_V, attention.W_O):
        assert rows(matrix) == np.eye(4).tolist()
    assert attention.W_Q is not None and attention.W_Q.written is not None
    assert attention.W_Q.written.tolist()[0] == ["1", "0", "0", "0"]
    assert (attention.d_k, attention.d_v) == (2, 2)
    memory = read(f"{BASE.replace(f'W_V: {I2}', 'W_V: identity')}memory: {{H: [[1, 2]]}}\n")
    assert rows(memory.W_V) == [[1, 0], [0, 1]]
    all_four = read("tokens: [a, b, c]\nH: identity\nW_Q: identity\nW_K: identity\nW_V: identity\n")
    assert rows(all_four.H) == rows(all_four.W_V) == np.eye(3).tolist()
    by_head = read(f"heads: [{{W_Q: identity, W_K: identity, W_V: identity}}]\n{H4}")
    assert rows(by_head.per_head[0].W_Q) == np.eye(4).tolist()
    assert rows(read("A: identity\nV: [[1], [2]]\n").A) == np.eye(2).tolist()


def drawn(name: str, height: int, width: int) -> list[list[int]]:
    flat = integers("7", name, -2, 2, height * width)
    return [flat[row * width : (row + 1) * width] for row in range(height)]


DRAW = "{random: integers, from: -2, to: 2, seed: 7}"


def test_draws_take_their_size_from_what_they_fit() -> None:
    attention = read(
        f"tokens: [a, b]\nH: {DRAW}\nW_Q: {block(3, 4)}\nW_K: {DRAW}\nW_V: {DRAW}\nW_O: {DRAW}\nb_O: {DRAW}\n"
        f"b_V: {DRAW}\nheads: 2\nkv_heads: 1\n"
    )
    assert rows(attention.H) == drawn("H", 2, 3)
    assert rows(attention.W_K) == drawn("W_K", 3, 2)
    assert rows(attention.W_V) == drawn("W_V", 3, 2)
    assert rows(attention.W_O) == drawn("W_O", 4, 3)
    assert rows(attention.b_O) == drawn("b_O", 1, 3) and rows(attention.b_V) == drawn("b_V", 1, 2)
    assert attention.H is not None and attention.H.written is not None
    assert attention.H.written.tolist() == [[str(entry) for entry in row] for row in drawn("H", 2, 3)]


def test_d_k_gives_draws_their_width() -> None:
    attention = read(f"H: {I4}\nW_Q: {DRAW}\nW_K: {DRAW}\nW_V: {DRAW}\nd_k: 3\nheads: 2\n")
    assert rows(attention.W_Q) == drawn("W_Q", 4, 6) and rows(attention.W_V) == drawn("W_V", 4, 6)
    at_once = read(f"H: {I4}\nW_QKV: {DRAW}\nd_k: 3\nheads: 2\nkv_heads: 1\n")
    assert rows(at_once.W_QKV) == drawn("W_QKV", 4, 12) and at_once.d_v == 3
    stored = read(f"H: {I4}\nW_Q: {DRAW}\nW_K: {DRAW}\nW_V: {DRAW}\nd_k: 3\norientation: out-in\n")
    assert rows(stored.W_Q) == drawn("W_Q", 3, 4)


def test_rows_and_columns_where_nothing_else_says_them() -> None:
    sized = DRAW.replace("}", ", rows: 3, columns: 2}")
    attention = read(f"H: {sized}\nW_Q: {DRAW.replace('}', ', columns: 5}')}\nW_K: {DRAW}\nW_V: {DRAW}\n")
    assert rows(attention.H) == drawn("H", 3, 2) and rows(attention.W_K) == drawn("W_K", 2, 5)


def test_the_name_of_a_draw_counts_heads_from_1() -> None:
    text = f"H: {I4}\nd_k: 2\nheads: [{{W_Q: {DRAW}, W_K: {DRAW}, W_V: {DRAW}}}]\n"
    for more in ("", "show: {count_from: 0}\n"):
        assert rows(read(text + more).per_head[0].W_Q) == drawn("heads[1].W_Q", 4, 2)
    memory = f"memory: {{H: {DRAW}, tokens: [a, b, c]}}\n"
    assert rows(read(f"{BASE}{memory}").memory) == drawn("memory.H", 3, 2)
    assert rows(masked(f"mask: {{add: {DRAW}}}").add[0]) == drawn("mask.add", 3, 3)


BAD_FORMS = [
    ("H: {random: integers, from: 0, to: 1, seed: 1, rows: 1001, columns: 1000}\n"
     "W_Q: identity\nW_K: identity\nW_V: identity\n", 1, "H", "1001 × 1000 is too large"),
    (f"{BASE}W_O: identit\n", 5, "W_O", "must be a list of rows"),
    (f"{H4}W_Q: {DRAW}\nW_K: {DRAW}\nW_V: {DRAW}\n", 2, "W_Q", "its size is not determined: how many columns?"),
    (f"H: {DRAW}\nW_Q: {I2}\nW_K: {I2}\nW_V: {I2}\n", 1, "H", "its size is not determined: how many rows?"),
    ("Q: identity\nK: identity\n", 1, "Q", "its size is not determined: how many rows and columns?"),
    (f"{H4}W_Q: identity\nW_K: {block(4, 2)}\nW_V: identity\nd_k: 2\n", 2, "W_Q", None),
    (f"{H4}W_Q: {block(4, 2)}\nW_K: identity\nW_V: identity\n", 3, "W_K",
     "identity is square, but 4 × 2 is needed: H has 4 columns (3 × 4, line 1) and W_Q has 2 columns (4 × 2, line 2)"),
    (f"{H4}W_Q: {block(3, 3)}\nW_K: identity\nW_V: identity\n", 2, "W_Q",
     "3 rows (3 × 3), but H has 4 columns (3 × 4, line 1)"),
    (f"{H4}memory: {{H: [[1, 2]]}}\nW_Q: identity\nW_K: identity\nW_V: identity\n", 4, "W_K",
     "identity is square, but 2 × 4 is needed: memory.H has 2 columns (1 × 2, line 2) and W_Q has 4 columns (4 × 4, "
     "line 3)"),
    (f"{H4}W_Q: identity\nW_K: identity\nW_V: identity\nd_k: 3\n", 2, "W_Q",
     "identity is square, but 4 × 3 is needed: H has 4 columns (3 × 4, line 1) and d_k is 3"),
    (f"{H4}W_Q: identity\nW_K: identity\nW_V: identity\nheads: 3\n", 5, "heads",
     "3, but W_Q has 4 columns, which 3 does not divide"),
    (f"{BASE}W_O: {DRAW.replace('7', '7, rows: 3')}\n", 5, "W_O",
     "3 rows (3 × 2), but W_V has 2 columns (2 × 2, line 4)"),
    (f"{BASE}b_Q: {DRAW.replace('7', '7, rows: 3')}\n", 5, "b_Q", "3 rows, but it is one row"),
    (f"{BASE}b_Q: {{random: floats}}\n", 5, "b_Q.random", '"floats" is not integers or quarters'),
    (f"{BASE}b_Q: {{random: integers, from: 1, to: 2}}\n", 5, "b_Q.seed", "missing"),
    (f"{BASE}b_Q: {{random: integers, to: 2, seed: 1}}\n", 5, "b_Q.from", "missing"),
    (f"{BASE}b_Q: {{random: integers, from: 3, to: 2, seed: 1}}\n", 5, "b_Q.from", "3 is above to: 2"),
    (f"{BASE}b_Q: {{random: integers, from: 0.5, to: 2, seed: 1}}\n", 5, "b_Q.from",
     "0.5 is not a whole number from -1000000 to 1000000"),
    (f"{BASE}b_Q: {{random: integers, from: 0, to: 2, seed: [1]}}\n", 5, "b_Q.seed",
     "a seed is wanted here, not a list"),
    (f"{BASE}b_Q: {{random: integers, from: 0, to: 2, sed: 1}}\n", 5, "b_Q", "unknown key sed"),
    (f"A: {DRAW}\nV: [[1]]\n", 1, "A.from", "-2 is below what may stand here"),
    (f"{BASE}b_Q: {{rndom: integers}}\n", 5, "b_Q", "must be a list of rows"),
    ("H: {random: integers, from: 0, to: 1, seed: 1, rows: 1000000, columns: 1000000}\nW_Q: identity\n"
     "W_K: identity\nW_V: identity\n", 1, "H", "1000000 × 1000000 is too large"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "path", "what"), BAD_FORMS)
def test_bad_forms(text: str, line: int, path: str, what: str | None) -> None:
    error = refused(text)
    assert (error.line, error.path) == (line, path)
    assert what is None or error.what == what


# Files


def in_folder(folder: Path, text: str) -> Problem:
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    return load(folder / "p.yaml")


def refused_in(folder: Path, text: str) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        in_folder(folder, text)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 700
    return caught.value


FROM_FILE = BASE.replace(f"W_Q: {I2}", "W_Q: {file: %s}")


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<f2", "<i8", ">i2", "u1", "bool", "longdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path: Path, dtype: str, order: str) -> None:
    np.save(tmp_path / "w.npy", np.array([[1, 1], [0, 1]], dtype=dtype, order=order))  # type: ignore[call-overload]
    W_Q = in_folder(tmp_path, FROM_FILE % "w.npy").given.W_Q
    assert W_Q.values.tolist() == [[1, 1], [0, 1]] and W_Q.values.dtype == np.float64
    assert W_Q.written is None


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", W=np.array([[0.1, -0.0], [1e-3, 4]]), b=np.array([1.5, 2]))
    np.savez_compressed(tmp_path / "one.NPZ".lower(), only=np.eye(2))
    (tmp_path / "sub").mkdir()
    np.save(tmp_path / "sub" / "v.npy", np.array([[3.0, 4.0]]))
    given_ = in_folder(
        tmp_path,
        BASE.replace(f"W_Q: {I2}", "W_Q: {file: w.npz, name: W}").replace(f"W_K: {I2}", "W_K: {file: one.npz}")
        + "b_Q: {file: w.npz, name: b}\nb_K: {file: sub/v.npy}\n",
    ).given
    assert given_.W_Q.values.tolist() == [[0.1, 0], [0.001, 4]] and not np.signbit(given_.W_Q.values).any()
    assert given_.W_K.values.tolist() == [[1, 0], [0, 1]] and given_.W_K.written is None
    assert given_.b_Q.values.tolist() == [[1.5, 2]] and given_.b_K.values.tolist() == [[3, 4]]


@pytest.mark.parametrize("text", [
    "1,-2.50\n0,1e-3\n", "\ufeff1 -2.50\r\n0 1e-3\r\n", "# a\n1\t−2.50\n\n0\t.001  # b\n",
])  # fmt: skip
@pytest.mark.parametrize("name", ["w.csv", "w.txt", "W.CSV"])
def test_text_files_are_written_figures(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    W_Q = in_folder(tmp_path, FROM_FILE % name).given.W_Q
    assert W_Q.values.tolist() == [[1, -2.5], [0, 0.001]]
    assert W_Q.written.tolist() == [["1", "-2.50"], ["0", "0.001"]]


def test_a_bad_figure_of_a_text_file_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("1,2\n3,x\n")
    error = refused_in(tmp_path, FROM_FILE % "w.csv")
    assert error.file == str(tmp_path / "w.csv")
    assert (error.line, error.column, error.path, error.what) == (2, 3, "W_Q[2,2]", "x is not a number")
    (tmp_path / "w.csv").write_text("1,2\n3,\n")
    assert refused_in(tmp_path, f"show: {{count_from: 0}}\n{FROM_FILE % 'w.csv'}").path == "W_Q[1,1]"
    (tmp_path / "w.csv").write_text("")
    assert refused_in(tmp_path, FROM_FILE % "w.csv").what == "no figures"
    (tmp_path / "w.csv").write_bytes(b"1,2\n\xff,3\n")
    assert refused_in(tmp_path, FROM_FILE % "w.csv").what == "the file is not UTF-8"


def test_sizes_name_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((3, 2)))
    error = refused_in(tmp_path, FROM_FILE % "w.npy")
    assert (error.line, error.path) == (2, "W_Q")
    assert error.what == "3 rows (3 × 2, w.npy), but H has 2 columns (2 × 2, line 1)"
    np.save(tmp_path / "h.npy", np.ones((2, 3)))
    error = refused_in(tmp_path, BASE.replace(f"H: {I2}", "H: {file: h.npy}"))
    assert error.what.startswith("2 rows (2 × 2), but H has 3 columns (2 × 3, h.npy); W_K: ")


def test_masks_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "keep.npy", np.tril(np.ones((2, 2), bool)))
    np.save(tmp_path / "add.npy", np.array([[0, -np.inf], [np.finfo(np.float32).min, 0]], np.float32))
    np.save(tmp_path / "half.npy", np.array([[0, -np.inf], [-0.5, 0]]))
    np.save(tmp_path / "pad.npy", np.array([1, 0]))
    mask = in_folder(tmp_path, f"{BASE}mask: {{keep: {{file: keep.npy}}, add: {{file: add.npy}}}}\n"
                               "padding: {file: pad.npy}\n").given.mask  # fmt: skip
    assert mask.keep[0].written.tolist() == [["1", "0"], ["1", "1"]] and mask.padding.written.tolist() == [["1", "0"]]
    assert mask.add[0].written.tolist() == [["0", "-∞"], ["-∞", "0"]]
    assert mask.read_as_hidden == ("-3.4028234663852886e38",)
    bare = in_folder(tmp_path, f"{BASE}mask: {{file: half.npy}}\n").given.mask
    assert bare.add[0].values.tolist() == [[0, -np.inf], [-0.5, 0]] and bare.add[0].written is None
    assert refused_in(tmp_path, f"{BASE}mask: {{file: keep.npy}}\n").what.startswith("a matrix of 0 and 1 may mean")
    error = refused_in(tmp_path, f"{BASE}mask: {{hide: {{file: half.npy}}}}\n")
    assert (error.path, error.what) == ("mask.hide[1,2]", "-inf is not 0 or 1")
    two = in_folder(tmp_path, f"{WIDE.replace(H4, 'H: ' + block(2, 4) + chr(10))}heads: 2\n"
                              "mask: {keep: [{file: keep.npy}, {file: keep.npy}]}\n").given.mask  # fmt: skip
    assert len(two.keep) == 2


def header(shape: str, descr: str = "'<f8'", version: int = 1) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text


class Exploit:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("pickled",)


def npy(array: np.ndarray) -> bytes:  # type: ignore[type-arg]
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


HOSTILE_ARRAYS = {
    "pickled objects": (npy(np.array([[Exploit(), 1]], dtype=object)), "holds Python objects, not numbers"),
    "complex": (npy(np.array([[1j]])), "holds complex numbers, not numbers"),
    "texts": (npy(np.array([["a"]])), "holds texts, not numbers"),
    "bytes": (npy(np.array([[b"a"]])), "holds texts, not numbers"),
    "dates": (npy(np.array([["2024-01-01"]], dtype="datetime64[D]")), "holds no numbers, not numbers"),
    "records": (npy(np.zeros((1, 1), dtype=[("a", "f8")])), "holds records, not numbers"),
    "void": (npy(np.zeros((1, 1), dtype="V8")), "holds records, not numbers"),
    "3 dimensions": (npy(np.zeros((2, 2, 2))), "2 × 2 × 2, not rows and columns"),
    "no dimensions": (npy(np.array(1.0)), "a single figure, not rows and columns"),
    "1 dimension": (npy(np.zeros(3)), "3 figures in one dimension, not rows"),
    "no entries": (npy(np.zeros((0, 2))), "0 × 2, not rows and columns"),
    "a bare pickle": (pickle.dumps(Exploit()), "not an array of NumPy"),
    "empty": (b"", "not an array of NumPy"),
    "text": (b"[[1, 2]]\n" * 9, "not an array of NumPy"),
    "version 9": (b"\x93NUMPY\x09\x00" + b"\0" * 90, "not an array of NumPy"),
    "cut short": (npy(np.zeros((2, 2)))[:-1], "cut short"),
    "huge shape": (header("(10**9, 10**9)"), None),
    "huge plain shape": (header("(1000000000, 1000000000)"), f"{10**18} entries, but at most 10000000 are read"),
    "huge header": (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 99, "its header is too long"),
    "negative": (header("(-1, 2)"), "its header gives no shape"),
    "float shape": (header("(1.0, 2)"), "its header gives no shape"),
    "bool shape": (header("(True, 2)"), "its header gives no shape"),
    "list shape": (header("[1, 2]"), "its header gives no shape"),
    "bad descr": (header("(1, 1)", "'<q9'"), None),
    "descr of no text": (header("(1, 1)", "7"), "holds records, not numbers"),
    "code": (header("(1, 1)", "__import__('os').mkdir('pickled')"), None),
    "deep": (b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"(" * 9000, None),
    "not a mapping": (b"\x93NUMPY\x01\x00" + struct.pack("<H", 4) + b"[1]\n", None),
    "no keys": (b"\x93NUMPY\x01\x00" + struct.pack("<H", 3) + b"{}\n", None),
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("data", "what"), HOSTILE_ARRAYS.values(), ids=HOSTILE_ARRAYS)
def test_hostile_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, what: str | None, packed: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "w.npz" if packed else "w.npy"
    if packed:
        with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("W.npy", data)
    else:
        Path(name).write_bytes(data)
    error = refused_in(tmp_path, FROM_FILE % name)
    assert (error.line, error.column, error.path) == (2, 13, "W_Q")
    assert error.what.startswith(f"{name}: ") and (what is None or error.what == f"{name}: {what}")
    assert not Path("pickled").exists()


def test_versions_2_and_3_of_the_format(tmp_path: Path) -> None:
    for version in (2, 3):
        (tmp_path / "w.npy").write_bytes(header("(2, 2)", version=version) + np.eye(2).tobytes())
        assert in_folder(tmp_path, FROM_FILE % "w.npy").given.W_Q.values.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(("descr", "data"), [("<f8", b"\1\0\0\0\0\0\xf0\x7f"), ("<f4", b"\1\0\x80\x7f")])
def test_a_nan_that_signals_is_refused_without_a_warning(tmp_path: Path, descr: str, data: bytes) -> None:
    (tmp_path / "w.npy").write_bytes(header("(1, 1)", f"'{descr}'") + data)
    error = refused_in(tmp_path, FROM_FILE % "w.npy")
    assert (error.path, error.what) == ("W_Q[1,1]", "nan is not finite")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "w.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("W.npy", "w", force_zip64=True) as stream,
    ):
        stream.write(header("(20000, 20000)"))
        for _ in range(200):
            stream.write(b"\0" * 1_000_000)
    assert (tmp_path / "w.npz").stat().st_size < 1_000_000
    assert refused_in(tmp_path, FROM_FILE % "w.npz").what == "w.npz: 400000000 entries, but at most 10000000 are read"


@pytest.mark.parametrize("cut", range(0, 260, 13))
def test_damaged_archives(tmp_path: Path, cut: int) -> None:
    stream = io.BytesIO()
    np.savez(stream, W=np.eye(2))
    data = stream.getvalue()
    for damaged in (data[:cut], data[:cut] + b"\xff\xff\xff" + data[cut + 3 :]):
        (tmp_path / "w.npz").write_bytes(damaged)
        try:
            in_folder(tmp_path, FROM_FILE % "w.npz")
        except ProblemError as error:
            assert str(error).isprintable() and error.path.startswith("W_Q")


def test_names_in_archives(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", W_Q=np.eye(2), W_K=np.eye(2))
    error = refused_in(tmp_path, FROM_FILE % "w.npz")
    assert (error.what, error.hint) == ("w.npz: holds 2 arrays", "say which: name: W_Q")
    error = refused_in(tmp_path, FROM_FILE % "w.npz, name: W_q")
    assert (error.what, error.hint) == ("w.npz: no array W_q in it", "did you mean W_Q?")
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("a.txt", "x")
    assert refused_in(tmp_path, FROM_FILE % "e.npz").what == "e.npz: holds no arrays"
    np.save(tmp_path / "w.npy", np.eye(2))
    assert refused_in(tmp_path, FROM_FILE % "w.npy, name: W").what == "w.npy: holds one matrix without a name"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_figures_that_are_not_finite_are_placed(tmp_path: Path, value: float) -> None:
    np.save(tmp_path / "w.npy", np.array([[1, 2], [3, value]]))
    error = refused_in(tmp_path, FROM_FILE % "w.npy")
    assert (error.line, error.path) == (2, "W_Q[2,2]") and error.what.endswith("is not finite")


def test_weights_below_0_in_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[1, -0.25]]))
    error = refused_in(tmp_path, "A: {file: a.npy}\n")
    assert (error.path, error.what) == ("A[1,2]", "-0.25 is below 0")


BACK = "\\\\"  # in double quotes YAML reads two as one
OUTSIDE = ["../w.npy", "/etc/w.npy", "sub/../../w.npy", f"..{BACK}w.npy", f"C:{BACK}w.npy", "C:w.npy",
           f"{BACK * 2}host{BACK}w.npy"]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_files_outside_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "inner" / "sub").mkdir(parents=True)
    np.save(tmp_path / "w.npy", np.eye(2))
    error = refused_in(tmp_path / "inner", FROM_FILE % f'"{name}"')
    assert error.path == "W_Q" and error.what.endswith(": outside the problem's folder")


def test_links(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    np.save(tmp_path / "w.npy", np.eye(2))
    np.save(inner / "real.npy", np.eye(2))
    (inner / "out.npy").symlink_to(tmp_path / "w.npy")
    (inner / "up").symlink_to(tmp_path)
    (inner / "in.npy").symlink_to("real.npy")
    (inner / "loop.npy").symlink_to("loop.npy")
    (inner / "gone.npy").symlink_to("nowhere.npy")
    for name in ("out.npy", "up/w.npy"):
        assert refused_in(inner, FROM_FILE % name).what == f"{name}: outside the problem's folder"
    for name in ("loop.npy", "gone.npy"):
        assert refused_in(inner, FROM_FILE % name).what.startswith(f"{name}: can't be read: ")
    assert in_folder(inner, FROM_FILE % "in.npy").given.W_Q.written is None
    (tmp_path / "linked").symlink_to(inner)
    assert load(tmp_path / "linked" / "p.yaml").given.d_k == 2


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "d.npy").mkdir()
    assert refused_in(tmp_path, FROM_FILE % "d.npy").what == "d.npy: not a file"
    assert refused_in(tmp_path, FROM_FILE % "no.npy").what == "no.npy: can't be read: No such file or directory"
    assert refused_in(tmp_path, FROM_FILE % "w.pkl").what == "w.pkl: not a kind of file that is read"
    assert refused_in(tmp_path, FROM_FILE % "npy").what == "npy: not a kind of file that is read"
    assert "can't be read" in refused_in(tmp_path, FROM_FILE % '"a\\0.npy"').what
    assert refused_in(tmp_path, FROM_FILE % "[w.npy]").what == "a text is wanted here, not a list"
    assert refused_in(tmp_path, FROM_FILE % "w.npy, nam: W").what == "unknown key nam"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["pipe.npy", "pipe.csv"])
def test_a_named_pipe_does_not_hang(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    found: list[str] = []
    worker = threading.Thread(target=lambda: found.append(refused_in(tmp_path, FROM_FILE % name).what), daemon=True)
    worker.start()
    worker.join(10)
    assert found == [f"{name}: not a file"]


def test_large_files_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "w.csv").open("wb") as stream:
        stream.truncate(20_000_001)
    assert refused_in(tmp_path, FROM_FILE % "w.csv").what == "w.csv: larger than 20000000 bytes"


def test_folders_of_texts_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "w.npy", np.eye(2))
    text = (FROM_FILE % "w.npy").encode()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProblemError, match="a file can't be named here"):
        parse(text)
    assert parse(text, "p", tmp_path).given.d_k == 2
    monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": io.BytesIO(text)}))
    assert load("-").given.W_Q.written is None
    Path("p.yaml").write_bytes(text)
    assert load("p.yaml").given.d_k == 2


# Softmax


def softmax(text: str) -> Softmax:
    given_ = parse(f"kind: softmax\n{text}".encode(), "p.yaml").given
    assert isinstance(given_, Softmax)
    return given_


def test_softmax_in_full() -> None:
    given_ = softmax("x: [[1, 2.50, 3], [4, 5, 6]]\ntemperature: .5\nvocabulary: [a, b, c]\ntokens: [p, q]\n"
                     "mask: {keep: [[1, 0, 1], [1, 1, 1]]}\npadding: [1, 1, 0]\nmasked_row: error\n")  # fmt: skip
    assert rows(given_.x) == [[1, 2.5, 3], [4, 5, 6]] and given_.temperature == (0.5, "0.5")
    assert (given_.vocabulary, given_.tokens, given_.masked_row) == (("a", "b", "c"), ("p", "q"), "error")
    assert given_.mask and rows(given_.mask.padding) == [[1, 1, 0]]


def test_softmax_defaults() -> None:
    given_ = softmax("x: [[1, 2]]\n")
    assert given_.temperature is None and not given_.mask and given_.masked_row == "zero"
    assert given_.vocabulary is given_.tokens is None
    assert rows(softmax(f"x: {DRAW}\ntokens: [a]\nvocabulary: [b, c]\n").x) == drawn("x", 1, 2)
    assert softmax("x: [[1, 2]]\nmask: {causal: yes, align: end}\n").mask.past == 1


@pytest.mark.parametrize(
    ("text", "line", "path", "what"),
    [
        ("tokens: [a]\n", 1, "x", "missing"),
        ("x: [1, 2]\n", 2, "x", "must be a list of rows"),
        ("x: [[1]]\ntemperature: 0\n", 3, "temperature", "0 is not above 0"),
        ("x: [[1]]\ntemperature: -1\n", 3, "temperature", "-1 is not above 0"),
        ("x: [[1]]\nvocabulary: [a, b]\n", 3, "vocabulary", "2 labels, but x has 1 column (1 × 1, line 2)"),
        ("x: [[1]]\ntokens: [a, b]\n", 3, "tokens", "2 labels, but x has 1 row (1 × 1, line 2)"),
        ("x: [[1]]\npadding: [1, 1]\n", 3, "padding", "2 columns (1 × 2), but x has 1 column (1 × 1, line 2)"),
        ("x: [[1, 2]]\nmask: causal\n", 3, "mask",
         "causal needs align, as keys differ in number from queries: 2 and 1"),
        ("x: identity\n", 2, "x", "its size is not determined: how many rows and columns?"),
        ("x: [[1]]\nmask: [[0, -inf]]\n", 3, "mask", "2 columns (1 × 2), but x has 1 column (1 × 1, line 2)"),
        ("x: [[1]]\ntempreature: 2\n", 3, "", "unknown key tempreature"),
        ("x: [[1]]\nH: [[1]]\n", 3, "", "unknown key H"),
        ("x: [[1]]\nlength: 1\n", 3, "", "unknown key length"),
    ],
)  # fmt: skip
def test_softmax_refuses(text: str, line: int, path: str, what: str) -> None:
    error = refused(f"kind: softmax\n{text}")
    assert (error.line, error.path, error.what) == (line, path, what)


# For the command line


@pytest.mark.parametrize("data", [
    "1 0\n1 1\n", "1,0\n1,1", "true false\ntrue true\n", "yes,no\nyes,yes\n", "[[1, 0], [true, yes]]",
    "keep: [[1, 0], [1, 1]]\nother: x\n",
])  # fmt: skip
def test_mask_matrix_from_bytes(data: str) -> None:
    matrix, _ = mask_matrix_from_bytes(data.encode(), "m", "keep")
    assert matrix.values.tolist() == [[1, 0], [1, 1]]
    assert matrix.written is not None and matrix.written.tolist() == [["1", "0"], ["1", "1"]]


@pytest.mark.parametrize("data", ["0 -inf\n-1e9 .5\n", "[[0, -.inf], [-1e9, .5]]", "add: [[0, −∞], [-1e9, .5]]",
                                  "0,−∞\n-1e9,.5"])  # fmt: skip
def test_additive_matrix_from_bytes(data: str) -> None:
    matrix, _ = mask_matrix_from_bytes(data.encode(), "m", "add")
    assert matrix.values.tolist() == [[0, -np.inf], [-np.inf, 0.5]]
    assert matrix.written is not None and matrix.written.tolist() == [["0", "-∞"], ["-∞", "0.5"]]


def test_plain_rows_may_start_with_minus_infinity() -> None:
    for start in ("-inf", "-.inf", "−∞", "-∞"):
        assert rows(mask_matrix_from_bytes(f"{start} 0\n0 0\n".encode(), "m", "add")[0])[0] == [-np.inf, 0]


@pytest.mark.parametrize(
    ("data", "key", "start"),
    [
        ("1 2\n", "keep", "m:1:3: keep[1,2]: 2 is not 0 or 1"),
        ("0 nan\n", "add", "m:1:3: add[1,2]: nan is not finite"),
        ("keep: [[1]]\n", "hide", "m:1:1: hide: missing"),
        ("", "add", "m:1:1: add: missing"),
        ("identity\n", "keep", "m:1:1: keep: its size is not determined here"),
        ("keep: {file: a.npy}\n", "keep", "m:1:14: keep: a.npy: a file can't be named here"),
    ],
)
def test_mask_matrix_from_bytes_refuses(data: str, key: str, start: str) -> None:
    with pytest.raises(ProblemError, match=f"^{re.escape(start)}"):
        mask_matrix_from_bytes(data.encode(), "m", key)


def test_matrix_from_bytes_takes_no_forms() -> None:
    for text in ("S: identity\n", f"S: {DRAW}\n", "S: {file: a.npy}\n"):
        with pytest.raises(ProblemError):
            matrix_from_bytes(text.encode(), "m", "S")


def test_padding_vector() -> None:
    vector = padding_vector(["0", " 0", "1", "true"])
    assert vector.values.tolist() == [[0, 0, 1, 1]]
    assert vector.written is not None and vector.written.tolist() == [["0", "0", "1", "1"]]


@pytest.mark.parametrize(("texts", "what"), [
    ([], "--padding is empty"), (["1", ""], "--padding, entry 2: nothing is not 0 or 1"),
    (["2"], "--padding, entry 1: 2 is not 0 or 1"), (["x\n"], "--padding, entry 1: x is not 0 or 1"),
])  # fmt: skip
def test_padding_vector_refuses(texts: list[str], what: str) -> None:
    with pytest.raises(UsageError) as caught:
        padding_vector(texts)
    assert caught.value.what == what and str(caught.value).isprintable()


# Whatever is said of sizes, one line comes out

SMALL = st.integers(1, 3)
FORMS = ["identity", DRAW, DRAW.replace("}", ", rows: 2}"), DRAW.replace("}", ", rows: 2, columns: 2}")]


@st.composite
def problems(draw: st.DrawFn) -> str:
    def matrix() -> str:
        return draw(st.sampled_from(FORMS)) if draw(st.integers(0, 2)) == 0 else block(draw(SMALL), draw(SMALL))

    names = draw(st.sampled_from([
        ["H", "W_Q", "W_K", "W_V"], ["H", "W_QKV"], ["Q", "K", "V"], ["S", "V"], ["A", "V"], ["H", "heads"],
    ]))  # fmt: skip
    lines = []
    for name in names:
        heads = listed([f"{{W_Q: {matrix()}, W_K: {matrix()}, W_V: {matrix()}}}" for _ in range(draw(SMALL))])
        lines.append(f"{name}: {heads if name == 'heads' else matrix()}")
    options = [
        "W_O: " + matrix(), "b_O: [1, 2]", "b_Q: [1, 2]", "b_QKV: " + DRAW, f"d_k: {draw(SMALL)}", "scale: none",
        f"kv_heads: {draw(SMALL)}", "orientation: out-in", "split: input", f"memory: {{H: {matrix()}}}",
        "memory: {tokens: [a, b]}", "tokens: [a, b]", f"mask: {{keep: {block(2, 2)}, causal: yes}}",
        f"mask: {{add: [{matrix()}, identity]}}", "mask: {window: 2, align: end}", "padding: [1, 0]", "softcap: 3",
    ]  # fmt: skip
    if "heads" not in names:
        options.append(f"heads: {draw(SMALL)}")
    chosen = draw(st.lists(st.sampled_from(options), max_size=5, unique_by=lambda line: line.partition(":")[0]))
    return "\n".join([*lines, *chosen, ""])


@given(problems())
def test_any_sizes_give_a_problem_or_one_line(text: str) -> None:
    try:
        attention = read(text)
    except AttncalcError as error:
        assert re.match(r"p\.yaml:[1-9][0-9]*:[1-9][0-9]*: \S", str(error)) and str(error).isprintable()
        return
    assert attention.heads % attention.kv_heads == 0
    if attention.start in ("H", "QKV"):
        assert attention.d_k is not None
    if attention.W_Q is not None:
        axis = 0 if attention.orientation == "out-in" else 1
        assert attention.W_Q.values.shape[axis] == attention.heads * (attention.d_k or 0)


@pytest.mark.parametrize(("rows", "said"), [
    ([[0.25, 0.75], [0.0, 1.0]], None), ([[0.25, -0.25]], "-0.25"), ([[1.25, 0.5]], "1.25"), ([[0.5, np.nan]], "nan"),
])  # fmt: skip
def test_probabilities_of_a_file_lie_from_0_to_1(rows: list[list[float]], said: str | None, tmp_path: Path) -> None:
    """As those that are written out do."""
    np.save(tmp_path / "p.npy", np.array(rows))
    problem = tmp_path / "p.yaml"
    problem.write_text("kind: output\nprobabilities: {file: p.npy}\ntop_k: 1\n", encoding="utf-8")
    if said is None:
        assert load(problem).given.probabilities.values.tolist() == rows  # type: ignore[union-attr]
    else:
        with pytest.raises(ProblemError, match=said):
            load(problem)
