"""What a transcript's requests took is read from a part of each line: the same as from all of it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brim.agents.claude.usage import ClaudeUsageLines
from brim.agents.fields import parsed_line
from tests.agents.claude_lines import MODEL, SESSION, TIME, usage

KEYS = (
    "message",
    "content",
    "stop_reason",
    "usage",
    "requestId",
    "id",
    "uuid",
    "name",
    "type",
    "x",
)
TEXTS = (
    "user",
    '],"stop_reason":',
    '"usage":{',
    "}",
    "mcp__files__read",
    '"requestId":"req_9"',
    "é\ud83d",
)
JSON = st.recursive(
    st.one_of(st.none(), st.integers(0, 9), st.sampled_from(TEXTS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=8,
)
MESSAGES = st.builds(
    lambda number, content, output, reason, after: {
        "model": MODEL,
        "id": f"msg_{number}",
        "role": "assistant",
        "content": content,
        "stop_reason": reason,
        "usage": usage(output=output),
        **after,
    },
    st.integers(1, 2),
    st.lists(JSON, max_size=3),
    st.integers(1, 2),
    st.sampled_from([None, "tool_use"]),
    st.one_of(st.just({}), st.dictionaries(st.sampled_from(["x", "uuid"]), JSON, max_size=1)),
)
LINES = st.builds(
    lambda message, request, kind, before, after: {
        **before,
        "cwd": "/home/user/shop",
        "sessionId": SESSION,
        "message": message,
        **after,
        "requestId": f"req_{request}",
        "type": kind,
        "timestamp": TIME,
    },
    MESSAGES,
    st.integers(1, 2),
    st.sampled_from(["assistant", "assistant", "user"]),
    st.one_of(st.just({}), st.dictionaries(st.sampled_from(["toolUseResult", "x"]), JSON)),
    st.one_of(st.just({}), st.dictionaries(st.sampled_from(["apiBlockIndex", "x"]), JSON)),
)


def requests(lines: list[bytes], *, whole: bool) -> list[Any]:
    """Return what the requests in *lines* took, and what they were for."""
    reader = ClaudeUsageLines()
    reports = []
    for line in lines:
        if not whole and reader.reports_nothing(line, 0, len(line)):
            continue
        parsed = parsed_line(line) if whole else reader.parsed(line)
        for event in reader.events(parsed, 0):
            attribution = (reader.agent_type, reader.skill, reader.mcp)
            reports.append((event, attribution, reader.branch))
    return reports


@given(st.lists(LINES, max_size=5), st.permutations(list(range(6))), st.booleans())
def test_a_part_of_a_line_says_the_same_as_the_whole_line(
    lines: list[dict[str, Any]], order: list[int], is_shuffled: bool
) -> None:
    raw = []
    for line in lines:
        shuffled = line
        if is_shuffled:
            places = sorted(range(len(line)), key=lambda place: order[place % len(order)])
            items = list(line.items())
            shuffled = dict(items[place] for place in places)
        raw.append(json.dumps(shuffled, separators=(",", ":")).encode() + b"\n")
    assert requests(raw, whole=False) == requests(raw, whole=True)


def test_the_blocks_of_one_answer_are_one_report() -> None:
    message: dict[str, Any] = {
        "id": "msg_1",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "usage": usage(),
    }
    blocks = [[{"type": "text", "text": "I look."}], [{"type": "tool_use", "name": "Bash"}]]
    lines = []
    for place, content in enumerate(blocks):
        line = {
            "uuid": f"u-{place}",
            "message": {**message, "content": content},
            "apiBlockIndex": place,
            "requestId": "req_1",
            "type": "assistant",
        }
        lines.append(json.dumps(line, separators=(",", ":")).encode())
    assert len(requests(lines, whole=False)) == 1
    changed = lines[1].replace(b'"output_tokens":42', b'"output_tokens":43')
    assert len(requests([*lines, changed], whole=False)) == 2


def test_an_answer_that_mentions_a_user_is_read() -> None:
    nested: list[Any] = [
        {"input": {"type": "user", "name": "Ada"}},
        [{"type": "user", "name": "Ada"}],
        '"type":"user",',
    ]
    for mentioned in nested:
        line = {
            "x": mentioned,
            "message": {"id": "msg_1", "model": MODEL, "content": mentioned, "usage": usage()},
            "requestId": "req_1",
            "type": "assistant",
        }
        raw = json.dumps(line, separators=(",", ":")).encode()
        assert len(requests([raw], whole=False)) == 1
    user = {"type": "user", "message": {"usage": usage()}, "toolUseResult": {"usage": usage()}}
    reader = ClaudeUsageLines()
    data = b"{}\n" + json.dumps(user, separators=(",", ":")).encode()
    assert reader.reports_nothing(data, 3, len(data))
    assert not reader.reports_nothing(data, 0, 3)
