"""Random problem files, as the text of YAML, each with the plain data that the oracle reads."""

import json
from dataclasses import dataclass, field
from fractions import Fraction

import oracle
from hypothesis import strategies as st

SIZES = st.integers(1, 5)
FEW = st.integers(1, 3)  # of several heads: each has all the steps of one
TOKENS = ["A", "B", "no", "007", "[CLS]", "1:30", "喜欢", "~", "a: b", "#", "x"]
SCALES = ["2", "0.5", "8", "1.5", "0.125", "1.414", "3"]
CAPS = ["5", "30", "2.5", "0.5", "50"]
STEPS = ["Q", "Q.product", "product", "K", "V", "K_T", "S", "scaled", "softcap", "mask", "masked", "shifted", "A", "O",
         "output", "output.product", "concat", "head1.S", "head2.A", "head1.Q"]  # fmt: skip
HIDES = ["-inf", "-.inf", "−∞", "-1e9", "-2e30", "-Infinity"]  # spellings of a hidden entry of an additive mask
YES, NO = ["1", "true", "yes"], ["0", "false", "no"]


@dataclass(frozen=True)
class Case:
    """A problem file; `data` is what it gives, for oracle.attention, and `decimals` those of its steps."""

    text: str
    data: dict = field(repr=False)
    rounding: str = "exact"
    ties: str = "half-up"
    weights: str = "plain"
    decimals: dict = field(default_factory=dict)

    def arithmetic(self):
        """The oracle's numbers for this case."""
        decimals = self.decimals
        if "A" in self.data and (self.data.get("mask") or self.data.get("padding")):
            # What a mask keeps of given weights, and its sum, have the decimals that those were given with.
            given = max(len(text.partition(".")[2]) for row in self.data["A"] for text in row)
            said = {id: decimals.get(id, decimals.get("default", 3)) for id in ("kept", "row_sum")}
            decimals = {**decimals, **{id: max(places, given) for id, places in said.items()}}
        if self.rounding == "carried":
            return oracle.Carried(decimals, self.ties, self.weights)
        return oracle.Exact(decimals)


def with_places(low, high, places):
    """Decimals between two whole numbers, all written with so many places."""
    units = st.integers(low * 10**places, high * 10**places)
    return units.map(lambda count: oracle.figure(Fraction(count, 10**places), places))


def figures(low=-2, high=2):
    """One sort of figure, for a whole matrix: integers, quarters, or decimals of 1 to 3 places; as text."""
    quarters = st.integers(4 * low, 4 * high).map(lambda k: f"{k / 4:g}")
    return st.one_of(
        st.just(st.integers(low, high).map(str)),
        st.just(quarters),
        st.integers(1, 3).map(lambda places: with_places(low, high, places)),
    )


