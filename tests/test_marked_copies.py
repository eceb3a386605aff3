"""What stands for a step that was not written: in the steps after it, in copies of it, and where its rows add up to 1.

Whoever writes some steps only, right by rounding at each step or by never rounding, makes no slip.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_problems import cases
from random_transformers import problems, text_of

from attncalc import digits, mark, parse, solve
from attncalc.errors import ProblemError
from attncalc.marking import Marking
from attncalc.problem import Problem

WEIGHTS = "S: [[0, 0, 0.70615]]\nscale: none\nV: [[10], [0], [0]]\nshow: {weights: sum-to-one}\n"


@pytest.mark.parametrize(
    ("base", "figure", "said"),
    [
        (10000, "0.01", "correct"),  # sin 0.01 = 0.0099998
        (10000, "0.010", "correct"),
        (10000, "0", "slip"),
        (10000, "0.02", "slip"),
        (40000, "0", "correct"),  # sin 0.005 = 0.00499998: 0.005 with three decimals, and then 0.01 with two
        (40000, "0.01", "follows"),
        (40000, "0.02", "slip"),
    ],
)
def test_a_copy_of_what_was_not_written_is_not_half_a_unit_off_twice(base: int, figure: str, said: str) -> None:
    """The sines are copied into the table of positions."""
    problem = parse(f"kind: positions\nlength: 2\nwidth: 4\nbase: {base}\nshow: {{decimals: 2}}\n".encode())
    marking = mark(problem, {"positions": {"row": 2, "values": ["0.84", "0.54", figure, "1"]}})
    assert [each.verdict for each in marking.figures] == ["correct", "correct", said, "correct"]


@pytest.mark.parametrize(("figure", "said"), [("2.484", "correct"), ("2.49", "follows"), ("2.500", "slip")])
def test_weights_that_were_not_written_may_have_been_made_to_add_up(figure: str, said: str) -> None:
    problem = parse(WEIGHTS.encode())
    assert mark(problem, {"O": [[figure]]}).steps["O"].verdicts[0, 0] == said


def slips(marking: Marking) -> list[tuple[object, ...]]:
    figures = [each for each in marking.figures if each.verdict == "slip"]
    return [(each.step, each.row, each.column, each.written.text, each.exact, each.follows) for each in figures]


def students(problem: Problem) -> list[dict[str, list[list[str]]]]:
    """All figures of whoever rounds at each step, and of whoever never does."""
    found = []
    for how in ("exact", "carried"):
        own = problem.with_show(rounding=how)
        try:
            steps = solve(own).steps
        except ProblemError:  # carried, a figure may be rounded to 0 that has no logarithm
            continue
        found.append({id: digits.shown(step, own.show.rule).tolist() for id, step in steps.items()})
    return found


@settings(max_examples=60)
@given(cases(), st.data())
def test_whoever_writes_some_steps_makes_no_slip(case, data) -> None:
    problem = parse(case.text.encode())
    for figures in students(problem):
        written = data.draw(st.sets(st.sampled_from(sorted(figures)), min_size=1))
        marking = mark(problem, {id: figures[id] for id in written})
        assert not slips(marking), (case.text, sorted(written), slips(marking))


@settings(max_examples=40)
@given(problems(), st.data())
def test_nor_does_one_who_writes_some_of_a_layer(said, data) -> None:
    assume("generate" not in text_of(said))  # whoever rounds may choose another word, and go on from there
    problem = parse(text_of(said).encode())
    for figures in students(problem):
        written = data.draw(st.sets(st.sampled_from(sorted(figures)), min_size=1))
        marking = mark(problem, {id: figures[id] for id in written})
        assert not slips(marking), (text_of(said), sorted(written), slips(marking))
