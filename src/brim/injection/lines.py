"""The lines of one behavior at one tier.

Every line begins with ``- ``, ``<``, a backtick or two spaces, none is blank, and each ends with its one newline. So
the tokens of a text are the sum of the tokens of its lines (o200k and cl100k cut after a newline anyway, if the next
line is not blank), and the cost of every line can be stored when the behavior is written. The same rules keep a
behavior in its place: its text can neither close a section nor forge a heading.
"""

from __future__ import annotations

from brim.behaviors.behavior import BehaviorKind
from brim.injection.forging import unforged
from brim.injection.tiers import Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior

RENDERER_VERSION = 2
"""To be raised with every change of a line: stored costs of another version are not believed."""

_TURNS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
"""Marks that turn the direction of writing, and so can make a line read as another."""
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
_BREAKS = dict.fromkeys((0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029), " ")
"""What some readers take for the end of a line, so that a heading could begin after it."""
_UNWANTED = {**_CONTROLS, **_TURNS, **_BREAKS}
_XML = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def item_text(behavior: Behavior, tier: Tier, format: str) -> str:
    """Return the lines of *behavior* at *tier*, each with its newline; nothing if it is omitted."""
    if tier is Tier.OMITTED:
        return ""
    if tier is Tier.NAME_ONLY:
        return name_line(behavior)
    lines = _clean(summary_of(behavior) if tier is Tier.SUMMARY else behavior.canonical)
    if format == "markdown":
        first, *rest = unforged(lines)
        return "".join((f"- {first}\n", *(f"  {line}\n" for line in rest)))
    if format == "xml":
        inside = "\n  ".join(lines).translate(_XML)
        return f"<rule>{inside}</rule>\n"
    return "".join((f"  {lines[0]}\n", *(f"    {line}\n" for line in lines[1:])))


def name_line(behavior: Behavior) -> str:
    """Return the line that says only what there is to know more about."""
    tags = "".join(f" #{tag}" for tag in behavior.tags)
    return f"`{behavior.name}` [{behavior.kind.value}]{tags}\n"


def summary_of(behavior: Behavior) -> str:
    """Return the stored one-liner, else one made from the whole text."""
    if behavior.summary:
        return behavior.summary
    from brim.behaviors.summary import summarize

    return summarize(behavior.canonical)


def says_all(behavior: Behavior) -> bool:
    """Whether the summary of *behavior* says as much as its whole text: only white space or a full stop differ."""
    short, whole = (" ".join(text.split()).rstrip(" .") for text in (summary_of(behavior), behavior.canonical))
    return short == whole


def is_protected(behavior: Behavior) -> bool:
    """Whether *behavior* is never cut below a summary: a constraint that a person stands behind."""
    return behavior.kind is BehaviorKind.CONSTRAINT and behavior.status.value == "active"


def _clean(text: str) -> list[str]:
    """Return the lines of *text* that are not blank, at least one, without what could steer a terminal or a reader."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNWANTED)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if not lines:
        return ["(empty)"]
    lines[0] = lines[0].lstrip()
    return lines
