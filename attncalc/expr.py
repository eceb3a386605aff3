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
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from attncalc import rounding
from attncalc.intervals import Value
from attncalc.operations import FUNCTIONS, OPERATIONS, Operation
from attncalc.rounding import Bounds


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


LEAVES = frozenset({"slot", "number", "name", "text"})


@lru_cache(maxsize=4096)
def slot(k: int) -> Expr:
    """The k-th figure of a working, from 0."""
    return Expr("slot", k)


def number(value: float, written: str = "", symbol: str = "") -> Expr:
    """A constant, exact: printed as `written` among figures, and as its `symbol`, if it has one, among symbols."""
    return Expr("number", value, written or (str(int(value)) if value == int(value) else repr(value)), symbol)


def name(symbol: str) -> Expr:
    return Expr("name", symbol)


def exp(x: Expr) -> Expr:
    return Expr("exp", x)


def power(base: Expr, exponent: Expr) -> Expr:
    return Expr("power", base, exponent)


def square(x: Expr) -> Expr:
    return power(x, number(2.0))


def negated(x: Expr) -> Expr:
    return Expr("negated", x)


def sqrt(x: Expr) -> Expr:
    return Expr("sqrt", x)


def function(called: str, *arguments: Expr) -> Expr:
    """One of FUNCTIONS, by its name: max(a, b), tanh(x)."""
    return Expr("call", name(called), *arguments)


def children(expr: Expr) -> tuple[Expr, ...]:
    return () if expr.op in LEAVES else expr.args


