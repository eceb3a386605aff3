"""`kind: size`: the numbers that a model's shapes, parameters and cache follow from."""

from __future__ import annotations

from typing import Any, NamedTuple

from attncalc.problem.feed_forward import ACTIVATIONS
from attncalc.problem.nodes import Node
from attncalc.problem.readers import SWITCHES, choice, none_of, scalar, switch, whole
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.source import Source, counted, either

SKELETONS = ("decoder", "encoder", "encoder-decoder")
BIASES = ("no", "yes", "feed-forward")
NUMBERS = ("0.5", "1", "2", "4", "8")  # bytes that a number takes: four bits to float64


class Size(NamedTuple):
    """What a model is made of, in numbers: what is None is not there, and so is not counted.

    `layers` are those of its one stack, or of the decoder of an encoder-decoder.
    """

    skeleton: str = "decoder"
    layers: int = 1
    encoder_layers: int | None = None
    d_model: int | None = None
    heads: int | None = None
    kv_heads: int | None = None  # None: as many as heads
    d_k: int | None = None  # None: d_model / heads
    latent: int | None = None  # what a cache keeps of a token in a layer, instead of its keys and values
    d_ff: int | None = None
    activation: str = "relu"
    vocabulary: int | None = None
    positions: int | None = None  # rows of a learned table of positions
    tied: bool = True  # one matrix for every embedding and for the output
    biases: str = "no"
    norm: str = "none"
    final_norm: bool = False
    experts: int | None = None
    top_k: int | None = None
    expert_parameters: int | None = None
    length: int | None = None
    memory_length: int | None = None
    window: int | None = None  # how many tokens a layer keeps at most
    window_layers: int | None = None  # how many layers that is true of; None: of all
    batch: int = 1
    bytes: str = "2"  # as written
    W_O: bool = True  # whether an attention has one; only a model that is given by its matrices may have none

    @property
    def parts(self) -> int:
        """How many parts a layer has that come with a norm, cross-attention apart."""
        return (self.heads is not None) + (self.d_ff is not None or self.experts is not None)


def biases(source: Source, node: Node, path: str) -> str:
    """no, yes (or false, true), or feed-forward."""
    value = scalar(source, node, path, either(BIASES))
    if value.lower() in SWITCHES:
        return "yes" if SWITCHES[value.lower()] else "no"
    if value not in BIASES:
        raise none_of(source, node, path, value, BIASES)
    return value


KEYS = Table((
    Key("skeleton", choice(*SKELETONS), "decoder", "decoder, encoder or encoder-decoder; the decoder of the last has "
        "cross-attention"),
    Key("layers", whole(1, 10**5), 1, "layers of the stack, or of each of the two; 1, if nothing is said"),
    Key("encoder_layers", whole(1, 10**5), None, "layers of the encoder of an encoder-decoder, where it has others"),
    Key("d_model", whole(1, 10**7), None, "the width of a token"),
    Key("heads", whole(1, 10**6), None, "query heads"),
    Key("kv_heads", whole(1, 10**6), None, "key/value heads; as many as heads, if nothing is said"),
    Key("d_k", whole(1, 10**7), None, "the width of a head; d_model / heads, if nothing is said"),
    Key("latent", whole(1, 10**7), None, "figures that the cache keeps of a token in a layer instead of keys and "
        "values (multi-head latent attention), those of decoupled keys among them"),
    Key("d_ff", whole(1, 10**8), None, "the width of the hidden layer of the feed-forward, or of each expert"),
    Key("activation", choice(*ACTIVATIONS), "relu", "that of the feed-forward; swiglu and geglu have three matrices"),
    Key("vocabulary", whole(1, 10**9), None, "how many tokens there are"),
    Key("positions", whole(1, 10**9), None, "rows of a learned table of positions, where there is one"),
    Key("tied", switch, True, "whether one matrix serves for every embedding and for the output"),
    Key("biases", biases, "no", "no, yes (of attention and feed-forward), or feed-forward (of that alone)"),
    Key("norm", choice("layer-norm", "rms-norm", "none"), None, "layer-norm (gain and bias), rms-norm (gain) or none; "
        "layer-norm where layers have attention and feed-forward, if nothing is said"),
    Key("final_norm", switch, False, "whether a norm follows the last layer"),
    Key("experts", whole(1, 10**6), None, "experts in the place of each feed-forward"),
    Key("top_k", whole(1, 10**6), None, "how many of them a token goes through"),
    Key("expert_parameters", whole(1, 10**15), None, "parameters of one expert, where d_ff does not say it"),
    Key("length", whole(1, 10**12), None, "tokens in a sequence"),
    Key("memory_length", whole(1, 10**12), None, "tokens that the encoder of an encoder-decoder reads; as many as "
        "length, if nothing is said"),
    Key("window", whole(1, 10**12), None, "how many tokens a layer keeps at most (sliding window)"),
    Key("window_layers", whole(1, 10**5), None, "how many layers have a window; all, if nothing is said"),
    Key("batch", whole(1, 10**9), 1, "sequences at once; 1, if nothing is said"),
    Key("bytes", choice(*NUMBERS), "2", "bytes of a number in the cache: 0.5, 1, 2, 4 or 8"),
))  # fmt: skip


class Need(NamedTuple):
    """A key that counts nothing without one of some others."""

    key: str
    others: tuple[str, ...]
    hint: str


