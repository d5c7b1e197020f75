"""``brim context --watch`` follows what an agent writes, says it once, and ends calmly."""

from __future__ import annotations

import json
import os
import time

import pytest

from brim.run.watch import SCHEMA
from brim.sessions.plan_windows import PlanWindow, keep_plan_windows
from tests.cli.conftest import Brim
from tests.cli.watched import RECORDED, Watcher, called, compacted

NINE_DOLLARS = {"BRIM_SPEND_LIMIT": "9"}
KEYS = {
    "schema": int,
    "path": str,
    "format": str,
    "session": str,
    "time": float,
    "model": str,
    "used_tokens": int,
    "context_window": int,
    "window_source": str,
    "window_others": dict,
    "utilization": float,
    "auto_compact": dict,
    "plan_windows": list,
    "warn_threshold": float,
    "compact_threshold": float,
    "should_warn": bool,
    "should_compact": bool,
    "input_tokens": int,
    "cache_creation_input_tokens": int,
    "cache_read_input_tokens": int,
    "output_tokens": int,
    "answer_tokens": int,
    "cache_hit_share": float,
    "overhead": int,
    "filling": dict,
    "agents": list,
    "compactions": int,
    "cost": int,
    "unattributed": int,
    "unpriced": list,
    "cost_limit": int,
    "cost_warning": str,
    "warning": str,
    "notices": list,
    "lines": int,
    "broken_lines": int,
    "unknown_lines": int,
}
"""Schema 1: what scripts rely on. Taking a key away or changing its type needs another number."""


def test_json_is_one_object_per_change_with_the_keys_of_its_schema(brim: Brim) -> None:
    ran = brim(
        "context",
        "--watch",
        "-",
        "--json",
        stdin=(RECORDED / "stream.jsonl").read_bytes(),
        env=NINE_DOLLARS,
    )
    objects = [json.loads(line) for line in ran.lines]
    assert ran.code == 0
    for each in objects:
        assert {
            key: type(value)
            for key, value in each.items()
            if each["time"] is not None or key != "time"
        } == {key: kind for key, kind in KEYS.items() if each["time"] is not None or key != "time"}
    assert {each["schema"] for each in objects} == {SCHEMA}
    assert [told["kind"] for each in objects for told in each["notices"]] == [
        "CONTEXT_WARNING",
        "COMPACT_DUE",
    ]
    assert max(each["used_tokens"] for each in objects) == 158_700
    last = objects[-1]
    assert (last["used_tokens"], last["compactions"], last["should_warn"]) == (52_300, 1, False)
    assert [agent["used_tokens"] for agent in last["agents"]] == [11_800]
    assert sum(last["filling"].values()) == last["used_tokens"]


def test_a_transcript_and_a_stream_of_one_session_agree(brim: Brim) -> None:
    file, stream = (
        brim("context", RECORDED / name, "--json").json
        for name in ("session.jsonl", "stream.jsonl")
    )
    for key in ("used_tokens", "context_window", "compactions", "cost", "session", "model"):
        assert file[key] == stream[key], key
    assert (file["format"], stream["format"]) == ("claude-transcript", "claude-stream")
    assert stream["window_source"] == "reported"


def test_a_growing_file_is_followed_line_by_line(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 20_000))
    watcher = Watcher(brim, str(path))
    assert watcher.line().startswith("20,000 of 200,000 tokens  10%  claude-sonnet-4-5")
    with path.open("a") as file:
        file.write(called(2, 30_000) + called(3, 40_000))
    assert watcher.line().startswith("30,000")
    assert watcher.line().startswith("40,000")
    half = called(4, 150_000)
    with path.open("a") as file:
        file.write(half[:50])
        file.flush()
        os.fsync(file.fileno())
        file.write(half[50:])
    assert watcher.line().startswith("150,000")
    with path.open("a") as file:
        file.write(compacted(9_000))
    assert watcher.line().startswith("29,000"), "with the system prompt and tools"
    code, _, err = watcher.stop()
    assert code == 0
    assert err == "brim: The context window is filling up: 150,000 of 200,000 tokens, 75%.\n"


def test_sub_agents_are_found_while_it_runs_and_kept_apart(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 20_000))
    watcher = Watcher(brim, str(path), "--json")
    assert json.loads(watcher.line())["agents"] == []
    line = called(2, 7_000, isSidechain=True, agentId="a1")
    brim.write("s/subagents/agent-a1.jsonl", line)
    seen = json.loads(watcher.line())
    assert [(agent["id"], agent["used_tokens"]) for agent in seen["agents"]] == [("a1", 7_000)]
    assert seen["used_tokens"] == 20_000
    assert watcher.stop()[0] == 0


