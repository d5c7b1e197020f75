from __future__ import annotations

from typing import Any

from hypothesis import given

from brim.agents.call import Event, ToolCall
from brim.agents.codex.transcript import CodexExecReader
from brim.agents.events import End, Message, RunTotal, ToolResult, Usage
from tests.agents.mutated import is_sound, mutated, read


def started(**item: Any) -> dict[str, Any]:
    return {"type": "item.started", "item": item}


def done(**item: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": item}


def turn(prompt: int, cached: int, output: int) -> dict[str, Any]:
    usage = {"input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": output}
    return {"type": "turn.completed", "usage": usage}


COMMAND = {"id": "item_1", "type": "command_execution", "command": "/bin/bash -lc 'make test'"}
CHANGES = [{"path": "a.py", "kind": "add"}, {"path": "b.py", "kind": "update"}]
RUN = [
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
    done(id="item_0", type="agent_message", text="I look."),
    started(**COMMAND, aggregated_output="", exit_code=None, status="in_progress"),
    done(**COMMAND, aggregated_output="no rule\n", exit_code=2, status="failed"),
    done(id="item_2", type="file_change", changes=CHANGES, status="completed"),
    started(id="item_3", type="todo_list", items=[{"text": "read", "completed": False}]),
    {
        "type": "item.updated",
        "item": {
            "id": "item_3",
            "type": "todo_list",
            "items": [{"text": "read", "completed": True}],
        },
    },
    done(id="item_3", type="todo_list", items=[{"text": "read", "completed": True}]),
    done(
        id="item_4",
        type="mcp_tool_call",
        server="docs",
        tool="find",
        status="failed",
        error={"message": "gone"},
    ),
    done(id="item_5", type="web_search", query="parsers"),
    done(id="item_6", type="agent_message", text="Done."),
    turn(28_690, 28_144, 205),
]


def events(*lines: dict[str, Any]) -> list[Event]:
    return read(CodexExecReader(), lines)


def only(kind: type[Any], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in events(*lines) if isinstance(event, kind)]


def test_every_line_is_recognised() -> None:
    assert all(CodexExecReader.recognises(line) for line in RUN)
    assert CodexExecReader.recognises({"type": "error", "message": "stream disconnected"})
    assert not CodexExecReader.recognises({"type": "error", "error": {"message": "overloaded"}})
    assert not CodexExecReader.recognises({"type": "result"})


def test_the_usage_of_a_turn_is_a_total_and_never_what_is_in_the_window() -> None:
    assert not only(Usage, *RUN)
    (total,) = only(RunTotal, *RUN)
    assert (total.usage.prompt, total.usage.cache_read, total.usage.output) == (28_690, 28_144, 205)
    assert (total.session, total.tokens) == ("t1", {})


def test_a_later_turn_of_the_thread_has_the_sum_already() -> None:
    totals = only(RunTotal, turn(16_504, 0, 20), turn(85_681, 0, 40))
    assert [total.usage.prompt for total in totals] == [16_504, 85_681]


def test_a_command_is_one_call_and_one_result_under_what_the_shell_was_given() -> None:
    (call,) = [one for one in only(ToolCall, *RUN) if one.kind == "shell"]
    assert (call.id, call.input["command"]) == ("item_1", "make test")
    (result,) = [one for one in only(ToolResult, *RUN) if one.id == "item_1"]
    assert (result.text, result.error, result.detail) == ("no rule\n", True, {"exit_code": 2})


def test_a_command_is_unwrapped_whatever_its_quotes() -> None:
    wrapped = {
        "bash -lc ls": "ls",
        "/bin/zsh -c 'echo it'\\''s'": "echo it's",
        '/bin/bash -lc "echo \\"it\'s\\" \\$HOME"': 'echo "it\'s" $HOME',
        "bash run.sh": "bash run.sh",
        "git commit -m 'x'": "git commit -m 'x'",
        "bash -lc '": "bash -lc '",  # half a command is left as it is
    }
    lines = [
        done(id=f"i{number}", type="command_execution", command=one)
        for number, one in enumerate(wrapped)
    ]
    assert [call.input["command"] for call in only(ToolCall, *lines)] == list(wrapped.values())


def test_a_change_of_files_is_a_call_and_a_result_for_each() -> None:
    calls = [one for one in only(ToolCall, *RUN) if one.name == "file_change"]
    assert [(one.id, one.kind, one.input["file_path"]) for one in calls] == [
        ("item_2", "write", "a.py"),
        ("item_2#2", "edit", "b.py"),
    ]
    assert [one.error for one in only(ToolResult, *RUN) if one.id.startswith("item_2")] == [
        False,
        False,
    ]


def test_a_list_of_todos_is_told_when_it_changes() -> None:
    calls = [one for one in only(ToolCall, *RUN) if one.kind == "todo"]
    assert [one.input["todos"] for one in calls] == [
        [{"content": "read", "status": "pending"}],
        [{"content": "read", "status": "completed"}],
    ]
    assert len({one.id for one in calls}) == 2


def test_a_tool_of_a_server_has_its_name_and_its_error() -> None:
    (call,) = [one for one in only(ToolCall, *RUN) if one.id == "item_4"]
    (result,) = [one for one in only(ToolResult, *RUN) if one.id == "item_4"]
    assert (call.name, result.text, result.error) == ("mcp__docs__find", "gone", True)


def test_a_command_that_was_declined_is_a_refusal() -> None:
    (result,) = only(ToolResult, done(**COMMAND, status="declined"))
    assert (result.error, result.refusal) == (True, "permission")


def test_a_turn_ends_with_the_last_words_or_with_the_error() -> None:
    assert [(one.text, one.error) for one in only(End, *RUN)] == [("Done.", False)]
    failed = events({"type": "turn.failed", "error": {"message": "window exceeded"}})
    assert [(type(one), getattr(one, "text", "")) for one in failed] == [
        (Message, "window exceeded"),
        (End, "window exceeded"),
    ]


def test_errors_are_messages() -> None:
    told = only(
        Message,
        {"type": "error", "message": "no network"},
        done(id="i", type="error", message="clamped"),
    )
    assert [(one.role, one.text) for one in told] == [("error", "no network"), ("error", "clamped")]


@given(mutated(RUN))
def test_whatever_is_in_a_line_it_is_read(lines: list[dict[str, Any]]) -> None:
    assert is_sound(events(*lines))
