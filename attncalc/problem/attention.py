"""`kind: attention`: its keys, and what a calculation of it can be given."""

from __future__ import annotations

from typing import NamedTuple

from attncalc.problem import embedding, fitting, masks, positions, rotary
from attncalc.problem.embedding import Words
from attncalc.problem.fitting import Inputs
from attncalc.problem.heads import Head, Heads, SaidHeads, check_heads, heads
from attncalc.problem.mask_entries import padding, query_mask
from attncalc.problem.masks import Asked, Mask, mask
from attncalc.problem.matrices import matrix, row_vector, weights
from attncalc.problem.nodes import MapNode, Node
from attncalc.problem.positions import Position, position
from attncalc.problem.readers import choice, labels, none_of, positive, scalar, whole
from attncalc.problem.rotary import Rotary
from attncalc.problem.schema import Key, Kind, Reading, Table, nested
from attncalc.problem.sizes import Sizes
from attncalc.problem.source import Source
from attncalc.problem.starts import WORDS, Start, find_start, start_in_layer
from attncalc.steps import Matrix

LARGEST_D_K = 1_000_000_000


class Scale(NamedTuple):
    """What is done to the scores: `kind` is sqrt_d_k, none, divide or multiply; `value` and how it was `written`."""

    kind: str
    value: float = 1.0
    written: str = ""


class Attention(NamedTuple):
    """One attention of n queries over m keys. What isn't given is None; biases are 1 × d.

    Matrices have the shapes that they have in the file: where `orientation` is out-in, weights are out × in.
    """

    start: str  # H, QKV, S or A: what the calculation starts from
    tokens: tuple[str, ...] | None  # n labels of the queries
    memory_tokens: tuple[str, ...] | None  # m labels of the keys and values; None: the same as tokens
    d_k: int | None  # of one head; None where nothing gives it and nothing needs it
    scale: Scale
    mask: Mask
    masked_row: str  # zero or error
    heads: int = 1
    kv_heads: int = 1  # divides heads; query head h uses key/value head h * kv_heads // heads (from 0)
    d_v: int | None = None  # of one head; None where there are no values
    split: str = "projection"  # or input: head h gets its columns of H (and of memory)
    orientation: str = "in-out"  # or out-in
    scores: str = "dot"  # or additive
    softcap: tuple[float, str] | None = None  # the cap and how it was written
    H: Matrix | None = None  # n × d_model
    words: Words | None = None  # what gives H instead
    position: Position = None  # of the rows of H, or, where it is a Rotary, of queries and keys
    memory: Matrix | None = None  # m × its own d_model; K and V come from it
    W_Q: Matrix | None = None  # d_model × (heads · d_k)
    W_K: Matrix | None = None  # d_model × (kv_heads · d_k)
    W_V: Matrix | None = None  # d_model × (kv_heads · d_v)
    b_Q: Matrix | None = None
    b_K: Matrix | None = None
    b_V: Matrix | None = None
    W_QKV: Matrix | None = None  # W_Q, W_K and W_V side by side (out-in: one below the other)
    b_QKV: Matrix | None = None
    Q: Matrix | None = None  # n × (heads · d_k)
    K: Matrix | None = None  # m × (kv_heads · d_k)
    V: Matrix | None = None  # m × (kv_heads · d_v)
    v_a: Matrix | None = None  # 1 × d_k; what additive scores weigh their terms by
    S: Matrix | None = None  # n × m
    A: Matrix | None = None  # n × m
    W_O: Matrix | None = None  # (heads · d_v) × any
    b_O: Matrix | None = None
    query_mask: Matrix | None = None  # n × 1: 1, or 0 where a row of what comes out is to be 0
    per_head: tuple[Head, ...] = ()  # heads that are given one by one; W_Q to b_V above are then None

    @property
    def width(self) -> int:
        """Of the rows that come out, where values or W_O say it."""
        if self.W_O is not None:
            return int(self.W_O.values.shape[1 if self.orientation == "in-out" else 0])
        assert self.d_v is not None
        return self.heads * self.d_v


