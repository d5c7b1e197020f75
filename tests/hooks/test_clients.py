"""What each client sends is understood the same way, and each is answered in its own words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brim.agents import AGENTS, agent_named
from brim.agents.call import EVENTS, NOTHING, Answer, HookCall
from tests.hooks.hook_samples import ALL, BASH, SESSION, claude


def call(agent: str, event: str, **own: Any) -> HookCall:
    found = agent_named(agent).read(event, claude(event, **own), {})
    assert found is not None
    return found


def said(agent: str, event: str, answer: Answer, **own: Any) -> Any:
    text = agent_named(agent).word(call(agent, event, **own), answer)
    return json.loads(text) if text else None


@pytest.mark.parametrize("agent", AGENTS)
def test_every_event_of_a_client_means_one_of_ours(agent: str) -> None:
    for event in agent_named(agent).events.values():
        assert event.event in EVENTS
        assert 1 <= event.timeout <= 10


def test_what_inject_only_installs() -> None:
    for agent in AGENTS:
        value = agent_named(agent)
        injecting = {event.event for event in value.events.values() if event.injects}
        assert {"prompt", "before_tool"} <= injecting
        assert "session_start" in injecting or not value.reports("session_start")
        # It has nothing to say then; but it may be all that is heard of a compaction.
        assert ("before_compact" in injecting) is value.announces_compactions


@pytest.mark.parametrize(("agent", "event", "data"), ALL)
def test_every_sample_is_understood(agent: str, event: str, data: dict[str, Any]) -> None:
    found = agent_named(agent).read(event, data, {})
    assert found is not None
    assert (found.agent.name, found.name, found.session) == (agent, event, SESSION)
    assert found.cwd == "/home/user/project"
    assert found.data == data


def test_an_unknown_event_is_none() -> None:
    assert all(agent_named(agent).read("Nonsense", {}, {}) is None for agent in AGENTS)


def test_an_unknown_agent_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        agent_named("os")


def test_a_session_that_is_not_sent_is_in_the_environment() -> None:
    found = agent_named("claude").read("Stop", {}, {"CLAUDE_CODE_SESSION_ID": "s1"})
    assert found is not None
    assert found.session == "s1"


@pytest.mark.parametrize(
    ("agent", "event", "prompt", "typed", "human"),
    [
        ("claude", "UserPromptSubmit", "fix it", "fix it", True),
        ("claude", "UserPromptSubmit", "<task-notification>\nx", "<task-notification>\nx", False),
        ("claude", "UserPromptSubmit", "", "", False),
        ("codex", "UserPromptSubmit", "fix it", "fix it", True),
        (
            "codex",
            "UserPromptSubmit",
            "open tabs\n## My request for Codex:\nfix it",
            "fix it",
            True,
        ),
        ("gemini", "BeforeAgent", "<hook_context>rules</hook_context>\n\nfix it", "fix it", True),
        ("gemini", "BeforeAgent", "<session_context>x", "<session_context>x", False),
    ],
)
def test_a_persons_words_are_told_from_a_machines(
    agent: str, event: str, prompt: str, typed: str, human: bool
) -> None:
    found = call(agent, event, prompt=prompt)
    assert (found.prompt, found.human) == (typed, human)


def test_a_prompt_for_a_sub_agent_is_nobodys() -> None:
    assert not call("claude", "UserPromptSubmit", prompt="fix it", agent_id="a1").human


def test_what_a_tool_answered_is_text_whatever_its_shape() -> None:
    shapes: list[tuple[object, str]] = [
        ({"stdout": "out", "stderr": "err", "interrupted": False}, "out\nerr"),
        ({"type": "text", "file": {"content": "lines"}}, "lines"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, "b"], "a\nb"),
        ("plain", "plain"),
        (None, ""),
        (17, ""),
    ]
    for response, text in shapes:
        assert call("claude", "PostToolUse", **BASH, tool_response=response).output == text
    assert (
        call("codex", "PostToolUse", **BASH, tool_response="Exit code: 3").output == "Exit code: 3"
    )
    assert (
        call("gemini", "AfterTool", **BASH, tool_response={"llmContent": "Output: ok"}).output
        == "Output: ok"
    )


def test_a_failed_call_says_why() -> None:
    failed = call("claude", "PostToolUseFailure", **BASH, error="Exit code 3", is_interrupt=True)
    assert (failed.event, failed.error, failed.interrupted, failed.tool.kind) == (
        "tool_failed",
        "Exit code 3",
        True,
        "shell",
    )
    failed = call("gemini", "AfterTool", **BASH, tool_response={"error": {"message": "denied"}})
    assert (failed.event, failed.error) == ("tool_failed", "denied")


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_to_say_is_nothing(agent: str) -> None:
    for event in agent_named(agent).events:
        assert said(agent, event, NOTHING) is None


def test_a_text_for_the_model_goes_where_each_client_reads_it() -> None:
    for agent, event in (
        ("claude", "UserPromptSubmit"),
        ("codex", "PostToolUse"),
        ("gemini", "BeforeAgent"),
    ):
        expected = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "Use uv."}}
        assert said(agent, event, Answer(context="Use uv.")) == expected


@pytest.mark.parametrize(
    ("agent", "event"),
    [
        ("claude", "Stop"),
        ("claude", "SubagentStop"),
        ("codex", "Stop"),
        ("gemini", "BeforeTool"),
        ("gemini", "AfterAgent"),
    ],
)
def test_no_text_is_given_where_it_would_not_reach_the_model_or_keep_it_going(
    agent: str, event: str
) -> None:
    client = agent_named(agent)
    assert client.answers.chars_at(client.events[event].event) == 0
    assert said(agent, event, Answer(context="Use uv.")) is None


def test_a_refusal_is_said_in_each_clients_words() -> None:
    deny = Answer(deny="the limit is reached", note="stopped")
    for agent in ("claude", "codex"):
        assert said(agent, "PreToolUse", deny) == {
            "systemMessage": "stopped",
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "the limit is reached",
            },
        }
        refused = said(agent, "UserPromptSubmit", Answer(deny="no"))
        shown = {"systemMessage": "no"} if agent == "codex" else {}  # it doesn't show the reason
        assert refused == {"decision": "block", "reason": "no", **shown}
    assert said("gemini", "BeforeTool", Answer(deny="no")) == {"decision": "deny", "reason": "no"}


def test_a_refusal_after_the_fact_refuses_nothing() -> None:
    for agent in AGENTS:
        for event, known in agent_named(agent).events.items():
            before = ("before_tool", "permission", "prompt", "stop", "before_compact")
            if known.event not in before:
                assert said(agent, event, Answer(deny="no")) is None


def test_the_end_of_a_turn_can_be_refused_where_the_client_says_that_it_was() -> None:
    for agent in ("claude", "codex"):
        assert said(agent, "Stop", Answer(deny="no")) == {"decision": "block", "reason": "no"}
    assert said("gemini", "AfterAgent", Answer(deny="no")) is None


def test_a_compaction_is_refused_in_the_words_of_each_client() -> None:
    refused = Answer(deny="no")
    assert said("claude", "PreCompact", refused) == {"decision": "block", "reason": "no"}
    assert said("codex", "PreCompact", refused) == {"continue": False, "stopReason": "no"}
    assert said("gemini", "PreCompress", refused) is None


def test_the_summariser_gets_its_instructions_as_they_are() -> None:
    client = agent_named("claude")
    before = call("claude", "PreCompact", trigger="auto")
    assert client.word(before, Answer(instructions="Keep src/app.py.")) == "Keep src/app.py."
    assert (
        client.word(before, Answer(note="for a person")) == ""
    )  # it would be taken for an instruction


def test_instructions_are_never_taken_for_json() -> None:
    text = agent_named("claude").word(
        call("claude", "PreCompact"), Answer(instructions='{"continue": false}')
    )
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(text)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_text_is_never_longer_than_the_client_takes_whole(agent: str) -> None:
    client = agent_named(agent)
    for event, known in client.events.items():
        answer = said(agent, event, Answer(context="a rule of one line\n" * 2_000))
        if answer is not None:
            context = answer.get("hookSpecificOutput", answer)["additionalContext"]
            # Some are told at once what the others are told at the start and with a prompt.
            most = client.answers.chars_at(known.event) * client.answers.texts
            assert 0 < len(context) <= most
            assert context.endswith("\n")


def test_codex_gets_no_key_with_which_a_refusal_would_count_for_nothing() -> None:
    refused = said("codex", "PreToolUse", Answer(deny="no", stop_reason="it is over"))
    assert set(refused) == {"hookSpecificOutput"}
    assert refused["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("line", ["правило в одну строку\n", "上下文预算规则\n", "🙂🙂🙂\n"])
def test_a_text_that_is_cut_ends_with_a_whole_line_whatever_it_is_written_in(line: str) -> None:
    answer = said("codex", "SessionStart", Answer(context=line * 2_000))
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert 8_000 <= len(context) <= 9_000
    assert context.endswith(line)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_a_path_that_no_file_can_have_is_none(agent: str) -> None:
    sent = {"session_id": "s", "cwd": "/home/\0user", "transcript_path": "a\0b"}
    call = agent_named(agent).read("SessionStart", sent, {})
    assert call is not None
    assert (call.cwd, call.transcript) == ("", "")
