"""Words that stand at several places: whether they come out the same, and where they look for the same."""

from __future__ import annotations

import numpy as np

from attncalc.blocks import Math, Prose
from attncalc.layout.page import Page, is_self_attention, nothing_there
from attncalc.steps import Step


def repeated(page: Page, after: Step, weights: Step | None) -> list[Prose]:
    """我 (1) and 我 (6) have the same row of O; and whether rows and columns of A are shuffled alike."""
    places = _places(page, after)
    sentences = [_rows(page, after, each) for each in places]
    if places and weights is not None and is_self_attention(weights) and _shuffled(page, weights, places):
        sentences.append(page.say("readings.shuffled", symbol=Math(weights.symbol)))
    return sentences


def _places(page: Page, step: Step) -> list[list[int]]:
    """The rows of each token that has several."""
    labels = page.labels(step.rows) or ()
    each = [[i for i, label in enumerate(labels) if label == one] for one in dict.fromkeys(labels)]
    return [rows for rows in each if len(rows) > 1]


def _rows(page: Page, step: Step, rows: list[int]) -> Prose:
    first = step.values[rows[0]]
    alike = all(np.allclose(step.values[i], first, rtol=0, atol=1e-9) for i in rows)
    tokens = page.say.enumeration([page.who(step.rows, i) for i in rows])
    return page.say(f"readings.{'same' if alike else 'other'}_row", tokens=tokens, symbol=Math(step.symbol))


def _shuffled(page: Page, weights: Step, places: list[list[int]]) -> bool:
    """Whether each of these tokens gives the same weights to the same words wherever it stands, in other columns."""
    texts, labels = page.figures(weights).texts, page.labels(weights.columns) or ()

    def given(i: int) -> list[tuple[str, str]]:
        hidden = nothing_there(weights, i)
        return sorted((label, texts[i, j]) for j, label in enumerate(labels) if not hidden[j])

    same = all(given(i) == given(rows[0]) for rows in places for i in rows)
    moved = any(texts[i].tolist() != texts[rows[0]].tolist() for rows in places for i in rows)
    return same and moved
