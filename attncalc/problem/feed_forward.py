"""`kind: feed-forward`, `kind: gate` and `kind: residual`: their keys, by themselves and as a part of a layer."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from attncalc.problem.matrices import matrix, row_vector
from attncalc.problem.readers import choice, labels
from attncalc.problem.rows import ROWS, Axes, fitted, needed, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.source import Source
from attncalc.steps import Matrix

ACTIVATIONS = ("relu", "none", "gelu", "gelu-tanh", "silu", "swiglu", "geglu")
GATED = ("swiglu", "geglu")


class FeedForward(NamedTuple):
    """activation(x W_1 + b_1) W_2 + b_2, or with a gate; matrices as they are in the file (out × in where
    `orientation` is out-in), biases 1 × d."""

    activation: str
    orientation: str
    W_1: Matrix  # d × d_ff
    W_2: Matrix  # d_ff × any width
    b_1: Matrix | None = None
    b_2: Matrix | None = None
    W_gate: Matrix | None = None  # d × d_ff, of gated activations
    b_gate: Matrix | None = None

    @property
    def d_ff(self) -> int:
        """The width of the hidden layer."""
        return int(self.W_1.values.shape[1 if self.orientation == "in-out" else 0])

    @property
    def width(self) -> int:
        """Of the rows that come out."""
        return int(self.W_2.values.shape[1 if self.orientation == "in-out" else 0])


class FeedForwardOfRows(NamedTuple):
    """A feed-forward of each row of x, n × d."""

    x: Matrix
    tokens: tuple[str, ...] | None
    feed_forward: FeedForward


class Pair(NamedTuple):
    """Two matrices of one shape, to be added or multiplied cell by cell."""

    first: Matrix
    second: Matrix
    tokens: tuple[str, ...] | None


FEED_FORWARD = Table((
    Key("W_1", matrix, None, "weights of the hidden layer, d × d_ff"),
    Key("b_1", row_vector, None, "bias of the hidden layer, one entry a column of W_1"),
    Key("W_2", matrix, None, "weights of the output, d_ff × any width"),
    Key("b_2", row_vector, None, "bias of the output"),
    Key("W_gate", matrix, None, "weights of the gate, d × d_ff; with swiglu and geglu"),
    Key("b_gate", row_vector, None, "bias of the gate"),
    Key("activation", choice(*ACTIVATIONS), "relu", "relu, none, gelu (exact), gelu-tanh, silu; or swiglu, geglu: "
        "activation(x W_gate) times x W_1"),
    Key("orientation", choice("in-out", "out-in"), "in-out", "out-in: weights are stored transposed, out × in"),
))  # fmt: skip
GATE = Table((
    Key("value", matrix, None, "what is let through, n × d"),
    Key("gate", matrix, None, "how much of it, n × d"),
    Key("tokens", labels, None, "labels of the rows"),
))  # fmt: skip
RESIDUAL = Table((
    Key("x", matrix, None, "what went in, n × d"),
    Key("f", matrix, None, "what is added to it, n × d"),
    Key("tokens", labels, None, "labels of the rows"),
))  # fmt: skip
_IN_OUT: Axes = {
    "W_1": ("d", "d_ff"), "b_1": ("one", "d_ff"), "W_gate": ("d", "d_ff"), "b_gate": ("one", "d_ff"),
    "W_2": ("d_ff", "d_out"), "b_2": ("one", "d_out"),
}  # fmt: skip


def axes(said: Reading) -> Axes:
    """What the rows and columns of the matrices of a feed-forward stand for, as they are stored."""
    if said["orientation"] == "in-out":
        return _IN_OUT
    return {name: sides[::-1] if name.startswith("W") else sides for name, sides in _IN_OUT.items()}


def check(source: Source, said: Reading) -> None:
    """Refuse a feed-forward that lacks a matrix or has one without use. Raises ProblemError."""
    for name in ("W_1", "W_2"):
        needed(source, said, name, "[[1, 0], [0, 1]]")
    gated = said["activation"] in GATED
    if gated:
        needed(source, said, "W_gate", "as wide as W_1")
    for name in () if gated else ("W_gate", "b_gate"):
        if name in said:
            what = f"not used with activation: {said['activation']}"
            raise source.error(said.at(name), name, what, "say activation: swiglu or geglu, or leave it out")


def feed_forward(said: Reading, matrices: dict[str, Matrix]) -> FeedForward:
    """The FeedForward of what was said, with its matrices."""
    return FeedForward(said["activation"], said["orientation"], **matrices)


def feed_forward_of_rows(source: Source, said: Reading) -> FeedForwardOfRows:
    """The feed-forward that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    needed(source, said, "x", "[[1, -1]]")
    check(source, said)
    given = operands(said, {"x": ("n", "d"), **axes(said)})
    fitted(source, said, given, labels=(("tokens", "n"),), defaults=(("d_out", "d"),))
    matrices = {operand.name: operand.matrix for operand in given}
    return FeedForwardOfRows(matrices.pop("x"), said["tokens"], feed_forward(said, matrices))


def pair(first: str, second: str, source: Source, said: Reading) -> Pair:
    """Two matrices of one shape. Raises ProblemError where they differ."""
    for name in (first, second):
        needed(source, said, name, "[[2, 1]]")
    given = operands(said, {first: ("n", "d"), second: ("n", "d")})
    fitted(source, said, given, labels=(("tokens", "n"),))
    return Pair(given[0].matrix, given[1].matrix, said["tokens"])


PROBLEMS = {
    "feed-forward": Kind(ROWS + FEED_FORWARD, feed_forward_of_rows),
    "gate": Kind(GATE, partial(pair, "value", "gate")),
    "residual": Kind(RESIDUAL, partial(pair, "x", "f")),
}
