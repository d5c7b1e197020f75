"""How behaviors look: times, cut lines, and objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors.jsonl import as_object
from brim.cli.output import age, block, cut, width_of
from brim.cli.rule_views import day
from tests.cli.seeding import DAY, THEN
from tests.store.making import behaviors


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (0, "just now"),
        (-5, "just now"),
        (61, "1 min ago"),
        (7_200, "2 h ago"),
        (3 * DAY, "3 d ago"),
        (800 * DAY, "2 y ago"),
    ],
)
def test_an_age_is_in_the_unit_that_says_most(before: float, said: str) -> None:
    assert age(THEN - before, THEN) == said


def test_a_day_is_in_utc_and_what_is_not_known_is_nothing() -> None:
    assert (day(THEN), day(None), age(None, THEN)) == ("2023-11-14", "", "")


@given(st.text(st.characters(codec="utf-8")), st.integers(2, 40))
def test_a_cut_line_is_never_too_wide(text: str, width: int) -> None:
    line = cut(text, width)
    assert width_of(line) <= width
    assert line.isprintable() or not any(character < " " for character in line)


def test_what_fits_is_not_cut() -> None:
    assert (cut("规则规则", 8), cut("规则规则", 7), cut("a\nb", 3)) == (
        "规则规则",
        "规则规…",
        "a b",
    )


@given(behaviors)
def test_an_object_holds_every_field_as_json_can(behavior: Any) -> None:
    found = json.loads(json.dumps(as_object(behavior)))
    assert set(found) == set(behavior.__match_args__)
    assert (found["canonical"], found["tags"]) == (behavior.canonical, list(behavior.tags))


def test_a_block_keeps_its_lines() -> None:
    assert block("a\r\n\n  b\x1b") == "  a\n\n    b<U+001B>"
