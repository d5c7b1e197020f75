"""The file of behaviors that is committed to git: one JSON object a line, in an order that makes small differences.

A first line with the format's version, then the behaviors by id, then the edges. Keys have a fixed order, defaults are
left out, and times are ISO 8601 in UTC. Reading is lenient: a line that can't be read is listed with its number and the
reason, and the others are used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

from brim.behaviors.behavior import Behavior, Edge, Provenance, Usage
from brim.behaviors.when import When
from brim.errors import InputError

FORMAT = "brim-behaviors"
VERSION = 1
"""The newest form of the file that this brim can read, and the one that it writes."""

_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_TIMES = frozenset({"at", "created_at", "updated_at", "last_used", "last_activated"})
_LISTS = frozenset({"tags", "supersedes", "variants"})
_WHOLE = frozenset({"priority", "injected", "confirmed", "overridden"})
_NUMBERS = frozenset({"confidence", "weight"})
_USUAL = Behavior("usual", "usual", "directive", "usual")
_DIGITS = 400
"""Enough for every number that a float can be, so that nothing is rounded on the way."""


@dataclass(frozen=True)
class LineProblem:
    """A line that was not used as it is, and why. ``str`` says it with its place."""

    name: str
    line: int
    why: str
    text: str
    """The whole line: nothing is lost."""

    def __str__(self) -> str:
        return f"{self.name}:{self.line}: {self.why}"


@dataclass(frozen=True)
class Loaded:
    """What a file holds: behaviors by id, edges, and the lines that were not used as they are."""

    behaviors: tuple[Behavior, ...]
    edges: tuple[Edge, ...] = ()
    problems: tuple[LineProblem, ...] = ()


def dump(behaviors: Iterable[Behavior], edges: Iterable[Edge] = (), *, usage: bool = False) -> str:
    """Return the text of a file with *behaviors* and *edges*: the same text, whatever order they come in.

    Counters and times of use are left out, unless *usage* is true, as for a backup.
    """
    lines: list[object] = [{"format": FORMAT, "version": VERSION}]
    lines += [encode(behavior, usage=usage) for behavior in sorted(behaviors, key=lambda each: each.id)]
    ordered = sorted(edges, key=lambda each: (each.source, each.kind, each.target))
    lines += [encode_edge(edge, usage=usage) for edge in ordered]
    return "".join([compact(line) + "\n" for line in lines])


def load(text: str, name: str = "behaviors.jsonl") -> Loaded:
    """Return what *text*, the content of the file *name*, holds. A file of a newer format raises ``InputError``."""
    behaviors: dict[str, Behavior] = {}
    edges: dict[tuple[str, str, str], Edge] = {}
    lines: dict[object, tuple[int, str]] = {}
    problems: list[LineProblem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = _parsed(line)
            if record.get("format") is not None and "id" not in record:
                _check_version(record, f"{name}:{number}")
                continue
            key, why = _take_edge(record, edges) if "source" in record else _take_behavior(record, behaviors)
        except _NewerFormatError:
            raise
        except InputError as error:
            problems.append(LineProblem(name, number, f"{error}; the line is left out", line))
            continue
        if key in lines:
            before, unused = lines[key]
            problems.append(LineProblem(name, before, f"line {number} is about the same, and is used", unused))
        lines[key] = number, line
        if why:
            problems.append(LineProblem(name, number, why, line))
    ordered = sorted(behaviors.values(), key=lambda each: each.id)
    return Loaded(tuple(ordered), tuple(edges[key] for key in sorted(edges)), tuple(problems))


class _NewerFormatError(InputError):
    """The one thing that ends the reading of a file: half of what a newer brim wrote may mean something else."""


def _parsed(line: str) -> dict[str, Any]:
    if line.startswith(_CONFLICT):
        raise InputError("a mark of a merge conflict: both sides are read, so decide which to keep")
    try:
        record = json.loads(line, parse_constant=_no_number)
    except ValueError as error:
        raise InputError(f"not JSON ({error})") from None
    except RecursionError:
        raise InputError("JSON that is nested too deeply") from None
    if not isinstance(record, dict):
        raise InputError(f"a line is an object with keys, not {line.strip()[:40]!r}")
    return record


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _check_version(record: Mapping[str, Any], place: str) -> None:
    if record["format"] != FORMAT:
        raise InputError(f"a file of the format {record['format']!r}, not {FORMAT!r}")
    version = record.get("version", VERSION)
    if isinstance(version, bool) or not isinstance(version, int):
        raise InputError(f"the version must be a whole number, not {version!r}")
    if version > VERSION:
        raise _NewerFormatError(
            f"{place}: written in version {version} of the format, and this brim reads up to {VERSION}: upgrade brim"
        )


def _take_behavior(record: Mapping[str, Any], behaviors: dict[str, Behavior]) -> tuple[object, str]:
    behavior = decode(record)
    before = behaviors.get(behavior.id)
    if before is not None:  # the wording that is not used is kept
        wordings = dict.fromkeys((*behavior.variants, before.canonical, *before.variants))
        behavior = behavior.replace(variants=[text for text in wordings if text != behavior.canonical])
    behaviors[behavior.id] = behavior
    return behavior.id, ""


def _take_edge(record: Mapping[str, Any], edges: dict[tuple[str, str, str], Edge]) -> tuple[object, str]:
    edge, unknown = decode_edge(record)
    key = (edge.source, edge.kind, edge.target)
    edges[key] = edge
    return key, f"keys that mean nothing here: {', '.join(unknown)}" if unknown else ""


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
    for field in Behavior.__match_args__:
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


def as_object(behavior: Behavior) -> dict[str, Any]:
    """Return every field of *behavior* for ``--json``; times are dates in UTC."""
    found: dict[str, Any] = {name: getattr(behavior, name) for name in behavior.__match_args__}
    for part in (behavior.provenance, behavior.usage):
        found[type(part).__name__.lower()] = {name: _shown_as(name, value) for name, value in part.to_dict().items()}
    found["when"] = {key: list(values) for key, values in behavior.when.conditions}
    return {name: _shown_as(name, value) for name, value in found.items()}


def edge_object(edge: Edge) -> dict[str, Any]:
    """Return every field of *edge* for ``--json``."""
    return {name: _shown_as(name, value) for name, value in edge.to_dict().items()}


def _shown_as(name: str, value: Any) -> Any:
    if name in _TIMES and value is not None:
        try:
            return iso(value)
        except (OverflowError, ValueError, ArithmeticError):
            return value
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value


def _part(value: Provenance | Usage, usual: Provenance | Usage) -> dict[str, Any]:
    """Return the fields of *value* that are not as usual; at least one, so that it can be seen."""
    fields = {field: getattr(value, field) for field in value.__match_args__}
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
    fields = _known(record, Behavior.__match_args__)
    for needed in ("id", "name", "kind", "canonical"):
        if needed not in fields:
            raise InputError(f"a behavior needs a {needed!r}")
    unknown = {key: value for key, value in record.items() if key not in Behavior.__match_args__}
    for field, kind in (("provenance", Provenance), ("usage", Usage)):
        if field in fields:
            part = _mapping(field, fields[field])
            fields[field] = kind(**_known(part, kind.__match_args__))
            unknown |= {f"{field}.{key}": value for key, value in part.items() if key not in kind.__match_args__}
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
    fields = _known(record, Edge.__match_args__)
    for needed in ("source", "target", "kind"):
        if not fields.get(needed):
            raise InputError(f"an edge needs a {needed!r}")
    return Edge(**fields), tuple(key for key in record if key not in Edge.__match_args__)


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


def iso(seconds: float) -> str:
    """Return *seconds* since 1970 as a date and time in UTC.

    >>> iso(1700000000.25), iso(0)
    ('2023-11-14T22:13:20.25Z', '1970-01-01T00:00:00Z')
    """
    exact = Decimal(repr(float(seconds)))
    whole = exact.to_integral_value("ROUND_FLOOR")
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(whole))
    fraction = format(Context(_DIGITS).subtract(exact, whole), "f").partition(".")[2].rstrip("0")
    return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + (f".{fraction}Z" if fraction else "Z")


def seconds_of(text: str) -> float:
    """Return the seconds since 1970 that *text* means, with any offset and any number of digits; else ``ValueError``.

    A time without an offset is UTC: a file must not mean something else on another machine.

    >>> seconds_of("2023-11-14T22:13:20.25Z"), seconds_of("2023-11-14 23:13:20+01:00")
    (1700000000.25, 1700000000.0)
    """
    clock, point, rest = text.strip().partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    moment = datetime.fromisoformat(clock + rest[len(digits) :])
    if point and not (digits and digits.isascii()):
        raise ValueError(f"no time: {text!r}")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    return float(Context(_DIGITS).add(Decimal(whole), Decimal(f"0.{digits or 0}")))
