"""Figures that others printed, marked: what is said of each is what is known of it.

Those of published_figures.yaml, with their misprints, and of published_marked.yaml; and those that PyTorch's tests
print, which are cut off after six decimals of float32.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from random_transformers import text_of
from test_published import RECORDS
from test_published_models import PUBLISHED

from attncalc import mark, parse
from attncalc.marking import Marking

FILE = Path(__file__).with_name("published_marked.yaml")
MARKED = {record["name"]: record for record in yaml.load(FILE.read_text("utf-8"), Loader=yaml.BaseLoader)}
PYTORCH = {
    "pytorch: one token": ["2.258703 0.127985 -0.697881 0.170862"],
    "pytorch: two tokens": ["2.272644 0.119035 -0.691669 0.153486"] * 2,
    "pytorch: the first of two is padding": ["2.301516 0.092249 -0.679101 0.103088"] * 2,
    "pytorch: five tokens": [
        "2.428589 0.020835 -0.602055 -0.085249", "2.424689 0.019155 -0.604793 -0.085672",
        "2.433774 0.021598 -0.598343 -0.087548", "2.436185 0.022682 -0.596625 -0.087261",
        "2.416246 0.017512 -0.610712 -0.082961",
    ],
    "pytorch: five other tokens": [
        "2.427987 0.021213 -0.602496 -0.084103", "2.413863 0.022211 -0.612486 -0.072490",
        "2.425104 0.019748 -0.604515 -0.084839", "2.433556 0.021891 -0.598509 -0.086832",
        "2.422901 0.024187 -0.606178 -0.074929",
    ],
    "pytorch: the second of five is padding": [
        "2.429026 0.020793 -0.601741 -0.085642", "2.425009 0.019155 -0.604566 -0.085899",
        "2.434199 0.021682 -0.598039 -0.087699", "2.436457 0.022736 -0.59643 -0.08736",
        "2.416531 0.017498 -0.610513 -0.083181",
    ],
    "pytorch: the last two are padding": [
        "2.428811 0.021445 -0.601912 -0.084252", "2.415408 0.02249 -0.611415 -0.073",
        "2.42598 0.019941 -0.603896 -0.085091", "2.434021 0.022093 -0.598179 -0.08679",
        "2.4242 0.024653 -0.605266 -0.074959",
    ],
}  # fmt: skip


def misprinted(record: dict[str, Any]) -> Iterator[tuple[str, int, int, str]]:
    for id, places in record.get("misprints", {}).items():
        for row, column, text in places:
            yield id, int(row), int(column), text


def as_problem(record: dict[str, Any]) -> str:
    """A record of published_figures.yaml as a problem file that says what was printed."""
    figures = {id: [list(row) for row in rows] for id, rows in record["figures"].items()}
    for id, row, column, text in misprinted(record):
        figures[id][row - 1][column - 1] = text
    show = f"show: {{decimals: {record['decimals']}}}\n" if "decimals" in record else ""
    return f"{record['problem']}{show}published: {json.dumps(figures)}\n"


def places(record: dict[str, Any], key: str) -> set[tuple[str, int, int]]:
    return {(id, int(row), int(column)) for id, each in record.get(key, {}).items() for row, column in each}


def expect(marking: Marking, slips: set[tuple[str, int, int]], follows: set[tuple[str, int, int]]) -> None:
    """These slips, these that follow; all else is correct."""
    found = {(each.step, each.row + 1, each.column + 1): each.verdict for each in marking.figures}
    wanted = dict.fromkeys(found, "correct") | dict.fromkeys(slips, "slip") | dict.fromkeys(follows, "follows")
    assert found == wanted and found


@pytest.mark.parametrize("name", RECORDS)
def test_printed_figures_and_misprints(name: str) -> None:
    record = RECORDS[name]
    follows = places(record, "follows")
    slips = {(id, row, column) for id, row, column, _ in misprinted(record)} - follows
    expect(mark(parse(as_problem(record).encode())), slips, follows)


@pytest.mark.parametrize("name", MARKED)
def test_slips_and_what_follows_from_them(name: str) -> None:
    record = MARKED[name]
    expect(mark(parse(record["problem"].encode())), places(record, "slips"), places(record, "follows"))


@pytest.mark.parametrize("name", PYTORCH)
def test_figures_that_are_cut_off(name: str) -> None:
    printed = {"result": [row.split() for row in PYTORCH[name]]}
    expect(
        mark(parse(text_of(PUBLISHED[name][0] | {"published": printed, "show": {"decimals": 5}}).encode())),
        set(),
        set(),
    )


@pytest.mark.parametrize(
    ("row", "verdicts"),
    [
        ("9.0031e-02 2.4473e-01 6.6524e-01", "correct correct correct"),
        ("9.0031e-02 2.4473e-01 6.6525e-01", "correct correct slip"),
        ("9.0032e-02 0.24473 0.66524", "correct correct correct"),  # 0.09003 of as many decimals as those beside it
        ("9.004e-02 0.24473 0.66524", "slip correct correct"),
        ("0.09003 0.2447 0.665", "correct imprecise slip"),
    ],
)
def test_a_figure_with_an_exponent_asks_no_decimals_of_those_beside_it(row: str, verdicts: str) -> None:
    text = f"kind: softmax\nx: [[1, 2, 3]]\npublished: {{A: [[{', '.join(row.split())}]]}}\n"
    assert [each.verdict for each in mark(parse(text.encode())).figures] == verdicts.split()


def test_how_many_there_are() -> None:
    texts = [*map(as_problem, RECORDS.values()), *(record["problem"] for record in MARKED.values())]
    counts: Counter[str] = Counter()
    for text in texts:
        counts += Counter(mark(parse(text.encode())).counts)
    assert counts == {"correct": 1285, "follows": 50, "slip": 47}
