"""What brim is in and is no longer there: a project that was moved or deleted, a program, another home."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.conftest import Brim
from tests.cli.installed import alone
from tests.cli.test_doctor import looked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no hooks there yet")


def test_a_project_that_is_gone_is_no_fault_and_is_not_made_again(brim: Brim) -> None:
    project = brim.cwd / "shop"
    (project / ".git").mkdir(parents=True)
    alone(brim, "init", "--project", "--agent", "claude", cwd=project)
    project.rename(brim.cwd / "moved")
    assert "its project is no longer there" in looked(brim)["Claude Code"][-1]["text"]
    assert "forgotten" in alone(brim, "doctor", "--fix").out
    assert not project.exists()
    assert len(looked(brim)["Claude Code"]) == 1


def test_no_promise_is_made_about_a_server_of_another_home(brim: Brim) -> None:
    pytest.importorskip("mcp")
    alone(brim, "init", "--agent", "claude", "--resident", env={"BRIM_HOME": str(brim.home / "mine")})
    servers = brim.home / ".claude.json"
    moved = json.loads(servers.read_text())
    moved["mcpServers"]["brim"]["command"] = "/gone/bin/brim"
    servers.write_text(json.dumps(moved))
    [server] = looked(brim, code=1)["server"]
    assert server["fix"] == ""
    assert server["text"].endswith("/gone/bin/brim is gone: brim init --agent claude --resident")
