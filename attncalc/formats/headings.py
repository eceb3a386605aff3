"""What stands over a section, in every format: its number, if it has one, and its title."""

from __future__ import annotations

from attncalc.blocks import Prose, Section


def heading(section: Section) -> Prose:
    """2. Title, 2.1. Title."""
    if not section.number:
        return section.title
    return Prose((f"{section.number}. ", *section.title.parts))
