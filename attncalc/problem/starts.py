"""What an attention can start from, and which sides of its matrices must agree: as data, and the checks of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from attncalc.errors import ProblemError
from attncalc.problem.nodes import Node
from attncalc.problem.schema import Reading
from attncalc.problem.source import Source, counted, either, look_alike

_AXES = {"rows": 0, "columns": 1}


class Side(NamedTuple):
    """The rows or the columns of a matrix."""

    matrix: str
    side: str

    def count(self, said: Reading) -> int:
        size: int = said[self.matrix].values.shape[_AXES[self.side]]
        return size

    def shown(self, said: Reading) -> str:
        """`2 rows (2 × 3)`"""
        rows, columns = said[self.matrix].values.shape
        return f"{counted(self.count(said), self.side[:-1])} ({rows} × {columns})"

    def against(self, said: Reading) -> str:
        """`but H has 2 rows (2 × 3)`"""
        return f"but {self.matrix} has {self.shown(said)}"


@dataclass(frozen=True)
class Start:
    """One way in: the keys it needs and may have, what counts its queries and keys, and which sides must agree."""

    name: str
    needs: tuple[str, ...]
    may: tuple[str, ...]
    queries: Side
    keys: Side
    width: Side | None  # whose size is d_k
    agree: tuple[tuple[Side, Side], ...]


def _agree(*pairs: str) -> tuple[tuple[Side, Side], ...]:
    """Pairs of sides from `W_Q rows = H columns`."""
    words = [pair.split() for pair in pairs]
    return tuple((Side(a, side), Side(b, other)) for a, side, _, b, other in words)


STARTS = (
    Start("H", ("H", "W_Q", "W_K", "W_V"), ("b_Q", "b_K", "b_V"),
          Side("H", "rows"), Side("H", "rows"), Side("W_K", "columns"),
          _agree("W_Q rows = H columns", "W_K rows = H columns", "W_V rows = H columns", "W_K columns = W_Q columns",
                 "b_Q columns = W_Q columns", "b_K columns = W_K columns", "b_V columns = W_V columns")),
    Start("QKV", ("Q", "K"), ("V",), Side("Q", "rows"), Side("K", "rows"), Side("K", "columns"),
          _agree("K columns = Q columns", "V rows = K rows")),
    Start("S", ("S",), ("V",), Side("S", "rows"), Side("S", "columns"), None, _agree("V rows = S columns")),
    Start("A", ("A",), ("V",), Side("A", "rows"), Side("A", "columns"), None, _agree("V rows = A columns")),
)  # fmt: skip
START_OF = {start.name: start for start in STARTS}
_OWNER = {name: start for start in STARTS for name in (*start.needs, *start.may) if name != "V"}  # V is of three
_WAYS_IN = "give H with W_Q, W_K and W_V, or Q, K and V, or S and V, or A and V"


def find_start(source: Source, said: Reading) -> Start:
    """The start that the keys of a file belong to, with all that it needs."""
    named = [name for name in said if name in _OWNER]
    if not named:
        missing = "Q and K are missing" if "V" in said else "nothing to calculate from"
        raise source.error(said.node, "", missing, _WAYS_IN)
    first, start = named[0], _OWNER[named[0]]
    for name in named:
        if _OWNER[name] is not start:
            what = f"can't be given together with {first}"
            raise source.error(said.at(name), name, what, "keep one of them")
    if "V" in said and "V" not in start.may:
        raise source.error(said.at("V"), "V", f"can't be given together with {first}", "H and W_V give V")
    missing_keys = [name for name in start.needs if name not in said]
    if missing_keys:
        raise _missing(source, said, start, missing_keys, first)
    return start


def _missing(source: Source, said: Reading, start: Start, missing: list[str], first: str) -> ProblemError:
    hint = f"{first} is given, so {either(list(start.needs), 'and')} are needed"
    if missing == ["W_Q", "W_K", "W_V"]:
        hint = "give them, or Q, K and V instead; an identity matrix written out leaves H as it is"
    return source.error(said.at(first), ", ".join(missing), "missing", hint)


class _Mismatch(NamedTuple):
    node: Node
    path: str
    what: str


def check_shapes(source: Source, start: Start, said: Reading) -> int | None:
    """d_k as the matrices give it, or None. Raises one ProblemError that names every mismatch."""
    found = [*_tokens(start, said), *_sides(start, said), *_d_k(start, said)]
    if found:
        first, *others = found
        what = "; ".join([first.what, *(f"{other.path}: {other.what}" for other in others)])
        hint = look_alike("".join(said["tokens"])) if first.path == "tokens" else ""  # 我，爱 is one token
        raise source.error(first.node, first.path, what, hint)
    return start.width.count(said) if start.width else None


def _tokens(start: Start, said: Reading) -> list[_Mismatch]:
    memory: Reading | None = said["memory"]
    found = []
    for path, reading, side in (("tokens", said, start.queries), ("memory.tokens", memory, start.keys)):
        if reading is not None and reading["tokens"] is not None and len(reading["tokens"]) != side.count(said):
            what = f"{counted(len(reading['tokens']), 'label')}, {side.against(said)}"
            found.append(_Mismatch(reading.at("tokens"), path, what))
    return found


def _sides(start: Start, said: Reading) -> list[_Mismatch]:
    return [
        _Mismatch(said.at(one.matrix), one.matrix, f"{one.shown(said)}, {other.against(said)}")
        for one, other in start.agree
        if one.matrix in said and one.count(said) != other.count(said)
    ]


def _d_k(start: Start, said: Reading) -> list[_Mismatch]:
    if start.width is None or said["d_k"] is None or said["d_k"] == start.width.count(said):
        return []
    return [_Mismatch(said.at("d_k"), "d_k", f"{said['d_k']}, {start.width.against(said)}")]
