"""The money of one request: reserved, settled or kept, from threads, forks and event loops."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brim.errors import LimitReached, StoreError, UnknownPrice
from brim.models import cost
from brim.money import may_be_billed, open_ledger
from brim.usd import Money

MODEL = "claude-sonnet-4-5"
HELLO: Any = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}], "max_output": 100}
USAGE = {"input_tokens": 8, "output_tokens": 12}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "spend.db")


def test_a_request_is_reserved_and_settled_by_its_response(path: str) -> None:
    response = SimpleNamespace(
        id="msg_1", model="claude-sonnet-4-5-20250929", usage=SimpleNamespace(**USAGE)
    )
    with open_ledger(path) as ledger:
        with ledger.spend("shop/agent", **HELLO) as spend:
            assert ledger.status("shop").reserved == spend.amount > 0
            assert spend.settle(response) == cost(USAGE, MODEL)
        assert ledger.status("shop").spent == spend.cost == cost(USAGE, MODEL)
        assert ledger.status("shop").reserved == 0


def test_an_unknown_snapshot_costs_what_was_asked_for(path: str) -> None:
    with open_ledger(path) as ledger, ledger.spend("shop", **HELLO) as spend:
        assert spend.settle({"model": "anthropic-secret-snapshot", "usage": USAGE}) == cost(
            USAGE, MODEL
        )


def test_a_cost_that_is_unknown_is_an_error_and_can_be_given(path: str) -> None:
    with open_ledger(path) as ledger:
        with ledger.spend("shop", **HELLO) as spend:
            with pytest.raises(UnknownPrice):
                spend.settle({"model": MODEL, "usage": USAGE, "service_tier": "flex-unknown"})
            assert spend.settle(Money(1_234)) == 1_234
        assert ledger.status("shop").spent == 1_234


def test_a_limit_refuses_before_the_block(path: str) -> None:
    with open_ledger(path) as ledger:
        ledger.limit("shop", Money(10))
        with pytest.raises(LimitReached), ledger.spend("shop", **HELLO):
            raise AssertionError
        assert ledger.status("shop").reserved == 0


class WithStatus(Exception):
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


def caused_by(cause: Exception) -> Exception:
    error = RuntimeError("it failed")
    error.__cause__ = cause
    return error


def after(earlier: Exception) -> Exception:
    error = TimeoutError("no answer")
    error.__context__ = earlier
    return error


@pytest.mark.parametrize(
    ("error", "billed"),
    [
        (ConnectionRefusedError(), False),
        (caused_by(caused_by(ConnectionRefusedError())), False),
        (type("ConnectTimeout", (Exception,), {})(), False),
        (WithStatus(status_code=404), False),
        (WithStatus(code=400), False),
        (WithStatus(response=SimpleNamespace(status_code=422)), False),
        (WithStatus(reason=ConnectionRefusedError()), False),
        (WithStatus(status_code=408), True),
        (WithStatus(status_code=503), True),
        (WithStatus(code="insufficient_quota", status_code=429), False),
        (ConnectionResetError(), True),
        (
            after(ConnectionRefusedError()),
            True,
        ),  # the first attempt was refused, the second may have been answered
        (asyncio.CancelledError(), True),
        (None, True),
    ],
)
def test_what_may_have_been_billed(error: BaseException | None, billed: bool) -> None:
    assert may_be_billed(error) == billed


def test_errors_that_contain_each_other_end() -> None:
    one, two = RuntimeError(), RuntimeError()
    one.__cause__, two.__cause__ = two, one
    assert may_be_billed(one)


def test_the_same_in_an_event_loop(path: str) -> None:
    async def main() -> None:
        with open_ledger(path) as ledger:
            async with ledger.spend("shop", **HELLO) as spend:
                assert (
                    spend.settle(USAGE) is None
                )  # it's written by another thread, before the block ends
            assert spend.cost == cost(USAGE, MODEL)
            with pytest.raises(ConnectionRefusedError):
                async with ledger.spend("shop", **HELLO):
                    raise ConnectionRefusedError
            reserved = await ledger.areserve("shop", Money(50), request_id="mine")
            assert (await ledger.asettle(reserved, Money(40))).charged == 40
            again = await ledger.areserve("shop", Money(50))
            assert (await ledger.arelease(again)).state == "released"
            assert ledger.status("shop").reserved == 0
            assert ledger.status("shop").spent == (spend.cost or 0) + 40

    asyncio.run(main())


def test_one_ledger_serves_many_threads(path: str) -> None:
    with open_ledger(path, timeout=300) as ledger:
        ledger.limit("shop", Money(400))
        refused: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(10):
                    ledger.settle(ledger.reserve("shop", Money(10)), Money(5))
            except BaseException as error:
                refused.append(error)

        threads = [threading.Thread(target=work) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {type(error) for error in refused} == {LimitReached}
        assert 350 <= ledger.status("shop").spent <= 400
        assert ledger.status("shop").reserved == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_one_ledger_goes_on_after_a_fork(path: str) -> None:
    with open_ledger(path, timeout=300) as ledger:
        ledger.settle(ledger.reserve("shop", Money(10)), Money(10))
        asyncio.run(ledger.areserve("shop", Money(1)))  # the worker's thread doesn't come along
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                try:
                    for _ in range(5):
                        ledger.settle(ledger.reserve("shop", Money(10)), Money(10))
                    asyncio.run(ledger.areserve("shop", Money(1)))
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
                os._exit(1)
            children.append(child)
        ledger.settle(ledger.reserve("shop", Money(10)), Money(10))
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [
            0,
            0,
            0,
        ]
        assert ledger.status("shop").spent == 10 + 3 * 50 + 10
        assert ledger.status("shop").reserved == 4
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_closed_ledger_says_so_in_every_thread(path: str) -> None:
    ledger = open_ledger(path)
    said: list[str] = []

    def look() -> None:
        try:
            ledger.status("shop")
        except StoreError as error:
            said.append(str(error))

    ledger.close()
    ledger.close()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert "closed" in said[0]
