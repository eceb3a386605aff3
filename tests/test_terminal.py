"""The format `terminal`: pages folded to a screen, their colours, and the terminal and pager that they go to."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import reports
import sheets
from labels import without_numbers
from test_formats import HOSTILE, chain, formula, grid, named, page, spaced, vector, words

from attncalc import mark, mechanisms, problem
from attncalc.blocks import Document, Grid, Items, Math, Prose, Section, Table, Token, Work, compose, figure
from attncalc.expr import sum_of_products
from attncalc.formats import terminal, text
from attncalc.formats.width import display_width, visible
from attncalc.layout import lay_out
from attncalc.layout.class_report import lay_out_class
from attncalc.layout.report import lay_out_report
from attncalc.marking import mark_answers
from attncalc.marking.answers import read_answers
from attncalc.marking.papers import Paper
from attncalc.marking.template import template

ROOT = Path(__file__).resolve().parent.parent
PROBLEMS = sorted((ROOT / "problems").glob("*.yaml"))
ABC = ROOT / "problems" / "abc.yaml"
SGR = re.compile(r"\x1b\[[\d;]*m")
WISHES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLORTERM", "TTY_COMPATIBLE", "COLUMNS", "LINES", "PAGER", "LESS")


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    for wish in WISHES:
        monkeypatch.delenv(wish, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@cache
def document(path: Path, lang: str = "en") -> Document:
    read = problem.load(path)
    return lay_out(mechanisms.solve(read), read.show, lang, title=read.title, kind=read.kind)


def report(path: Path, lang: str, written: str) -> Document:
    """That of answers that are all alike: blank, or figures that are wrong."""
    read = problem.load(path)
    solution = mechanisms.solve(read)
    answers = re.sub(r"_(?=[],\n])", written, template(solution, lang=lang))
    marking = mark_answers(read, solution, read_answers(answers.encode(), "a.yaml", solution, variant=""))
    return lay_out_report(marking, read.show, lang, title=read.title, kind=read.kind)


def wider(page: Document, columns: int) -> list[str]:
    """The lines that the screen would break, and those with a mark alone."""
    lines = terminal.render(page, columns=columns).splitlines()
    return [line for line in lines if display_width(line) > columns or re.fullmatch(r" *[,.;:=≈，。；：] *", line)]


def shown(*blocks: object, columns: int) -> str:
    """The blocks without colour, without the title."""
    whole = terminal.render(page(*blocks), columns=columns)
    assert whole.startswith("T\n=\n\n") and "\x1b" not in whole
    return whole[5:]


def coloured(*blocks: object, columns: int = 80) -> str:
    return terminal.render(page(*blocks), columns=columns, terminal=True).partition("\n\n")[2]


# Whole pages


def figures(whole: str) -> Counter[str]:
    """Every figure of a page; the numbers over blocks of columns are none, nor are those before the rows of a table,
    which stand before each of its blocks."""
    return Counter(re.findall(r"-?\d+(?:\.\d+)?|-?∞", re.sub(r"\[:,[\d.]+\]|^ +\d+(?=  )", "", whole, flags=re.M)))


@pytest.mark.parametrize("columns", [80, 40, 20])
@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_page_has_the_figures_of_text_at_every_width(path: Path, columns: int) -> None:
    page = without_numbers(document(path))
    plain = terminal.render(page, columns=columns)
    assert figures(plain) == figures(text.render(page))
    assert SGR.sub("", terminal.render(page, columns=columns, terminal=True)) == plain


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("columns", [80, 40])
@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_page_is_no_wider_than_the_screen(path: Path, columns: int, lang: str) -> None:
    assert wider(document(path, lang), columns) == []


SMALL = [path for path in PROBLEMS if path.stat().st_size < 1000 and path.stem not in {"small-decoder", "generation"}]


@pytest.mark.parametrize("written", ["_", "-7.25"])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_report_is_no_wider_than_the_screen(path: Path, lang: str, written: str) -> None:
    """Ids of steps and figures of any length: they are what a narrow screen is too narrow for first."""
    assert wider(report(path, lang, written), 40) == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_of_a_class_is_no_wider_than_the_screen(lang: str) -> None:
    """Whatever its students and the steps are called, and whatever is said of a paper that can't be read."""
    read = problem.load(ROOT / "problems" / "decoder-layer.yaml")
    marking = mark(read, {"layer1.feed_forward.output.product": [[1, 2], [3, 4]]})
    names = ["mei", "Anna Katharina von und zu Hohenlohe-Langenburg"]
    error = "sheets-of-the-winter-term/answers-of-mei.yaml:1:5: this [ is not closed before line 2; add it"
    papers = [*(Paper(name, marking, read.show) for name in names), Paper("bo", None, error=error)]
    page = lay_out_class(papers, lang, title=read.title, kind=read.kind)
    assert wider(page, 40) == []
    said = terminal.render(page, columns=40)
    assert error.replace(" ", "") in re.sub(r"\s", "", said) and not re.search(" bo[:：]\n", said)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("kind", [reports, sheets], ids=lambda kind: kind.__name__)
