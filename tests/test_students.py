"""Simulated students are marked: who is honest is never told slip, and each slip is told where it was made."""

import random
from dataclasses import replace

import numpy as np
import pytest
from students import (
    ARITHMETIC,
    OFF,
    TRIALS,
    Exercise,
    Habit,
    Report,
    Slip,
    a_decimal_fewer,
    run,
    shipped,
    shown_somehow,
    slipping_by_some_units,
    some_habit,
    weights_and_results,
    write,
    write_with_a_slip_of_the_pen,
)

from attncalc import parse, solve
from attncalc.digits import shown
from attncalc.marking import answers_of, mark_answers
from attncalc.marking.verdicts import CORRECT, FOLLOWS, IMPRECISE, SLIP
from attncalc.operations import FUNCTIONS, OPERATIONS
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
    others = {"rounds": False, "parts": True, "constants": True, "inverse": True, "more": 1, "ties": "half-even"}
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
def test_nobody_is_told_slip_for_a_decimal_fewer_everywhere(seed):
    report = run(4000, 1000 * seed + 5, TRIALS["a decimal fewer"], each=1)
    assert not report.wrong, "\n".join(report.wrong[:5])
    assert report.verdicts[IMPRECISE] > 60


@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("who", ["one slip", "two slips", "slip of the pen"])
def test_each_slip_beyond_the_bounds_is_told_where_it_was_made_and_nowhere_else(who, seed):
    report = run(2000, 1000 * seed + [*TRIALS].index(who), TRIALS[who], each=1)
    assert not report.wrong, "\n".join(report.wrong[:5])
    assert report.slips >= 3 and report.verdicts[SLIP] == report.slips


# How many slips of so many units are told, where all steps are written: a little fewer than are.
TOLD = {5: 0.97, 10: 0.98, 50: 0.98}


def test_slips_of_some_units_are_told_wherever_the_bounds_are():
    """Off what their writer's own arithmetic gave, which no bound has a say in: wider ones let more of them pass."""
    rng, report = random.Random(3), Report()
    for exercise in shipped():
        shown = shown_somehow(exercise, rng) if len(exercise.text) < 600 else None
        if shown is not None and sum(step.values.size for step in shown.solution.steps.values()) <= 120:
            slipping_by_some_units(shown, rng, report, times=2)
    assert not report.wrong, "\n".join(report.wrong[:5])
    for by in OFF:
        assert report.off[by] > 60 and report.told[by] >= TOLD[by] * report.off[by], (by, report.told, report.off)


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


@pytest.mark.parametrize("written", ["-3.9", "-5.0"])
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


def test_what_was_worked_from_the_right_figure_stands_for_what_it_was_rounded_from():
    """2.121 is written 2.111, and e^2.121 = 8.3395 is 8.339: no figure that e^2.111 gives, which is 8.256, says where
    that lies."""
    exercise = replace(SHIPPED["draw-scale"], decimals=3, show={})
    habit, slip = Habit(constants=True, inverse=True), Slip(("scaled", 0, 1), "2.111")
    marking = exercise.mark(write_with_a_slip_of_the_pen(exercise, habit, slip))
    assert marking.counts[SLIP] == 1 and marking.steps["row_sum"].verdicts[0, 0] == FOLLOWS


def test_weights_of_a_decimal_fewer_may_be_made_to_add_up_to_1():
    """0.3, 0.3 and 0.3 are 0.4, 0.3 and 0.3, where 0.33 is asked for."""
    text = "kind: loss\nlogits: [[1, 1, 1]]\ntargets: [0]\n"
    for show, verdict in (({"weights": "sum-to-one"}, IMPRECISE), ({"weights": "plain"}, SLIP)):
        exercise = Exercise("thirds", text, 2, show)
        paper = write(exercise, a_decimal_fewer(Habit()))
        (id,) = (step.id for step in exercise.solution.steps.values() if step.rows_sum_to_one)
        paper.texts[id] = [["0.4", "0.3", "0.3"]]
        assert exercise.mark(paper).steps[id].verdicts[0].tolist() == [verdict, IMPRECISE, IMPRECISE]


@pytest.mark.parametrize("to_one", ["", "used", "written"])
@pytest.mark.parametrize("name", ["mqa", "abc", "two-heads", "four-positions"])
def test_a_decimal_fewer_costs_nobody_a_slip(name, to_one):
    """All steps written, and weights and results alone; but 0.0 says nothing of 0.04."""
    for decimals in (2, 3, 4):
        exercise: Exercise = replace(SHIPPED[name], decimals=decimals, show={"weights": "sum-to-one"})
        habit, report = a_decimal_fewer(Habit(to_one=to_one)), Report()
        for without in ((), exercise.solution.steps.keys() - weights_and_results(exercise)):
            marking = exercise.mark(write(exercise, habit), without)
            report.expect(exercise, habit, marking, (), (CORRECT, FOLLOWS, IMPRECISE), [SLIP])
        assert not report.wrong, report.wrong[:3]


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


