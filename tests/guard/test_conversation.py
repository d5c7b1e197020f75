"""``Guard``: 30 turns, limits, errors, threads and event loops; never an invalid, overfull or
unpaid request."""

from __future__ import annotations

import asyncio
import itertools
import random
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import DoesNotFit, InputError, LimitReached, UnknownPrice
from brim.guard import Guard
from brim.guard.fake import FakeModel, Refused
from brim.messages import (
    PROVIDERS,
    FifoPruner,
    Provider,
    SlidingWindowPruner,
    WatermarkPruner,
    validate,
)
from brim.models import cost
from brim.money import Ledger, open_ledger
from brim.rules import BehaviorKind, Rule
from brim.usd import Money
from tests.messages.histories import valid_histories
from tests.messages.samples import talk, words
from tests.messages.test_fitting import MODELS

MODEL = "claude-sonnet-4-5"
WINDOW = 6_000
SYSTEM = "You are a careful agent."
TOOLS = [
    {
        "name": "read_file",
        "description": "Reads a file.",
        "input_schema": {"type": "object", "properties": {}},
    }
]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Any]:
    with open_ledger(f"{tmp_path}/spend.db") as opened:
        yield opened


def script(turns: int) -> Iterator[Any]:
    """Ask for one file, or two at once, and say something now and then."""
    rng = random.Random(7)
    for turn in range(turns):
        calls = [("read_file", {"path": f"src/{rng.randrange(5)}.py"}) for _ in range(1 + turn % 2)]
        yield [*(["I'll look."] if turn % 3 == 0 else []), *calls]
    yield "Done."


def results(response: Any, text: str) -> dict[str, Any]:
    calls = [block for block in response.content if block.type == "tool_use"]
    return {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": call.id, "content": text} for call in calls
        ],
    }


def send(client: FakeModel, call: Any) -> Any:
    about = {"system": call.system, "tools": call.tools, "max_tokens": call.max_output}
    return client.messages.create(model=call.model, messages=call.messages, **about)


def guard(ledger: Ledger | None = None, **more: Any) -> Guard:
    return Guard(
        MODEL,
        **{
            "ledger": ledger,
            "scope": "shop/agent",
            "target": WINDOW - 1_000,
            "max_output": 500,
            **more,
        },
    )


def run(
    guarded: Guard, client: FakeModel, turns: int, messages: list[Any] | None = None
) -> list[Any]:
    """Run an agent for *turns* turns and return its calls."""
    messages = messages if messages is not None else [{"role": "user", "content": "Find the bug."}]
    calls = []
    for turn in range(turns):
        with guarded.call(messages, system=SYSTEM, tools=TOOLS) as call:
            response = send(client, call)
            call.done(response)
        calls.append(call)
        messages.append({"role": "assistant", "content": response.content})
        if response.stop_reason != "tool_use":
            break
        messages.append(results(response, words(40 * (1 + turn % 9))))
    return calls


@pytest.mark.parametrize(
    "strategy", [None, FifoPruner(), SlidingWindowPruner(5), WatermarkPruner()]
)
def test_thirty_turns_are_sent_paid_and_accounted_for(ledger: Any, strategy: Any) -> None:
    client, messages = (
        FakeModel(script(30), window=WINDOW),
        [{"role": "user", "content": "Find the bug."}],
    )
    guarded = guard(ledger, strategy=strategy)
    calls = run(guarded, client, 40, messages)  # the fake model refuses what is invalid or too long
    assert len(calls) == 31
    status = ledger.status("shop/agent")
    assert status.reserved == 0
    assert status.spent == sum(call.cost for call in calls) > 0
    assert all(call.cost <= call.reserved for call in calls)
    last = calls[-1]
    assert last.tokens.basis == "anchored"
    assert guarded.gauge.used_tokens == last.reported.tokens.prompt
    gone = {index for unit in last.receipt.dropped for index in unit.indices}
    changed = {index for step in last.receipt.steps for index in step.indices}
    assert gone or changed
    kept = [at for at in range(len(messages) - 1) if at not in gone]
    assert len(kept) == len(last.messages)
    assert all(
        messages[at] is sent or at in changed for at, sent in zip(kept, last.messages, strict=True)
    )


def test_cuts_are_rare_and_the_cache_stays_warm_in_between(ledger: Any) -> None:
    client = FakeModel(script(60), window=WINDOW)
    run(guard(ledger), client, 61)
    sent = [request["messages"] for request in client.requests]
    rewritten = sum(later[: len(earlier)] != earlier for earlier, later in itertools.pairwise(sent))
    assert 2 <= rewritten <= 20


