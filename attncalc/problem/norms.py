"""`kind: layer-norm` and `kind: rms-norm`: their keys, by themselves and as a part of a layer."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from attncalc.problem.matrices import row_vector
from attncalc.problem.nodes import Node
from attncalc.problem.readers import choice, figure
from attncalc.problem.rows import ROWS, Axes, fitted, needed, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.source import Source, short
from attncalc.steps import Matrix

MOST_EPS = 1.0


class Norm(NamedTuple):
    """How each row of d figures is normalised; gain and bias are 1 × d."""

    kind: str  # layer-norm or rms-norm
    eps: tuple[float, str]  # and how it was written
    eps_in: str  # root: under it; outside: added to it
    variance: str  # biased: the mean of the squared deviations; unbiased: their sum by d - 1
    gain: Matrix | None
    bias: Matrix | None


class NormOfRows(NamedTuple):
    """A norm of each row of x, n × d."""

    x: Matrix
    tokens: tuple[str, ...] | None
    norm: Norm


def eps(source: Source, node: Node, path: str) -> tuple[float, str]:
    """A number from 0 to 1, and its normal form."""
    value, written = figure(source, node, path)
    if not 0 <= value <= MOST_EPS:
        raise source.error(node, path, f"{short(written)} is not from 0 to {MOST_EPS:g}", "1e-5 is usual")
    return value, written


EPS = (1e-5, "0.00001")
RMS_NORM = Table((
    Key("eps", eps, EPS, "ε, which keeps the root from 0; from 0 to 1"),
    Key("eps_in", choice("root", "outside"), "root", "where ε is added: under the root, or to the root"),
    Key("gain", row_vector, None, "what each column is multiplied by, one entry a column"),
))  # fmt: skip
LAYER_NORM = RMS_NORM + Table((
    Key("variance", choice("biased", "unbiased"), "biased", "unbiased: squared deviations by d - 1 instead of d"),
    Key("bias", row_vector, None, "what is added to each column, one entry a column"),
))  # fmt: skip
AXES: Axes = {"gain": ("one", "d"), "bias": ("one", "d")}


def norm_of_rows(kind: str, source: Source, said: Reading) -> NormOfRows:
    """The norm that a file's keys give. Raises ProblemError where shapes don't go together."""
    needed(source, said, "x", "[[1, 3]]")
    given = operands(said, {"x": ("n", "d"), **AXES})
    sizes = fitted(source, said, given, labels=(("tokens", "n"),))
    check(source, said, sizes["d"])
    matrices = {operand.name: operand.matrix for operand in given}
    return NormOfRows(matrices["x"], said["tokens"], norm(kind, said, matrices.get("gain"), matrices.get("bias")))


def check(source: Source, said: Reading, d: int) -> None:
    """Refuse an unbiased variance of one figure. Raises ProblemError."""
    if d == 1 and "variance" in said and said["variance"] == "unbiased":
        what = "unbiased divides by d - 1, but rows have one column"
        raise source.error(said.at("variance"), "variance", what, "use biased, or wider rows")


def norm(kind: str, said: Reading, gain: Matrix | None, bias: Matrix | None) -> Norm:
    """The Norm of what was said, with its matrices."""
    variance = said["variance"] if kind == "layer-norm" else "biased"
    return Norm(kind, said["eps"], said["eps_in"], variance, gain, bias)


PROBLEMS = {
    "layer-norm": Kind(ROWS + LAYER_NORM, partial(norm_of_rows, "layer-norm")),
    "rms-norm": Kind(ROWS + RMS_NORM, partial(norm_of_rows, "rms-norm")),
}
