"""The key/value cache of generation (Pope et al. 2022, section 2.1): what an attention need not compute anew."""

from __future__ import annotations

from dataclasses import dataclass, field

from attncalc.mechanisms.projections import Parts, below
from attncalc.sheet import Sheet
from attncalc.steps import Axis, Step


@dataclass(eq=False, repr=False)
class Cache:
    """Keys and values of one attention: those of each head's own rows so far, and those of a memory, which stay.

    `rows` are the tokens so far, those of this step among them; `past` is how many there were before it.
    """

    rows: Axis = field(default_factory=Axis)
    past: int = 0
    of_head: dict[int, Parts] = field(default_factory=dict)
    of_memory: Parts = field(default_factory=dict)

    def extended(self, sheet: Sheet, h: int, own: Parts) -> Parts:
        """K and V of head h with those from before above them, m × d_k and m × d_v; kept for the next step."""
        before = self.of_head.get(h)
        found = {id: own[id] for id in ("K", "V")}
        if before:
            with sheet.group("cache"):
                found = {id: self._below(sheet, id, before[id], own[id]) for id in found}
        self.of_head[h] = found
        return found

    def _below(self, sheet: Sheet, id: str, before: Step, new: Step) -> Step:
        symbol = sheet.symbol(f"{id}_all")
        return sheet.arrange(f"{id}.all", below, before, new, symbol=symbol, rows=self.rows, role=new.role, how="cache")
