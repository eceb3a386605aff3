"""Moodle's XML: every Cloze box is parsed again, as Moodle does, and marks as `check` does. JSON of sheets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
import sheets
from test_formats import words
from test_latex import LABELS

from attncalc import formats, load, mark, problem, solve
from attncalc.blocks import Blank, Expected, Prose, Question, Section, Sheet, Space, Table, Token
from attncalc.exercises.blanks import by_level, hidden
from attncalc.formats import moodle, sheet_json
from attncalc.formats.width import visible
from attncalc.layout.exercise import Exercise, lay_sheet

SHEETS = {f"{name}.{lang}": sheet for lang in ("en", "zh") for name, sheet in sheets.sheets(lang)}
FRACTIONS = {
    100, 90, 83.33333, 80, 75, 70, 66.66667, 60, 50, 40, 33.33333, 30, 25, 20, 16.66667, 14.28571, 12.5, 11.11111, 10,
    5, 0,
}  # fmt: skip
each_sheet = pytest.mark.parametrize("sheet", SHEETS.values(), ids=SHEETS)


class Answer(NamedTuple):
    percent: float
    figure: Decimal
    tolerance: Decimal


def boxes(markup: str) -> list[list[Answer]]:
    """Each box of a text; whatever starts as one is one, and has numbers alone in it."""
    starts = re.findall(r"\{\s*\d*\s*:\s*\w+\s*:", markup)
    found = re.findall(r"\{1:NUMERICAL:([^{}]*)\}", markup)
    assert len(found) == len(starts) and markup.count("{") == markup.count("}") == len(found)
    return [[answer(each) for each in box.split("~")] for box in found]


def answer(text: str) -> Answer:
    match = re.fullmatch(r"(=|%(\d+)%)(-?\d+(?:\.\d+)?):(\d+(?:\.\d+)?)", text)
    assert match, text
    assert not re.fullmatch(r"-0(\.0*)?", match[3])
    return Answer(100 if match[1] == "=" else float(match[2]), Decimal(match[3]), Decimal(match[4]))


def quiz(*laid: Sheet) -> tuple[str, list[ElementTree.Element]]:
    """The category, and the questions."""
    root = ElementTree.fromstring(moodle.render(*laid))
    assert root.tag == "quiz"
    category, *questions = root
    assert category.get("type") == "category"
    return category.findtext("category/text") or "", questions


def text(question: ElementTree.Element, of: str = "questiontext") -> str:
    return question.findtext(f"{of}/text") or ""


class Reader(HTMLParser):
    """What a browser shows; that each element is closed, and that nothing is looked for elsewhere."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.shown = ""
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {"class", "id", "href", "src"} & {key for key, _ in attrs}
        if tag != "wbr":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "mspace"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown += data


def asked(sheet: Sheet) -> list[str]:
    """The figures that are asked for, in the order of the sheet's blanks; of shapes, how many rows and columns."""
    found = [each for question in sheet.questions for each in question.asked]
    if any(each.shape_asked for each in found):
        return [str(size) for each in found for size in each.shape]
    return list(chain.from_iterable(each.figures for each in found))


# What is asked


@each_sheet
def test_there_is_a_box_for_each_figure_that_is_asked_for(sheet: Sheet) -> None:
    _, questions = quiz(sheet)
    kinds = ["cloze" if each.asked else "essay" for each in sheet.questions]
    assert [question.get("type") for question in questions] == kinds
    found = [box for question in questions for box in boxes(text(question))]
    numbers = [Decimal(figure) for figure in asked(sheet) if figure != "-∞"]
    assert [box[0].figure for box in found] == numbers != []
    assert all(box[0].percent == 100 and {each.percent for each in box} <= FRACTIONS for box in found)
    for question in questions[: kinds.count("cloze")]:
        assert boxes(text(question, "generalfeedback")) == []
        Reader(text(question)), Reader(text(question, "generalfeedback"))
        assert sheet.words.by_itself in Reader(text(question)).shown


@pytest.mark.parametrize("name", ["abc", "abc-causal", "two-heads", "decoder-layer"])
def test_a_box_takes_as_right_what_check_does(name: str) -> None:
    """Of the figures of so many decimals those that are correct; of more, none that is a slip."""
    read = load(sheets.PROBLEMS / f"{name}.yaml")
    laid = lay_sheet([sheets.exercise(name, 2)], sheets.HEAD, "en")
    found = iter(boxes(text(quiz(laid)[1][0])))
    places = [
        (each, place) for each in laid.questions[0].asked
        for place, figure in zip(each.places, each.figures, strict=True) if figure != "-∞"
    ]  # fmt: skip
    for k, ((each, place), box) in enumerate(zip(places, found, strict=True)):
        if k % 5:  # each is marked with a whole solution
            continue
        shown, half = box[0].figure, box[0].tolerance
        for units in (-2, -1, 1, 2):
            figure = shown + units * 2 * half
            assert takes(box, figure) == (verdict(read, each, place, figure) == "correct"), (each.step, place, figure)
        for figure in (shown, shown - half * 9 / 10, shown + half * 9 / 10):
            assert takes(box, figure) and verdict(read, each, place, figure) in {"correct", "follows"}