def test_another_transcript_starts_over() -> None:
    guarded = guard()
    client = FakeModel(script(20), window=WINDOW)
    calls = run(guarded, client, 20)
    assert calls[-1].receipt.steps
    other = guarded.fit([{"role": "user", "content": "Something else."}], system=SYSTEM)
    assert other.receipt.steps == ()
    assert any("another one" in note for note in other.receipt.notes)


def test_a_guessed_window_is_said() -> None:
    short, long = talk("openai", 1), talk("openai", 20, each=900)
    assert Guard("gpt-4o").fit(short).receipt.notes == ()
    assert Guard("in-house", target=9_000).fit(short).receipt.notes == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost by the guess
        (note,) = Guard("in-house").fit(short).receipt.notes
    assert "in-house isn't a known model, so its window is taken to be 8,192 tokens" in note
    with pytest.warns(UserWarning, match="in-house isn't a known model"):
        Guard("in-house").fit(long)


def test_a_call_outside_its_block_says_what_to_do() -> None:
    call = Guard("gpt-4o").call(talk("openai", 1))
    with pytest.raises(AttributeError, match="which it has inside its block"):
        _ = call.messages
    with pytest.raises(AttributeError, match="no 'mesages'"):
        _ = call.mesages  # type: ignore[attr-defined]
    with call:
        assert call.messages


def test_a_call_that_waits_for_its_result_is_not_lost() -> None:
    guarded = guard()
    history = talk("anthropic", 60, 60)
    call = {"type": "tool_use", "id": "late", "name": "read_file", "input": {"path": "a"}}
    history.append({"role": "assistant", "content": [call]})
    first = guarded.fit(history)
    assert validate(first.messages, "anthropic") == []
    history.append(
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "late", "content": "text"}],
        }
    )
    second = guarded.fit(history)
    assert second.messages[-2:] == history[-2:]


def test_conversations_are_kept_apart() -> None:
    shared = guard()
    one, two = shared.conversation("one"), shared.conversation("two")
    assert shared.conversation("one") is one is not two
    for number in range(12):
        for name in ("one", "two"):
            history = talk("anthropic", 30 + number, 40)
            history[0] = {"role": "user", "content": f"I am {name}."}
            fitted = shared.conversation(name).fit(history)
            assert fitted.fits
            assert not any("another" in note for note in fitted.receipt.notes)
    assert one.gauge is not two.gauge
    assert one.ledger is two.ledger


def test_conversations_without_an_id_are_told_apart_by_how_they_begin() -> None:
    shared = guard()
    histories = {name: talk("anthropic", 40, 40) for name in "abc"}
    for name, history in histories.items():
        history[1] = {
            "role": "assistant",
            "content": f"I am {name}.",
        }  # all three begin with the same prompt
    first = {name: shared.conversation_of(history[:3]) for name, history in histories.items()}
    assert len(set(map(id, first.values()))) == 3
    for end in range(5, 41, 2):
        for name, history in histories.items():
            found = shared.conversation_of(history[:end])
            assert found is first[name]
            assert not any("another" in note for note in found.fit(history[:end]).receipt.notes)
    assert shared.conversation_of(histories["a"][:41]) is first["a"]  # the same request once more
    assert shared.conversation_of(histories["a"][:3]) is not first["a"]  # begun again
    assert shared.conversation_of([]) is shared


def test_another_model_shares_ledger_and_limit(ledger: Any) -> None:
    guarded = guard(ledger, limit_usd="0.03")
    other = guarded.with_model("gpt-4o", "openai")
    assert (other.model, other.scope, other.limit, other.ledger) == (
        "gpt-4o",
        "shop/agent",
        30_000,
        ledger,
    )
    assert other.conversation("one") is not guarded.conversation("one")
    with other.call([{"role": "user", "content": "Hi"}]) as call:
        call.done({"prompt_tokens": 1_000, "completion_tokens": 2_000})
    with pytest.raises(LimitReached), guarded.call([{"role": "user", "content": "Hi"}]):
        raise AssertionError
    assert (
        ledger.status("shop/agent").spent
        == call.cost
        == cost({"input_tokens": 1_000, "output_tokens": 2_000}, "gpt-4o")
    )


