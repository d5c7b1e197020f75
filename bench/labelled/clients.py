"""Sessions as Claude Code, Codex and Gemini CLI write them to disk, with brim's hook asked before
every call.

A ``Sitting`` is a ``Session`` that keeps a transcript instead of a stream. A call that the hook
holds is written as refused, and then made after all: the agent goes on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from brim.hooks.process import answer_to
from labelled.streams import Line, Session

CLIENTS = ("claude", "codex", "gemini")
_BEFORE = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}
_GEMINI = {
    "Bash": "run_shell_command",
    "Edit": "replace",
    "Write": "write_file",
    "Read": "read_file",
}
_START = 1_794_700_000


class Sitting(Session):
    """One session with a home and a transcript in *folder*."""

    def __init__(self, shape: str, seed: str, folder: Path) -> None:
        super().__init__(shape, seed)
        self.home, self.transcript = folder / "home", folder / "session.jsonl"
        self.home.mkdir(parents=True)
        self.calls = 0
        self.holds: list[int] = []
        """Before which calls the hook held one."""
        self.reasons: list[str] = []
        self.notes: list[str] = []
        self.due: int | None = None
        """The first call of a loop that may be held."""
        if shape == "codex":
            self._line("session_meta", {"id": self.id, "cwd": "/home/user/project"})
        if shape == "gemini":
            self._write({"sessionId": self.id, "projectHash": "0", "kind": "main"})
        self.human(f"Please fix the {self.name}.")

    def loops(self) -> None:
        """Say that from here on the agent goes in circles, and that its next call may be held."""
        self.due = self.calls

    def sh(self, command: str, out: str = "", code: int = 0) -> None:
        """Run a *command*."""
        self._made("Bash", {"command": command}, out, code)

    def edit(self, path: str, old: str, new: str, error: str = "") -> None:
        """Replace *old* by *new*, or get *error* for it."""
        given = {"file_path": path, "old_string": old, "new_string": new}
        self._made(
            "Edit", given, error or f"The file {path} has been updated successfully.", bool(error)
        )

    def write(self, path: str, content: str) -> None:
        """Write the whole of a file."""
        self._made(
            "Write",
            {"file_path": path, "content": content},
            f"File created successfully at: {path}",
        )

    def read(self, path: str, out: str = "", error: str = "") -> None:
        """Read a file."""
        if self.shape == "codex":
            self.sh(f"cat {path}", error or out, 1 if error else 0)
        else:
            self._made("Read", {"file_path": path}, error or out, bool(error))

    def tool(
        self, name: str, given: Line, out: str, error: bool = False, *_: Any, **__: Any
    ) -> None:
        """Call any tool by its own name."""
        self._made(name, given, out, error)

    def say(self, text: str) -> None:
        """Let the agent say something."""
        if self.shape == "claude":
            self._entry("assistant", [{"type": "text", "text": text}])
        elif self.shape == "codex":
            content = [{"type": "output_text", "text": text}]
            self._line(
                "response_item", {"type": "message", "role": "assistant", "content": content}
            )
        else:
            self._write({"type": "gemini", "id": self._id(), "content": text, "model": "gemini-3"})

    def human(self, text: str) -> None:
        """Let a person type something."""
        if self.shape == "claude":
            self._entry("user", text)
        elif self.shape == "codex":
            content = [{"type": "input_text", "text": text}]
            self._line("response_item", {"type": "message", "role": "user", "content": content})
        else:
            self._write({"type": "user", "id": self._id(), "content": [{"text": text}]})

    def _made(self, name: str, given: Line, out: str, failed: int | bool = False) -> None:
        answer = self._asked(name, given)
        reason = self._reason(answer)
        if reason:
            self.holds.append(self.calls)
            self.reasons.append(reason)
            self._called(
                name,
                given,
                f"{_BEFORE[self.shape]}:{name} hook error: {reason}",
                failed=True,
                ran=False,
            )
        if answer.get("systemMessage"):
            self.notes.append(answer["systemMessage"])
        self.calls += 1
        self._called(name, given, out, failed)

    def _asked(self, name: str, given: Line) -> Line:
        """Return what the hook answers before a call."""
        tool, sent = name, given
        if self.shape == "codex" and name in ("Edit", "Write"):
            tool, sent = "apply_patch", {"command": _patch(given)}
        elif self.shape == "gemini":
            tool = _GEMINI.get(name, name)
        data: Line = {
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": "/home/user/project",
        }
        data |= {"hook_event_name": _BEFORE[self.shape], "tool_name": tool, "tool_input": sent}
        environ = {"HOME": str(self.home.parent), "BRIM_HOME": str(self.home)}
        found = answer_to(_BEFORE[self.shape], self.shape, data, environ, now=_START + self._count)
        return dict(json.loads(found)) if found else {}

    def _reason(self, answer: Line) -> str:
        specific = answer.get("hookSpecificOutput", {})
        if self.shape == "gemini":
            return str(answer.get("reason", "")) if answer.get("decision") == "deny" else ""
        return str(specific.get("permissionDecisionReason", ""))

    def _called(
        self, name: str, given: Line, out: str, failed: int | bool, *, ran: bool = True
    ) -> None:
        """Write a call and its result as the client does; *ran* is whether it wasn't refused."""
        id = self._id()
        if self.shape == "claude":
            self._entry("assistant", [{"type": "tool_use", "id": id, "name": name, "input": given}])
            text = f"Exit code {int(failed)}\n{out}" if name == "Bash" and failed and ran else out
            self._entry(
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": id,
                        "content": text,
                        "is_error": bool(failed),
                    }
                ],
            )
        elif self.shape == "codex":
            self._codex(id, name, given, out, failed, ran=ran)
        else:
            said = f"{out}\nExit Code: {int(failed)}" if name == "Bash" and failed and ran else out
            ok = not failed or (name == "Bash" and ran)
            response = {"output": said} if ok else {"error": said}
            call = {
                "id": id,
                "name": _GEMINI.get(name, name),
                "args": given,
                "status": "success" if ok else "error",
            }
            result = [{"functionResponse": {"id": id, "name": call["name"], "response": response}}]
            line = {"type": "gemini", "id": f"g{id}", "content": "", "model": "gemini-3"}
            self._write({**line, "toolCalls": [{**call, "result": result}]})

    def _codex(
        self, id: str, name: str, given: Line, out: str, failed: int | bool, *, ran: bool
    ) -> None:
        call: Line = {
            "call_id": id,
            "type": "function_call",
            "name": name,
            "arguments": json.dumps(given),
        }
        answer = "function_call_output"
        if name == "Bash":
            call |= {"name": "exec_command", "arguments": json.dumps({"cmd": given["command"]})}
            took = f"Chunk ID: {self.random.getrandbits(24):06x}\nWall time: {self.took()[:-1]} seconds\n"
            out = f"{took}Process exited with code {int(failed)}\nOutput:\n{out}" if ran else out
        elif name in ("Edit", "Write"):
            call = {
                "call_id": id,
                "type": "custom_tool_call",
                "name": "apply_patch",
                "input": _patch(given),
            }
            answer = "custom_tool_call_output"
        self._line("response_item", call)
        success = {} if ran and not failed else {"success": False}
        output: Any = {"content": out, **success} if success and name != "Bash" else out
        self._line("response_item", {"type": answer, "call_id": id, "output": output})

    def _entry(self, role: str, content: Any) -> None:
        message = {"role": role, "content": content, "id": f"m{self._count}"}
        own = {"model": "claude-opus-5-5"} if role == "assistant" else {}
        line = {
            "type": role,
            "isSidechain": False,
            "sessionId": self.id,
            "uuid": f"u{self._count}-{self.calls}",
        }
        self._write({**line, "cwd": "/home/user/project", "message": {**message, **own}})

    def _line(self, type: str, payload: Line) -> None:
        self._write({"type": type, "payload": payload})

    def _write(self, line: Line) -> None:
        self._count += 1
        stamp = f"2026-11-15T{self._count // 3600 % 24:02}:{self._count // 60 % 60:02}:{self._count % 60:02}.000Z"
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "timestamp": stamp}, separators=(",", ":")) + "\n")


def _patch(given: Line) -> str:
    def lines(sign: str, text: str) -> list[str]:
        return [sign + line for line in text.splitlines()]

    path = given["file_path"]
    if "content" in given:
        body = [f"*** Add File: {path}", *lines("+", given["content"])]
    else:
        changed = [*lines("-", given["old_string"]), *lines("+", given["new_string"])]
        body = [f"*** Update File: {path}", "@@", *changed]
    return "\n".join(["*** Begin Patch", *body, "*** End Patch"])
