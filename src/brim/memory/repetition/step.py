"""A call with its end, understood once for every rule."""

from __future__ import annotations

import re
from functools import cached_property

from brim.agents.call import ToolCall
from brim.agents.events import ToolResult
from brim.agents.fields import first_text
from brim.files import data_lines
from brim.memory.quotes import begun, masked_line, telling_line
from brim.memory.repetition.checks import Check, check_in
from brim.memory.repetition.commands import (
    CommandPart,
    any_of,
    looks,
    parts,
    polls,
    unfiltered,
    writes,
)
from brim.memory.repetition.edits import FileChange, changes
from brim.memory.repetition.errors import QuotedCode, clipped, quoted_code, signature
from brim.memory.repetition.outcomes import StepOutcome, outcome_of
from brim.rules.shell import unwrapped

CLIP = 4_000
"""How much of a text is looked at."""

_WAITS = re.compile(r"(?i)output|wait|status|poll|monitor|stdin")
_SUBJECTS = [
    "file_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "prompt",
    "name",
    "skill",
]
"""Of a call's input, the first of these says what it is about."""
_FOLDERS = ("workdir", "cwd", "dir_path")
_NO_TRY = ("todo", "question", "plan", "agent")
_MOST_FIELDS = 4


class SessionStep:
    """One call and how it ended. Most of it is worked out when a rule asks for it."""

    def __init__(
        self, call: ToolCall, result: ToolResult, folder: str = "", root: str = ""
    ) -> None:
        self.call = call
        self.result = result
        self.folder = folder
        self.root = root
        """The folder of the project; empty if unknown."""

    @cached_property
    def command(self) -> str:
        """What the shell was given; empty for any other tool."""
        return unwrapped(self.call.command)

    @cached_property
    def parts(self) -> list[CommandPart]:
        """The commands in what the shell was given."""
        return parts(self.command)

    @cached_property
    def _check(self) -> tuple[Check | None, bool]:
        return check_in(self.parts)

    @property
    def check(self) -> Check | None:
        """The check that it runs; None if it runs none."""
        return self._check[0]

    @cached_property
    def polls(self) -> bool:
        """Whether it only asks whether something is ready yet."""
        if not self.command:
            return _WAITS.search(self.call.name) is not None
        return self.check is None and polls(self.parts)

    @cached_property
    def outcome(self) -> StepOutcome:
        """How it ended."""
        check, is_last = self._check
        return outcome_of(self.result, self.call.kind, self.parts, None if is_last else check)

    @cached_property
    def changes(self) -> list[FileChange]:
        """What it changed in files; nothing if it failed."""
        if self.outcome.kind != "ok":
            return []
        return changes(self.call, self.command, writes(self.parts))

    @cached_property
    def input(self) -> str:
        """What the call was given, the same for calls that do the same."""
        if self.command:
            return f"{self.call.kind}\0{self.work_folder}\0{self.unfiltered or self.command}"
        idle = data_lines(__file__, "idle_inputs.txt")
        values = self.call.input
        names = [name for name in sorted(values, key=str) if name not in idle]
        try:
            text = repr([(name, values[name]) for name in names])
        except RecursionError:
            text = ""
        return f"{self.call.name}\0{text}"

    @property
    def work_folder(self) -> str:
        """The folder that a command runs in."""
        return first_text(self.call.input, *_FOLDERS) or self.folder

    @property
    def unfiltered(self) -> str:
        """The command without what only cuts its output."""
        return unfiltered(self.parts)

    @property
    def is_try(self) -> bool:
        """Whether it tries something. Plans, questions and notes don't; a sub-agent has a rule."""
        return self.call.kind not in _NO_TRY

    @property
    def failed(self) -> bool:
        """Whether it failed, and wasn't refused, interrupted or left out with its batch."""
        return self.outcome.kind == "failed"

    @property
    def only_looks(self) -> bool:
        """Whether it only looks at what is there."""
        return self.call.kind in ("read", "search") or looks(self.parts)

    @cached_property
    def signature(self) -> str:
        """What makes its error the same as another."""
        return signature(self.result.text)

    @property
    def quoted(self) -> QuotedCode:
        """The code that its error quotes."""
        return quoted_code(self.result.text)

    @property
    def says_not_ready(self) -> bool:
        """Whether its error is that something doesn't answer yet."""
        return any_of("not_ready.txt").search(self.signature) is not None

    @property
    def raw_error(self) -> str:
        """The line that says what went wrong, not masked; empty if it didn't fail."""
        if not self.failed:
            return ""
        return begun(telling_line(clipped(self.result.text).splitlines()), CLIP)

    @property
    def error(self) -> str:
        """The line that says what went wrong, for a person; empty if it didn't fail."""
        return masked_line(self.raw_error)

    @property
    def subject(self) -> str:
        """What was tried, for a person."""
        return masked_line(self.command or f"{self.call.name} {self._input_summary}")

    @property
    def _input_summary(self) -> str:
        subject = first_text(self.call.input, *_SUBJECTS)
        if subject:
            return subject
        fields = []
        for name, value in list(self.call.input.items())[:_MOST_FIELDS]:
            if isinstance(value, str | int):
                fields.append(f"{name}={str(value)[:1_000]}")
        return ", ".join(fields)