@pytest.mark.parametrize("how", ["cut", "replaced"])
def test_a_file_that_is_cut_or_replaced_is_read_anew(brim: Brim, how: str) -> None:
    path = brim.write("s.jsonl", called(1, 20_000) + called(2, 90_000))
    watcher = Watcher(brim, str(path), "--json")
    assert json.loads(watcher.line())["lines"] == 2
    if how == "cut":
        path.write_text(called(5, 30_000))
    else:
        brim.write("new.jsonl", called(5, 30_000) + "\n" * 5_000).replace(path)
    seen = json.loads(watcher.line())
    assert (seen["used_tokens"], seen["lines"]) == (30_000, 1)
    assert watcher.stop()[0] == 0


def test_a_file_that_vanishes_does_not_end_it(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 20_000))
    watcher = Watcher(brim, str(path))
    watcher.line()
    path.unlink()
    brim.write("s.jsonl", called(2, 30_000))
    assert watcher.line().startswith("30,000")
    assert watcher.stop()[0] == 0


def test_a_pipe_is_read_until_it_ends(brim: Brim) -> None:
    ran = brim("context", "--watch", "-", stdin=(RECORDED / "stream.jsonl").read_bytes())
    assert ran.code == 0
    assert ran.lines[-1].startswith(
        "52,300 of 200,000 tokens  26%  claude-sonnet-4-5  $1.27  1 compaction"
    )
    assert "It is time to compact" in ran.err
    assert "It is time to compact" not in ran.out


def test_a_last_line_without_an_end_counts(brim: Brim) -> None:
    assert brim("context", "--watch", "-", stdin=called(1, 20_000).rstrip()).lines == [
        "20,000 of 200,000 tokens  10%  claude-sonnet-4-5  $0.01"
    ]
    path = brim.write("s.jsonl", called(1, 20_000).rstrip())
    assert brim("context", path).lines[0].startswith("20,000 of 200,000")


def test_a_named_pipe_is_a_pipe(brim: Brim) -> None:
    ran = brim.shell(
        'mkfifo p; (cat > p <<< "$LINE") & "$BRIM" context --watch p',
        env={"LINE": called(1, 20_000)},
    )
    assert ran.lines[0].startswith("20,000")


def test_one_request_in_several_lines_is_one_change(brim: Brim) -> None:
    assert len(brim("context", "--watch", "-", stdin=called(1, 20_000) * 5).lines) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"garbage\nmore of it\n",
        b'{"a": 1}\n[1, 2]\n"x"\n',
        b"\xff\xfe\n\xc3\x28\n",
        b'{"type": "assistant"',
        b"5\n" * 9,
    ],
)
def test_garbage_is_skipped_counted_and_said(brim: Brim, content: bytes) -> None:
    ran = brim("context", "--watch", "-", "--json", stdin=content)
    assert ran.code == 1
    assert ran.last["used_tokens"] == 0
    assert "no line of it is from a session" in ran.err
    mixed = brim(
        "context", "--watch", "-", "--json", stdin=content + b"\n" + called(1, 20_000).encode()
    )
    assert (mixed.code, mixed.last["used_tokens"]) == (0, 20_000)


def test_a_line_of_100_mb_is_skipped(brim: Brim) -> None:
    ran = brim.shell(
        f"""(printf '%s\\n' '{called(1, 20_000).strip()}'; head -c 100000000 /dev/zero | tr '\\0' x; echo;
        printf '%s\\n' '{called(2, 30_000).strip()}') | "$BRIM" context --watch - --json"""
    )
    assert (ran.last["used_tokens"], ran.last["broken_lines"]) == (30_000, 1)


@pytest.mark.parametrize(
    ("path", "said"),
    [("gone.jsonl", "no such file"), (".", "is a folder"), ("binary", "isn't text")],
)
def test_what_cannot_be_watched_is_refused_with_a_reason(brim: Brim, path: str, said: str) -> None:
    brim.write("binary", b"\x7fELF\0\0\0" * 100)
    ran = brim("context", "--watch", path)
    assert ran.code == 2
    assert said in ran.err


def test_an_empty_file_is_waited_for(brim: Brim) -> None:
    path = brim.write("s.jsonl", "")
    watcher = Watcher(brim, str(path))
    assert watcher.line() == "nothing reported yet"
    path.write_text(called(1, 20_000))
    assert watcher.line().startswith("20,000")
    assert watcher.stop()[0] == 0


def test_fail_over_answers_with_the_exit_code(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 100_000))
    assert brim("context", path, "--fail-over", "0.5").code == 1
    assert brim("context", path, "--fail-over", "0.51").code == 0


def test_what_a_limit_is_about_is_told_once(brim: Brim) -> None:
    lines = "".join(called(number, 100_000) for number in range(1, 21))  # $0.030317 each
    brim.configure(user="spend:\n  limit: 0.50\n")
    ran = brim("context", "--watch", "-", "--json", stdin=lines)
    seen = [json.loads(line) for line in ran.out.splitlines()]
    assert [(notice["kind"], one["cost"]) for one in seen for notice in one["notices"]] == [
        ("COST_WARNING", 14 * 30_317),
        ("COST_LIMIT", 16 * 30_317),
    ]
    assert (seen[-1]["cost_limit"], "limit is reached" in seen[-1]["cost_warning"]) == (
        500_000,
        True,
    )
    plain = brim("context", "--watch", "-", stdin=lines, env={"BRIM_SPEND_LIMIT": "10"})
    assert plain.err == ""
    assert "$0.61 of $10.00" in plain.out


