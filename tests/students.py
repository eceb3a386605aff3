"""Simulated students: they work the steps of a solution by hand, each by habits of its own, and write figures down.

They share the steps and the expression of each cell (`Step.working`) with attncalc, and neither its arithmetic nor its
rounding: each cell is worked on one float at a time, by the table below.

    python tests/students.py --figures 100000

marks that many figures of students of each sort (TRIALS): those who make no slip, those who work with a decimal less
than is asked for, those who make slips. It prints how many figures had each verdict, and every verdict that is wrong:
a figure that was told slip and is none, or is one and was not. Of slips that are so many units off what their writer
would have had, it prints how many were told; what the bounds let pass is no wrong verdict.
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
from attncalc.marking.verdicts import CORRECT, FOLLOWS, IMPRECISE, SLIP, Marking, marked
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
    if 1e50 < abs(x) < math.inf:
        return repr(x)  # 1.73e+216, as of e^500: nobody writes so many digits
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
    inverse: bool = False  # multiplies by 1/√2 as it is printed instead
    more: int = 0  # decimals that are kept beyond those asked for, where figures are rounded; -1: one fewer
    extra: int = 0  # decimals that are written beyond those asked for; -1: one fewer
    bare: bool = False  # writes 0.5 for 0.500
    ties: str = "half-up"
    to_one: str = ""  # makes rows of weights add up to 1 where the solution does: and uses these ("used"), or not

    def __str__(self) -> str:
        said = {name: value for name, value in vars(self).items() if value != getattr(Habit, name)}
        return ", ".join(f"{name}={value}" for name, value in said.items()) or "never rounds"

    def on_paper(self, x: float, places: int) -> float:
        return rounded(x, self.kept(places), self.ties) if self.rounds else x

    def kept(self, places: int) -> int:
        return max(0, places + self.more)


def some_habit(rng: random.Random) -> Habit:
    extra = rng.choice([0, 0, 0, 0, 1, 2])
    return Habit(
        rounds=rng.random() < 0.7, parts=rng.random() < 0.4, constants=rng.random() < 0.4,
        inverse=rng.random() < 0.3, extra=extra, more=max(extra, rng.choice([0, 0, 0, 1])), bare=rng.random() < 0.3,
        ties=rng.choice([*TIES]), to_one=rng.choice(["", "used", "written"]),
    )  # fmt: skip


def a_decimal_fewer(habit: Habit) -> Habit:
    """The same at one decimal fewer than is asked for, all of which are written."""
    return replace(habit, rounds=True, more=-1, extra=-1, bare=False)


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
    exactly = replace(habit, parts=False, constants=False, inverse=False)
    if habit.inverse and pattern.op == "over" and _is_worked(pattern.args[1]):
        dividend, divisor = pattern.args
        inverse = _as_printed(1 / work_cell(divisor, figures, exactly, places), replace(habit, constants=True), places)
        return work_cell(dividend, figures, habit, places) * inverse
    values = []
    for argument in _arguments(pattern):
        constant = _is_constant(argument)
        value = work_cell(argument, figures, exactly if constant else habit, places)
        if constant:
            value = _as_printed(value, habit, places) if _is_worked(argument) else value
        elif argument.op != "slot" and habit.parts:
            value = rounded(value, habit.kept(places), habit.ties)
        values.append(value)
    operation = ARITHMETIC[pattern.args[0].args[0] if pattern.op == "call" else pattern.op]
    if habit.parts and pattern.op == "times":
        for k, value in enumerate(values[1:-1], 1):
            values[k] = rounded(values[k - 1] * value, habit.kept(places), habit.ties)
        return values[-2] * values[-1]
    return operation(*values)


def _is_worked(pattern) -> bool:
    """Whether it is a constant that has to be worked, as √2, or looked up, as π."""
    return _is_constant(pattern) and (pattern.op != "number" or str(pattern.args[1]).isalpha())


def _as_printed(constant: float, habit: Habit, places: int) -> float:
    fewer = places + min(0, habit.more)
    return (rounded(constant, max(0, fewer), habit.ties) or constant) if habit.constants else constant


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
    """What somebody wrote, and what that stands for in later steps; without the steps that they could not work. `raw`
    is what their arithmetic gave, of steps that are computed."""

    texts: dict[str, list[list[str]]] = field(default_factory=dict)
    used: dict[str, list[list[float]]] = field(default_factory=dict)
    raw: dict[str, list[list[float]]] = field(default_factory=dict)


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


def write_with_a_slip_of_the_pen(exercise: Exercise, habit: Habit, slip: Slip) -> Paper:
    """All steps worked without a slip, one figure of which is written wrongly."""
    paper = write(exercise, habit)
    (id, i, j), text = slip
    paper.texts[id][i][j] = text
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
    paper.raw[step.id] = raw
    texts = [[_written(x, step.places, habit) for x in row] for row in raw]
    used = [[habit.on_paper(x, step.places) for x in row] for row in raw]
    if step.rows_sum_to_one and to_one:
        places = max(0, step.places + min(0, habit.extra))
        rows = [apportioned(row, places, habit.ties) for row in raw]
        texts = [[_bare(text_of_figure(x, places), habit) for x in row] for row in rows]
        used = rows if to_one == "used" else used
    return texts, used


def _copied_from_the_problem(step, habit):
    texts = [[str(text).replace("−", "-").replace("-∞", "-inf") for text in row] for row in _texts_of(step)]
    used = step.values.tolist()
    if step.written is None:
        at_least = replace(habit, more=max(0, habit.more))
        used = [[at_least.on_paper(x, step.places) for x in row] for row in used]
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
    places = max(0, places + habit.extra)
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


def off(exercise: Exercise, marking: Marking, paper: Paper, by: int, rng: random.Random) -> Slip | None:
    """A figure that is so many units off what its writer's arithmetic gave, of any step that was computed and is no
    choice; whatever the bounds are."""
    written = [id for id in marking.steps if id in paper.raw and exercise.solution.steps[id].own_decimals != 0]
    for _ in range(5 if written else 0):
        id = rng.choice(written)
        step, raw = marking.steps[id], paper.raw[id]
        i, j = rng.randrange(len(raw)), rng.randrange(len(raw[0]))
        if step.verdicts[i, j] and abs(raw[i][j]) < 1e9:
            unit = 10.0**-step.places
            return Slip((id, i, j), text_of_figure(rounded(raw[i][j] + rng.choice([-by, by]) * unit, step.places),
                                                   step.places))  # fmt: skip
    return None


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
    """What became of some trials: how many figures had each verdict, how many slips were made, what went wrong; and how
    many slips of so many units were made, and told."""

    verdicts: Counter[str] = field(default_factory=Counter)
    slips: int = 0
    wrong: list[str] = field(default_factory=list)
    off: Counter[int] = field(default_factory=Counter)
    told: Counter[int] = field(default_factory=Counter)

    def expect(
        self, exercise: Exercise, habit: Habit, marking: Marking, slips: Collection[Slip],
        others: Collection[str] = (CORRECT, FOLLOWS), of_0: Collection[str] = (),
    ) -> None:  # fmt: skip
        """That these slips are told, and all else has one of some other verdicts; a written 0 may have more."""
        self.verdicts.update(marking.counts)
        self.slips += len(slips)
        places = {slip.place for slip in slips}
        for each in marking.figures:
            place = each.step, each.row, each.column
            expected = (SLIP,) if place in places else (*others, *(of_0 if each.written.value == 0 else ()))
            if each.verdict not in expected:
                low, value, high = (x[place[1:]] for x in marking.steps[each.step].follows)
                self.wrong.append(
                    f"{exercise}, {habit}: {each.step}[{each.row},{each.column}] {each.written.text} is told "
                    f"{each.verdict}, not {' or '.join(expected)}; exact {each.exact:.8g}, "
                    f"follows {value:.8g} in {low:.8g}..{high:.8g}; slips {[*slips]}"
                )


Trial = Callable[[Exercise, random.Random, Report], None]


def honest(exercise: Exercise, rng: random.Random, report: Report) -> None:
    habit = some_habit(rng)
    report.expect(exercise, habit, exercise.mark(write(exercise, habit), left_out(exercise, rng)), [])


def shorter(exercise: Exercise, rng: random.Random, report: Report) -> None:
    """A decimal fewer in every step: all are written, or weights and results. Some 0.0 is a slip: it says nothing of
    0.04, and is not imprecise."""
    habit = a_decimal_fewer(some_habit(rng))
    paper = write(exercise, habit)
    for without in ((), exercise.solution.steps.keys() - weights_and_results(exercise)):
        report.expect(exercise, habit, exercise.mark(paper, without), [], (CORRECT, FOLLOWS, IMPRECISE), [SLIP])


def weights_and_results(exercise: Exercise) -> set[str]:
    """The steps whose rows add up to 1, and those that no other is worked from."""
    steps = exercise.solution.steps
    used = {operand.id for step in steps.values() for operand in step.operands}
    return {id for id, step in steps.items() if step.rows_sum_to_one or id not in used}


def slipping(exercise: Exercise, rng: random.Random, report: Report, count: int = 1) -> None:
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


def slipping_twice(exercise: Exercise, rng: random.Random, report: Report) -> None:
    slipping(exercise, rng, report, 2)


def slip_of_the_pen(exercise: Exercise, rng: random.Random, report: Report) -> None:
    """A figure that is written wrongly, where the right one is used."""
    habit, without = some_habit(rng), left_out(exercise, rng)
    slip = some_slip(exercise, exercise.mark(write(exercise, habit), without), rng)
    if slip is not None:
        paper = write_with_a_slip_of_the_pen(exercise, habit, slip)
        report.expect(exercise, habit, exercise.mark(paper, without), [slip])


OFF = (5, 10, 50)  # units


def slipping_by_some_units(exercise: Exercise, rng: random.Random, report: Report, times: int = 1) -> None:
    """A figure that is so many units off what its writer would have had, used as it is written or of the pen: told or
    not, for bounds have a width; where it is told, nothing else is."""
    habit = some_habit(rng)
    right = write(exercise, habit)
    marking = exercise.mark(right)
    for by in OFF * times:
        slip = off(exercise, marking, right, by, rng)
        if slip is None:
            return
        of_the_pen = rng.random() < 0.5
        paper = (write_with_a_slip_of_the_pen(exercise, habit, slip) if of_the_pen
                 else write(exercise, habit, dict([slip])))  # fmt: skip
        marked = exercise.mark(paper)
        (id, i, j), _ = slip
        report.off[by] += 1
        if marked.steps[id].verdicts[i, j] == SLIP:
            report.told[by] += 1
            report.expect(exercise, habit, marked, [slip])


TRIALS: dict[str, Trial] = {
    "honest": honest,
    "a decimal fewer": shorter,
    "one slip": slipping,
    "two slips": slipping_twice,
    "slip of the pen": slip_of_the_pen,
    "off by some units": slipping_by_some_units,
}


def run(figures: int, start: int, trial: Trial = honest, each: int = 4) -> Report:
    """Trials of one sort, until so many figures are marked."""
    rng, report = random.Random(start), Report()
    while True:
        for exercise in exercises(each, start):
            shown = shown_somehow(exercise, rng)
            if shown is None:
                continue
            trial(shown, rng, report)
            if report.verdicts.total() >= figures:
                return report
        start += 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Mark simulated students.")
    parser.add_argument("--figures", type=int, default=100_000, help="how many of each sort of students")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sort", choices=TRIALS, action="append", help="students of this sort alone")
    said = parser.parse_args()
    for who in said.sort or TRIALS:
        report = run(said.figures, said.seed, TRIALS[who])
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in report.verdicts.items() if count)
        print(
            f"{who}, seed {said.seed}: {report.verdicts.total()} figures: {verdicts}; {report.slips} slips were made, "
            f"{len(report.wrong)} verdicts are wrong",
            flush=True,
        )
        for by, count in report.off.items():
            print(f"   off by {by} units: {report.told[by]} of {count} were told", flush=True)
        for line in report.wrong:
            print("  ", line, flush=True)


if __name__ == "__main__":
    main()
