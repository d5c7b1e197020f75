from __future__ import annotations

from typing import Any

from hypothesis import given

from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, End, Message, ModelSeen, StateSeen, ToolResult, Usage
from brim.agents.opencode.transcript import OpencodeReader
from tests.agents.mutated import is_sound, mutated, read

NOW = 1_794_725_338_429


def line(kind: str, **part: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "timestamp": NOW,
        "sessionID": "ses_1",
        "part": {"messageID": "msg_1", **part},
    }


def finish(id: str = "prt_9", reason: str = "tool-calls", **more: Any) -> dict[str, Any]:
    tokens = {
        "total": 7_784,
        "input": 8,
        "output": 38,
        "reasoning": 10,
        "cache": {"write": 1, "read": 7_727},
    }
    return (
        line(
            "step_finish", id=id, type="step-finish", reason=reason, tokens=tokens, cost=0.00097195
        )
        | more
    )


def tool(call: str, status: str = "completed", name: str = "bash", **state: Any) -> dict[str, Any]:
    state = {
        "status": status,
        "input": {"command": "ls"},
        "output": "a",
        "metadata": {"exit": 0},
    } | state
    return line("tool_use", id=f"prt_{call}", type="tool", tool=name, callID=call, state=state)


RUN: list[dict[str, Any]] = [
    line("step_start", id="prt_1", type="step-start"),
    line("text", id="prt_2", type="text", text="I look."),
    tool("c1"),
    finish(),
    line("text", id="prt_3", type="text", text="One."),
    finish("prt_10", "stop"),
]
EXPORT: dict[str, Any] = {
    "info": {
        "id": "ses_1",
        "directory": "/home/user/project",
        "version": "1.18.33",
        "time": {"created": NOW},
    },
    "messages": [
        {
            "info": {"role": "user", "time": {"created": NOW}},
            "parts": [{"id": "p0", "type": "text", "text": "list them"}],
        },
        {
            "info": {"role": "assistant", "modelID": "claude-haiku-4-5", "time": {"created": NOW}},
            "parts": [RUN[1]["part"], RUN[2]["part"], RUN[3]["part"]],
        },
    ],
}


def events(*lines: dict[str, Any]) -> list[Event]:
    return read(OpencodeReader(), lines)


def only(kind: type[Any], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in events(*lines) if isinstance(event, kind)]


def test_every_line_and_an_export_are_recognised() -> None:
    assert all(OpencodeReader.recognises(one) for one in [*RUN, EXPORT])
    assert not OpencodeReader.recognises({"type": "text", "part": {}})


def test_a_step_is_a_request_whose_input_is_without_the_cache_and_whose_reasoning_is_output() -> (
    None
):
    (used, _) = only(Usage, *RUN)
    tokens = used.tokens
    assert (tokens.input, tokens.cache_read, tokens.cache_write_5m, tokens.output) == (
        8,
        7_727,
        1,
        48,
    )
    assert (used.cost, used.request, used.session, used.time) == (
        972,
        "prt_9",
        "ses_1",
        NOW / 1_000,
    )


def test_a_cost_of_0_is_unsaid() -> None:
    free = finish()
    free["part"]["cost"] = 0
    assert [one.cost for one in only(Usage, free)] == [None]


def test_a_step_that_is_written_twice_counts_once() -> None:
    assert len(only(Usage, finish(), finish())) == 1


def test_a_call_and_its_result_come_in_one_line() -> None:
    (call,), (result,) = only(ToolCall, *RUN), only(ToolResult, *RUN)
    assert (call.id, call.kind, call.input["command"]) == ("c1", "shell", "ls")
    assert (result.id, result.text, result.error) == ("c1", "a", False)
    assert len(only(ToolCall, tool("c1", "running"), tool("c1"))) == 1
    assert len(only(ToolResult, tool("c1", "running"), tool("c1"))) == 1


def test_files_have_the_names_that_every_reader_knows() -> None:
    given = {"filePath": "/home/user/a.py", "oldString": "a", "newString": "b"}
    (call,) = only(ToolCall, tool("c1", name="edit", input=given))
    assert (
        call.kind,
        call.input["file_path"],
        call.input["old_string"],
        call.input["new_string"],
    ) == (
        "edit",
        "/home/user/a.py",
        "a",
        "b",
    )


def test_failures_exit_codes_and_refusals_are_told_apart() -> None:
    told = only(
        ToolResult,
        tool("a", "error", error="oldString not found in content"),
        tool("b", metadata={"exit": 3}),
        tool("c", "error", error="The user rejected permission to use this specific tool call."),
        tool("d", "error", error="Tool execution aborted"),
    )
    assert [(one.error, one.refusal) for one in told] == [
        (True, ""),
        (True, ""),
        (True, "permission"),
        (True, "interrupt"),
    ]


def test_the_last_step_ends_the_run_with_its_words() -> None:
    assert [(one.reason, one.text) for one in only(End, *RUN)] == [("stop", "One.")]


def test_an_error_is_told_and_ends_the_run() -> None:
    failed = {"type": "error", "timestamp": NOW, "sessionID": "ses_1"}
    told = events(
        failed | {"error": {"name": "APIError", "data": {"message": "prompt is too long"}}}
    )
    assert [(type(one), getattr(one, "text", "")) for one in told] == [
        (Message, "prompt is too long"),
        (End, "prompt is too long"),
    ]


def test_an_export_names_model_folder_and_what_a_person_typed() -> None:
    assert [one.model for one in only(ModelSeen, EXPORT)] == ["claude-haiku-4-5"]
    assert [one.model for one in only(Usage, EXPORT)] == ["claude-haiku-4-5"]
    assert [(one.name, one.value) for one in only(StateSeen, EXPORT)] == [
        ("folder", "/home/user/project"),
        ("version", "1.18.33"),
    ]
    assert [(one.role, one.text, one.human) for one in only(Message, EXPORT)] == [
        ("user", "list them", True),
        ("assistant", "I look.", False),
    ]


def test_stream_and_export_have_the_same_keys() -> None:
    assert only(Usage, *RUN)[0].request == only(Usage, EXPORT)[0].request


def test_an_export_of_a_sub_agent_belongs_to_its_parent() -> None:
    child = {**EXPORT, "info": {**EXPORT["info"], "id": "ses_2", "parentID": "ses_1"}}
    assert {(one.session, one.agent) for one in events(child)} == {("ses_1", "ses_2")}
    assert not [one for one in only(Message, child) if one.human]


def test_a_compaction_and_its_summary_are_told() -> None:
    messages = [
        {"info": {"role": "user"}, "parts": [{"id": "p1", "type": "compaction", "auto": True}]},
        {
            "info": {"role": "assistant", "summary": True},
            "parts": [{"id": "p2", "type": "text", "text": "so far"}],
        },
    ]
    told = events({"info": {"id": "ses_1"}, "messages": messages})
    assert [(type(one), getattr(one, "trigger", getattr(one, "role", ""))) for one in told] == [
        (Compaction, "auto"),
        (Message, "summary"),
    ]


@given(mutated([*RUN, EXPORT]))
def test_whatever_is_in_a_line_it_is_read(lines: list[dict[str, Any]]) -> None:
    assert is_sound(events(*lines))
