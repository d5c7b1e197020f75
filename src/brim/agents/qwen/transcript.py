"""Reads Qwen Code: ``projects/<project>/chats/<session>.jsonl``.

Each request, also that of a compaction or a sub-agent, has a line ``qwen-code.api_response``, whose
``input_token_count`` contains what a cache had. It's known by its prompt, its answer and its time:
small servers use the same ids again. The lines of the model's answers have the same numbers once
more, and so has ``~/.qwen/usage``, unless usage statistics are off: neither is counted. The times
there differ from those here by a few milliseconds, so nothing tells which request is which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.events import Attachment, Compaction, Usage
from brim.agents.fields import count, flag, items, mapping, text, text_of, value
from brim.agents.gemini.transcript import answered, failure
from brim.agents.lines import SessionReader, refusal_in, tokens_of_prompt
from brim.agents.qwen.value import TOOLS, is_typed, shell_answer
from brim.agents.times import seconds
from brim.models.usage import Tokens

_TYPES = ("user", "assistant", "tool_result", "system")
_RESPONSE = "qwen-code.api_response"
_COMPACTING = "compress-"
"""How the id of a prompt begins that a person's order to compact makes."""
_SNAPSHOT = "<state_snapshot>"
_CONTEXT = "<qwen:user-prompt-submit-context>"
"""How a part begins that a hook said."""


class QwenChatReader(SessionReader):
    """Reads one session, line by line."""

    tools = TOOLS

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of a session's file, or of a sub-agent's."""
        if text(line, "type") not in _TYPES or not text(line, "uuid"):
            return False
        if not text(line, "sessionId"):
            return False
        return "provenance" in line or bool(items(line, "message", "parts"))

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        self.where["session"] = text(line, "sessionId")
        self.where["agent"] = text(line, "agentId")
        self.where["time"] = seconds(value(line, "timestamp"))
        self.states(line, folder="cwd", branch="gitBranch", version="version")
        if not self.told.is_new(f"line:{text(line, 'uuid')}"):
            return
        kind = text(line, "type")
        if kind == "system":
            self._system(text(line, "subtype"), mapping(line, "systemPayload"))
        elif kind == "user":
            self._user(line)
        elif kind == "assistant":
            self._assistant(line)
        else:
            self._result(line)

    # What the client notes

    def _system(self, subtype: str, payload: Mapping[str, Any]) -> None:
        event = mapping(payload, "uiEvent")
        if subtype == "chat_compression":
            self._compaction(payload)
        elif text(event, "event.name") == _RESPONSE:
            self._request(event)

    def _request(self, event: Mapping[str, Any]) -> None:
        """Tell the request that *event* reports; a sub-agent's name stands in its prompt's id."""
        tokens = _tokens(event)
        if tokens is None:
            return
        prompt = text(event, "prompt_id")
        key = f"{prompt}/{text(event, 'response_id')}/{text(event, 'event.timestamp')}"
        if self.told.is_new(f"usage:{key}"):
            self.where["agent"] = _sub_agent_in(prompt)
            compacts = prompt.startswith(_COMPACTING) or _SNAPSHOT in text(event, "response_text")
            model = text(event, "model")
            self.tell(Usage, tokens=tokens, model=model, request=key, compacts=compacts)

    def _compaction(self, payload: Mapping[str, Any]) -> None:
        """Tell a compaction, its summary, and what it left in the window."""
        info = mapping(payload, "info")
        trigger = "manual" if text(info, "triggerReason") == "manual" else "auto"
        before = count(info, "originalTokenCount") or None
        after = count(info, "newTokenCount") or None
        self.tell(Compaction, trigger=trigger, before=before, after=after)
        summary, *following = items(payload, "compressedHistory") or [None]
        self.say("summary", text_of(items(summary, "parts")))
        for content in following:
            parts = items(content, "parts")
            words = "\n".join(filter(None, map(_everything, parts)))
            if words:
                self.tell(Attachment, kind="kept", text=words)

    # Messages and calls

    def _user(self, line: Mapping[str, Any]) -> None:
        parts = items(line, "message", "parts")
        content = text_of([part for part in parts if not _is_of_hook(part)])
        is_persons = text(line, "provenance") == "real_user" and is_typed(content)
        self.say("user", content, human=is_persons, id=text(line, "uuid"))
        added = text(line, "systemPayload", "hookContext")
        if added:
            self.tell(Attachment, kind="hook_additional_context", text=added)

    def _assistant(self, line: Mapping[str, Any]) -> None:
        if not self.where["agent"]:
            self.see_model(text(line, "model"), count(line, "contextWindowSize"))
        parts = items(line, "message", "parts")
        words = [part for part in parts if not flag(part, "thought")]
        self.say("assistant", text_of(words), id=text(line, "uuid"))
        for part in parts:
            call = mapping(part, "functionCall")
            if call:
                self.call(text(call, "id"), text(call, "name"), value(call, "args"))

    def _result(self, line: Mapping[str, Any]) -> None:
        parts = items(line, "message", "parts")
        answer, code = shell_answer(failure(parts) or answered(parts))
        status = text(line, "toolCallResult", "status")
        refusal = ""
        if status == "error":
            refusal = refusal_in(answer)
        elif status == "cancelled":
            refusal = "interrupt"
        id = text(line, "toolCallResult", "callId")
        self.result(id, answer, failed=status != "success", refusal=refusal, code=code)


def _is_of_hook(part: object) -> bool:
    return text(part, "text").startswith(_CONTEXT)


def _everything(part: object) -> str:
    """Return all that a *part* of a message says."""
    call = mapping(part, "functionCall")
    if call:
        return f"{text(call, 'name')} {value(call, 'args')}"
    return answered([part])


def _sub_agent_in(prompt: str) -> str:
    """Return the sub-agent that the id of a *prompt* names, empty for the main thread.

    >>> _sub_agent_in("5811c9a3#general-purpose-call_1#0"), _sub_agent_in("5811c9a3########0")
    ('general-purpose-call_1', '')
    """
    names = prompt.split("#")
    return names[1] if len(names) == 3 else ""


def _tokens(event: Mapping[str, Any]) -> Tokens | None:
    """Return what a request took, None if it doesn't say. Thoughts may be output or beside it."""
    prompt = count(event, "input_token_count")
    output = max(count(event, "output_token_count"), count(event, "total_token_count") - prompt)
    return tokens_of_prompt(prompt, output, read=count(event, "cached_content_token_count"))
