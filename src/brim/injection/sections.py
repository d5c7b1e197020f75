"""The sections of an injected text: which there are, which behavior stands in which, and their headings.

Full items stand under the heading of their kind, and constraints do at every tier. The other summaries share one quick
reference, the names one list. What an agent noted and nobody confirmed stands apart, at the end.
"""

from __future__ import annotations

from brim._light import IntEnum
from brim.behaviors.behavior import BehaviorKind, Status
from brim.injection.tiers import Tier

FORMATS = ("markdown", "xml", "plain")
"""How a text can be written."""


class Section(IntEnum):
    """A section, in the order in which they stand."""

    CONSTRAINTS = 0
    DIRECTIVES = 1
    PROCEDURES = 2
    PREFERENCES = 3
    WORKFLOWS = 4
    EPISODES = 5
    QUICK_REFERENCE = 6
    ALSO_LEARNED = 7
    UNCONFIRMED_NOTES = 8


_OF_KIND = dict(
    zip(
        (
            BehaviorKind.CONSTRAINT,
            BehaviorKind.DIRECTIVE,
            BehaviorKind.PROCEDURE,
            BehaviorKind.PREFERENCE,
            BehaviorKind.WORKFLOW,
            BehaviorKind.EPISODIC,
        ),
        Section,
        strict=False,
    )
)


def section_of(kind: BehaviorKind, status: Status, tier: Tier) -> Section:
    """Return where a behavior stands at *tier*."""
    if status is Status.PENDING:
        return Section.UNCONFIRMED_NOTES
    if kind is BehaviorKind.CONSTRAINT or tier is Tier.FULL:
        return _OF_KIND[kind]
    return Section.QUICK_REFERENCE if tier is Tier.SUMMARY else Section.ALSO_LEARNED


def opening(section: Section, format: str) -> str:
    """Return the line that begins *section*."""
    words = section.name.replace("_", " ").capitalize()
    if format == "markdown":
        return f"## {words}\n"
    return f"<{_tag(section)}>\n" if format == "xml" else f"- {words}:\n"


def closing(section: Section, format: str) -> str:
    """Return the line that ends *section*; only XML has one."""
    return f"</{_tag(section)}>\n" if format == "xml" else ""


def heading(section: Section, format: str) -> str:
    """Return what *section* adds to the text once, whatever stands in it."""
    return opening(section, format) + closing(section, format)


def _tag(section: Section) -> str:
    return section.name.lower()
