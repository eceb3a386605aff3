"""Norms, activations and layers that others worked: the engine and plain loops give their figures, as they come out of
the sources' own inputs in full precision, to ten digits. Where a source misprints, its figures are not ours."""

from __future__ import annotations

import math
from typing import Any

import pytest
from random_transformers import text_of
from transformer_oracle import solve as by_loops

from attncalc.mechanisms import solve
from attncalc.problem import parse

Rows = list[list[float]]


def cosines(rows: int, columns: int) -> Rows:
    """cos 0, cos 1, cos 2, .. in rows: how the tests of PyTorch fill every parameter."""
    return [[math.cos(i * columns + j) for j in range(columns)] for i in range(rows)]


def vector(width: int) -> list[float]:
    return cosines(1, width)[0]


def identity(width: int, *, first: int = 0, of: int = 0) -> Rows:
    """The identity; or, `of` as many rows, what takes `width` columns out of them from the `first` on."""
    return [[int(i == first + j) for j in range(width)] for i in range(of or width)]


def pytorch(rows: Rows, padding: list[int] | None = None) -> dict[str, Any]:
    """pytorch test_transformerencoderlayer: d_model 4, 2 heads, 16 wide, ReLU, norms after the residuals."""
    norm = {"kind": "layer-norm", "place": "post", "gain": vector(4), "bias": vector(4)}
    layer = {
        "attention": {"heads": 2, "orientation": "out-in", "W_QKV": cosines(12, 4), "b_QKV": vector(12),
                      "W_O": cosines(4, 4), "b_O": vector(4)},
        "feed_forward": {"orientation": "out-in", "W_1": cosines(16, 4), "b_1": vector(16), "W_2": cosines(4, 16),
                         "b_2": vector(4)},
        "norm": norm,
    }  # fmt: skip
    return {"kind": "encoder", "H": rows, "layers": [layer]} | ({"padding": padding} if padding else {})


TWO = [[1, 2, 3, 4], [5, 6, 7, 8]]
SEQUENCE_A = [[0.7462, 0.6653, 0.5679, 0.4891], [0.8335, 0.2799, 0.5031, 0.2947], [0.6333, 0.9344, 0.1376, 0.9938],
              [0.9897, 0.6915, 0.3154, 0.1733], [0.8117, 0.2366, 0.4838, 0.7881]]  # fmt: skip
SEQUENCE_B = [[0.5387, 0.1655, 0.3565, 0.0471], [0.1402, 0.0318, 0.7636, 0.1346], [0.8924, 0.2872, 0.6692, 0.2944],
              [0.8645, 0.3513, 0.3064, 0.0767], [0.3718, 0.4945, 0.9511, 0.0864]]  # fmt: skip
RANDOM_TRANSFORMER = {  # https://osanseviero.github.io/hackerllama/blog/posts/random_transformer/
    "kind": "encoder",
    "H": [[1, 3, 3, 5], [2.84, 3.99, 4, 6]],
    "layers": [{
        "attention": {
            "heads": [
                {"W_Q": [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]],
                 "W_K": [[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 1, 0]],
                 "W_V": [[0, 1, 1], [1, 0, 0], [1, 0, 1], [0, 1, 0]]},
                {"W_Q": [[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]],
                 "W_K": [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]],
                 "W_V": [[1, 0, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]]},
            ],
            "scale": 30,
            "W_O": [[0.79445237, 0.1081456, 0.27411536, 0.78394531],
                    [0.29081936, -0.36187258, -0.32312791, -0.48530339],
                    [-0.36702934, -0.76471963, -0.88058366, -1.73713022],
                    [-0.02305587, -0.64315981, -0.68306653, -1.25393866],
                    [0.29077448, -0.04121674, 0.01509932, 0.13149906],
                    [0.57451867, -0.08895355, 0.02190485, 0.24535932]],
        },
        "norm": {"kind": "layer-norm", "place": "post", "eps": "1e-6", "eps_in": "outside"},
    }],
}  # fmt: skip
MICWILL = [[0.1, 0.3, -0.2, 0.8], [0, 0.1, 0.4, -0.1], [0.5, -0.3, 0.2, 0.6], [0.2, 0.7, -0.4, 0.3],
           [-0.1, 0.4, 0.8, -0.2], [0.3, -0.1, 0.1, 0.5]]  # fmt: skip
RASCHKA = [[0.2259521335, 0.3469538093, 0, 0.2216043174, 0, 0],
           [0.2132834792, 0.2394212186, 0, 0.5198363662, 0.3297472298, 0]]  # fmt: skip


def keras(Q: Rows, K: Rows, V: Rows, **said: Any) -> dict[str, Any]:
    return {"Q": Q, "K": K, "V": V, **said}


def silu(x: list[float]) -> dict[str, Any]:
    one = identity(len(x))
    return {"kind": "feed-forward", "x": [x], "W_1": one, "W_2": one, "activation": "silu"}


