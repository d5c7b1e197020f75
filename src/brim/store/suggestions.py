"""Corrections that wait for a person: what was typed, and what the agent had done. A rule only if the person says so.

They are in one small file of the user's folder, which a hook can add to without opening the store. It holds the newest
100; texts are masked and cut. A file that can't be read counts as empty.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from brim.errors import InputError
from brim.files import locked, read_safely, replace_file
from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FILE = "corrections.json"
LARGEST = 1 << 20
"""Bytes of the file; a larger one isn't ours."""
MOST = 100
"""Corrections that wait; of more, the oldest are dropped."""
LONGEST_TEXT, LONGEST_CALL = 600, 200
"""Characters of a correction, and of the call before it."""
PATIENCE = 0.1
"""Seconds that a hook waits for another one."""


class Suggestion(Record):
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


class Suggestions:
    """The corrections that wait in the user's folder *home*."""

    def __init__(self, home: str) -> None:
        self.path = os.path.join(home, FILE)

    def waiting(self, project: str | None) -> list[Suggestion]:
        """Return those of *project*, or those from outside of any if it is None, the oldest first."""
        return [each for each in self.every() if each.project == (project or "")]

    def every(self) -> list[Suggestion]:
        """Return all that wait, the oldest first."""
        if not os.path.exists(self.path):
            return []
        found = _read(self.path)
        return [each for entry in found["waiting"] if (each := _suggestion(entry)) is not None]

    def add(
        self, text: str, *, call: str = "", agent: str = "", project: str | None, session: str = "", time: float
    ) -> None:
        """Keep a correction, masked. One with the same words in the same project takes its place."""
        from brim.masking import mask

        text, call = (cut(mask(" ".join(each.split())), most) for each, most in ((text, LONGEST_TEXT), (call, LONGEST_CALL)))
        if not text or not os.path.isdir(os.path.dirname(self.path)):  # don't recreate a folder that the user deleted
            return

        def added(found: dict[str, Any]) -> None:
            number = found["next"]
            new = Suggestion(number, text, call, agent, project or "", session, time)
            others = [each for each in found["waiting"] if not _is_same(each, new)]
            found.update(next=number + 1, waiting=[*others, new.to_dict()][-MOST:])

        self._change(added)

    def take(self, number: int) -> Suggestion:
        """Take the correction *number* off the list, and return it."""
        taken: list[Suggestion] = []

        def without(found: dict[str, Any]) -> None:
            known = [(each, _suggestion(each)) for each in found["waiting"]]
            taken.extend(each for _, each in known if each is not None and each.number == number)
            found["waiting"] = [entry for entry, each in known if each is not None and each.number != number]

        if os.path.exists(self.path):
            self._change(without)
        if not taken:
            raise InputError(f"no correction {number} waits: 'brim rules review' lists them")
        return taken[0]

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        with locked(f"{self.path[:-5]}.lock", patience=PATIENCE):
            found = _read(self.path)
            change(found)
            replace_file(self.path, json.dumps(found).encode("utf-8", "replace"), durable=False)


def cut(text: str, most: int) -> str:
    """Return *text* in at most *most* characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _read(path: str) -> dict[str, Any]:
    found: Any = None
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_safely(path, at_most=LARGEST))
    if not isinstance(found, dict) or not isinstance(found.get("waiting"), list):
        return {"next": 1, "waiting": []}
    return {"next": found["next"] if type(found.get("next")) is int else 1, "waiting": found["waiting"]}


def _suggestion(entry: object) -> Suggestion | None:
    if not isinstance(entry, dict) or type(entry.get("number")) is not int or not isinstance(entry.get("text"), str):
        return None
    texts = {name: str(entry.get(name) or "") for name in ("call", "agent", "project", "session")}
    time = entry.get("time")
    return Suggestion(entry["number"], entry["text"], **texts, time=float(time) if isinstance(time, int | float) else 0.0)


def _is_same(entry: object, new: Suggestion) -> bool:
    known = _suggestion(entry)
    return known is not None and (known.text.lower(), known.project) == (new.text.lower(), new.project)
