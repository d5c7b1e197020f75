"""What every agent's session files took: by hand, repeated, cut in pieces, and read on later."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.readers import format_of
from brim.agents.stream import Feed
from brim.agents.usage import usage_lines_of
from tests.agents.session_files import events_in, golden, session, taken

FORMATS = {"copilot": "copilot-events", "qwen": "qwen-chat"}
SESSIONS = [(agent, name) for agent in FORMATS for name in golden(agent)]

every_session = pytest.mark.parametrize(("agent", "name"), SESSIONS)


@every_session
def test_usage_is_what_was_counted_by_hand(agent: str, name: str) -> None:
    assert taken(events_in(session(name))) == golden(agent)[name]


@every_session
def test_its_lines_are_recognized(agent: str, name: str) -> None:
    formats = {format_of(json.loads(line)) for line in session(name).splitlines()}
    assert formats == {FORMATS[agent]}


@given(st.data())
def test_usage_is_the_same_however_lines_repeat_and_pieces_are_cut(data: st.DataObject) -> None:
    agent, name = data.draw(st.sampled_from(SESSIONS))
    lines = session(name).splitlines(keepends=True)
    repeated = [*lines, *data.draw(st.lists(st.sampled_from(lines), max_size=8))]
    whole = b"".join(repeated)
    cut = data.draw(st.integers(0, len(whole)))
    feed = Feed()
    events = [*feed.feed(whole[:cut]), *feed.feed(whole[cut:]), *feed.finish()]
    assert taken(events) == golden(agent)[name]


@given(st.data())
def test_requests_are_the_same_if_reading_stops_after_a_line_and_goes_on(
    data: st.DataObject,
) -> None:
    agent, name = data.draw(st.sampled_from(SESSIONS))
    lines = [json.loads(line) for line in session(name).splitlines()]
    stop = data.draw(st.integers(0, len(lines)))
    first, second = usage_lines_of(FORMATS[agent]), usage_lines_of(FORMATS[agent])
    assert first is not None
    assert second is not None
    events = [event for line in lines[:stop] for event in first.events(line, 0)]
    second.resume(json.loads(json.dumps(first.state())))
    events += [event for line in lines[stop:] for event in second.events(line, 0)]
    assert taken(events) == golden(agent)[name]
