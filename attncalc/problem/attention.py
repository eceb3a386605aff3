"""`kind: attention`: its keys, the four places a calculation can start from, and which shapes must agree."""

from __future__ import annotations

from dataclasses import dataclass

from attncalc.problem.masks import mask
from attncalc.problem.matrices import matrix, row_vector, weights
from attncalc.problem.nodes import MapNode, Node
from attncalc.problem.readers import choice, labels, none_of, positive, scalar, whole
from attncalc.problem.schema import Key, Reading, Table, nested
from attncalc.problem.source import Source, counted
from attncalc.problem.starts import START_OF, Start, check_shapes, find_start
from attncalc.steps import Matrix

LARGEST_D_K = 1_000_000_000


@dataclass(frozen=True)
class Scale:
    """What is done to the scores: `kind` is sqrt_d_k, none, divide or multiply; `value` and how it was `written`."""

    kind: str
    value: float = 1.0
    written: str = ""


@dataclass(frozen=True, eq=False)
class Attention:
    """One attention of n queries over m keys. What isn't given is None; biases are 1 × d."""

    start: str  # H, QKV, S or A: what the calculation starts from
    tokens: tuple[str, ...] | None  # n labels of the queries
    memory_tokens: tuple[str, ...] | None  # m labels of the keys and values; None: the same as tokens
    d_k: int | None  # None where nothing gives it and nothing needs it
    scale: Scale
    causal: bool
    masked_row: str  # zero or error
    H: Matrix | None = None  # n × d_model
    W_Q: Matrix | None = None  # d_model × d_k
    W_K: Matrix | None = None  # d_model × d_k
    W_V: Matrix | None = None  # d_model × d_v
    b_Q: Matrix | None = None
    b_K: Matrix | None = None
    b_V: Matrix | None = None
    Q: Matrix | None = None  # n × d_k
    K: Matrix | None = None  # m × d_k
    V: Matrix | None = None  # m × d_v
    S: Matrix | None = None  # n × m
    A: Matrix | None = None  # n × m


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


MEMORY_KEYS = Table((Key("tokens", labels, None, "labels of the keys and values"),), later={"H": ""})

KEYS = Table(
    (
        Key("tokens", labels, None, "labels of the rows"),
        Key("H", matrix, None, "the rows that attend, n × d_model"),
        Key("W_Q", matrix, None, "weights of the queries, d_model × d_k: Q = H W_Q"),
        Key("W_K", matrix, None, "weights of the keys, d_model × d_k"),
        Key("W_V", matrix, None, "weights of the values, d_model × d_v"),
        Key("b_Q", row_vector, None, "bias of the queries, one entry a column of W_Q"),
        Key("b_K", row_vector, None, "bias of the keys"),
        Key("b_V", row_vector, None, "bias of the values"),
        Key("Q", matrix, None, "queries, n × d_k, instead of H and weights"),
        Key("K", matrix, None, "keys, m × d_k"),
        Key("V", matrix, None, "values, m × d_v; without them the solution ends with the weights"),
        Key("S", matrix, None, "scores before scaling, n × m, instead of Q and K"),
        Key("A", weights, None, "weights, n × m, instead of scores; a mask renormalises each row"),
        Key("d_k", whole(1, LARGEST_D_K), None, "width of a key; needed where only S is given"),
        Key("scale", scale, Scale("sqrt_d_k"), "sqrt_d_k, none, a number that divides, or {multiply: number}"),
        Key("mask", mask, False, "none, causal, or {causal: yes}: no query sees a later key"),
        Key("masked_row", choice("zero", "error"), "zero", "a row with nothing visible: weights 0, or an error"),
        Key("memory", nested(MEMORY_KEYS), None, "{tokens: [..]}: labels of the keys and values"),
    ),
    later={
        "heads": "1", "kv_heads": "1", "split": "projection", "orientation": "in-out", "position": "none",
        "vocabulary": "", "embedding": "", "input": "", "W_QKV": "", "b_QKV": "", "W_O": "", "b_O": "",
        "padding": "", "softcap": "", "draw": "",
    },
)  # fmt: skip


def attention(source: Source, said: Reading) -> Attention:
    """The Attention that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    start = find_start(source, said)
    columns = check_shapes(source, start, said)
    _check_memory(source, start, said)
    _check_scale(source, start, said)
    _check_causal(source, start, said)
    memory = said["memory"]
    names = (*start.needs, *start.may)
    return Attention(
        start=start.name,
        tokens=said["tokens"],
        memory_tokens=memory["tokens"] if memory else None,
        d_k=columns if columns is not None else said["d_k"],
        scale=said["scale"],
        causal=said["mask"],
        masked_row=said["masked_row"],
        **{name: said[name] for name in names},
    )


def _check_memory(source: Source, start: Start, said: Reading) -> None:
    if start is START_OF["H"] and "memory" in said:
        raise source.error(said.at("memory"), "memory", "no H of its own",
                           "give Q, K and V (a later version of attncalc reads memory.H)")  # fmt: skip
    queries, keys = start.queries.count(said), start.keys.count(said)
    if "tokens" in said and "memory" not in said and queries != keys:
        what = f"labels for the rows, but none for {counted(keys, 'key')}"
        raise source.error(said.at("tokens"), "tokens", what, "add memory: {tokens: [..]}, or leave tokens out")
    if "memory" in said and said["memory"]["tokens"] is None:
        raise source.error(said.at("memory"), "memory", "says nothing", "write {tokens: [..]}")


def _check_scale(source: Source, start: Start, said: Reading) -> None:
    if start is START_OF["A"]:
        for name in ("scale", "d_k"):
            if name in said:
                raise source.error(said.at(name), name, "not used where A is given", "leave it out")
    if start is START_OF["S"] and said["scale"].kind == "sqrt_d_k" and said["d_k"] is None:
        raise source.error(said.at("S"), "d_k", "missing",
                           "S is divided by √d_k: give d_k, or scale: none if that is done")  # fmt: skip


def _check_causal(source: Source, start: Start, said: Reading) -> None:
    queries, keys = start.queries.count(said), start.keys.count(said)
    if said["mask"] and queries != keys:
        what = f"causal needs align, as keys differ in number from queries: {keys} and {queries}"
        raise source.error(said.at("mask"), "mask", what,
                           "align: start or align: end comes in a later version of attncalc")  # fmt: skip
