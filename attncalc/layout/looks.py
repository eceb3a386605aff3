"""How a step is laid out, by the part that it plays: the one table of the layout that names roles."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from attncalc.blocks import Prose
from attncalc.layout import masks, readings
from attncalc.layout.page import Page
from attncalc.steps import Step

INPUT = "lines.input"  # a row that a part works on


class Look(NamedTuple):
    """`work`: its rows are worked out (`rows`), each cell (`cells`), each row as a sum of vectors (`weighted sum`), its
    one figure (`figure`), or nothing beyond its formula (`none`). `row` names its rows and `line` its line in a group
    that goes row by row, as keys of the wording: any step may be what such a group works on, and is said again there
    but where `line` is "", by the name `again` if there is one. `reading` says in words what its rows say. `beside`:
    given ones stand side by side; `labelled`: copied ones have their labels. `called`: what its figures are that should
    add up to 1."""

    work: str = "rows"
    row: str = "row.other"
    line: str = INPUT
    reading: Callable[[Page, Step], tuple[Prose, ...]] | None = None
    beside: bool = False
    called: str = "called.weights"
    labelled: bool = False
    again: str = ""


PLAIN = Look()
LOOKS = {
    "weight": Look(beside=True),
    "query": Look(row="row.query"),
    "key": Look(row="row.key"),
    "value": Look(row="row.value"),
    "scores": Look("cells", line="lines.scores", reading=readings.scores),
    "scaled": Look(line="lines.scores"),
    "mask": Look("none", line="lines.mask", reading=masks.seen),
    "keep": Look("none", line="lines.mask", reading=masks.seen),
    "masked": Look("none", line="lines.scores"),
    "row_max": Look(line="lines.row_max"),
    "shifted": Look(line="lines.shifted"),
    "exp": Look(line="lines.exp"),
    "row_sum": Look(line="lines.row_sum"),
    "kept": Look(line="lines.kept"),
    "weights": Look(line="lines.weights", reading=readings.weights),
    "given_weights": Look(line="lines.given", reading=readings.weights),
    "weighted_sum": Look("weighted sum"),
    "input": Look(),
    "memory": Look(labelled=True),
    "place": Look(beside=True),
    "ids": Look("none", beside=True, labelled=True),
    "next": Look("figure"),
    "draw": Look(),
    "passed": Look(),
    "residual": Look(),
    "gain": Look(line="", beside=True),
    "bias": Look(line="", beside=True),
    "mean": Look(line="lines.mean"),
    "deviations": Look(line="lines.deviations"),
    "squares": Look(line="lines.squares"),
    "variance": Look(line="lines.variance"),
    "mean_square": Look(line="lines.mean_square"),
    "root": Look(line="lines.root"),
    "normalised": Look(line="lines.normalised", again=INPUT),
    "gained": Look(line="lines.gained", again=INPUT),
    "biased": Look(line="lines.biased", again=INPUT),
    "logits": Look(line="lines.logits"),
    "left_logits": Look(line="lines.logits"),
    "probabilities": Look(line="lines.probabilities", reading=readings.likeliest, called="called.probabilities"),
    "given_probabilities": Look(line="lines.probabilities", reading=readings.likeliest, called="called.probabilities"),
    "sorted": Look(line="lines.sorted"),
    "cumulative": Look(line="lines.cumulative"),
    "chosen": Look(line="lines.chosen", reading=readings.chosen),
    "left": Look(line="lines.left", reading=readings.left, called="called.probabilities"),
    "gates": Look(line="lines.gates", reading=readings.weights, called="called.gates"),
    "load": Look("none", reading=readings.load),
    "target_probabilities": Look(row="row.position"),
    "losses": Look(row="row.position"),
    "whole": Look("figure"),
}


def look(step: Step) -> Look:
    return LOOKS.get(step.role, PLAIN)
