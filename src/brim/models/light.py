"""The few facts about a model that the hot path needs, found without parsing the table.

A hook runs as a fresh process and waits for this, so nothing here imports ``re``, ``json``, ``typing`` or
``dataclasses``; the table is a sorted file of bytes, searched by halves.
"""

from __future__ import annotations

from brim._frozen import Frozen
from brim.models import names, overrides, reported
from brim.models.files import read

UNKNOWN_WINDOW = 8_192
"""The window of a model of which nothing is known: small enough not to overflow any model of today."""

UNKNOWN_ENCODING = "cl100k_base"
"""The tokenizer that counts for a model of which nothing is known."""

_Row = list[str]


class Light(Frozen):
    """What a model holds, as far as counting needs it. Immutable.

    ``encoding`` is ``""`` when the model is known and its tokenizer is not. ``resolved`` is true when both the name and
    its window are known; otherwise the values are those of the nearest family, or the smallest safe ones.
    """

    __slots__ = ("name", "encoding", "context_window", "max_input", "max_output", "resolved")

    name: str
    encoding: str
    context_window: int
    max_input: int
    max_output: int | None
    resolved: bool

    def __init__(
        self,
        name: str,
        *,
        encoding: str,
        context_window: int,
        max_input: int,
        max_output: int | None,
        resolved: bool,
    ) -> None:
        self._fill(
            name=name,
            encoding=encoding,
            context_window=context_window,
            max_input=max_input,
            max_output=max_output,
            resolved=resolved,
        )


class Found:
    """A :class:`Light`, and how it came about: what the full record needs to know on top."""

    __slots__ = ("config_key", "light", "provider_part", "table_name")

    def __init__(self, light: Light, table_name: str = "", provider_part: str = "", config_key: str = "") -> None:
        self.light = light
        self.table_name = table_name
        """The record's name in the full table; empty when the name is not known there."""
        self.provider_part = provider_part
        """What was taken off the front of the name to find it, such as ``bedrock/us.``"""
        self.config_key = config_key
        """The key of the override that applies; empty when none does."""


def lookup(name: str) -> Light:
    """Return what is known about the model *name*; never raises, whatever the text.

    >>> lookup("openai/gpt-4o-2099-01-01").context_window
    128000
    """
    return find(name).light


def find(name: str) -> Found:
    """Look *name* up in the overrides and the table, then apply the window that its suffix asks for or was reported."""
    whole = names.clean(name)
    key, asked = (whole, 0) if overrides.get(whole) is not None else names.split_window(whole)
    found = _resolve(key, name)
    light = found.light
    if asked:
        window = reported.window_of(whole) or asked
    elif found.config_key and "context_window" in (overrides.get(found.config_key) or ()):
        return found
    else:
        window = reported.window_of(whole) or reported.window_of(light.name.lower())
    if window:
        found.light = light.changed(context_window=window, max_input=input_within(light, window))
    return found


def input_within(light: Light, window: int) -> int:
    """Return the maximum input when *light*'s window is *window* instead: all of it, unless the model splits it."""
    return window if light.max_input == light.context_window else min(light.max_input, window)


def in_table(key: str) -> bool:
    """Tell whether the table has the lower-case name *key*, literally."""
    return _row(key) is not None


def name_in_table(key: str) -> str:
    """Return the name of the record that the table has for the lower-case name *key*, or an empty one."""
    row = _row(key)
    return row[5] or row[0] if row else ""


def _resolve(key: str, name: str) -> Found:
    if key:
        for spelling, provider_part in names.spellings(key):
            override = overrides.get(spelling)
            if override is not None:
                return _overridden(spelling, override)
            row = _row(spelling)
            if row:
                light = _from_row(row, resolved=True) if row[2] != "0" else _without_window(row, key)
                return Found(light, row[5] or row[0], provider_part)
    return Found(_guess(key, name))


def _overridden(key: str, override: overrides.Override) -> Found:
    like = override.get("like")
    base = find(like).light if isinstance(like, str) else None
    row = _sized(key)
    light = base or (_from_row(row, resolved=True) if row else _guess(key, key))
    window, most = override.get("context_window", light.context_window), override.get("max_input")
    assert isinstance(window, int)  # noqa: S101 - overrides.use has checked it; this tells the type checker
    changed = light.changed(
        name=override["name"],
        encoding=override.get("encoding", light.encoding),
        context_window=window,
        max_input=min(most, window) if isinstance(most, int) else input_within(light, window),
        max_output=override.get("max_output", light.max_output),
        resolved=True,
    )
    return Found(changed, config_key=key)


def _guess(key: str, name: str) -> Light:
    """Return the values of the nearest thing that is known: the same model at some host, or a family of models."""
    from brim.models.encodings import encoding_of

    forms = [form for form, _ in names.provider_forms(key)]
    row = _hosted(forms[-1]) if key else None
    for form in reversed(forms):
        row = row or _sized("~" + form)
        for prefix in names.shorter_names(form):
            row = row or _sized("~" + prefix) or _sized(prefix)
    encoding = encoding_of(key) if key else ""
    if row:
        near = _from_row(row, resolved=False)
        return near.changed(name=name.strip(), encoding=encoding or near.encoding)
    return Light(
        name.strip(),
        encoding=encoding or UNKNOWN_ENCODING,
        context_window=UNKNOWN_WINDOW,
        max_input=UNKNOWN_WINDOW,
        max_output=None,
        resolved=False,
    )


def _without_window(row: _Row, key: str) -> Light:
    """Return what the table has, with the sizes of the nearest thing that has any."""
    return _guess(key, key).changed(name=row[5] or row[0], encoding=row[1])


def _from_row(row: _Row, *, resolved: bool) -> Light:
    key, encoding, window, most, out, name = row
    size = int(window)
    return Light(
        name or key,
        encoding=encoding,
        context_window=size,
        max_input=int(most) or size,
        max_output=int(out) or None,
        resolved=resolved,
    )


def _hosted(form: str) -> _Row | None:
    """Return the row with the most common window among the hosts of the open model *form*; of two, the smaller."""
    table, needle = read("index.tsv"), _bytes("/" + form + "\t")
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


def _row(key: str) -> _Row | None:
    """Return the fields of the table's line for *key*; the lines are sorted by key."""
    table, wanted = read("index.tsv"), _bytes(key)
    low, high = 0, len(table)
    while low < high:
        start = max(low, table.rfind(b"\n", low, (low + high) // 2) + 1)
        end = table.find(b"\n", start)
        here = table[start : table.find(b"\t", start, end)]
        if here == wanted:
            return table[start:end].decode().split("\t")
        if here < wanted:
            low = end + 1
        else:
            high = start
    return None


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