def test_the_cap_of_an_answer_is_what_the_limit_leaves(ledger: Any) -> None:
    hello: list[Any] = [{"role": "user", "content": "Hi"}]
    guarded = Guard(MODEL, ledger=ledger, scope="shop/agent", limit_usd="0.04")
    with guarded.call(hello) as call:
        assert call.is_lowered
        assert 2_500 < call.max_output < 2_700  # at 15 dollars per million
        assert call.reserved <= 40_000
        assert f"{call.max_output:,} tokens, not 4,096" in call.receipt.notes[-1]
        call.done({"input_tokens": 10, "output_tokens": 2_000})
    assert ledger.status("shop").spent <= 40_000
    with pytest.raises(LimitReached, match="max_output=") as refused, guarded.call(hello):
        raise AssertionError
    assert ledger.status("shop").reserved == 0
    fitting = int(str(refused.value).rpartition("=")[2])
    with guarded.call(hello, max_output=fitting) as call:
        assert (call.max_output, call.is_lowered) == (fitting, False)
        call.release()
    with pytest.raises(LimitReached), guarded.call(hello, max_output=fitting + 1):
        raise AssertionError


def test_a_cap_of_the_callers_own_is_lowered_only_if_they_say_how_far(ledger: Any) -> None:
    hello: list[Any] = [{"role": "user", "content": "Hi"}]
    ledger.limit("shop", Money(40_000))  # of which 2,000 are kept for the wrap-up
    guarded = Guard(MODEL, ledger=ledger, scope="shop/agent", max_output=4_000)
    with pytest.raises(LimitReached, match=r"max_output=25\d\d"), guarded.call(hello):
        raise AssertionError
    with guarded.call(hello, min_output=2_000, options={"n": 1}) as call:
        assert 2_500 < call.max_output < 2_600
        call.release()
    with pytest.raises(LimitReached), guarded.call(hello, min_output=2_000, options={"n": 2}):
        raise AssertionError
    with guarded.call(hello, min_output=1_000, options={"n": 2}) as call:
        assert 1_250 < call.max_output < 1_300
        call.release()


def test_no_question_is_asked_while_a_shorter_answer_fits(ledger: Any) -> None:
    seen: list[Any] = []
    ledger.subscribe(seen.append)
    ledger.limit("shop", Money(40_000))
    ledger.allow("shop", "3000 tokens/day")
    with Guard(MODEL, ledger=ledger, scope="shop/agent").call(
        [{"role": "user", "content": "Hi"}]
    ) as call:
        assert call.is_lowered
        call.release()
    assert seen == []


def test_a_limit_in_tokens_lowers_the_cap_too(ledger: Any) -> None:
    ledger.allow("shop", "3000 tokens/day")
    with Guard(MODEL, ledger=ledger, scope="shop/agent").call(
        [{"role": "user", "content": "Hi"}]
    ) as call:
        assert 2_700 < call.max_output < 2_850
        call.release()


def test_two_calls_at_once_share_what_the_limit_leaves(ledger: Any) -> None:
    hello: list[Any] = [{"role": "user", "content": "Hi"}]
    guarded = Guard(MODEL, ledger=ledger, scope="shop/agent", limit_usd="0.08")
    with guarded.call(hello) as one, guarded.call(hello) as two:
        assert (one.max_output, one.is_lowered, two.is_lowered) == (4_096, False, True)
        assert 1_024 <= two.max_output < 1_250
        with pytest.raises(LimitReached), guarded.call(hello):
            raise AssertionError
        one.release()
        two.release()


def test_a_prompt_that_the_provider_keeps_is_sent_as_it_is(ledger: Any) -> None:
    items: list[Any] = [{"type": "function_call_output", "call_id": "c1", "output": "text"}]
    guarded = Guard(
        "gpt-4o", ledger=ledger, scope="shop", target=5_000, max_output=500, provider="responses"
    )
    with guarded.call(items, options={"previous_response_id": "resp_1"}) as call:
        assert call.messages == items
        assert call.reserved >= 128_000 * 2.5
        assert call.tokens.high == 128_000
        assert call.receipt.notes
        call.done({"input_tokens": 90_000, "output_tokens": 5})
    assert guarded.count(items).basis != "anchored"
    assert guarded.gauge.used_tokens == 90_000


def test_a_limit_without_a_ledger_holds() -> None:
    guarded = Guard(MODEL, limit_usd="0.05", max_output=500, target=5_000)
    client = FakeModel(script(100))
    with pytest.raises(LimitReached) as refused:
        run(guarded, client, 100)
    assert refused.value.limit == 50_000
    status = guarded.status()
    assert status is not None
    assert 0 < status.spent <= 50_000
    assert status.reserved == 0


