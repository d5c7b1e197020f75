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
from brim.agents.fields import count, first_text, flag, items, mapping, text, text_of, value
from brim.agents.gemini.value import TOOLS, is_typed, words
from brim.agents.lines import LineReader, SessionReader, refusal_in, tokens_of_prompt
from brim.agents.times import seconds
from brim.models.usage import Tokens

_TYPES = ("user", "gemini", "info", "error", "warning")
_CHANGES = frozenset(("$set", "$rewindTo"))
"""Keys of a line that changes the lines before it."""
_SESSION_KEYS = frozenset(("projectHash", "startTime"))
"""Keys of a session's first line, one of them."""
_MESSAGE_KEYS = frozenset(("id", "content", "timestamp"))
_STREAM_TEXTS: dict[str, tuple[str, ...]] = {
    "init": ("session_id",),
    "message": ("role",),
    "error": ("severity", "message"),
    "result": ("status",),
    "tool_use": ("tool_id",),
    "tool_result": ("tool_id",),
}
"""Types of the stream's lines, and the texts that they have."""
_OTHER_STREAMS = {"init": "subtype", "result": "subtype", "message": "id"}
"""Keys by which such a line is one of Claude Code's stream, or a response."""
_STREAM_ROLES = ("user", "assistant")
_STATUSES = ("success", "error", "cancelled")
_SUMMARY = "<state_snapshot>"
_ROLES = {"user": "user", "gemini": "assistant", "error": "error"}
"""Who speaks in each type of message, if it isn't the client."""
_AROUND = r"</?untrusted_context>\n?|^Process Group PGID: \d+\n?"


