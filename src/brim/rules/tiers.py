"""The vocabulary of an injected text: tiers of detail, sections with their headings, and the frame
around them.

Whole texts and summaries stand under the heading of their kind, the names in one list. One line
above them says whose rules these are. What an agent noted and no person confirmed comes after them,
under a line of its own. A last line counts what didn't fit.
"""

from __future__ import annotations

from enum import IntEnum

from brim.rules.library_rule import BehaviorKind, Status


class Tier(IntEnum):
    """How much of a behavior is told; more detail is greater."""

    OMITTED = 0
    NAME_ONLY = 1
    SUMMARY = 2
    FULL = 3

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")


FIDELITY = {Tier.FULL: 1.0, Tier.SUMMARY: 0.6, Tier.NAME_ONLY: 0.2, Tier.OMITTED: 0.0}
"""How much of its value a behavior keeps at each tier."""


NOTES = "Notes agents left, not confirmed:"
"""What stands above them: the line above the rules isn't about these."""


class Section(IntEnum):
    """A section, in the order of the text."""

    CONSTRAINTS = 0
    DIRECTIVES = 1
    PROCEDURES = 2
    PREFERENCES = 3
    WORKFLOWS = 4
    EPISODES = 5
    ALSO_LEARNED = 6
    UNCONFIRMED_NOTES = 7

    def heading(self) -> str:
        """Return the line that begins the section."""
        if self is Section.UNCONFIRMED_NOTES:
            return f"{NOTES}\n"
        return f"## {self.name.replace('_', ' ').capitalize()}\n"


_OF_KIND = dict(zip(BehaviorKind, Section, strict=False))
"""The first sections are those of the kinds, in their order."""


def section_of(kind: BehaviorKind, status: Status, tier: Tier) -> Section:
    """Return where a behavior stands at *tier*."""
    if status is Status.PENDING:
        return Section.UNCONFIRMED_NOTES
    if tier is Tier.NAME_ONLY:
        return Section.ALSO_LEARNED
    return _OF_KIND[kind]


INTRODUCTION = "Rules your user set, kept by brim:\n"
"""The line above the rules that the user set or agreed to."""


def left_out(count: int) -> str:
    """Return the line below all sections, which counts the rules that didn't fit; nothing if all
    did."""
    if not count:
        return ""
    rules = "rule" if count == 1 else "rules"
    return f"{count} more {rules} didn't fit: brim rules\n"
