"""What a setting may be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim import tokens
from brim.config import MODES, SETTINGS, Setting, load
from brim.config.settings import ORDERED
from brim.config.values import KNOWN
from brim.messages import MemoryConfig, budget


def allowed(setting: Setting) -> st.SearchStrategy[object]:
    """Values that *setting* takes."""
    values: st.SearchStrategy[object] = st.just(setting.default)
    if setting.choices:
        values = st.sampled_from(setting.choices)
    elif setting.kind == "flag":
        values = st.booleans()
    elif setting.kind == "whole":
        values = st.integers(int(setting.least or 0), int(setting.most or 10**9))
    elif setting.kind == "number":
        values = st.floats(setting.least, setting.most)
    return values | st.none() if setting.none else values


scalars = st.sampled_from([setting for setting in SETTINGS if setting.kind != "mapping"])


@given(st.data())
def test_what_is_shown_is_read_back(data: st.DataObject) -> None:
    setting = data.draw(scalars)
    value = data.draw(allowed(setting))
    assert setting.parsed(setting.shown(value)) == value


@given(scalars, st.text())
def test_any_text_is_a_value_or_an_error_that_says_what_it_must_be(
    setting: Setting, text: str
) -> None:
    try:
        value = setting.parsed(text)
    except ValueError as error:
        said = str(error)
    else:
        said = "" if setting.checked(value) == value else "it changed"
    assert said == "" or said.startswith("must be ")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_every_default_is_allowed(setting: Setting) -> None:
    assert setting.checked(setting.default) == setting.default
    assert type(setting.checked(setting.default)) is type(setting.default)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("1", "true", "TRUE", "yes", "on", " On "), True),
        (("0", "false", "no", "off", "Off"), False),
    ],
)
def test_true_and_false_have_several_words(words: tuple[str, ...], value: bool) -> None:
    setting = Setting("a.b", "flag", False, "")
    assert {setting.parsed(word) for word in words} == {value}


def test_a_limit_may_be_lifted_only_where_that_means_something() -> None:
    assert Setting("a", "whole", 1, "", none="unlimited").parsed("none") is None
    with pytest.raises(ValueError, match="must be a whole number, not 'none'"):
        Setting("a", "whole", 1, "").parsed("none")


def test_a_very_long_value_is_shown_in_part() -> None:
    with pytest.raises(ValueError, match="not 'xxx") as caught:
        Setting("a", "whole", 1, "").parsed("x" * 10_000)
    assert len(str(caught.value)) < 120


def test_off_may_be_written_bare_though_yaml_reads_as_false() -> None:
    gate = Setting("a", "text", None, "", choices=("b",), none="off")
    assert gate.checked(False) is gate.checked("off") is gate.parsed("off") is None
    with pytest.raises(ValueError, match="must be a text, not False"):
        Setting("a", "text", None, "", choices=("b",), none="unlimited").checked(False)


DEFAULT = load({"HOME": "/nowhere"}, None)


def test_every_key_is_there_once() -> None:
    keys = [setting.key for setting in SETTINGS]
    assert len(keys) == len(set(keys))


def test_every_setting_says_what_it_means() -> None:
    assert [
        setting.key for setting in SETTINGS if not setting.help or setting.help.endswith(".")
    ] == []


def test_code_outside_the_table_names_every_setting() -> None:
    package = Path(budget.__file__).parents[1]
    code = "\n".join(
        each.read_text(encoding="utf-8")
        for each in package.rglob("*.py")
        if each.name != "settings.py"
    )
    words = set(re.findall(r"\w+", code))
    assert [
        setting.key for setting in SETTINGS if setting.key.rpartition(".")[2] not in words
    ] == []


def test_the_modes_are_those_of_the_counters() -> None:
    assert MODES == tokens.MODES


def test_memory_has_every_limit_with_its_default() -> None:
    assert MemoryConfig(**DEFAULT.section("memory")) == MemoryConfig()


def test_the_window_is_divided_as_the_calculator_does() -> None:
    assert DEFAULT.section("window") == {
        "response_reserve_ratio": budget.RESPONSE_RESERVE_RATIO,
        "response_reserve_min": budget.RESPONSE_RESERVE_MIN,
        "response_reserve_max": budget.RESPONSE_RESERVE_MAX,
        "safety_buffer_ratio": budget.SAFETY_BUFFER_RATIO,
    }


def test_the_budgets_and_session_limits_are_the_documented_ones() -> None:
    assert DEFAULT.section("token_budget") == {"default": 2_000, "dynamic_context": 500}
    assert DEFAULT.section("session") == {
        "max_tokens": 3_000,
        "max_per_injection": 500,
        "backoff": 5,
    }
    assert DEFAULT.section("tiers") == {"full": 0.7, "summary": 0.3, "name_only": 0.1}


def test_the_defaults_are_in_order() -> None:
    assert all(DEFAULT[larger] >= DEFAULT[smaller] for larger, smaller in ORDERED)


@pytest.mark.parametrize(
    "given",
    ["bar, percent", "bar percent", " bar,percent ,", ["bar", "percent"]],
    ids=["commas", "spaces", "both", "list"],
)
def test_words_are_a_list_or_a_text(given: object) -> None:
    setting = KNOWN["statusline.parts"]
    assert setting.checked(given) == "bar, percent"


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ("bar, weather", "must be chosen from folder, branch, .*, not 'weather'"),
        (["bar", "bar"], "must not name 'bar' twice"),
        ([], "must be a list of words"),
        (" , ", "must be a list of words"),
        (["bar", 7], "must be a list of words"),
        (7, "must be a list of words"),
        ({"bar": 1}, "must be a list of words"),
    ],
)
def test_words_that_there_are_not_are_refused(given: object, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        KNOWN["statusline.parts"].checked(given)
