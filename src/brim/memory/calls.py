"""What a session's calls leave behind: changed files, failing commands and decisions.

A changed file is recorded when its call is seen, and withdrawn if no call that changed it
succeeded.
"""

from __future__ import annotations

from typing import Any

from brim.agents.call import ToolCall
from brim.agents.events import ToolResult
from brim.memory.decisions import decisions_of
from brim.memory.entries import MemoryEntry, draft, first_error, remember, where_of
from brim.memory.quotes import one_line
from brim.memory.repetition.commands import looks, parts
from brim.memory.repetition.outcomes import exit_code, refusal_of

_MOST_OPEN = 10_000


class _ChangedFile:
    """A file, the calls that change it and have no result yet, and whether one succeeded."""

    def __init__(self, entry: MemoryEntry, call: ToolCall) -> None:
        self.entry = entry
        self.open_calls = {call.id}
        self.has_changed = not call.id

    @property
    def is_unchanged(self) -> bool:
        """Whether every call that should have changed it failed."""
        return not self.has_changed and not self.open_calls


class Calls:
    """The calls that have no result yet, and the files that were changed."""

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._files: dict[tuple[str, str], _ChangedFile] = {}

    def called(self, call: ToolCall) -> list[MemoryEntry]:
        """Return the entries of the files that *call* is the first to change."""
        if call.id:
            remember(self._open, call.id, call, _MOST_OPEN)
        entries = []
        for path in _changed_paths(call):
            file = self._files.get((call.session, path))
            if file is not None:
                file.open_calls.add(call.id)
                continue
            entry = draft("artifact", path, source=call.id, **where_of(call))
            self._files[(call.session, path)] = _ChangedFile(entry, call)
            entries.append(entry)
        return entries

    def call_of(self, result: ToolResult) -> ToolCall | None:
        """Return the call that *result* answers, if it was seen and has no answer yet."""
        return self._open.pop(result.id, None) if result.id else None

    def answered(self, call: ToolCall, result: ToolResult) -> list[MemoryEntry]:
        """Return the entries that *call* leaves with its *result*."""
        entries = self._withdrawn_files(call, result)
        entries += decision_entries(call, result)
        entries += failed_command(call, result)
        return entries

    def _withdrawn_files(self, call: ToolCall, result: ToolResult) -> list[MemoryEntry]:
        entries = []
        for path in _changed_paths(call):
            file = self._files.get((call.session, path))
            if file is None:
                continue
            file.open_calls.discard(call.id)
            if not result.error and not result.refusal:
                file.has_changed = True
            if file.is_unchanged:
                del self._files[(call.session, path)]
                refs = {"of": file.entry.id}
                entries.append(
                    draft("withdrawn", file.entry.text, source=call.id, refs=refs, **where_of(call))
                )
        return entries


def _changed_paths(call: ToolCall) -> list[str]:
    """Return the files that *call* writes or edits."""
    if not call.changes_files:
        return []
    return [one_line(path) for path in call.files]


def decision_entries(call: ToolCall, result: ToolResult) -> list[MemoryEntry]:
    """Return the entries of what a person decided about *call*."""
    entries = []
    for decision in decisions_of(call, result):
        source = f"{call.id} {decision.place}" if call.id else ""
        refs = {"outcome": decision.outcome}
        if decision.noun:
            refs["noun"] = decision.noun
        where = _where_answered(call, result)
        entries.append(draft("decision", decision.subject, source=source, refs=refs, **where))
    return entries


def failed_command(call: ToolCall, result: ToolResult) -> list[MemoryEntry]:
    """Return the entry of a shell command that failed.

    A command that brim, a rule or a person refused didn't run, so it didn't fail. One that only
    looks, such as ``ls``, says nothing about the work.
    """
    command = call.command
    if not command or not result.error or refusal_of(result) or looks(parts(command)):
        return []
    code = exit_code(result)
    refs = {
        "outcome": "failed" if code is None else f"ended with {code}",
        "output": first_error(result.text),
    }
    where = _where_answered(call, result)
    return [draft("command", command, source=call.id, refs=refs, **where)]


def _where_answered(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    where = where_of(call)
    if result.time is not None:
        where["time"] = result.time
    return where
