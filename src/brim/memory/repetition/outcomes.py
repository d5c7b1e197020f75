"""How a call ended: it went well, it failed, it wasn't made, or it says nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from brim.agents.events import ToolResult
from brim.files import data_lines, data_rows
from brim.memory.repetition.checks import Check
from brim.memory.repetition.commands import CommandPart, any_of
from brim.record import PlainData

EXIT_CODE = re.compile(
    r"(?i)\s{0,9}(?:error: )?(?:command failed with |process )?"
    r"(?:exit|exited with) (?:code|status):?[ \t]+(-?\d{1,9})"
)
"""How an output begins that says the exit code."""
_CODE_FIELDS = ("exit_code", "exitCode", "code")


@dataclass(frozen=True)
class StepOutcome(PlainData):
    """How a call ended."""

    kind: str
    """``ok``, ``failed``, ``cascade``, ``permission``, ``interrupt``, ``protocol`` (the client's
    rules of use weren't kept) or ``unclear`` (it ended, but the output doesn't say how)."""
    transient: bool = False
    """Whether the failure may pass on its own."""


OK = StepOutcome("ok")
FAILED = StepOutcome("failed")


def exit_code(result: ToolResult) -> int | None:
    """Return the exit code of a command; None if neither client nor output says it."""
    if isinstance(result.detail, Mapping):
        for field in _CODE_FIELDS:
            code = result.detail.get(field)
            if type(code) is int:
                return code
    match = EXIT_CODE.match(result.text)
    return None if match is None else int(match[1])


def refusal_of(result: ToolResult) -> str:
    """Return why a call wasn't made, one of ``events.REFUSALS``; empty if it was.

    What the readers don't know is told from the text: ``data/refused.tsv``. brim's own refusals
    are there too.
    """
    if result.refusal or not result.error:
        return result.refusal
    opening = result.text[:600].lstrip()
    for reason, pattern in data_rows(__file__, "refused.tsv"):
        if re.match(pattern, opening, re.IGNORECASE):
            return reason
    return ""


def outcome_of(
    result: ToolResult, tool: str, command: list[CommandPart], hidden: Check | None
) -> StepOutcome:
    """Return how the call of a *tool* ended; *command* is what a shell was given.

    *hidden* is the check in it whose exit code something after it hides.
    """
    refusal = refusal_of(result)
    if refusal:
        return StepOutcome(refusal)
    if not result.error:
        return _quiet_end(result.text, hidden)
    opening = result.text[:600]
    if tool == "shell":
        if exit_code(result) == 1 and _is_answer(command, result.text):
            return OK
    elif any_of("protocol.txt").search(opening):
        return StepOutcome("protocol")
    transient = any_of("transient.txt").search(_both_ends(result.text, 2_000)) is not None
    return StepOutcome("failed", transient)


def _both_ends(text: str, size: int) -> str:
    return text if len(text) < 2 * size else f"{text[:size]}\n{text[-size:]}"


def _is_answer(command: list[CommandPart], text: str) -> bool:
    """Whether exit code 1 of *command* is an answer, as of ``grep``: ``data/answers.txt``.

    Its last part counts, or any part if nothing was printed.
    """
    programs = data_lines(__file__, "answers.txt")
    if command and command[-1].filters and command[-1].words[0] in programs:
        return True
    if EXIT_CODE.sub("", text[:400], count=1).strip():
        main_parts = [part for part in command if not part.filters]
        command = main_parts[-1:] or command[-1:]
    openings: set[str] = set()
    for part in command:
        openings.add(part.words[0])
        openings.add(" ".join(part.words[:2]))
    return not openings.isdisjoint(programs)


def _quiet_end(text: str, hidden: Check | None) -> StepOutcome:
    """Return how a call ended that isn't reported as a failure.

    After a pipe or ``|| true`` only the output can tell.
    """
    if hidden is None or hidden.kind == "lint":
        return OK
    ends = _both_ends(text, 4_000)
    if any_of("failed.txt").search(ends):
        return FAILED
    if any_of("passed.txt").search(ends) or not ends.strip():
        return OK
    return StepOutcome("unclear")


def is_transient(text: str) -> bool:
    """Whether an error may pass on its own: the network, a busy server, a lock."""
    return any_of("transient.txt").search(text[:2_000]) is not None


def is_interruption(text: str) -> bool:
    """Whether *text* says that a person stopped a sub-agent: ``data/interrupted.txt``."""
    return re.search(any_of("interrupted.txt"), text[:400]) is not None
