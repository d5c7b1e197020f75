"""A model's name, tokenizer family and window, without parsing the full table.

Hooks use this, so the table is a sorted file with binary search. ``catalog`` has the full record of
a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, BinaryIO

from brim.errors import InputError
from brim.files import data_file, data_path, data_rows
from brim.models import names, overrides, reported
from brim.models.thinking import binds_thinking
from brim.record import PlainData


def encoding_of(key: str) -> str:
    """Return the tokenizer family of the lower-case name *key*, or ``""`` if no rule knows it."""
    for pattern, encoding in data_rows(__file__, "encodings.tsv"):
        if _begins_a_word(pattern, key):
            return encoding
    return ""


def known_encodings() -> set[str]:
    """Return every tokenizer family that a rule names."""
    return {encoding for _, encoding in data_rows(__file__, "encodings.tsv")}


def _begins_a_word(pattern: str, key: str) -> bool:
    """Whether *pattern* stands in *key* at the start of a word.

    A final ``|`` means that the word ends there.
    """
    word = pattern.removesuffix("|")
    is_whole_word = word != pattern
    start = key.find(word)
    while start >= 0:
        end = start + len(word)
        is_start = not key[:start][-1:].isalnum()
        is_end = not key[end : end + 1].isalnum()
        if is_start and (is_end or not is_whole_word):
            return True
        start = key.find(word, start + 1)
    return False


UNKNOWN_WINDOW = 8_192
"""The window of an unknown model: small enough for any model of today."""

DEFAULT_ENCODING = "o200k_base"
"""The tokenizer family of newer models of OpenAI; what is counted with if no model is named."""

UNKNOWN_ENCODING = "cl100k_base"
"""The tokenizer of an unknown model."""


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
class _TableLine:
    """One line of the table."""

    key: str
    encoding: str
    window: int
    """0 if it isn't known."""
    max_input: int
    """0 if it is the window."""
    max_output: int
    """0 if it isn't known."""
    name: str
    """The record's name; empty if it is the key."""

    @property
    def record_name(self) -> str:
        """The name in the full table."""
        return self.name or self.key

    def light(self, *, resolved: bool) -> Light:
        """Return the facts of this line."""
        max_input = self.max_input or self.window
        max_output = self.max_output or None
        return Light(self.record_name, self.encoding, self.window, max_input, max_output, resolved)


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
    whole_key = names.clean(name)
    key = whole_key
    suffix_window = 0
    if overrides.get(whole_key) is None:
        key, suffix_window = names.split_window(whole_key)
    found_model = _resolve(key, name)
    window = reported.window_of(whole_key) or suffix_window
    if not suffix_window:
        if _has_configured_window(found_model):
            return found_model
        window = window or reported.window_of(found_model.light.name.lower())
    if not window:
        return found_model
    light = found_model.light
    max_input = input_within(light, window)
    return replace(found_model, light=replace(light, context_window=window, max_input=max_input))


def _has_configured_window(found_model: FoundModel) -> bool:
    override = overrides.get(found_model.config_key) or {}
    return "context_window" in override


def input_within(light: Light, window: int) -> int:
    """Return the maximum input of *light* with another *window*: all of it, unless the model splits
    it."""
    if light.max_input == light.context_window:
        return window
    return min(light.max_input, window)


def name_in_table(key: str) -> str:
    """Return the name of the table's record for the lower-case name *key*; empty if it has none."""
    row = _row(key)
    if row is None:
        return ""
    return row.record_name


def _resolve(key: str, name: str) -> FoundModel:
    for spelling, provider_part in names.spellings(key):
        override = overrides.get(spelling)
        if override is not None:
            return _overridden(spelling, override)
        row = _row(spelling)
        if row is not None:
            return FoundModel(_from_table(row, key), row.record_name, provider_part)
    return FoundModel(replace(_guess(key, name), binds_thinking=binds_thinking(key)))


def _from_table(row: _TableLine, key: str) -> Light:
    """Return the facts in *row*, which *key* names; without a window there, the family's."""
    light = row.light(resolved=True)
    if not row.window:
        light = replace(_guess(key, key), name=light.name, encoding=light.encoding)
    binds = binds_thinking(key) or binds_thinking(row.record_name)
    return replace(light, binds_thinking=binds)


