"""Figures and answers that people write, as they are read for marking: every form, and every error with its place."""

import math
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc import mark
from attncalc.cli.solve import _steps
from attncalc.errors import AttncalcError, ProblemError, UsageError
from attncalc.exercises.blanks import by_names
from attncalc.marking.answers import answers_of, published, read_answers
from attncalc.marking.naming import step_named
from attncalc.marking.students import class_of, student_of
from attncalc.marking.template import template
from attncalc.marking.written import written
from attncalc.mechanisms import solve
from attncalc.problem import load, parse
from attncalc.wording import Wording

ROOT = Path(__file__).resolve().parent.parent
PROBLEMS = sorted((ROOT / "problems").glob("*.yaml"))
ABC = solve(load(str(ROOT / "problems/abc.yaml")))  # H, Q 3 × 2; S, A 3 × 3; row_sum 3 × 1; O 3 × 2
HEADS = solve(load(str(ROOT / "problems/two-heads.yaml")))
LOSS = solve(load(str(ROOT / "problems/loss.yaml")))
FIGURES = [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]]


def read(text, name="answers-mei.yaml", solution=ABC, **how):
    return read_answers(text.encode(), name, solution, **how)


def texts(array):
    return [[figure and figure.text for figure in row] for row in array.tolist()]


def refusal(text, **how):
    with pytest.raises(ProblemError) as caught:
        read(text, **how)
    error = caught.value
    assert "\n" not in str(error)
    return error.line, error.column, error.path, error.what, error.hint


# -- figures --


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("0.5", 0.5, 1), ("0.50", 0.5, 2), ("-2", -2.0, 0), ("−0.250", -0.25, 3), ("  +.5 ", 0.5, 1), ("5.", 5.0, 0),
        ("- 0.5", -0.5, 1), ("(0.401)", 0.401, 3), ("-0", 0.0, 0), ("0.000", 0.0, 3),
        ("１．２５", 1.25, 2), ("－３", -3.0, 0), ("＋０．５", 0.5, 1), ("　0.5　", 0.5, 1),
        ("1e-3", 0.001, 3), ("1.2E3", 1200.0, 0), ("1.23e1", 12.3, 1), ("1.2×10^-3", 0.0012, 4),
        ("1.2 × 10^3", 1200.0, 0),
        ("1.2*10**(-3)", 0.0012, 4), ("1.2·10⁻³", 0.0012, 4), ("-1.5×10²", -150.0, 0),
        ("24.8%", 0.248, 3), ("24.8 ％", 0.248, 3), ("-5%", -0.05, 2), ("100%", 1.0, 2),
        ("0.1", 0.1, 1), ("9007199254740993", 9007199254740992.0, 0), ("2.675", 2.675, 3),
    ],
)  # fmt: skip
def test_a_decimal_has_the_digits_that_are_written(text, value, decimals):
    figure = written(text)
    assert (figure.value, figure.decimals, figure.text) == (value, decimals, text)
    assert math.copysign(1, figure.value) == math.copysign(1, value) and not figure.is_blank and not figure.is_invalid


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/3", 1 / 3), ("-2/3", -2 / 3), ("−２／３", -2 / 3), ("3*4", 12), ("3 × 4 ÷ 2", 6), ("3·4", 12),
        ("1/2/2", 0.25),
        ("√2", 2**0.5), ("3/√2", 3 / 2**0.5), ("2√2", 2 * 2**0.5), ("√(2)", 2**0.5), ("sqrt(2)", 2**0.5),
        ("√2/2", 0.5**0.5),
        ("-√2", -(2**0.5)), ("√√16", 2), ("2√(2)√(2)", 4), ("(1+√5)/2", (1 + 5**0.5) / 2),
        ("e^0.707", math.exp(0.707)), ("e^-1", math.exp(-1)), ("e^(1/2)", math.exp(0.5)), ("exp(0.5)", math.exp(0.5)),
        ("e^0", 1), ("e⁻¹", math.exp(-1)), ("e^√2", math.exp(2**0.5)), ("2e^0.5", 2 * math.exp(0.5)),
        ("e^1/(e^1+e^0)", math.e / (math.e + 1)), ("2π", 2 * math.pi), ("pi/4", math.pi / 4), ("1-e", 1 - math.e),
        ("-2^2", -4), ("2^3^2", 512), ("2*-3", -6), ("1 + 2*3", 7), ("1e-3*2", 0.002), ("0.4+0.2", 0.4 + 0.2),
        ("-inf", -math.inf), ("−∞", -math.inf), ("-.inf", -math.inf), ("-Infinity", -math.inf), ("－∞", -math.inf),
    ],
)  # fmt: skip
def test_an_exact_form_has_no_decimals(text, value):
    figure = written(text)
    assert figure.value == pytest.approx(value, rel=1e-15) and figure.decimals is None and not figure.is_invalid


@pytest.mark.parametrize("text", ["", "_", "  ", " _ ", "　", "＿"])
def test_a_blank_is_neither_a_figure_nor_wrong(text):
    figure = written(text)
    assert figure.is_blank and not figure.is_invalid and figure.value is None


