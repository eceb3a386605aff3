"""`kind: experts`: a mixture of experts, by itself and as the feed-forward of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attncalc.problem import feed_forward
from attncalc.problem.feed_forward import FEED_FORWARD, FeedForward
from attncalc.problem.matrices import matrix
from attncalc.problem.nodes import ListNode, Node
from attncalc.problem.readers import anything, choice, switch, whole
from attncalc.problem.rows import ROWS, fitted, needed, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.sizes import Operand, Sizes
from attncalc.problem.source import Source, counted
from attncalc.steps import Matrix

Each = tuple[Reading, ...]  # feed-forwards of a list


class Experts(NamedTuple):
    """A router and its experts; each row goes to top_k of them. No `experts`: the routing alone."""

    router: Matrix  # d × experts
    experts: tuple[FeedForward, ...]
    top_k: int  # 1 to as many as there are
    normalise: str  # after: softmax over the chosen logits; before: over all of them, and then the choice
    d: int  # the width of the rows
    renormalise: bool  # before: whether the chosen probabilities are divided by their sum

    @property
    def width(self) -> int:
        """Of the rows that come out."""
        return self.experts[0].width if self.experts else self.d


class ExpertsOfRows(NamedTuple):
    """A mixture of experts for each row of x, n × d."""

    x: Matrix
    tokens: tuple[str, ...] | None
    experts: Experts


def _each(source: Source, node: Node, path: str) -> Each:
    if not isinstance(node, ListNode) or not node.items:
        what = "an empty list" if isinstance(node, ListNode) else "must be a list of feed-forwards"
        raise source.error(node, path, what, "write [{W_1: .., W_2: ..}, {W_1: .., W_2: ..}]")
    return tuple(FEED_FORWARD.read(source, item, source.cell(path, index)) for index, item in enumerate(node.items))


EXPERTS = Table((
    Key("router", matrix, None, "weights of the router, d × experts"),
    Key("experts", _each, (), "a list of feed-forwards, with the keys of one: [{W_1: .., W_2: ..}, ..]; left out: the "
        "routing alone"),
    Key("top_k", anything, None, "how many experts each row goes to, 1 to as many as there are"),
    Key("normalise", choice("after", "before"), "after", "after: softmax over the chosen logits; before: over all "
        "logits, and then the choice"),
    Key("renormalise", switch, True, "with normalise: before, whether the chosen probabilities are divided by their "
        "sum"),
))  # fmt: skip


def check(source: Source, said: Reading) -> None:
    """Refuse a mixture that lacks a key or has one without use. Raises ProblemError."""
    needed(source, said, "router", "[[1, 0], [0, 1]]")
    needed(source, said, "top_k", "2")
    if "renormalise" in said and said["normalise"] == "after":
        what = "not used with normalise: after, where the softmax is over the chosen logits alone"
        raise source.error(said.at("renormalise"), "renormalise", what, "say normalise: before, or leave it out")
    for index, each in enumerate(said["experts"]):
        feed_forward.check(source.inside("experts", index), each)


def matrices_of(source: Source, said: Reading) -> list[Operand]:
    """The router and the matrices of all experts, with rows d wide; each expert has a hidden layer of its own width."""
    found = operands(said, {"router": ("d", "experts")})
    for number, each in enumerate(said["experts"], start=1):
        place = source.cell("experts", number - 1)
        for name, sides in feed_forward.axes(each).items():
            if name in each:
                rows, columns = (f"d_ff{number}" if side == "d_ff" else side for side in sides)
                called = f"experts[{number}].{name}"
                found.append(Operand(called, f"{place}.{name}", each.at(name), each[name], (rows, columns)))
    return found


def experts(source: Source, said: Reading, given: Sequence[Operand], sizes: Sizes) -> Experts:
    """The Experts of what was said, with its matrices as they were `fitted`. Raises ProblemError where there are not as
    many experts as columns of the router, or top_k is out of range."""
    each: Each = said["experts"]
    if each and len(each) != sizes["experts"]:
        what = f"{counted(len(each), 'expert')}, but {sizes.origin('experts').shown}"
        raise source.error(said.at("experts"), "experts", what, "the router has a column for each expert")
    top_k = whole(1, sizes["experts"])(source, said.at("top_k"), "top_k")
    matrices = {operand.name: operand.matrix for operand in given}
    networks = tuple(
        feed_forward.feed_forward(of, {name: matrices[f"experts[{number}].{name}"]
                                       for name in feed_forward.axes(of) if name in of})
        for number, of in enumerate(each, start=1)
    )  # fmt: skip
    return Experts(matrices["router"], networks, top_k, said["normalise"], sizes["d"], said["renormalise"])


def experts_of_rows(source: Source, said: Reading) -> ExpertsOfRows:
    """The mixture that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    needed(source, said, "x", "[[1, 0]]")
    check(source, said)
    given = [*operands(said, {"x": ("n", "d")}), *matrices_of(source, said)]
    sizes = fitted(source, said, given, labels=(("tokens", "n"),), defaults=(("d_out", "d"),))
    return ExpertsOfRows(given[0].matrix, said["tokens"], experts(source, said, given, sizes))


PROBLEMS = {"experts": Kind(ROWS + EXPERTS, experts_of_rows)}
