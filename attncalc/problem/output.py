"""`kind: output`: from the last rows to logits, probabilities, and the words that are left to choose from."""

from __future__ import annotations

from typing import NamedTuple

from attncalc.problem.matrices import matrix, probabilities, row_vector
from attncalc.problem.nodes import Node
from attncalc.problem.readers import anything, figure, labels, positive, switch, whole
from attncalc.problem.rows import Axes, fitted, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.sizes import Fact
from attncalc.problem.source import Source, short
from attncalc.steps import Matrix


class Choice(NamedTuple):
    """Which words of each row are left: the `top_k` likeliest, or the fewest of these that add up to `top_p`."""

    top_k: int | None  # 1 to m
    top_p: tuple[float, str] | None  # above 0, up to 1; and how it was written
    renormalise: bool  # whether what is left is divided by its sum


class Output(NamedTuple):
    """n rows and a vocabulary of m words; what isn't given is None. One of x, logits and probabilities is."""

    tokens: tuple[str, ...] | None  # n labels of the rows
    vocabulary: tuple[str, ...] | None  # m labels of the columns
    temperature: tuple[float, str] | None  # and how it was written
    choice: Choice
    words: int  # m
    x: Matrix | None = None  # n × d
    W: Matrix | None = None  # d × m
    tied: Matrix | None = None  # m × d, whose transpose is W
    b: Matrix | None = None  # 1 × m
    logits: Matrix | None = None  # n × m
    probabilities: Matrix | None = None  # n × m


def _share(source: Source, node: Node, path: str) -> tuple[float, str]:
    value, written = figure(source, node, path)
    if not 0 < value <= 1:
        raise source.error(node, path, f"{short(written)} is not above 0 and up to 1", "0.9 is usual")
    return value, written


KEYS = Table((
    Key("x", matrix, None, "the rows that words are predicted from, n × d"),
    Key("tokens", labels, None, "labels of the rows"),
    Key("W", matrix, None, "weights of the output, d × words"),
    Key("tied", matrix, None, "instead of W an embedding, words × d, whose transpose is used"),
    Key("b", row_vector, None, "bias of the output, one entry a word"),
    Key("logits", matrix, None, "instead of x: the scores of the words, n × words"),
    Key("probabilities", probabilities, None, "instead of x: the probabilities of the words, n × words"),
    Key("vocabulary", labels, None, "the words: labels of the columns"),
    Key("temperature", positive, None, "what logits are divided by; 1, if nothing is said"),
    Key("top_k", anything, None, "keep so many of the likeliest words, 1 to as many as there are"),
    Key("top_p", _share, None, "keep the fewest of the likeliest words that add up to so much; above 0, up to 1"),
    Key("renormalise", switch, True, "whether what is kept is divided by its sum"),
))  # fmt: skip
OUTPUT = Table((
    *(key for key in KEYS.keys if key.name in ("W", "b", "temperature", "top_k", "top_p", "renormalise")),
    Key("tied", anything, None, "instead of W: the embedding, whose transpose is used"),
))  # fmt: skip
_AXES: Axes = {
    "x": ("n", "d"), "W": ("d", "m"), "tied": ("m", "d"), "b": ("one", "m"),
    "logits": ("n", "m"), "probabilities": ("n", "m"),
}  # fmt: skip
# What a calculation starts from, and the keys that are of no use there.
_STARTS = {
    "x": (),
    "logits": ("W", "tied", "b"),
    "probabilities": ("W", "tied", "b", "temperature"),
}


def output(source: Source, said: Reading) -> Output:
    """The Output that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    _check(source, said)
    given = operands(said, _AXES)
    sizes = fitted(source, said, given, labels=(("tokens", "n"), ("vocabulary", "m")))
    top_k = whole(1, sizes["m"])(source, said.at("top_k"), "top_k") if "top_k" in said else None
    choice = Choice(top_k, said["top_p"], said["renormalise"])
    matrices = {operand.name: operand.matrix for operand in given}
    return Output(said["tokens"], said["vocabulary"], said["temperature"], choice, sizes["m"], **matrices)


def _check(source: Source, said: Reading) -> None:
    first, *others = [name for name in said if name in _STARTS] or [""]
    if not first:
        hint = "give x with W or tied, or logits, or probabilities"
        raise source.error(said.node, "", "nothing to calculate from", hint)
    for name in (*others, *_STARTS[first]):
        if name in said:
            what = f"can't be given together with {first}" if name in others else f"not used where {first} is given"
            raise source.error(said.at(name), name, what, "leave it out")
    if first == "x" and "W" not in said and "tied" not in said:
        raise source.error(said.at("x"), "W", "missing", "write W: [[1, 0], [0, 1]], or tied: with an embedding")
    if "W" in said and "tied" in said:
        raise source.error(said.at("tied"), "tied", "can't be given together with W", "keep one of them")
    chooses = "top_k" in said or "top_p" in said
    if "renormalise" in said and not chooses:
        raise source.error(said.at("renormalise"), "renormalise", "not used without top_k or top_p", "leave it out")
    if first == "probabilities" and not chooses:
        raise source.error(said.at(first), first, "nothing to calculate from them", "give top_k, top_p, or both")


def output_of_model(
    source: Source, said: Reading, d_model: Fact, words: tuple[str, ...] | None, count: Fact | None, *, may_tie: bool
) -> Output:
    """The Output of a model with rows of a known width, over `words`, so many where that is known. Tied, it has no
    matrix of its own, which needs an embedding (`may_tie`). Raises ProblemError."""
    tied = "tied" in said
    if tied == ("W" in said):
        what = "can't be given together with W" if tied else "says nothing"
        raise source.error(said.node, "tied" if tied else "", what, "write {W: [..]}, or tied")
    if tied and not may_tie:
        raise source.error(said.at("tied"), "tied", "there is no embedding to be tied to", "give embedding, or W")
    given = operands(said, {"W": ("d_model", "vocabulary"), "b": ("one", "vocabulary")})
    sizes = fitted(source, said, given, facts=[d_model, *([count] if count else [])])
    top_k = whole(1, sizes["vocabulary"])(source, said.at("top_k"), "top_k") if "top_k" in said else None
    if "renormalise" in said and not ("top_k" in said or "top_p" in said):
        raise source.error(said.at("renormalise"), "renormalise", "not used without top_k or top_p", "leave it out")
    choice = Choice(top_k, said["top_p"], said["renormalise"])
    matrices = {operand.name: operand.matrix for operand in given}
    return Output(None, words, said["temperature"], choice, sizes["vocabulary"], **matrices)


PROBLEMS = {"output": Kind(KEYS, output)}
