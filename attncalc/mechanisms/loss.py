"""The cross-entropy of predictions: -ln of the probability of what should have been predicted."""

from __future__ import annotations

import numpy as np

from attncalc.errors import StepError
from attncalc.expr import exp, function, negated, number, slot
from attncalc.mechanisms.embedding import counted
from attncalc.mechanisms.output import probabilities
from attncalc.problem.loss import Loss
from attncalc.rounding import Floats
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Numbers, Step


def targets(sheet: Sheet, ids: tuple[int, ...], rows: Axis | None = None) -> Step:
    """The columns that the rows are to predict, n × 1, counted from 0."""
    return sheet.given("targets", counted(ids), symbol=sheet.symbol("t"), rows=rows, role="targets")


def loss(sheet: Sheet, P: Step, ids: Step, *, reduction: str = "mean", sees: bool = False) -> Step:
    """What is made of the losses -ln p of the targets `ids`, n × 1, which have probabilities p in P, n × m: with mean
    the perplexity, e to the power of their mean, 1 × 1; with sum their sum, 1 × 1; with none they themselves, n × 1
    (Goodfellow et al. 2016, section 6.2.1.1).

    `sees`: the labels of the rows are the tokens that were there to predict from (teacher forcing), each position's own
    and those before it, and the page says so. Raises StepError for a target of probability 0.
    """
    with sheet.group("targets"):
        symbol = sheet.symbol("p")
        p = sheet.arrange("target_probabilities", _picked, P, ids, choosers=1, symbol=symbol, rows=P.rows,
                          role="target_probabilities")  # fmt: skip
    return loss_of_targets(sheet, p, reduction=reduction, sees=sees)


def loss_of_targets(sheet: Sheet, p: Step, *, reduction: str = "mean", sees: bool = False) -> Step:
    """The same from the probabilities of the targets alone, n × 1."""
    for i, value in enumerate(p.values[:, 0]):
        if value == 0:
            raise StepError(p.id, (i, 0), "is 0, and 0 has no logarithm", "show more decimals, or change the figures")
    with sheet.group("losses"):
        law = function("ln", slot(0))
        logs = sheet.map("log_probabilities", law, p, symbol=function("ln", p.symbol), role="losses")
        losses = sheet.map("losses", negated(slot(0)), logs, symbol=sheet.symbol("ℓ"), role="losses")
        sheet.remark("teacher_forcing" if sees else "predictions", p, losses)
    return losses if reduction == "none" else _reduced(sheet, p, losses, reduction)


def _reduced(sheet: Sheet, p: Step, losses: Step, reduction: str) -> Step:
    """The likelihood of all targets, the sum of the losses, and where it is asked for their mean and the perplexity,
    each 1 × 1."""
    with sheet.group("reduction"):
        sheet.reduce("likelihood", "product", p, over="column", symbol=sheet.symbol("p_joint"), role="whole")
        total = sheet.reduce("sum", "sum", losses, over="column", symbol=sheet.symbol("ℓ_sum"), role="whole")
        if reduction == "sum":
            return total
        law = slot(0) / number(float(losses.shape[0]))
        mean = sheet.map("mean", law, total, symbol=sheet.symbol("ℓ_mean"), role="whole")
        return sheet.map("perplexity", exp(slot(0)), mean, symbol=sheet.symbol("PPL"), role="whole")


def _picked(cells: Numbers, ids: Floats) -> Numbers:
    columns = np.clip(np.rint(ids), 0, cells.shape[1] - 1).astype(np.int64)
    return np.take_along_axis(cells, columns, axis=1)


def loss_alone(sheet: Sheet, given: Loss, show: Show) -> Step:
    """`kind: loss`: from logits, from probabilities, or from the probabilities of the targets."""
    sheet.convention("loss", given.reduction)
    if given.targets:
        sheet.convention("targets", "numbers")
    if given.of_targets:
        with sheet.group("given"):
            rows = Axis(given.words or given.tokens, "position")
            p = sheet.given("target_probabilities", given.of_targets, symbol=sheet.symbol("p"), rows=rows,
                            role="target_probabilities")  # fmt: skip
        return loss_of_targets(sheet, p, reduction=given.reduction)
    assert given.targets
    rows, columns = Axis(given.tokens, "position"), Axis(given.vocabulary, "column")
    with sheet.group("given"):
        if given.logits:
            P = sheet.given("logits", given.logits, symbol=sheet.symbol("L"), rows=rows, columns=columns, role="logits")
        else:
            assert given.probabilities
            P = sheet.given("probabilities", given.probabilities, symbol=sheet.symbol("P"), rows=rows, columns=columns,
                            role="given_probabilities")  # fmt: skip
        ids = targets(sheet, given.targets, rows)
    if given.logits:
        P = probabilities(sheet, P, shift=show.shift)
    return loss(sheet, P, ids, reduction=given.reduction, sees=given.tokens is not None)
