"""The status line as text: what it says, and that it never gets wider than it may."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.hooks.status_drawing import Look, columns_of, draw
from brim.hooks.statusline import StatusLine, read_status
from tests.hooks.status_samples import NOW, sent

PLAIN = Look(200, colour=False)
UNTIL = time.gmtime(52_320)
"""14:32."""


def drawn(data: Any, look: Look = PLAIN, **more: Any) -> str:
    return draw(read_status(data, now=NOW), look, until=UNTIL, **more)


def test_it_says_model_gauge_share_tokens_window_cost_and_cache() -> None:
    assert (
        drawn(sent())
        == "Sonnet 4.5  █████▏░░││░░  43%  86,425 of 200,000  $1.24  cache warm until 14:32"
    )


def test_before_the_first_answer_it_says_how_large_the_window_is() -> None:
    assert drawn(sent(None, prompt_cache=None)) == "Sonnet 4.5  ░░░░░░░░││░░  window 200,000  $1.24"


def test_after_a_compaction_it_says_that_the_window_was_emptied() -> None:
    assert "window 200,000, emptied" in drawn(sent(0))


def test_a_cold_cache_says_what_the_next_request_writes_again() -> None:
    cold = {"warm": False, "caching_observed": True, "recache_tokens_if_cold": 86_425}
    assert drawn(sent(prompt_cache=cold)).endswith("cache cold, 86.4k again")


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (139_999, "cache warm until 14:32"),
        (140_000, "compact at 78%"),
        (155_999, "compact at 78%"),
        (156_000, "time to /compact"),
        (250_000, "time to /compact"),
    ],
)
def test_a_mark_is_crossed_when_it_is_reached(used: int, said: str) -> None:
    assert drawn(sent(used)).endswith(said)


@pytest.mark.parametrize(
    ("used", "share"), [(13_467, "7%"), (154_999, "77%"), (155_000, "78%"), (199_100, "100%")]
)
def test_a_share_is_rounded_half_up_as_the_client_rounds_its_own(used: int, share: str) -> None:
    assert f"  {share}  " in drawn(sent(used))


def test_a_window_that_is_overfull_says_so() -> None:
    assert "████████████  125%" in drawn(sent(250_000))


def test_little_is_not_nothing() -> None:
    assert "▏░░░░░░░││░░  <1%  13 of 200,000" in drawn(sent(13))


def test_the_marks_are_where_the_settings_put_them() -> None:
    look = replace(PLAIN, warn=0.25, compact=0.5)
    assert "░░░│░░│░░░░░" in drawn(sent(None), look)
    assert drawn(sent(), look).endswith("compact at 50%")


def test_tokens_of_an_unknown_window_are_shown_without_a_gauge() -> None:
    status = StatusLine(model_name="X", used_tokens=1_234)
    assert draw(status, PLAIN) == "X  1,234 tokens"


def test_nothing_known_is_nothing_drawn() -> None:
    assert draw(StatusLine(), PLAIN) == ""


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "$0.00"), (0.0001, "< $0.01"), (0.07, "$0.07"), (1234.5, "$1,234.50")]
)
def test_money_is_to_the_cent(usd: float, text: str) -> None:
    assert draw(StatusLine(cost_usd=usd), PLAIN) == text


def test_colours_follow_the_marks() -> None:
    look = Look(200)
    assert "\x1b[32m43%\x1b[0m" in drawn(sent(), look)
    assert "\x1b[33m70%\x1b[0m" in drawn(sent(140_000), look)
    assert "\x1b[31m78%\x1b[0m" in drawn(sent(156_000), look)
    assert "\x1b[1;31mtime to /compact\x1b[0m" in drawn(sent(156_000), look)


def test_without_colour_there_is_no_escape() -> None:
    assert "\x1b" not in drawn(sent(156_000))


def test_a_terminal_without_blocks_gets_ascii() -> None:
    line = drawn(sent(model={"display_name": "Modèle " * 9}), replace(PLAIN, nice=False))
    assert line.isascii()
    assert "#####---||--" in line


def test_a_name_cannot_steer_the_terminal() -> None:
    line = drawn(sent(model={"display_name": "a\x1b[31mb\n\u202ec\x07"}))
    assert line.startswith("a[31mb c  ")


def test_the_least_important_is_shortened_or_left_out_first() -> None:
    lines = {
        width: drawn(sent(156_000), replace(PLAIN, width=width))
        for width in (100, 80, 60, 40, 24, 12, 4)
    }
    assert lines == {
        100: "Sonnet 4.5  █████████▍░░  78%  156,000 of 200,000  $1.24  cache warm until 14:32  time to /compact",
        80: "Sonnet 4.5  █████████▍░░  78%  156k/200k  $1.24  warm  time to /compact",
        60: "Sonnet 4.5  █████████▍░░  78%  156k/200k  $1.24  /compact",
        40: "Sonnet 4.5  ██████▎░  78%  /compact",
        24: "██████▎░  78%  /compact",
        12: "78%",
        4: "78%",
    }


def test_the_share_and_what_to_do_stay_longest() -> None:
    assert drawn(sent(156_000), replace(PLAIN, width=14)) == "78%  /compact"


def test_notices_come_last_and_outlast_the_cost() -> None:
    assert drawn(sent(), notices=["spending limit reached"]).endswith(
        "14:32  spending limit reached"
    )
    assert (
        drawn(sent(), replace(PLAIN, width=30), notices=["spending limit reached"])
        == "43%  spending limit reached"
    )


@pytest.mark.parametrize(
    ("width", "end"),
    [
        (150, "  the other status line took longer than 0.5 s"),
        (90, "  warm until 14:32  the other one failed"),
        (70, "  $1.24  warm until 14:32"),
    ],
)
def test_an_aside_never_takes_the_place_of_the_gauge(width: int, end: str) -> None:
    aside = ["the other status line took longer than 0.5 s", "the other one failed"]
    line = drawn(sent(), replace(PLAIN, width=width), aside=aside)
    assert line.startswith("Sonnet 4.5  █████▏░░││░░  43%  86")
    assert line.endswith(end)


statuses = st.builds(
    StatusLine,
    model_name=st.text(max_size=60),
    used_tokens=st.none() | st.integers(1, 10**12),
    context_window=st.none() | st.integers(1, 10**12),
    emptied=st.booleans(),
    cost_usd=st.none() | st.floats(0, 10**12),
    cache=st.sampled_from(["warm", "cold", ""]),
    recache_tokens=st.none() | st.integers(0, 10**12),
)


@given(
    statuses,
    st.integers(1, 130),
    st.booleans(),
    st.booleans(),
    st.lists(st.text(max_size=30), max_size=2),
)
@settings(deadline=None)
def test_no_line_is_wider_than_it_may(
    status: StatusLine, width: int, nice: bool, colour: bool, notices: list[str]
) -> None:
    line = draw(status, Look(width, nice=nice, colour=colour), notices=notices, until=UNTIL)
    shown = re.sub(r"\x1b\[[\d;]*m", "", line)
    assert columns_of(shown) <= width
    assert not {"\n", "\x1b"} & set(shown)


@given(statuses, st.integers(1, 129))
@settings(deadline=None)
def test_the_share_is_never_what_is_left_out(status: StatusLine, width: int) -> None:
    share = draw(status, PLAIN)
    found = re.search(r"(< 1|[\d,]+) %", share)
    if found is not None and len(found[0]) <= width:
        assert found[0] in draw(status, replace(PLAIN, width=width))
