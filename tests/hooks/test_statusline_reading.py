"""What a client sends to its status line, and what is made of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.hooks.statusline import StatusLine, read_status
from tests.hooks.status_samples import NOW, SESSION, sent


def read(data: Any, **more: Any) -> StatusLine:
    return read_status(data, now=NOW, **more)


def test_used_is_input_and_cache_writes_and_cache_reads_and_not_output() -> None:
    usage = {
        "input_tokens": 8,
        "cache_creation_input_tokens": 114,
        "cache_read_input_tokens": 13_459,
    }
    data = sent(
        context_window={
            "context_window_size": 1_000_000,
            "current_usage": {**usage, "output_tokens": 44},
        }
    )
    assert read(data).used_tokens == 13_581
    assert read(data).utilization == 13_581 / 1_000_000


def test_the_share_is_computed_and_not_the_clients_rounded_one() -> None:
    assert read(sent(155_999)).utilization == 155_999 / 200_000


def test_before_the_first_answer_nothing_is_claimed() -> None:
    status = read(sent(None))
    assert (status.used_tokens, status.utilization, status.emptied) == (None, None, False)
    assert status.context_window == 200_000


def test_counters_that_are_all_zero_mean_emptied_and_not_an_empty_request() -> None:
    status = read(sent(0))
    assert (status.used_tokens, status.emptied) == (None, True)


def test_names_session_and_cost_are_taken() -> None:
    status = read(sent())
    assert (status.session, status.model, status.model_name) == (
        SESSION,
        "claude-sonnet-4-5",
        "Sonnet 4.5",
    )
    assert (status.cost_usd, status.cwd) == (1.2437, "/home/user/project")


def test_a_model_without_a_display_name_is_called_by_its_id() -> None:
    assert read(sent(model={"id": "claude-sonnet-4-5"})).model_name == "claude-sonnet-4-5"


def test_a_pinned_window_outranks_the_clients() -> None:
    assert read(sent(), window=100_000).context_window == 100_000


def test_without_a_size_the_table_says_how_large_the_window_is_if_it_knows() -> None:
    usage = {"current_usage": {"input_tokens": 1_000}}
    assert read(sent(context_window=usage)).context_window == 200_000
    assert read(sent(context_window=usage, model={"id": "nobody-knows-me"})).context_window is None


@pytest.mark.parametrize(
    ("cache", "expected"),
    [
        (
            {"warm": True, "expires_at": NOW + 60, "recache_tokens_if_cold": 7},
            ("warm", NOW + 60, 7),
        ),
        ({"warm": True, "expires_at": NOW - 1, "recache_tokens_if_cold": 7}, ("cold", None, 7)),
        ({"warm": True}, ("warm", None, None)),
        ({"warm": False, "recache_tokens_if_cold": None}, ("cold", None, None)),
        ({"warm": False, "caching_observed": False}, ("", None, None)),
        ({}, ("", None, None)),
        (None, ("", None, None)),
    ],
)
def test_a_cache_is_warm_until_it_expires(
    cache: object, expected: tuple[str, float | None, int | None]
) -> None:
    status = read(sent(prompt_cache=cache))
    assert (status.cache, status.cache_until, status.recache_tokens) == expected


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ("session_id", "cwd", "model", "workspace", "cost", "context_window", "prompt_cache")


@given(
    st.dictionaries(st.sampled_from(KEYS), anything),
    st.sampled_from(["current_usage", "context_window_size"]),
    anything,
)
@settings(deadline=None)
def test_whatever_is_sent_gives_a_status(changes: dict[str, Any], key: str, value: object) -> None:
    data = sent()
    data["context_window"][key] = value
    for each in (read(data), read({**data, **changes}), read(changes)):
        assert each.utilization is None or each.utilization > 0
