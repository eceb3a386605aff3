"""Where the time of a process goes: in a short one to imports, by package; else to the parts of attncalc, by a profile.

Both are dearer than what they watch: imports by what is written of each, a profile by each call of a function, so that
parts of many small ones come out larger than they are.
"""

from __future__ import annotations

import os
import pstats
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from measure import ROOT, WORKS, Call

LEAST = 0.02  # of the whole: what takes less is not named
PACKAGES = ("attncalc", "numpy", "yaml", "typer", "rich")
_IMPORT = re.compile(r"import time: +(\d+) \| +\d+ \| +(\w+)")


def shares(call: Call, scratch: Path) -> str:
    """layout 31%, formats 22%, .. of a call of attncalc, or of works.py."""
    profile = str(scratch / "profile")
    Path(profile).unlink(missing_ok=True)  # that of another call is none of this one
    command, *words = call.arguments
    if WORKS in words:
        _run(command, *words, profile)
        return _listed(_by_part(profile))
    words = ["-m", "attncalc", *(words[2:] if words[:2] == ["-m", "attncalc"] else words)]
    taken = _by_package(words)
    if taken["all but imports"] > taken.total() / 2:
        _run(sys.executable, "-m", "cProfile", "-o", profile, *words)
        taken = _by_part(profile)
    return _listed(taken)


def _run(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # with it, each import would be compiled anew
    return subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stderr


def _listed(taken: Counter[str]) -> str:
    whole = taken.total()
    return ", ".join(f"{part} {each / whole:.0%}" for part, each in taken.most_common() if each >= LEAST * whole)


def _by_package(words: list[str]) -> Counter[str]:
    """Microseconds of the imports of each package, and of all else."""
    start = time.perf_counter()
    said = _run(sys.executable, "-X", "importtime", *words)
    whole = round(1e6 * (time.perf_counter() - start))
    taken: Counter[str] = Counter()
    for own, package in _IMPORT.findall(said):
        taken[f"import of {package}" if package in PACKAGES else "import of Python's own"] += int(own)
    taken["all but imports"] = max(0, whole - taken.total())
    return taken


def _by_part(profile: str) -> Counter[str]:
    """Microseconds of the functions of each part by themselves; those of Python's own are those of their callers."""
    taken: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        for caller, seconds in [(file, own)] if file != "~" else [(key[0], each[2]) for key, each in callers.items()]:
            taken[_part(caller)] += round(1e6 * seconds)
    return taken


def _part(file: str) -> str:
    path = Path(file)
    if path.is_relative_to(ROOT / "attncalc"):
        return path.relative_to(ROOT / "attncalc").parts[0].removesuffix(".py")
    below = file.partition("site-packages" + os.sep)[2]
    return Path(below).parts[0] if below else "Python"
