"""The file of behaviors that is committed to git: one JSON object a line, in an order that makes small differences.

A first line with the format's version, then the behaviors by id, then the edges. Reading is lenient: a line that cannot
be read is listed with its number and the reason, and the others are used.
"""

from __future__ import annotations

import json

from brim._frozen import Frozen
from brim.behaviors.difference import Difference, differences
from brim.behaviors.records import compact, decode, decode_edge, encode, encode_edge
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from brim.behaviors.behavior import Behavior
    from brim.behaviors.edges import Edge

__all__ = [
    "FORMAT",
    "VERSION",
    "Difference",
    "LineProblem",
    "Loaded",
    "decode",
    "differences",
    "dump",
    "encode",
    "load",
]

FORMAT = "brim-behaviors"
VERSION = 1
"""The newest form of the file that this brim can read, and the one that it writes."""

_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


class LineProblem(Frozen):
    """A line that was not used as it stands, and why. ``str`` says it with its place."""

    __slots__ = ("name", "line", "why", "text")

    name: str
    line: int
    why: str
    text: str
    """The whole line: nothing is lost, whatever it was."""

    def __init__(self, name: str, line: int, why: str, text: str) -> None:
        self._fill(name=name, line=line, why=why, text=text)

    def __str__(self) -> str:
        return f"{self.name}:{self.line}: {self.why}"


class Loaded(Frozen):
    """What a file holds: behaviors by id, edges, and the lines that were not used as they stand."""

    __slots__ = ("behaviors", "edges", "problems")

    behaviors: tuple[Behavior, ...]
    edges: tuple[Edge, ...]
    problems: tuple[LineProblem, ...]

    def __init__(
        self, behaviors: Iterable[Behavior], edges: Iterable[Edge] = (), problems: Iterable[LineProblem] = ()
    ) -> None:
        self._fill(behaviors=tuple(behaviors), edges=tuple(edges), problems=tuple(problems))


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
            record = _object(line)
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
    return Loaded(sorted(behaviors.values(), key=lambda each: each.id), [edges[key] for key in sorted(edges)], problems)


class _NewerFormatError(InputError):
    """The one thing that ends the reading of a file: half of what a newer brim wrote may mean something else."""


def _object(line: str) -> dict[str, Any]:
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
        behavior = behavior.changed(variants=[text for text in wordings if text != behavior.canonical])
    behaviors[behavior.id] = behavior
    return behavior.id, ""


def _take_edge(record: Mapping[str, Any], edges: dict[tuple[str, str, str], Edge]) -> tuple[object, str]:
    edge, unknown = decode_edge(record)
    key = (edge.source, edge.kind, edge.target)
    edges[key] = edge
    return key, f"keys that mean nothing here: {', '.join(unknown)}" if unknown else ""
