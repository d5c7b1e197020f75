"""The file of behaviors that is committed to git: one JSON object a line, in an order that makes
small differences.

A first line with the format's version, then the behaviors by id, then the edges. Keys have a fixed
order, defaults are left out, and times are ISO 8601 in UTC. Reading is lenient: a line that can't
be read is listed with its number and the reason, and the others are used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

from brim.behaviors.behavior import Edge, Provenance, Rule, RuleUsage
from brim.behaviors.when import When
from brim.errors import InputError
from brim.rules.blocks import checked_blocks

FORMAT = "brim-behaviors"
VERSION = 1
"""The newest form of the file that this brim can read, and the one that it writes."""

_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_TIMES = frozenset({"at", "created_at", "updated_at", "last_used", "last_activated"})
_WANTED = {
    **dict.fromkeys(("tags", "supersedes", "variants", "blocks"), "a list of texts"),
    **dict.fromkeys(("priority", "injected", "confirmed", "overridden"), "a whole number"),
    **dict.fromkeys(("confidence", "weight"), "a number"),
    **dict.fromkeys(("when", "provenance", "usage", "extra"), ""),
}
"""What a field must be, if it isn't a time or a text; objects are checked by their own fields."""
_NEEDED = ("id", "name", "kind", "canonical")
_USUAL = Rule("usual", "usual", "directive", "usual")
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

    behaviors: tuple[Rule, ...]
    edges: tuple[Edge, ...] = ()
    problems: tuple[LineProblem, ...] = ()


def dump(behaviors: Iterable[Rule], edges: Iterable[Edge] = (), *, usage: bool = False) -> str:
    """Return the text of a file with *behaviors* and *edges*: the same text, whatever order they
    come in.

    Counters and times of use are left out, unless *usage* is true, as for a backup.
    """
    lines: list[object] = [{"format": FORMAT, "version": VERSION}]
    lines += [
        encode(behavior, usage=usage) for behavior in sorted(behaviors, key=lambda each: each.id)
    ]
    ordered = sorted(edges, key=lambda each: (each.source, each.kind, each.target))
    lines += [encode_edge(edge, usage=usage) for edge in ordered]
    return "".join([compact(line) + "\n" for line in lines])


