"""Which lines of a Claude Code transcript may report usage: one in two, with a fifth of the bytes.

Two things rule a line out, without parsing it. Its ``type`` stands near its beginning and is another one: then the
rest, mostly a tool's result, is not looked at, for no client writes a key twice. Or nowhere in it is what a line with
usage must hold. A quote inside a text is escaped, so what is looked for is a key or a whole text, never a part of what
a tool printed.
"""

from __future__ import annotations

import re

_OTHER_TYPE = re.compile(
    rb'\{(?:"[A-Za-z_]+":(?:"[^"\\]*"|null|true|false),)*?"type":"(?!assistant"|cost-state")[^"\\]*"'
)
"""A line whose first fields are plain, with the type among them."""
_ESCAPED = re.compile(rb"\\u00[267]")
"""A letter or a hyphen that is written as its code. No client does, but then a needle would not be found."""


def candidates(data: bytes) -> list[tuple[int, int]]:
    """Return begin and end of every line of *data* that may report usage: none that does is left out."""
    found: list[tuple[int, int]] = []
    find, is_other = data.find, _OTHER_TYPE.match
    at, size = 0, len(data)
    while at < size:
        end = find(b"\n", at)
        if end < 0:
            end = size
        if is_other(data, at, end) is None and _may_report(data, at, end):
            found.append((at, end))
        at = end + 1
    return found


def _may_report(data: bytes, begin: int, end: int) -> bool:
    if data.find(b'"usage"', begin, end) >= 0 or data.find(b'"cost-state"', begin, end) >= 0:
        return True
    return data.find(b"\\u00", begin, end) >= 0 and _ESCAPED.search(data, begin, end) is not None
