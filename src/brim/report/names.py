"""What files, commands and projects are called on a page to share."""

from __future__ import annotations

import os

from brim.figures import home_path


class Names:
    """What paths, commands and projects are called: as they are, or, *hidden*, by a number."""

    def __init__(self, *, hidden: bool = False) -> None:
        self.hidden = hidden
        self._numbers: dict[tuple[str, str], int] = {}

    def of(self, text: str, kind: str) -> str:
        """Return the name of *text*, which is of a *kind*: ``file``, ``command``, ``project`` or ``session``."""
        if not self.hidden or not text:
            return home_path(text)
        kind = "file" if kind == "result" and "/" in text and " " not in text else kind
        number = self._numbers.setdefault((kind, text), 1 + sum(each[0] == kind for each in self._numbers))
        ending = os.path.splitext(text)[1] if kind == "file" else ""
        return f"{kind} {number}{f' ({ending})' if ending.isascii() and 1 < len(ending) < 8 else ''}"

    def part(self, label: str) -> str:
        """Return the name of a part of a request; hidden, only what kind of part it is."""
        return label.partition(":")[0] if self.hidden else label