@pytest.mark.parametrize(
    ("why", "those"),
    [
        ("not_finite", ("nan", "inf", "∞", "-nan")),
        ("underscore", ("1_0",)),
        ("not_a_number", ("cat", "true", "1 2", "1.2.3", "--1", "(1", "1)", "2^", "½", "{0}", "-" * 199 + "2", "a\nb")),
        ("divides_by_0", ("1/0", "1/(2-2)")),
        ("root_below_0", ("√-1", "√(-1)", "sqrt(-1)")),
        ("no_power", ("(-1)^0.5", "0^-1")),
        ("too_large", ("1e999", "-1e999", "e^1000", "10^400", "1e200*1e200")),
        ("too_small", ("1e-999",)),
        ("leading_zero", ("007",)),
        ("other_base", ("0x1f",)),
        ("decimal_comma", ("0,5", "e^0,5", "０，５")),
        ("grouped", ("4,294,967,296", "4 294 967 296", "131 072", "4'294'967'296", "1.000.000")),
        ("two_ways", ("3/2√2", "e^2√2", "1/2π", "√2π")),
        ("dash", ("–0.5",)),
        ("too_long", ("1" * 1101,)),
        ("too_deep", ("(" * 199, "√" * 199 + "2", "2^" * 99 + "2")),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_no_figure_says_why(why, those, lang):
    for text in those:
        figure = written(text)
        assert figure.is_invalid and not figure.is_blank and figure.value is None and figure.decimals is None
        assert figure.why == why, text
    assert "{written}" in Wording(lang).text(f"report.why.{why}")


def test_a_decimal_comma_is_read_where_it_is_asked_for():
    assert written("0,50", True)[1:3] == (0.5, 2) and written("0.5", True)[1:3] == (0.5, 1)
    assert written("e^0,5", True).value == math.exp(0.5) and written("1,5/3", True).decimals is None
    assert written("1,2,3", True).is_invalid


@given(st.text() | st.text("0123456789.,-+*/^()√eπ%×_ ", max_size=60), st.booleans())
def test_any_text_is_a_figure_a_blank_or_invalid(text, decimal_comma):
    figure = written(text, decimal_comma)
    assert figure.is_blank or figure.is_invalid or (figure.value < math.inf and isinstance(figure.value, float))
    assert figure.decimals is None or (figure.decimals >= 0 and math.isfinite(figure.value))


@given(st.floats(-1e6, 1e6), st.integers(0, 12))
def test_a_printed_figure_is_read_as_the_float_next_to_it(value, decimals):
    text = f"{value:.{decimals}f}"
    assert written(text)[1:3] == (float(text) + 0.0, decimals)


# -- answers --


def test_a_mapping_of_steps_to_rows():
    answers = read("A: [[1, 2, 3], [4, 5, 6], [7, 8, 9]]\nresult:\n  - [1/3, _]\n  - ['0.5', \"\"]\n  - [√2, 1_0]\n")
    assert answers.name == "mei" and list(answers.figures) == ["A", "O"]
    assert texts(answers.figures["A"]) == FIGURES
    output = answers.figures["O"]
    assert output[0, 1].is_blank and output[1, 1].is_blank and output[2, 1].is_invalid
    assert (output[2, 1].line, output[2, 1].column) == (5, 10) and answers.file == "answers-mei.yaml"
    assert output[0, 0].decimals is None and output[1, 0].decimals == 1


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("row_sum: [1, 2, 3]", [["1"], ["2"], ["3"]]),
        ("row_sum: [[1], [2], [3]]", [["1"], ["2"], ["3"]]),
        ("row_sum: [[1, 2, 3]]", [["1"], ["2"], ["3"]]),
        ("row_sum: _", [["_"], ["_"], ["_"]]),
        ("row_sum: {row: 2, values: 5}", [[None], ["5"], [None]]),
        ("row_sum: {rows: [3, 1], values: [5, 6]}", [["6"], [None], ["5"]]),
        ("A: {row: 2, values: [4, 5, 6]}", [[None] * 3, ["4", "5", "6"], [None] * 3]),
        ("A: {rows: [1, 3], values: [[1, 2, 3], [7, 8, 9]]}", [["1", "2", "3"], [None] * 3, ["7", "8", "9"]]),
        ("A: {columns: [1, 2], values: [[1, 2], [4, 5], [7, 8]]}",
         [["1", "2", None], ["4", "5", None], ["7", "8", None]]),
        ("A: {column: 3, values: [3, 6, 9]}", [[None, None, "3"], [None, None, "6"], [None, None, "9"]]),
        ("A: {row: 2, columns: [1, 3], values: [4, 6]}", [[None] * 3, ["4", None, "6"], [None] * 3]),
        ("A:\n  - {row: 1, values: [1, 2, 3]}\n  - {rows: [2, 3], column: 2, values: [5, 8]}",
         [["1", "2", "3"], [None, "5", None], [None, "8", None]]),
        ("A: |\n  1 2 3\n  4 5 6\n\n  7 8 9\n", FIGURES),
    ],
)  # fmt: skip
def test_the_forms_of_a_step(text, figures):
    (array,) = read(text).figures.values()
    assert texts(array) == figures


