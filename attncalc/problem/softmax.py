"""`kind: softmax`: rows of figures, made into weights."""

from __future__ import annotations

from dataclasses import dataclass

from attncalc.problem import masks
from attncalc.problem.mask_entries import padding
from attncalc.problem.masks import Asked, Mask, mask
from attncalc.problem.matrices import matrix
from attncalc.problem.readers import choice, labels, positive
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.sizes import Dimension, Fact, Operand, Sizes
from attncalc.problem.source import Source, counted, look_alike
from attncalc.steps import Matrix


@dataclass(frozen=True, eq=False)
class Softmax:
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
_LABELS = (("tokens", "n"), ("vocabulary", "m"))


def softmax(source: Source, said: Reading) -> Softmax:
    """The Softmax that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    if "x" not in said:
        raise source.error(said.node, "x", "missing", "write x: [[1, 2, 3]]")
    x = Operand("x", "x", said.at("x"), said["x"], ("n", "m"))
    given = [x, *said["mask"].operands()]
    if said["padding"] is not None:
        each = said["padding"]
        given.append(Operand(each.name, each.path, each.node, each.given, ("one", "m")))
    labelled = [(name, dimension, said[name]) for name, dimension in _LABELS if said[name] is not None]
    facts = [Fact(dimension, len(texts), f"{name} has {counted(len(texts), 'label')}")
             for name, dimension, texts in labelled]  # fmt: skip
    sizes = Sizes(source, given, {"one": Dimension("one")}, facts=(Fact("one", 1, "it is one row"), *facts))
    sizes.solve()
    for name, dimension, texts in labelled:
        if len(texts) != sizes[dimension]:
            what = f"{counted(len(texts), 'label')}, but {sizes.origin(dimension).shown}"
            raise source.error(said.at(name), name, what, look_alike("".join(texts)))
    for mismatch in sizes.mismatches():
        raise source.error(mismatch.node, mismatch.path, mismatch.what)
    visible = masks.check(source, said["mask"], said["padding"], sizes)
    return Softmax(x.matrix, said["temperature"], visible, said["vocabulary"], said["tokens"], said["masked_row"])
