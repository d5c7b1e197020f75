from __future__ import annotations

from typing import Any

from hypothesis import given

from brim.agents.call import Event, ToolCall
from brim.agents.events import Attachment, Compaction, Message, ModelSeen, ToolResult, Usage
from brim.agents.gemini.transcript import GeminiTranscriptReader
from tests.agents.mutated import is_sound, mutated, read

TIME = "2026-03-01T10:00:00.000Z"
HEAD = {
    "sessionId": "s1",
    "projectHash": "f0",
    "startTime": TIME,
    "lastUpdated": TIME,
    "kind": "main",
}


def user(id: str, *texts: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "timestamp": TIME,
        "type": "user",
        "content": [{"text": text} for text in texts],
        **more,
    }


def gemini(id: str, **more: Any) -> dict[str, Any]:
    tokens = {
        "input": 5_984,
        "output": 38,
        "cached": 2_090,
        "thoughts": 12,
        "tool": 5,
        "total": 6_039,
    }
    answer = {
        "id": id,
        "timestamp": TIME,
        "type": "gemini",
        "content": "I look.",
        "tokens": tokens,
        "model": "gemini-3",
    }
    return answer | more


def call(
    id: str, response: dict[str, Any], status: str = "success", name: str = "run_shell_command"
) -> dict[str, Any]:
    result = [{"functionResponse": {"id": id, "name": name, "response": response}}]
    return {
        "id": id,
        "name": name,
        "args": {"command": "ls"},
        "status": status,
        "result": result,
        "timestamp": TIME,
    }


OUTPUT = "<untrusted_context>\nOutput: a\nProcess Group PGID: 4711\n</untrusted_context>\n\n<hook_context>x</hook_context>"
SESSION: list[dict[str, Any]] = [
    HEAD,
    {
        "$set": {
            "messages": [user("u0", "<session_context>\nToday is Sunday.")],
            "lastUpdated": TIME,
        }
    },
    user("u1", "<hook_context>a</hook_context>\n\nlist them", "<hook_context>b</hook_context>"),
    {"$set": {"lastUpdated": TIME}},
    gemini("g1"),
    gemini("g1", toolCalls=[call("c1", {"output": OUTPUT})]),
    {
        "id": "u2",
        "timestamp": TIME,
        "type": "user",
        "content": [{"functionResponse": {"id": "c1", "response": {}}}],
    },
    gemini("g2", content="One."),
    {"id": "e1", "timestamp": TIME, "type": "error", "content": "no quota"},
]


def events(*lines: dict[str, Any]) -> list[Event]:
    return read(GeminiTranscriptReader(), lines)


def only(kind: type[Any], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in events(*lines) if isinstance(event, kind)]


def test_every_line_is_recognised() -> None:
    assert all(GeminiTranscriptReader.recognises(line) for line in SESSION)
    assert not GeminiTranscriptReader.recognises(
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {}}
    )
    assert not GeminiTranscriptReader.recognises({"id": "msg_1", "type": "message", "content": []})


def test_a_message_that_is_written_again_counts_once() -> None:
    assert [one.request for one in only(Usage, *SESSION)] == ["g1", "g2"]
    assert [one.text for one in only(Message, *SESSION) if one.role == "assistant"] == [
        "I look.",
        "One.",
    ]
    assert len(only(ToolCall, *SESSION, SESSION[5])) == 1
    assert len(only(ToolResult, *SESSION, SESSION[5])) == 1


def test_a_message_that_is_written_again_with_other_numbers_is_told_again() -> None:
    more = gemini("g1", tokens={"input": 5_984, "output": 90, "cached": 2_090})
    assert [(one.request, one.tokens.output) for one in only(Usage, gemini("g1"), more)] == [
        ("g1", 50),
        ("g1", 90),
    ]


def test_input_contains_the_cached_tokens_thoughts_are_output_and_tool_tokens_are_input() -> None:
    (used, _) = only(Usage, *SESSION)
    assert (used.tokens.input, used.tokens.cache_read, used.tokens.output) == (
        5_984 - 2_090 + 5,
        2_090,
        50,
    )
    assert (used.model, used.session) == ("gemini-3", "s1")


def test_a_message_without_tokens_tells_none() -> None:
    assert not only(
        Usage, gemini("g1", tokens=None), gemini("g2", tokens={"input": 0, "output": 0})
    )


