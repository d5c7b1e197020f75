"""What a setting may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.config import SETTINGS, Setting


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
def test_any_text_is_a_value_or_an_error_that_says_what_it_must_be(setting: Setting, text: str) -> None:
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
    [(("1", "true", "TRUE", "yes", "on", " On "), True), (("0", "false", "no", "off", "Off"), False)],
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
