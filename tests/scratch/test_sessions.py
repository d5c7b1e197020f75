"""Sessions that follow one another in a worktree share its files; what an ended one was asked is not asked again."""

from __future__ import annotations

from pathlib import Path

from brim.scratch.entries import Entry, View
from brim.scratch.index import LINES, render_index
from brim.scratch.model import ScratchModel
from brim.scratch.writer import ScratchWriter

FIRST, SECOND = "aaaaaaaa-1", "bbbbbbbb-2"


def said(folder: Path, session: str, text: str) -> str:
    writer = ScratchWriter(folder, session=session)
    model = ScratchModel()
    model.add_human_input(text)
    writer.write_scratch(model)
    writer.close()
    return (folder / writer.scratch_path).read_text()


def test_the_index_of_a_session_counts_what_ended_ones_were_asked_and_does_not_repeat_it(tmp_path: Path) -> None:
    said(tmp_path, FIRST, "remove the login")
    text = said(tmp_path, SECOND, "write the docs")
    assert "write the docs" in text
    assert "remove the login" not in text
    assert "## Human Input (1): .context/human-input.md\n- 1 of earlier sessions not shown: " in text
    assert "remove the login" in (tmp_path / ".context" / "human-input.md").read_text()


def test_a_session_that_comes_back_finds_its_own_again(tmp_path: Path) -> None:
    said(tmp_path, FIRST, "remove the login")
    said(tmp_path, SECOND, "write the docs")
    text = said(tmp_path, FIRST, "and its tests")
    assert "remove the login" in text
    assert "and its tests" in text
    assert "write the docs" not in text


def test_what_a_person_adds_by_hand_belongs_to_the_session_that_is_there(tmp_path: Path) -> None:
    said(tmp_path, FIRST, "remove the login")
    said(tmp_path, SECOND, "write the docs")
    ScratchWriter(tmp_path).append_human_input("keep it short")
    text = (tmp_path / ".context" / "scratch.md").read_text()
    assert "keep it short" in text
    assert "remove the login" not in text


def test_the_index_stays_within_its_lines() -> None:
    kinds = ("human", "decision", "state", "dead-end", "artifact", "command")
    entries = [
        Entry(number=n, kind=kinds[n % len(kinds)], text=f"entry {n}", session=(FIRST, SECOND)[n % 7 > 2])
        for n in range(1, 2001)
    ]
    assert len(render_index(View(entries), session=SECOND).splitlines()) == LINES
