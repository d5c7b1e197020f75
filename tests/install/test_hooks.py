"""What ``brim init`` installs does what was asked: the commands in the settings are run as an agent
runs them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember
from tests.hooks.hook_world import patient
from tests.install.installed import alone, events, file_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")

RULE = "Never push to main."


def called(brim: Brim, event: str, *, env: dict[str, str] | None = None, **given: Any) -> str:
    """Run the hook that the user's settings of Claude Code name for *event*; return what it
    says."""
    [group] = events(file_of(brim))[event]
    sent = {
        "session_id": "s-1",
        "hook_event_name": event,
        "cwd": str(brim.cwd),
        "transcript_path": "",
        **given,
    }
    command = group["hooks"][0]["command"]
    patient(shlex.split(command)[0])
    done = subprocess.run(
        command,
        shell=True,
        input=json.dumps(sent).encode(),
        capture_output=True,
        env={**brim.environ, **(env or {})},
        cwd=brim.cwd,
        check=True,
    )
    return done.stdout.decode()


def test_a_home_that_only_the_installing_shell_named_is_the_hooks_home_too(brim: Brim) -> None:
    home = {"BRIM_HOME": str(brim.home / "it's my } brim")}
    alone(brim, "init", "--agent", "claude", env=home)
    brim("learn", RULE, "--user", env=home)
    assert RULE in called(brim, "SessionStart", source="startup")
    assert not (brim.home / ".brim").exists()
    other = brim.home / "other"
    other.mkdir()
    assert RULE in called(brim, "SessionStart", source="clear", env={"BRIM_HOME": str(other)})
    assert not [*other.iterdir()]


def test_hooks_keep_to_the_budget_and_the_environment_still_wins(brim: Brim) -> None:
    for number in range(30):
        remember(
            brim,
            behavior(f"rule-{number}", "directive", f"Rule {number} says what to do."),
            scope="user",
        )
    alone(brim, "init", "--agent", "claude", "--token-budget", "60")
    told = called(brim, "SessionStart", source="startup")
    text = json.loads(told)["hookSpecificOutput"]["additionalContext"]
    assert 0 < brim("dev", "count", "--json", stdin=text).json["tokens"] <= 60
    more = called(brim, "SessionStart", source="startup", env={"BRIM_TOKEN_BUDGET": "200"})
    assert len(more) > len(told)
    alone(brim, "upgrade", "--token-budget", "0")
    assert called(brim, "SessionStart", source="startup") == ""


@pytest.mark.parametrize("hooks", ["all", "injection-only"])
def test_hooks_that_only_inject_write_nothing_down(brim: Brim, hooks: str) -> None:
    (brim.cwd / ".git").mkdir()
    brim("learn", RULE)
    alone(brim, "init", "--agent", "claude", "--hooks", hooks)
    called(brim, "UserPromptSubmit", prompt="Let us use port 8443 from now on.")
    called(brim, "PostCompact", trigger="manual", compact_summary="The person wants another port.")
    assert ("PreCompact" in events(file_of(brim))) == (hooks == "all"), (
        "it would have nothing to say"
    )
    assert (brim.cwd / ".context").exists() == (hooks == "all")


def test_hooks_that_only_inject_count_no_money(brim: Brim, tmp_path: Path) -> None:
    alone(brim, "init", "--agent", "claude", "--hooks", "injection-only")
    brim("limit", "--all", "1")
    usage = {"input_tokens": 900_000, "output_tokens": 9_000}
    message = {
        "id": "m-1",
        "model": "claude-sonnet-4-5",
        "role": "assistant",
        "content": [],
        "usage": usage,
    }
    line = {"type": "assistant", "sessionId": "s-1", "requestId": "r-1", "message": message}
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps(line) + "\n")
    command = [patient(str(brim.home / ".brim/bin/hook")), "Stop", "claude"]
    sent = {
        "session_id": "s-1",
        "hook_event_name": "Stop",
        "cwd": str(brim.cwd),
        "transcript_path": str(transcript),
    }
    for more, spent in ((["injection-only"], False), ([], True)):
        given = json.dumps(sent).encode()
        subprocess.run([*command, *more], input=given, env=brim.environ, cwd=brim.cwd, check=True)
        shown = brim("limit", "--json").json["limits"][0]
        assert (shown["spent"] > 0) is spent


def test_databases_that_cannot_be_used_are_made_anew(brim: Brim) -> None:
    (brim.home / ".brim").mkdir(mode=0o700)
    for name in ("rules.db", "state.db", "index.db"):
        (brim.home / ".brim" / name).write_bytes(b"no database" * 999)
    assert alone(brim, "init", "--agent", "claude").code == 0
    assert alone(brim, "learn", "--user", "Never push to main.").code == 0
    assert "Never push to main." in called(brim, "SessionStart", source="startup")


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("claude", "claude mcp add --scope user brim -- "),
        ("codex", "codex mcp add brim -- "),
        ("gemini", "gemini mcp add --scope user brim "),
    ],
)
def test_it_says_how_an_agent_gets_the_server(brim: Brim, agent: str, command: str) -> None:
    assert command in alone(brim, "init", "--agent", agent).err
    assert command not in alone(brim, "init", "--agent", agent).err  # nothing is new


def test_who_has_the_server_is_not_told_how_to_get_it(brim: Brim) -> None:
    (brim.home / ".claude.json").write_text(
        '{"mcpServers": {"brim": {"command": "brim", "args": ["mcp"]}}}'
    )
    assert "mcp add" not in alone(brim, "init", "--agent", "claude").err
