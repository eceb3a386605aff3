"""The one step that somebody means by a name: its id, an ending that only its id has, or `result`."""

from __future__ import annotations

import re
from unicodedata import normalize

from attncalc.errors import UsageError
from attncalc.expr import Expr
from attncalc.problem.schema import nearest
from attncalc.problem.source import one_line, short, some_of
from attncalc.solution import Solution
from attncalc.steps import Step

MOST_NAMED = 3
MOST_KNOWN = 12

# Symbols as plain text. One that holds anything else is left out: the id says enough.
_SYMBOLS = {"name": "{0}", "of": "{0}⁽{1}⁾", "sub": "{0}_{1}", "transpose": "{0}ᵀ", "dot": "{0}·{1}",
            "times": "{0}×{1}", "call": "{0}({1})"}  # fmt: skip
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_TILDE = "\u0303"
_number = re.compile("⁽[⁰¹²³⁴⁵⁶⁷⁸⁹]+⁾")  # of a head, a layer


def step_named(solution: Solution, name: str) -> Step:
    """The step of this name; of two that is worked, rather than one that is given. Raises UsageError where there is
    none, or more than one."""
    found = solution.called(name)
    if len(found) > 1 and found[0].id == name:
        found = found[1:]
    if len(found) == 1:
        return found[0]
    if found:
        ids = some_of([step.id for step in found], MOST_NAMED)
        raise UsageError(f"{short(name)} is the end of {ids}", "write more of the id")
    what = f"this problem has no step {short(name) or 'without a name'}"
    hint = of_symbol(solution, name) or nearest(name, [*solution.steps, "result"])
    worked = [id for id, step in solution.steps.items() if step.is_worked]
    raise UsageError(what, hint or f"the steps here are {some_of(worked, MOST_KNOWN)}")


def plain_symbol(symbol: Expr) -> str:
    """A symbol as plain text, or nothing."""
    if symbol.op == "number":
        return str(symbol.args[1])
    parts = [plain_symbol(part) if isinstance(part, Expr) else str(part) for part in symbol.args]
    if not all(parts):
        return ""
    if symbol.op == "tilde":
        return one_line(parts[0][:1]) + _TILDE + one_line(parts[0][1:])
    if symbol.op == "of":
        parts[1] = parts[1].translate(_RAISED)
    return one_line(_SYMBOLS.get(symbol.op, "").format(*parts))


def of_symbol(solution: Solution, name: str) -> str:
    """A hint: the steps whose symbol this is, with or without its number; nothing where there is none."""
    asked = normalize("NFC", name)
    symbols = {id: normalize("NFC", plain_symbol(step.symbol)) for id, step in solution.steps.items() if id != name}
    those = [id for id, symbol in symbols.items() if asked and asked in (symbol, _number.sub("", symbol))]
    if not those:
        return ""
    return f"{short(name)} is {'the step' if len(those) == 1 else 'the symbol of'} {some_of(those, MOST_NAMED)}"
