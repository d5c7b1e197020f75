"""Reads Gemini CLI: its own record of a session, and ``gemini -o stream-json``.

The record is ``~/.gemini/tmp/*/chats/session-*.jsonl`` (older: one JSON object). A message is
written again, under the same id, when its tool calls have ended: the later line replaces the
earlier, so its usage counts again only with other numbers, and a call is told once.
``tokens.input`` contains the cached tokens; ``thoughts`` are output, ``tool`` is input. Of the
stream only the last line has numbers, and they are sums over the run: a ``RunTotal``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brim.agents.call import Event
from brim.agents.events import Attachment, Compaction, End, Message, ModelSeen, RunTotal, Usage
from brim.agents.fields import count, flag, items, mapping, text, text_of, value
from brim.agents.gemini.value import TOOLS, is_typed, words
from brim.agents.lines import LineReader, refusal_in, seconds
from brim.models.usage import Tokens

_TYPES = ("user", "gemini", "info", "error", "warning")
_STATUSES = ("success", "error", "cancelled")
_SUMMARY = "<state_snapshot>"
_AROUND = r"</?untrusted_context>\n?|^Process Group PGID: \d+\n?"


class GeminiTranscriptReader(LineReader):
    """Reads one record, line by line."""

    tools = TOOLS

    _session = _agent = _model = ""
    _began = False

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of a session's record, or a whole record."""
        if text(line, "sessionId") and ("projectHash" in line or "startTime" in line):
            return True
        if "$set" in line or "$rewindTo" in line:
            return True
        return (
            bool(text(line, "id"))
            and text(line, "type") in _TYPES
            and "content" in line
            and "timestamp" in line
        )

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        if text(line, "sessionId"):
            self._session = text(line, "sessionId")
            self._agent = self._session if text(line, "kind") == "subagent" else ""
        messages = [line] if text(line, "type") else items(line, "messages")
        replaced = items(line, "$set", "messages")
        self.where |= {"session": self._session, "agent": self._agent}
        if summaries := [
            message for message in replaced if words(value(message, "content")).startswith(_SUMMARY)
        ]:
            left = [message for message in replaced if message not in summaries]
            replaced = summaries  # the other messages were told before, and now have other ids
        for message in [*messages, *replaced]:
            if isinstance(message, Mapping):
                self.where["time"] = seconds(value(message, "timestamp"))
                self._message(message, text(message, "type"), text(message, "id"))
        if summaries and self._began and self.found:
            self.where["time"] = seconds(value(line, "$set", "lastUpdated"))
            for said in filter(None, map(_everything, left)):
                self.tell(Attachment, kind="kept", text=said)
            self.tell(Compaction)
            self.found.insert(0, self.found.pop())
        self._began = self._began or bool(self.found)

    def state(self) -> dict[str, Any]:
        """Return what ``resume`` needs to count the requests of the lines that follow, as JSON."""
        return {"session": self._session, "agent": self._agent, "model": self._model}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the reader stood whose *state* this is."""
        self._session = text(state, "session")
        self._agent = text(state, "agent")
        self._model = text(state, "model")

    def _message(self, message: Mapping[str, Any], kind: str, id: str) -> None:
        said = text_of(value(message, "content"))
        if kind == "user":
            said = words(value(message, "displayContent")) or words(said)
        if kind == "gemini" and (model := text(message, "model") or self._model) != self._model:
            self._model = model
            self.tell(ModelSeen, model=model)
        if kind in _TYPES and said and self.told.is_new(f"{kind}:{id}", said):
            role = {"user": "user", "gemini": "assistant", "error": "error"}.get(kind, "system")
            role = "summary" if kind == "user" and said.startswith(_SUMMARY) else role
            self.say(role, said, human=role == "user" and is_typed(said) and not self._agent, id=id)
        if kind == "gemini":
            sizes = mapping(message, "tokens")
            written = count(sizes, "output") + count(sizes, "thoughts")
            used = _tokens(
                count(sizes, "input"), count(sizes, "cached"), written, count(sizes, "tool")
            )
            if used is not None and self.told.is_new(f"usage:{id}", used):
                self.tell(Usage, tokens=used, model=self._model, request=id)
            for call in items(message, "toolCalls"):
                self._call(call)

    def _call(self, call: object) -> None:
        id = text(call, "id")
        name = text(call, "name")
        if name and self.told.is_new(f"call:{id}", name):
            self.call(id, name, value(call, "args"))
        status = text(call, "status")
        result = value(call, "result")
        if status in _STATUSES and self.told.is_new(f"result:{id}", status):
            parts = result if isinstance(result, list) else [result]
            said = failure(parts) or answered(parts) or text_of(value(call, "resultDisplay"))
            self.result(
                id,
                said,
                time=seconds(value(call, "timestamp")) or self.where["time"],
                **_outcome(status, said),
            )


def _everything(message: object) -> str:
    """Return all that a *message* says: its words, calls and results."""
    content = value(message, "content")
    calls = items(message, "toolCalls")
    said = [answered(content) if isinstance(content, list) else text_of(content)]
    for call in calls:
        said += [str(value(call, "args") or ""), answered(items(call, "result"))]
    return "\n".join(filter(None, said))


def _tokens(prompt: int, read: int, output: int, tool: int = 0) -> Tokens | None:
    """Return what a request or a run took.

    Its *prompt* contains what was *read* from a cache, but no *tool* use.
    """
    if not prompt and not output:
        return None
    return Tokens(input=max(0, prompt - read) + tool, cache_read=min(read, prompt), output=output)


class GeminiStreamReader(LineReader):
    """Reads one stream, line by line.

    An answer comes in pieces: it is told when the next thing happens.
    """

    tools = TOOLS

    def __init__(self) -> None:
        super().__init__()
        self._session = ""
        self._answer: list[str] = []
        self._answer_where: dict[str, Any] = {}

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of this stream."""
        kind = text(line, "type")
        if kind == "init":
            return bool(text(line, "session_id")) and "subtype" not in line
        if kind == "message":
            is_said = isinstance(value(line, "content"), str) and "id" not in line
            return is_said and text(line, "role") in ("user", "assistant")
        if kind == "error":
            return bool(text(line, "severity") and text(line, "message"))
        if kind == "result":
            return text(line, "status") in _STATUSES and "subtype" not in line
        return kind in ("tool_use", "tool_result") and bool(text(line, "tool_id"))

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        kind = text(line, "type")
        role = text(line, "role")
        if kind == "init":
            self._session = text(line, "session_id")
        self.where |= {"session": self._session, "time": seconds(value(line, "timestamp"))}
        if kind == "message" and role == "assistant" and flag(line, "delta"):
            self._answer_where = self._answer_where or self.where
            self._answer.append(text(line, "content"))
            return
        answer = "".join(self._answer)
        self.found += self.finish()
        if kind == "init" and text(line, "model"):
            self.tell(ModelSeen, model=text(line, "model"))
        elif kind == "message":
            said = words(value(line, "content"))
            user = role == "user"
            self.say("user" if user else "assistant", said, human=user and is_typed(said))
        elif kind == "tool_use":
            self.call(text(line, "tool_id"), text(line, "tool_name"), value(line, "parameters"))
        elif kind == "tool_result":
            said = (
                words(value(line, "output"))
                or text(line, "error", "message")
                or text_of(value(line, "error"))
            )
            self.result(text(line, "tool_id"), said, **_outcome(text(line, "status"), said))
        elif kind == "error":
            self.say(
                "system" if text(line, "severity") == "warning" else "error", text(line, "message")
            )
        elif kind == "result":
            self._end(line, answer)

    def finish(self) -> list[Event]:
        """Return the answer whose end no line showed yet."""
        said = "".join(self._answer)
        where = self._answer_where
        self._answer = []
        self._answer_where = {}
        return [Message(role="assistant", text=said, **where)] if said else []

    def _end(self, line: Mapping[str, Any], answer: str) -> None:
        failed = text(line, "status") != "success"
        said = text(line, "error", "message") if failed else answer
        self.say("error", said if failed else "")
        if stats := mapping(line, "stats"):
            named = [
                (name, sums)
                for name, sums in mapping(stats, "models").items()
                if isinstance(name, str)
            ]
            by_model = {name: used for name, sums in named if (used := _run_tokens(sums))}
            self.tell(RunTotal, tokens=by_model, usage=_run_tokens(stats))
        self.tell(End, reason=text(line, "status"), error=failed, text=said)


