"""What a window holds that an agent would miss: files, commands, numbers and decisions, from the
session's events.

Each thing is held once, with how often it was used. Files are those that calls read or changed and
those that a person named. Commands are those that ran something: ``ls``, ``cat`` and ``git`` need
no reminder, a script of several lines is written for once. Decisions are what a person answered to
a question, a plan or a permission prompt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from brim.agents.call import Event, ToolCall
from brim.agents.events import Message, StateSeen, ToolResult
from brim.files import data_lines
from brim.memory.calls import PATHS, Calls
from brim.memory.entries import remember
from brim.memory.facts import numbers_in, paths_in
from brim.memory.index import sentence
from brim.memory.quotes import one_line
from brim.memory.repetition.commands import check_in, looks, parts, writes
from brim.record import PlainData
from brim.rules.shell import unwrapped

Thing = tuple[str, str]
"""One of ``facts.KINDS``, and a text."""

LONGEST = 200
"""Characters of a command that is held: a longer one is a script for once."""

MOST = 20_000
"""Things that are held; the oldest are forgotten. No window has room for so many."""

_PRINTS = ("cat", "head", "tail", "less", "bat", "sed", "awk", "nl", "jq")
"""Programs that show a file."""
_FILTERED = r"\s*(?:2>&1\s*)?\|&?\s*(?:tail|head|grep|egrep|rg|sed|awk|tee|cat|less|sort|uniq|wc|cut|jq)\b[^;&]*$"
"""What only cuts a command's output."""


class Held:
    """How often a thing was used, and when last: the larger ``last``, the later.

    ``worked_on`` says that more than a look was taken: a file was changed or named by a person, a
    command checks work.
    """

    __slots__ = ("last", "uses", "worked_on")

    def __init__(self) -> None:
        self.uses, self.last, self.worked_on = 0, 0, False

    @property
    def rank(self) -> tuple[int, int]:
        """What is likely to be used again ranks higher."""
        return self.uses + 2 * self.worked_on, self.last


