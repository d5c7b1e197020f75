"""What a compaction lost: everything that stood in the window and stands in nothing that is left of
it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import Event, ToolCall
from brim.agents.events import Attachment, Compaction, Message, ToolResult, Usage
from brim.memory.compactions import CompactionReader
from brim.memory.lost import MOST_ITEMS, CompactionReport
from tests.sessions.report.compacted import SESSION, ClaudeSession, backs, lost_in


@pytest.fixture
def session(tmp_path: Path) -> ClaudeSession:
    return ClaudeSession(tmp_path / f"{SESSION}.jsonl")


def texts(compaction: CompactionReport, kind: str) -> list[str]:
    return sorted(item.text for item in compaction.items if item.kind == kind)


def test_each_kind_is_counted_and_the_lost_ones_are_named(session: ClaudeSession) -> None:
    session.you("The parser must answer within 200 ms. Never touch the migrations folder.")
    session.read("src/parser.py")
    session.read("src/lexer.py")
    session.run("uv run pytest -q tests/test_parser.py")
    session.say("I'll go with a table, never with regular expressions.")
    session.compact("Work on the parser: src/parser.py must answer within 200 ms.")
    (found,) = session.lost()
    assert found.in_window == {
        "instruction": 2,
        "file": 2,
        "command": 1,
    }
    assert found.lost == {"instruction": 1, "file": 1, "command": 1}
    assert texts(found, "instruction") == ["Never touch the migrations folder."]
    assert texts(found, "file") == ["src/lexer.py"]
    assert texts(found, "command") == ["uv run pytest -q tests/test_parser.py"]
    assert (found.session, found.trigger, found.before, found.after) == (
        SESSION,
        "auto",
        160_000,
        3_000,
    )
    assert [item.back for item in found.items] == [""] * 3
    assert (found.turns, found.tokens) == (0, 0)


def test_answers_of_a_person_are_decisions(session: ClaudeSession) -> None:
    question = {"questions": [{"question": "Which database?"}]}
    answers = {"answers": {"Which database?": "SQLite"}}
    session.tool(
        "AskUserQuestion",
        question,
        'User has answered: "Which database?"="SQLite"',
        toolUseResult=answers,
    )
    session.compact("Nothing was said about storage.")
    (found,) = session.lost()
    assert texts(found, "decision") == ["`Which database?`: SQLite"]


def test_messages_that_stay_are_not_lost(session: ClaudeSession) -> None:
    session.read("src/old.py")
    kept = session.tool("Grep", {"pattern": "x"}, "src/lexer.py:3: x = 1")
    session.read("src/lexer.py")
    session.compact("Nothing.", keep=[*kept, session.you("Always use tabs in src/style.toml.")])
    (found,) = session.lost()
    assert texts(found, "file") == ["src/old.py"]
    assert found.lost["instruction"] == 0


def test_attached_files_and_what_hooks_say_are_not_lost(session: ClaudeSession) -> None:
    for name in ("a.py", "b.py", "c.py"):
        session.read(name)
    session.run("make check")
    session.compact("Nothing.")
    session.attach("file", "x = 1", "b.py")
    session.attach("hook_additional_context", "Run `make check` after c.py was changed.")
    session.say("Go on.")
    (found,) = session.lost()
    assert texts(found, "file") == ["a.py"]
    assert found.lost["command"] == 0


def test_a_file_that_is_read_again_costs_what_was_read(session: ClaudeSession) -> None:
    session.read("src/big.py", "y = 2\n" * 2_000)
    session.compact("Nothing.")
    session.read("src/big.py", "y = 2\n" * 2_000)
    session.read("src/big.py", "y = 2\n" * 2_000)
    session.read("src/big.py", "another part\n" * 100)
    session.tool(
        "Edit", {"file_path": f"{session.folder}/src/big.py", "old_string": "a", "new_string": "b"}
    )
    session.read("src/big.py", "y = 3\n" * 2_000)
    (found,) = session.lost()
    (item,) = [item for item in found.items if item.turns]
    assert (item.text, item.back, item.turns) == ("src/big.py", "read", 2)
    assert found.turns == 2
    assert 13_300 / 6 <= item.tokens <= 13_300 / 2
    assert found.came_back == {"file": 1}


def test_a_command_costs_something_only_if_its_answer_is_no_news(session: ClaudeSession) -> None:
    session.run("make routes", "GET /users")
    session.run("make test", "3 passed in 0.31s")
    session.compact("Nothing.")
    session.run("cd /home/user/shop && make routes 2>&1 | tail -5", "GET /users")
    session.run("make test", "3 passed in 0.29s")
    (found,) = session.lost()
    assert {item.text: (item.back, item.turns) for item in found.items} == {
        "make routes": ("run", 1),
        "make test": ("run", 0),
    }


def test_what_you_or_a_hook_say_again_came_back(session: ClaudeSession) -> None:
    session.you("Never use mocks in the parser's tests.")
    session.read("src/b.py")
    session.read("src/c.py")
    session.compact("Nothing.")
    session.you("/compact")
    session.you("I said it before: no mocks in the tests of the parser")
    session.attach("hook_additional_context", "file: `src/b.py`")
    session.say("Right.")
    (found,) = session.lost()
    assert backs(found) == {
        "Never use mocks in the parser's tests.": "you",
        "src/b.py": "hook",
        "src/c.py": "",
    }
    session.read("src/b.py")
    (found,) = session.lost()
    assert [(item.text, item.back, item.turns) for item in found.items if item.turns] == [
        ("src/b.py", "hook", 1)
    ]


def test_what_was_found_again_can_be_lost_again(session: ClaudeSession) -> None:
    session.read("src/a.py")
    session.read("src/b.py")
    session.compact("Nothing.")
    session.read("src/a.py")
    session.compact("Nothing at all.")
    session.read("src/b.py")
    first, second = session.lost()
    assert backs(first) == {"src/a.py": "read", "src/b.py": "read"}
    assert (second.in_window, backs(second)) == ({"file": 1}, {"src/a.py": ""})


def test_of_files_with_one_name_the_folder_has_to_be_named(session: ClaudeSession) -> None:
    session.read("api/index.ts")
    session.read("web/index.ts")
    session.compact("Only api/index.ts was looked at.")
    (found,) = session.lost()
    assert texts(found, "file") == ["web/index.ts"]


def test_a_sub_agent_has_its_own_window(session: ClaudeSession, tmp_path: Path) -> None:
    session.read("src/main.py")
    session.compact("See main.py.")
    path = tmp_path / SESSION / "subagents" / "agent-a1.jsonl"
    agent = ClaudeSession(path, isSidechain=True, agentId="a1")
    agent.read("src/deep.py")
    agent.compact("Nothing.")
    agent.read("src/deep.py")
    main, sub = sorted(session.lost(), key=lambda each: each.sub_agent)
    assert (main.sub_agent, main.lost) == ("", {"file": 0})
    assert (sub.sub_agent, backs(sub)) == ("a1", {"src/deep.py": "read"})


def test_without_a_summary_nothing_is_said_to_be_lost(session: ClaudeSession) -> None:
    session.read("src/a.py")
    session.compact(None)
    (found,) = session.lost()
    assert not found.readable
    assert (found.in_window, found.lost, found.items) == ({"file": 1}, {"file": 0}, ())


def test_failed_reads_looking_around_and_scripts_are_nothing_to_lose(
    session: ClaudeSession,
) -> None:
    session.tool(
        "Read", {"file_path": f"{session.folder}/none.py"}, "File does not exist.", error=True
    )
    session.run("ls -la && git status")
    session.run("python - <<'E'\nprint(1)\nE")
    session.run("grep -rn foo src")
    session.compact("Nothing.")
    (found,) = session.lost()
    assert found.in_window == {}


def test_files_that_the_shell_shows_or_writes_count(session: ClaudeSession) -> None:
    session.run("sed -n '1,80p' src/a.py")
    session.run("echo 1 > out.txt")
    session.compact("Nothing.")
    (found,) = session.lost()
    assert texts(found, "file") == ["out.txt", "src/a.py"]


def test_secrets_are_masked(session: ClaudeSession) -> None:
    session.run(
        "curl -H 'Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789' https://x.test"
    )
    session.compact("Nothing.")
    (found,) = session.lost()
    assert "abcdefghijkl" not in json.dumps(found.to_dict())


def test_many_things_are_counted_and_the_first_are_named(session: ClaudeSession) -> None:
    for at in range(MOST_ITEMS + 20):
        session.read(f"src/part_{at}.py")
    session.compact("Nothing.")
    (found,) = session.lost()
    assert found.lost == {"file": MOST_ITEMS + 20}
    assert len(found.items) == MOST_ITEMS


def test_it_can_be_written_as_json_and_read_again(session: ClaudeSession) -> None:
    session.you("Never use mocks.")
    session.read("src/a.py")
    session.compact("Nothing.")
    session.read("src/a.py")
    (found,) = session.lost()
    written: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    assert written["counts"] == {"instruction": [1, 1], "file": [1, 1]}
    assert {"time", "session", "agent", "trigger", "counts", "lost"} <= set(written)
    assert CompactionReport.from_dict(written) == found


def rollout(path: Path, *lines: tuple[str, dict[str, Any]]) -> Path:
    stamped = [
        {
            "timestamp": f"2026-11-15T06:45:{at:02}.000Z",
            "ordinal": at,
            "type": type,
            "payload": payload,
        }
        for at, (type, payload) in enumerate(lines)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in stamped))
    return path


def shell(id: str, command: str, output: str) -> list[tuple[str, dict[str, Any]]]:
    call = {
        "type": "function_call",
        "name": "exec_command",
        "arguments": json.dumps({"cmd": command}),
        "call_id": id,
    }
    head = "Process exited with code 0\nOutput:\n"
    return [
        ("response_item", call),
        (
            "response_item",
            {"type": "function_call_output", "call_id": id, "output": f"{head}{output}"},
        ),
    ]


META = ("session_meta", {"id": "0199-a", "cwd": "/home/user/shop", "cli_version": "0.166.0"})


def test_codex_keeps_what_its_new_history_says(tmp_path: Path) -> None:
    typed = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Fix src/a.py"}],
    }
    path = rollout(
        tmp_path / "rollout-x.jsonl",
        META,
        ("response_item", typed),
        *shell("c1", "cat src/a.py", "x"),
        *shell("c2", "cat src/b.py", "y"),
        *shell("c3", "make test", "3 passed"),
        ("compacted", {"message": "Nothing.", "replacement_history": [typed]}),
        *shell("c4", "cat src/b.py", "y"),
    )
    (found,) = lost_in(path)
    assert backs(found) == {"src/b.py": "read", "make test": ""}


def test_what_an_encrypted_summary_kept_is_not_known(tmp_path: Path) -> None:
    left = [{"type": "compaction", "encrypted_content": "gAAAA"}]
    compacted = ("compacted", {"message": "", "replacement_history": left})
    path = rollout(tmp_path / "rollout-x.jsonl", META, *shell("c1", "cat src/a.py", "x"), compacted)
    (found,) = lost_in(path)
    assert (found.readable, found.items) == (False, ())


def test_gemini_keeps_the_messages_next_to_its_summary(tmp_path: Path) -> None:
    def message(type: str, id: str, content: Any, **fields: Any) -> dict[str, Any]:
        return {
            "id": id,
            "type": type,
            "content": content,
            "timestamp": "2026-11-15T06:47:24.668Z",
            **fields,
        }

    def read_file(id: str, name: str) -> dict[str, Any]:
        result = [{"functionResponse": {"response": {"output": "x"}}}]
        call = {
            "id": f"c-{id}",
            "name": "read_file",
            "args": {"file_path": name},
            "status": "success",
        }
        return message(
            "gemini", id, "", toolCalls=[{**call, "result": result}], model="gemini-2.5-pro"
        )

    summary = message("user", "n1", [{"text": "<state_snapshot>All done.</state_snapshot>"}])
    lines = [
        {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-15T06:47:24.668Z"},
        message("user", "u1", [{"text": "Look around"}]),
        read_file("g1", "/p/a.py"),
        read_file("g2", "/p/b.py"),
        {
            "$set": {
                "messages": [summary, read_file("n2", "/p/b.py")],
                "lastUpdated": "2026-11-15T06:50:00.000Z",
            }
        },
        read_file("g3", "/p/a.py"),
    ]
    path = tmp_path / "session-x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (found,) = lost_in(path)
    assert backs(found) == {"/p/a.py": "read"}
    assert found.in_window["file"] == 2


_TEXTS = st.text(max_size=60) | st.sampled_from(
    ["src/a.py", "make test", "Never do it.", "within 5 ms"]
)
_EVENTS = st.one_of(
    st.builds(
        lambda text, human: Message(role="user", text=text, human=human), _TEXTS, st.booleans()
    ),
    st.builds(lambda text: Message(role="summary", text=text), _TEXTS),
    st.builds(lambda text: Message(role="assistant", text=text), _TEXTS),
    st.builds(
        lambda id, text: ToolCall(id=id, name="Bash", kind="shell", input={"command": text}),
        _TEXTS,
        _TEXTS,
    ),
    st.builds(
        lambda id, text: ToolCall(id=id, name="Read", kind="read", input={"file_path": text}),
        _TEXTS,
        _TEXTS,
    ),
    st.builds(lambda id, text: ToolResult(id=id, text=text), _TEXTS, _TEXTS),
    st.builds(lambda text: Attachment(kind="hook", text=text), _TEXTS),
    st.builds(lambda hidden: Compaction(hidden=hidden), st.booleans()),
    st.just(Usage()),
)


@given(st.lists(_EVENTS, max_size=40))
def test_whatever_happens_counts_add_up(events: list[Event]) -> None:
    reader = CompactionReader()
    for event in events:
        reader.take(event)
    found = reader.finish()
    assert len(found) == sum(isinstance(event, Compaction) for event in events)
    for each in found:
        assert each == CompactionReport.from_dict(json.loads(json.dumps(each.to_dict())))
        assert all(
            0 <= each.came_back[kind] <= each.lost[kind] <= each.in_window[kind]
            for kind in each.in_window
        )
        assert sum(each.lost.values()) == len(each.items)
    assert reader.finish() == found
