"""Answers that make a report say each of its sentences, for the tests of wording and of formats."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from attncalc import load, solve
from attncalc.blocks import Document
from attncalc.layout.class_report import lay_out_class
from attncalc.layout.report import lay_out_report
from attncalc.marking import Marking, mark_answers
from attncalc.marking.answers import answers_of, read_answers
from attncalc.marking.marks import Score, scores
from attncalc.marking.papers import Paper
from attncalc.problem import Problem

PROBLEMS = Path(__file__).resolve().parent.parent / "problems"
ANSWERS = {  # by name: a shipped problem, and what is written
    "all right": ("abc", "A: [[.401, .198, .401], [.248, .248, .504], [.284, .140, .576]]"),
    "slips": ("abc", "S: [[1, 3, 2], [1, 1, 2], [2, 1, 3]]\nA: [[.24, .248, .504], [0.2, 0.4, 0.4], [1, 0, 0]]\n"
                     "O: [[1, 1], [abc, _], [1, 0]]\n"),
    "a decimal short": ("abc", "scaled: [{row: 1, values: [.71, 0, .707]}]\n"
                               "A: [[.401, .198, .401], [.248, .25, .504], [.284, .140, .576]]\n"
                               "O: [[_, 0.6], [1.504, .752], [1.576, .716]]"),
    "follows": ("abc", "Q: [[1, 2], [0, 1], [1, 1]]\nS: [[3, 2, 5], [1, 1, 2], [2, 1, 3]]\n"
                       "scaled: [[2.121, 1.414, 3.535], [0.707, 0.707, 1.414], [1.414, 0.707, 2.121]]"),
    "many slips": ("i-love-you", "S: [[9, 9, 9], [9, 9, 9], [9, 9, 9]]\nQ: [[8, 8, 8, 8], [8, 8, 8, 8], [8, 8, 8, 8]]\n"
                                 "K: [[7, 7, 7, 7], [7, 7, 7, 7], [7, 7, 7, 7]]"),
    "a known method": ("abc", "A: [[.422, .155, .422], [.212, .212, .576], [.245, .09, .665]]"),
    "no figures": ("abc", "S: [['0,5', cat, 3/2√2], [1/0, √-1, 0^-1], [nan, 1e999, 1e-999]]\n"
                          f"A: [['{'1' * 1101}', '{'(' * 60}', 007], [0x1f, 1_0, –0.5], [dog, 131 072, _]]"),
    "another shape": ("abc", "A: [[.5, .5], [.5, .5]]\nO: [[1.401, .599], [1.504, .752], [1.576, .716]]"),
    "a given matrix": ("abc", "H: [[1, 0], [0, 1], [1, 2]]\nQ: [[1, 0], [0, 1], [1, 2]]"),
    "one weight and rows of 0": ("abc", "S: [[0, 0, 0], [1, 1, 2], [2, 1, 3]]\n"
                                        "scaled: [{row: 1, values: [0, 0, 0]}]\n"
                                        "A: [[1, 0, 0], [0, 1, 0], [.284, .140, .576]]\nO: [[1, 0], [1, 1], [_, _]]"),
    "a row of 0 each": ("abc", "S: [[0, 0, 0], [0, 0, 0], [2, 1, 3]]\n"
                               "scaled: [[0, 0, 0], [0, 0, 0], [1.414, .707, 2.121]]"),
    "one weight": ("abc", "A: [[1, 0, 0], [.248, .248, .504], [.284, .140, .576]]\nO: [{row: 1, values: [1, 0]}]"),
    "all at once": ("abc", "V: [[1, 1], [0, 1], [1, 2]]\nS: [[1, 3, 1], [1, 1, 2], [2, 1, 3]]\n"
                           "scaled: [[.707, 2.121, .71], ['0,707', .707, cat], [_, _, 2.121]]\n"
                           "A: [[.164, .672, .164], [.248, .248, .504], [1, 0, 0]]\n"
                           "O: [[.328, 1.164], [.752, 1.504], [1, 1]]"),
    "heads": ("two-heads", "head1.A: [{row: 1, values: [1, 0, 0]}]\noutput: _\n"),
    "much left out": ("i-love-you-model", "result: _"),
    "from Python": ("abc", {"S": [[1, "x", 1], [1, 1, 2], [2, 1, 3]]}),
}  # fmt: skip


def marked(name: str) -> tuple[Problem, Marking, list[Score]]:
    of, text = ANSWERS[name]
    problem = load(PROBLEMS / f"{of}.yaml")
    solution = solve(problem)
    if isinstance(text, str):
        answers = read_answers(text.encode(), f"{name}.yaml", solution, variant="")
    else:
        answers = answers_of(text, solution)
    marking = mark_answers(problem, solution, answers)
    worth = dict.fromkeys(list(marking.steps)[:2], Fraction(2)) | ({"A": Fraction(3)} if "A" in solution.steps else {})
    return problem, marking, scores(marking, worth)


def documents(lang: str) -> Iterator[tuple[str, Document]]:
    """Each report, and those of abc as a class."""
    of_abc = []
    for name in ANSWERS:
        problem, marking, earned = marked(name)
        title, kind = problem.title, problem.kind
        yield name, lay_out_report(marking, problem.show, lang, title=title, kind=kind, scores=earned)
        if title and ANSWERS[name][0] == "abc":
            earned = scores(marking, {"S": Fraction(2), "A": Fraction(3)})
            of_abc.append(Paper(marking.name, marking, problem.show, earned))
    of_abc.append(Paper("bo", None, error="answers-bo.yaml:1:4: ']' expected"))
    yield "class", lay_out_class(of_abc, lang, title="abc", kind="attention")
    of_one = [paper._replace(name="mei") for paper in of_abc]
    yield "several problems", lay_out_class(of_one, lang, title="abc", kind="attention")
