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
    return any(
        _is_message(line) and isinstance(line.get("uuid"), str) and "parentUuid" in line
        for line in lines
    )


def conversation(lines: Sequence[Any]) -> list[TranscriptMessage]:
    """Return the conversation in *lines*, each parsed, or None where a line could not be.

    Lines of sub-agents are left out, unless there are no others: then the file is a sub-agent's
    own. So are lines that aren't messages, and errors of the API, which the client shows but does
    not send.
    """
    own = [(number, line) for number, line in enumerate(lines, start=1) if isinstance(line, dict)]
    if not all(line.get("isSidechain") is True for _, line in own if _is_message(line)):
        own = [(number, line) for number, line in own if line.get("isSidechain") is not True]
    said = ((number, line) for number, line in own if _is_message(line))
    sent = [
        _read(number, line) for number, line in said if line.get("isApiErrorMessage") is not True
    ]
    live = _with_branches(sent, _chain(own))
    return list(
        _joined(
            sorted(
                (each for each in sent if each.number in live), key=lambda each: live[each.number]
            )
        )
    )


@dataclass(frozen=True, slots=True)
class _Sent:
    """A line that the client sends."""

    number: int
    message: dict[str, Any]
    answer: str
    """The id of the model's answer that it is a block of; empty if it isn't one."""
    calls: tuple[str, ...]
    """The ids of the calls in it."""
    results: tuple[str, ...]
    """The ids of the calls that it answers."""


def _read(number: int, line: Line) -> _Sent:
    message = line["message"]
    answer = message.get("id") if line["type"] == "assistant" else None
    calls, results = _ids(message, "tool_use", "id"), _ids(message, "tool_result", "tool_use_id")
    return _Sent(number, message, answer if isinstance(answer, str) else "", calls, results)


def _chain(own: list[tuple[int, Line]]) -> dict[int, Place]:
    """Return the lines from the last message back to the beginning, and what the last compaction
    carried over."""
    known: dict[str, tuple[int, Line]] = {}
    last = None
    for number, line in own:
        if isinstance(line.get("uuid"), str):
            known.setdefault(line["uuid"], (number, line))
            last = line["uuid"] if _is_message(line) else last
    live: dict[int, Place] = {}
    for number, line in _upwards(known, last):
        live[number] = (number, 0)
        if line.get("subtype") == "compact_boundary":
            live.update(_carried_over(known, line))
            break
    return live


def _upwards(known: dict[str, tuple[int, Line]], uuid: object) -> Iterator[tuple[int, Line]]:
    """Yield the line *uuid* and those above it; a circle ends where it closes."""
    seen = set()
    while isinstance(uuid, str) and uuid in known and uuid not in seen:
        seen.add(uuid)
        yield known[uuid]
        uuid = known[uuid][1].get("parentUuid")


def _carried_over(known: dict[str, tuple[int, Line]], boundary: Line) -> dict[int, Place]:
    """Return the newest lines before a compaction that it kept: they stand after its summary."""
    metadata = boundary.get("compactMetadata")
    segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    if not isinstance(segment, dict):
        return {}
    head, anchor, tail = (segment.get(name) for name in ("headUuid", "anchorUuid", "tailUuid"))
    found: dict[int, Place] = {}
    if not isinstance(anchor, str) or anchor not in known:
        return found
    for number, line in _upwards(known, tail):
        found[number] = (known[anchor][0], number)
        if line["uuid"] == head:
            return found
    return {}


def _with_branches(sent: list[_Sent], live: dict[int, Place]) -> dict[int, Place]:
    """Return *live* with the other blocks of its answers, and the results of their calls."""
    found = dict(live)
    answers: dict[str, Place] = {}
    calls: dict[str, Place] = {}
    answered: set[str] = set()
    for each in sent:
        if each.number in live:
            answered.update(each.results)
            calls.update(dict.fromkeys(each.calls, live[each.number]))
            answers.setdefault(each.answer, live[each.number])
    answers.pop("", None)
    for each in sent:
        if each.number not in found and each.answer in answers and not calls.keys() & each.calls:
            found[each.number] = _next_to(answers[each.answer], each.number)
            calls.update(dict.fromkeys(each.calls, found[each.number]))
    for each in sent:
        called = next(
            (calls[id_] for id_ in each.results if id_ in calls and id_ not in answered), None
        )
        if each.number not in found and called is not None:
            found[each.number] = _next_to(called, each.number)
            answered.update(each.results)
    return found


def _next_to(place: Place, number: int) -> Place:
    """Return where the line *number* stands if it belongs to what stands at *place*: where that was
    moved to, if so."""
    return (place[0], number) if place[1] else (number, 0)


def _joined(ordered: list[_Sent]) -> Iterator[TranscriptMessage]:
    """Yield the messages: the blocks of an answer as one, then the results of its calls, then what
    else was said."""
    answers: dict[str, list[_Sent]] = {}
    results: dict[str, list[_Sent]] = {}
    callers: dict[str, str] = {}
    alone = []
    for each in ordered:
        callers.update(dict.fromkeys(each.calls, each.answer))
        caller = next((callers[id_] for id_ in each.results if id_ in callers), "")
        if each.answer:
            if each.answer not in answers:
                alone.append(each)
            answers.setdefault(each.answer, []).append(each)
        elif caller:
            results.setdefault(caller, []).append(each)
        else:
            alone.append(each)
    for each in alone:
        message, parts = each.message, answers.get(each.answer, [])
        if len(parts) > 1:
            message = {
                **message,
                "content": [block for part in parts for block in _blocks(part.message)],
            }
        yield TranscriptMessage(each.number, message)
        for result in results.get(each.answer, []) if each.answer else ():
            yield TranscriptMessage(result.number, result.message)


def _is_message(line: Any) -> bool:
    is_said = isinstance(line, dict) and line.get("type") in ("user", "assistant")
    return is_said and isinstance(line.get("message"), dict)


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    if isinstance(content, list):
        return content
    return [] if content is None else [{"type": "text", "text": content}]


def _ids(message: dict[str, Any], kind: str, field: str) -> tuple[str, ...]:
    """Return the ids of the blocks of *kind* in *message*."""
    found = [
        block.get(field)
        for block in _blocks(message)
        if isinstance(block, dict) and block.get("type") == kind
    ]
    return tuple(each for each in found if isinstance(each, str))
