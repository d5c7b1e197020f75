"""What an agent teaches is a note; what a person taught stays as it is."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client

from brim.behaviors.behavior import BehaviorKind, Status
from brim.store import rulebook as teaching
from brim.store.trust import untrust
from tests.mcp.conftest import NOW, World


@pytest.mark.parametrize(
    "text", ["Never push to main.", "Use uv, not pip.", "You must always sign commits."]
)
def test_what_an_agent_teaches_is_pending_and_at_most_a_directive(world: World, text: str) -> None:
    told = world.call("learn", right=text, wrong="git push", situation="scripts/release.py")
    assert not told.failed
    assert told.data["status"] == "pending"
    assert "brim rules review accept" in told.data["result"]
    (note,) = world.stored()
    assert note.status is Status.PENDING
    assert note.kind is not BehaviorKind.CONSTRAINT
    assert note.scope == "project"
    assert note.provenance.source == "agent"
    assert note.provenance.wrong == "git push"
    assert dict(note.when.conditions)["language"] == ("python",)


@pytest.mark.parametrize("scope", ["project", "user"])
def test_what_a_person_taught_is_not_changed_by_the_same_words(world: World, scope: str) -> None:
    rule = world.teach("Never push to main.", kind="constraint", scope=scope)
    told = world.call("learn", right="never  push to MAIN.")
    assert told.data["id"] == rule.id
    assert "an agent cannot change" in told.data["result"]
    assert world.stored() == [rule]


def test_nearly_the_same_words_as_a_persons_become_a_note_of_their_own(world: World) -> None:
    rule = world.teach(
        "Never push directly to the main branch of this repository.", kind="constraint"
    )
    world.call("learn", right="Never push directly to the main branch of this repository, please.")
    rules = {each.id: each for each in world.stored()}
    assert rules.pop(rule.id) == rule
    assert [each.status for each in rules.values()] == [Status.PENDING]


def test_a_project_that_is_not_trusted_takes_no_notes(world: World) -> None:
    untrust(str(world.project), str(world.user), now=NOW)
    told = world.call("learn", right="Use uv.")
    assert told.failed
    assert "brim rules trust" in told.text
    assert world.stored() == []


def test_without_a_project_there_are_no_notes(world: World) -> None:
    told = world.call("learn", world.server(folder=world.home), right="Use uv.")
    assert told.failed
    assert "there is none here" in told.text


def test_secrets_are_masked_before_they_are_kept(world: World) -> None:
    told = world.call(
        "learn",
        right="Use the key sk-abcdefghijklmnopqrst1234 for the API.",
        wrong="token=ghp_" + "a1B2" * 9,
    )
    assert "abcdefghijklmnopqrst" not in told.text
    assert "abcdefghijklmnopqrst" not in str(world.stored())
    assert "a1B2a1B2" not in str(world.stored())


@pytest.mark.parametrize(
    "arguments", [{"right": " \n"}, {"right": "x" * 5_000}, {"right": "x", "wrong": "y" * 5_000}]
)
def test_what_is_no_rule_is_refused(world: World, arguments: dict[str, Any]) -> None:
    assert world.call("learn", **arguments).failed
    assert world.stored() == []


def test_notes_that_nobody_reads_do_not_pile_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teaching, "MOST_NOTES", 2)
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
    assert [each.status for each in world.stored()] == [Status.PENDING]


def test_a_damaged_file_is_told_and_stays_as_it_is(world: World) -> None:
    path = world.project / ".brim" / "brim.db"
    path.write_bytes(b"no database " * 500)
    for name, arguments in (("learn", {"right": "Use uv."}), ("list", {}), ("status", {})):
        told = world.call(name, **arguments)
        assert told.failed
        assert "brim.db" in told.text
        assert "Traceback" not in told.text
    assert path.read_bytes() == b"no database " * 500
