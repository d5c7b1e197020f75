"""What happened in a session, whichever agent wrote it down: a few kinds of events.

Every event says in which ``session`` and by which ``agent`` it happened (empty is the main thread,
else the id of a sub-agent, which has its own window), at which ``time`` (seconds since 1970, None
if the line doesn't say) and ``at`` which byte of the stream its line begins. Give the fields by
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brim.agents.call import Event
from brim.models.usage import Tokens

ROLES = ("user", "assistant", "system", "summary", "error")
"""Who speaks in a ``Message``: ``summary`` is what a compaction left, ``error`` what the provider
answered instead."""

REFUSALS = ("", "permission", "interrupt", "cascade")
"""Why a call wasn't carried out: not allowed, stopped by the person, or another call of the batch
failed."""


@dataclass(frozen=True)
class Usage(Event):
    """What the provider reported for one request. Its prompt is what was in the window.

    A ``request`` comes once, and again only with other numbers (a stream's first report has no
    output yet): the later one replaces the earlier. ``cost`` is what the client says it cost, in
    micro-dollars, or None.
    """

    tokens: Tokens = Tokens()
    model: str = ""
    request: str = ""
    """The key of the request, to count it once; empty if the line has none."""
    final: bool = True
    """Whether the number of output tokens is final, not a placeholder."""
    cost: int | None = None
    compacts: bool = False
    """Whether it asked for the summary of a compaction; only Codex writes these requests down."""


@dataclass(frozen=True)
class Message(Event):
    """Text in the conversation. ``human`` is whether a person typed it, not a sub-agent or the
    client."""

    role: str = ""
    text: str = ""
    human: bool = False
    id: str = ""


@dataclass(frozen=True)
class ToolResult(Event):
    """What a call answered: ``id`` is the call's. ``refusal`` says why it wasn't carried out, one
    of ``REFUSALS``."""

    id: str = ""
    text: str = ""
    error: bool = False
    refusal: str = ""
    detail: Any = None
    """What the client says about it in addition to the text that the model got."""


@dataclass(frozen=True)
class Compaction(Event):
    """The window was compacted: ``before`` and ``after`` are its tokens, None where the client
    doesn't say."""

    trigger: str = ""
    """``manual``, ``auto``, or empty."""
    before: int | None = None
    after: int | None = None
    kept: tuple[int, ...] = ()
    """Where the lines begin, as ``at`` says, whose content is still in the window."""
    hidden: bool = False
    """Whether the client can't read its summary either: the provider encrypted it."""


@dataclass(frozen=True)
class Attachment(Event):
    """Text that the client itself put into the window: a file, what a hook said, what a compaction
    left."""

    kind: str = ""
    """What the client calls it; ``kept`` if a compaction left it."""
    path: str = ""
    """The file, if it is one."""
    text: str = ""


@dataclass(frozen=True)
class ModelSeen(Event):
    """Which model answers from here on, and the window that the agent says it has, 0 if it
    doesn't."""

    model: str = ""
    window: int = 0


@dataclass(frozen=True)
class StateSeen(Event):
    """How the session is set up from here on: its ``permission_mode``, ``branch``, ``folder`` or
    ``version``."""

    name: str = ""
    value: str = ""


@dataclass(frozen=True)
class RunTotal(Event):
    """What the client says the session took so far, including requests that no line shows.

    It is a sum, never what is in the window.
    """

    cost: int | None = None
    """Micro-dollars, or None."""
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    """By model."""
    windows: Mapping[str, int] = field(default_factory=dict)
    """By model, as far as the client says."""
    usage: Tokens | None = None
    """The sum over the models, as the line itself gives it; None if it gives none."""


@dataclass(frozen=True)
class End(Event):
    """A turn or a run ended. ``text`` is its answer, or the error if ``error``."""

    reason: str = ""
    error: bool = False
    text: str = ""
