"""The index counts each request once and never lowers one, whatever becomes of the files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from brim.sessions.files import AgentFile, ReadingBounds
from brim.sessions.index import SessionIndex
from tests.cli.usages import GEMINI, ROLLOUT
from tests.sessions.tree import (
    NOW,
    append,
    assert_sums_are_right,
    costs,
    open_index,
    rest,
    rewrite,
    transcripts,
    update,
)
from tests.sessions.window.transcripts import FOLDER, answer, compact, cost_state, usage, write

DEAR = usage(0, 100_000)
CHEAP = usage(0, 1)
PRICE = 1_500_000
"""Micro-dollars of ``DEAR``."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "projects"


def test_a_request_counts_for_everything_its_project_and_its_session(
    tmp_path: Path, root: Path
) -> None:
    side = answer("msg_2", "req_2", DEAR, side=True, agentId="a1")
    write(root / "p" / "s-1.jsonl", answer(used=DEAR))
    write(root / "p" / "s-1" / "subagents" / "agent-a1.jsonl", side)
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == 2 * PRICE
        assert index.spent(f"p:{FOLDER}").cost == 2 * PRICE
        assert index.spent("s:s-1").cost == 2 * PRICE
        assert index.spent("a:s-1/a1").cost == PRICE
        assert index.spent("s:s-1").tokens == 200_000
        assert_sums_are_right(index)


def test_forged_lines_never_lower_what_was_spent(tmp_path: Path, root: Path) -> None:
    path = write(root / "p" / "s-1.jsonl", answer(used=DEAR))
    with open_index(tmp_path) as index:
        update(index, root)
        append(path, answer(used=CHEAP), answer(used=DEAR, model="claude-haiku-4-5-20251001"))
        update(index, root)
        assert costs(index) == {"msg_1:req_1": PRICE}
        append(path, answer(used=usage(0, 200_000)))
        update(index, root)
        assert index.spent("*").cost == 2 * PRICE
        assert_sums_are_right(index)


def test_a_cheaper_model_that_was_written_first_changes_nothing(tmp_path: Path, root: Path) -> None:
    cheaper = answer(used=DEAR, model="claude-haiku-4-5-20251001")
    write(root / "p" / "s-1.jsonl", cheaper, answer(used=DEAR))
    with open_index(tmp_path) as index:
        update(index, root)
        assert costs(index) == {"msg_1:req_1": PRICE}
        (request,) = index.requests()
        assert request.priced(index.prices).cost == PRICE


def test_truncated_replaced_and_deleted_files_take_nothing_back(tmp_path: Path, root: Path) -> None:
    path = write(root / "p" / "s-1.jsonl", answer(used=DEAR), answer("msg_2", used=DEAR))
    with open_index(tmp_path) as index:
        update(index, root)
        os.truncate(path, 10)
        update(index, root)
        rewrite(path, answer("msg_3", used=DEAR))
        update(index, root)
        path.unlink()
        update(index, root)
        index.forget_missing()
        assert index.spent("*").cost == 3 * PRICE
        assert_sums_are_right(index)


def test_copies_forks_and_resumed_sessions_count_once(tmp_path: Path, root: Path) -> None:
    first = [answer(used=DEAR), answer("msg_2", used=DEAR)]
    path = write(root / "p" / "s-1.jsonl", *first)
    fork = [answer(used=DEAR, session="s-2"), answer("msg_3", used=DEAR, session="s-2")]
    with open_index(tmp_path) as index:
        update(index, root)
        write(root / "p" / "s-2.jsonl", *fork)
        write(root / "q" / "copy.jsonl", *first)
        append(path, *first, answer("msg_4", used=DEAR))
        update(index, root)
        assert index.spent("*").cost == 4 * PRICE
        assert index.spent("s:s-2").cost == PRICE
        assert index.forked_sessions() == {"s-2"}


def test_a_request_named_by_its_message_alone_and_a_replay_count_once(
    tmp_path: Path, root: Path
) -> None:
    write(root / "p" / "a.jsonl", answer("msg_1", None, DEAR), answer("msg_10", "r", DEAR))
    write(root / "p" / "b.jsonl", answer("msg_1", "req_1", DEAR))
    replay = answer("msg_10", "another", DEAR, side=True, agentId="x")
    write(root / "p" / "a" / "subagents" / "agent-x.jsonl", replay)
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == 2 * PRICE
        assert_sums_are_right(index)


def test_two_answers_with_one_message_id_count_twice(tmp_path: Path, root: Path) -> None:
    write(root / "p" / "a.jsonl", answer("m", "r1", DEAR), answer("m", "r2", DEAR))
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == 2 * PRICE


