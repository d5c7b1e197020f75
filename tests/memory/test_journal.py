from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import StoreError
from brim.memory import Journal, MemoryEntry, ScratchModel, ScratchWriter
from brim.memory.journal import decoded, encoded
from tests.memory.making import said
from tests.memory.test_entries import JSON
from tests.memory.test_quotes import NASTY


@given(
    NASTY,
    NASTY,
    st.integers(1, 2**53),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
)
def test_an_entry_comes_back_as_it_was_from_one_line(
    text: str, session: str, number: int, time: float | None
) -> None:
    entry = MemoryEntry(
        number=number,
        id="x",
        session=session,
        time=time,
        kind="human",
        text=text,
        refs={"output": text},
    )
    line = encoded(entry)
    assert line.count(b"\n") == 1
    back = decoded(line)
    assert back is not None
    clean = {
        name: str(getattr(entry, name)).encode("utf-8", "replace")
        for name in ("number", "time", "kind")
    }
    assert {name: str(getattr(back, name)).encode() for name in clean} == clean
    if text.isascii():
        assert back.text == text


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_anything_else_is_no_entry_and_never_raises(line: bytes) -> None:
    assert decoded(line) is None


@given(st.dictionaries(st.sampled_from(MemoryEntry.__match_args__), JSON))
def test_fields_of_another_type_never_raise(fields: dict[str, object]) -> None:
    line = json.dumps({"number": 1, "kind": "human", "text": "x", **fields}).encode()
    found = decoded(line)
    assert found is None or (
        found.number > 0 and isinstance(found.text, str) and isinstance(found.refs, dict)
    )


def test_numbers_that_are_none_are_refused() -> None:
    for number in (0, -1, True, 1.5, "1", 10**400, None):
        assert (
            decoded(json.dumps({"number": number, "kind": "human", "text": "x"}).encode()) is None
        )


def test_a_time_that_is_none_is_unknown() -> None:
    for time in ("NaN", "Infinity", "true", '"now"', "1" + "0" * 400):
        entry = decoded(f'{{"number": 1, "kind": "human", "text": "x", "time": {time}}}'.encode())
        assert entry is not None
        assert entry.time is None


def entry(text: str) -> MemoryEntry:
    return MemoryEntry(kind="human", text=text)


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
@settings(deadline=None)
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
@settings(deadline=None)
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
        "from brim.memory import Journal, MemoryEntry\n"
        "from brim.errors import StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "journal = Journal(sys.argv[1])\n"
        "journal.append([MemoryEntry(kind='human', text='a')])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))\n"
        "try:\n    journal.append([MemoryEntry(kind='human', text='b'), MemoryEntry(kind='human', text='c' * 1000)])\n"
        "except StoreError as error:\n    print(error)\n"
    )
    path = tmp_path / "journal.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert "cannot be written" in done.stdout
    assert [each.text for each in journal_in(tmp_path).refresh()] == ["a"]
    assert path.read_bytes().endswith(b"\n")


def test_writers_killed_at_any_moment_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    told = tmp_path / "told"
    worktree = tmp_path / "tree"
    worktree.mkdir()
    script = Path(__file__).with_name("killing.py")
    subprocess.run([sys.executable, script, worktree, told, "150", "11"], check=True, timeout=300)
    journal = ScratchWriter(worktree).read()
    numbers = [each.number for each in journal.entries]
    assert numbers == sorted(set(numbers))
    kept = {(each.number, each.text[:40]) for each in journal.entries}
    acknowledged = [line.split(" ", 1) for line in told.read_text().splitlines()]
    assert len(acknowledged) > 50
    assert [
        (number, text) for number, text in acknowledged if (int(number), text) not in kept
    ] == []
    assert journal.broken > 0
    ScratchWriter(worktree).append_human_input("afterwards")
    index = (worktree / ".context" / "scratch.md").read_text()
    assert index.endswith("\n")
    assert "afterwards" in index
    assert [name for name in os.listdir(worktree / ".context") if name.startswith(".tmp-")] == []


