"""A project's file proposes, what the user accepted decides."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brim.rules.accepted import (
    AcceptedRules,
    RulesDecision,
    decide_own,
    decide_project,
    write_removed,
)
from brim.rules.file import RulesFile, read_content

UV = '[uv]\ntext = "Use uv, never pip."\nblock = ["pip install"]\n\n'
PUSH = '[push]\ntext = "Never push to main."\n\n'
PNPM = '[pnpm]\ntext = "Use pnpm."\n'


class Project:
    """A project with a file of rules, and what its user accepted."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.path = folder / ".brim" / "rules.toml"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.accepted = AcceptedRules(str(home), str(folder))

    def write(self, text: str) -> None:
        self.path.write_text(text)

    def accept(self, *names: str) -> None:
        self.accepted.accept(self.path.read_text(), names or None)

    def decide(self) -> RulesDecision:
        return decide_project(read_content(str(self.path)), "rules.toml", self.accepted.load())

    def rules(self) -> dict[str, str]:
        return {rule.name: rule.text for rule in self.decide().rules}

    def proposals(self) -> list[tuple[str, str]]:
        return [(proposal.kind, proposal.name) for proposal in self.decide().proposals]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "shop", tmp_path / "home")
    project.write(UV + PUSH)
    project.accept()
    return project


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_emptied_file_lifts_nothing(project: Project, text: str) -> None:
    project.write(text)
    assert sorted(project.rules()) == ["push", "uv"]
    assert project.decide().news == (
        "rules.toml is empty: its 2 rules go on applying. To write it again: brim rules restore",
    )


def test_nothing_of_a_project_applies_before_it_was_accepted(tmp_path: Path) -> None:
    project = Project(tmp_path / "shop", tmp_path / "home")
    project.write(UV)
    assert not project.accepted.exists
    assert project.rules() == {}
    assert project.proposals() == [("new", "uv")]


def test_comments_order_and_spaces_need_no_consent(project: Project) -> None:
    project.write(f"# ours\n{PUSH}# why\n{UV.replace(' = ', '   =   ')}")
    assert set(project.rules()) == {"uv", "push"}
    assert project.proposals() == []


def test_new_and_changed_rules_wait(project: Project) -> None:
    project.write(UV.replace("never pip", "or pip") + PUSH + PNPM)
    assert project.rules() == {"uv": "Use uv, never pip.", "push": "Never push to main."}
    assert project.proposals() == [("changed", "uv"), ("new", "pnpm")]
    project.accept("pnpm")
    assert set(project.rules()) == {"uv", "push", "pnpm"}
    assert project.proposals() == [("changed", "uv")]
    project.accept()
    assert project.rules()["uv"] == "Use uv, or pip."
    assert project.proposals() == []


@pytest.mark.parametrize(
    "weaker",
    [
        UV.replace('block = ["pip install"]\n', ""),
        UV.replace("pip install", "pip install nothing"),
        UV + "off = true\n",
        UV.strip() + '\nwhen = "*.nothing"\n',
        "",
        '[uv]\ntext = "Never push to main."\n',  # what was accepted, under another name
    ],
)
def test_what_blocks_cannot_be_loosened(project: Project, weaker: str) -> None:
    project.write(weaker + PUSH)
    assert ("run pip install",) in [rule.block for rule in project.decide().rules]
    assert project.decide().proposals
    project.accept()
    assert project.proposals() == []


def test_a_removed_rule_without_a_block_goes_at_once(project: Project) -> None:
    project.write(UV)
    assert set(project.rules()) == {"uv"}
    assert project.proposals() == []


def test_a_renamed_rule_needs_no_consent(project: Project) -> None:
    project.write(UV.replace("[uv]", "[python]") + PUSH)
    assert set(project.rules()) == {"python", "push"}
    assert project.proposals() == []


@pytest.mark.parametrize(
    "text", ["<<<<<<< HEAD\n", UV + "[push\n", "text = 5\n", UV.replace('"', "“")]
)
def test_a_mistake_removes_nothing(project: Project, text: str) -> None:
    project.write(text)
    assert set(project.rules()) == {"uv", "push"}
    assert project.decide().news


