"""An agent that goes in circles is held once; if it goes on, its user is told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.sittings import Sitting

TEST = {"command": "pytest -q"}


class Agent(Sitting):
    """An agent that makes calls: brim is asked before each, and what is held isn't made."""

    def make(self, name: str, given: dict[str, Any], out: str, *, fails: bool = False) -> str:
        """Make a call unless it is held; return the reason."""
        self.now += 1
        id = f"toolu_{int(self.now)}"
        answer = self.hook("PreToolUse", tool_name=name, tool_input=given, tool_use_id=id)
        self.note = str(answer.get("systemMessage", ""))
        specific = answer.get("hookSpecificOutput", {})
        reason = str(specific.get("permissionDecisionReason", ""))
        self.called(id, name, given)
        self.answered(
            id,
            f"PreToolUse:{name} hook error: {reason}" if reason else out,
            error=bool(reason) or fails,
        )
        return reason

    def test(self, error: str = "assert 2 == 3") -> str:
        """Run failing tests; the output differs as real ones do."""
        seconds = self.now % 7 + 0.31
        out = f"E   {error}\nFAILED tests/test_a.py::test_total\n1 failed in {seconds:.2f}s, pid {int(self.now)}"
        return self.make("Bash", TEST, f"Exit code 1\n{out}", fails=True)

    def edit(self, old: str, new: str) -> str:
        """Edit a file."""
        path = str(self.project / "a.py")
        return self.make(
            "Edit",
            {"file_path": path, "old_string": old, "new_string": new},
            "The file was updated.",
        )


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    found = Agent(tmp_path)
    found.prompt("make the tests pass")
    return found


def test_the_sixth_identical_failure_is_held_once_with_what_was_tried(agent: Agent) -> None:
    assert [agent.test() for _ in range(5)] == [""] * 5
    reason = agent.test()
    assert "`pytest -q` failed the same way 5 times" in reason
    assert "make it again" in reason
    assert agent.test() == ""


def test_the_second_time_the_person_is_told_and_the_agent_is_not_held(agent: Agent) -> None:
    reasons, notes = [], []
    for _ in range(20):
        reasons.append(agent.test())
        notes.append(agent.note)
    assert sum(map(bool, reasons)) == 1
    (note,) = filter(None, notes)
    assert note.startswith(
        "brim: the agent goes in circles: `pytest -q` failed the same way 5 times"
    )


def test_without_notes_the_person_is_not_told_and_the_agent_is_held(agent: Agent) -> None:
    (agent.home / "config.yaml").write_text("hooks:\n  notes: false\n")
    reasons = []
    notes = []
    for _ in range(20):
        reasons.append(agent.test())
        notes.append(agent.note)
    assert sum(map(bool, reasons)) == 1
    # A change of the settings within a session is said all the same, once.
    assert "config.yaml changed" in notes[0]
    assert not any(notes[1:])


def test_a_different_failure_is_not_the_same(agent: Agent) -> None:
    assert not any(agent.test(f"assert {number} == 3") for number in range(12))


def test_undone_edits_are_named(agent: Agent) -> None:
    for number in range(2):
        agent.edit("a = 1", f"a = {number + 2}")
        agent.test()
        agent.edit(f"a = {number + 2}", "a = 1")
    reason = next(filter(None, (agent.test() for _ in range(8))))
    assert "failed the same way 5 times; the last 2 edits were undone" in reason


def test_a_changed_file_starts_the_count_over(agent: Agent) -> None:
    for number in range(12):
        assert agent.test() == ""
        assert agent.edit(f"a = {number}", f"a = {number + 1}") == ""


def test_a_prompt_starts_the_count_over(agent: Agent) -> None:
    for _ in range(3):
        assert not any(agent.test() for _ in range(5))
        agent.prompt("run them again")
    assert not any(agent.test() for _ in range(5))
    assert agent.test()  # held once after each prompt
    agent.prompt("and again")
    assert not any(agent.test() for _ in range(5))
    assert agent.test()


def test_two_calls_in_turn_are_held_after_eight(agent: Agent) -> None:
    def turn(number: int) -> str:
        name = "one.py" if number % 2 == 0 else "two.py"
        return agent.make(
            "Read", {"file_path": f"/home/user/project/{name}"}, f"1\tfrom {name} import x\n" * 20
        )

    assert not any(turn(number) for number in range(8))
    reason = turn(8)
    assert "took turns for 8 calls" in reason
    assert "one.py" in reason
    assert "two.py" in reason


def test_an_edit_that_was_undone_and_made_again_is_held(agent: Agent) -> None:
    assert [
        agent.edit("x = 1", "x = 2"),
        agent.edit("x = 2", "x = 1"),
        agent.edit("x = 1", "x = 2"),
    ] == [""] * 3
    assert "the same edit" in agent.edit("x = 2", "x = 1")
    told = []
    for number in range(5):
        assert agent.edit(*(("x = 2", "x = 1") if number % 2 == 0 else ("x = 1", "x = 2"))) == ""
        told.append(agent.note)
    assert [bool(note) for note in told] == [False, False, False, True, False]


