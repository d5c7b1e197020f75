"""A model's name, tokenizer family and window, without parsing the full table.

Hooks use this, so the table is a sorted file with binary search. ``catalog`` has the full record of
a model.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from brim.errors import InputError
from brim.files import data_file, data_path, data_rows
from brim.models import names, overrides
from brim.models.thinking import binds_thinking
from brim.record import PlainData


def encoding_of(key: str) -> str:
    """Return the tokenizer family of the lower-case name *key*, or ``""`` if no rule knows it."""
    return next(
        (
            encoding
            for pattern, encoding in data_rows(__file__, "encodings.tsv")
            if _begins_a_word(pattern, key)
        ),
        "",
    )


def known_encodings() -> set[str]:
    """Return every tokenizer family that a rule names."""
    return {encoding for _, encoding in data_rows(__file__, "encodings.tsv")}


def _begins_a_word(pattern: str, key: str) -> bool:
    """Tell whether *pattern* stands in *key* at the start of a word; a final ``|`` means that the
    word ends there."""
    word = pattern.removesuffix("|")
    at = key.find(word)
    while at >= 0:
        end = at + len(word)
        starts = at == 0 or not key[at - 1].isalnum()
        if starts and (word == pattern or end == len(key) or not key[end].isalnum()):
            return True
        at = key.find(word, at + 1)
    return False


UNKNOWN_WINDOW = 8_192
"""The window of an unknown model: small enough for any model of today."""

DEFAULT_ENCODING = "o200k_base"
"""The tokenizer family of newer models of OpenAI; what is counted with if no model is named."""

UNKNOWN_ENCODING = "cl100k_base"
"""The tokenizer of an unknown model."""

_Row = list[str]


@dataclass(frozen=True)
class Light(PlainData):
    """The facts about a model that counting needs.

    ``encoding`` is ``""`` when the model is known and its tokenizer is not. ``resolved`` is true
    when both the name and its window are known; otherwise the values are those of the nearest
    family, or the smallest safe ones.
    """

    name: str
    encoding: str
    context_window: int
    max_input: int
    max_output: int | None
    resolved: bool
    binds_thinking: bool = False
    """Whether its thinking blocks are valid only after the exact prefix that they were made
    with."""


@dataclass(frozen=True)
class FoundModel(PlainData):
    """A :class:`Light`, and how it was found, for the full record."""

    light: Light
    table_name: str = ""
    """The record's name in the full table; empty when the name is not known there."""
    provider_part: str = ""
    """The prefix that was removed from the name to find it, such as ``bedrock/us.``"""
    config_key: str = ""
    """The key of the override that applies; empty when none does."""


def lookup(name: str) -> Light:
    """Return what is known about the model *name*.

    Never raises, whatever the text.

    >>> lookup("openai/gpt-4o-2099-01-01").context_window
    128000
    """
    return find(name).light


def find(name: str) -> FoundModel:
    """Look up *name* in the overrides and the table, then apply a window from its suffix or a
    report."""
    if not isinstance(name, str):
        raise InputError(f"a model is given by its name, such as 'gpt-4o', not {repr(name)[:40]}")
    whole = names.clean(name)
    key, asked = (whole, 0) if overrides.get(whole) is not None else names.split_window(whole)
    found = _resolve(key, name)
    light = found.light
    if asked:
        window = overrides.window_of(whole) or asked
    elif found.config_key and "context_window" in (overrides.get(found.config_key) or ()):
        return found
    else:
        window = overrides.window_of(whole) or overrides.window_of(light.name.lower())
    if not window:
        return found
    return replace(
        found, light=replace(light, context_window=window, max_input=input_within(light, window))
    )


def input_within(light: Light, window: int) -> int:
    """Return the maximum input of *light* with another *window*: all of it, unless the model splits
    it."""
    return window if light.max_input == light.context_window else min(light.max_input, window)


def name_in_table(key: str) -> str:
    """Return the name of the table's record for the lower-case name *key*; empty if it has none."""
    row = _row(key)
    return row[5] or row[0] if row else ""


