"""Many files at once: a folder gets all of them, or none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from attncalc.errors import UsageError


def fill(folder: Path, files: Iterable[tuple[str, str]], *, force: bool, tell: Callable[[str], object]) -> int:
    """Writes files (name, text) into a folder, which is made where there is none; how many they are.

    They are made beside it and moved in when all are there; none of its own is replaced without `force`.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder} is a file", "choose another --output-dir")
        beside = Path(tempfile.mkdtemp(dir=folder if folder.exists() else folder.parent, prefix=".attncalc-"))
    except OSError as error:
        raise _cannot(folder, error) from None
    try:
        names = []
        for name, text in files:
            tell(f"writing {name}")
            if not force and (folder / name).exists():
                raise UsageError(f"{folder / name} is there already", "choose another --output-dir, or give --force")
            (beside / name).write_text(text, encoding="utf-8", newline="\n")
            names.append(name)
        folder.mkdir(exist_ok=True)
        for name in names:
            (beside / name).replace(folder / name)
        return len(names)
    except OSError as error:
        raise _cannot(folder, error) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _cannot(folder: Path, error: OSError) -> UsageError:
    return UsageError(f"can't write into {folder}: {error.strerror}", "choose another --output-dir")