def test_the_window_and_its_marks_are_those_of_the_settings(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 100_000))
    brim.configure(user="context:\n  window: 125000\n  warn: 0.1\n  compact: 0.2\n")
    seen = brim("context", path, "--json").json
    assert (seen["context_window"], seen["window_source"], seen["window_others"]) == (
        125_000,
        "pinned",
        {"table": 200_000},
    )
    assert (seen["warn_threshold"], seen["compact_threshold"], seen["should_compact"]) == (
        0.1,
        0.2,
        True,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("s.jsonl", "--fail-over", "-1"),
        ("s.jsonl", "--fail-over", "much"),
        ("s.jsonl", "--watch", "--at", "1"),
        ("-",),
        ("",),
    ],
)
def test_wrong_usage_ends_with_2(brim: Brim, arguments: tuple[str, ...]) -> None:
    brim.write("s.jsonl", called(1, 20_000))
    assert brim("context", *arguments).code == 2


def test_a_reported_window_is_remembered_for_the_next_watch(brim: Brim) -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "session_id": "s1",
        "modelUsage": {"claude-sonnet-4-5": {"inputTokens": 1, "contextWindow": 1_000_000}},
        "usage": {"input_tokens": 1},
    }
    first = brim(
        "context", "--watch", "-", "--json", stdin=called(1, 20_000) + json.dumps(result) + "\n"
    )
    assert first.code == 0
    seen = brim("context", "--watch", "-", "--json", stdin=called(1, 20_000)).last
    assert (seen["context_window"], seen["window_source"]) == (1_000_000, "remembered")


def test_nothing_is_stored_when_there_is_nothing_to_remember(brim: Brim) -> None:
    brim("context", "--watch", "-", stdin=(RECORDED / "stream.jsonl").read_bytes())
    assert not (brim.home / ".brim").exists()


def test_a_store_that_cannot_be_used_does_not_stop_it(brim: Brim) -> None:
    (brim.home / ".brim").mkdir()
    (brim.home / ".brim" / "brim.db").write_bytes(b"this is no database" * 99)
    ran = brim("context", RECORDED / "stream.jsonl")
    assert (ran.code, ran.err) == (0, "")


def test_ctrl_c_in_a_pipeline_ends_with_0(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 20_000))
    watcher = Watcher(brim, str(path))
    watcher.line()
    assert watcher.stop() == (0, "", "")


def test_whoever_stops_reading_ends_it(brim: Brim) -> None:
    brim.write("s.jsonl", "".join(called(n, 20_000 + n) for n in range(500)))
    ran = brim.shell('"$BRIM" context --watch - < s.jsonl | head -n 1')
    assert ran.out.startswith("20,000")
    assert ran.err == ""


def test_the_file_of_a_sub_agent_shows_its_own_window(brim: Brim) -> None:
    main = brim.write("s.jsonl", called(1, 150_000))
    side = called(2, 40_000, isSidechain=True, agentId="a1b2c3d4e5", sessionId="s")
    own = brim.write("s/subagents/agent-a1b2c3d4e5.jsonl", side)
    ran = brim("context", own)
    assert ran.lines[0].startswith("40,000 of 200,000 tokens  20%")
    assert ran.lines[0].endswith("claude-sonnet-4-5  sub-agent a1b2c3d4")
    assert "headroom   140k left (22% of the usable 180k)" in ran.lines
    assert brim("context", main).lines[0].endswith("session s1")


def test_where_a_session_compacts_is_by_its_own_projects_settings(brim: Brim) -> None:
    settings = brim.write("shop/.claude/settings.json", '{"autoCompactWindow": 150000}')
    path = brim.write("s.jsonl", called(1, 40_000, cwd=str(settings.parent.parent)))
    found = brim("context", path, "--json").json
    assert found["auto_compact"] == {"usable": 130_000, "at": 117_000, "off": False}
    pinned = brim("context", path, "--json", env={"BRIM_CONTEXT_WINDOW": "300000"}).json
    assert pinned["auto_compact"] == {}, "a window that only brim was told isn't the client's"


def test_the_plans_windows_are_those_of_the_sessions_agent(brim: Brim) -> None:
    (brim.home / ".brim").mkdir()
    soon = time.time() + 3_600
    windows = [
        PlanWindow("claude", 300, 0.91, soon, time.time()),
        PlanWindow("codex", 300, 0.5, soon, time.time()),
    ]
    keep_plan_windows(
        str(brim.home / ".brim"), [*windows, PlanWindow("claude", 10_080, 0.2, 1.0, 0.0)]
    )
    path = brim.write("s.jsonl", called(1, 40_000))
    found = brim("context", path, "--json").json["plan_windows"]
    assert found == [windows[0].to_dict()], "the other is Codex's, and the week is over"
