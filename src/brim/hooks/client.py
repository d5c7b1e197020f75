"""What the clients share: how their messages become a ``HookCall``, and the limits of their
answers.

``claude``, ``codex`` and ``gemini`` each have a ``CLIENT`` that fills in the differences.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brim.hooks.event import AGENTS, Answer, HookCall
from brim.record import PlainData
from brim.tracking.readers.tools import tool_of


@dataclass(frozen=True)
class ClientEvent(PlainData):
    """One event of a client, and how ``brim init`` asks to be called for it."""

    event: str
    """What it means: one of ``brim.hooks.event.EVENTS``."""
    matcher: str | None = None
    """The matcher in the settings file, None if it has none there."""
    timeout: int = 5
    """Seconds after which the client need not wait any longer; brim itself ends after one."""
    injects: bool = False
    """Whether it is installed with ``--hooks injection-only`` too."""


EVENTS = {
    "SessionStart": ClientEvent("session_start", injects=True),
    "UserPromptSubmit": ClientEvent("prompt", injects=True),
    "PreToolUse": ClientEvent("before_tool", matcher="*", injects=True),
    "PostToolUse": ClientEvent("after_tool", matcher="*"),
    "PostToolUseFailure": ClientEvent("tool_failed", matcher="*"),
    "PreCompact": ClientEvent("before_compact"),
    "PostCompact": ClientEvent("after_compact", injects=True),
    "Stop": ClientEvent("stop"),
    "SubagentStop": ClientEvent("subagent_stop"),
    "SessionEnd": ClientEvent("session_end"),
}
"""Claude Code's events. Codex has the same, except for failed calls."""


_KEYS = {
    "sub_agent": "agent_id",
    "tool": "tool_name",
    "call_id": "tool_use_id",
    "summary": "compact_summary",
}


class Client:
    """How one agent says what happened, and how it wants to be answered."""

    agent: str
    variable: str
    """The environment variable with the session's id, for messages that lack it."""
    EVENTS: Mapping[str, ClientEvent]
    """The events that brim answers, by the client's own names."""
    CONTEXT_EVENTS: tuple[str, ...]
    """The neutral events at which a text reaches the model."""
    LONGEST = 9_000
    """Characters of a text for the model."""
    MOST_BYTES: int | None = None
    """Bytes of it, where the client counts those too."""
    MOST_TEXTS = 1
    """Texts of that length that one answer may hold."""
    DECISIONS: Mapping[str, str] = {"prompt": "block", "stop": "block"}
    """How a refusal is called at the neutral events where it's a decision about the whole event."""

    def max_chars(self, event: str) -> int:
        """Return how long a text for the model may be at the neutral *event*; 0 if none reaches it
        there."""
        return self.LONGEST if event in self.CONTEXT_EVENTS else 0

    def call_of(
        self, event: str, data: Mapping[str, Any], environ: Mapping[str, str]
    ) -> HookCall | None:
        """Return what happened; None if brim doesn't know *event*."""
        known = self.EVENTS.get(event)
        if known is None:
            return None
        fields: dict[str, Any] = {
            **{name: text(data, name) for name in ("model", "source", "trigger", "error")},
            **{name: text(data, key) for name, key in _KEYS.items()},
            "event": known.event,
            "session": text(data, "session_id")
            if data.get("session_id")
            else environ.get(self.variable, ""),
            "cwd": _path(data, "cwd"),
            "transcript": _path(data, "transcript_path"),
            "input": mapping(data, "tool_input"),
            "interrupted": data.get("is_interrupt") is True,
        }
        fields.update(self.own_fields(known.event, data))
        if fields["tool"]:
            fields["tool_kind"] = tool_of(fields["tool"])
        return HookCall(agent=self.agent, name=event, data=data, **fields)

    def own_fields(self, event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the neutral *event* that this client sends in its own way."""
        raise NotImplementedError

    def reply(self, call: HookCall, answer: Answer) -> str:
        """Return *answer* in the client's format; empty for nothing. This is Claude Code's, which
        the others read."""
        said: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if answer.told and call.event in self.CONTEXT_EVENTS:
            specific["additionalContext"] = cut(
                answer.told, self.MOST_TEXTS * self.LONGEST, self.MOST_BYTES
            )
        if answer.deny and call.event in self.DECISIONS:
            said.update(decision=self.DECISIONS[call.event], reason=cut(answer.deny, self.LONGEST))
        elif answer.deny and call.event == "before_tool":
            specific.update(
                permissionDecision="deny", permissionDecisionReason=cut(answer.deny, self.LONGEST)
            )
        if answer.stop_reason:
            said.update({"continue": False, "stopReason": answer.stop_reason})
        if answer.note:
            said["systemMessage"] = answer.note
        if specific:
            said["hookSpecificOutput"] = {"hookEventName": call.name, **specific}
        return json.dumps(said) if said else ""


def client_of(agent: str) -> Client:
    """Return the client of *agent*; a ``KeyError`` if there is none."""
    if agent not in AGENTS:
        raise KeyError(agent)
    name = f"brim.hooks.{agent}"
    __import__(name)
    found: Client = sys.modules[name].CLIENT
    return found


# Reading what was sent ----------------------------------------------------------------------------


def text(data: object, key: str) -> str:
    """Return the text under *key*; empty if there is none, or something else."""
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, str) else ""


def mapping(data: object, key: str) -> dict[str, Any]:
    """Return the mapping under *key*, or an empty one."""
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def text_of(content: object) -> str:
    """Return the text of a list of blocks, of one block, or of a text; blocks of other kinds are
    left out."""
    if isinstance(content, list):
        return "\n".join([part for part in [_block(each) for each in content] if part])
    return _block(content)


def without_half_characters(value: Any) -> Any:
    """Return *value* with every half of a character that was cut in two replaced: no file takes a
    half."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, list):
        return [without_half_characters(each) for each in value]
    if isinstance(value, dict):
        return {
            without_half_characters(key): without_half_characters(each)
            for key, each in value.items()
        }
    return value


def _path(data: object, key: str) -> str:
    found = text(data, key)
    return "" if "\0" in found else found


def _block(block: object) -> str:
    return block if isinstance(block, str) else text(block, "text")


# Writing the answer -------------------------------------------------------------------------------


def cut(written: str, most: int, most_bytes: int | None = None) -> str:
    """Return *written* in at most *most* characters and *most_bytes* of UTF-8, whole lines if
    possible."""
    head = written[:most]
    data = head.encode("utf-8", "surrogatepass")
    if most_bytes is not None and len(data) > most_bytes:
        head = data[:most_bytes].decode("utf-8", "ignore")
    return head[: head.rfind("\n") + 1] or head if len(head) < len(written) else written
