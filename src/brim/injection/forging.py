"""Keeps the Markdown of a behavior from forging a heading, also inside of its lists and quotes.

What reads as a heading gets a backslash, and code stays as it is. In doubt a line is not code, because a backslash too
many does no harm. There is doubt where a block of code may have ended with the list that it stands in, and after raw
HTML or a fence behind the marker of a list or a quote.
"""

from __future__ import annotations

_DIGITS = "0123456789"
_OFFSET = "  "
"""Where a line of a behavior begins: tabs count from there."""
_DEEPEST = 50
"""Markers of lists and quotes that a line may begin with. What follows them is text."""


def unforged(lines: list[str]) -> list[str]:
    """Return *lines* in which nothing outside of code reads as a heading, and the last block of code is closed."""
    kept = []
    fence, column, sure = "", 0, True
    for line in lines:
        bare = line.lstrip(" \t")
        here = _column(line, bare)
        mark = _fence(bare)
        if fence and here < column:
            sure = False
        if fence and sure:
            if mark[:1] == fence[:1] and len(mark) >= len(fence) and mark == bare and here <= column + 3:
                fence = ""
                sure = here == column
            kept.append(line)
            continue
        *_, inner = levels = _levels(bare)
        if sure and mark and (mark[0] == "~" or "`" not in bare[len(mark) :]):
            fence, column = mark, here
        elif inner[:1] == "<" or (inner != bare and _fence(inner)):
            sure = False
        heading = next(filter(_is_heading, levels), inner if len(levels) > _DEEPEST else None)
        kept.append(line if heading is None else f"{line[: len(line) - len(heading)]}\\{heading}")
    return [*kept, fence] if fence else kept


def _column(line: str, bare: str) -> int:
    indent = line[: len(line) - len(bare)]
    return len((_OFFSET + indent).expandtabs(4)) - len(_OFFSET) if "\t" in indent else len(indent)


def _fence(bare: str) -> str:
    """Return the run of backticks or tildes that *bare* begins with, if it can begin or end a block of code."""
    mark = bare[:1]
    if mark not in ("`", "~"):
        return ""
    run = bare[: len(bare) - len(bare.lstrip(mark))]
    return run if len(run) >= 3 else ""


def _levels(bare: str) -> list[str]:
    """Return *bare*, and what is left of it without each marker of a list or a quote that it begins with."""
    found = [bare]
    while len(found) <= _DEEPEST:
        rest = bare[1:] if bare[:1] == ">" else _unlisted(bare)
        if rest is None:
            break
        bare = rest.lstrip(" \t")
        found.append(bare)
    return found


def _unlisted(bare: str) -> str | None:
    """Return what stands after the marker of a list, or None if there is none."""
    rest = bare.lstrip(_DIGITS)
    signs = "-+*" if rest == bare else ".)"
    if rest[:1] not in tuple(signs) or rest[1:2] not in ("", " ", "\t"):
        return None
    return rest[1:]


def _is_heading(text: str) -> bool:
    """Whether a line is a heading of its own (``# ...``), or makes one of the line above (``===``, ``---``)."""
    rest = text.lstrip("#")
    if rest != text:
        return len(text) - len(rest) <= 6 and (not rest or rest[0] in " \t")
    return bool(text) and (not text.strip("= \t") or not text.strip("- \t"))
