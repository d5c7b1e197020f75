"""Reads the requests in a Claude Code transcript.

Newer versions record each request: ``api-request-shape`` has system prompt and tools,
``api-request`` names its messages by hash (the first ``keep`` of request ``base``, then ``tail``),
and ``api-request-blob`` has those messages that no other line holds as they were sent. The rest are
``user`` lines, and ``assistant`` lines merged by message id. None of this is documented, so nothing
depends on it: without records, a request is the lines before its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from brim.agents.claude.lines import words
from brim.agents.fields import count, flag, items, mapping, text, text_of, value, whole
from brim.agents.lines import SYNTHETIC, Bounded, tokens
from brim.agents.times import seconds
from brim.sessions.composition.pieces import (
    MEMORY,
    REMINDERS,
    RESULTS,
    SUMMARY,
    TASK,
    Count,
    Label,
    compact_json,
    labels_of,
    mark,
    short_path,
)
from brim.sessions.composition.thread import NOWHERE, RequestsReader, Sent, Thread
from brim.sessions.lines import EventsOfLine, SessionLine

_KEY = 24
"""How many digits of a hash are kept: enough to tell any two messages apart."""
_CACHED_BY = ("thinking", "tool_choice", "output_config")
"""Parameters that a cache of messages depends on."""


def hash_of(message: Mapping[str, Any]) -> str:
    """Return the hash by which a request record names *message*."""
    content = compact_json({"content": message.get("content"), "role": message.get("role")})
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


class ClaudeRequests(RequestsReader):
    """Takes the lines of one transcript."""

    family = "claude"

    def __init__(self, count_text: Count, *, agent: str = "") -> None:
        super().__init__(count_text, agent=agent)
        self._agent = agent
        self._begun = False
        self._records = Bounded(1_000)  # requests by their record's id
        self._waiting: Sent | None = None  # a recorded request whose answer is yet to come
        self._answer: dict[str, Any] = {}  # the answer that is being written, one line per block
        self._unsent: list[tuple[str, Label, str]] = []
        """Key, label and text of each line that no request has had yet."""
        self._uuids = Bounded(20_000)  # which message a line is
        self._compacted = True  # whether the window was empty since the last request
        self._snapshot = ""  # the fixed start that the client last named

    def take_line(self, line: SessionLine, lines: EventsOfLine) -> None:  # noqa: ARG002 - its answers are merged, so no event says all
        """Take the next line."""
        self.take(line.content, line.at)

    def take(self, line: Mapping[str, Any], at: int = 0) -> None:  # noqa: C901 - a parser: one branch for each kind of line
        """Take one line, which begins at byte *at*."""
        if not self._begun and "isSidechain" in line:
            self._begun = True
            if not self._agent and flag(line, "isSidechain"):
                # A sub-agent's file under another name.
                self._agent = text(line, "agentId") or "unknown"
                self._labels.words = (TASK,)
        if not self._agent and (flag(line, "isSidechain") or text(line, "agentId")):
            return
        kind = line.get("type")
        if kind == "assistant":
            self._assistant(line, at)
        elif kind == "user":
            self._user(line)
        elif kind == "attachment":
            self._attachment(line, mapping(line, "attachment"))
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            self._compact(mapping(line, "compactMetadata"))
        elif kind == "api-request-shape":
            shape = mapping(line, "shape")
            self._head(
                text(line, "shapeHash")[:_KEY], items(shape, "tools"), items(shape, "system")
            )
        elif kind == "api-request-blob":
            self._learn(text(line, "hash")[:_KEY], mapping(line, "message"))
        elif kind == "api-request":
            self._request(line)

    def finish(self) -> Thread:
        """Return what was read so far; more may follow."""
        self._close()
        self._settle()
        return self.thread

    @property
    def open_at(self) -> int | None:
        """Where the answer begins that more lines may follow of; None if there's none."""
        return self._answer.get("at")

    def to_row(self) -> dict[str, Any]:
        """Return the state as JSON values, to go on later: labels and counts, no text.

        It's the state at ``open_at``, if there's an open answer: its blocks are merged, so it's
        read again as a whole.
        """
        if not self._answer:
            self._settle()
            return self._state()
        sent = self._answer["sent"]
        before = (self._compacted, self._snapshot)
        self.thread.sent.pop()
        self._compacted, self._snapshot = self._answer["before"]
        row = self._state()
        self.thread.sent.append(sent)
        self._compacted, self._snapshot = before
        return row

    def _state(self) -> dict[str, Any]:
        places = {id(sent): at for at, sent in enumerate(self.thread.sent)}
        records = [
            (key, places.get(id(sent)), sent.to_row())
            for key, sent in [*self._records.items()][-50:]
        ]
        state = {
            "window": self._window,
            "compacted": self._compacted,
            "snapshot": self._snapshot,
            "agent": self._agent,
        }
        parts = {"thread": self.thread.to_row(), "labels": self._labels.to_row()}
        later = {
            key for key, _, _ in self._unsent
        }  # lines after the open answer: they are read again with it
        uuids = [(uuid, key) for uuid, key in self._uuids.items() if key not in later]
        return {**parts, "records": records, "uuids": uuids[-2_000:], **state}

    def restore(self, row: Mapping[str, Any]) -> None:
        """Go on where ``to_row`` was called."""
        self.thread = Thread.from_row(row["thread"])
        self._labels.restore(row["labels"])
        for key, at, sent in row["records"]:
            self._records[key] = Sent.from_row(sent) if at is None else self.thread.sent[at]
            self._waiting = None
            if at is None:
                self._waiting = self._records[key]
            self._records[key].id = "" if at is None else self._records[key].id
        for uuid, key in row["uuids"]:
            self._uuids[uuid] = key
        self._window = row["window"]
        self._compacted = row["compacted"]
        self._snapshot = row["snapshot"]
        self._agent = row["agent"]
        self._begun = True
        if self._agent:
            self._labels.words = (TASK,)

    # Recorded requests ----------------------------------------------------------------------------

    def _head(self, head: str, tools: list[Any], system: list[Any]) -> None:
        if not head or head in self.thread.heads:
            return
        keys = []
        for schema in tools:
            keys.append(f"t{mark(compact_json(schema))}")
            self.thread.items.setdefault(keys[-1], (self._labels.tool(schema),))
        for block in system:
            prompt = block if isinstance(block, str) else text(block, "text")
            keys.append(f"s{mark(prompt)}")
            self.thread.items.setdefault(keys[-1], (self._labels.system(prompt),))
        self.thread.heads[head] = keys

    def _learn(self, key: str, message: Mapping[str, Any], **reported: int) -> None:
        if key and key not in self.thread.items:
            role = text(message, "role")
            self.thread.items[key] = self._labels.pieces(role, message.get("content"), **reported)

    def _request(self, line: Mapping[str, Any]) -> None:
        self._close()
        base = self._records.get(text(line, "base"))
        keep = count(line, "keep")
        place = NOWHERE
        if base and keep:
            place = self.thread.back(base.place, keep)
        if keep and (base is None or self.thread.length(place) < keep):
            place = self.thread.add(NOWHERE, [f"lost {text(line, 'base')[:_KEY]}"])
        tail = [hash[:_KEY] for hash in items(line, "tail") if isinstance(hash, str)]
        params = mapping(line, "params")
        settings = mark(compact_json({key: params.get(key) for key in _CACHED_BY}))
        about = (
            text(params, "model"),
            seconds(line.get("timestamp")),
            self.thread.add(place, tail),
        )
        # A client that goes on with a session has no request to build on; after a compaction it has
        # none either.
        resumed = not text(line, "base") and not self._compacted
        self._waiting = Sent(
            "", *about, text(line, "shapeHash")[:_KEY], settings, recorded=True, resumed=resumed
        )
        self._records[text(line, "id")] = self._waiting
        self._unsent.clear()

    # Lines ----------------------------------------------------------------------------------------

    def _assistant(self, line: Mapping[str, Any], at: int) -> None:
        message = mapping(line, "message")
        id = text(message, "id")
        model = text(message, "model")
        if (
            not id
            or model == SYNTHETIC
            or flag(line, "isApiErrorMessage")
            or text(line, "uuid") in self._uuids
        ):
            return  # a session that is resumed can have its history again
        if self._answer.get("id") != id:
            self._close()
            self._open(line, id, model, at)
        for block in items(message, "content"):
            self._answer["content"].append(block)
            self._labels.learn_call(text(block, "id"), text(block, "name"), value(block, "input"))
        self._answer["usage"] = mapping(message, "usage") or self._answer["usage"]
        self._answer["uuids"].append(text(line, "uuid"))

    def _open(self, line: Mapping[str, Any], id: str, model: str, at: int) -> None:
        """Begin an answer: it belongs to the request that its line names, else to the last one that
        was recorded."""
        sent = self._records.get(text(line, "requestRef")) or self._waiting
        if sent is None or sent.id:
            self._settle()
            sent = Sent(
                "",
                model,
                seconds(line.get("timestamp")),
                self._window,
                self._snapshot,
                "",
                recorded=False,
            )
        sent.id = id
        sent.model = model or sent.model
        self._labels.model = sent.model or self._labels.model
        before = (self._compacted, self._snapshot)
        self._answer = {
            "id": id,
            "at": at,
            "sent": sent,
            "before": before,
            "content": [],
            "usage": {},
            "uuids": [],
        }
        self._waiting = None
        self._compacted = False
        self.thread.sent.append(sent)

    def _close(self) -> None:
        """End the answer that is being written: it's a message of the next request.

        Results may stand between its lines, so only another answer or request ends it.
        """
        if not self._answer:
            return
        answer = self._answer
        self._answer = {}
        message = {"role": "assistant", "content": answer["content"]}
        used = answer["usage"]
        key = hash_of(message)[:_KEY]
        answer["sent"].usage = tokens(used) or answer["sent"].usage
        thinking = whole(used, "output_tokens_details", "thinking_tokens") or 0
        self._learn(key, message, output=count(used, "output_tokens"), thinking=thinking)
        self._window = self.thread.add(self._window, [key])
        for uuid in filter(None, answer["uuids"]):
            self._uuids[uuid] = key

    def _user(self, line: Mapping[str, Any]) -> None:
        if text(line, "uuid") in self._uuids:
            return
        message = mapping(line, "message")
        content = message.get("content")
        prompt, human = words(line, content)
        # Newer clients say where a prompt came from; then the line holds nothing else, whatever it
        # looks like.
        is_prompt = text(line, "promptSource") not in ("", "system") and not flag(line, "isMeta")
        if flag(line, "isCompactSummary"):
            self._labels.learn(prompt, (SUMMARY,))
        elif human or is_prompt or self._agent:
            for part in content if isinstance(content, list) else [content]:
                if is_prompt or "<system-reminder>" not in text_of(part):
                    self._labels.learn(text_of(part), self._labels.words)
        key = hash_of(message)[:_KEY]
        self._learn(key, message)
        if isinstance(content, str):  # a line has the bare text where the request had it as a block
            block = {"role": "user", "content": [{"type": "text", "text": content}]}
            self.thread.items[hash_of(block)[:_KEY]] = self.thread.items[key]
        if uuid := text(line, "uuid"):
            self._uuids[uuid] = key
        self._unsent.append((key, (), ""))

    def _settle(self) -> None:
        """Put the lines that came since the last request into the window."""
        for key, label, content in self._unsent:
            if content and key not in self.thread.items:
                self.thread.items[key] = tuple(self._labels.labelled(label, content))
        self._window = self.thread.add(self._window, [key for key, _, _ in self._unsent])
        self._unsent.clear()

    def _compact(self, about: Mapping[str, Any]) -> None:
        """Empty the window, but for the messages that the client says it keeps."""
        self._close()
        self._settle()
        preserved = items(about, "preservedMessages", "allUuids") or items(
            about, "preservedMessages", "uuids"
        )
        keys = [
            self._uuids[uuid]
            for uuid in preserved
            if isinstance(uuid, str) and self._uuids.get(uuid)
        ]
        self._window = NOWHERE
        self._compacted = True
        self._unsent += [(key, (), "") for key in dict.fromkeys(keys)]

    # What the client adds -------------------------------------------------------------------------

    def _attachment(self, line: Mapping[str, Any], attachment: Mapping[str, Any]) -> None:
        """Take what the client adds to the next request by itself: reminders, files, memory."""
        kind = text(attachment, "type")
        if kind == "hook_success":
            self._labels.learn_hook(text(attachment, "command"), text(attachment, "stdout"))
            return
        if kind == "prompt_snapshot":
            self._see_prompt(attachment)
            return
        self._labels.learn_headings(_headings(kind, attachment))
        contents = [text(part, "content") for part in items(line, "rendered")]
        if not contents:
            contents = [_unrendered(attachment)]
        for content in contents:
            words = _without_reminder_tags(content)
            if words:
                label = self._label_of(kind, attachment)
                self._labels.learn(words, label)
                self._unsent.append((f"a{mark(words)}", label, words))

    def _label_of(self, kind: str, attachment: Mapping[str, Any]) -> Label:
        if kind == "hook_additional_context":
            content = "\n".join(
                part for part in items(attachment, "content") if isinstance(part, str)
            )
            return self._labels.hook_label(text(attachment, "hookEvent") or "hook", content)
        if kind == "nested_memory":
            return (MEMORY, text(attachment, "path"))
        if kind == "file":
            return (RESULTS, "Read", short_path(text(attachment, "filename")))
        return labels_of("attachment").get(kind) or (REMINDERS, kind.replace("_", " ") or "other")

    def _see_prompt(self, attachment: Mapping[str, Any]) -> None:
        """Take the system prompt and tools that the client says it uses.

        The line before the first request has no tools yet; the next one names those that it was
        sent with, too.
        """
        tools = [value(tool, "schema") or tool for tool in items(attachment, "tools")]
        system = [text(attachment, "cliPrefix"), *items(attachment, "systemPrompt")]
        before = self._snapshot
        self._snapshot = f"p{mark(compact_json([tools, system]))}"
        self._head(self._snapshot, tools, [block for block in system if block])
        if not tools:
            self.thread.partial.add(self._snapshot)
        elif before in self.thread.partial:
            self.thread.heads[before] = self.thread.heads[self._snapshot]
            self.thread.partial.discard(before)


def _headings(kind: str, attachment: Mapping[str, Any]) -> list[str]:
    """Return the memory files or MCP servers that an attachment of *kind* names."""
    if kind == "instructions":
        return [text(file, "path") for file in items(attachment, "files")]
    if kind == "nested_memory":
        return [text(attachment, "path")]
    if kind == "mcp_instructions_delta":
        return [name for name in items(attachment, "addedNames") if isinstance(name, str)]
    return []


def _without_reminder_tags(content: str) -> str:
    words = content.strip()
    words = words.removeprefix("<system-reminder>").removesuffix("</system-reminder>")
    return words.strip()


def _unrendered(attachment: Mapping[str, Any]) -> str:
    """Return the text of an attachment that doesn't say how it was sent."""
    content = attachment.get("content")
    inner = mapping(content, "file") or mapping(content)
    lines = items(attachment, "content") or items(attachment, "addedLines")
    plain = (
        text(attachment, "content") or text(inner, "content") or text_of(attachment.get("prompt"))
    )
    return plain or "\n".join(part for part in lines if isinstance(part, str))
