"""How a behavior looks: as lines for a person, and as an object for a script."""

from __future__ import annotations

from brim.cli.output import note, paint, printable, symbols, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from brim.behaviors.behavior import Behavior
    from brim.behaviors.edges import Edge
    from brim.config import Config
    from brim.store.scopes import Scopes

COLOURS = {"constraint": "red", "preference": "cyan", "procedure": "blue", "workflow": "blue", "episodic": "faint"}
"""The kinds that stand out; a directive is the usual one."""


def as_object(behavior: Behavior) -> dict[str, Any]:
    """Return every field of *behavior* as JSON can hold it; times are dates in UTC."""
    found: dict[str, Any] = {name: getattr(behavior, name) for name in behavior.__slots__}
    for part in ("provenance", "usage"):
        value = getattr(behavior, part)
        found[part] = {name: _plain(name, getattr(value, name)) for name in value.__slots__}
    found["when"] = {key: list(values) for key, values in behavior.when.conditions}
    return {name: _plain(name, value) for name, value in found.items()}


def edge_object(edge: Edge) -> dict[str, Any]:
    """Return every field of *edge* as JSON can hold it."""
    return {name: _plain(name, getattr(edge, name)) for name in edge.__slots__}


def tier_tokens(scopes: Scopes, behavior: Behavior, config: Config) -> dict[str, int]:
    """Return what *behavior* costs at each tier, most detail first, for the model and the format of the settings."""
    from brim.injection.tiers import Tier
    from brim.store.planner import costs_of

    costs = costs_of(scopes, (behavior.id,), config)
    tiers = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY)
    return {str(tier).replace("-", "_"): int(costs.count(costs.item(behavior, tier)[0])) for tier in tiers}


def tokens_line(tokens: dict[str, int]) -> str:
    """Return what ``tier_tokens`` found, in one line."""
    return f"{tokens['full']:,} whole, {tokens['summary']:,} as a summary, {tokens['name_only']:,} by name"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values in two columns; what has no value is left out, what has several lines goes on below."""
    lines: list[list[str]] = []
    for name, value in rows:
        first, *rest = value.split("\n")
        if value:
            lines += [[paint(name, "faint"), first], *(["", line] for line in rest)]
    return table(lines) if lines else ""


def block(text: str) -> str:
    """Return *text* line by line, indented and printable."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return "\n".join(f"  {printable(line)}".rstrip() for line in text.split("\n"))


def title(behavior: Behavior) -> str:
    """Return the line that says which one it is."""
    words = [paint(behavior.name, "green"), kind_of(behavior), behavior.id, f"({behavior.status}, {behavior.scope})"]
    return "  ".join(words)


def named(behavior: Behavior) -> str:
    """Return *behavior* as it is spoken of in a sentence."""
    return f"{behavior.name} ({behavior.id})"


def kind_of(behavior: Behavior) -> str:
    """Return its kind, in its colour."""
    kind = behavior.kind.value
    return paint(kind, COLOURS[kind]) if kind in COLOURS else kind


def one_line(behavior: Behavior) -> str:
    """Return its summary, or what stands in for one."""
    from brim.injection.lines import summary_of

    return summary_of(behavior)


def tell_masked(*texts: str) -> int:
    """Say how many secrets in *texts* the store masks, and return the number."""
    from brim.masking import masked

    count = sum(masked(text)[1] for text in texts)
    if count:
        note(f"{counted(count, 'secret')} masked: what is learned is read by others")
    return count


def counted(count: int, what: str) -> str:
    """Return *count* with *what* there are so many of.

    >>> counted(1, "pair"), counted(2_000, "pair")
    ('1 pair', '2,000 pairs')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def day(time: float | None) -> str:
    """Return the date in UTC of *time*, in seconds since 1970; nothing if it is not known."""
    return str(_plain("at", time) or "")[:10]


def age(time: float | None, now: float) -> str:
    """Return how long ago *time* was, in the unit that says most; nothing if it is not known."""
    if time is None:
        return ""
    seconds = max(0.0, now - time)
    for unit, size in (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit} ago" if unit != "y" else f"{int(seconds / size):,} y ago"
    return "just now"


def cut(text: str, width: int) -> str:
    """Return *text* in at most *width* columns, with a mark if something had to go; wide characters take two."""
    text = printable(" ".join(text.split()))
    if len(text) * 2 <= width:
        return text
    import unicodedata

    from brim.behaviors.graphemes import border_at_or_before

    taken = end = 0
    for at, character in enumerate(text):
        taken += 0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken <= width - 1:
            end = at + 1
        elif taken > width:
            return text[: border_at_or_before(text, end)].rstrip() + symbols("…", "~")
    return text


def shared_values(behaviors: Collection[Behavior], field: str) -> bool:
    """Whether *field* has the same value in all *behaviors*, so that a column of it would say nothing."""
    return len({getattr(behavior, field) for behavior in behaviors}) < 2


def _plain(name: str, value: Any) -> Any:
    if name in ("at", "created_at", "updated_at", "last_used", "last_activated") and value is not None:
        from brim.behaviors.times import iso

        try:
            return iso(value)
        except (OverflowError, ValueError, ArithmeticError):
            return value
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value
