"""However a stream is cut into pieces, the events are the same; whatever is in it, nothing
raises."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import Event
from brim.agents.events import Message, Usage
from brim.agents.fields import parsed_line
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from tests.agents.claude_lines import (
    STATUS,
    STREAM,
    TRANSCRIPT,
    stream_answer,
    stream_user,
    text_block,
)
from tests.agents.mutated import is_sound, mutated

GARBAGE = [
    b"",
    b"   ",
    b"not json",
    b"[1, 2]",
    b"3",
    b'{"half": ',
    b"\xff\xfe\x00",
    b'{"type": "noise"}',
    b"\xef\xbb\xbf{}",
]


def as_bytes(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def whole(data: bytes) -> tuple[list[Event], Feed]:
    feed = Feed()
    return feed.feed(data) + feed.finish(), feed


SESSIONS = [as_bytes(STREAM), as_bytes(TRANSCRIPT), as_bytes([STATUS])]


def test_a_half_line_is_held_back_until_it_is_complete() -> None:
    data = as_bytes([stream_answer("m1", text_block())])
    feed = Feed()
    assert feed.feed(data[:50]) == []
    assert feed.offset == 0
    assert len(feed.feed(data[50:])) == 3
    assert (feed.offset, feed.lines) == (len(data), 1)


def test_a_last_line_without_an_end_is_read_at_the_end() -> None:
    data = as_bytes([stream_user("hi")])[:-1]
    feed = Feed()
    assert feed.feed(data) == []
    assert len(feed.finish()) == 1
    assert (feed.offset, feed.broken) == (len(data), 0)
    assert feed.finish() == []


def test_a_torn_last_line_counts_as_broken_and_can_be_completed_later() -> None:
    data = as_bytes([stream_user("one"), stream_user("two")])
    cut = len(data) - 10
    feed = Feed()
    first = feed.feed(data[:cut]) + feed.finish()
    assert feed.broken == 1
    again = Feed(start=feed.offset)
    assert first + again.feed(data[feed.offset :]) == whole(data)[0]


def test_an_event_says_at_which_byte_its_line_begins() -> None:
    lines = [stream_user("one"), stream_user("two")]
    events, _ = whole(as_bytes(lines))
    assert [event.at for event in events] == [0, len(as_bytes(lines[:1]))]


def test_garbage_is_counted_and_nothing_around_it_is_lost() -> None:
    lines = [json.dumps(line).encode() for line in STREAM]
    mixed = b"\n".join(part for line in lines for part in (*GARBAGE, line))
    clean, _ = whole(b"\n".join(lines))
    events, feed = whole(mixed)
    assert [replace(event, at=0) for event in events] == [replace(event, at=0) for event in clean]
    assert feed.lines == feed.broken + feed.unknown + len(lines)
    assert feed.unknown == len(
        lines
    )  # the noise; what only begins with a mark is no JSON inside of a stream


def test_windows_line_ends_and_a_byte_order_mark_are_no_hindrance() -> None:
    data = b"\xef\xbb\xbf" + as_bytes([stream_user("one"), stream_user("two")]).replace(
        b"\n", b"\r\n"
    )
    events, feed = whole(data)
    assert [event.text for event in events if isinstance(event, Message)] == ["one", "two"]
    assert feed.broken == 0


def test_bytes_that_are_no_text_lose_only_themselves() -> None:
    data = as_bytes([stream_user("caf? au lait")]).replace(b"?", b"\xe9")
    assert [event.text for event in whole(data)[0] if isinstance(event, Message)] == [
        "caf\ufffd au lait"
    ]


def test_half_characters_are_replaced_so_that_they_can_be_written() -> None:
    assert parsed_line(rb'{"a": ["\ud83d\ude00", "\ud83d", "\udc00x"]}') == {
        "a": ["\U0001f600", "\ufffd", "\ufffdx"]
    }


def test_a_line_that_is_too_long_is_skipped_and_counted() -> None:
    long = as_bytes([stream_user("x" * 5_000)])
    feed = Feed(longest=2_000)
    events = []
    for begin in range(0, len(long), 700):
        events += feed.feed(long[begin : begin + 700])
        assert sum(map(len, feed._begun)) <= 2_000
    events += feed.feed(as_bytes([stream_user("after")]))
    assert [event.text for event in events if isinstance(event, Message)] == ["after"]
    assert (feed.broken, feed.lines, feed.offset) == (
        1,
        2,
        len(long) + len(as_bytes([stream_user("after")])),
    )


def test_nesting_and_numbers_beyond_reason_are_broken_lines() -> None:
    _, feed = whole(
        b"[" * 100_000 + b"\n" + b'{"a":' * 100_000 + b"\n" + b'{"a": ' + b"9" * 10_000 + b"}\n"
    )
    assert feed.broken == 3


def test_the_format_is_known_from_the_first_line_that_has_one() -> None:
    feed = Feed()
    feed.feed(b'{"noise": 1}\n')
    formats = [feed.format]
    feed.feed(SESSIONS[1])
    formats.append(feed.format)
    assert (formats, feed.unknown) == ([None, "claude-transcript"], 1)


@given(st.sampled_from(SESSIONS), st.data())
def test_any_cut_gives_the_same_events(data: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=12)))
    feed = Feed()
    events: list[Event] = []
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        events += feed.feed(data[begin:end])
    assert events + feed.finish() == whole(data)[0]
    assert feed.offset == len(data)


def test_one_byte_at_a_time_gives_the_same_events() -> None:
    for data in SESSIONS:
        feed = Feed()
        assert [event for byte in data for event in feed.feed(bytes([byte]))] == whole(data)[0]


@given(st.sampled_from(SESSIONS), st.data())
def test_after_a_kill_reading_goes_on_at_the_offset(data: bytes, draw: st.DataObject) -> None:
    reader = AnyReader()
    events: list[Event] = []
    offset = 0
    for killed in sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=5))):
        feed = Feed(reader=reader, start=offset)
        events += feed.feed(data[offset:killed])
        offset = feed.offset
    last = Feed(reader=reader, start=offset)
    assert events + last.feed(data[offset:]) == whole(data)[0]


@given(
    st.lists(
        st.binary(max_size=40)
        | st.sampled_from([b"\n", b"{", b'"type":"user"', b"}", b"[", b",", *GARBAGE])
    )
)
def test_random_bytes_never_raise(pieces: list[bytes]) -> None:
    feed = Feed()
    for piece in pieces:
        feed.feed(piece)
    feed.finish()
    assert 0 <= feed.offset <= sum(map(len, pieces))


@given(mutated(STREAM) | mutated(TRANSCRIPT) | mutated([STATUS]))
def test_mutated_lines_never_raise(lines: list[dict[str, Any]]) -> None:
    reader = AnyReader()
    feed = Feed(reader=reader)
    assert is_sound(feed.feed(as_bytes(lines)))


def test_a_request_is_reported_once_over_the_whole_stream() -> None:
    events, _ = whole(SESSIONS[1] * 3)
    assert len([event for event in events if isinstance(event, Usage)]) == 2


def test_blank_lines_are_skipped_at_once_and_counted_in_the_offset() -> None:
    data = b"\n" * 70_000 + b" \r\n" * 70_000 + b'{"type": "user"}\n\n\t\n{"a"'
    calls = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    feed = Feed("claude-transcript")
    sys.setprofile(see)
    try:
        feed.feed(data)
    finally:
        sys.setprofile(None)
    assert calls < 500
    assert (feed.offset, feed.lines, feed.broken) == (len(data) - len(b'{"a"'), 1, 0)
    for cut in range(len(data) - 60, len(data)):
        halves = Feed("claude-transcript")
        halves.feed(data[:cut])
        halves.feed(data[cut:])
        assert (halves.offset, halves.lines, halves.broken) == (feed.offset, 1, 0)
