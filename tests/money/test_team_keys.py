"""A team's keys: made, found, revoked, in both ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brim.errors import InputError
from brim.money import open_ledger
from brim.money.team_keys import PREFIX, TeamKeys
from tests.money.ledger_contract import Clock
from tests.money.server import empty_schema


@pytest.fixture(params=["file", "server"])
def keys(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    address = empty_schema()
    if request.param == "file":
        address = str(tmp_path / "money.db")
    with open_ledger(address, clock=Clock()) as ledger:
        yield TeamKeys(ledger)


def test_a_key_says_whose_money_is_spent(keys: TeamKeys) -> None:
    secret, key = keys.add("acme/ann")
    assert secret.startswith(PREFIX)
    assert keys.find(secret) == key
    assert (key.scope, key.person, key.project) == ("acme/ann", "acme/ann", "")
    assert key.made_at == 1_000.0
    _, other = keys.add("acme/ann", "acme/shop")
    assert (other.scope, other.person, other.project) == (
        "acme/ann+acme/shop",
        "acme/ann",
        "acme/shop",
    )


def test_the_ledger_does_not_have_the_key(keys: TeamKeys) -> None:
    secret, key = keys.add("acme/ann")
    assert secret.endswith(key.ending)
    assert all(secret not in str(kept.to_dict()) for kept in keys.all())
    assert keys.find(key.hash) is None
    assert keys.find(secret[:-1]) is None
    assert keys.find("") is None


def test_a_revoked_key_is_none(keys: TeamKeys) -> None:
    first, _ = keys.add("acme/ann")
    second, kept = keys.add("acme/ann")
    third, _ = keys.add("acme/bob")
    assert [key.ending for key in keys.revoke(kept.ending)] == [kept.ending]
    assert keys.find(second) is None
    assert keys.find(first)
    keys.revoke("acme/ann")
    assert keys.find(first) is None
    assert keys.find(third)
    assert keys.revoke("acme/ann") == []
    assert [key.is_valid for key in keys.all()] == [False, False, True]
    assert keys.people() == ["acme/ann", "acme/bob"]


@pytest.mark.parametrize("person", ["acme", "acme/ann/s1", "", "acme/ann+acme/shop", "*"])
def test_a_key_is_for_a_member_of_a_team(keys: TeamKeys, person: str) -> None:
    with pytest.raises(InputError):
        keys.add(person)


def test_a_project_is_of_the_same_team_and_no_person(keys: TeamKeys) -> None:
    keys.add("acme/ann", "acme/shop")
    for person, project in (("acme/bob", "other/shop"), ("acme/bob", "acme/bob")):
        with pytest.raises(InputError, match="isn't a project"):
            keys.add(person, project)
    with pytest.raises(InputError, match="is a project already"):
        keys.add("acme/shop")
    with pytest.raises(InputError, match="is a person already"):
        keys.add("acme/bob", "acme/ann")
