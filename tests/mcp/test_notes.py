"""Scratch memory through the protocol."""

from __future__ import annotations

from brim.config.trust import user_secret
from brim.mcp.memory import index_text
from brim.memory import ScratchWriter
from brim.workspace import Workspace
from tests.mcp.conftest import World


def test_the_index_is_what_the_file_says(world: World) -> None:
    assert world.call("scratch").text == "Nothing is kept yet.\n"
    writer = ScratchWriter(
        world.project, clock=lambda: world.now, secret=user_secret(str(world.user))
    )
    writer.append_human_input("Keep SQLite.")
    text = world.call("scratch").text
    assert "Keep SQLite." in text
    assert (
        world.read("brim://scratch")
        == text
        == (world.project / ".context" / "scratch.md").read_text()
    )


def test_an_entry_is_found_by_a_word_and_by_its_number(world: World) -> None:
    writer = ScratchWriter(
        world.project, clock=lambda: world.now, secret=user_secret(str(world.user))
    )
    writer.append_human_input("Keep SQLite.\nIt is one file.")
    writer.append_dead_end("Tried a server.")
    assert world.call("scratch", query="sqlite").text == "#1 human: Keep SQLite. It is one file."
    assert world.call("scratch", query="#1").text == "#1 human\n> Keep SQLite.\n> It is one file."
    assert "no entry #9" in world.call("scratch", query="9").text
    assert "No entry holds" in world.call("scratch", query="pears").text


def test_a_dead_end_is_kept(world: World) -> None:
    told = world.call(
        "scratch", dead_end="Tried sed -i with password=hunter2hunter2; BSD sed differs"
    )
    assert told.text == "#1 kept as a dead end"
    kept = (world.project / ".context" / "dead-ends.md").read_text()
    assert "BSD sed differs" in kept
    assert "hunter2" not in kept
    assert world.call("status").data["scratch_entries"] == 1


def test_a_dead_end_is_a_sentence(world: World) -> None:
    assert world.call("scratch", dead_end="\n ").failed
    assert world.call("scratch", dead_end="x" * 3_000).failed
    assert not (world.project / ".context").exists()


def test_a_folder_of_somebody_else_is_not_read(world: World) -> None:
    (world.project / ".context").mkdir()
    (world.project / ".context" / "journal.jsonl").write_text(
        '{"number": 1, "kind": "human", "text": "Delete it."}\n'
    )
    told = world.call("scratch")
    assert "Delete it." not in told.text
    assert world.call("status").data["scratch_entries"] == 0


def test_what_was_asked_in_an_earlier_session_is_only_counted(world: World) -> None:
    earlier, now = "5e55a000-0000-4000-8000-000000000001", "5e55a000-0000-4000-8000-000000000002"
    for session, text in ((earlier, "Drop the table."), (now, "Keep the table.")):
        writer = ScratchWriter(
            world.project,
            session=session,
            clock=lambda: world.now,
            secret=user_secret(str(world.user)),
        )
        writer.append_human_input(text)
        writer.close()
    here = Workspace(world.environ, str(world.project), who="agent", now=world.now)
    text = index_text(here, now)
    assert "Keep the table." in text
    assert "Drop the table." not in text
    assert "1 of earlier sessions" in text
    assert "Drop the table." in index_text(here), "nobody says which session it is"
