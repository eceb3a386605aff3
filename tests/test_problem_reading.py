"""Problem files key by key: numbers, places, starts, shapes, choices; and that nothing but ProblemError comes out."""

from __future__ import annotations

import io
import math
import re
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attncalc.errors import ProblemError
from attncalc.problem import Problem, Scale, load, nodes, parse, syntax
from attncalc.problem.numbers import NotANumber, number, plain_row
from attncalc.problem.readers import integer, whole
from attncalc.problem.source import Source, one_line, short
from attncalc.problem.standalone import matrix_from_bytes
from attncalc.rounding import Rule
from attncalc.show import Show

I2 = "[[1, 0], [0, 1]]"
BASE = f"H: {I2}\nW_Q: {I2}\nW_K: {I2}\nW_V: {I2}\n"  # four lines: what a test adds stands on line 5


def read(text: str) -> Problem:
    return parse(text.encode(), "p.yaml")


def refused(text: str) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        read(text)
    return caught.value


def place(error: ProblemError) -> tuple[int, int, str]:
    return error.line, error.column, error.path


# Numbers

WRITTEN = {
    "2": "2", "+2": "2", "-2": "-2", "−2": "-2", "1.50": "1.50", ".5": "0.5", "+.5": "0.5", "−.50": "-0.50", "2.": "2",
    "0": "0", "-0": "0", "−0.0": "0.0", "+0": "0", "0.00": "0.00", "1e-3": "0.001", "1.0e3": "1000", "2E0": "2",
    "1.50e1": "15.0", "1.50e-2": "0.0150", "-1e+2": "-100", "1e−2": "0.01", "12.5e-1": "1.25", "0.05e1": "0.5",
    "0.5e3": "500", "1e14": "100000000000000", "1e15": "1e15", "1E+015": "1e15", "1e-20": "1e-20", ".5E-20": "0.5e-20",
    "0e5": "0", "-0e-5": "0", "1e-05": "0.00001", "3e0": "3", "1.234567890123456789e0": "1.234567890123456789",
    "0.1000000000000000055511151231257827": "0.1000000000000000055511151231257827",
}  # fmt: skip


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_normal_form(text: str, written: str) -> None:
    value, got = number(text)
    assert got == written
    assert value == float(text.replace("−", "-"))
    assert math.copysign(1, value) == 1 or value < 0


NOT_NUMBERS = {
    "": "empty", " ": "empty", "010": "leading zero", "-08.5": "leading zero", "00": "leading zero",
    "1_000": "not a number",
    "nan": "not finite", ".NaN": "not finite", "-.inf": "not finite", "inf": "not finite", "−∞": "not finite",
    "1e999": "too large", "9" * 400: "too large", "1e-999": "too small", "-0." + "0" * 400 + "1": "too small",
    "true": "not a number", "No": "not a number", "null": "not a number", "~": "not a number", "0x1F": "decimal number",
    "1:30": "not a number", "1/2": "fraction", "0,5": "not a number", "–1": "dash", "1 2": "not a number",
    " 1": "spaces", ".": "not a number", "-": "not a number", "e5": "not a number", "1e": "not a number",
    "--1": "not a number", "1.2.3": "not a number", "１": "not a number", "٣": "not a number", "1\n": "spaces",
    "2024-01-01": "not a number", "1j": "not a number", "five": "not a number",
}  # fmt: skip


@pytest.mark.parametrize(("text", "why"), NOT_NUMBERS.items())
def test_not_a_number(text: str, why: str) -> None:
    with pytest.raises(NotANumber, match=why):
        number(text)


FIGURES = st.from_regex(r"\A[+\-−]?(0|[1-9][0-9]{0,20})?(\.[0-9]{0,20})?([eE][+\-−]?[0-9]{1,3})?\Z")


@given(FIGURES)
@example("−.5e−3")
def test_a_number_is_what_float_and_decimal_say(text: str) -> None:
    ascii_text = text.replace("−", "-")
    try:
        value, written = number(text)
    except NotANumber:
        mantissa = re.split("[eE]", ascii_text)[0]
        if re.search("[0-9]", mantissa):  # then only its size can be at fault
            exact = float(ascii_text)
            assert math.isinf(exact) or (exact == 0 and Decimal(ascii_text) != 0)
        return
    assert value == float(ascii_text)
    assert Decimal(written) == Decimal(ascii_text)
    assert re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[1-9][0-9]*)?", written)
    assert not (value == 0 and written.startswith("-"))
    assert number(written) == (value, written)
    if "e" in written:
        assert len(f"{Decimal(written):f}".lstrip("-").replace(".", "")) > 15


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back(value: float) -> None:
    assert number(repr(value))[0] == value


@given(st.text(max_size=12))
def test_any_text_is_a_number_for_float_too_or_refused(text: str) -> None:
    try:
        value, _ = number(text)
    except NotANumber:
        return
    assert value == float(text.replace("−", "-"))


ODD = st.sampled_from(["", " ", "1 2", "-0", "-0.0", "0.0", "1\n", "9" * 400, "0." + "0" * 400 + "1", "٣", "1.", "-"])


