"""A project that has hooks of brim's and is no longer there: moved, deleted, or on another disk."""

from __future__ import annotations

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
