"""What an agent reads in ``.context/``: each rule of ``scratch.md``, on files that were written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import Event
from brim.agents.events import Message
from brim.memory import ScratchModel, ScratchWriter
from brim.memory.entries import draft
from brim.memory.index import LINES
from tests.memory.making import call, failed, ok
from tests.texts import ANY_TEXT

ERROR = "Exit code 2\ncc: error: unknown option -q"


def written(folder: Path, *events: Event) -> dict[str, str]:
    """Give *events* to a model, write it, and return the files that an agent may read."""
    model = ScratchModel()
    for place, event in enumerate(events):
        model.extract(replace(event, at=place * 100))
    ScratchWriter(folder).write_scratch(model)
    return {path.name: path.read_text() for path in (folder / ".context").glob("*.md")}


def tries(*outcomes: bool, command: str = "make -q") -> list[Event]:
    """Return a call of *command* and its end for each of *outcomes*: whether it went well."""
    events: list[Event] = []
    for number, went_well in enumerate(outcomes):
        id = f"{command} {number}"
        events.append(call(id, "Bash", "shell", command=command))
        events.append(ok(id, "done") if went_well else failed(id, ERROR))
    return events


def lines_of(text: str, part: str) -> list[str]:
    return [line for line in text.splitlines() if part in line and line.startswith("- #")]


def test_the_same_failing_command_is_one_line_with_its_number(tmp_path: Path) -> None:
    files = written(tmp_path, *tries(False, True, False, False, True, False))
    (line,) = lines_of(files["scratch.md"], "make -q")
    assert line.endswith(
        "`make -q`: ended with 2 ×4; quoted output: `cc: error: unknown option -q`"
    )
    assert files["commands.md"].count("## #") == 1
    assert "- times: 4" in files["commands.md"].splitlines()


def test_a_command_that_failed_once_has_no_number(tmp_path: Path) -> None:
    files = written(tmp_path, *tries(False), *tries(False, command="make other"))
    assert "×" not in files["scratch.md"]


def test_a_third_failing_call_is_a_dead_end_that_says_what_was_tried_and_why_it_failed(
    tmp_path: Path,
) -> None:
    files = written(tmp_path, *tries(False, False, False))
    section = files["scratch.md"].partition("## Dead Ends")[2].partition("\n## ")[0]
    (line,) = lines_of(section, "make -q")
    assert "failed the same way 3 times" in line
    assert "`cc: error: unknown option -q`" in line
    for evidence in ("- what: `make -q`", "- quoted output: `cc: error: unknown option -q`"):
        assert evidence in files["dead-ends.md"].splitlines()


@pytest.mark.parametrize("outcomes", [(False, False), (False, False, True, False, False)])
def test_fewer_than_three_failures_in_a_row_are_no_dead_end(
    tmp_path: Path, outcomes: tuple[bool, ...]
) -> None:
    assert "## Dead Ends (0)" in written(tmp_path, *tries(*outcomes))["scratch.md"]


def test_a_success_takes_a_dead_end_back(tmp_path: Path) -> None:
    files = written(tmp_path, *tries(False, False, False, True))
    assert "## Dead Ends (0)" in files["scratch.md"]


def test_a_place_in_no_stream_is_not_shown(tmp_path: Path) -> None:
    model = ScratchModel()
    for event in tries(False, False, False):
        model.extract(event)  # as hooks do it: nothing says at which byte
    ScratchWriter(tmp_path).write_scratch(model)
    details = (tmp_path / ".context" / "dead-ends.md").read_text()
    assert "make -q" in details
    assert "at byte" not in details


def test_places_in_a_stream_are_shown(tmp_path: Path) -> None:
    details = written(tmp_path, *tries(False, False, False))["dead-ends.md"]
    assert "- at byte: 200, 400" in details.splitlines()


@pytest.mark.parametrize("session", ["", "12345678-9abc-4def-8123-456789abcdef"])
def test_every_section_names_its_file_and_the_file_is_there(tmp_path: Path, session: str) -> None:
    other = ScratchWriter(tmp_path, session="another")
    other.append_human_input("Go on")
    writer = ScratchWriter(tmp_path, session=session)
    writer.append_human_input("Port the parser")
    writer.add([draft("lost", "src/a.py", session=session, source="1", refs={"noun": "file"})])
    index = (tmp_path / writer.scratch_path).read_text()
    pointers = re.findall(r"^## .*: (\S+)$", index, re.MULTILINE)
    assert len(pointers) == 7
    for pointer in pointers:
        assert (tmp_path / pointer).is_file()
        assert (tmp_path / pointer).parent == (tmp_path / writer.scratch_path).parent


@given(
    prompts=st.lists(ANY_TEXT, max_size=20),
    commands=st.lists(ANY_TEXT, max_size=20),
    copies=st.integers(1, 30),
)
def test_the_file_has_at_most_200_lines_and_every_pointer_leads_somewhere(
    tmp_path_factory: pytest.TempPathFactory, prompts: list[str], commands: list[str], copies: int
) -> None:
    folder = tmp_path_factory.mktemp("memory")
    events: list[Event] = []
    for copy in range(copies):
        events += [Message(role="user", text=f"{text} {copy}", human=True) for text in prompts]
        for place, command in enumerate(commands):
            id = f"{copy} {place}"
            events.append(call(id, "Bash", "shell", command=f"run {copy} {command}"))
            events.append(failed(id, ERROR))
    files = written(folder, *events)
    assert len(files["scratch.md"].splitlines()) <= LINES
    for pointer in re.findall(r": \.context/([\w-]+\.md)$", files["scratch.md"], re.MULTILINE):
        assert pointer in files
