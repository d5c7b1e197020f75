"""Requests that wait for money which others have reserved."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from brim.errors import LimitReached
from brim.money import Quote, Spend, open_ledger
from brim.money.waiting import WaitingLine
from brim.usd import Money
from tests.waiting import PATIENCE

MODEL = "claude-sonnet-4-5"
OUTPUT = 1_000
"""Tokens that an answer may have: $0.015."""


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        yield ledger


def a_spend(ledger: Any, scope: str = "acme/ann", output: int = OUTPUT) -> Spend:
    return Spend(ledger, scope, Quote(MODEL, 0, output))


def limit_for(ledger: Any, requests: int, scope: str = "acme") -> None:
    """Allow so many requests at the same time."""
    ledger.limit(scope, Money(int(15_000 * requests / 0.95) + 1))


async def settled(line: WaitingLine, spend: Spend, cost: int = 1_500) -> None:
    spend.settle(Money(cost))
    await spend.finish()
    line.look_again()


def test_requests_that_fit_one_after_another_are_all_admitted(ledger: Any) -> None:
    limit_for(ledger, 2)
    line = WaitingLine(PATIENCE)
    most = 0

    async def one(number: int) -> None:
        nonlocal most
        spend = a_spend(ledger, f"acme/p{number}")
        await line.enter(spend)
        most = max(most, ledger.status("acme").reserved)
        await settled(line, spend)

    async def main() -> None:
        await asyncio.gather(*[one(number) for number in range(8)])

    asyncio.run(main())
    status = ledger.status("acme")
    assert (status.spent, status.reserved) == (12_000, 0)
    assert most <= 30_000


def test_who_came_first_is_admitted_first(ledger: Any) -> None:
    limit_for(ledger, 1)
    line = WaitingLine(PATIENCE)
    order: list[int] = []

    async def one(number: int, output: int) -> None:
        spend = a_spend(ledger, output=output)
        await line.enter(spend)
        order.append(number)
        await settled(line, spend, 0)

    async def main() -> None:
        first = a_spend(ledger, output=OUTPUT // 2)
        await line.enter(first)
        tasks = []
        for number in range(4):  # the second is small enough to fit beside the first
            tasks.append(asyncio.create_task(one(number, 100 if number == 1 else OUTPUT)))
            await asyncio.sleep(0.05)
        assert order == []
        await settled(line, first, 0)
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert order == [0, 1, 2, 3]


def test_others_do_not_wait_for_a_limit_that_is_not_theirs(ledger: Any) -> None:
    limit_for(ledger, 1, "acme/ann")
    line = WaitingLine(PATIENCE)

    async def main() -> None:
        first = a_spend(ledger)
        await line.enter(first)
        waiting = asyncio.create_task(line.enter(a_spend(ledger)))
        await asyncio.sleep(0.05)
        await line.enter(a_spend(ledger, "acme/bob"))
        assert not waiting.done()
        await settled(line, first, 0)
        await waiting

    asyncio.run(main())


def test_what_never_fits_is_refused_at_once_and_a_person_is_asked(ledger: Any) -> None:
    limit_for(ledger, 1)

    async def main() -> None:
        with pytest.raises(LimitReached):
            await WaitingLine(PATIENCE * 100).enter(a_spend(ledger, output=2 * OUTPUT))

    asyncio.run(main())
    assert ledger.status("acme").state == "asked"


def test_who_waits_too_long_is_refused(ledger: Any) -> None:
    limit_for(ledger, 1)

    async def main() -> None:
        line = WaitingLine(0.3)
        await line.enter(a_spend(ledger))
        with pytest.raises(LimitReached):
            await line.enter(a_spend(ledger))
        assert ledger.status("acme").reserved == 15_000

    asyncio.run(main())


def test_who_stops_waiting_holds_nothing_and_lets_the_next_one_in(ledger: Any) -> None:
    limit_for(ledger, 1)
    line = WaitingLine(PATIENCE)

    async def main() -> None:
        first = a_spend(ledger)
        await line.enter(first)
        gone = asyncio.create_task(line.enter(a_spend(ledger)))
        await asyncio.sleep(0.05)
        last = asyncio.create_task(line.enter(a_spend(ledger)))
        await asyncio.sleep(0.05)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert ledger.status("acme").reserved == 15_000
        await settled(line, first, 0)
        await last

    asyncio.run(main())
    assert ledger.status("acme").reserved == 15_000


def test_money_that_another_process_gives_back_is_seen(ledger: Any, tmp_path: Path) -> None:
    limit_for(ledger, 1)
    with open_ledger(str(tmp_path / "money.db")) as other:
        made = other.reserve("acme/bob", Money(15_000))

        async def main() -> None:
            waiting = asyncio.create_task(WaitingLine(PATIENCE).enter(a_spend(ledger)))
            await asyncio.sleep(0.05)
            other.release(made)
            await waiting

        asyncio.run(main())
    assert ledger.status("acme/ann").reserved == 15_000
