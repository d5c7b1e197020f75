"""Real programs through a team's proxy: LiteLLM with brim's guard, in front of the model API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brim.money import open_ledger
from brim.money.team_keys import COLUMNS, hash_of
from tests.adapters.proxy import Proxy
from tests.e2e.agents import Agent
from tests.e2e.api import ModelApi
from tests.e2e.conftest import agent_in
from tests.e2e.script import Say
from tests.e2e.world import World
from tests.waiting import wait_until

PYTHON = Path(__file__).parents[2] / ".adapters" / "litellm" / "bin" / "python"
KEY = "dummy"
"""The key that each of the programs has."""
CLIENTS = ("claude", "codex", "gemini")


class Through:
    """The model API at another address: the proxy's."""

    def __init__(self, api: ModelApi, url: str) -> None:
        self._api = api
        self.url = url

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A ledger in which the programs' key is ann's."""
    path = str(tmp_path / "team.db")
    with open_ledger(path) as ledger, ledger.database.writing() as database:
        database.run(
            f"INSERT INTO team_keys ({COLUMNS}) VALUES (?, ?, ?, ?, ?)",
            (hash_of(KEY), KEY, "acme/ann+acme/shop", 0.0, None),
        )
    return path


@pytest.fixture(params=CLIENTS)
def member(
    request: pytest.FixtureRequest, world: World, api: ModelApi, store: str, tmp_path: Path
) -> Iterator[Agent]:
    """Each of the programs, whose requests go through the proxy."""
    if not PYTHON.exists():
        pytest.skip("LiteLLM is not here: make adapters installs it")
    with Proxy(tmp_path / "proxy", api.url, store, python=str(PYTHON)) as proxy:
        world.api = Through(api, proxy.url)  # type: ignore[assignment]
        yield agent_in(world, request.param)


def reservations(store: str) -> list[Any]:
    """Return state, charge and overrun of every request."""
    with open_ledger(store) as ledger:
        return ledger.database.rows("SELECT state, charged, overrun FROM reservations")


def is_at_rest(store: str) -> bool:
    return all(state != "open" for state, _, _ in reservations(store))


def test_a_loop_of_tools_is_counted_request_by_request(
    member: Agent, api: ModelApi, store: str
) -> None:
    api.will(
        member.shell("echo one >> made.txt"), member.shell("echo two >> made.txt"), Say("Done.")
    )
    ran = member.ask("Make a file.")
    assert len(api.turns) == 3, ran.told
    assert (member.world.project / "made.txt").read_text().split() == ["one", "two"]
    wait_until(lambda: is_at_rest(store))
    rows = reservations(store)
    assert len([row for row in rows if row[0] == "settled" and row[1] > 0]) >= 3
    assert [row for row in rows if row[2]] == []
    with open_ledger(store) as ledger:
        assert ledger.status("acme").spent == sum(row[1] for row in rows)
        assert ledger.status("acme/ann").spent == ledger.status("acme/shop").spent


def test_at_the_limit_nothing_is_sent_until_it_is_raised(
    member: Agent, api: ModelApi, store: str
) -> None:
    with open_ledger(store) as ledger:
        ledger.limit("acme/ann", "0.000001")
    api.will(*[Say("Hello.")] * 5)
    refused = member.ask("Say hello.")
    assert api.turns == []
    assert "ask acme's admin" in refused.out + refused.err, refused.told
    with open_ledger(store) as ledger:
        ledger.limit("acme/ann", "100")
    ran = member.ask("Say hello.")
    assert len(api.turns) == 1, ran.told
    wait_until(lambda: is_at_rest(store))
    with open_ledger(store) as ledger:
        status = ledger.status("acme/ann")
    assert 0 < status.spent <= 100_000_000
