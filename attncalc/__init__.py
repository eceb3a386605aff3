"""attncalc: worked solutions of Transformer calculations, every figure on the page."""

__version__ = "0.1.0"