def test_many_processes_at_once_give_every_entry_its_own_number(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom brim.memory import ScratchWriter\n"
        "writer = ScratchWriter(sys.argv[1], patience=60)\n"
        "for n in range(12):\n"
        "    entry = writer.append_human_input(f'{sys.argv[2]} {n}')\n"
        "    print(entry.number, entry.text)\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), f"p{n}"], stdout=subprocess.PIPE, text=True
        )
        for n in range(5)
    ]
    told = [line for run in runs for line in run.communicate(timeout=300)[0].splitlines()]
    assert all(run.returncode == 0 for run in runs)
    journal = ScratchWriter(tmp_path).read()
    assert sorted(told) == sorted(f"{each.number} {each.text}" for each in journal.entries)
    assert [each.number for each in journal.entries] == list(range(1, 61))
    assert (
        journal.broken,
        (tmp_path / ".context" / "human-input.md").read_text().count("\n## #"),
    ) == (0, 60)


def test_a_number_out_of_all_reach_is_damage_and_is_not_counted_on_from(tmp_path: Path) -> None:
    journal_in(tmp_path).append([entry("a")])
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'{"number": 9007199254740992, "kind": "human", "text": "far"}\n')
    assert [each.number for each in journal_in(tmp_path).append([entry("b")])] == [3]
    found = journal_in(tmp_path)
    assert [(each.number, each.text) for each in found.refresh()] == [(1, "a"), (3, "b")]
    assert found.broken == 1


def texts(worktree: Path, kind: str = "human") -> list[str]:
    return [entry.text for entry in ScratchWriter(worktree).read().entries if entry.kind == kind]


def test_appended_then_written_is_one(tmp_path: Path) -> None:
    model, writer = ScratchModel(), ScratchWriter(tmp_path)
    model.extract(said("go"))
    writer.append_human_input("go")
    writer.write_scratch(model)
    assert texts(tmp_path) == ["go"]


def test_written_then_appended_is_one(tmp_path: Path) -> None:
    model, writer = ScratchModel(), ScratchWriter(tmp_path)
    model.add_dead_end("no way")
    writer.write_scratch(model)
    entry = writer.append_dead_end("no way")
    assert texts(tmp_path, "dead-end") == ["no way"]
    assert entry is not None
    assert entry.number == model.entries[0].number


def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    model, writer = ScratchModel("job", "phase"), ScratchWriter(tmp_path)
    model.extract(said("go"))
    assert [entry.text for entry in writer.write_scratch(model)] == ["go"]
    before = (tmp_path / ".context" / "journal.jsonl").read_bytes()
    assert writer.write_scratch(model) == []
    assert (tmp_path / ".context" / "journal.jsonl").read_bytes() == before


STEP = st.tuples(
    st.sampled_from(["go", "stop"]),
    st.permutations(["extract", "append"]),
    st.sets(st.integers(0, 2)),
    st.booleans(),
)


@given(st.lists(STEP, max_size=5))
@settings(max_examples=30, deadline=None)
def test_every_interleaving_gives_each_saying_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[str], set[int], bool]]
) -> None:
    """Each saying is extracted and appended, in either order, and the model is written at any
    places in between."""
    worktree = tmp_path_factory.mktemp("tree")
    model, writer = ScratchModel(find_dead_ends=False), ScratchWriter(worktree)
    for number, (text, order, writes, identified) in enumerate(steps):
        for at, what in enumerate(order):
            if at in writes:
                writer.write_scratch(model)
            if what == "extract":
                model.extract(said(text, id=f"u{number}" if identified else ""))
            else:
                writer.append_human_input(text)
        if 2 in writes:
            writer.write_scratch(model)
    writer.write_scratch(model)
    assert Counter(texts(worktree)) == Counter(text for text, *_ in steps)


