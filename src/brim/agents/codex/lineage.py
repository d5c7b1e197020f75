"""Which thread do the lines of a rollout belong to, and which are copies of its parent's?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brim.agents.fields import first_text, mapping, text, value
from brim.agents.times import seconds

_TIMED_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
"""A UUID of version 7, which begins with the time at which it was made."""
_COPYING = 2.0
"""Seconds in which a parent's history is copied: no answer of a model is that fast."""


class Lineage:
    """Whose lines a rollout holds: ``session`` is the main thread's id, ``agent`` the id of another
    one.

    A fork and a sub-agent begin with the history of their parent, its token counts included. What
    was copied is in the parent's file; counted again it would multiply the parent by its children.
    The first ``session_meta`` names the thread. After one of another thread, or if the first one
    names a parent, lines are copies until one shows that it is the thread's own: it has the
    thread's id, or a turn that is younger than the thread (both are UUIDs that begin with their
    time). Old rollouts name no turns: there, what is written two seconds after the thread began is
    its own.
    """

    session = ""
    agent = ""
    _thread = ""
    _copied = False
    _names_turns = False
    """Whether the rollout names turns."""
    _began: float | None = None

    def see(self, line: Mapping[str, Any]) -> bool:
        """Take note of *line*; return whether it is a copy."""
        payload = mapping(line, "payload")
        if text(line, "type") == "session_meta":
            return self._is_copied_meta(line, payload)
        if not self._thread and text(payload, "thread_id"):
            self._take_thread(payload)
        elif self._copied and self._is_own(line, payload):
            self._copied = False
        return self._copied

    def _is_copied_meta(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
        thread = first_text(payload, "id", "session_id")
        if not self._thread:
            self._begin(thread, payload)
            self._began = seconds(value(line, "timestamp"))
            return False
        is_another = bool(thread) and thread != self._thread
        if is_another:
            self._copied = True
        return is_another

    def _begin(self, thread: str, payload: Mapping[str, Any]) -> None:
        """Take *thread*, which the first ``session_meta`` names, as the rollout's own."""
        spawned = value(payload, "source", "subagent")
        parent = text(spawned, "thread_spawn", "parent_thread_id")
        parent = parent or text(payload, "parent_thread_id")
        is_agent = bool(spawned or parent) or text(payload, "thread_source") == "subagent"
        self._thread = thread
        self.session = thread
        self.agent = ""
        if is_agent:
            self.session = _main_thread(payload, thread, parent)
            self.agent = thread
        self._copied = is_agent or bool(text(payload, "forked_from_id"))

    def _take_thread(self, payload: Mapping[str, Any]) -> None:
        """Take the thread that a line names, where no ``session_meta`` came first."""
        self._thread = text(payload, "thread_id")
        self.session = text(payload, "session_id") or self._thread
        self.agent = ""
        if self.session != self._thread:
            self.agent = self._thread

    def _is_own(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
        """Whether *line* shows that the copied history of the parent is over."""
        if text(payload, "thread_id") == self._thread:
            return True
        turn = text(payload, "turn_id")
        if re.fullmatch(_TIMED_ID, turn) and re.fullmatch(_TIMED_ID, self._thread):
            self._names_turns = True
            return turn > self._thread  # ids that begin with their time: the later one is greater
        if self._names_turns:
            return False  # its turns tell more exactly than the clock
        written = seconds(value(line, "timestamp"))
        if written is None or self._began is None:
            return False
        return written > self._began + _COPYING


def _main_thread(payload: Mapping[str, Any], thread: str, parent: str) -> str:
    """Return the main thread of the session in which *thread* is a sub-agent's."""
    root = text(payload, "session_id")
    if root and root != thread:
        return root
    return parent or thread
