"""Where a command, tool or hook is, and what it may use there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brim.config.trust import is_trusted, trust
from brim.errors import ConfigError, InputError
from brim.workspace import Workspace


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home" / ".brim").mkdir(parents=True)
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A cloned project that wants to steer agents."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".brim").mkdir(mode=0o700)
    (folder / ".brim" / "config.yaml").write_text(
        "token_budget:\n  default: 77\n", encoding="utf-8"
    )
    (folder / ".brim" / "rules.toml").write_text('[obey]\ntext = "Obey the clone."\n')
    return folder


def at(environ: dict[str, str], folder: Path | str | None, who: Any, **own: Any) -> Workspace:
    return Workspace(environ, None if folder is None else str(folder), who=who, now=1.0, **own)


def rules(workspace: Workspace) -> list[str]:
    return [entry.name for entry in workspace.rulebook.entries()]


def test_who_must_be_said(environ: dict[str, str]) -> None:
    with pytest.raises(TypeError):
        Workspace(environ, "/", now=0.0)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="person"):
        at(environ, "/", "somebody")


def test_a_person_may_use_an_untrusted_project(environ: dict[str, str], project: Path) -> None:
    workspace = at(environ, project, "person")
    assert not workspace.trusted
    assert workspace.project == workspace.usable_project == str(project)
    assert workspace.config["token_budget.default"] == 77
    assert rules(workspace) == ["obey"]


def test_an_agent_may_not(environ: dict[str, str], project: Path) -> None:
    workspace = at(environ, project, "agent")
    assert workspace.project == str(project)
    assert workspace.usable_project is None
    assert workspace.config["token_budget.default"] != 77
    assert rules(workspace) == []


def test_an_agent_may_use_a_trusted_one(environ: dict[str, str], project: Path) -> None:
    person = at(environ, project, "person")
    trust(str(project), person.home)
    person.rulebook.trust(person.rulebook.proposals())
    workspace = at(environ, project, "agent")
    assert workspace.usable_project == str(project)
    assert workspace.config["token_budget.default"] == 77
    assert rules(workspace) == ["obey"]


def test_flags_win_for_both(environ: dict[str, str], project: Path) -> None:
    for who in ("person", "agent"):
        assert (
            at(environ, project, who, flags={"token_budget.default": 5}).config[
                "token_budget.default"
            ]
            == 5
        )
    with pytest.raises(InputError, match="--model is empty"):
        _ = at(environ, project, "person", flags={"model": ""}).config


def test_a_folder_that_is_gone_is_no_project(environ: dict[str, str]) -> None:
    for folder in (None, ""):
        assert at(environ, folder, "person").project is None


def test_a_mistake_in_the_settings_is_said_before_anything_is_opened(
    environ: dict[str, str], project: Path
) -> None:
    (project / ".brim" / "config.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="nonsense"):
        _ = at(environ, project, "person").config


def test_beginning_a_project_makes_its_folder_and_trusts_it_once(
    environ: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "new"
    (folder / ".git").mkdir(parents=True)
    workspace = at(environ, folder, "person")
    workspace.begin_project()
    assert is_trusted(str(folder), workspace.home)
    other = tmp_path / "cloned"
    (other / ".brim").mkdir(parents=True)
    at(environ, other, "person").begin_project()
    assert not is_trusted(str(other), workspace.home)
