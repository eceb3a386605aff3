"""The feed-forward of a layer (Vaswani et al. 2017, section 3.3) with its activations and gates; a gate and a residual
by themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np

from attncalc.expr import Expr, equation, exp, function, name, negated, number, power, slot, sqrt
from attncalc.mechanisms.projections import Parts, affine
from attncalc.problem.feed_forward import FeedForward, FeedForwardOfRows, Pair
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step

_half, _one = number(0.5), number(1.0)


def _gelu_tanh(x: Expr) -> Expr:
    inner = sqrt(number(2.0) / number(pi, "π")) * (x + number(0.044715) * power(x, number(3.0)))
    return _half * x * (_one + function("tanh", inner))


# What each activation makes of a figure x. GELU: Hendrycks and Gimpel 2016; SiLU: Elfwing et al. 2017; their gated
# forms: Shazeer 2020, section 2.
ACTIVATIONS: dict[str, Callable[[Expr], Expr]] = {
    "relu": lambda x: function("max", number(0.0), x),
    "gelu": lambda x: x * function("Φ", x),
    "gelu-tanh": _gelu_tanh,
    "silu": lambda x: x / (_one + exp(negated(x))),
}
_CALLED = {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU", "silu": "SiLU"}
_OF_GATE = {"swiglu": "silu", "geglu": "gelu"}


def stated(sheet: Sheet, given: FeedForward) -> Parts:
    """The weights and biases as steps, in × out."""
    parts: Parts = {}
    for id in ("W_1", "b_1", "W_gate", "b_gate", "W_2", "b_2"):
        matrix = getattr(given, id)
        if matrix is not None:
            parts[id] = sheet.given(id, matrix, role="weight")
    if given.orientation == "out-in":
        for id in [id for id in parts if id.startswith("W")]:
            symbol = Expr("transpose", parts[id].symbol)
            parts[id] = sheet.arrange(f"{id}_T", np.transpose, parts[id], symbol=symbol, role="weight")
    return parts


def feed_forward(sheet: Sheet, x: Step, given: FeedForward, parts: Parts) -> Step:
    """activation(x·W_1 + b_1)·W_2 + b_2, n × d; or (activation(x·W_gate) ⊙ x·W_1)·W_2."""
    if given.activation == "none" and not (parts.keys() & {"b_1", "b_2"}):
        with sheet.group("one_matrix"):
            sheet.contract("W_1.W_2", parts["W_1"], parts["W_2"], symbol=sheet.symbol("W"), role="weight_product")
            sheet.remark("one_matrix", parts["W_1"], parts["W_2"])
    return network(sheet, x, given, parts)


def network(sheet: Sheet, x: Step, given: FeedForward, parts: Parts) -> Step:
    """The same with nothing remarked of its weights."""
    with sheet.group("hidden"):
        hidden = affine(sheet, "hidden", x, parts["W_1"], parts.get("b_1"), "hidden", symbol=sheet.symbol("Z"))
    if given.activation in _OF_GATE:
        with sheet.group("gate"):
            gate = affine(sheet, "gate", x, parts["W_gate"], parts.get("b_gate"), "hidden", symbol=sheet.symbol("G"))
            gate = activated(sheet, gate, _OF_GATE[given.activation])
            law, symbol = slot(0) * slot(1), sheet.symbol("Z_gated")
            hidden = sheet.map("gated", law, gate, hidden, symbol=symbol, role="gated")
    elif given.activation != "none":
        with sheet.group("activation"):
            hidden = activated(sheet, hidden, given.activation)
    with sheet.group("output_layer"):
        return affine(sheet, "output", hidden, parts["W_2"], parts.get("b_2"), "output", symbol=sheet.symbol("F"))


def activated(sheet: Sheet, x: Step, activation: str) -> Step:
    """The activation of each figure."""
    symbol = Expr("call", name(_CALLED[activation]), x.symbol)
    return sheet.map("activated", ACTIVATIONS[activation](slot(0)), x, symbol=symbol, role="activated")


def conventions(sheet: Sheet, given: FeedForward) -> None:
    """The form of the activation, for the head of the page."""
    z = name("z")
    of = _OF_GATE.get(given.activation, given.activation)
    laws = {}
    if of in ACTIVATIONS:
        laws["law"] = equation(Expr("call", name(_CALLED[of]), z), ACTIVATIONS[of](z))
    if of == "gelu":
        error_function = Expr("call", name("erf"), z / sqrt(number(2.0)))
        laws["normal"] = equation(Expr("call", name("Φ"), z), (_one + error_function) / number(2.0))
    sheet.convention("activation", given.activation, **laws)


def feed_forward_of_rows(sheet: Sheet, given: FeedForwardOfRows, show: Show) -> Step:
    """`kind: feed-forward`: that of each row of x."""
    conventions(sheet, given.feed_forward)
    with sheet.group("given"):
        x = sheet.given("x", given.x, symbol=sheet.symbol("X"), rows=Axis(given.tokens, "row"), role="input")
        parts = stated(sheet, given.feed_forward)
    return feed_forward(sheet, x, given.feed_forward, parts)


def residual(sheet: Sheet, x: Step, f: Step, letter: str, id: str = "output") -> Step:
    """x + f(x), n × d (He et al. 2016, section 3.1)."""
    with sheet.group("residual"):
        return sheet.map(id, slot(0) + slot(1), x, f, symbol=sheet.symbol(letter), role="residual")


def residual_alone(sheet: Sheet, given: Pair, show: Show) -> Step:
    """`kind: residual`: what went in plus what a part of the layer makes of it."""
    with sheet.group("given"):
        rows = Axis(given.tokens, "row")
        x = sheet.given("x", given.first, symbol=sheet.symbol("X"), rows=rows, role="input")
        f = sheet.given("f", given.second, symbol=sheet.symbol("F"), rows=rows, role="input")
    return residual(sheet, x, f, "Y")


def gate_alone(sheet: Sheet, given: Pair, show: Show) -> Step:
    """`kind: gate`: each figure times how much of it is let through."""
    with sheet.group("given"):
        rows = Axis(given.tokens, "row")
        value = sheet.given("value", given.first, symbol=sheet.symbol("V"), rows=rows, role="input")
        gate = sheet.given("gate", given.second, symbol=sheet.symbol("G"), rows=rows, role="input")
    with sheet.group("gate"):
        return sheet.map("output", slot(0) * slot(1), value, gate, symbol=sheet.symbol("Y"), role="gated")