def takes(box: list[Answer], figure: Decimal) -> bool:
    """Whether it is right: Moodle goes by the first answer that fits."""
    fits = (each.percent for each in box if abs(each.figure - figure) <= each.tolerance)
    return next(fits, 0) == 100


def verdict(read: Any, step: Any, place: tuple[int, int], figure: Decimal) -> str:
    answers = np.full(step.shape, None, dtype=object)
    answers[place] = f"{figure:f}"
    return str(mark(read, {step.step: answers}).steps[step.step].verdicts[place])


def test_both_figures_of_a_tie_are_right() -> None:
    tie = problem.parse(b"A: [[0.5, 0.5]]\nV: [[0.25], [0.25]]\nshow: {decimals: 1}\n")
    half = Decimal("0.05")
    assert box_of(tie, "O") == [Answer(100, Decimal("0.3"), half), Answer(100, Decimal("0.2"), half)]


def box_of(read: Any, step: str) -> list[Answer]:
    solution = solve(read)
    flags = {step: np.ones(solution.steps[step].shape, dtype=bool)}
    exercise = Exercise(solution, read.show, read.kind, None, hidden(solution, flags))
    found: list[Answer] = boxes(text(quiz(lay_sheet([exercise], sheets.HEAD, "en"))[1][0]))[0]
    return found


def test_a_hidden_score_is_shown_and_not_asked_for() -> None:
    read = load(sheets.PROBLEMS / "abc-causal.yaml")
    solution = solve(read)
    masked = next(id for id, step in solution.steps.items() if step.operands and np.isinf(step.values).any())
    everything = {masked: np.ones((3, 3), dtype=bool)}
    exercise = Exercise(solution, read.show, read.kind, None, hidden(solution, everything))
    source = text(quiz(lay_sheet([exercise], sheets.HEAD, "en"))[1][0])
    assert len(boxes(source)) == 6
    assert source.count("<td>-∞</td>") == 3


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        (Expected("0.401", "0.0005"), "{1:NUMERICAL:=0.401:0.0005}"),
        (Expected("0.401", "0.0005", ("0.284",)), "{1:NUMERICAL:=0.401:0.0005~%50%0.284:0.0005}"),
        (Expected("-2", "0.5", ("-2.5", "3", "3.0", "-∞", "-2")), "{1:NUMERICAL:=-2:0.5~%50%3:0.5}"),
        (Expected("-0.000", "0.0005", ("-0", "1e-2")), "{1:NUMERICAL:=0.000:0.0005~%50%0.01:0.0005}"),
        (Expected("0.3", "0.05", ("0.2", "0.1"), ("0.2",)), "{1:NUMERICAL:=0.3:0.05~=0.2:0.05~%50%0.1:0.05}"),
        (Expected("3", "0"), "{1:NUMERICAL:=3:0}"),
        (Expected("1e-20", "0.0005"), "{1:NUMERICAL:=0.00000000000000000001:0.0005}"),
        (Expected("-∞", "0.0005"), "-∞"),
    ],
)
def test_a_box(expected: Expected, written: str) -> None:
    assert f"<p>{written}</p>" in text(quiz(of(words("a"), Question(words("q"), (Prose((Blank(6, expected),)),
                                                                                 words("b")), ())))[1][0])  # fmt: skip


# What is around it


def of(title: Prose, *questions: Question) -> Sheet:
    return SHEETS["level 1.en"]._replace(title=title, questions=questions)


def test_many_sheets_are_one_quiz_of_one_category() -> None:
    variants = [SHEETS["several.en"]._replace(foot=words(f"Variant {k}")) for k in range(3)]
    category, questions = quiz(*variants)
    names = [question.findtext("name/text") for question in questions]
    assert category == "$course$/top/Exercises"
    assert names[0] == "1. One head, three tokens, causal mask, 4 marks, Variant 0"
    assert len(set(names)) == len(names) == 6
    started: Iterator[str] = moodle.lines(iter(variants))
    assert next(started).startswith('<?xml version="1.0" encoding="UTF-8"?>\n<quiz>')
    assert quiz(of(words("a/b <c>")))[0] == "$course$/top/a//b <c>"


def test_a_question_without_a_figure_is_an_essay_with_the_key_for_who_marks() -> None:
    _, (question,) = quiz(of(words("a"), Question(words("q"), (words("why? ", Blank()), Space()), (words("because"),))))
    assert question.get("type") == "essay"
    assert text(question) == "<p>why? …</p>\n"
    assert text(question, "graderinfo") == "<p>because</p>"


