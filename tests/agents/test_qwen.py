"""Qwen Code: its session files, what it sends to hooks, and what it takes as an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents import agent_named, agent_of_hook
from brim.agents.call import Answer, HookCall
from brim.agents.events import Attachment, Compaction, Message, ToolResult, Usage
from brim.agents.readers import AnyReader, format_of
from tests.agents.session_files import DATA, events_in, golden, session, taken

GOLDEN = golden("qwen")
QWEN = agent_named("qwen")
ENVIRON = {"HOME": "/home/user"}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_no_line_raises(value: Any) -> None:
    for line in session("qwen_chat_auto_compact").splitlines():
        parsed = json.loads(line)
        for key in parsed:
            AnyReader("qwen-chat").events({**parsed, key: value})
        payload = parsed.get("systemPayload", {})
        for key in payload:
            AnyReader("qwen-chat").events({**parsed, "systemPayload": {**payload, key: value}})


def test_a_sub_agents_file_repeats_no_request() -> None:
    events = events_in(session("qwen_chat_subagent"))
    assert taken(events) == {}
    assert {event.agent for event in events} == {"general-purpose-call_1"}


def test_claude_codes_lines_are_not_taken_for_its_own() -> None:
    data = (DATA / "sessions" / "claude_transcript_subagent.jsonl").read_bytes()
    assert {format_of(json.loads(line)) for line in data.splitlines()} == {"claude-transcript"}


@pytest.mark.parametrize(
    ("name", "trigger", "before", "after"),
    [
        ("qwen_chat_auto_compact", "auto", 46_288, 33_663),
        ("qwen_chat_manual_compact", "manual", 22_054, 19_410),
    ],
)
def test_a_compaction_leaves_the_summary_and_what_follows_it(
    name: str, trigger: str, before: int, after: int
) -> None:
    events = events_in(session(name))
    (compaction,) = [event for event in events if isinstance(event, Compaction)]
    assert (compaction.trigger, compaction.before, compaction.after) == (trigger, before, after)
    summary, kept = events[events.index(compaction) + 1 :][:2]
    assert isinstance(summary, Message)
    assert summary.role == "summary"
    assert isinstance(kept, Attachment)
    assert (kept.kind, kept.text.startswith("Got it.")) == ("kept", True)
    assert any(isinstance(event, Usage) and event.compacts for event in events)


def test_a_failing_command_is_a_failure_with_its_code() -> None:
    events = events_in(session("qwen_chat_tools"))
    (failed,) = [event for event in events if isinstance(event, ToolResult) and event.error]
    assert failed.detail == {"exit_code": 3}
    assert failed.text == "cat: /nonexistent-file: No such file or directory"


def test_what_a_hook_added_is_not_what_the_person_typed() -> None:
    events = events_in(session("qwen_chat_auto_compact"))
    (prompt,) = [event for event in events if isinstance(event, Message) and event.human]
    assert prompt.text == "SCN:bigbash please"
    (notice,) = [
        event
        for event in events_in(session("qwen_chat_with_subagent"))
        if isinstance(event, Message) and event.role == "user" and not event.human
    ]
    assert notice.text.startswith("<task-notification>")


# Hooks --------------------------------------------------------------------------------------------


def hooked(name: str, **data: Any) -> HookCall:
    call = QWEN.read(name, data, ENVIRON)
    assert call is not None
    return call


def test_a_prompt_without_words_comes_between_two_requests() -> None:
    assert hooked("UserPromptSubmit", session_id="s", prompt="go on").event == "prompt"
    between = hooked("UserPromptSubmit", session_id="s", prompt="")
    assert (between.event, between.human) == ("between_requests", False)
    assert QWEN.reports("between_requests")


def test_what_was_typed_is_told_from_what_was_made_of_it() -> None:
    expanded = {"prompt": "a pasted text", "submitted_prompt": "[Pasted 900 lines]"}
    assert hooked("UserPromptSubmit", session_id="s", **expanded).prompt == "[Pasted 900 lines]"
    reminder = "Before you finish, as your user's rules ask:\n- Run the tests"
    assert not hooked("UserPromptSubmit", session_id="s", prompt=reminder).human


def test_a_command_that_failed_is_told_in_the_usual_words() -> None:
    error = "Command: ls x\nDirectory: (root)\nOutput: no x\nError: (none)\nExit Code: 2\nSignal: (none)"
    call = hooked("PostToolUseFailure", tool_name="run_shell_command", tool_input={}, error=error)
    assert (call.output, call.error) == ("no x", "Exit code 2\nno x")
    told = {"llmContent": error.replace("Code: 2", "Code: 0"), "returnDisplay": "no x"}
    call = hooked("PostToolUse", tool_name="run_shell_command", tool_input={}, tool_response=told)
    assert (call.event, call.output, call.error) == ("after_tool", "no x", "")


def worded(name: str, answer: Answer, **data: Any) -> dict[str, Any]:
    text = QWEN.word(hooked(name, session_id="s", **data), answer)
    parsed: dict[str, Any] = json.loads(text or "{}")
    return parsed


def test_texts_go_where_they_arrive() -> None:
    told = Answer(context="Use uv")
    for name in ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"):
        specific = worded(name, told, prompt="go on")["hookSpecificOutput"]
        assert specific == {"hookEventName": name, "additionalContext": "Use uv"}
    for name in ("PreToolUse", "Stop", "SubagentStop", "SessionEnd", "PostCompact"):
        assert worded(name, told) == {}
    steered = worded("PreCompact", Answer(instructions="[keep] this"))["hookSpecificOutput"]
    assert steered["additionalContext"] == "[keep] this"


def test_a_refusal_before_a_request_ends_the_turn() -> None:
    ends = Answer(stop_reason="the limit is reached")
    blocked = {"decision": "block", "reason": "the limit is reached"}
    assert worded("UserPromptSubmit", ends, prompt="") == blocked
    shell = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    refused = worded("PreToolUse", Answer(deny="no", stop_reason="over"), **shell)
    assert refused["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "continue" not in refused
    refused = worded("UserPromptSubmit", Answer(deny="no"), prompt="go on")
    assert refused == {"decision": "block", "reason": "no"}


def test_the_agent_that_runs_a_hook_is_known_by_its_environment() -> None:
    here = {"QWEN_PROJECT_DIR": "/p", "GEMINI_PROJECT_DIR": "/p", "QWEN_CODE_SESSION_ID": "s"}
    assert agent_of_hook(here) == "qwen"
    assert agent_of_hook({"QWEN_CODE_SESSION_ID": "s"}) == "", "what it starts has this too"
