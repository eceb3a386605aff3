"""The shapes of a model's figures, as boxes from bottom to top: Vaswani et al. 2017, figure 1."""

from __future__ import annotations

from collections.abc import Mapping

from attncalc.expr import name
from attncalc.problem.size import Size
from attncalc.solution import Box, Stack
from attncalc.steps import Step

Known = Mapping[str, Step]  # the numbers of a model, by their keys

# What may be stated of a model, and its letter.
LETTERS = {
    "encoder_layers": "L_e", "layers": "L", "d_model": "d_model", "heads": "heads", "kv_heads": "kv_heads",
    "d_k": "d_k", "latent": "d_c", "d_ff": "d_ff", "vocabulary": "V", "positions": "N_max", "experts": "E",
    "top_k": "k", "batch": "B", "length": "N", "memory_length": "M", "window": "W", "window_layers": "L_W",
    "bytes": "b",
}  # fmt: skip


def stacks(given: Size, known: Known) -> tuple[Stack, ...]:
    """The one stack of a model, or its encoder and its decoder."""
    own = _Stack(given, known, "length")
    if given.skeleton != "encoder-decoder":
        return (own.stack(given.skeleton),)
    encoder = _Stack(given, known, "memory_length")
    return encoder.stack("encoder"), own.stack("decoder", over="memory_length")


class _Stack:
    """Makes the boxes of a stack whose sequence is as long as `length` says."""

    def __init__(self, given: Size, known: Known, length: str) -> None:
        self.given, self.known, self.length = given, known, length

    def stack(self, key: str, over: str = "") -> Stack:
        """`over`: the length of what the cross-attention looks at, in a decoder that has one."""
        given, known = self.given, self.known
        layer = [*self.attention(), *(self.attention(over, "cross_") if over else []), *self.transformation()]
        below = [*([self.row("ids")] if given.vocabulary else []), *self.token("embedded")]
        above = [self.row("scores", "vocabulary")] if given.vocabulary and key == "decoder" else []
        layers = known["encoder_layers" if key == "encoder" and "encoder_layers" in known else "layers"]
        return Stack(key, layers, tuple(below), tuple(layer), tuple(above))

    def box(self, key: str, *sides: str, takes_memory: bool = False) -> Box:
        return Box(key, tuple(self.known.get(side) or name(LETTERS[side]) for side in sides), takes_memory)

    def row(self, key: str, *sides: str) -> Box:
        """[B, N] and more: something of each token."""
        return self.box(key, "batch", self.length, *sides)

    def token(self, key: str) -> list[Box]:
        """[B, N, d_model], where it is known how wide a token is."""
        return [self.row(key, "d_model")] if self.given.d_model else []

    def attention(self, over: str = "", prefix: str = "") -> list[Box]:
        """[B, N, d_model] to [B, heads, N, d_k] and back."""
        if not self.given.heads:
            return []
        rows, keys = self.length, over or self.length
        return [
            self.box(f"{prefix}queries", "batch", "heads", rows, "d_k"),
            self.box(f"{prefix}keys", "batch", "kv_heads", keys, "d_k", takes_memory=bool(over)),
            self.box(f"{prefix}weights", "batch", "heads", rows, keys),
            self.row("concat", "concat"),
            *(self.token("projected") if self.given.W_O else []),
        ]

    def transformation(self) -> list[Box]:
        """[B, N, d_model] to [B, N, d_ff] and back, or through the experts that a token is sent to."""
        given = self.given
        chosen = ("top_k" if given.top_k else "experts",) if given.experts else ()
        return [
            *([self.row("router", "experts")] if given.experts and given.d_model else []),
            *([self.row("hidden", *chosen, "d_ff")] if given.d_ff else []),
            *(self.token("transformed") if given.d_ff or given.experts else []),
        ]
