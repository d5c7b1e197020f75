"""What a reader makes of a line, whichever agent wrote it: a few kinds of events.

Every event says in which ``session`` and by which ``agent`` it happened (empty is the main thread, else the id of a
sub-agent, which has a window of its own), at which ``time`` (seconds since 1970, None if the line does not say) and
``at`` which byte of the stream its line begins.
"""

from __future__ import annotations

from brim._frozen import Frozen
from brim.models.usage import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ROLES = ("user", "assistant", "system", "summary", "error")
"""Who speaks in a ``Message``: ``summary`` is what a compaction left, ``error`` what the provider answered instead."""

TOOLS = ("shell", "read", "write", "edit", "search", "todo", "agent", "question", "plan", "")
"""What a tool does, whatever its client calls it; empty if that is not known."""

REFUSALS = ("", "permission", "interrupt", "cascade")
"""Why a call was not carried out: nobody allowed it, the person stopped it, or another call of the batch failed."""


class Event(Frozen):
    """Something that happened in a session."""

    __slots__ = ()

    session: str
    agent: str
    time: float | None
    at: int


class Usage(Event):
    """What the provider reported for one request. Its prompt is what was in the window.

    A ``request`` comes once, and again only with other numbers (a stream's first report has no output yet): the later
    one replaces the earlier. ``cost`` is what the client says it cost, in micro-dollars, or None.
    """

    __slots__ = ("agent", "at", "cost", "final", "model", "request", "session", "time", "tokens")

    model: str
    tokens: Tokens
    request: str
    """The key of the request, to count it once; empty if the line has none."""
    final: bool
    """Whether the number of output tokens is final, and no placeholder."""
    cost: int | None

    def __init__(
        self,
        *,
        tokens: Tokens,
        model: str = "",
        request: str = "",
        final: bool = True,
        cost: int | None = None,
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(
            tokens=tokens,
            model=model,
            request=request,
            final=final,
            cost=cost,
            session=session,
            agent=agent,
            time=time,
            at=at,
        )


class Message(Event):
    """Text that somebody wrote. ``human`` is whether a person typed it: sub-agent prompts and machine notes are not."""

    __slots__ = ("agent", "at", "human", "id", "role", "session", "text", "time")

    role: str
    text: str
    human: bool
    id: str

    def __init__(
        self,
        *,
        role: str,
        text: str,
        human: bool = False,
        id: str = "",
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(role=role, text=text, human=human, id=id, session=session, agent=agent, time=time, at=at)


class ToolCall(Event):
    """A tool was called. ``name`` is the client's, ``tool`` one of ``TOOLS``; ``input`` is what was given to it."""

    __slots__ = ("agent", "at", "id", "input", "name", "session", "time", "tool")

    id: str
    name: str
    tool: str
    input: Mapping[str, Any]

    def __init__(
        self,
        *,
        id: str,
        name: str,
        tool: str = "",
        input: Mapping[str, Any] | None = None,
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(id=id, name=name, tool=tool, input=input or {}, session=session, agent=agent, time=time, at=at)


class ToolResult(Event):
    """What a call answered: ``id`` is the call's. ``refusal`` says why it was not carried out, one of ``REFUSALS``."""

    __slots__ = ("agent", "at", "detail", "error", "id", "refusal", "session", "text", "time")

    id: str
    text: str
    error: bool
    refusal: str
    detail: Any
    """What the client says about it beside the text that the model got; None if nothing."""

    def __init__(
        self,
        *,
        id: str,
        text: str = "",
        error: bool = False,
        refusal: str = "",
        detail: Any = None,
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(
            id=id,
            text=text,
            error=error,
            refusal=refusal,
            detail=detail,
            session=session,
            agent=agent,
            time=time,
            at=at,
        )


class Compaction(Event):
    """The window was compacted: ``before`` and ``after`` are its tokens, None where the client does not say."""

    __slots__ = ("after", "agent", "at", "before", "session", "time", "trigger")

    trigger: str
    """``manual``, ``auto``, or empty."""
    before: int | None
    after: int | None

    def __init__(
        self,
        *,
        trigger: str = "",
        before: int | None = None,
        after: int | None = None,
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(trigger=trigger, before=before, after=after, session=session, agent=agent, time=time, at=at)


class ModelSeen(Event):
    """Which model answers from here on, and the window that the agent says it has, 0 if it does not."""

    __slots__ = ("agent", "at", "model", "session", "time", "window")

    model: str
    window: int

    def __init__(
        self,
        *,
        model: str,
        window: int = 0,
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(model=model, window=window, session=session, agent=agent, time=time, at=at)


class StateSeen(Event):
    """How the session is set up from here on: its ``permission_mode``, ``branch``, ``folder`` or ``version``."""

    __slots__ = ("agent", "at", "name", "session", "time", "value")

    name: str
    value: str

    def __init__(
        self, *, name: str, value: str, session: str = "", agent: str = "", time: float | None = None, at: int = 0
    ) -> None:
        self._fill(name=name, value=value, session=session, agent=agent, time=time, at=at)


class RunTotal(Event):
    """What the client says that the session took so far: every request, those included that no line shows.

    It is a sum, never what is in the window.
    """

    __slots__ = ("agent", "at", "cost", "session", "time", "tokens", "usage", "windows")

    cost: int | None
    """Micro-dollars, or None."""
    tokens: Mapping[str, Tokens]
    """By model."""
    windows: Mapping[str, int]
    """By model, as far as the client says."""
    usage: Tokens | None
    """The sum over the models, as the line itself gives it; None if it gives none."""

    def __init__(
        self,
        *,
        cost: int | None = None,
        tokens: Mapping[str, Tokens] | None = None,
        windows: Mapping[str, int] | None = None,
        usage: Tokens | None = None,
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(
            cost=cost,
            tokens=tokens or {},
            windows=windows or {},
            usage=usage,
            session=session,
            agent=agent,
            time=time,
            at=at,
        )


class End(Event):
    """A turn or a run ended. ``text`` is its answer, or the error if ``error``."""

    __slots__ = ("agent", "at", "error", "reason", "session", "text", "time")

    reason: str
    error: bool
    text: str

    def __init__(
        self,
        *,
        reason: str = "",
        error: bool = False,
        text: str = "",
        session: str = "",
        agent: str = "",
        time: float | None = None,
        at: int = 0,
    ) -> None:
        self._fill(reason=reason, error=error, text=text, session=session, agent=agent, time=time, at=at)
