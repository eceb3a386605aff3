"""How the keys of an attention go together: which are of use, what size each matrix has, which labels there must be."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from attncalc.problem import embedding, positions
from attncalc.problem.heads import Heads
from attncalc.problem.schema import Reading
from attncalc.problem.sizes import Fact, Mismatch, Operand, Sizes
from attncalc.problem.source import Source, counted, look_alike
from attncalc.problem.starts import FROM_H_AT_ONCE, WEIGHTS, Start, cut_in_three, dimensions, operands

MOST_NAMED = 5  # sides that don't fit, besides the first


def check_keys(source: Source, said: Reading, start: Start, heads: Heads) -> None:
    """Refuse what has no meaning where the calculation starts. Raises ProblemError."""
    first = start.needs[0] if start.needs else "heads"
    if start.name == "A":
        for name in ("scale", "d_k", "softcap"):
            if name in said:
                raise source.error(said.at(name), name, "not used where A is given", "leave it out")
    _check_scores(source, said, start, heads)
    if start.name == "S" and said["scale"].kind == "sqrt_d_k" and said["d_k"] is None:
        raise source.error(said.at("S"), "d_k", "missing",
                           "S is divided by √d_k: give d_k, or scale: none if that is done")  # fmt: skip
    if start.name in ("S", "A") and heads.count > 1:
        what = f"{heads.count}, but {first} is that of one head"
        raise source.error(said.at("heads"), "heads", what, "give Q, K and V, or H and weights")
    for name in ("W_O", "query_mask"):
        if name in said and start.name != "H" and "V" not in said:
            raise source.error(said.at(name), name, "not used where no V is given", "give V, or leave it out")
    if "b_O" in said and "W_O" not in said:
        raise source.error(said.at("b_O"), "b_O", "not used without W_O", "give W_O; W_O: identity changes nothing")
    if said["orientation"] == "out-in" and not heads.each and not any(name in said for name in WEIGHTS):
        raise source.error(said.at("orientation"), "orientation", "not used where no weights are given", "leave it out")
    if said["split"] == "input":
        _check_split(source, said, start, heads)
    _check_memory(source, said, start)
    _check_position(source, said, start)
    if "tokens" in said and "input" in said:
        what = "can't be given together with input"
        raise source.error(said.at("tokens"), "tokens", what, "the words of input are the labels")


def _check_scores(source: Source, said: Reading, start: Start, heads: Heads) -> None:
    for name in ("scores", "v_a"):
        if name in said and start.name in ("S", "A"):
            raise source.error(said.at(name), name, f"not used where {start.name} is given", "leave it out")
    if "v_a" not in said:
        return
    if said["scores"] == "dot":
        raise source.error(said.at("v_a"), "v_a", "not used with scores: dot", "say scores: additive, or leave it out")
    if heads.count > 1:
        what = f"that of one head, but there are {heads.count}"
        raise source.error(said.at("v_a"), "v_a", what, "leave it out: the terms are added as they are")


def _check_position(source: Source, said: Reading, start: Start) -> None:
    asked: positions.Asked = said["position"]
    if asked.kind == "none" or start.name == "H" or (asked.kind == "rotary" and start.name == "QKV"):
        return
    changed = "queries and keys" if asked.kind == "rotary" else "H"
    what = f"{asked.kind} changes {changed}, but {start.needs[0]} is given"
    raise source.error(said.at("position"), "position", what, "leave it out")


def _check_split(source: Source, said: Reading, start: Start, heads: Heads) -> None:
    if start.name != "H":
        raise source.error(said.at("split"), "split", "not used where H is not given", "leave it out")
    if heads.count > 1 and not heads.each:
        what = f"input needs a list of heads, but heads is {heads.count}"
        raise source.error(said.at("split"), "split", what, "write heads: [{W_Q: .., W_K: .., W_V: ..}, ..]")
    if heads.kv_count < heads.count:
        what = f"input gives each head its own keys, but kv_heads is {heads.kv_count} for {heads.count} heads"
        raise source.error(said.at("split"), "split", what, "leave kv_heads or split out")


def _check_memory(source: Source, said: Reading, start: Start) -> None:
    if "memory" not in said:
        return
    memory: Reading = said["memory"]
    if start.name != "H" and "H" in memory:
        raise source.error(memory.at("H"), "memory.H", f"not used where {start.needs[0]} is given", "leave it out")
    if start.name == "H" and "H" not in memory:
        raise source.error(said.at("memory"), "memory", "no H of its own",
                           "give memory: {H: [..]}, which keys and values come from, or Q, K and V")  # fmt: skip
    if start is FROM_H_AT_ONCE:
        what = "can't be given together with memory: H gives the queries, memory.H keys and values"
        raise source.error(said.at("W_QKV"), "W_QKV", what, "give W_Q, W_K and W_V")
    if "H" not in memory and memory["tokens"] is None:
        raise source.error(said.at("memory"), "memory", "says nothing", "write {tokens: [..]}")


class Inputs(NamedTuple):
    """What an attention within a layer works on: n rows of width d_model; keys and values from the same rows, or from m
    of a memory, of width d_memory."""

    n: Fact
    d_model: Fact
    m: Fact | None = None
    d_memory: Fact | None = None

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in (self.n, self.d_model, self.m, self.d_memory) if fact)


def fitted(
    source: Source, said: Reading, start: Start, heads: Heads, inputs: Inputs | None = None,
    words: embedding.Asked | None = None,
) -> Sizes:  # fmt: skip
    """All matrices with their sizes; `inputs`: within a layer. Raises one ProblemError for all that does not fit."""
    position: positions.Asked = said["position"]
    memory: Reading | None = said["memory"]
    given = [*(words.operands if words else []), *operands(start, said, heads), *said["mask"].operands()]
    given += position.operands()
    for part, axis in ((said["padding"], "m"), (said["query_mask"], "n")):
        if part is not None:
            given.append(Operand(part.name, part.path, part.node, part.given, ("one", axis)))
    sizes = Sizes(
        source,
        given,
        dimensions(heads, memory=bool(inputs.m if inputs else memory and "H" in memory), from_H=start.name == "H",
                   sliced=said["split"] == "input"),
        dividers={name: (said.at(at), at) for name in ("heads", "kv_heads")
                  if (at := name if name in said else "heads") in said},
        settled=inputs.facts if inputs else (),
        facts=(*_facts(said, memory), *(words.facts if words else [])),
        defaults=(("d_v", "d_k"), ("d_out", "d_model"), ("positions", "n")),
        derive=partial(cut_in_three, heads=heads, d_k=said["d_k"]),
    )  # fmt: skip
    sizes.solve()
    found = [*labels_mismatched(said, memory, sizes), *(words.mismatches(sizes) if words else []), *sizes.mismatches(),
             *_d_k(said, heads, sizes), *position.mismatches(sizes)]  # fmt: skip
    if found:
        first, *others = found
        what = "; ".join([first.what, *(f"{other.path}: {other.what}" for other in others[:MOST_NAMED])])
        what += f"; and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        hint = look_alike("".join(said["tokens"])) if first.path == "tokens" else ""  # 我，爱 is one token
        raise source.error(first.node, first.path, what, hint)
    return sizes


def check_labels(source: Source, said: Reading, sizes: Sizes) -> None:
    """Tokens are those of the queries; keys that are others need labels too."""
    memory: Reading | None = said["memory"]
    if "tokens" not in said or (memory and memory["tokens"] is not None):
        return
    keys = sizes["m"]
    if sizes["n"] != keys or (memory and "H" in memory):
        what = f"labels for the rows, but none for {counted(keys, 'key')}"
        raise source.error(said.at("tokens"), "tokens", what, "add memory: {tokens: [..]}, or leave tokens out")


def _facts(said: Reading, memory: Reading | None) -> list[Fact]:
    found = [Fact("one", 1, "it is one row")]
    if said["tokens"] is not None:
        found.append(Fact("n", len(said["tokens"]), f"tokens has {counted(len(said['tokens']), 'label')}"))
    if memory and memory["tokens"] is not None:
        found.append(Fact("m", len(memory["tokens"]), f"memory.tokens has {counted(len(memory['tokens']), 'label')}"))
    if said["d_k"] is not None:
        found.append(Fact("d_k", said["d_k"], f"d_k is {said['d_k']}"))
    return found


def labels_mismatched(said: Reading, memory: Reading | None, sizes: Sizes) -> list[Mismatch]:
    """More or fewer labels than rows: those of `said`, n, and of a memory, m."""
    found = []
    for path, reading, dimension in (("tokens", said, "n"), ("memory.tokens", memory, "m")):
        if reading is not None and reading["tokens"] is not None and len(reading["tokens"]) != sizes[dimension]:
            what = f"{counted(len(reading['tokens']), 'label')}, but {sizes.origin(dimension).shown}"
            found.append(Mismatch(reading.at("tokens"), path, what))
    return found


def _d_k(said: Reading, heads: Heads, sizes: Sizes) -> list[Mismatch]:
    if said["d_k"] is None or sizes.get("d_k") in (None, said["d_k"]):
        return []
    shown = sizes.origin("d_k").shown
    for operand in sizes.operands:
        if operand.name in ("W_K", "K"):
            shown = f"{operand.path} has {operand.shown(operand.axes.index('k'))}"
            shown += f" for {heads.kv_count} heads" if heads.kv_count > 1 else ""
    return [Mismatch(said.at("d_k"), "d_k", f"{said['d_k']}, but {shown}")]
