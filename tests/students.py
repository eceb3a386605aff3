"""Simulated students: they work the steps of a solution by hand, each by habits of its own, and write figures down.

They share the steps and the expression of each cell (`Step.working`) with attncalc, and neither its arithmetic nor its
rounding: each cell is worked on one float at a time, by the table below.

    python tests/students.py --figures 100000

marks that many figures of students who make no slip, as many of those who make one and as many of those who make two;
it prints how many figures had each verdict, and every figure that was told slip and is none, or is one and was not.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import cached_property, lru_cache, reduce
from operator import add, mul
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from random_problems import cases
from random_transformers import KINDS, problems, text_of

from attncalc import expr, parse, solve
from attncalc.errors import AttncalcError
from attncalc.marking.answers import Answers
from attncalc.marking.verdicts import SLIP, Marking, marked
from attncalc.marking.written import written
from attncalc.solution import Solution
from attncalc.steps import ONE, Arrange, Given, Reduce, Step

FOLDER = Path(__file__).resolve().parent.parent / "problems"
TIES = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN}
_WIDE = Context(prec=400)
_NO_NUMBER = (ArithmeticError, ValueError, IndexError)  # what becomes of √-1, x/0, or the word of an id that is none


# Arithmetic, one float at a time


def _quotient(a: float, b: float) -> float:
    return 0.0 if a == b == 0 else a / b


def _argmax(*x: float) -> float:
    figures = [float(f"{each:.12g}") for each in x]
    return float(figures.index(max(figures)))


ARITHMETIC: dict[str, Callable[..., float]] = {
    "plus": lambda *x: reduce(add, x),
    "minus": lambda a, b: a - b,
    "times": lambda *x: reduce(mul, x),
    "over": _quotient,
    "negated": lambda x: -x,
    "power": math.pow,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "cos_degrees": lambda x: math.cos(math.radians(x)),
    "sin_degrees": lambda x: math.sin(math.radians(x)),
    "max": lambda *x: max(x),
    "min": lambda *x: min(x),
    "argmax": _argmax,
    "step": lambda x: float(x >= 0),
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "ln": math.log,
    "Φ": lambda x: (1 + math.erf(x / math.sqrt(2))) / 2,
}


def rounded(x: float, places: int, ties: str = "half-up") -> float:
    """Rounded as at school; what differs in the 14th digit is the same figure."""
    if not math.isfinite(x):
        return x
    decimal = _WIDE.create_decimal(f"{x:.14g}")
    return float(decimal.quantize(Decimal(1).scaleb(-places), TIES[ties], _WIDE)) + 0.0


def text_of_figure(x: float, places: int) -> str:
    return "-inf" if x == -math.inf else f"{x:.{places}f}"


def apportioned(row: list[float], places: int, ties: str) -> list[float]:
    """A row of weights that adds up to 1 once it is rounded: the largest remainders get what is missing."""
    units = [float(f"{x * 10**places:.13g}") for x in row]
    floors = [math.floor(x) for x in units]
    rests = [round(x - floor, 8) for x, floor in zip(units, floors, strict=True)]
    missing = 10**places - sum(floors)
    if abs(sum(units) - 10**places) >= 0.5 or not 0 <= missing <= sum(rest > 0 for rest in rests):
        return [rounded(x, places, ties) for x in row]
    for k in sorted(range(len(row)), key=lambda k: -rests[k])[:missing]:
        floors[k] += 1
    return [floor / 10**places for floor in floors]


# Habits


@dataclass(frozen=True)
class Habit:
    """How somebody works. Nobody who works so makes a slip."""

    rounds: bool = False  # each figure before it is used
    parts: bool = False  # each product of a sum too, and each part of 1/(1 + e^-x)
    constants: bool = False  # divides by √2 as it is printed
    more: int = 0  # decimals that are kept beyond those asked for, where figures are rounded
    extra: int = 0  # decimals that are written beyond those asked for
    bare: bool = False  # writes 0.5 for 0.500
    ties: str = "half-up"
    to_one: str = ""  # makes rows of weights add up to 1 where the solution does: and uses these ("used"), or not

    def __str__(self) -> str:
        said = {name: value for name, value in vars(self).items() if value != getattr(Habit, name)}
        return ", ".join(f"{name}={value}" for name, value in said.items()) or "never rounds"

    def on_paper(self, x: float, places: int) -> float:
        return rounded(x, places + self.more, self.ties) if self.rounds else x


def some_habit(rng: random.Random) -> Habit:
    extra = rng.choice([0, 0, 0, 0, 1, 2])
    return Habit(
        rounds=rng.random() < 0.7, parts=rng.random() < 0.4, constants=rng.random() < 0.4, extra=extra,
        more=max(extra, rng.choice([0, 0, 0, 1])), bare=rng.random() < 0.3, ties=rng.choice([*TIES]),
        to_one=rng.choice(["", "used", "written"]),
    )  # fmt: skip


# A cell


def _is_constant(pattern) -> bool:
    return pattern.op != "slot" and (pattern.op == "number" or all(map(_is_constant, _arguments(pattern))))


def _arguments(pattern):
    if pattern.op in ("number", "slot"):
        return ()
    return pattern.args[1:] if pattern.op == "call" else pattern.args


def work_cell(pattern, figures: list[float], habit: Habit, places: int) -> float:
    """The value of an expression of a cell, worked by a habit."""
    if pattern.op == "slot":
        return figures[pattern.args[0]]
    if pattern.op == "number":
        value, text = float(pattern.args[0]), str(pattern.args[1])
        return _as_printed(value, habit, places) if text.isalpha() else value  # π
    exactly = replace(habit, parts=False, constants=False)
    values = []
    for argument in _arguments(pattern):
        constant = _is_constant(argument)
        value = work_cell(argument, figures, exactly if constant else habit, places)
        if constant:
            is_number = argument.op == "number" and not str(argument.args[1]).isalpha()
            value = value if is_number else _as_printed(value, habit, places)
        elif argument.op != "slot" and habit.parts:
            value = rounded(value, places + habit.more, habit.ties)
        values.append(value)
    operation = ARITHMETIC[pattern.args[0].args[0] if pattern.op == "call" else pattern.op]
    if habit.parts and pattern.op == "times":
        for k, value in enumerate(values[1:-1], 1):
            values[k] = rounded(values[k - 1] * value, places + habit.more, habit.ties)
        return values[-2] * values[-1]
    return operation(*values)


def _as_printed(constant: float, habit: Habit, places: int) -> float:
    return (rounded(constant, places, habit.ties) or constant) if habit.constants else constant


# A whole paper

Place = tuple[str, int, int]  # the id of a step, row, column


@dataclass(frozen=True, eq=False)
class Exercise:
    """A problem with its solution; `name` says which."""

    name: str
    text: str
    decimals: int | None = None
    show: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def problem(self):
        return parse(self.text.encode(), folder=FOLDER).with_show(decimals=self.decimals, **self.show)

    @cached_property
    def solution(self) -> Solution:
        return solve(self.problem)

    @cached_property
    def workings(self) -> dict[str, list[list[tuple]]]:
        """Each cell of each step that is computed: its expression, and where its figures stand."""
        return {
            id: [[self._working(step, i, j) for j in range(step.shape[1])] for i in range(step.shape[0])]
            for id, step in self.solution.steps.items()
            if not isinstance(step, Given)
        }

    def _working(self, step: Step, i: int, j: int) -> tuple:
        pattern, cells = step.working(i, j)
        return pattern, [(cell.step.id, cell.row, cell.column) for cell in cells]

    def mark(self, paper: Paper, without: Collection[str] = ()) -> Marking:
        """The verdicts on what somebody handed in: all that is on the paper but for these steps."""
        figures = {id: _as_array(rows) for id, rows in paper.texts.items() if id not in without}
        return marked(self.solution, Answers("student", figures), self.problem.show.rule)

    def __str__(self) -> str:
        return f"{self.name} at {self.decimals} {dict(self.show)}"


def _as_array(rows: list[list[str]]) -> np.ndarray:
    figures = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, text in enumerate(row):
            figures[i, j] = written(text)
    return figures


@dataclass
class Paper:
    """What somebody wrote, and what that stands for in later steps; without the steps that they could not work."""

    texts: dict[str, list[list[str]]] = field(default_factory=dict)
    used: dict[str, list[list[float]]] = field(default_factory=dict)


def write(exercise: Exercise, habit: Habit, slips: Mapping[Place, str] = MappingProxyType({})) -> Paper:
    """All steps of a problem worked by a habit, but for some slips, which are written instead and then used."""
    paper = Paper()
    to_one = habit.to_one if exercise.problem.show.rule.weights == "sum-to-one" else ""
    for step in exercise.solution.steps.values():
        try:
            texts, used = _work(exercise, step, paper, habit, to_one, slips)
        except _NO_NUMBER:
            break
        if any(map(math.isnan, (x for row in used for x in row))):
            break
        for (id, i, j), text in slips.items():
            if id == step.id:
                texts[i][j], used[i][j] = text, float(text)
        paper.texts[step.id], paper.used[step.id] = texts, used
    return paper


def _work(exercise, step, paper, habit, to_one, slips):
    n, m = step.shape
    if isinstance(step, Given):
        return _copied_from_the_problem(step, habit)
    if isinstance(step, Arrange):
        return _arranged(exercise, step, paper, habit)
    cells = exercise.workings[step.id]
    raw: list[list[float]] = [[math.nan] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            pattern, places = cells[i][j]
            figures = [paper.used[id][row][column] for id, row, column in places]
            if isinstance(step, Reduce) and step.over == "start" and j and habit.rounds:
                so_far = habit.on_paper(raw[i][j - 1], step.places)
                if (step.id, i, j - 1) in slips:
                    so_far = float(slips[step.id, i, j - 1])
                pattern, figures = cells[i][1][0], [so_far, figures[-1]]
            raw[i][j] = work_cell(pattern, figures, habit, step.places)
    texts = [[_written(x, step.places, habit) for x in row] for row in raw]
    used = [[habit.on_paper(x, step.places) for x in row] for row in raw]
    if step.rows_sum_to_one and to_one:
        rows = [apportioned(row, step.places, habit.ties) for row in raw]
        texts = [[_bare(text_of_figure(x, step.places), habit) for x in row] for row in rows]
        used = rows if to_one == "used" else used
    return texts, used


def _copied_from_the_problem(step, habit):
    texts = [[str(text).replace("−", "-").replace("-∞", "-inf") for text in row] for row in _texts_of(step)]
    used = step.values.tolist()
    if step.written is None:
        used = [[habit.on_paper(x, step.places) for x in row] for row in used]
    return texts, used


def _texts_of(step):
    if step.written is not None:
        return step.written.tolist()
    return [[text_of_figure(rounded(x, step.places), step.places) for x in row] for row in step.values.tolist()]


def _arranged(exercise, step, paper, habit):
    """Copies of figures as they were written, and as they are kept; others, where somebody chooses others."""
    n, m = step.shape
    cells = exercise.workings[step.id]
    if step.choosers:
        numbers = step._chosen([np.array(paper.used[operand.id]) for operand in step.operands])
        cells = [[_chosen_cell(step, int(numbers[i, j])) for j in range(m)] for i in range(n)]
    texts: list[list[str]] = [[""] * m for _ in range(n)]
    used = [[math.nan] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            pattern, places = cells[i][j]
            if places:
                ((id, row, column),) = places
                texts[i][j], used[i][j] = paper.texts[id][row][column], paper.used[id][row][column]
            else:
                used[i][j] = float(pattern.args[0])
                texts[i][j] = f"{used[i][j]:g}"  # 0, 1, -inf
    return texts, used


def _chosen_cell(step: Arrange, number: int) -> tuple:
    if number < 0:
        return expr.number(1.0 if number == ONE else step.fill, " "), []
    cell = step._cell(number)
    return expr.slot(0), [(cell.step.id, cell.row, cell.column)]


def _written(x: float, places: int, habit: Habit) -> str:
    places += habit.extra
    return _bare(text_of_figure(rounded(x, places, habit.ties), places), habit)


def _bare(text: str, habit: Habit) -> str:
    return text.rstrip("0").rstrip(".") if habit.bare and "." in text else text


# Slips


def some_slip(exercise: Exercise, marking: Marking, rng: random.Random, after: Place | None = None) -> Slip | None:
    """A figure instead of one that was written, more than two units beyond what follows there and from the exact one;
    `after` a place, in the order of the steps. None where there is none."""
    order = list(exercise.solution.steps)
    written = [id for id in marking.steps if after is None or order.index(id) > order.index(after[0])]
    if not written:
        return None
    for _ in range(5):
        id = rng.choice(written)
        n, m = marking.steps[id].step.shape
        place = id, rng.randrange(n), rng.randrange(m)
        chooses = _chooses(exercise, id)
        text = _another_choice(marking, place, rng) if chooses else _beyond(marking, place, rng)
        if text:
            return Slip(place, text)
    return None


class Slip(NamedTuple):
    place: Place
    text: str


def _beyond(marking: Marking, place: Place, rng: random.Random) -> str | None:
    id, i, j = place
    step = marking.steps[id]
    unit = 10.0**-step.places
    low, exact, high = step.follows.low[i, j], step.exact[i, j], step.follows.high[i, j]
    if step.verdicts[i, j] == "" or max(abs(x) for x in (low, exact, high, 0.0) if math.isfinite(x)) > 1e9:
        return None  # float64 has no digits left for a few units
    if exact == -math.inf:
        return text_of_figure(rng.randint(-300, 300) / 100, step.places) if high == -math.inf else None
    least, most = min(low, exact), max(high, exact)
    by = rng.choice([3.5, 5, 10, 50, 500, 5000]) + (step.step.rows_sum_to_one)
    ends = [end for end in (math.floor(least / unit - by) if least > -math.inf else None,
                            math.ceil(most / unit + by) if most < math.inf else None) if end is not None]  # fmt: skip
    return text_of_figure(rng.choice(ends) * unit, step.places) if ends else None


def _chooses(exercise: Exercise, id: str) -> bool:
    """Whether figures of a step say which others are taken: they are ids, places, and 0 or 1."""
    step = exercise.solution.steps[id]
    return step.own_decimals == 0 and any(
        isinstance(each, Arrange) and step in each.operands[len(each.copied) :]
        for each in exercise.solution.steps.values()
    )


def _another_choice(marking: Marking, place: Place, rng: random.Random) -> str | None:
    id, i, j = place
    step = marking.steps[id]
    known = {int(x) for x in step.exact.ravel()} | {0, 1}
    others = [x for x in known if not step.follows.low[i, j] <= x <= step.follows.high[i, j] and x != step.exact[i, j]]
    return str(rng.choice(sorted(others))) if others else None


# Problems


@lru_cache(maxsize=1)
def shipped() -> tuple[Exercise, ...]:
    return tuple(Exercise(path.stem, path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.yaml")))


def drawn(strategy: st.SearchStrategy, count: int, start: int) -> list:
    """Some examples of a strategy, the same ones for the same `start`."""
    found: list = []

    @seed(start)
    @settings(
        max_examples=count, database=None, phases=[Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck), derandomize=False,
    )  # fmt: skip
    @given(strategy)
    def collect(example):
        found.append(example)

    collect()
    return found


def exercises(each: int, start: int = 0) -> list[Exercise]:
    """Every shipped problem, and so many random ones of each kind, in any order."""
    found = [*shipped()]
    for k, case in enumerate(drawn(cases(), 4 * each, start)):
        found.append(Exercise(f"case {k} of {start}", case.text))
    for kind in KINDS:
        for k, problem in enumerate(drawn(problems(kind), each, start)):
            found.append(Exercise(f"{kind} {k} of {start}", text_of(problem)))
    random.Random(start).shuffle(found)
    return found


def shown_somehow(exercise: Exercise, rng: random.Random) -> Exercise | None:
    """The same at 1 to 4 decimals, worked exactly or carried; None where it can't be worked so."""
    decimals = rng.choice([1, 2, 3, 4])
    if exercise.decimals is None and exercise.name.startswith("case") and rng.random() < 0.5:
        decimals = None  # its own, by step
    show = {
        "rounding": rng.choice(["exact", "exact", "carried"]),
        "weights": rng.choice(["plain", "sum-to-one"]),
        "ties": rng.choice([*TIES]),
    }
    shown = replace(exercise, decimals=decimals, show=show)
    try:
        _ = shown.solution
    except AttncalcError:
        return None
    return shown