def _resolve(key: str, name: str) -> FoundModel:
    if key:
        for spelling, provider_part in names.spellings(key):
            override = overrides.get(spelling)
            if override is not None:
                return _overridden(spelling, override)
            row = _row(spelling)
            if row:
                known = _from_row(row, resolved=True)
                has_window = row[2] != "0"
                light = (
                    known
                    if has_window
                    else replace(_guess(key, key), name=known.name, encoding=known.encoding)
                )
                binds = binds_thinking(key) or binds_thinking(known.name)
                return FoundModel(replace(light, binds_thinking=binds), known.name, provider_part)
    return FoundModel(replace(_guess(key, name), binds_thinking=binds_thinking(key)))


def _overridden(key: str, override: overrides.Override) -> FoundModel:
    like = override.get("like")
    base = find(like).light if isinstance(like, str) else None
    row = _sized(key)
    light = base or (_from_row(row, resolved=True) if row else _guess(key, key))
    window, most = override.get("context_window", light.context_window), override.get("max_input")
    assert isinstance(window, int)  # noqa: S101 - overrides.use has checked it; this tells the type checker
    changes: dict[str, Any] = {
        "name": override["name"],
        "encoding": override.get("encoding", light.encoding),
        "context_window": window,
        "max_input": min(most, window) if isinstance(most, int) else input_within(light, window),
        "max_output": override.get("max_output", light.max_output),
        "resolved": True,
        "binds_thinking": light.binds_thinking or binds_thinking(key),
    }
    return FoundModel(replace(light, **changes), config_key=key)


def _guess(key: str, name: str) -> Light:
    """Return the values of the nearest known thing: the same model at some host, or a family of
    models."""
    encoding = encoding_of(key) if key else ""
    unknown = Light(
        name.strip(),
        encoding or UNKNOWN_ENCODING,
        UNKNOWN_WINDOW,
        UNKNOWN_WINDOW,
        None,
        resolved=False,
    )
    if is_for_other_media(key):
        return unknown
    forms = [form for form, _ in names.provider_forms(key)]
    row = _hosted(forms[-1]) if key else None
    for form in reversed(forms):
        row = row or _sized("~" + form)
        for prefix in names.shorter_names(form):
            row = row or _sized("~" + prefix) or _sized(prefix)
    if not row:
        return unknown
    near = _from_row(row, resolved=False)
    return replace(near, name=name.strip(), encoding=encoding or near.encoding)


def is_for_other_media(key: str) -> bool:
    """Whether the lower-case name *key* says that the model is for speech, images, videos or
    pages."""
    for separator in "/:@._":
        key = key.replace(separator, "-")
    words = key.split("-")
    return any(word in words for (word,) in data_rows(__file__, "other_media.tsv"))


def _from_row(row: _Row, *, resolved: bool) -> Light:
    key, encoding, window, most, out, name = row
    size = int(window)
    return Light(name or key, encoding, size, int(most) or size, int(out) or None, resolved)


def _hosted(form: str) -> _Row | None:
    """Return the row with the most common window among the hosts of the open model *form*; of two,
    the smaller."""
    table, needle = data_file(__file__, "index.tsv"), f"/{form}\t".encode("utf-8", "surrogatepass")
    rows: list[_Row] = []
    at = table.find(needle)
    while at >= 0:
        row = table[table.rfind(b"\n", 0, at) + 1 : table.find(b"\n", at)].decode().split("\t")
        if row[2] != "0":
            rows.append(row)
        at = table.find(needle, at + 1)
    windows = [row[2] for row in rows]
    return max(rows, key=lambda row: (windows.count(row[2]), -int(row[2])), default=None)


def _sized(key: str) -> _Row | None:
    row = _row(key)
    return row if row and row[2] != "0" else None


@lru_cache(1024)
def _row(key: str) -> _Row | None:
    """Return the fields of the table's line for *key*.

    The lines are sorted, so only a few are read.
    """
    wanted = key.encode("utf-8", "surrogatepass")
    with open(data_path(__file__, "index.tsv"), "rb") as table:
        low, high = 0, table.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            table.seek(max(0, middle - 1))
            start = middle and middle - 1 + len(
                table.readline()
            )  # where the first line from there on begins
            line = table.readline() if start < high else b""
            here = line.partition(b"\t")[0]
            if line and here == wanted:
                return line.decode().rstrip("\n").split("\t")
            if line and here < wanted:
                low = start + len(line)
            else:
                high = middle
    return None
