"""A behavior and an edge as JSON objects: keys in a fixed order, what is usual left out, times to be read by people."""

from __future__ import annotations

import json

from brim.behaviors.behavior import Behavior, Provenance, Usage
from brim.behaviors.edges import Edge
from brim.behaviors.times import iso, seconds_of
from brim.behaviors.when import When
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TIMES = frozenset({"at", "created_at", "updated_at", "last_used", "last_activated"})
_LISTS = frozenset({"tags", "supersedes", "variants"})
_WHOLE = frozenset({"priority", "injected", "confirmed", "overridden"})
_NUMBERS = frozenset({"confidence", "weight"})
_USUAL = Behavior("usual", "usual", "directive", "usual")


def compact(value: object) -> str:
    """Return *value* as JSON on one line, readable in any script, and always writable as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def encode(behavior: Behavior, *, usage: bool = True) -> dict[str, Any]:
    """Return *behavior* as a JSON object, from which ``decode`` makes an equal one.

    Without *usage* the counters are left out: they differ from machine to machine, and would be noise in git.
    """
    found: dict[str, Any] = {}
    for field in Behavior.__slots__:
        value = getattr(behavior, field)
        if field in ("id", "name", "kind", "canonical") or value != getattr(_USUAL, field):
            found[field] = value
    if "when" in found:
        found["when"] = {
            key: values[0] if len(values) == 1 else list(values) for key, values in found["when"].conditions
        }
    for field, usual in (("provenance", Provenance()), ("usage", Usage())):
        if field in found:
            found[field] = _part(found[field], usual)
    if not usage:
        found.pop("usage", None)
    if "extra" in found:
        found["extra"] = _opened(found["extra"])
    return _plain(found)


def encode_edge(edge: Edge, *, usage: bool = True) -> dict[str, Any]:
    """Return *edge* as a JSON object; without *usage*, without the time when it was last of use."""
    found = {field: getattr(edge, field) for field in ("source", "kind", "target", "weight", "created_at")}
    found["last_activated"] = edge.last_activated if usage else None
    return _plain({field: value for field, value in found.items() if value is not None})


def _part(value: Provenance | Usage, usual: Provenance | Usage) -> dict[str, Any]:
    """Return the fields of *value* that are not as usual; at least one, so that it can be seen."""
    fields = {field: getattr(value, field) for field in value.__slots__}
    return _plain({field: each for field, each in fields.items() if each != getattr(usual, field)})


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    for field, value in fields.items():
        if field in _TIMES and isinstance(value, (int, float)):
            fields[field] = _time(value)
        elif isinstance(value, tuple):
            fields[field] = list(value)
        elif isinstance(value, str):
            fields[field] = str(value)  # a StrEnum becomes a plain text
    return {field: value for field, value in fields.items() if value is not None}


def _time(seconds: float) -> str | float | None:
    """Return *seconds* as a date; as the number, if there is no such date; nothing, if it is not even a number."""
    try:
        return iso(seconds)
    except (OverflowError, ValueError, ArithmeticError):
        return seconds if -1e300 < seconds < 1e300 else None


def _opened(extra: str) -> Any:
    """Return the JSON object that *extra* is, so that it reads well; the text itself if it would come back changed."""
    try:
        value = json.loads(extra)
        return value if isinstance(value, dict) and compact(value) == extra else extra
    except (ValueError, RecursionError):
        return extra


def decode(record: Mapping[str, Any]) -> Behavior:
    """Return the behavior that *record* is, or raise ``InputError``. Keys that are not known are kept in ``extra``."""
    fields = _known(record, Behavior.__slots__)
    for needed in ("id", "name", "kind", "canonical"):
        if needed not in fields:
            raise InputError(f"a behavior needs a {needed!r}")
    unknown = {key: value for key, value in record.items() if key not in Behavior.__slots__}
    for field, kind in (("provenance", Provenance), ("usage", Usage)):
        if field in fields:
            part = _mapping(field, fields[field])
            fields[field] = kind(**_known(part, kind.__slots__))
            unknown |= {f"{field}.{key}": value for key, value in part.items() if key not in kind.__slots__}
    if "when" in fields:
        fields["when"] = When.of(_mapping("when", fields["when"]))
    extra = fields.get("extra", "")
    try:
        fields["extra"] = with_extra(extra if isinstance(extra, str) else compact(extra), unknown)
    except (ValueError, RecursionError):
        raise InputError("it holds a number that is too large, or is nested too deeply") from None
    return Behavior(**fields)


def decode_edge(record: Mapping[str, Any]) -> tuple[Edge, tuple[str, ...]]:
    """Return the edge that *record* is, and the keys of it that mean nothing; or raise ``InputError``."""
    fields = _known(record, Edge.__slots__)
    for needed in ("source", "target", "kind"):
        if not fields.get(needed):
            raise InputError(f"an edge needs a {needed!r}")
    return Edge(**fields), tuple(key for key in record if key not in Edge.__slots__)


def with_extra(extra: str, more: Mapping[str, Any]) -> str:
    """Return *extra*, a JSON text, with *more* in it; nothing that was there is lost, whatever it is.

    >>> with_extra('{"a":1}', {"a": 2, "b": 3})
    '{"a":1,"a_":2,"b":3}'
    """
    if not more:
        return extra
    opened = _opened(extra)
    kept: dict[str, Any] = opened if isinstance(opened, dict) else {"extra": extra} if extra else {}
    for key, value in more.items():
        name = key
        while name in kept:
            name += "_"
        kept[name] = value
    return compact(kept)


def _known(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {field: _checked(field, record[field]) for field in names if record.get(field) is not None}


def _checked(field: str, value: Any) -> Any:
    """Return *value* as *field* holds it, or raise: a file is written by people, too."""
    if field in _TIMES:
        return _seconds(field, value)
    if field in _LISTS:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InputError(f"{field} must be a list of texts, not {_shown(value)}")
    elif field in _WHOLE or field in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int if field in _WHOLE else (int, float)):
            raise InputError(f"{field} must be a {'whole ' * (field in _WHOLE)}number, not {_shown(value)}")
    elif field not in ("when", "provenance", "usage", "extra") and not isinstance(value, str):
        raise InputError(f"{field} must be a text, not {_shown(value)}")
    return value


def _seconds(field: str, value: Any) -> float:
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value) if -1e300 < value < 1e300 else seconds_of("")
        return seconds_of(value)
    except (ValueError, OverflowError, ArithmeticError, AttributeError):
        raise InputError(f"{field} must be a time like 2026-01-31T12:00:00Z, not {_shown(value)}") from None


def _mapping(field: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{field} must be an object with keys, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return repr(value)[:80]
