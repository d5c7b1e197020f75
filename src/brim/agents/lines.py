"""What all readers share: times, sums, calls, and what was seen already."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from brim.agents.call import Event, ToolCall, Tools, arguments
from brim.agents.events import Message, StateSeen, ToolResult
from brim.agents.fields import text, value, whole
from brim.errors import InputError
from brim.files import data_rows
from brim.models.names import clean, spellings, split_window
from brim.models.usage import Tokens, read_usage

Where = Mapping[str, Any]
"""Session, agent, time and place of an event, as keyword arguments."""

SYNTHETIC = "<synthetic>"
"""The model of lines that a client wrote itself: no request was made."""

_MOST_DOLLARS = 10**9


def micro_dollars(line: object, *path: str) -> int | None:
    """Return the dollars at *path* in millionths, half rounded up; None unless it is from 0 to a
    billion."""
    found = value(line, *path)
    if (
        isinstance(found, bool)
        or not isinstance(found, int | float)
        or not 0 <= found <= _MOST_DOLLARS
    ):
        return None
    return math.floor(found * 1_000_000 + 0.5)


def tokens(usage: object) -> Tokens | None:
    """Return what a provider's *usage* reports, without what isn't a counter; None if nothing but
    zeros is left."""
    if not isinstance(usage, Mapping):
        return None
    for sound in (False, True):
        with suppress(
            InputError, RecursionError
        ):  # a number that is a nested list without end cannot even be shown
            read = read_usage(_sound(usage) if sound else usage)
            return read if read.prompt or read.output else None
    return None


def _sound(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return *usage* without numbers that aren't counts."""
    sound: dict[str, Any] = {}
    for key, found in usage.items():
        if isinstance(found, Mapping):
            sound[key] = {inner: part for inner, part in found.items() if whole(part) is not None}
        elif whole(found) is not None or (isinstance(found, str) and not key.endswith("tokens")):
            sound[key] = found
    return sound


_LARGEST = 253_402_300_800
"""The first second after the year 9999."""


def seconds(time: object) -> float | None:
    """Return *time* as seconds since 1970, or None if it isn't a time. Without a zone it is UTC.

    Numbers are seconds, or milli-, micro- or nanoseconds: whichever falls before the year 9999.

    >>> seconds("2026-11-15T06:39:07.416Z")
    1794724747.416
    >>> seconds(1794724747416)
    1794724747.416
    """
    if isinstance(time, str):
        try:
            found = datetime.fromisoformat(time.strip() if len(time) < 64 else "")
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    return next(
        (
            time / unit
            for unit in (1, 1_000, 1_000_000, 1_000_000_000)
            if 0 <= time < _LARGEST * unit
        ),
        None,
    )


def refusal_in(answer: str) -> str:
    """Return which of ``events.REFUSALS`` the *answer* to a failed call is, empty if it is a
    failure.

    It knows what Codex, Gemini CLI and opencode say in place of a result.

    >>> refusal_in("exec command rejected by user"), refusal_in("aborted by user after 3.1s"), refusal_in("not found")
    ('permission', 'interrupt', '')
    """
    return opening_of(answer[:200].lstrip().lower(), __file__, "declined.tsv")


def opening_of(said: str, module_file: str, table: str) -> str:
    """Return the kind of the first opening that *said* begins with, or an empty text.

    *table* is in ``data`` next to the module.
    """
    return next(
        (kind for kind, opening in data_rows(module_file, table) if said.startswith(opening)), ""
    )


def is_short_for(name: str, full: str) -> bool:
    """Whether *name* is the model *full* without its suffix for a window: answers don't repeat what
    was asked for.

    >>> is_short_for("claude-sonnet-4-5-20250929", "claude-sonnet-4-5[1m]"), is_short_for("gpt-4o", "gpt-4o")
    (True, False)
    """
    if "[" not in full or "[" in name:
        return False
    key = model_key(full)
    return split_window(key)[1] > 0 and bool(
        model_spellings(key) & model_spellings(model_key(name))
    )


def model_key(model: str) -> str:
    """Return the name of *model* by which its numbers are kept."""
    return clean(model[:300])


def model_spellings(key: str) -> set[str]:
    """Return every spelling of a model's *key*, without its suffix for a window."""
    return {spelling for spelling, _ in spellings(split_window(key)[0])}


class Bounded(OrderedDict):  # type: ignore[type-arg] # typing is too heavy for a hook
    """A dict that forgets what was put in first when it holds more than *most*."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if len(self) > self._most:
            self.popitem(last=False)


class Told:
    """What was told already, by key, so that it is told once however many lines repeat it."""

    def __init__(self, most: int = 50_000) -> None:
        self._told = Bounded(most)  # hashes only: a long session takes a few megabytes

    def is_new(self, key: str, told: object = None, *, final: bool = True) -> bool:
        """Remember what is *told* under *key*; return whether that is new. Under an empty key
        everything is.

        What is final is never replaced by what isn't, such as a count of output tokens while the
        model still writes.
        """
        before = self._told.get(hash(key))
        now = (hash(told), final)
        if key and (before == now or (before is not None and before[1] and not final)):
            return False
        if key:
            self._told[hash(key)] = now
        return True

    def __contains__(self, key: object) -> bool:
        return hash(key) in self._told


class LineReader:
    """Reads one stream, line by line: ``read`` takes a line, says ``where`` it is, and tells its
    events."""

    tools: Tools
    """Those of the agent that wrote the stream."""

    def __init__(self) -> None:
        self.told = Told()
        self.where: dict[str, Any] = {}
        self.found: list[Event] = []

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        self.where = {"at": at}
        self.found = []
        self.read(line)
        return self.found

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        raise NotImplementedError

    def tell(self, kind: type[Event], /, **fields: Any) -> None:
        """Tell an event of *kind*, which happened where the line says."""
        self.found.append(kind(**(self.where | fields)))

    def say(self, role: str, words: str, **fields: Any) -> None:
        """Tell a message, if it has words."""
        if words:
            self.tell(Message, role=role, text=words, **fields)

    def states(self, line: object, **keys: str) -> None:
        """Tell which of the session's states changed; they are in *line*, each under its key if it
        is known."""
        for name, key in keys.items():
            if (state := text(line, key)) and self.told.is_new(name, state):
                self.tell(StateSeen, name=name, value=state)

    def call(self, id: str, name: str, given: object, kind: str | None = None) -> None:
        """Tell a call of the tool *name*, which was *given* an object or the JSON text of one."""
        if kind is None:
            kind = self.tools.kind(name)
        input = self.tools.normalized(kind, arguments(given))
        self.tell(ToolCall, id=id, name=name, kind=kind, input=input)

    def result(
        self,
        id: str,
        said: str,
        *,
        failed: bool,
        refusal: str = "",
        code: object = None,
        **fields: Any,
    ) -> None:
        """Tell the result of the call *id*; an exit *code* other than 0 is a failure too."""
        known = type(code) is int
        fields = {
            "error": failed or (known and code != 0),
            "detail": {"exit_code": code} if known else None,
            **fields,
        }
        self.tell(ToolResult, id=id, text=said, refusal=refusal, **fields)
