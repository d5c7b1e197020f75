"""The table of settings has the defaults, the names and the choices of the rooms that it is for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brim import tokens, window
from brim.activation.parameters import DEFAULTS, Parameters
from brim.behaviors.duplicates import NEAR_DUPLICATE
from brim.config import MODES, SETTINGS, load
from brim.config.table import FORMATS, ORDERED
from brim.injection import sections
from brim.window import MemoryConfig

DEFAULT = load({"HOME": "/nowhere"}, None)


def test_every_key_is_there_once() -> None:
    keys = [setting.key for setting in SETTINGS]
    assert len(keys) == len(set(keys))


def test_every_setting_says_what_it_means() -> None:
    assert [setting.key for setting in SETTINGS if not setting.help or setting.help.endswith(".")] == []


def test_the_modes_are_those_of_the_counters() -> None:
    assert MODES == tokens.MODES


def test_the_formats_are_those_of_the_renderer() -> None:
    assert FORMATS == sections.FORMATS


def test_activation_has_every_parameter_with_its_default() -> None:
    section = DEFAULT.section("activation")
    assert tuple(section) == Parameters.__slots__
    assert Parameters(**section) == DEFAULTS


def test_what_the_table_allows_activation_takes() -> None:
    for setting in SETTINGS:
        if setting.key.startswith("activation."):
            for edge in (setting.least, setting.most):
                assert edge is not None
                given: Any = {setting.key.partition(".")[2]: setting.checked(int(edge) if edge >= 1 else edge or 0)}
                Parameters(**given)


def test_near_duplicates_are_told_as_learning_tells_them() -> None:
    assert DEFAULT["behaviors.near_duplicate"] == NEAR_DUPLICATE


def test_memory_has_every_limit_with_its_default() -> None:
    assert MemoryConfig(**DEFAULT.section("memory")) == MemoryConfig()


def test_the_window_is_divided_as_the_calculator_does() -> None:
    assert DEFAULT.section("window") == {
        "response_reserve_ratio": window.RESPONSE_RESERVE_RATIO,
        "response_reserve_min": window.RESPONSE_RESERVE_MIN,
        "response_reserve_max": window.RESPONSE_RESERVE_MAX,
        "safety_buffer_ratio": window.SAFETY_BUFFER_RATIO,
    }


def test_the_budgets_and_session_limits_are_the_documented_ones() -> None:
    assert DEFAULT.section("token_budget") == {"default": 2_000, "dynamic_context": 500}
    assert DEFAULT.section("session") == {
        "max_tokens": 3_000,
        "max_per_injection": 500,
        "backoff": 5,
        "renew_on_compaction": True,
    }
    assert DEFAULT.section("tiers") == {"full": 0.7, "summary": 0.3, "name_only": 0.1}


def test_the_defaults_are_in_order() -> None:
    assert all(DEFAULT[larger] >= DEFAULT[smaller] for larger, smaller in ORDERED)


def test_the_page_lists_every_setting_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "config.md").read_text(encoding="utf-8")
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in page.splitlines() if "| `" in line[:3]]
    assert [(key, default, meaning) for key, default, _, _, meaning in rows] == [
        (each.key, each.shown(each.default) or "-", each.help) for each in SETTINGS
    ]
    assert [variables.split("`, `") for _, _, variables, _, _ in rows] == [
        list(each.variables) or ["-"] for each in SETTINGS
    ]
