"""How ``--help`` of a command is laid out: prose fills the terminal's width, rows of a list keep their columns."""

from __future__ import annotations

import re
import textwrap

_ROW = re.compile(r"( +\S+(?: \S+)* {2,})(\S.*)")
"""A row of a list: what it is about, two spaces or more, and what is said about it."""


def laid_out(text: str, width: int) -> str:
    """Return *text* in lines of at most *width*. Examples stay as they are, since they are to be copied."""
    if text.startswith("Example"):
        return text
    return "\n\n".join(_paragraph(each, width) for each in text.strip("\n").split("\n\n"))


def _paragraph(text: str, width: int) -> str:
    parts: list[tuple[str, str]] = []
    for line in text.split("\n"):
        row = _ROW.match(line)
        if row is not None:
            parts.append((row[1], row[2]))
        elif parts and _goes_on(line, parts[-1][0]):
            about, said = parts[-1]
            parts[-1] = (about, f"{said} {line.strip()}")
        else:
            parts.append(("", line))
    return "\n".join(_filled(*part, width) for part in parts)


def _goes_on(line: str, about: str) -> bool:
    """Whether *line* belongs to the row about *about*, or to the prose if that is empty."""
    return line.startswith(" " * len(about)) and (bool(about) or not line.startswith(" "))


def _filled(about: str, said: str, width: int) -> str:
    hanging = " " * len(about)
    lines = textwrap.wrap(said, max(width - len(about), 20), break_long_words=False, break_on_hyphens=False)
    return about + f"\n{hanging}".join(lines or [said])