def test_writing_the_same_again_is_the_same_call_and_not_an_undone_edit(agent: Agent) -> None:
    def write() -> str:
        given = {"file_path": str(agent.project / "b.py"), "content": "x = 1\ny = 2\n"}
        return agent.make("Write", given, "File created successfully")

    assert not any(write() for _ in range(5))
    assert "gave the same result 5 times" in write()


def test_an_edit_taken_back_with_git_counts_as_undone(agent: Agent) -> None:
    for _ in range(2):
        assert agent.edit("x = 1", "x = 2") == ""
        agent.make("Bash", {"command": "git checkout -- a.py"}, "Updated 1 path from the index")
    assert "the same edit" in agent.edit("x = 1", "x = 2")


def test_tools_that_no_list_names_are_held_too(agent: Agent) -> None:
    def look(number: int) -> str:
        out = json.dumps(
            {"request": f"{number:032x}", "took_ms": number, "pid": 4_000 + number, "pages": []}
        )
        return agent.make("mcp__wiki__lookup", {"title": "How it works", "limit": 5}, out)

    assert [bool(look(number)) for number in range(6)] == [False] * 5 + [True]


def test_a_sub_agent_sent_out_again_and_again_is_held(agent: Agent) -> None:
    given = {
        "description": "Find it",
        "prompt": "Find the settings of the mail queue.",
        "subagent_type": "Explore",
    }
    reasons = [agent.make("Task", given, "I could not find them.") for _ in range(6)]
    assert ("gave the same result 5 times" in reasons[5], any(reasons[:5])) == (True, False)


@pytest.mark.parametrize(
    ("name", "given", "out"),
    [
        ("Bash", {"command": "sleep 30 && cat result.txt"}, "nothing yet"),
        ("Bash", {"command": "tail -5 train.log"}, "epoch 3"),
        ("Bash", {"command": "cat build.log"}, "compiling"),
        ("Bash", {"command": "./job 17"}, "RUNNING"),
        ("BashOutput", {"bash_id": "b1"}, "no new output"),
        ("mcp__deploy__get_job", {"id": 17}, '{"state": "in_progress"}'),
        ("mcp__ci__get_build", {"number": 812}, '{"state": "scheduled", "jobs": []}'),
        ("mcp__deploy__get_job", {"id": 17}, "built 45%"),
        ("mcp__browser__click", {"selector": "#next"}, "Clicked #next"),
        ("mcp__browser__screenshot", {}, ""),
        ("TodoWrite", {"todos": []}, "Todos have been modified successfully"),
    ],
)
def test_waiting_and_what_shows_nothing_is_no_loop(
    agent: Agent, name: str, given: dict[str, Any], out: str
) -> None:
    assert not any(agent.make(name, given, out) for _ in range(12))


def test_a_look_between_new_things_is_no_loop(agent: Agent) -> None:
    for number in range(12):
        assert agent.make("Bash", {"command": "git status --short"}, " M a.py") == ""
        assert (
            agent.make("Read", {"file_path": f"/home/user/project/{number}.py"}, f"1\tx = {number}")
            == ""
        )


def test_passing_errors_get_two_more_tries(agent: Agent) -> None:
    def install() -> str:
        return agent.make(
            "Bash",
            {"command": "npm install"},
            "Exit code 1\nnpm ERR! network ETIMEDOUT",
            fails=True,
        )

    assert [bool(install()) for _ in range(8)] == [False] * 7 + [True]


def test_a_setting_changes_the_number_or_turns_it_off(agent: Agent) -> None:
    agent.environ["BRIM_HOOKS_LOOPS"] = "3"
    assert [bool(agent.test()) for _ in range(4)] == [False] * 3 + [True]
    agent.prompt("again")
    agent.environ["BRIM_HOOKS_LOOPS"] = "off"
    assert not any(agent.test() for _ in range(12))


def test_a_project_cannot_turn_it_off(agent: Agent) -> None:
    (agent.project / ".brim").mkdir()
    (agent.project / ".brim" / "config.yaml").write_text("hooks:\n  loops: off\n", encoding="utf-8")
    assert [bool(agent.test()) for _ in range(6)] == [False] * 5 + [True]


def test_a_secret_in_a_command_is_masked(agent: Agent) -> None:
    given = {"command": "deploy --token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}
    reasons = [
        agent.make("Bash", given, "Exit code 1\nError: no such target", fails=True)
        for _ in range(6)
    ]
    assert "deploy" in reasons[-1]
    assert "ghp_abc" not in reasons[-1]


def test_a_sub_agent_is_counted_by_its_own_file(agent: Agent) -> None:
    for _ in range(5):
        agent.test()
    sent: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": TEST,
        "tool_use_id": "t",
        "agent_id": "a270",
    }
    assert agent.hook("PreToolUse", **sent) == {}
    main, agent.transcript = (
        agent.transcript,
        agent.transcript.with_suffix("") / "subagents" / "agent-a270.jsonl",
    )
    agent.transcript.parent.mkdir(parents=True)
    lines = main.read_text(encoding="utf-8").replace(
        '"isSidechain":false', '"isSidechain":true,"agentId":"a270"'
    )
    agent.transcript.write_text(lines, encoding="utf-8")
    agent.transcript = main
    assert "5 times" in str(agent.hook("PreToolUse", **sent))


