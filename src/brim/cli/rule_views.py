"""How a rule is shown on the command line."""

from __future__ import annotations

from brim.behaviors.behavior import Rule
from brim.behaviors.jsonl import iso
from brim.behaviors.sentences import refused
from brim.cli.output import block, paint, printable

_COLOURS = {
    "constraint": "red",
    "preference": "cyan",
    "procedure": "blue",
    "workflow": "blue",
    "episodic": "faint",
}
"""The colours of the kinds that stand out; a directive is the usual one."""


def kind_of(rule: Rule) -> str:
    """Return the kind of *rule*, in its colour."""
    kind = rule.kind.value
    if kind not in _COLOURS:
        return kind
    return paint(kind, _COLOURS[kind])


def title(rule: Rule) -> str:
    """Return the line that says which rule it is."""
    parts = [paint(rule.name, "green"), kind_of(rule), rule.id, f"({rule.status}, {rule.scope})"]
    return "  ".join(parts)


def whole(rule: Rule) -> str:
    """Return all that an agent can be told about *rule*, and when.

    A person is asked to agree to it. Blank lines are left out, as they are for the agent: what
    follows a thousand of them isn't overlooked.
    """
    parts = [rule.name, *(f"#{tag}" for tag in rule.tags)]
    if rule.when:
        parts.append(f"when {rule.when}")
    if rule.status == "pending":
        parts.append("(an agent's note)")
    text = [f"{kind_of(rule)}  {printable('  '.join(parts))}"]
    text += [line for line in block(rule.canonical).split("\n") if line.strip()]
    if rule.blocks:
        text.append(f"  refuses {printable(refused(rule))}")
    return "\n".join(text)


def tokens_line(tokens: dict[str, int]) -> str:
    """Return what ``tier_tokens`` found, in one line."""
    full = f"{tokens['full']:,} whole"
    summary = f"{tokens['summary']:,} as a summary"
    return f"{full}, {summary}, {tokens['name_only']:,} by name"


def day(time: float | None) -> str:
    """Return the date in UTC of *time*; empty if it is None."""
    if time is None:
        return ""
    try:
        return iso(time)[:10]
    except (OverflowError, ValueError, ArithmeticError):
        return str(time)[:10]