def test_only_what_a_person_typed_is_human() -> None:
    told = [(one.text, one.human) for one in only(Message, *SESSION) if one.role == "user"]
    assert told == [("<session_context>\nToday is Sunday.", False), ("list them", True)]


def test_what_is_shown_of_a_prompt_goes_before_what_was_sent() -> None:
    shown = user("u1", "list them", "the content of a.py", displayContent=[{"text": "list @a.py"}])
    assert [one.text for one in only(Message, shown)] == ["list @a.py"]


def test_a_result_is_without_what_the_client_and_hooks_put_around_it() -> None:
    (result,) = only(ToolResult, *SESSION)
    assert result.text.strip() == "Output: a"
    assert not result.error


def test_failures_exit_codes_and_refusals_are_told_apart() -> None:
    calls = [
        call("a", {"error": "File not found."}, "error"),
        call("b", {"output": "Output: no\nExit Code: 2"}),
        call(
            "c",
            {"error": "[Operation Cancelled] Reason: User did not allow tool call"},
            "cancelled",
        ),
        call("d", {"error": "stopped"}, "cancelled"),
        call("e", {"output": "waiting"}, "executing"),
    ]
    told = only(ToolResult, gemini("g1", toolCalls=calls))
    assert [(one.id, one.error, one.refusal, one.detail) for one in told] == [
        ("a", True, "", None),
        ("b", True, "", {"exit_code": 2}),
        ("c", True, "permission", None),
        ("d", True, "interrupt", None),
    ]
    assert told[0].text == "File not found."


def test_a_call_has_the_names_that_every_reader_knows() -> None:
    given = {"absolute_path": "/home/user/a.py"}
    (told,) = only(
        ToolCall, gemini("g1", toolCalls=[call("a", {}, name="read_file") | {"args": given}])
    )
    assert (told.kind, told.input["file_path"]) == ("read", "/home/user/a.py")


def test_the_model_is_told_when_it_changes() -> None:
    assert [
        one.model for one in only(ModelSeen, gemini("a"), gemini("b"), gemini("c", model="x"))
    ] == ["gemini-3", "x"]


def test_messages_that_are_set_anew_with_a_summary_are_a_compaction() -> None:
    summary = user("u9", "<state_snapshot>\n<goal>list</goal>\n</state_snapshot>")
    told = events(*SESSION, {"$set": {"messages": [summary, gemini("g1")], "lastUpdated": TIME}})
    assert [type(one) for one in told[-3:]] == [Compaction, Message, Attachment]
    assert [one.role for one in told if isinstance(one, Message)][-1] == "summary"
    assert len([one for one in told if isinstance(one, Usage)]) == 2


def test_what_a_compaction_has_left_is_not_told_again_under_its_new_ids() -> None:
    summary = user("u9", "<state_snapshot>\n<goal>list</goal>\n</state_snapshot>")
    left = {
        "$set": {
            "messages": [SESSION[1]["$set"]["messages"][0], summary, user("u1-again", "list them")]
        }
    }
    told = only(Message, *SESSION, left)
    assert [one.text for one in told if one.human] == ["list them"]


def test_a_summary_that_is_written_again_when_a_session_goes_on_is_no_second_compaction() -> None:
    summary = user("u9", "<state_snapshot>\n<goal>list</goal>\n</state_snapshot>")
    left = {"$set": {"messages": [summary], "lastUpdated": TIME}}
    assert len(only(Compaction, *SESSION, left, user("u10", "go on"), left)) == 1


def test_an_older_record_is_one_object() -> None:
    older = {**HEAD, "messages": SESSION[2:3] + SESSION[5:6]}
    assert GeminiTranscriptReader.recognises(older)
    assert [type(one) for one in events(older)] == [
        Message,
        ModelSeen,
        Message,
        Usage,
        ToolCall,
        ToolResult,
    ]
    assert {one.session for one in events(older)} == {"s1"}


def test_what_a_sub_agent_is_asked_is_not_human() -> None:
    told = events({**HEAD, "kind": "subagent"}, user("u1", "look for it"))
    assert [(one.agent, getattr(one, "human", None)) for one in told] == [("s1", False)]


def test_errors_are_messages() -> None:
    assert [one.text for one in only(Message, *SESSION) if one.role == "error"] == ["no quota"]


@given(mutated(SESSION))
def test_whatever_is_in_a_line_it_is_read(lines: list[dict[str, Any]]) -> None:
    assert is_sound(events(*lines))