class Inventory:
    """What one window holds. *folder* is where the agent works, if it is known: files in it are
    named from there."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self.held: dict[Thing, Held] = {}
        self._open: dict[str, ToolCall] = {}
        self._names: dict[str, str] = {}
        self._clock = 0

    def take(self, event: Event) -> list[Thing]:
        """Take in *event*; return the things that it names or uses."""
        if isinstance(event, StateSeen):
            if event.name == "folder" and not event.agent:
                self.folder = self.folder or event.value
        elif isinstance(event, ToolCall):
            remember(self._open, event.id, event, MOST)
        elif isinstance(event, ToolResult):
            return self._answered(event)
        elif isinstance(event, Message) and event.human and not is_set_up(event.text):
            return self.read(event.text)
        return []

    def read(self, text: str) -> list[Thing]:
        """Take in what a person wrote or decided; return the files and numbers in it."""
        found = [("file", self.file(path)) for path in paths_in(text)]
        found += [("number", number) for number in numbers_in(text)]
        for thing in found:
            self.add(thing, worked_on=True)
        return found

    def add(self, thing: Thing, *, worked_on: bool = False) -> None:
        """Hold *thing*, or note that it was used once more."""
        self._clock += 1
        held = self.held.get(thing)
        if held is None:
            held = Held()
            remember(self.held, thing, held, MOST)
        held.uses += 1
        held.worked_on |= worked_on
        held.last = self._clock

    def keep_only(self, things: Iterable[Thing]) -> None:
        """Forget everything but *things*."""
        kept = set(things)
        self.held = {thing: held for thing, held in self.held.items() if thing in kept}

    def ranked(self) -> list[Thing]:
        """Return everything, the most used first, and of these the latest."""
        return sorted(self.held, key=lambda thing: self.held[thing].rank, reverse=True)

    def _answered(self, result: ToolResult) -> list[Thing]:
        call = self._open.pop(result.id, None)
        if call is None:
            return []
        found: list[Thing] = []
        if (
            call.kind in ("question", "plan") or result.refusal == "permission"
        ):  # a person answered it
            for entry in Calls().answered(call, result):
                if entry.kind == "decision":
                    text = sentence(entry)
                    self.add(("decision", text))
                    found += [("decision", text), *self.read(text)]
        told = told_by(call)
        changes = call.kind in ("write", "edit")
        shown = _paths(call) if changes or call.kind == "read" else told.shown
        used = [] if result.error else [(("file", self.file(path)), changes) for path in shown]
        used += [] if result.error else [(("file", self.file(path)), True) for path in told.changed]
        used += [(("command", told.command), told.checks)] if told.command else []
        for thing, worked_on in used if not result.refusal else ():
            self.add(thing, worked_on=worked_on)
            found.append(thing)
        return found

    def file(self, path: str) -> str:
        """Return how the file *path* is named here; a bare name is the file in a folder that has
        it."""
        path = os.path.normpath(one_line(path))
        above = self.folder.rstrip(os.sep) + os.sep
        path = path[len(above) :] if self.folder and path.startswith(above) else path
        name = os.path.basename(path)
        known = self._names.get(name)
        if known and path == name:
            return known
        if known == name and (
            held := self.held.pop(("file", name), None)
        ):  # the bare name is this file
            self.held[("file", path)] = held
        remember(self._names, name, path, MOST)
        return path


def _paths(call: ToolCall) -> list[str]:
    given = [path for key in PATHS if isinstance(path := call.input.get(key), str) and path.strip()]
    several = call.input.get("paths") if call.kind == "read" else None  # read_many_files
    return (
        given[:1] or [path for path in several if isinstance(path, str)]
        if isinstance(several, list)
        else given[:1]
    )


def is_set_up(text: str) -> bool:
    """Whether a person typed a command for the client itself, such as ``/model``, and not a
    task."""
    first = text.split(None, 1)[0].lower() if text.strip() else ""
    return first.startswith("/") and first in data_lines(__file__, "set_up_commands.txt")


@dataclass(frozen=True)
class InventoryFact(PlainData):
    """What a shell command tells: files that it shows or changes, and itself if it is worth
    remembering."""

    shown: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    command: str = ""
    checks: bool = False
    """Whether it tests, builds or lints."""


def told_by(call: ToolCall) -> InventoryFact:
    """Return what the shell command of *call* tells; nothing if it is another call."""
    command = call.input.get("command") if call.kind == "shell" else None
    return told_in(command) if isinstance(command, str) else InventoryFact()


@lru_cache(maxsize=1_024)
def told_in(command: str) -> InventoryFact:
    """Return what a shell *command* tells.

    >>> told_in("cd /srv/app && sed -n '1,80p' src/app.py | head -40").shown
    ('src/app.py',)
    >>> told_in("cd /srv/app && uv run pytest -q tests/test_a.py 2>&1 | tail -5").command
    'uv run pytest -q tests/test_a.py'
    """
    command = unwrapped(command).strip()
    found = parts(command)
    words = [word for part in found if part.named[0] in _PRINTS for word in part.words[1:]]
    changed = writes(found)
    shown = (
        [word for word in words if paths_in(word) == [word] and word not in changed]
        if looks(found)
        else []
    )
    everyday = looks(found, data_lines(__file__, "everyday_commands.txt"))
    text = ""
    if found and not everyday and "\n" not in command and "<<" not in command:
        text = re.sub(_FILTERED, "", command)
        text = (
            re.sub(r"^\s*cd\s+[^\s&]+\s*&&\s*", "", text).removesuffix("2>&1").strip()
        )  # a summary leaves that out
    text = text if len(text) <= LONGEST else ""
    checks = bool(text) and check_in(found)[0] is not None
    return InventoryFact(tuple(dict.fromkeys(shown)), tuple(dict.fromkeys(changed)), text, checks)
