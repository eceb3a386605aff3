"""`kind: encoder`, `kind: decoder` and `kind: encoder-decoder`: stacks of layers, from words to words."""

from __future__ import annotations

from typing import NamedTuple

import yaml

from attncalc.problem import embedding, positions
from attncalc.problem.attention import MEMORY_KEYS
from attncalc.problem.embedding import Words
from attncalc.problem.fitting import Inputs, labels_mismatched
from attncalc.problem.generation import GENERATE, Generation, generation
from attncalc.problem.layers import FINAL_NORM, Layer, Rows, layers, norm_of, stacked
from attncalc.problem.mask_entries import padding
from attncalc.problem.matrices import matrix
from attncalc.problem.nodes import Entry, MapNode, Node
from attncalc.problem.norms import Norm
from attncalc.problem.output import OUTPUT, Output, output_of_model
from attncalc.problem.positions import Position, position
from attncalc.problem.readers import labels, none_of, scalar
from attncalc.problem.rotary import Rotary
from attncalc.problem.rows import fitted, needed, operands
from attncalc.problem.schema import Key, Kind, Reading, Table, nested
from attncalc.problem.sizes import Fact, Operand, Sizes
from attncalc.problem.source import Source, counted
from attncalc.problem.words import ids_of
from attncalc.steps import Matrix


class Stack(NamedTuple):
    """An encoder or a decoder: n rows of width d_model, from words or as H, through layers; what isn't given is None.

    `words` hold the vocabulary: their ids are the input, or where there is none those that generation starts from.
    `memory` is what a decoder by itself looks at, m rows.
    """

    tokens: tuple[str, ...] | None
    words: Words | None
    H: Matrix | None
    has_input: bool
    position: Position
    layers: tuple[Layer, ...]
    final_norm: Norm | None = None
    output: Output | None = None
    targets: tuple[int, ...] | None = None  # n ids of the words that are to be predicted
    generate: Generation | None = None
    memory: Matrix | None = None
    memory_tokens: tuple[str, ...] | None = None


class Model(NamedTuple):
    """One stack, or an encoder and a decoder that looks at what comes out of it."""

    encoder: Stack | None = None
    decoder: Stack | None = None


def _output(source: Source, node: Node, path: str) -> Reading:
    """`tied`, or a mapping."""
    if isinstance(node, MapNode):
        return OUTPUT.read(source, node, path)
    word = scalar(source, node, path, "tied, or {W: ..}")
    if word != "tied":
        raise none_of(source, node, path, word, ("tied", "{W: [..]}"))
    assert isinstance(node, yaml.ScalarEvent)
    said = MapNode(node)
    said.entries["tied"] = Entry(node, node)
    return OUTPUT.read(source, said, path)


_ROWS = Table((
    Key("tokens", labels, None, "labels of the rows, where H is given"),
    Key("H", matrix, None, "the rows that go in, n × d_model, instead of words"),
    *embedding.KEYS.keys,
    Key("position", position, positions.NOTHING, "none, sinusoidal, rotary; or a mapping with a kind"),
    Key("padding", padding, None, "one entry a row: 1 for a token, 0 for padding, which nothing sees"),
    Key("layers", layers, (), "a list of layers, from the first"),
    Key("final_norm", nested(FINAL_NORM), None, "{kind, eps, gain, bias ..}: a norm after the last layer"),
    Key("output", _output, None, "{W: M, b: .., temperature: ..} or tied: from the last rows to words"),
    Key("targets", labels, None, "the words, or ids, that each row is to predict"),
))  # fmt: skip
_DECODER = _ROWS + Table((
    Key("generate", nested(GENERATE), None, "{from: [<s>], steps: 5, stop: <eos>, ..}: how it goes on by itself"),
))  # fmt: skip
ENCODER = _ROWS
DECODER = _DECODER + Table((
    Key("memory", nested(MEMORY_KEYS), None, "{tokens: [..], H: [..]}: what cross-attention looks at"),
))  # fmt: skip
ENCODER_DECODER = Table((
    Key("encoder", nested(ENCODER), None, "the keys of an encoder"),
    Key("decoder", nested(DECODER), None, "the keys of a decoder, whose cross-attention looks at the encoder"),
))  # fmt: skip