def _outcome(status: str, said: str) -> dict[str, Any]:
    """Return whether a call failed that ended with *status* and *said* something, why, and its exit
    code."""
    failed = status != "success"
    refusal = (refusal_in(said) or ("interrupt" if status == "cancelled" else "")) if failed else ""
    found = re.search(
        r"^Exit Code: (-?\d{1,9})$", said, re.MULTILINE
    )  # it is said only if it isn't 0
    return {"failed": failed, "refusal": refusal, "code": int(found[1]) if found else None}


def _run_tokens(sums: object) -> Tokens | None:
    """Return what *sums* says: ``input_tokens`` contains the cached ones; what was thought is only
    in the total."""
    prompt = count(sums, "input_tokens")
    output = count(sums, "output_tokens")
    thought = max(0, count(sums, "total_tokens") - prompt - output) if prompt or output else 0
    return _tokens(prompt, count(sums, "cached"), output + thought)


def answered(parts: list[Any]) -> str:
    """Return the text that a tool answered, without what differs each time.

    It is a list of parts with a ``functionResponse`` each, or a text.
    """
    found = [_response(part) or text_of(part) for part in parts]
    return re.sub(_AROUND, "", words("\n".join(filter(None, found))), flags=re.MULTILINE)


def failure(parts: list[Any]) -> str:
    """Return the error in a tool's answer, empty if there is none."""
    errors = [text(part, "functionResponse", "response", "error") for part in parts]
    return next(filter(None, errors), "")


def _response(part: object) -> str:
    response = mapping(part, "functionResponse", "response")
    return (
        text(response, "output") or text(response, "error") or text_of(value(response, "content"))
    )
