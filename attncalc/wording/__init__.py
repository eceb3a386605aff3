"""Every sentence and heading of a page: a file for each language, and the one way to a sentence.

A template names its parts in braces: "weight {share} on {token}". Parts are text, formulas, tokens or sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from attncalc.blocks import Inline, Math, Prose
from attncalc.errors import UsageError

Part = Inline | Prose

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Wording:
    """The sentences of one language."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._templates = _templates(lang)

    def text(self, key: str) -> str:
        """The words of this key, where they are no sentence of their own."""
        return self._templates[key]

    def __call__(self, key: str, **parts: Part | int) -> Prose:
        """The sentence of this key (`scores.row`) with its parts filled in."""
        pieces: list[Inline] = []
        for words, name in _split(self._templates[key]):
            if words:
                pieces.append(words)
            if name:
                pieces.extend(_pieces(parts[name]))
        return Prose(tuple(pieces))

    def place(self, group: str) -> int:
        """Where the file has the first key of this group: what has no order of its own is said in that of the file."""
        return _place(self.lang, group)

    def joined(self, sentences: list[Prose], key: str = "list.comma") -> Prose:
        """The sentences as one, with the joint of this key between them."""
        joint = self._templates[key]
        pieces: list[Inline] = []
        for k, sentence in enumerate(sentences):
            pieces.extend([joint, *sentence.parts] if k else sentence.parts)
        return Prose(tuple(pieces))

    def enumeration(self, sentences: list[Prose]) -> Prose:
        """a; a and b; a, b and c."""
        if len(sentences) < 2:
            return self.joined(sentences)
        joint = "list.and_formula" if isinstance(sentences[-1].parts[0], Math) else "list.and"
        return self.joined([self.joined(sentences[:-1], "list.names"), sentences[-1]], joint)


@cache
def _place(lang: str, group: str) -> int:
    keys = _templates(lang).of_group(group.partition(".")[0])
    return next(k for k, key in enumerate(keys) if key.startswith(f"{group}."))


@lru_cache(maxsize=1024)
def _split(template: str) -> tuple[tuple[str, str], ...]:
    """Words and the name of the part that follows them; of the last, ""."""
    found = [*_PLACEHOLDER.split(template), ""]
    return tuple(zip(found[::2], found[1::2], strict=True))


def _pieces(part: Part | int) -> tuple[Inline, ...]:
    if isinstance(part, Prose):
        return part.parts
    if isinstance(part, int):
        return (str(part),)
    return () if part == "" else (part,)


def languages() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.yaml"))


class Templates(dict[str, str]):
    """The templates of a language by their keys, `scores.row`. A group of them is read when one is asked for, as a page
    waits for it and few pages need half of the groups."""

    def __init__(self, text: str) -> None:
        self.groups = {part.partition(":")[0]: part for part in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)}

    def __missing__(self, key: str) -> str:
        self.update(self.of_group(key.partition(".")[0]))
        if key not in self:
            raise KeyError(key)
        return self[key]

    def of_group(self, name: str) -> dict[str, str]:
        return dict(_flat(self.groups[name]))


@cache
def _templates(lang: str) -> Templates:
    known = languages()
    if lang not in known:
        raise UsageError(f"there is no language {lang!r}", f"choose --lang {' or '.join(known)}")
    return Templates(Path(__file__).with_name(f"{lang}.yaml").read_text(encoding="utf-8"))


def _flat(text: str) -> Iterator[tuple[str, str]]:
    """The texts of nested mappings by their keys; from the events of YAML, which are quicker than its values."""
    import yaml

    path: list[str] = []
    key = ""
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.ScalarEvent):
            if key:
                yield ".".join([*path, key]), event.value
            key = "" if key else event.value
        elif isinstance(event, yaml.MappingStartEvent) and key:
            path.append(key)
            key = ""
        elif isinstance(event, yaml.MappingEndEvent) and path:
            path.pop()