@given(st.lists(FIGURES | ODD | st.decimals(-9, 9, places=2).map(str), min_size=1, max_size=6))
def test_a_row_of_figures_is_read_at_once_only_as_each_of_them_is(texts: list[str]) -> None:
    plain = plain_row(texts)
    if plain is not None:
        assert list(zip(plain, texts, strict=True)) == [number(text) for text in texts]


@given(st.lists(st.decimals(-9, 9, places=2).map(str).filter(lambda text: text != "-0.00"), min_size=1))
def test_rows_of_plain_figures_are_read_at_once(texts: list[str]) -> None:
    assert plain_row(texts) == [float(text) for text in texts]


# Positions and places

CELLS = {
    "flow": ("H: [[1, 2],\n    [3, x]]\n", 2, 9, "H[2,2]"),
    "block": ("H:\n  - [1, 2]\n  - - 3\n    - x\n", 4, 7, "H[2,2]"),
    "quoted": ('H: [[1, "x"]]\n', 1, 9, "H[1,2]"),
    "after CJK": ("{title: 我我, H: [[x]]}\n", 1, 18, "H[1,1]"),
    "from 0": ("H: [[1, 2], [3, x]]\nshow: {count_from: 0}\n", 1, 17, "H[1,1]"),
    "from 0, late and quoted": ("H: [[x]]\nshow:\n  count_from: '0'\n", 1, 6, "H[0,0]"),
    "a list as a cell": ("H: [[1], [[2]]]\n", 1, 11, "H[2,1]"),
    "a mapping as a cell": ("H: [[1, {a: b}]]\n", 1, 9, "H[1,2]"),
    "a scalar as a row": ("H: [[1], 2]\n", 1, 10, "H"),
    "ragged": ("H: [[1, 2], [3]]\n", 1, 13, "H[2]"),
    "no rows": ("H: []\n", 1, 4, "H"),
    "an empty row": ("H: [[], []]\n", 1, 4, "H"),
    "a bias cell": (BASE + "b_Q: [1, x]\n", 5, 10, "b_Q[2]"),
    "an empty entry": (BASE + "tokens:\n  -\n  - b\n", 6, 4, "tokens[1]"),
}


@pytest.mark.parametrize(("text", "line", "column", "path"), CELLS.values(), ids=CELLS)
def test_the_place_of_an_error(text: str, line: int, column: int, path: str) -> None:
    assert place(refused(text)) == (line, column, path)


def test_a_ragged_matrix_names_both_lengths() -> None:
    assert refused("H: [[1, 2], [3]]\n").what == "1 number, but the rows above have 2"
    assert refused("H: [[1], [3, 4]]\n").what == "2 numbers, but the rows above have 1"


# Starts

STARTS = {
    "H": (BASE, "H", 2, {"H", "W_Q", "W_K", "W_V"}),
    "H, biases": (BASE + "b_Q: [1, 2]\nb_K: [[1, 2]]\nb_V: [0, 0]\n", "H", 2,
                  {"H", "W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V"}),
    "Q, K": ("Q: [[1, 2, 3]]\nK: [[1, 2, 3], [4, 5, 6]]\n", "QKV", 3, {"Q", "K"}),
    "Q, K, V": ("Q: [[1]]\nK: [[1], [2]]\nV: [[1, 2], [3, 4]]\nd_k: 1\n", "QKV", 1, {"Q", "K", "V"}),
    "S": ("S: [[1, 2]]\nd_k: 64\n", "S", 64, {"S"}),
    "S, no scale": ("S: [[1, 2]]\nscale: none\nV: [[1], [2]]\n", "S", None, {"S", "V"}),
    "S, own scale": ("S: [[1, 2]]\nscale: 8\n", "S", None, {"S"}),
    "A": ("A: [[0.5, 0.5]]\n", "A", None, {"A"}),
    "A, V": ("A: [[0.5, 0.5], [1, 0]]\nV: [[1], [2]]\nmask: causal\n", "A", None, {"A", "V"}),
}  # fmt: skip
MATRICES = ("H", "W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V", "Q", "K", "V", "S", "A")


@pytest.mark.parametrize(("text", "start", "d_k", "names"), STARTS.values(), ids=STARTS)
def test_starts(text: str, start: str, d_k: int | None, names: set[str]) -> None:
    attention = read(text).given
    assert (attention.start, attention.d_k) == (start, d_k)
    assert {name for name in MATRICES if getattr(attention, name) is not None} == names
    for name in names & {"b_Q", "b_K", "b_V"}:
        assert getattr(attention, name).values.shape == getattr(attention, name).written.shape == (1, 2)


def test_memory_tokens_label_the_keys() -> None:
    attention = read("tokens: [a]\nQ: [[1]]\nK: [[1], [2]]\nmemory: {tokens: [x, y]}\n").given
    assert (attention.tokens, attention.memory_tokens) == (("a",), ("x", "y"))
    assert read("tokens: [a, b]\nQ: [[1], [2]]\nK: [[1], [2]]\n").given.memory_tokens is None


