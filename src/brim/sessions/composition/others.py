"""Reads the requests in a Codex rollout and in a Gemini CLI record.

Neither records its requests, so a request is what the file holds before its answer. Codex writes
down the system prompt but no tools; Gemini CLI writes down neither. Which lines report usage is the
readers' business: they are asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from brim.agents.events import ModelSeen, StateSeen, Usage
from brim.agents.fields import count, flag, items, mapping, text, text_of, value
from brim.sessions.composition.pieces import (
    AGENTS,
    IMAGES,
    MEMORY,
    REMINDERS,
    RESULTS,
    THINKING,
    YOURS,
    Count,
    RequestPiece,
    call_label,
    compact_json,
    labels_of,
    mark,
    opening_label,
    tool_label,
)
from brim.sessions.composition.thread import NOWHERE, RequestsReader, Sent
from brim.sessions.lines import EventsOfLine, SessionLine

_PROJECT_FILE = re.compile(r"# AGENTS\.md instructions for ([^\n]+)\n")
_PROJECT_DOC = "--- project-doc ---"
_HOOK = re.compile(r"\s*<hook_context>(.*?)</hook_context>\s*", re.DOTALL)
_CONTEXT_FILE = re.compile(
    r"^--- Context from: (.+?) ---\n(.*?)^--- End of Context from: \1 ---\n?", re.DOTALL | re.M
)
_WORKSPACE = re.compile(r"\*\*Workspace Directories:\*\*\s*\n\s*- ([^\n]+)")
"""Where Gemini CLI tells its model which folder it works in."""


class CodexRequests(RequestsReader):
    """Takes the lines of one rollout."""

    family = "gpt-5"
    _model = _head = ""
    _summarizes = False

    def __init__(self, count_text: Count, *, agent: str = "") -> None:
        super().__init__(count_text, agent=agent)
        self._answered: list[
            str
        ] = []  # what came since the model began to answer: items of the next request

    def take_line(self, line: SessionLine, lines: EventsOfLine) -> None:
        """Take the next line."""
        self._take(line.content)
        for event in lines.events(line):
            if isinstance(event, ModelSeen):
                self._model = event.model or self._model
                self._labels.model = self._model
            elif isinstance(event, Usage):
                thinking = count(line.content, "payload", "usage", "reasoning_output_tokens")
                self._end_request(event, thinking)
            elif isinstance(event, StateSeen) and event.name == "folder":
                self._folder = event.value

    def _take(self, line: Mapping[str, Any]) -> None:
        kind = text(line, "type")
        payload = mapping(line, "payload")
        if kind == "session_meta" and not self._head:
            self._see_prompt(
                text(payload, "base_instructions", "text") or text(payload, "instructions")
            )
        elif kind == "response_item":
            self._item(payload, is_summary=flag(line, "metadata", "compaction_output"))
        elif kind == "compacted":
            self._compact(payload)

    def _see_prompt(self, instructions: str) -> None:
        if instructions:
            piece = self._labels.system(instructions)
            self._head = f"s{piece.mark}"
            self.thread.items[self._head] = (piece,)
            self.thread.heads[self._head] = [self._head]
            self.thread.partial.add(self._head)

    def _item(self, payload: Mapping[str, Any], *, is_summary: bool) -> None:
        self._summarizes |= is_summary
        key, is_answer = self._keep(payload)
        if not key or is_summary:
            return
        if not is_answer and not self._answered:
            self._window = self.thread.add(self._window, [key])
        else:
            self._answered.append(key)
        if YOURS in {piece.label[0] for piece in self.thread.items[key]}:
            self._end_turn()

    def _keep(self, payload: Mapping[str, Any]) -> tuple[str, bool]:
        """Keep the pieces of an item; return its key, and whether the model wrote it."""
        kind = text(payload, "type")
        role = text(payload, "role")
        key = f"{kind[:1]}{mark(compact_json(payload))}"
        is_answer = role == "assistant" or kind == "reasoning" or kind.endswith("_call")
        if key not in self.thread.items:
            self.thread.items[key] = tuple(self._pieces(kind, role, payload))
        return key, is_answer

    def _pieces(self, kind: str, role: str, payload: Mapping[str, Any]) -> Iterator[RequestPiece]:
        call = text(payload, "call_id") or text(payload, "id")
        if kind == "message":
            kinds = items(
                payload, "internal_chat_message_metadata_passthrough", "content_item_kinds"
            )
            for at, part in enumerate(items(payload, "content")):
                yield from self._part(role, part, str(kinds[at]) if at < len(kinds) else "")
        elif kind == "reasoning":
            yield RequestPiece((THINKING,), 0, 0, mark(text(payload, "encrypted_content")))
        elif kind.endswith("_output"):
            label = (RESULTS, *self._calls.get(call, ("unknown tool",)))
            yield self._labels.piece(label, _output_text(payload.get("output")))
        elif kind.endswith("_call"):
            name = text(payload, "name") or kind.removesuffix("_call")
            raw_input = payload.get("arguments") or payload.get("input") or payload.get("action")
            self._calls[call] = call_label(name, raw_input, self._folder)
            words = raw_input
            if not isinstance(raw_input, str):
                words = compact_json(raw_input)
            yield self._labels.piece((AGENTS, "calls", *tool_label(name)), f"{name} {words}")

    def _part(self, role: str, part: object, kind: str) -> Iterator[RequestPiece]:
        words = text(part, "text")
        if role == "assistant":
            yield self._labels.piece((AGENTS, "text"), words)
        elif text(part, "type") == "input_image":
            yield self._labels.media((IMAGES, "from you"), mapping(part))
        elif file := _PROJECT_FILE.match(words):
            user_file, divided, projects = words.partition(_PROJECT_DOC)
            if divided:
                yield self._labels.piece((MEMORY, "~/.codex/AGENTS.md"), user_file)
            yield self._labels.piece(
                (MEMORY, f"{file[1].rstrip('/')}/AGENTS.md"), projects if divided else words
            )
        elif kind == "hooks.additional_context":
            yield self._labels.piece(self._labels.hook_label("hook", words), words)
        else:
            label = labels_of("codex").get(kind) or (
                (REMINDERS, kind.partition(".")[0]) if kind and kind != "unknown" else None
            )
            fallback = (
                self._labels.words if role == "user" else self._labels.hook_label("hook", words)
            )
            yield self._labels.piece(label or opening_label(words, "other") or fallback, words)

    def _end_request(self, usage: Usage, thinking: int) -> None:
        """Take the request whose answer is over: *usage*, of which *thinking* tokens are reasoning.

        What the model answered, and what came meanwhile, is in the window of the next request.
        """
        request = Sent(
            usage.request,
            usage.model or self._model,
            usage.time,
            self._window,
            self._head,
            "",
            recorded=False,
            usage=usage.tokens,
        )
        request.compacts = self._summarizes
        self._summarizes = False
        self.thread.sent.append(request)
        self._measure_reasoning(thinking)
        self._window = self.thread.add(self._window, self._answered)
        self._answered = []

    def _measure_reasoning(self, thinking: int) -> None:
        """Give the answer's first reasoning item the *thinking* tokens that were reported.

        Its text is encrypted, so it can't be counted; it is sent back as it was.
        """
        if not thinking:
            return
        for key in self._answered:
            if _is_reasoning(key):
                self.thread.items[key] = (RequestPiece((THINKING,), 0, thinking, key),)
                return

    def _end_turn(self) -> None:
        """Leave out the reasoning of turns that are over: the provider does so too."""
        keys = self.thread.keys(self._window)
        remaining = [key for key in keys if not _is_reasoning(key)]
        if len(remaining) < len(keys):
            self._window = self.thread.add(NOWHERE, remaining)

    def _compact(self, payload: Mapping[str, Any]) -> None:
        history = [
            part for part in items(payload, "replacement_history") if isinstance(part, Mapping)
        ]
        if not history:
            content = [{"type": "input_text", "text": text(payload, "message")}]
            history = [{"type": "message", "role": "user", "content": content}]
        self._answered = []
        self._window = self.thread.add(NOWHERE, [self._keep(part)[0] for part in history])


def _is_reasoning(key: str) -> bool:
    """Whether *key*, which begins with the first letter of its item's kind, is of reasoning."""
    return key.startswith("r")