def test_a_step_of_one_figure_may_stand_alone():
    for text in ("result: 0.5", "result: [0.5]", "result: [[0.5]]", "perplexity: 0.5"):
        ((figures),) = read(text, solution=LOSS).figures.values()
        assert texts(figures) == [["0.5"]]


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n4 5 6\n7 8 9", "1,2,3\r\n4,5,6\r\n7,8,9\r\n", "1\t2\t3\n4\t5\t6\n7\t8\t9\n", "1;2;3\n4;5;6\n7;8;9",
        "\ufeff1, 2, 3\n\n4, 5, 6 # mine\n# more\n7, 8, 9\n", "| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n| 7 | 8 | 9 |\n",
        "| A | B | C |\n|---|:-:|--:|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n| 7 | 8 | 9 |\n",
        "|1 2 3|\n|4 5 6|\n|7 8 9|",
        "[[1, 2, 3],\n [4, 5, 6],\n [7, 8, 9]]", "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]",
        "[[1 2\n  3]\n [4 5 6]\n [7 8 9]]",
        "[1 2 3]\n[4 5 6]\n[7 8 9]", '"1","2","3"\n"4","5","6"\n"7","8","9"', "1，2，3\n4，5，6\n7，8，9",
        "      ⎡ 1  2  3 ⎤ A\n  A = ⎢ 4  5  6 ⎥ B\n      ⎣ 7  8  9 ⎦ C\n", "1│2│3\n4│5│6\n7│8│9",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["answers-mei.txt", "-", "mei.csv"])
def test_pasted_rows_of_one_step(text, name):
    answers = read(text, name, step="A")
    assert texts(answers.figures["A"]) == FIGURES
    assert answers.name == {"answers-mei.txt": "mei", "mei.csv": "mei", "-": "<stdin>"}[name]


def test_pasted_figures_know_their_place_and_blanks():
    A = read("1,,3\n4, x, 6\n ,8,\n", "-", step="A").figures["A"]
    assert A[0, 1].is_blank and A[2, 0].is_blank and A[2, 2].is_blank
    assert A[1, 1].is_invalid and (A[1, 1].line, A[1, 1].column) == (2, 4)
    A = read("O: [[1, 2], [3, 4], [5, 6]]\nA: |\n\n  1 2 3\n  4 x 6\n  7 8 9\n").figures["A"]
    assert A[1, 1].is_invalid and (A[1, 1].line, A[1, 1].column) == (5, 0)
    A = read("[[1, 2, 3],\n [4, x, 6], [7, 8, 9]]", "-", step="A").figures["A"]
    assert (A[1, 1].line, A[1, 1].column) == (2, 6) and (A[2, 0].line, A[2, 0].column) == (2, 14)


@pytest.mark.parametrize("piece", [*",;|│[]⎡⎤\"#-e√(", "1 ", ", ", "| ", "[1", "1]", "⎡1", "--", "\n", "\t,"])
def test_long_pasted_lines_take_no_longer_than_their_length(piece):
    started = time.process_time()
    with pytest.raises(ProblemError):
        read(piece * 200_000, "-", step="A")
    assert time.process_time() - started < 10  # with the square of the length, minutes


def test_decimal_commas():
    for first in ("0,1 0,2 1", "0,1;0,2;1", "0,1, 0,2, 1", '"0,1"\t"0,2"\t1'):
        A = read(f"{first}\n1 0 0\n1 0 0", "-", step="A", decimal_comma=True).figures["A"]
        assert [figure.value for figure in A[0]] == [0.1, 0.2, 1.0]
    row_sum = read("row_sum: ['0,5', '1', \"2,25\"]", decimal_comma=True).figures["row_sum"]
    assert [figure.value for figure in row_sum[:, 0]] == [0.5, 1.0, 2.25]
    some_whole = "A: [[0,5, 0,5, 0], [1, 0, 0], [1, 0, 0]]"
    for text, how in (
        ("row_sum: [0,5, 1,0, 2,25]", {}), ("0,5,1,0,2,25", {"step": "row_sum", "name": "-"}), (some_whole, {}),
    ):  # fmt: skip
        assert "decimal comma" in refusal(text, **how)[4]
    with pytest.raises(ProblemError, match="give --decimal-comma"):  # in a class as well, where a shape may be wrong
        read_answers(some_whole.encode(), "mei.yaml", ABC, variant="0 mei")


@pytest.mark.parametrize(
    "row",
    ["[0,707; 0; 1,5]", "[0,707, 0, 1,5]", "[ 0,707 ;0;1,5 ]", "['0,707', 0, \"1,5\"]", "[0.707; 0, 1,5]",
     "[0,707, # a half, or so\n   0; 1,5]", "&a [0,707; 0; 1,5]", "[0,707,\r\n   0,\r\n   1,5]", "[0,707 0 1,5]"],
)  # fmt: skip
def test_decimal_commas_in_lists_of_yaml(row):
    for text in (f"row_sum: {row}", f"S: [{{row: 2, values: {row}}}]", f"row_sum:\n  {row}\n"):
        figures = next(iter(read(text, decimal_comma=True).figures.values()))
        assert [figure.value for figure in figures.ravel() if figure is not None] == [0.707, 0, 1.5], text
    S = read(f"S: [{row}, {row.replace('&a ', '')}, [1; _; 2]]", decimal_comma=True).figures["S"]
    assert [figure.value for figure in S[1]] == [0.707, 0, 1.5] and S[2, 1].is_blank


def test_decimal_commas_keep_their_place():
    text = "S:\n  - [1; 0; 2]\n  - [0,5; x; 2,5]\n  - [0,5,\n     y, 2]\n"
    S = read(text, decimal_comma=True).figures["S"]
    places = {(i, j): (S[i, j].line, S[i, j].column) for i, j in ((1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2))}
    assert places == {(1, 0): (3, 6), (1, 1): (3, 11), (1, 2): (3, 14), (2, 0): (4, 6), (2, 1): (5, 6), (2, 2): (5, 9)}
    wrong = refusal("S:\n  - [1; 0; 2]\n  - [0,5; 2,5]\n  - [1; 2; 3]", decimal_comma=True)
    assert wrong[:2] == (3, 5) and "2 figures are written in row 2" in wrong[3]


