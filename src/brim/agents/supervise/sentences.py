"""What brim itself says to an agent in a supervised run. Each is one turn, alone, or stands before one."""

from __future__ import annotations

from brim.tracking.compaction import build_reminder, fold


def build_continue_prompt(task: str = "", scratch_path: str = "", *, compacted: bool = False) -> str:
    """Return the turn for a task that was cut short: read the scratch file first, then go on.

    >>> print(build_continue_prompt("fix the parser", ".context/scratch.md"))
    You were cut short. First read .context/scratch.md: it says what was asked, decided, written and tried.
    Then continue where you stopped: fix the parser
    """
    first = "You were cut short."
    if compacted:
        first = "You were cut short, and the conversation was compacted since."
    if scratch_path:
        first += f" First read {scratch_path}: it says what was asked, decided, written and tried."
    what = fold(task)
    return f"{first}\n{'Then continue' if scratch_path else 'Continue'} where you stopped{f': {what}' if what else '.'}"


def build_pointer(scratch_path: str) -> str:
    """Return what stands before the first turn after a compaction; nothing if there is no scratch file."""
    return build_reminder(scratch_path) if scratch_path else ""