def test_without_the_file_what_was_accepted_applies(project: Project) -> None:
    project.path.unlink()
    assert set(project.rules()) == {"uv", "push"}
    assert "its 2 rules go on applying" in project.decide().news[0]
    project.path.symlink_to("/etc/passwd")
    assert set(project.rules()) == {"uv", "push"}


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def test_worktrees_and_branches_share_what_was_accepted(project: Project, tmp_path: Path) -> None:
    git(project.folder, "init", "-b", "main")
    project.accepted = AcceptedRules(str(tmp_path / "home"), str(project.folder))
    project.accept()
    git(project.folder, "add", "-A")
    git(project.folder, "commit", "-m", "rules")
    git(project.folder, "checkout", "-b", "topic")
    project.write(UV.replace("pip install", "pip3 install"))
    project.accept()
    git(project.folder, "commit", "-am", "other")
    git(project.folder, "checkout", "main")
    assert project.proposals() == []
    git(project.folder, "worktree", "add", str(tmp_path / "tree"), "topic")
    tree = Project(tmp_path / "tree", tmp_path / "home")
    assert [rule.block for rule in tree.decide().rules] == [("run pip3 install",)]
    assert tree.proposals() == []
    other = Project(tmp_path / "other", tmp_path / "home")
    other.write(UV)
    assert other.rules() == {}


# The user's own file ------------------------------------------------------------------------------


class Own:
    """The user's own file and its last good copy."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(exist_ok=True)
        self.path = home / "rules.toml"
        self.accepted = AcceptedRules(str(home), None)

    def decide(self) -> RulesDecision:
        content = read_content(str(self.path), follow_links=True)
        decision = decide_own(content, "rules.toml", self.accepted.last_good_text())
        if decision.good_text:
            self.accepted.keep_copy(decision.good_text)
        write_removed(str(self.home), decision.vanished, "2026-11-19")
        return decision

    def write(self, text: str) -> RulesDecision:
        self.path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return self.decide()

    def names(self) -> list[str]:
        return [rule.name for rule in self.decide().rules]


@pytest.fixture
def own(tmp_path: Path) -> Own:
    own = Own(tmp_path / "home")
    assert own.write(UV + PUSH).news == ()
    return own


def test_a_mistake_leaves_the_rule_as_it_was(own: Own) -> None:
    decision = own.write(UV.replace("text", "txt") + PUSH + PNPM)
    assert {rule.name: rule.text for rule in decision.rules} == {
        "push": "Never push to main.",
        "pnpm": "Use pnpm.",
        "uv": "Use uv, never pip.",
    }
    assert decision.news == (
        "rules.toml, line 2: 'txt' isn't a key of a rule; did you mean 'text'?",
    )
    assert sorted(own.names()) == ["pnpm", "push", "uv"]  # and goes on so
    assert own.write(UV.replace("never", "not") + PUSH).rules[0].text == "Use uv, not pip."


@pytest.mark.parametrize("text", ["", "\n", "\0" * 40, "\ufeff"])
def test_a_lost_file_leaves_all_rules(own: Own, text: str) -> None:
    own.write(text)
    assert own.names() == ["uv", "push"]
    assert "its 2 rules go on applying" in own.decide().news[0]


def test_a_missing_file_leaves_all_rules(own: Own) -> None:
    own.path.unlink()
    assert own.names() == ["uv", "push"]
    own.path.mkdir()
    assert own.names() == ["uv", "push"]


def test_what_an_old_editor_overwrote_is_kept(own: Own) -> None:
    RulesFile(str(own.path)).add("pnpm", {"text": "Use pnpm."})
    own.decide()
    decision = own.write(UV + PUSH)  # the editor's buffer, from before
    assert "the rule pnpm any more" in decision.losses
    assert own.decide().losses == ""
    file = RulesFile(str(own.path))
    assert file.restore("pnpm", RulesFile(str(own.home / "removed.toml"))) == "pnpm"
    assert own.names() == ["uv", "push", "pnpm"]


def test_a_new_user_hears_nothing(tmp_path: Path) -> None:
    own = Own(tmp_path / "home")
    assert own.decide() == RulesDecision(())
