"""The three skeletons of a Transformer: encoder, decoder, and an encoder with a decoder that looks at what comes out of
it."""

from __future__ import annotations

from attncalc.mechanisms import norms
from attncalc.mechanisms.layers import conventions, layer, of_layer, stated
from attncalc.problem.models import Model, Stack
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step


def model(sheet: Sheet, given: Model, show: Show) -> Step:
    """What comes out of the last layer, n × d."""
    sheet.convention("start", "model")
    one = given.encoder or given.decoder
    assert one
    conventions(sheet, one.layers)
    return stack(sheet, one, show)


def stack(sheet: Sheet, given: Stack, show: Show) -> Step:
    """The rows H through every layer, n × d, and the final norm."""
    several = len({one.number for one in given.layers}) > 1 or len(given.layers) > 1
    memory, final = None, {}
    with sheet.group("given"):
        x = sheet.given("H", given.H, rows=Axis(given.tokens), role="input")
        if given.memory:
            rows = Axis(given.memory_tokens, "key")
            memory = sheet.given("memory", given.memory, symbol=sheet.symbol("H_memory"), rows=rows, role="memory")
        weights = stated(sheet, given.layers, several=several)
        if given.final_norm:
            with sheet.group("norm_weights", prefix="final_norm"):
                final = norms.stated(sheet, given.final_norm)
    for number, one in enumerate(given.layers, 1):
        with of_layer(sheet, number, several=several):
            x = layer(sheet, x, one, weights[one.number], show, memory)
    if given.final_norm:
        x = norms.norm(sheet, x, given.final_norm, final, "N", "final_norm")
    return x