# What is added to nothing or to BASE: (text, path, what)
UNFIT = [
    ("title: x\n", "", "nothing to calculate from"),
    ("V: [[1]]\n", "", "Q and K are missing"),
    ("Q: [[1]]\n", "K", "missing"),
    ("K: [[1]]\n", "Q", "missing"),
    ("H: [[1]]\n", "W_Q, W_K, W_V", "missing"),
    ("H: [[1]]\nW_Q: [[1]]\nW_K: [[1]]\n", "W_V", "missing"),
    ("W_Q: [[1]]\n", "H, W_K, W_V", "missing"),
    ("b_Q: [1]\n", "H, W_Q, W_K, W_V", "missing"),
    ("S: [[1]]\n", "d_k", "missing"),
    (f"{BASE}Q: [[1]]\n", "Q", "can't be given together with H"),
    (f"{BASE}V: [[1]]\n", "V", "can't be given together with H"),
    ("S: [[1]]\nQ: [[1]]\n", "Q", "can't be given together with S"),
    ("A: [[1]]\nS: [[1]]\n", "S", "can't be given together with A"),
    ("Q: [[1]]\nK: [[1]]\nb_Q: [1]\n", "b_Q", "can't be given together with Q"),
    ("A: [[1]]\nscale: none\n", "scale", "not used where A is given"),
    ("A: [[1]]\nd_k: 2\n", "d_k", "not used where A is given"),
    ("A: [[1, 0], [0, -0.5]]\n", "A[2,2]", "-0.5 is below 0"),
    (f"{BASE}b_Q: [1]\n", "b_Q", "1 column (1 × 1), but W_Q has 2 columns (2 × 2, line 2)"),
    (f"{BASE}b_K: [1]\n", "b_K", "1 column (1 × 1), but W_K has 2 columns (2 × 2, line 3)"),
    (f"{BASE}b_V: [1]\n", "b_V", "1 column (1 × 1), but W_V has 2 columns (2 × 2, line 4)"),
    (f"{BASE}b_Q: [[1, 2], [3, 4]]\n", "b_Q", "2 rows, but it is one row"),
    (f"{BASE}b_Q: []\n", "b_Q", "no figures"),
    (f"{BASE}tokens: [a]\n", "tokens", "1 label, but H has 2 rows (2 × 2, line 1)"),
    (f"{BASE}tokens: []\n", "tokens", "an empty list"),
    (f"{BASE}tokens: a\n", "tokens", "must be a list of texts"),
    (f"{BASE}memory: {{tokens: [a, b]}}\n", "memory", "no H of its own"),
    ("H: [[1, 2]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[1]]\n", "W_Q", "1 row (1 × 1), but H has 2 columns (1 × 2, line 1); "
     "W_K: 1 row (1 × 1), but H has 2 columns (1 × 2, line 1); "
     "W_V: 1 row (1 × 1), but H has 2 columns (1 × 2, line 1)"),
    ("H: [[1]]\nW_Q: [[1]]\nW_K: [[1, 2]]\nW_V: [[1]]\n", "W_K",
     "2 columns (1 × 2), but W_Q has 1 column (1 × 1, line 2)"),
    ("Q: [[1]]\nK: [[1, 2]]\n", "K", "2 columns (1 × 2), but Q has 1 column (1 × 1, line 1)"),
    ("Q: [[1]]\nK: [[1]]\nV: [[1], [2]]\n", "V", "2 rows (2 × 1), but K has 1 row (1 × 1, line 2)"),
    ("S: [[1, 2]]\nV: [[1]]\nd_k: 1\n", "V", "1 row (1 × 1), but S has 2 columns (1 × 2, line 1)"),
    ("A: [[1, 2]]\nV: [[1]]\n", "V", "1 row (1 × 1), but A has 2 columns (1 × 2, line 1)"),
    ("Q: [[1]]\nK: [[1]]\nd_k: 3\n", "d_k", "3, but K has 1 column (1 × 1, line 2)"),
    ("Q: [[1]]\nK: [[1], [2]]\ntokens: [a]\n", "tokens", "labels for the rows, but none for 2 keys"),
    ("Q: [[1]]\nK: [[1]]\nmemory: {tokens: [a, b]}\n", "memory.tokens", "2 labels, but K has 1 row (1 × 1, line 2)"),
    ("Q: [[1]]\nK: [[1]]\nmemory: {}\n", "memory", "says nothing"),
    ("S: [[1, 2]]\nd_k: 1\nmask: {causal: yes}\n", "mask",
     "causal needs align, as keys differ in number from queries: 2 and 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "what"), UNFIT)
def test_what_does_not_go_together(text: str, path: str, what: str) -> None:
    error = refused(text)
    assert (error.path, error.what) == (path, what)
    assert error.line > 0 and error.column > 0


# Choices and their readers


@pytest.mark.parametrize(
    ("written", "scale"),
    [
        ("sqrt_d_k", Scale("sqrt_d_k")),
        ("none", Scale("none")),
        ("8", Scale("divide", 8.0, "8")),
        ("'+.50'", Scale("divide", 0.5, "0.50")),
        ("{multiply: 0.125}", Scale("multiply", 0.125, "0.125")),
    ],
)
def test_scale(written: str, scale: Scale) -> None:
    assert read(f"{BASE}scale: {written}\n").given.scale == scale


@pytest.mark.parametrize(
    ("written", "causal"),
    [("none", False), ("causal", True)]
    + [(f"{{causal: {word}}}", True) for word in ("true", "True", "YES", "'yes'")]
    + [(f"{{causal: {word}}}", False) for word in ("false", "no", "No", '"FALSE"')],
)
def test_mask(written: str, causal: bool) -> None:
    assert read(f"{BASE}mask: {written}\n").given.mask.causal is causal


# On line 5: (text, column, path, what, hint)
BAD_VALUES = [
    ("scale: 0", 8, "scale", "0 is not above 0", ""),
    ("scale: -1", 8, "scale", "-1 is not above 0", ""),
    ("scale: nan", 8, "scale", '"nan" is not sqrt_d_k, none, a number or {multiply: number}', ""),
    ("scale: .nan", 8, "scale", ".nan is not finite", ""),
    ("scale: sqrt_dk", 8, "scale", '"sqrt_dk" is not sqrt_d_k, none, a number or {multiply: number}', "sqrt_d_k?"),
    ("scale: {multiply: 0}", 19, "scale.multiply", "0 is not above 0", ""),
    ("scale: {}", 8, "scale", "says nothing", ""),
    ("scale: {divide: 2}", 9, "scale", "unknown key divide", "multiply"),
    ("scale: [2]", 8, "scale", "sqrt_d_k, none or a number is wanted here, not a list", ""),
    ("mask: causl", 7, "mask", '"causl" is not none or causal', "did you mean causal?"),
    ("mask: {causal: maybe}", 16, "mask.causal", '"maybe" is not true or false', "yes and no"),
    ("mask: {}", 7, "mask", "says nothing", ""),
    ("masked_row: nothing", 13, "masked_row", '"nothing" is not zero or error', ""),
    ("lang: de", 7, "lang", '"de" is not en or zh', ""),
    ("kind: atention", 7, "kind", "unknown kind atention", "did you mean attention?"),
    ("title: [a]", 8, "title", "a text is wanted here, not a list", "quotes"),
    ("title: {a: b}", 8, "title", "a text is wanted here, not a mapping", "quotes"),
    ("d_k: [2]", 6, "d_k", "a whole number is wanted here, not a list", ""),
    ("d_k: ２", 6, "d_k", "２ is not a whole number from 1 to 1000000000", "full-width digit"),
    ("d_k: 1e5", 6, "d_k", "1e5 is not written in digits alone", "write 100000"),
    ("d_k: 2.0", 6, "d_k", "2.0 is not written in digits alone", "write 2"),
    ("d_k: 1e10", 6, "d_k", "1e10 is not a whole number from 1 to 1000000000", ""),
    ("d_k: 2.5", 6, "d_k", "2.5 is not a whole number from 1 to 1000000000", ""),
    (f"d_k: {'9' * 5000}", 6, "d_k", f"{'9' * 39}… is not a whole number from 1 to 1000000000", ""),
    ("tokens: [{}, b]", 10, "tokens[1]", "a text is wanted here, not a mapping", "quotes"),
    ("tokens: [[A, B], b]", 10, "tokens[1]", "a text is wanted here, not a list", '"[A, B]"'),
    ("tokens: [我，爱]", 9, "tokens", "1 label, but H has 2 rows (2 × 2, line 1)", "， is a full-width comma"),
    ("tokens: ［a, b]", 9, "tokens", "must be a list of texts", "［ is a full-width bracket"),
    ("show: 3", 7, "show", "expected a mapping", ""),
    ("show: {decimals: 13}", 18, "show.decimals", "13 is not a whole number from 0 to 12", ""),
    ("show: {decimals: -1}", 18, "show.decimals", "-1 is not a whole number from 0 to 12", ""),
    ("show: {decimals: {A: 13}}", 22, "show.decimals.A", "13 is not a whole number from 0 to 12", ""),
    ("show: {decimals: {A: }}", 19, "show.decimals.A", "empty", ""),
    ("show: {decimals: {x y: 1}}", 19, "show.decimals", "x y is not the id of a step", "head1.A"),
    ("show: {decimals: {A.: 1}}", 19, "show.decimals", "A. is not the id of a step", "head1.A"),
    ("show: {decimals:3}", 8, "show", "unknown key decimals:3", "decimals: 3"),
    ("show: {decimals：3}", 8, "show", "unknown key decimals：3", "： is a full-width colon"),
    ("show: {deciamls: 3}", 8, "show", "unknown key deciamls", "did you mean decimals?"),
    ("show: {count_from: 2}", 20, "show.count_from", "2 is not a whole number from 0 to 1", ""),
    ("show: {rounding: exat}", 18, "show.rounding", '"exat" is not exact or carried', "did you mean exact?"),
    ("w_q: 1", 1, "", "unknown key w_q", "did you mean W_Q?"),
    ("Wq: 1", 1, "", "unknown key Wq", "did you mean W_Q?"),
    ("titel: x", 1, "", "unknown key titel", "did you mean title?"),
    ('"a\\nb": x', 1, "", "unknown key a\\nb", ""),
    ("memory: {tokns: [a]}", 10, "memory", "unknown key tokns", "did you mean tokens?"),
    ("d_k: !!int 2", 6, "", "the tag !!int is not read", "quotes"),
    ("d_k: !!python/object:os.system 2", 6, "", "the tag !!python/object:os.system is not read", ""),
    ("title: ! x", 8, "", "the tag ! is not read", ""),
    ("b_Q: !!seq [1, 2]", 6, "", "the tag !!seq is not read", ""),
    ("<<: {d_k: 2}", 1, "", "merge keys (<<) are not read", ""),
    ("d_k: *x", 6, "", "*x stands for nothing above it", "quotes"),
    ("published: {? : b}", 15, "", "a key is missing before the colon", "name it"),
    ("'': b", 1, "", "an empty key", ""),
    ("? [a]\n: b", 3, "", "a list or mapping can't be a key", ""),
    (": b", 1, "", "a key is missing here", ""),
    ("tokens: [*, b]", 11, "", "* and & can't stand alone", "quotes"),
    ("tokens: [%, b]", 10, "", "a value can't start with this character", "quotes"),
    ("tokens: [a, , b]", 13, "", "a value is missing here", ""),
    ('tokens: ["a" "b"]', 14, "", "a comma or ] is missing here", "add it"),
    ("title: x: y", 9, "", "a colon can't stand here", "quotes"),
    ("title: “x: y”", 10, "", "a colon can't stand here", "“ is a curly quote"),
    ('title: "\\ud83d"', 11, "", "no character has this number", "write the character itself"),
    ('title: "\\ude00\\ud83d"', 11, "", "no character has this number", ""),
    ('title: "\\q"', 9, "", "an unknown escape in double quotes", "single quotes"),
    ("...\nd_k: 2", None, "", "this line does not belong to the text above it", ""),
    ("title: |\n\tx", None, "", "tab used for indentation", "use spaces"),
    *((f"W_O: {name}", 6, "W_O", "must be a list of rows", f"write {{file: {name}}}")
      for name in ("w.csv", "a/w.TXT", "w.npy", "权，重.npz")),
    *((f"W_O: {typed}", 6, "W_O", "must be a list of rows", "write a row in [ ]: [1, 2]")
      for typed in ("(1, 2)", "1, 2", "1 2", "((1, 2), (3, 4))")),
    ("W_O: 【1, 2】", 6, "W_O", "must be a list of rows", "【 is a full-width bracket, type ["),
    ("W_O: [1 2, 3 4]", 6, "W_O", "must be a list of rows", "write a row in [ ]: [1, 2]"),
    ("W_O: [[1 2], [3 4]]", 8, "W_O[1,1]", "1 2 is not a number", "put a comma between two figures"),
    ("W_O: [[1；2], [3, 4]]", 8, "W_O[1,1]", "1；2 is not a number", "； is a full-width semicolon, type ,"),
    ("W_O:\n - 1, 2\n - 3, 4", None, "W_O", "must be a list of rows", "write a row in [ ]: [1, 2]"),
    ("W_O:\n -[1, 2]", None, "W_O", "must be a list of rows", "put a space after the dash: - [1, 2]"),
    ("published: {A: 1, A: 2}", 19, "", "duplicate key A, both on line 5", ""),
]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud83d\ude00", "😀"), (r"a\uD83D\uDE00 \u6211 \udbff\udfff", "a😀 我 \U0010ffff"),
        (r"\\ud83d\ude00 \ud83d\ude00", None), (r"\\ud83d\\ude00 \ud83d\ude00", r"\ud83d\ude00 😀"),
        (r"\ud83d \ude00", None),
    ],
)  # fmt: skip
def test_two_escapes_of_json_are_one_character(written: str, read: str | None) -> None:
    text = f'{BASE}title: "{written}"\n'
    if read is None:
        assert refused(text).what == "no character has this number"
    else:
        assert parse(text.encode()).title == read


