"""Cursor runs the hooks of Claude Code's settings, with input of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.hook_world import RULE, World

SESSION = "5811c9a3-9cb5-4ce5-89c8-7e93c4d5dd1d"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def ask(world: World, event: str, name: str, **data: Any) -> dict[str, Any]:
    """Return what is answered to an event, which Cursor calls *name*."""
    sent = {
        "conversation_id": SESSION,
        "session_id": SESSION,
        "generation_id": "g1",
        "model": "cursor-grok-4.6-high-fast",
        "hook_event_name": name,
        "cursor_version": "2026.08.11-e8db854",
        "workspace_roots": [str(world.project)],
        "transcript_path": None,
        "cwd": "",
        **data,
    }
    answer: dict[str, Any] = json.loads(world.call(event, sent, CURSOR_VERSION="3.2") or "{}")
    return answer


def test_rules_are_told_and_calls_refused_in_the_form_that_it_reads(world: World) -> None:
    world.brim("learn", "--user", "--block", "npm install", "Use pnpm")
    told = ask(world, "SessionStart", "sessionStart")["hookSpecificOutput"]
    assert told["additionalContext"].count(RULE) == 1
    shell = {"tool_name": "Shell", "tool_input": {"command": "npm install"}}
    refused = ask(world, "PreToolUse", "preToolUse", **shell)["hookSpecificOutput"]
    assert refused["permissionDecision"] == "deny"
    assert world.log() == ""


def test_its_project_is_that_of_its_window(world: World) -> None:
    (world.project / ".brim" / "rules.toml").write_text('[mine]\ntext = "Run make check."\n')
    world.accept()
    assert "Run make check." in str(ask(world, "SessionStart", "sessionStart"))


def test_what_it_sends_may_begin_with_a_mark(world: World) -> None:
    data = {"session_id": SESSION, "cwd": str(world.project), "source": "startup"}
    assert RULE in world.call("SessionStart", b"\xef\xbb\xbf" + json.dumps(data).encode())


def test_a_claude_code_that_it_starts_is_claude_code(world: World) -> None:
    data = {"session_id": SESSION, "cwd": str(world.project), "source": "startup"}
    assert RULE in world.call("SessionStart", data, CURSOR_VERSION="3.2")
