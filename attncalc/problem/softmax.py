"""`kind: softmax`: rows of figures, made into weights."""

from __future__ import annotations

from typing import NamedTuple

from attncalc.problem import masks
from attncalc.problem.mask_entries import padding
from attncalc.problem.masks import Asked, Mask, mask
from attncalc.problem.matrices import matrix
from attncalc.problem.readers import choice, labels, positive
from attncalc.problem.rows import fitted, needed, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.sizes import Operand
from attncalc.problem.source import Source
from attncalc.steps import Matrix


class Softmax(NamedTuple):
    """The softmax of each row of x, n × m."""

    x: Matrix
    temperature: tuple[float, str] | None  # what x is divided by, and how it was written; None: nothing said
    mask: Mask  # queries are the rows, keys the columns
    vocabulary: tuple[str, ...] | None  # m labels of the columns
    tokens: tuple[str, ...] | None  # n labels of the rows
    masked_row: str  # zero or error


KEYS = Table((
    Key("x", matrix, None, "rows of figures, n × m"),
    Key("temperature", positive, None, "what x is divided by; 1, if nothing is said"),
    Key("mask", mask, Asked(), "as in an attention, with rows for queries and columns for keys"),
    Key("padding", padding, None, "one entry a column: 1 counts, 0 is left out"),
    Key("vocabulary", labels, None, "labels of the columns"),
    Key("tokens", labels, None, "labels of the rows"),
    Key("masked_row", choice("zero", "error"), "zero", "a row with nothing visible: weights 0, or an error"),
))  # fmt: skip


def softmax(source: Source, said: Reading) -> Softmax:
    """The Softmax that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    needed(source, said, "x", "[[1, 2, 3]]")
    given = [*operands(said, {"x": ("n", "m")}), *said["mask"].operands()]
    if said["padding"] is not None:
        each = said["padding"]
        given.append(Operand(each.name, each.path, each.node, each.given, ("one", "m")))
    sizes = fitted(source, said, given, labels=(("tokens", "n"), ("vocabulary", "m")))
    visible = masks.check(source, said["mask"], said["padding"], sizes)
    x = given[0].matrix
    return Softmax(x, said["temperature"], visible, said["vocabulary"], said["tokens"], said["masked_row"])


PROBLEMS = {"softmax": Kind(KEYS, softmax)}