def matrices(rows, columns, sort):
    row = st.lists(sort, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def some(draw, rows, columns, low=-2, high=2):
    """A matrix of one sort of figure."""
    return draw(matrices(rows, columns, draw(figures(low, high))))


@st.composite
def decimals(draw):
    """What `show.decimals` says, as a dict with a default. The sum of a row has all the decimals of its terms: with
    fewer, weights would not add up to 1. K_T has those of K whatever is said, and concat those of O."""
    said = {"default": draw(st.integers(0, 6) | st.integers(2, 4))}
    if draw(st.booleans()):
        said |= draw(st.dictionaries(st.sampled_from(STEPS), st.integers(0, 6), max_size=4))
    return said


# Masks


@st.composite
def masks(draw, n, m, heads=1, on_weights=False):
    """(the data of a mask and a padding, the lines that say them): any parts of a mask, in any combination."""
    parts = draw(st.sets(st.sampled_from(["causal", "window", "keep", "hide", "add", "padding"]), max_size=3))
    mask, said, data, lines = {}, {}, {}, {}
    if "causal" in parts:
        mask["causal"], said["causal"] = True, draw(st.sampled_from(["true", "yes"]))
    if "window" in parts:
        before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        mask["window"], said["window"] = (before, after), f"{{before: {before}, after: {after}}}"
        if draw(st.booleans()):
            mask["window"], said["window"] = (before, before), str(before + 1)  # N keys, the query's own among them
    if {"causal", "window"} & parts and (n != m or draw(st.booleans())):
        place = draw(st.sampled_from(["start", "end", *(["past"] if m >= n else [])]))
        if place == "past":
            mask["past"] = draw(st.integers(0, m - n))
            said["past"] = str(mask["past"])
        else:
            mask["align"] = said["align"] = place
    for part in (each for each in ("keep", "hide", "add") if each in parts):
        several = draw(st.integers(0, 2)) > 0 and heads > 1
        drawn = [draw(_mask_matrix(part, n, m, on_weights)) for _ in range(heads if several else 1)]
        mask[part] = [plain for plain, _ in drawn] if several else drawn[0][0]
        said[part] = flow([written for _, written in drawn]) if several else flow(drawn[0][1])
        if not several and heads == 1 and draw(st.booleans()):
            said[part] = f"[{said[part]}]"  # a list of one a head
    if mask:
        data["mask"] = mask
        lines["mask"] = "{" + ", ".join(f"{key}: {said[key]}" for key in draw(st.permutations(sorted(said)))) + "}"
        if mask == {"causal": True} and draw(st.booleans()):
            lines["mask"] = "causal"
        if set(said) == {"add"} and not _is_all_0_and_1(mask["add"]):
            lines["mask"] = draw(st.sampled_from([lines["mask"], said["add"]]))  # a bare matrix is added
    elif draw(st.booleans()):
        lines["mask"] = draw(st.sampled_from(["none", "{causal: no}"]))
    if "padding" in parts:
        data["padding"] = draw(st.lists(st.sampled_from(["0", "1", "1"]), min_size=m, max_size=m))
        words = [draw(st.sampled_from(YES if each == "1" else NO)) for each in data["padding"]]
        lines["padding"] = flow(words) if draw(st.booleans()) else f"[{flow(words)}]"
    return data, lines


@st.composite
def _mask_matrix(draw, part, n, m, on_weights):
    """(as the oracle reads it, as it is written): a matrix to keep, hide or add."""
    if part != "add":
        plain = draw(matrices(n, m, st.sampled_from(["0", "1"])))
        return plain, [[draw(st.sampled_from(YES if each == "1" else NO)) for each in row] for row in plain]
    figure = st.just("0") if on_weights else draw(figures(-3, 3)) | st.just("0")
    written = draw(matrices(n, m, figure | st.sampled_from(HIDES)))
    return [["-inf" if text in HIDES else text for text in row] for row in written], written


def _is_all_0_and_1(matrix):
    """Whether a matrix, or a list of them, could as well say what is kept."""
    if isinstance(matrix, list):
        return all(map(_is_all_0_and_1, matrix))
    return matrix != "-inf" and Fraction(matrix) in (0, 1)


# Attention


@st.composite
def givens(draw):
    """(the data of a problem, the numbers of queries and keys): any of the starts, with all that may go with it."""
    start = draw(st.sampled_from(["H", "H", "Q", "S", "A"]))
    if start in "HQ" and draw(st.integers(0, 3)):
        return draw(several_heads(start))
    n, m, d_k, d_v, d_model = (draw(SIZES) for _ in range(5))
    if draw(st.booleans()):
        m = n
    data = {}
    if start == "H":
        m, data = draw(from_H(n, d_model, d_k, d_v))
    else:
        if start == "Q":
            data = {"Q": some(draw, n, d_k, -3, 3), "K": some(draw, m, d_k, -3, 3)}
        elif start == "S":
            most = draw(st.sampled_from([3, 12, 900]))  # 900: rows that must be shifted
            data = {"S": some(draw, n, m, -most, most)}
        else:
            data = {"A": some(draw, n, m, 0, 1)}
        if draw(st.booleans()):
            data["V"] = some(draw, m, d_v, -3, 3)
    if start != "A":
        data |= draw(of_scores())
        if start == "S" and data["scale"] == "sqrt_d_k":
            data["d_k"] = draw(st.integers(1, 9))
    if "V" in data or start == "H":
        data |= draw(projected_out(d_v))
    return stored(draw, data), n, m, 1


@st.composite
def from_H(draw, n, d_model, d_k, d_v, heads=1, kv_heads=1):
    """(the number of keys, the data): H and weights of all heads, in three matrices or in one, with biases or not."""
    m, data, widths = n, {"H": some(draw, n, d_model)}, {"Q": heads * d_k, "K": kv_heads * d_k, "V": kv_heads * d_v}
    how = draw(st.sampled_from(["three", "three", "memory", "stack"]))
    if how == "stack":
        width = sum(widths.values())
        data["W_QKV"] = some(draw, d_model, width)
        if draw(st.booleans()):
            data["b_QKV"] = some(draw, 1, width)[0]
        if d_v != d_k or draw(st.booleans()):
            data["d_k"] = d_k
        return m, data
    of_keys = d_model
    if how == "memory":
        m, of_keys = draw(FEW), draw(FEW)
        data["memory"] = some(draw, m, of_keys)
    for letter, width in widths.items():
        data[f"W_{letter}"] = some(draw, d_model if letter == "Q" else of_keys, width)
        if draw(st.booleans()):
            data[f"b_{letter}"] = some(draw, 1, width)[0]
    return m, data


@st.composite
def several_heads(draw, start):
    """The same as givens, of up to four heads, one of which may be a list of its own."""
    heads = draw(st.sampled_from([1, 2, 2, 2, 3, 4]))
    kv_heads = draw(st.sampled_from([count for count in range(1, heads + 1) if heads % count == 0]))
    n, m, d_k, d_v, d_model = (draw(FEW) for _ in range(5))
    data = {"heads": heads, "kv_heads": kv_heads}
    if start == "Q":
        data |= {"Q": some(draw, n, heads * d_k, -3, 3), "K": some(draw, m, kv_heads * d_k, -3, 3)}
        if draw(st.integers(0, 3)):
            data["V"] = some(draw, m, kv_heads * d_v, -3, 3)
    elif draw(st.booleans()):
        m, of_H = draw(from_H(n, d_model, d_k, d_v, heads, kv_heads))
        data |= of_H
    else:
        m, of_H = draw(listed(n, d_k, d_v, heads, kv_heads))
        data |= of_H
    data |= draw(of_scores())
    if "V" in data or start == "H":
        data |= draw(projected_out(heads * d_v))
    return stored(draw, data), n, m, heads


@st.composite
def listed(draw, n, d_k, d_v, heads, kv_heads):
    """(the number of keys, the data): H and heads that are given one by one; or each with its own columns of H."""
    m, width = n, draw(FEW)
    data = {"kv_heads": kv_heads}
    if draw(st.booleans()):
        data |= {"split": "input", "kv_heads": heads}
    sliced = "split" in data
    group, of_keys = heads // data["kv_heads"], width
    data["H"] = some(draw, n, width * heads if sliced else width)
    if draw(st.booleans()):
        m, of_keys = draw(FEW), draw(FEW)
        data["memory"] = some(draw, m, of_keys * heads if sliced else of_keys)
    data["heads"] = []
    biased = {letter: draw(st.booleans()) for letter in "QKV"}
    for h in range(heads):
        head = {"W_Q": some(draw, width, d_k)}
        if h % group == 0:
            head |= {"W_K": some(draw, of_keys, d_k), "W_V": some(draw, of_keys, d_v)}
        for letter in [name[-1] for name in head]:
            if biased[letter] and draw(st.booleans()):
                head[f"b_{letter}"] = some(draw, 1, d_k if letter in "QK" else d_v)[0]
        data["heads"].append(head)
    return m, data


@st.composite
def of_scores(draw):
    """What is done to scores before and in softmax."""
    by = draw(st.sampled_from(SCALES))
    data = {"scale": draw(st.sampled_from(["sqrt_d_k", "sqrt_d_k", "none", ("divide", by), ("multiply", by)]))}
    if draw(st.integers(0, 3)) == 0:
        data["softcap"] = draw(st.sampled_from(CAPS))
    data["shift"] = draw(st.sampled_from(["needed", "needed", "max"]))
    return data


@st.composite
def projected_out(draw, width):
    """W_O and b_O, or not."""
    if draw(st.integers(0, 2)):
        return {}
    d_out = draw(FEW)
    data = {"W_O": some(draw, width, d_out)}
    return data | ({"b_O": some(draw, 1, d_out)[0]} if draw(st.booleans()) else {})


def stored(draw, data):
    """The same with all weights stored out × in, now and then."""
    owners = [data, *(data["heads"] if isinstance(data.get("heads"), list) else [])]
    weights = [(owner, name) for owner in owners for name in owner if name.startswith("W_")]
    if not weights or draw(st.integers(0, 2)):
        return data
    for owner, name in weights:
        owner[name] = oracle.transposed(owner[name])
    return data | {"orientation": "out-in"}


def flow(value):
    """Rows, numbers, labels and heads as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(each)}" for key, each in value.items()) + "}"
    return f"[{', '.join(map(flow, value))}]" if isinstance(value, list) else str(value)


SAID_OTHERWISE = {"scale", "shift", "mask", "padding", "memory", "kind"}


@st.composite
def cases(draw, rounding=None):
    """A problem file of any kind, and its data; `rounding` fixes that of the file."""
    if draw(st.integers(0, 5)) == 0:
        return draw(softmaxes(rounding))
    data, n, m, heads = draw(givens())
    of_mask, lines = draw(masks(n, m, heads, on_weights="A" in data))
    data |= of_mask
    lines |= {name: flow(data[name]) for name in data if name not in SAID_OTHERWISE}
    if data.get("kv_heads") == heads and draw(st.booleans()):
        del lines["kv_heads"]
    scale = data.get("scale", "sqrt_d_k")
    if scale != "sqrt_d_k":
        how, by = scale if scale != "none" else ("none", "")
        lines["scale"] = {"none": "none", "divide": by, "multiply": f"{{multiply: {by}}}"}[how]
    memory = {"H": data["memory"]} if "memory" in data else {}
    if draw(st.booleans()):
        lines["tokens"] = labels(draw, n)
        if n != m or memory:
            memory = {"tokens": labels(draw, m), **memory}
    if ("H" not in data or memory) and "tokens" not in memory and draw(st.booleans()):
        memory = {"tokens": labels(draw, m), **memory}
    if memory:
        lines["memory"] = flow(memory)
    return draw(shown(data, lines, rounding))


@st.composite
def softmaxes(draw, rounding=None):
    """A problem file of kind softmax, and its data."""
    n, m = draw(SIZES), draw(SIZES)
    most = draw(st.sampled_from([3, 12, 900]))
    data = {"kind": "softmax", "x": some(draw, n, m, -most, most), "shift": draw(st.sampled_from(["needed", "max"]))}
    if draw(st.booleans()):
        data["temperature"] = draw(st.sampled_from(["1", *SCALES]))
    of_mask, lines = draw(masks(n, m))
    data |= of_mask
    lines |= {name: flow(data[name]) for name in data if name not in SAID_OTHERWISE} | {"kind": "softmax"}
    for name, count in {"tokens": n, "vocabulary": m}.items():
        if draw(st.booleans()):
            lines[name] = labels(draw, count)
    return draw(shown(data, lines, rounding))


def labels(draw, count):
    return flow([json.dumps(draw(st.sampled_from(TOKENS)), ensure_ascii=False) for _ in range(count)])


@st.composite
def shown(draw, data, lines, rounding):
    """The case of these lines, in any order, with a way to show and to round its figures."""
    rule = {
        "rounding": rounding or draw(st.sampled_from(["exact", "carried"])),
        "ties": draw(st.sampled_from(["half-up", "half-even"])),
        "weights": draw(st.sampled_from(["plain", "sum-to-one"])),
    }
    places = draw(decimals())
    show = {
        **rule,
        "decimals": str(places["default"]) if len(places) == 1 else json.dumps(places),
        "numbers": draw(st.sampled_from(["trimmed", "fixed"])),
        "count_from": draw(st.sampled_from(["0", "1"])),
        "shift": data.get("shift", "needed"),
    }
    lines = lines | {"show": "{" + ", ".join(f"{key}: {value}" for key, value in show.items()) + "}"}
    names = draw(st.permutations(sorted(lines)))
    return Case("".join(f"{name}: {lines[name]}\n" for name in names), data, **rule, decimals=places)
