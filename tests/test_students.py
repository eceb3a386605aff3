"""Simulated students are marked: who is honest is never told slip, and each slip is told where it was made."""

import random
from dataclasses import replace

import numpy as np
import pytest
from students import ARITHMETIC, Exercise, Habit, Report, run, shipped, some_habit, write

from attncalc import parse, solve
from attncalc.marking import answers_of, mark_answers
from attncalc.marking.verdicts import SLIP
from attncalc.operations import FUNCTIONS, OPERATIONS
from attncalc.rounding import shown
from attncalc.steps import Arrange, Given

SHIPPED = {each.name: each for each in shipped()}


def test_students_know_every_operation():
    assert ARITHMETIC.keys() == {**OPERATIONS, **FUNCTIONS}.keys()


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_who_never_rounds_gets_the_exact_figures(name):
    exercise = replace(SHIPPED[name], decimals=6, show={"rounding": "exact"})
    paper = write(exercise, Habit())
    for id, step in exercise.solution.steps.items():
        assert np.allclose(paper.used[id], step.values, rtol=1e-9, atol=1e-9)


def test_other_habits_give_other_figures():
    one = Habit(rounds=True)
    others = {"rounds": False, "parts": True, "constants": True, "more": 1, "ties": "half-even"}
    names = ("abc", "softcap", "gelu", "four-positions", "top-p")
    some = [replace(SHIPPED[name], decimals=decimals) for name in names for decimals in (1, 2)]
    for name, value in others.items():
        other = replace(one, **{name: value})
        assert any(write(exercise, one).used != write(exercise, other).used for exercise in some), name


@pytest.mark.parametrize("seed", range(1, 5))
def test_nobody_is_told_slip_for_rounding_or_not(seed):
    report = run(3500, 1000 * seed, each=1)
    assert not report.wrong, "\n".join(report.wrong[:5])
    assert report.verdicts["follows"] > 20 and report.verdicts["correct"] > 1000


@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("slips", [1, 2])
def test_each_slip_is_told_where_it_was_made_and_nowhere_else(slips, seed):
    report = run(2000, 1000 * seed + slips, slips, each=1)
    assert not report.wrong, "\n".join(report.wrong[:5])
    assert report.slips >= 10 and report.verdicts[SLIP] == report.slips


# What simulated students once found, each by name


def verdicts_of(exercise, habit, slips=(), without=()):
    report = Report()
    marking = exercise.mark(write(exercise, habit, dict(slips)), without)
    report.expect(exercise, habit, marking, slips)
    assert not report.wrong, report.wrong[:3]
    return marking


def test_a_solution_that_carried_figures_lead_elsewhere_is_marked():
    """At one decimal other words are drawn, and fewer of them, than in full precision."""
    exercise = replace(SHIPPED["generation-drawn"], decimals=1, show={"rounding": "carried"})
    exact = exercise.solution.exact
    assert any(exact.steps[id].shape != step.shape for id, step in exercise.solution.steps.items() if id in exact.steps)
    rule = exercise.problem.show.rule
    texts = {id: shown(step, rule).tolist() for id, step in exercise.solution.steps.items()}
    assert mark_answers(exercise.problem, exercise.solution, answers_of(texts, exercise.solution)).is_right


def test_a_running_sum_may_go_on_from_the_one_before_it_as_it_was_written():
    """0.4 + 0.35 is 0.75; whoever has 0.85 goes on to 1.1."""
    problem = parse(b"kind: output\nprobabilities: [[0.4, 0.35, 0.25]]\ntop_p: 0.8\n")
    solution = solve(problem)
    marking = mark_answers(problem, solution, answers_of({"cumulative": [["0.4", "0.85", "1.1"]]}, solution))
    assert marking.steps["cumulative"].verdicts.tolist() == [["correct", "slip", "follows"]]
    assert marking.from_slips["cumulative"].tolist() == [[False, False, True]]


@pytest.mark.parametrize("to_one", ["used", "written"])
@pytest.mark.parametrize("without", [set(), {"A"}, {"head1.A", "head2.A"}])
@pytest.mark.parametrize("name", ["mqa", "average-of-the-past", "abc", "top-p", "two-heads"])
def test_weights_that_were_made_to_add_up_to_1_may_be_used_as_they_were_before(name, without, to_one):
    for decimals in (1, 2, 3):
        for habit in (Habit(to_one=to_one), Habit(rounds=True, to_one=to_one), Habit(True, True, True, to_one=to_one),
                      Habit(rounds=True, ties="half-even", to_one=to_one)):  # fmt: skip
            verdicts_of(replace(SHIPPED[name], decimals=decimals, show={"weights": "sum-to-one"}), habit, (), without)


