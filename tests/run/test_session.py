from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.money import Raise, lineage, open_ledger, read_limit
from brim.run.purse import Purse, scope_of
from brim.run.session import Notes, SessionFiles, Tracked
from brim.sessions.window.budget import ContextBudget
from brim.usd import Money

SESSION = "5e55a000-0000-4000-8000-000000000001"


def tracked(folder: Path, limit: int | None = None, **keywords: Any) -> Tracked:
    told: list[str] = []
    purse = Purse(limit, scope="shop/run", tell=told.append, **keywords)
    environ = {"HOME": str(folder / "home")}
    notes = Notes(
        str(folder), str(folder), job="it", clock=lambda: 1e9, tell=told.append, environ=environ
    )
    return Tracked(ContextBudget(), purse, notes, SessionFiles("claude", {}, since=0.0))


def usage(request: str, tokens: int = 1000, **fields: str) -> bytes:
    message = {
        "id": request,
        "model": "claude-sonnet-4-5",
        "usage": {"input_tokens": tokens, "output_tokens": 1},
    }
    return json.dumps(
        {
            "type": "assistant",
            "message": {**message, "content": []},
            "session_id": SESSION,
            **fields,
        }
    ).encode()


def result(total: float, **fields: Any) -> bytes:
    base = {"type": "result", "subtype": "success", "session_id": SESSION, "num_turns": 1}
    return json.dumps({**base, "total_cost_usd": total, **fields}).encode()


def test_a_request_that_is_told_twice_is_spent_once(tmp_path: Path) -> None:
    run = tracked(tmp_path)
    for line in (usage("m1"), usage("m1"), result(0.5), result(0.5)):
        run.take(line)
    assert run.purse.budget.spent == run.purse.meter.total == 500_000


