"""Regular expressions without importing ``re``, which is two thirds of the time of a cold count.

``re`` translates a pattern into a list of numbers and hands it to ``_sre``, which is built into the interpreter. For
the few patterns that split text the numbers are in ``data/patterns.tsv``, for each version of that code
(``_sre.MAGIC``) that somebody ran ``scripts/build_patterns.py`` with. On any other interpreter, and if anything does
not fit, ``re`` compiles the pattern as usual. A test compares the file with what ``re`` makes of the patterns.
"""

from __future__ import annotations

from brim.tokens.table import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class FindAll(Protocol):
        """``findall`` of a compiled pattern."""

        def __call__(self, string: str, pos: int = 0, endpos: int = ..., /) -> list[str]:
            """Return everything that the pattern finds in *string* between *pos* and *endpos*."""


UNICODE = 32
"""The flag that ``re`` gives every pattern of text."""


def find_all(pattern: str) -> FindAll:
    """Return ``findall`` of *pattern*, which has no groups."""
    code = recorded(pattern)
    if code is not None:
        from _sre import compile as compile_code

        try:
            found: FindAll = compile_code(pattern, UNICODE, code, 0, {}, (None,)).findall
        except (RuntimeError, TypeError, ValueError):  # code that _sre does not take for its own
            pass
        else:
            return found
    import re

    return re.compile(pattern).findall


def recorded(pattern: str) -> list[int] | None:
    """Return the numbers of *pattern* for this interpreter, or None if nobody recorded them."""
    try:
        from _sre import MAGIC
    except ImportError:
        return None
    key = f"{MAGIC}\t{pattern!a}\t"
    with open(f"{DATA}patterns.tsv", encoding="ascii") as file:
        for line in file:
            if line.startswith(key):
                return list(map(int, line[len(key) :].split()))
    return None