def test_what_only_the_clients_total_shows_is_a_rest(tmp_path: Path, root: Path) -> None:
    path = write(root / "p" / "s-1.jsonl", answer(used=DEAR), cost_state(2.0, outputTokens=100_000))
    with open_index(tmp_path) as index:
        update(index, root)
        assert rest(index) == 500_000
        append(path, cost_state(0.01))  # a lower total changes nothing
        update(index, root)
        assert index.spent("*").cost == 2_000_000
        later = "2026-01-05T10:05:00.000Z"
        append(path, answer("msg_2", used=DEAR, time=later))  # made after the total
        update(index, root)
        assert index.spent("*").cost == 3_500_000
        append(path, cost_state(4.0, outputTokens=200_000))
        update(index, root)
        assert index.spent("*").cost == 4_000_000
        assert_sums_are_right(index)


def test_a_sub_agents_file_that_is_read_late_is_no_second_rest(tmp_path: Path, root: Path) -> None:
    write(root / "p" / "s-1.jsonl", answer(used=DEAR), cost_state(3.0, outputTokens=200_000))
    side = answer("msg_2", "req_2", DEAR, side=True, agentId="a1")
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == 3_000_000
        write(root / "p" / "s-1" / "subagents" / "agent-a1.jsonl", side)
        update(index, root)
        assert (index.spent("*").cost, rest(index)) == (3_000_000, 0)
        assert_sums_are_right(index)


def test_a_rest_counts_on_the_day_on_which_it_grew(tmp_path: Path, root: Path) -> None:
    path = write(root / "p" / "s-1.jsonl", answer(used=DEAR), cost_state(2.0))
    with open_index(tmp_path) as index:
        update(index, root)
        later = "2026-01-06T10:00:00.000Z"
        append(path, answer("msg_2", used=DEAR, time=later), cost_state(4.0))
        update(index, root)
        assert index.spent("*", 1_767_657_600.0).cost == PRICE + 500_000
        assert index.spent("*").cost == 4_000_000


def test_a_compaction_is_estimated_until_the_total_shows_it(tmp_path: Path, root: Path) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "sessionId": "s-1",
        "timestamp": "2026-01-05T10:01:00.000Z",
        "compactMetadata": {"trigger": "auto", "preTokens": 100_000},
    }
    path = write(root / "p" / "s-1.jsonl", answer(used=DEAR), boundary)
    with open_index(tmp_path) as index:
        update(index, root)
        estimate = 100_000 * 0.30 + 2_000 * 15
        assert index.spent("*").cost == PRICE + estimate
        append(path, cost_state(1.0))  # lower than what is known: it can't be right
        update(index, root)
        assert index.spent("*").cost == PRICE + estimate
        append(path, cost_state(1.6))
        update(index, root)
        assert index.spent("*").cost == 1_600_000
        assert_sums_are_right(index)


def test_only_what_is_new_is_read_of_every_agents_files(tmp_path: Path, root: Path) -> None:
    files = [
        AgentFile(str(root / "a.jsonl"), "claude", "claude-transcript"),
        AgentFile(str(root / "rollout-1.jsonl"), "codex", "codex-rollout"),
        AgentFile(str(root / "session-1.jsonl"), "gemini", "gemini-transcript"),
    ]
    gemini: Any = GEMINI[1]
    grown: dict[str, Any] = {
        "a.jsonl": answer("msg_2", used=DEAR),
        "rollout-1.jsonl": {
            "timestamp": "2026-01-06T08:01:02Z",
            "type": "token_usage_record",
            "payload": {"response_id": "resp_2", "usage": {"input_tokens": 9, "output_tokens": 7}},
        },
        "session-1.jsonl": gemini | {"id": "g-2", "model": ""},
    }
    write(root / "a.jsonl", answer(used=DEAR))
    write(root / "rollout-1.jsonl", *ROLLOUT)
    write(root / "session-1.jsonl", *GEMINI)
    with open_index(tmp_path) as index:
        index.update(files)
        assert index.update(files).new_bytes == 0
        for name, line in grown.items():
            append(root / name, line)
        result = index.update(files)
        assert result.new_bytes == sum(len(compact(line)) + 1 for line in grown.values())
        fresh = SessionIndex()
        fresh.update(files)
        assert index.requests() == fresh.requests()
        assert {request.model for request in index.requests()} == {
            "claude-sonnet-4-5-20250929",
            "gpt-5",
            "gemini-2.5-flash",
        }


def test_an_old_rollout_goes_on_with_its_sum(tmp_path: Path, root: Path) -> None:
    def note(total: int, last: int) -> dict[str, object]:
        sums = {"input_tokens": total, "output_tokens": 10, "total_tokens": total + 10}
        one = {"input_tokens": last, "output_tokens": 0, "total_tokens": last}
        info = {"total_token_usage": sums, "last_token_usage": one}
        payload = {"type": "token_count", "info": info}
        return {"timestamp": "2026-01-06T08:00:05Z", "type": "event_msg", "payload": payload}

    path = write(root / "rollout-1.jsonl", *ROLLOUT[:2], note(100, 100))
    file = AgentFile(str(path), "codex", "codex-rollout")
    with open_index(tmp_path) as index:
        index.update([file])
        append(path, note(100, 100), note(150, 50))
        index.update([file])
        assert sum(request.input for request in index.requests()) == 150
        fresh = SessionIndex()
        fresh.update([file])
        assert costs(index) == costs(fresh)


