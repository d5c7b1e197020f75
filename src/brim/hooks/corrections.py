"""A prompt that corrects the agent, kept as a suggestion with what the agent did last. It never
becomes a rule here."""

from __future__ import annotations

from brim.hooks.event import HookCall
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import FORMATS, tail_bytes
from brim.store.suggestions import Suggestions
from brim.tracking.events import ToolCall
from brim.tracking.readers import AnyReader
from brim.tracking.readers.stream import Feed
from brim.tracking.readers.tools import command_line

TAIL = 1 << 18
"""Bytes of the transcript in which the last call is looked for."""

FILES = ("file_path", "notebook_path", "absolute_path", "path")


def keep_correction(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep the prompt, with which a person corrects the agent: ``brim rules review`` shows it."""

    Suggestions(workspace.home).add(
        call.prompt,
        call=last_call(call),
        agent=call.agent,
        project=workspace.project,
        session=call.session,
        time=workspace.now,
    )


def last_call(call: HookCall) -> str:
    """Return the last tool call before the prompt, such as ``Bash: npm install``; empty if there is
    none."""

    start, data = tail_bytes(call.transcript, TAIL) if call.transcript else (0, b"")
    reader = AnyReader(FORMATS[call.agent])
    events = [*Feed(reader=reader, start=start).feed(data), *reader.finish()]
    last = next((each for each in reversed(events) if isinstance(each, ToolCall)), None)
    if last is None:
        return ""
    given = last.input
    about = command_line(given.get("command") or given.get("cmd")) or next(
        (given[key] for key in FILES if isinstance(given.get(key), str)), ""
    )
    return f"{last.name}: {about}" if about else last.name
