"""How a solution is shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from attncalc.rounding import Rule


@dataclass(frozen=True)
class Show:
    """What a problem asks for of its page (`show:`)."""

    rule: Rule = field(default_factory=Rule)
    count_from: int = 1  # or 0
    detail: str | None = None  # full, matrices or result; None: nothing said
    weighted_sum: str = "components"  # or vectors
    exponentials: str = "list"  # or equations
    shift: str = "needed"  # or max

    def changed(self, **changes: Any) -> Show:
        """A Show with some fields, of its own or of its rule, set anew; None leaves a field as it is.

        `decimals` replaces the whole mapping of decimals. The values are the caller's to check.
        """
        changes = {name: value for name, value in changes.items() if value is not None}
        if "decimals" in changes:
            changes = {"by_step": {}, "asked": True, **changes}
        of_rule = {each.name: changes.pop(each.name) for each in fields(Rule) if each.name in changes}
        return replace(self, **{"rule": replace(self.rule, **of_rule), **changes})
