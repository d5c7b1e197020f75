from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brim.config.retention import JOURNALS
from brim.errors import InputError, StoreError
from brim.memory import Journal, MemoryEntry, MemoryView, ScratchWriter
from brim.memory.folder import LIVE, own_names, save
from brim.memory.index import LINES, render_index
from brim.memory.model import ScratchModel

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
    assert (first.scratch_path, second.scratch_path) == (
        ".context/scratch.md",
        ".context/bbbbbbbb/scratch.md",
    )
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
    assert [[entry.text for entry in writer.read().entries] for writer in writers] == [
        [w.session] for w in writers
    ]


@pytest.mark.parametrize(
    "session", ["../../etc", "a/b", "..", "x" * 65, "é", "\0", "\ud800", "a b"]
)
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


@pytest.mark.parametrize(
    "content", ["", "[]", "nonsense", '{"session": 5, "seen": "x"}', '{"seen": NaN}']
)
def test_a_damaged_note_of_the_owner_is_no_owner(tmp_path: Path, content: str) -> None:
    ScratchWriter(tmp_path, session="a").append_human_input("one")
    (tmp_path / ".context" / ".session").write_text(content)
    writer = ScratchWriter(tmp_path, session="b")
    writer.append_human_input("two")
    assert writer.scratch_path == ".context/scratch.md"


def kept_in(state: Path) -> list[Path]:
    return sorted((state / "scratch").glob("*.jsonl"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def test_cleanup_keeps_the_journal_and_removes_the_folder(tree: Path, tmp_path: Path) -> None:
    writer = ScratchWriter(tree, state_folder=tmp_path / "state")
    writer.append_human_input("go")
    (path,) = writer.cleanup()
    assert list(tree.iterdir()) == []
    assert [entry.text for entry in Journal(path).refresh()] == ["go"]
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state" / "scratch").stat().st_mode) == 0o700


def test_cleanup_keeps_the_journals_of_every_session(tree: Path, tmp_path: Path) -> None:
    for session in ("a", "b", "c"):
        ScratchWriter(tree, session=session).append_human_input(session)
    assert len(ScratchWriter(tree, state_folder=tmp_path / "state").cleanup()) == 3
    assert list(tree.iterdir()) == []
    texts = sorted(
        entry.text for path in kept_in(tmp_path / "state") for entry in Journal(str(path)).refresh()
    )
    assert texts == ["a", "b", "c"]


def test_after_30_days_a_kept_journal_goes(tree: Path, tmp_path: Path) -> None:
    now = 1e9
    for time in (now, now + JOURNALS - 1, now + JOURNALS + 1):
        writer = ScratchWriter(tree, state_folder=tmp_path / "state", clock=lambda time=time: time)  # type: ignore[misc]
        writer.append_human_input("go")
        writer.cleanup()
    assert len(kept_in(tmp_path / "state")) == 2


def test_other_files_in_the_users_folder_stay(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "state" / "scratch").mkdir(parents=True)
    (tmp_path / "state" / "scratch" / "mine.jsonl").write_text("x")
    writer = ScratchWriter(tree, state_folder=tmp_path / "state", clock=lambda: 1e12)
    writer.append_human_input("go")
    writer.cleanup()
    assert (tmp_path / "state" / "scratch" / "mine.jsonl").exists()


def test_what_somebody_else_put_into_the_folder_stays(tree: Path, tmp_path: Path) -> None:
    writer = ScratchWriter(tree, state_folder=tmp_path / "state")
    writer.append_human_input("go")
    (tree / ".context" / "notes.md").write_text("mine")
    writer.cleanup()
    assert (tree / ".context" / "notes.md").read_text() == "mine"
    assert not (tree / ".context" / "journal.jsonl").exists()
    assert ScratchWriter(tree).append_human_input("again") is not None


def test_if_the_journal_cannot_be_kept_nothing_is_removed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    writer = ScratchWriter(tree, state_folder=tmp_path / "state")
    writer.append_human_input("go")
    with pytest.raises(StoreError, match="nothing was removed"):
        writer.cleanup()
    assert [entry.text for entry in writer.read().entries] == ["go"]


def test_cleanup_where_nothing_is_does_nothing(tree: Path) -> None:
    assert ScratchWriter(tree).cleanup() == []


def test_a_writer_goes_on_after_a_cleanup(tree: Path, tmp_path: Path) -> None:
    writer = ScratchWriter(tree, state_folder=tmp_path / "state")
    writer.append_human_input("one")
    writer.cleanup()
    entry = writer.append_human_input("two")
    assert entry is not None
    assert (entry.number, [each.text for each in writer.read().entries]) == (1, ["two"])


def test_cleanups_and_appends_at_once_lose_nothing(tree: Path, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom brim.memory import ScratchWriter\n"
        "writer = ScratchWriter(sys.argv[1], state_folder=sys.argv[2], patience=60)\n"
        "for n in range(20):\n"
        "    writer.cleanup() if sys.argv[3] == 'clean' else writer.append_human_input(f'{sys.argv[3]} {n}')\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tree), str(tmp_path / "state"), name],
            stderr=subprocess.PIPE,
        )
        for name in ("a", "b", "clean")
    ]
    assert [run.communicate(timeout=300)[1] for run in runs] == [b"", b"", b""]
    kept = [Journal(str(path)).refresh() for path in kept_in(tmp_path / "state")] + [
        ScratchWriter(tree).read().entries
    ]
    assert sorted(entry.text for entries in kept for entry in entries) == sorted(
        f"{p} {n}" for p in "ab" for n in range(20)
    )


FIRST, SECOND = "aaaaaaaa-1", "bbbbbbbb-2"


def said(folder: Path, session: str, text: str) -> str:
    writer = ScratchWriter(folder, session=session)
    model = ScratchModel()
    model.add_human_input(text)
    writer.write_scratch(model)
    writer.close()
    return (folder / writer.scratch_path).read_text()


def test_the_index_of_a_session_counts_what_ended_ones_were_asked_and_does_not_repeat_it(
    tmp_path: Path,
) -> None:
    said(tmp_path, FIRST, "remove the login")
    text = said(tmp_path, SECOND, "write the docs")
    assert "write the docs" in text
    assert "remove the login" not in text
    assert (
        "## Human Input (1): .context/human-input.md\n- 1 of earlier sessions not shown: " in text
    )
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
        MemoryEntry(
            number=n,
            kind=kinds[n % len(kinds)],
            text=f"entry {n}",
            session=(FIRST, SECOND)[n % 7 > 2],
        )
        for n in range(1, 2001)
    ]
    assert len(render_index(MemoryView(entries), session=SECOND).splitlines()) == LINES
