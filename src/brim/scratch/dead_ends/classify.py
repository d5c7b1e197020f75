"""How a call ended: well, with an answer that only looks like a failure, not at all, or in a failure."""

from __future__ import annotations

from brim._frozen import Frozen
from brim._patterns import IGNORE_CASE, pattern
from brim.scratch.dead_ends.tables import any_of, lines, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

    from brim.scratch.dead_ends.commands import Check, Part
    from brim.tracking.events import ToolResult

KINDS = ("ok", "failed", "cascade", "permission", "interrupt", "protocol", "unclear")
"""``protocol``: the client's rules of use were not kept. ``unclear``: it ended, but nobody can say how."""

_EXIT = pattern(
    r"\s*(?:error: )?(?:exit code:?|command failed with exit code|process exited with code)\s+(-?\d+)", IGNORE_CASE
)
_refused: list[tuple[str, Pattern[str]]] = []


class Outcome(Frozen):
    """How a call ended: one of ``KINDS``; of a failure, whether it passes by itself, or an edit found no text."""

    __slots__ = ("kind", "not_found", "transient")

    kind: str
    transient: bool
    not_found: bool

    def __init__(self, *, kind: str, transient: bool = False, not_found: bool = False) -> None:
        self._fill(kind=kind, transient=transient, not_found=not_found)


OK = Outcome(kind="ok")


def outcome(result: ToolResult, tool: str, command: list[Part], hidden: Check | None) -> Outcome:
    """Return how the call of a *tool* ended; *command* is what a shell was given.

    *hidden* is the check in it whose exit code something after it hides; None if there is none.
    """
    if result.refusal:
        return Outcome(kind=result.refusal)
    if not result.error:
        return _quiet_end(result.text, hidden)
    head = result.text[:600]
    why = _refusal(head.lstrip())
    if why:
        return Outcome(kind=why)
    if tool == "shell":
        if exit_code(result) == 1 and _answers(command, result.text):
            return OK
    elif any_of("protocol.txt").search(head):
        return Outcome(kind="protocol")
    ends = result.text if len(result.text) < 4_000 else result.text[:2_000] + "\n" + result.text[-2_000:]
    return Outcome(
        kind="failed",
        transient=bool(any_of("transient.txt").search(ends)),
        not_found=tool in ("edit", "write") and bool(any_of("not_found.txt").search(head)),
    )


def exit_code(result: ToolResult) -> int | None:
    """Return the exit code of a command, as the client or the beginning of its text says it; None if nobody does."""
    code = result.detail.get("exit_code") if isinstance(result.detail, dict) else None
    if type(code) is int:
        return code
    found = _EXIT.match(result.text[:200])
    return int(found[1][:9]) if found else None


def _refusal(head: str) -> str:
    if not _refused:
        _refused.extend([(why, pattern(text, IGNORE_CASE)) for why, text in rows("refused.tsv")])
    return next((why for why, found in _refused if found.match(head)), "")


def _answers(command: list[Part], text: str) -> bool:
    """Whether exit code 1 of *command* is an answer: of its last part, or of any part if nothing was said."""
    programs = lines("answers.txt")
    said = _EXIT.sub("", text[:400], count=1).strip()
    last = [part for part in command if not part.filters][-1:] or command[-1:]
    asked = last if said else command
    if command and command[-1].filters and command[-1].words[0] in programs:
        return True
    return any(part.words[0] in programs or " ".join(part.words[:2]) in programs for part in asked)


def _quiet_end(text: str, hidden: Check | None) -> Outcome:
    """Say how a call ended that nobody calls a failure: after a pipe or ``|| true`` only the output can tell."""
    if hidden is None or hidden.kind == "lint":
        return OK
    ends = text if len(text) < 8_000 else text[:4_000] + "\n" + text[-4_000:]
    if any_of("failed.txt").search(ends):
        return Outcome(kind="failed")
    return OK if any_of("passed.txt").search(ends) or not ends.strip() else Outcome(kind="unclear")