def test_no_page_that_says_all_its_sentences_is_wider_than_the_screen(kind: ModuleType, lang: str) -> None:
    assert [line for _, page in kind.documents(lang) for line in wider(page, 40)] == []


def test_where_there_is_room_a_page_is_that_of_text() -> None:
    assert terminal.render(document(ABC), columns=400) == text.render(document(ABC), width=400)


def test_no_screen_is_narrower_than_20_columns() -> None:
    assert terminal.render(document(ABC), columns=3) == terminal.render(document(ABC), columns=20)


# Folding


def test_sentences_are_folded_between_words() -> None:
    sentence = words("a sentence of ", Token("two words"), ", so ", chain(named("K"), "=", vector("1", "2")), ".")
    assert shown(sentence, columns=22) == "a sentence of\n  two words, so\n  K = [1, 2].\n"
    assert shown(Items((words("one two three four five"), words("six"))), columns=20) == (
        "one two three four\n  five\nsix\n"
    )


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("a token on one line", "so a token on one\n  line, it is\n"),
        ("layer1.attention.row_sum", "so layer1.attention.\n  row_sum, it is\n"),
        ("sheets of 1/3/answers-of-0.5.yaml", "so sheets of 1/3/\n  answers-of-0.5.\n  yaml, it is\n"),
        ("anna-maria-von-hohenlohe", "so anna-maria-von-\n  hohenlohe, it is\n"),
        ("two  spaces stay  two spaces", "so two  spaces\n  stay  two spaces,\n  it is\n"),
        ("0.123456789012345678901", "so\n  0.123456789012345678901,\n  it is\n"),
    ],
)
def test_a_token_is_broken_only_where_it_is_wider_than_a_line(token: str, expected: str) -> None:
    """Then between its words, and in them after a full stop, a stroke or a hyphen; a figure never is."""
    assert shown(words("so ", Token(token), ", it is"), columns=20) == expected
    bold = terminal.render(page(words("so ", Token(token), ", it is")), columns=20, terminal=True)
    assert SGR.sub("", bold) == "T\n=\n\n" + expected


def test_a_formula_in_a_sentence_is_broken_only_where_it_is_wider_than_a_line() -> None:
    figures = ["0.125"] * 4
    assert shown(words("x became ", vector(*figures)), columns=20) == (
        "x became [0.125,\n  0.125, 0.125,\n  0.125]\n"
    )  # fmt: skip


def test_letters_without_spaces_are_folded_before_no_closing_mark() -> None:
    assert shown(words("一二三四五六七八九十，是", Token("甲乙"), "。"), columns=20) == (
        "一二三四五六七八九\n  十，是甲乙。\n"
    )  # fmt: skip


def test_headings_and_titles_are_folded() -> None:
    section = Section(words("A heading that is long"), "a", (words("x"),), "1")
    whole = terminal.render(Document(words("A title that is long"), "en", (section,)), columns=20)
    assert whole == "A title that is long\n====================\n\n1. A heading that is\n  long\n  x\n"


