"""`kind: loss`: probabilities (or logits) and what should have been predicted."""

from __future__ import annotations

from typing import NamedTuple

from attncalc.problem.matrices import matrix, probabilities
from attncalc.problem.readers import anything, choice, labels
from attncalc.problem.rows import fitted, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.sizes import Sizes
from attncalc.problem.source import Source, counted
from attncalc.problem.words import ids_of
from attncalc.steps import Matrix


class Loss(NamedTuple):
    """n predictions over a vocabulary of m words. One of logits, probabilities and of_targets is given."""

    reduction: str  # mean, sum or none
    tokens: tuple[str, ...] | None  # n labels: what stands at each position
    vocabulary: tuple[str, ...] | None  # m labels of the columns
    targets: tuple[int, ...] | None = None  # n columns, from 0; None where of_targets is given
    words: tuple[str, ...] | None = None  # n labels of what is predicted, beside of_targets
    logits: Matrix | None = None  # n × m
    probabilities: Matrix | None = None  # n × m
    of_targets: Matrix | None = None  # n × 1: the probability of each target


KEYS = Table((
    Key("logits", matrix, None, "the scores of the words at each position, n × words"),
    Key("probabilities", probabilities, None, "instead: the probabilities of the words, n × words; or only those of "
        "the targets, one a position"),
    Key("vocabulary", labels, None, "the words: labels of the columns"),
    Key("tokens", labels, None, "what stands at each position"),
    Key("targets", anything, None, "what each position is to predict: words, or their numbers from 0"),
    Key("reduction", choice("mean", "sum", "none"), "mean", "what is made of the losses of all positions"),
))  # fmt: skip


def loss(source: Source, said: Reading) -> Loss:
    """The Loss that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    named = [name for name in said if name in ("logits", "probabilities")]
    if not named:
        raise source.error(said.node, "", "nothing to calculate from", "give logits or probabilities, and targets")
    if len(named) > 1:
        raise source.error(said.at(named[1]), named[1], f"can't be given together with {named[0]}", "keep one of them")
    (name,) = named
    given = operands(said, {name: ("n", "m")})
    sizes = fitted(source, said, given, labels=(("tokens", "n"), ("vocabulary", "m")))
    about, matrix_given = (said["reduction"], said["tokens"], said["vocabulary"]), given[0].matrix
    if name == "probabilities" and sizes["m"] == 1 and "vocabulary" not in said:
        return Loss(*about, words=_words(source, said, sizes), of_targets=matrix_given)
    if "targets" not in said:
        what = f"missing: {sizes.origin('m').shown}"
        hint = "say which column each row is to predict" + ("" if name == "logits" else "; or give one column")
        raise source.error(said.at(name), "targets", what, hint)
    texts = labels(source, said.at("targets"), "targets")
    targets = ids_of(source, said.at("targets"), "targets", texts, said["vocabulary"], sizes["m"])
    _check_count(source, said, len(targets), sizes)
    if name == "logits":
        return Loss(*about, targets=targets, logits=matrix_given)
    return Loss(*about, targets=targets, probabilities=matrix_given)


def _words(source: Source, said: Reading, sizes: Sizes) -> tuple[str, ...] | None:
    """What is predicted, where the probabilities are those of the targets: any words."""
    if "targets" not in said:
        return None
    words = labels(source, said.at("targets"), "targets")
    _check_count(source, said, len(words), sizes)
    if "tokens" in said:
        what = "not used beside targets where the probabilities are those of the targets"
        raise source.error(said.at("tokens"), "tokens", what, "leave it out: the targets label the rows")
    return words


def _check_count(source: Source, said: Reading, count: int, sizes: Sizes) -> None:
    if count != sizes["n"]:
        what = f"{counted(count, 'target')}, but {sizes.origin('n').shown}"
        raise source.error(said.at("targets"), "targets", what, "give one for each row")


PROBLEMS = {"loss": Kind(KEYS, loss)}