def test_a_list_is_read_of_a_step_of_one_column():
    for text in ("row_sum: [5.056, 8.168, 14.479]", "row_sum: [[5.056], [8.168], [14.479]]"):
        assert texts(read(text).figures["row_sum"]) == [["5.056"], ["8.168"], ["14.479"]]


def test_sqrt_is_read_as_the_sign_is():
    for sign in ("√2", "1/√2", "2√3", "√(1+1)", "-√2", "√√2"):
        assert written(sign.replace("√", "sqrt")).value == written(sign).value, sign
        assert not written(sign).is_invalid
    assert written("3/2sqrt2").why == written("3/2√2").why == "two_ways" and written("exp2").is_invalid


def test_one_step_of_a_yaml_file():
    rows = "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]"
    for text in (f"A: {rows}\nO: _", rows, "1 2 3\n4 5 6\n7 8 9\n"):
        answers = read(text, step="A")
        assert list(answers.figures) == ["A"] and texts(answers.figures["A"]) == FIGURES
    assert refusal("A: _", step="O")[2:4] == ("O", "nothing is written of this step")


@pytest.mark.parametrize(
    ("text", "line", "path", "what", "hint"),
    [
        ("\nX: [[1]]", 2, "", "this problem has no step X", ""),
        ("head1.A: [[1]]", 1, "", "this problem has no step head1.A", ""),
        ("rowsum: [1, 2, 3]", 1, "", "this problem has no step rowsum", "did you mean row_sum?"),
        ("a: [[1]]", 1, "", "this problem has no step a", "did you mean A?"),
        ("A: _\nO: _\nresult: _", 3, "", "O and result are one step", "keep one of them"),
        ("A: _\nA: _", 2, "", "duplicate key A, lines 1 and 2", "keep one of them"),
        ("", 1, "", "nothing is written here", ""), ("# nothing\n", 1, "", "nothing is written here", ""),
        ("[[1, 0]]", 1, "", "expected a mapping of step ids to figures", "say which step the figures are of: --step A"),
        ("\n1 2 3\n", 2, "", "expected a mapping of step ids to figures", "--step A"),
        ("A:\n", 1, "A", "empty", "write its rows, or leave it out"), ("A: []", 1, "A", "no figures", ""),
        ("A:\n - [1, 2, 3]\n - [1, 2, 3]", 2, "A", "A is 3 × 3, but 2 rows are written", "write _ for"),
        ("A: [[1, 2, 3]]", 1, "A", "A is 3 × 3, but 1 row is written", ""),
        ("A:\n - [1, 2, 3]\n - [1, 2]\n - [1, 2, 3]", 3, "A",
         "A is 3 × 3, but 2 figures are written in row 2", "write _ for"),
        ("A:\n - [1, 2, 3]\n - [1, 2]", 2, "A", "A is 3 × 3, but 2 rows are written", ""),
        ("A: [1, 2, 3]", 1, "A", "A is 3 × 3, but one row is written", ""),
        ("A: 5", 1, "A", "A is 3 × 3, but one figure is written", ""),
        ("row_sum: [1, 2]", 1, "row_sum", "row_sum is 3 × 1, but 2 figures are written", ""),
        ("A: |\n  1 2 3\n  4 5\n  7 8 9", 3, "A", "A is 3 × 3, but 2 figures are written in row 2", ""),
        ("A: [[1, 2, 3], 4, [7, 8, 9]]", 1, "A", "must be a list of rows", ""),
        ("A: [[1, [2], 3], [4, 5, 6], [7, 8, 9]]", 1, "A[1,2]", "a figure is wanted here, not a list", "brackets"),
        ("A: [[1, {a: 2}, 3], [4, 5, 6], [7, 8, 9]]", 1, "A[1,2]", "a figure is wanted here, not a mapping", ""),
        ("A:\n  row: 4\n  values: [1, 2, 3]", 2, "A.row", "4 is not a whole number from 1 to 3", ""),
        ("A: {row: 0, values: [1, 2, 3]}", 1, "A.row", "0 is not a whole number from 1 to 3", ""),
        ("A: {columns: [1, 4], values: [1, 2, 3]}", 1, "A.columns", "4 is not a whole number from 1 to 3", ""),
        ("A: {rows: [], values: [1, 2, 3]}", 1, "A.rows", "an empty list", ""),
        ("A: {row: 1, rows: [2], values: [1, 2, 3]}", 1, "A", "both row and rows", "give one of them"),
        ("A: {row: 1}", 1, "A", "no values", ""), ("A: {values: [1, 2, 3]}", 1, "A", "which part is not said", ""),
        ("A: {row: 1, vals: [1, 2, 3]}", 1, "A", "unknown key vals", "did you mean values?"),
        ("A: {row: 2, values: [1, 2]}", 1, "A", "row 2 of A is 1 × 3, but 2 figures are written", ""),
        ("A: {rows: [1, 3], values: [[1, 2, 3]]}", 1, "A", "rows 1 and 3 of A are 2 × 3, but 1 row is written", ""),
        ("A:\n- {row: 2, values: [1, 2, 3]}\n- {column: 1, values: [1, 2, 3]}", 3, "A[2,1]",
         "this figure is written twice", "keep one of them"),
        ("A: {rows: [1, 1], values: [[1, 2, 3], [1, 2, 3]]}", 1, "A[1,1]", "this figure is written twice", ""),
        ("A: [[1, 2", 1, "", "", ""),
    ],
)  # fmt: skip
def test_what_can_not_be_used_says_what_and_where(text, line, path, what, hint):
    found = refusal(text)
    assert (found[0], found[2]) == (line, path)
    assert what in found[3] and hint in found[4]


