"""How a solution is shown."""

from __future__ import annotations

from typing import Any, NamedTuple

from attncalc.rounding import Rule


class Show(NamedTuple):
    """What a problem asks for of its page (`show:`)."""

    rule: Rule = Rule()
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
        of_rule = {name: changes.pop(name) for name in Rule._fields if name in changes}
        return self._replace(**{"rule": self.rule._replace(**of_rule), **changes})
