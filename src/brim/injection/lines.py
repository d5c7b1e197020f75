"""The lines of one behavior at one tier.

Every line begins with ``- ``, ``<``, a backtick or two spaces, none is blank, and each ends with its one newline. So
the tokens of a text are the sum of the tokens of its lines (o200k and cl100k cut after a newline anyway, if the next
line is not blank), and the cost of every line can be stored when the behavior is written. The same rules keep a
behavior in its place: its text can neither close a section nor forge a heading.
"""

from __future__ import annotations

from brim.behaviors.kinds import BehaviorKind
from brim.injection.tiers import Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior

RENDERER_VERSION = 1
"""To be raised with every change of a line: stored costs of another version are not believed."""

_TURNS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
"""Marks that turn the direction of writing, and so can make a line read as another."""
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
_UNWANTED = {**_CONTROLS, **_TURNS}
_XML = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def item_text(behavior: Behavior, tier: Tier, format: str) -> str:
    """Return the lines of *behavior* at *tier*, each with its newline; nothing if it is omitted."""
    if tier is Tier.OMITTED:
        return ""
    if tier is Tier.NAME_ONLY:
        return name_line(behavior)
    lines = _clean(summary_of(behavior) if tier is Tier.SUMMARY else behavior.canonical)
    if format == "markdown":
        first, *rest = _unforged(lines)
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


def _unforged(lines: list[str]) -> list[str]:
    """Return *lines* of Markdown in which nothing outside of code reads as a heading, and code blocks are closed."""
    kept = []
    fence = ""
    for line in lines:
        bare = line.lstrip()
        mark = _fence(bare)
        if fence:
            if mark[:1] == fence[:1] and len(mark) >= len(fence) and not bare[len(mark) :].strip():
                fence = ""
            kept.append(line)
        elif mark and not (mark[0] == "`" and "`" in bare[len(mark) :]):
            fence = mark
            kept.append(line)
        else:
            kept.append(line[: len(line) - len(bare)] + "\\" + bare if _is_heading(bare) else line)
    return [*kept, fence] if fence else kept


def _fence(bare: str) -> str:
    """Return the run of backticks or tildes that *bare* begins with, if it can begin or end a block of code."""
    mark = bare[:1]
    if mark not in ("`", "~"):
        return ""
    run = bare[: len(bare) - len(bare.lstrip(mark))]
    return run if len(run) >= 3 else ""


def _is_heading(bare: str) -> bool:
    """Whether a line is a heading of its own (``# ...``), or makes one of the line above (``===``, ``---``)."""
    rest = bare.lstrip("#")
    if rest != bare:
        return len(bare) - len(rest) <= 6 and (not rest or rest[0] in " \t")
    return not bare.strip("= \t") or not bare.strip("- \t")
