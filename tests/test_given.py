"""What is asked of any step from Python may be asked of a given one as well: it is its own working."""

from pathlib import Path

import numpy as np
import pytest

from attncalc import load, parse, solve
from attncalc.steps import Given

PROBLEMS = sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_given_step_answers_all_that_a_step_is_asked(path: Path) -> None:
    for step in (each for each in solve(load(path)).steps.values() if isinstance(each, Given)):
        n, m = step.shape
        assert np.array_equal(step.exact_from([], []), step.exact) and np.array_equal(step.recomputed([]), step.values)
        assert not step.reached([]).any() and np.array_equal(step.bounds([], 3).value, step.values)
        assert step.formula is None and len(step.workings(n - 1, lambda numbers: numbers)) == m
        for i, j in ((0, 0), (n - 1, m - 1)):
            working = step.working(i, j)
            assert working.cells == () and working.evaluate() == step.values[i, j]
        with pytest.raises(IndexError):
            step.working(n, 0)


def test_what_a_file_says_is_its_own_working_as_it_was_written(tmp_path: Path) -> None:
    np.save(tmp_path / "K.npy", [[0.1, 2.0]])
    text = "Q: [[.5, -0]]\nK: {file: K.npy}\nmask: {add: [[-.inf]]}\nmasked_row: zero\n"
    steps = solve(parse(text.encode(), "f", tmp_path)).steps
    texts = {id: [pattern.args[1] for pattern, _ in steps[id].workings(0, lambda numbers: numbers)] for id in "QK"}
    assert texts == {"Q": ["0.5", "0"], "K": ["0.1", "2.0"]}
    assert steps["Q"].exact_from([], []).all() and not steps["K"].exact_from([], []).any()
    (hidden,) = (step for step in steps.values() if isinstance(step, Given) and np.isneginf(step.values).any())
    assert hidden.working(0, 0).evaluate() == -np.inf
