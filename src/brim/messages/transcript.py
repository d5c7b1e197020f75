"""The conversation in a transcript of Claude Code.

The client appends a line for whatever happens, each with the ``parentUuid`` of the line before it.
What was rewound or compacted away stays in the file, so the conversation is the chain from the last
message back to its beginning, or to the last compaction. One answer of the model is stored as one
line per block, and the results of parallel calls hang on the blocks that made the calls: they
branch off the chain and belong to the conversation all the same.

Nothing here reads a file, and nothing raises on what is in a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Line = dict[str, Any]
Place = tuple[int, int]
"""Where a line stands in the conversation: its number, and for what a compaction moved its own
after the new."""


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """A message of the conversation, as it goes to Anthropic's API."""

    line_number: int
    """The line that it begins in, counted from 1."""
    message: dict[str, Any]
    """The line's own message; if several lines hold its blocks, the first one's with all of
    them."""


def is_transcript(lines: Sequence[Any]) -> bool:
    """Whether *lines*, parsed, are a transcript: one of them is a message with a uuid, linked to
    another or to none.

    The lines of a stream (``--output-format stream-json``) have a uuid too, but no links.
    """
    return any(_is_linked_message(line) for line in lines)


def _is_linked_message(line: Any) -> bool:
    if not _is_message(line):
        return False

    return isinstance(line.get("uuid"), str) and "parentUuid" in line


def conversation(lines: Sequence[Any]) -> list[TranscriptMessage]:
    """Return the conversation in *lines*, each parsed, or None where a line could not be.

    Lines of sub-agents are left out, unless there are no others: then the file is a sub-agent's
    own. So are lines that aren't messages, and errors of the API, which the client shows but does
    not send.
    """
    numbered = _own_lines(lines)
    sent = []
    for number, line in numbered:
        if _is_message(line) and line.get("isApiErrorMessage") is not True:
            sent.append(_read(number, line))

    places = _with_branches(sent, _chain(numbered))
    ordered = [line for line in sent if line.number in places]
    ordered.sort(key=lambda line: places[line.number])
    return list(_joined(ordered))


@dataclass(frozen=True, slots=True)
class _SentLine:
    """A line that the client sends."""

    number: int
    message: dict[str, Any]
    answer: str
    """The id of the model's answer that it is a block of; empty if it isn't one."""
    calls: tuple[str, ...]
    """The ids of the calls in it."""
    results: tuple[str, ...]
    """The ids of the calls that it answers."""


def _read(number: int, line: Line) -> _SentLine:
    message = line["message"]
    answer = message.get("id")
    if line["type"] != "assistant" or not isinstance(answer, str):
        answer = ""

    calls = _ids(message, "tool_use", "id")
    results = _ids(message, "tool_result", "tool_use_id")
    return _SentLine(
        number,
        message,
        answer,
        calls,
        results,
    )


def _own_lines(lines: Sequence[Any]) -> list[tuple[int, Line]]:
    """Return the lines of the conversation itself, with their numbers."""
    numbered = []
    for number, line in enumerate(lines, start=1):
        if isinstance(line, dict):
            numbered.append((number, line))

    main_lines = [(number, line) for number, line in numbered if not _is_sidechain(line)]
    if any(_is_message(line) for _, line in main_lines):
        return main_lines

    return numbered


def _is_sidechain(line: Line) -> bool:
    """Whether *line* is a sub-agent's."""
    return line.get("isSidechain") is True


# The chain


def _chain(lines: list[tuple[int, Line]]) -> dict[int, Place]:
    """Return the lines from the last message back to the beginning, and what the last compaction
    carried over."""
    by_uuid: dict[str, tuple[int, Line]] = {}
    last = None
    for number, line in lines:
        uuid = line.get("uuid")
        if not isinstance(uuid, str):
            continue

        by_uuid.setdefault(uuid, (number, line))
        if _is_message(line):
            last = uuid

    places: dict[int, Place] = {}
    for number, line in _upwards(by_uuid, last):
        places[number] = (number, 0)
        if line.get("subtype") == "compact_boundary":
            places.update(_carried_over(by_uuid, line))
            break

    return places


def _upwards(by_uuid: dict[str, tuple[int, Line]], uuid: object) -> Iterator[tuple[int, Line]]:
    """Yield the line *uuid* and those above it; a circle ends where it closes."""
    visited = set()
    while isinstance(uuid, str) and uuid in by_uuid and uuid not in visited:
        visited.add(uuid)
        number, line = by_uuid[uuid]
        yield number, line
        uuid = line.get("parentUuid")


