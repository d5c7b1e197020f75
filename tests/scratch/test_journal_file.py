from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import StoreError
from brim.scratch import Entry, Journal, ScratchWriter
from tests.scratch.test_quoting import NASTY


def entry(text: str) -> Entry:
    return Entry(kind="human", text=text)


def journal_in(folder: Path) -> Journal:
    return Journal(str(folder / "journal.jsonl"))


def test_numbers_begin_at_1_and_go_on_in_another_process(tmp_path: Path) -> None:
    assert [each.number for each in journal_in(tmp_path).append([entry("a"), entry("b")])] == [1, 2]
    assert [each.number for each in journal_in(tmp_path).append([entry("c")])] == [3]
    assert [each.text for each in journal_in(tmp_path).refresh()] == ["a", "b", "c"]


def test_what_others_append_is_read_from_where_one_was(tmp_path: Path) -> None:
    mine, theirs = journal_in(tmp_path), journal_in(tmp_path)
    mine.append([entry("a")])
    theirs.append([entry("b")])
    assert [(each.number, each.text) for each in mine.refresh()] == [(1, "a"), (2, "b")]
    assert mine.version == 0


def test_a_line_torn_at_any_byte_is_ended_skipped_and_counted(tmp_path: Path) -> None:
    journal_in(tmp_path).append([entry("kept"), entry("torn äö \u2028")])
    whole = (tmp_path / "journal.jsonl").read_bytes()
    start = whole.index(b"\n") + 1
    for cut in range(start, len(whole)):
        (tmp_path / "journal.jsonl").write_bytes(whole[:cut])
        journal = journal_in(tmp_path)
        assert [each.text for each in journal.refresh()] == ["kept"]
        (added,) = journal.append([entry("next")])
        again = journal_in(tmp_path)
        numbers = [each.number for each in again.refresh()]
        assert again.entries[-1] == added
        assert numbers == sorted(set(numbers))
        complete = cut == len(whole) - 1
        assert again.broken == (0 if complete or cut == start else 1)
        assert len(numbers) == (3 if complete else 2)


def test_a_damaged_line_keeps_its_number(tmp_path: Path) -> None:
    journal_in(tmp_path).append([entry("a"), entry("b"), entry("c")])
    path = tmp_path / "journal.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], b"\xff\x00garbage", b""]))
    journal = journal_in(tmp_path)
    assert [each.number for each in journal.append([entry("d")])] == [4]
    assert journal.broken == 1