def load(text: str, name: str = "behaviors.jsonl") -> Loaded:
    """Return what *text*, the content of the file *name*, holds. A file of a newer format raises
    ``InputError``."""
    behaviors: dict[str, Rule] = {}
    edges: dict[tuple[str, str, str], Edge] = {}
    lines: dict[object, tuple[int, str]] = {}
    problems: list[LineProblem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parsed_object(line)
            if record.get("format") is not None and "id" not in record:
                _check_version(record, f"{name}:{number}")
                continue
            key: Any
            if "source" in record:
                edge, unknown = decode_edge(record)
                key = edge.source, edge.kind, edge.target
                edges[key] = edge
            else:
                behavior, unknown = decode(record), ()
                key = behavior.id
                before = behaviors.get(key)
                if before is not None:  # the wording that is not used is kept
                    wordings = dict.fromkeys(
                        (*behavior.variants, before.canonical, *before.variants)
                    )
                    behavior = replace(
                        behavior,
                        variants=tuple(text for text in wordings if text != behavior.canonical),
                    )
                behaviors[key] = behavior
        except _NewerFormatError:
            raise
        except InputError as error:
            problems.append(LineProblem(name, number, f"{error}; the line is left out", line))
            continue
        if key in lines:
            earlier, unused = lines[key]
            problems.append(
                LineProblem(name, earlier, f"line {number} is about the same, and is used", unused)
            )
        lines[key] = number, line
        if unknown:
            problems.append(
                LineProblem(
                    name, number, f"keys that mean nothing here: {', '.join(unknown)}", line
                )
            )
    ordered = sorted(behaviors.values(), key=lambda each: each.id)
    return Loaded(tuple(ordered), tuple(edges[key] for key in sorted(edges)), tuple(problems))


class _NewerFormatError(InputError):
    """The one thing that ends the reading of a file: half of what a newer brim wrote may mean
    something else."""


def parsed_object(line: str) -> dict[str, Any]:
    """Return the JSON object that *line* is; an ``InputError`` says what else it is."""
    if line.startswith(_CONFLICT):
        raise InputError("a mark of a merge conflict: both sides are read, so decide which to keep")
    try:
        record = json.loads(line, parse_constant=no_number)
    except ValueError as error:
        raise InputError(f"not JSON ({error})") from None
    except RecursionError:
        raise InputError("JSON that is nested too deeply") from None
    if not isinstance(record, dict):
        raise InputError(f"a line is an object with keys, not {line.strip()[:40]!r}")
    return record


def no_number(text: str) -> None:
    """Refuse ``NaN`` and the like: pass it to ``json.loads`` as ``parse_constant``."""
    raise ValueError(f"{text} isn't a number")


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


def compact(value: object) -> str:
    """Return *value* as JSON on one line, readable in any script, and always writable as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode(
        "utf-8", "backslashreplace"
    ).decode()  # halves of surrogate pairs become ``\\ud800``


def encode(behavior: Rule, *, usage: bool = True) -> dict[str, Any]:
    """Return *behavior* as a JSON object, from which ``decode`` makes an equal one.

    Without *usage* the counters are left out: they differ from machine to machine, and would be
    noise in git.
    """
    found: dict[str, Any] = {
        field: value
        for field in Rule.__match_args__
        if (value := getattr(behavior, field)) != getattr(_USUAL, field) or field in _NEEDED
    }
    if "when" in found:
        found["when"] = {
            key: values[0] if len(values) == 1 else [*values]
            for key, values in behavior.when.conditions
        }
    for field in {"provenance", "usage"} & found.keys():
        part = found[field]
        found[field] = _plain(
            {name: each for name, each in vars(part).items() if each != getattr(type(part), name)}
        )
    if not usage:
        found.pop("usage", None)
    if "extra" in found:
        found["extra"] = _opened(found["extra"])
    return _plain(found)


def encode_edge(edge: Edge, *, usage: bool = True) -> dict[str, Any]:
    """Return *edge* as a JSON object; without *usage*, without the time when it was last of use."""
    found = {
        field: getattr(edge, field)
        for field in ("source", "kind", "target", "weight", "created_at")
    }
    found["last_activated"] = edge.last_activated if usage else None
    return _plain(found)


def as_object(behavior: Rule) -> dict[str, Any]:
    """Return every field of *behavior* for ``--json``; times are dates in UTC."""
    found: dict[str, Any] = {
        name: _value(name, getattr(behavior, name)) for name in behavior.__match_args__
    }
    found |= {field: edge_object(found[field]) for field in ("provenance", "usage")}
    return {**found, "when": {key: list(values) for key, values in behavior.when.conditions}}


def edge_object(edge: Edge | Provenance | RuleUsage) -> dict[str, Any]:
    """Return every field of *edge*, or of a part of a behavior, for ``--json``."""
    return {name: _value(name, value) for name, value in edge.to_dict().items()}


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        field: plain
        for field, value in fields.items()
        if (plain := _value(field, value)) is not None
    }


def _value(field: str, value: Any) -> Any:
    """Return *value* as JSON holds it: a time as a date, as the number if there is no such date, or
    None."""
    if field in _TIMES and value is not None:
        try:
            return iso(value)
        except (OverflowError, ValueError, ArithmeticError):
            return value if -1e300 < value < 1e300 else None
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value  # a StrEnum becomes a plain text


def _opened(extra: str) -> Any:
    """Return the JSON object that *extra* is, so that it reads well; the text itself if it would
    come back changed."""
    try:
        value = json.loads(extra)
        return value if isinstance(value, dict) and compact(value) == extra else extra
    except (ValueError, RecursionError):
        return extra


def decode(record: Mapping[str, Any]) -> Rule:
    """Return the behavior that *record* is, or raise ``InputError``. Keys that are not known are
    kept in ``extra``."""
    fields = _known(record, Rule.__match_args__)
    for needed in _NEEDED:
        if needed not in fields:
            raise InputError(f"a rule needs a {needed!r}")
    unknown = {key: value for key, value in record.items() if key not in Rule.__match_args__}
    for field, kind in (("provenance", Provenance), ("usage", RuleUsage)):
        if field in fields:
            part = _mapping(field, fields[field])
            fields[field] = kind(**_known(part, kind.__match_args__))
            unknown |= {
                f"{field}.{key}": value
                for key, value in part.items()
                if key not in kind.__match_args__
            }
    if "when" in fields:
        fields["when"] = When.of(_mapping("when", fields["when"]))
    if "blocks" in fields:
        fields["blocks"] = checked_blocks(fields["blocks"])
    extra = fields.get("extra", "")
    try:
        fields["extra"] = with_extra(extra if isinstance(extra, str) else compact(extra), unknown)
    except (ValueError, RecursionError):
        raise InputError("it holds a number that is too large, or is nested too deeply") from None
    return Rule(**fields)


def decode_edge(record: Mapping[str, Any]) -> tuple[Edge, tuple[str, ...]]:
    """Return the edge that *record* is, and the keys of it that mean nothing; or raise
    ``InputError``."""
    fields = _known(record, Edge.__match_args__)
    for needed in ("source", "target", "kind"):
        if not fields.get(needed):
            raise InputError(f"an edge needs a {needed!r}")
    return Edge(**fields), tuple(key for key in record if key not in Edge.__match_args__)


def with_extra(extra: str, more: Mapping[str, Any]) -> str:
    """Return *extra*, a JSON text, with *more* in it; nothing that was there is lost, whatever it
    is.

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
    return {
        field: _checked(field, record[field]) for field in names if record.get(field) is not None
    }


def _checked(field: str, value: Any) -> Any:
    """Return *value* as *field* holds it, or raise: a file is written by people, too."""
    wanted = _WANTED.get(field, "a text")
    if field in _TIMES:
        wanted = "a time like 2026-01-31T12:00:00Z"
        with suppress(ValueError, OverflowError, ArithmeticError, AttributeError):
            if type(value) not in (int, float):
                return seconds_of(value)
            if -1e300 < value < 1e300:
                return float(value)
    elif (
        not wanted
        or (wanted == "a text" and isinstance(value, str))
        or (wanted == "a number" and type(value) in (int, float))
        or (wanted == "a whole number" and type(value) is int)
        or (
            wanted == "a list of texts"
            and isinstance(value, list)
            and all(isinstance(each, str) for each in value)
        )
    ):
        return value
    raise InputError(f"{field} must be {wanted}, not {repr(value)[:80]}")


def _mapping(field: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{field} must be an object with keys, not {repr(value)[:80]}")
    return value


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
    """Return the seconds since 1970 that *text* means, with any offset and any number of digits;
    else ``ValueError``.

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
