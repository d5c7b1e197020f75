"""``brim usage``: tokens and cost of all sessions, each request once."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from brim.sessions.plan_windows import PlanWindow, keep_plan_windows
from tests.cli.conftest import Brim
from tests.cli.usages import GEMINI, ROLLOUT, SLUG, asked, counts, session
from tests.cli.watched import Terminal
from tests.sessions.window.transcripts import answer, cost_state, result, usage, write


def test_each_request_is_counted_once_over_all_files(brim: Brim) -> None:
    session(
        brim,
        answer(text="one"),
        answer(text="two"),
        result(),
        answer("msg_2", "req_2", usage(20, 7, 30, 40)),
    )
    session(brim, answer(), answer("msg_3", "req_3", time="2026-01-06T10:00:00Z"), name="s-2")
    agent = answer("msg_4", "req_4", side=True, agentId="a")
    write(
        brim.home / ".claude" / "projects" / SLUG / "s-1" / "subagents" / "agent-a.jsonl",
        agent,
        answer(side=True),
    )
    found = asked(brim)
    assert counts(found["total"]) == (4, 50, 22, 30, 40)
    assert [(row["day"], row["requests"]) for row in found["rows"]] == [
        ("2026-01-05", 3),
        ("2026-01-06", 1),
    ]
    # 10 in and 5 out, three times; 20 in, 7 out, 30 written to and 40 read from the cache: at $3,
    # $15, $3.75 and $0.30
    assert found["total"]["cost"] == 3 * 105 + (60 + 105 + 113 + 12)


def test_the_agents_are_told_apart(brim: Brim) -> None:
    session(brim, answer())
    write(brim.home / ".codex" / "sessions" / "2026" / "01" / "06" / "rollout-1.jsonl", *ROLLOUT)
    write(brim.home / ".gemini" / "tmp" / "web" / "chats" / "session-1.jsonl", *GEMINI)
    everything = asked(brim, "--by", "project")
    assert {row["project"]: row["agents"] for row in everything["rows"]} == {
        "/home/user/shop": ["claude"],
        "/home/user/api": ["codex"],
        "web": ["gemini"],
    }
    assert counts(asked(brim, "--agent", "codex")["total"]) == (1, 40, 7, 0, 60)
    assert counts(asked(brim, "--agent", "gemini")["total"]) == (1, 30, 7, 0, 20)
    assert everything["total"]["requests"] == 3
    assert asked(brim)["read"]["new_bytes"] == 0


def test_what_the_client_counts_beyond_its_lines_is_a_row_of_its_own(brim: Brim) -> None:
    session(
        brim,
        answer(),
        cost_state(0.5, inputTokens=10, outputTokens=900),
        cost_state(0.6, inputTokens=10),
    )
    found = asked(brim)
    assert found["total"]["cost"] == 105
    assert found["unattributed"]["cost"] == 600_000 - 105
    lines = brim("usage").lines
    assert lines[-3].split()[0] == "unattributed"
    assert lines[-2].split() == ["in", "all", "$0.60"]
    assert asked(brim, "--since", "2026-01-06")["unattributed"]["sessions"] == 0


def test_a_fork_with_the_lines_and_the_total_of_its_parent_has_no_rest(brim: Brim) -> None:
    first = answer(used=usage(100_000, 0))  # $0.30; the other one costs $0.60
    session(brim, first, cost_state(0.3, inputTokens=100_000))
    copied = answer(used=usage(100_000, 0), session="s-2")
    more = answer("msg_2", used=usage(0, 40_000), session="s-2")
    total = cost_state(0.9, session="s-2", inputTokens=100_000, outputTokens=40_000)
    for name in ("s-0", "s-2"):  # read before the parent, and after it
        path = session(brim, copied, more, total, name=name)
        found = asked(brim)
        assert (found["total"]["cost"], found["unattributed"]["sessions"]) == (900_000, 0)
        path.unlink()


def test_an_unknown_price_is_said_and_never_nothing(brim: Brim) -> None:
    session(brim, answer(model="nobody-knows-me"), answer("msg_2"))
    found = asked(brim, "--by", "model")
    costs = {row["model"]: row["cost"] for row in found["rows"]}
    assert costs == {"claude-sonnet-4-5-20250929": 105, "nobody-knows-me": None}
    assert (found["total"]["unpriced_requests"], found["unpriced"]) == (1, {"nobody-knows-me": 1})
    ran = brim("usage", "--by", "model")
    assert "no price for nobody-knows-me (1 request)" in ran.err
    assert "> $0.00" in ran.lines[-1]


def test_only_models_that_were_asked_for_are_unpriced(brim: Brim) -> None:
    session(brim, answer(model="nobody-knows-me"), answer("msg_2", time="2026-01-09T10:00:00Z"))
    assert asked(brim, "--since", "2026-01-08")["unpriced"] == {}
    assert brim("usage", "--since", "2026-01-08").err == ""


def test_a_rest_without_a_price_is_never_hidden_in_one_with_a_price(brim: Brim) -> None:
    session(brim, answer(), cost_state(0.6, inputTokens=10))
    turn = {
        "type": "turn.completed",
        "usage": {"input_tokens": 500, "cached_input_tokens": 0, "output_tokens": 9},
    }
    exec_stream = write(
        brim.cwd / "exec.jsonl", {"type": "thread.started", "thread_id": "t-1"}, turn
    )
    paths = (str(brim.home / ".claude"), str(exec_stream))
    assert asked(brim, *paths)["unattributed"]["unpriced_sessions"] == 1
    assert "> $0.60" in brim("usage", *paths).out


def test_of_very_many_days_the_last_are_shown(brim: Brim) -> None:
    session(
        brim,
        *[
            answer(f"m{i}", time=f"2026-{1 + i // 28:02}-{1 + i % 28:02}T12:00:00Z")
            for i in range(150)
        ],
    )
    lines = brim("usage", "--utc").lines
    assert [lines[at].split()[0] for at in (1, 100, 101)] == ["2026-02-23", "2026-06-10", "total"]
    assert "50 earlier days" in lines[-1]


def test_a_price_in_the_configuration_counts_at_once(brim: Brim) -> None:
    session(brim, answer(model="house-model"))
    assert asked(brim)["total"]["cost"] is None
    brim.configure(user="models:\n  house-model:\n    prices:\n      input: 1\n      output: 2\n")
    assert asked(brim)["total"]["cost"] == 20
    assert asked(brim)["read"]["new_bytes"] == 0


def test_searches_and_the_providers_own_compactions_are_charged(brim: Brim) -> None:
    used = usage(10, 5) | {"server_tool_use": {"web_search_requests": 2}}
    used["iterations"] = [
        {"type": "compaction", **usage(1_000, 100)},
        {"type": "message", **usage(10, 5)},
    ]
    session(brim, answer(used=used))
    for _ in range(2):  # from the file, then from what was kept of it
        # 10 in and 5 out; two searches at a cent each; 1,000 in and 100 out
        assert asked(brim)["total"]["cost"] == 105 + 20_000 + 4_500


def test_days_and_projects_can_be_chosen(brim: Brim) -> None:
    session(brim, *[answer(f"m{day}", time=f"2026-01-{day:02}T12:00:00Z") for day in range(1, 11)])
    session(brim, answer("other", cwd="/home/user/web"), slug="-home-user-web")
    assert [row["day"] for row in asked(brim, "--since", "2026-01-09")["rows"]] == [
        "2026-01-09",
        "2026-01-10",
    ]
    assert asked(brim, "--since", "20260103", "--until", "2026-01-04")["total"]["requests"] == 2
    for name in ("shop", "/home/user/shop", SLUG):
        assert asked(brim, f"--project={name}")["total"]["requests"] == 10
    assert asked(brim, "--project", "sho")["total"]["requests"] == 0


def test_a_day_is_one_of_the_time_zone(brim: Brim) -> None:
    session(brim, answer(time="2026-01-05T23:30:00Z"))
    env = {"TZ": "Asia/Tokyo"}
    assert brim("usage", "--json", env=env).json["rows"][0]["day"] == "2026-01-06"
    assert brim("usage", "--json", "--utc", env=env).json["rows"][0]["day"] == "2026-01-05"
    assert asked(brim, "--by", "session")["rows"][0]["last"] == "2026-01-05T23:30:00Z"


def test_a_stream_that_names_no_requests_is_no_second_session(brim: Brim) -> None:
    message = {"id": "msg_1", "model": "claude-opus-4-5", "content": [], "usage": usage(10, 1)}
    stream = {
        "type": "assistant",
        "message": message,
        "parent_tool_use_id": None,
        "session_id": "s-1",
    }
    write(brim.cwd / "saved" / "stream.jsonl", stream)
    write(brim.cwd / "saved" / "transcript.jsonl", answer())
    assert counts(asked(brim, "saved")["total"]) == (1, 10, 5, 0, 0)


def test_the_table_reads_well(brim: Brim) -> None:
    session(
        brim,
        answer(used=usage(1_200, 340, 5_000, 60_000)),
        answer("msg_2", time="2026-01-06T10:00:00Z"),
    )
    assert brim("usage", "--utc").out == (
        "day         requests  input  output  cache write  cache read    cost\n"
        "2026-01-05         1  1,200     340        5,000      60,000   $0.05\n"
        "2026-01-06         1     10       5            0           0  <$0.01\n"
        "total              2  1,210     345        5,000      60,000   $0.05\n"
    )
    assert brim("usage", "--by", "session").lines[1].split()[-1] == "/home/user/shop"


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_the_table_fits_the_terminal_and_keeps_the_cost(brim: Brim, columns: int) -> None:
    session(brim, answer("m1", used=usage(10, 200_000, 1_200_000, 5_000)))
    terminal = Terminal(brim, "usage", columns=columns)
    assert terminal.end() == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.seen).splitlines()
    assert max(map(len, shown)) <= columns
    assert shown[0].endswith("cost")
    assert shown[0].startswith("day ")


def test_nothing_there_is_no_error(brim: Brim) -> None:
    ran = brim("usage")
    assert (ran.code, ran.out) == (0, "")
    assert "no usage yet" in ran.err
    assert counts(asked(brim)["total"]) == (0, 0, 0, 0, 0)
    session(brim, answer())
    assert "no usage matches --until 2025-01-01 --project web (1 file read)" in (
        brim("usage", "--project", "web", "--until", "20250101").err
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.jsonl",),
        ("--since", "yesterday"),
        ("--until", "2026-02-30"),
        ("--since", "2026-02-02", "--until", "2026-02-01"),
        ("--by", "moon"),
        ("--agent", "hal"),
        ("/dev/null",),
    ],
)
def test_wrong_usage_is_told(brim: Brim, arguments: tuple[str, ...]) -> None:
    ran = brim("usage", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err


@pytest.mark.parametrize(
    ("word", "by", "names"),
    [
        ("daily", "day", ["2026-01-05", "2026-01-12"]),
        ("weekly", "week", ["2026-01-05", "2026-01-12"]),
        ("monthly", "month", ["2026-01"]),
        ("session", "session", ["s-1"]),
        ("blocks", "block", ["2026-01-05 10:00", "2026-01-12 10:00"]),
    ],
)
def test_the_first_word_says_what_to_add_up_by(
    brim: Brim, word: str, by: str, names: list[str]
) -> None:
    path = session(brim, answer(), answer("msg_2", "req_2", time="2026-01-12T10:20:00Z"))
    for paths in ((), (str(path),)):
        found = asked(brim, word, *paths)
        assert (found["by"], [row[by] for row in found["rows"]]) == (by, names)
    assert brim("usage", word, "--utc").lines[0].split()[0] == by


def test_a_block_says_when_it_ends_and_whether_it_goes_on(brim: Brim) -> None:
    session(brim, answer())
    (row,) = asked(brim, "blocks")["rows"]
    assert (row["first"], row["end"], row["active"]) == (
        "2026-01-05T10:00:00Z",
        "2026-01-05T15:00:00Z",
        False,
    )


def test_since_and_until_may_be_some_time_ago(brim: Brim) -> None:
    session(brim, answer())
    assert asked(brim, "--since", "20260101", "--until", "0d")["total"]["requests"] == 1
    ran = brim("usage", "--since", "soon")
    assert (ran.code, "7d, 2w or 1m" in ran.err) == (2, True)


def test_the_plans_windows_come_below_the_table(brim: Brim) -> None:
    session(brim, answer())
    (brim.home / ".brim").mkdir(exist_ok=True)
    window = PlanWindow("claude", 300, 0.914, None, time.time())
    keep_plan_windows(str(brim.home / ".brim"), [window])
    assert brim("usage").lines[-1] == "plan: Claude Code: 5h 91%"
    assert asked(brim)["plan_windows"] == [window.to_dict()]
    assert asked(brim, "--agent", "codex")["plan_windows"] == []
    assert asked(brim, str(brim.home / ".claude"))["plan_windows"] == [], (
        "those files may be of any account"
    )


def test_prices_in_a_projects_file_never_count(brim: Brim) -> None:
    session(brim, answer())
    before = asked(brim)["total"]["cost"]
    (brim.cwd / ".git").mkdir()
    for fields in ("prices: {input: 0, output: 0}", "like: gpt-5-nano"):
        brim.configure(project=f"models: {{claude-sonnet-4-5: {{{fields}}}}}\n")
        assert asked(brim)["total"]["cost"] == before > 0
        assert "don't count" in brim("usage").err


def test_the_sum_of_the_last_days_is_that_of_usage(brim: Brim) -> None:
    now = datetime.now(UTC)

    def moment(hours: float) -> str:
        return (now - timedelta(hours=hours)).isoformat()

    total = cost_state(0.9, inputTokens=10_000, outputTokens=900, cacheReadInputTokens=90_000)
    compaction = {
        "type": "system",
        "subtype": "compact_boundary",
        "sessionId": "s-2",
        "timestamp": moment(3),
        "compactMetadata": {"trigger": "auto", "preTokens": 150_000, "postTokens": 9_000},
    }
    session(brim, answer(time=moment(30)), answer("msg_2", "req_2", time=moment(29)), total)
    other = answer("msg_3", "req_3", session="s-2", time=moment(4))
    session(brim, other, compaction, name="s-2")
    write(brim.home / ".codex" / "sessions" / "2026" / "01" / "06" / "rollout-1.jsonl", *ROLLOUT)
    first_day = (now - timedelta(days=29)).date().isoformat()
    spent = asked(brim, "--since", first_day)["spent"]
    assert spent > 900_000
    assert asked(brim, "--since", first_day)["estimated"]["cost"] > 0
    assert brim("--json").json["report"]["cost"] == spent
    assert brim("report", "--json").json["money"]["total"] == spent