_NEEDS = (
    Need("vocabulary", ("d_model",), "a matrix of embeddings is vocabulary × d_model"),
    Need("positions", ("d_model",), "a table of positions is positions × d_model"),
    Need("tied", ("vocabulary",), "there is no embedding without one"),
    Need("heads", ("d_k", "d_model"), "say how wide a head is"),
    Need("kv_heads", ("d_k", "heads"), "say how wide a head is"),
    Need("d_k", ("heads", "kv_heads"), "say how many heads there are"),
    Need("d_ff", ("d_model",), "its matrices are d_model × d_ff"),
    Need("activation", ("d_ff",), "it says how many matrices a feed-forward has"),
    Need("biases", ("heads", "d_ff"), "there is nothing that has one"),
    Need("norm", ("d_model",), "a gain is as wide as a token"),
    Need("norm", ("heads", "d_ff", "experts"), "say what parts a layer has"),
    Need("final_norm", ("d_model",), "a gain is as wide as a token"),
    Need("final_norm", ("heads", "d_ff", "experts"), "say what parts a layer has"),
    Need("experts", ("d_ff", "expert_parameters"), "say how large an expert is"),
    Need("top_k", ("experts",), "say how many experts it chooses from"),
    Need("expert_parameters", ("experts",), "say how many experts there are"),
    Need("memory_length", ("length",), "say how long the decoder's sequence is"),
    Need("window", ("heads", "kv_heads", "latent"), "there are no keys and values to keep"),
    Need("window", ("length",), "say how long a sequence is"),
    Need("window_layers", ("window",), "say how many tokens they keep at most"),
    Need("batch", ("length",), "say how long a sequence is"),
    Need("bytes", ("heads", "kv_heads", "latent"), "there are no keys and values to keep"),
)
_COUNTED = ("vocabulary", "positions", "heads", "kv_heads", "latent", "d_ff", "experts")


def size(source: Source, said: Reading) -> Size:
    """The Size that a file's keys give. Raises ProblemError where they don't go together or count nothing."""
    if not any(key in said for key in _COUNTED):
        raise source.error(said.node, "", "nothing to count", "give d_model with heads, d_ff or vocabulary")
    for key, others, hint in _NEEDS:
        if key in said and not any(other in said for other in others):
            raise source.error(said.at(key), key, f"of no use without {either(others)}", hint)
    _check_apart(source, said)
    _check_division(source, said)
    given: dict[str, Any] = {key.name: said[key.name] for key in KEYS.keys}
    if given["skeleton"] == "encoder-decoder":
        given["encoder_layers"] = given["encoder_layers"] or given["layers"]
        given["memory_length"] = given["memory_length"] or given["length"]
    if given["norm"] is None:
        whole_layer = "d_model" in said and "heads" in said and ("d_ff" in said or "experts" in said)
        given["norm"] = "layer-norm" if whole_layer else "none"
    return Size(**given)


def _check_apart(source: Source, said: Reading) -> None:
    """Refuse keys that another one leaves without a meaning."""
    for key in ("encoder_layers", "memory_length"):
        if key in said and said["skeleton"] != "encoder-decoder":
            what = f"not used with skeleton: {said['skeleton']}"
            raise source.error(said.at(key), key, what, "say skeleton: encoder-decoder, or leave it out")
    for key in ("bytes", "latent", "window"):
        if key in said and said["skeleton"] == "encoder":
            raise source.error(said.at(key), key, "an encoder keeps no keys and values", "leave it out")
        if key in said and said["skeleton"] == "encoder-decoder" and key != "bytes":
            what = "not used with skeleton: encoder-decoder"
            raise source.error(said.at(key), key, what, "say skeleton: decoder, or leave it out")
    if "latent" in said and "d_model" in said:
        what = "the matrices of an attention with latents are not counted"
        raise source.error(said.at("latent"), "latent", what, "leave d_model out: the cache does not rest on it")
    if "latent" in said and "kv_heads" in said:
        what = "latent says already what is kept of a token"
        raise source.error(said.at("kv_heads"), "kv_heads", what, "leave one of them out")
    if "expert_parameters" in said and "d_ff" in said:
        what = "d_ff says already how large an expert is"
        raise source.error(said.at("expert_parameters"), "expert_parameters", what, "leave one of them out")
    if said["final_norm"] and said["norm"] == "none":
        raise source.error(said.at("final_norm"), "final_norm", "not used with norm: none", "say which norm it is")


def _check_division(source: Source, said: Reading) -> None:
    """Refuse heads that don't come out even, and more chosen experts, or layers with a window, than there are."""
    heads, kv_heads, d_model, experts = (said[key] for key in ("heads", "kv_heads", "d_model", "experts"))
    if heads and not said["d_k"] and d_model % heads:
        what = f"{counted(heads, 'head')}, but d_model is {d_model}, which {heads} does not divide"
        raise source.error(said.at("heads"), "heads", what, "say d_k, the width of a head, or change one of them")
    if heads and kv_heads and heads % kv_heads:
        what = f"{kv_heads} does not divide {counted(heads, 'head')}"
        raise source.error(said.at("kv_heads"), "kv_heads", what, "each serves as many query heads as the others")
    if said["window_layers"] and said["window_layers"] > said["layers"]:
        what = f"{said['window_layers']} of {counted(said['layers'], 'layer')}"
        raise source.error(said.at("window_layers"), "window_layers", what, f"give at most {said['layers']}")
    if experts and said["top_k"] and said["top_k"] > experts:
        what = f"{said['top_k']} of {counted(experts, 'expert')}"
        raise source.error(said.at("top_k"), "top_k", what, f"give at most {experts}")


PROBLEMS = {"size": Kind(KEYS, size)}
