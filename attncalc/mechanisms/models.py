"""The three skeletons of a Transformer (Vaswani et al. 2017, section 3): an encoder, a decoder, and an encoder with a
decoder that looks at what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attncalc.mechanisms import layers, norms, output
from attncalc.mechanisms.cache import Cache
from attncalc.mechanisms.embedding import looked_up, stated_ids, table
from attncalc.mechanisms.generation import generated
from attncalc.mechanisms.loss import loss, targets
from attncalc.mechanisms.positions import added, learned
from attncalc.mechanisms.projections import Parts
from attncalc.problem.models import Model, Stack
from attncalc.problem.positions import Learned
from attncalc.problem.rotary import Rotary
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step


def model(sheet: Sheet, given: Model, show: Show) -> Step:
    """What comes out last: rows, n × d; or probabilities of words, n × V; or a loss; or the ids that are generated."""
    sheet.convention("start", "model")
    memory = None
    for name, stack in (("encoder", given.encoder), ("decoder", given.decoder)):
        if stack is None:
            continue
        if given.encoder and given.decoder:
            with sheet.group(name, prefix=name):
                out = _Stack(sheet, stack, show, memory, name=name).worked()
                if stack is given.encoder:
                    memory = _remembered(sheet, out)
        else:
            out = _Stack(sheet, stack, show).worked()
    return out


def _remembered(sheet: Sheet, out: Step) -> Step:
    """What comes out of the encoder, n × d, under the name that the decoder knows it by: its own rows have the same
    symbols as the encoder's."""
    with sheet.group("memory"):
        rows = Axis(out.rows.labels if out.rows else None, "key")
        symbol = sheet.symbol("H_memory")
        return sheet.arrange("memory", lambda cells: cells, out, symbol=symbol, rows=rows, role="memory")


class _Weights(NamedTuple):
    """What a problem states of a stack, as steps."""

    embedding: Step | None
    positions: Step | None  # learned
    layers: Mapping[int, list[layers.Stated]]
    final_norm: Parts
    output: Parts


class _Stack:
    """A stack at work: its matrices, stated once, serve every pass."""

    def __init__(
        self, sheet: Sheet, given: Stack, show: Show, memory: Step | None = None, *, name: str = ""
    ) -> None:  # fmt: skip
        self.sheet, self.given, self.show, self.memory = sheet, given, show, memory
        self.several = len(given.layers) > 1
        self.start: Step | None = None
        self._conventions(name)
        with sheet.group("given"):
            self.weights = self._stated()

    def worked(self) -> Step:
        """The pass over the input, with its loss where there are targets; and what is generated."""
        sheet, given = self.sheet, self.given
        out = P = None
        if given.has_input:
            rows = Axis(given.tokens)
            out = self.passed(self.start or self._ids(rows), rows)
            if given.output:
                out = P = self.predicted(out)
            if given.targets and P:
                with sheet.group("loss", prefix="loss"):
                    out = loss(sheet, P, targets(sheet, given.targets, P.rows), sees=True)
        if given.generate:
            out = generated(sheet, given.generate, self, P)
        assert out
        return out

    def passed(self, ids_or_H: Step, rows: Axis, past: int = 0, caches: list[list[Cache]] | None = None) -> Step:
        """Ids, or rows H, through the whole stack: n × d. `past` is the position of the first row; with `caches`, one a
        part of each layer, keys and values from before are not computed anew."""
        sheet, given, weights = self.sheet, self.given, self.weights
        x = ids_or_H
        if weights.embedding is not None and ids_or_H is not self.start:
            x = looked_up(sheet, weights.embedding, ids_or_H, rows)
        if given.position and not isinstance(given.position, Rotary):
            x = added(sheet, x, given.position, past, weights.positions)
        for number, one in enumerate(given.layers, 1):
            with layers.of_layer(sheet, number, several=self.several):
                of_layer = caches[number - 1] if caches else None
                x = layers.layer(sheet, x, one, weights.layers[one.number], self.show, self.memory, of_layer)
        if given.final_norm:
            x = norms.norm(sheet, x, given.final_norm, weights.final_norm, "N", "final_norm", "final_norm")
        return x

    def predicted(self, x: Step) -> Step:
        """The probabilities of the words of a vocabulary, n × V, from the last rows."""
        assert self.given.output
        with self.sheet.group("output_of_model", prefix="output"):
            return output.predicted(self.sheet, x, self.given.output, self.weights.output, self.show)

    def _ids(self, rows: Axis) -> Step:
        assert self.given.words
        with self.sheet.group("words"):
            return stated_ids(self.sheet, self.given.words, rows)

    def _stated(self) -> _Weights:
        sheet, given = self.sheet, self.given
        E = P = None
        if given.H:
            self.start = sheet.given("H", given.H, rows=Axis(given.tokens), role="input")
        if given.words:
            E = table(sheet, given.words)
        if isinstance(given.position, Learned):
            P = learned(sheet, given.position)
        if given.memory:
            rows = Axis(given.memory_tokens, "key")
            symbol = sheet.symbol("H_memory")
            self.memory = sheet.given("memory", given.memory, symbol=symbol, rows=rows, role="memory")
        each = layers.stated(sheet, given.layers, several=self.several)
        final: Parts = {}
        if given.final_norm and (given.final_norm.gain or given.final_norm.bias):
            with sheet.group("final_norm", prefix="final_norm"):
                final = norms.stated(sheet, given.final_norm)
        out: Parts = {}
        if given.output:
            with sheet.group("output_of_model", prefix="output"):
                out = output.stated_of_model(sheet, given.output, E)
        return _Weights(E, P, each, final, out)

    def _conventions(self, name: str) -> None:
        layers.conventions(self.sheet, self.given.layers, name)
        if self.given.final_norm:
            norms.conventions(self.sheet, self.given.final_norm)
        if self.given.output:
            output.conventions(self.sheet, self.given.output)