BLOCK = "\n - {0}\n - [1, 0, 0]\n - [1, 0, 0]"  # three rows, of which one is typed otherwise
EACH = "\n - {0}\n - {0}\n - {0}"
NO_ROWS = "must be a list of rows"


@pytest.mark.parametrize(
    ("rows", "typed", "what", "hint"),
    [
        *((rows, f"[1{comma}0{comma}0]", "A is 3 × 3, but 1 figure is written in row 1",
           f"{comma} is a full-width {name}, type ,")
          for rows in (BLOCK, EACH) for comma, name in (("，", "comma"), ("、", "comma"), ("；", "semicolon"))),
        (BLOCK, "[１，0，0]", "A is 3 × 3, but 1 figure is written in row 1", "， is a full-width comma, type ,"),
        *((rows, f"{opening}1, 0, 0{closing}", NO_ROWS, f"{opening} is a full-width bracket, type [")
          for rows in (BLOCK, EACH, " {0}") for opening, closing in ("【】", "［］")),
        *((rows, typed, NO_ROWS, "write a row in [ ]: [1, 0, 0]")
          for rows in (BLOCK, EACH, " {0}") for typed in ("(1, 0, 0)", "1, 0, 0]", "1, 0, 0", "1 0 0")),
        (EACH, "1,0,0", NO_ROWS, "write a row in [ ]: [1,0,0]"),
    ],
)  # fmt: skip
def test_a_row_that_is_typed_as_a_text_is_told(rows, typed, what, hint):
    line = 2 if rows.startswith("\n") else 1
    assert refusal(f"A:{rows.format(typed)}") == (line, 4, "A", what, hint)


@pytest.mark.parametrize(
    ("text", "line", "column", "what", "hint"),
    [
        ("A:\n -[1, 0]\n -[1, 0]", 2, 2, NO_ROWS, "put a space after the dash: - [1, 0]"),
        ("A:\n-[1, 0]\n-[1, 0]", 3, 1, "missing space after the dash", "write - [1, 0]"),
        ("A:[[1, 0],\n [1, 0]]", 1, 1, "expected a mapping of step ids to figures",
         "put a space after the colon: A: [[1, 0], [1, 0]]"),
        ("A: _\nO:[[1, 0]]", 2, 2, "missing space after the colon of O", "write O: [[1, 0]]"),
        ("O:\n - 1,0\n - 1,0\n - 1,0", 2, 2, "O is 3 × 2, but one row is written",
         "write every row in [ ]: [[1, 2], [3, 4]]"),
        ("“A”: _", 1, 1, "this problem has no step “A”", '“ is a curly quote, type "'),
        ("A: [[1 0 0], [0.5 0.5 0]]", 1, 4, "A is 3 × 3, but 2 rows are written", "put a comma between two figures"),
        ("A: [[1 0 0], [.5 -.5 0], [1 0 0]]", 1, 5, "A is 3 × 3, but 1 figure is written in row 1", "put a comma"),
        ("A: [[1, 0 0], [1, 0, 0], [1, 0, 0]]", 1, 5, "A is 3 × 3, but 2 figures are written in row 1", "put a comma"),
        ("A: [[1; 0; 0], [1, 0, 0], [1, 0, 0]]", 1, 5, "A is 3 × 3, but 1 figure is written in row 1", "put a comma"),
        ("row_sum: [1 2 3]", 1, 10, "row_sum is 3 × 1, but 1 figure is written", "put a comma"),
        ("A: {row: 1, values: [1 0 0]}", 1, 21, "row 1 of A is 1 × 3, but 1 figure is written", "put a comma"),
    ],
)  # fmt: skip
def test_a_slip_of_typing_is_told(text, line, column, what, hint):
    found = refusal(text)
    assert found[:2] == (line, column) and found[3] == what and hint in found[4]


@pytest.mark.parametrize(
    "rows",
    ["[0,5,0,5,1,0]",
     "[[1,0,0],[0,5,0,5,0],[0,284,0,140,0,576]]", "[[1,0,0],[0,50,0,0,50],[1,0,0]]", "[[1,0,0],[0,5, 0,5, 0],[1,0,0]]",
     "\n - [1, 0, 0]\n - [0,5, 0,5, 0]\n - [0,284, 0,140, 0,576]", "[[1,0,0],[1;0,5;0],[1,0,0]]",
     "|\n  1 0 0\n  0,5 0,5 0\n  1 0 0", "|\n  1,0,0\n  0,5,0,5,0\n  1,0,0"],
)  # fmt: skip
def test_decimal_commas_are_told_from_commas_that_are_missing(rows):
    assert refusal(f"A: {rows}")[4] == "for decimal commas, give --decimal-comma"


def test_a_row_of_another_length_is_told_as_it_is():
    for rows in ("[[1, 0, 0], [1, 0, 0, 0], [1, 0, 0]]", "[[1, 0, 0], [１, ０], [1, 0, 0]]",
                 "[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]"):  # fmt: skip
        assert refusal(f"A: {rows}")[4] == "write _ for a figure that is left blank"


