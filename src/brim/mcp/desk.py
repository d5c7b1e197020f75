"""``Desk``: what a server keeps from one call to the next. It is little: everything else is looked up anew."""

from __future__ import annotations

import time
from contextvars import ContextVar

from brim.mcp.here import Here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_asking: ContextVar[str] = ContextVar("asking", default="")
"""The session that the call in hand has named."""


class Desk:
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
        self._shared = shared
        self._last = ""

    def here(self) -> Here:
        """Return what this call may use."""
        return Here(self.environ, self.folder, now=self.clock())

    @property
    def session(self) -> str:
        """The session that this call is for: the one it named, else the last that the only client did; or empty."""
        return _asking.get() or self._last

    def named(self, session: str) -> None:
        """Note that the call in hand is for *session*, if it says so."""
        _asking.set(session)
        if session and not self._shared:
            self._last = session
