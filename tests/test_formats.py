"""Documents made by hand, and the text that each format makes of them, worked out by hand as well."""

from __future__ import annotations

import gc
import html
import json
import re
import weakref

import numpy as np
import pytest

from attncalc import formats, mechanisms, problem
from attncalc.blocks import (
    Beside,
    Document,
    Formula,
    Grid,
    Items,
    Math,
    Prose,
    Section,
    Table,
    Token,
    Work,
    compose,
    figure,
)
from attncalc.errors import UsageError
from attncalc.expr import OPERATIONS, Expr, exp, name, number, slot, sqrt, sum_of_products, sum_of_slots
from attncalc.formats import boxes, latex_display, latex_math, markdown, text
from attncalc.formats.boxes import grid_box
from attncalc.formats.latex_math import LATEX
from attncalc.formats.notation import compiled, line
from attncalc.formats.text_math import TEXT
from attncalc.formats.width import _ONE_COLUMN, _char_width, display_width, visible

HOSTILE = [
    "[/]", ":smile:", "<script>", "a|b", "$x$", "`c`", "\\", "a_b", "x\ny", "\x1b[31m", "\u202eabc",
    "中文", "👨\u200d👩\u200d👧", "e\u0301", "--", "''", "~^#&%{}", "```", "", "1.", "- x", "❤\ufe0f",
]  # fmt: skip
A, B, C = slot(0), slot(1), slot(2)


def grid(cells: list[list[str]], rows: tuple[str, ...] | None = None, columns: tuple[str, ...] | None = None) -> Math:
    return figure(Grid(np.array(cells, dtype=object), rows, columns))


def named(symbol: str) -> Math:
    return Math(name(symbol))


def chain(*parts: Math | str) -> Math:
    return compose("chain", *parts)


def dot(a: Math, b: Math) -> Math:
    return compose("dot", a, b)


def spaced(*parts: Math) -> Math:
    return compose("spaced", *parts)


def formula(*lines: Math) -> Formula:
    return Formula(lines)


def shape(n: str, m: str) -> Math:
    return compose("shape", figure(n), figure(m))


def vector(*figures: str) -> Math:
    return compose("vector", *map(figure, figures))


def words(*parts: str | Math | Token) -> Prose:
    return Prose(parts)


def page(*blocks: object) -> Document:
    return Document(words("T"), "en", blocks)  # type: ignore[arg-type]


def shown(*blocks: object, width: int = 100) -> str:
    """The blocks as text, without the title."""
    start = "T\n=\n\n"
    whole = text.render(page(*blocks), width=width)
    assert whole.startswith(start)
    assert whole.endswith("\n") and not whole.endswith("\n\n")
    assert not re.search(r"[ \t]$", whole, re.MULTILINE)
    return whole[len(start) :]


def marked(*blocks: object, math: str = "github") -> str:
    """The blocks as Markdown, without the title."""
    start = "# T\n\n"
    whole = markdown.render(page(*blocks), math=math)
    assert whole.startswith(start)
    assert whole.endswith("\n") and not whole.endswith("\n\n")
    return whole[len(start) :]


H = grid([["1", "0"], ["0", "1"], ["1", "1"]])
W_K = grid([["1", "1"], ["0", "1"]])
K = grid([["1", "1"], ["0", "1"], ["1", "2"]])
LAW = chain(named("K"), "=", dot(named("H"), named("W_K")))
SHAPES = chain(dot(shape("3", "2"), shape("2", "2")), "=", shape("3", "2"))


# Notation