def test_rows_are_pasted_with_a_dash_before_them_and_in_full_width_brackets():
    for row in ("-[{0}, 2, 3]", "【{0}，2，3】", "［{0} 2 3］", " - ［{0}、2、3］"):
        text = "\n".join(row.format(k) for k in (1, 4, 7))
        assert [[figure.value for figure in each] for each in read(text, "-", step="A").figures["A"]] == [
            [k, 2, 3] for k in (1, 4, 7)
        ]


@pytest.mark.parametrize(
    ("solution", "symbol", "hint"),
    [
        (ABC, "S̃", "S̃ is the step scaled"), (ABC, "E", "E is the step exp"), (ABC, "Kᵀ", "Kᵀ is the step K_T"),
        (ABC, "P", "the steps here are Q, K, V, S, scaled, exp, row_sum, A and O"),
        (LOSS, "P", "P is the step probabilities"),
        (HEADS, "S̃", "S̃ is the symbol of head1.scaled and head2.scaled"),
        (HEADS, "E⁽²⁾", "E⁽²⁾ is the step head2.exp"), (HEADS, "P", "the steps here are head1.Q, "),
    ],
)  # fmt: skip
def test_a_printed_symbol_names_its_step(solution, symbol, hint):
    found = refusal(f"{symbol}: _", solution=solution)
    assert found[3] == f"this problem has no step {symbol}" and found[4].startswith(hint) and len(found[4]) < 200
    if " is the " in hint:
        with pytest.raises(UsageError) as caught:
            _steps(solution, symbol)
        assert caught.value.hint == hint
    with pytest.raises(UsageError, match="E is the step exp"):
        by_names(ABC, ["E"])


@pytest.mark.parametrize(
    ("rows", "size"),
    [("[[1, 2], [3, 4]]", "2 × 2"), ("[1, 2, 3]", "1 × 3"), ("5", "1 × 1"), ("[[1, 2, 3], [1, 2]]", "2 × 3"),
     ("|\n  1 2\n  3 4", "2 × 2"), ("“太难，不知道”", "1 × 1"), ("[[我，不, 知道], [1, 2]]", "2 × 2")],
)  # fmt: skip
def test_another_shape_is_a_wrong_answer_where_the_sheet_of_a_variant_may_ask_for_it(rows, size):
    text = f"O: [[1, 2], [3, 4], [5, 6]]\nA: {rows}"
    figures = read_answers(text.encode(), "mei.yaml", ABC, variant="0 mei").figures
    assert {(each.text, each.why) for each in figures["A"].flat} == {(size, "other_shape")}
    assert figures["A"][0, 0].line >= 2 and figures["O"][2, 1].value == 6
    with pytest.raises(ProblemError, match="A is 3 × 3, but "):
        read_answers(text.encode(), "mei.yaml", ABC)
    for commas in ("[[0,5; 0,25], [1; 0]]", "[[0,5, 0,25], [1, 0]]", "|\n  0,5; 0,25\n  1; 0"):
        of_commas = read_answers(f"A: {commas}".encode(), "mei.yaml", ABC, variant="0 mei", decimal_comma=True)
        assert {each.text for each in of_commas.figures["A"].flat} == {"2 × 2"}
    for part in ("{row: 1, values: [1, 2]}", "[[1, 2, 3, 4, 5, 6], [1, 2, 3], [1, 2, 3]]"):  # no shape of the whole
        with pytest.raises(ProblemError, match=r"A is [13] × 3, but "):
            read_answers(f"A: {part}".encode(), "mei.yaml", ABC, variant="0 mei")


def test_what_can_not_be_used_of_one_step():
    assert refusal("1 2 3\n4 5 6", name="-", step="A")[::3] == (1, "A is 3 × 3, but 2 rows are written")
    short = "A is 3 × 3, but 2 figures are written in row 2"
    assert refusal("1 2 3\n4 5\n7 8 9", name="-", step="A")[::3] == (2, short)
    assert refusal("1 2 3", name="-", step="B")[3] == "this problem has no step B"
    assert refusal(" \n", name="-", step="A")[3] == "nothing is written here"
    assert refusal("1 2 3", name="mei.csv")[4] == "say which step the figures are of: --step A"


@pytest.mark.parametrize(("name", "end", "worked"), [
    ("size-gqa", "bytes", "cache.bytes"), ("feed-forward-linear", "W_2", "W_1.W_2"),
])  # fmt: skip
def test_of_two_steps_of_one_name_what_is_worked_is_asked_for(name, end, worked):
    """As blanks, in a template, of pasted rows and for marks; a file may hold the given one."""
    solution = solve(load(str(ROOT / f"problems/{name}.yaml")))
    assert [step.id for step in solution.called(end)] == [end, worked]
    assert step_named(solution, end).id == worked and list(by_names(solution, [end])) == [worked]
    assert f"\n{worked}:" in template(solution, only=[end])
    n, m = solution.steps[worked].shape
    assert list(read("\n".join(["_ " * m] * n), "-", solution=solution, step=end).figures) == [worked]
    assert list(read(f"{end}: _", solution=solution).figures) == [end]


