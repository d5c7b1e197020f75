"""What is missing or of another type is as if it was not there."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents import fields, lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "text"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_a_path_is_followed_down() -> None:
    line = {"a": {"b": {"c": "x", "n": 3, "l": [1], "yes": True}}}
    assert fields.text(line, "a", "b", "c") == "x"
    assert fields.whole(line, "a", "b", "n") == 3
    assert fields.items(line, "a", "b", "l") == [1]
    assert fields.flag(line, "a", "b", "yes")
    assert fields.mapping(line, "a")["b"]["n"] == 3


@pytest.mark.parametrize("bad", [None, 3, True, [], {}])
def test_what_is_no_text_is_empty(bad: object) -> None:
    assert fields.text({"a": bad}, "a") == ""
    assert fields.text({"a": bad}, "a", "b") == ""


@pytest.mark.parametrize(
    "bad", [True, False, -1, 1.5, "7", None, 10**12 + 1, math.nan, math.inf, [], {}]
)
def test_what_is_no_count_is_none(bad: object) -> None:
    assert fields.whole({"a": bad}, "a") is None
    assert fields.count({"a": bad}, "a") == 0


@pytest.mark.parametrize(("good", "expected"), [(0, 0), (10**12, 10**12), (7.0, 7)])
def test_a_count_is_whole_and_not_negative(good: float, expected: int) -> None:
    assert fields.whole({"a": good}, "a") == expected


def test_only_true_itself_is_a_flag() -> None:
    assert not any(
        fields.flag({"a": value}, "a") for value in (1, "true", [1], {"x": 1}, None, False)
    )


@pytest.mark.parametrize(
    ("dollars", "expected"),
    [
        (0, 0),
        (0.14474074999999997, 144_741),
        (0.0000005, 1),
        (0.0000004, 0),
        (1, 1_000_000),
        (0.129095, 129_095),
    ],
)
def test_dollars_become_micro_dollars_half_rounded_up(dollars: float, expected: int) -> None:
    assert lines.micro_dollars({"cost": dollars}, "cost") == expected


@pytest.mark.parametrize("bad", [True, -0.1, "1", None, math.nan, math.inf, 10**10, 10**400])
def test_what_is_no_amount_is_no_cost(bad: object) -> None:
    assert lines.micro_dollars({"cost": bad}, "cost") is None


def test_a_usage_of_zeros_is_none() -> None:
    assert lines.tokens({"input_tokens": 0, "output_tokens": 0}) is None
    assert lines.tokens({}) is None
    assert lines.tokens("input_tokens") is None


def test_a_counter_that_is_none_does_not_take_the_others_with_it() -> None:
    used = lines.tokens(
        {
            "input_tokens": -5,
            "output_tokens": "x",
            "cache_read_input_tokens": 900,
            "cache_creation": 3,
        }
    )
    assert used is not None
    assert (used.input, used.output, used.cache_read) == (0, 0, 900)


def test_a_counter_without_end_does_not_take_the_others_with_it() -> None:
    endless: list[object] = []
    for _ in range(100_000):
        endless = [endless]
    found = lines.tokens({"input_tokens": endless, "cache_read_input_tokens": 7})
    assert found is not None
    assert found.prompt == 7


def test_text_of_takes_texts_and_leaves_other_blocks_out() -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "image", "source": {}}, "two", None, 3]
    assert fields.text_of(blocks) == "one\ntwo"
    assert fields.text_of("plain") == "plain"
    assert fields.text_of(None) == ""


@given(JSON, st.lists(st.sampled_from(["a", "b"]), max_size=3))
def test_no_getter_raises_on_anything(line: Any, path: list[str]) -> None:
    for getter in (
        fields.text,
        fields.whole,
        fields.count,
        fields.flag,
        fields.items,
        lines.micro_dollars,
        fields.value,
    ):
        getter(line, *path)
    assert isinstance(fields.mapping(line, *path), dict)
    lines.tokens(line)
    lines.tokens({"input_tokens": line, "output_tokens": line, "cache_creation": line})
    assert isinstance(fields.text_of(line), str)
