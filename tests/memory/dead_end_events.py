"""A session in typed events, for the tests of dead ends."""

from __future__ import annotations

from typing import Any

from brim.agents.call import Event, ToolCall
from brim.agents.events import End, Message, StateSeen, ToolResult
from brim.memory.repetition import DeadEnd, RepetitionDetector


class Play:
    """Plays a session to a detector; ``found`` is everything that it reported."""

    def __init__(
        self, session: str = "s1", agent: str = "", detector: RepetitionDetector | None = None
    ) -> None:
        self.where: dict[str, Any] = {"session": session, "agent": agent}
        self.detector = detector or RepetitionDetector()
        self.found: list[DeadEnd] = []
        self.at = 0

    def give(self, event: Event) -> None:
        self.found += self.detector.update(event)

    def call(
        self,
        name: str,
        tool: str,
        given: dict[str, Any],
        text: str = "",
        error: bool = False,
        **more: Any,
    ) -> None:
        self.at += 100
        id = f"{self.where}{self.at}"
        self.give(ToolCall(id=id, name=name, kind=tool, input=given, at=self.at, **self.where))
        self.give(ToolResult(id=id, text=text, error=error, at=self.at + 50, **self.where, **more))

    def sh(self, command: str, text: str = "", code: int = 0, **more: Any) -> None:
        text = f"Exit code {code}\n{text}".strip() if code else text
        self.call("Bash", "shell", {"command": command}, text, bool(code), **more)

    def edit(self, path: str, old: str, new: str, error: str = "", **more: Any) -> None:
        given = {"file_path": path, "old_string": old, "new_string": new}
        self.call("Edit", "edit", given, error or "ok", bool(error), **more)

    def write(self, path: str, content: str, **more: Any) -> None:
        self.call("Write", "write", {"file_path": path, "content": content}, "ok", **more)

    def human(self, text: str) -> None:
        self.at += 100
        self.give(Message(role="user", text=text, human=True, at=self.at, **self.where))

    def folder(self, name: str) -> None:
        self.give(StateSeen(name="folder", value=name, **self.where))

    def end(self, **more: Any) -> None:
        self.give(End(at=self.at, **self.where, **more))

    @property
    def statuses(self) -> list[tuple[str, str]]:
        return [(one.rule, one.status) for one in self.found]
