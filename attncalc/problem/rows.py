"""What problems that work on rows of figures have in common: matrices that must fit, and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attncalc.problem.matrices import matrix
from attncalc.problem.readers import labels
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.sizes import Dimension, Fact, Operand, Sizes
from attncalc.problem.source import Source, counted, look_alike

Axes = Mapping[str, tuple[str, str]]  # of each matrix of a mapping, by its key: what its rows and columns stand for

ROWS = Table((
    Key("x", matrix, None, "rows of figures, n × d"),
    Key("tokens", labels, None, "labels of the rows"),
))  # fmt: skip


def needed(source: Source, said: Reading, name: str, example: str) -> None:
    """Refuse a mapping that lacks a key. Raises ProblemError."""
    if name not in said:
        raise source.error(said.node, name, "missing", f"write {name}: {example}")


def operands(said: Reading, axes: Axes) -> list[Operand]:
    """The matrices of a mapping that are given, in the order of `axes`."""
    return [Operand(name, name, said.at(name), said[name], sides) for name, sides in axes.items() if name in said]


def fitted(
    source: Source, said: Reading, given: Sequence[Operand], *, labels: Sequence[tuple[str, str]] = (),
    facts: Sequence[Fact] = (), defaults: Sequence[tuple[str, str]] = (),
) -> Sizes:  # fmt: skip
    """Every matrix with its size, where all fit the `facts`, one another and the `labels` (a key and what it labels).
    Raises ProblemError."""
    labelled = [(name, dimension, said[name]) for name, dimension in labels if said[name] is not None]
    counts = [Fact(dimension, len(texts), f"{name} has {counted(len(texts), 'label')}")
              for name, dimension, texts in labelled]  # fmt: skip
    one = Fact("one", 1, "it is one row")
    sizes = Sizes(source, list(given), {"one": Dimension("one")}, settled=tuple(facts), facts=(one, *counts),
                  defaults=tuple(defaults))  # fmt: skip
    sizes.solve()
    for name, dimension, texts in labelled:
        if len(texts) != sizes[dimension]:
            what = f"{counted(len(texts), 'label')}, but {sizes.origin(dimension).shown}"
            raise source.error(said.at(name), name, what, look_alike("".join(texts)))
    sizes.refuse_mismatches()
    return sizes
