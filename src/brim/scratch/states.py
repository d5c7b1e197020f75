"""What changed in a session's own set-up: permission mode, branch, model, and the status of todo items.

What is seen first is where it began, and no change.
"""

from __future__ import annotations

from _collections_abc import Mapping

from brim._patterns import pattern
from brim.scratch.drafts import draft
from brim.tracking.events import ModelSeen, StateSeen, ToolCall, ToolResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.scratch.entries import Entry
    from brim.tracking.events import Event

_NAMES = {"permission_mode": "permission mode", "branch": "branch"}
_LABELS = ("content", "text", "step", "description", "subject")
_MOST = 10_000
_CREATED = pattern(r"Task #(\w{1,40}) created")


class States:
    """What each session was last seen as."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str, str], str] = {}
        self._tasks: dict[tuple[str, str], str] = {}

    def entries(self, event: Event) -> list[Entry]:
        """Return what *event* changes. A sub-agent has a model of its own, which is no change of the session's."""
        if isinstance(event, ToolCall):
            return self._todos(event) if event.tool == "todo" else []
        if event.agent:
            return []
        if isinstance(event, StateSeen) and event.name in _NAMES:
            return self._change(event, _NAMES[event.name], event.value)
        if isinstance(event, ModelSeen) and event.model:
            # A client names the same model with and without the size of its window: claude-x[1m].
            return self._change(event, "model", event.model.partition("[")[0])
        return []

    def learn_task(self, call: ToolCall, result: ToolResult) -> None:
        """Remember the name of a task that *call* made: later calls give its number alone."""
        task = result.detail.get("task") if isinstance(result.detail, Mapping) else None
        number = task.get("id") if isinstance(task, Mapping) else None
        if number is None and call.tool == "todo" and (told := _CREATED.match(result.text)):
            number = told[1]
        label = call.input.get("subject")
        if number is not None and isinstance(label, str):
            self._tasks[(call.session, str(number)[:100])] = label
            _bound(self._tasks)

    def _change(self, event: Event, name: str, now: str) -> list[Entry]:
        before = self._set(event, name, now)
        if before is None or before == now:
            return []
        source = _source(event)
        return [draft("state", f"{name}: {before} → {now}", session=event.session, time=event.time, source=source)]

    def _todos(self, call: ToolCall) -> list[Entry]:
        given = next(
            (found for key in ("todos", "items", "plan") if isinstance(found := call.input.get(key), list)), []
        )
        changes = [change for item in given if isinstance(item, Mapping) and (change := self._todo(call, item))]
        task, status = call.input.get("taskId"), call.input.get("status")
        if isinstance(task, str | int) and isinstance(status, str):
            label = self._tasks.get((call.session, str(task)[:100]), f"task {task}")
            before = self._set(call, f"todo {label}", status)
            if before != status:
                changes.append(_todo_entry(call, label, before, status))
        return changes

    def _todo(self, call: ToolCall, item: Mapping[str, object]) -> Entry | None:
        label = next((found for key in _LABELS if isinstance(found := item.get(key), str) and found.strip()), "")
        status = item.get("status")
        if not status and isinstance(item.get("completed"), bool):
            status = "completed" if item["completed"] else "pending"
        if not label or not isinstance(status, str) or not status:
            return None
        before = self._set(call, f"todo {label}", status)
        return None if before is None or before == status else _todo_entry(call, label, before, status)

    def _set(self, event: Event, name: str, now: str) -> str | None:
        key = (event.session, event.agent, name[:500])
        before = self._last.pop(key, None)
        self._last[key] = now
        _bound(self._last)
        return before


def _todo_entry(call: ToolCall, label: str, before: str | None, now: str) -> Entry:
    refs = {"noun": "todo", "outcome": f"{before} → {now}" if before else now}
    source = f"{_source(call)} {now}" if _source(call) else ""
    return draft("state", label, session=call.session, agent=call.agent, time=call.time, source=source, refs=refs)


def _source(event: Event) -> str:
    """Return what tells *event* from others: its id, else its time; nothing if it has neither."""
    id = getattr(event, "id", "")
    return id if id else f"at {event.time}" if event.time is not None else ""


def _bound(known: dict[Any, str]) -> None:
    while len(known) > _MOST:
        del known[next(iter(known))]
