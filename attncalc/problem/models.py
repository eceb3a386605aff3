"""`kind: encoder`, `kind: decoder` and `kind: encoder-decoder`: stacks of layers, from words to words."""

from __future__ import annotations

from dataclasses import dataclass

from attncalc.problem.attention import MEMORY_KEYS
from attncalc.problem.fitting import Inputs
from attncalc.problem.layers import FINAL_NORM, Layer, Rows, layers, norm_of, stacked
from attncalc.problem.mask_entries import padding
from attncalc.problem.matrices import matrix
from attncalc.problem.norms import Norm
from attncalc.problem.readers import labels
from attncalc.problem.rows import fitted, needed, operands
from attncalc.problem.schema import Key, Reading, Table, nested
from attncalc.problem.sizes import Fact, Operand
from attncalc.problem.source import Source
from attncalc.steps import Matrix


@dataclass(frozen=True, eq=False)
class Stack:
    """An encoder or a decoder: n rows of width d_model through layers, with a memory of m rows for a decoder that looks
    at one."""

    tokens: tuple[str, ...] | None
    H: Matrix
    layers: tuple[Layer, ...]
    final_norm: Norm | None
    memory: Matrix | None = None
    memory_tokens: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Model:
    """One stack, or an encoder and a decoder that looks at what comes out of it."""

    encoder: Stack | None
    decoder: Stack | None


STACK = Table((
    Key("tokens", labels, None, "labels of the rows"),
    Key("H", matrix, None, "the rows that go in, n × d_model"),
    Key("padding", padding, None, "one entry a row: 1 for a token, 0 for padding, which nothing sees"),
    Key("memory", nested(MEMORY_KEYS), None, "{tokens: [..], H: [..]}: what cross-attention looks at"),
    Key("layers", layers, (), "a list of layers, from the first"),
    Key("final_norm", nested(FINAL_NORM), None, "{kind, eps, gain, bias ..}: a norm after the last layer"),
))  # fmt: skip


def encoder(source: Source, said: Reading) -> Model:
    """The encoder that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    return Model(_stack(source, said, causal=False), None)


def decoder(source: Source, said: Reading) -> Model:
    """The decoder that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    return Model(None, _stack(source, said, causal=True))


def _stack(source: Source, said: Reading, *, causal: bool) -> Stack:
    needed(source, said, "H", "[[1, 0], [0, 1]]")
    needed(source, said, "layers", "a list of layers")
    given = operands(said, {"H": ("n", "d_model")})
    if said["padding"] is not None:
        each = said["padding"]
        given.append(Operand(each.name, each.path, each.node, each.given, ("one", "n")))
    memory: Reading | None = said["memory"]
    if memory is not None:
        needed(source.inside("memory"), memory, "H", "[[1, 0], [0, 1]]")
        given.append(Operand("memory.H", "memory.H", memory.at("H"), memory["H"], ("m", "d_memory")))
    sizes = fitted(source, said, given, labels=(("tokens", "n"),))
    found = {operand.name: operand.matrix for operand in given}
    facts = {name: Fact(name, sizes[name], sizes.origin(name).shown) for name in ("n", "d_model", "m", "d_memory")
             if sizes.get(name)}  # fmt: skip
    inputs = Inputs(facts["n"], facts["d_model"], facts.get("m"), facts.get("d_memory"))
    rows = Rows(inputs, causal, found.get("padding"))
    final = said["final_norm"]
    return Stack(
        said["tokens"],
        found["H"],
        stacked(source, said["layers"], rows),
        final and norm_of(source.inside("final_norm"), final, facts["d_model"]),
        found.get("memory.H"),
        memory["tokens"] if memory else None,
    )
