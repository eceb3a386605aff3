"""Small expression trees: what a cell is computed by, and what a formula on the page says.

An `Expr` is an operation and its arguments. The leaves are

    slot(k)     the k-th figure of a working; the same tree serves every cell of a step
    number(x)   a constant of the formula, never rounded (the 2 of √2)
    name("K")   a symbol; what follows "_" is its subscript

`evaluate` gives the value of a tree from the figures in its slots, on single figures and on whole arrays alike.
Trees that only name things (a product of matrices, a vector, a chain of equations) are for the page and have no value.
Nothing here knows a format: `precedence` and the names of the operations are all that a format needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

Value = Any  # a float or an array of them: `evaluate` takes and gives both


class Expr:
    """An operation and its arguments; immutable, equal by structure, hashed once."""

    __slots__ = ("_hash", "args", "op")

    def __init__(self, op: str, *args: Any) -> None:
        self.op = op
        self.args = args
        self._hash = hash((op, args))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Expr) and self._hash == other._hash and (self.op, self.args) == (other.op, other.args)

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"

    def __add__(self, other: Expr) -> Expr:
        return Expr("plus", self, other)

    def __sub__(self, other: Expr) -> Expr:
        return Expr("minus", self, other)

    def __mul__(self, other: Expr) -> Expr:
        return Expr("times", self, other)

    def __truediv__(self, other: Expr) -> Expr:
        return Expr("over", self, other)


LEAVES = frozenset({"slot", "number", "name", "text", "grid"})


@lru_cache(maxsize=4096)
def slot(k: int) -> Expr:
    """The k-th figure of a working, from 0."""
    return Expr("slot", k)


def number(value: float, written: str = "", symbol: str = "") -> Expr:
    """A constant, exact: printed as `written` among figures, and as its `symbol`, if it has one, among symbols."""
    return Expr("number", value, written or f"{value:g}", symbol)


def name(symbol: str) -> Expr:
    return Expr("name", symbol)


def exp(x: Expr) -> Expr:
    return Expr("exp", x)


def sqrt(x: Expr) -> Expr:
    return Expr("sqrt", x)


def children(expr: Expr) -> tuple[Expr, ...]:
    return () if expr.op in LEAVES else expr.args


def walk(expr: Expr) -> Iterator[Expr]:
    """The tree's nodes, each before its arguments, from left to right."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def shifted(expr: Expr, by: int) -> Expr:
    """The tree with every slot k as slot k + by."""
    if expr.op == "slot":
        return slot(expr.args[0] + by)
    if expr.op in LEAVES or by == 0:
        return expr
    return Expr(expr.op, *(shifted(child, by) for child in expr.args))


def in_symbols(expr: Expr, symbols: Sequence[Expr]) -> Expr:
    """The law in symbols: `symbols[k]` in the place of slot k, and constants by their own symbols, if they have one."""
    if expr.op == "number" and expr.args[2]:
        return name(expr.args[2])
    if expr.op == "slot":
        return symbols[int(expr.args[0])]
    if expr.op in LEAVES:
        return expr
    return Expr(expr.op, *(in_symbols(child, symbols) for child in expr.args))


@lru_cache(maxsize=512)
def sum_of_slots(count: int) -> Expr:
    """slot 0 + slot 1 + ...; the working of a row sum."""
    return Expr("plus", *(slot(k) for k in range(count)))


@lru_cache(maxsize=512)
def sum_of_products(count: int) -> Expr:
    """slot 0 × slot 1 + slot 2 × slot 3 + ...; the working of a cell of a matrix product."""
    return Expr("plus", *(slot(2 * k) * slot(2 * k + 1) for k in range(count)))


@lru_cache(maxsize=512)
def max_of_slots(count: int) -> Expr:
    return Expr("max", *(slot(k) for k in range(count)))


def _quotient(a: Value, b: Value) -> Value:
    # 0/0 is 0: a row with nothing visible has a sum of 0 and gets weights of 0.
    a, b = np.broadcast_arrays(a, b)
    nothing = (a == 0) & (b == 0)
    return np.divide(a, np.where(nothing, 1.0, b))


