"""Sessions: a charge is atomic, whatever else happens at that instant."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from brim.behaviors import Rule
from brim.config.retention import SESSIONS
from brim.errors import InputError, StoreError
from brim.rules import ActivationTierMapper, InjectionPlan
from brim.store import Store, open_store
from brim.store.database import Database, open_database
from brim.store.scopes import open_scopes
from tests.store.making import behavior


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".brim" / "brim.db")


def plan_of(*some: Rule) -> InjectionPlan:
    mapper = ActivationTierMapper()
    return mapper.plan(
        [(each.id, 0.9) for each in some], {each.id: each for each in some}, budget=None
    )


def test_what_was_charged_is_there_again(path: str) -> None:
    plan = plan_of(behavior())
    with open_store(path) as store, store.session("s1") as session:
        session.charge(plan)
    with open_store(path) as store, store.session("s1") as session:
        assert session.used == int(plan.total_tokens) > 0
        assert session.shown["b1"].times == 1


def test_an_error_inside_charges_nothing(path: str) -> None:
    def fail(store: Store) -> None:
        with store.session("s1") as session:
            session.charge(plan_of(behavior()))
            raise KeyError

    with open_store(path) as store:
        with pytest.raises(KeyError):
            fail(store)
        with store.session("s1") as session:
            assert (session.used, session.shown) == (0, {})


def test_limits_are_those_of_the_caller(path: str) -> None:
    with open_store(path) as store:
        with store.session("s1", max_tokens=100) as session:
            assert session.remaining == 100
        with store.session("s1", max_tokens=50, max_per_injection=20, backoff=2) as session:
            assert (session.remaining, session.budget(), session.backoff) == (50, 20, 2)


def test_a_sub_agent_spends_from_the_total_and_remembers_for_itself(path: str) -> None:
    plan = plan_of(behavior())
    cost = int(plan.total_tokens)
    with open_store(path) as store:
        with store.session("s1", "agent-7") as agent:
            agent.charge(plan)
        with store.session("s1") as session:
            assert session.used == cost
            assert session.shown == {}
            session.charge(plan)
        with store.session("s1", "agent-7") as agent:
            assert agent.used == 2 * cost
            assert agent.shown["b1"].times == 1
        with store.session("s1", "agent-8", max_tokens=2 * cost) as other:
            assert other.remaining == 0
            assert other.shown == {}
            with pytest.raises(InputError, match="0 tokens left"):
                other.charge(plan)


def test_sessions_that_nobody_came_back_to_are_forgotten(path: str) -> None:
    database = open_database(path)

    def prompts_at(now: float, name: str) -> int:
        with Store(database, clock=lambda: now).session(name) as session:
            session.next_prompt()
            return session.prompts

    assert prompts_at(0.0, "old") == 1
    assert prompts_at(SESSIONS, "new") == 1
    assert prompts_at(SESSIONS, "old") == 2
    assert prompts_at(2 * SESSIONS + 1, "new") == 2
    assert names(database) == ["new"]
    database.close()


def names(database: Database) -> list[str]:
    return [row[0] for row in database.rows("SELECT session FROM sessions ORDER BY session")]


@pytest.mark.parametrize(
    "state", ["nonsense", "{}", "[]", '{"prompts": "x", "spent": 0, "shown": {}}']
)
def test_a_state_that_cannot_be_read_is_an_error_and_stays(path: str, state: str) -> None:
    with open_store(path) as store:
        with store.session("s1"):
            pass
        with store.writing():
            store.database.run("UPDATE sessions SET state = ?", (state,))
        with pytest.raises(StoreError, match="'s1'"), store.session("s1"):
            pass
        assert store.database.row("SELECT state FROM sessions") == (state,)


CHARGE = """
import sys
from brim.behaviors import Rule
from brim.rules import ActivationTierMapper
from brim.store import open_store

path, name, limit, agent = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
charged = 0
for number in range(int(sys.argv[5])):
    one = Rule(f"{name}-{number}", "use-uv", "directive", "Use uv, not pip. " * (1 + number % 3), summary="Use uv.")
    plan = ActivationTierMapper().plan([(one.id, 0.9)], {one.id: one}, budget=None)
    with open_store(path, create=False, timeout=300) as store, store.session("s1", agent, max_tokens=limit) as session:
        if int(plan.total_tokens) <= session.remaining:
            session.charge(plan)
            charged += int(plan.total_tokens)
    print(charged, flush=True)
"""


def start(path: str, name: str, limit: int, agent: str, times: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", CHARGE, path, name, str(limit), agent, str(times)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def test_processes_that_charge_one_session_never_exceed_it_and_lose_nothing(path: str) -> None:
    open_store(path).close()
    running = [start(path, f"p{n}", 600, f"agent-{n}" if n % 2 else "", 20) for n in range(8)]
    said = [int(process.communicate(timeout=300)[0].split()[-1]) for process in running]
    assert [process.returncode for process in running] == [0] * 8
    with open_store(path) as store, store.session("s1", max_tokens=600) as session:
        assert session.used == sum(said)
        assert 500 < session.used <= 600


def test_processes_that_are_killed_leave_a_sound_file_and_every_charge_they_told_of(
    path: str,
) -> None:
    open_store(path).close()
    dice = random.Random(7)
    said = 0
    for turn in range(4):
        running = [start(path, f"t{turn}p{n}", 10**6, "", 10_000) for n in range(4)]
        for process in running:
            assert process.stdout is not None
            told = [process.stdout.readline()]
            time.sleep(dice.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            told += process.stdout.read().split("\n")
            said += max(int(line) for line in told if line.strip())
            process.wait(timeout=300)
            process.stdout.close()
    with open_store(path) as store, store.session("s1", max_tokens=10**6) as session:
        assert store.check() == []
        assert (
            said <= session.used <= said + 16 * 40
        )  # at most the one charge each that nobody was told of any more


def test_a_session_can_be_looked_at_while_another_writes(path: str, tmp_path: Path) -> None:
    with open_scopes(None, str(tmp_path / ".brim"), trusted=False) as scopes:
        with scopes.session("s1", "agent") as session:
            session.charge(plan_of(behavior()))
        with open_store(path) as other, other.writing():
            main, mine = (
                scopes.session_seen("s1"),
                scopes.session_seen("s1", "agent", max_tokens=50),
            )
        assert (main.used, main.shown, main.remaining) == (mine.used, {}, 3_000 - main.used)
        assert (mine.shown["b1"].times, mine.remaining) == (1, 50 - main.used)
        mine.spend(1)
        assert scopes.session_seen("s1").used == main.used
