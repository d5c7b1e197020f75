"""What all readers share: times, sums, calls, and what was seen already."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from brim.agents.call import Event, ToolCall, Tools, arguments
from brim.agents.events import Message, ModelSeen, StateSeen, ToolResult
from brim.agents.fields import count, text, value, whole
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
    dollars = value(line, *path)
    if dollars is None or isinstance(dollars, bool) or not isinstance(dollars, int | float):
        return None
    if not 0 <= dollars <= _MOST_DOLLARS:
        return None
    return math.floor(dollars * 1_000_000 + 0.5)


def tokens(usage: object) -> Tokens | None:
    """Return what a provider's *usage* reports, without what isn't a counter; None if nothing but
    zeros is left."""
    if not isinstance(usage, Mapping):
        return None
    # A number that is a nested list without end can't even be shown in an error: RecursionError.
    try:
        return _unless_zero(read_usage(usage))
    except (InputError, RecursionError):
        pass
    with suppress(InputError, RecursionError):
        return _unless_zero(read_usage(_only_counters(usage)))
    return None


def tokens_of_prompt(
    prompt: int, output: int, *, read: int = 0, written: int = 0, tools: int = 0
) -> Tokens | None:
    """Return what a request or a run took; None if it doesn't say.

    Its *prompt* contains what was *read* from a cache and *written* to it, but not what *tools*
    took.
    """
    if not prompt and not output:
        return None
    read = min(read, prompt)
    fresh = max(0, prompt - read - written)
    return Tokens(input=fresh + tools, cache_read=read, cache_write_5m=written, output=output)


def _unless_zero(usage: Tokens) -> Tokens | None:
    if usage.prompt or usage.output:
        return usage
    return None


def _only_counters(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return *usage* without numbers that aren't counts."""
    counters: dict[str, Any] = {}
    for key, number in usage.items():
        if isinstance(number, Mapping):
            parts = number.items()
            counters[key] = {name: part for name, part in parts if whole(part) is not None}
        elif whole(number) is not None or _is_note(key, number):
            counters[key] = number
    return counters


def _is_note(key: str, value: object) -> bool:
    """Whether *value* is a text that says something about the usage, such as a tier."""
    return isinstance(value, str) and not key.endswith("tokens")


def refusal_in(answer: str) -> str:
    """Return which of ``events.REFUSALS`` the *answer* to a failed call is, empty if it is a
    failure.

    It knows what Codex, Gemini CLI and opencode say in place of a result.

    >>> refusal_in("exec command rejected by user"), refusal_in("aborted by user after 3.1s")
    ('permission', 'interrupt')
    >>> refusal_in("not found")
    ''
    """
    return opening_of(answer[:200].lstrip().lower(), __file__, "declined.tsv")


def opening_of(words: str, module_file: str, table: str) -> str:
    """Return the kind of the first opening that *words* begin with, or an empty text.

    *table* is in ``data`` next to the module.
    """
    for kind, opening in data_rows(module_file, table):
        if words.startswith(opening):
            return kind
    return ""


def is_short_for(name: str, full: str) -> bool:
    """Whether *name* is the model *full* without its suffix for a window: answers don't repeat what
    was asked for.

    >>> is_short_for("claude-sonnet-4-5-20250929", "claude-sonnet-4-5[1m]")
    True
    >>> is_short_for("gpt-4o", "gpt-4o")
    False
    """
    if "[" not in full or "[" in name:
        return False
    key = model_key(full)
    _, window = split_window(key)
    if window <= 0:
        return False
    return bool(model_spellings(key) & model_spellings(model_key(name)))


def model_key(model: str) -> str:
    """Return the name of *model* by which its numbers are kept."""
    return clean(model[:300])


def model_spellings(key: str) -> set[str]:
    """Return every spelling of a model's *key*, without its suffix for a window."""
    return {spelling for spelling, _ in spellings(split_window(key)[0])}


class Bounded(OrderedDict):  # type: ignore[type-arg] # typing is too heavy for a hook
    """A dict that forgets what was put in first when it holds more than *size*."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if len(self) > self._size:
            self.popitem(last=False)


class Told:
    """What was told already, by key, so that it is told once however many lines repeat it."""

    def __init__(self, size: int = 50_000) -> None:
        self._facts = Bounded(size)  # hashes only: a long session takes a few megabytes

    def is_new(self, key: str, fact: object = None, *, final: bool = True) -> bool:
        """Remember the *fact* under *key*; return whether it is new. Under an empty key every fact
        is.

        What is final is never replaced by what isn't, such as a count of output tokens while the
        model still writes.
        """
        if not key:
            return True
        before = self._facts.get(hash(key))
        now = (hash(fact), final)
        if before == now:
            return False
        if before is not None and before[1] and not final:
            return False
        self._facts[hash(key)] = now
        return True

    def __contains__(self, key: object) -> bool:
        return hash(key) in self._facts


class LineReader:
    """Reads one stream, line by line: ``read`` takes a line, says ``where`` it is, and tells its
    events."""

    tools: Tools
    """Those of the agent that wrote the stream."""

    def __init__(self) -> None:
        self.told = Told()
        self.where: dict[str, Any] = {}
        self.line_events: list[Event] = []
        """What happened in the line that is read."""

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        self.where = {"at": at}
        self.line_events = []
        self.read(line)
        return self.line_events

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        raise NotImplementedError

    def tell(self, kind: type[Event], /, **fields: Any) -> None:
        """Tell an event of *kind*, which happened where the line says."""
        self.line_events.append(kind(**(self.where | fields)))

    def say(self, role: str, words: str, **fields: Any) -> None:
        """Tell a message, if it has words."""
        if words:
            self.tell(Message, role=role, text=words, **fields)

    def states(self, line: object, **keys: str) -> None:
        """Tell which of the session's states changed; they are in *line*, each under its key if it
        is known."""
        for name, key in keys.items():
            state = text(line, key)
            if state and self.told.is_new(name, state):
                self.tell(StateSeen, name=name, value=state)

    def call(self, id: str, name: str, raw_input: object, kind: str | None = None) -> None:
        """Tell a call of the tool *name*, which got *raw_input*: an object or the JSON text of
        one."""
        if kind is None:
            kind = self.tools.kind(name)
        input = self.tools.normalized(kind, arguments(raw_input))
        self.tell(ToolCall, id=id, name=name, kind=kind, input=input)

    def result(
        self,
        id: str,
        answer: str,
        *,
        failed: bool,
        refusal: str = "",
        code: object = None,
        **fields: Any,
    ) -> None:
        """Tell the result of the call *id*; an exit *code* other than 0 is a failure too."""
        detail = None
        if type(code) is int:
            detail = {"exit_code": code}
            failed = failed or code != 0
        fields = {"error": failed, "detail": detail, **fields}
        self.tell(ToolResult, id=id, text=answer, refusal=refusal, **fields)


class SessionReader(LineReader):
    """Reads a session's file: knows the session, and tells its model when that changes."""

    _session = ""
    _model = ""
    _window = 0

    def state(self) -> dict[str, Any]:
        """Return what ``resume`` needs to count the requests of the lines that follow, as JSON."""
        return {"session": self._session, "model": self._model, "window": self._window}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the reader stood whose *state* this is."""
        self._session = text(state, "session")
        self._model = text(state, "model")
        self._window = count(state, "window")

    def see_model(self, model: str, window: int = 0) -> None:
        """Tell the model and its window, if it has one and they are others."""
        if model and (model, window) != (self._model, self._window):
            self._model = model
            self._window = window
            self.tell(ModelSeen, model=model, window=window)
