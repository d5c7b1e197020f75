"""On a disk without room, nothing can be stored, but hooks and commands still read what is
there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from brim.rules.state import RulesState
from tests.cli.conftest import COMMAND, Brim
from tests.cli.stored import behavior, remember
from tests.install.installed import alone, let_hooks_wait

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")


def without_room() -> None:
    """Let no file grow in this process: what a full disk does to SQLite, for any user."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def run(brim: Brim, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        input=stdin,
        env=brim.environ,
        cwd=brim.cwd,
        capture_output=True,
        text=True,
        preexec_fn=without_room,
        timeout=300,
        check=False,
    )


def hook(brim: Brim, event: str, **fields: object) -> str:
    """Return what the installed hook answers."""
    given: dict[str, object] = {
        "session_id": "s1",
        "cwd": str(brim.cwd),
        "hook_event_name": event,
        **fields,
    }
    done = run(
        brim, str(brim.home / ".brim" / "bin" / "hook"), event, "claude", stdin=json.dumps(given)
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


OTHER = """\
import os, sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("INSERT INTO permissions VALUES ('other', 'user', 'other', 0)")
other.commit()
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
"""
"""Another process that writes, and never closes the file: as a hook does."""


@pytest.fixture(params=["closed", "open", "ended"])
def full(brim: Brim, request: pytest.FixtureRequest) -> Iterator[Brim]:
    """A home with a rule and a stopped project. Another process has *closed* the database, or not,
    or just *ended*."""
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--agent", "claude")
    let_hooks_wait(brim)
    remember(brim, behavior("b-1", "constraint", "Never push to main."), scope="user")
    brim("limit", "5")
    brim("limit", "stop")
    if request.param == "closed":
        yield brim
        return
    with closing(RulesState(str(brim.home / ".brim"), now=time.time())) as state:
        state.allow("other", "user")
    words = [sys.executable, "-c", OTHER, str(brim.home / ".brim" / "state.db")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "ready\n"
        if request.param == "ended":
            other.stdin.close()
            other.wait(timeout=300)
        yield brim


def test_hooks_still_tell_rules_and_hold_a_limit(full: Brim) -> None:
    assert "Never push to main." in hook(full, "SessionStart", source="startup")
    asked = hook(full, "PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    assert json.loads(asked)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_commands_still_show_what_is_stored_and_say_why_nothing_more_can_be(full: Brim) -> None:
    path = full.home / ".brim" / "rules.toml"
    before = path.read_bytes()
    assert "Never push to main." in run(full, COMMAND, "rules").stdout
    assert "stopped" in run(full, COMMAND, "limit").stdout
    taught = run(full, COMMAND, "learn", "--user", "Use uv.")
    assert (taught.returncode, taught.stdout) == (2, "")
    assert taught.stderr.startswith("brim: ~/.brim/rules.toml: ")
    assert path.read_bytes() == before
