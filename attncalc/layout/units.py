"""Bytes in larger units, and shares of them, in words."""

from __future__ import annotations

from fractions import Fraction

from attncalc import digits
from attncalc.blocks import Block, Items, Math, Prose, compose, figure
from attncalc.layout.page import Page
from attncalc.steps import Step

# What bytes are counted in: each unit is so many of the one before it.
UNITS = {"binary": (1024, ("KiB", "MiB", "GiB", "TiB")), "decimal": (1000, ("KB", "MB", "GB", "TB"))}


def of_bytes(page: Page, step: Step) -> list[Block]:
    """4294967296 bytes = 4194304 KiB = 4096 MiB = 4 GiB; and in KB, MB and GB."""
    return [Items(tuple(page.say(f"units.{key}", bytes=_larger(page, step, key)) for key in UNITS))]


def _larger(page: Page, step: Step, key: str) -> Prose:
    times, units = UNITS[key]
    bytes = Fraction(page.figures(step).texts[0, 0])
    parts = list(page.say("units.bytes", n=page.cell(step, 0, 0)).parts)
    for k, unit in enumerate(units, start=1):
        if k > 1 and 10 * bytes < times**k:
            break  # less than a tenth of it
        text, sign = _quotient(page, bytes / times**k)
        parts += [f" {sign} ", figure(text), f" {unit}"]
    return Prose(tuple(parts))


def _quotient(page: Page, value: Fraction) -> tuple[str, str]:
    """A figure that is worked for a sentence, and whether it is exact."""
    text = digits.constant(float(value), page.rule.decimals, page.rule)
    return text, "=" if Fraction(text) == value else "≈"


def kv_share(page: Page, kv_heads: Step, heads: Step) -> list[Block]:
    """With 8 key/value heads for 32 query heads the cache is 8/32 = 0.25 of what it would be with 32."""
    counts: dict[str, Math] = {"kv_heads": page.cell(kv_heads, 0, 0), "heads": page.cell(heads, 0, 0)}
    return [page.say("units.share", **counts, share=_share(page, *counts.values()))]


def latent_share(page: Page, latent: Step, heads: Step, d_k: Step) -> list[Block]:
    """Keys and values of 24 heads would be 2×24×86 = 4128 figures: the cache is 1024/4128 ≈ 0.248 of that."""
    part, many, wide = (page.cell(step, 0, 0) for step in (latent, heads, d_k))
    count = figure(str(int(2 * heads.values.item() * d_k.values.item())))
    product = compose("chain", compose("times", figure("2"), many, wide), "=", count)
    return [page.say("units.latent_share", latent=part, heads=many, product=product, share=_share(page, part, count))]


def _share(page: Page, part: Math, whole: Math) -> Math:
    """8/32 = 0.25."""
    few, many = (Fraction(str(each.figures[0])) for each in (part, whole))
    text, sign = _quotient(page, few / many)
    return compose("chain", compose("over", part, whole), sign, figure(text))
