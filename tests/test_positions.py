"""Words to vectors, and positions: sinusoidal, learned, rotary; against plain loops and published figures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import test_laws as laws
from hypothesis import given, settings
from hypothesis import strategies as st

from attncalc import formats, rounding
from attncalc.errors import ProblemError
from attncalc.layout import lay_out
from attncalc.mechanisms import solve
from attncalc.problem import load, parse

PROBLEMS = Path(__file__).resolve().parent.parent / "problems"


def steps(text):
    return solve(parse(text.encode(), "p.yaml")).steps


def near(values, rows, most=1e-12):
    assert np.shape(values) == np.shape(rows)
    assert np.max(np.abs(np.asarray(values) - np.asarray(rows, dtype=float))) <= most, (values, rows)


def printed_as(values, rows):
    """Whether each figure, rounded to the decimals of its text, is that text."""
    for value, text in zip(np.ravel(values), [text for row in rows for text in row], strict=True):
        assert abs(value - float(text)) <= 0.5000001 * 10.0 ** -len(text.partition(".")[2]), (value, text)


def page(read, lang="en"):
    return formats.render("text", lay_out(solve(read), read.show, lang, kind=read.kind))


# Words

WORDS = "vocabulary: [a, b, c]\nembedding: [[1, 0.5], [2, 0], [0, 3]]\n"
WEIGHTS = "W_Q: identity\nW_K: identity\nW_V: identity\n"


@pytest.mark.parametrize(("said", "ids"), [("[c, a, c]", [2, 0, 2]), ("[2, 0, 2]", [2, 0, 2]), ("[b]", [1])])
def test_words_and_ids_take_their_rows(said, ids):
    found = steps(f"{WORDS}input: {said}\n{WEIGHTS}")
    table = [[1, 0.5], [2, 0], [0, 3]]
    near(found["ids"].values, [[id] for id in ids])
    near(found["H"].values, [table[id] for id in ids])
    assert found["H"].rows.labels == tuple("abc"[id] for id in ids)


def test_other_ids_look_up_other_rows():
    H = steps(f"{WORDS}input: [c, a]\n{WEIGHTS}")["H"]
    E, _ = (operand.values for operand in H.operands)
    near(H.recomputed([E, np.array([[1.0], [1.0]])]), [[2, 0], [2, 0]])


def test_an_embedding_may_name_its_words_in_any_order():
    by_word = "embedding: {c: [0, 3], a: [1, 0.50], b: [2, 0]}\n"
    for vocabulary in ("", "vocabulary: [a, b, c]\n"):
        found = steps(f"{vocabulary}{by_word}input: [b, a]\n{WEIGHTS}")
        near(found["H"].values, [[2, 0], [1, 0.5]])
        assert found["H"].written[1].tolist() == ["1", "0.50"]
    near(found["ids"].values, [[1], [0]])


def test_a_drawn_embedding_and_one_of_a_row_a_word():
    found = steps("vocabulary: [a, b, c]\nembedding: {random: integers, from: 1, to: 9, seed: 7, columns: 2}\n"
                  f"input: [b, c]\n{WEIGHTS}")  # fmt: skip
    assert found["embedding"].shape == (3, 2)
    near(found["H"].values, found["embedding"].values[1:])
    near(steps(f"vocabulary: [a, b]\nembedding: identity\ninput: [b]\n{WEIGHTS}")["H"].values, [[0, 1]])


def test_ids_need_no_vocabulary():
    found = steps(f"embedding: [[1, 0], [0, 2]]\ninput: [1, 0, 1]\n{WEIGHTS}")
    near(found["H"].values, [[0, 2], [1, 0], [0, 2]])
    assert found["H"].rows.labels is None  # an id is no name


def test_words_that_are_digits_are_words():
    near(steps(f"vocabulary: ['1', '0']\nembedding: [[5], [6]]\ninput: [0, 1]\n{WEIGHTS}")["H"].values, [[6], [5]])


# Sinusoidal positions


def sinusoid(n, d, base, columns, round_to=lambda x: x):
    """PE in plain loops (Vaswani et al. 2017, section 3.5)."""
    rows = []
    for pos in range(n):
        angles = [round_to(pos / base ** (2 * i / d)) for i in range((d + 1) // 2)]
        sines, cosines = ([round_to(wave(x)) for x in angles] for wave in (math.sin, math.cos))
        if columns == "concatenated":
            rows.append(sines + cosines[: d // 2])
        else:
            rows.append([(cosines if k % 2 else sines)[k // 2] for k in range(d)])
    return rows


@settings(max_examples=40)
@given(
    st.integers(1, 5), st.integers(1, 7), st.sampled_from(["10000", "100", "2.5"]),
    st.sampled_from(["interleaved", "concatenated"]), st.sampled_from(["exact", "carried"]),
)  # fmt: skip
def test_sinusoidal_positions(n, d, base, columns, how):
    text = f"kind: positions\nlength: {n}\nwidth: {d}\nbase: {base}\ncolumns: {columns}\nshow: {{rounding: {how}}}\n"
    solution, rule = laws.worked(text)
    rounded = (lambda x: float(rounding.rounded(np.array([[x]]), 3)[0, 0])) if how == "carried" else lambda x: x
    near(solution.result.values, sinusoid(n, d, float(base), columns, rounded))
    check_laws(solution, rule)


def check_laws(solution, rule):
    laws.check_workings(solution, rule)
    laws.check_recomputed(solution, rule)
    if rule.carried:
        laws.check_printed(solution, rule)


def test_figures_of_machine_learning_mastery():
    found = steps("kind: positions\nlength: 4\nwidth: 4\nbase: 100\n")
    printed_as(found["positions"].values, [
        ["0.", "1.", "0.", "1."], ["0.84147098", "0.54030231", "0.09983342", "0.99500417"],
        ["0.90929743", "-0.41614684", "0.19866933", "0.98006658"],
        ["0.14112001", "-0.9899925", "0.29552021", "0.95533649"],
    ])  # fmt: skip


def test_both_layouts_of_one_position():
    text = "kind: positions\nlength: 2\nwidth: 4\n"
    printed_as(steps(text)["positions"].values[1:], [["0.8415", "0.5403", "0.01", "1.0"]])
    printed_as(steps(f"{text}columns: concatenated\n")["positions"].values[1:], [["0.8415", "0.01", "0.5403", "1.0"]])


def test_positions_are_added_row_by_row():
    found = steps("kind: positions\nx: [[1, 2, 3], [4, 5, 6]]\n")
    assert found["positions"].shape == (2, 3)
    near(found["X"].values, np.array([[1, 2, 3], [4, 5, 6]]) + sinusoid(2, 3, 10000, "interleaved"))


def test_article_3_from_words_to_vectors_with_positions():
    """Article 3, parts 1 and 2: H, PE and X' to 2 decimals; from X' on it is i-love-you.yaml."""
    embedded, known = solve(load(PROBLEMS / "i-love-you-embedded.yaml")), solve(load(PROBLEMS / "i-love-you.yaml"))
    near(embedded.steps["H"].values, [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]])
    near(embedded.steps["positions"].values, [[0, 1, 0, 1], [0.84, 0.54, 0.01, 1], [0.91, -0.42, 0.02, 1]])
    near(embedded.steps["X"].values, known.steps["H"].values)
    for id in ("Q", "K", "V", "S", "A", "O"):
        near(embedded.steps[id].values, known.steps[id].values)


def test_formulas_start_from_what_is_projected():
    read = load(PROBLEMS / "i-love-you-embedded.yaml")
    for lang in ("en", "zh"):
        text = page(read, lang)
        assert "Q = X·W_Q" in text and "H·W_Q" not in text and "H = E[ids]" in text and "X = H + PE" in text


def test_learned_positions():
    rest = "position: {kind: learned, table: [[1, 2], [3, 4], [5, 6]]}\nH: [[1, 0], [0, 1]]\n" + WEIGHTS
    found = steps(rest)
    near(found["positions"].values, [[1, 2], [3, 4]])
    near(found["X"].values, [[2, 2], [3, 5]])
    drawn = "{random: integers, from: 1, to: 2, seed: 1}"
    found = steps(f"H: [[1, 0], [0, 1]]\n{WEIGHTS}position: {{kind: learned, table: {drawn}}}\n")
    assert found["table"].shape == (2, 2)


@pytest.mark.parametrize("kind", ["sinusoidal", "{kind: learned, table: [[0.5, 1], [0, 2]]}"])
def test_heads_that_cut_their_input_cut_it_with_positions(kind):
    one = "{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}"
    found = steps(f"H: [[1, 2], [3, 4]]\nposition: {kind}\nheads: [{one}, {one}]\nsplit: input\n")
    near(found["head2.H"].values, found["X"].values[:, 1:])


# Rotary positions


def turn(row, pos, *, pairs="adjacent", base=10000.0, width=None, ntk=1.0, angle=None):
    """A row turned as complex numbers (Su et al. 2021, section 3.2.1)."""
    d = width or len(row)
    out = list(row)
    for i in range(d // 2):
        j, k = (2 * i, 2 * i + 1) if pairs == "adjacent" else (i, i + d // 2)
        stretched = base * ntk ** (d / (d - 2)) if ntk != 1 else base
        theta = pos * stretched ** (-2 * i / d) if angle is None else pos * angle
        z = complex(row[j], row[k]) * complex(math.cos(theta), math.sin(theta))
        out[j], out[k] = z.real, z.imag
    return out


X = [[1, 2, 3, 4, 5, 6], [0.5, -1, 0, 2, 1.5, -2], [3, 1, 4, 1, 5, 9]]


@pytest.mark.parametrize("pairs", ["adjacent", "halves"])
@pytest.mark.parametrize("width", [None, 2, 4])
@pytest.mark.parametrize(("base", "start", "ntk"), [(10000, 0, 1), (100, 5, 1), (500, 1, 4)])
def test_rotary_positions(pairs, width, base, start, ntk):
    said = f"kind: rotary\nx: {X}\npairs: {pairs}\nbase: {base}\nstart: {start}\n"
    said += f"rotary_dim: {width}\n" if width else ""
    if ntk != 1 and width != 2:
        said += f"ntk: {ntk}\n"
    else:
        ntk = 1
    solution, rule = laws.worked(said)
    expected = [turn(row, start + k, pairs=pairs, base=base, width=width, ntk=ntk) for k, row in enumerate(X)]
    near(solution.result.values, expected)
    assert solution.result.id == "rotated"
    check_laws(solution, rule)
    check_laws(*laws.worked(said, rounding="carried"))


def test_carried_rotation_uses_what_is_printed():
    found = steps("kind: rotary\nx: [[1, 2]]\nstart: 1\nshow: {rounding: carried, decimals: 2}\n")
    near(found["cos"].values, [[0.54]])
    near(found["sin"].values, [[0.84]])
    near(found["rotated"].values, [[-1.14, 1.92]])  # 0.54 - 1.68, 0.84 + 1.08


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [("adjacent", ["-1.1426", "1.9221", "2.9599", "4.0298"]), ("halves", ["-1.9841", "1.9599", "2.4624", "4.0198"])],
)
def test_both_layouts_of_one_vector(pairs, expected):
    """Adjacent pairs as in the paper; halves as many implementations have it."""
    eye = "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"
    text = (f"tokens: [a, b]\nH: [[1, 2, 3, 4], [1, 2, 3, 4]]\nW_Q: {eye}\nW_K: {eye}\nW_V: {eye}\nd_k: 4\n"
            f"position: {{kind: rotary, base: 10000, pairs: {pairs}}}\n")  # fmt: skip
    printed_as(steps(text)["Q.rotated"].values[1:], [expected])
    assert f"rotary positions on {pairs}" in page(parse(text.encode()))


def test_figures_of_sreekanth_in_degrees():
    """simple_ROPE.md: 30° a place for both pairs."""
    found = steps((PROBLEMS / "rotary-pairs.yaml").read_text("utf-8"))["rotated"]
    printed_as(found.values, [["1.0", "0.0", "0.0", "1.0"], ["0.866", "0.5", "-0.5", "0.866"],
                              ["0.5", "0.866", "-0.866", "0.5"]])  # fmt: skip
    assert found.exact[1].tolist() == [False, True, True, False]  # sin 30° is 1/2


def test_figures_of_a_worked_example_at_positions_2_and_3():
    """Explicando Detalhadamente a Matemática do RoPE; the source misprints two products, and so its score, 32.4604."""
    found = steps("H: [[1, 2, 3, 4], [1.5, 2.5, 3.5, 4.5]]\nW_Q: identity\nW_K: identity\nW_V: identity\n"
                  "position: {kind: rotary, start: 2}\nscale: none\n")  # fmt: skip
    printed_as(found["Q.rotated"].values[:1], [["-2.2347", "0.0770", "2.9194", "4.0592"]])
    printed_as(found["K.rotated"].values[1:], [["-1.8378", "-2.2633", "3.3634", "4.6030"]])
    near(found["S"].values[0, 1], 32.43627541, 1e-8)
    near(found["cos"].values[0], [-0.4161468365, 0.9998000067], 1e-9)


# Of onnx 1.23.2, test_rotary_embedding_no_position_ids_interleaved: x, cos, sin, rotated; of one head of each batch.
ONNX = [
    ([[0.5488135219, 0.7151893377, 0.6027633548, 0.5448831916, 0.4236547947, 0.6458941102, 0.4375872016, 0.8917729855],
      [0.9636627436, 0.3834415078, 0.7917250395, 0.5288949013, 0.5680445433, 0.9255966544, 0.07103605568,
       0.08712930232],
      [0.02021839656, 0.8326198459, 0.7781567574, 0.8700121641, 0.9786183238, 0.7991585732, 0.4614793658, 0.780529201]],
     [[0.320017159, 0.3834638894, 0.5883170962, 0.831048429], [0.6289818287, 0.8726506829, 0.2735420465, 0.7980468273],
      [0.1856359392, 0.9527916312, 0.6874882579, 0.2155076712]],
     [[0.1861930043, 0.9443724155, 0.7395507693, 0.4904588163],
      [0.2274146229, 0.2543564737, 0.0580291599, 0.4344166219],
      [0.3117958903, 0.6963434815, 0.3777518272, 0.179603681]],
     [[0.042466491, 0.33105811, -0.28343469, 0.77817607, -0.22842811, 0.69330478, -0.073721766, 0.95572501],
      [0.51892614, 0.46032876, 0.55637151, 0.66292089, 0.10167247, 0.28615275, 0.018839683, 0.10039251],
      [-0.25585416, 0.16086818, 0.13559395, 1.3708048, 0.37090501, 0.91908699, -0.040733576, 0.25109342]]),
    ([[0.7299905419, 0.1716296822, 0.5210366249, 0.05433798954, 0.199996531, 0.01852179505, 0.7936977148, 0.2239246815],
      [0.3453516662, 0.928081274, 0.7044144273, 0.03183893114, 0.1646941602, 0.6214783788, 0.5772286057, 0.2378928214],
      [0.9342139959, 0.6139659286, 0.5356327891, 0.5899099708, 0.7301220298, 0.3119449914, 0.3982210755, 0.2098437548]],
     [[0.9473705888, 0.7308558226, 0.2539416552, 0.2133119702],
      [0.5182006955, 0.02566271834, 0.2074700743, 0.4246854782],
      [0.3741699755, 0.4635754228, 0.2776287198, 0.5867843628]],
     [[0.02467872761, 0.06724963337, 0.679392755, 0.453696847],
      [0.5365791917, 0.8966712952, 0.9903389215, 0.216896981],
      [0.6630781889, 0.2633223832, 0.02065099962, 0.7583786249]],
     [[0.68733597, 0.18061215, 0.37714845, 0.074752763, 0.038203876, 0.14057966, 0.067711301, 0.40786397],
      [-0.3190276, 0.66624087, -0.010471867, 0.63244528, -0.58130509, 0.29204121, 0.19354238, 0.22622877],
      [-0.057552576, 0.84918457, 0.092969701, 0.41451186, 0.19626087, 0.10168263, 0.074528888, 0.42513537]]),
]  # fmt: skip


@pytest.mark.parametrize(("x", "cos", "sin", "rotated"), ONNX)
def test_figures_of_onnx(x, cos, sin, rotated):
    """In float32 there: cosines and sines are given, and are none of an angle."""
    near(steps(f"kind: rotary\nx: {x}\ncos: {cos}\nsin: {sin}\n")["rotated"].values, rotated, 2e-7)


# Article 2: q = k = [1, 0]


def test_article_2():
    """At one place 1, 60° apart 0.5; as exact figures."""
    S = solve(load(PROBLEMS / "rotary.yaml")).steps["S"]
    near(S.values, [[1, 0.5], [0.5, 1]])
    assert S.exact[0].tolist() == [True, True]
    assert "S[1,2] = 1×0.5 + 0×0.866 = 0.5 + 0 = 0.5" in page(load(PROBLEMS / "rotary.yaml"))


@pytest.mark.parametrize("angle", range(0, 360, 15))
def test_degrees(angle):
    found = steps(f"kind: rotary\nx: [[1, 0]]\nangles: [{angle}]\ndegrees: yes\nstart: 1\n")
    near(found["cos"].values, [[math.cos(math.radians(angle))]], 1e-15)
    near(found["sin"].values, [[math.sin(math.radians(angle))]], 1e-15)
    for wave, function in (("cos", math.cos), ("sin", math.sin)):
        exact = round(function(math.radians(angle)) * 2, 9).is_integer()
        assert found[wave].exact[0, 0] == exact and (not exact or (found[wave].values * 2).item().is_integer())


@pytest.mark.parametrize("how", ["exact", "carried"])
def test_the_identity_of_relative_positions(how):
    """(R_i q)·(R_j k) = q·(R_(j-i) k): along a diagonal of S all is one figure, that of q at the first place."""
    read = load(PROBLEMS / "rotary-relative.yaml").with_show(rounding=how)
    S = solve(read).steps["S"].values
    q, k = [1, 2, 3, 4], [1.5, 2.5, 3.5, 4.5]
    most = 1e-12 if how == "exact" else 0.03
    for i in range(4):
        for j in range(4):
            near(S[i, j], np.dot(turn(q, i), turn(k, j)), most)
            near(S[i, j], np.dot(q, turn(k, j - i)), most)
    assert "j - i = 1   S[1,2] = S[2,3] = S[3,4]" in page(read) or how == "carried"


def test_only_one_query_and_one_key_are_called_relative():
    read = load(PROBLEMS / "rotary.yaml")
    assert "a score rests on the distance" in page(read)
    other = (PROBLEMS / "rotary.yaml").read_text("utf-8").replace("K: [[1, 0], [1, 0]]", "K: [[1, 0], [0, 1]]")
    assert "a score rests on the distance" not in page(parse(other.encode()))


# Rotary positions within attention


def attention(Q, K, V, **of_turn):
    """softmax(QKᵀ/√d_k)V of one head in plain loops, with rows turned by their positions."""
    past = of_turn.pop("past", 0)
    start = of_turn.pop("start", 0)
    Q = [turn(row, start + past + i, **of_turn) for i, row in enumerate(Q)]
    K = [turn(row, start + j, **of_turn) for j, row in enumerate(K)]
    out = []
    for i, q in enumerate(Q):
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in K]
        seen = [math.exp(s) if j <= i + past else 0.0 for j, s in enumerate(scores)]
        out.append([sum(w * v[c] for w, v in zip(seen, V, strict=True)) / sum(seen) for c in range(len(V[0]))])
    return out


def test_several_heads_turn_over_their_own_width_and_shared_keys_turn_once():
    rng = np.random.default_rng(1)
    Q, K, V = (np.round(rng.normal(size=(3, d)), 2).tolist() for d in (16, 8, 8))
    text = (f"Q: {Q}\nK: {K}\nV: {V}\nheads: 4\nkv_heads: 2\nmask: causal\n"
            "position: {kind: rotary, pairs: halves, start: 3}\n")  # fmt: skip
    solution, rule = laws.worked(text)
    found = solution.steps
    for h in range(4):
        own, shared = slice(4 * h, 4 * h + 4), slice(4 * (h // 2), 4 * (h // 2) + 4)
        cut = [[row[columns] for row in rows] for rows, columns in ((Q, own), (K, shared), (V, shared))]
        near(found[f"head{h + 1}.O"].values, attention(*cut, pairs="halves", start=3), 1e-9)
    assert "head1.K.a" in found and "head2.K.a" not in found and "head3.K.a" in found
    assert found["head2.K.rotated"].operands == (found["head1.K.rotated"],)
    check_laws(solution, rule)
    check_laws(*laws.worked(text, rounding="carried"))


def test_later_queries_stand_at_later_positions():
    Q, K, V = [[1, 2], [0.5, 1]], [[1, 0], [0, 1], [1, 1], [2, 1]], [[1], [2], [3], [4]]
    for said, past in (("past: 1", 1), ("align: end", 2)):
        text = f"Q: {Q}\nK: {K}\nV: {V}\nposition: rotary\nmask: {{causal: yes, {said}}}\n"
        near(steps(text)["O"].values, attention(Q, K, V, past=past), 1e-12)
        table = [[2 * p] for p in range(4)]
        near(steps(text.replace("rotary", f"{{kind: rotary, angles: {table}}}"))["O"].values,
             attention(Q, K, V, past=past, angle=2), 1e-12)  # fmt: skip


def test_keys_of_a_memory_turn_from_the_first_position():
    found = steps(f"H: [[1, 2]]\nmemory: {{H: [[1, 0], [0, 1]]}}\n{WEIGHTS}position: rotary\n")
    near(found["K.rotated"].values, [[1, 0], turn([0, 1], 1)])
    near(found["Q.angles"].values, [[0]])


# Shuffled words

ORDER = [2, 1, 0]  # 你爱我 from 我爱你


def halves(name):
    found = solve(load(PROBLEMS / f"{name}.yaml")).steps
    A, O = found["A"].values, found["O"].values  # noqa: E741
    assert not A[:3, 3:].any() and not A[3:, :3].any()
    return A[:3, :3], A[3:, 3:], O[:3], O[3:]


def test_without_positions_words_that_are_shuffled_are_shuffled_alike():
    A, shuffled_A, O, shuffled_O = halves("shuffled")  # noqa: E741
    near(shuffled_O, O[ORDER])
    near(shuffled_A, A[ORDER][:, ORDER])


def test_with_positions_they_are_not():
    A, shuffled_A, O, shuffled_O = halves("shuffled-placed")  # noqa: E741
    assert np.abs(shuffled_O - O[ORDER]).max() > 0.1 and np.abs(shuffled_A - A[ORDER][:, ORDER]).max() > 0.1
    one = (PROBLEMS / "shuffled-placed.yaml").read_text("utf-8").partition("mask:")[0]
    for words, expected in (("[我, 爱, 你]", O), ("[你, 爱, 我]", shuffled_O)):
        near(steps(one.replace("[我, 爱, 你, 你, 爱, 我]", words))["O"].values, expected)


# Errors: what is added to a problem, the line and the path, the words of the message

ATTENTION = f"H: [[1, 2, 3, 4], [0, 1, 0, 1]]\n{WEIGHTS}"  # four lines
ROWS = "kind: rotary\nx: [[1, 2, 3, 4], [0, 1, 0, 1]]\n"
INPUT = f"{WORDS}{WEIGHTS}"  # five lines
REFUSED = [
    (f"{INPUT}input: [a, d, e, d]\n", 6, 12, "input", '"d" and "e" are not in the vocabulary'),
    (f"{INPUT}input: [0, 7]\n", 6, 12, "input[2]", "7, but the vocabulary has 3 words"),
    (f"{INPUT}input: [0, 3]\n", 6, 12, "input[2]", "3, but the vocabulary has 3 words; ids go from 0 to 2"),
    (f"{INPUT}input: a b\n", 6, 8, "input", "must be a list of texts"),
    (INPUT, 1, 13, "input", "missing"),
    (f"vocabulary: [a]\ninput: [a]\n{WEIGHTS}", 1, 13, "embedding", "missing"),
    (f"embedding: [[1]]\ninput: [a]\n{WEIGHTS}", 2, 9, "input[1]", '"a" is not in the vocabulary'),
    (f"embedding: {{random: integers, from: 1, to: 2, seed: 1}}\ninput: [a]\n{WEIGHTS}", 1, 12, "vocabulary",
     "missing"),
    (f"vocabulary: [a, b, a]\nembedding: [[1], [2], [3]]\ninput: [a]\n{WEIGHTS}", 1, 20, "vocabulary", '"a" stands'),
    (f"vocabulary: [a, b]\nembedding: [[1], [2], [3]]\ninput: [a]\n{WEIGHTS}", 1, 13, "vocabulary",
     "2 words, but embedding has 3 rows"),
    (f"vocabulary: [a, b]\nembedding: {{a: [1]}}\ninput: [a]\n{WEIGHTS}", 2, 12, "embedding", 'no row for "b"'),
    (f"vocabulary: [a]\nembedding: {{a: [1], b: [2]}}\ninput: [a]\n{WEIGHTS}", 2, 12, "embedding", 'rows for "b"'),
    (f"embedding: {{a: [1], b: [2, 3]}}\ninput: [a]\n{WEIGHTS}", 1, 24, "embedding[2]", "2 numbers"),
    (f"{INPUT}input: [a]\nH: [[1, 2]]\n", 7, 4, "H", "can't be given together with vocabulary"),
    (f"{INPUT}input: [a]\ntokens: [x]\n", 7, 9, "tokens", "can't be given together with input"),
    (f"{WORDS}input: [a]\nQ: [[1]]\nK: [[1]]\n", 4, 4, "Q", "can't be given together with vocabulary"),
    (f"{INPUT}input: [a, b]\nmask: {{keep: [[1, 0, 1], [1, 1, 1], [1, 1, 1]]}}\n", 6, 8, "input",
     "2 words, but mask.keep has 3"),
    (f"{ATTENTION}position: sinus\n", 5, 11, "position", '"sinus" is not none, sinusoidal, learned or rotary'),
    (f"{ATTENTION}position: learned\n", 5, 11, "position", "learned needs a table"),
    (f"{ATTENTION}position: {{base: 100}}\n", 5, 11, "position.kind", "missing"),
    (f"{ATTENTION}position: {{kind: learned}}\n", 5, 11, "position.table", "missing"),
    (f"{ATTENTION}position: {{kind: sinusoidal, pairs: halves}}\n", 5, 30, "position", "unknown key pairs"),
    (f"{ATTENTION}position: {{kind: sinusoidal, base: 0}}\n", 5, 36, "position.base", "0 is not above 0"),
    (f"{ATTENTION}position: {{kind: learned, table: [[1, 2, 3, 4]]}}\n", 5, 34, "position.table",
     "1 row (1 × 4), but there are 2 positions: H has 2 rows"),
    (f"{ATTENTION}position: {{kind: learned, table: [[1, 2], [3, 4]]}}\n", 5, 34, "position.table",
     "2 columns (2 × 2), but"),
    ("Q: [[1, 2]]\nK: [[1, 2]]\nposition: sinusoidal\n", 3, 11, "position", "sinusoidal changes H, but Q is given"),
    ("S: [[1]]\nd_k: 1\nposition: rotary\n", 3, 11, "position", "rotary changes queries and keys, but S is given"),
    ("A: [[1]]\nposition: rotary\n", 2, 11, "position", "rotary changes queries and keys, but A is given"),
    ("Q: [[1, 2, 3]]\nK: [[1, 2, 3]]\nposition: rotary\n", 3, 11, "position", "turned in pairs, but d_k is 3"),
    ("Q: [[1, 2]]\nK: [[1, 2]]\nposition: {kind: rotary, rotary_dim: 4}\n", 3, 38, "position.rotary_dim",
     "4, but d_k is 2"),
    ("Q: [[1, 2]]\nK: [[1, 2], [3, 4]]\nposition: {kind: rotary, angles: [[1], [2], [3]]}\n", 3, 34, "position.angles",
     "3 rows, but there are 2 positions"),
    (f"{ROWS}rotary_dim: 3\n", 3, 13, "rotary_dim", "3 is odd"),
    (f"{ROWS}rotary_dim: 6\n", 3, 13, "rotary_dim", "6, but x has 4 columns (2 × 4, line 2); at most 4"),
    (f"{ROWS}angles: [1]\n", 3, 9, "angles", "1 column, but there are 2 pairs"),
    (f"{ROWS}angles: [[1, 2], [1, 2], [1, 2]]\n", 3, 9, "angles", "3 rows, but there are 2 positions"),
    (f"{ROWS}angles: [1, 2]\nbase: 3\n", 4, 7, "base", "can't be given together with angles"),
    (f"{ROWS}angles: [[1, 2], [3, 4]]\nstart: 3\n", 4, 8, "start", "not used where angles has a row a position"),
    (f"{ROWS}angles: {{random: integers, from: 1, to: 2, seed: 1}}\n", 3, 9, "angles", "its size is not determined"),
    (f"{ROWS}degrees: yes\n", 3, 10, "degrees", "not used where no angles are given"),
    (f"{ROWS}cos: [1, 2]\n", 3, 6, "sin", "missing"),
    (f"{ROWS}cos: [1, 2]\nsin: [1, 2]\n", 3, 6, "cos", "1 row, but there are 2 positions"),
    (f"{ROWS}cos: [[1, 2], [1, 2]]\nsin: [[1, 2], [1, 2]]\nstart: 1\n", 5, 8, "start",
     "can't be given together with cos"),
    (f"{ROWS}rotary_dim: 2\nntk: 2\n", 4, 6, "ntk", "d is 2, and d/(d-2) has no value"),
    (f"{ROWS}start: -1\n", 3, 8, "start", "-1 is not a whole number from 0 to 1000000000"),
    ("kind: rotary\nx: [[1, 2, 3]]\n", 2, 4, "",
     "turned in pairs, but x has 3 columns (1 × 3, line 2); say how many are"),
    ("kind: rotary\nbase: 2\n", 1, 1, "x", "missing"),
    ("kind: positions\nlength: 3\n", 1, 1, "width", "missing"),
    ("kind: positions\nlength: 3\nx: [[1, 2]]\n", 3, 4, "x", "1 row (1 × 2), but length is 3"),
    ("kind: positions\nlength: 1000000\nwidth: 2\n", 2, 9, "length", "at most 1000000 figures"),
    ("kind: positions\nlength: 0\nwidth: 2\n", 2, 9, "length", "0 is not a whole number from 1 to 1000000"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "path", "what"), REFUSED, ids=lambda value: str(value)[-60:])
def test_what_is_refused(text, line, column, path, what):
    with pytest.raises(ProblemError) as caught:
        parse(text.encode(), "p.yaml")
    error = caught.value
    assert (error.line, error.column, error.path) == (line, column, path), str(error)
    assert what in f"{error.what}; {error.hint}" and "\n" not in str(error)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.yaml")), ids=lambda path: path.stem)
def test_from_where_places_count_is_said_once_and_of_the_pos_that_is_there(path, lang):
    """Rows are counted from 1, and "position 1" is the first of them: what counts from 0 has another name."""
    conventions = solve(load(path)).conventions
    noted = {convention.key for convention in conventions} & {"sinusoidal", "learned", "first_position"}
    assert len(noted) <= 1
    if noted == {"first_position"}:
        text = page(load(path), lang)
        said = {"en": "  pos, the place of a row, counts from 0", "zh": "  pos 是行的位置，从0开始编号"}[lang]
        assert said in text and ("pos (" in text or "pos_" in text)