@given(st.lists(st.binary(max_size=40), max_size=6))
@settings(max_examples=50, deadline=None)
def test_any_bytes_in_the_file_lose_no_entry_that_is_appended(
    tmp_path_factory: pytest.TempPathFactory, junk: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    for piece in junk:
        with open(folder / "journal.jsonl", "ab") as file:
            file.write(piece)
        journal_in(folder).append([entry("x")])
    found = journal_in(folder).refresh()
    assert [each.text for each in found] == ["x"] * len(junk)
    assert len({each.number for each in found}) == len(junk)


@given(st.lists(st.binary(max_size=40), max_size=6), st.sampled_from([b"\n", b"x", b'"y"']))
@settings(max_examples=50, deadline=None)
def test_who_passes_lines_over_goes_on_with_the_same_number(
    tmp_path_factory: pytest.TempPathFactory, junk: list[bytes], only: bytes
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    for piece in junk:
        with open(folder / "journal.jsonl", "ab") as file:
            file.write(piece)
        journal_in(folder).append([entry("x")])
    whole = (folder / "journal.jsonl").read_bytes() if junk else b""
    (known,) = journal_in(folder).append([entry("y")])
    (folder / "journal.jsonl").write_bytes(whole)
    journal = journal_in(folder)
    found = journal.refresh(only=only)
    assert [each.text for each in found if only == b"x"] == ["x"] * len(junk) * (only == b"x")
    assert [each.number for each in journal.append([entry("y")])] == [known.number]


@given(st.lists(NASTY, min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_every_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("journal")
    journal_in(folder).append([entry(text) for text in texts])
    found = [each.text for each in journal_in(folder).refresh()]
    assert found == [re.sub("[\ud800-\udfff]", "\ufffd", text) for text in texts]


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.append([entry("a"), entry("b")])
    (tmp_path / "journal.jsonl").unlink()
    assert journal.refresh() == []
    assert [each.number for each in journal.append([entry("c")])] == [1]


def test_a_link_a_pipe_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    for make in (
        lambda path: path.symlink_to(tmp_path / "elsewhere"),
        os.mkfifo,
        lambda path: path.mkdir(),
    ):
        folder = tmp_path / f"f{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        make(folder / "journal.jsonl")
        with pytest.raises(StoreError):
            journal_in(folder).append([entry("a")])
    assert (tmp_path / "elsewhere").read_text() == ""


def test_on_a_full_disk_nothing_is_half_written(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys\n"
        "from brim.scratch import Entry, Journal\n"
        "from brim.errors import StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "journal = Journal(sys.argv[1])\n"
        "journal.append([Entry(kind='human', text='a')])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))\n"
        "try:\n    journal.append([Entry(kind='human', text='b'), Entry(kind='human', text='c' * 1000)])\n"
        "except StoreError as error:\n    print(error)\n"
    )
    path = tmp_path / "journal.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert "cannot be written" in done.stdout
    assert [each.text for each in journal_in(tmp_path).refresh()] == ["a"]
    assert path.read_bytes().endswith(b"\n")


def test_writers_killed_at_any_moment_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    told = tmp_path / "told"
    worktree = tmp_path / "tree"
    worktree.mkdir()
    script = Path(__file__).with_name("killing.py")
    subprocess.run([sys.executable, script, worktree, told, "300", "11"], check=True, timeout=120)
    journal = ScratchWriter(worktree).read()
    numbers = [each.number for each in journal.entries]
    assert numbers == sorted(set(numbers))
    kept = {(each.number, each.text[:40]) for each in journal.entries}
    acknowledged = [line.split(" ", 1) for line in told.read_text().splitlines()]
    assert len(acknowledged) > 50
    assert [(number, text) for number, text in acknowledged if (int(number), text) not in kept] == []
    assert journal.broken > 0
    ScratchWriter(worktree).append_human_input("afterwards")
    index = (worktree / ".context" / "scratch.md").read_text()
    assert index.endswith("\n")
    assert "afterwards" in index
    assert [name for name in os.listdir(worktree / ".context") if name.startswith(".tmp-")] == []


def test_many_processes_at_once_give_every_entry_its_own_number(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom brim.scratch import ScratchWriter\n"
        "writer = ScratchWriter(sys.argv[1], patience=60)\n"
        "for n in range(12):\n"
        "    entry = writer.append_human_input(f'{sys.argv[2]} {n}')\n"
        "    print(entry.number, entry.text)\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), f"p{n}"], stdout=subprocess.PIPE, text=True)
        for n in range(5)
    ]
    told = [line for run in runs for line in run.communicate(timeout=120)[0].splitlines()]
    assert all(run.returncode == 0 for run in runs)
    journal = ScratchWriter(tmp_path).read()
    assert sorted(told) == sorted(f"{each.number} {each.text}" for each in journal.entries)
    assert [each.number for each in journal.entries] == list(range(1, 61))
    assert (journal.broken, (tmp_path / ".context" / "human-input.md").read_text().count("\n## #")) == (0, 60)


def test_a_number_out_of_all_reach_is_damage_and_is_not_counted_on_from(tmp_path: Path) -> None:
    journal_in(tmp_path).append([entry("a")])
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'{"number": 9007199254740992, "kind": "human", "text": "far"}\n')
    assert [each.number for each in journal_in(tmp_path).append([entry("b")])] == [3]
    found = journal_in(tmp_path)
    assert [(each.number, each.text) for each in found.refresh()] == [(1, "a"), (3, "b")]
    assert found.broken == 1
