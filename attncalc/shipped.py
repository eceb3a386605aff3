"""The problems that come with attncalc, and data they read: in the wheel beside its modules, in a clone at its top."""

from __future__ import annotations

import re
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_DATA = {".npz", ".npy", ".csv", ".txt"}


def _files() -> list[Path]:
    inside, beside = _HERE / "problems", _HERE.parent / "problems"
    return sorted((inside if inside.is_dir() else beside).iterdir(), key=lambda path: path.stem)


def problems() -> dict[str, Path]:
    """The shipped problem files by name, in alphabetical order."""
    return {path.stem: path for path in _files() if path.suffix == ".yaml"}


def data_of(problem: Path) -> list[Path]:
    """The shipped data files that a problem names."""
    text = problem.read_text(encoding="utf-8")
    data = (path for path in _files() if path.suffix in _DATA)
    return [path for path in data if re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w.-])", text)]


def first_line(path: Path) -> str:
    """What a problem file says of itself."""
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("#").strip()
