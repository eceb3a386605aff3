"""Draws that are the same on every machine and with every NumPy: seeds are text, the stream is PCG64's own.

The 32 bytes of a SHA-256 over the seed and the name of what is drawn are the state and the increment of a PCG64
(XSL-RR 128/64), whose raw 64-bit stream follows from its published recurrence alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

_RAW = 2**64  # values of one raw draw


def integers(seed: str, name: str, low: int, high: int, count: int) -> list[int]:
    """`count` whole numbers from `low` to `high`, ends included, each as likely as the others.

    `name` is that of the matrix they are for: its path in the file, with indices from 1.
    """
    span = high - low + 1
    if not 0 < span <= _RAW or count < 0:
        raise ValueError(f"no {count} whole numbers from {low} to {high}")
    raw = _stream(seed, name)
    limit = _RAW - _RAW % span  # draws from here on are refused: they would favour the lowest numbers
    drawn: list[int] = []
    while len(drawn) < count:
        drawn += [low + value % span for value in raw(count - len(drawn)) if value < limit]
    return drawn


class _Stream:
    """The next raw values of a PCG64, as Python's integers."""

    def __init__(self, state: int, increment: int) -> None:
        self._generator = _generator()
        self._generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": increment},
            "has_uint32": 0,
            "uinteger": 0,
        }

    def __call__(self, count: int) -> list[int]:
        values: list[int] = self._generator.random_raw(count).tolist()
        return values


@lru_cache(maxsize=1)
def _generator() -> Any:
    """One generator for all streams: each is read to its end, from a state of its own, before another starts."""
    from numpy.random import PCG64  # a tenth of a second, which only draws should cost

    return PCG64(0)


def _stream(seed: str, name: str) -> _Stream:
    import hashlib  # which only draws should cost

    parts = [text.encode("utf-8", "surrogatepass") for text in (seed, name)]
    digest = hashlib.sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).digest()
    return _Stream(int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:], "big") | 1)
