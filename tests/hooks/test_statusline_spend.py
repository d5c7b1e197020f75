"""What the status line says about the limits of the ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from brim.hooks.statusline import lines_for
from brim.store import open_ledger
from tests.hooks.status_samples import NOW, SESSION, encoded, sent


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "brim"
    home.mkdir()
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return {"HOME": str(tmp_path), "BRIM_HOME": str(home), "NO_COLOR": "1", "COLUMNS": "120"}


def told(environ: Mapping[str, str]) -> str:
    """What comes after the session's own cost."""
    data = sent(cwd=os.path.join(environ["HOME"], "shop"), prompt_cache=None)
    return lines_for(encoded(data), environ, now=NOW).decode().partition("$1.24")[2].strip()


def database(environ: Mapping[str, str]) -> str:
    return os.path.join(environ["BRIM_HOME"], "brim.db")


def test_a_limit_is_told_from_the_share_on_at_which_to_warn(environ: dict[str, str]) -> None:
    with open_ledger(database(environ)) as ledger:
        ledger.limit("shop", 5_000_000)
        said = []
        for request, amount in enumerate((3_000_000, 1_100_000, 1_000_000)):
            ledger.record(f"shop/{SESSION[:8]}/main", str(request), amount)
            said.append(told(environ))
    assert said == ["", "spending $4.10 of $5.00", "spending limit reached: $5.10 of $5.00"]


def test_the_fullest_limit_is_the_one_that_is_told(environ: dict[str, str]) -> None:
    with open_ledger(database(environ)) as ledger:
        ledger.limit("shop", 5_000_000)
        ledger.limit(f"shop/{SESSION[:8]}", 4_400_000)
        ledger.record(f"shop/{SESSION[:8]}/main", "request", 4_000_000)
    assert told(environ) == "spending $4.00 of $4.40"


def test_a_limit_of_another_project_is_not_told(environ: dict[str, str]) -> None:
    with open_ledger(database(environ)) as ledger:
        ledger.limit("other", 5_000_000)
        ledger.record("other/job/main", "request", 5_000_000)
    assert told(environ) == ""


def test_what_a_person_has_stopped_is_told(environ: dict[str, str]) -> None:
    with open_ledger(database(environ)) as ledger:
        ledger.limit("shop", 5_000_000)
        ledger.answer("shop", "stop")
    assert told(environ) == "spending stopped: $0.00 of $5.00"


def test_a_limit_of_the_settings_holds_where_nobody_has_set_one(environ: dict[str, str]) -> None:
    Path(environ["BRIM_HOME"], "config.yaml").write_text("spend:\n  limit: 2\n")
    with open_ledger(database(environ)) as ledger:
        ledger.record(f"shop/{SESSION[:8]}/main", "request", 1_900_000)
    assert told(environ) == "spending $1.90 of $2.00"


@pytest.mark.parametrize("content", [b"", b"no database" * 1_000])
def test_a_store_that_cannot_be_read_costs_only_what_it_would_have_told(
    environ: dict[str, str], content: bytes
) -> None:
    Path(database(environ)).write_bytes(content)
    assert told(environ) == ""
    assert lines_for(encoded(sent()), environ, now=NOW).decode().startswith("Sonnet 4.5")


def test_limits_per_period_are_told_too(environ: dict[str, str]) -> None:
    session = f"shop/{SESSION[:8]}/main"
    with open_ledger(database(environ), clock=lambda: NOW) as ledger:
        ledger.allow("shop", "5/day")
        ledger.record(session, "a", 4_100_000, tokens=1_900_000)
        assert told(environ) == "spending $4.10 of $5.00 today"
        ledger.allow("*", "2M tokens/week", including_past=True)
        assert told(environ) == "spending limit reached: 1.9M of 2M tokens this week"
        ledger.disallow("*")
        ledger.allow("shop", "90%/5h")
        assert told(environ) == "spending $4.10 of $5.00 today"
    with open_ledger(database(environ), clock=lambda: NOW - 86_400) as ledger:
        ledger.allow("shop", "4/day", including_past=True)  # yesterday's
    assert told(environ) == ""
