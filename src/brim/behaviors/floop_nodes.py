"""One node of a floop graph as a behavior. What is mapped is taken out of the node; the rest is kept in ``extra``."""

from __future__ import annotations

from brim.behaviors.behavior import LARGEST_PRIORITY, Behavior, Provenance, Usage
from brim.behaviors.kinds import BehaviorKind, Status
from brim.behaviors.names import as_name, as_tag, checked_name, checked_tags
from brim.behaviors.records import compact
from brim.behaviors.times import seconds_of
from brim.behaviors.when import ALIASES, When
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATUSES = {
    "behavior": Status.ACTIVE,
    "forgotten-behavior": Status.FORGOTTEN,
    "deprecated-behavior": Status.SUPERSEDED,
    "merged-behavior": Status.SUPERSEDED,
}
"""The kinds of node that are behaviors, and where each stands in its life."""

_SCOPES = {"local": "project", "global": "user"}
"""The scopes that say no more than brim's; the others are kept in ``extra`` as well."""
_LARGEST = LARGEST_PRIORITY
_BEFORE_TIME = -62_000_000_000.0
"""Go writes the first day of the year 1 for a time that is not set."""


def behavior_of(node: dict[str, Any], id: str, scope: str) -> Behavior:
    """Return the behavior that *node* is, under *id*; *scope* is where it belongs if it does not say so itself.

    Raises ``InputError`` if there is no text in it. *node* is used up: what is left in it is in ``extra``.
    """
    content, metadata = _inner(node, "content"), _inner(node, "metadata")
    texts = _inner(content, "content")
    places = (metadata, content, node)
    stats = next((found for place in places if (found := _inner(place, "stats"))), {})
    canonical = texts.get("canonical")
    if not isinstance(canonical, str) or not canonical.strip():
        raise InputError("it has no canonical text")
    created_at, updated_at = time_of(stats, "created_at"), time_of(stats, "updated_at")
    kind, status = _kind(node, content)
    behavior = Behavior(
        id,
        _name(content, canonical),
        kind,
        texts.pop("canonical"),
        summary=_line(texts, "summary"),
        tags=_tags(texts),
        when=when_of(content),
        scope=_scope(places, scope),
        status=status,
        priority=_number(places, "priority", 0),
        confidence=_number(places, "confidence", 0.6),
        provenance=_provenance(places, texts, canonical),
        usage=_usage(stats),
        created_at=created_at,
        updated_at=updated_at,
    )
    rest = pruned(node)
    return behavior.changed(extra=compact({"floop": rest})) if rest else behavior


def pruned(value: Any) -> Any:
    """Return *value* without what says nothing: null, and texts, lists and objects with nothing in them."""
    if isinstance(value, dict):
        return {key: kept for key, each in value.items() if (kept := pruned(each)) not in (None, "", [], {})}
    return [pruned(each) for each in value] if isinstance(value, list) else value


def time_of(place: dict[str, Any], key: str) -> float | None:
    """Return the time that *place* holds under *key*, taken out of it; nothing if there is none, or none was set."""
    try:
        time = seconds_of(place[key])
    except (KeyError, ValueError, ArithmeticError, AttributeError):
        return None
    del place[key]
    return time if time > _BEFORE_TIME else None


def text_of(place: dict[str, Any], key: str) -> str:
    """Return the text that *place* holds under *key*, taken out of it."""
    return place.pop(key) if isinstance(place.get(key), str) else ""


def when_of(content: dict[str, Any]) -> When:
    """Return the conditions of *content*: numbers and truth values as texts; what is no condition stays there."""
    given = _inner(content, "when")
    found: dict[str, list[str]] = {}
    for key in list(given):
        values = given[key] if isinstance(given[key], list) else [given[key]]
        texts = [_condition(value) for value in values]
        if key and key.isprintable() and texts and all(texts):
            found.setdefault(ALIASES.get(key, key), []).extend(texts)
            del given[key]
    return When.of(found)


def _condition(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return compact(value) if isinstance(value, (bool, int, float)) else ""


def _inner(place: dict[str, Any], key: str) -> dict[str, Any]:
    found = place.get(key)
    return found if isinstance(found, dict) else {}


def _kind(node: dict[str, Any], content: dict[str, Any]) -> tuple[BehaviorKind, Status]:
    """Return what it is and where it stands. Either may say that it was put away; that wins."""
    outer, inner = node.get("kind"), content.get("kind")
    status = STATUSES.get(str(outer or "behavior"), Status.ACTIVE)
    if status is Status.ACTIVE:
        status = STATUSES.get(str(inner), Status.ACTIVE)
    node.pop("kind", None)
    try:
        kind = BehaviorKind(str(inner))
    except ValueError:
        return BehaviorKind.DIRECTIVE, status
    del content["kind"]
    return kind, status


def _name(content: dict[str, Any], canonical: str) -> str:
    name = content.get("name")
    try:
        found = checked_name(name)  # type: ignore[arg-type]
    except InputError:
        return as_name(name) if isinstance(name, str) and name.strip() else as_name(canonical[:60])
    del content["name"]
    return found


def _line(texts: dict[str, Any], key: str) -> str:
    value = texts.get(key)
    if not isinstance(value, str):
        return ""
    line = " ".join(value.split())
    if line == value:
        del texts[key]
    return line


def _tags(texts: dict[str, Any]) -> tuple[str, ...]:
    given = texts.get("tags")
    if not isinstance(given, list):
        return ()
    near = tuple(filter(None, [as_tag(tag) for tag in given if isinstance(tag, str)]))
    if list(near) == given:
        del texts["tags"]
    return checked_tags(near)


def _scope(places: tuple[dict[str, Any], ...], otherwise: str) -> str:
    place = next((place for place in places if isinstance(place.get("scope"), str) and place["scope"]), None)
    if place is None:
        return otherwise
    scope = place["scope"]
    if scope in _SCOPES:
        return _SCOPES[place.pop("scope")]
    return "project" if scope.startswith("project:") else "user"


def _number(places: tuple[dict[str, Any], ...], key: str, usual: Any) -> Any:
    for place in places:
        value = place.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        whole = isinstance(usual, int)
        if (whole and abs(value) < _LARGEST and value == int(value)) or (not whole and 0 <= value <= 1):
            del place[key]
            return int(value) if whole else float(value)
    return usual


def _provenance(places: tuple[dict[str, Any], ...], texts: dict[str, Any], canonical: str) -> Provenance:
    """Return where it comes from; the author, the model and the correction stay where they are, for ``extra``."""
    structured = _inner(texts, "structured")
    wrong = text_of(structured, "avoid")
    if structured.get("prefer") == canonical:
        del structured["prefer"]
    at = None
    for place in places:
        found = _inner(place, "provenance")
        if at is None:
            at = time_of(found, "created_at")
    return Provenance("floop", at=at, wrong=wrong)


def _usage(stats: dict[str, Any]) -> Usage:
    counts = {
        field: stats.pop(key)
        for key, field in (
            ("times_activated", "injected"),
            ("times_confirmed", "confirmed"),
            ("times_overridden", "overridden"),
        )
        if type(stats.get(key)) is int and 0 <= stats[key] < _LARGEST
    }
    if stats.get("times_followed") == 0:
        del stats["times_followed"]
    times = [time_of(stats, key) for key in ("last_activated", "last_confirmed")]
    return Usage(**counts, last_used=max((time for time in times if time is not None), default=None))
