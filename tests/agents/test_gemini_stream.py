from __future__ import annotations

from typing import Any

from hypothesis import given

from brim.agents.call import Event, ToolCall
from brim.agents.events import End, Message, ModelSeen, RunTotal, ToolResult, Usage
from brim.agents.gemini.transcript import GeminiStreamReader
from tests.agents.mutated import is_sound, mutated, read

TIME = "2026-03-01T10:00:00.000Z"
SUMS = {"total_tokens": 12_200, "input_tokens": 12_114, "output_tokens": 45, "cached": 8_074}
RUN: list[dict[str, Any]] = [
    {"type": "init", "timestamp": TIME, "session_id": "s1", "model": "gemini-2.5-flash"},
    {
        "type": "message",
        "timestamp": TIME,
        "role": "user",
        "content": "<hook_context>note</hook_context>\n\nlist them",
    },
    {"type": "message", "timestamp": TIME, "role": "assistant", "content": "I ", "delta": True},
    {"type": "message", "timestamp": TIME, "role": "assistant", "content": "look.", "delta": True},
    {
        "type": "tool_use",
        "timestamp": TIME,
        "tool_name": "run_shell_command",
        "tool_id": "c1",
        "parameters": {"command": "ls"},
    },
    {
        "type": "tool_result",
        "timestamp": TIME,
        "tool_id": "c1",
        "status": "success",
        "output": "a\nb",
    },
    {"type": "message", "timestamp": TIME, "role": "assistant", "content": "Two.", "delta": True},
    {
        "type": "result",
        "timestamp": TIME,
        "status": "success",
        "stats": {**SUMS, "models": {"gemini-2.5-flash": SUMS}},
    },
]


def events(*lines: dict[str, Any]) -> list[Event]:
    return read(GeminiStreamReader(), lines)


def only(kind: type[Any], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in events(*lines) if isinstance(event, kind)]


def test_every_line_is_recognised_and_no_line_of_claude_code() -> None:
    assert all(GeminiStreamReader.recognises(line) for line in RUN)
    assert GeminiStreamReader.recognises(
        {"type": "error", "severity": "error", "message": "no quota"}
    )
    assert not GeminiStreamReader.recognises(
        {"type": "result", "subtype": "success", "status": "success"}
    )
    assert not GeminiStreamReader.recognises({"type": "tool_use", "name": "Bash", "input": {}})


def test_the_numbers_are_a_total_by_model_with_the_cached_tokens_apart_and_thoughts_as_output() -> (
    None
):
    assert not only(Usage, *RUN)
    (total,) = only(RunTotal, *RUN)
    tokens = total.tokens["gemini-2.5-flash"]
    assert (tokens.input, tokens.cache_read, tokens.output) == (4_040, 8_074, 12_200 - 12_114)
    assert total.usage == tokens


def test_an_answer_in_pieces_is_one_message_before_what_follows_it() -> None:
    told = [(type(one), getattr(one, "text", "")) for one in events(*RUN)]
    assert told.index((Message, "I look.")) < told.index((ToolCall, ""))
    assert [text for kind, text in told if kind is Message] == ["list them", "I look.", "Two."]


def test_an_answer_that_nothing_follows_is_told_by_finish() -> None:
    reader = GeminiStreamReader()
    assert read(reader, RUN[2:4]) == []
    assert [getattr(one, "text", "") for one in reader.finish()] == ["I look."]
    assert reader.finish() == []


def test_what_a_hook_added_is_not_what_a_person_typed() -> None:
    assert [(one.text, one.human) for one in only(Message, RUN[1])] == [("list them", True)]
    only_hook = {"type": "message", "role": "user", "content": "<hook_context>a\nb</hook_context>"}
    assert events(only_hook) == []
    several = (
        "<hook_context>a</hook_context>one <hook_context>b</hook_context>two <hook_context>three"
    )
    assert [one.text for one in only(Message, {**only_hook, "content": several})] == [
        "one two <hook_context>three"
    ]


def test_model_calls_and_results_are_told() -> None:
    assert [one.model for one in only(ModelSeen, *RUN)] == ["gemini-2.5-flash"]
    (call,), (result,) = only(ToolCall, *RUN), only(ToolResult, *RUN)
    assert (call.id, call.kind, call.input["command"]) == ("c1", "shell", "ls")
    assert (result.id, result.text, result.error) == ("c1", "a\nb", False)


def test_failures_and_refusals_differ() -> None:
    failed = {
        "type": "tool_result",
        "tool_id": "a",
        "status": "error",
        "error": {"message": "File not found"},
    }
    declined = {**failed, "error": {"message": "User did not allow tool call"}}
    stopped = {**failed, "status": "cancelled", "error": {"message": "gone"}}
    told = only(ToolResult, failed, declined, stopped)
    assert [(one.error, one.refusal) for one in told] == [
        (True, ""),
        (True, "permission"),
        (True, "interrupt"),
    ]


def test_a_run_ends_with_its_answer_or_with_its_error() -> None:
    assert [(one.text, one.error) for one in only(End, *RUN)] == [("Two.", False)]
    failed = {
        "type": "result",
        "status": "error",
        "error": {"type": "quota", "message": "no quota"},
    }
    assert [(type(one), getattr(one, "text", "")) for one in events(failed)] == [
        (Message, "no quota"),
        (End, "no quota"),
    ]


def test_a_warning_is_no_error() -> None:
    lines = [
        {"type": "error", "severity": severity, "message": "loop"}
        for severity in ("warning", "error")
    ]
    assert [one.role for one in only(Message, *lines)] == ["system", "error"]


@given(mutated(RUN))
def test_whatever_is_in_a_line_it_is_read(lines: list[dict[str, Any]]) -> None:
    assert is_sound(events(*lines))
