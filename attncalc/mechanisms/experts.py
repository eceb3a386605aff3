"""A mixture of experts: each row goes to the few feed-forwards that a router chooses for it (Shazeer et al. 2017,
section 2; Jiang et al. 2024, Mixtral of Experts, section 2.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import AbstractContextManager

import numpy as np

from attncalc.mechanisms import feed_forward
from attncalc.mechanisms.choice import kept, largest
from attncalc.mechanisms.output import probabilities
from attncalc.mechanisms.projections import Parts, below
from attncalc.mechanisms.softmax import softmax
from attncalc.problem.experts import Experts, ExpertsOfRows
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import FILL, Axis, Step


def stated(sheet: Sheet, given: Experts) -> Parts:
    """The router, d × experts, and the weights of each expert, called expert1.W_1, as steps."""
    count = given.router.values.shape[1]
    axis = Axis(tuple(_called(e) for e in range(count)), "expert")
    parts = {"router": sheet.given("router", given.router, symbol=sheet.symbol("W_r"), columns=axis, role="weight")}
    for e, network in enumerate(given.experts):
        with _of_expert(sheet, e):
            own = feed_forward.stated(sheet, network)
        parts |= {f"expert{e + 1}.{id}": step for id, step in own.items()}
    return parts


def experts(sheet: Sheet, x: Step, given: Experts, parts: Parts, *, shift: str = "needed", first: int = 1) -> Step:
    """What the experts that are chosen for each row make of it, weighted by their gates, n × d; where there are no
    experts, the gates, n × experts.

    `first` is the number of the first row in symbols; ids count from 1.
    """
    with sheet.group("router"):
        logits = sheet.contract("logits", x, parts["router"], symbol=sheet.symbol("L"), role="logits")
    route = gates_of_chosen if given.normalise == "after" else chosen_probabilities
    chosen, gates = route(sheet, logits, given, shift)
    if not given.experts:
        return gates
    each = _by_expert(parts)
    rows = []
    for i in range(x.shape[0]):
        with sheet.group("token", i + 1, prefix=f"token{i + 1}", axis=x.rows, below=str(i + first)):
            rows.append(_of_token(sheet, x, gates, given, each, i, np.nonzero(chosen.values[i])[0].tolist()))
    with sheet.group("combined"):
        symbol = sheet.symbol("Y")
        return sheet.arrange("combined", below, *rows, symbol=symbol, rows=x.rows, role="output")


def gates_of_chosen(sheet: Sheet, logits: Step, given: Experts, shift: str) -> tuple[Step, Step]:
    """Which experts have the largest logits, and the softmax over these alone, both n × experts."""
    with sheet.group("choice"):
        chosen = _chosen(sheet, logits, given.top_k)
        left = sheet.arrange(
            "masked", lambda cells, chosen: np.where(chosen == 1, cells, FILL), logits, chosen, choosers=1,
            fill=-np.inf, symbol=sheet.symbol("L_chosen"), rows=logits.rows, columns=logits.columns, role="left_logits",
        )  # fmt: skip
    return chosen, softmax(sheet, left, shift=shift, id="gates", symbol=sheet.symbol("G"), role="gates")


def chosen_probabilities(sheet: Sheet, logits: Step, given: Experts, shift: str) -> tuple[Step, Step]:
    """Which experts have the largest probabilities, and those, divided by their sum if asked to, both n × experts."""
    P = probabilities(sheet, logits, shift=shift)
    with sheet.group("choice"):
        chosen = _chosen(sheet, P, given.top_k)
    with sheet.group("gates", order="by row"):
        gates = kept(sheet, P, chosen, id="gates", letter="G", part_letter="P_chosen", role="gates",
                     renormalise=given.renormalise)  # fmt: skip
    return chosen, gates


def _chosen(sheet: Sheet, x: Step, k: int) -> Step:
    chosen = largest(sheet, x, k)
    sheet.reduce("load", "sum", chosen, over="column", places=0, role="load")
    return chosen


def _by_expert(parts: Parts) -> Mapping[str, Parts]:
    """The weights of each expert, called expert1, by their own ids."""
    found: Mapping[str, Parts] = defaultdict(dict)
    for id, step in parts.items():
        expert, _, own = id.partition(".")
        found[expert][own] = step
    return found


def _of_token(
    sheet: Sheet, x: Step, gates: Step, given: Experts, each: Mapping[str, Parts], i: int, chosen: list[int]
) -> Step:  # fmt: skip
    """The outputs of the chosen experts for row i, k × d, weighted by its gates, 1 × k: one row."""
    row = sheet.arrange("x", lambda cells: cells[i : i + 1], x, symbol=sheet.symbol("x"), role="input")
    outputs = []
    for e in chosen:
        with _of_expert(sheet, e):
            outputs.append(feed_forward.network(sheet, row, given.experts[e], each[f"expert{e + 1}"]))
    with sheet.group("mixture"):
        axis = Axis(tuple(_called(e) for e in chosen), "expert")
        weights = sheet.arrange("gates", lambda cells: cells[i : i + 1, chosen], gates, symbol=sheet.symbol("g"),
                                columns=axis, role="row_of_gates")  # fmt: skip
        stack = sheet.arrange("outputs", below, *outputs, symbol=sheet.symbol("F"), rows=axis,
                              role="outputs_of_experts")  # fmt: skip
        return sheet.contract("combined", weights, stack, symbol=sheet.symbol("y"), role="weighted_sum")


def _called(e: int) -> str:
    """The label of expert e, from 0."""
    return f"E{e + 1}"


def _of_expert(sheet: Sheet, e: int) -> AbstractContextManager[object]:
    """The group of expert e (from 0): ids expert1.hidden, symbols Z⁽¹⁾, or within a row Z_2⁽¹⁾."""
    return sheet.group("expert", e + 1, prefix=f"expert{e + 1}", mark=str(e + 1))


def conventions(sheet: Sheet, given: Experts) -> None:
    """How rows find their experts, and what those compute, for the head of the page."""
    one = "one" if given.top_k == 1 else "many"
    sheet.convention("experts", f"{given.normalise}.{one}", k=given.top_k)
    if given.normalise == "before":
        sheet.convention("gates", "renormalised" if given.renormalise else "plain")
    for network in {network.activation: network for network in given.experts}.values():
        feed_forward.conventions(sheet, network)


def experts_of_rows(sheet: Sheet, given: ExpertsOfRows, show: Show) -> Step:
    """`kind: experts`: the mixture for each row of x."""
    conventions(sheet, given.experts)
    with sheet.group("given"):
        x = sheet.given("x", given.x, symbol=sheet.symbol("X"), rows=Axis(given.tokens), role="input")
        parts = stated(sheet, given.experts)
    return experts(sheet, x, given.experts, parts, shift=show.shift, first=show.count_from)
