"""Worked examples that others printed (published_figures.yaml): the engine gives their figures in their decimals."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import oracle
import pytest
import yaml
from problem_files import data_of

from attncalc import rounding
from attncalc.mechanisms import solve
from attncalc.problem import parse

FILE = Path(__file__).with_name("published_figures.yaml")
RECORDS = {record["name"]: record for record in yaml.load(FILE.read_text("utf-8"), Loader=yaml.BaseLoader)}


def printed_alike(value, text, float32=False):
    """Whether a value, rounded to the decimals of a printed figure, is that figure; 4.50e-10 has 12 decimals. One that
    was worked out in float32 may be off by its last bits."""
    if text == "-inf":
        return value == -np.inf
    if float32:
        return abs(value - float(text)) <= 2 * np.finfo(np.float32).eps * abs(value)
    places = max(0, -Decimal(text).as_tuple().exponent)
    return rounding.rounded(np.array([[value]]), places)[0, 0] == float(text)


def cells(record):
    """(step, i, j, text) of each figure that a record prints."""
    for id, rows in record["figures"].items():
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                if text != "_":
                    yield id, i, j, text


@pytest.mark.parametrize("name", RECORDS)
def test_the_engine_gives_the_printed_figures(name):
    steps = solve(parse(RECORDS[name]["problem"].encode())).steps
    for id, rows in RECORDS[name]["figures"].items():
        assert steps[id].shape == (len(rows), len(rows[0])), id
    wrong = [
        (id, i, j, text, steps[id].values[i, j])
        for id, i, j, text in cells(RECORDS[name])
        if not printed_alike(steps[id].values[i, j], text, "float32" in RECORDS[name])
    ]
    assert not wrong


@pytest.mark.parametrize("name", [name for name in RECORDS if "carried" not in RECORDS[name]["problem"]])
def test_the_oracle_gives_them_too(name):
    expected = oracle.attention(data_of(RECORDS[name]["problem"]), oracle.Exact())
    steps = solve(parse(RECORDS[name]["problem"].encode())).steps
    assert set(steps) == set(expected)
    for id, rows in expected.items():
        assert np.allclose(steps[id].values, np.array(rows, float), rtol=1e-12, atol=1e-12), id
    for id, i, j, text in cells(RECORDS[name]):
        assert printed_alike(expected[id][i][j], text, "float32" in RECORDS[name]), (id, i, j, text)


@pytest.mark.parametrize("name", [name for name in RECORDS if "misprints" in RECORDS[name]])
def test_what_a_source_misprints_is_not_what_the_engine_gives(name):
    steps = solve(parse(RECORDS[name]["problem"].encode())).steps
    for id, places in RECORDS[name]["misprints"].items():
        for row, column, text in places:
            assert not printed_alike(steps[id].values[int(row) - 1, int(column) - 1], text), (id, row, column, text)


def test_a_wrong_digit_is_seen():
    assert printed_alike(0.2482550783, "0.248") and printed_alike(2.1e-4, "0.0") and printed_alike(12.0, "12.")
    assert printed_alike(4.959345096e-20, "4.9593e-20") and printed_alike(0.125, "0.13")
    assert printed_alike(0.48283771503, "0.48283774", float32=True)
    assert not printed_alike(0.48283771503, "0.48283790", float32=True)
    assert not printed_alike(0.2482550783, "0.249") and not printed_alike(4.9593e-20, "4.9594e-20")
    assert len(RECORDS) == 42 and sum(1 for record in RECORDS.values() for _ in cells(record)) > 600