@pytest.mark.parametrize(
    "pattern, figures, as_text, as_latex",
    [
        (sum_of_products(2), ("1", "-2", "0", "1"), "1×(-2) + 0×1", r"1 \times (-2) + 0 \times 1"),
        (sum_of_products(2), ("-2", "3", "-1", "4"), "-2×3 + (-1)×4", r"-2 \times 3 + (-1) \times 4"),
        (sum_of_slots(2), ("3", "-2"), "3 + (-2)", "3 + (-2)"),
        (sum_of_slots(2), ("-3", "2"), "-3 + 2", "-3 + 2"),
        (A - B, ("-1", "-2"), "-1 - (-2)", "-1 - (-2)"),
        (A - (B + C), ("1", "-2", "3"), "1 - (-2 + 3)", r"1 - \left(-2 + 3\right)"),
        (A - B + C, ("1", "2", "3"), "1 - 2 + 3", "1 - 2 + 3"),
        (A / (B * C), ("1", "-2", "3"), "1/(-2×3)", r"\frac{1}{-2 \times 3}"),
        (A / B, ("-1", "-2"), "-1/(-2)", r"\frac{-1}{-2}"),
        (A / B * C, ("1", "2", "3"), "(1/2)×3", r"\frac{1}{2} \times 3"),
        ((A + B) / C, ("1", "2", "3"), "(1 + 2)/3", r"\frac{1 + 2}{3}"),
        ((A + B) * C, ("-1", "2", "-3"), "(-1 + 2)×(-3)", r"\left(-1 + 2\right) \times (-3)"),
        (exp(A), ("-0.5",), "e^-0.5", "e^{-0.5}"),
        (exp(A) / B, ("0.707", "5.056"), "e^0.707/5.056", r"\frac{e^{0.707}}{5.056}"),
        (exp(A - B), ("1", "-2"), "e^(1 - (-2))", "e^{1 - (-2)}"),
        (exp(A), ("-∞",), "e^-∞", r"e^{-\infty}"),
        (sqrt(number(2.0)), (), "√2", r"\sqrt{2}"),
        (sqrt(A + B), ("1", "2"), "√(1 + 2)", r"\sqrt{1 + 2}"),
        (A * number(-0.5), ("3",), "3×(-0.5)", r"3 \times (-0.5)"),
        (Expr("max", A, B), ("-1", "-2"), "max(-1, -2)", r"\max(-1, -2)"),
        (Expr("vector", A, B), ("1", "-2"), "[1, -2]", "[1, -2]"),
        (Expr("dot", A, Expr("vector", B, C)), ("0.4", "1", "0"), "0.4·[1, 0]", r"0.4 \cdot [1, 0]"),
        (name("S") / sqrt(name("d_k")), (), "S / √d_k", r"\frac{S}{\sqrt{d_k}}"),
        (number(1) / name("n"), (), "1/n", r"\frac{1}{n}"),
        (Expr("transpose", name("W_Q")), (), "W_Qᵀ", r"W_Q^{\top}"),
        (Expr("transpose", Expr("dot", name("A"), name("B"))), (), "(A·B)ᵀ", r"\left(A \cdot B\right)^{\top}"),
        (Expr("tilde", name("S")), (), "S\u0303", r"\tilde{S}"),
        (Expr("tilde", name("S_masked")), (), "S\u0303_masked", r"\tilde{S}_{\text{masked}}"),
        (Expr("tilde", Expr("sub", name("S"), A)), ("2",), "S\u0303_2", r"\tilde{S}_{2}"),
        (
            Expr("tilde", Expr("cell", name("S_masked"), A, B)),
            ("1", "2"),
            "S\u0303_masked[1,2]",
            r"{\tilde{S}_{\text{masked}}}_{1,2}",
        ),
        (Expr("tilde", Expr("transpose", name("K"))), (), "K\u0303ᵀ", r"\tilde{K}^{\top}"),
        (Expr("hadamard", name("A"), name("B")), (), "A ⊙ B", r"A \odot B"),
        (
            Expr("hadamard", Expr("dot", name("A"), name("B")), name("C")),
            (),
            "(A·B) ⊙ C",
            r"\left(A \cdot B\right) \odot C",
        ),
        (
            Expr("dot", Expr("hadamard", name("A"), name("B")), name("C")),
            (),
            "(A ⊙ B)·C",
            r"\left(A \odot B\right) \cdot C",
        ),
        (
            Expr("hadamard", name("A"), name("B") + name("C")),
            (),
            "A ⊙ (B + C)",
            r"A \odot \left(B + C\right)",
        ),
        (Expr("hadamard", name("A"), name("B")) + name("C"), (), "A ⊙ B + C", r"A \odot B + C"),
        (Expr("of", name("Q"), number(2)), (), "Q⁽²⁾", "Q^{(2)}"),
        (Expr("of", name("Q"), A), ("10",), "Q⁽¹⁰⁾", "Q^{(10)}"),
        (Expr("of", name("Q"), name("h")), (), "Q⁽ʰ⁾", "Q^{(h)}"),
        (Expr("of", name("Q"), name("g")), (), "Q^(g)", "Q^{(g)}"),
        (Expr("of", name("Q"), name("γ")), (), "Q^(γ)", r"Q^{(\gamma)}"),
        (Expr("of", name("W_Q"), number(2)), (), "W_Q⁽²⁾", "W_Q^{(2)}"),
        (Expr("of", Expr("sub", name("q"), A), number(2)), ("1",), "q_1⁽²⁾", "q_{1}^{(2)}"),
        (Expr("transpose", Expr("of", name("K"), number(2))), (), "K⁽²⁾ᵀ", r"{K^{(2)}}^{\top}"),
        (Expr("of", Expr("transpose", name("K")), number(2)), (), "Kᵀ⁽²⁾", r"{K^{\top}}^{(2)}"),
        (Expr("tilde", Expr("of", name("S"), number(2))), (), "S\u0303⁽²⁾", r"\tilde{S}^{(2)}"),
        (
            Expr("tilde", Expr("of", name("S_masked"), number(2))),
            (),
            "S\u0303_masked⁽²⁾",
            r"\tilde{S}_{\text{masked}}^{(2)}",
        ),
        (Expr("cell", Expr("of", name("S"), C), A, B), ("1", "2", "2"), "S⁽²⁾[1,2]", "S^{(2)}_{1,2}"),
        (Expr("cell", Expr("of", name("W_Q"), number(2)), A, B), ("1", "2"), "W_Q⁽²⁾[1,2]", "{W_Q^{(2)}}_{1,2}"),
        (
            Expr("dot", Expr("of", name("Q"), A), Expr("transpose", Expr("of", name("K"), A))),
            ("2",),
            "Q⁽²⁾·K⁽²⁾ᵀ",
            r"Q^{(2)} \cdot {K^{(2)}}^{\top}",
        ),
        (Expr("cell", A / B, C, C), ("1", "2", "3"), "(1/2)[3,3]", r"\left(\frac{1}{2}\right)_{3,3}"),
        (Expr("transpose", Expr("transpose", name("K"))), (), "Kᵀᵀ", r"{K^{\top}}^{\top}"),
        (Expr("spaced", name("a"), Expr("sub", name("b"), A)), ("1",), "a    b_1", r"a \qquad b_{1}"),
        (Expr("cell", name("S"), A, B), ("1", "2"), "S[1,2]", "S_{1,2}"),
        (Expr("cell", name("W_Q"), A, B), ("1", "2"), "W_Q[1,2]", "{W_Q}_{1,2}"),
        (Expr("sub", name("q"), name("i")), (), "q_i", "q_{i}"),
        (Expr("call", name("softmax"), name("S")), (), "softmax(S)", r"\mathop{\mathrm{softmax}}(S)"),
        (Expr("shape", A, B), ("3", "2"), "(3×2)", r"(3 \times 2)"),
        (Expr("list", A, B), ("3", "-2"), "3, -2", "3, -2"),
        (name("d_model"), (), "d_model", r"d_{\text{model}}"),
        (name("γ_1"), (), "γ_1", r"\gamma_1"),
        (name("W_Q_1"), (), "W_Q_1", "W_{Q,1}"),
    ],
)
def test_notation(pattern: Expr, figures: tuple[str, ...], as_text: str, as_latex: str) -> None:
    assert line(Math(pattern, figures), TEXT) == as_text
    assert line(Math(pattern, figures), LATEX) == as_latex