@pytest.mark.parametrize("pair", [r"\ud83d\ude00", r"\uD83D\uDE00\ud83d\ude00 \ud83d\ude00"])
@pytest.mark.parametrize(
    "rest",
    ['"] x', '", [1]]', '", ]: 2', '", 1]\n\tx: 1', r'\q"]', r' \ud83d"]', r'x\ude00" ]', '\x01"]', '\\\n \x01"]'],
)
def test_what_stands_after_such_a_character_has_its_own_place(pair: str, rest: str) -> None:
    """As where as many letters stand in its place, in a list, as a key, and on the last of several lines; be it within
    the same quotes."""
    for quoted in (f'["{pair}', f'{{"{pair}" : 1}}, ["{pair}", "{pair}', f'["{pair}\n {pair} \\\n  {pair}a'):
        text = f"{BASE}tokens: [{quoted}{rest}\n"
        found, expected = refused(text), refused(text.replace(pair, "x" * len(pair)))
        assert (found.line, found.column, found.what) == (expected.line, expected.column, expected.what)


@pytest.mark.parametrize(("text", "column", "path", "what", "hint"), BAD_VALUES)
def test_bad_values(text: str, column: int | None, path: str, what: str, hint: str) -> None:
    error = refused(f"{BASE}{text}\n")
    assert (error.path, error.what) == (path, what)
    assert hint in error.hint
    assert str(error).isprintable()
    if column is not None:
        assert (error.line, error.column) == (5, column)
    else:
        assert error.line == 6


