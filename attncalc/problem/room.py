"""What a problem has beyond what is written out in its file: entries that are drawn, and those of other files."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

# Entries that are drawn, of identities, and of files. Each byte of such a file is room for one more, so that only what
# is far smaller than the entries that it has uses any up.
MOST = 3_000_000


class Room:
    """How many entries may still come to one problem (`left`); the files that it has read, each thing once, and their
    bytes."""

    def __init__(self) -> None:
        self.left = MOST
        self.bytes = 0
        self._read: dict[Hashable, Any] = {}

    def once(self, what: Hashable, read: Callable[[], Any]) -> Any:
        """What `read` gives, or gave when this was asked for before: a small file may name another a thousand times."""
        if what not in self._read:
            self._read[what] = read()
        return self._read[what]
