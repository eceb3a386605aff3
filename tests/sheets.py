"""Exercise sheets and keys that say each of their sentences, for the tests of wording and of formats."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from attncalc import load, solve
from attncalc.blocks import Document, Sheet
from attncalc.exercises.blanks import by_level, by_names, hidden
from attncalc.layout.concepts import in_words
from attncalc.layout.exercise import Exercise, Head, as_document, lay_sheet

PROBLEMS = Path(__file__).resolve().parent.parent / "problems"
BLANKS: dict[str, int | list[str]] = {"level 1": 1, "level 2": 2, "level 3": 3, "names": ["A", "O[1,*]", "exp[2,1]"]}
# Problems of which every concept applies to one.
IN_WORDS = ("abc", "decoder-layer", "decoder-modern", "generation", "experts", "top-k", "temperature",
            "i-love-you-embedded")  # fmt: skip
HEAD = Head(title=None, course="NLP", date="2026", variant="7", fingerprint="ab12")


def exercise(name: str, blanks: int | list[str], shapes: bool = False, worth: Fraction | None = None) -> Exercise:
    problem = load(PROBLEMS / f"{name}.yaml")
    solution = solve(problem)
    asked = by_level(solution, blanks) if isinstance(blanks, int) else by_names(solution, blanks)
    return Exercise(
        solution, problem.show, problem.kind, problem.title, hidden(solution, asked), shapes, blanks == 1, worth
    )


def sheets(lang: str) -> Iterator[tuple[str, Sheet]]:
    for name, blanks in BLANKS.items():
        yield name, lay_sheet([exercise("abc", blanks)], HEAD, lang)
    yield "shapes", lay_sheet([exercise("two-heads", 1, shapes=True)], HEAD, lang)
    copied = [exercise("draw-two-heads", 1), exercise("size-gqa", 1), exercise("top-p", 2)]
    yield "copied", lay_sheet(copied, HEAD, lang)
    several = [exercise("abc-causal", 1, worth=Fraction(4)), exercise("generation", 2, worth=Fraction(6))]
    yield "several", lay_sheet(several, HEAD, lang)
    worded = [exercise(name, 1) for name in IN_WORDS]
    yield "in words", lay_sheet(worded, HEAD, lang, in_words(worded, lang, "all"))
    yield "of one problem", lay_sheet(worded[:1], HEAD, lang, in_words(worded[:1], lang, "3"))


def documents(lang: str) -> Iterator[tuple[str, Document]]:
    """Each sheet, and each key."""
    for name, sheet in sheets(lang):
        yield name, as_document(sheet)
        yield f"{name}, key", as_document(sheet, key=True)
