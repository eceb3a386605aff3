"""HTML pages: whole, safe, with the figures of the text; and looked at by Chromium, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import reports
import sheets
from labels import without_numbers, without_places
from test_formats import A, B, C, chain, formula, grid, named, page, three_deep, words
from test_latex import LABELS, PROBLEMS, SIXTEEN, digits, document, hostile, laid_out

from attncalc import formats
from attncalc.blocks import Blank, Grid, Math, Section, Space, Table, Token, Work, compose, figure
from attncalc.expr import Expr, exp, name, number, sqrt, sum_of_products
from attncalc.formats import html, mathml
from attncalc.formats.latex_math import LATEX
from attncalc.formats.mathml import MATHML
from attncalc.formats.notation import line
from attncalc.formats.width import visible

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=5000", "--dump-dom",
]  # fmt: skip
VOID = {"meta", "wbr"}
BLOCKS = {"p", "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "div", "title", "caption", "mtd", "mn"}


class Reader(HTMLParser):
    """Reads a page whose every element is closed where it should be."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in BLOCKS:
            self.text.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "mspace"
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in BLOCKS:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self.open):
            self.text.append(data)

    def all(self, attribute: str) -> list[str]:
        return [str(attributes[attribute]) for _, attributes in self.tags if attribute in attributes]


def shown(*blocks: object) -> str:
    """The blocks, without what is around them."""
    return html.render(page(*blocks)).partition("<h1>T</h1>\n")[2].partition("\n</main>")[0]


def said(source: str) -> str:
    return " ".join("".join(Reader(source).text).split()).replace(mathml.MINUS, "-").replace(html.JOINER, "")


def markup(pattern: Expr, *figures: str) -> str:
    return line(Math(pattern, figures), MATHML)


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_page_is_whole_safe_and_has_the_figures_of_the_text(path: Path) -> None:
    laid = without_numbers(laid_out(path.read_bytes()))
    source = html.render(laid)
    check(source)
    assert source.count("<style>") == 1
    # A wide table is cut into blocks, each with its row headers.
    reader = check(re.sub(r'(<th scope="row">)\d+(?=</th>)', r"\1", source))
    text = re.sub(r"^ +\d+(?=  )", "", formats.render("text", laid, width=10**6), flags=re.M)
    assert digits(without_places("".join(reader.text))) == digits(text)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_sheet_has_a_box_for_each_blank_and_a_key_none(lang: str) -> None:
    for called, laid in sheets.documents(lang):
        kinds = Counter(attributes.get("class") for _, attributes in Reader(html.render(laid)).tags)
        is_key = called.endswith(", key")
        assert kinds["blank"] == count(laid, Blank) and kinds["space"] == count(laid, Space)
        assert is_key == (kinds["blank"] == 0), called
        assert (kinds["table grid"] > 0) == (not is_key and called != "shapes")


def count(page: object, kind: type) -> int:
    """How many of a kind there are anywhere on a page."""
    if isinstance(page, kind):
        return 1
    return sum(count(part, kind) for part in page) if isinstance(page, tuple) else 0


def check(source: str) -> Reader:
    """Well-formed; ids once; links that lead somewhere; nothing that runs or is fetched; MathML that is XML."""
    assert source.startswith('<!doctype html>\n<html lang="en">\n')
    reader = Reader(source)
    ids = reader.all("id")
    assert len(ids) == len(set(ids)) > 0
    assert {link.removeprefix("#") for link in reader.all("href")} == set(ids)
    assert not {"script", "img", "link", "iframe", "object"} & {tag for tag, _ in reader.tags}
    keys = {key for _, attributes in reader.tags for key in attributes}
    assert not any(key.startswith("on") or key in {"src", "style"} for key in keys)
    style = source.partition("<style>")[2].partition("</style>")[0]
    assert "<script" not in source and "http" not in style and "url(" not in style and "@import" not in style
    for math in re.findall("<math>.*?</math>", source, re.DOTALL):
        check_mathml(ElementTree.fromstring(math))
    return reader


def check_mathml(root: ElementTree.Element) -> None:
    counts = {"mfrac": 2, "msup": 2, "msub": 2, "mover": 2, "msqrt": None, "mtr": None, "math": None, "mrow": None}
    for element in root.iter():
        if element.tag in {"mi", "mn", "mo", "mtext", "mspace"}:
            assert len(element) == 0
        else:
            assert not (element.text or "").strip()
            wanted = counts.get(element.tag)
            assert wanted is None or len(element) == wanted, ElementTree.tostring(element)
        assert element.tag != "mtable" or {child.tag for child in element} == {"mtr"}
        assert element.tag != "mtr" or {child.tag for child in element} == {"mtd"}


