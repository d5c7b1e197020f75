"""What comes back after a compaction, in words: what matters most, and where the rest is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brim.memory.entries import MemoryEntry, draft
from brim.memory.lost import CompactionReport, LostFact
from brim.memory.quotes import code, masked_line
from brim.memory.ranking import BINDING, LATEST, OTHER
from brim.record import PlainData

HEADING = "- The summary of the last compaction left these out"
"""How the text begins; by it brim knows later what it gave back."""

MOST_LINES = 40
"""Lost things that are given back at most; ``brim memory lost`` shows all of them."""

LINES = 20
"""Those that are given back at most beside a person's own words."""

FILES = 2
"""Lost files that are given back at most: however many were lost, few are opened again."""

COMMANDS = 4
"""Lost commands that ran once and are given back at most."""

_LONGEST_LINE = 140
_LABELS = {"instruction": "your user said", "decision": "decided"}


@dataclass(frozen=True)
class ReturnedText(PlainData):
    """What the agent gets back: a heading and a line for each thing."""

    text: str
    items: tuple[LostFact, ...]
    """The things in it."""


def give_back(report: CompactionReport, scratch_path: str = "") -> ReturnedText | None:
    """Return what of the lost things in *report* the agent gets back; None if nothing was lost.

    *scratch_path* names the file with the rest.
    """
    if not report.items:
        return None
    items = chosen(report.items)
    lines = [f"{HEADING}:"]
    lines += [f"  - {line_of(item.kind, item.text)}" for item in items]
    remaining = report.total_lost - len(items)
    if remaining > 0:
        place = f"{scratch_path} has them" if scratch_path else "`brim memory lost` shows them"
        lines.append(f"  - and {remaining:,} more: {place}")
    elif scratch_path:
        lines[0] = f"{HEADING}; {scratch_path} has more about the session:"
    return ReturnedText("\n".join(lines) + "\n", items)


def chosen(items: Sequence[LostFact]) -> tuple[LostFact, ...]:
    """Return those of *items* that are worth giving back, in order.

    How many there are depends on what speaks for each, not on a number to reach. The rest is left
    to the memory's file.
    """
    own_words = [item for item in items if item.level == BINDING]
    important = [item for item in _without_repeated_files(items) if BINDING < item.level < OTHER]
    files = [item for item in important if item.kind == "file"]
    ran_once = [item for item in important if item.kind == "command" and item.level == LATEST]
    surplus = {*files[FILES:], *ran_once[COMMANDS:]}
    important = [item for item in important if item not in surplus]
    return tuple([*own_words, *important[:LINES]][:MOST_LINES])


def _without_repeated_files(items: Sequence[LostFact]) -> list[LostFact]:
    """Return *items* without the files that a command which matters names."""
    commands = [item.text for item in items if item.kind == "command" and item.level < OTHER]
    files = {("file", word) for word in " ".join(commands).split()}
    return [item for item in items if (item.kind, item.text) not in files]


def line_of(kind: str, text: str) -> str:
    """Return the line of the lost *text* of that *kind*."""
    text = masked_line(text, _LONGEST_LINE)
    label = _LABELS.get(kind, kind)
    if kind == "instruction":
        return f'{label}: "{text}"'
    if kind == "decision":
        return f"{label}: {text}"
    return f"{label}: {code(text, _LONGEST_LINE)}"


def lost_entries(report: CompactionReport) -> list[MemoryEntry]:
    """Return the lost things as entries of the journal, what matters most last.

    The index shows the newest of them.
    """
    compaction = f"{report.session} {report.time}"
    entries = []
    for item in reversed(report.items):
        entries.append(
            draft(
                "lost",
                item.text,
                session=report.session,
                time=report.time,
                source=f"{compaction} {item.kind}",
                refs={"noun": item.kind, "compaction": compaction},
            )
        )
    return entries
