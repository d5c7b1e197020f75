"""A prompt that corrects the agent waits in the inbox, with what the agent did last, and is never
a rule."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from brim.hooks.statusline import lines_for
from brim.rules.file import INBOX
from brim.rules.inbox import MOST_NOTES, Inbox
from tests.hooks.hook_world import World

CALL = {
    "type": "assistant",
    "isSidechain": False,
    "message": {
        "id": "m2",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [
            {
                "type": "tool_use",
                "id": "t",
                "name": "Bash",
                "input": {"command": "npm install left-pad"},
            }
        ],
    },
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    found = World(tmp_path)
    found.home.mkdir(parents=True, exist_ok=True)
    with found.transcript.open("a") as file:
        file.write(json.dumps(CALL) + "\n")
    return found


def type_in(world: World, prompt: str, **own: object) -> None:
    world.call("UserPromptSubmit", world.message("UserPromptSubmit", prompt=prompt, **own))


def waiting(world: World) -> list[tuple[str, str]]:
    notes = Inbox(str(world.home)).notes()
    assert all(note.project == str(world.project) for note in notes)
    return [(note.rule.text, note.rule.instead_of) for note in notes]


def test_a_correction_is_kept_with_the_last_call(world: World) -> None:
    type_in(world, "no, use pnpm here")
    assert waiting(world) == [("no, use pnpm here", "Bash: npm install left-pad")]


def test_other_prompts_and_those_of_machines_and_sub_agents_are_not(world: World) -> None:
    type_in(world, "no problem, go on")
    type_in(world, "<task-notification>no, use pnpm here</task-notification>")
    type_in(world, "no, use pnpm here", agent_id="a1")
    assert not (world.home / INBOX).exists()


def test_it_is_masked_cut_and_bounded(world: World) -> None:
    type_in(world, "no, use the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 here")
    assert "sk-ant" not in (world.home / INBOX).read_text()
    for number in range(MOST_NOTES - 1):
        Inbox(str(world.home)).add("note", f"Use {number}.")
    type_in(world, "no, use pnpm here")
    assert len(Inbox(str(world.home)).notes()) == MOST_NOTES


def test_the_same_correction_waits_once(world: World) -> None:
    type_in(world, "no, use pnpm here")
    type_in(world, "no, use pnpm here")
    assert len(waiting(world)) == 1


@pytest.mark.parametrize("damage", [b"", b"{", b"[x]\n[x]\n", b"\xff\n"])
def test_what_is_wrong_in_the_inbox_costs_no_correction(world: World, damage: bytes) -> None:
    (world.home / INBOX).write_bytes(damage)
    type_in(world, "no, use pnpm here")
    assert len(waiting(world)) == 1
    assert damage in (world.home / INBOX).read_bytes()


def test_a_correction_is_told_to_nobody(world: World) -> None:
    type_in(world, "no, use pnpm here")
    start = world.call("SessionStart", world.message("SessionStart"))
    assert "pnpm" not in start


def test_the_status_line_says_how_many_wait(world: World) -> None:
    sent = json.dumps({"session_id": "s", "cwd": str(world.project)}).encode()
    assert b"to review" not in lines_for(sent, world.environ, now=0.0)
    type_in(world, "no, use pnpm here")
    assert b"1 note to review" in lines_for(sent, world.environ, now=0.0)
    a_day_later = os.path.getmtime(world.home / INBOX) + 86_401
    assert b"to review" not in lines_for(sent, world.environ, now=a_day_later)
    assert len(waiting(world)) == 1


def test_what_brim_run_sends_is_not_kept(world: World) -> None:
    message = world.message("UserPromptSubmit", prompt="no, use pnpm here")
    world.call("UserPromptSubmit", message, BRIM_RUN_ID="r1")
    assert not (world.home / INBOX).exists()
