"""Hooks in Qwen Code: rules where a text arrives, a turn that a limit ends, a compaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brim.hooks.statusline import read_status
from tests.hooks.hook_world import RULE, World

SESSION = "5811c9a3-9cb5-4ce5-89c8-7e93c4d5dd1d"
SHELL: dict[str, Any] = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
HERE = {"QWEN_PROJECT_DIR": "/p", "GEMINI_PROJECT_DIR": "/p", "QWEN_CODE_SESSION_ID": SESSION}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def session_file(world: World) -> Path:
    home = Path(world.environ["HOME"])
    path = home / ".qwen" / "projects" / "-project" / "chats" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_request(world: World, number: int, tokens: int) -> None:
    """Append a request that took so many *tokens*."""
    event = {
        "event.name": "qwen-code.api_response",
        "event.timestamp": f"2026-11-18T03:07:0{number}.000Z",
        "response_id": f"r{number}",
        "prompt_id": f"{SESSION}########0",
        "model": "qwen3-coder-plus",
        "input_token_count": tokens,
        "output_token_count": 5,
    }
    line = {
        "uuid": f"u{number}",
        "sessionId": SESSION,
        "timestamp": event["event.timestamp"],
        "type": "system",
        "provenance": "system",
        "cwd": str(world.project),
        "subtype": "ui_telemetry",
        "systemPayload": {"uiEvent": event},
    }
    with session_file(world).open("a") as file:
        file.write(json.dumps(line) + "\n")


def ask(world: World, event: str, agent: str = "qwen", **data: Any) -> dict[str, Any]:
    path = str(session_file(world))
    turn = f"{SESSION}########0"
    sent = {"session_id": SESSION, "transcript_path": path, "prompt_id": turn, **data}
    sent["cwd"] = str(world.project)
    answer: dict[str, Any] = json.loads(world.call(event, sent, agent, **HERE) or "{}")
    return answer


def text_of(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_rules_come_at_the_start_once_and_again_after_a_compaction(world: World) -> None:
    assert text_of(ask(world, "SessionStart", source="startup")).count(RULE) == 1
    assert ask(world, "UserPromptSubmit", prompt="go on", submitted_prompt="go on") == {}
    assert ask(world, "PreToolUse", **SHELL) == {}
    assert ask(world, "UserPromptSubmit", prompt="") == {}
    ask(world, "PreCompact", trigger="auto")
    assert ask(world, "PostCompact", trigger="auto", compact_summary="It goes on.") == {}
    assert text_of(ask(world, "SessionStart", source="compact")).count(RULE) == 1
    assert world.log() == ""


def test_a_rule_about_a_command_comes_with_its_result(world: World) -> None:
    world.brim("learn", "--user", "Tag the commit", "--when", "run git push")
    for number in range(120):  # so many that those about a command wait for it
        world.brim("learn", "--user", f"Rule {number}: {'indent, ' * 20}", "--when", "*.f90")
    ask(world, "SessionStart", source="startup")
    push: dict[str, Any] = {"tool_name": "run_shell_command", "tool_input": {"command": "git push"}}
    assert text_of(ask(world, "PreToolUse", **push)) == ""
    response = {"llmContent": "Output: pushed", "returnDisplay": "pushed"}
    assert "Tag the commit" in text_of(ask(world, "PostToolUse", **push, tool_response=response))


def test_a_limit_refuses_the_call_and_ends_the_turn_before_the_next_request(world: World) -> None:
    world.brim("limit", "10k tokens/session")
    ask(world, "UserPromptSubmit", prompt="go on")
    write_request(world, 1, 20_000)
    refused = ask(world, "PreToolUse", **SHELL)["hookSpecificOutput"]
    assert refused["permissionDecision"] == "deny"
    ended = ask(world, "UserPromptSubmit", prompt="")
    assert (ended["decision"], "The turn was ended" in ended["reason"]) == ("block", True)
    assert ask(world, "UserPromptSubmit", prompt="and on")["decision"] == "block"


def test_a_hook_for_another_agent_answers_in_its_form_unless_its_own_does(world: World) -> None:
    message = {"prompt": "go on", "hook_event_name": "UserPromptSubmit"}
    assert RULE in text_of(ask(world, "UserPromptSubmit", "claude", **message))
    assert ask(world, "PostToolBatch", "claude") == {}
    own = Path(world.environ["HOME"]) / ".qwen" / "settings.json"
    own.write_text('{"command": "/home/user/.brim/bin/hook SessionStart qwen"}')
    assert ask(world, "SessionStart", "claude", source="startup") == {}
    assert RULE in text_of(ask(world, "SessionStart", source="startup"))


def test_the_status_line_shows_what_was_sent_last() -> None:
    samples = Path(__file__).parents[1] / "recorded" / "data" / "qwen_statusline.jsonl"
    statuses = [read_status(json.loads(line), now=0) for line in samples.read_text().splitlines()]
    assert statuses[-1].used_tokens == 21_893
    assert statuses[-1].context_window == 1_000_000
    assert statuses[-1].model == "qwen3-coder-plus"
    cleared = [status for status in statuses if status.emptied]
    assert cleared
    assert all(status.used_tokens is None for status in cleared)