@pytest.mark.parametrize(
    "given", [{}, {"command": None}, {"command": ["pytest", 3]}, {"command": {"a": []}}, {"a": "é"}]
)
def test_odd_inputs_are_let_through(agent: Agent, given: dict[str, Any]) -> None:
    for _ in range(3):
        agent.make("Bash", given, "ok")
    assert agent.log() == ""


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\xff" * 1000, b"\n" * 9000, b'{"type":"user"', b'"pytest -q"' * 9, b"[]\n" * 9],
)
def test_a_transcript_that_cannot_be_read_holds_nothing(agent: Agent, content: bytes) -> None:
    agent.transcript.write_bytes(content)
    assert agent.hook("PreToolUse", tool_name="Bash", tool_input=TEST, tool_use_id="t") == {}
    agent.transcript.unlink()
    assert agent.hook("PreToolUse", tool_name="Bash", tool_input=TEST, tool_use_id="t") == {}
    os.mkfifo(agent.transcript)
    assert agent.hook("PreToolUse", tool_name="Bash", tool_input=TEST, tool_use_id="t") == {}
    assert agent.log() == ""


def test_a_state_that_cannot_be_written_holds_nothing(agent: Agent) -> None:
    for _ in range(5):
        agent.test()
    state = agent.home / "state"
    for file in state.iterdir() if state.exists() else ():
        file.unlink()
    if state.exists():
        state.rmdir()
    state.write_text("not a folder", encoding="utf-8")
    assert not any(agent.test() for _ in range(3))


def codex_lines(number: int, command: str, out: str) -> list[dict[str, Any]]:
    """A call and its result in a rollout."""
    call = {"type": "function_call", "name": "exec_command", "call_id": f"c{number}"}
    call["arguments"] = json.dumps({"cmd": command})
    said = f"Chunk ID: {number:06x}\nWall time: 0.{number} seconds\nProcess exited with code 1\nOutput:\n{out}"
    answer = {"type": "function_call_output", "call_id": f"c{number}", "output": said}
    return [{"type": "response_item", "payload": each} for each in (call, answer)]


def gemini_lines(number: int, command: str, out: str) -> list[dict[str, Any]]:
    """A call and its result in Gemini CLI's file."""
    response = {"output": f"{out}\nExit Code: 1\nProcess Group PGID: {number}"}
    result = [
        {
            "functionResponse": {
                "id": f"c{number}",
                "name": "run_shell_command",
                "response": response,
            }
        }
    ]
    call = {
        "id": f"c{number}",
        "name": "run_shell_command",
        "args": {"command": command},
        "status": "success",
    }
    return [
        {
            "type": "gemini",
            "id": f"g{number}",
            "content": "",
            "toolCalls": [{**call, "result": result}],
        }
    ]


@pytest.mark.parametrize(
    ("client", "event", "tool", "lines"),
    [
        ("codex", "PreToolUse", "Bash", codex_lines),
        ("gemini", "BeforeTool", "run_shell_command", gemini_lines),
    ],
)
def test_codex_and_gemini_are_held_in_their_own_words(
    tmp_path: Path,
    client: str,
    event: str,
    tool: str,
    lines: Callable[[int, str, str], list[dict[str, Any]]],
) -> None:
    sitting = Sitting(tmp_path)
    command, answers = 'go test ./... -run "Total"', []
    for number in range(7):
        answers.append(sitting.hook(event, client, tool_name=tool, tool_input={"command": command}))
        with sitting.transcript.open("a", encoding="utf-8") as file:
            for line in lines(
                number, command, f"--- FAIL: TestTotal (0.0{number}s)\n    a_test.go:9: got 2"
            ):
                file.write(json.dumps(line) + "\n")
    held = answers[5].get("hookSpecificOutput") or answers[5]
    assert held.get("permissionDecision", held.get("decision")) == "deny"
    assert "failed the same way 5 times" in str(held)
    assert [bool(answer) for answer in answers] == [False] * 5 + [True, False]


def test_a_patch_that_is_undone_and_made_again_is_held(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)

    def patch(old: str, new: str) -> dict[str, Any]:
        text = f"*** Begin Patch\n*** Update File: a.py\n@@\n-{old}\n+{new}\n*** End Patch"
        answer = sitting.hook(
            "PreToolUse", "codex", tool_name="apply_patch", tool_input={"command": text}
        )
        id = f"c{int(sitting.now)}"
        call = {"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": text}
        result = {
            "type": "custom_tool_call_output",
            "call_id": id,
            "output": "Success. Updated a.py",
        }
        with sitting.transcript.open("a", encoding="utf-8") as file:
            for payload in (call, result):
                file.write(json.dumps({"type": "response_item", "payload": payload}) + "\n")
        return answer

    assert [
        patch("limit = 5", "limit = 9"),
        patch("limit = 9", "limit = 5"),
        patch("limit = 5", "limit = 9"),
    ] == [{}] * 3
    assert "`a.py` was undone and made again" in str(patch("limit = 9", "limit = 5"))
