"""`vocabulary`, `embedding` and `input`: words, or their ids, and the vector of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from attncalc.problem.matrices import Given, matrix, rows
from attncalc.problem.nodes import ListNode, MapNode, Node
from attncalc.problem.readers import labels
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.sizes import Fact, Mismatch, Operand, Sizes
from attncalc.problem.source import Source, counted
from attncalc.problem.words import ids_of, named
from attncalc.steps import Matrix


class Words(NamedTuple):
    """n words and the table that gives each its vector. Ids count from 0."""

    tokens: tuple[str, ...] | None  # n words; None where only ids are known
    ids: tuple[int, ...]  # n rows of the embedding
    vocabulary: tuple[str, ...]  # V words, or their ids where only those are known
    embedding: Matrix  # V × d_model


class Vectors(NamedTuple):
    """An `embedding` as it was read: its rows, and their words where it is a mapping of those."""

    given: Given
    words: tuple[str, ...] | None = None


class Lookup(NamedTuple):
    """A vocabulary with its embedding, before anything is known of sizes."""

    vocabulary: tuple[str, ...]
    node: Node  # what gives the vocabulary
    path: str
    operand: Operand  # the embedding, vocabulary × d_model
    has_words: bool  # or only ids, which the vocabulary then holds

    def words(self, ids: tuple[int, ...]) -> Words:
        """The Words of some ids, once all sizes are known."""
        tokens = tuple(self.vocabulary[id] for id in ids) if self.has_words else None
        return Words(tokens, ids, self.vocabulary, self.operand.matrix)

    @property
    def fact(self) -> Fact:
        return Fact("vocabulary", len(self.vocabulary), f"{self.path} has {counted(len(self.vocabulary), 'word')}")

    def mismatches(self, sizes: Sizes) -> Iterator[Mismatch]:
        """A vocabulary of another length than the embedding."""
        if len(self.vocabulary) != sizes["vocabulary"]:
            what = f"{counted(len(self.vocabulary), 'word')}, but {sizes.origin('vocabulary').shown}"
            yield Mismatch(self.node, self.path, what)


class Asked(NamedTuple):
    """The words that are asked for. Sizes need its `operands` and `facts` (n, vocabulary); then it gives `words`."""

    lookup: Lookup
    ids: tuple[int, ...]
    node: Node
    path: str

    @property
    def operands(self) -> list[Operand]:
        return [self.lookup.operand]

    @property
    def facts(self) -> list[Fact]:
        return [Fact("n", len(self.ids), f"{self.path} has {counted(len(self.ids), 'word')}"), self.lookup.fact]

    def mismatches(self, sizes: Sizes) -> Iterator[Mismatch]:
        """More or fewer words than rows, or than the embedding has."""
        if len(self.ids) != sizes["n"]:
            what = f"{counted(len(self.ids), 'word')}, but {sizes.origin('n').shown}"
            yield Mismatch(self.node, self.path, what)
        yield from self.lookup.mismatches(sizes)

    @property
    def words(self) -> Words:
        """The Words, once all sizes are known."""
        return self.lookup.words(self.ids)


def embedding(source: Source, node: Node, path: str) -> Vectors:
    """Rows, one a word of the vocabulary; or word: row; or {file: ..}, {random: ..} or identity."""
    if isinstance(node, MapNode) and not _is_described(node):
        listed = ListNode(node.start)
        listed.items = [entry.value for entry in node.entries.values()]
        return Vectors(rows(source, listed, path), tuple(node.entries))
    return Vectors(matrix(source, node, path))


def _is_described(node: MapNode) -> bool:
    """Whether a mapping is a matrix from a file or drawn, and not words that are called so."""
    named = [node.entries[key].value for key in ("file", "random") if key in node.entries]
    return any(not isinstance(value, ListNode) for value in named)


KEYS = Table((
    Key("vocabulary", labels, None,
        "the words, in the order of their ids; not needed where embedding names them, or input is ids"),
    Key("embedding", embedding, None, "a row for each word of the vocabulary, or word: row, instead of H"),
    Key("input", labels, None, "the words that attend, or their ids, which count from 0"),
))  # fmt: skip
_EXAMPLES = {
    "vocabulary": "write vocabulary: [a, b], or embedding: {a: [1, 0], b: [0, 1]}",
    "embedding": "write a row for each word: embedding: [[1, 0], [0, 1]]",
    "input": "write the words: input: [a, b]",
}


def asked(source: Source, said: Reading) -> Asked | None:
    """The words of a mapping with the three KEYS; None where it has none of them.

    Raises ProblemError where one is missing, and for words that are not in the vocabulary.
    """
    named = [name for name in _EXAMPLES if name in said]
    if not named:
        return None
    table = lookup(source, said)
    if table is None or "input" not in said:
        name = "embedding" if table is None else "input"
        raise source.error(said.at(named[0]), name, "missing", _EXAMPLES[name])
    node = said.at("input")
    ids = ids_of(source, node, "input", said["input"], table.vocabulary)
    return Asked(table, ids, node, "input")


def lookup(source: Source, said: Reading) -> Lookup | None:
    """The vocabulary and the embedding of a mapping; None where it has no embedding. Raises ProblemError."""
    if "embedding" not in said:
        return None
    given: Vectors = said["embedding"]
    name = "vocabulary" if "vocabulary" in said else "embedding"
    vocabulary: tuple[str, ...] | None = said["vocabulary"] or given.words
    has_words = vocabulary is not None
    if vocabulary is None and isinstance(given.given, Matrix):
        vocabulary = tuple(map(str, range(len(given.given.values))))  # words are known by their ids
    if vocabulary is None:
        raise source.error(said.at("embedding"), "vocabulary", "missing", _EXAMPLES["vocabulary"])
    _check_once(source, said.at(name), name, vocabulary)
    at = said.at("embedding")
    vectors = _in_order(source, at, "embedding", given, vocabulary)
    operand = Operand("embedding", "embedding", at, vectors, ("vocabulary", "d_model"))
    return Lookup(vocabulary, said.at(name), name, operand, has_words)


def _check_once(source: Source, node: Node, path: str, vocabulary: tuple[str, ...]) -> None:
    twice = [word for word, count in Counter(vocabulary).items() if count > 1]
    if twice:
        at = node.items[len(vocabulary) - 1 - vocabulary[::-1].index(twice[0])] if isinstance(node, ListNode) else node
        what = f"{named(twice)} {'stands' if len(twice) == 1 else 'stand'} there twice"
        raise source.error(at, path, what, "a word has one id")


def _in_order(source: Source, node: Node, path: str, given: Vectors, vocabulary: tuple[str, ...]) -> Given:
    """The rows in the order of the vocabulary."""
    if given.words is None or given.words == vocabulary:
        return given.given
    for what, some, others in (("no row for", vocabulary, given.words), ("rows for", given.words, vocabulary)):
        odd = [word for word in some if word not in others]
        if odd:
            hint = "give each word its row" if some is vocabulary else "the vocabulary has no such word"
            raise source.error(node, path, f"{what} {named(odd)}", hint)
    assert isinstance(given.given, Matrix) and given.given.written is not None
    order = [given.words.index(word) for word in vocabulary]
    return Matrix(given.given.values[order], given.given.written[order])
