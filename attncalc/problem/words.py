"""Words of a vocabulary that a file names, by themselves or by their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.problem.nodes import ListNode, Node
from attncalc.problem.schema import nearest
from attncalc.problem.source import Source, counted, short, some_of

MOST_NAMED = 5  # unknown words, and others


def ids_of(
    source: Source, node: Node, path: str, texts: Sequence[str], vocabulary: tuple[str, ...] | None, size: int = 0
) -> tuple[int, ...]:
    """The numbers, from 0, of words; a text that is no word of the vocabulary is the number itself.

    `node` is the list that holds the texts, or the only one, `path` its name; `size` is how many words there are, where
    there is no vocabulary. Raises ProblemError that names what is neither, and for a word that stands twice.
    """
    known = vocabulary or ()
    size = len(known) or size
    nodes = node.items if isinstance(node, ListNode) else [node]
    unknown = list(dict.fromkeys(text for text in texts if text not in known and not _is_number(text)))
    if unknown:
        first = list(texts).index(unknown[0])
        place = source.cell(path, first) if isinstance(node, ListNode) and len(unknown) == 1 else path
        raise _unknown(source, nodes[first], place, unknown, known, size)
    found = []
    for k, text in enumerate(texts):
        place = source.cell(path, k) if isinstance(node, ListNode) else path
        if known.count(text) > 1:
            raise source.error(nodes[k], place, f"{short(text)} stands twice in the vocabulary", "give its id, from 0")
        if text not in known and int(text) >= size:
            what = f"{short(text)}, but {'the vocabulary has' if known else 'there are'} {counted(size, 'word')}"
            raise source.error(nodes[k], place, what, f"ids go from 0 to {size - 1}")
        found.append(known.index(text) if text in known else int(text))
    return tuple(found)


def named(words: Sequence[str]) -> str:
    """"a", "b" and 3 more."""
    return some_of([f'"{short(word)}"' for word in words], MOST_NAMED)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _unknown(
    source: Source, node: Node, path: str, unknown: list[str], vocabulary: tuple[str, ...], size: int
) -> Exception:
    if not vocabulary:
        what = f"{named(unknown)} {'is' if len(unknown) == 1 else 'are'} no number, and there is no vocabulary"
        return source.error(node, path, what, f"give vocabulary: [..], or numbers from 0 to {size - 1}")
    what = f"{named(unknown)} {'is' if len(unknown) == 1 else 'are'} not in the vocabulary"
    return source.error(node, path, what, nearest(unknown[0], list(vocabulary)) or "add it, or check its spelling")
