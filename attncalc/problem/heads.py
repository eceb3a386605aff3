"""`heads:` and `kv_heads:` of an attention: how many there are, and heads that are given one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from attncalc.problem.matrices import matrix, row_vector
from attncalc.problem.nodes import ListNode, Node
from attncalc.problem.readers import whole
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.source import Source, counted
from attncalc.steps import Matrix

MOST_HEADS = 1_000_000


class Head(NamedTuple):
    """One head that is given by itself. Only the first of the heads that share keys and values has W_K and W_V."""

    W_Q: Matrix
    W_K: Matrix | None = None
    W_V: Matrix | None = None
    b_Q: Matrix | None = None
    b_K: Matrix | None = None
    b_V: Matrix | None = None


@dataclass(eq=False, repr=False)
class Heads:
    """How many heads there are; `each` holds what is given of them one by one, with its path in the attention."""

    count: int = 1
    kv_count: int = 1
    each: tuple[tuple[str, Reading], ...] = ()


class SaidHeads(NamedTuple):
    """What `heads` says: a number, or a list."""

    number: int
    each: tuple[Reading, ...] = ()


EACH = Table((
    Key("W_Q", matrix, None, "weights of this head's queries, d_model × d_k"),
    Key("W_K", matrix, None, "weights of its keys; only in the first of the heads that share them"),
    Key("W_V", matrix, None, "weights of its values; as W_K"),
    Key("b_Q", row_vector, None, "bias of its queries"),
    Key("b_K", row_vector, None, "bias of its keys"),
    Key("b_V", row_vector, None, "bias of its values"),
))  # fmt: skip
_count = whole(1, MOST_HEADS)
_SHARED = ("W_K", "W_V", "b_K", "b_V")


def heads(source: Source, node: Node, path: str) -> SaidHeads:
    """A whole number, or a list of {W_Q, W_K, W_V, b_Q, b_K, b_V}."""
    if not isinstance(node, ListNode):
        return SaidHeads(_count(source, node, path))
    if not node.items:
        raise source.error(node, path, "an empty list", "give a number, or a mapping a head: {W_Q: .., W_K: ..}")
    each = [EACH.read(source, item, source.cell(path, index)) for index, item in enumerate(node.items)]
    return SaidHeads(len(each), tuple(each))


def check_heads(source: Source, said: Reading) -> Heads:
    """Both numbers of heads, and that each head of a list has what it needs."""
    count = said["heads"].number
    each = tuple((source.cell("heads", index), head) for index, head in enumerate(said["heads"].each))
    kv_count = count if said["kv_heads"] is None else said["kv_heads"]
    if count % kv_count:
        there_are = f"there is {count} head" if count == 1 else f"there are {count} heads"
        raise source.error(said.at("kv_heads"), "kv_heads", f"{kv_count}, but {there_are}, which {kv_count} "
                           "does not divide", "each key/value head serves as many heads as the others")  # fmt: skip
    group = count // kv_count
    for number, (path, head) in enumerate(each):
        needed = ("W_Q",) if number % group else ("W_Q", "W_K", "W_V")
        for name in needed:
            if name not in head:
                hint = "give it" if name == "W_Q" or kv_count < count else "give it, or kv_heads where heads share it"
                raise source.error(head.node, f"{path}.{name}", "missing", hint)
        for name in _SHARED if number % group else ():
            if name in head:
                first = each[number - number % group][0]
                what = f"{first} gives it to {counted(group, 'head')}, as kv_heads is {kv_count}"
                raise source.error(head.at(name), f"{path}.{name}", what, "leave it out")
    return Heads(count, kv_count, each)
