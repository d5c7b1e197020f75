"""Dead ends in what the clients really write: read by the readers, found by the detector."""

from __future__ import annotations

import json
from typing import Any

from brim.agents.readers import AnyReader
from brim.memory.repetition import RepetitionDetector

FILE = "src/parser.py"


def statuses(lines: list[dict[str, Any]]) -> list[tuple[str, str]]:
    reader, detector = AnyReader(), RepetitionDetector()
    found = [
        one for line in lines for event in reader.events(line) for one in detector.update(event)
    ]
    return [(one.rule, one.status) for one in found]


def rollout(*items: dict[str, Any]) -> list[dict[str, Any]]:
    head = {
        "type": "session_meta",
        "payload": {"id": "s1", "cwd": "/home/user/project", "cli_version": "0.166.0"},
    }
    return [head, *[{"type": "response_item", "payload": item} for item in items]]


def codex(call: str, name: str, given: str, output: str) -> list[dict[str, Any]]:
    kind = "custom_tool_call" if name == "apply_patch" else "function_call"
    told = {"input": given} if name == "apply_patch" else {"arguments": given}
    return [
        {"type": kind, "call_id": call, "name": name, **told},
        {"type": f"{kind}_output", "call_id": call, "output": output},
    ]


def patch(old: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-{old}\n+{new}\n*** End Patch"


def shell(call: str, command: str, code: int, text: str) -> list[dict[str, Any]]:
    output = f"Chunk ID: {call}\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{text}"
    return codex(call, "exec_command", json.dumps({"cmd": command}), output)


def test_codex_patch_that_undoes_another_is_an_undone_edit() -> None:
    items = [
        *codex(
            "1",
            "apply_patch",
            patch("a()", "b()"),
            "Success. Updated the following files:\nM src/parser.py",
        ),
        *shell("2", "pytest", 1, "FAILED tests/test_parser.py::test - error"),
        *codex(
            "3",
            "apply_patch",
            patch("b()", "a()"),
            "Success. Updated the following files:\nM src/parser.py",
        ),
        *codex(
            "4",
            "apply_patch",
            patch("a()", "c()"),
            "Success. Updated the following files:\nM src/parser.py",
        ),
    ]
    assert statuses(rollout(*items)) == [("undone-edit", "confirmed")]


def test_codex_command_that_keeps_failing_is_a_dead_end() -> None:
    items = [
        item
        for i in range(3)
        for item in shell(str(i), "python app.py", 1, f"app.py:{i}: KeyError: 'name'")
    ]
    assert statuses(rollout(*items)) == [("same-call", "confirmed")]


def test_codex_command_that_is_refused_is_none() -> None:
    items = [item for i in range(5) for item in shell_refused(str(i))]
    assert statuses(rollout(*items)) == []


def shell_refused(call: str) -> list[dict[str, Any]]:
    return codex(
        call, "exec_command", json.dumps({"cmd": "rm -rf build"}), "exec command rejected by user"
    )


def test_opencode_edit_that_git_takes_back_is_confirmed() -> None:
    def part(
        call: str, tool: str, given: dict[str, Any], output: str, *, exit: int = 0
    ) -> dict[str, Any]:
        metadata = {"exit": exit}
        state = {"status": "completed", "input": given, "output": output, "metadata": metadata}
        return {
            "type": "tool_use",
            "sessionID": "s1",
            "part": {"type": "tool", "tool": tool, "callID": call, "state": state},
        }

    lines = [
        part(
            "1",
            "edit",
            {"filePath": f"/home/user/project/{FILE}", "oldString": "a()", "newString": "b()"},
            "ok",
        ),
        part("c", "bash", {"command": "pytest"}, "FAILED a.py::test - error", exit=1),
        part("2", "bash", {"command": f"git checkout -- {FILE}"}, ""),
        *[part(f"l{i}", "bash", {"command": f"ls {i}"}, f"{i}") for i in range(9)],
    ]
    assert statuses(lines) == [("undone-edit", "confirmed")]


def test_claude_batch_with_one_failure_is_no_dead_end() -> None:
    lines: list[dict[str, Any]] = []
    for batch in range(4):
        ids = [f"{batch}-{i}" for i in range(4)]
        calls = [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make all"}}
            for id in ids
        ]
        message = {
            "id": f"m{batch}",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": calls,
        }
        lines.append(
            {
                "type": "assistant",
                "message": message,
                "session_id": "s1",
                "parent_tool_use_id": None,
            }
        )
        for i, id in enumerate(ids):
            text = (
                f"Exit code 2\nerror: target {batch} is gone"
                if i == 0
                else "<tool_use_error>Sibling tool call errored</tool_use_error>"
            )
            result = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": True}
            lines.append(
                {
                    "type": "user",
                    "message": {"role": "user", "content": [result]},
                    "session_id": "s1",
                }
            )
    assert statuses(lines) == []