CELL = chain(
    compose("cell", named("S"), figure("1"), figure("2")), "=", Math(sum_of_products(3), ("0.5",) * 6),
    "=", Math(sum_of_products(1), ("0.75", "1")), "≈", figure("0.8"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (60, "S[1,2] = 0.5×0.5 + 0.5×0.5 + 0.5×0.5 = 0.75×1 ≈ 0.8\n"),
        (40, "S[1,2] = 0.5×0.5 + 0.5×0.5 + 0.5×0.5\n       = 0.75×1 ≈ 0.8\n"),
        (30, "S[1,2] = 0.5×0.5 + 0.5×0.5 +\n         0.5×0.5\n       = 0.75×1 ≈ 0.8\n"),
        (20, "S[1,2] = 0.5×0.5 +\n         0.5×0.5 +\n         0.5×0.5\n       = 0.75×1\n       ≈ 0.8\n"),
    ],
)
def test_working_is_broken_before_signs_and_then_after_a_plus(columns: int, expected: str) -> None:
    assert shown(Work(((None, CELL),)), columns=columns) == expected


def test_a_vector_goes_on_within_its_bracket_and_terms_are_kept_whole() -> None:
    row = chain(vector("0.25", "0.25", "0.25", "0.25"), "≈", vector("1", "2"))
    assert shown(Work(((None, row),)), columns=20) == "[0.25, 0.25, 0.25,\n 0.25]\n  ≈ [1, 2]\n"
    vectors = compose("plus", vector("1", "2"), vector("3", "4"), vector("5", "6"))
    assert shown(formula(chain(named("o"), "=", vectors)), columns=24) == "o = [1, 2] + [3, 4] +\n    [5, 6]\n"
    total = compose("plus", *(compose("dot", figure("0.5"), vector("1", "2")) for _ in range(3)))
    assert shown(formula(chain(named("o"), "=", total)), columns=30) == (
        "o = 0.5·[1, 2] + 0.5·[1, 2] +\n    0.5·[1, 2]\n"
    )  # fmt: skip


def test_a_figure_wider_than_the_screen_is_not_cut() -> None:
    long = "1." + "5" * 40
    assert long in shown(formula(chain(named("a"), "=", figure(long))), columns=20)


def test_what_is_spaced_goes_on_below() -> None:
    law = spaced(chain(named("S"), "=", named("Q")), chain(named("a"), "=", named("b")), named("shapes"))
    assert shown(formula(law), columns=20) == "S = Q    a = b\n  shapes\n"


def test_a_folded_formula_does_not_stand_apart_and_matrices_do() -> None:
    long = formula(chain(vector(*["0.125"] * 4), "=", figure("1")))
    assert "\n\n" not in shown(words("a"), long, words("b"), columns=20)
    assert shown(words("a"), formula(grid([["1"], ["2"]])), columns=20) == "a\n\n⎡ 1 ⎤\n⎣ 2 ⎦\n"


def test_matrices_have_the_room_below_a_long_name() -> None:
    law = chain(named("S_masked"), "=", named("x"))
    wide = chain("=", grid([["0.125"] * 3] * 2))
    assert shown(formula(law, wide), columns=30).splitlines()[1] == "  = ⎡ 0.125  0.125  0.125 ⎤"
    assert shown(formula(law, wide), columns=40).splitlines()[1] == "         = ⎡ 0.125  0.125  0.125 ⎤"


def test_a_formula_stands_beside_its_label_or_below() -> None:
    four = vector(*["0.125"] * 4)
    work = Work(((words("short"), vector("1", "2")), (words("exponentials"), four)))
    assert shown(work, columns=50) == "short         [1, 2]\nexponentials  [0.125, 0.125, 0.125, 0.125]\n"
    assert shown(work, columns=34) == (
        "short         [1, 2]\nexponentials  [0.125, 0.125,\n               0.125, 0.125]\n"
    )  # fmt: skip
    assert shown(work, columns=24) == "short         [1, 2]\nexponentials\n  [0.125, 0.125, 0.125,\n   0.125]\n"


def test_a_wide_table_is_in_blocks_of_columns() -> None:
    table = Table((words("who"), words("first"), words("second")), ((words("A"), words("yes"), words("no")),))
    assert shown(table, columns=40) == "who  first  second\n---  -----  ------\nA    yes    no\n"
    wide = Table((words("who"), *(words(f"position {i}") for i in (1, 2))), ((words("A"), words("x"), words("y")),))
    assert shown(wide, columns=20) == (
        "who  position 1\n---  ----------\nA    x\n\nwho  position 2\n---  ----------\nA    y\n"
    )