def test_a_pattern_is_compiled_once_and_filled_often() -> None:
    compiled.cache_clear()
    lines = [line(Math(sum_of_products(2), figures), TEXT) for figures in (("1", "2", "3", "4"), ("5", "-6", "7", "8"))]
    assert lines == ["1×2 + 3×4", "5×(-6) + 7×8"]
    assert (compiled.cache_info().misses, compiled.cache_info().hits) == (1, 1)


def test_percent_signs_are_text() -> None:
    assert line(Math(name("50%") + slot(0), ("1%",)), TEXT) == "50% + 1%"


def test_chain_signs() -> None:
    math = chain(named("a"), "=", figure("1"), ",", named("b"), "≈", figure("-2"))
    assert line(math, TEXT) == "a = 1, b ≈ -2"
    assert line(math, LATEX) == r"a = 1, b \approx -2"
    assert line(chain("=", figure("1"), "≈", figure("2")), TEXT) == "= 1 ≈ 2"
    assert line(chain("≈", figure("1")), LATEX) == r"\approx 1"


def test_a_tilde_stands_on_a_letter_alone() -> None:
    with pytest.raises(LookupError, match="no tilde"):
        line(Math(Expr("tilde", Expr("dot", name("A"), name("B")))), TEXT)
    with pytest.raises(LookupError, match="no tilde"):
        line(Math(Expr("tilde", Expr("tilde", name("A")))), LATEX)


def test_a_matrix_within_a_line() -> None:
    product = chain(named("K"), "=", dot(W_K, W_K), "≈", vector("1", "-2"))
    assert line(product, TEXT) == "K = [1, 1; 0, 1] · [1, 1; 0, 1] ≈ [1, -2]"
    matrix = r"\begin{bmatrix} 1 & 1 \\ 0 & 1 \end{bmatrix}"
    assert line(product, LATEX) == rf"K = {matrix} \cdot {matrix} \approx [1, -2]"


def test_matrices_of_any_figures_share_what_is_compiled() -> None:
    compiled.cache_clear()
    for cell in ("1", "-2", "3"):
        assert line(chain(named("A"), "=", dot(grid([[cell]]), figure("-1"))), TEXT) == f"A = [{cell}] · (-1)"
    assert (compiled.cache_info().misses, compiled.cache_info().hits) == (1, 2)
    assert line(chain(named("A"), "=", dot(figure("2"), figure("-1"))), TEXT) == "A = 2·(-1)"
    assert (compiled.cache_info().misses, compiled.cache_info().hits) == (2, 2)


def test_no_matrix_is_kept() -> None:
    matrix = Grid(np.array([["1", "2"]], dtype=object), ("x",))
    kept = weakref.ref(matrix)
    blocks = (formula(chain(named("K"), "=", figure("1"), "=", figure(matrix))), words("so ", figure(matrix)))
    shown(*blocks)
    marked(*blocks)
    del matrix, blocks
    gc.collect()
    assert kept() is None


def test_an_unknown_operation_is_an_error() -> None:
    with pytest.raises(LookupError, match="'swap'"):
        line(Math(Expr("swap", slot(0)), ("1",)), TEXT)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_has_a_notation(operation: str) -> None:
    assert operation in TEXT.forms
    assert operation in LATEX.forms


def test_both_tables_have_the_same_operations() -> None:
    assert set(TEXT.forms) == set(LATEX.forms)


# Width and escapes


@pytest.mark.parametrize(
    "label, width",
    [
        ("abc", 3),
        ("我爱", 4),
        ("e\u0301", 1),
        ("👨\u200d👩\u200d👧", 2),
        ("❤\ufe0f", 2),
        ("👍🏽", 2),
        ("-∞", 2),
        ("각", 2),
        ("词" * 300 + "e\u0301\u202e", 601),
        ("", 0),
    ],
)
def test_display_width(label: str, width: int) -> None:
    assert display_width(label) == width
    assert display_width(f"{label} 👍🏽") == width + 3  # letter by letter


