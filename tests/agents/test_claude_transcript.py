"""One answer is several lines and one request; sub-agents are kept apart; people are told from
machines."""

from __future__ import annotations

from typing import Any

from brim.agents.call import Event, ToolCall
from brim.agents.claude.transcript import ClaudeTranscriptReader
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
    SECONDS,
    SESSION,
    TRANSCRIPT,
    kept,
    kept_answer,
    kept_user,
    result_block,
    text_block,
    tool_block,
    usage,
)


def read(*lines: dict[str, Any]) -> list[Event]:
    reader = ClaudeTranscriptReader()
    return [event for at, line in enumerate(lines) for event in reader.events(line, at)]


def only(kind: type[Event], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in read(*lines) if isinstance(event, kind)]


def test_every_line_is_recognised() -> None:
    assert all(ClaudeTranscriptReader.recognises(line) for line in TRANSCRIPT)
    assert ClaudeTranscriptReader.recognises(
        {"type": "summary", "summary": "Parser work", "leafUuid": "u1"}
    )


def test_an_event_says_where_and_when_it_happened() -> None:
    (used,) = only(Usage, kept_answer("msg_1", text_block()))
    assert (used.session, used.agent, used.time, used.at) == (SESSION, "", SECONDS, 0)


def test_lines_of_one_answer_are_one_request() -> None:
    lines = [
        kept_answer("msg_1", text_block()),
        kept_answer("msg_1", tool_block()),
        kept_answer("msg_1", tool_block("t2")),
    ]
    (used,) = only(Usage, *lines)
    assert used.request == "msg_1:req_1"
    assert used.tokens == Tokens(input=8, output=42, cache_read=100, cache_write_5m=20)
    assert used.final
    assert len(only(ToolCall, *lines)) == 2


def test_lines_of_two_answers_may_be_mixed() -> None:
    one, two = (
        kept_answer("msg_1", text_block()),
        kept_answer("msg_2", text_block(), request="req_2"),
    )
    assert [used.request for used in only(Usage, one, two, one, two)] == [
        "msg_1:req_1",
        "msg_2:req_2",
    ]


def test_a_request_comes_again_only_with_other_numbers() -> None:
    more = kept_answer("msg_1", text_block("more"), about={"usage": usage(output=99)})
    assert [
        used.tokens.output for used in only(Usage, kept_answer("msg_1", text_block()), more, more)
    ] == [42, 99]


def test_without_a_request_id_the_message_id_is_the_key() -> None:
    assert [
        used.request for used in only(Usage, kept_answer("msg_1", text_block(), request=""))
    ] == ["msg_1"]


def test_an_hour_of_cache_is_told_from_five_minutes() -> None:
    about = usage(write=20)
    about["cache_creation"] = {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 15}
    (used,) = only(Usage, kept_answer("msg_1", about={"usage": about}))
    assert (used.tokens.cache_write_5m, used.tokens.cache_write_1h) == (5, 15)


def test_synthetic_answers_and_zeros_are_no_usage() -> None:
    synthetic = kept_answer(
        "m1", text_block("No response requested."), about={"model": "<synthetic>"}
    )
    zeros = kept_answer("m2", text_block(), about={"usage": usage(0, 0, 0, 0)})
    assert only(Usage, synthetic, zeros) == []
    assert only(ModelSeen, synthetic) == []
    assert [message.role for message in only(Message, synthetic)] == ["system"]


def test_an_error_of_the_provider_is_an_error_message() -> None:
    line = kept_answer(
        "m1", text_block("API Error: 529"), isApiErrorMessage=True, about={"model": "<synthetic>"}
    )
    assert [(message.role, message.text) for message in only(Message, line)] == [
        ("error", "API Error: 529")
    ]


def test_an_older_client_says_what_a_request_cost() -> None:
    assert [
        used.cost for used in only(Usage, kept_answer("m1", costUSD=0.0125), kept_answer("m2"))
    ] == [12_500, None]


def test_sub_agents_have_their_own_name() -> None:
    lines = [
        kept_answer("m1", text_block()),
        kept_answer("m2", text_block(), request="r2", isSidechain=True, agentId="a1"),
        kept_answer("m3", text_block(), request="r3", isSidechain=True),
    ]
    assert [used.agent for used in only(Usage, *lines)] == ["", "a1", "sidechain"]


