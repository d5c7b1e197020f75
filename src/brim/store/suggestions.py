"""Corrections that a person typed, waiting for review. They become rules only if the person says
so.

They are in one small file in the user's folder, so that a hook needn't open the store. It holds the
newest 100, with texts masked and shortened. A file that can't be read counts as empty.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from brim.errors import InputError
from brim.files import locked, read_safely, replace_file
from brim.masking import mask
from brim.record import PlainData

FILE = "corrections.json"
LARGEST = 1 << 20
"""Bytes of the file; a larger one isn't ours."""
MOST = 100
"""Corrections that wait; of more, the oldest are dropped."""
LONGEST_TEXT, LONGEST_CALL = 600, 200
"""Characters of a correction, and of the call before it."""
RECENT = 86_400.0
"""Seconds for which the status line mentions a correction."""
PATIENCE = 0.1
"""Seconds that a hook waits for another one."""


@dataclass(frozen=True)
class Suggestion(PlainData):
    """One correction that waits."""

    number: int
    text: str
    """What the person typed."""
    call: str = ""
    """What the agent did last before it."""
    agent: str = ""
    project: str = ""
    """The project's folder; empty outside of one."""
    session: str = ""
    time: float = 0.0

    def is_recent(self, now: float) -> bool:
        """Whether it was typed within a day before *now*."""
        return now - self.time < RECENT


class Suggestions:
    """The waiting corrections in the user's folder *home*."""

    def __init__(self, home: str) -> None:
        self.path = os.path.join(home, FILE)

    def waiting(self, project: str | None) -> list[Suggestion]:
        """Return the corrections of *project*, or those outside of any project, the oldest
        first."""
        return [each for each in self.every() if each.project == (project or "")]

    def every(self) -> list[Suggestion]:
        """Return all corrections, the oldest first."""
        if not os.path.exists(self.path):
            return []
        return [Suggestion(**each) for each in _read(self.path)["waiting"]]

    def add(
        self,
        text: str,
        *,
        call: str = "",
        agent: str = "",
        project: str | None,
        session: str = "",
        time: float,
    ) -> None:
        """Add a correction, masked, replacing one with the same words in the same project."""

        text, call = (
            cut(mask(" ".join(text.split())), LONGEST_TEXT),
            cut(mask(" ".join(call.split())), LONGEST_CALL),
        )
        if not text or not os.path.isdir(os.path.dirname(self.path)):
            # Don't recreate a folder that the user deleted.
            return

        with self._changing() as found:
            number = found["next"]
            new = Suggestion(number, text, call, agent, project or "", session, time)
            same = text.lower(), new.project
            others = [
                each for each in found["waiting"] if (each["text"].lower(), each["project"]) != same
            ]
            found.update(next=number + 1, waiting=[*others, new.to_dict()][-MOST:])

    def find(self, number: int) -> Suggestion:
        """Return the correction *number*."""
        for each in self.every():
            if each.number == number:
                return each
        raise InputError(f"no correction {number} waits: 'brim rules review' lists them")

    def take(self, number: int) -> Suggestion:
        """Remove the correction *number*, and return it."""
        taken = self.find(number)
        with self._changing() as found:
            found["waiting"] = [each for each in found["waiting"] if each.get("number") != number]
        return taken

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Hand out what the file holds, under its lock, and write it back."""
        with locked(f"{self.path[:-5]}.lock", patience=PATIENCE):
            found = _read(self.path)
            yield found
            replace_file(self.path, json.dumps(found).encode("utf-8", "replace"), durable=False)


def cut(text: str, most: int) -> str:
    """Return *text* in at most *most* characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _read(path: str) -> dict[str, Any]:
    """Return the content of the file, without entries that aren't corrections."""
    found: Any = None
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_safely(path, at_most=LARGEST))
    if not isinstance(found, dict) or not isinstance(found.get("waiting"), list):
        return {"next": 1, "waiting": []}
    waiting = [
        each for each in found["waiting"] if isinstance(each, dict) and _TYPES.keys() == each.keys()
    ]
    waiting = [
        each
        for each in waiting
        if all(isinstance(each[name], kind) for name, kind in _TYPES.items())
    ]
    last = max([0, *(each["number"] for each in waiting)])
    return {
        "next": max(last + 1, found["next"] if type(found.get("next")) is int else 1),
        "waiting": waiting,
    }


_TYPES: dict[str, Any] = {
    **dict.fromkeys(("text", "call", "agent", "project", "session"), str),
    "number": int,
    "time": (int, float),
}