def test_headers_of_rows_that_leave_no_room_for_figures_are_folded() -> None:
    names = [words(f"n{i}") for i in (1, 2, 3)]
    table = Table((words("who"), *names), ((words(Token("anna-maria-von-hohenlohe")), *[words("12")] * 3),))
    assert shown(table, columns=20) == (
        "who          n1  n2\n-----------  --  --\nanna-maria-  12  12\n  von-\n  hohenlohe\n\n"
        "who          n3\n-----------  --\nanna-maria-  12\n  von-\n  hohenlohe\n"
    )
    assert shown(table, columns=40).splitlines()[-1] == "anna-maria-von-hohenlohe  12  12  12"


def test_two_columns_of_sentences_are_folded_side_by_side() -> None:
    row = (words("1"), words("a sentence of six words"), words("short"))
    table = Table((words("n"), words("left"), words("right")), (row,))
    assert shown(table, columns=24) == (
        "n  left           right\n-  -------------  -----\n1  a sentence of  short\n     six words\n"
    )


# Colour


def weights(*cells: str, role: str = "weights") -> Math:
    return figure(Grid(np.array([cells], dtype=object), role=role))


def test_weights_are_shaded_by_value_with_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as poorer:  # what was written for another terminal has no part in it
        poorer.setenv("TERM", "xterm")
        assert "97;44m0.140" in coloured(formula(weights("0.140")))
    row = coloured(formula(weights("0.140", "0.300", "0.600", "1.000", "0", "__")))
    assert re.findall(r"\x1b\[([\d;]+)m([^\s\x1b]+) *\x1b", row) == [
        ("38;5;231;48;5;19", "0.140"), ("38;5;231;48;5;91", "0.300"), ("38;5;231;48;5;124", "0.600"),
        ("38;5;16;48;5;172", "1.000"), ("2", "0"),
    ]  # fmt: skip
    assert SGR.sub("", row).split() == ["[", "0.140", "0.300", "0.600", "1.000", "0", "__", "]"]


@pytest.mark.parametrize(("role", "code"), [("query", "35"), ("key", "32"), ("value", "36")])
def test_queries_keys_and_values_have_their_colours(role: str, code: str) -> None:
    assert f"\x1b[{code}m0.5\x1b[0m" in coloured(formula(weights("0.5", role=role)))
    assert f"\x1b[{code}m" not in coloured(formula(weights("0.5", role="scores")))


def test_what_is_hidden_is_dim_and_headings_and_tokens_are_bold() -> None:
    section = Section(words("Head"), "head", (formula(weights("-∞", role="masked")), words(Token("cat"), " sees")))
    whole = coloured(section)
    assert "\x1b[1mHead\x1b[0m" in whole and "\x1b[2m-∞\x1b[0m" in whole and "\x1b[1mcat\x1b[0m sees" in whole


