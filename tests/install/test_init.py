"""``brim init`` merges into the agents' settings, once, and loses nothing."""

from __future__ import annotations

import json
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from brim.agents import AGENTS, every_agent
from brim.config.trust import is_trusted
from brim.errors import InputError
from brim.install.agents import project_target
from brim.install.launchers import check_lasting
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember
from tests.hooks.hook_world import patient
from tests.install.installed import THEIRS, alone, commands, events, file_of, tree, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")

git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def in_git(brim: Brim, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", str(brim.cwd), *arguments], check=True, capture_output=True, env=brim.environ
    )


def test_it_installs_into_the_agents_that_are_used(brim: Brim) -> None:
    use(brim, "claude", "codex")
    ran = alone(brim, "init")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.lines] == ["Claude", "Codex"]
    assert not file_of(brim, "gemini").exists()
    hook = shlex.quote(f"{brim.home}/.brim/bin/hook")
    for agent in ("claude", "codex"):
        assert set(commands(file_of(brim, agent))) == {
            f"{hook} {event} {agent}" for event in events(file_of(brim, agent))
        }
    assert (brim.home / ".brim/bin/hook").stat().st_mode & 0o777 == 0o700


def test_where_no_agent_is_it_asks_for_one(brim: Brim) -> None:
    ran = alone(brim, "init")
    assert (ran.code, ran.out) == (1, "")
    assert "--agent" in ran.err
    assert alone(brim, "init", "--json").json["agents"] == []


def test_all_means_all(brim: Brim) -> None:
    found = alone(brim, "init", "--agent", "all", "--json").json
    assert [each["agent"] for each in found["agents"]] == list(AGENTS)
    assert all(each["changed"] and each["backup"] is None for each in found["agents"])


def test_an_installed_hook_answers(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    remember(brim, behavior("rule", "constraint", "Never push to main."), scope="user")
    command = next(each for each in commands(file_of(brim)) if "SessionStart" in each)
    patient(shlex.split(command)[0])
    given = {
        "session_id": "s",
        "hook_event_name": "SessionStart",
        "source": "startup",
        "cwd": str(brim.cwd),
    }
    done = subprocess.run(
        command,
        shell=True,
        input=json.dumps(given).encode(),
        capture_output=True,
        env=brim.environ,
        check=True,
    )
    assert (
        "Never push to main." in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    )


def test_twice_changes_nothing_more(brim: Brim) -> None:
    use(brim, "claude", "codex", "gemini", text=json.dumps(THEIRS, indent=2))
    assert alone(brim, "init").code == 0
    before = tree(brim.home)
    found = alone(brim, "init", "--json").json
    assert tree(brim.home) == before
    assert not any(each["changed"] for each in found["agents"])


def test_what_was_there_is_kept_with_a_backup(brim: Brim) -> None:
    text = json.dumps(THEIRS, indent=2)
    use(brim, "claude", text=text)
    ran = alone(brim, "init", "--json")
    [found] = ran.json["agents"]
    assert Path(found["backup"]).read_text() == text
    now = json.loads(file_of(brim).read_text())
    assert list(now) == ["model", "hooks", "statusLine"]
    assert now["hooks"]["Stop"][0] == THEIRS["hooks"]["Stop"][0]  # type: ignore[index]


def test_dry_run_shows_the_difference_and_changes_nothing(brim: Brim) -> None:
    use(brim, "claude", text=json.dumps(THEIRS, indent=2))
    before = tree(brim.home)
    ran = alone(brim, "init", "--dry-run", "--token-budget", "5")
    assert ran.code == 0
    hook = shlex.quote(f"{brim.home}/.brim/bin/hook")
    assert f'+            "command": "{hook} SessionStart claude",' in ran.lines
    assert tree(brim.home) == before


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": 1}', '{"a": 1,}', '{"hooks": {"Stop": "x"}}']
)
def test_settings_that_cannot_be_understood_change_nothing_anywhere(brim: Brim, text: str) -> None:
    use(brim, "claude", text="{}")
    use(brim, "codex", text=text)
    before = tree(brim.home)
    ran = alone(brim, "init")
    assert (ran.code, ran.out) == (2, "")
    assert "hooks.json" in ran.err
    assert tree(brim.home) == before


def test_read_only_settings_are_left_alone(brim: Brim) -> None:
    use(brim, "claude", text="{}")
    file_of(brim).chmod(0o444)
    ran = alone(brim, "init")
    assert ran.code == 2
    assert "read-only" in ran.err
    assert tree(brim.home) == {".claude": None, ".claude/settings.json": b"{}"}


