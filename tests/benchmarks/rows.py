"""The table: what is measured, beside what, and how many times that it may cost."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import FOLDER, Call, attncalc, python, work

Made = Callable[[int], Call]

PASS = python("pass")
TYPER = python("import typer")
TWO = python("import numpy, yaml")
FOUR = "import numpy, yaml, rich.console, typer"
SOLVE = ("solve", "problems/abc.yaml")
MEMORY = Path("/dev/shm")
SCRATCH = Path(tempfile.mkdtemp(prefix="attncalc-", dir=MEMORY if MEMORY.is_dir() else None))
D = 64  # columns of a large head


@dataclass(frozen=True)
class Row:
    """A line of the table, or one for each size: the process of each side by size, and what of them is compared."""

    what: str
    beside: str
    at_most: float
    call: Made
    other: Made
    of: str = "time"  # or processor, memory, work: see Cost
    sizes: Sequence[int] = (0,)  # one that is 0 has no size
    small: Sequence[int] = (0,)
    needs: str = ""  # a module without which the row is left out


def always(call: Call) -> Made:
    return lambda _: call


def worked(name: str) -> Made:
    return lambda size: work(name, size)


def large_head(n: int) -> Path:
    """A problem of one causal head of n tokens, from a binary file."""
    import numpy as np

    path = SCRATCH / f"head-{n}.yaml"
    if not path.exists():
        drawn = np.random.default_rng(1).normal(size=(3, n, D))
        np.savez(path.with_suffix(".npz"), Q=drawn[0], K=drawn[1], V=drawn[2])
        matrices = [f"{name}: {{file: head-{n}.npz, name: {name}}}" for name in "QKV"]
        path.write_text("\n".join([*matrices, "mask: causal", ""]), encoding="utf-8")
    return path


def solve_large(n: int) -> Call:
    return attncalc("solve", str(large_head(n)), "--detail", "result")


def numpy_large(n: int) -> Call:
    return python((FOLDER / "textbook.py").read_text(), arguments=(str(large_head(n).with_suffix(".npz")),))


def sheets(count: int) -> Call:
    folder = str(SCRATCH / f"sheets-{count}")
    return attncalc("exercise", "problems/draw-scale.yaml", "--variants", str(count), "--seed", "a", "--output-dir",
                    folder, "--force")  # fmt: skip


ROWS = [
    Row("solve problems/abc.yaml into a pipe", "import numpy, yaml", 1.15, always(attncalc(*SOLVE)), always(TWO)),
    Row("the same", FOUR, 0.70, always(attncalc(*SOLVE)), always(python(FOUR))),
    Row("the same on a terminal, in colour", FOUR, 0.80, always(attncalc(*SOLVE, terminal=True)), always(python(FOUR))),
    Row("--help", "import typer", 1.0, always(attncalc("--help")), always(TYPER)),
    Row("solve --help", "import typer", 1.0, always(attncalc("solve", "--help")), always(TYPER)),
    Row("solve --no-such-option", "import typer", 1.0, always(attncalc("solve", "--no-such-option")), always(TYPER)),
    Row("--version", "pass", 1.8, always(attncalc("--version")), always(PASS)),
    Row("check problems/abc.yaml", "import numpy, yaml", 1.3, always(attncalc("check", SOLVE[1])), always(TWO)),
    Row("solve problems/abc.yaml", "the same in PyTorch", 0.10, always(attncalc(*SOLVE)),
        always(python((FOLDER / "in_torch.py").read_text())), needs="torch"),
    Row("four solve at once, processor", f"four of {FOUR}", 0.75, always(attncalc(*SOLVE, at_once=4)),
        always(python(FOUR, at_once=4)), of="processor"),
    Row("text of an n × n matrix", "np.savetxt, %.3f", 1.2, worked("matrix_printed"), worked("matrix_saved"),
        of="work", sizes=(64, 256, 1024), small=(8,)),
    Row("rounding of n × n figures", "np.round", 7, worked("figures_rounded"), worked("figures_np_round"), of="work",
        sizes=(1024,), small=(8,)),
    Row("reading a file of n numbers", "yaml.load(CSafeLoader)", 0.4, worked("file_read"), worked("file_loaded"),
        of="work", sizes=(10_000,), small=(100,)),
    Row("result of a causal head of n tokens", "textbook NumPy", 1.3, solve_large, numpy_large, sizes=(2048, 4096),
        small=(8,)),
    Row("its peak memory", "textbook NumPy", 1.2, solve_large, numpy_large, of="memory", sizes=(2048, 4096),
        small=(8,)),
    Row("full working of n tokens, d = 8", "one % template", 4, worked("page_in_full"), worked("template_in_full"),
        of="work", sizes=(64,), small=(3,)),
    Row("n sheets with keys", FOUR, 2.5, sheets, always(python(FOUR)), sizes=(1000,), small=(2,)),
    Row("ten times n sheets", "n sheets", 10, lambda n: sheets(10 * n), sheets, sizes=(1000,), small=(2,)),
    Row("their peak memory", "n sheets", 1.1, lambda n: sheets(10 * n), sheets, of="memory", sizes=(1000,), small=(2,)),
]  # fmt: skip


@dataclass(frozen=True)
class Slope:
    """How a cost grows with the size: as that power of `growth`."""

    what: str
    beside: str
    call: Made
    growth: Callable[[int], float]
    of: str
    sizes: Sequence[int]
    small: Sequence[int]


SLOPES = [
    Slope("text of an n × n matrix", "figures printed", worked("matrix_printed"), lambda n: n * n, "work",
          (128, 256, 512, 1024), (4, 8)),
    Slope("full working of n tokens, d = 8", "figures printed: n²", worked("page_in_full"), lambda n: n * n, "work",
          (10, 20, 40, 80), (3, 4)),
    Slope("result of a causal head of n tokens", "n² d", solve_large, lambda n: n * n * D, "time",
          (1024, 2048, 4096, 8192), (8, 16)),
    Slope("n sheets with keys", "n", sheets, float, "time", (125, 250, 500, 1000), (2, 3)),
]  # fmt: skip
