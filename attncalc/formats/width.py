"""How wide a text is on a page of fixed-width letters, and how a label is made safe to show.

The rules are the simple ones of terminals: letters of East Asian width two, marks that combine none, an emoji joined
to the one before it none. `visible` writes out what would move the cursor, turn the text round or not be seen.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

JOINER, EMOJI_STYLE = "\u200d", "\ufe0f"
_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ONE_COLUMN = re.compile("[ -~×·√∞≈⊙ᵀ⎡-⎦]*")  # what pages are full of
_COMBINING = re.compile(f"[{JOINER}{EMOJI_STYLE}\U0001f3fb-\U0001f3ff]")  # whose width is that of what they join
_SEEN_JOINERS = frozenset({"\u200c", JOINER})  # letters of some scripts, and emoji, are written with them


def visible(text: str) -> str:
    """The text with control characters, line ends, directions and invisible signs written as escapes: \\n, \\x1b."""
    if text.isascii() and text.isprintable():
        return text
    changed = {ord(char): shown for char in set(text) if (shown := _visible(char)) != char}
    return text.translate(changed) if changed else text


def _visible(char: str) -> str:
    if char in _SEEN_JOINERS or unicodedata.category(char) not in _UNSEEN:
        return char
    code = ord(char)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def display_width(text: str) -> int:
    """How many columns the text takes."""
    if text.isascii() or _ONE_COLUMN.fullmatch(text):
        return len(text)
    if not _COMBINING.search(text):
        return sum(map(_char_width, text))
    total, before, last = 0, "", 0  # `last` is the width of the letter that marks combine with
    for char in text:
        if char == EMOJI_STYLE:
            total, last = total + (2 - last if last == 1 else 0), 2
        elif before != JOINER and (own := _char_width(char)) and not _is_skin_tone(char, last):
            total, last = total + own, own
        before = char
    return total


@lru_cache(maxsize=4096)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf", "Cc"} or "\u1160" <= char <= "\u11ff":
        return 0  # the last are the vowels and ends of a Hangul syllable
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _is_skin_tone(char: str, last: int) -> bool:
    return "\U0001f3fb" <= char <= "\U0001f3ff" and last == 2


def padded(text: str, width: int) -> str:
    """The text with spaces after it, `width` columns wide."""
    return text + " " * (width - display_width(text))


def centred(text: str, width: int) -> str:
    """The text in the middle of `width` columns, spaces on both sides."""
    return padded(" " * ((width - display_width(text)) // 2) + text, width)