_SCALES = ("sqrt_d_k", "none")
SCALE_KEYS = Table((Key("multiply", positive, None, "what the scores are multiplied by"),))


def scale(source: Source, node: Node, path: str) -> Scale:
    """sqrt_d_k, none, a number that divides, or {multiply: number}."""
    if isinstance(node, MapNode):
        said = SCALE_KEYS.read(source, node, path)
        if said["multiply"] is None:
            raise source.error(node, path, "says nothing", "write {multiply: 0.5}")
        return Scale("multiply", *said["multiply"])
    word = scalar(source, node, path, "sqrt_d_k, none or a number")
    if word in _SCALES:
        return Scale(word)
    if word[:1].isalpha():
        raise none_of(source, node, path, word, (*_SCALES, "a number", "{multiply: number}"))
    return Scale("divide", *positive(source, node, path))


MEMORY_KEYS = Table((
    Key("tokens", labels, None, "labels of the keys and values"),
    Key("H", matrix, None, "the rows that K and V come from, m × the rows of W_K"),
))  # fmt: skip

KEYS = Table(
    (
        Key("tokens", labels, None, "labels of the rows"),
        Key("H", matrix, None, "the rows that attend, n × d_model"),
        *embedding.KEYS.keys,
        Key("position", position, positions.NOTHING, "none, sinusoidal, rotary; or a mapping with a kind, as below"),
        Key("W_Q", matrix, None, "weights of the queries, d_model × (heads · d_k): Q = H W_Q"),
        Key("W_K", matrix, None, "weights of the keys, d_model × (kv_heads · d_k)"),
        Key("W_V", matrix, None, "weights of the values, d_model × (kv_heads · d_v); d_v is d_k if nothing says it"),
        Key("b_Q", row_vector, None, "bias of the queries, one entry a column of W_Q"),
        Key("b_K", row_vector, None, "bias of the keys"),
        Key("b_V", row_vector, None, "bias of the values"),
        Key("W_QKV", matrix, None, "W_Q, W_K and W_V side by side, instead of the three"),
        Key("b_QKV", row_vector, None, "bias of W_QKV"),
        Key("Q", matrix, None, "queries, n × (heads · d_k), instead of H and weights"),
        Key("K", matrix, None, "keys, m × (kv_heads · d_k)"),
        Key("V", matrix, None, "values, m × (kv_heads · d_v); without them the solution ends with the weights"),
        Key("S", matrix, None, "scores before scaling, n × m, instead of Q and K"),
        Key("A", weights, None, "weights, n × m, instead of scores; a mask renormalises each row"),
        Key("W_O", matrix, None, "weights of the output, (heads · d_v) × any width; drawn ones are as wide as H"),
        Key("b_O", row_vector, None, "bias of the output"),
        Key("orientation", choice("in-out", "out-in"), "in-out", "out-in: weights are stored transposed, out × in"),
        Key("heads", heads, SaidHeads(1), "how many heads, or a list of {W_Q, W_K, W_V, b_Q, b_K, b_V}"),
        Key("kv_heads", whole(1, 1_000_000), None, "how many heads of keys and values; heads, if nothing is said"),
        Key("split", choice("projection", "input"), "projection", "input: each head of a list gets its columns of H"),
        Key("d_k", whole(1, LARGEST_D_K), None, "width of a key of one head; needed where only S is given"),
        Key("scores", choice("dot", "additive"), "dot", "dot: q·k; additive: the sum of tanh(q + k)"),
        Key("v_a", row_vector, None, "of additive scores: what each tanh is multiplied by, an entry a column of a key"),
        Key("scale", scale, Scale("sqrt_d_k"), "sqrt_d_k (of additive scores none, if nothing is said), none, a number "
            "that divides, or {multiply: number}"),
        Key("softcap", positive, None, "c: scaled scores s become c · tanh(s / c)"),
        Key("mask", mask, Asked(), "none, causal, {causal, align, past, window, keep, hide, add}, or rows to add"),
        Key("padding", padding, None, "one entry a key: 1 for a token, 0 for padding, which nothing sees"),
        Key("query_mask", query_mask, None, "one entry a query: 0 makes its row of the output 0; weights stay"),
        Key("masked_row", choice("zero", "error"), "zero", "a row with nothing visible: weights 0, or an error"),
        Key("memory", nested(MEMORY_KEYS), None, "{tokens: [..], H: [..]}: what keys and values come from"),
    ),
)  # fmt: skip


