"""Synthetic sessions of coding agents, line by line as the clients write them, with what is in them
known beforehand.

A ``Session`` writes lines of Claude Code's stream or of Codex's ``exec --json``. A scenario is a
function that writes one; ``@scenario`` says what a detector should find in it. The same seed gives
the same lines.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

Line = dict[str, Any]

CLAUDE = ("claude", "claude-bare")
"""The shapes that tell what is in an edit; the second without the whole text of the file."""

_NAMES = (
    "parser",
    "billing",
    "router",
    "scheduler",
    "invoice",
    "session",
    "matcher",
    "loader",
    "exporter",
    "quota",
)
_FOLDERS = ("src", "app", "core", "pkg", "lib/internal", "services/api")


@dataclass(frozen=True)
class Scenario:
    """One family of sessions. Empty *expects* is a look-alike: nothing may be found."""

    name: str
    write: Callable[[Session], None]
    expects: dict[str, str] = field(default_factory=dict)
    """The status that each rule must come to: ``confirmed`` or ``resolved``."""
    allows: frozenset[str] = frozenset()
    """Rules that may have something to say too, and need not."""
    shapes: tuple[str, ...] = (*CLAUDE, "codex")


Scenarios = list[Scenario]


def scenario(
    into: Scenarios,
    *,
    allows: Iterable[str] = (),
    shapes: tuple[str, ...] = Scenario.shapes,
    **expects: str,
) -> Callable[[Callable[[Session], None]], Callable[[Session], None]]:
    """Add the decorated function to *into*; *expects* are rules with ``_`` for ``-``."""

    def add(write: Callable[[Session], None]) -> Callable[[Session], None]:
        rules = {rule.replace("_", "-"): status for rule, status in expects.items()}
        into.append(Scenario(write.__name__, write, rules, frozenset(allows), shapes))
        return write

    return add


class Session:
    """Writes the lines of one session. ``pick`` and ``number`` make one variant differ from the
    next."""

    def __init__(self, shape: str, seed: str) -> None:
        self.shape = shape
        self.random = random.Random(seed)
        self.lines: list[Line] = []
        self.files: dict[str, str] = {}
        self._count = 0
        self.id = f"{self.random.getrandbits(64):016x}"
        self.name = self.pick(*_NAMES)
        self.folder = f"/home/user/project/{self.pick(*_FOLDERS)}"
        if shape == "codex":
            self.lines.append({"type": "thread.started", "thread_id": self.id})
        else:
            init = {
                "type": "system",
                "subtype": "init",
                "cwd": "/home/user/project",
                "model": "claude-opus-5-5",
            }
            self.lines.append({**init, "session_id": self.id})

    def pick(self, *choices: str) -> str:
        """Return one of *choices*."""
        return self.random.choice(choices)

    def number(self, least: int, most: int) -> int:
        """Return a number between *least* and *most*."""
        return self.random.randint(least, most)

    def path(self, name: str = "", ending: str = "py") -> str:
        """Return the path of a file of the project."""
        return f"{self.folder}/{name or self.name}.{ending}"

    def took(self) -> str:
        """Return a duration, which differs each time."""
        return f"{self.random.uniform(0.01, 9):.2f}s"

    def sh(self, command: str, out: str = "", code: int = 0) -> None:
        """Run a *command*."""
        if self.shape == "codex":
            id = self._id()
            item = {
                "id": id,
                "type": "command_execution",
                "command": f"/bin/bash -lc {_quoted(command)}",
            }
            self._item(
                "item.started",
                {**item, "aggregated_output": "", "exit_code": None, "status": "in_progress"},
            )
            ended = {
                "aggregated_output": out,
                "exit_code": code,
                "status": "failed" if code else "completed",
            }
            self._item("item.completed", {**item, **ended})
            return
        text = f"Exit code {code}\n{out}".strip() if code else out
        detail = (
            f"Error: {text}"
            if code
            else {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}
        )
        self.tool(
            "Bash",
            {"command": command, "description": f"step {self._count}"},
            text,
            bool(code),
            detail,
        )

    def edit(self, path: str, old: str, new: str, error: str = "") -> None:
        """Replace *old* by *new*, or get *error* for it."""
        if self.shape == "codex":
            self._file_change(path, "update", error)
            return
        before = self.files.get(path, f"# {path}\n")
        before = before if old in before or error else before + old + "\n"
        detail: Any = f"Error: {error}" if error else None
        if not error:
            self.files[path] = before.replace(old, new, 1)
            if self.shape == "claude":
                detail = {
                    "filePath": path,
                    "oldString": old,
                    "newString": new,
                    "originalFile": before,
                }
        given = {"file_path": path, "old_string": old, "new_string": new}
        done = f"The file {path} has been updated successfully."
        self.tool(
            "Edit",
            given,
            f"<tool_use_error>{error}</tool_use_error>" if error else done,
            bool(error),
            detail,
        )

    def write(self, path: str, content: str) -> None:
        """Write the whole of a file."""
        if self.shape == "codex":
            self._file_change(path, "update" if path in self.files else "add", "")
            self.files[path] = content
            return
        before = self.files.get(path)
        detail = {
            "type": "update" if before else "create",
            "filePath": path,
            "content": content,
            "originalFile": before,
        }
        self.files[path] = content
        self.tool(
            "Write",
            {"file_path": path, "content": content},
            f"File created successfully at: {path}",
            False,
            detail if self.shape == "claude" else None,
        )

    def read(self, path: str, out: str = "", error: str = "") -> None:
        """Read a file."""
        if self.shape == "codex":
            self.sh(f"cat {path}", error or out, 1 if error else 0)
            return
        text = f"<tool_use_error>{error}</tool_use_error>" if error else out
        self.tool("Read", {"file_path": path}, text, bool(error))

    def tool(
        self,
        name: str,
        given: Line,
        out: str,
        error: bool = False,
        detail: Any = None,
        agent: str = "",
        **more: Any,
    ) -> None:
        """Call any tool of Claude Code."""
        id = self._call(name, given, agent)
        self._answer([(id, out, error)], detail, agent, **more)

    def together(self, calls: list[tuple[str, Line, str, bool]]) -> None:
        """Make several calls at once; all results come after all calls."""
        ids = [self._call(name, given) for name, given, _, _ in calls]
        for id, (_, _, out, error) in zip(ids, calls, strict=True):
            self._answer([(id, out, error)], None)

    def say(self, text: str) -> None:
        """Let the agent say something."""
        if self.shape == "codex":
            self._item("item.completed", {"id": self._id(), "type": "agent_message", "text": text})
        else:
            self._message([{"type": "text", "text": text}])

    def human(self, text: str) -> None:
        """Let a person type something."""
        content = [{"type": "text", "text": text}]
        self.lines.append(
            {
                "type": "user",
                "message": {"role": "user", "content": content},
                "session_id": self.id,
                "origin": {"kind": "human"},
            }
        )

    def agent(self, task: str, out: str, error: bool = False, detail: Any = None) -> str:
        """Let a sub-agent do *task*; return the id of the call."""
        self.tool(
            "Agent",
            {"description": task, "prompt": task, "subagent_type": "general-purpose"},
            out,
            error,
            detail,
        )
        return f"toolu_{self._count:06}"

    def task(self, subtype: str, **fields: Any) -> None:
        """Write a line about a sub-agent in the background."""
        self.lines.append({"type": "system", "subtype": subtype, "session_id": self.id, **fields})

    def filler(self, most: int = 2) -> None:
        """Do some of what agents do all the time, and which means nothing."""
        for _ in range(self.number(0, most)):
            other, mark = self.pick(*_NAMES), self.random.getrandbits(32)
            which = self.number(0, 3)
            if which == 0:
                self.say(f"Let me look at {other}.")
            elif which == 1:
                self.read(
                    f"/home/user/project/{other}_{mark % 97}.py", f"1\tvalue_{mark} = {mark % 13}\n"
                )
            elif which == 2:
                self.sh(
                    f"grep -rn {other}_{mark % 97} .",
                    f"./a.py:{mark % 300}: {other}_{mark % 97} = 1\n",
                )
            else:
                self.sh(f"ls {other}_{mark % 89}", f"a_{mark}.py\nb.py\n")

    def end(self) -> None:
        """End the turn."""
        if self.shape == "codex":
            self.lines.append(
                {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}}
            )
            return
        self.lines.append(
            {
                "type": "result",
                "subtype": "success",
                "is_error": False,
                "session_id": self.id,
                "result": "Done.",
            }
        )

    def _id(self) -> str:
        self._count += 1
        return f"item_{self._count}" if self.shape == "codex" else f"toolu_{self._count:06}"

    def _item(self, type: str, item: Line) -> None:
        self.lines.append({"type": type, "item": item})

    def _file_change(self, path: str, kind: str, error: str) -> None:
        status = "failed" if error else "completed"
        item = {
            "id": self._id(),
            "type": "file_change",
            "changes": [{"path": path, "kind": kind}],
            "status": status,
        }
        self._item("item.completed", item)

    def _call(self, name: str, given: Line, agent: str = "") -> str:
        id = self._id()
        self._message([{"type": "tool_use", "id": id, "name": name, "input": given}], agent)
        return id

    def _message(self, content: list[Line], agent: str = "") -> None:
        self._count += 1
        message = {
            "id": f"msg_{self._count}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
        }
        usage = {
            "input_tokens": 8,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 900,
            "output_tokens": 1,
        }
        self.lines.append(
            {
                "type": "assistant",
                "message": {**message, "content": content, "usage": usage},
                "parent_tool_use_id": agent or None,
                "session_id": self.id,
            }
        )

    def _answer(
        self, results: list[tuple[str, str, bool]], detail: Any, agent: str = "", **more: Any
    ) -> None:
        content = [
            {
                "type": "tool_result",
                "tool_use_id": id,
                "content": out,
                **({"is_error": True} if error else {}),
            }
            for id, out, error in results
        ]
        line: Line = {
            "type": "user",
            "message": {"role": "user", "content": content},
            "session_id": self.id,
        }
        line |= {"parent_tool_use_id": agent or None, **more}
        self.lines.append(line | ({"tool_use_result": detail} if detail is not None else {}))


def _quoted(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