def test_hostile_labels_are_shown_as_they_are() -> None:
    source = html.render(hostile())
    check(source)
    for label in LABELS:
        assert f"<p><bdi>{escape(visible(label))}</bdi></p>" in source
        assert said(shown(words(Token(label)))) == " ".join(visible(label).split())


def test_a_page_in_words() -> None:
    assert "<title>One head, three tokens</title>" in html.render(document("abc"))
    assert formats.render("html", document("abc"), width=80, fragment=True) == html.render(document("abc"))


def test_sections_have_headings_to_link_to() -> None:
    reader = check(html.render(three_deep()))
    headings = [tag for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert headings == ["h1", "h2", "h3", "h3", "h4", "h4", "h2", "h3", "h4", "h4"]
    assert reader.all("id") == [
        "head1", "head1-scores", "head1-softmax", "row-1", "row-2", "joined", "head1-softmax-2", "row-1-2", "row-2-2",
    ]  # fmt: skip
    assert '<h3><a href="#head1-scores">1.1. Scores</a></h3>' in html.render(three_deep())
    same = tuple(Section(words("x"), anchor, (words("y"),)) for anchor in ("a", "a", "a-2", "a", ""))
    assert check(html.render(page(*same))).all("id") == ["a", "a-2", "a-2-2", "a-3", "section"]


# Formulas


@pytest.mark.parametrize(
    "pattern, figures, written",
    [
        (sum_of_products(2), ("1", "-2", "0", "1"), "1×(-2)+0×1"),
        (A - B, ("-1", "-2"), "-1-(-2)"),
        (A - (B + C), ("1", "-2", "3"), "1-(-2+3)"),
        (A * number(-0.5), ("3",), "3×(-0.5)"),
        ((A + B) * C, ("-1", "2", "-3"), "(-1+2)×(-3)"),
        (exp(A - B), ("1", "-2"), "e1-(-2)"),
        (Expr("transpose", Expr("dot", name("A"), name("B"))), (), "(A·B)T"),
        (Expr("max", A, B), ("-1", "-∞"), "max(-1,-∞)"),
        (Expr("of", name("Q"), A), ("10",), "Q(10)"),
        (Expr("tilde", Expr("cell", name("S_masked"), A, B)), ("1", "2"), "S~masked1,2"),
    ],
)
def test_notation_in_mathml(pattern: Expr, figures: tuple[str, ...], written: str) -> None:
    root = ElementTree.fromstring(mathml.whole(markup(pattern, *figures)))
    check_mathml(root)
    assert "".join(root.itertext()).replace(mathml.MINUS, "-").replace("\u2061", "") == written


def test_elements_of_mathml() -> None:
    assert markup(A / B, "1", "2") == "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"
    assert markup(exp(A), "0.5") == "<msup><mi>e</mi><mrow><mn>0.5</mn></mrow></msup>"
    assert markup(sqrt(number(2))) == "<msqrt><mn>2</mn></msqrt>"
    assert markup(name("W_Q")) == "<msub><mi>W</mi><mrow><mi>Q</mi></mrow></msub>"
    assert markup(name("d_model")) == "<msub><mi>d</mi><mrow><mtext>model</mtext></mrow></msub>"
    assert mathml.figure("-0.5") == "<mrow><mo>−</mo><mn>0.5</mn></mrow>"
    assert mathml.figure("__") == "<mtext>__</mtext>"
    assert mathml.figure("1e-07") == "<mn>1e-07</mn>"
    assert set(MATHML.forms) == set(LATEX.forms)


def test_a_short_formula_is_one_and_a_long_one_may_be_broken_at_its_signs() -> None:
    def pieces(math: Math) -> list[str]:
        found = ["".join(ElementTree.fromstring(mathml.whole(piece)).itertext()) for piece, _ in mathml.formula(math)]
        return [each.replace(mathml.MINUS, "-") for each in found]

    assert pieces(chain(named("a"), "=", figure("1"))) == ["a=1"]
    total = Math(sum_of_products(4), ("0.125", "-2") * 4)
    assert pieces(chain(named("a"), "=", total, "≈", figure("-1"))) == [
        "a", "=0.125×(-2)", "+0.125×(-2)", "+0.125×(-2)", "+0.125×(-2)", "≈-1",
    ]  # fmt: skip
    vector = compose("vector", *[figure("10.125")] * 8)
    assert pieces(chain("=", vector)) == ["=[10.125,", *["10.125,"] * 6, "10.125]"]
    # Within brackets and fractions nothing is broken.
    assert len(pieces(Math(Expr("dot", Expr("transpose", sum_of_products(9)), A), ("0.125",) * 18))) == 1
    wide = grid([["0.125"] * 4] * 4)
    assert len(pieces(chain("=", compose("dot", wide, wide), "≈", wide))) == 3


def test_figures_of_a_column_have_their_points_below_one_another() -> None:
    assert mathml.padding(Grid(np.array([["0.125", "1"], ["2", "1"], ["0.5", "1"]], dtype=object))) == [
        ["", ""], ['<mspace width="3.5ch"/>', ""], ['<mspace width="2ch"/>', ""],
    ]  # fmt: skip


# Matrices and tables


def test_a_matrix_with_labels_is_a_table_with_headers() -> None:
    labels = ("<b>", "我")
    source = shown(formula(chain(named("A"), "≈", grid([["0.5", "-1"], ["2", "3"]], labels, labels))))
    assert '<table class="matrix" aria-label="A"><thead><tr><td></td><th scope="col"><bdi>&lt;b&gt;</bdi>' in source
    assert '<tr><th scope="row"><bdi>我</bdi></th><td class="l"><math>' in source
    assert source.count("scope=") == 4
    assert "<mtable>" not in source
    assert said(source) == "A≈ <b> 我 <b> 0.5 - 1 我 2 3"


def test_a_matrix_without_labels_is_mathml() -> None:
    source = shown(formula(chain(named("A"), "=", grid([["1", "2"]]))))
    assert "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>" in source
    assert "<table" not in source


def test_the_number_of_a_head_stands_close() -> None:
    """Brackets that stretch are set apart by Chromium."""
    source = html.render(document("two-heads"))
    raised = re.findall(r"<msup>.*?</msup>", source)
    assert any(">(</mo><mn>2</mn>" in each for each in raised)
    assert not [each for each in raised if "<mo>(</mo><mn>" in each]


def test_a_wide_matrix_comes_in_blocks_that_are_numbered() -> None:
    wide = grid([[f"{j}.25" for j in range(40)]])
    source = shown(formula(chain(named("A"), "=", wide)))
    assert re.findall(r"<mtext>(\[.*?\])</mtext>", source)[0] == "[:,1..11]"
    assert Counter(re.findall(r"<mn>(.*?)</mn>", source)) == Counter(f"{j}.25" for j in range(40))


def test_weights_are_shaded_and_other_matrices_are_not() -> None:
    cells = np.array([["0.25", "0.75", "0"]], dtype=object)
    for labels in (None, ("a", "b", "c")):
        weights = shown(formula(chain(named("A"), "=", figure(Grid(cells, None, labels, role="weights")))))
        assert len(re.findall(r'class="(?:l )?w2"', weights)) == len(re.findall(r'class="w8"', weights)) == 1
        others = shown(formula(chain(named("A"), "=", figure(Grid(cells, None, labels, role="scores")))))
        assert not re.search(r'class="[^"]*w\d', others)


def test_a_table_has_headers_for_its_columns_and_rows() -> None:
    source = shown(Table((words(""), words("A")), ((words("q"), words("yes")),)))
    assert '<th scope="col">A</th>' in source and '<th scope="row">q</th><td>yes</td>' in source


def test_working_is_a_list_of_names_and_formulas() -> None:
    source = shown(Work(((words("sum"), figure("-1")), (None, chain(named("a"), "=", figure("2"))))))
    assert '<dl class="work">\n<div><dt>sum</dt><dd><div class="f"><math><mrow><mo>−</mo>' in source
    assert said(source) == "sum - 1 a= 2"


def test_a_formula_in_a_sentence() -> None:
    source = shown(words("so (", named("W_Q"), "), not ", figure("-1"), ": & <b>"))
    assert unescape(re.sub("<.*?>", "", source)) == "so (\u2060WQ\u2060), not −1: & <b>"


# In Chromium


def dom(source: str, folder: Path) -> str:
    """The page as Chromium has read it."""
    (folder / "page.html").write_text(source, encoding="utf-8", newline="\n")
    assert CHROMIUM
    run = subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={folder / 'profile'}", (folder / "page.html").as_uri()],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return run.stdout.decode("utf-8")


@needs_chromium
@pytest.mark.parametrize("build", [lambda: document("abc"), hostile], ids=["abc", "hostile"])
def test_chromium_reads_what_was_written(build, tmp_path: Path) -> None:
    source = html.render(build())
    assert said(dom(source, tmp_path)) == said(source)


WIDE = """\
H: {random: integers, from: -9, to: 9, seed: 7, rows: 3, columns: 40}
W_Q: {random: integers, from: -1, to: 1, seed: 7, rows: 40, columns: 2}
W_K: {random: integers, from: -1, to: 1, seed: 7, rows: 40, columns: 2}
W_V: {random: integers, from: -1, to: 1, seed: 9, rows: 40, columns: 30}
show: {detail: full}
"""


def measured(folder: Path, width: int, expression: str, style: str = "") -> list[int]:
    """What a script finds in each of some pages (in `root`), in frames of that width, once their fonts are there."""
    pages = [document("abc"), document("four-positions"), document("i-love-you"), hostile()]
    pages += [laid_out(text.encode()) for text in (SIXTEEN, WIDE)]
    pages += [laid for name, laid in sheets.documents("zh") if name in {"level 2", "shapes"}]
    sources = (html.render(each).replace("</style>", f"{style}</style>") for each in pages)
    frames = "".join(
        f'<iframe width="{width}" height="600" frameborder="0" srcdoc="{escape(s)}"></iframe>' for s in sources
    )
    script = (
        "onload = async () => {"
        "const pages = [...document.querySelectorAll('iframe')].map(frame => frame.contentDocument);"
        "await Promise.all(pages.flatMap(page => [...page.fonts].map(font => font.load())));"  # before one is wanted
        "await Promise.all(pages.map(page => page.fonts.ready)); document.title = pages"
        f".map(page => {{ const root = page.documentElement; return {expression} }}).join(' ') }}"
    )
    read = dom(f"<!doctype html><title></title>{frames}<script>{script}</script>", folder)
    found = list(map(int, re.findall(r"<title>(.*?)</title>", read)[0].split()))
    assert len(found) == len(pages)
    return found


@needs_chromium
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_never_scrolls_sideways(width: int, tmp_path: Path) -> None:
    assert max(measured(tmp_path, width, "root.scrollWidth")) <= width


@needs_chromium
def test_figures_of_a_matrix_end_at_the_right_of_their_column(tmp_path: Path) -> None:
    left = (
        "[...root.querySelectorAll('mtd')].filter(cell => cell.getBoundingClientRect().right"
        " - cell.lastElementChild.getBoundingClientRect().right > 1 + parseFloat(getComputedStyle(cell).paddingRight))"
    )
    assert measured(tmp_path, 1200, f"{left}.length") == [0] * 8


@needs_chromium
def test_a_short_label_of_a_matrix_is_not_broken_where_there_is_no_room(tmp_path: Path) -> None:
    short = "[...root.querySelectorAll('.matrix th bdi')].filter(label => /^\\w{1,8}$/.test(label.textContent))"
    found = measured(tmp_path, 200, f"{short}.length")
    broken = measured(tmp_path, 200, f"{short}.filter(label => label.getClientRects().length > 1).length")
    assert sum(found) > 50 and broken == [0] * 8


@needs_chromium
def test_on_paper_there_is_room_for_every_formula(tmp_path: Path) -> None:
    """A4 less its margins is 672 pixels wide; what is wider than its box there would be cut."""
    cut = "[...root.querySelectorAll('.f, .scroll')].filter(box => box.scrollWidth > box.clientWidth + 1).length"
    rules = html.STYLE.partition("@media print{\n@page{size:A4;margin:16mm}\n")[2].strip().removesuffix("}")
    assert "overflow:visible" in rules
    assert measured(tmp_path, 672, cut, rules) == [0] * 8


@needs_chromium
def test_on_paper_each_box_of_a_grid_has_room_for_a_hand(tmp_path: Path) -> None:
    """9 by 14 mm are 34 by 53 pixels."""
    rules = html.STYLE.partition("@media print{\n@page{size:A4;margin:16mm}\n")[2].strip().removesuffix("}")
    boxes = "[...root.querySelectorAll('.grid td')].map(box => box.getBoundingClientRect())"
    small = measured(tmp_path, 672, f"{boxes}.filter(box => box.height < 34 || box.width < 52).length", rules)
    found = measured(tmp_path, 672, f"{boxes}.length", rules)
    assert small == [0] * 8 and found[6] > 50


def test_a_negative_figure_in_words_has_a_minus() -> None:
    """As those of formulas and matrices have; a hyphen, and what a label holds, stay."""
    said = words("a score of -∞, not (-5), of GPT-2 on 2026-12-01, 3-5, for ", Token("-7"), ": ", figure("-0.5"))
    assert "a score of −∞, not (−5), of GPT-2 on 2026-12-01, 3-5, for <bdi>-7</bdi>: −0.5" in html.render(page(said))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_figure_of_a_page_has_a_hyphen(lang: str) -> None:
    for kind in (reports, sheets):
        for _, each in kind.documents(lang):
            text = re.sub(r"<bdi>.*?</bdi>|<style>.*?</style>|<[^>]*>", "|", html.render(each), flags=re.DOTALL)
            assert re.findall(r".{9}(?<![\w-])-[\d∞].{9}", text) == []
