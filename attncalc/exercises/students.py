"""Who gets a sheet: ids, one a line or from a column of a CSV file, and the names of their files."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator
from io import StringIO

from attncalc.marking.students import delimiter
from attncalc.problem.decoding import decode
from attncalc.problem.source import Source, short, some_of

MOST_NAMED = 20  # columns of a table
LONGEST = 200  # bytes of a file's name that come from an id: most systems take 255 in all
_unsafe = re.compile(r"[^\w.\-]+")


def ids_of(data: bytes, name: str, column: str | None = None) -> list[str]:
    """The ids in a list of students: the lines that are not blank; or, of CSV, what stands in the `column` of that
    name. Raises ProblemError for an id that stands twice, and where there is none."""
    source = decode(data, name)
    found: dict[str, int] = {}
    files: dict[str, str] = {}
    for line, text in _of_column(source, column) if column is not None else _of_lines(source):
        if text in found:
            what = f"{short(text)} stands twice, on lines {found[text]} and {line}"
            raise source.error_at(line, 1, "", what, "give each student an id")
        same = files.setdefault(safe(text).casefold(), text)
        if same != text:
            what = f"{short(text)} and {short(same)} would have files of one name"
            raise source.error_at(line, 1, "", what, "give each student an id")
        found[text] = line
    if not found:
        raise source.error_at(1, 1, "", "no student is named here", "write an id a line")
    return list(found)


def safe(id: str) -> str:
    """An id as a part of a file's name: letters, figures, - and _, of any language; other signs are _."""
    name = _unsafe.sub("_", unicodedata.normalize("NFC", id)).strip(".")
    return name.encode()[:LONGEST].decode(errors="ignore") or "_"


def _of_lines(source: Source) -> Iterator[tuple[int, str]]:
    lines = re.split("\r\n|[\n\r]", source.text)
    if source.name.lower().endswith(".csv"):
        raise source.error_at(1, 1, "", "is a table", "say which column holds the ids: --column id")
    for k, line in enumerate(lines):
        if line.strip():
            yield k + 1, line.strip()


def _of_column(source: Source, column: str) -> Iterator[tuple[int, str]]:
    between = delimiter(source.text.partition("\n")[0])
    reader = csv.reader(StringIO(source.text, newline=""), delimiter=between)
    try:
        head = [each.strip() for each in next(reader, [])]
        if column not in head:
            hint = f"its columns are {some_of([short(each) for each in head], MOST_NAMED)}" if any(head) else ""
            raise source.error_at(1, 1, "", f"no column is called {short(column)}", hint)
        place = head.index(column)
        for row in reader:
            if any(cell.strip() for cell in row):
                if len(row) <= place or not row[place].strip():
                    raise source.error_at(reader.line_num, 1, "", f"nothing stands under {short(column)}", "give an id")
                yield reader.line_num, row[place].strip()
    except csv.Error as error:
        raise source.error_at(max(reader.line_num, 1), 1, "", f"is not CSV: {error}", "save it as CSV") from None

