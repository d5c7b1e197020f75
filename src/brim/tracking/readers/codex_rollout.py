"""Codex rollouts, ``~/.codex/sessions/**/rollout-*.jsonl``: everything that one thread did.

What is copied from a parent thread gives no events (``codex_lineage``), each request counts once (``codex_tokens``), a
patch is one call for each file (``codex_items``). A compaction is told when its line is followed by the count of what
is left, or by anything else that shows that none follows; ``finish`` tells one that the file ends with.
"""

from __future__ import annotations

from brim.tracking.events import Compaction, End, Message, ModelSeen, StateSeen
from brim.tracking.readers.codex_items import Calls
from brim.tracking.readers.codex_lineage import Lineage
from brim.tracking.readers.codex_tokens import Requests
from brim.tracking.readers.codex_words import Heard, asked, typed
from brim.tracking.readers.fields import count, flag, mapping, text, text_of, value, whole
from brim.tracking.readers.times import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.events import Event

_TYPES = (
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "token_usage_record",
    "world_state",
)
_AFTER_COMPACTION = ("world_state", "turn_context", "event_msg")
_STATES = (("permission_mode", "approval_policy"), ("folder", "cwd"))


def recognises(line: Mapping[str, Any]) -> bool:
    """Return whether *line* is one of a rollout."""
    return text(line, "type") in _TYPES and bool(mapping(line, "payload"))


class CodexRolloutReader:
    """Reads one rollout, line by line."""

    def __init__(self) -> None:
        self._lineage = Lineage()
        self._copied = False
        self._requests = Requests()
        self._calls = Calls()
        self._heard = Heard()
        self._model, self._window = "", 0
        self._window_is_new = False
        self._told: tuple[str, int] = ("", 0)
        self._states: dict[str, str] = {}
        self._compacted: tuple[Compaction, Message | None] | None = None

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        copied = self._copied = self._lineage.see(line)
        kind, payload = text(line, "type"), mapping(line, "payload")
        where: dict[str, Any] = {
            "session": self._lineage.session,
            "agent": self._lineage.agent,
            "time": seconds(value(line, "timestamp")),
            "at": at,
        }
        happened = self.finish() if kind not in _AFTER_COMPACTION else []
        if kind == "session_meta":
            happened += self._state("version", text(payload, "cli_version"), where)
            happened += self._state("folder", text(payload, "cwd"), where)
            happened += self._state("branch", text(payload, "git", "branch"), where)
        elif kind == "turn_context":
            happened += self._turn(payload, where)
        elif kind == "token_usage_record":
            happened += self._requests.recorded(payload, self._model, where)
        elif kind == "response_item":
            happened += self._item(payload, mapping(line, "metadata"), where)
        elif kind == "compacted":
            summary = text(payload, "message")
            told = Message(role="summary", text=summary, **where) if summary else None
            self._compacted = Compaction(**where), told
        elif kind == "event_msg":
            happened += self._note(payload, where)
        if copied:
            self._compacted = None
            return []
        return happened

    def finish(self) -> list[Event]:
        """Return the compaction that no count followed yet."""
        if self._compacted is None:
            return []
        compaction, summary = self._compacted
        self._compacted = None
        return [compaction, summary] if summary else [compaction]

    def _note(self, payload: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        kind = text(payload, "type")
        if kind == "token_count":
            return self._count(mapping(payload, "info"), where)
        if kind == "thread_settings_applied":
            return self._turn(mapping(payload, "thread_settings"), where)
        happened = self.finish() if kind != "context_compacted" else []
        if kind == "task_started":
            self._window = count(payload, "model_context_window")
            self._window_is_new = self._window > 0
        elif kind == "user_message":
            happened += self._words(text(payload, "message"), kind, True, where)
        elif kind == "item_completed" and text(payload, "item", "type") == "UserMessage":
            happened += self._words(text_of(value(payload, "item", "content")), kind, True, where)
        elif kind == "task_complete":
            happened.append(End(reason="complete", text=text(payload, "last_agent_message"), **where))
        elif kind == "turn_aborted":
            happened.append(End(reason=text(payload, "reason") or "aborted", **where))
        elif kind in ("error", "stream_error") and text(payload, "message"):
            happened.append(Message(role="error", text=text(payload, "message"), **where))
        return happened

    def _count(self, info: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        left = whole(info, "last_token_usage", "total_tokens")
        happened: list[Event] = []
        if self._compacted is not None:
            sent = count(info, "last_token_usage", "input_tokens") + count(info, "last_token_usage", "output_tokens")
            if left and not sent:
                compaction, summary = self._compacted
                self._compacted = compaction.changed(after=left), summary
            happened = self.finish()
        window = count(info, "model_context_window")
        if window:
            self._window = window
            happened += self._seen(where)
        return happened + self._requests.counted(info, self._model, where, copied=self._copied)

    def _turn(self, settings: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        model = text(settings, "model")
        if model and model != self._model:
            if self._model and not self._window_is_new:
                self._window = 0
            self._model = model
        self._window_is_new = False
        happened = self._seen(where) if model else []
        for name, key in _STATES:
            happened += self._state(name, text(settings, key), where)
        return happened

    def _seen(self, where: Mapping[str, Any]) -> list[Event]:
        if self._copied or self._told == (self._model, self._window):
            return []
        self._told = self._model, self._window
        return [ModelSeen(model=self._model, window=self._window, **where)]

    def _state(self, name: str, now: str, where: Mapping[str, Any]) -> list[Event]:
        if self._copied or not now or self._states.get(name) == now:
            return []
        self._states[name] = now
        return [StateSeen(name=name, value=now, **where)]

    def _item(self, payload: Mapping[str, Any], about: Mapping[str, Any], where: Mapping[str, Any]) -> list[Event]:
        if text(payload, "type") != "message":
            return self._calls.events(payload, where)
        role, words = text(payload, "role"), text_of(value(payload, "content"))
        if not words or flag(about, "compaction_output"):
            return []
        if role == "user":
            return self._words(words, "item", typed(payload, words), where, text(payload, "id"))
        role = role if role == "assistant" else "system"
        return [Message(role=role, text=words, id=text(payload, "id"), **where)]

    def _words(self, words: str, source: str, is_typed: bool, where: Mapping[str, Any], id: str = "") -> list[Event]:
        if not is_typed:
            return [Message(role="user", text=words, id=id, **where)]
        words = asked(words)
        if not words or self._copied or not self._heard.is_new(words, source):
            return []
        return [Message(role="user", text=words, human=not self._lineage.agent, id=id, **where)]
