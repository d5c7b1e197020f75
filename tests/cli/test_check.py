"""``brim dev check`` says what ``validate`` finds, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brim.messages import validate
from tests.cli.conftest import Brim, Ran

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT: list[Any] = json.loads((EXAMPLES / "agent.json").read_text(encoding="utf-8"))
BROKEN: list[Any] = json.loads((EXAMPLES / "broken.json").read_text(encoding="utf-8"))
SESSION = (EXAMPLES / "session.jsonl").read_text(encoding="utf-8")
HI = [{"role": "user", "content": "Hi"}]


def check(brim: Brim, messages: Any, *options: str, name: str = "chat.json") -> Ran:
    brim.write(name, messages if isinstance(messages, (str, bytes)) else json.dumps(messages))
    return brim("dev", "check", name, *options)


def refused(ran: Ran, *words: str) -> None:
    """Assert that *ran* ended with 2, printed nothing, and said each of *words* in its one line."""
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err, ran.err


# Valid or not


def test_a_valid_history_is_one_calm_line(brim: Brim) -> None:
    ran = check(brim, AGENT)
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines == [
        "chat.json: 15 messages, valid by the rules of openai (inferred from the messages)"
    ]
    assert check(brim, HI).out.startswith("chat.json: 1 message, valid")


def test_a_broken_history_is_listed_and_ends_with_1(brim: Brim) -> None:
    ran = check(brim, BROKEN)
    assert (ran.code, ran.err) == (1, "")
    found = validate(BROKEN)
    assert ran.lines[0].startswith(f"chat.json: {len(found)} problems by the rules of anthropic")
    assert ran.lines[1].split() == ["message", "rule", "what"]
    assert len(ran.lines) == 2 + len(found)
    for line, violation in zip(ran.lines[2:], found, strict=True):
        assert line.split()[:2] == [str(violation.index), violation.rule]
        assert line.endswith(violation.text)
    places = {
        line.index(violation.rule) for line, violation in zip(ran.lines[2:], found, strict=True)
    }
    assert places == {ran.lines[1].index("rule")}


def test_json_is_one_object(brim: Brim) -> None:
    found = check(brim, BROKEN, "--json")
    assert (found.code, found.err) == (1, "")
    assert found.json == {
        "valid": False,
        "messages": len(BROKEN),
        "provider": "anthropic",
        "found_by": "inferred from the messages",
        "violations": [
            {"index": each.index, "rule": each.rule, "text": each.text} for each in validate(BROKEN)
        ],
        "broken_lines": [],
    }
    found = check(brim, AGENT, "--json")
    assert found.code == 0
    assert (found.json["valid"], found.json["violations"]) == (True, [])


def test_standard_input_is_checked(brim: Brim) -> None:
    ran = brim("dev", "check", "-", stdin=json.dumps(HI))
    assert ran.code == 0
    assert ran.out.startswith("standard input: 1 message")


def test_no_messages_are_valid(brim: Brim) -> None:
    ran = check(brim, [])
    assert ran.code == 0
    assert "0 messages" in ran.out


# Whose rules


@pytest.mark.parametrize(
    ("messages", "provider", "how"),
    [
        (HI, "openai", "the default for plain messages"),
        (AGENT, "openai", "inferred from the messages"),
        (BROKEN, "anthropic", "inferred from the messages"),
        ({"messages": HI}, "openai", "the default for plain messages"),
        (
            {"model": "claude-sonnet-4-5", "messages": HI},
            "anthropic",
            "model's name, claude-sonnet-4-5",
        ),
        (
            {"system": "Be brief.", "messages": HI},
            "anthropic",
            "inferred from the request's fields",
        ),
        (
            {"messages": HI, "tools": [{"name": "a", "input_schema": {}}]},
            "anthropic",
            "inferred from the request's fields",
        ),
        ({"input": HI}, "responses", "inferred from the request's input"),
        (
            {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
            "gemini",
            "inferred from the request's contents",
        ),
    ],
)
def test_it_says_whose_rules_and_how_they_were_found(
    brim: Brim, messages: Any, provider: str, how: str
) -> None:
    ran = check(brim, messages)
    assert f"rules of {provider} (" in ran.lines[0]
    assert how in ran.lines[0]
    found = check(brim, messages, "--json").json
    assert found["provider"] == provider
    assert how in found["found_by"]


def test_the_provider_can_be_named(brim: Brim) -> None:
    starts_with_an_answer = [{"role": "assistant", "content": "Hello"}, *HI]
    assert check(brim, starts_with_an_answer).code == 0
    ran = check(brim, starts_with_an_answer, "--provider", "anthropic")
    assert ran.code == 1
    assert "rules of anthropic (given with --provider)" in ran.lines[0]
    assert check(brim, HI, "--provider", "nobody").code == 2


@pytest.mark.parametrize("key", ["messages", "input", "contents"])
def test_a_request_is_checked_where_its_messages_are(brim: Brim, key: str) -> None:
    messages = [{"role": "wizard", "content": "Hi", "parts": [{"text": "Hi"}]}]
    assert check(brim, {key: messages}).code == 1


# Transcripts


@pytest.mark.parametrize("name", ["session.jsonl", "session.json", "session.txt"])
def test_a_transcript_is_known_by_what_is_in_it(brim: Brim, name: str) -> None:
    ran = check(brim, SESSION, name=name)
    assert ran.code == 1
    assert (
        ran.lines[0]
        == f"{name}: 1 problem by the rules of anthropic (it is a Claude Code transcript)"
    )
    assert ran.lines[1].split() == ["line", "rule", "what"]
    assert ran.lines[2].split()[:2] == ["8", "call-has-result"]


def test_a_transcripts_json_has_lines(brim: Brim) -> None:
    found = check(brim, SESSION, "--json").json
    assert [(each["line"], each["index"], each["rule"]) for each in found["violations"]] == [
        (8, 4, "call-has-result")
    ]
    assert found["messages"] == 6


def test_a_transcript_from_standard_input_is_known(brim: Brim) -> None:
    assert "transcript" in brim("dev", "check", "-", stdin=SESSION).lines[0]


def test_a_valid_transcript_ends_with_0(brim: Brim) -> None:
    lines = SESSION.splitlines(keepends=True)
    ran = check(brim, "".join(lines[:7]))
    assert ran.code == 0
    assert "4 messages, valid" in ran.out


def test_a_transcript_of_one_line_is_known(brim: Brim) -> None:
    ran = check(brim, SESSION.splitlines()[1])
    assert ran.code == 0
    assert "1 message, valid" in ran.out
    assert "transcript" in ran.out


@pytest.mark.parametrize("half", ['{"parentUuid": "00000000-', "{", "\x01", "nul", "[" * 100_000])
def test_a_half_written_last_line_is_named_and_left_out(brim: Brim, half: str) -> None:
    lines = SESSION.splitlines(keepends=True)
    ran = check(brim, "".join(lines[:7]) + half)
    assert ran.code == 0
    assert ran.err == "brim: chat.json: not JSON, and left out: line 8\n"
    assert check(brim, "".join(lines[:7]) + half, "--json").json["broken_lines"] == [8]


def test_broken_lines_and_empty_lines_keep_the_numbers_right(brim: Brim) -> None:
    lines = SESSION.splitlines(keepends=True)
    ran = check(brim, "\n{half\n" + "".join(lines[:3]) + "\n" + "".join(lines[3:]) + "\n\n")
    assert ran.code == 1
    assert ran.lines[2].split()[0] == "11"
    assert ran.err == "brim: chat.json: not JSON, and left out: line 2\n"
    ran = check(brim, "{\n" * 9 + SESSION)
    assert "lines 1, 2, 3, 4, 5 and 4 more" in ran.err


def test_a_sub_agents_file_is_checked(brim: Brim) -> None:
    lines = [json.loads(line) for line in SESSION.splitlines()]
    side = "".join(json.dumps({**line, "isSidechain": True}) + "\n" for line in lines)
    ran = check(brim, side)
    assert ran.code == 1
    assert ran.lines[2].split()[0] == "8"


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(brim: Brim) -> None:
    ran = check(brim, b"\xef\xbb\xbf" + SESSION.replace("\n", "\r\n").encode())
    assert (ran.code, ran.err) == (1, "")
    assert ran.lines[2].split()[0] == "8"


def test_a_text_with_other_line_ends_in_it_is_one_line(brim: Brim) -> None:
    line = json.loads(SESSION.splitlines()[1])
    line["message"]["content"] = "one\u2028two\x85three"
    text = "\n".join([json.dumps(line, ensure_ascii=False), *SESSION.splitlines()[2:]])
    ran = check(brim, text)
    assert ran.err == ""
    assert ran.lines[2].split()[0] == "7"


def test_lines_of_plain_messages_are_no_transcript(brim: Brim) -> None:
    refused(
        check(brim, "\n".join(json.dumps(message) for message in AGENT)), "chat.json", "JSON lines"
    )


# Input that cannot be read


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["chat.json:1:1", "not JSON"]),
        (" \n ", ["chat.json:2:2", "not JSON"]),
        ("not json", ["chat.json:1:1", "not JSON"]),
        ('{"type": "user"}', ["list", "an object"]),
        ("5", ["list", "a number"]),
        ("true", ["list", "a yes or no"]),
        ('{"messages": "Hi"}', ["messages", "a text"]),
        ("[NaN]", ["not JSON", "NaN"]),
        ("[" * 100_000 + "]" * 100_000, ["nested too deeply"]),
        (b"\xff\xfe[\0]\0", ["chat.json"]),
        (b"[]\0", ["binary"]),
    ],
)
def test_input_that_is_no_history_is_refused(
    brim: Brim, content: str | bytes, words: list[str]
) -> None:
    refused(check(brim, content), "chat.json", *words)


def test_what_is_no_file_is_refused(brim: Brim) -> None:
    refused(brim("dev", "check", "missing.json"), "missing.json")
    refused(brim("dev", "check", "."), "directory")
    assert brim("dev", "check").code == 2
    assert brim("dev", "check", "a.json", "b.json").code == 2


@pytest.mark.parametrize(
    "messages",
    [
        [1],
        [None],
        ["x"],
        [[]],
        [{}],
        [{"role": "wizard", "content": "Hi"}],
        [{"role": [], "content": {"a": []}}],
    ],
)
def test_odd_messages_are_not_valid(brim: Brim, messages: list[Any]) -> None:
    ran = check(brim, messages)
    assert ran.code == 1
    assert ran.lines[2].split()[0] == "0"


@pytest.mark.parametrize("depth", [100, 900])
def test_deep_nesting_is_checked(brim: Brim, depth: int) -> None:
    text = '[{"role": "user", "content": "Hi", "extra": ' + "[" * depth + "]" * depth + "}]"
    assert check(brim, text).code == 0


def test_a_long_text_of_a_rule_is_one_line(brim: Brim) -> None:
    messages = [*HI, {"role": "tool", "tool_call_id": "x\ny" * 500, "content": "42"}]
    ran = check(brim, messages, "--provider", "openai")
    assert ran.code == 1
    assert len(ran.lines) == 3
    assert len(ran.lines[2]) < 160
