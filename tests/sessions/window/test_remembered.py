"""What a watch remembers of models for the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.models.light import lookup
from brim.sessions.window.remembered import Memory
from brim.tokens.calibrate import Calibration


def test_a_reported_window_is_known_to_the_next_watch(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path))
    memory.window("my-own-model", 123_000)
    memory.close()
    assert lookup("my-own-model").context_window != 123_000
    following = Memory(str(tmp_path))
    assert lookup("my-own-model").context_window == 123_000
    following.close()


def test_looking_makes_no_file(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path / "home"))
    memory.window("gpt-4o", lookup("gpt-4o").context_window)
    assert memory.calibrations.get("my-own-model") is None
    memory.close()
    assert not (tmp_path / "home").exists()


def test_a_ratio_is_known_to_the_next_watch(tmp_path: Path) -> None:
    calibration = Calibration(1.25, 0.1, 3.0)
    Memory(str(tmp_path)).calibrations.put("my-own-model", calibration)
    following = Memory(str(tmp_path))
    assert following.calibrations.get("my-own-model") == calibration
    following.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\xff",
        b"[]",
        b'{"windows": 1, "calibrations": []}',
        b'{"windows": {"m": "x"}, "calibrations": {"m": [1, "x"]}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_as_if_nothing_were_known(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "models.json").write_bytes(content)
    memory = Memory(str(tmp_path))
    assert memory.windows.get("m") is None
    assert memory.calibrations.get("m") is None
    memory.window("m", 5_000)
    assert memory.windows.get("m") == 5_000
    memory.close()


def test_a_folder_that_cannot_be_written_changes_nothing_but_that(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    memory = Memory(str(tmp_path / "home"))
    memory.window("my-own-model", 123_000)
    assert memory.windows.get("my-own-model") is None
    memory.close()
