"""Which published rule holds for a model: the tables in ``data/``, read when they are first needed.

A model's row is the one whose prefix is the longest that the name begins with, ending where a part of the name ends.
"""

from __future__ import annotations

import json
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any

from brim.files import data_file, data_rows
from brim.models.names import clean, provider_forms, split_window
from brim.models.names import spellings as name_spellings
from brim.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable


class Family:
    """How one family frames messages: a row of ``framing.tsv``."""

    def __init__(self, row: dict[str, str]) -> None:
        self.title, self.provider = row["family"], row["provider"]
        self.prefixes = row["prefixes"].split()
        self.encoding, self.published = row["encoding"], row["published"] == "yes"
        self.message = (int(row["message"]), int(row["message_low"]), int(row["message_high"]))
        self.name = int(row["name"])
        self.priming = (int(row["priming"]), int(row["priming_low"]), int(row["priming_high"]))
        # Only OpenAI publishes that the role is text; elsewhere it is part of the framing.
        self.roles = self.provider == "openai"
        self.unnamed = True  # a message without a role has one all the same, when the provider frames it

    def framed(self, framing: Framing) -> Family:
        """Return this family with a formula in place of what its provider does."""
        other = copy(self)
        other.message, other.priming = (framing.message,) * 3, (framing.priming,) * 3
        other.roles, other.published, other.unnamed = framing.roles, True, False
        return other


class Framing(Record):
    """A formula of the caller's own: *priming* tokens once, *message* for each, and the role as text or not."""

    priming: int
    message: int
    roles: bool


class Width(Record):
    """What is added where nothing is published: a row of ``widths.tsv``."""

    tokens: int
    low: int
    high: int
    text_low: float
    text_high: float
    reason: str


def width(name: str) -> Width:
    """Return the row *name* of ``widths.tsv``."""
    return _widths()[name]


@cache
def _widths() -> dict[str, Width]:
    return {
        row["name"]: Width(
            int(row["tokens"]),
            int(row["low"]),
            int(row["high"]),
            float(row["text_low"]),
            float(row["text_high"]),
            row["reason"],
        )
        for row in _rows("widths.tsv")
    }


def family(names: Iterable[str]) -> Family:
    """Return the family of the model that *names* spell. Source of the published ones: the head of ``framing.tsv``."""
    table = _families()
    length, found = -1, table[-1]
    for row in table:
        # A version that OpenAI did not list (gpt-4.9) must not inherit the exactness of one that it did (gpt-4).
        match = _longest(row.prefixes, names, "-:@_ " if row.published else "-.:@_ ")
        if match > length:
            length, found = match, row
    return found


@cache
def _families() -> list[Family]:
    return [Family(row) for row in _rows("framing.tsv")]


def best(rows: list[dict[str, Any]], names: Iterable[str]) -> dict[str, Any]:
    """Return the row of *rows* whose ``models`` fit best; the row with ``*``, or the first, if none does."""
    length, found = -1, rows[0]
    for row in rows:
        match = _longest(row["models"], names, "-.:@_ ")
        if match > length:
            length, found = match, row
    return found


@cache
def load(name: str) -> dict[str, Any]:
    """Return ``data/<name>.json``."""
    table: dict[str, Any] = json.loads(data_file(__file__, f"{name}.json"))
    return table


def spellings(model_name: str) -> tuple[str, ...]:
    """Return *model_name* with ever less of what stands before the model's own name, without a window at its end.

    Of Claude's names every spelling is returned (``claude-4.5-sonnet`` is ``claude-sonnet-4-5``), of others only the
    given one: ``gpt-4-9`` for ``gpt-4.9`` would look like a kind of ``gpt-4``.
    """
    key, _ = split_window(clean(model_name))
    forms = name_spellings(key) if "claude" in key else provider_forms(key)
    return tuple(dict.fromkeys(form for form, _ in forms))


def _longest(prefixes: Iterable[str], names: Iterable[str], ends: str) -> int:
    longest = -1
    for prefix in prefixes:
        if prefix == "*":
            longest = max(longest, 0)
            continue
        size = len(prefix)
        if size > longest and any(name.startswith(prefix) and name[size : size + 1] in ends for name in names):
            longest = size
    return longest


def _rows(name: str) -> list[dict[str, str]]:
    head, *rows = data_rows(__file__, name)
    return [dict(zip(head, row, strict=True)) for row in rows]
