"""Draws that are the same on every machine and with every NumPy: seeds are text, the stream is PCG64's own.

The 32 bytes of a SHA-256 over the seed and the name of what is drawn are the state and the increment of a PCG64
(XSL-RR 128/64), whose raw 64-bit stream follows from its published recurrence alone (O'Neill 2014). It is worked here
for many seeds at a time, on pairs of 64-bit halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]

_RAW = 2**64  # values of one raw draw
_MULTIPLIER = 47026247687942121848144207491837523525
_AT_ONCE = 2**14  # raw draws: what is made of them on the way stays near the processor
_ALL = slice(None)
_32, _58, _63 = (np.uint64(bits) for bits in (32, 58, 63))
_LOW = np.uint64(2**32 - 1)


def integers(seed: str, name: str, low: int, high: int, count: int) -> list[int]:
    """`count` whole numbers from `low` to `high`, ends included, each as likely as the others.

    `name` is that of the matrix they are for: its path in the file, with indices from 1.
    """
    span = high - low + 1
    if not 0 < span <= _RAW or count < 0:
        raise ValueError(f"no {count} whole numbers from {low} to {high}")
    return [low + value for value in Streams(encoded([seed]), name).below(span, count)[:, 0].tolist()]


def encoded(texts: Sequence[str]) -> list[bytes]:
    """Texts as they are hashed: each with its length before it."""
    found = []
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        found.append(b"%d:%b" % (len(data), data))
    return found


class Streams:
    """The streams of some seeds (`encoded`) for one name, side by side: each is read on from where it was left."""

    def __init__(self, seeds: Sequence[bytes], name: str) -> None:
        from hashlib import sha256  # which only draws should cost

        (tail,) = encoded([name])
        digests = b"".join([sha256(seed + tail).digest() for seed in seeds])
        high, low, above, below = np.frombuffer(digests, dtype=">u8").reshape(-1, 4).T.astype(np.uint64)
        self._state = np.stack([high, low])
        self._increment = np.stack([above, below | np.uint64(1)])

    def below(self, span: int, count: int, of: Any = _ALL) -> Words:
        """The next `count` whole numbers from 0 to `span` - 1 of each stream, or of some: count × streams."""
        raw = self._raw(count, of)
        last = np.uint64(_RAW - _RAW % span - 1)  # draws beyond it are refused: they would favour the lowest numbers
        refused = raw > last
        for k in np.flatnonzero(refused.any(axis=0)):
            column = np.arange(self._state.shape[1])[of][k : k + 1]
            kept = raw[~refused[:, k], k]
            while kept.size < count:
                more = self._raw(count - kept.size, column)[:, 0]
                kept = np.concatenate([kept, more[more <= last]])
            raw[:, k] = kept
        return raw if span == _RAW else raw % np.uint64(span)

    def _raw(self, count: int, of: Any) -> Words:
        state, increment = self._state[:, of], self._increment[:, of]
        at_once = max(1, _AT_ONCE // max(1, state.shape[1]))
        parts = []
        for start in range(0, count, at_once):
            # The k-th state is the first one, and (1 + M + .. + M^(k-1)) times the first difference between two.
            difference = _sum(_product(state, _halves([_MULTIPLIER - 1])), increment[:, None])
            states = _sum(_product(difference[:, 0], _steps(min(at_once, count - start))), state[:, None])
            parts.append(_output(states))
            state = states[:, -1]
        self._state[:, of] = state
        return np.concatenate(parts) if parts else np.empty((0, state.shape[1]), dtype=np.uint64)


@lru_cache(maxsize=64)
def _steps(count: int) -> Words:
    """1, 1 + M, 1 + M + M², .. of the multiplier, modulo 2^128; 2 × count."""
    found = [1]
    while len(found) < count:
        found.append((found[-1] * _MULTIPLIER + 1) % 2**128)
    return _halves(found)


def _halves(numbers: Sequence[int]) -> Words:
    """128-bit numbers as their high and low halves, 2 × count."""
    return np.array([[number >> 64 for number in numbers], [number % _RAW for number in numbers]], dtype=np.uint64)


def _product(numbers: Words, factors: Words) -> Words:
    """Each number (2 × streams) times each factor (2 × count), modulo 2^128; 2 × count × streams."""
    a_high, a = numbers
    b_high, b = factors[:, :, None]
    a1, a0, b1, b0 = a >> _32, a & _LOW, b >> _32, b & _LOW
    cross = a0 * b1
    middle = (a0 * b0 >> _32) + (cross & _LOW) + a1 * b0
    high = a1 * b1 + (cross >> _32) + (middle >> _32) + a_high * b + a * b_high
    return np.stack([high, a * b])


def _sum(one: Words, other: Words) -> Words:
    low = one[1] + other[1]
    return np.stack([one[0] + other[0] + (low < other[1]), low])


def _output(states: Words) -> Words:
    """The halves xored, and turned right by the top six bits."""
    mixed, turn = states[0] ^ states[1], states[0] >> _58
    turned: Words = (mixed >> turn) | (mixed << (-turn & _63))
    return turned
