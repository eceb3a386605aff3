"""Bytes -> text. Files are UTF-8; whatever else a file turns out to be is named, so that it can be saved again."""

from __future__ import annotations

import codecs

from attncalc.problem.source import Source

# UTF-32 first: its little-endian mark starts with that of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip
SAVE_AGAIN = "save it as UTF-8"


def decode(data: bytes, name: str) -> Source:
    """The text of a file, without its byte order mark.

    Raises ProblemError for UTF-16 and UTF-32, and for bytes that aren't UTF-8, with the line of the first of them.
    """
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            raise Source(name).error_at(1, 1, "", f"the file is {encoding}", SAVE_AGAIN)
    if b"\0" in data[:2]:  # ASCII in UTF-16 without a mark: every other byte is 0
        raise Source(name).error_at(1, 1, "", "the file looks like UTF-16", SAVE_AGAIN)
    try:
        return Source(name, data.removeprefix(codecs.BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError as error:
        before = data[: error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)]
        line, start = before.count(b"\n") + 1, before.rfind(b"\n") + 1
        column = len(before[start:].decode("utf-8", "replace").lstrip("\ufeff")) + 1
        guess = "it may be GBK; " if _is_gbk(data) else ""
        raise Source(name).error_at(line, column, "", "the file is not UTF-8", guess + SAVE_AGAIN) from None


def _is_gbk(data: bytes) -> bool:
    try:
        data.decode("gbk")
    except UnicodeDecodeError:
        return False
    return True
