"""A team's proxies when they, their server or their clients go away."""

from __future__ import annotations

import http.client
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

if os.environ.get("BRIM_ADAPTER") != "litellm":
    pytest.skip(
        "LiteLLM is tested in an environment of its own: make adapters", allow_module_level=True
    )

from brim.models import cost
from brim.money import open_ledger
from brim.usd import Money
from tests.adapters.model import Model, parallel
from tests.adapters.proxy import Proxy, new_key
from tests.adapters.slow_model import PROMPT, SlowModel
from tests.money.storm import Remote
from tests.waiting import wait_until

CALLERS = 64
REQUESTS = 8
"""How many each of them makes."""
BODY = {
    "model": "claude-sonnet-4-5",
    "messages": [{"role": "user", "content": "Say hello."}],
    "max_tokens": 200,
}
LIMITS = {"acme": 150_000, "acme/ann": 90_000, "acme/bob": 90_000, "acme/shop": 120_000}
"""Micro-dollars: each request reserves about 3,000 and costs about 320."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Remote]:
    remote = Remote(tmp_path)
    yield remote
    remote.remove()


class Caller(threading.Thread):
    """A client that goes on whatever happens to its proxy."""

    def __init__(self, number: int, proxies: list[Proxy], keys: list[str]) -> None:
        super().__init__()
        self.statuses: list[int] = []
        self._rng = random.Random(number)
        self._proxies = proxies
        self._keys = keys

    def run(self) -> None:
        for _ in range(REQUESTS):
            proxy = self._rng.choice(self._proxies)
            body = {**BODY, "stream": self._rng.random() < 0.5}
            headers = {"x-brim-project": "shop", "x-claude-code-session-id": "s1"}
            try:
                key = self._rng.choice(self._keys)
                answer = proxy.ask("/v1/messages", body, key, headers=headers)
            except (OSError, http.client.HTTPException):
                self.statuses.append(0)
                time.sleep(1)
                continue
            self.statuses.append(answer.status)


def test_two_instances_stay_within_every_limit_when_either_or_the_server_is_killed(
    server: Remote, tmp_path: Path
) -> None:
    with open_ledger(server.address) as ledger:
        for scope, amount in LIMITS.items():
            ledger.limit(scope, Money(amount))
    keys = [new_key(server.address, "acme/ann"), new_key(server.address, "acme/bob")]
    server.prepare()
    with (
        Model(parallel(0), window=200_000) as model,
        Proxy(tmp_path / "one", model.url, server.address, wait=2) as one,
        Proxy(tmp_path / "two", model.url, server.address, wait=2) as two,
    ):
        for proxy in (one, two):
            assert proxy.ask("/v1/messages", BODY, keys[0]).status == 200
        callers = [Caller(number, [one, two], keys) for number in range(CALLERS)]
        for caller in callers:
            caller.start()
        time.sleep(3)
        one.kill()
        one.start()
        server.server.kill()
        time.sleep(0.5)
        server.server.start()
        time.sleep(1)
        two.kill()
        two.start()
        for caller in callers:
            caller.join()
        bills = [int(cost(each.usage, each.body["model"]) or 0) for each in model.answered]
    statuses = Counter(status for caller in callers for status in caller.statuses)
    print(statuses, len(bills))
    assert statuses[200] > CALLERS
    assert server.rows("SELECT * FROM seen_over") == []
    check_bills(server, bills)


def check_bills(server: Remote, bills: list[int]) -> None:
    """Every bill is in the ledger: as it is, or within what is held for it."""
    rows = server.rows("SELECT state, amount, charged FROM reservations")
    settled = Counter(charged for state, _, charged in rows if state == "settled")
    held = [amount for state, amount, _ in rows if state in ("open", "expired")]
    unsettled = list((Counter(bills) - settled).elements())
    assert len(unsettled) <= len(held)
    assert sum(unsettled) <= sum(held)
    left = settled - Counter(bills)
    assert all(charge > max(bills) for charge in left), "charged more than was billed"
    for scope, limit in LIMITS.items():
        ((spent, reserved),) = server.rows(
            f"SELECT spent, reserved FROM spend_scopes WHERE scope = '{scope}'"
        )
        assert spent + reserved <= limit


def test_without_its_server_nothing_is_sent_and_nothing_is_lost(
    server: Remote, tmp_path: Path
) -> None:
    key = new_key(server.address)
    with (
        Model(parallel(0), window=200_000) as model,
        Proxy(tmp_path / "one", model.url, server.address) as proxy,
    ):
        assert proxy.ask("/v1/messages", BODY, key).status == 200
        server.server.kill()
        begin = time.monotonic()
        answer = proxy.ask("/v1/messages", BODY, key)
        seconds = time.monotonic() - begin
        print(f"refused after {seconds:.1f} s")
        assert answer.status == 400
        assert answer.headers["x-should-retry"] == "false"
        assert "can't reach the team's ledger" in answer.message
        assert seconds < 15  # 4, and a busy machine
        server.server.start()
        assert proxy.ask("/v1/messages", BODY, key).status == 200
        assert len(model.answered) == 2
        with open_ledger(server.address) as ledger:
            status = ledger.status("acme/ann")
        assert (status.spent, status.reserved) == (model.spent, 0)


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_client_that_leaves_is_charged_at_most_what_was_reserved(
    tmp_path: Path, is_streamed: bool
) -> None:
    store = f"{tmp_path}/spend.db"
    key = new_key(store)
    with SlowModel() as model, Proxy(tmp_path, model.url, store) as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=300)
        body = json.dumps({**BODY, "stream": is_streamed})
        headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        connection.request("POST", "/v1/messages", body, headers)
        if is_streamed:
            assert b"message_start" in connection.getresponse().read(100)
        else:
            wait_until(lambda: sums(store)[1] > 0)
        reserved = sums(store)[1]
        assert reserved > 0
        connection.close()
        if not is_streamed:  # what can't be known is held until its lease ends
            assert sums(store) == (0, reserved)
            return
        wait_until(lambda: sums(store)[1] == 0)
        spent, _ = sums(store)
        most = cost({"input_tokens": PROMPT, "output_tokens": 200}, "claude-sonnet-4-5")
        assert spent == most


def sums(store: str) -> tuple[int, int]:
    with open_ledger(store) as ledger:
        status = ledger.status("acme")
    return int(status.spent), int(status.reserved)


def test_a_proxy_whose_hooks_do_not_fire_serves_nothing(tmp_path: Path) -> None:
    store = f"{tmp_path}/spend.db"
    key = new_key(store)
    with (
        Model(parallel(0), window=200_000) as model,
        Proxy(tmp_path, model.url, store, callbacks=False) as proxy,
    ):
        answer = proxy.ask("/v1/messages", BODY, key)
        assert answer.status == 400
        assert "can't guard this version of LiteLLM" in answer.message
        assert model.requests == []
