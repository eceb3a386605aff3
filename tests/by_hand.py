"""What people of honest habits write, cell by cell, in Python's own numbers: no evaluator or rounding of attncalc's."""

import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from attncalc.steps import Arrange, Given

TIES = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN}
FUNCTIONS = {"max": max, "min": min, "tanh": math.tanh, "sin": math.sin, "cos": math.cos, "ln": math.log}


def rounded(value, places, ties):
    if math.isinf(value):
        return value
    return float(Decimal(repr(round(value, places + 8))).quantize(Decimal(1).scaleb(-places), TIES[ties])) + 0.0


class Hand:
    """One who rounds each result and goes on with it (`carries`), uses constants as they are shown, rounds each product
    of a sum (`parts`); or not."""

    def __init__(self, carries=False, constants=False, parts=False, ties="half-up"):
        self.carries, self.constants, self.parts, self.ties = carries, constants, parts, ties

    def writes(self, solution, replaced=None):
        """The figures that are written, and what was used for them, by step: lists of rows."""
        used, written = {}, {}
        for id, step in solution.items():
            rows = [[self.cell(step, i, j, used) for j in range(step.shape[1])] for i in range(step.shape[0])]
            written[id] = [[rounded(value, step.places, self.ties) for value in row] for row in rows]
            is_copy = isinstance(step, Given | Arrange)
            used[id] = written[id] if self.carries and not is_copy else rows
        return written, used

    def cell(self, step, i, j, used):
        if isinstance(step, Given):
            return float(step.values[i, j])
        pattern, cells = step.working(i, j)
        figures = [used[operand.id][row][column] for operand, row, column in cells]
        return float(self.value(pattern, figures, step.places))

    def value(self, tree, figures, places):
        if tree.op == "slot":
            return figures[tree.args[0]]
        if tree.op == "number":
            return tree.args[0]
        called = tree.op == "call"
        arguments = tree.args[1:] if called else tree.args
        values = [self.value(each, figures, places) for each in arguments]
        if not has_slots(tree):
            value = operation(tree, values)
            shown = rounded(value, places, self.ties)
            return shown if self.constants and shown else value
        if self.parts:
            inner = [each.op not in ("slot", "number") and has_slots(each) for each in arguments]
            values = [rounded(v, places, self.ties) if k else v for v, k in zip(values, inner, strict=True)]
        return operation(tree, values)


def has_slots(tree):
    if tree.op in ("slot", "number", "name", "text"):
        return tree.op == "slot"
    return any(has_slots(each) for each in tree.args)


def operation(tree, values):
    if tree.op == "call":
        return FUNCTIONS[tree.args[0].args[0]](*values)
    if tree.op == "plus":
        return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)
    if tree.op == "times":
        return math.prod(values)
    a, b = (*values, None)[:2]
    return {
        "minus": lambda: a - b, "over": lambda: a / b, "power": lambda: a**b, "negated": lambda: -a,
        "exp": lambda: math.exp(a), "sqrt": lambda: math.sqrt(a),
    }[tree.op]()  # fmt: skip