def _carried_over(by_uuid: dict[str, tuple[int, Line]], boundary: Line) -> dict[int, Place]:
    """Return the newest lines before a compaction that it kept: they stand after its summary."""
    metadata = boundary.get("compactMetadata")
    segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    if not isinstance(segment, dict):
        return {}

    anchor = segment.get("anchorUuid")
    if not isinstance(anchor, str) or anchor not in by_uuid:
        return {}

    summary, _ = by_uuid[anchor]
    places: dict[int, Place] = {}
    for number, line in _upwards(by_uuid, segment.get("tailUuid")):
        places[number] = (summary, number)
        if line["uuid"] == segment.get("headUuid"):
            return places

    return {}


# What branches off


class _Branches:
    """The lines of the chain, and those that branch off it."""

    def __init__(self, places: dict[int, Place]) -> None:
        self.places = dict(places)
        self.answers: dict[str, Place] = {}
        """Where each answer of the model stands."""
        self.calls: dict[str, Place] = {}
        """Where each call stands."""
        self.answered: set[str] = set()
        """The ids of calls whose results are in the conversation."""

    def add_to_chain(self, line: _SentLine) -> None:
        """Take a line of the chain."""
        place = self.places[line.number]
        self.answered.update(line.results)
        self.calls.update(dict.fromkeys(line.calls, place))
        if line.answer:
            self.answers.setdefault(line.answer, place)

    def add_block(self, line: _SentLine) -> None:
        """Take another block of an answer of the chain."""
        if line.number in self.places or line.answer not in self.answers:
            return

        if not self.calls.keys() & line.calls:
            place = _next_to(self.answers[line.answer], line.number)
            self.places[line.number] = place
            self.calls.update(dict.fromkeys(line.calls, place))

    def add_results(self, line: _SentLine) -> None:
        """Take the results of a call that has none yet."""
        if line.number in self.places:
            return

        for id_ in line.results:
            if id_ in self.calls and id_ not in self.answered:
                self.places[line.number] = _next_to(self.calls[id_], line.number)
                self.answered.update(line.results)
                return


def _with_branches(sent: list[_SentLine], chain: dict[int, Place]) -> dict[int, Place]:
    """Return *chain* with the other blocks of its answers, and the results of their calls."""
    branches = _Branches(chain)
    for line in sent:
        if line.number in chain:
            branches.add_to_chain(line)

    for line in sent:
        branches.add_block(line)

    for line in sent:
        branches.add_results(line)

    return branches.places


def _next_to(place: Place, number: int) -> Place:
    """Return where the line *number* stands if it belongs to what stands at *place*: where that was
    moved to, if so."""
    summary, moved = place
    if moved:
        return (summary, number)

    return (number, 0)


# Messages


def _joined(ordered: list[_SentLine]) -> Iterator[TranscriptMessage]:
    """Yield the messages: the blocks of an answer as one, then the results of its calls, then what
    else was said."""
    blocks: dict[str, list[_SentLine]] = {}
    results: dict[str, list[_SentLine]] = {}
    callers: dict[str, str] = {}
    messages = []
    for line in ordered:
        callers.update(dict.fromkeys(line.calls, line.answer))
        caller = next((callers[id_] for id_ in line.results if id_ in callers), "")
        if line.answer:
            if line.answer not in blocks:
                messages.append(line)

            blocks.setdefault(line.answer, []).append(line)
        elif caller:
            results.setdefault(caller, []).append(line)
        else:
            messages.append(line)

    for line in messages:
        yield _message_of(line, blocks.get(line.answer, []))
        if line.answer:
            for result in results.get(line.answer, []):
                yield TranscriptMessage(result.number, result.message)


def _message_of(line: _SentLine, lines: list[_SentLine]) -> TranscriptMessage:
    """Return the message that begins with *line*, with the blocks in all its *lines*."""
    if len(lines) < 2:
        return TranscriptMessage(line.number, line.message)

    content = []
    for part in lines:
        content += _blocks(part.message)

    return TranscriptMessage(line.number, {**line.message, "content": content})


def _is_message(line: Any) -> bool:
    if not isinstance(line, dict) or line.get("type") not in ("user", "assistant"):
        return False

    return isinstance(line.get("message"), dict)


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    if content is None:
        return []

    if isinstance(content, list):
        return content

    return [{"type": "text", "text": content}]


def _ids(message: dict[str, Any], kind: str, field: str) -> tuple[str, ...]:
    """Return the ids of the blocks of *kind* in *message*."""
    ids = []
    for block in _blocks(message):
        if isinstance(block, dict) and block.get("type") == kind:
            id_ = block.get(field)
            if isinstance(id_, str):
                ids.append(id_)

    return tuple(ids)
