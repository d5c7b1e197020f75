"""``brim ledger``: limits on what programs reserve."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from brim.errors import LimitReached
from brim.spend.money import micro_dollars
from brim.store import open_ledger
from tests.cli.conftest import Brim
from tests.cli.stored import file_of


def reserve(brim: Brim, scope: str, usd: float, *, purpose: str = "") -> bool:
    """Let a program reserve *usd*; return whether that was admitted."""
    with open_ledger(str(file_of(brim))) as ledger:
        try:
            ledger.reserve(scope, micro_dollars(usd), purpose=purpose)
        except LimitReached:
            return False
    return True


def spend(brim: Brim, scope: str, usd: float) -> None:
    with open_ledger(str(file_of(brim))) as ledger:
        ledger.record(scope, "r1", micro_dollars(usd))


def test_a_limit_is_set(brim: Brim) -> None:
    assert brim("spend", "limit", "shop", "5").out == (
        "shop: $0.00 spent, limit $5.00, $4.75 left, $0.25 held back for the wrap-up\n"
    )


def test_status_is_a_table_with_a_bar(brim: Brim) -> None:
    brim("spend", "limit", "shop", "10")
    spend(brim, "shop/a", 5)
    reserve(brim, "shop/b", 2.5)
    assert brim("spend").lines == [
        "scope   spent  reserved   limit   left                    state",
        "shop    $5.00     $2.50  $10.00  $2.00  ████████▒▒▒▒░░░░",
        "shop/a  $5.00              none  $2.00",
        "shop/b  $0.00     $2.50    none  $2.00",
    ]
    assert len(brim("spend", "status", "shop/a").lines) == 2
    assert "########====...." in brim("spend", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}).out


def test_money_has_two_decimals_and_a_small_amount_is_not_nothing(brim: Brim) -> None:
    reserve(brim, "shop", 0.000001)
    assert "$0.01" in brim("spend").out


def test_at_the_limit_it_says_so(brim: Brim) -> None:
    brim("spend", "limit", "shop", "1")
    assert not reserve(brim, "shop/a", 0.96)
    assert "asked: a request did not fit" in brim("spend").out
    spend(brim, "shop/a", 0.95)
    assert "limit reached" in brim("spend").out


def test_a_mistyped_answer_does_not_become_a_scope(brim: Brim) -> None:
    ran = brim("limit", "raize", "5")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean 'brim limit raise'?" in ran.err
    assert brim("limit", "--json").json["scopes"] == []
    assert brim("ledger", "limit", "raize", "5").code == 0
    assert brim("limit", "raize", "6").code == 0  # now it's known
    assert brim("limit", "shop", "5").code == 2  # a name that is unknown is an error


def test_a_decimal_comma_is_not_taken_for_thousands(brim: Brim) -> None:
    said = brim("spend", "limit", "shop", "0,25")
    assert (said.code, said.out) == (2, "")
    assert "0.25" in said.err


def test_what_is_left_is_never_shown_as_more_than_it_is(brim: Brim) -> None:
    brim("spend", "limit", "shop", "0.00003")
    assert brim("spend").lines[1].split()[:4] == ["shop", "$0.00", "$0.00", "$0.00"]


def test_a_wrap_up_before_the_limit_does_not_say_that_it_is_reached(brim: Brim) -> None:
    brim("spend", "limit", "shop", "5")
    said = brim("spend", "wrap-up", "shop").out
    assert "$0.00 of $5.00 is spent. Wrap up now." in said
    assert "reached" not in said


def test_the_four_answers(brim: Brim) -> None:
    brim("spend", "limit", "shop", "1")
    spend(brim, "shop", 0.95)
    assert brim("spend", "continue", "shop", "--json").json["limit"] == 1_100_000
    assert brim("spend", "continue", "shop").code == 2
    assert brim("spend", "raise", "shop", "2", "--json").json["limit"] == 2_000_000
    assert brim("spend", "raise", "shop", "2").code == 2
    wrapping = brim("spend", "wrap-up", "shop", "--json").json
    assert (wrapping["state"], wrapping["left"]) == ("wrapping_up", 1_050_000)
    assert "Wrap up now" in wrapping["prompt"]
    assert not reserve(brim, "shop", 0.01)
    assert reserve(brim, "shop", 0.01, purpose="wrap_up")
    assert brim("spend", "stop", "shop", "--json").json["state"] == "stopped"
    assert not reserve(brim, "shop", 0.01, purpose="wrap_up")
    assert brim("spend", "limit", "shop", "2", "--json").json["state"] == "open"


def test_the_same_limit_again_keeps_what_was_answered_unless_it_is_said_anew(brim: Brim) -> None:
    for limit in ("1", "none"):
        brim("spend", "limit", "shop", limit)
        brim("spend", "stop", "shop")
        again = brim("spend", "limit", "shop", limit, "--json")
        assert again.json["state"] == "stopped"
        assert "--anew" in again.err
        anew = brim("spend", "limit", "shop", limit, "--anew", "--json")
        assert (anew.json["state"], anew.err) == ("open", "")


def test_a_place_with_another_setting_neither_changes_other_projects_nor_undoes_an_answer(brim: Brim) -> None:
    brim.configure(user="spend: {limit: 1}\n")
    elsewhere = brim.home / "elsewhere"
    (elsewhere / ".brim").mkdir(parents=True)
    (elsewhere / ".brim" / "config.yaml").write_text("spend: {limit: 0.5}\n", encoding="utf-8")
    reserve(brim, "shop", 0.1)
    assert brim("spend", "--json", cwd=elsewhere).json["scopes"][0]["limit"] == 500_000
    assert brim("spend", "limit", "other", "3").code == 0
    assert brim("spend", "stop", "shop").code == 0
    assert not reserve(brim, "shop", 0.1)
    shop = brim("spend", "status", "shop", "--json").json["scopes"][0]
    assert (shop["limit"], shop["state"]) == (1_000_000, "stopped")


def test_a_project_can_lower_the_limit_and_not_raise_it(brim: Brim) -> None:
    brim.configure(project="spend: {limit: 50}\n", user="spend: {limit: 1}\n")
    assert brim("config", "get", "spend.limit").out == "1\n"
    brim.configure(project="spend: {limit: 0.5}\n")
    assert brim("config", "get", "spend.limit").out == "0.5\n"
    brim.configure(project="spend: {limit: unlimited}\n")
    assert brim("config", "get", "spend.limit").out == "1\n"
    assert brim("config", "get", "spend.limit", env={"BRIM_SPEND_LIMIT": "7"}).out == "7\n"
    told = brim("config", "set", "spend.limit", "9", "--project")
    assert "is stronger: 1 stays in force" in told.err


def test_the_ledger_is_the_users_own_file(brim: Brim) -> None:
    assert brim("spend").code == 0
    assert not (brim.home / ".brim").exists()
    brim("spend", "limit", "shop", "1")
    assert (brim.home / ".brim" / "brim.db").is_file()
    assert brim("list").code == 0


@pytest.mark.parametrize(
    "words",
    [
        "limit",
        "limit shop",
        "limit shop -1",
        "limit shop ten",
        "limit sh/ 1",
        "limit ../x 1",
        "continue nobody",
        "stop nobody",
        "raise shop",
        "status a b",
        "status a//b",
        "nonsense",
    ],
)
def test_wrong_usage_ends_with_2_and_changes_nothing(brim: Brim, words: str) -> None:
    ran = brim("spend", *words.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err
    assert brim("spend", "--json").json == {"scopes": []}


def test_a_damaged_ledger_is_an_error_and_is_left_as_it_is(brim: Brim) -> None:
    database = brim.home / ".brim" / "brim.db"
    database.parent.mkdir()
    database.write_bytes(b"not a database at all" * 100)
    for words in ("status", "limit shop 1"):
        ran = brim("spend", *words.split())
        assert ran.code == 2
        assert "damaged" in ran.err
    assert database.read_bytes() == b"not a database at all" * 100


def test_of_very_many_scopes_the_first_are_read_and_shown(brim: Brim) -> None:
    brim("ledger", "limit", "shop", "5")
    with closing(sqlite3.connect(brim.home / ".brim" / "brim.db")) as database, database:
        database.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
            "INSERT INTO spend_scopes SELECT 'shop/' || i, NULL, NULL, NULL, 1, 'open', 0, 1, 0 FROM n"
        )
    shown = brim("ledger")
    assert (shown.code, len(shown.lines)) == (0, 201)
    assert shown.err == "brim: 99,801 more: --most 100001 shows all, 'brim ledger status SCOPE' what is below one\n"
    assert [line.split()[0] for line in brim("limit").lines] == ["project", "shop"]
    found = brim("ledger", "status", "shop", "--json").json
    assert (len(found["scopes"]), found["more"]) == (10_000, 90_001)
    assert [each["scope"] for each in brim("limit", "--json", "--most", "2").json["scopes"]] == ["shop", "shop/1"]
    assert brim("limit", "shop/77777", "--json").json["scopes"][0]["left"] == 4_750_000
    assert "--most belongs to" in brim("ledger", "stop", "shop", "--most", "2").err