def test_what_can_not_be_seen_is_written_out() -> None:
    assert visible("x\ny\t\x1b[0m\u202eabc\u2028\ufeff") == r"x\ny\t\x1b[0m\u202eabc\u2028\ufeff"
    assert visible("👨\u200d👩\u200d👧 é 我") == "👨\u200d👩\u200d👧 é 我"


def test_what_is_taken_for_one_column_letter_by_letter_is_so() -> None:
    letters = [chr(code) for code in range(0x3000) if _ONE_COLUMN.fullmatch(chr(code))]
    assert {"×", "√", "⎤"} <= set(letters)
    assert all(_char_width(letter) == 1 for letter in letters)


# Text


def test_a_product_goes_on_under_its_law() -> None:
    expected = """\
K = H·W_K
    ⎡ 1  0 ⎤              ⎡ 1  1 ⎤
  = ⎢ 0  1 ⎥ · ⎡ 1  1 ⎤ = ⎢ 0  1 ⎥
    ⎣ 1  1 ⎦   ⎣ 0  1 ⎦   ⎣ 1  2 ⎦
"""
    product = dot(H, W_K)
    assert shown(formula(chain(named("K"), "=", dot(named("H"), named("W_K")), "=", product, "=", K))) == expected
    assert shown(formula(LAW, chain("=", product, "=", K))) == expected
    with_shapes = expected.replace("K = H·W_K", "K = H·W_K    (3×2) · (2×2) = (3×2)")
    assert shown(formula(spaced(LAW, SHAPES), chain("=", product, "=", K))) == with_shapes


def test_the_lines_of_a_formula_have_their_first_signs_below_one_another() -> None:
    masked = Math(Expr("tilde", name("S_masked")))
    law = chain(masked, "=", Math(Expr("tilde", name("S")) + name("M")))
    assert shown(formula(law, chain("≈", W_K), chain("=", figure("1"), "≈", figure("2")))) == (
        "S\u0303_masked = S\u0303 + M\n"
        "         ≈ ⎡ 1  1 ⎤\n"
        "           ⎣ 0  1 ⎦\n"
        "         = 1 ≈ 2\n"
    )  # fmt: skip
    assert shown(formula(chain(named("a"), ",", named("b"), "=", figure("1")), chain("=", figure("2")))) == (
        "a, b = 1\n"
        "     = 2\n"
    )  # fmt: skip
    assert shown(formula(chain("=", figure("1")), chain("=", figure("2")))) == "= 1\n= 2\n"


def test_below_a_line_without_a_sign_the_others_are_two_columns_further_in() -> None:
    law = dot(named("H"), named("W_Q"))
    assert shown(formula(law, chain("=", W_K))) == "H·W_Q\n  = ⎡ 1  1 ⎤\n    ⎣ 0  1 ⎦\n"
    # The sign of the shapes is none of this line's.
    assert shown(formula(spaced(law, SHAPES), chain("≈", figure("1")))) == (
        "H·W_Q    (3×2) · (2×2) = (3×2)\n"
        "  ≈ 1\n"
    )  # fmt: skip


def test_signs_go_on_below_a_matrix() -> None:
    assert shown(formula(chain(named("W_K"), "=", W_K), chain("≈", W_K))) == (
        "W_K = ⎡ 1  1 ⎤\n"
        "      ⎣ 0  1 ⎦\n"
        "    ≈ ⎡ 1  1 ⎤\n"
        "      ⎣ 0  1 ⎦\n"
    )  # fmt: skip


def test_below_a_long_name_matrices_have_room() -> None:
    law = chain(named("a_very_long_name"), "=", named("x"))
    assert shown(formula(law, chain("=", figure("1"))), width=24) == f"a_very_long_name = x\n{' ' * 17}= 1\n"
    assert shown(formula(law, chain("=", dot(W_K, W_K))), width=24) == (
        "a_very_long_name = x\n"
        "  = ⎡ 1  1 ⎤ · ⎡ 1  1 ⎤\n"
        "    ⎣ 0  1 ⎦   ⎣ 0  1 ⎦\n"
    )  # fmt: skip


def test_a_bare_symbol_stands_on_the_middle_line() -> None:
    cells = [["0.707", "0", "0.707"], ["0.707", "-10.5", "1.414"], ["-∞", "0.707", "2.121"]]
    scores = formula(chain(Math(Expr("tilde", name("S"))), "≈", grid(cells, ("A", "我", "C\n"))))
    assert shown(scores) == (
        "    ⎡  0.707    0      0.707 ⎤ A\n"
        "S\u0303 ≈ ⎢  0.707  -10.5    1.414 ⎥ 我\n"
        "    ⎣ -∞        0.707  2.121 ⎦ C\\n\n"
    )


def test_labels_of_columns_stand_above_and_long_ones_below() -> None:
    labelled = grid([["1", "2.5", "3"]], ("q",), ("我", "(7)", "a very long label"))
    assert shown(formula(chain(named("M"), "=", labelled))) == (
        "      我  (2)  (3)\n"
        "M = [ 1   2.5   3  ] q\n"
        "    (2) = (7)\n"
        "    (3) = a very long label\n"
    )  # fmt: skip


