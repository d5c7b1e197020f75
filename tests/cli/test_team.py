"""A team on the command line: keys, everyone's limits, and what was spent by whom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from brim.money import open_ledger
from brim.money.team_keys import PREFIX, TeamKeys
from brim.usd import Money
from tests.cli.conftest import Brim
from tests.money.ledger_contract import Clock
from tests.money.server import empty_schema

DAY = 86_400


@pytest.fixture(params=["file", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "server":
        return empty_schema()
    path = str(tmp_path / "team.db")
    open_ledger(path).close()
    return path


def spend(store: str, scope: str, cost: int, model: str = "gpt-5", day: int = 20_000) -> None:
    clock = Clock()
    clock.now = day * DAY + 100.0
    with open_ledger(store, clock=clock) as ledger:
        made = ledger.reserve(scope, Money(cost), model=model, tokens=cost)
        ledger.settle(made, Money(cost))


def test_a_key_is_shown_once_and_listed_without_it(brim: Brim, store: str) -> None:
    said = brim("limit", "key", "add", "acme/ann", "--store", store)
    key = said.out.strip()
    assert key.startswith(PREFIX)
    assert "shown once" in said.err
    with open_ledger(store) as ledger:
        found = TeamKeys(ledger).find(key)
    assert found is not None
    assert found.scope == "acme/ann"
    brim("limit", "key", "add", "acme/ann", "acme/shop", "--store", store)
    listed = brim("limit", "key", "list", "--store", store)
    assert key not in listed.out
    assert key[-6:] in listed.out
    assert "acme/shop" in listed.out
    rows = brim("limit", "key", "list", "--store", store, "--json").json["keys"]
    assert [(row["person"], row["project"]) for row in rows] == [
        ("acme/ann", ""),
        ("acme/ann", "acme/shop"),
    ]
    assert not any("hash" in row for row in rows)


def test_a_key_is_revoked_by_its_ending_or_its_person(brim: Brim, store: str) -> None:
    first = brim("limit", "key", "add", "acme/ann", "--store", store, "--json").json["key"]
    second = brim("limit", "key", "add", "acme/ann", "--store", store, "--json").json["key"]
    assert brim("limit", "key", "revoke", first[-6:], "--store", store).code == 0
    with open_ledger(store) as ledger:
        assert TeamKeys(ledger).find(first) is None
        assert TeamKeys(ledger).find(second)
    assert brim("limit", "key", "revoke", "acme/ann", "--store", store).code == 0
    again = brim("limit", "key", "revoke", "acme/ann", "--store", store)
    assert again.code != 0
    assert "No valid key" in again.err


@pytest.mark.parametrize(
    "words", [["add"], ["revoke"], ["list", "x"], ["add", "acme"], ["add", "a/b", "c/d"]]
)
def test_what_is_no_key_is_an_error(brim: Brim, tmp_path: Path, words: list[str]) -> None:
    store = str(tmp_path / "team.db")
    open_ledger(store).close()
    said = brim("limit", "key", *words, "--store", store)
    assert said.code != 0
    assert said.out == ""


def test_an_agent_makes_no_key(brim: Brim, tmp_path: Path) -> None:
    store = str(tmp_path / "team.db")
    open_ledger(store).close()
    said = brim("limit", "key", "add", "acme/ann", "--store", store, env={"CLAUDECODE": "1"})
    assert said.code != 0
    assert "only a person makes a key" in said.err


def test_everyones_limits_are_shown_with_what_is_left(brim: Brim, store: str) -> None:
    brim("limit", "acme", "50/month", "--store", store)
    brim("limit", "acme/ann", "5/day", "--store", store)
    brim("limit", "acme/shop", "20", "--store", store)
    brim("limit", "key", "add", "acme/bob", "--store", store)
    with open_ledger(store) as ledger:
        made = ledger.reserve("acme/ann/s1+acme/shop", "1.5")
        ledger.settle(made, "1.5")
    out = brim("limit", "--store", store).out
    rows = [re.split(r" {2,}", line.strip()) for line in out.splitlines()]
    shown = {row[0]: row[1:4] for row in rows}
    assert shown["acme"] == ["$50.00/month", "$1.50", "$48.00"]
    assert shown["acme/ann"] == ["$5.00/day", "$1.50", "$3.25"]
    assert shown["acme/bob"] == ["none", "$0.00", "$48.00"]
    assert shown["acme/shop"] == ["$20.00 in all", "$1.50", "$18.00"]
    assert "acme/ann/s1" not in shown


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("person", [("acme/ann", 300), ("acme/bob", 40)]),
        ("project", [("acme/shop", 240), ("", 100)]),
        ("model", [("gpt-5", 240), ("haiku", 100)]),
        ("session", [("acme/ann/s1", 200), ("", 140)]),
        ("day", [("2024-10-04", 240), ("2024-10-05", 100)]),
    ],
)
def test_what_was_spent_is_added_up_by_whatever_is_asked_for(
    brim: Brim, store: str, by: str, rows: list[Any]
) -> None:
    spend(store, "acme/ann/s1+acme/shop", 200)
    spend(store, "acme/bob+acme/shop", 40)
    spend(store, "acme/ann", 100, "haiku", day=20_001)
    said = brim("usage", "--store", store, "--by", by, "--json").json
    assert [(row["name"], row["cost"]) for row in said["rows"]] == rows
    assert said["total"]["cost"] == 340
    text = brim("usage", "--store", store, "--by", by)
    assert text.code == 0
    assert text.out.splitlines()[0].split() == [by, "tokens", "cost"]


def test_a_part_of_the_days_or_one_project_is_added_up(brim: Brim, tmp_path: Path) -> None:
    store = str(tmp_path / "team.db")
    spend(store, "acme/ann+acme/shop", 200)
    spend(store, "acme/ann", 100, day=20_001)
    since = brim("usage", "--store", store, "--since", "2024-10-05", "--json").json
    assert since["total"]["cost"] == 100
    shop = brim("usage", "--store", store, "--project", "acme/shop", "--json").json
    assert shop["total"]["cost"] == 200


def test_what_goes_without_a_store_does_not_go_with_one(brim: Brim, tmp_path: Path) -> None:
    store = str(tmp_path / "team.db")
    open_ledger(store).close()
    assert brim("usage", "--by", "person").code != 0
    assert brim("usage", "--store", store, "--by", "week").code != 0
    assert brim("usage", "--store", store, "--requests").code != 0
    assert "nothing was spent" in brim("usage", "--store", store).err
