"""What an agent teaches is a note; what a person taught stays as it is."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client

from brim.config.trust import untrust
from brim.rules import inbox
from tests.mcp.conftest import World


@pytest.mark.parametrize("text", ["Never push to main.", "Use uv, not pip."])
def test_what_an_agent_teaches_waits_and_blocks_nothing(world: World, text: str) -> None:
    told = world.call("learn", right=text, wrong="git push")
    assert not told.failed
    assert "brim rules review" in told.data["result"]
    (note,) = world.noted()
    assert (note.text, note.instead_of, note.block) == (text, "git push", ())
    assert world.book.entries() == []


@pytest.mark.parametrize("scope", ["project", "user"])
def test_what_a_person_taught_is_not_changed_by_the_same_words(world: World, scope: str) -> None:
    rule = world.teach("Never push to main.", kind="constraint", scope=scope)
    world.call("learn", right="never  push to MAIN.")
    assert [entry.rule for entry in world.book.entries()] == [rule]


def test_a_project_that_is_not_trusted_tells_nothing_and_notes_wait(world: World) -> None:
    untrust(str(world.project), str(world.user))
    assert not world.call("learn", right="Use uv.").failed
    assert [note.text for note in world.noted()] == ["Use uv."]
    assert not world.book.is_trusted


def test_secrets_are_masked_before_they_are_kept(world: World) -> None:
    told = world.call(
        "learn",
        right="Use the key sk-abcdefghijklmnopqrst1234 for the API.",
        wrong="token=ghp_" + "a1B2" * 9,
    )
    assert "abcdefghijklmnopqrst" not in told.text
    assert "abcdefghijklmnopqrst" not in str(world.noted())
    assert "a1B2a1B2" not in str(world.noted())


@pytest.mark.parametrize(
    "arguments", [{"right": " \n"}, {"right": "x" * 5_000}, {"right": "x", "wrong": "y" * 5_000}]
)
def test_what_is_no_rule_is_refused(world: World, arguments: dict[str, Any]) -> None:
    assert world.call("learn", **arguments).failed
    assert world.noted() == []


def test_notes_that_nobody_reads_do_not_pile_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MOST_NOTES", 2)
    for text in ("Apples are red.", "Use bananas for scale."):
        assert not world.call("learn", right=text).failed
    told = world.call("learn", right="Cherries go on top.")
    assert told.failed
    assert "brim rules review" in told.text
    assert not world.call("learn", right="Apples are red.").failed


def test_the_same_words_at_the_same_time_are_one_note(world: World) -> None:
    async def ask(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(
                    client.call_tool, "learn", {"right": "Run the linter before a commit."}
                )

    world.ask(ask)
    assert len(world.noted()) == 1