def test_the_ledger_has_the_same_sum(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        run = tracked(tmp_path, limit=1_000_000, ledger=ledger)
        for line in (usage("m1"), usage("m2", 200_000), result(0.75)):
            run.take(line)
        assert ledger.status("shop/run").spent == ledger.status("shop").spent == 750_000
        assert ledger.status("shop/run").limit == 1_000_000


def test_a_request_that_another_run_has_counted_stays_where_it_is(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        ledger.record("shop/other", "m1", Money(5))
        run = tracked(tmp_path, ledger=ledger)
        run.take(usage("m1"))
        run.take(usage("m2"))
        assert ledger.status("shop/other").spent == 5
        assert ledger.status("shop/run").spent > 0


def test_the_limit_is_told_once_and_by_the_run_that_reached_it(tmp_path: Path) -> None:
    run = tracked(tmp_path, limit=1_000_000)
    kinds = [
        [notice.kind for notice in run.take(result(total)).notices]
        for total in (0.5, 0.85, 0.96, 0.97)
    ]
    assert kinds == [[], ["COST_WARNING"], ["COST_LIMIT", "INPUT_REQUESTED"], []]
    assert run.purse.is_spent


def test_what_others_spend_in_the_project_counts(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        ledger.limit("shop", Money(1_000_000))
        run = tracked(tmp_path, ledger=ledger)
        ledger.record("shop/other", "x", Money(960_000))
        assert not run.purse.is_spent
        run.take(result(0.01))
        assert run.purse.is_spent
        assert run.purse.asked.scope == "shop"
        ledger.limit("shop", Money(2_000_000))
        run.purse.look()
        assert not run.purse.is_spent


def test_limits_in_tokens_of_sessions_and_of_sub_agents_hold(tmp_path: Path) -> None:
    for limited, ceiling in (
        ("shop", "5k tokens/day"),
        ("*", "5k tokens"),
        ("shop", "5k tokens/session"),
    ):
        with open_ledger(str(tmp_path / f"{ceiling.replace('/', ' ')}.db")) as ledger:
            ledger.allow(limited, ceiling)
            run = tracked(tmp_path, ledger=ledger)
            run.take(usage("m1", 1_000))
            assert not run.purse.is_spent
            run.take(usage("m2", 4_000))
            assert run.purse.is_spent
            assert (run.purse.asked.unit, run.purse.asked.spent) == ("tokens", 5_002)
            run.purse.answer("continue")
            assert not run.purse.is_spent


def test_a_limit_of_a_sub_agent_is_not_the_main_threads(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        ledger.allow("shop", read_limit("5k tokens", subagent=True))
        run = tracked(tmp_path, ledger=ledger)
        run.take(usage("m1", 9_000))
        assert not run.purse.is_spent
        for number in range(2):
            run.take(usage(f"a{number}", 4_000, parent_tool_use_id=f"toolu_{number}"))
        assert not run.purse.is_spent
        run.take(usage("a2", 4_000, parent_tool_use_id="toolu_1"))
        assert run.purse.asked.scope == "shop/run/toolu_1"
        assert ledger.status("shop/run").spent == run.purse.meter.total
        run.purse.answer("wrap_up")
        assert run.purse.held is None


def test_a_dollar_limit_of_each_session_holds_a_run(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        ledger.allow("shop", "1/session")
        run = tracked(tmp_path, ledger=ledger)
        run.take(result(0.96))
        assert run.purse.is_spent
        run.purse.answer(Raise(Money(2_000_000)))
        assert not run.purse.is_spent
        assert not tracked(tmp_path, ledger=ledger).purse.held


def test_a_period_that_ends_during_a_run_starts_over(tmp_path: Path) -> None:
    now = [20_000 * 86_400.0 - 60]
    with open_ledger(str(tmp_path / "money.db"), clock=lambda: now[0]) as ledger:
        ledger.allow("shop", "5k tokens/day")
        ledger.allow("shop", "1/day")
        run = tracked(tmp_path, ledger=ledger)
        run.take(usage("m1", 6_000))
        run.take(result(0.97))
        assert run.purse.is_spent
        now[0] += 120
        run.purse.look()
        assert not run.purse.is_spent
        run.take(usage("m2", 1_000))
        day, dollars = ledger.allowances("shop")
        assert {each.unit: each.spent for each in (day, dollars)} == {"tokens": 1_001, "usd": 3_015}


def test_a_project_that_was_stopped_stays_so(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        ledger.limit("shop", Money(1_000_000))
        ledger.answer("shop", "stop")
        assert tracked(tmp_path, ledger=ledger).purse.is_ended


def test_a_session_that_goes_on_brings_no_old_costs(tmp_path: Path) -> None:
    run = tracked(tmp_path, resumed=True)
    run.take(result(5.25, model_usage_since_last_result={"m": {"costUSD": 0.25}}))
    assert run.purse.budget.spent == 250_000
    run.take(result(5.75))
    assert run.purse.budget.spent == 750_000


def test_a_client_that_does_not_say_what_a_turn_cost_is_believed_by_what_it_took(
    tmp_path: Path,
) -> None:
    run = tracked(tmp_path, resumed=True)
    run.take(usage("m1"))
    run.take(result(4.0, usage={"input_tokens": 1_000, "output_tokens": 2_000}))
    assert run.purse.budget.spent == 33_000
    run.take(usage("m2"))
    run.take(result(4.5, usage={"input_tokens": 1_000, "output_tokens": 2_000}))
    assert run.purse.budget.spent == 533_000


def test_a_word_is_an_answer_until_a_tool_is_called_after_it(tmp_path: Path) -> None:
    run = tracked(tmp_path)

    def says(*blocks: dict[str, Any]) -> None:
        message = {"id": "m1", "model": "claude-sonnet-4-5", "content": list(blocks)}
        run.take(
            json.dumps({"type": "assistant", "message": message, "session_id": SESSION}).encode()
        )

    says({"type": "text", "text": "I look."})
    says({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}})
    heard = run.take(result(0.1, is_error=True, result="Reached maximum budget"))
    assert (heard.text, heard.answered) == ("I look.", False)
    says({"type": "text", "text": "It is done."})
    heard = run.take(result(0.2, is_error=True, result="Reached maximum budget"))
    assert (heard.text, heard.answered) == ("It is done.", True)
    assert not run.take(result(0.3)).answered


def test_a_stream_repeats_nothing_that_the_person_said(tmp_path: Path) -> None:
    run = tracked(tmp_path)
    run.notes.person_said("hello")
    run.take(
        json.dumps({"type": "init", "session_id": SESSION, "model": "gemini-2.5-flash"}).encode()
    )
    run.take(json.dumps({"type": "message", "role": "user", "content": "hello"}).encode())
    run.notes.close()
    assert run.notes.model.human_inputs == ["hello"]
    assert "hello" in (tmp_path / ".context" / "scratch.md").read_text()


def test_notes_that_cannot_be_written_are_told_once(tmp_path: Path) -> None:
    (tmp_path / ".context").write_text("a file")
    told: list[str] = []
    environ = {"HOME": str(tmp_path / "home")}
    notes = Notes(
        str(tmp_path), str(tmp_path), clock=lambda: 1e9, tell=told.append, environ=environ
    )
    notes.person_said("hello")
    notes.begin(SESSION)
    notes.save()
    notes.close()
    assert len(told) == 1
    assert told[0].startswith("no scratch memory in this run: ")
    assert notes.path == ""


def test_the_scratch_file_is_named_from_where_the_agent_works(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    environ = {"HOME": str(tmp_path / "home")}
    notes = Notes(
        str(tmp_path), str(tmp_path / "src"), clock=lambda: 1e9, tell=print, environ=environ
    )
    notes.person_said("hello")
    notes.begin(SESSION)
    assert notes.path == "../.context/scratch.md"


@pytest.mark.parametrize(
    "folder", ["/a/shop", "/a/my shop", "/a/größe", "/a/..", "/a/.hidden", "/", "", "/" + "x" * 300]
)
def test_every_project_has_a_scope(folder: str) -> None:
    assert lineage(scope_of(folder, "5f2a"))[-1].endswith("/run-5f2a")


def test_codex_says_in_its_own_file_what_each_request_took(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "11" / "15"
    day.mkdir(parents=True)
    file = day / f"rollout-2026-11-15T10-00-00-{SESSION}.jsonl"
    file.write_bytes(rollout("r1", 9_000, "2026-11-15T10:00:01Z"))
    files = SessionFiles("codex", {"CODEX_HOME": str(tmp_path)}, since=0.0)
    assert [event.tokens.prompt for event in files.events(SESSION) if hasattr(event, "tokens")] == [
        9_000
    ]
    assert files.events(SESSION) == []
    with file.open("ab") as more:
        line = record("r2", 9_500, "2026-11-15T10:00:02Z")
        more.write(line[:40])
        more.flush()
        assert files.events(SESSION) == []
        more.write(line[40:])
    assert len(files.events(SESSION)) == 1
    later = SessionFiles("codex", {"CODEX_HOME": str(tmp_path)}, since=4e9)
    assert later.events(SESSION) == []


@pytest.mark.parametrize("session", ["", "../../etc", "*", "a" * 100])
def test_an_id_that_is_none_finds_no_file(tmp_path: Path, session: str) -> None:
    assert SessionFiles("codex", {"CODEX_HOME": str(tmp_path)}, since=0.0).events(session) == []


def rollout(response: str, tokens: int, time: str) -> bytes:
    meta = {"timestamp": time, "type": "session_meta", "payload": {"id": SESSION, "cwd": "/p"}}
    turn = {"timestamp": time, "type": "turn_context", "payload": {"model": "gpt-5", "cwd": "/p"}}
    return b"".join(json.dumps(each).encode() + b"\n" for each in (meta, turn)) + record(
        response, tokens, time
    )


def record(response: str, tokens: int, time: str) -> bytes:
    used = {
        "input_tokens": tokens,
        "cached_input_tokens": 0,
        "output_tokens": 5,
        "total_tokens": tokens + 5,
    }
    payload = {
        "response_id": response,
        "usage": used,
        "turn_token_usage": used,
        "thread_token_usage": used,
    }
    return (
        json.dumps({"timestamp": time, "type": "token_usage_record", "payload": payload}).encode()
        + b"\n"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = (
    "session_id",
    "message",
    "usage",
    "total_cost_usd",
    "modelUsage",
    "model_usage_since_last_result",
    "num_turns",
)
LINES = st.builds(
    lambda kind, subtype, rest: json.dumps({"type": kind, "subtype": subtype, **rest}).encode(),
    st.sampled_from(
        ["system", "assistant", "user", "result", "control_response", "message", "turn.completed"]
    ),
    st.sampled_from(["init", "status", "compact_boundary", "success", ""]),
    st.dictionaries(
        st.sampled_from([*KEYS, "compact_result", "compact_error", "errors", "result", "usage"]),
        JSON,
    ),
)


@settings(deadline=None)
@given(lines=st.lists(st.binary(max_size=60) | LINES, max_size=12))
def test_nothing_in_a_stream_raises(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    run = tracked(tmp_path_factory.mktemp("run"), limit=1_000, resumed=True)
    for line in lines:
        run.take(line)
    assert run.feed.lines == len(lines)
    assert run.purse.budget.spent >= 0


def test_a_scope_that_is_none_is_said() -> None:
    with pytest.raises(InputError, match="isn't a scope"):
        Purse(None, scope="a//b")