def halves(x: Rows) -> dict[str, Any]:
    """The first half of each row times SiLU of the second."""
    half = len(x[0]) // 2
    first, second = (identity(half, first=start, of=2 * half) for start in (0, half))
    weights = {"W_1": first, "W_gate": second, "W_2": identity(half)}
    return {"kind": "feed-forward", "x": x, **weights, "activation": "swiglu"}


# (the problem, its figures by step)
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, Rows]]] = {
    "pytorch: one token": (pytorch([[20, 30, 40, 50]]), {
        "result": [[2.258703714, 0.127985413, -0.6978818716, 0.1708626498]],
    }),
    "pytorch: two tokens": (pytorch(TWO), {
        "result": [[2.272644747, 0.1190354286, -0.6916694, 0.1534860092],
                   [2.272644747, 0.1190354287, -0.6916694, 0.1534860092]],
    }),
    "pytorch: the first of two is padding": (pytorch(TWO, [0, 1]), {
        "result": [[2.301516455, 0.09224873093, -0.679101061, 0.1030882375]] * 2,
    }),
    "pytorch: five tokens": (pytorch(SEQUENCE_A), {
        "result": [[2.428589219, 0.02083510434, -0.6020554311, -0.08524911387],
                   [2.424689739, 0.01915574036, -0.6047935537, -0.0856728011],
                   [2.433774388, 0.02159801214, -0.5983436689, -0.08754806039],
                   [2.436185435, 0.02268233326, -0.5966255955, -0.0872615582],
                   [2.41624688, 0.01751215854, -0.6107125518, -0.08296169287]],
    }),
    "pytorch: five other tokens": (pytorch(SEQUENCE_B), {
        "result": [[2.427987575, 0.02121332725, -0.602496147, -0.08410328052],
                   [2.413863667, 0.02221114512, -0.6124868782, -0.07249009897],
                   [2.425104154, 0.01974814722, -0.6045151945, -0.08483927271],
                   [2.433556241, 0.02189131326, -0.5985094056, -0.08683233198],
                   [2.422901089, 0.02418738009, -0.6061784161, -0.07492959112]],
    }),
    "pytorch: the second of five is padding": (pytorch(SEQUENCE_A, [1, 0, 1, 1, 1]), {
        "result": [[2.429025757, 0.0207927647, -0.6017413954, -0.08564159863],
                   [2.425009471, 0.01915506786, -0.604565847, -0.08589920352],
                   [2.434199234, 0.02168193533, -0.5980385836, -0.08769947756],
                   [2.43645656, 0.0227357224, -0.5964300689, -0.08736047039],
                   [2.416530654, 0.01749801258, -0.6105130366, -0.08318131467]],
    }),
    "pytorch: the last two are padding": (pytorch(SEQUENCE_B, [1, 1, 1, 0, 0]), {
        "result": [[2.428811452, 0.02144513393, -0.6019122534, -0.08425196458],
                   [2.415407582, 0.02248990139, -0.6114151164, -0.07300053858],
                   [2.425980326, 0.01994115093, -0.6038960488, -0.08509114578],
                   [2.434020833, 0.02209259077, -0.5981788382, -0.08678999253],
                   [2.424200339, 0.02465330244, -0.6052663668, -0.07495935628]],
    }),
    "hackerllama: the layer, ε outside the root": (RANDOM_TRANSFORMER, {
        "layer1.attention.head1.O": [[7.543487841, 8.202766566, 6.202766566], [7.652661849, 8.358572689, 6.358572689]],
        "layer1.attention.head2.O": [[8.455895913, 3.856104561, 7.720856644], [8.637405907, 3.919377411, 7.848041463]],
        "layer1.norm1.mean": [[-4.588375671], [-3.595591071]],
        "result": [[1.718876935, -0.5636533937, -0.4037074658, -0.7515160751],
                   [1.719090389, -0.5605045264, -0.4069538084, -0.7516320545]],
    }),
    "lexailabs: root mean square": ({"kind": "rms-norm", "x": [[1, 2, 3, 4]], "eps": "1e-8", "gain": [1, 1, 1, 1]}, {
        "mean_square": [[7.5]],
        "root": [[2.738612788]],
        "result": [[0.3651483714, 0.7302967429, 1.095445114, 1.460593486]],
    }),
    "micwill: by hand, without ε": ({"kind": "layer-norm", "x": MICWILL, "eps": 0}, {
        "root": [[0.3640054945], [0.1870828693], [0.35], [0.3937003937], [0.4023369235], [0.2236067977]],
        "normalised": [[-0.4120816918, 0.1373605639, -1.236245076, 1.510966203],
                       [-0.5345224838, 0, 1.603567451, -1.069044968],
                       [0.7142857143, -1.571428571, -0.1428571429, 1.0], [0, 1.27000127, -1.524001524, 0.254000254],
                       [-0.8077806958, 0.4349588362, 1.429150462, -1.056328602],
                       [0.4472135955, -1.341640786, -0.4472135955, 1.341640786]],
    }),
    "micwill: with ε": ({"kind": "layer-norm", "x": MICWILL}, {
        "normalised": [[-0.4120661425, 0.1373553808, -1.236198427, 1.510909189],
                       [-0.5344461398, 0, 1.603338419, -1.06889228],
                       [0.7142565616, -1.571364435, -0.1428513123, 0.9999591862],
                       [0, 1.269960304, -1.523952365, 0.2539920608],
                       [-0.8077557462, 0.4349454018, 1.42910632, -1.056295976],
                       [0.4471688808, -1.341506643, -0.4471688808, 1.341506643]],
    }),
    "micwill: unbiased": ({"kind": "layer-norm", "x": MICWILL, "eps": 0, "variance": "unbiased"}, {
        "root": [[0.4203173404], [0.2160246899], [0.4041451884], [0.4546060566], [0.4645786622], [0.2581988897]],
    }),
    "rasbt: unbiased, without ε": ({"kind": "layer-norm", "x": RASCHKA, "eps": 0, "variance": "unbiased"}, {
        "mean": [[0.1324183767], [0.217048049]],
        "normalised": [[0.6158549239, 1.412567045, -0.8718831797, 0.58722757, -0.8718831797, -0.8718831797],
                       [-0.01886457091, 0.1121138065, -1.087645753, 1.51729734, 0.5647449309, -1.087645753]],
    }),
    "rasbt: biased": ({"kind": "layer-norm", "x": RASCHKA}, {
        "normalised": [[0.6744598513, 1.546987321, -0.9548518276, 0.6431083103, -0.9548518276, -0.9548518276],
                       [-0.02066198923, 0.1227960219, -1.191276756, 1.661865591, 0.6185538879, -1.191276756]],
    }),
    "keras: attention, dot": (keras([[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 2], [3, 4]], scale="none"), {
        "A": [[0.2689414214, 0.7310585786], [0.7310585786, 0.2689414214]],
        "O": [[2.462117157, 3.462117157], [1.537882843, 2.537882843]],
    }),
    "keras: attention, concat": (keras([[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 2], [3, 4]], scores="additive"), {
        "A": [[0.6362583276, 0.3637416724], [0.3637416724, 0.6362583276]],
        "O": [[1.727483345, 2.727483345], [2.272516655, 3.272516655]],
    }),
    "keras: a mask of keys and one of queries": (keras([[1, 0], [0, 1]], [[1, 1], [1, 1]], [[1, 1], [1, 1]],
                                                       scale="none", padding=[1, 0], query_mask=[1, 0]), {
        "A": [[1, 0], [1, 0]],
        "masked_output": [[1, 1], [0, 0]],
    }),
    "keras: SiLU": (silu([-6, 1, 0, 1, 6]), {
        "activated": [[-0.01483573894, 0.7310585786, 0, 0.7310585786, 5.985164261]],
    }),
    "mindspore: SiLU": (silu([-1, 2, -3, 2, -1]), {
        "activated": [[-0.2689414214, 1.761594156, -0.1422776195, 1.761594156, -0.2689414214]],
    }),
    "deepml 102: Swish": (silu([0, 1, -1, 10, -10]), {
        "activated": [[0, 0.7310585786, -0.2689414214, 9.999546021, -0.000453978687]],
    }),
    "deepml 156: SwiGLU": (halves([[1, -1, 2, -2]]), {"gated": [[1.761594156, 0.238405844]]}),
    "deepml 156: SwiGLU of three rows": (halves([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]), {
        "gated": [[2.85772238, 7.85611032], [34.96811321, 47.98390319], [98.99834656, 119.9992627]],
    }),
    "deepml 156: SwiGLU of large figures": (halves([[1, -1, 1000, -1000]]), {"gated": [[1000, 0]]}),
}  # fmt: skip


