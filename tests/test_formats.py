"""Documents made by hand, and the text that each format makes of them, worked out by hand as well."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from attncalc import formats
from attncalc.blocks import (
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
from attncalc.formats import latex_math, markdown, notation, text
from attncalc.formats.boxes import grid_box
from attncalc.formats.latex_math import LATEX
from attncalc.formats.notation import compiled, line
from attncalc.formats.text_math import TEXT
from attncalc.formats.width import display_width, visible

HOSTILE = [
    "[/]", ":smile:", "<script>", "a|b", "$x$", "`c`", "\\", "a_b", "x\ny", "\x1b[31m", "\u202eabc",
    "中文", "👨\u200d👩\u200d👧", "e\u0301", "--", "''", "~^#&%{}", "```", "", "1.", "- x", "❤\ufe0f",
]  # fmt: skip
A, B, C = slot(0), slot(1), slot(2)


def grid(cells: list[list[str]], rows: tuple[str, ...] | None = None, columns: tuple[str, ...] | None = None) -> Math:
    return Math(Expr("grid", Grid(np.array(cells, dtype=object), rows, columns)))


def named(symbol: str) -> Math:
    return Math(name(symbol))


def chain(*parts: Math | str) -> Math:
    return compose("chain", *parts)


def dot(a: Math, b: Math) -> Math:
    return compose("dot", a, b)


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
NOTHING = Math(Expr("text", ""))


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
        (Expr("tilde", Expr("sub", name("S"), A)), ("2",), "S\u0303_2", r"{\tilde{S}}_{2}"),
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
    assert notation.continues(chain(NOTHING, "=", figure("1")).pattern)
    assert line(chain(NOTHING, "=", figure("1")), TEXT) == "= 1"


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
        ("", 0),
    ],
)
def test_display_width(label: str, width: int) -> None:
    assert display_width(label) == width


def test_what_can_not_be_seen_is_written_out() -> None:
    assert visible("x\ny\t\x1b[0m\u202eabc\u2028\ufeff") == r"x\ny\t\x1b[0m\u202eabc\u2028\ufeff"
    assert visible("👨\u200d👩\u200d👧 é 我") == "👨\u200d👩\u200d👧 é 我"


# Text


def test_a_product_goes_on_under_its_law() -> None:
    expected = """\
K = H·W_K
    ⎡ 1  0 ⎤              ⎡ 1  1 ⎤
  = ⎢ 0  1 ⎥ · ⎡ 1  1 ⎤ = ⎢ 0  1 ⎥
    ⎣ 1  1 ⎦   ⎣ 0  1 ⎦   ⎣ 1  2 ⎦
