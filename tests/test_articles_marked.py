"""The figures that the articles print, which the shipped problems hold (`published:`), marked.

The slips of article 3 were worked out on paper from its matrices: Q and K from H; the scores from the Q and K that it
prints; every other figure from the one before it, as printed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from attncalc import load, mark
from attncalc.marking import Marking

PROBLEMS = Path(__file__).parents[1] / "problems"
ARTICLE_3_SLIPS = [  # rows and columns from 0, as the article counts; as printed, and as it should be
    ("Q", 1, 0, "1.43", 0.425),
    ("Q", 2, 0, "1.47", 0.965),
    ("K", 1, 0, "1.43", 1.77),
    ("K", 1, 1, "0.84", 0.425),
    ("K", 1, 2, "1.43", 1.77),
    ("K", 1, 3, "0.84", 0.425),
    ("K", 2, 1, "1.47", 0.965),
    ("K", 2, 3, "1.47", 0.965),
    ("S", 0, 1, "3.54", 4.54),  # 1×1.43 + 1×0.84 + 1×1.43 + 1×0.84
    ("S", 1, 1, "5.78", 5.6334),  # 1.43×1.43 + 1.77×0.84 + 0.43×1.43 + 1.77×0.84
    ("S", 1, 2, "6.94", 6.6732),  # 1.43×0.79 + 1.77×1.47 + 0.43×0.79 + 1.77×1.47
    ("S", 2, 1, "4.56", 4.8164),  # 1.47×1.43 + 0.79×0.84 + 0.97×1.43 + 0.79×0.84
    ("S", 2, 2, "5.18", 4.2502),  # 1.47×0.79 + 0.79×1.47 + 0.97×0.79 + 0.79×1.47
    ("O", 1, 1, "1.043", 0.9421),  # 0.229×1 + 0.277×1.54 + 0.494×0.58
]
# By problem, how many of its printed figures are correct, and how many follow; the slips are those of article 3.
COUNTS = {
    "abc": (71, 4),
    "abc-causal": (51, 0),
    "feed-forward": (8, 0),
    "gate": (1, 0),
    "i-love-you": (31, 42),
    "i-love-you-embedded": (39, 0),
    "layer-norm": (3, 0),
    "mask-before-after": (18, 0),
    "one-query": (10, 0),
    "output": (3, 0),
    "residual": (2, 0),
    "rms-norm": (3, 0),
    "rotary": (2, 0),
    "size-experts": (2, 0),
}


def marked(name: str) -> Marking:
    return mark(load(PROBLEMS / f"{name}.yaml"))


def verdicts(name: str, verdict: str) -> dict[tuple[str, int, int], str]:
    return {(each.step, each.row, each.column): each.written.text
            for each in marked(name).figures if each.verdict == verdict}  # fmt: skip


def test_every_problem_that_says_what_is_printed_is_marked_here() -> None:
    assert {path.stem for path in PROBLEMS.glob("*.yaml") if load(path).published} == set(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_the_slips_are_those_found_on_paper_and_no_other(name: str) -> None:
    slips = ARTICLE_3_SLIPS if name == "i-love-you" else []
    found = [each for each in marked(name).figures if each.verdict == "slip"]
    assert [(each.step, each.row, each.column, each.written.text) for each in found] == [each[:4] for each in slips]
    assert [each.follows for each in found] == pytest.approx([each[4] for each in slips])
    correct, follows = COUNTS[name]
    counts = {"correct": correct, "follows": follows, "slip": len(slips)}
    assert marked(name).counts == {"imprecise": 0, "blank": 0, "invalid": 0} | counts
    assert marked(name).is_right == (not slips)


def test_article_1_mixes_rounded_and_unrounded_figures_and_makes_no_slip() -> None:
    followed = {("exp", 2, 2): "8.339", ("row_sum", 2, 0): "14.480", ("A", 1, 2): "0.504", ("O", 1, 0): "1.504"}
    assert verdicts("abc", "follows") == followed
    correct = verdicts("abc", "correct")
    assert correct["exp", 1, 2] == correct["exp", 2, 0] == "4.113"  # e^√2 is 4.113, though e^1.414 is 4.112


def test_article_3_has_figures_that_merely_follow_from_its_slips() -> None:
    follows = verdicts("i-love-you", "follows")
    assert follows["O", 2, 0] == "1.345"  # 0.244×1 + 0.32×0.84 + 0.436×1.91 = 1.34556
    assert {step for step, *_ in follows} == {"S", "scaled", "exp", "row_sum", "A", "O"}
    first = marked("i-love-you").first_slip
    assert first is not None and (first.step, first.row, first.column) == ("Q", 1, 0)
