"""What each text of a request is: the label it gets, and its size.

A label is a path in the tree that ``brim context`` shows, such as ``("tool results", "Read",
"src/app.py")``. Clients join texts from many sources into one message. Where a transcript's own
lines say what a text is, that is used, so a file that quotes a reminder stays a file; words are
looked at only where no line says anything.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any

from brim.agents import kind_of_tool
from brim.agents.call import arguments, normalized
from brim.agents.fields import mapping, text
from brim.agents.lines import Bounded
from brim.files import data_rows
from brim.masking import mask
from brim.text import fold
from brim.tokens.messages import Framing, measure

SYSTEM = "system prompt"
TOOLS = "tools"
MEMORY = "memory files"
REMINDERS = "reminders"
BRIM = "brim"
YOURS = "your words"
TASK = "task of the main agent"
AGENTS = "agent's words"
THINKING = "thinking"
RESULTS = "tool results"
IMAGES = "images"
SUMMARY = "summary"
UNRESOLVED = "not resolved"

Label = tuple[str, ...]
Count = Callable[[str], int]
"""Counts the tokens of a text in the vocabulary that stands in for the model's."""

LONGEST_LABEL = 100
LONGEST_PATH = 400
"""Characters of a path in a label."""
_FRAMELESS = Framing(0, 0, False)
_HEAD = 24
_TARGETS = (
    "command",
    "file_path",
    "path",
    "pattern",
    "url",
    "query",
    "skill",
    "description",
    "prompt",
)
_PATHS = ("file_path", "path")
_OPEN = "<system-reminder>"
_CLOSE = "</system-reminder>"
_REMINDER = re.compile(rf"\s*{_OPEN}\n?(.*?)\n?{_CLOSE}\s*", re.DOTALL)
_FILE = re.compile(r"^Contents of (.+?)(?: \([^\n]*\))?:$", re.MULTILINE)
_AFTER_FILES = re.compile(
    r"^# (?:gitStatus|currentDate|userEmail|important-instruction-reminders)$", re.MULTILINE
)
_HOOK = re.compile(
    r"(\w+)(?::[^\s:]+)? hook (?:additional context|success|feedback|blocking error)[^:\n]*: ?"
)
_BRIMS_HOOK = re.compile(r"[/\\](?:\.brim[/\\]bin[/\\]hook|bin[/\\]hook[\"']? \w+ \w+)")
_BRIMS_TEXT = re.compile(
    r"- Before the compaction this session kept a scratch memory|(?:<note>)?Rules your user set, kept by brim:"
    r"|Notes agents left, not confirmed:"
    r"|## (?:Constraints|Directives|Procedures|Preferences"
    r"|Workflows|Episodes|Quick reference|Also learned|Unconfirmed notes)\n",
    re.IGNORECASE,
)
_GAP = re.compile(r"\n\n+")
_MCP_INSTRUCTIONS = "# MCP Server Instructions"
_SERVER = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RequestPiece:
    """A part of a message with one label."""

    label: Label
    local: int
    """Tokens in the stand-in vocabulary: multiply them by the model's ratio."""
    own: int = 0
    """Tokens of the model's own, which no ratio changes: images by rule, thinking as it was
    reported."""
    mark: str = ""
    """Tells the text from another one of the same size."""


def mark(content: str) -> str:
    """Return a short digest of *content*."""
    return blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest()


def compact_json(value: object) -> str:
    """Return *value* as compact JSON with sorted keys; what can't be written gives an empty
    text."""
    try:
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str
        )
    except (ValueError, TypeError, RecursionError):
        return ""


def tool_label(name: str) -> Label:
    """Return how a tool is shown: one of an MCP server under its server.

    >>> tool_label("mcp__shop__find")
    ('mcp: shop', 'find')
    """
    _, *parts = name.split("__", 2) if name.startswith("mcp__") else ("",)
    if len(parts) == 2:
        return (f"mcp: {parts[0]}", parts[1])
    return (name or "unknown tool",)


def call_label(name: str, raw_input: object, folder: str = "") -> Label:
    """Return how the result of a call is shown: the tool, and the file, command or search that it
    was for.

    A path is as seen from *folder*, so a file has one name however an agent writes it.
    """
    call_input = normalized(kind_of_tool(name), arguments(raw_input))
    for key in _TARGETS:
        target = call_input.get(key)
        if not isinstance(target, str) or not target:
            continue
        if key in _PATHS:
            label = short_path(os.path.normpath(os.path.join(folder, target)))
        else:
            label = short(target)
        return (*tool_label(name), label)
    return tool_label(name)


