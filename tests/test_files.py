"""Files are replaced whole, and a failure leaves nothing behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from brim.files import replace_file, write_new


def test_a_file_is_replaced_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    replace_file(str(path), b"old")
    replace_file(str(path), b"new", durable=False)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["state.json"]


def test_a_failure_before_the_rename_keeps_the_old_file_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"old")

    def fail(_: str) -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        replace_file(str(path), b"new", prepare=fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["state.json"]


def test_what_cannot_be_renamed_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "state.json"
    folder.mkdir()
    (folder / "inside").touch()
    with pytest.raises(OSError, match=r"."):
        replace_file(str(folder), b"new")
    assert os.listdir(tmp_path) == ["state.json"]


def test_a_new_file_is_never_written_over_another(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        write_new(str(path), b"other")
    assert path.read_bytes() == b"mine"


def test_a_signal_right_after_a_file_got_its_name_is_not_taken_for_a_failure(
    tmp_path: Path,
) -> None:
    class Rang(BaseException):
        pass

    def ring(_: object, event: str, called: object) -> None:
        if event == "c_return" and called is os.replace:
            # Where Python runs the handler of a signal.
            raise Rang

    path = tmp_path / "file"
    sys.setprofile(ring)
    try:
        with pytest.raises(Rang):
            replace_file(str(path), b"new")
    finally:
        sys.setprofile(None)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"file": b"new"}