# What a layer gives its attention, which can't be said there.
FROM_THE_LAYER = (*WORDS, "tokens", "H", "memory", "Q", "K", "V", "S", "A", "position", "query_mask")


def attention_of_layer(source: Source, said: Reading, inputs: Inputs) -> Attention:
    """The Attention of a layer, which gets its rows from there. Raises ProblemError as `attention` does."""
    for name in FROM_THE_LAYER:
        if name in said:
            what = "not used in a layer, whose rows come from below"
            hint = "say it of the whole, outside layers, or leave it out"
            raise source.error(said.at(name), name, what, "leave it out" if name == "query_mask" else hint)
    counts = check_heads(source, said)
    return _checked(source, said, start_in_layer(source, said), counts, inputs)


def attention(source: Source, said: Reading) -> Attention:
    """The Attention that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    counts = check_heads(source, said)
    return _checked(source, said, find_start(source, said), counts)


def _checked(source: Source, said: Reading, start: Start, counts: Heads, inputs: Inputs | None = None) -> Attention:
    fitting.check_keys(source, said, start, counts)
    words = embedding.asked(source, said)
    sizes = fitting.fitted(source, said, start, counts, inputs, words)
    if inputs is None:
        fitting.check_labels(source, said, sizes)
    visible = masks.check(
        source, said["mask"], said["padding"], sizes, heads=counts.count, on_weights=start.name == "A"
    )
    memory = said["memory"]
    found = {operand.name: operand.matrix for operand in sizes.operands}
    return Attention(
        start=start.name,
        tokens=said["tokens"] or (words.words.tokens if words else None),
        words=words.words if words else None,
        position=_position(source, said, sizes, visible.past),
        memory_tokens=memory["tokens"] if memory else None,
        d_k=sizes.get("d_k") or said["d_k"],
        scores=said["scores"],
        scale=said["scale"] if said["scores"] == "dot" or "scale" in said else Scale("none"),
        mask=visible,
        masked_row=said["masked_row"],
        heads=counts.count,
        kv_heads=counts.kv_count,
        d_v=sizes.get("d_v") if start.name == "H" or "V" in found else None,
        split=said["split"],
        orientation=said["orientation"],
        softcap=said["softcap"],
        memory=found.get("memory.H"),
        query_mask=_column(found.get("query_mask")),
        per_head=_per_head(counts, found),
        **{name: found[name] for name in (*start.needs, *start.may, "v_a", "W_O", "b_O") if name in found},
    )


def _column(row: Matrix | None) -> Matrix | None:
    return row and Matrix(row.values.T, None if row.written is None else row.written.T)


def _position(source: Source, said: Reading, sizes: Sizes, past: int) -> Position:
    """What `position` asks for; a Rotary as wide as one head's queries and keys."""
    asked: positions.Asked = said["position"]
    found = asked.position(sizes)
    if not isinstance(found, Rotary):
        return found
    assert asked.node is not None
    d_k = sizes["d_k"]
    places = max(sizes["n"] + past, sizes["m"])
    shown = f"d_k is {d_k}"
    return rotary.check(source, found, d_k, places, shown=shown, node=asked.node, said=asked.said, path=asked.path)


def _per_head(counts: Heads, found: dict[str, Matrix]) -> tuple[Head, ...]:
    return tuple(
        Head(**{name: found[f"heads[{number}].{name}"] for name in head})
        for number, (_, head) in enumerate(counts.each, start=1)
    )


PROBLEMS = {"attention": Kind(KEYS, attention)}
