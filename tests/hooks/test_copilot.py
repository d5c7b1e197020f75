"""Hooks in GitHub Copilot CLI: after a compaction that is only announced, at a limit, and in the
settings of another agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brim.hooks.statusline import read_status
from tests.hooks.hook_world import RULE, World

SESSION = "6681cc45-fa39-4eac-9c22-1a9843fa7975"
BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
HERE = {"COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/p"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def session_file(world: World) -> Path:
    path = Path(world.environ["HOME"]) / ".copilot" / "session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_events(world: World, *events: tuple[str, dict[str, Any]]) -> None:
    """Append events to the session's file."""
    path = session_file(world)
    text = path.read_text() if path.exists() else ""
    for number, (kind, data) in enumerate(events, start=text.count("\n")):
        line = {"type": kind, "data": data, "id": f"e{number}", "parentId": None}
        text += json.dumps({**line, "timestamp": "2026-11-18T02:57:06.191Z"}) + "\n"
    path.write_text(text)


def ask(world: World, event: str, agent: str = "copilot", **data: Any) -> dict[str, Any]:
    sent = {"session_id": SESSION, "cwd": str(world.project), **data}
    answer: dict[str, Any] = json.loads(world.call(event, sent, agent, **HERE) or "{}")
    return answer


def text_of(answer: dict[str, Any]) -> str:
    return str(answer.get("additionalContext", ""))


def test_rules_are_told_with_the_first_prompt_and_again_after_a_compaction(world: World) -> None:
    assert text_of(ask(world, "UserPromptSubmit", prompt="go on")).count(RULE) == 1
    assert ask(world, "PreToolUse", **BASH) == {}
    assert ask(world, "PreCompact", trigger="auto") == {}
    assert text_of(ask(world, "PreToolUse", **BASH)).count(RULE) == 1
    assert ask(world, "PreToolUse", **BASH) == {}
    assert ask(world, "UserPromptSubmit", prompt="and on") == {}
    assert ask(world, "PreCompact", trigger="manual") == {}
    assert text_of(ask(world, "UserPromptSubmit", prompt="and on")).count(RULE) == 1
    assert world.log() == ""


def test_a_sub_agents_call_does_not_take_what_the_session_is_to_be_told(world: World) -> None:
    ask(world, "UserPromptSubmit", prompt="go on")
    ask(world, "PreCompact", trigger="auto")
    sub_agent = {"session_id": "sub", "agent_id": "sub", "parent_agent_id": SESSION}
    ask(world, "PreToolUse", **{**BASH, **sub_agent})
    assert text_of(ask(world, "PreToolUse", **BASH)).count(RULE) == 1


def test_what_was_lost_comes_once_the_compaction_is_written_down(world: World) -> None:
    edit = {"path": f"{world.project}/src/parser.py", "old_str": "a", "new_str": "b"}
    write_events(
        world,
        ("session.start", {"sessionId": SESSION, "context": {"cwd": str(world.project)}}),
        ("user.message", {"content": "Fix the parser", "messageId": "m1"}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "edit", "arguments": edit}),
        ("tool.execution_complete", {"toolCallId": "c1", "success": True, "result": {}}),
        ("session.compaction_start", {"compactionAttemptId": "a1"}),
    )
    ask(world, "UserPromptSubmit", prompt="Fix the parser")
    ask(world, "PreCompact", trigger="auto")
    assert "parser.py" not in text_of(ask(world, "PreToolUse", **BASH))
    done = {"success": True, "compactionAttemptId": "a1", "summaryContent": "It goes on."}
    write_events(world, ("session.compaction_complete", done))
    assert text_of(ask(world, "PreToolUse", **BASH)).count("src/parser.py") == 1
    assert ask(world, "PreToolUse", **BASH) == {}


def test_a_compaction_that_never_ends_is_looked_for_a_few_times(world: World) -> None:
    write_events(world, ("session.start", {"sessionId": SESSION}))
    ask(world, "UserPromptSubmit", prompt="go on")
    ask(world, "PreCompact", trigger="auto")
    for _ in range(12):
        ask(world, "PreToolUse", **BASH)
    done = {"success": True, "compactionAttemptId": "a1", "summaryContent": "It goes on."}
    write_events(world, ("session.compaction_complete", done))
    assert ask(world, "PreToolUse", **BASH) == {}
    assert world.log() == ""


def test_a_limit_ends_the_turn_at_the_second_call(world: World) -> None:
    world.brim("limit", "10k tokens/session")
    usage = {
        "model": "claude-sonnet-4.6",
        "inputTokens": 20_000,
        "outputTokens": 5,
        "accounting": {"sourceSessionId": SESSION, "sequence": 1},
    }
    ask(world, "UserPromptSubmit", prompt="go on")
    write_events(world, ("session.start", {"sessionId": SESSION}))
    write_events(world, ("session.usage_record", {"usage": usage}))
    request: dict[str, Any] = {
        "sessionId": SESSION,
        "toolName": "bash",
        "toolInput": {"command": "ls"},
    }
    answers = [ask(world, "PreToolUse", **BASH) for _ in range(2)]
    assert [answer.get("permissionDecision") for answer in answers][-1:] == [None]
    ended = ask(world, "PermissionRequest", **request)
    assert (ended["behavior"], ended["interrupt"]) == ("deny", True)
    refused = ask(world, "UserPromptSubmit", prompt="go on")
    assert refused["decision"] == "block"


def test_the_status_line_shows_what_stands_in_the_window_and_not_the_sessions_sum() -> None:
    samples = Path(__file__).parents[1] / "recorded" / "data" / "copilot_statusline.jsonl"
    statuses = [read_status(json.loads(line), now=0) for line in samples.read_text().splitlines()]
    assert statuses[0].used_tokens is None
    assert not statuses[0].emptied
    assert (statuses[-1].used_tokens, statuses[-1].context_window) == (15_184, 936_000)


def test_a_hook_for_claude_code_answers_in_the_form_of_the_agent_that_runs_it(
    world: World,
) -> None:
    message = {"hook_event_name": "UserPromptSubmit", "prompt": "go on"}
    assert ask(world, "SessionStart", "claude", source="new") == {}
    assert RULE in text_of(ask(world, "UserPromptSubmit", "claude", **message))
    assert ask(world, "PostToolBatch", "claude") == {}
    assert world.log() == ""


def test_a_hook_for_claude_code_is_silent_beside_the_agents_own(world: World) -> None:
    own = Path(world.environ["HOME"]) / ".copilot" / "hooks" / "brim.json"
    own.parent.mkdir(parents=True)
    own.write_text('{"command": "/home/user/.brim/bin/hook UserPromptSubmit copilot || true"}')
    assert ask(world, "UserPromptSubmit", "claude", prompt="go on") == {}
    assert RULE in text_of(ask(world, "UserPromptSubmit", prompt="go on"))
