"""The conversation in a transcript is what the client would send next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.messages.transcript import TranscriptMessage, conversation, is_transcript

EXAMPLES = Path(__file__).parents[2] / "examples"


def line(uuid: str, parent: str | None, kind: str, **fields: Any) -> dict[str, Any]:
    return {"parentUuid": parent, "isSidechain": False, "type": kind, "uuid": uuid, **fields}


def user(uuid: str, parent: str | None, content: Any = "Hi", **fields: Any) -> dict[str, Any]:
    return line(uuid, parent, "user", message={"role": "user", "content": content}, **fields)


def block(uuid: str, parent: str | None, answer: str, inner: Any, **fields: Any) -> dict[str, Any]:
    message = {
        "id": answer,
        "role": "assistant",
        "content": inner if isinstance(inner, str) else [inner],
    }
    return line(uuid, parent, "assistant", message=message, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}


def result(name: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": name, "content": "done"}]


def shape(lines: list[Any]) -> list[tuple[int, str, list[str]]]:
    """Return line number, role, and the blocks: a text itself, or the id of a call or of what it
    answers."""
    found = []
    for each in conversation(lines):
        content = each.message["content"]
        blocks = [text(content)] if isinstance(content, str) else content
        names = [
            str(block.get("text") or block.get("id") or block.get("tool_use_id"))
            for block in blocks
        ]
        found.append((each.line_number, each.message["role"], names))
    return found


def test_a_plain_conversation_is_its_messages_in_order() -> None:
    lines = [
        user("u1", None, "Hello"),
        block("a1", "u1", "m1", text("Hi")),
        user("u2", "a1", "Bye"),
    ]
    assert shape(lines) == [(1, "user", ["Hello"]), (2, "assistant", ["Hi"]), (3, "user", ["Bye"])]
    assert conversation(lines)[0] == TranscriptMessage(1, {"role": "user", "content": "Hello"})


def test_the_messages_are_the_lines_own_objects_where_nothing_is_joined() -> None:
    lines = [user("u1", None), block("a1", "u1", "m1", text("Hi"))]
    assert [each.message for each in conversation(lines)] == [
        lines[0]["message"],
        lines[1]["message"],
    ]
    assert all(
        each.message is line["message"]
        for each, line in zip(conversation(lines), lines, strict=True)
    )


def test_blocks_of_one_answer_are_one_message_and_its_results_follow() -> None:
    lines = [
        user("u1", None, "Go"),
        block("a1", "u1", "m1", text("Both.")),
        block("a2", "a1", "m1", call("c1")),
        user("r1", "a2", result("c1")),
        block("a3", "a2", "m1", call("c2")),
        user("r2", "a3", result("c2")),
        block("a4", "r2", "m2", text("Done.")),
    ]
    assert shape(lines) == [
        (1, "user", ["Go"]),
        (2, "assistant", ["Both.", "c1", "c2"]),
        (4, "user", ["c1"]),
        (6, "user", ["c2"]),
        (7, "assistant", ["Done."]),
    ]
    assert lines[1]["message"]["content"] == [text("Both.")]


@pytest.mark.parametrize("last", ["r1", "r2"])
def test_the_chain_may_go_through_either_of_two_parallel_results(last: str) -> None:
    lines = [
        user("u1", None, "Go"),
        block("a1", "u1", "m1", call("c1")),
        block("a2", "a1", "m1", call("c2")),
        user("r1", "a1", result("c1")),
        user("r2", "a2", result("c2")),
        block("a3", last, "m2", text("Done.")),
    ]
    expected = [["Go"], ["c1", "c2"], ["c1"], ["c2"], ["Done."]]
    assert [blocks for _, _, blocks in shape(lines)] == expected
    assert [blocks for _, _, blocks in shape(lines[:5])] == expected[:-1]


def test_what_was_said_between_a_call_and_its_result_stands_after_the_result() -> None:
    lines = [
        user("u1", None, "Go"),
        block("a1", "u1", "m1", call("c1")),
        user("u2", "a1", "Hurry up"),
        user("r1", "u2", result("c1")),
    ]
    assert [blocks for _, _, blocks in shape(lines)] == [["Go"], ["c1"], ["c1"], ["Hurry up"]]


def test_what_was_rewound_is_left_out() -> None:
    lines = [
        user("u1", None, "Hello"),
        block("a1", "u1", "m1", text("Hi")),
        user("u2", "a1", "Delete it"),
        block("a2", "u2", "m2", call("c1")),
        user("r1", "a2", result("c1")),
        user("u3", "a1", "Keep it"),
    ]
    assert shape(lines) == [
        (1, "user", ["Hello"]),
        (2, "assistant", ["Hi"]),
        (6, "user", ["Keep it"]),
    ]


def test_a_call_that_is_answered_on_the_chain_is_not_answered_twice() -> None:
    lines = [
        user("u1", None, "Go"),
        block("a1", "u1", "m1", call("c1")),
        user("r0", "a1", result("c1")),
        user("r1", "a1", result("c1")),
        block("a2", "r1", "m2", text("Done.")),
    ]
    assert [number for number, _, _ in shape(lines)] == [1, 2, 4, 5]


def test_a_block_that_was_stored_twice_is_one_block() -> None:
    lines = [
        user("u1", None, "Go"),
        block("a0", "u0", "m1", call("c1")),
        block("a1", "u1", "m1", call("c1")),
        user("r1", "a1", result("c1")),
    ]
    assert shape(lines) == [(1, "user", ["Go"]), (3, "assistant", ["c1"]), (4, "user", ["c1"])]


def test_lines_of_other_kinds_carry_the_chain_and_are_left_out() -> None:
    lines = [
        {"type": "mode", "mode": "normal"},
        user("u1", None, "Hello"),
        line("t1", "u1", "attachment", attachment={"type": "date"}),
        line("s1", "t1", "system", subtype="turn_duration"),
        line("x1", "s1", "progress", data={}),
        block("a1", "x1", "m1", text("Hi")),
        {"type": "api-request-blob", "message": {"role": "user", "content": "Hello"}},
        {"type": "cost-state"},
    ]
    assert shape(lines) == [(2, "user", ["Hello"]), (6, "assistant", ["Hi"])]


def test_errors_of_the_api_are_shown_and_not_sent() -> None:
    lines = [
        user("u1", None, "Hello"),
        block("a1", "u1", "m1", text("API Error: 529"), isApiErrorMessage=True),
        user("u2", "a1", "Again"),
    ]
    assert [number for number, _, _ in shape(lines)] == [1, 3]


def test_hidden_messages_are_sent_and_not_shown() -> None:
    lines = [user("u1", None, "Continue.", isMeta=True), block("a1", "u1", "m1", text("Hi"))]
    assert [number for number, _, _ in shape(lines)] == [1, 2]


def test_lines_of_sub_agents_are_left_out() -> None:
    lines = [
        user("u1", None, "Go"),
        block("a1", "u1", "m1", call("c1")),
        user("s1", None, "Sub task", isSidechain=True),
        block("s2", "s1", "m9", text("Sub answer"), isSidechain=True),
        user("r1", "a1", result("c1")),
    ]
    assert [number for number, _, _ in shape(lines)] == [1, 2, 5]
    assert [number for number, _, _ in shape([*lines[:2], lines[4], *lines[2:4]])] == [1, 2, 3]


def test_a_sub_agents_own_file_is_read_whole() -> None:
    lines = [
        user("s1", None, "Sub task", isSidechain=True),
        {"type": "api-request"},
        block("s2", "s1", "m9", text("Sub answer"), isSidechain=True),
    ]
    assert [number for number, _, _ in shape(lines)] == [1, 3]


def compacted(**metadata: Any) -> list[dict[str, Any]]:
    return [
        user("u1", None, "Old"),
        block("a1", "u1", "m1", call("c1")),
        user("r1", "a1", result("c1")),
        block("a2", "r1", "m2", text("Kept")),
        line(
            "b1",
            None,
            "system",
            subtype="compact_boundary",
            logicalParentUuid="a2",
            compactMetadata=metadata,
        ),
        user("u2", "b1", "Summary", isCompactSummary=True),
        user("u3", "u2", "New"),
    ]


def test_a_compaction_is_where_it_begins() -> None:
    assert shape(compacted()) == [(6, "user", ["Summary"]), (7, "user", ["New"])]


def test_a_boundary_with_a_parent_ends_the_chain_as_well() -> None:
    lines = compacted()
    lines[4]["parentUuid"] = "a2"
    assert [number for number, _, _ in shape(lines)] == [6, 7]


def test_what_a_compaction_kept_stands_after_its_summary() -> None:
    segment = {"headUuid": "a2", "anchorUuid": "u2", "tailUuid": "a2"}
    assert [number for number, _, _ in shape(compacted(preservedSegment=segment))] == [6, 4, 7]
    segment = {"headUuid": "a1", "anchorUuid": "u2", "tailUuid": "a2"}
    assert [number for number, _, _ in shape(compacted(preservedSegment=segment))] == [
        6,
        2,
        3,
        4,
        7,
    ]


@pytest.mark.parametrize(
    "segment",
    [
        None,
        5,
        {},
        {"headUuid": "gone", "anchorUuid": "u2", "tailUuid": "a2"},
        {"headUuid": "a1", "anchorUuid": "gone", "tailUuid": "a2"},
        {"headUuid": "a1", "anchorUuid": [], "tailUuid": {}},
    ],
)
def test_a_segment_that_is_not_there_keeps_nothing(segment: object) -> None:
    assert [number for number, _, _ in shape(compacted(preservedSegment=segment))] == [6, 7]


def test_lines_that_could_not_be_read_keep_their_number() -> None:
    lines = [None, user("u1", None, "Hello"), None, block("a1", "u1", "m1", text("Hi")), None]
    assert [number for number, _, _ in shape(lines)] == [2, 4]


def test_a_circle_and_a_missing_parent_end_the_chain() -> None:
    assert [number for number, _, _ in shape([user("u1", "u2"), user("u2", "u1")])] == [1, 2]
    assert [number for number, _, _ in shape([user("u1", None), user("u2", "gone")])] == [2]


def test_an_answer_may_be_a_plain_text() -> None:
    lines = [user("u1", None), block("a1", "u1", "m1", "One."), block("a2", "a1", "m1", "Two.")]
    assert shape(lines)[1] == (2, "assistant", ["One.", "Two."])


def test_nothing_is_no_conversation() -> None:
    assert conversation([]) == []
    assert conversation([None, 5, "x", []]) == []
    assert not is_transcript([])


@pytest.mark.parametrize(
    "lines",
    [
        [{"role": "user", "content": "Hi"}],
        [{"type": "user", "message": {"role": "user", "content": "Hi"}}],
        [{"type": "user", "uuid": "u1"}],
        [{"type": "message", "uuid": "u1", "message": {}}],
        [{"messages": []}],
        [None, 1],
    ],
)
def test_other_lines_are_no_transcript(lines: list[Any]) -> None:
    assert not is_transcript(lines)


def test_one_message_makes_a_transcript() -> None:
    assert is_transcript([None, {"type": "mode"}, user("u1", None)])


def test_the_example_is_one_conversation() -> None:
    lines = [
        json.loads(each)
        for each in (EXAMPLES / "session.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [number for number, _, _ in shape(lines)] == [2, 3, 5, 7, 8, 11]


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["user", "assistant", "tool_use", "tool_result", "u1", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "uuid",
                    "parentUuid",
                    "message",
                    "content",
                    "id",
                    "tool_use_id",
                    "isSidechain",
                    "subtype",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=15,
)


@given(st.lists(ODD, max_size=8))
def test_nothing_in_a_line_raises(lines: list[Any]) -> None:
    is_transcript(lines)
    numbers = [each.line_number for each in conversation(lines)]
    assert len(set(numbers)) == len(numbers)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """A session with parallel calls, whose results come in any order and interleave, and what it
    should be read as."""
    lines = [user("u", None, "Go")]
    expected = [["Go"]]
    parent = "u"
    for turn in range(draw(st.integers(1, 4))):
        names = [f"c{turn}.{at}" for at in range(draw(st.integers(1, 4)))]
        waiting = {name: f"a{turn}.{at}" for at, name in enumerate(names)}
        pending: list[str] = []
        order: list[str] = []
        for name, uuid in waiting.items():
            lines.append(block(uuid, parent, f"m{turn}", call(name)))
            parent = uuid
            pending.append(name)
            while draw(st.booleans()) and pending:
                order.append(pending.pop(draw(st.integers(0, len(pending) - 1))))
                lines.append(user(f"r{order[-1]}", waiting[order[-1]], result(order[-1])))
        last: list[str] = draw(st.permutations(pending))
        for name in last:
            order.append(name)
            lines.append(user(f"r{name}", waiting[name], result(name)))
        parent = f"r{draw(st.sampled_from(order))}"
        expected += [names, *([name] for name in order)]
    lines.append(block("end", parent, "end", text("Done.")))
    return lines, [*expected, ["Done."]]


@given(sessions())
def test_parallel_calls_are_put_together_however_they_were_stored(
    session: tuple[list[dict[str, Any]], list[list[str]]],
) -> None:
    lines, expected = session
    assert [blocks for _, _, blocks in shape(lines)] == expected


def test_a_stream_is_no_transcript() -> None:
    assert not is_transcript(
        [{"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Hi"}}]
    )
