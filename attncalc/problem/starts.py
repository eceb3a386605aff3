"""What an attention can start from, and the dimensions of its matrices: as data, and the checks of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attncalc.errors import ProblemError
from attncalc.problem.heads import Heads
from attncalc.problem.schema import Reading
from attncalc.problem.sizes import Dimension, Operand, Sizes
from attncalc.problem.source import Source, counted, either

PROJECTIONS = ("W_Q", "W_K", "W_V")
WORDS = ("vocabulary", "embedding", "input")  # which give H
WEIGHTS = (*PROJECTIONS, "W_QKV", "W_O")  # whose rows and columns change places with `orientation: out-in`


class Start(NamedTuple):
    """One way in: the keys it needs and may have, besides W_O and b_O."""

    name: str
    needs: tuple[str, ...]
    may: tuple[str, ...]


# H first with its weights in three matrices; then the other ways to give those.
FROM_H = Start("H", ("H", *PROJECTIONS), ("b_Q", "b_K", "b_V"))
FROM_H_AT_ONCE = Start("H", ("H", "W_QKV"), ("b_QKV",))
FROM_H_BY_HEAD = Start("H", ("H",), ())
STARTS = (
    FROM_H,
    Start("QKV", ("Q", "K"), ("V",)),
    Start("S", ("S",), ("V",)),
    Start("A", ("A",), ("V",)),
)
_OWNER = {name: start for start in STARTS for name in (*start.needs, *start.may) if name != "V"}  # V is of three
_OWNER |= dict.fromkeys(("W_QKV", "b_QKV", *WORDS), FROM_H)
_WAYS_IN = "give H with W_Q, W_K and W_V, or Q, K and V, or S and V, or A and V"

# The dimensions of rows and columns, with weights stored in × out. n queries, m keys; one is 1.
AXES: Mapping[str, tuple[str, str]] = {
    "H": ("n", "d_model"), "memory.H": ("m", "d_memory"),
    "W_Q": ("d_model", "q"), "W_K": ("d_memory", "k"), "W_V": ("d_memory", "v"), "W_QKV": ("d_model", "qkv"),
    "b_Q": ("one", "q"), "b_K": ("one", "k"), "b_V": ("one", "v"), "b_QKV": ("one", "qkv"),
    "Q": ("n", "q"), "K": ("m", "k"), "V": ("m", "v"), "S": ("n", "m"), "A": ("n", "m"),
    "v_a": ("one", "d_k"), "W_O": ("concat", "d_out"), "b_O": ("one", "d_out"),
}  # fmt: skip
AXES_OF_HEAD: Mapping[str, tuple[str, str]] = {
    "W_Q": ("slice", "d_k"), "W_K": ("memory_slice", "d_k"), "W_V": ("memory_slice", "d_v"),
    "b_Q": ("one", "d_k"), "b_K": ("one", "d_k"), "b_V": ("one", "d_v"),
}  # fmt: skip


def dimensions(heads: Heads, *, memory: bool, from_H: bool, sliced: bool) -> dict[str, Dimension]:
    """The dimensions as so many units; `sliced`: each head gets its own columns of H."""
    count, kv_count = heads.count, heads.kv_count
    of_H = Dimension("slice", count, "heads") if sliced else Dimension("slice")
    found = {
        "q": Dimension("d_k", count, "heads"), "k": Dimension("d_k", kv_count, "kv_heads"),
        "v": Dimension("d_v", kv_count, "kv_heads"), "concat": Dimension("d_v", count, "heads"),
        "d_model": of_H, "d_memory": of_H._replace(unit="memory_slice"),
    }  # fmt: skip
    if from_H and not memory:  # the rows that attend are the rows that are attended to
        found |= {"m": Dimension("n"), "d_memory": of_H, "memory_slice": Dimension("slice")}
    return found


def find_start(source: Source, said: Reading) -> Start:
    """The start that the keys of a file belong to, with all that it needs."""
    by_head = bool(said["heads"].each)
    named = [name for name in said if name in _OWNER or (name == "heads" and by_head)]
    if not named:
        missing = "Q and K are missing" if "V" in said else "nothing to calculate from"
        raise source.error(said.node, "", missing, _WAYS_IN)
    owners = _OWNER | {"heads": FROM_H}
    first, start = named[0], owners[named[0]]
    for name in named:
        if owners[name] is not start:
            what = f"can't be given together with {_called(first)}"
            raise source.error(said.at(name), name, what, "keep one of them")
    if "V" in said and "V" not in start.may:
        raise source.error(said.at("V"), "V", f"can't be given together with {_called(first)}", "H and W_V give V")
    words = [name for name in WORDS if name in said]
    if words and "H" in said:
        raise source.error(said.at("H"), "H", f"can't be given together with {words[0]}", "the words give H")
    if start is FROM_H:
        start = _weights(source, said, by_head)
    missing_keys = [name for name in start.needs if name not in said and not (name == "H" and words)]
    if missing_keys:
        raise _missing(source, said, start, missing_keys, first)
    return start


def start_in_layer(source: Source, said: Reading) -> Start:
    """How the weights of an attention are given that gets its rows from the layer. Raises ProblemError."""
    by_head = bool(said["heads"].each)
    start = _weights(source, said, by_head)
    start = start._replace(needs=start.needs[1:])
    missing = [name for name in start.needs if name not in said]
    if missing:
        hint = "give them; W_Q: identity leaves the rows as they are"
        raise source.error(said.node, ", ".join(missing), "missing", hint)
    return start


def operands(start: Start, said: Reading, heads: Heads) -> list[Operand]:
    """The matrices of a problem with their dimensions as they are stored."""
    transposed = said["orientation"] == "out-in"
    memory: Reading | None = said["memory"]
    names = (*start.needs, *start.may, "v_a", "W_O", "b_O")
    of_heads = _of_heads(heads, transposed)
    found = [] if "H" in names else of_heads  # in a layer H comes from below
    for name in names:
        if name in said:
            found.append(Operand(name, name, said.at(name), said[name], _axes(AXES, name, transposed)))
        if name == "H" and memory and "H" in memory:
            found.append(Operand("memory.H", "memory.H", memory.at("H"), memory["H"], AXES["memory.H"]))
        if name == "H":
            found += of_heads
    return found


def _of_heads(heads: Heads, transposed: bool) -> list[Operand]:
    """The matrices of a list of heads."""
    return [
        Operand(f"heads[{number}].{key}", f"{path}.{key}", head.at(key), head[key],
                _axes(AXES_OF_HEAD, key, transposed))
        for number, (path, head) in enumerate(heads.each, start=1)
        for key in AXES_OF_HEAD if key in head
    ]  # fmt: skip


def cut_in_three(sizes: Sizes, heads: Heads, d_k: int | None) -> None:
    """d_k and d_v from the width of W_QKV, or that from them: Q, K and V lie side by side."""
    given = next((operand for operand in sizes.operands if operand.name == "W_QKV"), None)
    if given is None:
        return
    axis = given.axes.index("qkv")
    whole, d_v = sizes.get("qkv"), sizes.get("d_v")
    q_and_k = heads.count + heads.kv_count
    if whole is None:
        if d_k is not None and d_v is not None:
            sizes.put("qkv", q_and_k * d_k + heads.kv_count * d_v, None, fact="d_k and d_v are said")
        return
    if "d_k" in sizes.units:
        return
    said = d_k
    d_k = d_k or whole // (q_and_k + heads.kv_count)
    rest = whole - q_and_k * d_k
    if rest < 1 or rest % heads.kv_count or (said is None and rest != heads.kv_count * d_k):
        raise _not_cut(sizes.source, given, axis, heads, said)
    sizes.put("d_k", d_k, given, axis)
    sizes.put("d_v", rest // heads.kv_count, given, axis)


def _not_cut(source: Source, given: Operand, axis: int, heads: Heads, d_k: int | None) -> ProblemError:
    shown, parts = given.shown(axis, here=True), heads.count + 2 * heads.kv_count
    if d_k is None:
        sum_of_heads = f" (heads {heads.count} + 2 × kv_heads {heads.kv_count})" if heads.count > 1 else ""
        what = f"{shown}, but Q, K and V side by side need a multiple of {parts}{sum_of_heads}"
        return source.error(given.node, given.path, what, "give d_k where V is of another width")
    taken = (heads.count + heads.kv_count) * d_k
    left = given.shape[axis] or 0
    what = f"{shown}, but Q and K of d_k {d_k} take {taken}, which leaves {max(left - taken, 0)} for V"
    what += f" of {counted(heads.kv_count, 'head')}" if heads.kv_count > 1 else ""
    return source.error(given.node, given.path, what, "check d_k, heads and kv_heads")


def _weights(source: Source, said: Reading, by_head: bool) -> Start:
    """How the weights of H are given; no way can be mixed with another."""
    at_once = "W_QKV" in said
    if by_head:
        start, unwanted = FROM_H_BY_HEAD, (*FROM_H.needs[1:], *FROM_H.may, "W_QKV", "b_QKV")
        first, hint = "a list of heads", "give it in each head"
    elif at_once or ("b_QKV" in said and not any(name in said for name in PROJECTIONS)):
        start, unwanted = FROM_H_AT_ONCE, (*FROM_H.needs[1:], *FROM_H.may)
        first, hint = "W_QKV", "the bias of W_QKV is b_QKV"
    else:
        start, unwanted, first, hint = FROM_H, ("b_QKV",), "W_Q, W_K and W_V", "give b_Q, b_K and b_V"
    for name in unwanted:
        if name in said:
            hint = hint if by_head or name.startswith("b") else "keep one of them"
            raise source.error(said.at(name), name, f"can't be given together with {first}", hint)
    return start


def _missing(source: Source, said: Reading, start: Start, missing: list[str], first: str) -> ProblemError:
    hint = f"{_called(first)} is given, so {either(list(start.needs), 'and')} are needed"
    if len(start.needs) == 1:
        hint = "a list of heads works on H"
    if missing == list(PROJECTIONS):
        hint = "give them, or Q, K and V instead; W_Q: identity leaves H as it is"
    return source.error(said.at(first), ", ".join(missing), "missing", hint)


def _called(first: str) -> str:
    return "a list of heads" if first == "heads" else first


def _axes(axes: Mapping[str, tuple[str, str]], name: str, transposed: bool) -> tuple[str, str]:
    rows, columns = axes[name]
    return (columns, rows) if transposed and name in WEIGHTS else (rows, columns)
