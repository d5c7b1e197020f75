"""Notes of agents wait until a person accepts them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brim.errors import InputError
from brim.rules.compiled import open_index
from brim.rules.file import REMOVED, RulesFile
from brim.rules.inbox import MOST_NOTES, Inbox
from brim.rules.source import sources_for


def test_a_note_waits_until_it_is_accepted(tmp_path: Path) -> None:
    inbox = Inbox(str(tmp_path))
    rules = RulesFile(str(tmp_path / "rules.toml"))
    name = inbox.add("pnpm", "Use pnpm.", agent="claude", session="s1", project="/shop")
    assert inbox.add("other", "Use pnpm.", agent="codex", project="/shop") == name
    (note,) = inbox.notes()
    assert (note.rule.text, note.agent, note.project) == ("Use pnpm.", "claude", "/shop")
    index = open_index(str(tmp_path), sources_for(str(tmp_path), None))
    assert index.database.execute("SELECT count(*) FROM rules").fetchone() == (0,)
    index.close()
    assert inbox.accept(name, rules) == "pnpm"
    assert Path(rules.path).read_text() == '[pnpm]\ntext = "Use pnpm."\n'
    assert inbox.notes() == []


def test_the_same_words_of_many_at_once_are_one_note(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def note(number: int) -> None:
        start.wait()
        Inbox(str(tmp_path)).add("pnpm", f"Use pnpm {number % 2}.")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(note, range(8)))
    assert sorted(note.rule.text for note in Inbox(str(tmp_path)).notes()) == [
        "Use pnpm 0.",
        "Use pnpm 1.",
    ]


def test_a_note_can_be_dismissed(tmp_path: Path) -> None:
    inbox = Inbox(str(tmp_path))
    removed = RulesFile(str(tmp_path / REMOVED))
    inbox.dismiss(inbox.add("a", "A note."), removed, "2026-11-19")
    assert inbox.notes() == []
    assert [rule.text for rule in removed.read().rules] == ["A note."]


def test_a_note_has_no_secret_and_no_control_character(tmp_path: Path) -> None:
    inbox = Inbox(str(tmp_path))
    key = "sk-ant-" + "api03-" + "a1B2" * 20
    inbox.add("key", f"Use the key {key}")
    assert key not in Path(inbox.file.path).read_text()
    with pytest.raises(InputError):
        inbox.add("red", "\x1b[31mred")


def test_an_agent_cannot_fill_the_inbox(tmp_path: Path) -> None:
    inbox = Inbox(str(tmp_path))
    text = "".join([f'[n{number}]\ntext = "Note {number}."\n' for number in range(MOST_NOTES)])
    Path(inbox.file.path).write_text(text)
    with pytest.raises(InputError, match="brim rules review"):
        inbox.add("more", "One more.")
