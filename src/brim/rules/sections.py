"""The sections of a plan's text, with their headings.

Whole texts and summaries stand under the heading of their kind, the names in one list. What an
agent noted and no person confirmed comes after them, under a line of its own.
"""

from __future__ import annotations

from enum import IntEnum

from brim.rules.library_rule import BehaviorKind, Status
from brim.rules.tiers import Tier

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
