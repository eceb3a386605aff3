"""Questions in words: to which problems each applies, what figures its key gives, and what its question keeps back."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from sheets import PROBLEMS
from test_cli import attncalc, refused

from attncalc import formats, load, solve
from attncalc.blocks import Document, Prose, Question
from attncalc.draws import integers
from attncalc.errors import UsageError
from attncalc.exercises.blanks import hidden
from attncalc.exercises.concepts import chosen, shuffled
from attncalc.layout.concepts import CONCEPTS, in_words
from attncalc.layout.exercise import Exercise, Head, lay_sheet
from attncalc.layout.facts import Facts
from attncalc.solution import Solution
from attncalc.wording import Wording

KEYS = [concept.key for concept in CONCEPTS]
NAMES = [path.stem for path in sorted(PROBLEMS.glob("*.yaml")) if not path.stem.startswith("size-")]
LANGUAGES = ("en", "zh")
each_key = pytest.mark.parametrize("key", KEYS)


@cache
def exercise(name: str, shapes: bool = False) -> Exercise:
    problem = load(PROBLEMS / f"{name}.yaml")
    solution = solve(problem)
    return Exercise(solution, problem.show, problem.kind, problem.title, hidden(solution, {}), shapes, given_alone=True)


@cache
def applying(name: str) -> tuple[str, ...]:
    facts = Facts(exercise(name), Wording("en"))
    return tuple(concept.key for concept in CONCEPTS if concept.applies(facts))


def cases() -> Iterator[tuple[str, str]]:
    """Each problem with each concept that applies to it."""
    return ((name, key) for name in NAMES for key in applying(name))


def question(name: str, key: str, lang: str = "en") -> Question:
    (only,) = in_words([exercise(name)], lang, key)
    return only


def text(question: Question, lang: str, *, answer: bool) -> str:
    prose = question.answer[0] if answer else question.blocks[0]
    assert isinstance(prose, Prose)
    return formats.render("text", Document(question.title, lang, (prose,)), width=10_000)


def figures(text: str) -> list[str]:
    """The figures of a sentence; the 1 of W_1 is none."""
    return re.findall(r"(?<![_\d.])\d+(?:\.\d+)?", text)


# To which problems


@each_key
def test_a_concept_applies_to_some_problem_and_not_to_some_other(key: str) -> None:
    assert {key in applying(name) for name in NAMES} == {True, False}


def test_there_are_concepts_enough_and_their_order_is_that_of_the_table() -> None:
    assert len(KEYS) == len(set(KEYS)) >= 14
    for name in ("abc", "decoder-modern"):
        titles = [each.title for each in in_words([exercise(name)], "en", "all")]
        assert titles == [question(name, key).title for key in KEYS if key in applying(name)]


@pytest.mark.parametrize(
    ("name", "those", "not_those"),
    [
        ("abc", {"sources", "scale", "order", "growth", "masked"}, {"infinity", "cross", "heads", "positions", "loss"}),
        ("abc-causal", {"infinity", "before"}, {"order", "positions"}),
        ("cross", {"cross"}, {"sources", "order", "masked"}),
        ("gqa", {"heads", "groups"}, set()),
        ("two-heads", {"heads"}, {"groups"}),
        ("learned", {"positions"}, {"order", "frequencies", "rotary"}),
        ("generation", {"forcing", "cache"}, {"loss"}),
        ("generation-anew", {"forcing"}, {"cache"}),
        ("feed-forward-linear", {"feed-forward"}, {"activation"}),
        ("swiglu", {"feed-forward"}, {"activation"}),
        ("large-scores", {"weights"}, {"constant"}),
        ("padding-left", {"infinity"}, {"weights"}),
        ("mask-before-after", set(), {"weights"}),
        ("query-mask", {"infinity"}, {"weights"}),
        ("why-scale-not", {"weights"}, {"scale"}),
    ],
)
def test_a_concept_applies_where_the_problem_has_what_it_is_about(
    name: str, those: set[str], not_those: set[str]
) -> None:
    assert those <= set(applying(name))
    assert not not_those & set(applying(name))


@pytest.mark.parametrize(("options", "is_put"), [
    (("--level", "1"), True), (("--level", "2"), False), (("--level", "3"), False), (("--blank", "A,O"), False),
    (("--blank", "S[1,*]"), False), (("--blank", "Q"), True), (("--level", "1", "--ask", "shapes"), False),
])  # fmt: skip
def test_the_shape_of_scores_is_asked_where_the_sheet_does_not_tell_it(options: tuple[str, ...], is_put: bool) -> None:
    run = attncalc("exercise", PROBLEMS / "abc.yaml", "--concepts", "all", "-f", "text", *options)
    assert run.returncode == 0 and (b"What shape has" in run.stdout) == is_put


def test_the_shape_of_scores_is_not_asked_again_where_shapes_are() -> None:
    assert "shape" in applying("abc")
    with pytest.raises(UsageError, match="does not apply"):
        in_words([exercise("abc", shapes=True)], "en", "shape")


# What the keys say


def shape(solution: Solution, id: str) -> tuple[int, int]:
    return solution.steps[id].shape


def of_shape(s: Solution) -> list[Any]:
    n, d = shape(s, "Q")
    return [n, d, d, n, n, n, n + 1, n + 1]


def of_parameters(s: Solution) -> list[Any]:
    sides = [side for id in ("W_Q", "W_K", "W_V") for side in shape(s, id)]
    return [*sides, sum(shape(s, id)[0] * shape(s, id)[1] for id in ("W_Q", "W_K", "W_V"))]


def of_biased(s: Solution) -> list[Any]:
    ids = ["W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V"]
    return [*(side for id in ids for side in shape(s, id)), sum(s.steps[id].values.size for id in ids)]


def of_each_head(s: Solution) -> list[Any]:
    ids = [f"head{h}.W_{part}" for h in (1, 2) for part in "QKV"]
    return [*(side for id in ids for side in shape(s, id)), sum(s.steps[id].values.size for id in ids)]


def of_growth(s: Solution) -> list[Any]:
    n = shape(s, "S")[0]
    return [n, n, n * n, 2 * n, 2 * n, 4 * n * n]


def of_groups(s: Solution) -> list[Any]:
    return [2, 2, 4, 4, 2, 8]  # 2 key/value heads of width 1, 4 query heads


def of_cross(s: Solution) -> list[Any]:
    return [len(s.steps["H"].values), len(s.steps["memory"].values)]


def of_loss(s: Solution) -> list[Any]:
    words = shape(s, "probabilities")[1]
    return [1, 0, words, 1, words, words, round(log(words), 3), words]


def of_words(s: Solution) -> list[Any]:
    return [1, len({id.split(".")[0] for id in s.steps if id.startswith("step")})]


def of_targets(s: Solution) -> list[Any]:
    return [1, len(s.steps["targets"].values)]


def of_cache(s: Solution) -> list[Any]:
    return [sum(len(s.steps[f"step{k}.layer1.attention.K"].values) for k in (1, 2, 3))]


def of_rms(s: Solution) -> list[Any]:
    d = shape(s, "x")[1]
    assert np.allclose(np.linalg.norm(s.steps["normalised"].values, axis=1), sqrt(d), rtol=0.01)
    return [d, d, 1]


def of_feed_forward(s: Solution) -> list[Any]:
    return list(shape(s, "W_1"))


def of_activation(s: Solution) -> list[Any]:
    return [shape(s, "W_1")[0], shape(s, "W_2")[1]]


def of_scale(s: Solution) -> list[Any]:
    return [0, 1, shape(s, "Q")[1], 0, 1]


def of_temperature(s: Solution) -> list[Any]:
    m = shape(s, "P" if "P" in s.steps else "probabilities")[1]
    return [0, m, 1, m]


Expected = Callable[[Solution], list[Any]]
FIGURES: dict[tuple[str, str], Expected] = {
    ("abc", "shape"): of_shape,
    ("i-love-you", "shape"): of_shape,
    ("abc", "parameters"): of_parameters,
    ("gqa", "parameters"): of_parameters,
    ("biases", "parameters"): of_biased,
    ("two-heads", "parameters"): of_each_head,
    ("abc", "growth"): of_growth,
    ("shuffled", "growth"): of_growth,
    ("gqa", "groups"): of_groups,
    ("cross", "cross"): of_cross,
    ("decoder-layer", "cross"): of_cross,
    ("loss", "loss"): of_loss,
    ("loss", "forcing"): of_targets,
    ("generation", "forcing"): of_words,
    ("generation", "cache"): of_cache,
    ("rms-norm", "rms-norm"): of_rms,
    ("feed-forward", "feed-forward"): of_feed_forward,
    ("feed-forward", "activation"): of_activation,
    ("abc", "scale"): of_scale,
    ("i-love-you", "scale"): of_scale,
    ("output-temperature", "temperature"): of_temperature,
}


@pytest.mark.parametrize(("name", "key"), FIGURES)
def test_the_figures_of_a_key_are_those_of_plain_computation(name: str, key: str) -> None:
    expected = [str(each) for each in FIGURES[name, key](exercise(name).solution)]
    assert figures(text(question(name, key), "en", answer=True)) == expected


def test_a_sequence_twice_as_long_has_as_many_scores_as_the_key_says() -> None:
    S = exercise("shuffled").solution.steps["S"].values
    twice = np.tile(S, (2, 2))
    assert f"= {S.size} before" in text(question("shuffled", "growth"), "en", answer=True)
    assert f"= {twice.size} after" in text(question("shuffled", "growth"), "en", answer=True)


def test_another_order_moves_rows_and_columns_as_the_key_says() -> None:
    steps = exercise("abc").solution.steps
    Q, K, V = (steps[part].values for part in "QKV")
    order = [2, 0, 1]

    def attended(rows: list[int]) -> tuple[Any, Any]:
        E = np.exp(Q[rows] @ K[rows].T / sqrt(2))
        A = E / E.sum(axis=1, keepdims=True)
        return A, A @ V[rows]

    (weights, output), (moved_weights, moved_output) = attended([0, 1, 2]), attended(order)
    assert np.allclose(moved_weights, weights[np.ix_(order, order)])
    assert np.allclose(moved_output, output[order])


def test_mask_after_softmax_is_put_right_as_the_key_says() -> None:
    steps = exercise("abc-causal").solution.steps
    scores, seen = steps["scaled"].values, np.tri(3, dtype=bool)
    E = np.exp(scores)
    late = np.where(seen, E / E.sum(axis=1, keepdims=True), 0)
    assert (late.sum(axis=1)[:2] < 1).all()
    early = np.where(seen, E, 0)
    assert np.allclose(late / late.sum(axis=1, keepdims=True), early / early.sum(axis=1, keepdims=True))


# What the questions keep back


@pytest.mark.parametrize(("name", "key"), FIGURES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_question_keeps_back_the_figures_that_it_asks_for(name: str, key: str, lang: str) -> None:
    asked, key_said = (text(question(name, key, lang), lang, answer=answer) for answer in (False, True))
    results = re.findall(r"= (\d+)", key_said)
    if key == "groups":  # 2 key/value heads and 4 query heads are given, and so many figures of one token are kept
        assert results == ["4", "8"]
        assert "8" not in asked
        return
    assert not set(results) & set(figures(asked)), asked
    if key != "parameters":  # whose matrices may be numbered by their heads
        template = Wording(lang).text(f"concepts.{key}.question")
        assert figures(asked) == figures(re.sub(r"\{\w+\}", "", template)), asked


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_question_in_words_has_room_to_write_and_its_sheet_no_answer(lang: str) -> None:
    exercises = [exercise("abc"), exercise("gqa")]
    added = in_words(exercises, lang, "all")
    sheet = lay_sheet(exercises, Head(), lang, added)
    assert sheet.questions[2:] == added
    for each in added:
        prose, room = each.blocks
        assert type(room).__name__ == "Space" and prose != each.answer[0]


def test_a_question_says_which_problem_it_is_about_where_there_are_several() -> None:
    titles = ["".join(map(str, each.title.parts)) for each in in_words([exercise("abc"), exercise("gqa")], "en", "all")]
    assert "Scaling (on question 1)" in titles
    assert "Several heads (on question 2)" in titles
    assert not any("question" in str(each.title.parts) for each in in_words([exercise("abc")], "en", "all"))


# Both languages


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_give_the_same_figures(name: str) -> None:
    for key in applying(name):
        for answer in (False, True):
            said = (text(question(name, key, lang), lang, answer=answer) for lang in LANGUAGES)
            en, zh = (Counter(re.findall(r"\d+(?:\.\d+)?", each)) for each in said)
            assert en == zh, (name, key)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_sentence_is_whole(lang: str) -> None:
    """No part is left unfilled, and each ends with the mark of its language."""
    for name, key in cases():
        for answer in (False, True):
            said = text(question(name, key, lang), lang, answer=answer).strip()
            assert not re.search(r"[{}]|None", said), said
            assert said.endswith((".", "?") if lang == "en" else ("。", "？")), said


# Which are asked for


def test_a_number_takes_the_first_and_names_those_in_their_order() -> None:
    assert chosen("2", KEYS, ["sources", "scale", "heads"]) == ["sources", "scale"]
    assert chosen("all", KEYS, ["sources", "scale"]) == ["sources", "scale"]
    assert chosen("heads, sources,heads", KEYS, ["sources", "scale", "heads"]) == ["heads", "sources"]


def test_a_seed_draws_others_and_always_the_same() -> None:
    keys = list("abcdefgh")
    assert shuffled(keys, "winter-1") == shuffled(keys, "winter-1") != keys
    assert sorted(shuffled(keys, "winter-1")) == keys
    assert len({tuple(chosen("3", keys, keys, f"winter-{k}")) for k in range(20)}) > 10
    (last,) = integers("winter-1", "concepts[8]", 0, 7, 1)
    assert shuffled(keys, "winter-1")[-1] == keys[last]
    assert chosen("c,a", keys, keys, "winter-1") == ["c", "a"]


@pytest.mark.parametrize(
    ("which", "name", "said"),
    [
        ("scales", "abc", "--concepts 'scales' is none of the concepts; give all, a number, or names of sources, "),
        ("heads", "abc", "--concepts 'heads' does not apply here; give all"),
        ("", "abc", "--concepts '' is none of the concepts"),
        ("0", "abc", "--concepts 0: "),
        ("99", "abc", "--concepts 99: "),
        ("-1", "abc", "--concepts '-1' is none of the concepts"),
        ("all", "gate", "--concepts has no question about such a problem; leave it out"),
    ],
)
def test_what_can_not_be_asked_is_one_line(which: str, name: str, said: str) -> None:
    line = refused(attncalc("exercise", PROBLEMS / f"{name}.yaml", f"--concepts={which}"))
    assert line.startswith(f"attncalc: {said}")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_command_adds_them_after_the_problems_and_their_answers_to_the_key(lang: str) -> None:
    def page(*options: str) -> str:
        result = attncalc("exercise", PROBLEMS / "abc.yaml", "--level", "1", "--concepts", "shape,growth", "--lang",
                          lang, *options)
        assert result.returncode == 0, result.stderr
        return result.stdout.decode()

    sheet, key = page("-f", "text"), page("-f", "text", "--key")
    titles = [Wording(lang).text(f"concepts.{each}.title") for each in ("shape", "growth")]
    assert all(title in part for title in titles for part in (sheet, key))
    assert sheet.index(titles[0]) < sheet.index(titles[1])
    assert "6×6 = 36" in key and "6×6" not in sheet
