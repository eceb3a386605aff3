"""Files of the kind people really write, most of which break tools like this one: each read as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from attncalc.errors import ProblemError
from attncalc.problem import Problem, parse

I2 = "[[1, 0], [0, 1]]"
WEIGHTS = f"W_Q: {I2}\nW_K: {I2}\nW_V: {I2}\n"
TAIL = f"{WEIGHTS}d_k: 2\n"
CONTROL = f"tokens: [I, like, cats]\nH: [[1, 0], [0, 1], [1, 1]]\n{TAIL}"


def read(text: str | bytes) -> Problem:
    return parse(text if isinstance(text, bytes) else text.encode(), "p.yaml")


def refused(text: str | bytes) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        read(text)
    return caught.value


def tokens_of(items: str, rows: int) -> tuple[str, ...] | None:
    return read(f"tokens: {items}\nH: {[[1, 0]] * rows}\n{TAIL}").given.tokens


def test_control() -> None:
    problem = read(CONTROL)
    given = problem.given
    assert (problem.name, problem.kind, problem.title, problem.lang) == ("p.yaml", "attention", None, None)
    assert (given.start, given.tokens, given.memory_tokens) == ("H", ("I", "like", "cats"), None)
    assert (given.d_k, given.scale.kind, given.mask.causal, given.masked_row) == (2, "sqrt_d_k", False, "zero")
    assert given.H is not None and given.H.values.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert given.H.values.dtype == np.float64
    assert given.H.written.tolist() == [["1", "0"], ["0", "1"], ["1", "1"]]
    assert given.b_Q is None and given.Q is None and given.A is None


def test_exponents_without_a_point_are_numbers() -> None:
    H = read(f"H: [[1, 1e-3], [2e0, 1.0e3]]\n{TAIL}").given.H
    assert H is not None and H.values.dtype == np.float64
    assert H.values.tolist() == [[1, 0.001], [2, 1000]]
    assert H.written.tolist() == [["1", "0.001"], ["2", "1000"]]


@pytest.mark.parametrize(
    ("items", "texts"),
    [
        ("[null, ~, None, none]", ("null", "~", "None", "none")),
        ('[007, "08"]', ("007", "08")),
        ("[no, off, Yes, ON]", ("no", "off", "Yes", "ON")),
        ("[1_000, 2013_05_10, 2024-01-01, 3, 1.50]", ("1_000", "2013_05_10", "2024-01-01", "3", "1.50")),
        ("[1:30, =, 0x1F, .inf]", ("1:30", "=", "0x1F", ".inf")),
        (
            r'["*", "@", "%", "#", ":", "[CLS]", "<s>", "|", "$", "_", "&", "{}", "\\"]',
            ("*", "@", "%", "#", ":", "[CLS]", "<s>", "|", "$", "_", "&", "{}", "\\"),
        ),
        (r'["[bold]", "[/]", "[/INST]", "[#x]", "\\["]', ("[bold]", "[/]", "[/INST]", "[#x]", "\\[")),
        ('[":smile:", ":x:", ":-)"]', (":smile:", ":x:", ":-)")),
        (r'[我, 猫猫, "Ａ", "🙂", "👩‍💻", "e\u0301"]', ("我", "猫猫", "Ａ", "🙂", "👩‍💻", "e\u0301")),
        (f"[{'x' * 300}, b]", ("x" * 300, "b")),
        ('["</s>", "<script>alert(1)</script>"]', ("</s>", "<script>alert(1)</script>")),
        (r'["a\nb", "c\td", " e "]', ("a\nb", "c\td", " e ")),
        ("['', a]", ("", "a")),
        ("[a_1, b_2]", ("a_1", "b_2")),
    ],
)
def test_tokens_are_what_was_typed(items: str, texts: tuple[str, ...]) -> None:
    assert tokens_of(items, len(texts)) == texts


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + CONTROL.replace("\n", "\r\n").encode(),  # Notepad
        CONTROL.replace("[1, 0], [0, 1], [1, 1]]", "[1,\t0], [0, 1], [1, 1]]\t# rows").encode(),
        ("%YAML 1.2\n---\n" + CONTROL + "...\n").encode(),
    ],
)
def test_the_same_file_in_other_clothes(data: bytes) -> None:
    given, control = read(data).given, read(CONTROL).given
    assert given.tokens == control.tokens
    assert given.H is not None and control.H is not None and (given.H.values == control.H.values).all()


# The text, then line, column, path and what of its error, and words its hint must hold.
REFUSED = {
    "not finite": (f"H: [[1, 2], [.nan, .inf]]\n{TAIL}", 1, 14, "H[2,1]", ".nan is not finite", ""),
    "true is no number": (f"H: [[1, true], [no, 4]]\n{TAIL}", 1, 9, "H[1,2]", "true is not a number", ""),
    "010": (f"tokens: [007, b]\nH: [[010, 1], [2, 08]]\n{TAIL}", 2, 6, "H[1,1]", "010 has a leading zero", ""),
    "duplicate key": (f"{CONTROL}d_k: 4\n", 7, 1, "", "duplicate key d_k, lines 6 and 7", "keep one"),
    "tab indentation": ("tokens: [a, b]\nH:\n\t- [1, 2]\n", 3, 1, "", "tab used for indentation", "use spaces"),
    "tab and spaces": ("H:\n  - [1, 2]\n \t- [1, 2]\n", 3, 2, "", "tab used for indentation", "use spaces"),
    "self reference": (f"H: &h [*h]\n{TAIL}", 1, 8, "H", "refers to itself", "*h"),
    "deep nesting": (f"H: {'[' * 2000}", 1, None, "", "nesting too deep", ""),
    "66 deep": (f"H: {'[' * 66}1{']' * 66}\n{TAIL}", 1, 67, "", "nesting too deep", "64"),
    "UTF-16 LE": (CONTROL.encode("utf-16"), 1, 1, "", "the file is UTF-16", "UTF-8"),
    "UTF-16 BE": (b"\xfe\xff" + CONTROL.encode("utf-16-be"), 1, 1, "", "the file is UTF-16", "UTF-8"),
    "UTF-16 unmarked": (CONTROL.encode("utf-16-le"), 1, 1, "", "the file looks like UTF-16", "UTF-8"),
    "UTF-32": (CONTROL.encode("utf-32"), 1, 1, "", "the file is UTF-32", "UTF-8"),
    "GBK": ("title: ab\ntokens: [x, 我]\n".encode("gbk"), 2, 13, "", "the file is not UTF-8", "GBK"),
    "Latin-1": (b"title: caf\xe9", 1, 11, "", "the file is not UTF-8", "save it as UTF-8"),
    "full-width colon": (f"# c\ntokens：[我, 爱]\nH: [[1, 0], [0, 1]]\n{TAIL}", 2, 7, "",
                         "full-width colon on line 2", ":"),
    "full-width colon last": (f"{CONTROL}mask：causal\n", 7, 5, "", "full-width colon on line 7", ":"),
    "unquoted [CLS]": (f"tokens: [[CLS], I]\nH: {I2}\n{TAIL}", 1, 10, "tokens[1]",
                       "a text is wanted here, not a list", 'quote it: "[CLS]"'),
    "lone ?": (f"tokens: [?, =, I]\nH: {I2}\n{TAIL}", 1, 10, "", 'a lone "?" starts a key here', "put quotes round it"),
    "missing space": (f"H: {I2}\n{WEIGHTS}d_k:2\n", 5, 4, "", "missing space after the colon of d_k", "d_k: 2"),
    "missing space inside": (f"H: {I2}\nd_k:2\n{WEIGHTS}", 2, 4, "", "missing space after the colon of d_k", "d_k: 2"),
    "scalar document": ("# c\nd_k:2\n", 2, 1, "", "expected a mapping at top level", "d_k: 2"),
    "list document": ("- 1\n- 2\n", 1, 1, "", "expected a mapping at top level", ""),
    "empty document": ("# c\n", 1, 1, "", "expected a mapping at top level", "empty"),
    "two documents": (f"{CONTROL}---\n{CONTROL}", 7, 1, "", "found a second document at line 7", "a file of its own"),
    "dedented block": (f"tokens: [a]\nH: [[1, 2]]\nW_Q:\n{TAIL.replace('W_Q', 'W_O')}", 3, 1, "W_Q",
                       "empty", "give its value"),
    "empty value": (f"H: [[1, 2]]\nW_Q:\nW_K: {I2}\nW_V: {I2}\n", 2, 1, "W_Q", "empty", "give its value"),
    "unterminated list": ("tokens: [a, b\nH: [[1, 2], [3, 4]]\n", 1, 9, "",
                          "this [ is not closed before line 2", "quotes"),
    "unterminated quote": ("tokens: ['a, b]\nd_k: 2\n", 1, 10, "",
                           "this ' is not closed before line 3", "closing quote"),
    "raw ESC": (f'tokens: ["\x1b[31mred", b]\nH: {I2}\n{TAIL}', 1, 11, "", "control character U+001B", "delete"),
    "raw ESC later": ("title: x\r\nlang: en\r\n# \x07\r\n", 3, 3, "", "control character U+0007", "delete"),
    "two mismatches": (f"tokens: [a, b, c]\nH: {I2}\nW_Q: [[1,0],[0,1],[1,1]]\nW_K: {I2}\nW_V: {I2}\n", 1, 9, "tokens",
                       "3 labels, but H has 2 rows (2 × 2, line 2); "
                       "W_Q: 3 rows (3 × 2), but H has 2 columns (2 × 2, line 2)", ""),
    "flat H": ("H: [1, 2]\nW_Q: 3\nW_K: 3\nW_V: 3\n", 1, 4, "H", "must be a list of rows", "[[1, 2], [3, 4]]"),
    "scalar W": (f"H: {I2}\nW_Q: 3\nW_K: 3\nW_V: 3\n", 2, 6, "W_Q", "must be a list of rows", ""),
    "0/1 mask": (f"{CONTROL}mask: [[1, 0, 0], [1, 1, 0], [1, 1, 1]]\n", 7, 7, "mask",
                 "a matrix of 0 and 1 may mean kept, hidden or added", "keep, hide or add"),
    "true/false mask": (f"{CONTROL}mask:\n  - [true, False]\n  - [TRUE, true]\n", 8, 3, "mask",
                        "a matrix of 0 and 1 may mean kept, hidden or added", "keep, hide or add"),
    "additive mask of another size": (f"{CONTROL}mask: [[0, -inf], [0, 0]]\n", 7, 7, "mask",
                                      "2 rows (2 × 2), but H has 3 rows (3 × 2, line 2); "
                                      "mask: 2 columns (2 × 2), but H has 3 rows (3 × 2, line 2)", ""),
    "d_k disagrees": (f"H: {I2}\n{WEIGHTS}d_k: 4\n", 5, 6, "d_k", "4, but W_K has 2 columns (2 × 2, line 3)", ""),
    "d_k 0": (f"H: {I2}\n{WEIGHTS}d_k: 0\n", 5, 6, "d_k", "0 is not a whole number from 1 to 1000000000", ""),
    "d_k negative": (f"H: {I2}\n{WEIGHTS}d_k: -2\n", 5, 6, "d_k", "-2 is not a whole number from 1 to 1000000000", ""),
    "d_k 2.5": (f"H: {I2}\n{WEIGHTS}d_k: 2.5\n", 5, 6, "d_k", "2.5 is not a whole number from 1 to 1000000000", ""),
    "d_k two": (f"H: {I2}\n{WEIGHTS}d_k: two\n", 5, 6, "d_k", "two is not a whole number from 1 to 1000000000", ""),
    **{f"heads {text}": (f"H: {I2}\n{WEIGHTS}heads: {text}\n", 5, 8, "heads",
                         f"{text} is not a whole number from 1 to 1000000", "")
       for text in ("0", "-1", "two", "1000001")},
    "heads 2.0": (f"H: {I2}\n{WEIGHTS}heads: 2.0\n", 5, 8, "heads", "2.0 is not written in digits alone", "write 2"),
    "heads 3": (f"H: {I2}\n{WEIGHTS}heads: 3\n", 5, 8, "heads",
                "3, but W_Q has 2 columns, which 3 does not divide", ""),
    "causal, unequal": ("Q: [[1], [2]]\nK: [[1], [2], [3]]\nmask: causal\n", 3, 7, "mask",
                        "causal needs align, as keys differ in number from queries: 3 and 2", "align: start"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "path", "what", "hint"), REFUSED.values(), ids=REFUSED)
def test_refused_in_one_line(text: str | bytes, line: int, column: int | None, path: str, what: str, hint: str) -> None:
    error = refused(text)
    assert (error.line, error.path, error.what) == (line, path, what)
    assert column is None or error.column == column
    assert hint in error.hint
    assert str(error).startswith(f"p.yaml:{error.line}:{error.column}: ") and str(error).isprintable()
    assert error.exit_code == 2


def test_odd_numbers_that_are_fine() -> None:
    H = read(f"H: [[-0, 1e-400], [1, 1]]\n{TAIL}".replace("1e-400", "−0.0")).given.H
    assert H is not None and not np.signbit(H.values).any()
    assert H.written.tolist() == [["0", "0.0"], ["1", "1"]]
    V = read("H: [[1]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[0.425, 2.675]]\nd_k: 1\nshow: {decimals: 2}\n").given.W_V
    assert V is not None and V.written.tolist() == [["0.425", "2.675"]]