def test_a_weight_of_a_hidden_key_is_not_made_to_add_up():
    exercise = replace(SHIPPED["abc-causal"], decimals=3, show={"weights": "sum-to-one"})
    paper = write(exercise, Habit())
    assert paper.texts["A"][0] == ["1.000", "0.000", "0.000"]
    paper.texts["A"][0] = ["0.999", "0.001", "0.000"]
    assert exercise.mark(paper).steps["A"].verdicts[0].tolist() == ["slip", "slip", "correct"]


def test_a_bare_figure_that_came_of_a_printed_constant_stands_for_what_rounds_to_it():
    """Dividing by 1.41 gives 17.498 on the way to e^17.5, where the exact score is 17.5."""
    exercise = replace(SHIPPED["rotary-relative"], decimals=2)
    verdicts_of(exercise, Habit(rounds=True, constants=True, more=1, bare=True))


def test_a_figure_that_every_honest_habit_gives_stands_for_itself_alone():
    """After a slip too: 3 copied as 4 makes 5 of 4, and what comes of 5 has no slack but its own rounding."""
    problem = parse(b"kind: feed-forward\nx: [[3, 1]]\nW_1: [[1], [1]]\nW_2: [[0.25]]\nshow: {decimals: 1}\n")
    solution = solve(problem)
    written = {"x": [["4", "1"]], "hidden": "5", "activated": "5"}
    for output, verdict in (("1.3", "follows"), ("1.2", "follows"), ("1.4", "slip")):
        marking = mark_answers(problem, solution, answers_of({**written, "output": output}, solution))
        assert marking.steps["x"].verdicts.tolist() == [["slip", "correct"]]
        assert marking.steps["output"].verdicts.tolist() == [[verdict]]


@pytest.mark.parametrize("written", ["-3.9", "-3.3", "-5.0"])
def test_the_logarithm_of_what_is_0_once_it_is_rounded_may_be_far_below_0(written):
    """0.02 is written 0.0, and ln 0.02 = -3.9; but no figure that rounds to 0.0 has a logarithm of -2."""
    problem = parse(b"kind: loss\nprobabilities: [0.02]\nshow: {decimals: 1}\n")
    solution = solve(problem)
    (log,) = (id for id in solution.steps if id.endswith("log_probabilities"))
    given = solution.steps[log].operands[0].id
    for figure, verdicts in ((written, {"correct", "follows"}), ("-2.0", {"slip"})):
        marking = mark_answers(problem, solution, answers_of({given: ["0.0"], log: [figure]}, solution))
        assert marking.steps[log].verdicts[0, 0] in verdicts


def test_a_copy_of_a_weight_lies_where_the_weight_does():
    """0.333 that was made 0.334 to add up to 1, and is copied as 0.334, may be used as 0.333."""
    exercise = Exercise("copy", "kind: loss\nlogits: [[1, 1, 1]]\ntargets: [0]\n", 2, {"weights": "sum-to-one"})
    for to_one in ("used", "written"):
        assert verdicts_of(exercise, Habit(rounds=True, to_one=to_one)).is_right


# Somebody's steps and none of the others


@pytest.mark.parametrize("name", ["abc", "two-heads", "encoder-stack", "experts", "top-p", "layer-norm", "loss"])
def test_any_one_step_may_be_all_that_is_written(name):
    for decimals in (1, 3):
        exercise: Exercise = replace(SHIPPED[name], decimals=decimals)
        habit = Habit(rounds=True, parts=True, constants=True)
        steps = exercise.solution.steps
        for id in [id for id, step in steps.items() if not isinstance(step, Given | Arrange)][::4]:
            verdicts_of(exercise, habit, (), steps.keys() - {id})


def test_habits_are_of_every_sort():
    rng = random.Random(1)
    drawn = [vars(some_habit(rng)) for _ in range(300)]
    for name, value in vars(Habit()).items():
        assert any(habit[name] != value for habit in drawn) and any(habit[name] == value for habit in drawn)
