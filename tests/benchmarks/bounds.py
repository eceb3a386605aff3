"""How many wrong figures pass: the price of bounds that fail nobody for rounding.

    python tests/benchmarks/bounds.py [--units 5,10,50] [--decimals 3] [--each 6] [--shipped]

takes every shipped problem, and random ones of each kind (`--each` so many, more of attention; none with --shipped),
moves each computed figure by so many units of its last decimal, up and down, and prints the share of those that are
not told slip: by the last part of the step's id, for whoever writes all steps (rounded, and used so), and for whoever
writes nothing but this step. The last line is of all figures. What is copied, or states a choice, is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from students import Exercise, Habit, exercises, shipped, write

from attncalc.errors import AttncalcError
from attncalc.marking.answers import Answers
from attncalc.marking.verdicts import marked
from attncalc.rounding import Bounds
from attncalc.steps import Arrange, Given, Step

WAYS = ("all steps written", "this step alone")


def bounds_of(exercise: Exercise) -> Iterator[tuple[Step, tuple[Bounds, Bounds]]]:
    """Each computed step, with what follows where all steps are written and where none is."""
    all_written = exercise.mark(write(exercise, Habit(rounds=True)))
    nothing = marked(exercise.solution, Answers("nobody", {}), exercise.problem.show.rule)
    for id, step in exercise.solution.steps.items():
        if isinstance(step, Given | Arrange) or id not in all_written.steps or step.own_decimals == 0:
            continue
        alone = step.bounds([nothing.stands[each.id] for each in step.operands], step.places)
        yield step, (all_written.steps[id].follows, alone)


def passed(step: Step, follows: Bounds, by: int) -> tuple[int, int]:
    """How many figures pass that are off by so many units, and how many there are."""
    unit = 10.0**-step.places
    finite = np.isfinite(step.values)
    right = np.round(step.values[finite] / unit) * unit
    low, _, high = (each[finite] for each in follows)
    wrong = np.stack([right - by * unit, right + by * unit])
    let = (wrong >= low - unit / 2) & (wrong <= high + unit / 2)
    return int(np.count_nonzero(let)), let.size


def table(found: list[Exercise], decimals: int, units: list[int]) -> tuple[Counter, Counter]:
    """By the last part of an id ("": all), way and units: how many figures passed, and how many there are."""
    let: Counter = Counter()
    tried: Counter = Counter()
    for exercise in found:
        try:
            steps = [*bounds_of(replace(exercise, decimals=decimals))]
        except AttncalcError:
            continue
        for step, ways in steps:
            for way, follows in zip(WAYS, ways, strict=True):
                for by in units:
                    some, of_all = passed(step, follows, by)
                    for name in ("", step.id.rpartition(".")[2]):
                        let[name, way, by] += some
                        tried[name, way, by] += of_all
    return let, tried


def main() -> None:
    parser = argparse.ArgumentParser(description="Share of wrong figures that are not told slip.")
    parser.add_argument("--units", default="5,10,50")
    parser.add_argument("--decimals", type=int, default=3)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--shipped", action="store_true")
    said = parser.parse_args()
    units = [int(each) for each in said.units.split(",")]
    let, tried = table([*(shipped() if said.shipped else exercises(said.each, start=1))], said.decimals, units)

    print(f"{'off by so many units':30}" + "".join(f"{way:>24}" for way in WAYS))
    print(f"{'step':20}{'figures':>10}" + "".join(f"{by:>8}" for _ in WAYS for by in units))
    names = {name for name, _, _ in tried} - {""}
    worst = sorted(names, key=lambda name: -let[name, WAYS[0], units[1]] / tried[name, WAYS[0], units[1]])
    for name in [*worst, ""]:
        shares = (let[name, way, by] / tried[name, way, by] for way in WAYS for by in units)
        figures = tried[name, WAYS[0], units[0]] // 2
        print(f"{name or 'all':20}{figures:>10}" + "".join(f"{share:>8.1%}" for share in shares))


if __name__ == "__main__":
    main()
