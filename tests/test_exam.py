"""Sheets of class exam: XeLaTeX sets each with and without its key, and without it nothing of the key is printed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sheets
from test_formats import chain, formula, named, words
from test_latex import LABELS, compiled, needs_xelatex

from attncalc.blocks import (
    Blank,
    Expected,
    Grid,
    Items,
    Prose,
    Question,
    Section,
    Sheet,
    Space,
    Table,
    Token,
    Work,
    compose,
    figure,
)
from attncalc.formats import exam
from attncalc.formats.latex import MOST_LINES, TALL

SHEETS = {f"{name}.{lang}": sheet for lang in ("en", "zh") for name, sheet in sheets.sheets(lang)}
ONE = SHEETS["level 1.en"]
BOX = Prose((Blank(6, Expected("1", "0.5")),))
needs_pdftotext = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="there is no pdftotext")


def of(*questions: Question) -> Sheet:
    return ONE._replace(questions=questions)


def question(*blocks: object, marks: str = "", answer: tuple[object, ...] = ()) -> Question:
    return Question(words("q"), blocks, answer or (words("a"),), marks)  # type: ignore[arg-type]


def printed(source: str, folder: Path) -> str:
    """What is to be read on its pages."""
    folder.mkdir(exist_ok=True)
    log = compiled(source, folder)
    assert "Missing character" not in log
    run = subprocess.run(["pdftotext", "-layout", "page.pdf", "-"], cwd=folder, capture_output=True, check=True)
    return run.stdout.decode()


# Through XeLaTeX


@needs_xelatex
@needs_pdftotext
@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_and_its_key_compile_and_the_key_is_printed_only_where_it_is_asked_for(
    name: str, tmp_path: Path
) -> None:
    sheet = SHEETS[name]
    marked = tuple(each._replace(answer=(*each.answer, words("the very end"))) for each in sheet.questions)
    without = printed(exam.render(sheet._replace(questions=marked)), tmp_path / "sheet")
    with_key = printed(exam.render(sheet._replace(questions=marked), key=True), tmp_path / "key")
    assert "the very end" not in without and with_key.count("the very end") == len(marked)
    assert sheet.words.solution not in without and with_key.count(sheet.words.solution) == len(marked)
    nothing = tuple(each._replace(answer=()) for each in sheet.questions)
    assert without == printed(exam.render(sheet._replace(questions=nothing)), tmp_path / "nothing")
    for figures in (each.figures for question in sheet.questions for each in question.asked):
        assert all(text.replace("-", "−") in with_key or text in with_key for text in figures)


@needs_xelatex
def test_hostile_labels_compile(tmp_path: Path) -> None:
    rows = tuple((words(Token(label)), BOX, words(Token(label), Blank(4))) for label in LABELS)
    grid = Table(tuple(words(Token(label)) for label in LABELS[:3]), rows)
    work = Work(tuple((words("w ", Token(label)), chain(named("A"), "=", figure("1"))) for label in LABELS))
    listed = Items(tuple(words(Token(label)) for label in LABELS))
    blocks = (Section(words(*map(Token, LABELS)), "a", (grid, work, listed)), words(*LABELS[:6]))
    hostile = ONE._replace(
        title=words("".join(LABELS[:6]), Token(r"\end{document}")), foot=words(*map(Token, LABELS)),
        questions=(Question(words(Token(r"\printanswers"), Token("%}")), blocks, blocks, "3"),),
    )  # fmt: skip
    for key in (False, True):
        compiled(exam.render(hostile, key=key), tmp_path)


@needs_xelatex
@pytest.mark.parametrize("rows, columns", [(70, 3), (3, 40), (TALL, 2), (TALL + 1, 12)])
def test_wide_and_tall_grids_are_not_cut(rows: int, columns: int, tmp_path: Path) -> None:
    grid = Table(tuple(words(f"c{j}") for j in range(columns + 1)), ((words("row"), *[BOX] * columns),) * rows)
    wide = figure(Grid(np.full((rows, columns), "-10.125", dtype=object)))
    product = formula(chain(named("X"), "=", compose("dot", wide, wide), "≈", wide))
    asked = question(grid, Space(6), Space(99), answer=(product, grid))
    for key in (False, True):
        compiled(exam.render(of(asked, asked), key=key), tmp_path)


@needs_xelatex
@needs_pdftotext
def test_a_question_stands_on_one_page_with_its_room_and_a_key_has_none(tmp_path: Path) -> None:
    """However far down the page it begins."""
    asked = question(words("begins " + 60 * "long " + "ends"), Space(10), answer=(words("answered"),))
    questions = [each for lines in range(24) for each in (question(*[words("above")] * lines, Space(9)), asked, asked)]
    pages = printed(exam.render(of(*questions)), tmp_path / "sheet").split("\f")
    assert len(pages) > 24 and sum(page.count("begins") for page in pages) == 48
    assert all(page.count("begins") == page.count("ends") for page in pages)
    assert all(re.match(r"\s*(\d+\. q|above)", page) for page in pages[1:-1])  # no title is left behind
    assert printed(exam.render(of(asked, asked, asked), key=True), tmp_path / "key").count("\f") == 1


@needs_xelatex
@needs_pdftotext
def test_marks_are_added_up_by_the_second_run(tmp_path: Path) -> None:
    sheet = of(*(question(words("why?"), marks=marks) for marks in ("4", "2.5", "0.5", *["1"] * 20)))
    for _ in range(2):
        text = printed(exam.render(sheet), tmp_path)
    assert re.search(r"Total\b", text) and re.search(r"\b27\b", text)
    assert "(4 marks) q" in text and "(1 mark) q" in text


# What is written


@pytest.mark.parametrize(
    ("marks", "written"),
    [
        (("4",), [r"\question[4]"]),
        (("2.5", "0.5"), [r"\question[2\half]", r"\question[\half]"]),
        (("4", ""), [r"\question[4]", r"\question"]),
        (("0.25", "4"), [r"\question (0.25 marks)", r"\question (4 marks)"]),  # exam knows no quarters,
        (("123456",), [r"\question (123456 marks)"]),  # and no large numbers: they are said, and not added up
        (("", ""), [r"\question", r"\question"]),
    ],
)
def test_marks(marks: tuple[str, ...], written: list[str]) -> None:
    source = exam.render(of(*(question(marks=each) for each in marks)))
    assert re.findall(r"\\question(?:\[.*?\]| \(.*?\))?(?= )", source) == written
    has_table = "[" in "".join(written) and len(marks) > 1
    assert (r"\multirowgradetable" in source) == has_table
    assert (r"\addpoints" in source) == ("[" in "".join(written))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_line_at_the_head_says_how_the_key_is_printed(lang: str) -> None:
    sheet = SHEETS[f"several.{lang}"]
    assert f"% {sheet.words.with_key}\n% \\printanswers\n" in exam.render(sheet)
    assert f"% {sheet.words.with_key}\n\\printanswers\n" in exam.render(sheet, key=True)
    assert exam.render(sheet).replace("% \\printanswers", "\\printanswers") == exam.render(sheet, key=True)
    assert ("ctex" in exam.render(sheet)) == (lang == "zh")


def test_the_title_of_one_question_is_said_once() -> None:
    asked = question()._replace(title=words("a title"))
    assert exam.render(of(asked)._replace(title=words("a title"))).count("a title") == 1
    assert exam.render(of(asked)._replace(title=words("another"))).count("a title") == 1
    assert exam.render(of(asked, asked)._replace(title=words("a title"))).count("a title") == 3


def test_a_grid_is_boxes_with_nothing_in_them_and_room_is_a_box() -> None:
    given = Table((words("Q"), words("1"), words("2")), ((words("a"), BOX, words("7")),))
    source = exam.render(of(question(given, Space(4), Space(99))))
    assert r"\begin{tabular}{|l|c|c|}" in source
    assert "\\hline \\attnhead Q & 1 & 2 \\\\ \\hline\n\\attnrow a & \\hspace*{3.0em} & 7 \\\\ \\hline" in source
    assert r"\attnroom{4}" in source and rf"\attnroom{{{MOST_LINES}}}" in source
