"""The token of the HTTP server."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from brim.errors import StoreError
from brim.mcp.http import read_token, token_file

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="rights are of another kind there")


@needs_modes
def test_a_token_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    token = read_token(home)
    assert len(token) == 64
    assert read_token(home) == token
    assert os.stat(token_file(home)).st_mode & 0o777 == 0o600
    assert read_token(str(tmp_path / "other")) != token


@needs_modes
def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    read_token(str(tmp_path))
    os.chmod(token_file(str(tmp_path)), 0o644)
    with pytest.raises(StoreError, match="isn't secret"):
        read_token(str(tmp_path))


@pytest.mark.parametrize("content", ["", "short\n", "x y " * 20])
def test_a_file_that_holds_no_token_is_refused(tmp_path: Path, content: str) -> None:
    path = Path(token_file(str(tmp_path)))
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(StoreError, match="holds no token"):
        read_token(str(tmp_path))


@needs_modes
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("a" * 64)
    os.symlink(tmp_path / "elsewhere", token_file(str(tmp_path)))
    with pytest.raises(StoreError):
        read_token(str(tmp_path))
