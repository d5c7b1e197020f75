"""Converts behaviors, edges, triggers and costs of lines to rows and back, without loss.

A trigger is a term of ``brim.activation.relevance`` that finds a behavior in an index: a stem, or
the key and value of a condition. A behavior that no trigger finds can't have a condition that
holds; one that is found may.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from brim.activation.relevance import ALWAYS, facts_filed, section_of
from brim.activation.source import Node
from brim.behaviors.behavior import Edge, EdgeKind, Provenance, Rule, RuleUsage
from brim.behaviors.when import When
from brim.errors import InputError, StoreError
from brim.masking import mask
from brim.rules.costs import ENCODINGS
from brim.rules.text import RENDERER_VERSION, item_text
from brim.rules.tiers import Tier
from brim.tokens.engines import encoding_counter
from brim.tokens.vocabulary import load_table_counter

_Stored = TypeVar("_Stored", When, Edge)

COLUMNS = (
    *("id", "name", "kind", "scope", "status", "live"),
    *("conditions", "words", "injected", "confirmed", "overridden", "last_used"),
    *("priority", "confidence", "created_at", "updated_at", "superseded_by", "supersedes"),
    *("tags", "summary", "provenance", "canonical", "variants", "extra", "blocks"),
)
"""The columns of a behavior, in the order of its row."""

SELECT = f"SELECT {', '.join(COLUMNS)} FROM behaviors"  # noqa: S608 - the names above
WRITTEN = (*COLUMNS, "inferred", "section")
"""All columns that are written. The last two are for activation: inferred conditions, and the
rule's section."""
UPSERT = (
    f"INSERT INTO behaviors ({', '.join(WRITTEN)}) VALUES ({', '.join('?' * len(WRITTEN))}) "  # noqa: S608
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in WRITTEN[1:])}"
)

DIGESTED = "id, live, name, kind, status, conditions, priority, tags, summary, canonical, blocks"
"""Everything that decides what agents are told and when. Users who trust a project agree to
these."""

EDGE_COLUMNS = "source, target, kind, weight, created_at, last_activated"
NODE_COLUMNS = "id, conditions, words, injected, confirmed, overridden, last_used, live, kind, status, inferred"

_TEXTS = ("canonical", "summary", "extra")

INDEX_VERSION = "5"
"""Raise it if stems, inferred conditions or terms change: the next command then rebuilds the
index."""


def without_secrets(behavior: Rule) -> Rule:
    """Return *behavior* with the secrets in its texts masked."""

    came = behavior.provenance.to_dict()
    texts: dict[str, Any] = {name: getattr(behavior, name) for name in _TEXTS}
    found = (behavior.name, *behavior.tags)
    together = "\n".join([*texts.values(), *behavior.variants, *map(str, came.values()), *found])
    if mask(together) == together:  # nearly always, and one call is faster
        return behavior
    # Rules are found by words of their names and tags, so a secret there is replaced entirely.
    came_masked: dict[str, Any] = {
        key: mask(each) for key, each in came.items() if isinstance(each, str)
    }
    texts_masked: dict[str, Any] = {key: mask(text) for key, text in texts.items()}
    name, *tags = ["masked" if mask(each) != each else each for each in found]
    return replace(
        behavior,
        name=name,
        tags=tuple(tags),
        variants=tuple(mask(text) for text in behavior.variants),
        provenance=replace(behavior.provenance, **came_masked),
        **texts_masked,
    )


def row_of(behavior: Rule, words: frozenset[str]) -> tuple[object, ...]:
    """Return *behavior*, with secrets already masked, as a row with its *words*."""
    fields = behavior.to_dict()
    fields |= {
        **{name: _kept(fields[name]) for name in _TEXTS},
        **{name: fields[name].value for name in ("kind", "status")},
        **{
            name: json.dumps(fields[name])
            for name in ("supersedes", "tags", "blocks", "variants", "provenance")
        },
        **fields["usage"],
        "conditions": json.dumps(behavior.when.conditions),
        "live": int(behavior.live),
        "words": " ".join(sorted(words)),
        "inferred": inferred_column(behavior),
        "section": section_of(behavior),
    }
    return tuple([fields[name] for name in WRITTEN])


def inferred_column(behavior: Rule) -> str:
    """Return the conditions that are inferred from the words of *behavior*, for its column."""
    return json.dumps(behavior.inferred.conditions)


def behavior_of(row: Sequence[Any], *, new: bool = False) -> Rule:
    """Return the behavior in a row of ``COLUMNS``. If a *new* one is wrong, that's the caller's
    mistake."""
    try:
        return _behavior(row[: len(COLUMNS)])
    except (InputError, ValueError, TypeError, AttributeError, RecursionError) as error:
        if new:
            raise InputError(f"the rule {row[0]!r} can't be stored: {error}") from None
        raise unreadable(row[0], error) from None


def unreadable(id: object, error: Exception) -> StoreError:
    """Return the error for a row that brim can't have written."""
    return StoreError(
        f"the rule {id!r} can't be read: {error}; 'brim rules restore' brings a project's rules back",
        "damaged",
    )