def test_a_whole_last_line_counts_before_it_has_an_end(tmp_path: Path, root: Path) -> None:
    path = write(root / "p" / "s-1.jsonl", answer(used=DEAR))
    line = compact(answer("msg_2", used=DEAR))
    with open_index(tmp_path) as index:
        with path.open("a", encoding="utf-8") as file:
            file.write(line[:50])
        update(index, root)
        assert len(costs(index)) == 1
        with path.open("a", encoding="utf-8") as file:
            file.write(line[50:])
        update(index, root)
        assert len(costs(index)) == 2


def test_reading_stops_at_its_bounds_and_goes_on_later(tmp_path: Path, root: Path) -> None:
    lines = [answer(f"msg_{number}", used=DEAR) for number in range(1_000)]
    write(root / "p" / "s-1.jsonl", *lines)
    with open_index(tmp_path) as index:
        bounds = ReadingBounds(size=50_000)
        first = index.update(transcripts(root), bounds)
        assert not first.is_complete
        assert 50_000 <= first.new_bytes < 100_000
        while not index.update(transcripts(root), bounds).is_complete:
            pass
        assert index.spent("*").cost == 1_000 * PRICE


def test_a_worktree_counts_as_its_repository(tmp_path: Path, root: Path) -> None:
    shop = tmp_path / "shop"
    work = shop / ".git" / "worktrees" / "fix"
    work.mkdir(parents=True)
    (work / "commondir").write_text("../..\n")
    fix = tmp_path / "fix"
    fix.mkdir()
    (fix / ".git").write_text(f"gitdir: {work}\n")
    write(root / "p" / "a.jsonl", answer(used=DEAR, cwd=str(shop / "src")))
    write(root / "q" / "b.jsonl", answer("msg_2", used=DEAR, cwd=str(fix)))
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent(f"p:{shop}").cost == 2 * PRICE


def test_a_session_stays_in_the_project_that_it_began_in(tmp_path: Path, root: Path) -> None:
    path = write(root / "p" / "a.jsonl", answer(used=DEAR))
    with open_index(tmp_path) as index:
        update(index, root)
        append(path, answer("msg_2", used=DEAR, cwd="/home/user/other"))
        update(index, root)
        assert index.spent(f"p:{FOLDER}").cost == 2 * PRICE


@pytest.mark.parametrize(
    ("time", "since", "counted"),
    [
        ("2026-01-05T10:00:00.000Z", 1_767_571_200.0, 1),
        ("2026-01-04T23:59:59.000Z", 1_767_571_200.0, 0),
        ("2031-01-01T00:00:00.000Z", 1_767_571_200.0, 1),
    ],
)
def test_what_lies_in_the_future_counts(
    tmp_path: Path, root: Path, time: str, since: float, counted: int
) -> None:
    write(root / "p" / "a.jsonl", answer(used=DEAR, time=time))
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*", since).cost == counted * PRICE


def test_a_request_without_a_time_counts_when_it_is_first_seen(tmp_path: Path, root: Path) -> None:
    line = answer(used=DEAR)
    del line["timestamp"]
    path = write(root / "p" / "a.jsonl", line)
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*", NOW - 900).cost == PRICE
        rewrite(path, line, line)
        update(index, root)
        assert index.spent("*").cost == PRICE
        assert_sums_are_right(index)


def test_a_person_can_drop_a_request_for_good(tmp_path: Path, root: Path) -> None:
    path = write(root / "p" / "a.jsonl", answer(used=DEAR), answer("msg_2", used=DEAR))
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.forget("msg_1:req_1")
        assert not index.forget("msg_1:req_1")
        assert not index.forget("nothing")
        rewrite(path, answer(used=DEAR), answer("msg_2", used=DEAR))
        update(index, root)
        assert index.spent("*").cost == PRICE
        assert_sums_are_right(index)


def test_new_prices_change_costs_and_sums_together(tmp_path: Path, root: Path) -> None:
    write(root / "p" / "a.jsonl", answer(model="nobody-knows-me"))

    class FixedPrices:
        def request(self, *_: object) -> int:
            return 7

        def sum(self, *_: object) -> int:
            return 7

    with open_index(tmp_path) as index:
        update(index, root)
        assert costs(index) == {"msg_1:req_1": None}
    with open_index(tmp_path, prices=FixedPrices(), price_version="new") as index:
        index.apply_prices()
        assert costs(index) == {"msg_1:req_1": 7}
        assert index.spent("*").cost == 7
        assert_sums_are_right(index)
