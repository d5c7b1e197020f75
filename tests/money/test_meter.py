"""Money is counted once, whoever tells of it how often."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import Event
from brim.agents.events import End, Message, RunTotal, Usage
from brim.models import Tokens, cost
from brim.money import SpendMeter


class Cents:
    """One micro-dollar a token; the model ``dear`` has no price."""

    def request(self, tokens: Tokens, model: str, time: float | None) -> int | None:
        return None if model == "dear" else tokens.input + tokens.output

    def sum(self, tokens: Mapping[str, Tokens], time: float | None) -> int | None:
        return (
            None if "dear" in tokens else sum(each.input + each.output for each in tokens.values())
        )


def use(request: str, tokens: int = 10, **fields: Any) -> Usage:
    return Usage(
        request=request, tokens=Tokens(input=tokens), **{"model": "m", "session": "s", **fields}
    )


def total(cost: int | None, **fields: Any) -> RunTotal:
    return RunTotal(cost=cost, **{"session": "s", **fields})


@pytest.fixture
def meter() -> SpendMeter:
    return SpendMeter(Cents())


def test_a_request_is_counted_once_and_a_later_report_replaces_it(meter: SpendMeter) -> None:
    assert meter.update(use("a", 10)) == 10
    assert meter.update(use("a", 10)) == 0
    assert meter.update(use("a", 25)) == 15
    assert meter.update(use("a", 20)) == -5
    assert (meter.total, meter.requests) == (20, 1)


@pytest.mark.parametrize("keys", [("msg", "msg:req"), ("msg:req", "msg")])
def test_a_stream_that_lacks_the_second_half_of_the_key_tells_of_the_same_request(
    meter: SpendMeter, keys: tuple[str, str]
) -> None:
    assert [meter.update(use(key)) for key in keys] == [10, 0]
    assert meter.update(use("msg2:req")) == 10


def test_requests_without_a_key_each_count(meter: SpendMeter) -> None:
    assert [meter.update(use("", 10)) for _ in range(3)] == [10, 10, 10]
    assert meter.requests == 3


def test_money_is_shown_by_model_and_by_agent(meter: SpendMeter) -> None:
    meter.update(use("a", 10))
    meter.update(use("b", 5, model="n", agent="x"))
    meter.update(use("b", 7, model="n", agent="x"))
    assert meter.by_model == {"m": 10, "n": 7}
    assert meter.by_agent == {"": 10, "x": 7}


def test_a_total_settles_only_the_difference(meter: SpendMeter) -> None:
    meter.update(use("a", 10))
    assert meter.update(total(17)) == 7
    assert (meter.total, meter.unattributed) == (17, 7)
    assert meter.update(total(17)) == 0
    assert meter.update(use("b", 5)) == 5
    assert meter.update(total(22)) == 0
    assert (meter.total, meter.unattributed) == (22, 7)


def test_a_total_below_what_is_known_takes_nothing_back(meter: SpendMeter) -> None:
    meter.update(use("a", 10))
    assert meter.update(total(4)) == 0
    assert (meter.total, meter.unattributed) == (10, 0)


def test_a_placeholder_that_becomes_final_after_the_total_is_not_counted_twice(
    meter: SpendMeter,
) -> None:
    meter.update(use("a", 1, final=False))
    assert meter.update(total(30)) == 29
    assert meter.update(use("a", 25)) == 0
    assert (meter.total, meter.unattributed, meter.by_model["m"]) == (30, 5, 25)


def test_a_placeholder_that_is_read_after_the_final_report_changes_nothing(
    meter: SpendMeter,
) -> None:
    meter.update(use("a", 25, time=1.0))
    assert meter.update(use("a", 1, final=False)) == 0
    assert meter.by_model == {"m": 25}


def test_a_resumed_runs_stream_that_is_read_before_the_transcript_is_not_counted_twice(
    meter: SpendMeter,
) -> None:
    meter.update(Message(role="user", text="compacted", session="s", time=9.0))
    assert meter.update(total(79)) == 79
    assert meter.update(use("a", 68, time=1.0)) == 0
    assert meter.update(use("b", 5, time=10.0)) == 5
    assert (meter.total, meter.unattributed) == (84, 11)


def test_a_total_of_which_no_time_is_known_may_have_what_another_file_shows(
    meter: SpendMeter,
) -> None:
    meter.update(total(79))
    assert meter.update(use("a", 68, time=1.0)) == 0
    assert meter.update(use("b", 5)) == 5  # the same stream goes on


def test_every_report_of_a_request_is_priced_by_its_day() -> None:
    class Dated(Cents):
        def request(self, tokens: Tokens, model: str, time: float | None) -> int | None:
            return tokens.input * (1 if time is not None and time < 100 else 1_000)

    meter = SpendMeter(Dated())
    meter.update(use("a", 10, time=5.0, final=False))
    meter.update(use("a", 12))
    assert meter.total == 12


def test_a_sub_agents_file_that_is_read_after_the_total_is_in_it(meter: SpendMeter) -> None:
    meter.update(use("a", 10, time=1.0))
    meter.update(total(30, time=9.0))
    assert meter.update(use("b", 15, time=5.0, agent="x")) == 0
    assert meter.update(use("c", 4, time=9.5, agent="x")) == 4
    assert (meter.total, meter.unattributed, meter.by_agent) == (34, 5, {"": 10, "x": 19})


def test_a_total_without_a_time_is_as_late_as_the_last_request_before_it(meter: SpendMeter) -> None:
    meter.update(use("a", 10, time=8.0))
    meter.update(total(30))
    assert meter.update(use("b", 15, time=5.0)) == 0
    assert meter.update(use("c", 15, time=9.0)) == 15


def test_a_client_that_goes_on_with_its_total_after_a_resume_is_settled_by_the_difference(
    meter: SpendMeter,
) -> None:
    for event in (use("a", 68), total(68), total(79)):
        meter.update(event)
    assert (meter.total, meter.unattributed) == (79, 11)


def test_a_client_that_begins_its_total_anew_adds_its_requests_and_nothing_twice(
    meter: SpendMeter,
) -> None:
    meter.update(use("a", 50))
    meter.update(total(60))
    meter.update(use("b", 20))
    assert meter.update(total(25)) == 0
    assert meter.total == 80


def test_totals_of_two_sessions_are_kept_apart(meter: SpendMeter) -> None:
    meter.update(total(10, session="s"))
    meter.update(total(10, session="t"))
    assert meter.total == 20


def test_a_session_that_goes_on_from_another_counts_neither_its_requests_nor_its_total_again(
    meter: SpendMeter,
) -> None:
    for event in (use("a", 10), total(15)):
        meter.update(event)
    assert meter.update(use("a", 10, session="fork")) == 0
    meter.update(use("b", 5, session="fork"))
    assert meter.update(total(20, session="fork")) == 0
    assert meter.update(total(22, session="fork")) == 2
    assert meter.total == 22


def test_a_request_without_a_price_costs_what_the_client_says(meter: SpendMeter) -> None:
    assert meter.update(use("a", 10, model="dear", cost=33)) == 33
    assert (meter.reported, meter.unpriced) == (33, {})


def test_a_price_of_ones_own_is_believed_before_the_clients(meter: SpendMeter) -> None:
    assert meter.update(use("a", 10, cost=33)) == 10
    assert meter.reported == 0


def test_a_request_without_price_and_cost_is_listed_once_and_settled_by_the_total(
    meter: SpendMeter,
) -> None:
    for _ in range(3):
        assert meter.update(use("a", 10, model="dear")) == 0
    assert (meter.unpriced, meter.by_model, meter.by_agent) == ({"dear": 1}, {}, {})
    assert meter.update(total(40)) == 40
    meter.update(use("a", 10, model="dear", cost=7))
    assert (meter.unpriced, meter.total) == ({}, 40)


def test_a_total_in_tokens_is_priced(meter: SpendMeter) -> None:
    assert meter.update(total(None, tokens={"m": Tokens(input=5, output=2)})) == 7
    assert meter.update(total(None, tokens={"dear": Tokens(input=500)}, session="t")) == 0
    assert meter.update(total(None)) == 0
    assert meter.unpriced_sessions == {"t"}
    meter.update(use("a", 5, session="t"))
    assert meter.unpriced_sessions == set()


def test_other_events_cost_nothing(meter: SpendMeter) -> None:
    assert meter.update(End(session="s")) == 0


def test_without_a_price_list_the_models_table_prices() -> None:
    meter = SpendMeter()
    usage = use("a", 1_000, model="claude-sonnet-4-5", time=1.77e9)
    assert meter.update(usage) == cost(Tokens(input=1_000), "claude-sonnet-4-5") == meter.total


sessions = st.sampled_from(["s", "t"])
times = st.none() | st.floats(0, 100)
events: st.SearchStrategy[Event] = st.builds(
    use,
    st.sampled_from(["", "a", "b", "c", "d"]),
    st.integers(0, 50),
    session=sessions,
    time=times,
    model=st.sampled_from(["m", "n", "dear"]),
    cost=st.none() | st.integers(0, 50),
    agent=st.sampled_from(["", "x"]),
) | st.builds(total, st.none() | st.integers(0, 200), session=sessions, time=times)


@given(st.lists(events, max_size=30))
def test_the_sums_always_agree(given: list[Event]) -> None:
    meter = SpendMeter(Cents())
    added = sum(meter.update(event) for event in given)
    assert added == meter.total >= 0
    assert (
        sum(meter.by_model.values())
        == sum(meter.by_agent.values())
        == meter.total - meter.unattributed
    )
    assert min([0, meter.reported, *meter.unpriced.values()]) == 0


costs = st.integers(1, 9)
runs = st.lists(
    st.tuples(
        st.lists(st.tuples(costs, costs, st.booleans()), min_size=1, max_size=3), st.integers(0, 9)
    ),
    min_size=1,
    max_size=3,
)


@given(runs, st.randoms(use_true_random=False))
def test_in_whatever_order_the_files_of_a_session_come_its_cost_is_the_clients_total(
    given: list[tuple[list[tuple[int, int, bool]], int]], order: Random
) -> None:
    """Each run has a stream with placeholders and a total so far; main thread and sub-agents have a
    transcript each."""
    time, sum_ = 0.0, 0
    files: list[list[Event]] = [[], []]
    for requests, unseen in given:
        stream: list[Event] = []
        for prompt, output, is_sub_agent in requests:
            time, sum_ = time + 1, sum_ + prompt + output
            where: dict[str, Any] = {"time": time, "agent": "x" if is_sub_agent else ""}
            stream.append(use(f"r{time}", prompt + 1, final=False, **where))
            files[is_sub_agent].append(use(f"r{time}", prompt + output, **where))
        sum_ += unseen
        files.append([*stream, total(sum_)])
    order.shuffle(files)
    meter = SpendMeter(Cents())
    for event in (event for file in [*files, *files] for event in file):
        meter.update(event)
        assert meter.total <= sum_
    assert meter.total == sum_


@given(st.lists(events, max_size=30))
def test_telling_everything_twice_adds_no_request_and_no_total(given: list[Event]) -> None:
    named = [event for event in given if not isinstance(event, Usage) or event.request]
    meter = SpendMeter(Cents())
    for event in named:
        meter.update(event)
    requests = meter.requests
    most = sum(max((e.tokens.input, e.cost or 0)) for e in named if isinstance(e, Usage))
    most += sum(e.cost or 0 for e in named if isinstance(e, RunTotal))
    for event in named:
        meter.update(event)
    assert meter.requests == requests
    assert meter.total <= most
