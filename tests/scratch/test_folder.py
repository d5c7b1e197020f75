from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from brim.errors import InputError, StoreError
from brim.scratch import ScratchWriter
from brim.scratch.folder import LIVE, own_names, save

USES: list[Callable[[ScratchWriter], object]] = [
    lambda writer: writer.append_human_input("go"),
    lambda writer: writer.cleanup(),
    lambda writer: writer.read(),
]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_folder_is_for_its_owner_alone_and_ignores_itself(tmp_path: Path) -> None:
    ScratchWriter(tmp_path, session="s").append_human_input("go")
    folder = tmp_path / ".context"
    assert mode(folder) == 0o700
    assert {mode(path) for path in folder.iterdir()} == {0o600}
    assert (folder / ".gitignore").read_text() == "*\n"


def test_nothing_is_made_before_there_is_something_to_write(tmp_path: Path) -> None:
    writer = ScratchWriter(tmp_path)
    assert writer.read().entries == []
    assert writer.append_human_input("  ") is None
    assert writer.scratch_path == ".context/scratch.md"
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".context").symlink_to(tmp_path / "elsewhere")
    for act in USES:
        with pytest.raises(StoreError, match="is a link"):
            act(ScratchWriter(tmp_path))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_brim_did_not_make_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".context").mkdir()
    (tmp_path / ".context" / "notes.md").write_text("mine")
    for act in USES:
        with pytest.raises(StoreError, match="did not make"):
            act(ScratchWriter(tmp_path))
    assert [path.name for path in (tmp_path / ".context").iterdir()] == ["notes.md"]


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    (tmp_path / ".context").mkdir()
    assert ScratchWriter(tmp_path).append_human_input("go") is not None


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".context").write_text("x")
    with pytest.raises(StoreError, match="not a folder"):
        ScratchWriter(tmp_path).append_human_input("go")


def test_a_worktree_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        ScratchWriter(tmp_path / "gone").append_human_input("go")


def test_a_second_live_session_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    first = ScratchWriter(tmp_path, session="aaaaaaaa-1111", clock=lambda: 1.0)
    second = ScratchWriter(tmp_path, session="bbbbbbbb-2222", clock=lambda: 2.0)
    first.append_human_input("one")
    second.append_human_input("two")
    first.append_human_input("three")
    assert (first.scratch_path, second.scratch_path) == (".context/scratch.md", ".context/bbbbbbbb/scratch.md")
    assert [entry.text for entry in first.read().entries] == ["one", "three"]
    assert [(entry.number, entry.text) for entry in second.read().entries] == [(1, "two")]
    index = (tmp_path / ".context" / "bbbbbbbb" / "scratch.md").read_text()
    assert ".context/bbbbbbbb/human-input.md" in index
    assert mode(tmp_path / ".context" / "bbbbbbbb") == 0o700


def test_a_session_stays_where_it_is(tmp_path: Path) -> None:
    ScratchWriter(tmp_path, session="a", clock=lambda: 1.0).append_human_input("one")
    ScratchWriter(tmp_path, session="b", clock=lambda: 2.0).append_human_input("two")
    later = ScratchWriter(tmp_path, session="b", clock=lambda: 2.0 + 2 * LIVE)
    later.append_human_input("three")
    assert [entry.text for entry in later.read().entries] == ["two", "three"]


@pytest.mark.parametrize("closed", [True, False])
def test_a_session_that_is_closed_or_long_silent_makes_room(tmp_path: Path, closed: bool) -> None:
    first = ScratchWriter(tmp_path, session="a", clock=lambda: 1.0)
    first.append_human_input("one")
    if closed:
        first.close()
    now = 2.0 if closed else 2.0 + LIVE
    second = ScratchWriter(tmp_path, session="b", clock=lambda: now)
    second.append_human_input("two")
    assert second.scratch_path == ".context/scratch.md"
    assert [entry.text for entry in second.read().entries] == ["one", "two"]


def test_closing_a_session_that_wrote_nothing_makes_nothing(tmp_path: Path) -> None:
    ScratchWriter(tmp_path, session="a").append_human_input("one")
    before = sorted(path.name for path in (tmp_path / ".context").iterdir())
    ScratchWriter(tmp_path, session="b").close()
    assert sorted(path.name for path in (tmp_path / ".context").iterdir()) == before


def test_sessions_without_a_name_share_the_worktrees_own_files(tmp_path: Path) -> None:
    ScratchWriter(tmp_path, session="a").append_human_input("one")
    ScratchWriter(tmp_path).append_human_input("two")
    assert len(ScratchWriter(tmp_path).read().entries) == 2


def test_two_sessions_whose_ids_begin_alike_do_not_meet(tmp_path: Path) -> None:
    writers = [ScratchWriter(tmp_path, session=f"session-{n}", clock=lambda: 1.0) for n in range(4)]
    for writer in writers:
        writer.append_human_input(writer.session)
    assert len({writer.folder for writer in writers}) == 4
    assert [[entry.text for entry in writer.read().entries] for writer in writers] == [[w.session] for w in writers]


@pytest.mark.parametrize("session", ["../../etc", "a/b", "..", "x" * 65, "é", "\0", "\ud800", "a b"])
def test_an_id_from_outside_never_leads_out_of_the_folder(tmp_path: Path, session: str) -> None:
    assert all(re.fullmatch("[0-9a-f]{8,64}", name) for name in own_names(session))
    ScratchWriter(tmp_path, session="first", clock=lambda: 1.0).append_human_input("one")
    writer = ScratchWriter(tmp_path, session=session, clock=lambda: 1.0)
    writer.append_human_input("two")
    assert os.path.dirname(writer.folder) == str(tmp_path / ".context")
    assert [path.name for path in tmp_path.iterdir()] == [".context"]


def test_what_killed_writers_left_is_removed(tmp_path: Path) -> None:
    writer = ScratchWriter(tmp_path)
    writer.append_human_input("go")
    (tmp_path / ".context" / ".tmp-0123").write_text("half")
    writer.append_human_input("on")
    assert not (tmp_path / ".context" / ".tmp-0123").exists()


def test_saving_what_is_there_already_changes_nothing(tmp_path: Path) -> None:
    assert save(str(tmp_path), "a.md", "text\n")
    before = (tmp_path / "a.md").stat()
    assert not save(str(tmp_path), "a.md", "text\n")
    assert (tmp_path / "a.md").stat() == before


def test_a_rendered_file_that_is_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    writer = ScratchWriter(tmp_path)
    writer.append_human_input("go")
    (tmp_path / ".context" / "scratch.md").unlink()
    (tmp_path / ".context" / "scratch.md").symlink_to(outside)
    writer.append_human_input("on")
    assert outside.read_text() == "mine"
    assert "on" in (tmp_path / ".context" / "scratch.md").read_text()


@pytest.mark.parametrize("content", ["", "[]", "nonsense", '{"session": 5, "seen": "x"}', '{"seen": NaN}'])
def test_a_damaged_note_of_the_owner_is_no_owner(tmp_path: Path, content: str) -> None:
    ScratchWriter(tmp_path, session="a").append_human_input("one")
    (tmp_path / ".context" / ".session").write_text(content)
    writer = ScratchWriter(tmp_path, session="b")
    writer.append_human_input("two")
    assert writer.scratch_path == ".context/scratch.md"
