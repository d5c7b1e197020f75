"""How does each agent say what happened, and how does it want to be answered? One file per agent.

Each has ``EVENTS`` (by the client's own names), ``call_of``, ``reply`` and ``max_chars``. What a client sends is put
into a ``HookCall``; what it has no place for is left out of its answer.
"""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from brim.agents.answer import Answer
    from brim.agents.call import HookCall

    class Client(Protocol):
        """What each file here has."""

        EVENTS: Mapping[str, ClientEvent]
        LONGEST: int
        """How many characters any text for the model may have."""
        MOST_BYTES: int | None
        """How many bytes a text for the model may have, where the client counts those too."""

        def call_of(self, event: str, data: Mapping[str, Any], environ: Mapping[str, str]) -> HookCall | None:
            """Return what happened; None if *event* is none that the client has."""

        def reply(self, call: HookCall, answer: Answer) -> str:
            """Return *answer* in the client's own words; empty for nothing."""

        def max_chars(self, event: str) -> int:
            """Return how long a text for the model may be at the neutral *event*; 0 if none reaches it there."""


class ClientEvent(Frozen):
    """One event of a client's, and how ``brim init`` asks to be called at it."""

    __slots__ = ("event", "injects", "installed", "matcher", "resident", "timeout")

    event: str
    """What it means: one of ``brim.agents.call.EVENTS``."""
    matcher: str | None
    """What the settings file says beside it, None if it has no matcher there."""
    timeout: int
    """Seconds after which the client need not wait any longer; brim itself ends after one."""
    installed: bool
    """Whether ``brim init`` installs it."""
    injects: bool
    """Whether it is installed with ``--hooks injection-only`` too."""
    resident: bool
    """Whether the client can call a tool of an MCP server for it instead of a process."""

    def __init__(
        self,
        event: str,
        *,
        matcher: str | None = None,
        timeout: int = 5,
        installed: bool = True,
        injects: bool = False,
        resident: bool = False,
    ) -> None:
        self._fill(
            event=event, matcher=matcher, timeout=timeout, installed=installed, injects=injects, resident=resident
        )


def client_of(agent: str) -> Client:
    """Return the file of *agent*; a ``KeyError`` if there is none."""
    import sys

    from brim.agents.call import AGENTS

    if agent not in AGENTS:
        raise KeyError(agent)
    name = f"{__name__}.{agent}"
    __import__(name)
    found: Client = sys.modules[name]
    return found
