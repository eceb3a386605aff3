"""Where the words of an attention stand: ids looked up, positions added to H, or queries and keys turned by them."""

from __future__ import annotations

from collections.abc import Mapping

from attncalc.mechanisms import rotary
from attncalc.mechanisms.cache import Cache
from attncalc.mechanisms.embedding import looked_up, stated_ids, table
from attncalc.mechanisms.positions import added, learned
from attncalc.mechanisms.projections import Parts
from attncalc.mechanisms.rotary import Stretch, Turn
from attncalc.problem.attention import Attention
from attncalc.problem.positions import Learned
from attncalc.problem.rotary import Rotary
from attncalc.sheet import Sheet
from attncalc.steps import Axis, Step


def words_and_positions(sheet: Sheet, given: Attention, axes: Mapping[str, Axis | None]) -> Parts:
    """The ids, the embedding and the table of positions, where a problem states them."""
    parts: Parts = {}
    if given.words:
        parts["ids"] = stated_ids(sheet, given.words, axes["queries"])
        parts["embedding"] = table(sheet, given.words)
    if isinstance(given.position, Learned):
        parts["table"] = learned(sheet, given.position)
    return parts


def inputs(sheet: Sheet, parts: Parts, given: Attention) -> Parts:
    """H, n × d_model, from words where the problem has them; with positions that are added, X = H + PE in its place."""
    found: Parts = {}
    if given.words:
        found["H"] = looked_up(sheet, parts["embedding"], parts["ids"], parts["ids"].rows)
    if given.position and not isinstance(given.position, Rotary):
        found["H"] = added(sheet, (parts | found)["H"], given.position, P=parts.get("table"))
    return found


def turning(sheet: Sheet, given: Attention, parts: Parts, cache: Cache | None = None) -> dict[str, Turn]:
    """What turns queries and keys by their places; nothing where the problem has no rotary positions."""
    if not isinstance(given.position, Rotary):
        return {}
    queries = parts.get("Q", parts.get("H"))
    keys = parts.get("K", parts.get("memory", parts.get("H")))
    assert queries and keys
    past, start = given.mask.past, given.position.start
    first = cache.past if cache else 0
    stretches = {"Q": Stretch(past, queries.shape[0], queries.rows), "K": Stretch(first, keys.shape[0], keys.rows)}
    if stretches["Q"] == stretches["K"]:
        turn = rotary.turns(sheet, given.position, {"Q": stretches["Q"]})["Q"]
        found = {"Q": turn, "K": turn}
    else:
        found = rotary.turns(sheet, given.position, stretches)
    if past != first:
        sheet.convention("first_places", "at", first_query=start + past, first_key=start)
    return found


def are_alike(x: Step) -> bool:
    """Whether all rows, of which there are several, are the same."""
    return x.shape[0] > 1 and bool((x.values == x.values[0]).all())


def turned(sheet: Sheet, own: Parts, turning: Mapping[str, Turn], shared: Step | None = None) -> Parts:
    """The queries and keys of a head, each turned by its place; `shared`: its keys, where another head turned them."""
    if not turning:
        return {}
    with sheet.group("rotated"):
        found = {"Q": rotary.rotated(sheet, own["Q"], turning["Q"], "Q", "Q")}
        if shared is None:
            found["K"] = rotary.rotated(sheet, own["K"], turning["K"], "K", "K")
        else:
            symbol = sheet.symbol("K_r")
            found["K"] = sheet.arrange(
                "K.rotated", lambda cells: cells, shared, symbol=symbol, rows=shared.rows, role="key"
            )
    return found