def test_sizes_and_things_side_by_side() -> None:
    sized = Beside(tuple(formula(chain(compose("sized", named(w), shape("2", "2")), "=", W_K)) for w in ("W_Q", "W_K")))
    assert shown(sized) == (
        "W_Q (2×2) = ⎡ 1  1 ⎤    W_K (2×2) = ⎡ 1  1 ⎤\n"
        "            ⎣ 0  1 ⎦                ⎣ 0  1 ⎦\n"
    )  # fmt: skip
    assert shown(sized, width=40) == (
        "W_Q (2×2) = ⎡ 1  1 ⎤\n"
        "            ⎣ 0  1 ⎦\n"
        "\n"
        "W_K (2×2) = ⎡ 1  1 ⎤\n"
        "            ⎣ 0  1 ⎦\n"
    )  # fmt: skip


def test_a_chain_without_room_breaks_at_its_signs() -> None:
    whole = chain(named("K"), "=", dot(H, W_K), "=", K)
    assert shown(formula(whole), width=24) == (
        "K\n    ⎡ 1  0 ⎤\n  = ⎢ 0  1 ⎥ · ⎡ 1  1 ⎤\n    ⎣ 1  1 ⎦   ⎣ 0  1 ⎦\n    ⎡ 1  1 ⎤\n  = ⎢ 0  1 ⎥\n    ⎣ 1  2 ⎦\n"
    )
    # Alone on its line, K has no sign beside it: those of the lines below stand where the others do.
    assert shown(formula(whole, chain("≈", figure("1"))), width=24) == shown(formula(whole), width=24) + "  ≈ 1\n"


def test_a_later_line_without_room_breaks_at_its_signs() -> None:
    assert shown(formula(spaced(LAW, SHAPES), chain("=", dot(H, W_K), "=", K)), width=24) == (
        "K = H·W_K    (3×2) · (2×2) = (3×2)\n"
        "    ⎡ 1  0 ⎤\n"
        "  = ⎢ 0  1 ⎥ · ⎡ 1  1 ⎤\n"
        "    ⎣ 1  1 ⎦   ⎣ 0  1 ⎦\n"
        "    ⎡ 1  1 ⎤\n"
        "  = ⎢ 0  1 ⎥\n"
        "    ⎣ 1  2 ⎦\n"
    )  # fmt: skip


def test_a_derivation_has_a_line_for_each_sign() -> None:
    o = compose("sub", named("o"), figure("0"))
    total = compose("plus", figure("1.5"), figure("-2"))
    lines = formula(chain(o, "=", named("x")), chain("=", total), chain("=", figure("-0.5")))
    assert shown(lines) == (
        "o_0 = x\n"
        "    = 1.5 + (-2)\n"
        "    = -0.5\n"
    )  # fmt: skip


@pytest.mark.parametrize("width", [20, 40, 61, 100])
@pytest.mark.parametrize("labels", [None, tuple(f"t{j}" for j in range(37))])
def test_a_wide_matrix_is_drawn_in_blocks_that_lose_nothing(width: int, labels: tuple[str, ...] | None) -> None:
    cells = [[f"{100 * i + j}.25" for j in range(37)] for i in range(1, 4)]
    wide = grid(cells, ("x", "y", "z"), labels)
    alone = formula(chain(named("X"), "=", wide))
    below = formula(chain(named("X_1"), "=", named("Y")), chain("≈", wide))
    for block in (alone, below, Beside((below,)), Work(((words("w"), chain(named("X"), "=", wide)),))):
        check_blocks_of_columns(shown(block, width=width).splitlines(), cells, labels, width)


def check_blocks_of_columns(
    lines: list[str], cells: list[list[str]], labels: tuple[str, ...] | None, width: int
) -> None:
    assert max(map(display_width, lines)) <= width
    for row, corner in zip(cells, ("⎡⎤", "⎢⎥", "⎣⎦"), strict=True):
        found = [line.partition(corner[0])[2].partition(corner[1])[0].split() for line in lines if corner[0] in line]
        assert [figure for block in found for figure in block] == row
    if labels:
        assert re.findall(r"\bt\d+", "\n".join(lines)) == list(labels)
    else:
        starts = [found for line in lines for found in re.findall(r"\[:,(\d+)\.*(\d*)\]", line)]
        assert starts[0][0] == "1"
        assert (starts[-1][1] or starts[-1][0]) == "37"


def test_a_column_wider_than_the_page_is_not_cut() -> None:
    cell = "1" * 50
    assert cell in shown(formula(chain(named("X"), "=", grid([[cell, cell]]))), width=30)


def test_an_empty_matrix() -> None:
    assert grid_box(Grid(np.empty((0, 3), dtype=object))).lines == ("[ ]",)


def test_a_section_as_in_the_articles() -> None:
    row = Section(
        words("Row 1 (", Token("A"), ")"),
        "row-1",
        (
            Work(
                (
                    (words("scores"), vector("0.707", "0")),
                    (words("sum"), chain(Math(sum_of_slots(2), ("2.028", "1")), "=", figure("3.028"))),
                    (None, vector("1", "2")),
                )
            ),
        ),
        minor=True,
    )
    result = formula(chain(named("A"), "≈", W_K))
    whole = page(
        Section(words("Softmax"), "softmax", (row, result, Items((words("A attends"), words("B attends")))), "5")
    )
    assert (
        text.render(whole)
        == """\
T
=

5. Softmax
  Row 1 (A)
    scores  [0.707, 0]
    sum     2.028 + 1 = 3.028
    [1, 2]

  A ≈ ⎡ 1  1 ⎤
      ⎣ 0  1 ⎦
    A attends
    B attends
"""
    )


