"""Limits are text in the user's settings; a mistake there never lifts one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.config.text import read_mapping
from brim.errors import InputError
from brim.money.limits import SpendingLimit, read_limit
from brim.money.settings import (
    LimitSettings,
    limits_in_force,
    read_limits,
    replaced,
)
from brim.money.writing import with_limits
from tests.money.test_limits import LIMITS

SHOP = "/home/anna/shop"
PROJECTS = st.sampled_from(["*", SHOP, "/tmp/a b: c", "/home/é/#x", '/with "quotes"'])
MOMENTS = st.integers(0, 2_000_000_000).map(float)
FULL = st.builds(
    lambda limit, project, since, raised, until: replace(
        limit,
        project=project,
        since=since if limit.period == "total" else None,
        raised_to=None if until is None else raised,
        raised_until=until,
    ),
    LIMITS.filter(lambda limit: limit.unit != "percent"),
    PROJECTS,
    st.none() | MOMENTS,
    st.integers(0, 10**9),
    st.none() | MOMENTS,
)


@given(st.lists(FULL, max_size=6, unique_by=lambda limit: limit.kind))
def test_what_is_written_is_read_again(limits: list[SpendingLimit]) -> None:
    text = "# mine\nmodel: gpt-4o\nspend:\n  warn: 0.7 # early\n"
    changed = with_limits(text, limits, "config.yaml")
    assert changed.startswith(text)
    written = read_limits(read_mapping(changed, "config.yaml")[0].get("limits"))
    assert sorted(map(repr, written)) == sorted(map(repr, limits))
    assert with_limits(changed, [], "config.yaml") == text


def test_limits_stay_where_they_stand_in_the_file() -> None:
    text = 'limits:\n  "*":\n    - 5/day\n# below\nmodel: gpt-4o\n'
    changed = with_limits(text, [read_limit("8/day", project=SHOP)], "config.yaml")
    assert changed == f'limits:\n  "{SHOP}":\n    - "8/day"\n# below\nmodel: gpt-4o\n'


def test_another_limit_of_the_same_kind_replaces_the_first() -> None:
    limits = [read_limit("5/day"), read_limit("20/week")]
    assert [limit.text for limit in replaced(limits, [read_limit("8/day")])] == ["8/day", "20/week"]


def test_what_applies_to_a_project() -> None:
    value = {"*": ["100/month"], SHOP: ["5/day", 2], "/home/anna/other": ["1/day"]}
    settings = LimitSettings(tuple(read_limits(value)))
    assert [limit.text for limit in settings.of_project(SHOP)] == ["100/month", "5/day", "2"]


@pytest.mark.parametrize(
    "value",
    [
        "5/day",
        {SHOP: "5/day"},
        {SHOP: ["5/fortnight"]},
        {SHOP: [{"limit": "5/day", "raised": 3}]},
        {SHOP: [{"limit": "5", "since": "yesterday"}]},
        {SHOP: [None]},
    ],
)
def test_a_mistake_never_lifts_a_limit(tmp_path: Path, value: object) -> None:
    good = limits_in_force({SHOP: ["5/day"]}, str(tmp_path))
    assert good.problem == ""
    after = limits_in_force(value, str(tmp_path))
    assert after.limits == good.limits
    assert after.problem
    with pytest.raises(InputError):
        read_limits(value)


def test_a_file_that_cannot_be_read_at_all_never_lifts_a_limit(tmp_path: Path) -> None:
    good = limits_in_force({SHOP: ["5/day"]}, str(tmp_path))
    after = limits_in_force({}, str(tmp_path), "config.yaml:3: not valid YAML")
    assert after == LimitSettings(good.limits, "config.yaml:3: not valid YAML")
    assert limits_in_force({}, str(tmp_path)) == LimitSettings()
    assert limits_in_force("wrong", str(tmp_path)).limits == ()


def test_nothing_is_written_without_limits_or_a_home(tmp_path: Path) -> None:
    limits_in_force({}, str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("in the way")
    settings = limits_in_force({SHOP: ["5/day"]}, str(tmp_path / "file"))
    assert len(settings.limits) == 1
