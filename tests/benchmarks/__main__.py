"""What attncalc costs, side by side with something that anybody can run.

    python tests/benchmarks [--small] [--pairs N] [--only WORDS] [--why]

prints a table of ratios: whole processes that alternate A B A B, at least 15 pairs after a warm-up, medians; the last
lines say what falls short, and how costs grow at four sizes. Absolute times mean nothing on a busy machine, ratios do.
`--small` runs all of it once with small sizes, to see that it is alive; `--why` says of what falls short where its time
goes.
"""

from __future__ import annotations

import argparse
import math
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from measure import Call, medians
from rows import ROWS, SCRATCH, SLOPES, Row, Slope
from shares import shares

PACKAGES = ("numpy", "PyYAML", "rich", "typer", "torch")


def versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


def measured(row: Row, rounds: int, small: bool, short: dict[str, Call]) -> Iterator[str]:
    """A line of the table for each size of a row; what falls `short` is added there."""
    for size in row.small if small else row.sizes:
        if row.needs and not find_spec(row.needs):
            found, verdict = "", f"no {row.needs}"
        else:
            own, other = medians([row.call(size), row.other(size)], row.of, rounds)
            times = own / other
            found, verdict = f"{times:.2f}", "" if times <= row.at_most else "falls short"
        what = f"{row.what}, n = {size:,}" if size else row.what
        if verdict == "falls short" and row.of != "memory":
            short.setdefault(what, row.call(size))
        yield f"| {what} | {row.beside} | {row.at_most:g} | {found} | {verdict} |"


def grown(row: Slope, rounds: int, small: bool) -> str:
    """The power of its growth that a cost grows as, from each size to the next."""
    sizes = row.small if small else row.sizes
    costs = medians([row.call(size) for size in sizes], row.of, rounds)
    powers = [
        math.log(costs[k + 1] / costs[k]) / math.log(row.growth(sizes[k + 1]) / row.growth(sizes[k]))
        for k in range(len(sizes) - 1)
    ]
    return f"| {row.what} | {row.beside} | {', '.join(map(str, sizes))} | {', '.join(f'{p:.2f}' for p in powers)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python tests/benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small sizes, one pair: to see that it is alive")
    parser.add_argument("--pairs", type=int, default=15, help="pairs of processes for each ratio (15)")
    parser.add_argument("--only", default="", help="the rows that have these words in them")
    parser.add_argument("--why", action="store_true", help="of what falls short, where its time goes")
    asked = parser.parse_args()
    short: dict[str, Call] = {}
    rounds = 1 if asked.small else asked.pairs + 1
    print(versions(), end="\n\n")
    try:
        print("| what | side by side with | at most | measured | |\n|---|---|---|---|---|")
        for row in ROWS:
            if asked.only in row.what:
                for line in measured(row, rounds, asked.small, short):
                    print(line, flush=True)
        print("\n| what | grows as a power of | n | from each n to the next |\n|---|---|---|---|")
        for each in SLOPES:
            if asked.only in each.what:
                print(grown(each, rounds, asked.small), flush=True)
        if asked.why and short:
            print("\n| what falls short | where its time goes |\n|---|---|")
            for what, call in short.items():
                print(f"| {what} | {shares(call, SCRATCH)} |", flush=True)
    finally:
        shutil.rmtree(SCRATCH)


if __name__ == "__main__":
    main()