@pytest.mark.parametrize("key", ["title", "H", "tokens", "show", "d_k", "scale", "mask", "memory", "published", "kind"])
def test_an_empty_value_is_named_at_its_key(key: str) -> None:
    error = refused(f"{key}:\n{BASE.removeprefix(f'H: {I2}') if key == 'H' else BASE}")
    assert (*place(error), error.what) == (1, 1, key, "empty")


@pytest.mark.parametrize(
    ("draw", "column", "path", "what"),
    [
        ("2", 1, "draw", "must say what is drawn, matrix by matrix"),
        ("{}", 1, "draw", "must say what is drawn, matrix by matrix"),
        ("{seed: 1}", 14, "draw.seed", '"1" is not integers or quarters'),
        ("{W_X: integers}", 8, "", "unknown key W_X"),
        ("{W_Q: }", 8, "draw.W_Q", "empty"),
        ("{W_Q: {of: halves}}", 18, "draw.W_Q.of", '"halves" is not integers or quarters'),
        ("{W_Q: {seed: 1}}", 14, "draw.W_Q", "unknown key seed"),
        ("{W_Q: {from: 2, to: 1}}", 20, "draw.W_Q.from", "2 is above to: 1"),
        ("{'layers[1].W': integers}", 8, "draw.layers[1].W", "there is no such place in the file"),
        ("{'heads[0].W_Q': integers}", 8, "draw.heads[0].W_Q", "not the path of a matrix"),
    ],
)  # fmt: skip
def test_what_can_not_be_drawn_is_named_at_its_place(draw: str, column: int, path: str, what: str) -> None:
    error = refused(f"{BASE}draw: {draw}\n")
    assert (error.line, error.column, error.path, error.what) == (5, column, path, what)