def test_the_smaller_limit_holds_and_none_is_stored(ledger: Any) -> None:
    ledger.limit("shop", Money(1_000_000))
    with pytest.raises(LimitReached, match="the caller"):
        run(guard(ledger, limit_usd="0.03"), FakeModel(script(100)), 100)
    assert ledger.status("shop/agent").limit is None
    assert ledger.status("shop").limit == 1_000_000
    ledger.limit("shop", Money(20_000))
    with pytest.raises(LimitReached) as refused:
        run(guard(ledger, limit_usd="5"), FakeModel(script(100)), 100)
    assert refused.value.scope == "shop"
    assert ledger.status("shop").limit == 20_000
    assert ledger.status("shop").reserved == 0


class Dropped(Exception):
    """A connection that broke while the answer was on its way."""


class Failed(Exception):
    def __init__(self, status_code: int) -> None:
        super().__init__(f"Error code: {status_code}")
        self.status_code = status_code


def refused_connection() -> Exception:
    error = Dropped("Connection error.")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    return error


@pytest.mark.parametrize(
    ("error", "is_kept"),
    [
        (ConnectionRefusedError(), False),
        (refused_connection(), False),
        (Failed(400), False),
        (Failed(401), False),
        (Failed(429), False),
        (Failed(408), True),
        (Failed(500), True),
        (Failed(529), True),
        (TimeoutError(), True),
        (Dropped(), True),
        (KeyboardInterrupt(), True),
        (None, True),
    ],
)
@pytest.mark.parametrize("in_loop", [False, True])
def test_leaving_without_done(
    ledger: Any, error: BaseException | None, is_kept: bool, in_loop: bool
) -> None:
    def fail() -> None:
        if error is not None:
            raise error

    def plain() -> None:
        with guard(ledger).call([{"role": "user", "content": "Hi"}]) as call:
            assert ledger.status("shop").reserved == call.reserved > 0
            fail()

    async def loop() -> None:
        async with guard(ledger).call([{"role": "user", "content": "Hi"}]):
            fail()

    try:
        asyncio.run(loop()) if in_loop else plain()
    except BaseException as raised:
        assert raised is error  # noqa: PT017 (it isn't swallowed)
    assert (ledger.status("shop").reserved > 0) == is_kept
    assert ledger.status("shop").spent == 0


def test_an_error_after_done_changes_nothing(ledger: Any) -> None:
    client = FakeModel(["Hello."])

    def talking() -> None:
        with guard(ledger).call([{"role": "user", "content": "Hi"}]) as call:
            call.done(send(client, call))
            raise Failed(400)

    with pytest.raises(Failed):
        talking()
    assert ledger.status("shop").spent > 0
    assert ledger.status("shop").reserved == 0


def test_a_request_that_was_not_sent_can_be_given_back(ledger: Any) -> None:
    with guard(ledger).call([{"role": "user", "content": "Hi"}]) as call:
        call.release()
    assert ledger.status("shop").reserved == 0


def test_what_cannot_fit_is_not_sent_and_costs_nothing(ledger: Any) -> None:
    with (
        pytest.raises(DoesNotFit, match="too many") as raised,
        guard(ledger).call([{"role": "user", "content": words(9_000)}]),
    ):
        raise AssertionError
    assert not raised.value.fitted.fits  # type: ignore[attr-defined]
    assert ledger.status("shop").reserved == 0


def test_a_response_without_usage_says_what_to_give(ledger: Any) -> None:
    with (
        pytest.raises(InputError, match="usage"),
        guard(ledger).call([{"role": "user", "content": "Hi"}]) as call,
    ):
        call.done("Hello.")
    assert ledger.status("shop").reserved > 0


def test_a_model_without_a_price_is_refused_only_where_money_counts(ledger: Any) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    with Guard("my-own-model").call(messages) as call:
        call.done({"input_tokens": 10, "output_tokens": 1})
    assert call.cost is None
    with pytest.raises(UnknownPrice), Guard("my-own-model", ledger=ledger).call(messages):
        raise AssertionError


