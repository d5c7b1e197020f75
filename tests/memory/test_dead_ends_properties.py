"""Whatever is in a stream: nothing is raised, memory is bounded, what is reported is in order."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.agents.call import KINDS, Event, ToolCall
from brim.agents.events import End, Message, StateSeen, ToolResult
from brim.agents.readers import AnyReader
from brim.memory.repetition import RULES, STATUSES, DeadEnd, RepetitionDetector
from tests.memory.dead_end_events import Play

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = st.sampled_from(
    [
        *[
            "pytest",
            "git checkout .",
            "git stash",
            "cd a",
            "FAILED x - error",
            "Exit code 1",
            "'",
            '"',
            "<<EOF\n",
            "|",
        ],
        *[
            "&&",
            "> a.py",
            "sleep 1",
            "$(",
            "\\",
            "/rewind",
            "\x00",
            "\u2028",
            "String to replace not found",
            "error: x",
        ],
    ]
)
TEXT = st.one_of(st.lists(WORDS, max_size=6).map(" ".join), st.text(max_size=30))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=5,
)
NAMES = (
    "command",
    "file_path",
    "old_string",
    "new_string",
    "content",
    "edits",
    "changes",
    "workdir",
    "prompt",
)
INPUT = st.dictionaries(st.sampled_from(NAMES), st.one_of(TEXT, TEXT, JSON), max_size=4)
IDS = st.sampled_from(["1", "2", "3", ""])
WHO: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"agent": st.sampled_from(["", "a"]), "at": st.integers(0, 10**6)}
)


@st.composite
def events(draw: st.DrawFn) -> Event:
    who, which = draw(WHO), draw(st.integers(0, 9))
    if which < 4:
        tool = draw(st.sampled_from(KINDS))
        return ToolCall(id=draw(IDS), name=draw(TEXT), kind=tool, input=draw(INPUT), **who)
    if which < 8:
        detail = draw(
            st.one_of(st.none(), JSON, st.just({"originalFile": "a b"}), st.just({"exit_code": 1}))
        )
        return ToolResult(
            id=draw(IDS), text=draw(TEXT), error=draw(st.booleans()), detail=detail, **who
        )
    if which == 8:
        return Message(role="user", text=draw(TEXT), human=draw(st.booleans()), **who)
    return draw(
        st.sampled_from(
            [End(error=True, text="x", **who), StateSeen(name="folder", value="f", **who)]
        )
    )


def checked(found: list[DeadEnd]) -> None:
    for one in found:
        assert one.rule in RULES
        assert one.status in STATUSES
        assert one.times >= 1
        assert one.key
        for text in (one.tried, one.error):
            assert len(text) <= 200
            assert len(text.splitlines()) <= 1
        assert 1 <= len(one.at) <= 8


@given(st.lists(events(), max_size=40))
@settings(deadline=None)
def test_any_events_are_taken_without_an_error(stream: list[Event]) -> None:
    one, other = RepetitionDetector(), RepetitionDetector()
    for event in stream:
        found = one.update(event)
        checked(found)
        assert other.update(event) == found


@given(st.lists(JSON, max_size=10))
@settings(max_examples=30, deadline=None)
def test_any_lines_are_taken_without_an_error(lines: list[Any]) -> None:
    reader, detector = AnyReader(), RepetitionDetector()
    for line in lines:
        if isinstance(line, dict):
            for event in reader.events(line):
                checked(detector.update(event))


@given(st.lists(st.sampled_from(["failure", "success", "other"]), max_size=40))
@settings(deadline=None)
def test_resolved_always_follows_a_dead_end_of_the_same_key(moves: list[str]) -> None:
    play = Play()
    for move in moves:
        if move == "failure":
            play.sh("python app.py", "KeyError: 'name'", 1)
        elif move == "success":
            play.sh("python app.py", "fine")
        else:
            play.sh("ls", "a")
    still: dict[str, str] = {}
    for one in play.found:
        if one.status == "resolved":
            assert still.get(one.key) == "confirmed"
        still[one.key] = one.status


def test_what_is_no_event_is_left_alone() -> None:
    detector = RepetitionDetector()
    for thing in (None, 3, "text", {"type": "user"}, [], object()):
        assert detector.update(thing) == []


def test_call_with_a_deep_input_is_taken() -> None:
    deep: Any = "x"
    for _ in range(50_000):
        deep = [deep]
    play = Play()
    for _ in range(4):
        play.call("mcp__x", "", {"a": deep}, "error: no", True)
    assert {one.rule for one in play.found} <= {"same-call"}


def test_memory_is_bounded_however_long_the_session() -> None:
    play = Play()

    def size() -> int:
        return _size(play.detector, set())

    sizes = []
    for block in range(3):
        for i in range(600):
            n = block * 10_000 + i
            play.sh(f"run {n}", f"error: number {n} of things failed", 1)
            play.edit(f"/home/user/project/f{n}.py", f"a{n}", f"b{n}")
            play.edit(f"/home/user/project/m{n}.py", "a", "b", error="String to replace not found")
            if i % 50 == 0:
                play.sh(f"pytest t{n}.py", f"FAILED t{n}.py::test - error {n}", 1)
                Play(agent=f"agent-{n}", detector=play.detector).sh("make", "x" * 10_000)
        sizes.append(size())
    assert sizes[2] < sizes[1] * 1.2


def _size(thing: Any, seen: set[int]) -> int:
    if id(thing) in seen or isinstance(thing, type):
        return 0
    seen.add(id(thing))
    total = sys.getsizeof(thing)
    if isinstance(thing, dict):
        return total + sum(_size(one, seen) for pair in thing.items() for one in pair)
    if isinstance(thing, list | tuple | set):
        return total + sum(_size(one, seen) for one in thing)
    held = list(getattr(thing, "__dict__", {}).values())
    held += [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
    return total + sum(_size(one, seen) for one in held)


def test_same_stream_gives_the_same_keys_in_every_process() -> None:
    code = (
        "from tests.memory.dead_end_events import Play\n"
        "play = Play()\n"
        "for i in range(4):\n"
        "    play.sh('python app.py', 'KeyError: name', 1)\n"
        "    play.sh(f'run {i}', 'error: one and the same', 1)\n"
        "    play.edit('a.py', f'{i}', f'{i + 1}')\n"
        "    play.sh('pytest a.py', f'FAILED a.py::test{i} - error', 1)\n"
        "    play.edit('a.py', f'{i + 1}', f'{i}')\n"
        "    play.edit('b.py', 'x', 'y', error='String to replace not found')\n"
        "    play.sh('pytest b.py', 'FAILED b.py::test - error', 1)\n"
        "print(play.found)"
    )
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=HERE,
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    for rule in ("same-call", "undone-edit", "failing-test"):
        assert rule in outputs.copy().pop()