def _total(*terms: Value) -> Value:
    # From left to right, as one adds by hand, so that a figure does not depend on how NumPy groups its sums.
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _exact_product(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    zero = np.logical_or.reduce(np.broadcast_arrays(*((v == 0) & e for v, e in zip(values, exact, strict=True))))
    return zero | np.logical_and.reduce(np.broadcast_arrays(*exact))


def _exact_sum(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    hidden = np.logical_or.reduce(np.broadcast_arrays(*(np.isneginf(v) for v in values)))
    return hidden | np.logical_and.reduce(np.broadcast_arrays(*exact))


def _exact_difference(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return _exact_sum(values, exact) | (values[0] == values[1])  # a figure less itself is an exact 0


def _exact_quotient(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return ((values[0] == 0) & exact[0]) | (exact[0] & exact[1])


def _exact_exp(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return exact[0] & ((values[0] == 0) | np.isneginf(values[0]))  # e^0 is 1 and e^-∞ is 0; no other is a decimal


def _all_exact(values: Sequence[Value], exact: Sequence[Value]) -> Value:
    return np.logical_and.reduce(np.broadcast_arrays(*exact))


@dataclass(frozen=True)
class Operation:
    """What an operation computes, when its result can still be an exact figure, and how tightly it binds."""

    evaluate: Callable[..., Value]
    exact: Callable[[Sequence[Value], Sequence[Value]], Value]
    precedence: int


OPERATIONS: dict[str, Operation] = {
    "plus": Operation(_total, _exact_sum, 1),
    "minus": Operation(lambda a, b: a - b, _exact_difference, 1),
    "times": Operation(lambda a, b: a * b, _exact_product, 2),
    "over": Operation(_quotient, _exact_quotient, 2),
    "exp": Operation(np.exp, _exact_exp, 3),
    "sqrt": Operation(np.sqrt, _all_exact, 3),
    "max": Operation(lambda *terms: np.maximum.reduce(np.broadcast_arrays(*terms)), _all_exact, 4),
}


def evaluate(expr: Expr, figures: Sequence[Value]) -> Value:
    """The value of the tree with `figures[k]` (floats, or arrays that broadcast) in the place of slot k."""
    if expr.op == "slot":
        return figures[expr.args[0]]
    if expr.op == "number":
        return expr.args[0]
    return OPERATIONS[expr.op].evaluate(*(evaluate(child, figures) for child in expr.args))


def exactness(expr: Expr, figures: Sequence[Value], exact: Sequence[Value]) -> Value:
    """Whether the tree's value is an exact figure where each of `figures` is one (`exact`), cell by cell.

    0 times anything is an exact 0, and so is 0 over anything; e^x is exact at 0 and at -∞ alone.
    """
    if expr.op == "slot":
        return exact[expr.args[0]]
    if expr.op == "number":
        return np.True_
    values = [evaluate(child, figures) for child in expr.args]
    flags = [exactness(child, figures, exact) for child in expr.args]
    return OPERATIONS[expr.op].exact(values, flags)


def precedence(expr: Expr) -> int:
    """How tightly the tree's own operation binds; names, numbers and the like bind tightest."""
    operation = OPERATIONS.get(expr.op)
    return operation.precedence if operation else PAGE_PRECEDENCE.get(expr.op, 9)


# Operations that a page shows and nobody evaluates: a matrix product, K transposed, S with a tilde, softmax(...),
# [a, b, c], S[i,j], q_i, (n×d), a chain of equations, things side by side (`blocks` has the list).
PAGE_PRECEDENCE = {
    "dot": 2,
    "transpose": 8,
    "tilde": 8,
    "call": 8,
    "vector": 8,
    "cell": 8,
    "sub": 8,
    "shape": 8,
    "sized": 8,
    "list": 0,
    "chain": 0,
    "derivation": 0,
    "beside": 0,
}


def dot(a: Expr, b: Expr) -> Expr:
    return Expr("dot", a, b)
