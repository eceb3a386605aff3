"""Draws against PCG64 as it is published, written out here without NumPy (O'Neill 2014, PCG XSL RR 128/64)."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc.draws import integers

MULTIPLIER = 47026247687942121848144207491837523525
MASK_64, MASK_128 = 2**64 - 1, 2**128 - 1


def pcg64(state: int, increment: int) -> Iterator[int]:
    """The raw stream: step, then xor the halves of the state and turn them right by its top six bits."""
    while True:
        state = (state * MULTIPLIER + increment) & MASK_128
        mixed, turn = (state >> 64) ^ (state & MASK_64), state >> 122
        yield ((mixed >> turn) | (mixed << (64 - turn))) & MASK_64


def expected(seed: str, name: str, low: int, high: int, count: int) -> list[int]:
    hashed = b"".join(str(len(part)).encode() + b":" + part for part in (seed.encode(), name.encode()))
    digest = hashlib.sha256(hashed).hexdigest()
    span = high - low + 1
    accepted = []
    for raw in pcg64(int(digest[:32], 16), int(digest[32:], 16) | 1):
        if len(accepted) == count:
            return accepted
        if raw < (2**64 // span) * span:
            accepted.append(low + raw % span)
    raise AssertionError


def test_the_stream_written_out_here_is_that_of_the_reference_implementation() -> None:
    # The first outputs of pcg_setseq_128_xsl_rr_64 for initstate 42, initseq 54 (pcg-c, check-pcg64.out).
    increment = (54 << 1) | 1
    state = ((increment + 42) * MULTIPLIER + increment) & MASK_128
    stream = pcg64(state, increment)
    assert [next(stream) for _ in range(3)] == [0x86B1DA1D72062B68, 0x1304AA46C9853D39, 0xA3670E9E0DD50358]


@given(st.text(max_size=8), st.text(max_size=8), st.integers(-50, 50), st.integers(0, 60), st.integers(0, 40))
def test_draws_are_those_of_the_recurrence(seed: str, name: str, low: int, width: int, count: int) -> None:
    assert integers(seed, name, low, low + width, count) == expected(seed, name, low, low + width, count)


@pytest.mark.parametrize("span", [2**63 + 1, 2**64 - 1, 2**64, 3 * 2**62])
def test_rejection_continues_the_stream(span: int) -> None:
    # Half of the raw draws are refused for the first of these.
    assert integers("7", "W", 0, span - 1, 50) == expected("7", "W", 0, span - 1, 50)


def test_golden_values() -> None:
    """The same digits for ever: sheets that were handed out rest on them."""
    assert integers("7", "W_Q", -2, 2, 8) == expected("7", "W_Q", -2, 2, 8) == [-1, -1, -2, -1, 0, 0, -1, -2]


def test_seed_and_name_are_kept_apart() -> None:
    pairs = [("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""), ("7", "W_Q"), ("7", "W_K"), ("07", "W_Q"), ("1:a", "")]
    assert len({tuple(integers(*pair, 0, 10**9, 4)) for pair in pairs}) == len(pairs)


def test_every_number_comes_up_as_often() -> None:
    counts = Counter(integers("fair", "x", -2, 2, 20_000))
    assert sorted(counts) == [-2, -1, 0, 1, 2] and all(3_700 < count < 4_300 for count in counts.values())


def test_one_number_only_and_none_at_all() -> None:
    assert integers("s", "n", 3, 3, 4) == [3, 3, 3, 3] and integers("s", "n", 0, 1, 0) == []


@pytest.mark.parametrize(("low", "high", "count"), [(1, 0, 1), (0, 2**64, 1), (0, 1, -1)])
def test_what_can_not_be_drawn(low: int, high: int, count: int) -> None:
    with pytest.raises(ValueError, match="whole numbers from"):
        integers("s", "n", low, high, count)


def test_hash_seed_and_global_state_play_no_part() -> None:
    script = (
        "import numpy; numpy.random.seed(1); from attncalc.draws import integers; print(integers('7', 'W', 0, 9, 9))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert runs == {f"{integers('7', 'W', 0, 9, 9)}\n"}


def test_numpy_random_is_imported_only_to_draw() -> None:
    script = (
        "import sys, numpy; before = 'numpy.random' in sys.modules; import attncalc.problem, attncalc.draws; "
        "print(before == ('numpy.random' in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": ":".join(sys.path)},
                         capture_output=True, text=True, check=True)  # fmt: skip
    assert run.stdout == "True\n"
