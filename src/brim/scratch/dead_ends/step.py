"""A call with its end, understood once for every rule."""

from __future__ import annotations

from brim._patterns import IGNORE_CASE, pattern
from brim.scratch.dead_ends.classify import Outcome, outcome
from brim.scratch.dead_ends.commands import check_in, parts, polls, unfiltered, unwrapped, writes
from brim.scratch.dead_ends.edits import changes
from brim.scratch.dead_ends.finding import CLIP, DeadEnd, key_of, masked_line
from brim.scratch.dead_ends.signatures import clipped, quoted, signature
from brim.scratch.dead_ends.tables import lines
from brim.scratch.quoting import begun
from brim.scratch.telling import telling_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.scratch.dead_ends.commands import Check, Part
    from brim.scratch.dead_ends.edits import Change
    from brim.tracking.events import ToolCall, ToolResult

_WAITS = pattern(r"output|wait|status|poll|monitor|stdin", IGNORE_CASE)
_NO_TRY = ("todo", "question", "plan", "agent")


class Rule:
    """One way to see a dead end, in the steps of one agent. It keeps a bounded memory and never raises."""

    def step(self, step: Step) -> list[DeadEnd]:
        """Return what is new or changed by *step*."""
        raise NotImplementedError

    def person_spoke(self) -> list[DeadEnd]:
        """Return what is new or changed because a person wrote something."""
        return []

    def turn_ended(self) -> list[DeadEnd]:
        """Return what is new or changed because a turn ended."""
        return []


class Step:
    """One call and how it ended."""

    __slots__ = (
        "_signature",
        "call",
        "changes",
        "check",
        "command",
        "folder",
        "input",
        "outcome",
        "parts",
        "polls",
        "result",
        "root",
    )

    call: ToolCall
    result: ToolResult
    command: str
    """What the shell was given; empty for any other tool."""
    parts: list[Part]
    check: Check | None
    changes: list[Change]
    """What the call changed in files; nothing if it failed."""
    polls: bool
    input: str
    """What the call was given, made the same for calls that do the same."""
    outcome: Outcome
    folder: str
    root: str
    """The folder of the project; empty if nobody said."""

    def __init__(self, call: ToolCall, result: ToolResult, folder: str, root: str = "") -> None:
        self.call, self.result, self.folder, self.root = call, result, folder, root
        shell = call.tool == "shell"
        given = call.input.get("command") if shell else None
        self.command = unwrapped(given) if isinstance(given, str) else ""
        self.parts = parts(self.command) if self.command else []
        self.check, is_last = check_in(self.parts)
        self.polls = (polls(self.parts) and self.check is None) if self.command else bool(_WAITS.search(call.name))
        self.outcome = outcome(result, call.tool, self.parts, None if is_last else self.check)
        written = writes(self.command, self.parts) if self.command else []
        self.changes = changes(call, self.command, written) if self.outcome.kind == "ok" else []
        self.input = self._normalised()
        self._signature: str | None = None

    def _normalised(self) -> str:
        idle = lines("idle_inputs.txt")
        given = self.call.input
        if self.command:
            where = given.get("workdir") or given.get("cwd") or given.get("dir_path") or self.folder
            return f"{self.call.tool}\0{where}\0{unfiltered(self.parts) or self.command}"
        try:
            told = repr([(name, given[name]) for name in sorted(given, key=str) if name not in idle])
        except RecursionError:
            told = ""
        return f"{self.call.name}\0{told}"

    @property
    def is_try(self) -> bool:
        """Whether the call tries something: plans, questions and notes do not, and a sub-agent is its own rule."""
        return self.call.tool not in _NO_TRY

    @property
    def failed(self) -> bool:
        """Whether it failed: not refused, not interrupted, not left out because another call of the batch failed."""
        return self.outcome.kind == "failed"

    @property
    def signature(self) -> str:
        """What makes its error the same as another."""
        if self._signature is None:
            self._signature = signature(self.result.text)
        return self._signature

    @property
    def quoted(self) -> tuple[tuple[int, int], ...]:
        """The lines of code that its error quotes."""
        return quoted(self.result.text)

    @property
    def raw_error(self) -> str:
        """The line that says what went wrong, as it is: mask it before anybody sees it. Empty if it did not fail."""
        return begun(telling_line(clipped(self.result.text).splitlines()), CLIP) if self.failed else ""

    @property
    def error(self) -> str:
        """The line that says what went wrong, for a person; empty if it did not fail."""
        return masked_line(self.raw_error)

    @property
    def what(self) -> str:
        """What was tried, for a person."""
        if self.command:
            return masked_line(self.command)
        return masked_line(f"{self.call.name} {_told(self.call.input)}")

    def dead_end(
        self, rule: str, status: str, key: str, *, what: str, times: int, error: str, at: tuple[int, ...]
    ) -> DeadEnd:
        """Return what *rule* found, in the session and by the agent of this step."""
        call = self.call
        return DeadEnd(
            rule=rule,
            status=status,
            what=what,
            times=times,
            error=error,
            at=at,
            agent=call.agent,
            session=call.session,
            key=key_of(rule, call.session, call.agent, key),
        )


def _told(given: Mapping[str, Any]) -> str:
    for name in ("file_path", "path", "pattern", "url", "query", "description", "prompt", "name", "skill"):
        value = given.get(name)
        if isinstance(value, str) and value:
            return value
    return ", ".join(
        [f"{name}={str(value)[:1_000]}" for name, value in list(given.items())[:4] if isinstance(value, str | int)]
    )


def grown(times: int, first: int) -> bool:
    """Whether *times* is worth a word: when it is *first*, and whenever it has doubled since."""
    quotient, rest = divmod(times, first)
    return rest == 0 and quotient > 0 and quotient & (quotient - 1) == 0
