"""Reads the requests in a Claude Code transcript.

Newer versions record each request: ``api-request-shape`` has system prompt and tools, ``api-request`` names its
messages by hash (the first ``keep`` of request ``base``, then ``tail``), and ``api-request-blob`` has those messages
that no other line holds as they were sent. The rest are ``user`` lines, and ``assistant`` lines merged by message id.
None of this is documented, so nothing depends on it: without records, a request is the lines before its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from brim.tracking.readers.claude import words
from brim.tracking.readers.fields import (
    SYNTHETIC,
    count,
    flag,
    items,
    mapping,
    seconds,
    text,
    text_of,
    tokens,
    value,
    whole,
)
from brim.tracking.requests.pieces import (
    MEMORY,
    REMINDERS,
    RESULTS,
    SUMMARY,
    TOOLS,
    YOURS,
    Count,
    Label,
    Labels,
    compact_json,
    mark,
    short,
)
from brim.tracking.requests.thread import NOWHERE, Sent, Thread

_KEY = 24
"""How many digits of a hash are kept: enough to tell any two messages apart."""
_CACHED_BY = ("thinking", "tool_choice", "output_config")
"""Parameters that a cache of messages depends on."""
_ATTACHED: Mapping[str, Label] = {
    "environment": (REMINDERS, "environment"),
    "model": (REMINDERS, "model"),
    "deferred_tools_delta": (TOOLS, "names of deferred tools"),
    "agent_listing_delta": (REMINDERS, "agents"),
    "skill_listing": (REMINDERS, "skills"),
    "date": (REMINDERS, "date"),
    "session_context": (REMINDERS, "session context"),
    "remote_session_change": (REMINDERS, "attribution"),
    "instructions": (MEMORY,),
    "queued_command": (YOURS,),
    "task_status": (REMINDERS, "notifications"),
}


def hash_of(message: Mapping[str, Any]) -> str:
    """Return the hash by which a request record names *message*."""
    content = compact_json({"content": message.get("content"), "role": message.get("role")})
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


class ClaudeRequests:
    """Takes the lines of one transcript, and fills a ``Thread``."""

    def __init__(self, count_text: Count, *, agent: str = "") -> None:
        self.thread = Thread()
        self._labels = Labels(count_text, is_agents=bool(agent))
        self._agent = agent
        self._records: dict[str, Sent] = {}  # requests by their record's id
        self._waiting: Sent | None = None  # a recorded request whose answer is yet to come
        self._answer: dict[str, Any] = {}  # the answer that is being written, one line per block
        self._window = NOWHERE  # where the lines of this window end
        self._loose: list[tuple[str, Label, str]] = []  # key, label and text of lines that no request has had yet
        self._uuids: dict[str, str] = {}  # which message a line of this window is
        self._compacted = True  # whether the window was empty since the last request
        self._snapshot = ""  # the fixed start that the client last named

    def take(self, line: Mapping[str, Any]) -> None:
        """Take one line."""
        if not self._agent and (flag(line, "isSidechain") or text(line, "agentId")):
            return
        kind = line.get("type")
        if kind == "assistant":
            self._assistant(line)
        elif kind == "user":
            self._user(line)
        elif kind == "attachment":
            self._attachment(line, mapping(line, "attachment"))
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            self._compact(mapping(line, "compactMetadata"))
        elif kind == "api-request-shape":
            self._shape(line)
        elif kind == "api-request-blob":
            message = mapping(line, "message")
            self._learn(text(line, "hash")[:_KEY], message)
        elif kind == "api-request":
            self._request(line)

    def finish(self) -> Thread:
        """Return what was read so far; more may follow."""
        self._close()
        return self.thread

    # Recorded requests ----------------------------------------------------------------------------------------------

    def _shape(self, line: Mapping[str, Any]) -> None:
        shape, head = mapping(line, "shape"), text(line, "shapeHash")[:_KEY]
        self._head(head, items(shape, "tools"), items(shape, "system"))

    def _head(self, head: str, tools: list[Any], system: list[Any]) -> None:
        if not head or head in self.thread.heads:
            return
        keys = []
        for schema in tools:
            keys.append(f"t{mark(compact_json(schema))}")
            self.thread.items.setdefault(keys[-1], (self._labels.tool(schema),))
        for block in system:
            said = block if isinstance(block, str) else text(block, "text")
            keys.append(f"s{mark(said)}")
            self.thread.items.setdefault(keys[-1], (self._labels.system(said),))
        self.thread.heads[head] = keys

    def _learn(self, key: str, message: Mapping[str, Any], **reported: int) -> None:
        if key and key not in self.thread.items:
            role = text(message, "role")
            self.thread.items[key] = self._labels.pieces(role, message.get("content"), **reported)

    def _request(self, line: Mapping[str, Any]) -> None:
        self._close()
        base = self._records.get(text(line, "base"))
        keep = count(line, "keep")
        place = self.thread.back(base.place, keep) if base and keep else NOWHERE
        if keep and (base is None or self.thread.length(place) < keep):
            place = self.thread.add(NOWHERE, [f"lost {text(line, 'base')[:_KEY]}"])
        tail = [hash[:_KEY] for hash in items(line, "tail") if isinstance(hash, str)]
        params = mapping(line, "params")
        settings = mark(compact_json({key: params.get(key) for key in _CACHED_BY}))
        about = (text(params, "model"), seconds(line.get("timestamp")), self.thread.add(place, tail))
        # A client that goes on with a session has no request to build on; after a compaction it has none either.
        resumed = not text(line, "base") and not self._compacted
        self._waiting = Sent("", *about, text(line, "shapeHash")[:_KEY], settings, recorded=True, resumed=resumed)
        self._records[text(line, "id")] = self._waiting
        self._loose.clear()

    # Lines ------------------------------------------------------------------------------------------------------------

    def _assistant(self, line: Mapping[str, Any]) -> None:
        message = mapping(line, "message")
        id, model = text(message, "id"), text(message, "model")
        if not id or model == SYNTHETIC or flag(line, "isApiErrorMessage"):
            return
        if self._answer.get("id") != id:
            self._close()
            if any(sent.id == id for sent in self.thread.sent[-50:]):
                return  # a session that is resumed can have its history again
            self._open(line, id, model)
        used = tokens(message.get("usage"))
        self._answer["content"] += items(message, "content")
        self._answer["usage"] = mapping(message, "usage")
        if used is not None:
            self._answer["sent"].usage = used
        self._answer["uuids"].append(text(line, "uuid"))

    def _open(self, line: Mapping[str, Any], id: str, model: str) -> None:
        """Begin an answer: it belongs to the request that its line names, else to the last one that was recorded."""
        sent = self._records.get(text(line, "requestRef")) or self._waiting
        if sent is None or sent.id:
            self._settle()
            sent = Sent("", model, seconds(line.get("timestamp")), self._window, self._snapshot, "", recorded=False)
        sent.id, sent.model = id, model or sent.model
        self._waiting, self._compacted = None, False
        self._answer = {"id": id, "content": [], "usage": {}, "sent": sent, "uuids": []}
        self.thread.sent.append(sent)

    def _close(self) -> None:
        """End the answer that is being written: it's a message of the next request."""
        if not self._answer:
            return
        answer, self._answer = self._answer, {}
        message = {"role": "assistant", "content": answer["content"]}
        used, key = answer["usage"], hash_of(message)[:_KEY]
        thinking = whole(used, "output_tokens_details", "thinking_tokens") or 0
        self._learn(key, message, output=count(used, "output_tokens"), thinking=thinking)
        self._window = self.thread.add(self._window, [key])
        self._uuids.update(dict.fromkeys(answer["uuids"], key))

    def _user(self, line: Mapping[str, Any]) -> None:
        self._close()
        message = mapping(line, "message")
        content = message.get("content")
        said, human = words(line, content)
        # Newer clients say where a prompt came from; then the line holds nothing else, whatever it looks like.
        is_prompt = text(line, "promptSource") not in ("", "system") and not flag(line, "isMeta")
        if flag(line, "isCompactSummary"):
            self._labels.learn(said, (SUMMARY,))
        elif human or is_prompt or self._agent:
            for part in content if isinstance(content, list) else [content]:
                if is_prompt or "<system-reminder>" not in text_of(part):
                    self._labels.learn(text_of(part), self._labels.words)
        key = hash_of(message)[:_KEY]
        self._learn(key, message)
        self._uuids[text(line, "uuid")] = key
        self._loose.append((key, (), ""))

    def _settle(self) -> None:
        """Put the lines that came since the last request into the window."""
        for key, label, said in self._loose:
            if said and key not in self.thread.items:
                self.thread.items[key] = tuple(self._labels.labelled(label, said))
        self._window = self.thread.add(self._window, [key for key, _, _ in self._loose])
        self._loose.clear()

    def _compact(self, about: Mapping[str, Any]) -> None:
        """Empty the window, but for the messages that the client says it keeps."""
        self._close()
        self._settle()
        kept = items(about, "preservedMessages", "allUuids") or items(about, "preservedMessages", "uuids")
        keys = [self._uuids[uuid] for uuid in kept if isinstance(uuid, str) and self._uuids.get(uuid)]
        self._window, self._compacted = NOWHERE, True
        self._loose += [(key, (), "") for key in dict.fromkeys(keys)]

    # What the client adds ---------------------------------------------------------------------------------------------

    def _attachment(self, line: Mapping[str, Any], attachment: Mapping[str, Any]) -> None:
        kind = text(attachment, "type")
        if kind == "hook_success":
            self._labels.learn_hook(text(attachment, "command"), text(attachment, "stdout"))
            return
        if kind == "prompt_snapshot":
            self._see_prompt(attachment)
            return
        if kind == "instructions":
            self._labels.learn_files(text(file, "path") for file in items(attachment, "files"))
        elif kind == "nested_memory":
            self._labels.learn_files([text(attachment, "path")])
        rendered = [text(part, "content") for part in items(line, "rendered")]
        for said in rendered or [_unrendered(attachment)]:
            inner = said.strip().removeprefix("<system-reminder>").removesuffix("</system-reminder>").strip()
            if inner:
                label = self._label_of(kind, attachment)
                self._labels.learn(inner, label)
                self._loose.append((f"a{mark(inner)}", label, inner))

    def _label_of(self, kind: str, attachment: Mapping[str, Any]) -> Label:
        if kind == "hook_additional_context":
            said = "\n".join(part for part in items(attachment, "content") if isinstance(part, str))
            return self._labels.hook_label(text(attachment, "hookEvent") or "hook", said)
        if kind == "nested_memory":
            return (MEMORY, text(attachment, "path"))
        if kind == "file":
            return (RESULTS, "Read", short(text(attachment, "filename")))
        return _ATTACHED.get(kind, ()) if kind else (REMINDERS, "other")

    def _see_prompt(self, attachment: Mapping[str, Any]) -> None:
        """Take the system prompt and tools that the client says it uses; tools come with a later line."""
        tools = [value(tool, "schema") or tool for tool in items(attachment, "tools")]
        system = [text(attachment, "cliPrefix"), *items(attachment, "systemPrompt")]
        self._snapshot = f"p{mark(compact_json([tools, system]))}"
        self._head(self._snapshot, tools, [block for block in system if block])
        if not tools:
            self.thread.partial.add(self._snapshot)


def _unrendered(attachment: Mapping[str, Any]) -> str:
    """Return the text of an attachment that doesn't say how it was sent."""
    content = attachment.get("content")
    inner = mapping(content, "file") or mapping(content)
    lines = items(attachment, "content") or items(attachment, "addedLines")
    said = text(attachment, "content") or text(inner, "content") or text_of(attachment.get("prompt"))
    return said or "\n".join(part for part in lines if isinstance(part, str))
