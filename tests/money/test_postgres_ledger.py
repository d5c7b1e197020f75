"""The ledger in PostgreSQL: the contract, against a real server, and what is particular to many
machines."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.errors import BrimError, InputError, LimitReached, StoreError
from brim.money import Raise, SpendingLimit, open_ledger
from brim.money.postgres_ledger import PostgresLedger
from brim.notices import Notice
from brim.usd import Money
from tests.money.ledger_contract import Clock, LedgerContract, Open
from tests.money.server import empty_schema, new_schema, running

few_examples = settings(max_examples=5, suppress_health_check=list(HealthCheck), deadline=None)
DAY = 86_400.0


class TestPostgres(LedgerContract):
    @pytest.fixture
    def opened(self, clock: Clock) -> Open:
        address = empty_schema()
        return lambda: open_ledger(address, clock=clock)

    def new(self, folder: Any, clock: Clock) -> Any:
        return open_ledger(empty_schema(), clock=clock)

    @few_examples
    @given(data=st.data())
    def test_what_is_admitted_never_exceeds_a_limit_and_the_sums_agree(
        self, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        self.check_that_sums_agree(data, tmp_path_factory)


SCOPES = ("a", "a/b", "a/b/c", "a/c/main", "d")
SPENDERS = (*SCOPES, "a/b+a/c", "a/c/main+a/b/c", "d+a/b", "d/e+d")
steps = st.tuples(
    st.sampled_from(
        [
            *["reserve"] * 6,
            *["settle"] * 4,
            "release",
            "record",
            "wait",
            "day",
            "limit",
            "allow",
            "answer",
            "wrap_up",
        ]
    ),
    st.sampled_from(SPENDERS),
    st.integers(0, 90),
    st.sampled_from([0, 30, 100, 100, 110]),
)
ceilings = st.tuples(
    st.sampled_from(("*", *SCOPES)),
    st.builds(
        SpendingLimit,
        st.integers(0, 300),
        st.sampled_from(["usd", "tokens"]),
        st.sampled_from(["day", "week", "session", "subagent", "total"]),
    ),
)


def done(ledger: Any, step: tuple[str, str, int, int], number: int, known: list[str]) -> Any:
    """Return what one *step* gives, or its error in words."""
    action, scope, amount, percent = step
    limited = scope.partition("+")[0]
    id = known[amount % len(known)] if known else "none"
    try:
        if action in ("reserve", "wrap_up"):
            purpose = "wrap_up" if action == "wrap_up" else ""
            return ledger.reserve(
                scope,
                Money(amount),
                request_id=f"r{number}",
                tokens=percent,
                lease=60,
                purpose=purpose,
            )
        if action == "settle":
            held = ledger.reservation(id)
            return ledger.settle(held or id, Money((held.amount if held else 0) * percent // 100))
        if action == "release":
            return ledger.release(id)
        if action == "record":
            return ledger.record(
                scope, f"r{number}", Money(amount), tokens=percent, model="small", branch="main"
            )
        if action == "limit":
            return ledger.limit(limited, Money(amount * 10))
        if action == "allow":
            return ledger.allow(
                limited, SpendingLimit(amount * 5, "usd", "day"), including_past=percent > 50
            )
        if action == "answer":
            return ledger.answer(
                limited, ("continue", "wrap_up", "stop", Raise(Money(amount * 20)))[amount % 4]
            )
    except BrimError as error:
        return f"{type(error).__name__} {error}"
    return None


@settings(max_examples=12, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(ceilings, max_size=5), st.lists(steps, min_size=20, max_size=40))
def test_it_does_what_the_ledger_in_a_file_does(
    tmp_path_factory: pytest.TempPathFactory,
    limits: list[tuple[str, SpendingLimit]],
    script: list[Any],
) -> None:
    clock = Clock()
    clock.now = 20_000 * DAY
    told: dict[str, list[Notice]] = {"file": [], "server": []}
    path = str(tmp_path_factory.mktemp("ledger") / "money.db")
    with open_ledger(path, clock=clock) as file, open_ledger(empty_schema(), clock=clock) as server:
        file.subscribe(told["file"].append)
        server.subscribe(told["server"].append)
        for ledger in (file, server):
            ledger.limit("a", Money(400))
            for scope, ceiling in limits:
                ledger.allow(scope, ceiling)
        known: list[str] = []
        for number, step in enumerate(script):
            if step[0] in ("wait", "day"):
                clock.now += step[2] if step[0] == "wait" else DAY * step[2] / 90
            first, second = done(file, step, number, known), done(server, step, number, known)
            assert first == second
            known += [f"r{number}"] if hasattr(first, "request_id") and step[0] != "settle" else []
        assert server.statuses() == file.statuses()
        assert server.allowances() == file.allowances()
        assert [server.reservation(id) for id in known] == [file.reservation(id) for id in known]
        assert server.days() == file.days()
        assert told["server"] == told["file"]


def test_requests_that_wait_are_admitted_together_in_the_order_of_arrival() -> None:
    with PostgresLedger(empty_schema(), clock=Clock()) as ledger:
        ledger.limit("shop", Money(2_000))
        with ledger.database.writing():  # all others wait meanwhile
            threads, made = [], []
            for number in range(30):
                ask = lambda n=number: made.append(  # noqa: E731
                    ledger.reserve(f"shop/{n % 3}", Money(50), request_id=f"r{n:02}")
                )
                threads.append(threading.Thread(target=_quietly, args=(ask,)))
                threads[-1].start()
                while ledger.waiting <= number:  # one after the other
                    time.sleep(0.001)
        for thread in threads:
            thread.join()
        assert len({each.made_at for each in made}) == 1
        commits = {each.request_id for each in made}
        assert len(commits) == 30
        rows = ledger.database.rows("SELECT DISTINCT xmin::text FROM reservations")
        assert len(rows) <= 2  # the first alone, and all that waited for it


def test_the_first_to_come_gets_the_last_of_a_limit() -> None:
    with PostgresLedger(empty_schema(), clock=Clock()) as ledger:
        ledger.limit("shop", Money(1_000))
        made: list[str] = []
        with ledger.database.writing():
            threads = []
            for number in range(20):
                ask = lambda n=number: made.append(  # noqa: E731
                    ledger.reserve("shop", Money(100), request_id=f"r{n:02}").request_id
                )
                threads.append(threading.Thread(target=_quietly, args=(ask,)))
                threads[-1].start()
                while ledger.waiting <= number:
                    time.sleep(0.001)
        for thread in threads:
            thread.join()
        assert sorted(made) == [f"r{number:02}" for number in range(9)]
        assert ledger.status("shop").reserved == 900


def _quietly(ask: Any) -> None:
    try:
        ask()
    except LimitReached:
        return


def test_tasks_of_an_event_loop_are_admitted_together() -> None:
    async def all_of_them(ledger: Any) -> int:
        made = await asyncio.gather(*[ledger.areserve("shop/a", Money(10)) for _ in range(40)])
        await asyncio.gather(*[ledger.asettle(each, Money(5)) for each in made])
        return len(made)

    with open_ledger(empty_schema()) as ledger:
        assert asyncio.run(all_of_them(ledger)) == 40
        assert ledger.status("shop").spent == 200
        (commits,) = ledger.database.row("SELECT count(DISTINCT xmin::text) FROM reservations")
        assert commits < 20


def test_a_subscriber_may_spend() -> None:
    with open_ledger(empty_schema()) as ledger:
        ledger.subscribe(
            lambda _: ledger.reserve("log", Money(1), request_id="from-the-subscriber")
        )
        ledger.limit("shop", Money(100))
        ledger.settle(ledger.reserve("shop", Money(90)), Money(90))
        assert ledger.status("log").reserved == 1


def test_times_are_the_servers() -> None:
    with open_ledger(empty_schema()) as ledger:
        (now,) = ledger.database.row("SELECT extract(epoch FROM now())::float8")
        made = ledger.reserve("shop", Money(1))
        assert abs(made.made_at - now) < 60
        assert made.lease_end == pytest.approx(made.made_at + 60)


def test_one_object_serves_parent_and_child_of_a_fork() -> None:
    with open_ledger(empty_schema()) as ledger:
        ledger.reserve("shop", Money(1))
        child = os.fork()
        if child == 0:
            try:
                ledger.settle(ledger.reserve("shop", Money(10), request_id="child"), Money(7))
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert ledger.settle(ledger.reserve("shop", Money(5)), Money(5)).charged == 5
        assert ledger.status("shop").spent == 12


# When something is wrong --------------------------------------------------------------------------


def reason(address: str, **more: Any) -> tuple[str, str]:
    with pytest.raises(StoreError) as caught:
        open_ledger(address, **more)
    return caught.value.reason, str(caught.value)


def test_a_server_that_is_down_or_elsewhere_is_said(tmp_path: Path) -> None:
    why, text = reason(f"postgresql://me:secret@/db?host={tmp_path}", timeout=0.1)
    assert why == "lost"
    assert "can't be reached" in text
    assert "secret" not in text


def test_an_unknown_database_is_said() -> None:
    why, text = reason(running().url.replace("/postgres?", "/nothing?"))
    assert (why, "createdb" in text) == ("missing", True)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://h/db?schema=Bad-Name",
        "postgresql://h/db?schema",
        "postgresql://h/db?nonsense=1",
    ],
)
def test_an_address_that_cannot_be_right_is_an_input_error(address: str) -> None:
    with pytest.raises(InputError):
        open_ledger(address)


def test_nothing_is_made_without_create() -> None:
    address = new_schema()
    assert reason(address, create=False)[0] == "missing"
    open_ledger(address).close()
    open_ledger(address, create=False).close()


def test_a_schema_of_another_version_and_another_programs_are_refused() -> None:
    newer, other = new_schema(), new_schema()
    open_ledger(newer).close()
    with psycopg.connect(running().url, autocommit=True) as connection:
        connection.execute(
            f"UPDATE {newer.rpartition('=')[2]}.meta SET value = '99' WHERE key = 'version'"
        )
        connection.execute(f"CREATE SCHEMA {other.rpartition('=')[2]}")
        connection.execute(f"CREATE TABLE {other.rpartition('=')[2]}.meta (mine text)")
    assert reason(newer)[0] == "version"
    assert reason(other)[0] in ("refused", "damaged")


def test_a_read_only_server_is_looked_at_and_not_written() -> None:
    address = new_schema()
    with open_ledger(address) as ledger:
        ledger.record("shop", "a", Money(5))
    with open_ledger(f"{address}&options=-cdefault_transaction_read_only%3Don") as ledger:
        assert ledger.status("shop").spent == 5
        for change in (
            lambda: ledger.limit("shop", Money(1)),
            lambda: ledger.reserve("shop", Money(1)),
        ):
            with pytest.raises(StoreError, match="read-only") as caught:
                change()
            assert caught.value.reason == "read-only"


def test_two_places_may_make_the_tables_at_once() -> None:
    address, failed = new_schema(), []

    def open_it() -> None:
        try:
            with open_ledger(address, timeout=300) as ledger:
                ledger.record("shop", os.urandom(4).hex(), Money(1))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with open_ledger(address) as ledger:
        assert ledger.status("shop").spent == 6


def test_a_connection_that_was_cut_is_made_again() -> None:
    with open_ledger(empty_schema()) as ledger:
        made = ledger.reserve("shop", Money(10))
        for call in (
            lambda: ledger.settle(made, Money(7)),
            lambda: ledger.status("shop"),
            lambda: ledger.limit("shop", Money(99)),
        ):
            with psycopg.connect(running().url, autocommit=True) as connection:
                sql = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'brim'"
                connection.execute(sql)
            call()
        assert (ledger.status("shop").spent, ledger.status("shop").limit) == (7, 99)


def test_a_closed_ledger_says_so() -> None:
    ledger = open_ledger(empty_schema())
    ledger.close()
    ledger.close()
    with pytest.raises(StoreError, match="closed"):
        ledger.reserve("shop", Money(1))


def test_a_wrong_password_is_said() -> None:
    server = running()
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text("local all locked scram-sha-256\n" + rules.read_text())
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("SELECT pg_sleep(0.2)")
    why, text = reason(server.url.replace("postgres@", "locked:wrong@"))
    assert (why, "password" in text, "wrong" in text) == ("refused", True, False)
    why, text = reason(server.url.replace("postgres@", "locked:right@"))
    assert (why, "GRANT" in text) == ("refused", True)


def test_a_user_without_rights_on_the_schema_is_said_to_need_them() -> None:
    address = empty_schema()
    open_ledger(address).close()
    with psycopg.connect(running().url, autocommit=True) as connection:
        connection.execute("CREATE ROLE visitor LOGIN")
    why, text = reason(address.replace("postgres@", "visitor@"))
    assert (why, "GRANT" in text) == ("refused", True)
