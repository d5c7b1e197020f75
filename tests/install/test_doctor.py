"""``brim doctor`` says what is installed where, whether it works, and what to do."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.cli.conftest import Brim, Ran
from tests.cli.stored import behavior, remember
from tests.install import installed
from tests.install.installed import commands, events, file_of, let_hooks_wait, tree, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")


def alone(brim: Brim, *arguments: str, **more: Any) -> Ran:
    """Run brim where no agent is on the path; the hooks that it installs answer on any machine."""
    ran = installed.alone(brim, *arguments, **more)
    let_hooks_wait(brim)
    return ran


def looked(
    brim: Brim, *arguments: str, code: int = 0, env: dict[str, str] | None = None
) -> dict[str, list[Any]]:
    """Return what the doctor found, by what it is about."""
    ran = alone(brim, "doctor", "--json", *arguments, env=env or {})
    assert ran.code == code, ran.out
    assert ran.json["ok"] is (code == 0)
    found: dict[str, list[Any]] = {}
    for each in ran.json["findings"]:
        found.setdefault(each["what"], []).append(each)
    return found


def test_before_anything_nothing_is_wrong(brim: Brim) -> None:
    found = looked(brim)
    assert found["Claude Code"][0]["hooks"] == []
    assert "hook" not in found
    assert tree(brim.home) == {}


def test_it_makes_nothing_in_an_empty_home(brim: Brim) -> None:
    (brim.cwd / ".brim").mkdir()
    looked(brim)
    assert tree(brim.home) == {}


def test_an_installed_hook_is_tried_and_timed_and_leaves_no_trace(brim: Brim) -> None:
    alone(brim, "init", "--agent", "all")
    looked(brim)  # compiles the rules
    before = tree(brim.home)
    found = looked(brim)
    [hook] = found["hook"]
    assert hook["answers"] is True
    assert 0 < hook["python_seconds"] < hook["seconds"]
    assert {name: found[name][0]["state"] for name in ("Claude Code", "Codex", "Gemini CLI")} == {
        "Claude Code": "ok",
        "Codex": "ok",
        "Gemini CLI": "ok",
    }
    assert "median of 3" in hook["text"]
    assert tree(brim.home) == before


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_one_agent_alone_is_tried_at_an_event_at_which_it_can_be_told(
    brim: Brim, agent: str
) -> None:
    alone(brim, "init", "--agent", agent)
    [hook] = looked(brim)["hook"]
    assert hook["answers"] is True


def test_it_says_how_many_tokens_brim_adds_here(brim: Brim) -> None:
    remember(brim, behavior("rule", "constraint", "Never push to main."), scope="user")
    [tokens] = looked(brim)["tokens"]
    assert (0 < tokens["start"] < 50, tokens["budget"]) == (True, 2000)


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        (
            "claude",
            ".claude.json",
            '{"mcpServers": {"rules": {"command": "/bin/brim", "args": ["mcp"]}}}',
        ),
        ("codex", ".codex/config.toml", '[mcp_servers.brim]\ncommand = "brim"\nargs = ["mcp"]\n'),
        (
            "gemini",
            ".gemini/settings.json",
            '{"mcpServers": {"brim": {"command": "brim", "args": ["mcp"]}}}',
        ),
    ],
)
def test_it_says_what_the_tools_of_the_server_take(
    brim: Brim, agent: str, name: str, text: str
) -> None:
    assert looked(brim)["server"][0]["schemas"] == 0
    path = brim.home / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    pytest.importorskip("mcp")
    [server] = looked(brim)["server"]
    assert server["agents"] == [agent]
    assert 100 < server["schemas"] < 3000


def test_it_says_which_calls_no_rule_can_refuse(brim: Brim) -> None:
    assert "blocks" not in looked(brim)
    brim("learn", "--user", "--block", "npm install", "Use pnpm")
    [blocks] = looked(brim)["blocks"]
    assert (blocks["state"], blocks["rules"]) == ("off", 1)
    assert "no agent has hooks" in blocks["text"]
    alone(brim, "init", "--agent", "claude")
    assert looked(brim)["blocks"][0]["text"] == "1 rule with blocks"
    alone(brim, "init", "--agent", "codex")
    assert "what Codex types into a command that runs already" in looked(brim)["blocks"][0]["text"]


def test_a_launcher_that_is_gone_is_written_anew(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    (brim.home / ".brim/bin/hook").unlink()
    assert looked(brim, code=1)["launcher"][0]["fix"] == "brim doctor --fix"
    ran = alone(brim, "doctor", "--fix")
    assert ran.code == 0
    assert ran.lines[0].split(maxsplit=1) == ["Fixed", "~/.brim/bin/hook rewritten"]
    assert "answers in" in ran.out


def test_an_interpreter_that_is_gone_is_named(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    launcher = brim.home / ".brim/bin/hook"
    launcher.write_text(launcher.read_text().replace(sys.executable, "/gone/bin/python"))
    [found] = looked(brim, code=1)["launcher"]
    assert "/gone/bin/python" in found["text"]


def test_a_hook_that_does_not_answer_is_wrong(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    launcher = brim.home / ".brim/bin/hook"
    launcher.write_text(launcher.read_text().replace("brim._startup", "brim.gone"))
    assert looked(brim, code=1)["hook"][0]["answers"] is False


def test_hooks_that_differ_are_put_right_only_if_asked(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude", "--agent", "codex")
    changed = json.loads(file_of(brim).read_text())
    del changed["hooks"]["Stop"]
    file_of(brim).write_text(json.dumps(changed))
    moved = file_of(brim, "codex")
    moved.write_text(moved.read_text().replace(str(brim.home), "/old/home"))
    found = looked(brim, code=1)
    assert found["Claude Code"][0]["fix"] == "brim doctor --fix"
    assert "/old/home/.brim/bin/hook" in found["Codex"][0]["text"]
    assert "Stop" not in events(file_of(brim))
    looked(brim, "--fix")
    assert "Stop" in events(file_of(brim))
    assert all(str(brim.home) in command for command in commands(moved))


def test_broken_settings_of_an_agent_are_named_and_left_alone(brim: Brim) -> None:
    use(brim, "claude", text='{"a": 1,}')
    [found] = looked(brim, "--fix", code=1)["Claude Code"]
    assert "settings.json:1:" in found["text"]
    assert file_of(brim).read_text() == '{"a": 1,}'


def test_broken_settings_of_brim_are_named(brim: Brim) -> None:
    brim.configure(user="token_budget:\n  default: 2k\n")
    text = looked(brim, code=1)["settings"][0]["text"]
    assert "token_budget.default" in text
    assert "agents go on without it" in text


def test_pause_and_disable_are_said_and_the_hook_is_tried_all_the_same(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    brim("pause")
    found = looked(brim, env={"BRIM_DISABLE": "1"})
    assert found["paused"][0]["paused"] is True
    assert found["disabled"][0]["disabled"] is True
    assert found["hook"][0]["answers"] is True


def test_the_last_lines_of_the_log_are_shown(brim: Brim) -> None:
    folder = brim.home / ".brim/log"
    folder.mkdir(parents=True)
    (folder / "hook.log").write_text("".join(f"line {number} \x1b[2J\n" for number in range(9)))
    ran = alone(brim, "doctor")
    assert "line 8" in ran.out
    assert "line 5" not in ran.out
    assert "\x1b" not in ran.out


def test_an_untrusted_project_is_said(brim: Brim) -> None:
    remember(brim, behavior("a"), scope="project")
    [found] = looked(brim)["project"]
    assert found["trusted"] is False
    assert "brim rules trust" in found["text"]


def test_twice_installed_is_wrong_and_taken_out_of_the_project(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--project", "--agent", "claude")
    assert "run twice" in alone(brim, "init", "--agent", "claude").err
    assert any("twice" in each["text"] for each in looked(brim, code=1)["Claude Code"])
    looked(brim, "--fix")
    assert not (brim.cwd / ".claude").exists()
    assert "SessionStart" in events(file_of(brim))


def test_installed_in_a_project_alone_is_not_asked_for_again(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--project", "--agent", "claude")
    everywhere, here = looked(brim)["Claude Code"]
    assert everywhere["text"] == "installed in some projects only"
    assert here["state"] == "ok"


@pytest.mark.parametrize(
    ("agent", "name", "text", "key"),
    [
        ("claude", "Claude Code", '{"disableAllHooks": true}', "disableAllHooks"),
        ("gemini", "Gemini CLI", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("gemini", "Gemini CLI", '{"hooksConfig": {"disabled": ["brim"]}}', "hooksConfig.disabled"),
    ],
)
def test_settings_that_switch_all_hooks_off_are_said(
    brim: Brim, agent: str, name: str, text: str, key: str
) -> None:
    use(brim, agent, text=text)
    alone(brim, "init", "--agent", agent)
    [found] = looked(brim)[name]
    assert found["state"] == "off"
    assert key in found["text"]


def test_codex_is_said_to_run_no_hook_if_it_was_told_so_or_not_asked(brim: Brim) -> None:
    use(brim, "codex")
    alone(brim, "init")
    assert "trust" in looked(brim)["Codex"][1]["text"]
    config = brim.home / ".codex/config.toml"
    config.write_text(
        f'[hooks.state."{file_of(brim, "codex")}:session_start:0:0"]\ntrusted_hash = "x"\n'
    )
    assert [each["state"] for each in looked(brim)["Codex"]] == ["ok"]
    config.write_text(config.read_text() + "[features]\nhooks = false\n")
    assert "features.hooks is false" in looked(brim)["Codex"][0]["text"]


def test_hooks_that_only_inject_are_called_so(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude", "--hooks", "injection-only")
    assert "that only inject" in looked(brim)["Claude Code"][0]["text"]


def test_settings_that_became_of_another_shape_are_named(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    changed = json.loads(file_of(brim).read_text())
    changed["hooks"]["Stop"] = {}
    file_of(brim).write_text(json.dumps(changed))
    [found] = looked(brim, "--fix", code=1)["Claude Code"]
    assert "hooks.Stop should be a list" in found["text"]


def test_a_variable_that_disables_nothing_is_not_said(brim: Brim) -> None:
    assert "disabled" not in looked(brim, env={"BRIM_DISABLE": "0"})


def test_it_says_what_injections_may_take(brim: Brim) -> None:
    brim.configure(user="session:\n  max_tokens: 900\ntoken_budget:\n  dynamic_context: 120\n")
    [tokens] = looked(brim)["tokens"]
    assert tokens["limits"] == {"start": 2000, "injection": 120, "session": 900}
    assert "at most 120 with a prompt or call, 900 in all" in tokens["text"]


def test_a_project_that_is_gone_is_no_fault_and_is_not_made_again(brim: Brim) -> None:
    project = brim.cwd / "shop"
    (project / ".git").mkdir(parents=True)
    alone(brim, "init", "--project", "--agent", "claude", cwd=project)
    project.rename(brim.cwd / "moved")
    assert "its project is gone" in looked(brim)["Claude Code"][-1]["text"]
    assert "forgotten" in alone(brim, "doctor", "--fix").out
    assert not project.exists()
    assert len(looked(brim)["Claude Code"]) == 1


@pytest.mark.parametrize(
    ("agent", "basis"),
    [
        ("claude", "estimated for claude-sonnet-4-5"),
        ("codex", "exact for gpt-5"),
        ("gemini", "estimated for gemini"),
    ],
)
def test_tokens_are_counted_for_the_agents_model_and_say_on_what_they_rest(
    brim: Brim, agent: str, basis: str
) -> None:
    remember(brim, behavior("rule", "constraint", "Never push to main."), scope="user")
    alone(brim, "init", "--agent", agent)
    [tokens] = looked(brim)["tokens"]
    assert tokens["basis"].startswith(basis)
    assert f"({basis}" in tokens["text"]


def test_the_model_that_an_agent_is_set_to_is_counted_for(brim: Brim) -> None:
    remember(brim, behavior("rule", "constraint", "Never push to main."), scope="user")
    use(brim, "claude", text='{"model": "claude-opus-4-1"}')
    alone(brim, "init")
    assert looked(brim)["tokens"][0]["basis"] == "estimated for claude-opus-4-1"
    assert looked(brim, env={"BRIM_MODEL": "gpt-4o"})["tokens"][0]["basis"] == "exact for gpt-4o"


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 20_000 + "]" * 20_000, "a = " + "{a=" * 20_000, "a = " + "9" * 5_000]
)
def test_hostile_settings_of_codex_count_as_none(brim: Brim, text: str) -> None:
    use(brim, "codex")
    (brim.home / ".codex" / "config.toml").write_text(text)
    assert alone(brim, "init", "--agent", "codex").code == 0
    assert looked(brim)["Codex"][0]["state"] == "ok"


def test_it_notices_floop_until_its_rules_are_imported(brim: Brim) -> None:
    use(brim, "claude")
    (brim.cwd / ".git").mkdir()
    node = {"id": "n", "kind": "behavior", "content": {"content": {"canonical": "Use tabs."}}}
    brim.write(".floop/nodes.jsonl", json.dumps(node) + "\n")
    brim.write(
        ".claude/settings.json",
        json.dumps({"hooks": {"SessionStart": [{"hooks": [{"command": "floop hook x"}]}]}}),
    )
    texts = [each["text"] for each in looked(brim)["floop"]]
    assert "brim rules import" in texts[0]
    assert "floop's hooks" in texts[1]
    assert "floop's rules aren't imported yet" in alone(brim, "init").err
    brim("rules", "import", ".floop", "--yes")
    (brim.cwd / ".claude" / "settings.json").unlink()
    assert "floop" not in looked(brim)