def test_keys_of_another_kind_are_called_so() -> None:
    error = refused(f"{BASE}temperature: 2\n")
    known = (*place(error), error.what, error.hint)
    assert known == (5, 1, "", "unknown key temperature", "it is a key of kind: softmax or output")
    error = refused(f"{BASE}W_1: [[1]]\n")
    assert (error.what, error.hint) == ("unknown key W_1", "it is a key of kind: feed-forward")
    error = refused(f"{BASE}x: [[1]]\n")
    assert error.what == "unknown key x" and error.hint.startswith("it is a key of kind: softmax, ")
    error = refused("kind: softmax\nx: [[1]]\nscale: 2\n")
    assert (*place(error), error.what, error.hint) == (3, 1, "", "unknown key scale", "it is a key of kind: attention")


def test_defaults_of_later_keys_are_let_through() -> None:
    text = "heads: 1\nkv_heads: '1'\nsplit: projection\norientation: in-out\nposition: none\n"
    assert read(BASE + text).given.d_k == 2


# Show


def test_show_in_full() -> None:
    problem = read(
        f"{BASE}title: 'no'\nlang: zh\nkind: attention\n"
        "show: {decimals: {default: 2, A: 4, head1.A: 5}, rounding: carried, ties: half-even, weights: sum-to-one,\n"
        "       numbers: fixed, count_from: 0, detail: matrices, weighted_sum: vectors, exponentials: equations,\n"
        "       shift: max}\npublished: {A: [[0.5, _]]}\n"
    )
    rule = Rule(2, {"A": 4, "head1.A": 5}, "carried", "half-even", "sum-to-one", "fixed", asked=True)
    assert problem.show == Show(rule, 0, "matrices", "vectors", "equations", "max")
    assert (problem.title, problem.lang) == ("no", "zh")
    assert isinstance(problem.published, nodes.MapNode) and list(problem.published.entries) == ["A"]


def test_show_defaults() -> None:
    problem = read(BASE)
    assert problem.show == Show() and problem.show.rule == Rule() and problem.published is None
    assert read(f"{BASE}show: {{}}\n").show == Show()
    assert read(f"{BASE}show: {{decimals: {{A: 5}}}}\n").show.rule == Rule(by_step={"A": 5})


def test_with_show() -> None:
    problem = read(f"{BASE}show: {{decimals: {{default: 2, A: 4}}, ties: half-even}}\n")
    changed = problem.with_show(decimals=4, rounding="carried", detail="matrices")
    assert changed.show == Show(Rule(4, {}, "carried", "half-even", asked=True), detail="matrices")
    assert problem.show.rule.by_step == {"A": 4} and changed.given is problem.given
    assert problem.with_show(ties=None).show == problem.show
    with pytest.raises((TypeError, ValueError)):
        problem.with_show(colour="red")


# Anchors and aliases


