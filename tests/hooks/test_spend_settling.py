"""What a session has spent is in the ledger once, whichever hooks come when: a meter of the whole
says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.agents import agent_named, read
from brim.agents.call import HookCall
from brim.hooks.settlement import settle
from brim.hooks.state import HookWorkspace
from brim.spend import SpendMeter
from brim.store import open_store
from tests.hooks.sittings import SESSION, Sitting

PRICE = 3  # micro-dollars of one input token of the model that a sitting has


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


def settle_now(sitting: Sitting) -> list[str]:
    call = HookCall(
        agent=agent_named("claude"),
        event="stop",
        session=sitting.session,
        transcript=str(sitting.transcript),
    )
    with HookWorkspace(sitting.environ, str(sitting.project), now=sitting.now) as place:
        return [notice.kind for notice in settle(call, place)[0]]


def test_a_turn_is_settled_when_it_ends(sitting: Sitting) -> None:
    sitting.used("m1", 1_000)
    sitting.used("m2", 500)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 1_500 * PRICE
    assert sitting.spent("shop/8eeb040d/main") == 1_500 * PRICE


def test_one_request_in_several_lines_and_hooks_counts_once(sitting: Sitting) -> None:
    for _ in range(3):
        sitting.used("m1", 1_000)
        sitting.hook("Stop")
    sitting.hook("SessionEnd", reason="other")
    assert sitting.spent("shop") == 1_000 * PRICE


def test_a_later_report_of_a_request_replaces_the_earlier(sitting: Sitting) -> None:
    sitting.used("m1", 1_000)
    sitting.hook("Stop")
    sitting.used("m1", 1_000, 100)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 1_000 * PRICE + 100 * 15


def test_a_request_whose_line_lacks_the_second_half_of_its_key_is_the_same(
    sitting: Sitting,
) -> None:
    usage = {"input_tokens": 1_000, "output_tokens": 0}
    sitting.line(
        "assistant",
        message={"role": "assistant", "model": "claude-sonnet-4-5", "id": "m1", "usage": usage},
    )
    sitting.hook("Stop")
    sitting.used("m1", 1_000)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 1_000 * PRICE


def test_what_no_line_shows_is_settled_by_the_clients_total(sitting: Sitting) -> None:
    sitting.used("m1", 1_000)
    sitting.total(0.01)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 10_000
    sitting.used("m2", 1_000)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 13_000
    sitting.total(0.013)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 13_000


def write_helper(sitting: Sitting, tokens: int) -> None:
    folder = sitting.transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "assistant",
        "isSidechain": True,
        "agentId": "a1",
        "sessionId": sitting.session,
        "timestamp": "2027-01-15T08:00:01.000Z",
        "requestId": "req-s1",
        "message": {
            "id": "s1",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "usage": {"input_tokens": tokens, "output_tokens": 0},
        },
    }
    (folder / "agent-a1.jsonl").write_text(json.dumps(line, separators=(",", ":")) + "\n")


def test_a_sub_agent_counts_for_itself_and_is_in_the_total_of_its_session(sitting: Sitting) -> None:
    sitting.used("m1", 1_000)
    write_helper(sitting, 2_000)
    sitting.total(0.009)
    sitting.hook("Stop")
    assert sitting.spent("shop/8eeb040d/a1") == 2_000 * PRICE
    assert sitting.spent("shop") == 9_000


def test_a_sub_agent_whose_file_comes_after_the_total_is_in_it(sitting: Sitting) -> None:
    sitting.used("m1", 1_000)
    sitting.total(0.009)
    sitting.hook("Stop")
    write_helper(sitting, 2_000)
    sitting.hook("SubagentStop", agent_id="a1", agent_transcript_path="")
    assert sitting.spent("shop/8eeb040d/a1") == 2_000 * PRICE
    assert sitting.spent("shop") == 9_000


def test_a_fork_does_not_pay_again_for_what_it_was_forked_from(
    sitting: Sitting, tmp_path: Path
) -> None:
    sitting.used("m1", 1_000)
    sitting.total(0.01)
    sitting.hook("Stop")
    fork = Sitting(tmp_path, "ffffffff-0000-4000-8000-000000000000")
    fork.transcript.write_bytes(sitting.transcript.read_bytes())
    fork.now = sitting.now + 10
    fork.used("m2", 1_000)
    fork.total(0.013)
    fork.hook("Stop")
    assert sitting.spent("shop") == 13_000
    assert sitting.spent("shop/ffffffff") == 3_000


def test_a_transcript_that_vanishes_changes_nothing(sitting: Sitting) -> None:
    sitting.used("m1", 1_000)
    sitting.hook("Stop")
    sitting.transcript.unlink()
    sitting.hook("Stop")
    assert sitting.spent("shop") == 1_000 * PRICE
    assert sitting.log() == ""


@pytest.mark.parametrize(
    "junk", ["", "x", "0 []", '0 {"offsets": 7, "reported": "x", "kin": 3, "mark": []}', None]
)
def test_a_damaged_or_lost_account_costs_nothing_but_time(
    sitting: Sitting, junk: str | None
) -> None:
    sitting.used("m1", 1_000)
    sitting.total(0.004)
    sitting.hook("Stop")
    with open_store(str(sitting.home / "brim.db")) as store, store.writing() as database:
        if junk is None:
            assert database.run("DELETE FROM meta WHERE key LIKE 'account:%'") == 1
        else:
            assert (
                database.run("UPDATE meta SET value = ? WHERE key LIKE 'account:%'", (junk,)) == 1
            )
    sitting.used("m1", 1_000)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 4_000
    sitting.used("m2", 2_000)
    sitting.total(0.02)
    sitting.hook("Stop")
    assert sitting.spent("shop") == 20_000


def test_the_account_is_never_older_than_the_ledger(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is settled and what is known of it are one transaction: a hook that ends in between has
    done neither."""
    sitting.used("m1", 1_000)
    settle_now(sitting)
    sitting.used("m2", 1_000)
    with monkeypatch.context() as broken:
        broken.setattr("brim.hooks.settlement.save_account", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            settle_now(sitting)
    assert sitting.spent("shop") == 1_000 * PRICE
    sitting.total(0.02)
    settle_now(sitting)
    assert sitting.spent("shop") == 20_000


def test_accounts_that_nobody_touches_are_forgotten(sitting: Sitting, tmp_path: Path) -> None:
    sitting.used("m1", 1_000)
    settle_now(sitting)
    other = Sitting(tmp_path, "ffffffff-0000-4000-8000-000000000000")
    other.now += 31 * 86_400
    other.used("m2", 1_000)
    settle_now(other)
    with open_store(str(sitting.home / "brim.db")) as store:
        assert [
            row[0] for row in store.database.rows("SELECT key FROM meta WHERE key LIKE 'account:%'")
        ] == [f"account:{other.session}"]


def test_a_model_without_a_price_is_told_once(sitting: Sitting) -> None:
    told = "brim: The price of own-model-7 is not known: its requests count as nothing."
    sitting.used("m1", 1_000, model="own-model-7")
    assert sitting.hook("Stop")["systemMessage"].startswith(told)
    sitting.used("m2", 1_000, model="own-model-7")
    assert sitting.hook("Stop") == {}
    assert sitting.spent("shop") == 0


def test_a_model_without_a_price_is_no_matter_if_the_client_says_what_it_cost(
    sitting: Sitting,
) -> None:
    sitting.used("m1", 1_000, model="own-model-7")
    sitting.total(0.01)
    assert sitting.hook("Stop") == {}
    assert sitting.spent("shop") == 10_000


def test_a_long_transcript_is_read_on_and_not_again(sitting: Sitting) -> None:
    for at in range(50):
        sitting.used(f"m{at}", 100)
    sitting.hook("Stop")
    with open_store(str(sitting.home / "brim.db")) as store:
        kept = store.database.row("SELECT value FROM meta WHERE key = ?", (f"account:{SESSION}",))[
            0
        ]
    assert json.loads(kept.partition(" ")[2])["offsets"] == {"": sitting.transcript.stat().st_size}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("use"), st.integers(0, 8), st.integers(1, 5_000)),
        st.tuples(st.just("total"), st.integers(0, 0), st.integers(1, 60_000)),
        st.tuples(st.just("settle"), st.integers(0, 0), st.integers(0, 0)),
        st.tuples(st.just("lose"), st.integers(0, 0), st.integers(0, 0)),
    ),
    max_size=25,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_however_hooks_come_the_ledger_equals_a_meter_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    sitting = Sitting(tmp_path_factory.mktemp("sitting"))
    sitting.transcript.touch()
    seen: dict[int, int] = {}
    for what, id, amount in steps:
        if what == "use":
            sitting.used(f"m{id}", seen.setdefault(id, amount))
        elif what == "total":
            sitting.total(amount / 1e6)
        elif what == "lose":
            with open_store(str(sitting.home / "brim.db")) as store, store.writing() as database:
                database.run("DELETE FROM meta")
        else:
            settle_now(sitting)
    settle_now(sitting)
    meter = SpendMeter()
    for event in read(sitting.transcript) if sitting.transcript.stat().st_size else ():
        meter.update(event)
    assert sitting.spent("shop") == meter.total