def _overridden(key: str, override: overrides.Override) -> FoundModel:
    light = _below_override(key, override)
    window = override.get("context_window", light.context_window)
    assert isinstance(window, int)  # noqa: S101 - configured.use has checked it; this tells the type checker
    max_input = override.get("max_input")
    if isinstance(max_input, int):
        max_input = min(max_input, window)
    else:
        max_input = input_within(light, window)
    changes: dict[str, Any] = {
        "name": override["name"],
        "encoding": override.get("encoding", light.encoding),
        "context_window": window,
        "max_input": max_input,
        "max_output": override.get("max_output", light.max_output),
        "resolved": True,
        "binds_thinking": light.binds_thinking or binds_thinking(key),
    }
    return FoundModel(replace(light, **changes), config_key=key)


def _below_override(key: str, override: overrides.Override) -> Light:
    """Return the facts that hold where *override* is silent."""
    like = override.get("like")
    if isinstance(like, str):
        return find(like).light
    row = _sized(key)
    if row is not None:
        return row.light(resolved=True)
    return _guess(key, key)


def _guess(key: str, name: str) -> Light:
    """Return the values of the nearest known thing: the same model at some host, or a family of
    models."""
    name = name.strip()
    encoding = ""
    if key:
        encoding = encoding_of(key)
    row = None
    if not is_for_other_media(key):
        row = _nearest(key)
    if row is not None:
        near = row.light(resolved=False)
        return replace(near, name=name, encoding=encoding or near.encoding)
    return Light(
        name,
        encoding or UNKNOWN_ENCODING,
        UNKNOWN_WINDOW,
        UNKNOWN_WINDOW,
        None,
        resolved=False,
    )


def _nearest(key: str) -> _TableLine | None:
    """Return the row of the same model at some host, or of the longest family of *key*."""
    if not key:
        return None
    forms = [form for form, _ in names.provider_forms(key)]
    forms.reverse()
    row = _hosted(forms[0])
    if row is not None:
        return row
    for form in forms:
        for family in _families(form):
            row = _sized(family)
            if row is not None:
                return row
    return None


def _families(form: str) -> Iterator[str]:
    """Yield the keys of the families that *form* may belong to, the nearest first."""
    yield f"~{form}"
    for prefix in names.shorter_names(form):
        yield f"~{prefix}"
        yield prefix


def is_for_other_media(key: str) -> bool:
    """Whether the lower-case name *key* says that the model is for speech, images, videos or
    pages."""
    for separator in "/:@._":
        key = key.replace(separator, "-")
    words = key.split("-")
    return any(word in words for (word,) in data_rows(__file__, "other_media.tsv"))


def _hosted(form: str) -> _TableLine | None:
    """Return the row with the most common window among the hosts of the open model *form*; of two,
    the smaller."""
    table = data_file(__file__, "index.tsv")
    needle = f"/{form}\t".encode("utf-8", "surrogatepass")
    rows: list[_TableLine] = []
    at = table.find(needle)
    while at >= 0:
        row = _read_row(table[table.rfind(b"\n", 0, at) + 1 : table.find(b"\n", at)])
        if row.window:
            rows.append(row)
        at = table.find(needle, at + 1)
    windows = [row.window for row in rows]
    return max(rows, key=lambda row: (windows.count(row.window), -row.window), default=None)


def _sized(key: str) -> _TableLine | None:
    """Return the row of *key* if it has a window."""
    row = _row(key)
    if row is None or not row.window:
        return None
    return row


@lru_cache(1024)
def _row(key: str) -> _TableLine | None:
    """Return the table's line for *key*.

    The lines are sorted, so only a few are read.
    """
    wanted = key.encode("utf-8", "surrogatepass")
    with open(data_path(__file__, "index.tsv"), "rb") as table:
        low = 0
        high = table.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            start, line = _first_line(table, middle)
            line_key = line.partition(b"\t")[0]
            if start >= high or line_key > wanted:
                high = middle
            elif line_key == wanted:
                return _read_row(line)
            else:
                low = start + len(line)
    return None


def _first_line(table: BinaryIO, place: int) -> tuple[int, bytes]:
    """Return the first line of *table* that begins at *place* or later, and where it begins."""
    start = 0
    if place:
        table.seek(place - 1)
        start = place - 1 + len(table.readline())
    else:
        table.seek(0)
    return start, table.readline()


def _read_row(line: bytes) -> _TableLine:
    key, encoding, window, max_input, max_output, name = line.decode().rstrip("\n").split("\t")
    return _TableLine(key, encoding, int(window), int(max_input), int(max_output), name)
