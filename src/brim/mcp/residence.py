"""``Residence``: for which sessions this server answers hooks, so that no process has to.

A client that is set up for it calls the server's tool and a small script at each event; the script starts a process
only if no server has announced itself for the session. So the first events of a session are the process's, the server
announces itself a moment later, between two events, and answers from then on: each event is answered once.
"""

from __future__ import annotations

from threading import Lock, Timer

from brim.agents.install.resident import announce, withdraw

DELAY = 1.5
"""Seconds after the first event of a session: by then the script has looked, and found nobody."""


class Residence:
    """The sessions that this server has announced itself for, in the user's folder *home*."""

    def __init__(self, home: str, *, delay: float = DELAY) -> None:
        self._home, self._delay = home, delay
        self._announced: dict[str, str] = {}
        self._timers: dict[str, Timer] = {}
        self._lock = Lock()

    def answers(self, session: str) -> bool:
        """Whether the server answers for *session*; if not yet, it soon will."""
        with self._lock:
            if session in self._announced:
                return True
            if session and session not in self._timers:
                timer = self._timers[session] = Timer(self._delay, self._announce, (session,))
                timer.daemon = True
                timer.start()
        return False

    def close(self) -> None:
        """Leave every session to the process again."""
        with self._lock:
            for timer in self._timers.values():
                timer.cancel()
            for path in self._announced.values():
                withdraw(path)
            self._announced.clear()

    def _announce(self, session: str) -> None:
        with self._lock:
            if path := announce(self._home, session):
                self._announced[session] = path
