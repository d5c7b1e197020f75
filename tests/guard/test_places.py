"""A guard in the places where programs run: stopped and continued processes, workers, event loops."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from brim import Guard, Money, open_ledger
from brim.money.opening import shared_ledger
from tests.waiting import wait_until

MODEL = "claude-sonnet-4-5"
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
USAGE = {"input_tokens": 1_000, "output_tokens": 100}

ONE_CALL = 4_500
"""What ``USAGE`` costs, in micro-dollars."""

CHILD = """
import sys
from brim import Guard

guard = Guard("claude-sonnet-4-5", ledger=sys.argv[1], scope="shop/one", lease=float(sys.argv[2]), max_output=500)
with guard.call([{"role": "user", "content": "Hello"}]) as call:
    print(int(call.reserved), flush=True)
    sys.stdin.readline()
    call.done({"input_tokens": 1_000, "output_tokens": 100})
print(int(call.cost), flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows stops no process")
def test_a_process_that_is_frozen_and_thawed_settles_what_it_cost(tmp_path: Path) -> None:
    address = f"{tmp_path}/spend.db"
    with open_ledger(address) as ledger:
        command = [sys.executable, "-c", CHILD, address, "0.2"]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            reserved = int(child.stdout.readline())
            os.kill(child.pid, signal.SIGSTOP)
            wait_until(lambda: ledger.status("shop").reserved == 0)  # its lease has ended
            assert ledger.status("shop").spent == reserved
            os.kill(child.pid, signal.SIGCONT)
            child.stdin.write("\n")
            child.stdin.flush()
            paid = int(child.stdout.readline())
        assert child.returncode == 0
        assert (ledger.status("shop").spent, ledger.status("shop").reserved) == (paid, 0)


def test_guards_with_one_address_share_an_open_ledger(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/spend.db"
    guards = [Guard(MODEL, ledger=address, scope=f"shop/{n}", max_output=500) for n in range(8)]

    def pay(guard: Guard) -> None:
        for _ in range(5):
            with guard.call(HELLO) as call:
                call.done(USAGE)

    threads = [threading.Thread(target=pay, args=(guard,)) for guard in guards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(guard.ledger) for guard in guards}) == 1
    with open_ledger(address) as own:
        assert own is not guards[0].ledger
        assert own.status("shop").spent == 40 * ONE_CALL


def test_a_shared_ledger_that_was_closed_or_deleted_is_opened_again(tmp_path: Path) -> None:
    file = tmp_path / "spend.db"
    first = Guard(MODEL, ledger=str(file), max_output=500)
    shared = shared_ledger(str(file))
    assert shared is first.ledger
    shared.close()
    second = Guard(MODEL, ledger=str(file), max_output=500)
    with second.call(HELLO) as call:
        call.done(USAGE)
    shared_ledger(str(file)).close()
    for part in tmp_path.iterdir():
        part.unlink()
    third = Guard(MODEL, ledger=str(file), max_output=500)
    with third.call(HELLO) as call:
        call.done(USAGE)
    assert third.status().spent == ONE_CALL  # type: ignore[union-attr]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_workers_that_are_forked_share_the_limit_of_their_parents_guard(tmp_path: Path) -> None:
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        guard = Guard(MODEL, ledger=ledger, scope="shop", max_output=500)
        with guard.call(HELLO) as call:  # threads and connections are there before the fork
            call.done(USAGE)
        one = int(ledger.status("shop").spent)
        children = []
        for _ in range(4):
            child = os.fork()
            if not child:
                status = 1
                try:
                    asyncio.run(work(guard))
                    status = 0
                finally:
                    os._exit(status)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
        assert (ledger.status("shop").spent, ledger.status("shop").reserved) == (13 * one, 0)


async def work(guard: Guard) -> None:
    """Make three calls, as a worker with an event loop does."""

    async def ask(number: int) -> None:
        async with guard.conversation(f"{os.getpid()} {number}").call(HELLO) as call:
            call.done(USAGE)

    await asyncio.gather(*map(ask, range(3)))


def test_threads_with_event_loops_of_their_own_share_a_guard(tmp_path: Path) -> None:
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        guard = Guard(MODEL, ledger=ledger, scope="shop", max_output=500)
        threads = [threading.Thread(target=asyncio.run, args=(work(guard),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = ledger.status("shop")
    assert status.reserved == 0
    assert status.spent == 12 * Money(4_500)