def test_a_step_is_named_by_an_ending_that_it_alone_has():
    """In answers, of pasted rows, in what was published, in a template."""
    layer = solve(load(str(ROOT / "problems/encoder-stack.yaml")))
    ends = [id for id in layer.steps if "." in id]
    for id in ends:
        end = next(".".join(id.split(".")[-k:]) for k in range(1, 9) if layer.called(".".join(id.split(".")[-k:])))
        same = [step.id for step in layer.called(end)]
        if end in layer.steps or len(same) == 1:
            assert list(read(f"{end}: _", solution=layer).figures) == same
            assert len(read("\n".join(["_ " * layer.steps[same[0]].shape[1]] * layer.steps[same[0]].shape[0]), "-",
                            solution=layer, step=end).figures) == 1
            assert read(template(layer, only=[end]), solution=layer).figures.keys() == set(same)
        else:
            with pytest.raises(UsageError, match=re.escape(f"{end} is the end of {same[0]}")):
                template(layer, only=[end])
            assert same[1] in refusal(f"{end}: _", solution=layer)[3]
    of_heads = parse((ROOT / "problems/two-heads.yaml").read_bytes() + b"\npublished: {concat: _}\n", "x.yaml")
    assert list(published(of_heads, HEADS).figures) == ["concat"]
    assert refusal("S: _", solution=HEADS)[3:] == ("S is the end of head1.S and head2.S", "write more of the id")


def test_cells_in_messages_count_as_the_page_does():
    text = "A: [[1, [2], 3], [4, 5, 6], [7, 8, 9]]"
    assert [refusal(text, count_from=first)[2] for first in (0, 1)] == ["A[0,1]", "A[1,2]"]


def test_bytes_that_are_no_text():
    for data in (b"A: \xff", "A: 1".encode("utf-16"), b"A: \x00"):
        with pytest.raises(ProblemError):
            read_answers(data, "x.yaml", ABC)


PIECES = ["A: ", "O: ", "row: ", "rows: ", "values: ", "columns: ", *"[]{}12_", ", ", "1/3", "|", "\n", "  ", "- "]


@given(
    st.binary()
    | st.text("AOSrow: _[]{},0123456789.|-\n#e√/\"'%&*", max_size=80).map(str.encode)
    | st.lists(st.sampled_from(PIECES)).map("".join).map(str.encode),
    st.sampled_from(["x.yaml", "x.csv", "x.txt", "-"]),
    st.sampled_from([None, "A", "result", "row_sum"]),
    st.booleans(),
)  # fmt: skip
def test_any_bytes_are_answers_or_an_error(data, name, step, decimal_comma):
    try:
        answers = read_answers(data, name, ABC, step=step, decimal_comma=decimal_comma)
    except AttncalcError as error:
        assert str(error).isprintable()
        return
    for id, figures in answers.figures.items():
        assert figures.shape == ABC.steps[id].shape
        assert all(figure is None or figure.line >= 1 for figure in figures.flat)


# -- from Python --


def test_answers_from_python():
    answers = answers_of(
        {"A": np.arange(1, 10).reshape(3, 3), "row_sum": [0.1, "1/3", None], "O": np.full((3, 2), 0.1, np.float32),
         "S": {"row": 2, "values": [1, -math.inf, math.nan]}, "V": "1 2\n3 4\n5 6"}, ABC
    )  # fmt: skip
    assert texts(answers.figures["A"]) == FIGURES and answers.figures["A"][0, 0].decimals == 0
    row_sum = answers.figures["row_sum"][:, 0]
    assert row_sum[0][:3] == ("0.1", 0.1, 1) and row_sum[1].decimals is None and row_sum[2].is_blank
    assert answers.figures["O"][0, 0].text == "0.1" and texts(answers.figures["V"])[2] == ["5", "6"]
    S = answers.figures["S"]
    assert S[0, 0] is None and S[1, 1].value == -math.inf and S[1, 2].is_invalid and S[1, 0].line == 0
    assert answers.figures["V"][0, 0].line == 0


def test_a_full_width_colon_after_a_step_is_named():
    with pytest.raises(ProblemError, match="： is a full-width colon, type :"):
        read_answers("A：[[1, 0, 0]]\n".encode(), "a.yaml", ABC)


def test_what_a_masked_array_hides_is_blank():
    hidden = np.ma.array(np.full((3, 2), 0.1, np.float32), mask=[[1, 0], [0, 0], [0, 1]])
    figures = answers_of({"O": hidden, "row_sum": [[np.ma.masked], [1], [2]]}, ABC).figures
    assert texts(figures["O"]) == [["_", "0.1"], ["0.1", "0.1"], ["0.1", "_"]] and figures["row_sum"][0, 0].is_blank


def test_a_whole_number_longer_than_python_writes_is_no_figure():
    assert answers_of({"O": [[10**5000, 1]] * 3}, ABC).figures["O"][0, 0].why == "too_long"


def test_errors_from_python_have_no_place():
    for given_, message in (
        ({"A": np.eye(2)}, "<answers>: A: A is 3 × 3, but 2 rows are written; write _ for a figure that is left blank"),
        ({"A": {"row": 4, "values": [1, 2, 3]}}, "<answers>: A.row: 4 is not a whole number from 1 to 3"),
        ([1], "<answers>: expected a mapping of step ids to figures; say which step the figures are of: --step A"),
    ):
        with pytest.raises(ProblemError) as caught:
            answers_of(given_, ABC)
        assert str(caught.value) == message
    endless = []
    endless.append(endless)
    with pytest.raises(UsageError):
        answers_of({"A": endless}, ABC)


# -- published figures --


