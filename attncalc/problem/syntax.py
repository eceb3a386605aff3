"""What PyYAML says about text that isn't YAML, said in the words of someone who types matrices."""

from __future__ import annotations

import re

import yaml

from attncalc.errors import ProblemError
from attncalc.problem.source import Source, look_alike, short

# What libyaml's reader lets through, and nothing else.
_control = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_line_end = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # lines as YAML 1.1 counts them
_quoted_or_comment = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|(?:^|\s)#.*""")
_quoted = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_escape_or_pair = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)", re.DOTALL | re.IGNORECASE)
_full_width_key = re.compile(r"\s*(?:- +)?[\w.]+(：)")
_no_space = re.compile(r"\s*(?:- +)?([A-Za-z_][\w.]*):(?=[^\s:/])(.*)")
_dash_and_bracket = re.compile(r"\s*-(?=[(\[])(.*)")

_QUOTE = "put quotes round a text that starts with one of % @ ` * & ! | > ? [ ] { }"
# (part of PyYAML's problem, what is wrong, what to do)
_PROBLEMS = (
    ("mapping values are not allowed", "a colon can't stand here",
     "check the indentation of this line and the one above, or put quotes round the text"),
    ("could not find expected ':'", "a key without a colon", "write it as key: value"),
    ("expected alphabetic or numeric", "* and & can't stand alone", _QUOTE),
    ("cannot start any token", "a value can't start with this character", _QUOTE),
    ("nesting depth", "nesting too deep", "check the brackets"),
    ("expected ',' or ']'", "a comma or ] is missing here", "add it, and put quotes round a text with [ ] { } , or #"),
    ("expected ',' or '}'", "a comma or } is missing here", "add it, and put quotes round a text with [ ] { } , or #"),
    ("expected node content", "a value is missing here", "give one; put quotes round a text with [ ] { } , or #"),
    ("expected key", "a key is missing here", "check the brackets and the indentation"),
    ("expected '-' indicator", "this line is not an entry of the list above it", "check its indentation"),
    ("expected <document start>", "this line does not belong to the text above it", "check its indentation"),
    ("unexpected end of stream", "a quoted text is never closed", "add the closing quote"),
    ("invalid Unicode character escape", "no character has this number", "write the character itself"),
    ("unknown escape character", "an unknown escape in double quotes", "write \\\\ for one \\, or use single quotes"),
    ("tag handle", "tags (!) are not read", "put quotes round a text that starts with !"),
)  # fmt: skip


def syntax_error(source: Source, error: yaml.YAMLError, last: yaml.Event | None, typed: str) -> ProblemError:
    """The ProblemError of a YAMLError; `last` is the last event before it that opened or closed something; `typed` the
    text as it is in the file, before pairs were joined."""
    found = _found(source, error, last)
    return source.error_at(found.line, _column_typed(typed, found.line, found.column), "", found.what, found.hint)


def _found(source: Source, error: yaml.YAMLError, last: yaml.Event | None) -> ProblemError:
    control = _control.search(source.text)
    if control is not None:  # PyYAML gives an offset only, and not that of the text
        line, column = place(source.text, control.start())
        return source.error_at(line, column, "", f"control character U+{ord(control[0]):04X}", "delete it")
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return source.error_at(1, 1, "", f"not YAML: {short(str(error))}")
    context = getattr(error, "context_mark", None)
    lines = _line_end.split(source.text)
    line, column = min(mark.line, len(lines) - 1), mark.column
    before = lines[line][:column]
    if lines[line][column : column + 1] == "\t" or "\t" in lines[line][: len(before) - len(before.lstrip())]:
        what = "a tab can't stand here" if before.strip() else "tab used for indentation"
        return source.error_at(line + 1, column + 1, "", what, "use spaces")
    starts = [place_mark.line for place_mark in (context, last.start_mark if last else None) if place_mark is not None]
    first = min([max(0, line - 1), *starts])
    return _typing_slip(source, lines, first, line) or _translated(source, error, lines, first)


def pairs_joined(text: str) -> str:
    """The text as YAML reads it where JSON wrote a character beyond U+FFFF as two escapes: \\ud83d\\ude00."""
    return _quoted.sub(_with_joined, text) if "\\u" in text else text


def _with_joined(quoted: re.Match[str]) -> str:
    """Spaces after the closing quote make up for what its line is shorter by: what follows keeps its column."""
    joined = _escape_or_pair.sub(_joined, quoted[0])
    before, after = (_line_end.split(each)[-1] for each in (quoted[0], joined))
    return joined + " " * (len(before) - len(after))


def _column_typed(typed: str, line: int, column: int) -> int:
    """The column of a place in a text whose pairs are joined, as it was typed: within the same quotes, each pair before
    it is longer by two."""
    start = [0, *(end.end() for end in _line_end.finditer(typed))][:line][-1]  # PyYAML may count one line more
    for quoted in _quoted.finditer(typed):
        place = start + column - 1
        for escape in _escape_or_pair.finditer(quoted[0]):
            if escape[1] and start <= quoted.start() + escape.start() < place:
                place += 2
        if place < quoted.end():
            return place - start + 1
    return column


def _joined(escape: re.Match[str]) -> str:
    if not escape[1]:
        return escape[0]
    return f"\\U{0x10000 + ((int(escape[1], 16) & 0x3FF) << 10) + (int(escape[2], 16) & 0x3FF):08x}"


def place(text: str, index: int) -> tuple[int, int]:
    """Line and column of a character, both from 1."""
    ends = list(_line_end.finditer(text, 0, index))
    return len(ends) + 1, index - (ends[-1].end() if ends else 0) + 1


def _typing_slip(source: Source, lines: list[str], first: int, last: int) -> ProblemError | None:
    """A key whose colon is full-width or has no space after it, or a row whose dash has none, in lines first..last; the
    later line first."""
    for number in range(last, first - 1, -1):
        if match := _full_width_key.match(lines[number]):
            what = f"full-width colon on line {number + 1}"
            return source.error_at(number + 1, match.start(1) + 1, "", what, "type : and a space")
        if match := _no_space.match(lines[number]):
            hint = f"write {match[1]}: {short(match[2])}"
            what = f"missing space after the colon of {short(match[1])}"
            return source.error_at(number + 1, match.end(1) + 1, "", what, hint)
        if match := _dash_and_bracket.match(lines[number]):
            hint = f"write - {short(match[1])}"
            return source.error_at(number + 1, match.start(1), "", "missing space after the dash", hint)
    return None


def _translated(source: Source, error: yaml.YAMLError, lines: list[str], first: int) -> ProblemError:
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    assert mark is not None
    problem = str(getattr(error, "problem", ""))
    what, hint = next(((what, hint) for part, what, hint in _PROBLEMS if part in problem), (f"not YAML: {problem}", ""))
    bare = " ".join(_quoted_or_comment.sub(" ", text) for text in lines[first : mark.line + 1])
    hint = look_alike(bare) or hint
    if context is not None and ("expected ',' or" in problem or "end of stream" in problem):
        opened = lines[context.line][context.column : context.column + 1]
        if context.line != mark.line:  # a list over several lines is rarer than a bracket that was forgotten
            what = f"this {opened} is not closed before line {mark.line + 1}"
            return source.error_at(context.line + 1, context.column + 1, "", what, hint)
    return source.error_at(mark.line + 1, mark.column + 1, "", what, hint)
