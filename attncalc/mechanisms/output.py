"""From the last rows to words: logits, probabilities, and those that are left to choose from."""

from __future__ import annotations

from functools import partial

import numpy as np

from attncalc.expr import Expr
from attncalc.mechanisms.choice import kept, largest, smallest_set
from attncalc.mechanisms.projections import Parts, affine
from attncalc.mechanisms.softmax import softmax, tempered
from attncalc.problem.output import Choice, Output
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step


def stated(sheet: Sheet, given: Output, words: Axis) -> Parts:
    """The weights and the bias of the output as steps, d × m; those of an embedding, m × d, transposed."""
    parts: Parts = {}
    if given.W:
        parts["W"] = sheet.given("W", given.W, columns=words, role="weight")
    if given.tied:
        parts["tied"] = sheet.given("tied", given.tied, symbol=sheet.symbol("W_E"), rows=words, role="weight")
    if given.b:
        parts["b"] = sheet.given("b", given.b, columns=words, role="weight")
    return untied(sheet, parts)


def untied(sheet: Sheet, parts: Parts) -> Parts:
    """The parts with the transpose of the embedding for W, where they are tied (Press and Wolf 2017, section 3)."""
    if "tied" not in parts:
        return parts
    tied = parts["tied"]
    symbol = Expr("transpose", tied.symbol)
    W = sheet.arrange("tied_T", np.transpose, tied, symbol=symbol, columns=tied.rows, role="weight")
    return {**parts, "W": W}


def logits(sheet: Sheet, x: Step, parts: Parts) -> Step:
    """x·W + b, n × m: how well each of m words goes on from each row (Vaswani et al. 2017, section 3.4)."""
    with sheet.group("logits"):
        return affine(sheet, "logits", x, parts["W"], parts.get("b"), "logits", symbol=sheet.symbol("L"))


def probabilities(sheet: Sheet, scores: Step, *, shift: str = "needed") -> Step:
    """The softmax of each row of logits, n × m."""
    symbol = sheet.symbol("P")
    return softmax(sheet, scores, shift=shift, id="probabilities", symbol=symbol, role="probabilities")


def left(sheet: Sheet, P: Step, choice: Choice) -> Step:
    """The probabilities of the words that are left of each row, n × m: first by top-k, then of those by top-p.

    Where both are asked for, what top-k leaves is divided by its sum before top-p adds it up; its ids start with top_k.
    """
    rules = {}
    if choice.top_k is not None:
        rules["top_k"] = partial(largest, k=choice.top_k)
    if choice.top_p is not None:
        rules["top_p"] = partial(smallest_set, p=choice.top_p[0])
    for key, choose in rules.items():
        last = key == list(rules)[-1]
        with sheet.group(key, order="by row", function=key.replace("_", "-"), prefix="" if last else key):
            P = kept(
                sheet, P, choose(sheet, P), id="kept", letter="P_kept" if last else "P_k", part_letter="P_chosen",
                role="left", renormalise=choice.renormalise or not last,
            )  # fmt: skip
    return P


def conventions(sheet: Sheet, given: Output) -> None:
    """What the figures rest on, for the head of the page."""
    choice = given.choice
    if given.tied:
        sheet.convention("tied", "transposed")
    if given.temperature:
        sheet.convention("temperature", "logits", value=given.temperature[1])
    if choice.top_k:
        sheet.convention("top_k", "one" if choice.top_k == 1 else "many", k=choice.top_k)
    if choice.top_p:
        sheet.convention("top_p", "after_top_k" if choice.top_k else "alone", p=choice.top_p[1])
    if choice.top_k or choice.top_p:
        sheet.convention("renormalise", "yes" if choice.renormalise else "no")


def output_alone(sheet: Sheet, given: Output, show: Show) -> Step:
    """`kind: output`: rows made into logits, those into probabilities, and those cut down to the likeliest; or the part
    of it that is left where logits or probabilities are given."""
    rows, words = Axis(given.tokens, "row"), Axis(given.vocabulary, "column")
    conventions(sheet, given)
    with sheet.group("given"):
        if given.probabilities:
            P = sheet.given("probabilities", given.probabilities, symbol=sheet.symbol("P"), rows=rows, columns=words,
                            role="given_probabilities")  # fmt: skip
            scores = None
        elif given.logits:
            scores = sheet.given("logits", given.logits, symbol=sheet.symbol("L"), rows=rows, columns=words,
                                 role="logits")  # fmt: skip
        else:
            assert given.x
            x = sheet.given("x", given.x, symbol=sheet.symbol("X"), rows=rows, role="input")
            parts = stated(sheet, given, words)
    if given.x:
        scores = logits(sheet, x, parts)
    if scores:
        if given.temperature:
            scores = tempered(sheet, scores, given.temperature, role="logits")
        P = probabilities(sheet, scores, shift=show.shift)
    return left(sheet, P, given.choice)


def stated_of_model(sheet: Sheet, given: Output, E: Step | None) -> Parts:
    """The weights and the bias of a model's output as steps, d × V; without weights of its own the embedding E, V × d,
    is used transposed."""
    if given.W:
        return stated(sheet, given, Axis(given.vocabulary, "column"))
    assert E
    return stated(sheet, given, Axis(given.vocabulary, "column")) | untied(sheet, {"tied": E})


def predicted(sheet: Sheet, x: Step, given: Output, parts: Parts, show: Show) -> Step:
    """The probabilities of the words that are left, n × V, from the last rows of a model."""
    scores = logits(sheet, x, parts)
    if given.temperature:
        scores = tempered(sheet, scores, given.temperature, role="logits")
    return left(sheet, probabilities(sheet, scores, shift=show.shift), given.choice)
