"""What the pages of generation and of the translating example say in words: what each step sees and what it chooses."""

import re
from functools import cache
from pathlib import Path

import pytest

from attncalc import mechanisms, problem
from attncalc.cli.output import pieces
from attncalc.problem import Problem
from attncalc.solution import Solution

PROBLEMS = Path(__file__).resolve().parent.parent / "problems"
GENERATING = ("generation", "generation-anew", "generation-drawn", "i-love-you-model")


@cache
def solved(name: str) -> tuple[Problem, Solution]:
    read = problem.load(str(PROBLEMS / f"{name}.yaml"))
    return read, mechanisms.solve(read)


@cache
def page(name: str, lang: str = "en") -> str:
    read, solution = solved(name)
    return "".join(pieces(read, solution, format="text", lang=lang))


def test_the_row_that_predicts_love_looks_most_at_its_translation() -> None:
    steps = solved("i-love-you-model")[1].steps
    A = steps["decoder.layer1.cross_attention.A"]
    assert A.rows and A.columns and A.rows.labels and A.columns.labels
    assert A.columns.labels[int(A.values[A.rows.labels.index("I")].argmax())] == "爱"
    assert solved("i-love-you-model")[1].result.rows.labels == ("I", "love", "you", "<eos>")
    assert re.search(r"\bI: weight .*; the largest on 爱", page("i-love-you-model"))


@pytest.mark.parametrize("name", GENERATING)
def test_each_step_says_what_it_sees_and_names_its_word(name: str) -> None:
    words = solved(name)[1].result.rows.labels
    heads = re.findall(r"^ *[\d.]+ Step (\d+): after (.*)$", page(name), re.M)
    assert heads == [(str(k + 1), ", ".join(("<s>", *words[:k]))) for k in range(len(words))]
    named = re.findall(r"(?:likeliest word is|is that of) (\S+) \(id \d+\), [\d.]+$", page(name), re.M)
    assert tuple(named) == words


@pytest.mark.parametrize("name", GENERATING)
def test_keys_from_the_cache_are_told_from_the_new_row_and_bear_their_words(name: str) -> None:
    for found in re.finditer(r"(\S+) holds (\S+) of the step before, from the cache", page(name)):
        assert found[1].endswith("_all")
    solution = solved(name)[1]
    cached = [step for step in solution.steps.values() if step.id.endswith("K.all")]
    assert bool(cached) == (name != "generation-anew") and all(step.rows and step.rows.labels for step in cached)
    assert "one below the other" not in page(name)


def test_the_decoder_knows_the_encoders_output_by_a_name_of_its_own() -> None:
    """N_2 is a row of the encoder and one of the decoder: keys are made from neither."""
    made = {str(step.operands[0].id) for id, step in solved("i-love-you-model")[1].steps.items()
            if id.endswith("cross_attention.K")}  # fmt: skip
    assert made == {"encoder.memory"}


@pytest.mark.parametrize(("name", "found"), [("shuffled", True), ("shuffled-placed", False)])
def test_words_that_stand_twice_are_compared(name: str, found: bool) -> None:
    assert ("rows and columns of A are shuffled alike" in page(name)) == found
    assert ("have the same row of O" in page(name)) == found != ("have different rows of O" in page(name))


@pytest.mark.parametrize("name", ["layer-norm", "decoder-modern", "abc-block", *GENERATING])
def test_nothing_is_said_that_says_nothing(name: str) -> None:
    """A gain is given once, not in each row; a sum of one figure is that figure; a norm has one heading."""
    text = page(name)
    assert not re.search(r"^ *(gain|bias) ", text, re.M)
    assert not re.search(r"([=≈]|row sum) +(\S+) = \2$", text, re.M)
    assert not re.search(r"last layer\n+ *[\d.]+ .* normalisation", text)