def with_published(text):
    own = re.sub(r"(?ms)^published:.*?(?=^\S|\Z)", "", (ROOT / "problems/abc.yaml").read_text(encoding="utf-8"))
    problem = parse(f"{own}\npublished: {text}\n".encode(), "abc.yaml")
    return published(problem, ABC)


def test_published_figures_that_were_not_printed_are_not_asked():
    answers = with_published("{A: [[0.401, _, 0.401], [_, _, _], [1, 0, 0]], result: {row: 2, values: [_, 0.5]}}")
    assert texts(answers.figures["A"]) == [["0.401", None, "0.401"], [None] * 3, ["1", "0", "0"]]
    assert texts(answers.figures["O"]) == [[None, None], [None, "0.5"], [None, None]]
    assert answers.name == "published" and answers.file == "abc.yaml" and answers.figures["A"][0, 0].line > 1


def test_nothing_published():
    problem = parse((ROOT / "problems/cross.yaml").read_bytes(), "cross.yaml")
    for nothing in (lambda: published(problem, solve(problem)), lambda: mark(problem), lambda: mark(problem, {})):
        with pytest.raises(AttncalcError):
            nothing()


def test_errors_of_published_figures():
    for text, path in (("{X: 1}", "published"), ("{A: 1}", "published.A"), ("[1]", "published")):
        with pytest.raises(ProblemError) as caught:
            with_published(text)
        assert caught.value.path == path and caught.value.line > 1


# -- a class --


def test_students_are_named_by_their_files():
    assert [student_of(name) for name in ("answers-mei.yaml", "x/Bo.csv", "answers.yaml", "answers-.txt", "-")] == [
        "mei", "Bo", "answers", "answers-", "<stdin>",
    ]  # fmt: skip


def test_a_class_of_files_and_folders(tmp_path):
    others = ("problem-bo.yaml", "index.csv", "x.md", ".a.yaml")
    for name in ("answers-bo.yaml", "answers-mei.yml", "cy.csv", "di.txt", *others):
        (tmp_path / name).write_text("A: _")
    (tmp_path / "folder.yaml").mkdir()
    other = tmp_path / "folder.yaml" / "ed.yaml"
    other.write_text("A: _")
    found = class_of([tmp_path, other, "-"])
    assert [each.student for each in found] == ["bo", "mei", "cy", "di", "ed", "<stdin>"]
    assert found[0].file == tmp_path / "answers-bo.yaml"


def test_a_class_that_can_not_be_marked(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "mei.yaml").write_text("A: _")
    (tmp_path / "answers-mei.csv").write_text("1")
    for paths, message in (
        ([tmp_path], "a second file for mei, after"),
        ([tmp_path / "mei.yaml", tmp_path / "mei.yaml"], "a second file for mei, after"),
        ([tmp_path / "empty"], "no answers in"),
        ([tmp_path / "none.yaml"], "can't be read"),
        (["a\0b"], "can't be read"),
    ):
        with pytest.raises(AttncalcError, match=message) as caught:
            _ = [each.file for each in class_of(paths)]
        assert str(caught.value).isprintable()


# -- the template --


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("given_too", [False, True])
def test_a_template_reads_back_as_blanks(path, given_too):
    solution = solve(load(str(path)))
    text = template(solution, given=given_too)
    answers = read(text, solution=solution)
    assert solution.result.id in answers.figures
    for id, figures in answers.figures.items():
        assert figures.shape == solution.steps[id].shape and all(figure.is_blank for figure in figures.flat)
    for id, step in solution.steps.items():
        if step.kind == "given":
            assert (id in answers.figures) == given_too


def test_a_template_of_some_steps():
    assert template(ABC, only=["row_sum"]) == "# r: 3 × 1; rows A, B, C\nrow_sum:\n  - [_]\n  - [_]\n  - [_]\n"
    assert list(read(template(ABC, only=["result", ABC.steps["H"], "K_T"])).figures) == ["H", "K_T", "O"]
    with pytest.raises(UsageError, match="did you mean row_sum"):
        template(ABC, only=["rowsum"])


def test_the_comments_of_a_template_are_in_its_language():
    heading = template(ABC, only=["scaled"], lang="zh").splitlines()[0]
    assert heading == "# S̃：3 × 3；行（A、B、C）；列（A、B、C）"
    for path in PROBLEMS[::7]:
        solution = solve(load(str(path)))
        text = template(solution, lang="zh")
        assert "rows" not in text.replace("row_sum", "") and "columns" not in text
        blanks = read(text, solution=solution).figures
        assert blanks.keys() == read(template(solution), solution=solution).figures.keys()


def test_labels_stay_on_the_line_of_their_comment():
    tokens = 'tokens: ["a\\nO: 1\\u2028\\u0085#"]'
    problem = parse(f"S: [[1]]\nV: [[1]]\nd_k: 4\n{tokens}\n".encode(), "x.yaml")
    solution = solve(problem)
    text = template(solution)
    assert "a\\nO: 1" in text
    assert all(figure.is_blank for figures in read(text, solution=solution).figures.values() for figure in figures.flat)


def test_a_template_gives_no_answer_away():
    generation = solve(load(str(ROOT / "problems/generation.yaml")))
    for line in template(generation, given=True).splitlines():
        assert not any(told in line for told in ("rows b", "rows c", "<s>, c"))
    experts = template(solve(load(str(ROOT / "problems/experts.yaml"))))
    assert "chosen:" in experts and "token1.combined" in experts
    assert ".expert" not in experts and "columns E1, E2\n" not in experts and "rows E" not in experts