@given(st.lists(STEP, max_size=5), st.randoms())
@settings(max_examples=20, deadline=None)
def test_order_between_sayings_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, list[str], set[int], bool]],
    shuffle: object,
) -> None:
    """All appends and all extractions, shuffled, with writes anywhere: as many as were said."""
    worktree = tmp_path_factory.mktemp("tree")
    model, writer = ScratchModel(find_dead_ends=False), ScratchWriter(worktree)
    todo = [(what, text) for text, *_ in steps for what in ("extract", "append")] + [
        ("write", "")
    ] * 3
    shuffle.shuffle(todo)  # type: ignore[attr-defined]
    for what, text in [*todo, ("write", "")]:
        if what == "extract":
            model.extract(said(text))
        elif what == "append":
            writer.append_human_input(text)
        else:
            writer.write_scratch(model)
    assert Counter(texts(worktree)) == Counter(text for text, *_ in steps)


def test_the_same_words_in_a_new_process_are_said_again(tmp_path: Path) -> None:
    for _ in range(2):
        model, writer = ScratchModel(), ScratchWriter(tmp_path)
        model.extract(said("go"))
        writer.append_human_input("go")
        writer.write_scratch(model)
    assert texts(tmp_path) == ["go", "go"]


def test_two_models_of_one_writer_are_two_sources(tmp_path: Path) -> None:
    writer = ScratchWriter(tmp_path)
    for _ in range(2):
        model = ScratchModel()
        model.extract(said("go"))
        writer.write_scratch(model)
    assert texts(tmp_path) == ["go", "go"]


def test_an_event_that_is_in_the_journal_is_not_written_again(tmp_path: Path) -> None:
    for _ in range(3):
        model = ScratchModel()
        for number in range(3):
            model.extract(said("go", id=f"u{number}", session="s"))
        ScratchWriter(tmp_path).write_scratch(model)
    assert texts(tmp_path) == ["go"] * 3


def test_the_same_event_id_in_another_session_is_another_event(tmp_path: Path) -> None:
    for session in ("s", "t"):
        model = ScratchModel()
        model.extract(said("go", id="u1", session=session))
        ScratchWriter(tmp_path).write_scratch(model)
        model = ScratchModel()
        model.extract(said("go", id="u1"))
        ScratchWriter(tmp_path, session=session, claim=False).write_scratch(model)
    assert len(texts(tmp_path)) == 4


def test_what_another_process_appended_is_recognised_by_time_once(tmp_path: Path) -> None:
    """A hook appends what was typed; the supervisor reads the event of it, and later another one of
    the same words."""
    ScratchWriter(tmp_path, session="s", clock=lambda: 1000.0).append_human_input("go")
    for id, time in (("u1", 1001.0), ("u2", 1002.0), ("u1", 1001.0)):
        model = ScratchModel()
        model.extract(said("go", id=id, session="s", time=time))
        ScratchWriter(tmp_path, session="s").write_scratch(model)
    assert texts(tmp_path) == ["go", "go"]
    ScratchWriter(tmp_path, session="s", clock=lambda: 5000.0).append_human_input("on")
    model = ScratchModel()
    model.extract(said("on", id="u3", session="s", time=9000.0))
    ScratchWriter(tmp_path, session="s").write_scratch(model)
    assert texts(tmp_path)[2:] == ["on", "on"]


@pytest.mark.parametrize("identified", [True, False])
def test_a_session_read_again_from_its_beginning_doubles_nothing(
    tmp_path: Path, identified: bool
) -> None:
    ScratchWriter(tmp_path, session="s", clock=lambda: 1e9).append_human_input("go")
    for _ in range(3):
        model = ScratchModel()
        for number in range(3):
            model.extract(said("go", id=f"u{number}" if identified else "", session="s"))
        ScratchWriter(tmp_path, session="s").write_scratch(model, replay=True)
    assert texts(tmp_path) == ["go"] * 3
