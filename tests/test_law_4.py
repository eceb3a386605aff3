"""Law 4: every figure in every format is `digits.shown` of the value, the same digits in all of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from random_problems import cases

from attncalc import formats, mechanisms, problem
from attncalc.digits import shown
from attncalc.layout import lay_out

PROBLEMS = sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))
Rows = Counter[tuple[str, ...]]


def rows_of_text(page: str) -> Rows:
    """The rows of the matrices that are drawn, as texts; and the single figures that lines end with."""
    found = re.findall(r"[⎡⎢⎣\[] ( *\S.*?) [⎤⎥⎦\]](?= |$)", page, re.MULTILINE)
    return Counter(tuple(row.split()) for row in (*found, *re.findall(r"  \S+ [=≈] (\S+)$", page, re.MULTILINE)))


def rows_of_markdown(page: str) -> Rows:
    rows: Rows = Counter((figure,) for figure in re.findall(r" (?:=|\\approx) (\S+)`\$$", page, re.MULTILINE))
    for _, columns, body in re.findall(
        r"\\begin\{(bmatrix|array)\}(?:\{([lr|]*)\})?(.*?)\\end\{\1\}", page, re.DOTALL
    ):
        lines = [[cell.strip().replace(r"-\infty", "-∞") for cell in row.split("&")] for row in body.split(r"\\")]
        if r"\hline" in body:  # a header above; where there is a rule after it, a label before each row
            lines[1] = [lines[1][0].removeprefix(r"\hline").strip(), *lines[1][1:]]
            lines = [line["|" in columns :] for line in lines[1:]]
        rows.update(tuple(line) for line in lines)
    return rows


def check(text: bytes) -> None:
    read = problem.parse(text, folder=PROBLEMS[0].parent).with_show(detail="matrices")
    solution = mechanisms.solve(read)
    document = lay_out(solution, read.show, "en", kind=read.kind)
    # So wide that no matrix is broken into blocks of columns.
    pages = {name: formats.render(name, document, width=10**6, math="github") for name in ("text", "markdown")}
    printed = json.loads(formats.render("json", solution, read.show.rule))
    drawn = {"text": rows_of_text(pages["text"]), "markdown": rows_of_markdown(pages["markdown"])}
    assert [step["id"] for step in printed["steps"]] == list(solution.steps)
    for step in printed["steps"]:
        texts = shown(solution.steps[step["id"]], read.show.rule).tolist()
        assert step["shown"] == texts
        for name, rows in drawn.items():
            assert not Counter(map(tuple, texts)) - rows, (name, step["id"], pages[name])


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_shipped_problems_have_the_same_digits_in_all_formats(path: Path) -> None:
    check(path.read_bytes())


@given(cases())
def test_random_problems_have_the_same_digits_in_all_formats(case) -> None:
    check(case.text.encode())