def left_out(exercise: Exercise, rng: random.Random) -> set[str]:
    """Steps that are not handed in: those that the problem states, or some, or half of them, or all but a few."""
    share = rng.choice([0.0, 0.0, 0.2, 0.5, 0.8])
    stated = rng.random() < 0.7
    return {
        id for id, step in exercise.solution.steps.items()
        if (isinstance(step, Given) and stated) or rng.random() < share
    }  # fmt: skip


# Trials


@dataclass
class Report:
    """What became of some trials: how many figures had each verdict, how many slips were made, and what went wrong."""

    verdicts: Counter[str] = field(default_factory=Counter)
    slips: int = 0
    wrong: list[str] = field(default_factory=list)

    def expect(self, exercise: Exercise, habit: Habit, marking: Marking, slips: Collection[Slip]) -> None:
        """That these slips are told, and no other."""
        self.verdicts.update(marking.counts)
        self.slips += len(slips)
        places = {slip.place for slip in slips}
        found = {(each.step, each.row, each.column): each for each in marking.figures if each.verdict == SLIP}
        for place in found.keys() ^ places:
            id, i, j = place
            step = marking.steps[id]
            what = "is no slip" if place in found else f"is a slip, and is {step.verdicts[i, j]}"
            low, value, high = (each[i, j] for each in step.follows)
            self.wrong.append(
                f"{exercise}, {habit}: {id}[{i},{j}] {step.written[i, j].text} {what}; exact {step.exact[i, j]:.8g}, "
                f"follows {value:.8g} in {low:.8g}..{high:.8g}; slips {[*slips]}"
            )