def test_in_a_sub_agents_file_its_name_is_the_last_resort() -> None:
    reader = ClaudeTranscriptReader()
    reader.agent = "from-the-file"
    lines = [
        kept_answer("m1", isSidechain=True),
        kept_answer("m2", isSidechain=True, agentId="a1"),
        kept_answer("m3"),
    ]
    found = [event for line in lines for event in reader.events(line) if isinstance(event, Usage)]
    assert [used.agent for used in found] == ["from-the-file", "a1", "from-the-file"]


def test_a_sub_agents_replay_of_the_main_thread_is_dropped() -> None:
    main = kept_answer("m1", tool_block())
    replay = kept_answer("m1", tool_block(), request="another", isSidechain=True, agentId="a1")
    assert len(only(Usage, main, replay)) == 1
    assert len(only(ToolCall, main, replay)) == 1


def test_history_that_is_there_again_is_read_once() -> None:
    lines = [kept_user("fix it", uuid="u1"), kept_answer("m1", tool_block(), uuid="u2")]
    assert read(*lines, *lines) == read(*lines)


def test_a_model_is_told_when_it_changes() -> None:
    lines = [
        kept("attachment", attachment={"type": "model", "identity": {"modelId": MODEL}}),
        kept_answer("m1"),
        kept_answer("m2", about={"model": "claude-opus-4-1"}),
        kept_answer("m3", about={"model": "claude-haiku-4-5"}, isSidechain=True, agentId="a1"),
    ]
    seen = [(event.agent, event.model) for event in only(ModelSeen, *lines)]
    assert seen == [("", MODEL), ("", "claude-opus-4-1"), ("a1", "claude-haiku-4-5")]


def test_states_are_told_when_they_change_in_the_main_thread() -> None:
    lines = [
        {"type": "permission-mode", "permissionMode": "default", "sessionId": SESSION},
        kept_user(
            "a",
            uuid="1",
            gitBranch="main",
            cwd="/home/user/project",
            version="2.1.325",
            permissionMode="default",
        ),
        kept_user(
            "b",
            uuid="2",
            gitBranch="main",
            cwd="/home/user/project",
            version="2.1.325",
            permissionMode="plan",
        ),
        kept_user("c", uuid="3", gitBranch="", cwd="/home/user/project"),
        kept_user("d", uuid="4", gitBranch="other", isSidechain=True, agentId="a1"),
    ]
    assert [(event.name, event.value) for event in only(StateSeen, *lines)] == [
        ("permission_mode", "default"),
        ("branch", "main"),
        ("folder", "/home/user/project"),
        ("version", "2.1.325"),
        ("permission_mode", "plan"),
    ]


def test_a_compaction_has_its_sizes_and_its_summary() -> None:
    events = read(
        kept(
            "system",
            subtype="compact_boundary",
            compactMetadata={"trigger": "auto", "preTokens": 900, "postTokens": 30},
        ),
        kept_user("This session is being continued.", isCompactSummary=True),
    )
    assert isinstance(events[0], Compaction)
    assert (events[0].trigger, events[0].before, events[0].after) == ("auto", 900, 30)
    assert isinstance(events[1], Message)
    assert (events[1].role, events[1].human) == ("summary", False)


def test_a_compaction_that_says_nothing_has_no_sizes() -> None:
    (compaction,) = only(Compaction, kept("system", subtype="compact_boundary"))
    assert (compaction.trigger, compaction.before, compaction.after) == ("", None, None)


def test_cost_state_is_a_total_of_the_session() -> None:
    total = {
        "inputTokens": 8,
        "outputTokens": 25,
        "cacheReadInputTokens": 14_328,
        "cacheCreationInputTokens": 1_641,
    }
    line = {
        "type": "cost-state",
        "sessionId": SESSION,
        "totalCostUSD": 0.1290951,
        "modelUsage": {MODEL: {**total, "cacheCreationEphemeral1hInputTokens": 641}},
    }
    (run,) = only(RunTotal, line)
    assert run.cost == 129_095
    assert run.tokens == {
        MODEL: Tokens(
            input=8, output=25, cache_read=14_328, cache_write_5m=1_000, cache_write_1h=641
        )
    }
    assert run.usage is None


def human(*lines: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(message.text, message.human) for message in only(Message, *lines)]


