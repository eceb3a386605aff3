"""`targets:` and `generate:` of a model: the words that it is to predict, and how it goes on by itself."""

from __future__ import annotations

from typing import NamedTuple

from attncalc.problem.embedding import Lookup
from attncalc.problem.matrices import FIGURES, Entries, row_vector
from attncalc.problem.nodes import MapNode, Node
from attncalc.problem.numbers import NotANumber, number
from attncalc.problem.readers import labels, none_of, scalar, switch, text, whole
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.source import Source, counted
from attncalc.problem.words import ids_of
from attncalc.steps import Matrix

MOST_STEPS = 1000


class Generation(NamedTuple):
    """How a decoder goes on from the ids `start`: at most `steps` words, until `stop`; the likeliest each time, or by
    `draws` (1 × steps, from 0 to 1) from the probabilities. With a `cache`, keys and values are computed once."""

    start: tuple[int, ...]
    steps: int
    stop: int | None
    draws: Matrix | None
    cache: bool

    @property
    def longest(self) -> int:
        """How many positions there are at most: the last word that is chosen is not read."""
        return len(self.start) + self.steps - 1


def _draw(text: str) -> tuple[float, str]:
    value, written = number(text)
    if not 0 <= value < 1:
        raise NotANumber("{0} is not a draw", "draws are from 0 up to, not with, 1")
    return value, written


_DRAWS = Entries(_draw, FIGURES.array, low=0, high=0)
SAMPLE = Table((
    Key("sample", lambda source, node, path: row_vector(source, node, path, _DRAWS), None,
        "draws from 0 up to 1, one a step: the first word whose probabilities up to it add up to more"),
))  # fmt: skip


def _choose(source: Source, node: Node, path: str) -> Matrix | None:
    """greedy, or {sample: [0.3, 0.8]}."""
    if isinstance(node, MapNode):
        said = SAMPLE.read(source, node, path)
        if not isinstance(said["sample"], Matrix):
            raise source.error(node, path, "says no draws", "write {sample: [0.3, 0.8]}")
        return said["sample"]
    word = scalar(source, node, path, "greedy or {sample: [..]}")
    if word != "greedy":
        raise none_of(source, node, path, word, ("greedy", "{sample: [..]}"))
    return None


GENERATE = Table((
    Key("from", labels, None, "the words, or ids, that it starts from"),
    Key("steps", whole(1, MOST_STEPS), None, "how many words at most; as many as there are draws, if nothing is said"),
    Key("stop", text, None, "the word that ends it"),
    Key("choose", _choose, None, "greedy (the likeliest word), or {sample: [draws]}"),
    Key("cache", switch, True, "whether keys and values are kept from step to step; no: all is computed anew"),
))  # fmt: skip


def generation(source: Source, said: Reading, lookup: Lookup) -> Generation:
    """The Generation of what was said. Raises ProblemError for words that the vocabulary has not."""
    if "from" not in said:
        raise source.error(said.node, "from", "missing", "write from: [<s>]")
    draws: Matrix | None = said["choose"]
    steps: int | None = said["steps"]
    if draws is not None and steps is not None and draws.values.size < steps:
        what = f"{counted(draws.values.size, 'draw')} for {counted(steps, 'step')}"
        raise source.error(said.at("choose"), "choose.sample", what, "give one a step")
    if steps is None and draws is None:
        raise source.error(said.node, "steps", "missing", "write steps: 5")
    stop = None
    if "stop" in said:
        stop = ids_of(source, said.at("stop"), "stop", [said["stop"]], lookup.vocabulary)[0]
    start = ids_of(source, said.at("from"), "from", said["from"], lookup.vocabulary)
    return Generation(start, steps or (draws.values.size if draws is not None else 0), stop, draws, said["cache"])
