"""A project steers agents only after its user has accepted it; what was accepted is by repository."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from brim.config.trust import (
    UNREADABLE,
    agree_to_settings,
    is_trusted,
    settings_agreed,
    settings_digest,
    trust,
    trusted_projects,
    untrust,
    user_secret,
)
from brim.errors import InputError


def test_nothing_is_trusted_until_its_user_says_so_and_it_can_be_taken_back(tmp_path: Path) -> None:
    home, project = str(tmp_path / "home"), tmp_path / "shop"
    (project / ".brim").mkdir(parents=True)
    assert not is_trusted(str(project), home)
    trust(str(project), home)
    assert is_trusted(str(project), home)
    assert list(trusted_projects(home)) == [str(project)]
    assert not is_trusted(str(tmp_path / "other"), home)
    assert stat.S_IMODE(os.stat(home + "/accepted").st_mode) == 0o700
    assert untrust(str(project), home)
    assert not untrust(str(project), home)
    assert not is_trusted(str(project), home)
    with pytest.raises(InputError):
        trust(str(tmp_path / "gone"), home)


def test_settings_are_agreed_to_by_their_content(tmp_path: Path) -> None:
    home, project = str(tmp_path / "home"), tmp_path / "shop"
    (project / ".brim").mkdir(parents=True)
    path = project / ".brim" / "config.yaml"
    path.write_text("model: gpt-4o\n")
    agree_to_settings(str(project), home, "x")
    assert settings_agreed(str(project), home) == ""
    trust(str(project), home)
    assert settings_agreed(str(project), home) == settings_digest(str(project))
    path.write_text("model: gpt-4\n")
    assert settings_agreed(str(project), home) != settings_digest(str(project))
    path.unlink()
    path.mkdir()
    assert settings_digest(str(project)) == UNREADABLE


def test_the_secret_is_made_once_and_is_its_users_alone(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    secret = user_secret(home)
    assert (len(secret), user_secret(home)) == (64, secret)
    os.chmod(home + "/secret", 0o644)
    assert user_secret(home) != secret