def verdicts_of_step(text, id, **written):
    problem = parse(text.encode())
    solution = solve(problem)
    return mark_answers(problem, solution, answers_of(written, solution)).steps[id].verdicts.tolist()


@pytest.mark.parametrize("row, right", [
    ("1 0 0 1", True), ("1 0 1 0", True), ("0 1 1 0", False), ("1 1 1 1", False), ("1 1 1 0", False), ("1 0 0 0", False)
])  # fmt: skip
def test_as_many_are_chosen_as_may_be(row, right):
    """The largest may be the last or the one before it, as they are written; not both, not neither, and never b."""
    text = "kind: output\nlogits: [[2, 0, 1, 1.0001]]\ntop_k: 2\nshow: {decimals: 1}\n"
    problem = parse(text.encode())
    solution = solve(problem)
    P = solution.steps["chosen"].operands[0]
    (verdicts,) = verdicts_of_step(text, "chosen", **{P.id: [["0.6", "0.1", "0.2", "0.2"]], "chosen": [row.split()]})
    assert (SLIP not in verdicts) == right


@pytest.mark.parametrize("row, right", [("1 1 0", True), ("1 0 0", True), ("1 1 1", False), ("0 0 0", False)])
def test_of_a_sum_that_may_reach_p_or_not_more_or_fewer_are_chosen(row, right):
    """0.50 of 0.496 reaches 0.5; 0.496 does not."""
    text = "kind: output\nprobabilities: [[0.496, 0.304, 0.2]]\ntop_p: 0.5\nshow: {decimals: 2}\n"
    (verdicts,) = verdicts_of_step(text, "chosen", probabilities=[["0.50", "0.30", "0.20"]], chosen=[row.split()])
    assert (SLIP not in verdicts) == right


@pytest.mark.parametrize("place, verdict", [("0", "correct"), ("1", "slip"), ("2", "follows"), ("3", "slip")])
def test_the_place_of_the_largest_is_one_where_it_may_be_and_none_between(place, verdict):
    """The first and the third are both written 0.4; the second is less than either."""
    text = (
        "kind: decoder\nvocabulary: [a, b, c, d]\nembedding: [[1], [2], [3], [4]]\ngenerate: {from: [a], steps: 1}\n"
        "layers: [{attention: {W_Q: [[0]], W_K: [[0]], W_V: [[0]]}}]\n"
        "output: {W: [[0.4, 0, 0.39, -1]]}\nshow: {decimals: 1}\n"
    )
    problem = parse(text.encode())
    solution = solve(problem)
    (next,) = (step for step in solution.steps.values() if step.role == "next")
    (P,) = next.operands
    written = {P.id: [["0.3", "0.2", "0.3", "0.1"]], next.id: [[place]]}
    marking = mark_answers(problem, solution, answers_of(written, solution))
    assert marking.steps[P.id].verdicts.tolist()[0].count("slip") == 0
    assert marking.steps[next.id].verdicts.tolist() == [[verdict]]


@pytest.mark.parametrize("written, verdict", [
    ("0.02", "follows"), ("0.017", "correct"), ("0.06", "imprecise"), ("0.3", "slip")
])  # fmt: skip
def test_no_more_decimals_are_asked_for_than_the_problem_says(written, verdict):
    """The key keeps a third decimal of a root of 0.0173; two were asked for, and 0.02 has them."""
    text = "kind: layer-norm\nx: [[1.01, 1.02, 1.05]]\nshow: {decimals: 2}\n"
    assert solve(parse(text.encode())).steps["root"].places == 3
    assert verdicts_of_step(text, "root", root=[[written]]) == [[verdict]]
    rest = {"0.02": ["-0.83", "-0.34", "1.16"], "0.017": ["-0.96", "-0.39", "1.35"]}.get(written)
    if rest:
        assert SLIP not in verdicts_of_step(text, "normalised", root=[[written]], normalised=[rest])[0]


@pytest.mark.parametrize("second", ["0.900", "0.75", "0.3"])
def test_a_running_sum_may_go_on_from_a_slip_in_it(second):
    """0.5, then a slip, and what is added to that."""
    rest = [f"{float(second) + more:.3f}" for more in (0.1, 0.15)]
    rows = [["0.5", second, *rest], ["0.9", "0.94", "0.98", "1"], ["0.25", "0.5", "0.75", "1"]]
    found = verdicts_of_step(SHIPPED["top-p"].text, "cumulative", cumulative=rows)
    assert found[0] == ["correct", "slip", "follows", "follows"]
    assert {verdict for row in found[1:] for verdict in row} == {"correct"}


