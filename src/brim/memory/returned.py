"""What comes back after a compaction, in words: what matters most, and where the rest is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brim.memory.entries import MemoryEntry, draft
from brim.memory.lost import CompactionReport, LostFact
from brim.memory.quotes import code, masked_line
from brim.memory.ranking import BINDING, OTHER
from brim.record import PlainData

HEADING = "- The summary of the last compaction left these out"
"""How the text begins; by it brim knows later what it gave back."""

LINES = 20
"""Lost things that are given back at most beside a person's own words; ``brim memory lost`` shows
all of them."""

MOST_LINES = 40
"""Lost things that are given back at most in all."""

FEW = 6
"""Lost files up to which also those come back that were used once: where only a few were looked at,
each has to do with the task; where many were, one of seven is needed again."""

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


def chosen(items: Iterable[LostFact]) -> tuple[LostFact, ...]:
    """Return those of *items* that are worth giving back, in order.

    How many there are depends on what speaks for each, not on a number to reach. The rest, and
    choices that the agent said it made, are left to the memory's file.
    """
    own_words = []
    important = []
    once_used_files = []
    for item in items:
        if item.level == BINDING:
            own_words.append(item)
        elif item.level < OTHER:
            important.append(item)
        elif item.kind == "file":
            once_used_files.append(item)
    if len(once_used_files) <= FEW:
        important += once_used_files
    important = _without_repeated_files(important)[:LINES]
    return tuple([*own_words, *important][:MOST_LINES])


def _without_repeated_files(items: list[LostFact]) -> list[LostFact]:
    """Return *items* without the files that one of its commands names."""
    commands = " ".join([item.text for item in items if item.kind == "command"])
    files = {("file", word) for word in commands.split()}
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
