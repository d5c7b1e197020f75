"""Reads what Claude Code gives to a status line: model, window, the last request and the cost so far."""

from __future__ import annotations

from brim.tracking.events import ModelSeen, RunTotal, StateSeen, Usage
from brim.tracking.readers.fields import count, micro_dollars, text, tokens, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.models.usage import Tokens
    from brim.tracking.events import Event


def recognises(line: Mapping[str, Any]) -> bool:
    """Return whether *line* is the input of a status line."""
    return "type" not in line and isinstance(line.get("context_window"), dict) and isinstance(line.get("model"), dict)


class ClaudeStatusReader:
    """Reads one status after the other. They come often: only what changed is told."""

    def __init__(self) -> None:
        self._told: dict[str, object] = {}
        self._requests = 0

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what changed with *line*."""
        session = text(line, "session_id")
        where: dict[str, Any] = {"session": session, "agent": "", "time": None, "at": at}
        found: list[Event] = []
        model, window = text(line, "model", "id"), count(line, "context_window", "context_window_size")
        if model and self._is_new("model", (session, model, window)):
            found.append(ModelSeen(model=model, window=window, **where))
        for name, key in (("folder", "cwd"), ("version", "version")):
            if (now := text(line, key)) and self._is_new(name, now):
                found.append(StateSeen(name=name, value=now, **where))
        used = tokens(value(line, "context_window", "current_usage"))
        cost = micro_dollars(line, "cost", "total_cost_usd")
        if used and self._is_new("usage", (session, used)):
            found.append(Usage(tokens=used, model=model, request=self._request(session, used), **where))
        if cost is not None and self._is_new("cost", (session, cost)):
            found.append(RunTotal(cost=cost, windows={model: window} if model and window else {}, **where))
        return found

    def _is_new(self, name: str, now: object) -> bool:
        if self._told.get(name) == now:
            return False
        self._told[name] = now
        return True

    def _request(self, session: str, used: Tokens) -> str:
        """Return a key of our own: a status has no request's id."""
        self._requests += 1
        return f"status:{session}:{self._requests}:{used.prompt}:{used.output}"
