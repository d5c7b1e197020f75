"""Changes of a session's set-up: permission mode, branch, model and todo items.

What is seen first is where the session began, and no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from brim.agents.call import Event, ToolCall
from brim.agents.events import ModelSeen, StateSeen, ToolResult
from brim.agents.fields import items, text, value
from brim.memory.entries import MemoryEntry, draft, remember, source_of, where_of

_NAMES = {"permission_mode": "permission mode", "branch": "branch"}
_CREATED = re.compile(r"Task #(\w{1,40}) created")
_MOST = 10_000
_LONGEST_NAME = 500
_LONGEST_NUMBER = 100


class States:
    """The last state of each session."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str, str], str] = {}
        self._task_names: dict[tuple[str, str], str] = {}

    def entries(self, event: Event) -> list[MemoryEntry]:
        """Return what *event* changes. A sub-agent's own model is no change of the session's."""
        if isinstance(event, ToolCall) and event.kind == "todo":
            return self._changed_todos(event)
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
        number = _task_number(call, result)
        label = text(call.input, "subject")
        if number and label:
            remember(self._task_names, (call.session, number), label, _MOST)

    def _changed(self, event: Event, name: str, new_value: str) -> list[MemoryEntry]:
        before = self._replace(event, name, new_value)
        if before in ("", new_value):
            return []
        change = f"{name}: {before} → {new_value}"
        source = source_of(event)
        return [draft("state", change, session=event.session, time=event.time, source=source)]

    def _changed_todos(self, call: ToolCall) -> list[MemoryEntry]:
        """Return the entries of the items that have another status in the list of *call*.

        A task that *call* names by its number also has one if it wasn't seen before.
        """
        entries = []
        for todo in items(call.input, "todos"):
            label = text(todo, "content")
            status = text(todo, "status")
            if not label or not status:
                continue
            before = self._replace(call, f"todo {label}", status)
            if before and before != status:
                entries.append(_todo_entry(call, label, before, status))
        for label, status in self._named_task(call):
            before = self._replace(call, f"todo {label}", status)
            if before != status:
                entries.append(_todo_entry(call, label, before, status))
        return entries

    def _named_task(self, call: ToolCall) -> Iterator[tuple[str, str]]:
        """Yield the name and the status of the task that *call* names by its number, if any."""
        task = call.input.get("taskId")
        status = text(call.input, "status")
        if isinstance(task, str | int) and status:
            number = str(task)[:_LONGEST_NUMBER]
            yield self._task_names.get((call.session, number), f"task {task}"), status

    def _replace(self, event: Event, name: str, new_value: str) -> str:
        """Set the state *name* to *new_value*; return the value it had, empty if it had none."""
        key = (event.session, event.agent, name[:_LONGEST_NAME])
        before = self._last.get(key, "")
        remember(self._last, key, new_value, _MOST)
        return before


def _todo_entry(call: ToolCall, label: str, before: str, status: str) -> MemoryEntry:
    outcome = status
    if before:
        outcome = f"{before} → {status}"
    source = source_of(call)
    if source:
        source = f"{source} {status}"
    refs = {"noun": "todo", "outcome": outcome}
    return draft("state", label, source=source, refs=refs, **where_of(call))


def _task_number(call: ToolCall, result: ToolResult) -> str:
    """Return the number of the task that *call* made; empty if no one says it."""
    number = value(result.detail, "task", "id")
    if number is not None:
        return str(number)[:_LONGEST_NUMBER]
    created = _CREATED.match(result.text)
    if created is None or call.kind != "todo":
        return ""
    return created[1]
