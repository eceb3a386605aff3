"""The benchmarks are alive: every row of their tables is measured, once and small. No time is judged here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent / "benchmarks"


def test_every_row_is_measured() -> None:
    call = [sys.executable, str(BENCHMARKS), "--small", "--why"]
    run = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    versions, table, slopes, why = run.stdout.split("\n\n")
    assert versions.startswith("Python 3.")
    measured = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert len(measured) >= 19
    for what, _, at_most, ratio, *_ in measured:
        assert float(at_most) > 0 and (ratio == "" or float(ratio) > 0 or "torch" in what.lower()), what
    assert len(slopes.splitlines()) == 6
    short = [line for line in measured if line[-1] == "falls short" and "memory" not in line[0]]
    reasons = [line.strip("| ").split(" | ") for line in why.splitlines()[2:]]
    assert short and {what for what, _ in reasons} <= {line[0] for line in short}
    assert all(re.fullmatch(r"[\w' ]+ \d+%(, [\w' ]+ \d+%)*", parts) for _, parts in reasons)