def test_what_is_worked_from_a_slip_in_the_sum_of_the_losses_follows():
    text = (SHIPPED["loss"]).text
    (sum_, mean) = (verdicts_of_step(text, id, sum="2.434", mean="0.609") for id in ("sum", "mean"))
    assert (sum_, mean) == ([["slip"]], [["follows"]])


WHOLE = [
    ("top-k", "chosen", "1 1 0", "1.4 0.7 0.05"), ("positions", "pos", "0 1 2 3", "0.4 1.4 1.6 3.1"),
    ("abc-causal", "mask", "0 -inf -inf; 0 0 -inf; 0 0 0", "0.4 -inf -inf; 0.4 0.1 -inf; 0.4 -0.4 0.4"),
    ("experts", "load", "2 1 2 1", "2.5 1.5 1.5 0.5"),
]  # fmt: skip


@pytest.mark.parametrize("name, id, right, wrong", WHOLE, ids=[each[0] for each in WHOLE])
def test_a_whole_number_is_no_other_that_rounds_to_it(name, id, right, wrong):
    n, m = solve(parse(SHIPPED[name].text.encode())).steps[id].shape
    for text in (right, wrong):
        rows = [row.split() for row in text.split(";")]
        figures = np.array(rows, dtype=object).reshape(n, m).tolist()
        found = verdicts_of_step(SHIPPED[name].text, id, **{id: figures})
        assert all((each == "slip") == ("." in figure) for row, of in zip(found, figures, strict=True)
                   for each, figure in zip(row, of, strict=True))  # fmt: skip


def test_a_large_number_below_0_hides_as_minus_infinity_does():
    text = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [0, 1]]\nV: [[1], [2]]\nmask: causal\n"
    hidden = [["0.707", "-1e9"], ["0.707", "0.707"]]
    assert verdicts_of_step(text, "A", masked=hidden, A=[["1", "0"], ["0.5", "0.5"]]) == [["correct"] * 2] * 2
    assert verdicts_of_step(text, "masked", masked=hidden) == [["correct"] * 2] * 2
    assert verdicts_of_step(text, "masked", masked=[["-1e9", "-1e9"], ["0.707", "-5"]]) == [
        ["slip", "correct"], ["correct", "slip"]]  # fmt: skip


def test_of_two_slips_one_may_be_used_and_the_other_of_the_pen():
    """S = 2·3 + 2·1, with the 2 that was written of Q and the 3 of K that was meant."""
    text = "Q: [[1, 2]]\nK: [[3, 1]]\nV: [[1]]\nscale: none\n"
    assert verdicts_of_step(text, "S", Q=[["2", "2"]], K=[["9", "1"]], S=[["8"]]) == [["follows"]]
    assert verdicts_of_step(text, "S", Q=[["2", "2"]], K=[["9", "1"]], S=[["12"]]) == [["slip"]]


def test_ids_between_the_first_and_the_last_that_may_be_meant_are_tried():
    """Three words are equally likely as they are written, and the next is not written: it may be any of them."""
    text = (
        "kind: decoder\nvocabulary: [a, b, c, d]\nembedding: [[1], [9], [3], [4]]\ngenerate: {from: [a], steps: 2}\n"
        "layers: [{attention: {W_Q: [[0]], W_K: [[0]], W_V: [[0]]}}]\n"
        "output: {W: [[0.4, 0.395, 0.39, -1]]}\nshow: {decimals: 1}\n"
    )
    solution = solve(parse(text.encode()))
    (first, *_) = (step for step in solution.steps.values() if step.role == "next")
    (later,) = (id for id in solution.steps if id.endswith("step2.H"))
    (P,) = first.operands
    written = {P.id: [["0.3", "0.3", "0.3", "0.1"]], later: [["1"], ["9"]][-len(solution.steps[later].values) :]}
    assert {each for row in verdicts_of_step(text, later, **written) for each in row} <= {"follows", "correct"}


@pytest.mark.parametrize("written, verdict", [("0.7076", "slip"), ("0.7074", "correct"), ("0.7071", "correct")])
def test_decimals_beyond_those_asked_for_count_as_far_as_they_change_those(written, verdict):
    text = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [0, 1]]\nV: [[1], [2]]\n"
    figures = [[written, "0"], ["0.707", "0.707"]]
    assert verdicts_of_step(text, "scaled", scaled=figures)[0][0] == verdict
