"""The problems that come with attncalc: in the wheel beside its modules, in a clone at its top."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def problems() -> dict[str, Path]:
    """The shipped problem files by name, in alphabetical order."""
    inside, beside = _HERE / "problems", _HERE.parent / "problems"
    folder = inside if inside.is_dir() else beside
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)}


def first_line(path: Path) -> str:
    """What a problem file says of itself."""
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("#").strip()
