"""Many files are read to the same index, however many processes take part."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.sessions.bulk import read_all
from tests.sessions.tree import assert_sums_are_right, open_index, transcripts
from tests.sessions.window.transcripts import answer, result, usage, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree of six sessions; each begins with the lines of the one before."""
    root = tmp_path / "projects"
    for number in range(6):
        lines = [
            answer(f"m{number + back}", f"r{number + back}", usage(10, 100), session=f"s-{number}")
            for back in (0, 1)
        ]
        write(root / f"s-{number}.jsonl", *lines, result("y" * 1_000))
    return root


@pytest.mark.parametrize("processes", [1, 3])
def test_the_first_file_owns_a_request(tmp_path: Path, root: Path, processes: int) -> None:
    with open_index(tmp_path) as index:
        result = read_all(index, transcripts(root), processes=processes)
        assert result.files == 6
        owners = {request.key: request.session for request in index.requests()}
        assert owners == {
            "m0:r0": "s-0",
            "m1:r1": "s-0",
            **{f"m{number + 1}:r{number + 1}": f"s-{number}" for number in range(1, 6)},
        }
        assert read_all(index, transcripts(root), processes=processes).new_bytes == 0
        assert_sums_are_right(index)


def test_progress_is_told_for_each_file(tmp_path: Path, root: Path) -> None:
    steps: list[tuple[int, int, int]] = []
    with open_index(tmp_path) as index:
        read_all(index, transcripts(root), on_read=lambda *step: steps.append(step))
    size = sum(path.stat().st_size for path in root.iterdir())
    assert [step[1:] for step in steps] == [(size, 6)] * 6
    assert sum(step[0] for step in steps) == size


def test_what_was_read_before_an_interruption_is_kept(tmp_path: Path, root: Path) -> None:
    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with open_index(tmp_path) as index:
        with pytest.raises(KeyboardInterrupt):
            read_all(index, transcripts(root), on_read=interrupt)
        assert len(index.requests()) == 2
        assert len(index.unread(transcripts(root))) == 5


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, root: Path) -> None:
    (root / "s-9.jsonl").mkdir()
    with open_index(tmp_path) as index:
        result = read_all(index, transcripts(root))
        assert [problem.partition(":")[0] for problem in result.failed] == [str(root / "s-9.jsonl")]
        assert len(index.requests()) == 7