def test_a_person_is_told_from_a_machine() -> None:
    assert human(kept_user("typed", origin={"kind": "human"}, promptSource="typed")) == [
        ("typed", True)
    ]
    assert human(kept_user("older, without an origin")) == [("older, without an origin", True)]
    assert human(kept_user("for a sub-agent", isSidechain=True, agentId="a1")) == [
        ("for a sub-agent", False)
    ]
    assert human(kept_user("caveat", isMeta=True)) == [("caveat", False)]
    notification = "<task-notification>x</task-notification>"
    assert human(kept_user(notification, origin={"kind": "task-notification"})) == [
        (notification, False)
    ]


def test_a_slash_command_is_what_the_person_typed() -> None:
    written = "<command-name>/compact</command-name><command-args>keep the budget</command-args>"
    assert human(kept_user(written)) == [("/compact keep the budget", True)]


def test_a_prompt_typed_while_the_agent_worked_is_not_lost() -> None:
    queued = {"type": "queued_command", "prompt": "also the tests", "commandMode": "prompt"}
    assert human(kept("attachment", attachment=queued)) == [("also the tests", True)]
    assert (
        human(kept("attachment", attachment={**queued, "commandMode": "task-notification"})) == []
    )
    assert human(kept("attachment", attachment={**queued, "isMeta": True})) == []


def test_text_beside_a_tool_result_is_no_persons() -> None:
    assert human(kept_user([result_block(), text_block("note")])) == [("note", False)]


def test_a_tool_result_says_whether_it_failed_and_what_the_client_knows() -> None:
    detail = {"stdout": "", "stderr": "no", "interrupted": False}
    line = kept_user(
        [result_block("t1", [text_block("Exit code 1")], is_error=True)], toolUseResult=detail
    )
    (result,) = only(ToolResult, line)
    assert (result.id, result.text, result.error, result.refusal, result.detail) == (
        "t1",
        "Exit code 1",
        True,
        "",
        detail,
    )


def test_several_results_in_one_line_share_no_detail() -> None:
    results = only(
        ToolResult,
        kept_user([result_block("t1"), result_block("t2")], toolUseResult={"stdout": "x"}),
    )
    assert [(result.id, result.detail) for result in results] == [("t1", None), ("t2", None)]


def test_refusals_are_told_from_failures() -> None:
    def refusal(said: str = "x", **more: Any) -> str:
        (result,) = only(ToolResult, kept_user([result_block("t1", said, is_error=True)], **more))
        return str(result.refusal)

    assert refusal("<tool_use_error>Sibling tool call errored</tool_use_error>") == "cascade"
    assert refusal("The user doesn't want to proceed with this tool use.") == "permission"
    assert (
        refusal("denied", permissionDecision={"decision": "reject", "source": "user"})
        == "permission"
    )
    assert refusal("killed", toolUseResult={"interrupted": True}) == "interrupt"
    assert (
        refusal("Exit code 1\nPermission denied", permissionDecision={"decision": "accept"}) == ""
    )


def test_a_result_that_only_quotes_a_refusal_is_none() -> None:
    line = kept_user([result_block("t1", "The user doesn't want to proceed with this tool use.")])
    assert [result.refusal for result in only(ToolResult, line)] == [""]


def test_a_tool_call_is_named_by_what_it_does() -> None:
    notebook = tool_block("t1", "NotebookEdit", notebook_path="/home/user/a.ipynb", new_source="1")
    (call,) = only(ToolCall, kept_answer("m1", notebook))
    assert (call.id, call.name, call.kind, call.input["file_path"]) == (
        "t1",
        "NotebookEdit",
        "edit",
        "/home/user/a.ipynb",
    )


def test_a_background_sub_agent_ends_with_its_notification() -> None:
    launched = kept_user([result_block()], toolUseResult={"isAsync": True, "agentId": "a1"})
    text = "<task-notification>\n<task-id>{}</task-id>\n<status>{}</status>\n<summary>gone</summary></task-notification>"
    queued = {
        "type": "queued_command",
        "commandMode": "task-notification",
        "prompt": text.format("a1", "completed"),
    }
    lines = [kept_user(text.format("a1", "failed")), kept_user(text.format("b7", "failed"))]
    ends = only(End, launched, *lines, kept("attachment", attachment=queued))
    assert [(end.agent, end.reason, end.error, end.text) for end in ends] == [
        ("a1", "failed", True, "gone"),
        ("a1", "completed", False, "gone"),
    ]
