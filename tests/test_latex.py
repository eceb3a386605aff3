"""LaTeX documents: what they say, and that XeLaTeX sets them with nothing cut, where there is a XeLaTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from labels import without_numbers, without_places
from test_formats import HOSTILE, chain, formula, grid, named, page, spaced, words

from attncalc import formats, mechanisms, problem
from attncalc.blocks import Beside, Document, Grid, Items, Math, Section, Table, Token, Work, compose, figure
from attncalc.expr import number, sqrt, sum_of_products, sum_of_slots
from attncalc.formats import latex, latex_lines
from attncalc.formats.parts import MOST_ROWS, parts, shade, table_parts
from attncalc.layout import lay_out

ROOT = Path(__file__).resolve().parent.parent
PROBLEMS = sorted((ROOT / "problems").glob("*.yaml"))
OVERFULL = re.compile(r"Overfull \\(hbox|vbox) \(([\d.]+)pt")
needs_xelatex = pytest.mark.skipif(shutil.which("xelatex") is None, reason="there is no xelatex")

LABELS = (*(label for label in HOSTILE if label), "😀", "Привет", "שלום", "각", "𠮷", "愛", "*", "%s", "^^41", "x" * 70)
SIXTEEN = """\
tokens: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
H: {random: integers, from: -2, to: 2, seed: 7, rows: 16, columns: 16}
W_Q: {random: integers, from: -1, to: 1, seed: 7, rows: 16, columns: 2}
W_K: {random: integers, from: -1, to: 1, seed: 7, rows: 16, columns: 2}
W_V: {random: integers, from: -1, to: 1, seed: 9, rows: 16, columns: 16}
mask: causal
show: {detail: full}
"""


def document(name: str) -> Document:
    return laid_out((ROOT / "problems" / f"{name}.yaml").read_bytes())


def laid_out(text: bytes) -> Document:
    read = problem.parse(text, folder=ROOT / "problems")
    return lay_out(mechanisms.solve(read), read.show, "en", title=read.title, kind=read.kind)


def hostile() -> Document:
    """Labels of every kind in each place that a page has for one."""
    n = len(LABELS)
    square = grid([["0.125"] * n] * n, LABELS, LABELS)
    tokens = tuple(words(Token(label)) for label in LABELS)
    work = Work(tuple((words("w ", Token(label)), chain(named("A"), "=", figure("1"))) for label in LABELS))
    rows = tuple((words(Token(label)), words("[x] & ", Token(label)), words("y")) for label in LABELS)
    headed = words(*(part for label in LABELS for part in (Token(label), " ")))
    return Document(
        words("".join(LABELS[:6]), Token("\\end{document}")),
        "en",
        (
            Section(headed, "a", (formula(chain(named("A"), "≈", square)), Items(tokens)), "1"),
            Section(words(Token("[x]")), "a", (work, Table((words("a"), words("b"), words("*")), rows)), minor=True),
            *tokens,
        ),
    )


def digits(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:\.\d+)?", unicodedata.normalize("NFKC", text)))


def body(*blocks: object) -> str:
    """The blocks, without the commands at the head."""
    whole = latex.render(page(*blocks), fragment=True)
    head = f"{latex.MACROS}\n"
    assert whole.count(head) == 1 and whole.endswith("\n")
    return whole.partition(head)[2].removesuffix("\n")


def compiled(source: str, folder: Path) -> str:
    """The log of XeLaTeX, which has said nothing against the document and run nothing off the page."""
    (folder / "page.tex").write_text(source, encoding="utf-8", newline="\n")
    run = subprocess.run(
        ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"],
        cwd=folder, capture_output=True, timeout=300,
    )  # fmt: skip
    log = (folder / "page.log").read_text(encoding="utf-8", errors="replace")
    assert run.returncode == 0, re.findall(r"^!.*(?:\n.*){4}", log, re.MULTILINE)
    assert (folder / "page.pdf").stat().st_size > 1000
    wide = [found[0] for found in OVERFULL.finditer(log) if float(found[2]) > 5]
    assert wide == []
    return log


# Through XeLaTeX


@needs_xelatex
@pytest.mark.parametrize("name", ["abc", "i-love-you", "gqa", "padding-left", "window"])
def test_shipped_problems_compile_with_nothing_cut(name: str, tmp_path: Path) -> None:
    log = compiled(latex.render(document(name)), tmp_path)
    assert "Missing character" not in log


@needs_xelatex
def test_sixteen_columns_compile_with_nothing_cut(tmp_path: Path) -> None:
    compiled(latex.render(laid_out(SIXTEEN.encode())), tmp_path)


@needs_xelatex
def test_hostile_labels_compile(tmp_path: Path) -> None:
    compiled(latex.render(hostile()), tmp_path)


@needs_xelatex
def test_wide_and_tall_matrices_are_not_cut(tmp_path: Path) -> None:
    for rows, columns in ((70, 3), (3, 70), (40, 40)):
        wide = figure(Grid(np.full((rows, columns), "-10.125", dtype=object)))
        long = compose("vector", *[figure("0.125")] * 80)
        beside = Beside((formula(chain(named("A"), "=", wide)), formula(chain(named("B"), "=", wide))))
        table = Table(tuple(words(f"c{j}") for j in range(columns)), ((words("yes"),) * columns,) * rows)
        product = chain(named("X"), "=", compose("dot", wide, wide), "≈", wide)
        compiled(latex.render(page(formula(product), formula(chain(named("x"), "=", long)), beside, table)), tmp_path)


@needs_xelatex
def test_a_fragment_can_be_read_into_a_document_more_than_once(tmp_path: Path) -> None:
    (tmp_path / "part.tex").write_text(latex.render(document("abc"), fragment=True), encoding="utf-8")
    head = r"\documentclass{article}\usepackage{amsmath,graphicx,longtable,fontspec}\usepackage[table]{xcolor}"
    compiled(head + r"\begin{document}\input{part}\input{part}\end{document}", tmp_path)


# What is written


def test_only_a_page_with_chinese_needs_ctex() -> None:
    assert "ctex" in latex.render(document("i-love-you"))
    assert "ctex" not in latex.render(document("abc"))
    tokens = "tokens: [我, 爱, 猫]\nH: [[1, 0], [0, 1], [1, 1]]\nW_Q: identity\nW_K: identity\nW_V: identity\n"
    read = problem.parse(tokens.encode())
    english = latex.render(lay_out(mechanisms.solve(read), read.show, "en", kind=read.kind))
    assert "{ctex}" in english and all(rf"\text{{{token}}}" in english for token in "我爱猫")
    assert "attnglyph" not in latex.render(document("abc"))


def test_a_fragment_is_the_body_alone() -> None:
    whole, fragment = latex.render(document("abc")), latex.render(document("abc"), fragment=True)
    assert r"\documentclass" not in fragment and r"\begin{document}" not in fragment
    sections = fragment[fragment.index(r"\section*") :].rstrip()
    assert sections in whole
    assert formats.render("latex", document("abc"), fragment=True, width=80) == fragment


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_every_figure_is_that_of_the_text(path: Path) -> None:
    laid = without_numbers(laid_out(path.read_bytes()))
    text = formats.render("text", laid, width=10**6)
    source = latex.render(laid)
    source = source[source.index(r"\begin{document}") :]
    for layout in (r"\\attnleft\{.*", r"\\penalty\d+", r"\\attnshade\{\d+\}", r"p\{[\d.]+\\linewidth\}",
                   r"\\setlength\\\w+\{0pt\}"):
        source = re.sub(layout, "", source)
    assert digits(without_places(source)) == digits(text)


def test_headings_are_numbered_as_the_sections_are() -> None:
    row = Section(words("Row 1"), "row-1", (words("x"),), minor=True)
    inner = Section(words("In"), "in", (row,), "1.1")
    assert re.findall(r"\\\w*(?:section|paragraph)\*\{.*?\}", body(Section(words("Out"), "out", (inner,), "1"))) == [
        r"\section*{1. Out}", r"\subsection*{1.1. In}", r"\paragraph*{Row 1}",
    ]  # fmt: skip


def test_a_formula_goes_on_below_its_first_sign() -> None:
    law = chain(named("K"), "=", named("H"))
    lines = formula(spaced(law, law), chain("=", figure("1"), "≈", figure("2")))
    assert body(lines) == (
        "\\attnleft{$K\\;$}\n"
        r"\attnline{$K\;$}{$\displaystyle = H$ \qquad $\displaystyle K \penalty50 = H$}" "\n\\nopagebreak\n"
        r"\attnline{}{$\displaystyle = 1 \penalty50 \approx 2$}"
    )  # fmt: skip


def test_lines_may_end_before_relations_plus_signs_and_after_commas() -> None:
    total = chain(Math(sum_of_products(2), ("1", "-2", "3", "4")), "≈", compose("vector", figure("1"), figure("2")))
    assert latex_lines.whole_line(total) == (
        r"$\displaystyle 1 \times (-2) \penalty300 + 3 \times 4 \penalty50 \approx [1, \penalty800 2]$"
    )
    assert latex_lines.sentence(Math(sqrt(number(2)))) == r"$\sqrt{2}$"


def test_working_is_a_column_of_labels_and_lines() -> None:
    line = chain(Math(sum_of_slots(2), ("1", "2")), "=", figure("3"))
    assert body(Work(((words("sum"), line), (None, line)))) == (
        "\\attnleft{sum\\quad}\n"
        r"\attnline[l]{sum\quad}{$\displaystyle 1 \penalty300 + 2 \penalty50 = 3$}" "\n\n"
        r"\attnleft{$1 \penalty300 + 2\;$}" "\n"
        r"\attnline{$1 \penalty300 + 2\;$}{$\displaystyle = 3$}"
    )  # fmt: skip


@pytest.mark.parametrize(
    "label, written",
    [
        ("a_b", r"a\_b"),
        ("{$&#%}", r"\{\$\&\#\%\}"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("^^41", r"\textasciicircum{}\textasciicircum{}41"),
        ("--", "{-}{-}"),
        ("x\ny", r"x\textbackslash{}ny"),
        ("我", "我"),
        ("😀", r"\attnglyph{😀}{1F600}"),
        ("❤\ufe0f", r"\attnglyph{❤}{2764}"),
    ],
)
def test_labels_in_sentences(label: str, written: str) -> None:
    assert latex.render(page(words(Token(label))), fragment=True).endswith(f"\n\n{written}\n")


def test_quotes_of_a_label_stay_straight_in_a_matrix() -> None:
    shown = body(formula(chain(named("A"), "=", grid([["1"]], ("\"a'",)))))
    assert r"\text{\textquotedbl{}a\textquotesingle{}}" in shown


def test_signs_in_words() -> None:
    assert body(words("= or ≈, and -∞ is n×m")) == r"= or $\approx$, and $-\infty$ is n$\times$m"


def test_a_power_of_ten_is_set_as_a_figure() -> None:
    rows = np.array([["1e-20", "-2.5e25"]], dtype=object)
    assert r"{1\mathrm{e}{-20}} & {-2.5\mathrm{e}{25}}" in body(formula(chain(named("A"), "=", figure(Grid(rows)))))


def test_weights_are_shaded_by_their_figures() -> None:
    weights = Grid(np.array([["0.5", "1.000", "0", "_"]], dtype=object), ("q",), ("a", "b", "c", "d"), role="weights")
    shown = body(formula(chain(named("A"), "=", figure(weights))))
    assert r"\attnshade{15}0.5 & \attnshade{30}1.000 & 0 & \_" in shown
    assert [shade(weights.role, text) for text in ("-1", "7", "-∞", "nan")] == [0, 10, 0, 0]


def test_a_long_label_of_a_column_is_told_after_the_matrix() -> None:
    shown = body(formula(chain(named("A"), "=", grid([["1", "2"]], None, ("a", "a very long label")))))
    assert r"\text{a} & \text{(2)}" in shown
    assert r"\text{(2) = a very long label}" in shown


# Blocks of matrices and tables


def test_blocks_of_a_matrix_hold_each_cell_once() -> None:
    cells = np.array([[f"{i}.{j:03}" for j in range(37)] for i in range(2 * MOST_ROWS + 1)], dtype=object)
    blocks = parts(Grid(cells, first=0), 80)
    assert Counter(cell for block in blocks for cell in block.grid.cells.flat) == Counter(cells.flat)
    assert blocks[0].place == f"[0..{MOST_ROWS - 1},0..9]"
    assert blocks[-1].place == f"[{2 * MOST_ROWS},30..36]"
    labelled = parts(Grid(cells[:2], ("x", "y"), tuple(map(str, range(37)))), 80)
    assert [block.place for block in labelled] == [""] * len(labelled)
    assert [label for block in labelled for label in block.grid.columns or ()] == list(map(str, range(37)))
    assert [block.place for block in parts(Grid(cells[:2, :5]), 80)] == [""]
    assert len(parts(Grid(np.empty((0, 0), dtype=object)), 80)) == 1


def test_a_wide_table_is_several_with_the_same_first_column() -> None:
    table = Table(tuple(words(f"column {j}") for j in range(20)), (tuple(words(str(j)) for j in range(20)),))
    tables = table_parts(table, 80)
    assert len(tables) > 1 and {each.head[0] for each in tables} == {table.head[0]}
    assert [cell for each in tables for cell in each.rows[0][1:]] == list(table.rows[0][1:])
    assert table_parts(Table(table.head[:2], ((words("a"), words("x" * 500)),)), 80)[0].head == table.head[:2]


def test_a_negative_figure_in_words_has_a_minus() -> None:
    said = words("a score of -∞, not (-5), of GPT-2 on 2026-12-01, for ", Token("-7"))
    assert r"a score of $-\infty$, not ($-$5), of GPT-2 on 2026-12-01, for {-}7" in latex.render(page(said))