class GeminiTranscriptReader(SessionReader):
    """Reads one record, line by line."""

    tools = TOOLS

    _agent = ""
    _began = False
    """Whether anything was told before this line."""

    @staticmethod
    def recognises(line: Mapping[str, Any]) -> bool:
        """Return whether *line* is one of a session's record, or a whole record."""
        if not _CHANGES.isdisjoint(line):
            return True
        if text(line, "sessionId") and not _SESSION_KEYS.isdisjoint(line):
            return True
        if text(line, "type") not in _TYPES or not text(line, "id"):
            return False
        return line.keys() >= _MESSAGE_KEYS

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        if text(line, "sessionId"):
            self._session = text(line, "sessionId")
            self._agent = self._session if text(line, "kind") == "subagent" else ""
        self.where["session"] = self._session
        self.where["agent"] = self._agent
        if text(line, "type"):
            self._messages([line])
        else:
            self._messages(items(line, "messages"))
        self._replace(line)
        self._began = self._began or bool(self.line_events)

    def _replace(self, line: Mapping[str, Any]) -> None:
        """Tell what the messages are that *line* puts in place of all others."""
        messages = items(line, "$set", "messages")
        summaries = [message for message in messages if _is_summary(message)]
        if not summaries:
            self._messages(messages)
            return
        # The other messages were told before, and now have other ids.
        self._messages(summaries)
        if not self._began or not self.line_events:
            return
        self.where["time"] = seconds(value(line, "$set", "lastUpdated"))
        for message in messages:
            words_left = _everything(message)
            if words_left and message not in summaries:
                self.tell(Attachment, kind="kept", text=words_left)
        self.tell(Compaction)
        self.line_events.insert(0, self.line_events.pop())

    def _messages(self, messages: list[Any]) -> None:
        for message in messages:
            if isinstance(message, Mapping):
                self.where["time"] = seconds(value(message, "timestamp"))
                self._message(message, text(message, "type"), text(message, "id"))

    def state(self) -> dict[str, Any]:
        """Return what ``resume`` needs to count the requests of the lines that follow, as JSON."""
        return {**super().state(), "agent": self._agent}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the reader stood whose *state* this is."""
        super().resume(state)
        self._agent = text(state, "agent")

    def _message(self, message: Mapping[str, Any], kind: str, id: str) -> None:
        if kind == "gemini":
            self.see_model(text(message, "model"))
        if kind in _TYPES:
            self._words(message, kind, id)
        if kind == "gemini":
            self._usage(mapping(message, "tokens"), id)
            for call in items(message, "toolCalls"):
                self._call(call)

    def _words(self, message: Mapping[str, Any], kind: str, id: str) -> None:
        content = _content_of(message, kind)
        if not content or not self.told.is_new(f"{kind}:{id}", content):
            return
        if kind != "user":
            self.say(_ROLES.get(kind, "system"), content, id=id)
        elif content.startswith(_SUMMARY):
            self.say("summary", content, id=id)
        else:
            self.say("user", content, human=is_typed(content) and not self._agent, id=id)

    def _usage(self, sizes: Mapping[str, Any], id: str) -> None:
        """Tell the request that the message *id* reports the *sizes* of."""
        output = count(sizes, "output") + count(sizes, "thoughts")
        usage = tokens_of_prompt(
            count(sizes, "input"),
            output,
            read=count(sizes, "cached"),
            tools=count(sizes, "tool"),
        )
        if usage is not None and self.told.is_new(f"usage:{id}", usage):
            self.tell(Usage, tokens=usage, model=self._model, request=id)

    def _call(self, call: object) -> None:
        id = text(call, "id")
        name = text(call, "name")
        if name and self.told.is_new(f"call:{id}", name):
            self.call(id, name, value(call, "args"))
        status = text(call, "status")
        if status not in _STATUSES or not self.told.is_new(f"result:{id}", status):
            return
        answer = _answer(call)
        time = seconds(value(call, "timestamp")) or self.where["time"]
        self.result(id, answer, time=time, **_outcome(status, answer))


def _is_summary(message: object) -> bool:
    return words(value(message, "content")).startswith(_SUMMARY)


def _answer(call: object) -> str:
    """Return what the tool of a *call* answered."""
    parts = value(call, "result")
    if not isinstance(parts, list):
        parts = [parts]
    return failure(parts) or answered(parts) or text_of(value(call, "resultDisplay"))


def _everything(message: object) -> str:
    """Return all that a *message* says: its words, calls and results."""
    content = value(message, "content")
    if isinstance(content, list):
        texts = [answered(content)]
    else:
        texts = [text_of(content)]
    for call in items(message, "toolCalls"):
        texts.append(str(value(call, "args") or ""))
        texts.append(answered(items(call, "result")))
    return "\n".join(filter(None, texts))


# The stream ---------------------------------------------------------------------------------------


def _content_of(message: Mapping[str, Any], kind: str) -> str:
    """Return what a *message* says, as a person sees it."""
    content = text_of(value(message, "content"))
    if kind != "user":
        return content
    return words(value(message, "displayContent")) or words(content)


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
        if kind not in _STREAM_TEXTS or _OTHER_STREAMS.get(kind) in line:
            return False
        if not all(text(line, key) for key in _STREAM_TEXTS[kind]):
            return False
        if kind == "result":
            return text(line, "status") in _STATUSES
        if kind == "message":
            is_text = isinstance(value(line, "content"), str)
            return is_text and text(line, "role") in _STREAM_ROLES
        return True

    def read(self, line: Mapping[str, Any]) -> None:
        """Tell what happened in *line*."""
        kind = text(line, "type")
        if kind == "init":
            self._session = text(line, "session_id")
        self.where["session"] = self._session
        self.where["time"] = seconds(value(line, "timestamp"))
        is_piece = kind == "message" and text(line, "role") == "assistant" and flag(line, "delta")
        if is_piece:
            self._answer_where = self._answer_where or self.where
            self._answer.append(text(line, "content"))
            return
        answer = "".join(self._answer)
        self.line_events += self.finish()
        if kind == "result":
            self._end(line, answer)
        else:
            self._line(line, kind)

    def _line(self, line: Mapping[str, Any], kind: str) -> None:
        if kind == "init":
            if text(line, "model"):
                self.tell(ModelSeen, model=text(line, "model"))
        elif kind == "message":
            self._message(line)
        elif kind == "tool_use":
            self.call(text(line, "tool_id"), text(line, "tool_name"), value(line, "parameters"))
        elif kind == "tool_result":
            self._tool_result(line)
        elif kind == "error":
            role = "error"
            if text(line, "severity") == "warning":
                role = "system"
            self.say(role, text(line, "message"))

    def _tool_result(self, line: Mapping[str, Any]) -> None:
        answer = words(value(line, "output")) or text(line, "error", "message")
        answer = answer or text_of(value(line, "error"))
        self.result(text(line, "tool_id"), answer, **_outcome(text(line, "status"), answer))

    def _message(self, line: Mapping[str, Any]) -> None:
        content = words(value(line, "content"))
        if text(line, "role") == "user":
            self.say("user", content, human=is_typed(content))
        else:
            self.say("assistant", content)

    def finish(self) -> list[Event]:
        """Return the answer whose end no line showed yet."""
        answer = "".join(self._answer)
        where = self._answer_where
        self._answer = []
        self._answer_where = {}
        if not answer:
            return []
        return [Message(role="assistant", text=answer, **where)]

    def _end(self, line: Mapping[str, Any], answer: str) -> None:
        status = text(line, "status")
        if status != "success":
            answer = text(line, "error", "message")
            self.say("error", answer)
        stats = mapping(line, "stats")
        if stats:
            self.tell(RunTotal, tokens=_tokens_by_model(stats), usage=_run_tokens(stats))
        self.tell(End, reason=status, error=status != "success", text=answer)


def _tokens_by_model(stats: Mapping[str, Any]) -> dict[str, Tokens]:
    by_model = {}
    for model, sums in mapping(stats, "models").items():
        usage = _run_tokens(sums)
        if usage and isinstance(model, str):
            by_model[model] = usage
    return by_model


def _outcome(status: str, answer: str) -> dict[str, Any]:
    """Return whether a call failed that ended with *status* and an *answer*, why, and its exit
    code."""
    failed = status != "success"
    refusal = ""
    if failed:
        refusal = refusal_in(answer)
    if status == "cancelled":
        refusal = refusal or "interrupt"
    return {"failed": failed, "refusal": refusal, "code": _exit_code(answer)}


def _exit_code(answer: str) -> int | None:
    """Return the exit code in an *answer*, which says it only if it isn't 0."""
    match = re.search(r"^Exit Code: (-?\d{1,9})$", answer, re.MULTILINE)
    if match is None:
        return None
    return int(match[1])


def _run_tokens(sums: object) -> Tokens | None:
    """Return what *sums* says: ``input_tokens`` contains the cached ones; what was thought is only
    in the total."""
    prompt = count(sums, "input_tokens")
    output = count(sums, "output_tokens")
    if prompt or output:
        output += max(0, count(sums, "total_tokens") - prompt - output)
    return tokens_of_prompt(prompt, output, read=count(sums, "cached"))


def answered(parts: list[Any]) -> str:
    """Return the text that a tool answered, without what differs each time.

    It is a list of parts with a ``functionResponse`` each, or a text.
    """
    texts = [_response(part) or text_of(part) for part in parts]
    answer = words("\n".join(filter(None, texts)))
    return re.sub(_AROUND, "", answer, flags=re.MULTILINE)


def failure(parts: list[Any]) -> str:
    """Return the error in a tool's answer, empty if there is none."""
    errors = [text(part, "functionResponse", "response", "error") for part in parts]
    return next(filter(None, errors), "")


def _response(part: object) -> str:
    response = mapping(part, "functionResponse", "response")
    return first_text(response, "output", "error") or text_of(value(response, "content"))
