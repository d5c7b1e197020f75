"""Which session is watched when none is named."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from brim.errors import InputError
from brim.sessions.session_files import newest


class Home:
    """A home folder with sessions of agents in it, each newer than the one before."""

    def __init__(self, root: Path) -> None:
        self.path = root / "home"
        self.environ = {"HOME": str(self.path)}
        self._now = 1_700_000_000

    def session(self, path: str, content: str = "{}\n") -> str:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        self._now += 60
        os.utime(file, (self._now, self._now))
        return str(file)

    def claude(self, project: str, name: str = "s") -> str:
        return self.session(f".claude/projects/{project}/{name}.jsonl")

    def codex(self, folder: str, name: str = "a") -> str:
        line = json.dumps({"type": "session_meta", "payload": {"id": "x", "cwd": folder}})
        return self.session(f".codex/sessions/2026/11/15/rollout-{name}.jsonl", line + "\n")

    def gemini(self, folder: str) -> str:
        line = json.dumps({"sessionId": "x", "projectHash": sha256(folder.encode()).hexdigest()})
        return self.session(".gemini/tmp/shop/chats/session-1.jsonl", line + "\n")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_the_newest_of_this_project_is_meant_even_if_another_one_is_newer(home: Home) -> None:
    home.claude("-home-user-shop", "old")
    mine = home.claude("-home-user-shop", "new")
    home.claude("-home-user-other")
    found = newest(home.environ, "/home/user/shop")
    assert (found.path, found.here) == (mine, True)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_the_session_of_each_agent_is_found(home: Home, agent: str) -> None:
    home.claude("-home-user-other", "first")
    mine = getattr(home, agent)("-srv-a-shop" if agent == "claude" else "/srv/a_shop")
    home.codex("/srv/other", "b")
    found = newest(home.environ, "/srv/a_shop")
    assert (found.path, found.here) == (mine, True)


def test_a_session_started_at_the_top_of_the_project_counts_in_its_folders(home: Home) -> None:
    mine = home.claude("-home-user-shop")
    assert newest(home.environ, "/home/user/shop/src/shop").path == mine


def test_without_one_of_this_project_it_is_the_newest_of_all(home: Home) -> None:
    home.claude("-home-user-other")
    last = home.codex("/home/user/other")
    found = newest(home.environ, "/home/user/shop")
    assert (found.path, found.here) == (last, False)


def test_sub_agents_and_what_is_no_session_are_not_meant(home: Home) -> None:
    mine = home.claude("-home-user-shop")
    home.session(".claude/projects/-home-user-shop/s/subagents/agent-a1.jsonl")
    home.session(".claude/projects/-home-user-shop/notes.txt")
    home.session(".gemini/tmp/shop/logs.jsonl")
    assert newest(home.environ, "/home/user/shop").path == mine


def test_the_agents_variables_say_where_to_look(home: Home) -> None:
    elsewhere = home.session("elsewhere/projects/-home-user-shop/s.jsonl")
    home.claude("-home-user-shop", "newer")
    environ = {**home.environ, "CLAUDE_CONFIG_DIR": str(home.path / "elsewhere")}
    assert newest(environ, "/home/user/shop").path == elsewhere


@pytest.mark.parametrize("content", ["", "garbage", '{"cwd": "\\ud800', '{"cwd": 5}', "\x00" * 100])
def test_a_broken_file_is_passed_over(home: Home, content: str) -> None:
    mine = home.codex("/srv/shop")
    home.session(".codex/sessions/2026/11/16/rollout-z.jsonl", content)
    assert newest(home.environ, "/srv/shop").path == mine


def test_without_any_it_is_an_error_that_says_what_to_do(home: Home) -> None:
    with pytest.raises(InputError, match="name its file"):
        newest(home.environ, None)


@pytest.mark.parametrize(
    "about",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "x"}}}},
        {"thread_source": "subagent"},
        {"parent_thread_id": "x"},
    ],
)
def test_a_sub_agent_of_codex_is_not_the_newest_session(
    home: Home, about: dict[str, object]
) -> None:
    mine = home.codex("/srv/shop", "main")
    line = json.dumps({"type": "session_meta", "payload": {"id": "y", "cwd": "/srv/shop", **about}})
    home.session(".codex/sessions/2026/11/15/rollout-sub.jsonl", line + "\n")
    assert newest(home.environ, "/srv/shop").path == mine
    assert newest(home.environ, "/srv/other").path == mine


def test_a_sub_agent_of_gemini_is_not_the_newest_session(home: Home) -> None:
    mine = home.gemini("/srv/shop")
    line = json.dumps(
        {"sessionId": "y", "projectHash": sha256(b"/srv/shop").hexdigest(), "kind": "subagent"}
    )
    home.session(".gemini/tmp/shop/chats/session-2.jsonl", line + "\n")
    assert newest(home.environ, "/srv/shop").path == mine
