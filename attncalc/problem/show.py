"""`show:`: what is asked for of the page, as data."""

from __future__ import annotations

import re

from attncalc.problem.nodes import MapNode, Node, is_empty
from attncalc.problem.readers import choice, whole
from attncalc.problem.schema import Key, Reading, Table
from attncalc.problem.source import Source, short
from attncalc.rounding import Rule
from attncalc.show import Show

MOST_DECIMALS = 12
_step_id = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*").fullmatch
_decimals = whole(0, MOST_DECIMALS)


def decimals(source: Source, node: Node, path: str) -> tuple[int | None, dict[str, int]]:
    """A whole number, or a mapping of `default` and step ids: (the default or None, decimals by step)."""
    if not isinstance(node, MapNode):
        return _decimals(source, node, path), {}
    by_step: dict[str, int] = {}
    for name, entry in node.entries.items():
        if not _step_id(name):
            raise source.error(entry.key, path, f"{short(name)} is not the id of a step", "ids look like S or head1.A")
        if is_empty(entry.value):
            raise source.error(entry.key, f"{path}.{name}", "empty", "give its decimals")
        by_step[name] = _decimals(source, entry.value, f"{path}.{name}")
    return by_step.pop("default", None), by_step


KEYS = Table((
    Key("decimals", decimals, (None, {}),
        f"decimals of every figure, 0 to {MOST_DECIMALS}, or a mapping: default, and steps by id or its last part"),
    Key("rounding", choice("exact", "carried"), "exact",
        "exact: only what is shown is rounded; carried: the next step uses the rounded figures"),
    Key("ties", choice("half-up", "half-even"), "half-up", "where a figure halfway between two is rounded to"),
    Key("weights", choice("plain", "sum-to-one"), "plain",
        "plain: each weight is rounded alone; sum-to-one: the shown weights of a row add up to 1"),
    Key("numbers", choice("trimmed", "fixed"), "trimmed",
        "trimmed: exact figures are printed bare; fixed: every figure has all its decimals"),
    Key("count_from", whole(0, 1), 1, "0 or 1: the first index of rows and columns in prose and messages"),
    Key("detail", choice("full", "matrices", "result"), None,
        "full: the working of every cell; matrices: the matrices; result: the last one"),
    Key("weighted_sum", choice("components", "vectors"), "components", "how the weighted sum of values is worked"),
    Key("exponentials", choice("list", "equations"), "list", "how the exponentials of a row are set"),
    Key("shift", choice("needed", "max"), "needed", "max: the row's maximum is always subtracted before e^x"),
))  # fmt: skip


def show(source: Source, node: Node, path: str) -> Show:
    """The Show of a `show:` mapping."""
    said: Reading = KEYS.read(source, node, path)
    default, by_step = said["decimals"]
    of_rule = {name: said[name] for name in ("rounding", "ties", "weights", "numbers")}
    of_show = {name: said[name] for name in ("count_from", "detail", "weighted_sum", "exponentials", "shift")}
    decimals = Rule().decimals if default is None else default
    return Show(Rule(decimals=decimals, asked=default is not None, by_step=by_step, **of_rule), **of_show)