def walk(expr: Expr) -> Iterator[Expr]:
    """The tree's nodes, each before its arguments, from left to right."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def _is_decimal(number: Expr) -> bool:
    """Whether a constant is a figure; π is none."""
    return not number.args[1].isalpha()


@lru_cache(maxsize=4096)
def is_constant(expr: Expr) -> bool:
    """Whether the tree has a value of its own, without a figure: √2, 1/4."""
    return all(part.op not in ("slot", "text") for part in walk(expr))


def constants(expr: Expr) -> list[Expr]:
    """The largest parts of the tree that are constants and no bare numbers, each once, from left to right: √2."""
    if is_constant(expr):
        return [] if expr.op in LEAVES else [expr]
    return list(dict.fromkeys(part for child in children(expr) for part in constants(child)))


def shifted(expr: Expr, by: int) -> Expr:
    """The tree with every slot k as slot k + by."""
    if expr.op == "slot":
        return slot(expr.args[0] + by)
    if expr.op in LEAVES or by == 0:
        return expr
    return Expr(expr.op, *(shifted(child, by) for child in expr.args))


def in_symbols(expr: Expr, symbols: Sequence[Expr], *, single: bool = False) -> Expr:
    """The law in symbols: `symbols[k]` in the place of slot k, and constants by their own symbols, if they have one.

    A product of two matrices cell by cell is A ⊙ B there, since A·B is another thing; that of `single` figures is not.
    """
    if expr.op == "times" and not single and not any(is_constant(part) for part in expr.args):
        return Expr("hadamard", *(in_symbols(child, symbols) for child in expr.args))
    if expr.op == "number" and expr.args[2]:
        return name(expr.args[2])
    if expr.op == "slot":
        return symbols[int(expr.args[0])]
    if expr.op in LEAVES:
        return expr
    return Expr(expr.op, *(in_symbols(child, symbols, single=single) for child in expr.args))


@lru_cache(maxsize=512)
def sum_of_slots(count: int) -> Expr:
    """slot 0 + slot 1 + ...; the working of a row sum."""
    if count == 1:
        return slot(0)
    return Expr("plus", *(slot(k) for k in range(count)))


@lru_cache(maxsize=512)
def mean_of_slots(count: int, divisor: int) -> Expr:
    """(slot 0 + slot 1 + ...)/divisor; the working of a mean, or with count - 1 of an unbiased variance."""
    return sum_of_slots(count) / number(float(divisor))


@lru_cache(maxsize=512)
def product_of_slots(count: int) -> Expr:
    """slot 0 × slot 1 × ..."""
    if count == 1:
        return slot(0)
    return Expr("times", *(slot(k) for k in range(count)))


@lru_cache(maxsize=512)
def sum_of_products(count: int) -> Expr:
    """slot 0 × slot 1 + slot 2 × slot 3 + ...; the working of a cell of a matrix product."""
    return Expr("plus", *(slot(2 * k) * slot(2 * k + 1) for k in range(count)))


@lru_cache(maxsize=512)
def sum_of_terms(term: Expr, slots: int, count: int) -> Expr:
    """The term of its first `slots` slots, and of the next, and so on: tanh(slot 0 + slot 1) + tanh(slot 2 + slot 3)"""
    terms = [shifted(term, slots * k) for k in range(count)]
    return Expr("plus", *terms) if count > 1 else terms[0]


@lru_cache(maxsize=512)
def argmax_of_slots(count: int) -> Expr:
    """The number of the largest slot, from 0; of equal ones the first."""
    return function("argmax", *(slot(k) for k in range(count)))


@lru_cache(maxsize=512)
def max_of_slots(count: int) -> Expr:
    return function("max", *(slot(k) for k in range(count)))


def _operation(expr: Expr) -> tuple[Operation, tuple[Expr, ...]]:
    """What a tree does, and to what."""
    if expr.op == "call":
        return FUNCTIONS[expr.args[0].args[0]], expr.args[1:]
    return OPERATIONS[expr.op], expr.args


def evaluate(expr: Expr, figures: Sequence[Value]) -> Value:
    """The value of the tree with `figures[k]` (floats, or arrays that broadcast) in the place of slot k."""
    if expr.op == "slot":
        return figures[expr.args[0]]
    if expr.op == "number":
        return expr.args[0]
    operation, arguments = _operation(expr)
    return operation.evaluate(evaluate(argument, figures) for argument in arguments)


def exactness(expr: Expr, figures: Sequence[Value], exact: Sequence[Value]) -> Value:
    """Whether the tree's value is an exact figure where each of `figures` is one (`exact`), cell by cell.

    0 times anything is an exact 0, and so is 0 over anything; e^x is exact at 0 and at -∞ alone.
    """
    if expr.op == "slot":
        return exact[expr.args[0]]
    if expr.op == "number":
        return _is_decimal(expr)
    operation, arguments = _operation(expr)
    values = [evaluate(argument, figures) for argument in arguments]
    flags = [exactness(argument, figures, exact) for argument in arguments]
    return operation.exact(values, flags)


def decimals(expr: Expr, figures: Sequence[int | None]) -> int | None:
    """How many decimals the tree's value has at most, where figure k has `figures[k]`; None where it may be no decimal
    (a quotient but by a constant like √4, a root, an exponential) or one of the figures is not."""
    if expr.op == "slot":
        return figures[int(expr.args[0])]
    if is_constant(expr):
        value = rational(expr, ())
        return None if value is None else rounding.decimals_of(value)
    operation, arguments = _operation(expr)
    if operation.whole:
        return 0
    found = [decimals(argument, figures) for argument in arguments]
    if expr.op == "over" and is_constant(arguments[1]) and (divisor := rational(arguments[1], ())):
        operation, found = OPERATIONS["times"], [found[0], rounding.decimals_of(1 / divisor)]
    known = [each for each in found if each is not None]
    return operation.decimals(known) if operation.decimals and len(known) == len(found) else None


def rational(expr: Expr, figures: Sequence[Fraction], *, near: bool = False) -> Fraction | None:
    """The exact value of the tree from exact figures; None where it has none (√2, e^1, x/0). `near`: where it is
    irrational, a fraction that is nearer to it than float64 tells apart; None where no such is known (sin, π)."""
    if expr.op == "slot":
        return figures[int(expr.args[0])]
    if expr.op == "number":
        return Fraction(expr.args[1]) if _is_decimal(expr) else None
    operation, arguments = _operation(expr)
    found = [rational(argument, figures, near=near) for argument in arguments]
    if operation.zero and found[0] == 0:
        return Fraction(0)  # 0/√2, tanh 0
    values = [each for each in found if each is not None]
    if operation.rational is None or len(values) < len(found):
        return Fraction(0) if expr.op == "times" and 0 in found else None
    value = operation.rational(values)
    return operation.digits(values) if near and value is None and operation.digits else value


@lru_cache(maxsize=512)
def has_digits(expr: Expr) -> bool:
    """Whether `rational` says what the tree's value is near to, where it has one: it has no sine, and no π."""
    if expr.op in LEAVES:
        return expr.op == "slot" or (expr.op == "number" and _is_decimal(expr))
    operation, arguments = _operation(expr)
    return operation.rational is not None and not operation.partly and all(map(has_digits, arguments))