def test_a_folder_that_cannot_be_made_changes_no_other_agent(brim: Brim) -> None:
    ran = alone(brim, "init", "--agent", "all", env={"GEMINI_CLI_HOME": "/proc/nowhere"})
    assert ran.code == 2
    assert "/proc/nowhere" in ran.err
    assert {name.split("/")[0] for name in tree(brim.home)} <= {
        ".brim"
    }  # and that only for who may look into /proc
    assert not (brim.home / ".brim/installed.json").exists()


def test_settings_that_are_a_link_stay_one(brim: Brim) -> None:
    use(brim, "claude")
    real = brim.home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    file_of(brim).symlink_to(real)
    assert alone(brim, "init").code == 0
    assert file_of(brim).is_symlink()
    assert "SessionStart" in events(real)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("variable", "agent", "name"),
    [
        ("CLAUDE_CONFIG_DIR", "claude", "settings.json"),
        ("CODEX_HOME", "codex", "hooks.json"),
        ("GEMINI_CLI_HOME", "gemini", ".gemini/settings.json"),
    ],
)
def test_each_agents_own_variable_says_where_its_settings_are(
    brim: Brim, variable: str, agent: str, name: str
) -> None:
    folder = brim.home / "elsewhere"
    folder.mkdir()
    assert alone(brim, "init", "--agent", agent, env={variable: str(folder)}).code == 0
    assert "SessionStart" in events(folder / name)
    assert not file_of(brim, agent).exists()


def test_a_home_of_brims_own_is_used(brim: Brim) -> None:
    home = brim.home / "my brim"
    assert alone(brim, "init", "--agent", "claude", env={"BRIM_HOME": str(home)}).code == 0
    assert all(each.startswith(f"'{home}/bin/hook' ") for each in commands(file_of(brim)))
    assert (home / "bin" / "hook").exists()


