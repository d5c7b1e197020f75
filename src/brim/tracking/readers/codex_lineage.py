"""Whose lines a Codex rollout holds: its own, or a copy of its parent's.

A fork and a sub-agent begin with the history of their parent, its token counts included. What was copied is in the
parent's file; counted again it would multiply the parent by its children. The first ``session_meta`` names the
thread. After one of another thread, or if the first one names a parent, lines are copies until one shows that it is
the thread's own: it has the thread's id, or a turn that is younger than the thread (both are UUIDs that begin with
their time). Old rollouts name no turns: there, what is written two seconds after the thread began is its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from brim.tracking.readers.fields import mapping, text, value
from brim.tracking.readers.times import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TIMED_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_COPYING = 2.0
"""Seconds in which a parent's history is copied: no answer of a model is that fast."""


class Lineage:
    """Which thread a rollout belongs to: ``session`` is the main thread's id, ``agent`` the id of another one."""

    def __init__(self) -> None:
        self.session = ""
        self.agent = ""
        self._copied = False
        self._thread = ""
        self._began: float | None = None
        self._turns = False

    def see(self, line: Mapping[str, Any]) -> bool:
        """Take note of *line*; return whether it is a copy."""
        payload = mapping(line, "payload")
        if text(line, "type") == "session_meta":
            return self._meta(payload, seconds(value(line, "timestamp")))
        if not self._thread and text(payload, "thread_id"):
            self._thread = text(payload, "thread_id")
            self.session = text(payload, "session_id") or self._thread
            self.agent = self._thread if self.session != self._thread else ""
        elif self._copied and self._is_own(line, payload):
            self._copied = False
        return self._copied

    def _meta(self, payload: Mapping[str, Any], written: float | None) -> bool:
        thread = text(payload, "id") or text(payload, "session_id")
        if self._thread:
            another = bool(thread) and thread != self._thread
            self._copied = self._copied or another
            return another
        spawned = value(payload, "source", "subagent")
        parent = text(spawned, "thread_spawn", "parent_thread_id") or text(payload, "parent_thread_id")
        root = text(payload, "session_id")
        self._thread, self._began = thread, written
        is_agent = bool(spawned or parent) or text(payload, "thread_source") == "subagent"
        self.session = (root if root != thread else "") or parent or thread if is_agent else thread
        self.agent = thread if is_agent else ""
        self._copied = is_agent or bool(text(payload, "forked_from_id"))
        return False

    def _is_own(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
        if text(payload, "thread_id") == self._thread:
            return True
        turn = text(payload, "turn_id")
        if _TIMED_ID.fullmatch(turn) and _TIMED_ID.fullmatch(self._thread):
            self._turns = True
            return turn > self._thread
        written = seconds(value(line, "timestamp"))
        if self._turns or written is None or self._began is None:
            return False
        return written > self._began + _COPYING
