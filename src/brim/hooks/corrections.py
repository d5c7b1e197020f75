"""A prompt that corrects the agent, kept as a suggestion with what the agent did last. It never
becomes a rule here."""

from __future__ import annotations

from brim.agents.call import HookCall, ToolCall
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import tail_bytes
from brim.store.suggestions import Suggestions

TAIL = 1 << 18
"""Bytes of the transcript in which the last call is looked for."""


def keep_correction(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep the prompt, with which a person corrects the agent: ``brim rules review`` shows it."""

    Suggestions(workspace.home).add(
        call.prompt,
        call=last_call(call),
        agent=call.agent.name,
        project=workspace.project,
        session=call.session,
        time=workspace.now,
    )


def last_call(call: HookCall) -> str:
    """Return the last tool call before the prompt, such as ``Bash: npm install``; empty if there is
    none."""

    start, data = tail_bytes(call.transcript, TAIL) if call.transcript else (0, b"")
    reader = AnyReader(writer=call.agent)
    events = [*Feed(reader=reader, start=start).feed(data), *reader.finish()]
    last = next((each for each in reversed(events) if isinstance(each, ToolCall)), None)
    if last is None:
        return ""
    about = last.command or next(iter(last.files), "")
    return f"{last.name}: {about}" if about else last.name
