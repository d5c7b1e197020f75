"""The log of the hooks: one masked line per failure, in files that stay small, and never a failure
of its own."""

from __future__ import annotations

import os
from pathlib import Path

from brim.config.retention import LARGEST_LOG
from brim.hooks.state import LONGEST_LINE, log, log_path


def test_a_line_has_the_time_and_no_secret(tmp_path: Path) -> None:
    environ = {"BRIM_HOME": str(tmp_path)}
    log(environ, "Stop claude: sk-ant-api03-" + "a1B2" * 20 + "\nsecond line", now=0.0)
    text = Path(log_path(environ)).read_text(encoding="utf-8")
    assert text.startswith("1970-01-01T00:00:00Z Stop claude: [masked")
    assert text.endswith("second line\n")
    assert text.count("\n") == 1
    assert os.stat(log_path(environ)).st_mode & 0o777 == 0o600


def test_a_line_is_short(tmp_path: Path) -> None:
    environ = {"BRIM_HOME": str(tmp_path)}
    log(environ, "x" * 100_000, now=0.0)
    assert len(Path(log_path(environ)).read_text(encoding="utf-8")) < LONGEST_LINE + 30


def test_a_full_file_makes_room(tmp_path: Path) -> None:
    environ = {"BRIM_HOME": str(tmp_path)}
    path = Path(log_path(environ))
    path.parent.mkdir()
    path.write_text("x" * LARGEST_LOG, encoding="utf-8")
    log(environ, "last of the old one", now=0.0)
    log(environ, "first of the new one", now=0.0)
    assert path.read_text(encoding="utf-8") == "1970-01-01T00:00:00Z first of the new one\n"
    assert "last of the old one" in Path(f"{path}.1").read_text(encoding="utf-8")


def test_a_home_that_is_gone_stays_gone(tmp_path: Path) -> None:
    log({"BRIM_HOME": str(tmp_path / "gone")}, "line", now=0.0)
    assert not (tmp_path / "gone").exists()


def test_where_nothing_can_be_written_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file, not a folder", encoding="utf-8")
    log({"BRIM_HOME": str(tmp_path)}, "line", now=0.0)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "a file, not a folder"