@cache
def labels_of(group: str) -> dict[str, Label]:
    """Return the labels of one *group* in ``data/labels.tsv``, by how a text begins or what the
    client calls it."""
    rows = data_rows(__file__, "labels.tsv")
    return {
        sign: tuple(label.split(" > ")) for row_group, sign, label in rows if row_group == group
    }


def opening_label(words: str, group: str) -> Label | None:
    """Return the label of the first opening of *group* that *words* begins with."""
    return next(
        (label for start, label in labels_of(group).items() if words.lstrip().startswith(start)),
        None,
    )


@lru_cache(4_096)
def short_path(path: str) -> str:
    """Return *path* as a label, whole: a page shows it as seen from the project's folder."""
    return fold(mask(path[:LONGEST_PATH]), LONGEST_PATH)


def short(target: str) -> str:
    """Return *target* as a label: one line, masked, at most ``LONGEST_LABEL`` characters."""
    return fold(mask(target[: 4 * LONGEST_LABEL]), LONGEST_LABEL)


class Labels:
    """Says what each text of one session is, from what its lines said before."""

    def __init__(self, count: Count, model: str, *, is_agents: bool = False) -> None:
        self._count = count
        self.model = model
        """The model that is used now, or its family: images take different tokens."""
        self._learned: dict[str, dict[tuple[int, str], Label]] = {}
        """The labels of whole texts, by the digest of their beginning, then by their size and
        digest: so one is found in the middle of a longer text without trying all of them."""
        self._call_labels = Bounded(20_000)
        """The labels of the results of calls, by the call's id."""
        self._texts_of_brim: set[str] = set()
        """Digests of what brim's own hooks wrote."""
        self._headings: set[str] = set()
        """The memory files and MCP servers that the client names."""
        self._pooled: dict[Label, Label] = {}
        """One object for all labels that are equal: a session has many pieces with each."""
        self.words: Label = (YOURS,)
        """The label of a prompt: in a sub-agent's session, the main agent wrote it."""
        if is_agents:
            self.words = (TASK,)

    def to_row(self) -> dict[str, Any]:
        """Return what was learned as JSON values: labels and digests, no text."""
        learned = [
            (head, *key, label)
            for head, labels in self._learned.items()
            for key, label in labels.items()
        ]
        return {
            "known": learned,
            "calls": list(self._call_labels.items()),
            "brims": [*self._texts_of_brim],
            "headings": [*self._headings],
        }

    def restore(self, row: Mapping[str, Any]) -> None:
        """Take what ``to_row`` gave."""
        for head, size, digest, label in row["known"]:
            self._learned.setdefault(head, {})[size, digest] = tuple(label)
        for id, label in row["calls"]:
            self._call_labels[id] = tuple(label)
        self._texts_of_brim = set(row["brims"])
        self._headings = set(row["headings"])

    # What lines say -------------------------------------------------------------------------------

    def learn(self, words: str, label: Label) -> None:
        """Take that the text *words* is what *label* says, wherever it stands."""
        words = words.strip()
        if words:
            self._learned.setdefault(mark(words[:_HEAD]), {})[len(words), mark(words)] = label

    def learn_call(self, id: str, name: str, raw_input: object) -> None:
        """Take that the call *id* was of the tool *name*."""
        if id and name and id not in self._call_labels:
            self._call_labels[id] = call_label(name, raw_input)

    def learn_headings(self, names: Iterable[str]) -> None:
        """Take that the client names these memory files or MCP servers: what else looks like a
        heading is text."""
        self._headings.update(names)

    def learn_hook(self, command: str, stdout: str) -> None:
        """Take what a hook wrote; if the hook is brim's, so is the text."""
        if _BRIMS_HOOK.search(command):
            try:
                answer = json.loads(stdout)
            except (ValueError, RecursionError):
                answer = {}
            self._texts_of_brim.add(
                mark((text(answer, "hookSpecificOutput", "additionalContext") or stdout).strip())
            )

    def hook_label(self, event: str, words: str) -> Label:
        """Return whose text a hook's is: brim's, or another hook's."""
        is_brims = mark(words.strip()) in self._texts_of_brim or _BRIMS_TEXT.match(words.strip())
        if is_brims:
            return (BRIM, event)
        return (REMINDERS, "hooks", event)

    # What texts are -------------------------------------------------------------------------------

    def piece(self, label: Label, words: str) -> RequestPiece:
        """Return *words* as one piece."""
        label = self._pooled.setdefault(label, label)
        return RequestPiece(label, self._count(words) if words else 0, 0, mark(words))

    def pieces(self, role: str, content: object, **reported: int) -> tuple[RequestPiece, ...]:
        """Return the pieces of a message.

        *reported* is ``output`` and ``thinking``, for an answer of the model.
        """
        blocks = [content]
        if isinstance(content, list):
            blocks = content
        pieces: list[RequestPiece] = []
        for block in blocks:
            mapped = block
            if isinstance(block, str):
                mapped = {"type": "text", "text": block}
            pieces += self._block(role, mapped) if isinstance(mapped, Mapping) else ()
        if any(piece.label[0] == THINKING for piece in pieces):
            pieces = _with_thinking(pieces, **reported)
        return tuple(pieces)

    def _block(self, role: str, block: Mapping[str, Any]) -> Iterator[RequestPiece]:
        kind = text(block, "type")
        if kind in ("text", "input_text", "output_text"):
            words = text(block, "text")
            if role == "assistant":
                yield self.piece((AGENTS, "text"), words)
            elif role in ("system", "developer"):
                yield from self._joined(words)
            else:
                yield from self._told(words)
        elif kind == "tool_result":
            yield from self._result(block)
        elif kind in ("thinking", "redacted_thinking"):
            yield self.piece((THINKING,), text(block, "thinking"))
        elif kind.endswith("tool_use"):
            name = text(block, "name")
            self.learn_call(text(block, "id"), name, block.get("input"))
            yield self.piece(
                (AGENTS, "calls", *tool_label(name)), f"{name} {compact_json(block.get('input'))}"
            )
        elif kind in ("image", "document", "input_image"):
            yield self.media((IMAGES, "from you"), block)
        elif kind.endswith("_tool_result"):
            yield self.piece(
                (RESULTS, *self._call_labels.get(text(block, "tool_use_id"), (kind,))),
                compact_json(block),
            )
        else:
            yield self.piece((REMINDERS, kind or "other"), compact_json(block))

    def media(self, label: Label, block: Mapping[str, Any]) -> RequestPiece:
        """Return an image or a document as a piece, by the rule of its model's provider."""
        tally = measure(
            [{"role": "user", "content": [dict(block)]}],
            model_name=self.model,
            encoding=None,
            count_text=self._count,
            framing=_FRAMELESS,
        )
        return RequestPiece(
            label, tally.text_tokens, tally.tokens - tally.text_tokens, mark(compact_json(block))
        )

    def _result(self, block: Mapping[str, Any]) -> Iterator[RequestPiece]:
        label = self._call_labels.get(text(block, "tool_use_id"), ("unknown tool",))
        content = block.get("content")
        if isinstance(content, str):
            yield self.piece((RESULTS, *label), content)
            return
        parts = []
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, Mapping)]
        for part in parts:
            words = text(part, "text")
            kind = text(part, "type")
            if kind in ("image", "document"):
                yield self.media((IMAGES, *label[-1:]), part)
            elif kind == "tool_reference":
                yield self.piece((TOOLS, "loaded by search"), text(part, "tool_name"))
            elif len(parts) > 1 and (reminder := _REMINDER.fullmatch(words)):
                yield from self._reminder(reminder[1])
            else:
                yield self.piece((RESULTS, *label), words or compact_json(part))

    def _told(self, words: str) -> Iterator[RequestPiece]:
        """A text in a user message: words of the person, or what the client put there."""
        inner = words.strip().removeprefix(_OPEN).removesuffix(_CLOSE)
        if label := self._exactly(words) or self._exactly(inner):
            yield from self.labelled(label, words if self._exactly(words) else inner.strip())
            return
        at = 0
        while match := _REMINDER.match(words, at):
            yield from self._reminder(match[1])
            at = match.end()
        after = words[at:]
        if after.strip():
            yield self.piece(opening_label(after, "claude") or self.words, after)

    def _reminder(self, words: str) -> Iterator[RequestPiece]:
        yield from self.labelled(self._exactly(words) or (), words)

    def _joined(self, words: str) -> Iterator[RequestPiece]:
        """A system message in mid-conversation: texts of several sources with blank lines between
        them."""
        begun = at = 0
        while at < len(words):
            labelled_end = self._learned_at(words, at)
            if labelled_end or (at > begun and self._opens(words, at)):
                if words[begun:at].strip():
                    yield from self.labelled((), words[begun:at])
                begun = at
            if labelled_end:
                label, begun = labelled_end
                yield from self.labelled(label, words[at:begun])
            gap = _GAP.search(words, begun if labelled_end else at)
            at = gap.end() if gap else len(words)
        if words[begun:].strip():
            yield from self.labelled((), words[begun:])

    def _opens(self, words: str, at: int) -> bool:
        starts = (_MCP_INSTRUCTIONS, *labels_of("claude"))
        return words.startswith(starts, at) or bool(_HOOK.match(words, at))

    def _exactly(self, words: str) -> Label | None:
        words = words.strip()
        return self._learned.get(mark(words[:_HEAD]), {}).get((len(words), mark(words)))

    def _learned_at(self, words: str, at: int) -> tuple[Label, int] | None:
        """Return the label of the longest learned text that stands at *at*, and where it ends."""
        candidates = self._learned.get(mark(words[at : at + _HEAD].strip()), {})
        for (size, digest), label in sorted(candidates.items(), reverse=True):
            if at + size <= len(words) and mark(words[at : at + size]) == digest:
                return label, at + size
        return None

    def labelled(self, label: Label, words: str) -> Iterator[RequestPiece]:
        """Yield *words* under its *label*; without one, under what they begin with."""
        stripped = words.lstrip()
        if label and label[0] in (YOURS, TASK, SUMMARY, RESULTS, BRIM):
            yield self.piece(label, words)
        elif match := _HOOK.match(stripped):
            yield self.piece(self.hook_label(match[1], stripped[match.end() :]), words)
        elif _FILE.search(words) and (label[:1] == (MEMORY,) or not label):
            yield from self._memory(words)
        elif stripped.startswith(_MCP_INSTRUCTIONS):
            yield from self._servers(words)
        else:
            yield self.piece(label or opening_label(words, "claude") or (REMINDERS, "other"), words)

    def _memory(self, words: str) -> Iterator[RequestPiece]:
        """Memory files, each below a line that names it; a line of a file that looks the same isn't
        a border."""
        heads = self._heads(_FILE, words)
        last = heads[-1].end()
        after = _AFTER_FILES.search(words, last)
        end = after.start() if after else len(words)
        if words[: heads[0].start()].strip():
            yield self.piece((MEMORY, "introduction"), words[: heads[0].start()])
        for head, following in zip(
            heads, [*(heading.start() for heading in heads[1:]), end], strict=True
        ):
            yield self.piece((MEMORY, head[1]), words[head.start() : following])
        if words[end:].strip():
            yield self.piece((REMINDERS, "session context"), words[end:])

    def _servers(self, words: str) -> Iterator[RequestPiece]:
        """Instructions of MCP servers, each below its name."""
        heads = self._heads(_SERVER, words)
        for head, following in zip(
            heads, [*(heading.start() for heading in heads[1:]), len(words)], strict=True
        ):
            begin = 0 if head is heads[0] else head.start()
            yield self.piece((TOOLS, f"mcp: {head[1]}", "instructions"), words[begin:following])
        if not heads:
            yield self.piece((TOOLS, "mcp instructions"), words)

    def _heads(self, pattern: re.Pattern[str], words: str) -> list[re.Match[str]]:
        """Return the headings in *words*; those that lines have named, if there are any."""
        heads = list(pattern.finditer(words))
        return [head for head in heads if head[1] in self._headings] or heads

    # The fixed start ------------------------------------------------------------------------------

    def tool(self, schema: object) -> RequestPiece:
        """Return the schema of a tool as a piece."""
        name = text(schema, "name") or text(schema, "type")
        fields = mapping(schema)
        described = {
            key: fields[key] for key in ("name", "description", "input_schema") if key in fields
        } or fields
        return self.piece((TOOLS, *tool_label(name)), compact_json(described))

    def system(self, block: object) -> RequestPiece:
        """Return a block of the system prompt as a piece."""
        return self.piece((SYSTEM,), block if isinstance(block, str) else text(block, "text"))


def _with_thinking(
    pieces: list[RequestPiece], output: int = 0, thinking: int = 0
) -> list[RequestPiece]:
    """Give the thinking of an answer the size that was reported: its text may be shortened, or left
    out.

    Without a report, thinking that isn't shown is what the answer took beyond its other parts.
    """
    visible = sum(piece.local for piece in pieces if piece.label[0] == THINKING)
    answered = sum(piece.local for piece in pieces if piece.label[0] != THINKING)
    size = thinking or (0 if visible else max(0, output - answered))
    if not size:
        return pieces
    marks = "".join(piece.mark for piece in pieces if piece.label[0] == THINKING)
    return [
        RequestPiece((THINKING,), 0, size, mark(marks)),
        *(piece for piece in pieces if piece.label[0] != THINKING),
    ]


def is_brims_text(text: str) -> bool:
    """Whether a hook's text is one of brim's."""
    return _BRIMS_TEXT.match(text.strip()) is not None
