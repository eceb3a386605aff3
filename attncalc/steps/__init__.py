"""Matrix and the six kinds of step: what was computed, in no language and no format.

A step is a matrix of figures with the law of its cells. All that is asked of a step follows from that law: its figures
(`recomputed`, from any operands), the expression of a cell (`working`), which figures are exact (`exact_from`).
"""

from attncalc.steps.base import Cell, Numbers, Step, Working
from attncalc.steps.computed import FOLDS, Contract, Fold, Map, Pair, Reduce
from attncalc.steps.copied import FILL, ONE, Arrange, Given
from attncalc.steps.matrices import Axis, Matrix, OneOfTwo

__all__ = [
    "FILL", "FOLDS", "ONE", "Arrange", "Axis", "Cell", "Contract", "Fold", "Given", "Map", "Matrix", "Numbers",
    "OneOfTwo", "Pair", "Reduce", "Step", "Working",
]  # fmt: skip
