from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from brim.errors import StoreError
from brim.scratch import Journal, ScratchWriter
from brim.scratch.folder import KEPT


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
    texts = sorted(entry.text for path in kept_in(tmp_path / "state") for entry in Journal(str(path)).refresh())
    assert texts == ["a", "b", "c"]


def test_after_30_days_a_kept_journal_goes(tree: Path, tmp_path: Path) -> None:
    now = 1e9
    for time in (now, now + KEPT - 1, now + KEPT + 1):
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
        "import sys\nfrom brim.scratch import ScratchWriter\n"
        "writer = ScratchWriter(sys.argv[1], state_folder=sys.argv[2], patience=60)\n"
        "for n in range(20):\n"
        "    writer.cleanup() if sys.argv[3] == 'clean' else writer.append_human_input(f'{sys.argv[3]} {n}')\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tree), str(tmp_path / "state"), name], stderr=subprocess.PIPE)
        for name in ("a", "b", "clean")
    ]
    assert [run.communicate(timeout=60)[1] for run in runs] == [b"", b"", b""]
    kept = [Journal(str(path)).refresh() for path in kept_in(tmp_path / "state")] + [ScratchWriter(tree).read().entries]
    assert sorted(entry.text for entries in kept for entry in entries) == sorted(
        f"{p} {n}" for p in "ab" for n in range(20)
    )