def test_labels_are_shown_as_they_are_and_are_nothing_to_moodle() -> None:
    own = (
        "{1:SHORTANSWER:=x}", "{#1}", "{1:NUMERICAL:=1:0}", "~%50%", "]]>", "@@PLUGINFILE@@/x", "$$x$$", r"\(x\)",
        "[[1]]", "\ufffe", "<script>", "a\x000\x00", "}",
    )  # fmt: skip
    labels = (*LABELS, *own)
    box = Prose((Blank(6, Expected("1", "0.5")),))
    rows = tuple((words(Token(label)), box) for label in labels)
    everywhere = (
        Section(words(*map(Token, labels)), "a", (Table((words("a"), words(Token("}{"))), rows),)),
        words("".join(labels).replace("\n", " ")),
    )
    for label in labels:
        laid = of(words(Token(label)), Question(words(Token(label), label), everywhere, everywhere[1:]))
        _, (question,) = quiz(laid)
    source = text(question)
    found = re.findall(r"\{[^{}]*\}", source)
    assert found == ["{1:NUMERICAL:=1:0.5}"] * len(labels)
    assert not re.search(r"[$@\\~\[\]]", source.replace("{1:NUMERICAL", ""))
    shown = Reader(source).shown
    for label in labels:
        assert visible(label).replace("\ufffe", "\ufffd") in shown, label
    assert not re.search(r"[{}$@\\~\[\]]", text(question, "generalfeedback"))


def test_sheets_say_nothing_in_symbols_that_moodle_would_not_show() -> None:
    """A formula is MathML, which the browser sets; no font or style sheet is needed."""
    source = moodle.render(SHEETS["level 3.zh"])
    assert "<math>" in source and "class=" not in source and 'style="' in source
    matrices = re.findall(r"<table [^>]*aria-label", source)
    assert matrices and all("text-align:right" in each for each in matrices)


# JSON


@each_sheet
def test_json_says_what_is_asked_and_the_key_what_it_is(sheet: Sheet) -> None:
    without, with_key = (json.loads(sheet_json.render(sheet, key=key)) for key in (False, True))
    assert without["format"] == with_key["format"] == "attncalc-exercise/1"
    assert without["head"] == ["NLP", "2026"]
    steps = [step for question in without["questions"] for step in question["asked"]]
    keyed = [step for question in with_key["questions"] for step in question["asked"]]
    found = [each for question in sheet.questions for each in question.asked]
    assert [step["step"] for step in steps] == [each.step for each in found]
    assert [each["shown"] for step in keyed for each in step["figures"]] == [f for each in found for f in each.figures]
    for step, key, each in zip(steps, keyed, found, strict=True):
        assert [tuple(figure["index"]) for figure in key["figures"]] == list(each.places)
        assert "shown" not in json.dumps(step)
        if each.shape_asked:
            assert step == {"step": each.step, "shape_asked": True}
        else:
            assert {**key, "figures": step["figures"]} == step
            n, m = step["shape"]
            assert all(i < n and j < m for i, j in (figure["index"] for figure in step["figures"]))
            assert [len(labels) for labels in (step["rows"], step["columns"]) if labels] == [
                size for size, labels in zip((n, m), (step["rows"], step["columns"]), strict=True) if labels
            ]
    marks = [question["marks"] for question in without["questions"]]
    assert marks in ([4, 6], [None] * len(sheet.questions))


def test_what_a_level_asks_for_is_what_the_sheet_lists() -> None:
    solution = solve(load(sheets.PROBLEMS / "abc.yaml"))
    level = by_level(solution, 3)
    listed = {each.step: each.places for each in SHEETS["level 3.en"].questions[0].asked}
    assert listed == {id: tuple(zip(*map(list, np.nonzero(flags)), strict=True)) for id, flags in level.items()}


def test_formats_of_sheets_are_those_of_the_command() -> None:
    from attncalc.cli import exercise
    from attncalc.cli import sheets as files

    assert set(formats.SHEETS) == set(exercise.FORMATS) == set(files.ENDINGS)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "attncalc", "exercise", str(sheets.PROBLEMS / "draw-one-head.yaml"), *arguments]
    return subprocess.run(command, cwd=sheets.PROBLEMS.parent, capture_output=True, text=True)


def test_variants_are_one_quiz_and_its_key_is_in_it(tmp_path: Path) -> None:
    root = ElementTree.fromstring(run("--variants", "3", "--format", "moodle").stdout)
    assert [question.get("type") for question in root] == ["category", "cloze", "cloze", "cloze"]
    refused = run("--format", "moodle", "--key")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "feedback" in refused.stderr
    assert run("--variants", "2", "--format", "moodle", "--output-dir", str(tmp_path / "class")).returncode == 0
    names = {path.name for path in (tmp_path / "class").iterdir()}
    assert {"sheet-1.xml", "sheet-2.xml"} <= names and not any(name.startswith("key") for name in names)


def test_an_essay_is_worth_its_marks_and_a_cloze_its_boxes() -> None:
    asked = run("--format", "moodle", "--level", "1", "--concepts", "2", "--marks", "4,1.5,3").stdout
    grades = [(each.get("type"), each.findtext("defaultgrade")) for each in ElementTree.fromstring(asked)]
    assert grades == [("category", None), ("cloze", None), ("essay", "1.5"), ("essay", "3")]


@pytest.mark.parametrize("name", formats.SHEETS)
def test_each_format_writes_a_sheet_in_either_language(name: str) -> None:
    for lang in ("en", "zh"):
        written = run("--format", name, "--lang", lang)
        assert written.returncode == 0 and written.stdout.endswith("\n") and written.stderr == ""
