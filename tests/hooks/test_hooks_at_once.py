"""Many agents on one store: nobody waits for what another could have done before it took the
lock."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brim.install.launchers import install_launcher
from tests.hooks.hook_world import RULE, World, patient

WATCHED = """
import sys
from brim.rules.state import RulesState

locked, found = [], []
sys.addaudithook(lambda event, given: event == "import" and locked and found.append(given[0]) or None)
run = RulesState._run


def watched(self, sql, values=()):
    changed = run(self, sql, values)
    if sql == "BEGIN IMMEDIATE":
        locked.append(sql)
    elif sql == "COMMIT":
        locked.clear()
        print("committed", file=sys.stderr)
    return changed


RulesState._run = watched
from brim.hooks import process
from brim.hooks.process import main

process.SECONDS = 600
main([sys.argv[1], "claude"], sys.stdin, sys.stdout)
print(sorted(found), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("event", "given"),
    [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "Use uv again, and run pytest -q"}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "pip install x"}}),
    ],
)
def test_no_module_is_looked_for_while_the_store_is_locked(
    tmp_path: Path, event: str, given: dict[str, Any]
) -> None:
    world = World(tmp_path)
    with world.rules.open("a", encoding="utf-8") as file:
        file.write('\n[use-x]\ntext = "Tests need a database."\nwhen = "run pytest"\n')
    world.compile()
    ran = subprocess.run(
        [sys.executable, "-I", "-c", WATCHED, event],
        input=json.dumps(world.message(event, **given)),
        env=world.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "hookSpecificOutput" in ran.stdout
    *commits, modules = ran.stderr.splitlines()
    assert set(commits) == {"committed"}
    assert modules == "[]"


def end_the_time_at_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the alarm of hooks ring when they find a file locked, however fast or slow the machine
    is."""
    flock = fcntl.flock

    def flock_or_ring(file: Any, operation: int) -> None:
        try:
            flock(file, operation)
        except BlockingIOError:
            signal.raise_signal(signal.SIGALRM)
            raise

    monkeypatch.setattr("fcntl.flock", flock_or_ring)


def test_what_is_noted_as_told_is_said_though_the_time_ends_before_the_journal_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    (world.project / ".context").mkdir(mode=0o700)
    monkeypatch.setattr("brim.hooks.scratchpad.PATIENCE", 600.0)
    with open(world.project / ".context" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        end_the_time_at_a_lock(monkeypatch)
        said = world.call("UserPromptSubmit", world.message("UserPromptSubmit", prompt="use uv"))
    assert RULE in said
    log = (world.home / "log" / "hook.log").read_text(encoding="utf-8")
    assert log.endswith("UserPromptSubmit claude: took too long: only what was ready is answered\n")
    assert world.call("UserPromptSubmit", world.message("UserPromptSubmit", prompt="use uv")) == ""


def test_rules_that_the_time_did_not_suffice_for_are_told_with_the_next_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    (world.project / ".context").mkdir(mode=0o700)
    where = {"session_id": "g", "cwd": str(world.project), "transcript_path": str(world.transcript)}

    def after_tool() -> str:
        return world.call(
            "AfterTool", {**where, "tool_name": "read_file", "tool_input": {}}, "gemini"
        )

    world.call("BeforeAgent", {**where, "prompt": "Make the parser fast"}, "gemini")
    for tokens in (900_000, 100_000):  # it was compressed in between
        world.call("PreCompress", {**where, "trigger": "auto"}, "gemini")
        usage = {
            "promptTokenCount": tokens,
            "candidatesTokenCount": 1,
            "totalTokenCount": tokens + 1,
        }
        model = {
            "llm_request": {"model": "gemini-2.5-flash"},
            "llm_response": {"usageMetadata": usage},
        }
        world.call("AfterModel", {**where, **model}, "gemini")
    monkeypatch.setattr("brim.hooks.scratchpad.PATIENCE", 600.0)
    with open(world.project / ".context" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        end_the_time_at_a_lock(monkeypatch)
        assert RULE not in after_tool()
    assert "took too long" in world.log()
    assert RULE in after_tool()
    assert RULE not in after_tool()


def test_twenty_hooks_at_once_on_a_missing_index_all_tell_and_refuse(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.rules.write_text(
        f'[use-uv]\ntext = "{RULE}"\nblock = ["pip install"]\n', encoding="utf-8"
    )
    world.index.unlink()
    start = json.dumps(world.message("SessionStart", source="startup")).encode()
    tool = {"tool_name": "Bash", "tool_input": {"command": "pip install x"}, "tool_use_id": "t"}
    call = json.dumps(world.message("PreToolUse", **tool)).encode()
    launcher = patient(install_launcher(str(world.home)))
    processes = []
    for number in range(20):
        event = ("SessionStart", "PreToolUse")[number % 2]
        process = subprocess.Popen(
            [launcher, event, "claude"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=world.environ,
        )
        assert process.stdin is not None
        process.stdin.write((start, call)[number % 2])
        process.stdin.close()
        processes.append(process)
    for process in processes:
        assert process.stdout is not None
        assert RULE in process.stdout.read().decode()
        process.stdout.close()
        assert process.wait(300) == 0
    assert RULE in world.call("SessionStart", world.message("SessionStart", source="clear"))