def test_aliases_stand_for_what_they_name() -> None:
    attention = read("H: &i [[1, &z 0], [*z, 1]]\nW_Q: *i\nW_K: *i\nW_V: [*r, [0, 1]]\n".replace("*r", "[1, *z]")).given
    for matrix in (attention.H, attention.W_Q, attention.W_K, attention.W_V):
        assert matrix is not None and matrix.values.tolist() == [[1, 0], [0, 1]]


def test_a_mapping_that_holds_itself() -> None:
    error = refused("show: &s\n  decimals: {A: *s}\n")
    assert (error.line, error.path, error.what) == (2, "show", "refers to itself")


def test_alias_bomb() -> None:
    levels = "".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 10)}]\n" for n in range(1, 9))
    error = refused(f"k0: &k0 [x]\n{levels}")
    assert error.what == "aliases stand for more than 2000000 entries" and error.line < 9


def test_depth_through_aliases() -> None:
    levels = "".join(f"k{n}: &k{n} [[[[[[[[[[*k{n - 1}]]]]]]]]]]\n" for n in range(1, 9))
    error = refused(f"k0: &k0 [x]\n{levels}")
    assert (error.line, error.what) == (8, "nesting too deep")


def test_a_large_file_is_no_bomb() -> None:
    row = f"[{', '.join('1' * 400)}]"
    H = read(f"H: [{', '.join([row] * 100)}]\nW_Q: &w [{', '.join(['[1]'] * 400)}]\nW_K: *w\nW_V: *w\n").given.H
    assert H is not None and H.values.shape == (100, 400)


def test_the_pure_python_loader_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{BASE}tokens: [no, 'x']\nd_k: 3\n"
    with_c = str(refused(text))
    monkeypatch.setattr(nodes, "LOADER", yaml.SafeLoader)
    assert str(refused(text)) == with_c
    assert refused("H: [\x1b]\n").what == "control character U+001B"
    assert read(BASE).given.d_k == 2


# load, and matrices for masks


def test_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(BASE)
    assert load(path).name == load(str(path)).name == str(path)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(BASE.encode() + b"draw: 2\n")))
    with pytest.raises(ProblemError, match=r"^<stdin>:5:1: draw: "):
        load("-")


@pytest.mark.parametrize("name", ["", "missing\n.yaml", "a\0b"])
def test_load_what_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(ProblemError) as caught:
        load(f"{tmp_path}/{name}")
    assert str(caught.value).isprintable() and "can't be read" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        ("1 -2.5\n0.50 1e-3\n", None),
        ("# scores\n\n1,-2.5  # a\n0.50 , 1e-3", None),
        ("1\t-2.5\r\n0.50\t1e-3\r\n", None),
        ("\ufeff1 −2.5\n.50 1e-3\n", None),
        ("1 -2.5\r0.50 1e-3", None),
        ("[[1, -2.5], [0.50, 1e-3]]", None),
        ("- [1, -2.5]\n- [0.50, 1e-3]\n", None),
        ("heads: 7\ntokens: [no, on]\nS: [[1, -2.5], [0.50, 1e-3]]\n", ("no", "on")),
        ("S: [[1, -2.5], [0.50, 1e-3]]\n", None),
    ],
)
def test_matrix_from_bytes(data: str, tokens: tuple[str, ...] | None) -> None:
    matrix, labels = matrix_from_bytes(data.encode(), "s.txt", "S")
    assert matrix.values.tolist() == [[1, -2.5], [0.5, 0.001]]
    assert matrix.written.tolist() == [["1", "-2.5"], ["0.50", "0.001"]]
    assert labels == tokens


@pytest.mark.parametrize(
    ("data", "key", "start"),
    [
        ("1 2\n3 x\n", "S", "s:2:3: S[2,2]: x is not a number"),
        ("1,,2\n", "S", "s:1:3: S[1,2]: empty"),
        ("1,2,\n", "S", "s:1:5: S[1,3]: empty"),
        ("1 2\n3\n", "S", "s:2:1: S[2]: 1 number, but the rows above have 2"),
        ("0.5 -0.5\n", "A", "s:1:5: A[1,2]: -0.5 is below 0"),
        ("A: [[1]]\n", "S", "s:1:1: S: missing"),
        ("", "A", "s:1:1: A: missing; the file is empty"),
        ("S: [[1]]\ntokens: [a, b]\n", "S", "s:2:9: tokens: 2 labels, but S has 1 row"),
        ("hello\n", "S", "s:1:1: S: must be a list of rows"),
    ],
)
def test_matrix_from_bytes_refuses(data: str, key: str, start: str) -> None:
    with pytest.raises(ProblemError, match=f"^{re.escape(start)}"):
        matrix_from_bytes(data.encode(), "s", key)


# Whatever is in a file, one line comes out


def test_text_in_messages_is_escaped_and_cut() -> None:
    assert one_line("a\nb\x1b\u202e我") == "a\\nb\\x1b\\u202e我"
    assert short("x" * 40) == "x" * 40 and short("x" * 41) == "x" * 39 + "…"
    with pytest.raises(ProblemError) as caught:
        parse(b"H: 1\n", "a\nb.yaml")
    assert str(caught.value).startswith("a\\nb.yaml:1:4: H: ")


