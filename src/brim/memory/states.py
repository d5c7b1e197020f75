"""Changes of a session's set-up: permission mode, branch, model and todo items.

What is seen first is where the session began, and no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from brim.agents.call import Event, ToolCall
from brim.agents.events import ModelSeen, StateSeen, ToolResult
from brim.memory.call_input import first_text
from brim.memory.entries import MemoryEntry, draft, remember, source_of, where_of

_NAMES = {"permission_mode": "permission mode", "branch": "branch"}
_LISTS = ("todos", "items", "plan")
_LABELS = ("content", "text", "step", "description", "subject")
_CREATED = re.compile(r"Task #(\w{1,40}) created")
_MOST = 10_000


class States:
    """The last state of each session."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str, str], str] = {}
        self._task_names: dict[tuple[str, str], str] = {}

    def entries(self, event: Event) -> list[MemoryEntry]:
        """Return what *event* changes. A sub-agent's own model is no change of the session's."""
        if isinstance(event, ToolCall):
            if event.kind != "todo":
                return []
            return self._todo_entries(event)
        if event.agent:
            return []
        if isinstance(event, StateSeen) and event.name in _NAMES:
            return self._changed(event, _NAMES[event.name], event.value)
        if isinstance(event, ModelSeen) and event.model:
            # A client names the same model with and without its window: claude-x[1m].
            return self._changed(event, "model", event.model.partition("[")[0])
        return []

    def learn_task(self, call: ToolCall, result: ToolResult) -> None:
        """Remember the name of a task that *call* made: later calls give its number alone."""
        label = call.input.get("subject")
        number = _task_number(call, result)
        if number is not None and isinstance(label, str):
            remember(self._task_names, (call.session, number), label, _MOST)

    def _changed(self, event: Event, name: str, value: str) -> list[MemoryEntry]:
        before = self._replace(event, name, value)
        if before in (None, value):
            return []
        text = f"{name}: {before} → {value}"
        source = source_of(event)
        return [draft("state", text, session=event.session, time=event.time, source=source)]

    def _todo_entries(self, call: ToolCall) -> list[MemoryEntry]:
        return self._changed_todos(call) + self._changed_task(call)

    def _changed_todos(self, call: ToolCall) -> list[MemoryEntry]:
        entries = []
        for label, status in _listed_todos(call):
            if not label or not status:
                continue
            before = self._replace(call, f"todo {label}", status)
            if before and before != status:
                entries.append(_todo_entry(call, label, before, status))
        return entries

    def _changed_task(self, call: ToolCall) -> list[MemoryEntry]:
        """Return the entry of a task that *call* names by its number, if its status changes."""
        task = call.input.get("taskId")
        task_status = call.input.get("status")
        if not isinstance(task, str | int) or not isinstance(task_status, str) or not task_status:
            return []
        label = self._task_names.get((call.session, str(task)[:100]), f"task {task}")
        before = self._replace(call, f"todo {label}", task_status)
        if before == task_status:
            return []
        return [_todo_entry(call, label, before, task_status)]

    def _replace(self, event: Event, name: str, value: str) -> str | None:
        """Set the state *name* to *value*; return the value that it had."""
        key = (event.session, event.agent, name[:500])
        before = self._last.get(key)
        remember(self._last, key, value, _MOST)
        return before


def _todo_entry(call: ToolCall, label: str, before: str | None, status: str) -> MemoryEntry:
    refs = {"noun": "todo", "outcome": f"{before} → {status}" if before else status}
    source = source_of(call)
    if source:
        source = f"{source} {status}"
    return draft("state", label, source=source, refs=refs, **where_of(call))


def _task_number(call: ToolCall, result: ToolResult) -> str | None:
    """Return the number of the task that *call* made; None if no one says it."""
    if isinstance(result.detail, Mapping):
        task = result.detail.get("task")
        if isinstance(task, Mapping) and task.get("id") is not None:
            return str(task["id"])[:100]
    created = _CREATED.match(result.text) if call.kind == "todo" else None
    if created is None:
        return None
    return created[1]


def _listed_todos(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Yield the label and the status of each item in the list of *call*."""
    for key in _LISTS:
        items = call.input.get(key)
        if isinstance(items, list):
            for item in items:
                if isinstance(item, Mapping):
                    yield first_text(item, _LABELS), _todo_status(item)
            return


def _todo_status(item: Mapping[str, object]) -> str:
    status = item.get("status")
    if not status and isinstance(item.get("completed"), bool):
        return "completed" if item["completed"] else "pending"
    return status if isinstance(status, str) else ""
