"""The status line in the real Claude Code, in a terminal: what the person sees, and what the hooks
get from it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agents import Agent
from tests.e2e.script import Say
from tests.e2e.world import Terminal


def opened(claude: Agent, *options: str) -> Terminal:
    """Open Claude Code in a terminal, as if it had been asked all that it asks at first."""
    folder = claude.world.home / ".claude"
    asked = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"]},
        "projects": {str(claude.world.project): {"hasTrustDialogAccepted": True}},
    }
    (folder / ".claude.json").write_text(json.dumps(asked))
    command = [claude.program, "--model", claude.model, "--permission-mode", "default", *options]
    return Terminal(command, claude.world.project, {**claude.world.environ, **claude.environ()})


def remembered(claude: Agent) -> dict[str, Any]:
    """Return the usage that is kept for the hooks."""
    for path in (claude.world.home / ".brim" / "state").glob("*-*.json"):
        found = json.loads(path.read_text()).get("usage")
        if isinstance(found, dict) and found["source"] == "statusline":
            return found
    return {}


def test_it_shows_how_full_the_window_is_and_keeps_the_numbers_for_the_hooks(claude: Agent) -> None:
    claude.install()
    claude.world.api.will(Say("It is done.", tokens=720_000))
    with opened(claude) as terminal:
        terminal.wait_for("Opus 5.5 ░░░░░░░░││░┃ window 1,000,000 $0.00")
        terminal.enter("Say hello.")
        terminal.wait_for("compact at 78%")
        assert "████████▋" in terminal.text
        assert "72%" in terminal.text
        assert "247k" in terminal.text, "to the 967,000 at which it compacts"
        terminal.wait(lambda: remembered(claude))
    usage = remembered(claude)
    assert (usage["tokens"], usage["window"], usage["model"]) == (720_008, 1_000_000, claude.model)
    assert usage["cost"] == pytest.approx(3_600_000, rel=0.001), (
        "720,000 tokens at 5 dollars a million, and a few more"
    )


def test_a_spending_limit_that_is_reached_stands_there(claude: Agent) -> None:
    claude.install()
    claude.world.brim("limit", "0.02")
    claude.world.api.will(Say("It is done.", tokens=100_000), Say("So it is.", tokens=110_000))
    with opened(claude) as terminal:
        terminal.wait_for("window 1,000,000")
        terminal.enter("Say hello.")
        terminal.wait_for("$0.50")
        terminal.enter("And now?")
        terminal.wait_for("Your prompt wasn't sent")


def test_what_the_last_answer_cost_is_told_at_the_end_of_its_own_turn(claude: Agent) -> None:
    """In a terminal the answer is written down after the end of its turn is told: the hook waits
    for it."""
    claude.install()
    claude.world.brim("limit", "0.02")
    claude.world.api.will(Say("It is done.", tokens=100_000))
    with opened(claude) as terminal:
        terminal.wait_for("window 1,000,000")
        terminal.enter("Say hello.")
        terminal.wait_for("Go on: brim limit raise")  # +200% of two cents isn't enough


def test_the_status_line_that_was_there_before_is_above(claude: Agent) -> None:
    seen = claude.world.home / "seen.json"
    other = {
        "type": "command",
        "command": f"cat > {seen}.part && mv {seen}.part {seen}; echo this is mine",
    }
    folder = claude.world.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"statusLine": other}))
    claude.install()
    with opened(claude) as terminal:
        terminal.wait_for("window 1,000,000")
        assert terminal.text.index("this is mine") < terminal.text.index("window 1,000,000")
    assert json.loads(Path(seen).read_text())["model"]["id"] == claude.model


@pytest.mark.skipif(
    not os.path.exists("/proc/self/cmdline"),
    reason="this system doesn't show an option of the client",
)
def test_it_knows_the_window_that_the_client_was_started_to_compact_in(claude: Agent) -> None:
    claude.install()
    claude.world.api.will(Say("It is done.", tokens=350_000))
    with opened(claude, "--autocompact", "400k") as terminal:
        terminal.wait_for("window 1,000,000")
        terminal.enter("Say hello.")
        terminal.wait_for("17k to auto-compact")
