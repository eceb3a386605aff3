"""Random problem files, as the text of YAML, each with the plain data that the oracle reads."""

import json
from dataclasses import dataclass, field
from fractions import Fraction

import oracle
from hypothesis import strategies as st

SIZES = st.integers(1, 5)
TOKENS = ["A", "B", "no", "007", "[CLS]", "1:30", "喜欢", "~", "a: b", "#", "x"]
SCALES = ["2", "0.5", "8", "1.5", "0.125", "1.414", "3"]
STEPS = ["Q", "Q.product", "product", "K", "V", "K_T", "S", "scaled", "masked", "shifted", "A", "O"]


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
        if self.rounding == "carried":
            return oracle.Carried(self.decimals, self.ties, self.weights)
        return oracle.Exact(self.decimals)


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


@st.composite
def decimals(draw):
    """What `show.decimals` says, as a dict with a default. The sum of a row has all the decimals of its terms: with
    fewer, weights would not add up to 1. K_T has those of K whatever is said."""
    said = {"default": draw(st.integers(0, 6) | st.integers(2, 4))}
    if draw(st.booleans()):
        said |= draw(st.dictionaries(st.sampled_from(STEPS), st.integers(0, 6), max_size=4))
    return said


@st.composite
def givens(draw):
    """The data of a problem: one of the four starts, with all that may go with it."""
    n, m, d_k, d_v, d_model = (draw(SIZES) for _ in range(5))
    if draw(st.booleans()):
        m = n

    def some(rows, columns, low=-2, high=2):
        return draw(matrices(rows, columns, draw(figures(low, high))))

    start = draw(st.sampled_from(["H", "Q", "S", "A"]))
    if start == "H":
        m = n
        data = {"H": some(n, d_model), "W_Q": some(d_model, d_k), "W_K": some(d_model, d_k), "W_V": some(d_model, d_v)}
        for name, width in {"b_Q": d_k, "b_K": d_k, "b_V": d_v}.items():
            if draw(st.booleans()):
                data[name] = some(1, width)[0]
    else:
        if start == "Q":
            data = {"Q": some(n, d_k, -3, 3), "K": some(m, d_k, -3, 3)}
        elif start == "S":
            most = draw(st.sampled_from([3, 12, 900]))  # 900: rows that must be shifted
            data = {"S": some(n, m, -most, most)}
        else:
            data = {"A": some(n, m, 0, 1)}
        if draw(st.booleans()):
            data["V"] = some(m, d_v, -3, 3)
    if start != "A":
        by = draw(st.sampled_from(SCALES))
        data["scale"] = draw(st.sampled_from(["sqrt_d_k", "none", ("divide", by), ("multiply", by)]))
        if start == "S" and data["scale"] == "sqrt_d_k":
            data["d_k"] = draw(st.integers(1, 9))
        data["shift"] = draw(st.sampled_from(["needed", "needed", "max"]))
    if n == m and draw(st.booleans()):
        data["mask"] = "causal"
    return data, n, m


def flow(value):
    """Rows, numbers and labels as one line of YAML."""
    return f"[{', '.join(map(flow, value))}]" if isinstance(value, list) else value


@st.composite
def cases(draw, rounding=None):
    """A problem file and its data; `rounding` fixes that of the file."""
    data, n, m = draw(givens())
    shown = {
        "rounding": rounding or draw(st.sampled_from(["exact", "carried"])),
        "ties": draw(st.sampled_from(["half-up", "half-even"])),
        "weights": draw(st.sampled_from(["plain", "sum-to-one"])),
    }
    places = draw(decimals())
    show = {
        **shown,
        "decimals": str(places["default"]) if len(places) == 1 else json.dumps(places),
        "numbers": draw(st.sampled_from(["trimmed", "fixed"])),
        "count_from": draw(st.sampled_from(["0", "1"])),
        "shift": data.get("shift", "needed"),
    }

    lines = {name: flow(data[name]) for name in data if name not in ("scale", "shift", "mask", "d_k")}
    lines["show"] = "{" + ", ".join(f"{key}: {value}" for key, value in show.items()) + "}"
    if "d_k" in data:
        lines["d_k"] = str(data["d_k"])
    scale = data.get("scale", "sqrt_d_k")
    if scale != "sqrt_d_k":
        how, by = scale if scale != "none" else ("none", "")
        lines["scale"] = {"none": "none", "divide": by, "multiply": f"{{multiply: {by}}}"}[how]
    if data.get("mask"):
        lines["mask"] = draw(st.sampled_from(["causal", "{causal: true}", "{causal: yes}"]))
    elif draw(st.booleans()):
        lines["mask"] = draw(st.sampled_from(["none", "{causal: no}"]))

    def labels(count):
        return flow([json.dumps(draw(st.sampled_from(TOKENS)), ensure_ascii=False) for _ in range(count)])

    if draw(st.booleans()):
        lines["tokens"] = labels(n)
        if n != m:
            lines["memory"] = f"{{tokens: {labels(m)}}}"
    if "H" not in data and "memory" not in lines and draw(st.booleans()):
        lines["memory"] = f"{{tokens: {labels(m)}}}"

    names = draw(st.permutations(sorted(lines)))
    return Case("".join(f"{name}: {lines[name]}\n" for name in names), data, **shown, decimals=places)