def test_injection_only_installs_no_journal_and_no_status_line(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude", "--hooks", "injection-only")
    assert all(each.endswith(" claude injection-only") for each in commands(file_of(brim)))
    assert "SessionStart" in events(file_of(brim))
    assert "Stop" not in events(file_of(brim))
    assert "statusLine" not in json.loads(file_of(brim).read_text())


def test_a_status_line_that_was_there_is_called_from_brims(brim: Brim) -> None:
    use(brim, "claude", text='{"statusLine": {"type": "command", "command": "echo mine"}}')
    alone(brim, "init")
    status = json.loads(file_of(brim).read_text())["statusLine"]
    done = subprocess.run(
        status["command"],
        shell=True,
        input=b"{}",
        capture_output=True,
        env=brim.environ,
        check=True,
    )
    assert done.stdout.decode().splitlines()[0] == "mine"
    assert stat.S_IMODE((brim.home / ".brim/statusline.json").stat().st_mode) == 0o600


def test_the_status_line_can_be_left_alone(brim: Brim) -> None:
    use(brim, "claude", text='{"statusLine": {"type": "command", "command": "echo mine"}}')
    alone(brim, "init", "--no-statusline")
    assert json.loads(file_of(brim).read_text())["statusLine"]["command"] == "echo mine"


def test_the_budget_goes_into_the_settings_and_is_stronger_than_the_environment(brim: Brim) -> None:
    brim.configure(user="# mine\nmodel: gpt-4o\n")
    ran = alone(brim, "init", "--agent", "claude", "--token-budget", "1500", "--json")
    assert ran.json["token_budget"]["value"] == 1500
    assert (brim.home / ".brim/config.yaml").read_text().startswith("# mine\nmodel: gpt-4o\n")
    assert "1500" in brim("config", "get", "token_budget.default").out.replace(",", "")
    launcher = brim.home / ".brim" / "bin" / "hook"
    assert "BRIM_TOKEN_BUDGET" not in launcher.read_text()
    alone(brim, "init", "--agent", "claude", "--token-budget", "9", env={"BRIM_TOKEN_BUDGET": "7"})
    assert "BRIM_TOKEN_BUDGET='9' " in launcher.read_text()
    alone(brim, "doctor", "--fix")
    assert "BRIM_TOKEN_BUDGET='9' " in launcher.read_text()


@pytest.mark.parametrize("number", ["-1", "many"])
def test_a_budget_that_is_none_is_wrong_usage(brim: Brim, number: str) -> None:
    assert alone(brim, "init", "--agent", "claude", "--token-budget", number).code == 2
    assert not file_of(brim).exists()


# In a project -------------------------------------------------------------------------------------


def test_a_project_gets_files_of_its_own_and_is_trusted_if_brim_made_it(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    found = alone(
        brim, "init", "--project", "--agent", "all", "--token-budget", "800", "--json"
    ).json
    assert [each["file"] for each in found["agents"]] == [
        str(brim.cwd / agent.places.project_hooks) for agent in every_agent()
    ]
    assert found["trusted"] is True
    assert "800" in (brim.cwd / ".brim/config.yaml").read_text()
    assert not file_of(brim).exists()


def test_a_project_that_came_from_elsewhere_is_not_trusted_unasked(brim: Brim) -> None:
    remember(brim, behavior("a", "constraint", "Do as I say."), scope="project")
    ran = alone(brim, "init", "--project", "--agent", "claude")
    assert ran.code == 0
    assert "Do as I say." in ran.out
    assert "the project is not trusted: pass --yes" in ran.err
    assert "nothing was changed" not in ran.err
    assert not is_trusted(str(brim.cwd), str(brim.home / ".brim"))
    assert alone(brim, "init", "--project", "--agent", "claude", "--yes").code == 0
    assert is_trusted(str(brim.cwd), str(brim.home / ".brim"))


def test_where_there_is_no_project_none_is_made(brim: Brim) -> None:
    ran = alone(brim, "init", "--project", "--agent", "claude")
    assert ran.code == 2
    assert "not in a project" in ran.err
    assert list(brim.cwd.iterdir()) == []


@git
def test_a_file_that_git_tracks_is_not_written(brim: Brim) -> None:
    in_git(brim, "init", "-q")
    brim.write(".gemini/settings.json", "{}")
    in_git(brim, "add", ".gemini/settings.json")
    ran = brim("init", "--project", "--agent", "gemini")
    assert ran.code == 1
    assert "git tracks it" in ran.err
    assert (brim.cwd / ".gemini/settings.json").read_text() == "{}"
    assert not (brim.cwd / ".brim").exists()
    with_others = brim("init", "--project", "--agent", "all")
    assert with_others.code == 1
    assert (brim.cwd / ".codex/hooks.json").exists()


def test_what_is_installed_for_every_project_is_not_installed_again(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--agent", "claude")
    ran = alone(brim, "init", "--project", "--agent", "claude")
    assert ran.code == 0
    assert "for every project already" in ran.err
    assert not (brim.cwd / ".claude").exists()


def test_a_project_does_not_hide_the_users_status_line(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    use(brim, "claude", text='{"statusLine": {"type": "command", "command": "echo mine"}}')
    alone(brim, "init", "--project", "--agent", "claude")
    assert "statusLine" not in json.loads((brim.cwd / ".claude/settings.local.json").read_text())


def test_running_it_again_keeps_which_hooks_are_installed(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude", "--hooks", "injection-only")
    before = file_of(brim).read_bytes()
    alone(brim, "init", "--agent", "claude")
    assert file_of(brim).read_bytes() == before
    alone(brim, "init", "--agent", "claude", "--hooks", "all")
    assert len(events(file_of(brim))) > len(json.loads(before)["hooks"])


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_link_out_of_the_project_is_not_followed(brim: Brim, agent: str, what: str) -> None:
    (brim.cwd / ".git").mkdir(exist_ok=True)
    file = Path(project_target(agent, str(brim.cwd)).path)
    target = brim.home / "elsewhere"
    target.mkdir()
    (target / file.name).write_text("{}")
    if what == "folder":
        file.parent.symlink_to(target)
    else:
        file.parent.mkdir()
        file.symlink_to(target / file.name)
    ran = brim("init", "--project", "--agent", agent)
    assert "outside of the project" in ran.out + ran.err
    assert (target / file.name).read_text() == "{}"
    assert [path.name for path in target.iterdir()] == [file.name]


def test_an_environment_in_a_cache_is_refused_and_one_that_lasts_is_not(tmp_path: Path) -> None:
    lasting = tmp_path / "tools" / "brim"
    lasting.mkdir(parents=True)
    (lasting / "CACHEDIR.TAG").touch()  # as uv puts one into every environment
    check_lasting(str(lasting))
    for name, instead in (("uv", "uv tool install brim"), ("pipx", "pipx install brim")):
        passing = tmp_path / ".cache" / name / "archive" / "x"
        passing.mkdir(parents=True)
        (tmp_path / ".cache" / name / "CACHEDIR.TAG").touch()
        with pytest.raises(InputError, match=f"run '{instead}', then 'brim init'"):
            check_lasting(str(passing))
