"""brim as a plugin: its files, its hook, and how it gets along with ``brim init``."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brim.install.agents import NAMES
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember
from tests.install.installed import alone, events, file_of, use
from tests.waiting import in_time

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")

ROOT = Path(__file__).parents[2]
RULE = "Never commit the files under dist/."
HOOKS = {
    "claude": "plugins/brim/bin/hook",
    "codex": "plugins/brim/bin/hook",
    "gemini": "plugins/brim/gemini/bin/hook",
}
ENABLED = {
    "claude": (
        ".claude/settings.json",
        json.dumps({"enabledPlugins": {"brim@brim": True, "other@there": True}}),
    ),
    "codex": (".codex/config.toml", '[plugins."brim@brim"]\nenabled = true\n'),
    "gemini": (".gemini/extensions/brim/gemini-extension.json", "{}"),
}
"""What each agent writes when the plugin is installed."""


def enable(brim: Brim, agent: str) -> None:
    use(brim, agent)
    name, text = ENABLED[agent]
    (brim.home / name).parent.mkdir(parents=True, exist_ok=True)
    (brim.home / name).write_text(text, encoding="utf-8")


def call(brim: Brim, agent: str, event: str = "SessionStart", *, path: str | None = None) -> str:
    """Run the plugin's hook as *agent* does, and return what it says."""
    hook = brim.home / "plugin" / "hook"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / HOOKS[agent], hook)
    found = os.pathsep.join(filter(None, [path, "/usr/bin", "/bin"]))
    data = {
        "session_id": "s",
        "cwd": str(brim.cwd),
        "hook_event_name": event,
        "source": "startup",
        "prompt": "hi",
    }
    ran = subprocess.run(
        [str(hook), event, agent],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        env={"HOME": str(brim.home), "PATH": found, "CLAUDE_PLUGIN_DATA": str(brim.home / "data")},
        cwd=brim.cwd,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize("agent", ENABLED)
def test_brim_alone_knows_that_a_plugin_is_there(brim: Brim, agent: str) -> None:
    enable(brim, agent)
    found = brim("--json").json
    assert found["installed"] is True
    assert "brim init" not in [each["fix"] for each in found["attention"]]


def test_the_plugins_in_the_repository_are_those_that_this_version_builds() -> None:
    built = runpy.run_path(str(ROOT / "scripts/build_plugins.py"))
    assert built["differing"]() == {}
    assert all(os.access(ROOT / name, os.X_OK) for name in HOOKS.values())
    kept = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "plugins").rglob("*")
        if path.is_file()
    }
    written = {
        f"plugins/brim/{name}"
        for name in ("README.md", "assets/icon.svg", "bin/hook", "skills/brim/SKILL.md")
    }
    assert kept - written <= built["plugin_files"]().keys(), "nothing else is in the folder"


@pytest.mark.parametrize("agent", HOOKS)
def test_without_brim_the_plugin_says_so_once(brim: Brim, agent: str) -> None:
    use(brim, agent)
    assert "needs the program" in json.loads(call(brim, agent))["systemMessage"]
    assert call(brim, agent) == ""
    assert call(brim, agent, "UserPromptSubmit") == ""


@pytest.mark.parametrize("agent", HOOKS)
def test_with_brim_on_the_path_the_plugin_needs_nothing_else(brim: Brim, agent: str) -> None:
    enable(brim, agent)
    remember(brim, behavior("b-0000000001", "constraint", RULE))
    path = str(Path(sys.executable).parent)
    said = in_time(brim.home, lambda: call(brim, agent, path=path))
    if agent == "gemini":  # it's told with the prompt
        said = in_time(brim.home, lambda: call(brim, agent, "BeforeAgent"))
    assert RULE in said
    assert os.access(brim.home / ".brim" / "bin" / "hook", os.X_OK)


@pytest.mark.parametrize("agent", HOOKS)
def test_before_its_first_session_nothing_is_wrong_with_a_plugin(brim: Brim, agent: str) -> None:
    enable(brim, agent)
    findings = alone(brim, "doctor", "--json").json["findings"]
    (launcher,) = [each for each in findings if each["what"] == "launcher"]
    assert (launcher["state"], launcher["fix"]) == ("off", "")
    assert "when a session starts" in launcher["text"]


@pytest.mark.parametrize("agent", HOOKS)
def test_where_init_has_installed_hooks_the_plugin_is_silent(brim: Brim, agent: str) -> None:
    use(brim, agent)
    alone(brim, "init")
    remember(brim, behavior("b-0000000001", "constraint", RULE))
    if agent != "claude":
        enable(brim, agent)
    else:
        settings = json.loads(file_of(brim).read_text()) | json.loads(ENABLED[agent][1])
        file_of(brim).write_text(json.dumps(settings), encoding="utf-8")
    assert call(brim, agent) == ""
    found = [
        each
        for each in alone(brim, "doctor", "--json").json["findings"]
        if each["what"] == NAMES[agent]
    ]
    assert "stays silent" in found[0]["text"]


@pytest.mark.parametrize("agent", HOOKS)
def test_init_leaves_the_hooks_to_a_plugin_and_takes_over_when_it_is_gone(
    brim: Brim, agent: str
) -> None:
    enable(brim, agent)
    ran = alone(brim, "init")
    assert (ran.code, "its plugin has the hooks" in ran.out) == (0, True)
    path = file_of(brim, agent)
    assert not path.exists() or "hooks" not in json.loads(path.read_text())
    found = [
        each
        for each in alone(brim, "doctor", "--json").json["findings"]
        if each["what"] == NAMES[agent]
    ]
    assert (found[0]["state"], found[0]["plugin"]) == ("ok", True)
    if agent == "claude":
        assert "statusLine" in json.loads(path.read_text()), "no plugin can bring it"
        path.write_text(
            path.read_text().replace('"brim@brim": true', '"brim@brim": false'), encoding="utf-8"
        )
    else:
        (brim.home / ENABLED[agent][0]).unlink()
    assert alone(brim, "init").code == 0
    assert len(events(path)) > 5


def test_uninstall_says_what_removes_a_plugin_and_keeps_its_launcher(brim: Brim) -> None:
    enable(brim, "claude")
    alone(brim, "init")
    ran = alone(brim, "uninstall")
    assert "claude plugin uninstall brim@brim" in ran.err
    assert (brim.home / ".brim" / "bin" / "hook").exists()
    assert json.loads(file_of(brim).read_text()) == json.loads(ENABLED["claude"][1])
