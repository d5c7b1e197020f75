from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

from brim.agents.call import Event, ToolCall
from brim.agents.events import (
    Compaction,
    End,
    Message,
    ModelSeen,
    RunTotal,
    StateSeen,
    ToolResult,
    Usage,
)
from brim.models.usage import Tokens

EVENTS: list[Event] = [
    Usage(
        tokens=Tokens(input=3, output=1),
        model="m",
        request="r",
        session="s",
        agent="a",
        time=1.5,
        at=7,
    ),
    Message(
        role="user", text="fix it", human=True, id="u1", session="s", agent="a", time=1.5, at=7
    ),
    ToolCall(
        id="c1",
        name="Bash",
        kind="shell",
        input={"command": "ls"},
        session="s",
        agent="a",
        time=1.5,
        at=7,
    ),
    ToolResult(
        id="c1",
        text="no",
        error=True,
        detail={"exit_code": 2},
        session="s",
        agent="a",
        time=1.5,
        at=7,
    ),
    Compaction(trigger="auto", before=900, after=100, session="s", agent="a", time=1.5, at=7),
    ModelSeen(model="m", window=200_000, session="s", agent="a", time=1.5, at=7),
    StateSeen(name="branch", value="main", session="s", agent="a", time=1.5, at=7),
    RunTotal(
        cost=5,
        tokens={"m": Tokens(input=3)},
        windows={"m": 9},
        session="s",
        agent="a",
        time=1.5,
        at=7,
    ),
    End(reason="stop", text="done", session="s", agent="a", time=1.5, at=7),
]
each = pytest.mark.parametrize("event", EVENTS, ids=[type(event).__name__ for event in EVENTS])


@each
def test_an_event_says_where_and_when_it_happened(event: Event) -> None:
    assert (event.session, event.agent, event.time, event.at) == ("s", "a", 1.5, 7)


@each
def test_an_event_cannot_be_changed(event: Event) -> None:
    with pytest.raises(AttributeError, match="cannot assign to field"):
        event.session = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete field"):
        del event.at


@each
def test_events_with_the_same_fields_are_equal(event: Event) -> None:
    assert event == copy.deepcopy(event) == pickle.loads(pickle.dumps(event))
    assert event != replace(event, at=8)
    assert event not in [other for other in EVENTS if other is not event]


@each
def test_an_event_prints_itself_as_what_makes_it(event: Event) -> None:
    printed = repr(event)
    assert printed.startswith(f"{type(event).__name__}(")
    names = {kind.__name__: kind for kind in (*map(type, EVENTS), Tokens)}
    assert eval(printed, names) == event


def test_what_is_not_said_is_empty() -> None:
    event = Usage(tokens=Tokens())
    assert (event.session, event.agent, event.time, event.at, event.cost, event.final) == (
        "",
        "",
        None,
        0,
        None,
        True,
    )
    assert (ToolCall(id="", name="").input, RunTotal().tokens, RunTotal().windows) == ({}, {}, {})
