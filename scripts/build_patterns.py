"""Records what this interpreter's ``re`` makes of the split patterns: python scripts/build_patterns.py

Adds the rows for this interpreter (``_sre.MAGIC``) to src/brim/tokens/data/patterns.tsv and keeps those of others. Run
it again with every Python that should start fast, whenever a pattern changes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from brim.tokens.split import patterns

FILE = Path(__file__).parent.parent / "src/brim/tokens/data/patterns.tsv"


def rows() -> list[str]:
    """Return a row for each pattern: the version of the code, the pattern, and its numbers."""
    compiler: Any = __import__("re._compiler", fromlist=["compile"])
    parser: Any = compiler._parser
    magic = compiler.MAGIC
    found = []
    for pattern in patterns().values():
        parsed = parser.parse(pattern)
        assert parsed.state.groups == 1
        assert parsed.state.flags == re.UNICODE
        numbers = " ".join(str(int(number)) for number in compiler._code(parsed, 0))
        found.append(f"{magic}\t{pattern!a}\t{numbers}")
    return found


def main() -> None:
    """Write the file anew."""
    mine = rows()
    magic = mine[0].split("\t")[0]
    others = [line for line in FILE.read_text("ascii").splitlines() if not line.startswith(f"{magic}\t")]
    FILE.write_text("\n".join(sorted([*others, *mine])) + "\n", "ascii")
    print(f"{len(mine)} patterns for _sre {magic}, {len(others)} rows of other versions kept")


if __name__ == "__main__":
    main()
