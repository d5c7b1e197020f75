"""Requests, compactions and what isn't explained add up to the clients' own totals."""

from __future__ import annotations

from dataclasses import replace

from brim.agents.events import Compaction, Message, ModelSeen, Usage
from brim.memory.token_length import BilledRatio
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.sessions.report.money import Bill, SummaryReader, SummaryRequest, bill
from brim.sessions.requests import ClientTotal, IndexedRequest
from brim.sessions.rests import SessionRest, rest_by_model, rest_of

MODEL = "claude-sonnet-4-5"
PRICES = PriceList()
COMPACTION = [8, 900, 50_000, 1_500, 0]


def request(
    key: str, time: float = 1.0, *, final: bool = True, model: str = MODEL, session: str = "s"
) -> IndexedRequest:
    made = IndexedRequest(
        key,
        session=session,
        model=model,
        time=time,
        input=10,
        output=400,
        cache_read=40_000,
        write_5m=2_000,
        final=final,
    )
    return made.priced(PRICES)


def rests(requests: list[IndexedRequest], total: ClientTotal) -> list[SessionRest]:
    """Return what *total* has beyond *requests*."""
    covered: dict[str, list[int]] = {}
    for made in requests:
        if total.covers(made):
            before = covered.get(made.model, [0] * 5)
            covered[made.model] = [sum(pair) for pair in zip(before, made.counts, strict=True)]
    costs = sum(made.cost or 0 for made in requests if total.covers(made))
    rest = rest_of(total, covered, costs)
    if not rest.is_positive:
        return []
    by_model = rest_by_model(total, covered)
    return [SessionRest(total.session, list(rest.counts), rest.cost, 1.0, by_model)]


def priced(tokens: list[int], model: str = MODEL) -> int:
    input, output, read, minutes, hour = tokens
    used = Tokens(
        input=input, output=output, cache_read=read, cache_write_5m=minutes, cache_write_1h=hour
    )
    found = PRICES.sum({model: used}, 1.0)
    assert found is not None
    return found


def total(
    requests: list[IndexedRequest], *more: list[int], model: str = MODEL, cost: int | None = None
) -> ClientTotal:
    counts = [
        sum(column) for column in zip(*[each.counts for each in requests], *more, strict=True)
    ]
    amount = sum(each.cost or 0 for each in requests) + sum(priced(each) for each in more)
    return ClientTotal("s", amount if cost is None else cost, {model: counts})


def added(requests: list[IndexedRequest], its: ClientTotal, *summaries: SummaryRequest) -> Bill:
    return bill(requests, {"s": its}, rests(requests, its), summaries, PRICES)


SUMMARY = SummaryRequest("s", 1.5, MODEL, 50_400, 900)


def test_a_compaction_explains_what_no_line_has() -> None:
    requests = [request("a"), request("b", 2.0)]
    found = added(requests, total(requests, COMPACTION), SUMMARY)
    assert (found.compactions, found.unexplained) == (priced(COMPACTION), 0)
    assert found.total == found.client_total == found.client_counted
    assert (found.client_prices, found.client_sessions) == (0, 1)


def test_what_no_compaction_explains_is_shown() -> None:
    requests = [request("a")]
    found = added(requests, total(requests, COMPACTION))
    assert (found.compactions, found.unexplained) == (0, priced(COMPACTION))
    twice = added(requests, total(requests, COMPACTION, COMPACTION), SUMMARY)
    assert 0 < twice.unexplained < priced(COMPACTION)
    assert twice.total == twice.client_total


def test_a_compaction_by_another_model_is_one_too() -> None:
    requests = [request("a")]
    known = total(requests)
    its = replace(
        known,
        tokens={**known.tokens, "claude-opus-4-5": COMPACTION},
        cost=(known.cost or 0) + priced(COMPACTION, "claude-opus-4-5"),
    )
    found = added(requests, its, SUMMARY)
    assert (found.compactions, found.unexplained) == (priced(COMPACTION, "claude-opus-4-5"), 0)


def test_other_prices_of_the_client_are_named() -> None:
    requests = [request("a")]
    mine = sum(each.cost or 0 for each in requests)
    found = added(requests, total(requests, cost=mine * 2))
    assert (found.total, found.client_total, found.client_prices) == (2 * mine, 2 * mine, mine)


def test_requests_after_the_total_are_not_compared_with_it() -> None:
    requests = [request("a"), request("b", 9.0)]
    its = replace(total(requests[:1], COMPACTION), until=9.0)
    found = added(requests, its, SUMMARY)
    assert found.compactions == priced(COMPACTION)
    assert found.client_total == found.client_counted == found.total - (requests[1].cost or 0)


def test_the_output_that_a_stream_reports_late_belongs_to_its_requests() -> None:
    requests = [request("a", final=False)]
    late = [0, 300, 0, 0, 0]
    found = added(requests, total(requests, late))
    assert (found.requests, found.unexplained) == ((requests[0].cost or 0) + priced(late), 0)


def test_without_a_price_the_clients_total_counts() -> None:
    requests = [request("a", model="nobody-knows-me")]
    its = total(requests, model="nobody-knows-me", cost=5_000)
    found = added(requests, its)
    assert (found.total, found.unpriced, found.client_prices) == (5_000, 1, 0)


def test_a_session_of_which_only_a_total_is_known_counts_by_it() -> None:
    its = total([], COMPACTION)
    found = bill([], {}, rests([], its), [], PRICES)
    assert (found.sessions, found.requests, found.unexplained) == (1, priced(COMPACTION), 0)


def test_a_total_without_tokens_is_explained_by_nothing() -> None:
    requests = [request("a")]
    mine = requests[0].cost or 0
    found = added(requests, ClientTotal("s", mine + 77, {}))
    assert (found.unexplained, found.client_prices) == (77, 0)


def test_the_lines_around_a_compaction_say_what_its_request_took() -> None:
    reader = SummaryReader(BilledRatio())
    reader.take(ModelSeen(session="s", model=MODEL))
    reader.take(Compaction(session="s", time=3.0, before=12_000))
    reader.take(Message(session="s", role="summary", text="word " * 1_000))
    used = Tokens(input=10, output=40, cache_read=30_000)
    reader.take(Usage(session="s", time=4.0, tokens=used, model="claude-opus-4-5", request="a"))
    reader.take(Compaction(session="s", time=5.0))
    first, second = reader.finish()
    assert (first.prompt, first.model, second.prompt, second.model) == (
        12_000,
        MODEL,
        30_050,
        "claude-opus-4-5",
    )
    assert first.summary > 1_000
    assert second.summary == 0


def test_a_total_for_a_larger_window_is_of_the_same_model() -> None:
    requests = [request("a")]
    its = total(requests, model=f"{MODEL}[1m]")
    assert rests(requests, its) == []