"""
    law = chain(named("K"), "=", dot(named("H"), named("W_K")))
    product = dot(H, W_K)
    assert shown(Formula(chain(named("K"), "=", dot(named("H"), named("W_K")), "=", product, "=", K))) == expected
    assert shown(Formula(law), Formula(chain(NOTHING, "=", product, "=", K))) == expected


def test_a_bare_symbol_stands_on_the_middle_line() -> None:
    cells = [["0.707", "0", "0.707"], ["0.707", "-10.5", "1.414"], ["-∞", "0.707", "2.121"]]
    scores = Formula(chain(Math(Expr("tilde", name("S"))), "≈", grid(cells, ("A", "我", "C\n"))))
    assert shown(scores) == (
        "    ⎡  0.707    0      0.707 ⎤ A\n"
        "S\u0303 ≈ ⎢  0.707  -10.5    1.414 ⎥ 我\n"
        "    ⎣ -∞        0.707  2.121 ⎦ C\\n\n"
    )


def test_labels_of_columns_stand_above_and_long_ones_below() -> None:
    labelled = grid([["1", "2.5", "3"]], ("q",), ("我", "(7)", "a very long label"))
    assert shown(Formula(chain(named("M"), "=", labelled))) == (
        "      我  (2)  (3)\n"
        "M = [ 1   2.5   3  ] q\n"
        "    (2) = (7)\n"
        "    (3) = a very long label\n"
    )  # fmt: skip


def test_sizes_and_things_side_by_side() -> None:
    sized = [
        chain(compose("sized", named(symbol), compose("shape", figure("2"), figure("2"))), "=", W_K)
        for symbol in ("W_Q", "W_K")
    ]
    assert shown(Formula(compose("beside", *sized))) == (
        "W_Q (2×2) = ⎡ 1  1 ⎤    W_K (2×2) = ⎡ 1  1 ⎤\n"
        "            ⎣ 0  1 ⎦                ⎣ 0  1 ⎦\n"
    )  # fmt: skip
    assert shown(Formula(compose("beside", *sized)), width=40) == (
        "W_Q (2×2) = ⎡ 1  1 ⎤\n"
        "            ⎣ 0  1 ⎦\n"
        "\n"
        "W_K (2×2) = ⎡ 1  1 ⎤\n"
        "            ⎣ 0  1 ⎦\n"
    )  # fmt: skip


def test_a_chain_without_room_breaks_at_its_signs() -> None:
    whole = chain(named("K"), "=", dot(H, W_K), "=", K)
    assert shown(Formula(whole), width=24) == (
        "K\n    ⎡ 1  0 ⎤\n  = ⎢ 0  1 ⎥ · ⎡ 1  1 ⎤\n    ⎣ 1  1 ⎦   ⎣ 0  1 ⎦\n    ⎡ 1  1 ⎤\n  = ⎢ 0  1 ⎥\n    ⎣ 1  2 ⎦\n"
    )


def test_a_derivation_has_a_line_for_each_sign() -> None:
    o = compose("sub", named("o"), figure("0"))
    total = compose("plus", figure("1.5"), figure("-2"))
    assert shown(Formula(compose("derivation", o, "=", total, "=", figure("-0.5")))) == (
        "o_0 = 1.5 + (-2)\n"
        "    = -0.5\n"
    )  # fmt: skip


@pytest.mark.parametrize("width", [20, 40, 61, 100])
@pytest.mark.parametrize("labels", [None, tuple(f"t{j}" for j in range(37))])
def test_a_wide_matrix_is_drawn_in_blocks_that_lose_nothing(width: int, labels: tuple[str, ...] | None) -> None:
    cells = [[f"{100 * i + j}.25" for j in range(37)] for i in range(1, 4)]
    lines = shown(Formula(chain(named("X"), "=", grid(cells, ("x", "y", "z"), labels))), width=width).splitlines()
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
    assert cell in shown(Formula(chain(named("X"), "=", grid([[cell, cell]]))), width=30)


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
    )
    result = Formula(chain(named("A"), "≈", W_K))
    whole = page(
        Section(words("5. Softmax"), "softmax", (row, result, Items((words("A attends"), words("B attends")))))
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
    assert latex_math.display([short]) == "a = 1"
    long = chain(named("a"), "=", figure("1"), "=", figure("2"), "≈", figure("3"))
    assert latex_math.display([long]) == "\\begin{aligned}\na &= 1 \\\\\n&= 2 \\\\\n&\\approx 3\n\\end{aligned}"
    lines = [short, vector("1", "2"), chain(vector("1", "2"), "=", vector("3", "4"))]
    assert latex_math.display(lines) == (
        "\\begin{aligned}\na &= 1 \\\\\n& [1, 2] \\\\\n{}[1, 2] &= [3, 4]\n\\end{aligned}"
    )


# Markdown


def test_markdown_blocks() -> None:
    law = chain(named("K"), "=", dot(named("H"), named("W_K")))
    section = Section(
        words("1. Keys"),
        "keys",
        (
            Formula(law),
            Formula(chain(NOTHING, "=", W_K)),
            Work(((words("sum"), chain(Math(sum_of_slots(2), ("1", "2")), "=", figure("3"))),)),
            Items((words("so ", law), words("- no list"))),
            Section(words("Row 1 (", Token("*"), ")"), "row", (Work(((None, law), (None, law))),)),
        ),
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


def test_markdown_with_dollars() -> None:
    assert marked(words("so ", chain(named("a"), "=", figure("1"))), Formula(named("b")), math="dollars") == (
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
        Formula(chain(named("A"), "=", grid([["1"] * len(labels)] * len(labels), labels, labels)))
    ).splitlines()
    assert (lines[0], len(lines), lines[-1]) == ("```math", 3, "```")
    assert "<script" not in lines[1]
    assert lines[1].count(r"\text{") and "`" not in lines[1]


# Formats by name


def test_formats_by_name() -> None:
    whole = page(Formula(named("a")))
    assert formats.render("text", whole, math="github") == text.render(whole)
    assert formats.render("markdown", whole, math="dollars", width=80) == markdown.render(whole, math="dollars")
    with pytest.raises(UsageError, match="text, markdown"):
        formats.render("pdf", whole)
