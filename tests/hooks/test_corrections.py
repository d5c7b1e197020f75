"""A prompt that corrects the agent is kept as a suggestion, with what the agent did last, and never
as a rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brim.hooks.statusline import lines_for
from brim.store.suggestions import FILE, LONGEST_TEXT, MOST, Suggestions
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
    return [
        (each.text, each.call) for each in Suggestions(str(world.home)).waiting(str(world.project))
    ]


def test_a_correction_is_kept_with_the_last_call(world: World) -> None:
    type_in(world, "no, use pnpm here")
    assert waiting(world) == [("no, use pnpm here", "Bash: npm install left-pad")]


def test_other_prompts_and_those_of_machines_and_sub_agents_are_not(world: World) -> None:
    type_in(world, "no problem, go on")
    type_in(world, "<task-notification>no, use pnpm here</task-notification>")
    type_in(world, "no, use pnpm here", agent_id="a1")
    assert not (world.home / FILE).exists()


def test_it_is_masked_cut_and_bounded(world: World) -> None:
    type_in(world, "no, use the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 here")
    assert "sk-ant" not in (world.home / FILE).read_text()
    kept = Suggestions(str(world.home))
    for number in range(MOST + 5):
        kept.add(f"no, use {number} {'x' * 2_000}", project=None, time=0.0)
    assert len(kept.every()) == MOST
    assert all(len(each.text) <= LONGEST_TEXT for each in kept.every())


def test_the_same_correction_waits_once(world: World) -> None:
    type_in(world, "no, use pnpm here")
    type_in(world, "No, use pnpm here")
    assert len(waiting(world)) == 1


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"waiting": [1, {"number": "x"}], "next": null}', b"\xff\x00"]
)
def test_a_damaged_file_counts_as_empty_and_is_replaced(world: World, damage: bytes) -> None:
    (world.home / FILE).write_bytes(damage)
    assert waiting(world) == []
    type_in(world, "no, use pnpm here")
    assert len(waiting(world)) == 1


def test_the_status_line_says_how_many_wait(world: World) -> None:
    sent = json.dumps({"session_id": "s", "cwd": str(world.project)}).encode()
    assert b"to review" not in lines_for(sent, world.environ, now=0.0)
    type_in(world, "no, use pnpm here")
    assert b"1 correction to review" in lines_for(sent, world.environ, now=0.0)
    (suggestion,) = Suggestions(str(world.home)).waiting(str(world.project))
    a_day_later = suggestion.time + 86_401
    assert b"to review" not in lines_for(sent, world.environ, now=a_day_later)
    assert len(waiting(world)) == 1


def test_what_brim_run_sends_is_not_kept(world: World) -> None:
    message = world.message("UserPromptSubmit", prompt="no, use pnpm here")
    world.call("UserPromptSubmit", message, BRIM_RUN_ID="r1")
    assert not (world.home / FILE).exists()
