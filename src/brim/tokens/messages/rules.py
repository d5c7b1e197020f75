"""Which published rule holds for a model.

The tables are in ``data/``, read when they are first needed.

A model's row is the one with the longest prefix of its name, ending where a part of the name ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from brim.files import data_file, data_rows
from brim.models.names import clean, provider_forms, split_window
from brim.models.names import spellings as name_spellings
from brim.record import PlainData


@dataclass(frozen=True)
class Family(PlainData):
    """How one family frames messages: a row of ``framing.tsv``."""

    title: str
    provider: str
    prefixes: tuple[str, ...]
    encoding: str
    published: bool
    message: tuple[int, ...]
    """Tokens around a message: point, low and high."""
    name: int
    priming: tuple[int, ...]
    """Tokens before the answer: point, low and high."""
    roles: bool
    """Whether the role is text. Only OpenAI publishes that; elsewhere it is part of the framing."""
    unnamed: bool = True
    """Whether a message without a role has one all the same, because the provider frames it."""

    def framed(self, framing: Framing) -> Family:
        """Return this family with a formula in place of what its provider does."""
        return replace(
            self,
            message=(framing.message,) * 3,
            priming=(framing.priming,) * 3,
            roles=framing.roles,
            published=True,
            unnamed=False,
        )


@dataclass(frozen=True)
class Framing(PlainData):
    """A formula of the caller's own.

    It is *priming* tokens once, *message* for each, and the role as text or not.
    """

    priming: int
    message: int
    roles: bool


@dataclass(frozen=True)
class Width(PlainData):
    """What is added where nothing is published: a row of ``widths.tsv``."""

    tokens: int
    low: int
    high: int
    text_low: float
    text_high: float
    reason: str


@cache
def width(name: str) -> Width:
    """Return the row *name* of ``widths.tsv``."""
    row = next(row for row in data_rows(__file__, "widths.tsv") if row[0] == name)
    return Width(int(row[1]), int(row[2]), int(row[3]), float(row[4]), float(row[5]), row[6])


def family(names: Iterable[str]) -> Family:
    """Return the family of the model that *names* spell.

    Source of the published ones: the head of ``framing.tsv``.
    """
    # A version that OpenAI did not list (gpt-4.9) must not inherit the exactness of one that it did
    # (gpt-4).
    ends = {True: "-:@_ ", False: "-.:@_ "}
    return max(_families(), key=lambda row: _longest(row.prefixes, names, ends[row.published]))


@cache
def _families() -> list[Family]:
    rows = data_rows(__file__, "framing.tsv")[1:]
    return [_read_family(row) for row in rows]


def _read_family(row: list[str]) -> Family:
    title, provider, prefixes, encoding, published, *columns = row
    numbers = tuple([int(column) for column in columns])
    return Family(
        title=title,
        provider=provider,
        prefixes=tuple(prefixes.split()),
        encoding=encoding,
        published=published == "yes",
        message=numbers[:3],
        name=numbers[3],
        priming=numbers[4:],
        roles=provider == "openai",
    )


def best(rows: list[dict[str, Any]], names: Iterable[str]) -> dict[str, Any]:
    """Return the row of *rows* whose ``models`` fit best.

    The row with ``*``, or the first, if none does.
    """
    return max(rows, key=lambda row: _longest(row["models"], names, "-.:@_ "))


@cache
def load(name: str) -> dict[str, Any]:
    """Return ``data/<name>.json``."""
    table: dict[str, Any] = json.loads(data_file(__file__, f"{name}.json"))
    return table


def spellings(model_name: str) -> tuple[str, ...]:
    """Return *model_name* with ever less of what stands before the model's own name, without a
    window at its end.

    Of Claude's names every spelling is returned (``claude-4.5-sonnet`` is ``claude-sonnet-4-5``),
    of others only the given one: ``gpt-4-9`` for ``gpt-4.9`` would look like a kind of ``gpt-4``.
    """
    key, _ = split_window(clean(model_name))
    forms = provider_forms(key)
    if "claude" in key:
        forms = name_spellings(key)
    return tuple(dict.fromkeys(form for form, _ in forms))


def _longest(prefixes: Iterable[str], names: Iterable[str], ends: str) -> int:
    """Return the length of the longest of *prefixes* that one of *names* begins with; -1 if there
    is none."""
    longest = -1
    if "*" in prefixes:
        longest = 0
    for prefix in prefixes:
        for name in names:
            if name.startswith(prefix) and name[len(prefix) : len(prefix) + 1] in ends:
                longest = max(longest, len(prefix))
    return longest
