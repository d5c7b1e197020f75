"""Flag > environment > project file > user file > default: every setting, from every set of sources, for everybody."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from brim.config import SETTINGS, Setting, load, load_cached
from tests.config.places import Places

SOURCES = ("user", "project", "second variable", "first variable", "flag")
"""Where a setting may stand, the weaker first. Only some have a second variable: floop's."""

WITHIN = {
    "tiers.full": (0.75, 0.95),
    "tiers.summary": (0.35, 0.65),
    "tiers.name_only": (0.05, 0.25),
    "context.warn": (0.1, 0.65),
    "context.compact": (0.72, 0.95),
    "window.response_reserve_min": (0, 400),
    "window.response_reserve_max": (5_000, 9_000),
}
"""Values that keep their order, whichever of them are set."""


def value_of(setting: Setting, place: int) -> Any:
    """Return a value that *setting* may have; those of two places differ, if it has so many."""
    if setting.choices:
        return setting.choices[place % len(setting.choices)]
    if setting.kind == "flag":
        return place % 2 == 0
    if setting.kind == "text":
        return f"gpt-{place}"
    if setting.none and place == 1:
        return None
    least, most = WITHIN.get(setting.key, (setting.least or 0, setting.most if setting.most is not None else 9_000))
    value = least + (most - least) * (place + 1) / 8
    return int(value) if setting.kind == "whole" else round(value, 4)


def expected(setting: Setting, given: dict[int, Any], lines: dict[str, str]) -> tuple[Any, str]:
    """Return the value and the origin that *setting* has when it stands at the places in *given*."""
    own = given.get(0, setting.default)
    if setting.lowers and 1 in given and not setting.is_lower(given[1], own):
        given = {place: value for place, value in given.items() if place != 1}
    if not given:
        return setting.default, "default"
    place = max(given)
    names = {2: setting.variables[-1], 3: setting.variables[0], 4: setting.flag}
    return given[place], names.get(place) or lines[f"{SOURCES[place]} {setting.key}"]


@pytest.mark.parametrize("round", range(32))
def test_the_strongest_source_of_every_setting_wins(places: Places, round: int) -> None:
    files: dict[str, dict[str, Any]] = {"user": {}, "project": {}}
    environ, flags = dict(places.environ), {}
    chosen: dict[str, dict[int, Any]] = {}
    for number, setting in enumerate(each for each in SETTINGS if each.key != "models"):
        given = {place: value_of(setting, place) for place in range(5) if (round + 11 * number) % 32 >> place & 1}
        if len(setting.variables) == 1:
            given.pop(2, None)
        chosen[setting.key] = given
        for place, value in given.items():
            if place < 2:
                section, _, name = setting.key.rpartition(".")
                (files[SOURCES[place]].setdefault(section, {}) if section else files[SOURCES[place]])[name] = value
            elif place == 4:
                flags[setting.key] = value
            else:
                environ[setting.variables[-1 if place == 2 else 0]] = setting.shown(value)
    lines: dict[str, str] = {}
    for source, folder in (("user", places.home), ("project", places.project)):
        text = yaml.safe_dump(files[source])
        path = places.write(folder, text)
        section = ""
        for at, line in enumerate(text.splitlines(), 1):
            name = line.partition(":")[0]
            section = section if line.startswith(" ") else name
            key = f"{section}.{name.strip()}" if line.startswith(" ") else name
            lines[f"{source} {key}"] = f"{path}:{at}"
    found = load(environ, str(places.inside), flags)
    for setting in SETTINGS:
        if setting.key in chosen and not setting.follows:
            assert tuple(found.values[setting.key]) == expected(setting, chosen[setting.key], lines), setting.key
    for _ in range(2):
        again = load_cached(environ, str(places.inside), flags, now=4e9)
        assert again.values == found.values
