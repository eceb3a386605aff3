"""attncalc: worked solutions of Transformer calculations, every figure on the page.

    from attncalc import load, solve
    solution = solve(load("problems/abc.yaml"))
    solution.steps["A"].values    # a NumPy array, n × m

The names are imported when they are used: `import attncalc` loads nothing else.
"""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, whose import would take longer than all that --version does

if TYPE_CHECKING:
    from attncalc.marking import Marking, mark
    from attncalc.mechanisms import solve
    from attncalc.problem import Problem, load, parse
    from attncalc.solution import Solution

__version__ = "0.1.0"
__all__ = ["Marking", "Problem", "Solution", "__version__", "load", "mark", "parse", "solve"]

_HOMES = {"Problem": "problem", "load": "problem", "parse": "problem", "solve": "mechanisms", "Solution": "solution",
          "Marking": "marking", "mark": "marking"}  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
