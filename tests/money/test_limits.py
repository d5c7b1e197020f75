"""A limit is a text; it allows what it says, and a little is kept for the wrap-up."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.money.limits import Spender, SpendingLimit, read_limit

NOW = 1_767_600_000.0
SPENDER = Spender("/home/anna/shop", "s-1", "a1")


@pytest.mark.parametrize(
    ("text", "amount", "unit", "period"),
    [
        ("5/day", 5_000_000, "usd", "day"),
        ("$2.50 / week", 2_500_000, "usd", "week"),
        ("100/month", 100_000_000, "usd", "month"),
        ("2/session", 2_000_000, "usd", "session"),
        ("50", 50_000_000, "usd", "total"),
        ("0", 0, "usd", "total"),
        ("5/3h", 5_000_000, "usd", "3h"),
        ("2M tokens/day", 2_000_000, "tokens", "day"),
        ("200k tokens/subagent", 200_000, "tokens", "subagent"),
        ("1,500 tokens", 1_500, "tokens", "total"),
        ("90%/5h", 90, "percent", "5h"),
        ("90%/week", 90, "percent", "7d"),
    ],
)
def test_what_people_write(text: str, amount: int, unit: str, period: str) -> None:
    limit = read_limit(text)
    assert (limit.amount, limit.unit, limit.period) == (amount, unit, period)


@pytest.mark.parametrize(
    "text",
    ["5/fortnight", "five", "-1/day", "0.0000001", "5/0h", "5/h", "101%/5h", "90%", "0%/5h", ""],
)
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(InputError, match=r"isn't a limit|needs a plan's window"):
        read_limit(text)


def test_a_limit_of_sub_agents() -> None:
    assert read_limit("200k tokens", subagent=True).text == "200k tokens/subagent"
    with pytest.raises(InputError, match="whole life"):
        read_limit("2/day", subagent=True)
    with pytest.raises(InputError, match="plan's window"):
        read_limit("90%/5h", subagent=True)


LIMITS = st.one_of(
    st.builds(
        SpendingLimit,
        st.integers(0, 10**13),
        st.just("usd"),
        st.sampled_from(["day", "week", "month", "session", "subagent", "total", "5h"]),
    ),
    st.builds(
        SpendingLimit,
        st.integers(0, 10**12),
        st.just("tokens"),
        st.sampled_from(["day", "session", "subagent", "total", "12h"]),
    ),
    st.builds(SpendingLimit, st.integers(1, 100), st.just("percent"), st.sampled_from(["5h"])),
)


@given(LIMITS)
def test_a_limit_reads_as_it_is_written(limit: SpendingLimit) -> None:
    assert read_limit(limit.text) == limit


@given(LIMITS)
def test_a_twentieth_is_kept_for_the_wrap_up_at_most_50_cents(limit: SpendingLimit) -> None:
    set_aside = limit.set_aside_at(NOW)
    assert 0 <= set_aside <= limit.amount / 20
    if limit.unit == "usd":
        assert set_aside == min(limit.amount // 20, 500_000)


@pytest.mark.parametrize(
    ("text", "project", "scope"),
    [
        ("5/day", "*", "*"),
        ("5/day", "/home/anna/shop", "p:/home/anna/shop"),
        ("5/session", "*", "s:s-1"),
        ("5/subagent", "/home/anna/shop", "a:s-1/a1"),
    ],
)
def test_whose_sum_counts(text: str, project: str, scope: str) -> None:
    limit = read_limit(text, project=project)
    assert limit.applies_to(SPENDER)
    assert limit.scope_of(SPENDER) == scope


def test_whom_a_limit_leaves_alone() -> None:
    assert not read_limit("5/day", project="/home/anna/other").applies_to(SPENDER)
    assert not read_limit("5/subagent").applies_to(Spender("p", "s-1"))
    assert not read_limit("5/session").applies_to(Spender("p"))


def test_a_tenth_more_lasts_until_the_period_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    limit = read_limit("5/day")
    raised = limit.raised_by(10, 4_900_000, NOW)
    assert raised.amount_at(NOW) == 5_500_000
    assert raised.amount_at(NOW + 86_400) == 5_000_000
    assert raised.text == "5/day"
    assert raised.raised_by(10, 7_000_000, NOW).amount_at(NOW) == 7_500_000
    # What is spent is no round number, the raised limit is.
    assert read_limit("2/day").raised_by(10, 2_310_600, NOW).amount_at(NOW) == 2_520_000
    tokens = read_limit("2M tokens/day").raised_by(10, 2_173_045, NOW)
    assert tokens.amount_at(NOW) == 2_374_000
    assert read_limit("5/day").raised_by(30, 5_000_000, NOW).amount_at(NOW) == 6_500_000
    total = read_limit("5").raised_by(10, 0, NOW)
    assert total.amount_at(NOW + 10**9) == 5_500_000


def test_nothing_and_percent_have_no_tenth() -> None:
    with pytest.raises(InputError, match="tenth more than nothing"):
        read_limit("0").raised_by(10, 0, NOW)
    with pytest.raises(InputError, match="plan's window"):
        read_limit("90%/5h").raised_by(10, 0, NOW)
