"""Pages without labels that are numbers (ids that have no words): they would be counted among the figures."""

import re
from dataclasses import replace

from attncalc.blocks import Grid


def without_numbers(page):
    """The same blocks, without rows and columns that are called by numbers."""
    if isinstance(page, Grid):
        sides = {side: getattr(page, side) for side in ("rows", "columns")}
        return replace(page, **{side: None for side, texts in sides.items() if texts and all(map(str.isdigit, texts))})
    if isinstance(page, tuple):
        parts = map(without_numbers, page)
        return tuple(parts) if type(page) is tuple else type(page)(*parts)
    return page


def without_places(text):
    """A page without the marks of the blocks that a wide or long matrix is shown in: [:,17..24], [1..32,:]."""
    span = r"\d+(?:\.\.\d+)?"
    return re.sub(rf"\[(?:{span},:|:,{span}|{span},{span})\]", "", text)