@pytest.mark.parametrize("term", ["xterm", "xterm-256color"])
def test_a_shade_has_letters_of_its_own_that_are_no_part_of_it(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    row = coloured(formula(weights("0.1", "0.3", "0.6", "0.9")))
    codes = re.findall(r"\x1b\[(\d[\d;]+)m", row)
    assert len(set(codes)) == 4
    for code in codes:
        assert re.fullmatch(r"(97|30);4[1-7]|38;5;(231|16);48;5;\d+", code)


COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?(?:[349][0-7]|[34]8)")


@pytest.mark.parametrize(
    ("wish", "value", "on_terminal", "escapes", "colours"),
    [
        ("TERM", "xterm", True, True, True),
        ("TERM", "dumb", True, False, False),
        ("NO_COLOR", "1", True, True, False),
        ("CLICOLOR", "0", True, True, False),
        ("CLICOLOR", "1", True, True, True),
        ("TTY_COMPATIBLE", "0", True, False, False),
        ("TERM", "xterm", False, False, False),
        ("FORCE_COLOR", "1", False, True, True),
    ],
)
def test_the_wishes_of_the_user_are_honoured(
    wish: str, value: str, on_terminal: bool, escapes: bool, colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(wish, value)
    whole = terminal.render(document(ABC), columns=80, terminal=on_terminal)
    assert ("\x1b" in whole, bool(COLOUR.search(whole))) == (escapes, colours)
    assert figures(SGR.sub("", whole)) == figures(text.render(document(ABC)))


@pytest.mark.parametrize("label", [*HOSTILE, "\U000e0021\U000e007f", "\x00", "\x9b31m", "[bold]x[/bold]"])
def test_hostile_labels_show_as_themselves(label: str) -> None:
    labelled = grid([["1"]], (label,), (label,))
    sentence: Prose = words("so ", Token(label), " it is")
    whole = coloured(sentence, formula(labelled), Section(words(Token(label)), "a", (Work(((sentence, named("x")),)),)))
    plain = SGR.sub("", whole)
    assert "\x1b" not in plain and not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\U000e0000-\U000e007f]", plain)
    assert plain.count(visible(label)) >= 4
    assert f"so {visible(label)} it is" in plain


# The command line on a terminal


def on_a_terminal(*arguments: object, columns: int = 80, rows: int = 24, **environment: str) -> tuple[int, str]:
    """The exit code of a call, and what it leaves on a terminal of that size: a line of progress is wiped."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    world = {key: value for key, value in os.environ.items() if key not in WISHES}
    process = subprocess.Popen(
        [sys.executable, "-m", "attncalc", *map(str, arguments)],
        stdin=its, stdout=its, stderr=its, cwd=ROOT, env={**world, "TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(its)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    text = re.sub(r"(\rattncalc: [^\r\n]*|\r *(?=\r))+\r", "", written.decode())
    return process.wait(timeout=60), text.replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 40])
def test_the_default_format_of_a_terminal_is_as_wide_as_it_is(columns: int) -> None:
    expected = terminal.render(document(ABC), columns=columns, terminal=True)
    assert on_a_terminal("solve", ABC, columns=columns) == (0, expected)
    assert on_a_terminal("solve", ABC, columns=100, COLUMNS=str(columns)) == (0, expected)


def test_text_is_the_same_on_a_terminal_as_in_a_pipe() -> None:
    assert on_a_terminal("solve", ABC, "-f", "text", columns=40) == (0, text.render(document(ABC)))


def test_a_file_gets_text_unless_it_is_to_have_another_format(tmp_path: Path) -> None:
    file = tmp_path / "page.txt"
    assert on_a_terminal("solve", ABC, "-o", file, "--pager", PAGER="echo paged;") == (0, "")
    assert file.read_text() == text.render(document(ABC))
    assert on_a_terminal("solve", ABC, "-o", file, "-f", "terminal", columns=40) == (0, "")
    assert file.read_text() == terminal.render(document(ABC), columns=40)


def test_only_pager_pages_and_only_what_is_longer_than_the_screen() -> None:
    call = ("solve", ABC, "--step", "A")
    whole = on_a_terminal(*call, PAGER="echo paged")
    assert "paged" not in whole[1] and "0.401" in whole[1]
    assert on_a_terminal(*call, "--pager", PAGER="echo paged", rows=60) == whole
    assert on_a_terminal(*call, "--pager", PAGER="echo paged", rows=10) == (0, "paged\n")
    assert on_a_terminal("solve", ABC, "--pager", PAGER="cat") == on_a_terminal("solve", ABC)
    assert on_a_terminal("mask", "--causal", "--pager", PAGER="echo paged", rows=10) == (0, "paged\n")


def test_a_pager_may_be_quit_early_or_be_missing() -> None:
    big = ROOT / "problems" / "four-positions.yaml"
    assert on_a_terminal("solve", big, "--pager", PAGER="head -n 1") == (
        0, "\x1b[1mFour positions, two heads of width 4\x1b[0m\n",
    )  # fmt: skip
    for none in ("no-such-pager", "'never closed", "/"):
        assert on_a_terminal("solve", ABC, "--pager", PAGER=none) == on_a_terminal("solve", ABC)


def test_less_is_told_to_show_colours() -> None:
    assert on_a_terminal("solve", ABC, "--pager", PAGER="sh -c 'echo $LESS'") == (0, "-R\n")


def test_a_pipe_has_no_pager() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "attncalc", "solve", str(ABC), "--pager"],
        capture_output=True, cwd=ROOT, env={**os.environ, "PAGER": "echo paged"}, check=True, timeout=60,
    )  # fmt: skip
    assert run.stdout.decode() == text.render(document(ABC))
