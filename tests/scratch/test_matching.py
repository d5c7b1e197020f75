"""Handing an entry over by itself and in a model is one entry, in whichever order; saying it twice is two."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.scratch import ScratchModel, ScratchWriter
from tests.scratch.making import said


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
    st.sampled_from(["go", "stop"]), st.permutations(["extract", "append"]), st.sets(st.integers(0, 2)), st.booleans()
)


@given(st.lists(STEP, max_size=5))
@settings(max_examples=60, deadline=None)
def test_every_interleaving_gives_each_saying_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[str], set[int], bool]]
) -> None:
    """Each saying is extracted and appended, in either order, and the model is written at any places in between."""
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
@settings(max_examples=30, deadline=None)
def test_order_between_sayings_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[str], set[int], bool]], shuffle: object
) -> None:
    """All appends and all extractions, shuffled, with writes anywhere: as many as were said."""
    worktree = tmp_path_factory.mktemp("tree")
    model, writer = ScratchModel(find_dead_ends=False), ScratchWriter(worktree)
    todo = [(what, text) for text, *_ in steps for what in ("extract", "append")] + [("write", "")] * 3
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
    """A hook appends what was typed; the supervisor reads the event of it, and later another one of the same words."""
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
def test_a_session_read_again_from_its_beginning_doubles_nothing(tmp_path: Path, identified: bool) -> None:
    ScratchWriter(tmp_path, session="s", clock=lambda: 1e9).append_human_input("go")
    for _ in range(3):
        model = ScratchModel()
        for number in range(3):
            model.extract(said("go", id=f"u{number}" if identified else "", session="s"))
        ScratchWriter(tmp_path, session="s").write_scratch(model, replay=True)
    assert texts(tmp_path) == ["go"] * 3