def _output_text(output: object) -> str:
    """Return what a tool answered."""
    content = output
    if isinstance(output, Mapping):
        content = value(output, "content")
    words = text_of(content)
    if not words and content:
        return compact_json(content)
    return words


class GeminiRequests(RequestsReader):
    """Takes the lines of one record."""

    family = "gemini"

    def __init__(self, count_text: Count, *, agent: str = "") -> None:
        super().__init__(count_text, agent=agent)
        # A message of the model, written again when its tools have ended.
        self._answer: Mapping[str, Any] = {}
        # Results that no message of their own has held yet.
        self._results: dict[str, object] = {}

    def take_line(self, line: SessionLine, lines: EventsOfLine) -> None:
        """Take the next line."""
        usages = {}
        for event in lines.events(line):
            if isinstance(event, Usage):
                usages[event.request] = event
        content = line.content
        replaced = items(content, "$set", "messages")
        if replaced:
            self._answer = {}
            self._results = {}
            self._window = NOWHERE
        messages = [*items(content, "messages"), *replaced]
        if text(content, "type"):
            messages = [content]
        for message in messages:
            if isinstance(message, Mapping):
                self._message(message, usages)
        if replaced:
            self._close()

    def _message(self, message: Mapping[str, Any], used: Mapping[str, Usage]) -> None:
        kind = text(message, "type")
        id = text(message, "id")
        if kind == "gemini":
            if id != text(self._answer, "id"):
                self._close()
                self._give_results()
                if event := used.get(id):
                    sent = Sent(
                        id,
                        event.model,
                        event.time,
                        self._window,
                        "",
                        "",
                        recorded=False,
                        usage=event.tokens,
                    )
                    self.thread.sent.append(sent)
                    self._labels.model = event.model or self._labels.model
            self._answer = message
        elif kind == "user":
            self._close()
            self._add(self._user(message))

    def _close(self) -> None:
        """Put the model's message into the window."""
        answer = self._answer
        self._answer = {}
        if not answer:
            return
        pieces = [self._labels.piece((AGENTS, "text"), text_of(answer.get("content")))]
        # A resumed session has its calls in the content; the results then are messages of their
        # own.
        calls = [
            call for part in items(answer, "content") if (call := mapping(part, "functionCall"))
        ]
        for call in calls or items(answer, "toolCalls"):
            id = text(call, "id")
            name = text(call, "name")
            self._calls[id] = call_label(name, value(call, "args"), self._folder)
            if result := value(call, "result"):
                self._results[id] = result
            words = f"{name} {compact_json(value(call, 'args'))}"
            pieces.append(self._labels.piece((AGENTS, "calls", *tool_label(name)), words))
        self._add(pieces)

    def _give_results(self) -> None:
        for result in self._results.values():
            parts = [result]
            if isinstance(result, list):
                parts = result
            self._add([piece for part in parts for piece in self._response(part)])
        self._results = {}

    def _user(self, message: Mapping[str, Any]) -> Iterator[RequestPiece]:
        """Yield the pieces of a user's message: results, images, words and what hooks told."""
        content = message.get("content")
        parts = [content]
        if isinstance(content, list):
            parts = content
        for part in parts:
            if mapping(part, "functionResponse"):
                # A message of its own: the result isn't given once more with its call.
                self._results.pop(text(part, "functionResponse", "id"), None)
                yield from self._response(part)
            elif mapping(part, "inlineData"):
                yield self._labels.media((IMAGES, "from you"), mapping(part))
            else:
                yield from self._with_hooks(text_of(part), self._words)

    def _with_hooks(
        self, words: str, pieces: Callable[[str], Iterable[RequestPiece]]
    ) -> Iterator[RequestPiece]:
        """Give the *pieces* of a text, and between them what hooks told."""
        at = 0
        for hook in _HOOK.finditer(words):
            yield from pieces(words[at : hook.start()])
            yield self._labels.piece(self._labels.hook_label("hook", hook[1]), hook[0])
            at = hook.end()
        yield from pieces(words[at:])

    def _words(self, words: str) -> Iterator[RequestPiece]:
        folder = _WORKSPACE.search(words)
        if folder and not self._folder:
            self._folder = folder[1].strip()
        at = 0
        for file in _CONTEXT_FILE.finditer(words):
            if words[at : file.start()].strip():
                yield self._labels.piece((REMINDERS, "session context"), words[at : file.start()])
            yield self._labels.piece((MEMORY, file[1]), file[0])
            at = file.end()
        if words[at:].strip():
            label = (
                (REMINDERS, "session context")
                if at
                else opening_label(words, "other") or self._labels.words
            )
            yield self._labels.piece(label, words[at:])

    def _response(self, part: object) -> Iterator[RequestPiece]:
        answer = mapping(part, "functionResponse")
        if not answer:
            if mapping(part, "inlineData"):
                yield self._labels.media((IMAGES, "of a tool"), mapping(part))
            return
        label = self._calls.get(text(answer, "id"), (text(answer, "name") or "unknown tool",))
        response = mapping(answer, "response")
        output = text(response, "output") or compact_json(response)
        yield from self._with_hooks(
            output, lambda part: [self._labels.piece((RESULTS, *label), part)]
        )

    def _add(self, pieces: Iterable[RequestPiece]) -> None:
        counted = tuple(piece for piece in pieces if piece.local or piece.own)
        key = f"g{mark(''.join(piece.mark for piece in counted))}"
        if counted:
            self.thread.items.setdefault(key, counted)
            self._window = self.thread.add(self._window, [key])
