"""What ``brim context --watch`` reads besides lines of a session: one JSON value, the file of a
sub-agent."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

import pytest

from tests.cli.conftest import Brim
from tests.cli.watched import Watcher, called


def _export(prompt: int) -> dict[str, Any]:
    tokens = {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": prompt - 10, "write": 0}}
    step = {"type": "step-finish", "id": "p1", "reason": "stop", "tokens": tokens, "cost": 0.1}
    about = {
        "id": "m1",
        "role": "assistant",
        "modelID": "claude-sonnet-4-5",
        "time": {"created": 1_794_724_747_416},
    }
    return {"info": {"id": "ses_1"}, "messages": [{"info": about, "parts": [step]}]}


def _gemini(prompt: int) -> dict[str, Any]:
    tokens = {"input": prompt, "output": 5, "cached": 0, "thoughts": 0, "tool": 0}
    answer = {
        "id": "2",
        "timestamp": "2026-11-15T06:39:07Z",
        "type": "gemini",
        "content": "Done.",
        "tokens": tokens,
    }
    return {"sessionId": "g1", "startTime": "2026-11-15T06:39:07Z", "messages": [answer]}


@pytest.mark.parametrize("value", [_export(90_000), _gemini(90_000), [_export(90_000)]])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_session_that_is_one_json_value_is_read_as_a_whole(
    brim: Brim, value: Any, indent: int | None
) -> None:
    text = json.dumps(value, indent=indent)
    file = brim("context", brim.write("session.json", text), "--json").json
    assert (file["used_tokens"], file["lines"], file["broken_lines"]) == (90_000, 1, 0)
    if indent or isinstance(value, dict):
        piped = brim("context", "--watch", "-", "--json", stdin=text).last
        assert (piped["used_tokens"], piped["broken_lines"]) == (90_000, 0)


def test_a_value_that_is_written_anew_is_read_anew(brim: Brim) -> None:
    path = brim.write("session.json", json.dumps(_gemini(20_000), indent=2))
    watcher = Watcher(brim, str(path))
    assert watcher.line().startswith("20,000 of")
    path.write_text(json.dumps(_gemini(30_000) | {"projectHash": "a" * 64}, indent=2))
    while not (line := watcher.line()).startswith("30,000 of"):
        assert line.startswith("nothing reported"), "it was looked at while it was written"
    assert watcher.stop()[0] == 0


def test_a_value_that_is_half_written_is_waited_for(brim: Brim) -> None:
    text = json.dumps(_gemini(20_000), indent=2)
    path = brim.write("session.json", text[:100])
    watcher = Watcher(brim, str(path))
    assert watcher.line().startswith("nothing reported")
    with path.open("a") as file:
        file.write(text[100:])
    while not (line := watcher.line()).startswith("20,000 of"):
        assert line.startswith("nothing reported")
    assert watcher.stop()[0] == 0


def test_a_bracket_alone_does_not_hold_the_lines_back(brim: Brim) -> None:
    lines = "{\n" + called(1, 20_000)
    for ran in (
        brim("context", "--watch", "-", "--json", stdin=lines),
        brim("context", "--watch", "-", "--json", stdin=lines + "\n"),
    ):
        assert (ran.last["used_tokens"], ran.last["broken_lines"]) == (20_000, 1)


def test_the_file_of_a_sub_agent_shows_its_own_window(brim: Brim) -> None:
    line = called(1, 20_000, isSidechain=True, agentId="a1")
    ran = brim("context", brim.write("agent-a1.jsonl", line), "--json").json
    assert (ran["used_tokens"], ran["agents"]) == (20_000, [])


def test_a_rollout_of_a_sub_agent_shows_its_own_window(brim: Brim) -> None:
    when = {"timestamp": "2026-11-15T06:39:07Z"}
    meta = {"id": "b", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "a"}}}}
    record = {
        "thread_id": "b",
        "response_id": "r1",
        "usage": {"input_tokens": 20_000, "output_tokens": 3},
    }
    lines = [
        {**when, "type": "session_meta", "payload": meta},
        {**when, "type": "token_usage_record", "payload": record},
    ]
    ran = brim(
        "context",
        brim.write("rollout-b.jsonl", "".join(json.dumps(line) + "\n" for line in lines)),
        "--json",
    )
    assert (ran.json["used_tokens"], ran.json["agents"]) == (20_000, [])


def test_sub_agents_in_a_session_stay_apart(brim: Brim) -> None:
    lines = called(1, 20_000) + called(2, 5_000, isSidechain=True, agentId="a1")
    ran = brim("context", brim.write("s.jsonl", lines), "--json").json
    assert (ran["used_tokens"], [agent["used_tokens"] for agent in ran["agents"]]) == (
        20_000,
        [5_000],
    )


def test_a_socket_is_named_as_what_cannot_be_opened(brim: Brim) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        before = os.getcwd()
        os.chdir(brim.cwd)  # the name of a socket may be no longer than some hundred bytes
        try:
            end.bind("s.sock")
        finally:
            os.chdir(before)
        ran = brim("context", "--watch", "s.sock")
    assert ran.code == 2
    assert "s.sock: cannot be opened" in ran.err


def test_the_command_says_which_one_it_took(brim: Brim) -> None:
    folder = brim.home / ".claude" / "projects"
    slug = "".join(
        letter if letter.isascii() and letter.isalnum() else "-" for letter in str(brim.cwd)
    )
    for project in (slug, "-elsewhere"):
        (folder / project).mkdir(parents=True)
        (folder / project / "s.jsonl").write_text(called(1, 20_000))
    watcher = Watcher(brim)
    watcher.line()
    err = watcher.stop()[2]
    assert f"the newest session of this project: ~/.claude/projects/{slug}/s.jsonl" in err
    (folder / slug / "s.jsonl").unlink()
    assert (
        "no session of this project; the newest of all: ~/.claude/projects/-elsewhere/s.jsonl"
        in brim("context").err
    )


def test_without_any_session_it_says_what_to_do(brim: Brim) -> None:
    ran = brim("context", "--watch")
    assert ran.code == 2
    assert "name its file, or pipe a stream" in ran.err
