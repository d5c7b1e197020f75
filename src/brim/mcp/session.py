"""Who asks: the workspace, session and agent of a call."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar

from brim.hooks.standing import Standing, standing
from brim.mcp.memory import kept_entries
from brim.mcp.rules import hiding_project_text
from brim.tracking.sessions import AGENTS
from brim.workspace import Workspace

_asking: ContextVar[str] = ContextVar("asking", default="")
"""The session that the call in hand has named."""
_client: ContextVar[str] = ContextVar("client", default="")
"""What the client calls itself that makes the call in hand."""


class Clients:
    """Where the server was started, and the clock it goes by. *shared* is whether several clients may come to it."""

    def __init__(
        self,
        environ: Mapping[str, str],
        folder: str | None,
        *,
        clock: Callable[[], float] = time.time,
        shared: bool = False,
    ) -> None:
        self.environ, self.folder, self.clock = dict(environ), folder, clock
        self._shared, self._last, self._client = shared, "", ""

    @property
    def workspace(self) -> Workspace:
        """What this call may use. It is looked up for each call: a project may be trusted meanwhile."""
        return Workspace(self.environ, self.folder, who="agent", now=self.clock())

    @property
    def session(self) -> str:
        """The session that this call is for: the one it named, else the last that the only client did; or empty."""
        return _asking.get() or self._last

    @property
    def agent(self) -> str:
        """The agent that asks, by what it calls itself; empty if that says nothing."""
        name = _client.get() or self._client
        return next((agent for agent in AGENTS if agent in name.casefold()), "")

    def standing(self) -> Standing:
        """Return how things stand for the session that asks."""
        here = self.workspace
        return hiding_project_text(standing)(
            here, self.session, self.agent, kept=lambda session: kept_entries(here, session)
        )

    def named(self, session: str, client: str = "") -> None:
        """Note that the call in hand is for *session*, and made by *client*, if it says so."""
        _asking.set(session)
        _client.set(client)
        if not self._shared:
            self._last, self._client = session or self._last, client or self._client
