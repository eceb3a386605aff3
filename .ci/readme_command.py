"""Prints the README's one shell block that holds a word: readme_command.py README.md pytest."""

import re
import sys
from pathlib import Path

blocks = re.findall(r"^```sh\n(.*?)^```", Path(sys.argv[1]).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
found = [block for block in blocks if sys.argv[2] in block]
if len(found) != 1:
    sys.exit(f"{sys.argv[1]} has {len(found)} shell blocks with {sys.argv[2]!r}, not one")
print(found[0], end="")