def test_the_dearest_cache_is_reserved_for() -> None:
    hour = {"type": "text", "text": words(900), "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    with guard(limit_usd="5").call([{"role": "user", "content": "Hi"}], system=[hour]) as call:
        written = {"cache_creation_input_tokens": int(call.tokens), "output_tokens": 500}
        usage = {**written, "cache_creation": {"ephemeral_1h_input_tokens": int(call.tokens)}}
        assert (cost(usage, MODEL) or 0) <= call.reserved
        call.done(usage)


@pytest.mark.parametrize("system", [None, "Be brief.", [{"type": "text", "text": "Be brief."}]])
def test_rules_are_told_in_the_system_prompt_and_stay_the_same(system: Any) -> None:
    rules = [
        Rule(
            id="r1",
            name="use-uv",
            kind=BehaviorKind.CONSTRAINT,
            canonical="Install packages with uv.",
        ),
        Rule(
            id="r2",
            name="tabs",
            kind=BehaviorKind.PREFERENCE,
            canonical="Prefer tabs in Makefiles.",
        ),
    ]
    guarded = guard(rules=rules)
    first = guarded.fit([{"role": "user", "content": "Install the packages."}], system=system)
    assert "Install packages with uv." in str(first.system)
    assert system is None or "Be brief." in str(first.system)
    later = guarded.fit(
        [
            {"role": "user", "content": "Install the packages."},
            {"role": "user", "content": "Now tabs."},
        ],
        system=system,
    )
    assert later.system == first.system
    assert guard().fit([{"role": "user", "content": "Hi"}], system=system).system == system


def anthropic_events(usage: dict[str, int]) -> list[Any]:
    begun = {
        "id": "msg_1",
        "model": MODEL,
        "role": "assistant",
        "content": [],
        "usage": {**usage, "output_tokens": 1},
    }
    return [
        {"type": "message_start", "message": begun},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 20},
        },
        {"type": "message_stop"},
    ]


def test_a_stream_settles_at_its_end(ledger: Any) -> None:
    events = anthropic_events({"input_tokens": 10})
    with guard(ledger).call([{"role": "user", "content": "Hi"}]) as call:
        assert list(call.stream(events)) == events
        assert call.cost == cost({"input_tokens": 10, "output_tokens": 20}, MODEL)

    async def later() -> Any:
        for event in events:
            yield event

    async def main() -> None:
        async with guard(ledger).call([{"role": "user", "content": "Hi"}]) as other:
            assert [event async for event in other.stream(later())] == events
        assert other.cost == call.cost

    asyncio.run(main())
    assert ledger.status("shop").reserved == 0


def test_a_stream_without_usage_warns_and_keeps_the_money(ledger: Any) -> None:
    chunk = {
        "object": "chat.completion.chunk",
        "id": "c",
        "model": "gpt-4o",
        "choices": [{"delta": {"content": "Hi"}}],
    }
    with (
        guard(ledger).call([{"role": "user", "content": "Hi"}]) as call,
        pytest.warns(UserWarning, match="include_usage"),
    ):
        assert list(call.stream([chunk])) == [chunk]
    assert ledger.status("shop").reserved == call.reserved
    with warnings.catch_warnings(), guard(ledger).call([{"role": "user", "content": "Hi"}]) as call:
        warnings.simplefilter("error")
        next(call.stream([chunk, chunk]))  # the rest is never read
    assert call.cost is None


def test_a_held_lock_does_not_stop_the_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "spend.db"
    guarded = guard(open_ledger(str(path)))
    client = FakeModel(["Hello."])
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    async def ticks() -> int:
        count = 0
        while not done.is_set():
            await asyncio.sleep(0.001)
            count += 1
        return count

    async def talking() -> Any:
        async with guarded.call([{"role": "user", "content": "Hi"}]) as call:
            held.set()
            other.execute("BEGIN IMMEDIATE")
            threading.Timer(0.5, lambda: other.execute("ROLLBACK")).start()
            call.done(send(client, call))  # settling has to wait for the other program
        done.set()
        return call

    async def main() -> tuple[Any, int]:
        call, count = await asyncio.gather(talking(), ticks())
        return call, count

    held, done = threading.Event(), threading.Event()
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.5, lambda: other.execute("ROLLBACK")).start()
    call, count = asyncio.run(main())
    assert call.cost > 0
    assert count > 50  # of about 1,000: the loop went on in both waits


