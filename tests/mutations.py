"""Files that were damaged, by hand or by machine: seeded mutations of bytes, of text, and of problems and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

# What stands in the place of figures, words, values and keys.
_HOSTILE: dict[str, list[str]] = json.loads((Path(__file__).parent / "hostile.json").read_text(encoding="utf-8"))
NUMBERS = [*_HOSTILE["numbers"], "9" * 400, "0." + "1" * 300, "0." + "1" * 5000]
TOKENS = [*_HOSTILE["tokens"], "x" * 500, "\ud800"]
SNIPPETS, KEYS, SIGNS = _HOSTILE["snippets"], _HOSTILE["keys"], _HOSTILE["signs"]

_number = re.compile(r"(?<![\w.])[-−+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.])")
_word = re.compile(r"[A-Za-z_]\w*")
_key = re.compile(r"(?m)^( *)(?:- )?([\w.]+):")
_value = re.compile(r"(?m)(?<=: )[^\n]*$")
_row = re.compile(r"\[[^\[\]\n]*\](?:, )?")


def mutated(random: Random, text: str, others: list[str]) -> bytes:
    """A text with a few things done to it, and now and then to its bytes."""
    for _ in range(min(8, 1 + int(random.expovariate(0.7)))):
        text = random.choice(OF_TEXT)(random, text, others)
    data = text.encode("utf-8", "surrogatepass")
    return _of_bytes(random, data) if random.random() < 0.12 else data


def damaged(random: Random, data: bytes) -> bytes:
    """Bytes of a binary file with a few of them changed, left out or put in."""
    found = bytearray(data)
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(found) + 1) if random.random() < 0.5 else random.randrange(min(len(found), 200) + 1)
        match random.randrange(4):
            case 0:
                found[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                del found[at : at + random.choice([1, 2, 8, 100])]
            case 2:
                found[at:at] = random.randbytes(random.choice([1, 4, 16]))
            case 3:
                found[at : at + 1] = bytes([(found[at] if at < len(found) else 0) ^ (1 << random.randrange(8))])
    return bytes(found)


def _of_bytes(random: Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    match random.randrange(6):
        case 0:
            encoding = random.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "gbk", "latin-1"])
            return text.encode(encoding, "replace")
        case 1:
            return data[: random.randrange(len(data) + 1)]
        case 2:
            return b"\xef\xbb\xbf" + text.replace("\n", random.choice(["\r\n", "\r", "\u2028"])).encode()
        case _:
            return damaged(random, data)


def _replaced(pattern: re.Pattern[str], by: Callable[[Random], str]) -> Callable[[Random, str, list[str]], str]:
    """One place of a pattern says something else."""

    def mutate(random: Random, text: str, _: list[str]) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        at = random.choice(found)
        return text[: at.start()] + by(random) + text[at.end() :]

    return mutate


def _token(random: Random) -> str:
    token = random.choice(TOKENS)
    return json.dumps(token, ensure_ascii=random.random() < 0.5) if random.random() < 0.8 else token


def _new_key(random: Random, text: str, _: list[str]) -> str:
    return f"{text.rstrip()}\n{random.choice(KEYS)}: {random.choice(SNIPPETS)}\n"


def _lines(random: Random, text: str, others: list[str]) -> str:
    """A line is left out, stands twice or elsewhere, or comes from another file; or is indented otherwise."""
    lines = text.splitlines(keepends=True) or [""]
    at, to = random.randrange(len(lines)), random.randrange(len(lines) + 1)
    match random.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines.insert(min(to, len(lines) - 1), lines.pop(at))
        case 3:
            lines.insert(to, random.choice(random.choice(others).splitlines(keepends=True) or [""]))
        case 4:
            lines[at] = random.choice([" ", "  ", "\t", "- ", "# "]) + lines[at]
    return "".join(lines)


def _rows(random: Random, text: str, _: list[str]) -> str:
    """A row is left out, stands twice, or a hundred times; or loses a figure."""
    found = list(_row.finditer(text))
    if not found:
        return text
    at = random.choice(found)
    row = at[0]
    others = ["", f"{row}, {row}", ", ".join([row] * 100), row.replace(",", "", 1), row.replace("[", "[1, ")]
    return text[: at.start()] + random.choice(others) + text[at.end() :]


def _signs(random: Random, text: str, _: list[str]) -> str:
    """A sign is put in, left out, or stands for another."""
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(["", random.choice(SIGNS)]) + text[at + random.randrange(2) :]


def _nested(random: Random, text: str, _: list[str]) -> str:
    at, depth = random.randrange(len(text) + 1), random.choice([1, 5, 70, 3000])
    return text[:at] + random.choice("[{") * depth + text[at:]


OF_TEXT: list[Callable[[Random, str, list[str]], str]] = [
    *[_replaced(_number, lambda random: random.choice(NUMBERS))] * 4,
    *[_replaced(_word, _token)] * 2,
    _replaced(_word, lambda random: random.choice(KEYS)),
    _replaced(_key, lambda random: f"{random.choice(['', '  '])}{random.choice(KEYS)}:"),
    *[_replaced(_value, lambda random: random.choice(SNIPPETS))] * 3,
    *[_new_key] * 3,
    *[_lines] * 3,
    *[_rows] * 2,
    *[_signs] * 2,
    _nested,
]  # fmt: skip
