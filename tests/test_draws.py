"""Draws against PCG64 as it is published, written out here without NumPy (O'Neill 2014, PCG XSL RR 128/64)."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc.draws import Streams, encoded, integers
from attncalc.problem.forms import Random

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


@given(st.integers(0, MASK_128), st.integers(0, MASK_128))
def test_it_is_that_of_numpy(state: int, increment: int) -> None:
    generator = np.random.PCG64()
    said = {"state": state, "inc": increment | 1}
    generator.state = {"bit_generator": "PCG64", "state": said, "has_uint32": 0, "uinteger": 0}
    stream = pcg64(state, increment | 1)
    assert [next(stream) for _ in range(20)] == generator.random_raw(20).tolist()


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


def test_numpy_random_plays_no_part() -> None:
    script = (
        "import sys, numpy; before = 'numpy.random' in sys.modules; from attncalc.draws import integers; "
        "integers('7', 'W', 0, 9, 9); print(before == ('numpy.random' in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": ":".join(sys.path)},
                         capture_output=True, text=True, check=True)  # fmt: skip
    assert run.stdout == "True\n"


@given(
    st.lists(st.text(max_size=4), min_size=1, max_size=5), st.sampled_from([1, 3, 10, 2**63 + 1, 2**64]),
    st.lists(st.tuples(st.integers(0, 30), st.sets(st.integers(0, 4))), max_size=4),
)  # fmt: skip
def test_streams_side_by_side_are_each_as_by_itself(seeds: list[str], span: int, read: list[Any]) -> None:
    """However many are read at a time, and of whichever of them."""
    streams, found = Streams(encoded(seeds), "W"), [list[int]() for _ in seeds]
    for count, of in read:
        here = [k for k in sorted(of) if k < len(seeds)]
        for k, numbers in zip(here, streams.below(span, count, np.array(here, dtype=int)).T.tolist(), strict=True):
            found[k] += numbers
    assert found == [expected(seed, "W", 0, span - 1, len(each)) for seed, each in zip(seeds, found, strict=True)]


def test_a_long_stream_goes_on() -> None:
    assert integers("long", "W", 0, 99, 40_000) == expected("long", "W", 0, 99, 40_000)


@given(st.sampled_from([(2, 2), (3, 2), (2, 4), (1, 3), (3, 3)]), st.integers(0, 99))
def test_a_fit_matrix_is_the_first_of_a_seed_that_is(shape: tuple[int, int], seed: int) -> None:
    form = Random("integers", -1, 1, "", None, None, fit=True)
    size = shape[0] * shape[1]
    seeds = [f"{seed}/{k}" for k in range(4)]
    for k, found in enumerate(np.moveaxis(form.drawn(encoded(seeds), "W_Q", *shape), -1, 0)):
        candidates = np.array(expected(seeds[k], "W_Q", -1, 1, 8 * size)).reshape(8, *shape)
        fit = [each for each in candidates if is_fit(each)]
        assert np.array_equal(found, fit[0] if fit else candidates[0])


def is_fit(matrix: Any) -> bool:
    whole_rank = np.linalg.matrix_rank(matrix) == min(matrix.shape)
    return bool(whole_rank and matrix.any(axis=0).all() and matrix.any(axis=1).all()
                and (len(matrix) == 1 or not np.array_equal(matrix, matrix.T)))  # fmt: skip
