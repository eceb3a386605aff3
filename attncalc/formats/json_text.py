"""JSON as every page of it is written: letters of all scripts as they are, what is not seen as escapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def dumped(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """One line, which reads back as the same value; `default` makes of other objects what JSON knows."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=default)
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
