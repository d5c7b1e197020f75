"""What a guard tells about its calls: ``on_call``, ``call.cost``, and the log at INFO."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from brim import DoesNotFit, Guard, LimitReached, Money, cost, open_ledger
from brim.messages import Receipt
from tests.messages.samples import words

MODEL = "claude-sonnet-4-5"
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
USAGE = {"input_tokens": 1_000, "output_tokens": 100}
PRICE = cost(USAGE, MODEL)


def long_history(turns: int) -> list[Any]:
    history: list[Any] = []
    for turn in range(turns):
        history.append({"role": "user", "content": f"{turn}? {words(60)}"})
        history.append({"role": "assistant", "content": f"{turn}! {words(60)}"})
    return [*history, *HELLO]


def test_every_answer_is_told_once_with_its_receipt_and_cost(tmp_path: Path) -> None:
    calls: list[tuple[Receipt, Money | None]] = []
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        guard = Guard(MODEL, ledger=ledger, on_call=lambda *about: calls.append(about))
        with guard.call(HELLO) as call:
            call.done(USAGE)
            call.done(USAGE)
        with guard.conversation("other").call(HELLO) as other:
            other.done(USAGE)

        async def ask() -> None:
            async with guard.call(HELLO) as later:
                later.done(USAGE)

        asyncio.run(ask())
        with guard.call(HELLO) as released:
            released.release()
        assert ledger.status("agent").spent == 3 * (PRICE or 0)
    assert [price for _, price in calls] == [PRICE] * 3
    assert calls[0][0] is call.receipt


def test_a_call_without_a_ledger_has_a_cost_too() -> None:
    calls: list[Money | None] = []
    for model in (MODEL, "nobody-knows-me"):
        guard = Guard(model, target=1_000, on_call=lambda _, price: calls.append(price))
        with guard.call(HELLO) as call:
            assert call.cost is None
            call.done(USAGE)
        assert call.cost == calls[-1]
    assert calls == [PRICE, None]


def test_an_error_of_on_call_is_logged_and_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def failing(*_: object) -> None:
        raise ValueError("broken")

    guard = Guard(MODEL, limit_usd="1", on_call=failing)
    with guard.call(HELLO) as call:
        call.done(USAGE)
    status = guard.status()
    assert status is not None
    assert (status.spent, status.reserved) == (PRICE, 0)
    assert "on_call failed" in caplog.text


def test_cuts_and_refusals_are_logged_at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="brim.guard")
    guard = Guard(MODEL, limit_usd="1", target=1_000, max_output=100)
    with guard.call(HELLO) as call:
        call.release()
    assert caplog.records == []
    history = long_history(20)
    with guard.call(history) as call:
        call.release()
    assert [record.getMessage() for record in caplog.records] == [f"{MODEL}: {call.receipt}"]
    with guard.call(history) as call:  # the cut stays, and is told once
        call.release()
    assert len(caplog.records) == 1
    with pytest.raises(DoesNotFit), guard.call([{"role": "user", "content": words(9_000)}]):
        raise AssertionError
    with pytest.raises(LimitReached), Guard(MODEL, limit_usd="0.000001").call(HELLO):
        raise AssertionError
    refusals = [record.getMessage() for record in caplog.records if "refused" in record.message]
    assert len(refusals) == 2
    assert all(text.startswith(f"{MODEL}: refused: ") for text in refusals)
    assert {record.levelno for record in caplog.records} == {logging.INFO}