def honest(exercise: Exercise, rng: random.Random, report: Report) -> None:
    habit = some_habit(rng)
    report.expect(exercise, habit, exercise.mark(write(exercise, habit), left_out(exercise, rng)), [])


def slipping(exercise: Exercise, rng: random.Random, report: Report, count: int) -> None:
    """One slip, or two: each beyond what follows from the figures before it, those with the first slip among them."""
    habit, without = some_habit(rng), left_out(exercise, rng)
    slips: list[Slip] = []
    marking = exercise.mark(write(exercise, habit), without)
    while len(slips) < count:
        slip = some_slip(exercise, marking, rng, slips[-1].place if slips else None)
        if slip is None:
            return
        slips.append(slip)
        paper = write(exercise, habit, dict(slips))
        if slip.place[0] not in paper.texts:
            return
        marking = exercise.mark(paper, without)
        report.expect(exercise, habit, marking, slips)


def run(figures: int, start: int, slips: int = 0, each: int = 4) -> Report:
    """Trials of students who make so many slips, until so many figures are marked."""
    rng, report = random.Random(start), Report()
    while True:
        for exercise in exercises(each, start):
            shown = shown_somehow(exercise, rng)
            if shown is None:
                continue
            if slips:
                slipping(shown, rng, report, slips)
            else:
                honest(shown, rng, report)
            if report.verdicts.total() >= figures:
                return report
        start += 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Mark simulated students.")
    parser.add_argument("--figures", type=int, default=100_000, help="how many of each sort of students")
    parser.add_argument("--seed", type=int, default=0)
    said = parser.parse_args()
    for slips, who in enumerate(("honest", "one slip", "two slips")):
        report = run(said.figures, said.seed, slips)
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in report.verdicts.items() if count)
        print(f"{who}: {verdicts}; {report.slips} slips were made, {len(report.wrong)} verdicts are wrong", flush=True)
        for line in report.wrong:
            print("  ", line, flush=True)


if __name__ == "__main__":
    main()
