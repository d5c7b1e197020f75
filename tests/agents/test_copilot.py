"""GitHub Copilot CLI: its session files, what it sends to hooks, and what it takes as an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents import agent_named, agent_of_hook
from brim.agents.call import Answer, HookCall
from brim.agents.events import Compaction, Message, ToolResult
from brim.agents.readers import AnyReader
from tests.agents.session_files import events_in, golden, session, taken

GOLDEN = golden("copilot")
COPILOT = agent_named("copilot")
ENVIRON = {"HOME": "/home/user"}
STATE = "/home/user/.copilot/session-state"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_no_line_raises(value: Any) -> None:
    for line in session("copilot_events_auto_compact").splitlines():
        parsed = json.loads(line)
        for key in parsed["data"]:
            damaged = {**parsed, "data": {**parsed["data"], key: value}}
            AnyReader("copilot-events").events(damaged)
        AnyReader("copilot-events").events({**parsed, "data": value})


def test_a_compaction_leaves_the_summary_and_the_persons_prompts() -> None:
    events = events_in(session("copilot_events_auto_compact"))
    (compaction,) = [event for event in events if isinstance(event, Compaction)]
    (prompt,) = [event for event in events if isinstance(event, Message) and event.human]
    assert (compaction.trigger, compaction.before) == ("auto", 21_843)
    assert prompt.at in compaction.kept
    summary = events[events.index(compaction) + 1]
    assert (summary.role, "fake summary" in summary.text) == ("summary", True)


def test_a_compaction_that_failed_leaves_nothing_and_is_billed() -> None:
    lines = [json.loads(line) for line in session("copilot_events_auto_compact").splitlines()]
    for line in lines:
        if line["type"] == "session.compaction_complete":
            line["data"]["success"] = False
    events = events_in(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert not [event for event in events if isinstance(event, Compaction)]
    assert taken(events) == GOLDEN["copilot_events_auto_compact"]


def test_a_failing_command_is_a_failure_with_its_code() -> None:
    events = events_in(session("copilot_events_tools"))
    failed = [event for event in events if isinstance(event, ToolResult) and event.error]
    assert [event.detail for event in failed] == [{"exit_code": 3}]
    assert "shellId" not in failed[0].text


# Hooks --------------------------------------------------------------------------------------------


def hooked(name: str, **data: Any) -> HookCall:
    call = COPILOT.read(name, data, ENVIRON)
    assert call is not None
    return call


def test_a_sub_agents_call_is_one_of_the_persons_session() -> None:
    sub_agent = {"session_id": "sub", "agent_id": "sub", "parent_agent_id": "main"}
    call = hooked("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, **sub_agent)
    assert (call.session, call.sub_agent) == ("main", "sub")
    assert call.transcript == f"{STATE}/main/events.jsonl"
    path = f"{STATE}/main/events.jsonl"
    assert hooked("SubagentStart", sessionId="main", transcriptPath=path, agent_id="sub").session
    ended = hooked("Stop", transcript_path=path, **sub_agent)
    assert (ended.event, ended.session) == ("other", "main")


@pytest.mark.parametrize("name", ["../../etc", "", "a/b", "x" * 500, "a\0b"])
def test_a_session_with_an_odd_name_has_no_file(name: str) -> None:
    assert hooked("UserPromptSubmit", session_id=name, prompt="go on").transcript == ""


def test_what_a_hook_said_at_the_end_of_a_turn_is_no_prompt_of_a_person() -> None:
    assert hooked("UserPromptSubmit", session_id="s", prompt="go on").human
    reminder = "Before you finish, as your user's rules ask:\n- Run the tests"
    assert not hooked("UserPromptSubmit", session_id="s", prompt=reminder).human
    assert not hooked("UserPromptSubmit", session_id="s", prompt="hi", agent_id="a").human


def test_a_command_that_failed_is_told_from_one_that_did_not() -> None:
    result = {
        "result_type": "success",
        "text_result_for_llm": "no\n<shellId: 7 completed with exit code 3>",
    }
    call = hooked("PostToolUse", tool_name="Bash", tool_input={}, tool_result=result)
    assert (call.event, call.output, call.error) == ("tool_failed", "no", "Exit code 3\nno")
    result["text_result_for_llm"] = "yes\n<shellId: 7 completed with exit code 0>"
    call = hooked("PostToolUse", tool_name="Bash", tool_input={}, tool_result=result)
    assert (call.event, call.output, call.error) == ("after_tool", "yes", "")


def test_what_its_tools_are_given_has_the_usual_names() -> None:
    made = hooked("PreToolUse", tool_name="Write", tool_input={"path": "/a", "file_text": "x"})
    assert (made.tool.files, made.tool.text) == (("/a",), "x")
    assert made.tool.input["content"] == "x"
    edit = {"path": "/a", "old_str": "x", "new_str": "y"}
    edited = hooked("PreToolUse", tool_name="Edit", tool_input=edit)
    assert edited.tool.changes == (("/a", "x", "y"),)


def worded(name: str, answer: Answer, **data: Any) -> dict[str, Any]:
    text = COPILOT.word(hooked(name, session_id="s", **data), answer)
    parsed: dict[str, Any] = json.loads(text or "{}")
    return parsed


def test_texts_stand_at_the_top_of_an_answer() -> None:
    for name in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"):
        assert worded(name, Answer(context="Use uv", note="n")) == {"additionalContext": "Use uv"}
    for name in ("PreCompact", "Stop", "SessionEnd", "PermissionRequest"):
        assert worded(name, Answer(context="Use uv", note="n", instructions="keep")) == {}


def test_a_call_that_ends_the_turn_is_left_to_the_request_for_permission() -> None:
    ends = Answer(deny="wrap up", stop_reason="the limit is reached")
    shell = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    look = {"tool_name": "Read", "tool_input": {"path": "/a"}}
    assert worded("PreToolUse", ends, **shell) == {}
    assert worded("PreToolUse", ends, **look)["permissionDecision"] == "deny"
    assert worded("PreToolUse", Answer(deny="no"), **shell)["permissionDecision"] == "deny"
    assert worded("PermissionRequest", ends) == {
        "behavior": "deny",
        "message": "the limit is reached",
        "interrupt": True,
    }
    assert worded("PermissionRequest", Answer(deny="no")) == {"behavior": "deny", "message": "no"}
    assert worded("UserPromptSubmit", Answer(deny="no")) == {"decision": "block", "reason": "no"}


def test_the_agent_that_runs_a_hook_is_known_by_its_environment() -> None:
    assert agent_of_hook({"COPILOT_PROJECT_DIR": "/p", "COPILOT_CLI": "1"}) == "copilot"
    assert agent_of_hook({"COPILOT_CLI": "1"}) == "", "Claude Code that it started has this too"
    assert agent_of_hook({"CLAUDE_PROJECT_DIR": "/p"}) == ""
