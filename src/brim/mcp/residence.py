"""``Residence``: for which sessions this server answers hooks, so that no process has to.

A client that is set up for it calls the server's tool and a small script at each event; the script starts a process
only if no server has announced itself for the session. The server does so at the first event that it hears of. The
script may have looked a moment before, so in the first minute both claim an event before they answer it, and only one
can: whoever was first, each event is answered once.
"""

from __future__ import annotations

import os

from brim.agents.claims import SERVER, claim, event_id
from brim.agents.install.resident import announce, withdraw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SETTLED = 60.0
"""Seconds after which no script can still be at work that has not seen the announcement."""


class Residence:
    """The sessions that this server has announced itself for, in the user's folder *home*, and since when."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._since: dict[str, float] = {}
        self._files: dict[str, str] = {}

    def answers(self, event: str, data: Mapping[str, Any], *, now: float) -> bool:
        """Whether the server, and no process, answers *event*.

        One without an id cannot be claimed: it is the process's until scripts have had an announcement to see.
        """
        name, session = event_id(event, data), str(data.get("session_id", ""))
        if not name:
            return os.path.exists(self._files.get(session, ""))
        if not self._announced(session, now):
            return False
        if now - self._since[session] > SETTLED:
            return True
        try:
            return claim(self._home, name, SERVER, now=now)
        except OSError:
            return False

    def close(self) -> None:
        """Leave every session to the process again."""
        for path in self._files.values():
            withdraw(path)
        self._files.clear()

    def _announced(self, session: str, now: float) -> bool:
        """Whether scripts can know of this server. What somebody has removed is said again, and counts from now."""
        path = self._files.get(session)
        if path is None or not os.path.exists(path):
            path = announce(self._home, session)
            self._files[session], self._since[session] = path, now
        return bool(path)
