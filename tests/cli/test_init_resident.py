"""``brim init --resident`` lets a running server answer, and the process stand by."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.conftest import Brim
from tests.cli.installed import alone, events, file_of, tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no hooks there yet")


def test_resident_hooks_call_the_server_and_the_process_stands_by(brim: Brim) -> None:
    pytest.importorskip("mcp")
    brim.home.joinpath(".claude.json").write_text('{"numStartups": 3}')
    assert alone(brim, "init", "--agent", "claude", "--resident").code == 0
    prompt = events(file_of(brim))["UserPromptSubmit"]
    assert [group["hooks"][0]["type"] for group in prompt] == ["command", "mcp_tool"]
    assert prompt[1]["hooks"][0]["input"]["prompt"] == "${prompt}"
    assert prompt[0]["hooks"][0]["command"] == f"{brim.home}/.brim/bin/hook-unless-resident UserPromptSubmit claude"
    assert [group["hooks"][0]["type"] for group in events(file_of(brim))["SessionStart"]] == ["command"]
    server = json.loads(brim.home.joinpath(".claude.json").read_text())
    assert server["numStartups"] == 3
    assert server["mcpServers"]["brim"]["args"] == ["mcp", "--resident"]
    assert alone(brim, "init", "--agent", "claude").code == 0
    assert brim.home.joinpath(".claude.json").read_text() == '{"numStartups": 3}'
    assert [group["hooks"][0]["type"] for group in events(file_of(brim))["UserPromptSubmit"]] == ["command"]


def test_a_server_of_that_name_is_not_taken_over(brim: Brim) -> None:
    pytest.importorskip("mcp")
    text = '{"mcpServers": {"brim": {"command": "other"}}}'
    brim.home.joinpath(".claude.json").write_text(text)
    ran = alone(brim, "init", "--agent", "claude", "--resident")
    assert ran.code == 2
    assert "claude mcp remove brim" in ran.err
    assert tree(brim.home) == {".claude.json": text.encode()}


def test_resident_is_for_claude_and_every_project(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    assert alone(brim, "init", "--agent", "codex", "--resident").code == 2
    assert alone(brim, "init", "--agent", "claude", "--resident", "--project").code == 2
    assert tree(brim.home) == {}


def test_the_server_of_resident_hooks_has_that_home_too(brim: Brim) -> None:
    pytest.importorskip("mcp")
    home = str(brim.home / "mine")
    alone(brim, "init", "--agent", "claude", "--resident", env={"BRIM_HOME": home})
    server = json.loads((brim.home / ".claude.json").read_text())["mcpServers"]["brim"]
    assert server["env"] == {"BRIM_HOME": home}
    for words in (["upgrade"], ["doctor", "--fix"]):  # in a shell that knows nothing of that home
        alone(brim, *words)
        assert json.loads((brim.home / ".claude.json").read_text())["mcpServers"]["brim"] == server


def test_resident_hooks_are_all_hooks(brim: Brim) -> None:
    ran = alone(brim, "init", "--agent", "claude", "--resident", "--hooks", "injection-only")
    assert ran.code == 2
    assert list(brim.home.iterdir()) == []
