"""The text of a plan: sections, and in them the lines of each behavior.

Every line of a behavior begins with ``- ``, a backtick or two spaces, none is blank, and each ends
with its one newline. So the tokens of a text are the sum of the tokens of its lines (o200k and
cl100k cut after a newline anyway, if the next line isn't blank), and the cost of every line can be
stored when the behavior is written. The same rules keep a behavior in its place: its text can't
forge a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum

from brim.rules.library_rule import BehaviorKind, Rule, Status
from brim.rules.plan import InjectionPlan
from brim.rules.summary import summarize
from brim.rules.tiers import INTRODUCTION, Tier, left_out

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


_TURNS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
"""Marks that turn the direction of writing, and so can make a line read as another."""
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
_BREAKS = dict.fromkeys((0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029), " ")
"""What some readers take for the end of a line, so that a heading could begin after it."""
_UNWANTED = {**_CONTROLS, **_TURNS, **_BREAKS}


_OFFSET = "  "
"""Where a line of a behavior begins: tabs count from there."""
_DEEPEST = 50
"""Markers of lists and quotes that a line may begin with. What follows them is text."""
_MARKER = r"(?:>|(?:[-+*]|[0-9]+[.)])(?=[ \t]|\Z))[ \t]*"
_HEADING = r"#{1,6}(?:[ \t]|\Z)|[= \t]+\Z|[- \t]+\Z"
"""A heading of its own (``# ...``), or what makes one of the line above (``===``, ``---``)."""
_MARKS = tuple(">-+*0123456789")
_HEADS = ("#", "=", "-")
"""What a marker or a heading begins with: a hook needn't compile the patterns for lines without."""


def render(plan: InjectionPlan) -> str:
    """Return the text of *plan*; empty if nothing goes in."""
    chosen = ((item.behavior, item.tier, item.activation) for item in plan.items)
    return text_of(chosen, left=plan.left_out)


def text_of(chosen: Iterable[tuple[Rule, Tier, float]], *, left: int = 0) -> str:
    """Return the text of behaviors at tiers: sections in their order; in each, more detail first,
    then activation.

    *left* is how many didn't fit, which the last line says.
    """
    sections: dict[Section, list[tuple[int, float, str, str]]] = {}
    for behavior, tier, activation in chosen:
        if tier is not Tier.OMITTED:
            entry = (-tier, -activation, behavior.id, item_text(behavior, tier))
            sections.setdefault(section_of(behavior.kind, behavior.status, tier), []).append(entry)
    if not sections:
        return ""
    parts = [INTRODUCTION] if sections.keys() != {Section.UNCONFIRMED_NOTES} else []
    for section in sorted(sections):
        parts += [section.heading(), *(entry[3] for entry in sorted(sections[section]))]
    return "".join([*parts, left_out(left)])


def item_text(behavior: Rule, tier: Tier) -> str:
    """Return the lines of *behavior* at *tier*, each with its newline; nothing if it is omitted."""
    if tier is Tier.OMITTED:
        return ""
    if tier is Tier.NAME_ONLY:
        return name_line(behavior.name, behavior.kind.value, behavior.tags)
    lines = clean_lines(summary_of(behavior) if tier is Tier.SUMMARY else behavior.canonical)
    return listed(lines)


def name_line(name: str, kind: str, tags: Iterable[str]) -> str:
    """Return the line of a rule that is only named."""
    return f"`{name}` [{kind}]{''.join([f' #{tag}' for tag in tags])}\n"


def listed(lines: list[str]) -> str:
    """Return *lines* as one item of a list, each with its newline."""
    safe_lines = unforged(lines)
    item = [f"- {safe_lines[0]}\n"]
    item += [f"  {line}\n" for line in safe_lines[1:]]
    return "".join(item)


def summary_of(behavior: Rule) -> str:
    """Return the stored one-liner, else one made from the whole text."""
    if behavior.summary:
        return behavior.summary

    return summarize(behavior.canonical)


PROTECTED = (BehaviorKind.CONSTRAINT, Status.ACTIVE)
"""The kind and the status of what is never cut below a summary: a constraint that a person stands
behind."""


def is_protected(behavior: Rule) -> bool:
    """Whether *behavior* is never cut below a summary."""
    return (behavior.kind, behavior.status) == PROTECTED


def clean_lines(text: str) -> list[str]:
    """Return the lines of *text* that are not blank, at least one, without what could steer a
    terminal or a reader."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNWANTED)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if not lines:
        return ["(empty)"]
    lines[0] = lines[0].lstrip()
    return lines


# A behavior's Markdown must not forge a heading, not even inside its lists and quotes. What reads
# as a heading gets a backslash, and code stays as it is. In doubt a line isn't code, because a
# backslash too many does no harm. There is doubt where a block of code may have ended with the list
# that it stands in, and after raw HTML or a fence behind the marker of a list or a quote.


def unforged(lines: list[str]) -> list[str]:
    """Return *lines* in which nothing outside of code reads as a heading, and the last block of
    code is closed."""
    safe = []
    fence = ""
    column = 0
    sure = True
    for line in lines:
        bare = line.lstrip(" \t")
        column_here = _column(line, bare)
        mark = _fence(bare)
        if fence and column_here < column:
            sure = False
        if fence and sure:
            if (
                mark[:1] == fence[:1]
                and len(mark) >= len(fence)
                and mark == bare
                and column_here <= column + 3
            ):
                fence = ""
                sure = column_here == column
            safe.append(line)
            continue
        *_, inner = levels = _levels(bare)
        if sure and mark and (mark[0] == "~" or "`" not in bare[len(mark) :]):
            fence = mark
            column = column_here
        elif inner[:1] == "<" or (inner != bare and _fence(inner)):
            sure = False
        suspects = [level for level in levels if level.startswith(_HEADS)]
        too_deep = inner if len(levels) > _DEEPEST else None
        heading = next((level for level in suspects if re.match(_HEADING, level)), too_deep)
        safe.append(line if heading is None else f"{line[: len(line) - len(heading)]}\\{heading}")
    if fence:
        return [*safe, fence]
    return safe


def _column(line: str, bare: str) -> int:
    indent = line[: len(line) - len(bare)]
    if "\t" in indent:
        return len((_OFFSET + indent).expandtabs(4)) - len(_OFFSET)
    return len(indent)


def _fence(bare: str) -> str:
    """Return the run of backticks or tildes that *bare* begins with, if it can begin or end a block
    of code."""
    if bare.startswith(("```", "~~~")):
        return bare[: len(bare) - len(bare.lstrip(bare[0]))]
    return ""


def _levels(bare: str) -> list[str]:
    """Return *bare*, and what is left of it without each marker of a list or a quote that it begins
    with."""
    levels = [bare]
    while len(levels) <= _DEEPEST and levels[-1].startswith(_MARKS):
        marker = re.match(_MARKER, levels[-1])
        if marker is None:
            break
        levels.append(levels[-1][marker.end() :])
    return levels
