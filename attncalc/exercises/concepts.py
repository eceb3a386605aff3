"""Which questions in words are asked for: all, some number, or those named."""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.draws import integers
from attncalc.errors import UsageError


def chosen(which: str, known: Sequence[str], applying: Sequence[str], seed: str = "") -> list[str]:
    """The keys of the concepts that `which` asks for: all, how many, or names with commas between them.

    They are in the order of those that apply, or as the seed draws them; named ones as they are named.
    """
    if not applying:
        raise UsageError("--concepts has no question about such a problem", "leave it out")
    if which == "all" or which.isdecimal():
        count = len(applying) if which == "all" else int(which)
        if not 1 <= count <= len(applying):
            raise UsageError(f"--concepts {which}: {len(applying)} of them apply here", _choices(applying))
        return shuffled(applying, seed)[:count] if seed else list(applying)[:count]
    names = [each.strip() for each in which.split(",")]
    for name in names:
        if name not in applying:
            why = "does not apply here" if name in known else "is none of the concepts"
            raise UsageError(f"--concepts {name!r} {why}", _choices(applying))
    return list(dict.fromkeys(names))


def shuffled(keys: Sequence[str], seed: str) -> list[str]:
    """The keys in an order that the seed alone decides."""
    keys = list(keys)
    for k in range(len(keys) - 1, 0, -1):
        (other,) = integers(seed, f"concepts[{k + 1}]", 0, k, 1)
        keys[k], keys[other] = keys[other], keys[k]
    return keys


def _choices(applying: Sequence[str]) -> str:
    return f"give all, a number, or names of {', '.join(applying)}"