def row(number: str) -> Section:
    return Section(words(f"Row {number}"), f"row-{number}", (Work(((words("sum"), figure("1")),)),), minor=True)


def three_deep() -> Document:
    """Head 1 > Softmax > Row 1."""
    scores = Section(words("Scores"), "head1-scores", (formula(named("S"), chain("=", W_K)),), "1.1")
    softmax = Section(words("Softmax"), "head1-softmax", (row("1"), row("2"), formula(named("A"))), "1.2")
    head = Section(words("Head ", Token("1")), "head1", (scores, softmax), "1")
    joined = Section(words("Heads joined"), "joined", (words("side by side"), softmax), "2")
    return page(head, joined)


def test_sections_three_deep() -> None:
    assert (
        text.render(three_deep())
        == """\
T
=

1. Head 1

  1.1. Scores
    S
      = ⎡ 1  1 ⎤
        ⎣ 0  1 ⎦

  1.2. Softmax
    Row 1
      sum  1
    Row 2
      sum  1
    A

2. Heads joined
  side by side

  1.2. Softmax
    Row 1
      sum  1
    Row 2
      sum  1
    A
"""
    )


def test_what_follows_a_formula_belongs_to_it() -> None:
    two = Beside((formula(named("A")), formula(named("B"))))
    blocks = (two, words("remark"), Items((words("item"),)), Work(((None, named("x")),)), formula(named("C")))
    assert shown(*blocks) == "A    B\n  remark\n  item\n  x\nC\n"


def test_a_matrix_within_working_stands_beside_its_label() -> None:
    assert shown(Work(((words("w"), chain(named("A"), "=", H)),))) == (
        "       ⎡ 1  0 ⎤\n"
        "w  A = ⎢ 0  1 ⎥\n"
        "       ⎣ 1  1 ⎦\n"
    )  # fmt: skip


def test_long_working_is_one_long_line() -> None:
    pattern = sum_of_products(200)
    lines = shown(Work(((None, chain(Math(pattern, ("0.125",) * 400), "=", figure("3.125"))),)), width=20).splitlines()
    assert lines == [" + ".join(["0.125×0.125"] * 200) + " = 3.125"]


def test_a_table_is_aligned_by_display_width() -> None:
    table = Table(
        (words("who"), words(Token("我们"))), ((words("A"), words("yes")), (words(Token("x\ty")), words("-")))
    )
    assert shown(table) == (
        "who   我们\n"
        "----  ----\n"
        "A     yes\n"
        "x\\ty  -\n"
    )  # fmt: skip


# LaTeX


@pytest.mark.parametrize(
    "label, latex",
    [
        ("cat", r"\text{cat}"),
        ("a_b", r"\text{a}\_\text{b}"),
        ("\\n", r"\backslash\text{n}"),
        ("\n", r"\backslash\text{n}"),
        ("<s>", r"{<}\text{s}{>}"),
        ("{$&#%}", r"\{\$\&\#\%\}"),
        ("--", r"\text{-}\text{-}"),
        ("我", r"\text{我}"),
        ("", r"\text{}"),
    ],
)
def test_labels_in_latex(label: str, latex: str) -> None:
    assert latex_math.token(label) == latex


def test_matrices_in_latex() -> None:
    bare = Grid(np.array([["1", "-∞"], ["0", "__"]], dtype=object))
    assert latex_math.grid(bare) == r"\begin{bmatrix} 1 & -\infty \\ 0 & \_\_ \end{bmatrix}"
    rows = Grid(bare.cells, ("A", "B"))
    assert latex_math.grid(rows) == latex_math.grid(bare) + r"\begin{matrix} \text{A} \\ \text{B} \end{matrix}"
    both = Grid(bare.cells, ("A", "B"), ("x", "y"))
    assert latex_math.grid(both) == (
        r"\begin{array}{l|rr}  & \text{x} & \text{y} \\ \hline "
        r"\text{A} & 1 & -\infty \\ \text{B} & 0 & \_\_ \end{array}"
    )
    wide = Grid(np.array([["1"] * 11], dtype=object))
    assert latex_math.grid(wide) == (
        r"\left[\begin{array}{rrrrrrrrrrr} " + " & ".join(["1"] * 11) + r" \end{array}\right]"
    )


def test_displayed_formulas_break_at_their_signs() -> None:
    short = chain(named("a"), "=", figure("1"))
    assert latex_display.display([short]) == "a = 1"
    long = chain(named("a"), "=", figure("1"), "=", figure("2"), "≈", figure("3"))
    assert latex_display.display([long]) == "\\begin{aligned}\na &= 1 \\\\\n&= 2 \\\\\n&\\approx 3\n\\end{aligned}"
    lines = [short, vector("1", "2"), chain(vector("1", "2"), "=", vector("3", "4"))]
    assert latex_display.display(lines) == (
        "\\begin{aligned}\na &= 1 \\\\\n& [1, 2] \\\\\n{}[1, 2] &= [3, 4]\n\\end{aligned}"
    )


