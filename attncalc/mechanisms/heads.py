"""`kind: attention`: one head or several (Vaswani et al. 2017, section 3.2.2), with keys and values of their own or
shared (MQA: Shazeer 2019; GQA: Ainslie et al. 2023), over the same rows or over a memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from attncalc.expr import name, slot
from attncalc.mechanisms import masks
from attncalc.mechanisms.attention import Rules, head, masked_weights, weighted_sum, weights
from attncalc.mechanisms.cache import Cache
from attncalc.mechanisms.places import are_alike, inputs, turned, turning, words_and_positions
from attncalc.mechanisms.projections import ROLES, Parts, affine, columns, projections, side_by_side, stated, usable
from attncalc.problem.attention import Attention
from attncalc.problem.masks import Mask
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step


def attention(sheet: Sheet, given: Attention, show: Show) -> Step:
    """The output of an attention, n × d, from wherever the problem starts: H and weights; Q, K, V; S; or A."""
    conventions(sheet, given)
    axes = axes_of(given)
    with sheet.group("given"):
        parts = words_and_positions(sheet, given, axes) | stated(sheet, given, axes)
        each = []
        for h, one in enumerate(given.per_head):
            with of_head(sheet, h):
                each.append(stated(sheet, one, axes))
    parts, each = usable(sheet, parts, each, given)
    parts |= inputs(sheet, parts, given)
    out = attend(sheet, parts, each, given, show)
    if out.role != "weights":
        of_one_head = [_weights_of(out)] if given.heads == 1 else []
        sheet.remark("outcome", out, *([parts["H"]] if "H" in parts else []), *of_one_head)
    return out


def _weights_of(out: Step) -> Step:
    """The weights that an output rests on: A of A·V, and of (A·V)·W_O + b_O."""
    return out if out.role == "weights" else _weights_of(out.operands[0])


def attend(
    sheet: Sheet, parts: Parts, each: list[Parts], given: Attention, show: Show, cache: Cache | None = None
) -> Step:
    """The output, n × d, from `parts`, the matrices by their names, and those of `each` head that has its own; with a
    `cache`, for the rows that are new, which look at those from before too."""
    additive = given.scores == "additive"
    rules = Rules(given.scale, given.d_k, given.softcap, None, given.masked_row == "error", show.shift, additive,
                  parts.get("v_a"))  # fmt: skip
    if "A" in parts:
        A = masked_weights(sheet, parts["A"], given.mask, rules.refuse_empty_rows) if given.mask else parts["A"]
        return finished(sheet, parts, weighted_sum(sheet, A, parts["V"]) if "V" in parts else A)
    if "S" in parts:
        A = weights(sheet, parts["S"], rules._replace(mask=mask_of(given)))
        return finished(sheet, parts, weighted_sum(sheet, A, parts["V"]) if "V" in parts else A)
    if cache:
        given = given._replace(mask=_mask_from(given, cache, memory="memory" in parts))
        parts |= cache.of_memory
    if given.heads > 1:
        return several(sheet, parts, each, given, rules, cache)
    if "H" in parts:
        parts |= projections(sheet, parts)
    turn = turning(sheet, given, parts, cache)
    before = are_alike(parts["Q"]) and are_alike(parts["K"])
    parts |= turned(sheet, parts, turn)
    parts |= _kept(sheet, parts, parts, cache)
    rules = rules._replace(mask=mask_of(given), relative=bool(turn) and before)
    return finished(sheet, parts, head(sheet, parts["Q"], parts["K"], parts.get("V"), rules))


def _mask_from(given: Attention, cache: Cache, *, memory: bool) -> Mask:
    """The mask of the rows that are new. Of its own rows a single one that comes last sees all that causality lets it;
    over a memory it stands as many keys further as there were rows before it."""
    mask = given.mask
    if memory:
        return mask._replace(past=mask.past + cache.past)
    return mask._replace(past=cache.past, causal=False) if cache.past else mask


def _kept(sheet: Sheet, whole: Parts, own: Parts, cache: Cache | None, h: int = 0) -> Parts:
    """The keys and values of head h from now and before; those of a memory stay as they are, once all heads project the
    whole of it."""
    if cache is None:
        return {}
    if "memory" in whole:
        cache.of_memory = {id: whole[id] for id in ("K", "V") if id in whole}
        return {}
    return cache.extended(sheet, h, own)


def several(
    sheet: Sheet, parts: Parts, each: list[Parts], given: Attention, rules: Rules, cache: Cache | None = None
) -> Step:
    """Each head works on columns of Q, K and V (or projects columns of H); their outputs stand side by side."""
    if given.split == "input":
        shares = input_of_heads(sheet, parts, given.heads)
    else:
        if "H" in parts:
            parts |= projections(sheet, parts)
        shares = split(sheet, parts, given)
    mask = mask_of(given)
    if mask and not masks.is_per_head(given.mask):
        with sheet.group("mask"):
            rows = parts.get("Q", parts.get("H"))
            keys = parts.get("K", parts.get("memory", parts.get("H")))
            assert rows and keys
            m = keys.shape[0] + (cache.past if cache and "memory" not in parts else 0)
            columns = cache.rows if cache and "memory" not in parts else keys.rows
            assert rows.rows and columns
            M = masks.added(sheet, given.mask, rows.rows, columns, (rows.shape[0], m))
        mask = lambda _, __: M  # noqa: E731
    turn = turning(sheet, given, parts, cache)
    outputs: list[Step] = []
    keys_of: dict[int, Step] = {}  # turned, by key/value head
    for h, own in enumerate(shares):
        with of_head(sheet, h):
            if given.split == "input":
                own = projections(sheet, own | each[h])
            kv = h * given.kv_heads // given.heads
            own = own | turned(sheet, own, turn, keys_of.get(kv))
            keys_of[kv] = own["K"]
            own = own | _kept(sheet, parts, own, cache, h)
            per_head = mask_of(given, h) if mask and masks.is_per_head(given.mask) else mask
            outputs.append(head(sheet, own["Q"], own["K"], own.get("V"), rules._replace(mask=per_head)))
    if "V" not in shares[0] and given.split == "projection":
        return outputs[-1]
    with sheet.group("concat"):
        sheet.remark("merged", *outputs)
        concat = sheet.arrange("concat", side_by_side, *outputs, rows=outputs[0].rows, role="output")
    return finished(sheet, parts, concat)


def split(sheet: Sheet, parts: Parts, given: Attention) -> list[Parts]:
    """Query head h gets its d_k columns of Q, and those of its key/value head, h · kv_heads // heads, of K and V."""
    with sheet.group("split"):
        cut = [
            {
                id: sheet.arrange(
                    f"head{h + 1}.{id}", columns(*_slice(parts[id].shape[1], count, h * count // given.heads)),
                    parts[id], symbol=sheet.marked(parts[id].symbol, str(h + 1)), rows=parts[id].rows, role=role,
                )
                for id, role in ROLES.items() if id in parts
                for count in [given.heads if id == "Q" else given.kv_heads]
            }
            for h in range(given.heads)
        ]  # fmt: skip
        sheet.remark("split", parts["Q"], *(one["Q"] for one in cut), first=True)
    return cut


def input_of_heads(sheet: Sheet, parts: Parts, heads: int) -> list[Parts]:
    """Head h gets its d_model / heads columns of H, and of the memory where there is one."""
    with sheet.group("split"):
        cut = [
            {
                id: sheet.arrange(
                    f"head{h + 1}.{id}", columns(*_slice(parts[id].shape[1], heads, h)), parts[id],
                    symbol=sheet.marked(parts[id].symbol, str(h + 1)), rows=parts[id].rows, role="input",
                )
                for id in parts if id in ("H", "memory")
            }
            for h in range(heads)
        ]  # fmt: skip
        sheet.remark("split", parts["H"], *(one["H"] for one in cut), first=True)
    return cut


def _slice(width: int, count: int, k: int) -> tuple[int, int]:
    """The k-th of `count` equal parts of so many columns."""
    return k * width // count, (k + 1) * width // count


def finished(sheet: Sheet, parts: Parts, out: Step) -> Step:
    """O·W_O + b_O, n × d, where the problem has them; its rows times those of the query mask, n × 1."""
    if "W_O" in parts:
        with sheet.group("output"):
            out = affine(sheet, "output", out, parts["W_O"], parts.get("b_O"), "output")
    if "query_mask" in parts:
        mask, symbol = parts["query_mask"], sheet.symbol("O_masked")
        sheet.convention("query_mask", "given", mask=mask.symbol)
        with sheet.group("query_mask"):
            out = sheet.map("masked_output", slot(0) * slot(1), out, mask, symbol=symbol, role="output")
    return out


def of_head(sheet: Sheet, h: int) -> AbstractContextManager[object]:
    """The group of head h (from 0): ids head1.Q, symbols Q⁽¹⁾."""
    return sheet.group("head", h + 1, prefix=f"head{h + 1}", mark=str(h + 1))


def mask_of(given: Attention, h: int = 0) -> Callable[[Sheet, Step], Step] | None:
    """What gives M for the scores of head h; None where everything is visible."""
    if not given.mask:
        return None

    def mask(sheet: Sheet, S: Step) -> Step:
        assert S.rows and S.columns
        return masks.added(sheet, given.mask, S.rows, S.columns, S.shape, h)

    return mask


def axes_of(given: Attention) -> dict[str, Axis | None]:
    """What rows stand for: queries and keys are one axis in self-attention, two where K and V come from elsewhere."""
    one = given.memory is None and given.memory_tokens is None and _is_square(given)
    if one:
        axis = Axis(given.tokens)
        return {"queries": axis, "keys": axis, "": None}
    return {"queries": Axis(given.tokens, "query"), "keys": Axis(given.memory_tokens, "key"), "": None}


def _is_square(given: Attention) -> bool:
    """Whether there are as many queries as keys."""
    for matrix in (given.S, given.A):
        if matrix is not None:
            n, m = matrix.values.shape
            return bool(n == m)
    return given.Q is None or given.K is None or len(given.Q.values) == len(given.K.values)


def conventions(sheet: Sheet, given: Attention) -> None:
    """What the figures rest on, for the head of the page."""
    start = "QK" if given.start == "QKV" and given.V is None else given.start
    sheet.convention("start", "memory" if given.memory is not None else start)
    conventions_of_scores(sheet, given, axes_of(given)["queries"] is axes_of(given)["keys"] or _is_square(given))


def conventions_of_scores(sheet: Sheet, given: Attention, square: bool, of: str = "") -> None:
    """How many heads there are, how scores are scaled and what is masked; `square`: as many queries as keys; `of`: see
    masks.conventions."""
    if given.heads > 1:
        sheet.convention("heads", _sharing(given), heads=given.heads, kv_heads=given.kv_heads, d_k=given.d_k)
    if given.scores == "additive":
        if given.v_a is None:
            sheet.convention("scores", "additive")
        else:
            sheet.convention("scores", "weighted", v_a=name("v_a"))
    if given.start != "A":
        details = {"sqrt_d_k": {"d_k": given.d_k}, "none": {}}.get(given.scale.kind, {"value": given.scale.written})
        sheet.convention("scale", given.scale.kind, **details)
    if given.softcap:
        sheet.convention("softcap", "tanh", value=given.softcap[1])
    masks.conventions(sheet, given.mask, on_weights=given.start == "A", square=square, of=of)


def _sharing(given: Attention) -> str:
    if given.kv_heads == given.heads:
        return "own"
    return "one" if given.kv_heads == 1 else "groups"
