"""What comes back after a compaction, in words: what matters most, and where the rest is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brim.memory.entries import MemoryEntry, draft
from brim.memory.inventory import OTHER
from brim.memory.lost import CompactionReport, LostFact
from brim.memory.quotes import code, masked_line
from brim.record import PlainData

HEADING = "- The summary of the last compaction left these out"
"""How the text begins; by it brim knows later what it gave back."""

LINES = 20
"""Lost things that are given back at most; ``brim memory lost`` shows all of them."""

ENOUGH = 13
"""Lost things up to which also those come back that were used once: about half are needed again."""

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
    lines += [f"  - {line_of(item)}" for item in items]
    remaining = report.total_lost - len(items)
    if remaining > 0:
        place = f"{scratch_path} has them" if scratch_path else "`brim memory lost` shows them"
        lines.append(f"  - and {remaining:,} more: {place}")
    elif scratch_path:
        lines[0] = f"{HEADING}; {scratch_path} has more about the session:"
    return ReturnedText("\n".join(lines) + "\n", items)


def chosen(items: Iterable[LostFact]) -> tuple[LostFact, ...]:
    """Return those of *items* that are worth giving back, in order.

    Choices that the agent said it made are left to the memory's file.
    """
    items = [item for item in items if item.kind != "decision" or item.level < OTHER]
    important = [item for item in items if item.level < OTHER][:LINES]
    return tuple(items[: max(len(important), ENOUGH)])


def line_of(item: LostFact) -> str:
    """Return the line of a lost thing."""
    text = masked_line(item.text, _LONGEST_LINE)
    label = _LABELS.get(item.kind, item.kind)
    if item.kind == "instruction":
        return f'{label}: "{text}"'
    if item.kind == "decision":
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