def test_the_lines_of_a_formula_are_aligned() -> None:
    lines = [spaced(LAW, SHAPES), chain("=", dot(named("x"), named("y")), "≈", named("z"))]
    assert latex_display.display(lines) == (
        "\\begin{aligned}\n"
        r"K &= H \cdot W_K \qquad (3 \times 2) \cdot (2 \times 2) = (3 \times 2) \\" "\n"
        r"&= x \cdot y \approx z" "\n"
        "\\end{aligned}"
    )  # fmt: skip
    unsigned = [spaced(dot(named("H"), named("W_K")), SHAPES), chain("=", named("x"))]
    assert latex_display.display(unsigned) == (
        "\\begin{aligned}\n"
        r"& H \cdot W_K \qquad (3 \times 2) \cdot (2 \times 2) = (3 \times 2) \\" "\n"
        "&= x\n"
        "\\end{aligned}"
    )  # fmt: skip


def test_a_spaced_line_is_never_broken() -> None:
    long = spaced(chain(named("a"), "=", figure("1"), "=", figure("2"), "=", figure("3")), vector(*["0.125"] * 20))
    assert latex_display.display([long]) == rf"a = 1 = 2 = 3 \qquad [{', '.join(['0.125'] * 20)}]"
    assert shown(formula(long), width=20) == f"a = 1 = 2 = 3    [{', '.join(['0.125'] * 20)}]\n"


def test_a_line_is_long_by_what_it_takes_as_text() -> None:
    def of_length(count: int) -> Math:
        return chain(named("a"), "=", dot(figure("0." + "1" * (count - 8)), named("b")))

    for count, long in ((100, False), (101, True)):
        math = of_length(count)
        assert len(line(math, TEXT)) == latex_display.length(math) == count
        assert latex_display.is_long(math) == long
    # Fractions and commands count for what they show; of a matrix, one row does.
    assert latex_display.length(chain(named("x"), "=", Math(A / B, ("1", "2")))) == len("x = 1/2")
    assert latex_display.length(chain(named("A"), "≈", grid([["0.5", "2"]] * 9))) == len("A ≈ [0.5, 2]")
    assert latex_display.length(figure(Grid(np.empty((0, 3), dtype=object)))) == len("[]")


def test_formulas_side_by_side_in_latex() -> None:
    narrow = chain(named("A"), "=", W_K)
    matrix = r"\begin{bmatrix} 1 & 1 \\ 0 & 1 \end{bmatrix}"
    two = formula(chain(named("x"), "=", named("y")), chain("≈", figure("1")))
    assert list(latex_display.displays(Beside((formula(narrow), two)))) == [
        rf"A = {matrix} \qquad " "\\begin{aligned}\nx &= y \\\\\n&\\approx 1\n\\end{aligned}"
    ]
    # 36 letters each and 4 between them: two of them are 76 letters wide, three 116.
    wide = formula(chain(named("V"), "=", figure("0." + "1" * 30)))
    assert latex_display.length(wide.lines[0]) == 36
    one = "V = 0." + "1" * 30
    assert list(latex_display.displays(Beside((wide,) * 3))) == [rf"{one} \qquad {one}", one]
    assert marked(Beside((wide,) * 3)) == f"```math\n{one} \\qquad {one}\n```\n\n```math\n{one}\n```\n"


# Markdown


def test_markdown_blocks() -> None:
    section = Section(
        words("Keys"),
        "keys",
        (
            formula(LAW, chain("=", W_K)),
            Work(((words("sum"), chain(Math(sum_of_slots(2), ("1", "2")), "=", figure("3"))),)),
            Items((words("so ", LAW), words("- no list"))),
            Section(words("Row 1 (", Token("*"), ")"), "row", (Work(((None, LAW), (None, LAW))),), minor=True),
        ),
        "1",
    )
    assert (
        marked(section)
        == r"""## 1. Keys

```math
\begin{aligned}
K &= H \cdot W_K \\
&= \begin{bmatrix} 1 & 1 \\ 0 & 1 \end{bmatrix}
\end{aligned}
```

- sum: $`1 + 2 = 3`$

* so $`K = H \cdot W_K`$
* \- no list

**Row 1 (\*)**

```math
\begin{aligned}
K &= H \cdot W_K \\
K &= H \cdot W_K
\end{aligned}
```
"""
    )


def test_headings_in_markdown() -> None:
    headings = [line for line in markdown.render(three_deep()).splitlines() if line.startswith(("#", "**"))]
    assert headings == [
        "# T", "## 1. Head 1", "### 1.1. Scores", "### 1.2. Softmax", "**Row 1**", "**Row 2**",
        "## 2. Heads joined", "### 1.2. Softmax", "**Row 1**", "**Row 2**",
    ]  # fmt: skip
    deep: Section = row("9")
    for place in ("1.1.1", "1.1", "1"):
        deep = Section(words("In"), "in", (deep,), place)
    assert marked(deep).startswith("## 1. In\n\n### 1.1. In\n\n#### 1.1.1. In\n\n**Row 9**\n")


def test_markdown_with_dollars() -> None:
    assert marked(words("so ", chain(named("a"), "=", figure("1"))), formula(named("b")), math="dollars") == (
        "so $a = 1$\n\n$$\nb\n$$\n"
    )
    with pytest.raises(UsageError, match="github, dollars"):
        markdown.render(page(), math="html")


