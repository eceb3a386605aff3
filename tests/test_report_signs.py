"""The workings that a report shows are true of the figures that stand in them: "=" where those give exactly the figure
after it, "≈" elsewhere, and that figure is rounded as all others are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from test_figures import is_true

from attncalc import parse, solve
from attncalc.formats.notation import line
from attncalc.formats.text_math import TEXT
from attncalc.layout.report import Report
from attncalc.marking import mark
from attncalc.marking.working import as_written

TIES = "Q: [[1.43, 0], [0.85, 0]]\nK: [[2.1, 0], [0.5, 0]]\nV: [[1, 0], [0, 1]]\nscale: {multiply: 0.5}\n"


@pytest.mark.parametrize("rounding", ["exact", "carried"])
def test_what_is_rounded_is_never_said_to_be_equal(rounding: str) -> None:
    """Half goes up, by the decimal figure: 0.85×0.5 is 0.425."""
    read = parse(TIES.encode()).with_show(decimals=2, rounding=rounding)
    marking = mark(read, {"S": [[9, 9], [9, 9]]})
    report = Report(marking, read.show, "en")
    assert [line(report.working(figure), TEXT) for figure in marking.figures] == [
        "S[1,1] = 1.43×2.1 + 0×0 ≈ 3.00", "S[1,2] = 1.43×0.5 + 0×0 ≈ 0.72",
        "S[2,1] = 0.85×2.1 + 0×0 ≈ 1.79", "S[2,2] = 0.85×0.5 + 0×0 ≈ 0.43",
    ]  # fmt: skip


@pytest.mark.parametrize("rounding", ["exact", "carried"])
def test_a_copy_is_equal_to_what_it_copies(rounding: str) -> None:
    """Also where that was not written, and is what follows."""
    text = "kind: loss\nlogits: [[2, 1, 0], [0.5, 1, 3]]\ntargets: [0, 2]\n"
    read = parse(text.encode()).with_show(decimals=5, rounding=rounding)
    for answers in ({}, {"exp": [[7, 2, 1], [1, 2, 20]]}):
        marking = mark(read, {**answers, "target_probabilities": [[0.1], [0.2]]})
        report = Report(marking, read.show, "en")
        lines = [line(report.working(each), TEXT) for each in marking.figures if each.step == "target_probabilities"]
        assert len(lines) == 2
        for each in lines:
            _, copied, result = each.split(" = ")
            assert copied == result


@pytest.mark.parametrize("answers", [{}, {"normalised": [["-1.0000", "1.0000"], ["0", "0"]]}])
def test_what_comes_of_rounded_figures_has_all_its_decimals(answers: dict[str, object]) -> None:
    """As on the page: -1.0000 is -0.99998, rounded, also where it was written; 0 and what comes of it are exact."""
    text = "kind: layer-norm\nx: [[1, 2], [3, 3]]\nbias: [0, 1]\n"
    read = parse(text.encode()).with_show(rounding="carried", decimals=4)
    marking = mark(read, {**answers, "biased": [[9, 9], [9, 9]]})
    report = Report(marking, read.show, "en")
    assert [line(report.working(each), TEXT) for each in marking.figures if each.step == "biased"] == [
        "Y[1,1] = -1.0000 + 0 = -1.0000", "Y[1,2] = 1.0000 + 1 = 2.0000", "Y[2,1] = 0 + 0 = 0", "Y[2,2] = 0 + 1 = 1",
    ]  # fmt: skip


@pytest.mark.parametrize("rounding", ["exact", "carried"])
@pytest.mark.parametrize("seed", range(40))
def test_every_working_of_a_report_is_true_of_its_own_figures(seed: int, rounding: str) -> None:
    """Of any steps that were written, right or wrong, with those between them left out."""
    draw = np.random.default_rng(seed)
    matrices = "".join(f"{name}: {(draw.integers(-30, 31, (3, 2)) / 10).tolist()}\n" for name in "QKV")
    places = {"default": 2, **{id: int(draw.integers(0, 4)) for id in ("S", "scaled", "A", "O")}}
    said = ", ".join(f"{id}: {k}" for id, k in places.items())
    text = f"{matrices}scale: {{multiply: 0.5}}\nshow: {{decimals: {{{said}}}, rounding: {rounding}}}\n"
    read = parse(text.encode())
    steps = [step for step in solve(read).steps.values() if draw.random() < 0.6 and step.operands]
    answers = {step.id: (step.values + draw.integers(0, 2, step.shape) * 0.37).round(2).tolist() for step in steps}
    if not answers:
        return
    marking = mark(read, answers)
    report = Report(marking, read.show, "en")
    for found in marking.figures:
        i, j, step = found.row, found.column, as_written(marking, found.step)
        figures = report.page.figures(step)
        true = is_true(report.page._figures, step, i, j)
        assert true is None or figures.true[i, j] == true, (found.step, line(report.working(found), TEXT))
        off = abs(Fraction(figures.texts[i, j]) - Fraction(found.follows))
        assert off <= Fraction(1, 2 * 10**step.places) + Fraction(1, 10**9)
