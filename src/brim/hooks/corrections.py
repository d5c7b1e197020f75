"""A prompt that corrects the agent, kept as a suggestion with what the agent did last. It never
becomes a rule here."""

from __future__ import annotations

from brim.agents.call import HookCall, ToolCall
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import tail_bytes
from brim.rules.inbox import Inbox

LONGEST_CALL = 200
"""Characters of the last call that are kept."""
TAIL = 1 << 18
"""Bytes of the transcript in which the last call is looked for."""


def keep_correction(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep the prompt, with which a person corrects the agent: ``brim rules review`` shows it."""
    Inbox(workspace.home).add(
        "correction",
        call.prompt,
        instead_of=last_call(call)[:LONGEST_CALL],
        session=call.session,
        project=workspace.project or "",
    )


def last_call(call: HookCall) -> str:
    """Return the last tool call before the prompt, such as ``Bash: npm install``; empty if there is
    none."""
    if not call.transcript:
        return ""
    start, data = tail_bytes(call.transcript, TAIL)
    reader = AnyReader(writer=call.agent)
    last = None
    for event in [*Feed(reader=reader, start=start).feed(data), *reader.finish()]:
        if isinstance(event, ToolCall):
            last = event
    if last is None:
        return ""
    if last.command:
        return f"{last.name}: {last.command}"
    if last.files:
        return f"{last.name}: {last.files[0]}"
    return last.name