def test_a_matrix_in_a_list_is_displayed_within_it() -> None:
    work = Work(((words("a:"), named("x")), (words("b"), chain(named("A"), "=", W_K))))
    assert marked(work) == (
        "- a: $`x`$\n"
        "- b:\n\n"
        "  ```math\n"
        "  A = \\begin{bmatrix} 1 & 1 \\\\ 0 & 1 \\end{bmatrix}\n"
        "  ```\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "label, written",
    [
        ("[/]", r"\[/\]"),
        (":smile:", r"\:smile:"),
        ("<script>", r"\<script\>"),
        ("a|b", r"a\|b"),
        ("$x$", r"\$x\$"),
        ("`c`", r"\`c\`"),
        ("\\", r"\\"),
        ("a_b*", r"a\_b\*"),
        ("x\ny", r"x\\ny"),
        ("\x1b[31m", r"\\x1b\[31m"),
        ("\u202eabc", r"\\u202eabc"),
        ("&lt;", r"\&lt;"),
        ("# x", r"\# x"),
        ("- x", r"\- x"),
        ("12. x", r"12\. x"),
        ("12) x", r"12\) x"),
        ("我", "我"),
    ],
)
def test_labels_in_markdown(label: str, written: str) -> None:
    assert marked(words(Token(label))) == written + "\n"


def test_hostile_labels_show_as_themselves() -> None:
    markdown_it = pytest.importorskip("markdown_it")
    for label in HOSTILE:
        if label:
            page_in_html = markdown_it.MarkdownIt().render(marked(words(Token(label))))
            assert html.unescape(page_in_html) == f"<p>{visible(label)}</p>\n"
            assert "<script" not in page_in_html


def test_tables_keep_their_columns() -> None:
    rows = tuple((words(Token(label)), words("x|y\n", named("a_b"))) for label in HOSTILE)
    lines = marked(Table((words("a"), words(Token("|"))), rows)).splitlines()
    assert len(lines) == len(HOSTILE) + 2
    assert lines[1] == "| --- | --- |"
    for row in lines:
        pipes = [found for found in re.findall(r"(\\*)\|", row) if len(found) % 2 == 0]
        assert len(pipes) == 3, row


def test_no_label_breaks_a_fence_or_turns_into_html() -> None:
    labels = tuple(HOSTILE)
    lines = marked(
        formula(chain(named("A"), "=", grid([["1"] * len(labels)] * len(labels), labels, labels)))
    ).splitlines()
    assert (lines[0], len(lines), lines[-1]) == ("```math", 3, "```")
    assert "<script" not in lines[1]
    assert lines[1].count(r"\text{") and "`" not in lines[1]


# Formats by name


def test_formats_by_name() -> None:
    whole = page(formula(named("a")))
    assert formats.render("text", whole, math="github") == text.render(whole)
    assert formats.render("markdown", whole, math="dollars", width=80) == markdown.render(whole, math="dollars")
    with pytest.raises(UsageError, match="text, markdown"):
        formats.render("pdf", whole)


def test_json_holds_every_convention_where_layers_differ() -> None:
    text = """
kind: encoder
H: [[1, 2], [2, 1]]
layers:
  - feed_forward: {W_1: identity, W_2: identity, activation: relu}
  - feed_forward: {W_1: identity, W_2: identity, activation: silu}
"""
    read = problem.parse(text.encode())
    page = json.loads(formats.render("json", mechanisms.solve(read), read.show.rule))
    assert [said["choice"] for said in page["conventions"]["activation"]] == ["relu", "silu"]


@pytest.mark.parametrize("cells", [
    ["0.5", "-1.5", "10.0"], ["1", "10", "-3"], ["12", "0.12"], ["0.12", "12"], ["0.25", "-∞"], ["1", "0.707"],
    ["1.5", "2"], ["", "1"], ["7"], [".5", "1.5"], ["5.", "10."],
])  # fmt: skip
def test_figures_are_measured_at_once_as_each_by_itself(cells: list[str]) -> None:
    at_once = boxes._measured(np.array([cells], dtype=object))
    one_by_one = boxes._measured(np.array([[*cells, "二"]], dtype=object))  # wide letters are counted one by one
    assert [each.tolist() for each in at_once] == [each[:, :-1].tolist() for each in one_by_one]


@pytest.mark.parametrize("label", ["", "x", "a longer one"])
@pytest.mark.parametrize("cells", [["0.5", "-1.25", "10"], ["-∞", "3"], ["7"], ["12345678901234567890.5", "1"]])
def test_decimal_points_stand_below_one_another(cells: list[str], label: str) -> None:
    column = np.array(cells, dtype=object)[:, None]
    lines = grid_box(Grid(column, columns=(label,) if label else None)).lines[-len(cells) :]
    points = [line.index(cell) + len(cell.partition(".")[0]) for line, cell in zip(lines, cells, strict=True)]
    assert len({*points}) == 1 and len({*map(display_width, lines)}) == 1


def test_a_box_that_stands_twice_is_padded_where_another_follows():
    twice = boxes.Box(("a", "bcd"), 0, 3)
    assert boxes.joined([twice, boxes.Box.of("|"), twice]).lines == ("a  |a", "bcd bcd")