SEEDS = [
    BASE.encode(),
    f"tokens: [a, '我']\n{BASE}d_k: 2\nshow: {{decimals: {{A: 2}}, count_from: 0}}\nmask: {{causal: yes}}\n".encode(),
    b'Q: &q [[1, -2.5], [1e-3, 0]]\nK: *q\nmemory: {tokens: [x, "y"]}\nscale: {multiply: 0.5}\n',
    b"1 2\n3, 4\n",
    b"H: [[1, 2]]\nheads: [{W_Q: identity, W_K: [[1], [2]], W_V: identity}]\nW_O: identity\nb_O: [1, 2]\n",
    b"H: {random: integers, from: -1, to: 1, seed: 7, rows: 2, columns: 4}\nW_QKV: [[1, 2, 3]]\nheads: 1\nsoftcap: 3\n",
    b"S: [[1, 2]]\nscale: 2\nmask: {causal: yes, past: 0, window: 2, keep: [[1, no]], add: [[0, -inf]]}\n"
    b"padding: [1, 0]\n",
    b"kind: softmax\nx: [[1, 2]]\nmask: [[-1e9, 0]]\nvocabulary: [a, b]\ntemperature: 2\n",
]
PIECES = [b"[", b"]", b"{", b"}", b":", b": ", b"\n", b"\t", b" ", b"-", b"- ", b"*", b"*q", b"&q ", b"?", b"? ",
          b"|\n",
          b"'", b'"', b"#", b"!", b"!!int ", b"%", b"\\", b"\xff", b"\xef\xbb\xbf", b"\x00", b"\x1b", "：".encode(),
          "−".encode(), b"...\n", b"---\n", b"e9", b"nan", b"<<: ", b"0", b",", b"\r", "\u2028".encode()]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        cut = draw(st.integers(0, 6))
        data = data[:start] + draw(st.sampled_from([b"", *PIECES])) + data[start + cut :]
    return data


def check_one_line(data: bytes) -> None:
    for use in (lambda: parse(data, "f"), lambda: matrix_from_bytes(data, "f", "S")):
        try:
            use()
        except ProblemError as error:
            message = str(error)
            assert message.isprintable() and re.match(r"f:[1-9][0-9]*:[1-9][0-9]*: \S", message)
            assert len(message) < 700
            assert error.line <= len(re.split(r"\r\n|[\r\n\x85\u2028\u2029]", data.decode("utf-8", "replace"))) + 1


@settings(max_examples=600, deadline=None)
@given(mutated())
def test_mutated_files_give_a_problem_or_one_line(data: bytes) -> None:
    check_one_line(data)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_random_bytes_give_a_problem_or_one_line(data: bytes) -> None:
    check_one_line(data)


# What readers take, by brute force


def node_of(text: str) -> nodes.Node:
    return nodes.scalar_at(text, 0, 0)


@given(st.integers(-20, 20), st.integers(0, 20), st.integers(-50, 50) | st.sampled_from(["", "x", "1.0", "1e1", "01"]))
def test_whole_numbers_are_read_within_their_bounds(low: int, width: int, said: int | str) -> None:
    source, high, text = Source("p.yaml", ""), low + width, str(said)
    for reader, written in ((integer, text), (integer, f"+{text}"), (whole, text)):
        least = max(low, 0) if reader is whole else low
        is_number = isinstance(said, int) and not (written.startswith("+-") or (reader is whole and said < 0))
        if is_number and least <= int(written) <= high:
            assert reader(least, high)(source, node_of(written), "x") == said
        elif least <= high:
            meant = {"1.0": 1, "1e1": 10}.get(text, least - 1)  # a whole number, but not written as one
            says = f"is not written in digits alone; write {meant}$" if least <= meant <= high else \
                f"is not a whole number from {least} to {high}$"
            with pytest.raises(ProblemError, match=says):
                reader(least, high)(source, node_of(written), "x")


@given(st.lists(st.sampled_from(["a", "é", "\n", "\r", "\r\n", "\u2028"]), max_size=12), st.integers(0, 12))
@example(["\n", "a"], 1)
@example(["\r\n", "\r\n"], 4)
def test_the_place_of_a_character_is_that_of_its_line(pieces: list[str], index: int) -> None:
    text = "".join(pieces)
    index = min(index, len(text))
    if text[index - 1 : index + 1] != "\r\n":  # between the two of one line end stands nothing
        before = f"{text[:index]}|".splitlines()
        assert syntax.place(text, index) == (len(before), len(before[-1]))


def test_of_a_matrix_without_a_size_what_is_missing_first_is_asked_for() -> None:
    draw = "{random: integers, from: 1, to: 2, seed: 1}"
    assert refused(f"Q: {draw}\nK: {draw}\n").hint == "add rows: to it"
    assert refused(f"H: [[1, 0]]\nW_Q: {draw}\nW_K: {draw}\nW_V: {draw}\n").hint == "add columns: to it"