def test_a_call_that_is_cancelled_while_it_waits_leaves_nothing_reserved(tmp_path: Path) -> None:
    path = tmp_path / "spend.db"
    opened = open_ledger(str(path))
    other = sqlite3.connect(path, isolation_level=None)

    async def main() -> None:
        async def talking() -> None:
            async with guard(opened).call([{"role": "user", "content": "Hi"}]):
                raise AssertionError

        other.execute("BEGIN IMMEDIATE")
        task = asyncio.create_task(talking())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        other.execute("ROLLBACK")
        await opened.areserve("other", Money(1))  # after what was waiting
        until = time.monotonic() + 300
        while opened.status("shop").reserved:
            assert time.monotonic() < until
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert opened.status("shop").reserved == 0


@pytest.mark.parametrize("workers", [8])
def test_many_threads_share_a_guard_and_never_overspend(ledger: Any, workers: int) -> None:
    shared = guard(ledger, limit_usd="0.2")
    ended: list[BaseException] = []

    def work(number: int) -> None:
        client = FakeModel(script(100), window=WINDOW)
        try:
            run(shared.conversation(str(number)), client, 100)
        except BaseException as error:
            ended.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(error) for error in ended] == [LimitReached] * workers
    status = ledger.status("shop/agent")
    assert status.reserved == 0
    assert 100_000 < status.spent <= 200_000


def test_many_tasks_share_a_guard(ledger: Any) -> None:
    shared = guard(ledger)

    async def work(number: int) -> int:
        client, spent = FakeModel(script(5), window=WINDOW), 0
        guarded, messages = shared.conversation(str(number)), [{"role": "user", "content": "Go."}]
        for _ in range(5):
            async with guarded.call(messages, system=SYSTEM, tools=TOOLS) as call:
                response = send(client, call)
                call.done(response)
            spent += call.cost or 0
            messages += [
                {"role": "assistant", "content": response.content},
                results(response, words(100)),
            ]
        return spent

    async def main() -> list[int]:
        return await asyncio.gather(*(work(number) for number in range(6)))

    spent = asyncio.run(main())
    assert ledger.status("shop/agent").spent == sum(spent) > 0
    assert ledger.status("shop/agent").reserved == 0


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"limit_usd": "a lot"}, "amount"),
        ({"rules": ["Use uv."]}, "rules"),
        ({"limit_usd": -1}, "limit_usd"),
        ({"limit_usd": "-1"}, "amount"),
        ({"ledger": 7}, "ledger"),
        ({"ledger": "redis://x"}, "ledger"),
        ({"max_output": -5}, "max_output"),
        (
            {"max_output": 200_000},
            r"max_output 200,000 leaves no room .* has 200,000 tokens, so give less",
        ),
        ({"scope": "my agent"}, "scope"),
        ({"strategy": "fifo", "summarize": str}, "summarize"),
        ({"exclude_tools": "read"}, "exclude_tools"),
    ],
)
def test_wrong_settings_are_refused_at_once(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        Guard(MODEL, **wrong)


def test_the_fake_model_refuses_what_a_provider_refuses() -> None:
    client = FakeModel(["Hello."], window=1_000)
    create: Callable[..., SimpleNamespace] = client.messages.create
    with pytest.raises(Refused, match="too long"):
        create(model=MODEL, messages=[{"role": "user", "content": words(2_000)}], max_tokens=10)
    with pytest.raises(Refused, match=r"messages\.0"):
        create(
            model=MODEL,
            messages=[
                results(SimpleNamespace(content=[SimpleNamespace(type="tool_use", id="x")]), "text")
            ],
            max_tokens=10,
        )
    assert (
        create(model=MODEL, messages=[{"role": "user", "content": "Hi"}], max_tokens=10)
        .content[0]
        .text
        == "Hello."
    )


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), target=st.integers(40, 250))
@settings(max_examples=15)
def test_a_growing_transcript_is_always_valid_and_accounted_for(
    provider: Provider, data: st.DataObject, target: int
) -> None:
    history = data.draw(valid_histories(provider, rare=False))
    guarded = Guard(MODELS[provider], target=target, provider=provider)
    for end in range(0, len(history) + 1, 3):
        fitted = guarded.fit(history[:end])
        assert validate(fitted.messages, provider) == []
        assert fitted.fits == (fitted.tokens <= target)
        gone = {index for unit in fitted.receipt.dropped for index in unit.indices}
        changed = {index for step in fitted.receipt.steps for index in step.indices}
        kept = [at for at in range(end) if at not in gone]
        assert len(kept) == len(fitted.messages)
        assert all(
            history[at] is sent or at in changed
            for at, sent in zip(kept, fitted.messages, strict=True)
        )