def assert_near(figures: Rows, expected: Rows) -> None:
    assert [len(row) for row in figures] == [len(row) for row in expected]
    for row, true in zip(figures, expected, strict=True):
        assert row == pytest.approx(true, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_engine_and_plain_loops_give_the_figures(name: str) -> None:
    problem, expected = PUBLISHED[name]
    solution = solve(parse(text_of(problem).encode()))
    loops = by_loops(problem)
    for id, rows in expected.items():
        step = solution.result if id == "result" else solution.steps[id]
        assert_near(step.values.tolist(), rows)
        if step.id in loops:
            assert_near(loops[step.id], rows)
    assert any(id == "result" or id in loops for id in expected)


def test_what_micwill_prints_is_neither_of_the_roots() -> None:
    """Five of six: 0.208, 0.374, 0.424, 0.424, 0.245 where 0.187, 0.35, 0.394, 0.402, 0.224 come out, and unbiased
    0.216, 0.404, 0.455, 0.465, 0.258."""
    printed = (0.364, 0.208, 0.374, 0.424, 0.424, 0.245)
    for name in ("micwill: by hand, without ε", "micwill: unbiased"):
        roots = PUBLISHED[name][1]["root"]
        near = [abs(root - slip) < 0.0006 for (root,), slip in zip(roots, printed, strict=True)]
        assert near == [name != "micwill: unbiased", *[False] * 5]