def _behavior(row: Sequence[Any]) -> Rule:
    id, name, kind, scope, status, _, conditions, _, *use = row[:12]
    priority, confidence, created, updated, superseded_by, supersedes = row[12:18]
    tags, summary, provenance, canonical, variants, extra, blocks = row[18:]
    return Rule(
        id,
        name,
        kind,
        _text(canonical),
        summary=_text(summary),
        tags=_listed(tags),
        when=when_of(conditions),
        scope=scope,
        status=status,
        priority=_whole(priority),
        confidence=confidence,
        provenance=_provenance(provenance),
        usage=RuleUsage(*used(*use)),
        supersedes=_listed(supersedes),
        superseded_by=superseded_by,
        variants=_listed(variants),
        created_at=_time(created),
        updated_at=_time(updated),
        extra=_text(extra),
        blocks=_listed(blocks),
    )


@lru_cache(256)
def _provenance(column: str) -> Provenance:
    """Return the provenance in a column. Rules that were learned together often share it."""
    return Provenance(**json.loads(column))


@lru_cache(4096)
def when_of(conditions: str) -> When:
    """Return the conditions in a column. Many behaviors share them."""
    pairs = tuple([(_texts([key])[0], _texts(values)) for key, values in json.loads(conditions)])
    return _as_written(When, pairs)


def used(
    injected: int, confirmed: int, overridden: int, last_used: float | None
) -> tuple[int, int, int, float | None]:
    """Return the columns of use unchanged; raise ``ValueError`` if brim can't have written them."""
    if not (type(injected) is type(confirmed) is type(overridden) is int):
        raise ValueError(f"{injected!r}, {confirmed!r} and {overridden!r} are not counts")
    return injected, confirmed, overridden, _time(last_used)


def edge_row(edge: Edge) -> tuple[object, ...]:
    """Return *edge* as a row of ``EDGE_COLUMNS``."""
    for time in (edge.created_at, edge.last_activated):
        if time is not None and type(time) not in (int, float):
            raise InputError(f"the edge {edge} cannot be stored: {str(time)[:80]!r} is not a time")
    return (
        edge.source,
        edge.target,
        edge.kind.value,
        edge.weight,
        edge.created_at,
        edge.last_activated,
    )


@lru_cache(4096)
def edge_of(row: tuple[Any, ...]) -> Edge:
    """Return the edge in a row of ``EDGE_COLUMNS``. Each step of spreading reads the same ones."""
    source, target, kind, weight, created_at, last_activated = row
    known = _EDGE_KINDS.get(kind)
    try:
        if known is None or not (isinstance(weight, float) and 0 < weight <= 1):
            raise ValueError(f"{kind!r}, {weight!r}")
        return _as_written(
            Edge, *_texts((source, target)), known, weight, _time(created_at), _time(last_activated)
        )
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"the edge from {source!r} to {target!r} cannot be read: {error}", "damaged"
        ) from None


_EDGE_KINDS = {kind.value: kind for kind in EdgeKind}


def _as_written(kind: type[_Stored], *fields: object) -> _Stored:
    """Return a value without checking its fields again: a hook reads thousands in milliseconds."""
    value = kind.__new__(kind)
    value.__dict__.update(zip(kind.__dataclass_fields__, fields, strict=True))
    return value


def _listed(column: str) -> Sequence[str]:
    """Return the texts in a JSON column."""
    return () if column == "[]" else _texts(json.loads(column))


def _texts(values: Any) -> tuple[str, ...]:
    if type(values) not in (list, tuple) or not all(type(value) is str for value in values):
        raise ValueError(f"{str(values)[:80]!r} is not a list of texts")
    return tuple(values)


def _whole(value: int) -> int:
    if type(value) is not int:
        raise ValueError(f"{str(value)[:80]!r} is not a whole number")
    return value


def _time(value: float | None) -> float | None:
    if value is not None and type(value) is not float:
        raise ValueError(f"{str(value)[:80]!r} is not a time")
    return value


def _kept(text: str) -> str | bytes:
    """Return *text* for SQLite: as bytes if it has half of a surrogate pair, which UTF-8 can't
    encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _text(kept: str | bytes) -> str:
    return kept if isinstance(kept, str) else kept.decode("utf-8", "surrogatepass")


def node_of(row: Any) -> Node:
    """Return the node in a row of ``NODE_COLUMNS``."""
    id, conditions, words = row[:3]
    try:
        injected, confirmed, overridden, last_used = used(*row[3:7])
        uses = injected + confirmed - overridden
        return Node(
            id,
            when_of(conditions),
            frozenset(words.split()),
            max(0, uses),
            last_used,
            when_of(row[10]),
        )
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(id, error) from None


def triggers_in(facts: Mapping[str, tuple[str, ...]], words: Iterable[str]) -> set[str]:
    """Return the triggers that a situation with *facts* and *words* meets."""
    return {ALWAYS, *words, *facts_filed(facts)}


def line_costs_of(behavior: Rule) -> list[tuple[object, ...]]:
    """Return the costs of every line that *behavior* can become, as rows of ``line_costs``."""

    found: list[tuple[object, ...]] = []
    # Two encodings with one vocabulary count alike, and a short rule has the same text in several
    # tiers.
    counters = [
        (encoding, id(load_table_counter(encoding)), encoding_counter(encoding))
        for encoding in ENCODINGS
    ]
    known: dict[tuple[int, str], int] = {}
    for tier in (Tier.NAME_ONLY, Tier.SUMMARY, Tier.FULL):
        text = item_text(behavior, tier)
        for encoding, vocabulary, counter in counters:
            if (vocabulary, text) not in known:
                known[vocabulary, text] = (
                    counter(text) if counter is not None else len(text.encode())
                )
            found.append(
                (encoding, int(tier), RENDERER_VERSION, known[vocabulary, text], len(text))
            )
    return found