def by_hand(
    expr: Expr, figures: Sequence[Value], constant: Callable[[float], float], part: Callable[[Value], Value]
) -> Value:
    """The value of the tree for whoever uses `constant(c)` for a constant c (√2), and `part(v)` for the value v of each
    part that is worked on the way, as the products of a sum."""
    if expr.op == "slot":
        return figures[expr.args[0]]
    if is_constant(expr):
        value = evaluate(expr, ())
        return value if expr.op == "number" and _is_decimal(expr) else constant(float(value))
    operation, arguments = _operation(expr)
    values = (_worked(each, figures, constant, part) for each in arguments)  # of a long sum, two at a time
    if expr.op == "times":  # worked from left to right
        first, *others = values
        for k, other in enumerate(others):
            first = operation.evaluate(iter((part(first) if k else first, other)))
        return first
    return operation.evaluate(values)


def _worked(
    expr: Expr, figures: Sequence[Value], constant: Callable[[float], float], part: Callable[[Value], Value]
) -> Value:
    value = by_hand(expr, figures, constant, part)
    return value if expr.op == "slot" or is_constant(expr) else part(value)


def bounds(expr: Expr, figures: Sequence[Bounds], places: int) -> Bounds:
    """Where the tree's value lies for whoever works it by hand from figures that lie in `figures[k]`, and what it is of
    the figures themselves.

    A constant (√2) may have been used as it is or as so many places show it; each part that is worked on the way, as
    the products of a sum, may have been rounded to so many places or not.
    """
    if expr.op == "slot":
        return figures[int(expr.args[0])]
    if is_constant(expr):
        value = evaluate(expr, ())
        is_figure = expr.op == "number" and _is_decimal(expr)
        return Bounds(value, value, value) if is_figure else rounding.constant_bounds(float(value), places)
    operation, arguments = _operation(expr)
    found = [bounds(argument, figures, places) for argument in arguments]
    parts = [
        rounding.rounded_or_not(each, places) if argument.op != "slot" and not is_constant(argument) else each
        for argument, each in zip(arguments, found, strict=True)
    ]
    if expr.op == "times":  # worked from left to right
        first, *others = parts
        for k, other in enumerate(others):
            first = _bounds(operation, [rounding.rounded_or_not(first, places) if k else first, other])
        return first
    if expr.op == "over" and is_constant(arguments[1]) and arguments[1].op not in LEAVES:
        # Somebody may take × 0.577 for / √3.
        inverse = rounding.constant_bounds(1 / evaluate(arguments[1], ()), places)
        over, times = _bounds(operation, parts), _bounds(OPERATIONS["times"], [parts[0], inverse])
        return Bounds(np.minimum(over.low, times.low), over.value, np.maximum(over.high, times.high))
    return _bounds(operation, parts)


def _bounds(operation: Operation, parts: Sequence[Bounds]) -> Bounds:
    low, high = operation.bounds([(each.low, each.high) for each in parts])
    value = operation.evaluate(each.value for each in parts)
    # What is hidden stays so, whatever else is added, but ln 0 is not; what is undefined, as ∞ - ∞, may be anything.
    hidden = np.isneginf(value) & np.any(np.broadcast_arrays(*(np.isneginf(each.value) for each in parts)), axis=0)
    low = np.where(hidden | np.isnan(low), -np.inf, low)
    return Bounds(low, value, np.where(hidden, -np.inf, np.where(np.isnan(high), np.inf, high)))


def precedence(expr: Expr) -> int:
    """How tightly the tree's own operation binds; leaves, and what only a page shows, bind tightest."""
    operation = OPERATIONS.get(expr.op)
    return operation.precedence if operation else 9


def small(symbol: Expr) -> Expr:
    """The symbol of a row: q of Q, k of Kᵀ, o⁽²⁾ of O⁽²⁾."""
    if symbol.op == "name":
        return name(symbol.args[0].lower())
    if symbol.op in ("of", "sub"):
        return Expr(symbol.op, small(symbol.args[0]), *symbol.args[1:])
    return small(symbol.args[0])


def dot(a: Expr, b: Expr) -> Expr:
    return Expr("dot", a, b)


def equation(left: Expr, right: Expr) -> Expr:
    """left = right."""
    return Expr("chain", left, Expr("text", "="), right)
