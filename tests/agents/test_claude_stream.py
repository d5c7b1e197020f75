"""One answer is several events and one request; a result is a sum; short forms of the same events
are read too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brim.agents.call import Event, ToolCall
from brim.agents.claude.transcript import ClaudeStreamReader
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
from tests.agents.claude_lines import (
    MODEL,
    STREAM,
    message,
    result_block,
    stream_answer,
    stream_user,
    streamed,
    text_block,
    tool_block,
    usage,
)


def read(*lines: dict[str, Any]) -> list[Event]:
    reader = ClaudeStreamReader()
    return [event for at, line in enumerate(lines) for event in reader.events(line, at)]


def only(kind: type[Event], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in read(*lines) if isinstance(event, kind)]


def partial(kind: str, **more: Any) -> dict[str, Any]:
    return streamed("stream_event", event={"type": kind, **more})


def test_every_event_is_recognised() -> None:
    assert all(ClaudeStreamReader.recognises(line) for line in STREAM)


def test_events_of_one_answer_are_one_request_without_its_output() -> None:
    (used,) = only(Usage, stream_answer("m1", text_block()), stream_answer("m1", tool_block()))
    assert (used.request, used.final, used.tokens.prompt) == ("m1:req_1", False, 128)


def test_partial_messages_give_the_output_under_the_same_key() -> None:
    start = message("m1", usage=usage(output=1))
    lines = [
        partial("message_start", message=start),
        stream_answer("m1", text_block()),
        stream_answer("m1", tool_block()),
        partial("message_delta", usage={"output_tokens": 44, "cache_read_input_tokens": None}),
        partial("message_stop"),
        stream_answer("m1", text_block("late")),
    ]
    found = [(used.request, used.final, used.tokens) for used in only(Usage, *lines)]
    prompt = Tokens(input=8, cache_read=100, cache_write_5m=20)
    assert found == [
        ("m1:req_1", False, replace(prompt, output=1)),
        ("m1:req_1", True, replace(prompt, output=44)),
    ]


def test_partial_messages_of_sub_agents_are_kept_apart() -> None:
    below = {"parent_tool_use_id": "toolu_1", "agent_id": "a1"}
    lines = [
        partial("message_start", message=message("m1")),
        {**partial("message_start", message=message("m2")), **below},
        partial("message_delta", usage={"output_tokens": 5}),
        {**partial("message_delta", usage={"output_tokens": 6}), **below},
    ]
    found = [(used.agent, used.request, used.tokens.output) for used in only(Usage, *lines)]
    assert found == [("", "m1", 5), ("a1", "m2", 6)]


def test_sub_agents_speak_under_their_call() -> None:
    named = stream_answer("m1", text_block(), parent_tool_use_id="toolu_1", agent_id="a1")
    unnamed = stream_answer("m2", text_block(), request="r2", parent_tool_use_id="toolu_1")
    prompt = stream_user("say hi", parent_tool_use_id="toolu_1")
    assert [used.agent for used in only(Usage, named, unnamed)] == ["a1", "toolu_1"]
    assert [(said.agent, said.human) for said in only(Message, prompt)] == [("toolu_1", False)]


def test_a_result_is_a_total_and_an_end() -> None:
    events = read(STREAM[-1])
    total, end = events
    assert isinstance(total, RunTotal)
    assert isinstance(end, End)
    assert total.cost == 144_741
    assert total.tokens == {MODEL: Tokens(input=24, output=90)}
    assert total.windows == {MODEL: 200_000}
    assert total.usage == Tokens(input=24, output=42, cache_read=300, cache_write_5m=20)
    assert (end.reason, end.error, end.text) == ("success", False, "Done.")


def test_a_result_of_a_compaction_has_no_usage() -> None:
    line = streamed(
        "result", subtype="success", usage=usage(0, 0, 0, 0), total_cost_usd=0.079, modelUsage={}
    )
    assert [(total.cost, total.usage) for total in only(RunTotal, line)] == [(79_000, None)]


def test_an_error_ends_with_what_was_said() -> None:
    line = streamed(
        "result", subtype="error_max_turns", is_error=True, errors=["too many turns", 3]
    )
    (end,) = read(line)
    assert isinstance(end, End)
    assert (end.reason, end.error, end.text) == ("error_max_turns", True, "too many turns")


@pytest.mark.parametrize("short", [usage(1, 2, 3, 4), {"usage": usage(1, 2, 3, 4)}])
def test_a_short_result_has_its_counters_at_the_top_or_under_usage(short: dict[str, Any]) -> None:
    (total,) = only(RunTotal, {"type": "result", **short})
    assert total.usage == Tokens(input=1, output=2, cache_read=3, cache_write_5m=4)


@pytest.mark.parametrize(
    "short",
    [
        {"type": "user", "content": "use tabs"},
        {"type": "user", "content": [{"type": "text", "text": "use tabs"}]},
        {"type": "user", "message": {"content": "use tabs"}},
        {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": "use tabs"}]},
        },
    ],
)
def test_a_short_user_event_is_a_person(short: dict[str, Any]) -> None:
    assert [(said.text, said.human) for said in only(Message, short)] == [("use tabs", True)]


def test_a_short_tool_call_is_read() -> None:
    (call,) = only(ToolCall, {"type": "tool_use", "name": "Write", "input": {"file_path": "a.py"}})
    assert (call.name, call.kind, call.input) == ("Write", "write", {"file_path": "a.py"})
    (result,) = only(
        ToolResult, {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    )
    assert (result.id, result.text, result.error) == ("t1", "no", True)


def test_a_compaction_and_then_its_summary() -> None:
    boundary = streamed(
        "system",
        subtype="compact_boundary",
        compact_metadata={"pre_tokens": 12_268, "post_tokens": 2_664},
    )
    lines = [
        boundary,
        stream_user([text_block("This session is being continued ...")], isSynthetic=True),
        stream_user("<local-command-stdout>Compacted</local-command-stdout>", isReplay=True),
        stream_user("go on"),
    ]
    assert [(c.before, c.after) for c in only(Compaction, *lines)] == [(12_268, 2_664)]
    assert [(said.role, said.human) for said in only(Message, *lines)] == [
        ("summary", False),
        ("user", False),
        ("user", True),
    ]


def test_the_start_gives_model_and_states_once() -> None:
    start = streamed(
        "system", subtype="init", cwd="/home/user/p", model=MODEL, permissionMode="default"
    )
    start["claude_code_version"] = "2.1.325"
    planned = {**start, "permissionMode": "plan"}
    assert [event.model for event in only(ModelSeen, start, start, planned)] == [MODEL]
    assert [(event.name, event.value) for event in only(StateSeen, start, start, planned)] == [
        ("permission_mode", "default"),
        ("folder", "/home/user/p"),
        ("version", "2.1.325"),
        ("permission_mode", "plan"),
    ]


def test_the_long_window_of_the_start_is_not_forgotten_at_the_first_answer() -> None:
    start = streamed("system", subtype="init", model=f"{MODEL}[1m]")
    assert [event.model for event in only(ModelSeen, start, stream_answer("m1"))] == [
        f"{MODEL}[1m]"
    ]


def test_synthetic_answers_are_no_usage_and_errors_are_errors() -> None:
    synthetic = {"model": "<synthetic>"}
    error = stream_answer(
        "m1", text_block("API Error: 529"), about=synthetic, is_api_error_message=True
    )
    note = stream_answer("m2", text_block("Compaction blocked"), about=synthetic)
    assert only(Usage, error, note) == []
    assert [said.role for said in only(Message, error, note)] == ["error", "system"]


def test_a_refusal_is_read_from_what_the_client_decided() -> None:
    meta = [{"id": "t2", "permission_decision": {"decision": "reject", "source": "user"}}]
    line = stream_user(
        [result_block("t1", is_error=True), result_block("t2", is_error=True)],
        tool_result_meta=meta,
    )
    assert [(result.id, result.refusal) for result in only(ToolResult, line)] == [
        ("t1", ""),
        ("t2", "permission"),
    ]


def test_a_refusal_is_read_from_why_a_call_was_not_carried_out() -> None:
    meta = [{"id": "t1", "non_execution_kind": "permission-rule"}, "malformed", {"id": "t2"}]
    line = stream_user(
        [result_block("t1", is_error=True), result_block("t2", is_error=True)],
        tool_result_meta=meta,
    )
    assert [(result.id, result.refusal) for result in only(ToolResult, line)] == [
        ("t1", "permission"),
        ("t2", ""),
    ]


def test_a_sub_agent_ends_and_a_background_command_does_not() -> None:
    lines = [
        streamed("system", subtype="task_started", task_id="a1", task_type="local_agent"),
        streamed("system", subtype="task_started", task_id="b1", task_type="local_bash"),
        streamed(
            "system", subtype="task_notification", task_id="a1", status="failed", summary="gone"
        ),
        streamed("system", subtype="task_notification", task_id="b1", status="failed"),
    ]
    ends = only(End, *lines)
    assert [(end.agent, end.reason, end.error, end.text) for end in ends] == [
        ("a1", "failed", True, "gone")
    ]


def test_an_answer_about_the_context_gives_the_window() -> None:
    answer = {
        "subtype": "success",
        "response": {"model": MODEL, "maxTokens": 1_000_000, "totalTokens": 12_159},
    }
    assert [
        (e.model, e.window)
        for e in only(ModelSeen, {"type": "control_response", "response": answer})
    ] == [(MODEL, 1_000_000)]