def encoder(source: Source, said: Reading) -> Model:
    """The encoder that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    return Model(encoder=_Stack(source, said, causal=False).checked())


def decoder(source: Source, said: Reading) -> Model:
    """The decoder that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    return Model(decoder=_Stack(source, said, causal=True).checked())


def encoder_decoder(source: Source, said: Reading) -> Model:
    """Both. Raises ProblemError where keys or shapes don't go together."""
    for name in ("encoder", "decoder"):
        if name not in said:
            raise source.error(said.node, name, "missing", f"write {name}: and its keys, indented")
    below = _Stack(source.inside("encoder"), said["encoder"], causal=False)
    encoder = below.checked()
    for name in ("output", "targets"):
        if name in said["encoder"]:
            at = said["encoder"].at(name)
            raise source.error(at, f"encoder.{name}", "not used beside a decoder, which predicts", "leave it out")
    if "memory" in said["decoder"]:
        at = said["decoder"].at("memory")
        raise source.error(at, "decoder.memory", "not used beside an encoder", "leave it out: the encoder gives it")
    above = _Stack(source.inside("decoder"), said["decoder"], causal=True, memory=below)
    return Model(encoder, above.checked())


class _Stack:
    """A stack while it is checked: its reading and its sizes."""

    def __init__(self, source: Source, said: Reading, *, causal: bool, memory: _Stack | None = None) -> None:
        self.source, self.said, self.causal = source, said, causal
        needed(source, said, "layers", "a list of layers")
        self.words = embedding.asked(source, said) if "input" in said else None
        self.lookup = self.words.lookup if self.words else embedding.lookup(source, said)
        self.generate = self._generation()
        if self.generate and "H" in said:
            what = "not used with generate, which starts from words"
            raise source.error(said.at("H"), "H", what, "give input, or leave it out")
        if self.generate and "padding" in said:
            what = "not used with generate, where rows grow in number"
            raise source.error(said.at("padding"), "padding", what, "leave it out")
        if self.words and "H" in said:
            raise source.error(said.at("H"), "H", "can't be given together with input", "keep one of them")
        if not self.words and not self.generate:
            needed(source, said, "H", "[[1, 0], [0, 1]], or vocabulary, embedding and input")
        self.sizes = self._sizes()
        self.facts = {name: Fact(name, self.sizes[name], self.sizes.origin(name).shown)
                      for name in ("n", "d_model", "m", "d_memory") if self.sizes.get(name)}  # fmt: skip
        self.matrices = {operand.name: operand.matrix for operand in self.sizes.operands}
        if memory is not None:
            n, d = memory.facts["n"].size, memory.facts["d_model"].size
            self.facts["m"] = Fact("m", n, f"the encoder has {counted(n, 'row')}")
            self.facts["d_memory"] = Fact("d_memory", d, f"the encoder gives rows of width {d}")
        self.memory = memory

    def _generation(self) -> Generation | None:
        said = self.said
        if "generate" not in said.values or said["generate"] is None:
            return None
        for name, there in (("embedding", self.lookup), ("output", said["output"])):
            if there is None:
                raise self.source.error(said.at("generate"), name, "missing", "words come from an embedding and an "
                                        "output")  # fmt: skip
        assert self.lookup
        return generation(self.source.inside("generate"), said["generate"], self.lookup)

    def _sizes(self) -> Sizes:
        source, said = self.source, self.said
        given = operands(said, {"H": ("n", "d_model")})
        facts: list[Fact] = []
        if self.lookup:
            given.append(self.lookup.operand)
            facts.append(self.lookup.fact)
        if self.words:
            facts += [fact for fact in self.words.facts if fact.dimension == "n"]
        elif self.generate:
            longest = self.generate.longest
            facts.append(Fact("n", longest, f"generate has {counted(longest, 'position')}"))
        asked: positions.Asked = said["position"]
        given += asked.operands()
        if said["padding"] is not None:
            each = said["padding"]
            given.append(Operand(each.name, each.path, each.node, each.given, ("one", "n")))
        memory: Reading | None = said.values.get("memory")
        if memory is not None:
            needed(source.inside("memory"), memory, "H", "[[1, 0], [0, 1]]")
            given.append(Operand("memory.H", "memory.H", memory.at("H"), memory["H"], ("m", "d_memory")))
            if not any("cross_attention" in layer for layer in said["layers"]):
                what = "not used where no layer has a cross_attention"
                raise source.error(said.at("memory"), "memory", what, "give one cross_attention: {..}, or leave it out")
        sizes = fitted(source, said, given, labels=(("tokens", "n"),), facts=facts, defaults=[("positions", "n")])
        mismatches = [*(self.words or self.lookup).mismatches(sizes)] if self.lookup else []
        mismatches += labels_mismatched(said, memory, sizes)
        for mismatch in (*mismatches, *asked.mismatches(sizes)):
            raise source.error(mismatch.node, mismatch.path, mismatch.what)
        if self.generate and asked.kind == "learned" and sizes["positions"] < self.generate.longest:
            what = f"{self.generate.longest} positions, but {sizes.origin('positions').shown}"
            raise source.error(said.at("generate"), "generate.steps", what, "take fewer steps")
        return sizes

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        """The words: of the embedding, or of the output alone."""
        if self.lookup:
            return self.lookup.vocabulary
        words: tuple[str, ...] | None = self.said["vocabulary"]
        return words

    @property
    def padding(self) -> Matrix | None:
        return self.matrices.get("padding")

    def checked(self) -> Stack:
        """The Stack. Raises ProblemError where something doesn't fit."""
        source, said, facts = self.source, self.said, self.facts
        asked: positions.Asked = said["position"]
        found = asked.position(self.sizes)
        rows = Rows(
            Inputs(facts["n"], facts["d_model"], facts.get("m"), facts.get("d_memory")),
            self.causal,
            self.padding,
            self.memory.padding if self.memory else None,
            asked if isinstance(found, Rotary) else None,
            longest=self.generate.longest if self.generate else 0,
        )
        final, output = said["final_norm"], self._output()
        memory: Reading | None = said.values.get("memory")
        return Stack(
            tokens=said["tokens"] or (self.words.words.tokens if self.words else None),
            words=self.words.words if self.words else self._start(),
            H=self.matrices.get("H"),
            has_input=self.words is not None or "H" in said,
            position=found,
            layers=stacked(source, said["layers"], rows),
            final_norm=final and norm_of(source.inside("final_norm"), final, facts["d_model"]),
            output=output,
            targets=self._targets(output),
            generate=self.generate,
            memory=self.matrices.get("memory.H"),
            memory_tokens=memory["tokens"] if memory else None,
        )

    def _start(self) -> Words | None:
        """The words that generation starts from, where nothing else goes in."""
        if self.generate is None or self.lookup is None or "H" in self.said:
            return None
        return self.lookup.words(self.generate.start)

    def _output(self) -> Output | None:
        said: Reading | None = self.said["output"]
        if said is None:
            return None
        words, tied = self.vocabulary, self.lookup is not None
        fact = self.lookup.fact if self.lookup else None
        if fact is None and words:
            fact = Fact("vocabulary", len(words), f"vocabulary has {counted(len(words), 'word')}")
        return output_of_model(self.source.inside("output"), said, self.facts["d_model"], words, fact, may_tie=tied)

    def _targets(self, output: Output | None) -> tuple[int, ...] | None:
        said, source = self.said, self.source
        if "targets" not in said:
            return None
        node = said.at("targets")
        if output is None:
            raise source.error(node, "output", "missing", "targets are predicted by an output")
        ids = ids_of(source, node, "targets", said["targets"], self.vocabulary, output.words)
        if len(ids) != self.facts["n"].size:
            what = f"{counted(len(ids), 'target')}, but {self.facts['n'].shown}"
            raise source.error(node, "targets", what, "give one for each row: the word that comes next")
        return ids


PROBLEMS = {
    "encoder": Kind(ENCODER, encoder),
    "decoder": Kind(DECODER, decoder),
    "encoder-decoder": Kind(ENCODER_DECODER, encoder_decoder),
}
