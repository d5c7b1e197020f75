"""Blocks: a call that a rule refuses isn't made, until a person allows it; nothing in a project
lifts a user's."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from brim.rules.accepted import AcceptedRules
from brim.rules.state import REFUSED, RulesState
from tests.hooks.injected import NOW, SESSION, Agent, Learned, rule, tool_call

PNPM = rule("pnpm", "Use pnpm, not npm.", block=["npm install", "npm i"])
DIST = rule("dist", "Change src/ and build again.", block=["edit dist/**"])
FETCH = rule("fetch", "Ask before you read web pages.", block=["tool WebFetch", "tool mcp__web__*"])


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = Agent(tmp_path)
    agent.learn(PNPM, DIST, FETCH)
    return agent


def bash(agent: Agent, command: Any) -> str:
    return agent.tool("Bash", command=command).deny


def refusal(agent: Agent, name: str = "pnpm", place: str = "user") -> tuple[int, str]:
    """Return how often a rule refused a call, and the last one."""
    last = agent.state.last(name, place, (REFUSED,))
    if last is None:
        return 0, ""
    return agent.state.counts()[name, place][REFUSED], last.call


def test_it_is_refused_every_time_with_the_rule_and_the_person_is_told_once_how_to_allow_it(
    agent: Agent,
) -> None:
    first = agent.tool("Bash", command="cd web && npm install left-pad")
    assert first.deny.startswith(
        'Your user doesn\'t allow "npm install left-pad" here: Use pnpm, not npm.\n'
    )
    assert "brim rules allow" not in first.deny
    assert first.note.split("\n")[1:] == [
        "brim rules allow pnpm --once",
        f"brim rules allow pnpm --session {SESSION}",
    ]
    again = agent.tool("Bash", command="npm i")
    assert again.deny
    assert not again.note
    assert refusal(agent) == (2, "npm i")


def test_without_notes_a_call_is_refused_and_no_line_is_shown(agent: Agent) -> None:
    agent.configure("hooks:\n  notes: false\n", "project")
    assert agent.tool("Bash", command="npm install").note, "only the person switches them off"
    agent.configure("hooks:\n  notes: false\n")
    answer = agent.tool("WebFetch", url="https://example.com")
    assert answer.deny
    assert not answer.note


def test_what_no_rule_refuses_is_made(agent: Agent) -> None:
    assert not bash(agent, "pnpm install && grep 'npm install' README.md")
    assert not agent.edit("src/app.py").deny
    assert not agent.tool("Read", file_path=str(agent.project / "dist/app.js")).deny
    assert not agent.tool("WebSearch", query="x").deny
    assert refusal(agent) == (0, "")


@pytest.mark.parametrize("name", ["Edit", "Write", "MultiEdit", "write_file", "replace"])
def test_edits_are_refused_in_every_agent(agent: Agent, name: str) -> None:
    assert "edit" not in agent.tool(name, file_path=str(agent.project / "src/app.js")).deny
    found = agent.tool(name, file_path=str(agent.project / "dist/app.js")).deny
    assert "Change src/ and build again." in found


def test_paths_are_followed(agent: Agent) -> None:
    (agent.project / "dist").mkdir()
    (agent.project / "web").mkdir()
    os.symlink(agent.project / "dist", agent.project / "web" / "out")
    inside = (
        "dist/a.js",
        "./dist/a.js",
        "src/../dist/a.js",
        "web/out/a.js",
        "web/dist/a.js",
        "dist",
    )
    for path in (*inside, str(agent.project / "dist" / "x" / "a.js")):
        assert agent.tool("Write", file_path=path).deny, path
    outside = ("dist.js", "distribution/a.js", "src/dist.py", "../project2/a.js", "web/a.js")
    for path in outside:
        assert not agent.tool("Write", file_path=path).deny, path
    assert agent.tool("NotebookEdit", notebook_path="dist/a.ipynb").deny


def test_a_project_inside_of_such_a_folder_can_be_edited(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "dist")
    agent.learn(DIST)
    assert not agent.edit("src/app.js").deny
    assert agent.edit("dist/app.js").deny


PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch"


@pytest.mark.parametrize(
    "given",
    [
        {"tool": "apply_patch", "command": PATCH.format("dist/a.js")},
        {"tool": "apply_patch", "input": PATCH.format("src/../dist/a.js")},
        {"tool": "Bash", "command": f"apply_patch <<'EOF'\n{PATCH.format('dist/a.js')}\nEOF"},
        {"tool": "Bash", "command": f"cd dist && apply_patch <<'EOF'\n{PATCH.format('a.js')}\nEOF"},
        {"tool": "shell", "command": ["apply_patch", PATCH.format("dist/a.js")]},
        {"tool": "apply_patch", "command": PATCH.format("src/a.js\n*** Move to: dist/a.js")},
        {"tool": "apply_patch", "command": PATCH.format("dist/a.js\n*** Move to: src/a.js")},
        {
            "tool": "apply_patch",
            "command": PATCH.format("src/a.js").replace("Update", "Add") + "\n",
        },
    ],
)
def test_patches_of_codex_are_read(agent: Agent, given: dict[str, Any]) -> None:
    named = given.pop("tool")
    is_refused = "dist" in str(given)
    assert bool(agent.tool(named, **given).deny) is is_refused


def test_shells_of_every_agent_are_read(agent: Agent) -> None:
    assert bash(agent, ["bash", "-lc", "npm install"])
    assert bash(agent, ["npm", "install"])
    assert not bash(agent, ["git", "commit", "-m", "no more; npm install"])
    assert agent.tool("run_shell_command", command="npm install").deny
    assert agent.tool("exec_command", cmd="npm install").deny
    assert agent.tool("write_stdin", chars="npm install\n").deny
    assert agent.tool_of("sub-1", "Bash", command="npm install").deny


def test_tools_are_refused_by_name(agent: Agent) -> None:
    for name in ("WebFetch", "webfetch", "mcp__web__get"):
        assert "Ask before you read web pages." in agent.tool(name, url="x").deny
    assert not agent.tool("mcp__website__get", url="x").deny
    agent.learn(
        rule("ports", "Leave the ports alone.", block=["tool mcp__port[0-9]__open", "tool port?"])
    )
    for name in ("mcp__port3__open", "Port8"):
        assert "Leave the ports alone." in agent.tool(name, url="x").deny
    assert not agent.tool("mcp__ports__open", url="x").deny


def test_input_of_any_shape_is_read(agent: Agent) -> None:
    odd: tuple[Any, ...] = (None, 3, {}, [], [1, None], "", "npm install '", "\0npm install")
    for command in odd:
        bash(agent, command)
        agent.tool("Write", file_path=command)
        agent.tool(
            "apply_patch", command=f"*** Begin Patch\n*** Add File: {command}\n", input=command
        )
    assert bash(agent, "echo 'it is; npm install")
    assert bash(agent, "x" * 300_000 + "; npm install")
    assert not agent.log()


# A person allows it -------------------------------------------------------------------------------


def permit(
    agent: Agent, name: str = "pnpm", session: str = "", place: str = "user", at: float = NOW
) -> None:
    state = RulesState(str(agent.home / ".brim"), now=at)
    state.allow(name, place, session)
    state.close()


def test_once_is_one_call(agent: Agent) -> None:
    assert bash(agent, "npm install")
    permit(agent)
    assert not bash(agent, "ls")
    assert not bash(agent, "npm install")
    after = agent.tool("Bash", command="npm install")
    assert after.deny
    assert after.note, "it was allowed meanwhile, so the person is told again"
    assert refusal(agent) == (2, "npm install")


def test_once_is_over_after_an_hour(agent: Agent) -> None:
    permit(agent, at=NOW - 3601)
    assert bash(agent, "npm install")
    permit(agent, at=NOW + 86_400)
    assert bash(agent, "npm install"), "the clock was set back: it would last a day"


def test_a_session_is_that_session(agent: Agent) -> None:
    permit(agent, session=SESSION)
    assert not bash(agent, "npm install")
    assert not bash(agent, "npm install")
    other = agent.call(
        "before_tool", tool=tool_call("Bash", {"command": "npm i"}), session="another"
    )
    from brim.hooks import handlers

    with agent.place() as place:
        assert handlers.before_tool(other, place).deny


def test_each_rule_that_refuses_a_call_has_to_be_allowed(agent: Agent) -> None:
    agent.learn(rule("other", "Don't install anything.", block=["run npm *"]))
    permit(agent)
    assert "Don't install anything." in bash(agent, "npm install")
    permit(agent, "other")
    assert not bash(agent, "npm install"), "the first permission was not used up"


def test_a_store_that_cannot_be_written_gives_no_permission(agent: Agent) -> None:
    permit(agent)
    with sqlite3.connect(agent.home / ".brim" / "state.db") as busy:
        busy.execute("BEGIN IMMEDIATE")
        assert bash(agent, "npm install")
        busy.rollback()
    assert not bash(agent, "npm install")


# Conditions ---------------------------------------------------------------------------------------


def test_a_block_keeps_to_the_place_that_its_rule_is_for(agent: Agent) -> None:
    head = agent.project / ".git" / "HEAD"
    head.write_text("ref: refs/heads/main\n")
    agent.learn(rule("push", "Open a pull request.", when="branch main", block=["run git push"]))
    assert bash(agent, "git push")
    head.write_text("ref: refs/heads/topic\n")
    assert not bash(agent, "git push")


def test_what_a_rule_is_about_does_not_narrow_its_block(agent: Agent) -> None:
    agent.learn(
        rule(
            "yarn",
            "Use pnpm.",
            when={"language": "typescript", "task": "testing"},
            block=["run yarn add"],
        )
    )
    assert bash(agent, "yarn add x")


def test_a_note_of_an_agent_or_a_rule_that_is_off_refuses_nothing(agent: Agent) -> None:
    agent.learn(rule("off", "Don't run make.", off=True, block=["make"]))
    inbox = agent.home / ".brim" / "inbox.toml"
    inbox.write_text('[make]\ntext = "Don\'t run make."\nblock = ["make"]\n', encoding="utf-8")
    assert not bash(agent, "make")


# Projects -----------------------------------------------------------------------------------------


def test_a_project_refuses_only_after_trust_and_only_there(agent: Agent, tmp_path: Path) -> None:
    agent.learn(rule("yarn", "Use pnpm.", block=["yarn"]), scope="project")
    assert not bash(agent, "yarn add x")
    agent.trust()
    found = agent.tool("Bash", command="yarn add x")
    assert "Use pnpm." in found.deny
    assert f"cd {shlex.quote(str(agent.project))} && brim rules allow yarn --once" in found.note
    place = os.path.basename(AcceptedRules(str(agent.home / ".brim"), str(agent.project)).folder)
    assert refusal(agent, "yarn", place) == (1, "yarn add x")
    permit(agent, "yarn", place=place)
    assert not bash(agent, "yarn add x")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    agent.project = elsewhere
    assert not bash(agent, "yarn add x")


def test_a_block_that_came_after_trust_waits_for_it(agent: Agent) -> None:
    yarn = rule("yarn", "Keep one lock file.")
    agent.learn(yarn, scope="project")
    agent.trust()
    agent.learn(yarn.but(block=["yarn"]), scope="project")  # as a pull does
    assert not bash(agent, "yarn add x")
    agent.trust()
    assert bash(agent, "yarn add x")


ATTACKS: dict[str, list[Learned]] = {
    "the same name without blocks": [rule("pnpm", "Use npm.")],
    "the same name as something else": [rule("pnpm", "Use npm.", kind="preference")],
    "the same name, switched off": [PNPM.but(off=True)],
    "the same text without blocks": [rule("pnpm", PNPM.text)],
    "a rule that overrides it": [rule("mine", "Use npm.", overrides=["pnpm"])],
    "a rule that conflicts with it": [rule("mine", "Use npm.", conflicts=["pnpm"])],
    "a rule with other blocks": [rule("mine", "npm is fine.", block=["run ls -Z"])],
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_project_lifts_a_block_of_its_user(agent: Agent, attack: str) -> None:
    agent.learn(*ATTACKS[attack], scope="project")
    project_state = RulesState(str(agent.project / ".brim"), now=NOW)
    project_state.allow("pnpm", "user", SESSION)
    project_state.allow("pnpm", "user")
    agent.configure(
        "hooks: {protect: false, loops: off, gate: off}\ntoken_budget: {default: 0}\n", "project"
    )
    agent.trust()
    assert bash(agent, "npm install")


def test_a_project_that_cannot_be_read_lifts_nothing(agent: Agent) -> None:
    agent.learn(rule("yarn", "Use pnpm."), scope="project")
    agent.trust()
    agent.rules_file("project").write_bytes(b"\0" * 5000)
    assert bash(agent, "npm install")


# brim itself --------------------------------------------------------------------------------------

LOOSENS = (
    """
brim pause|brim pause 2h|brim ui|brim limit raise 50/day|brim limit remove|brim limit shop none|brim limit continue
brim rules allow pnpm --once|brim rules remove pnpm|brim rules edit pnpm|brim config set hooks.loops off
brim config set --user hooks.protect false|brim config unset notify|brim rules trust|brim rules trust --yes
brim rules trust --remove|brim uninstall --yes|brim limit raise shop 5|brim pause off 2h|brim rules import x.jsonl
brim rules review accept b-1|brim init --hooks injection-only|brim init --hooks=injection-only
python -m brim pause|python3.12 -I -m brim pause|/usr/bin/python3 -m brim.cli pause|uvx brim pause|uv run brim pause
uv run python -m brim pause|uvx --from brim@latest brim pause|/opt/x/bin/brim pause|sudo brim pause|b''rim pause
bash -c "brim pause"|echo $(brim pause)|cd / && BRIM_HOME=/x brim pause|env -u CLAUDECODE brim limit 500/day
env -i brim limit 500/day|CLAUDECODE= brim limit --all 900|echo ' ; brim pause
env - brim limit 500/day|sudo brim limit 500/day|doas brim limit 500/day|brim limit remove 5/day -- --help
env -u AI_AGENT brim rules restore|brim rules review --accept 1
exec -c brim limit 500/day
env -u CLAUDECODE brim learn --replaces pnpm "Use npm"
systemd-run --user brim limit 500/day|runuser -u me -- brim limit 500/day
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

TIGHTENS = (
    """
brim|brim rules|brim rules list|brim rules why pnpm|brim learn "Use uv"|brim learn --block "npm install" "Use pnpm"
brim limit|brim limit 5/day|brim limit stop|brim config list|brim config get notify|brim rules trust --list
brim pause --help|brim pause off
brim rules restore pnpm|brim doctor --fix|brim --json|brim dev count README.md|brim init
echo "brim pause"|grep -rn "brim pause" docs|git commit -m "brim pause"|pip install brim|python -m brimstone pause
brim rules list | grep -i uv
sudo brim rules|env -u CLAUDECODE brim limit|BRIM_HOME=/x brim limit --json|BRIM_HOME=/x brim rules list
cat src/brim/limit.py|cd brim && make remove|brim rules import x.jsonl --dry-run
""".replace("\n", "|")
    .strip("|")
    .replace("list | grep", "list \x00 grep")
    .split("|")
)


@pytest.mark.parametrize("command", LOOSENS)
def test_an_agent_cannot_loosen_brim_by_a_command(agent: Agent, command: str) -> None:
    found = agent.tool("Bash", command=command)
    assert found.deny.startswith("Your user doesn't allow agents ")
    assert "brim rules allow brim --once" in found.note


@pytest.mark.parametrize("command", TIGHTENS)
def test_looking_and_tightening_are_fine(agent: Agent, command: str) -> None:
    assert not bash(agent, command.replace("\x00", "|"))


def test_an_agent_cannot_edit_brim_or_the_settings_of_hooks(agent: Agent) -> None:
    home = agent.home
    agent.environ["CODEX_HOME"] = str(home / "codex")
    os.symlink(home / ".brim", agent.project / "innocent")
    refused = [
        *(
            home / ".brim" / name
            for name in ("config.yaml", "rules.toml", "paused", "trust.json", "bin/hook", "state/x")
        ),
        *(
            home / ".brim" / name
            for name in ("inbox.toml", "removed.toml", "state.db", "rules.db", "accepted/x/digests")
        ),
        *(agent.project / ".brim" / name for name in ("config.yaml", "trusted")),
        *(
            home / name
            for name in (".claude/settings.json", ".gemini/settings.json", "codex/hooks.json")
        ),
        *(
            home / name
            for name in (".claude/settings.local.json", "codex/config.toml", ".codex/config.toml")
        ),
        *(
            home / name
            for name in (
                ".claude/plugins/cache/brim/brim/0.2/bin/hook",
                ".gemini/extensions/brim/bin/hook",
            )
        ),
        *(
            agent.project / name
            for name in (".claude/settings.json", ".claude/settings.local.json")
        ),
        *(
            agent.project / name
            for name in (".codex/hooks.json", ".gemini/settings.json", "innocent/config.yaml")
        ),
    ]
    for path in refused:
        assert agent.tool("Write", file_path=str(path)).deny, path
        patch = PATCH.format(os.path.relpath(path, agent.project))
        assert agent.tool("apply_patch", command=patch).deny, path
    fine = (
        "settings.json",
        "config/settings.json",
        ".vscode/settings.json",
        "config.toml",
        ".claude/CLAUDE.md",
    )
    for name in (
        *fine,
        "src/brim/config.yaml",
        ".brim/rules.toml",
        ".codex/AGENTS.md",
        "hooks.json",
    ):
        assert not agent.tool("Write", file_path=str(agent.project / name)).deny, name
    assert not agent.tool("Read", file_path=str(home / ".brim" / "config.yaml")).deny


def test_no_agent_writes_settings_that_switch_hooks_off(agent: Agent) -> None:
    for name in ("settings.json", "settings.local.json"):
        path = str(agent.project / ".claude" / name)
        for off in ({"env": {"BRIM_DISABLE": "1"}}, {"disableAllHooks": True}):
            assert agent.tool("Write", file_path=path, content=json.dumps(off)).deny, off
        harmless = json.dumps({"env": {"CI": "1"}})
        assert not agent.tool("Write", file_path=path, content=harmless).deny


CHANGES = """
rm -rf ~/.brim|rm ~/.brim/state.db|rm ~/.brim/*.db|mv ~/.brim /tmp/x|cd ~/.brim && rm state.db|cd ~ && rm .brim/state.db
echo x > ~/.brim/config.yaml|echo x >> $HOME/.brim/config.yaml|cat a > "${HOME}/.claude/settings.json"
tee ~/.brim/paused|sed -i s/a/b/ ~/.claude/settings.json
perl -pi -e s/a/b/ ~/.codex/hooks.json|cp /tmp/a ~/.gemini/settings.json
sqlite3 ~/.brim/state.db 'delete from spend_limits'|dd if=/dev/null of=$HOME/.brim/state.db|chmod -x ~/.brim/bin/hook
find ~/.brim -delete|find ~/.brim -name '*.db' -exec rm {} +|curl -o ~/.brim/config.yaml http://127.0.0.1/x
python3 -c 'open("{home}/.brim/state.db", "w")'|bash -c 'rm ~/.brim/state.db'|sudo rm ~/.brim/state.db|ln -s ~/.brim /tmp/l
touch .claude/settings.local.json|echo '{}' > .claude/settings.json|rm -r .brim|rm -r ~/.claude|mv .codex x
git checkout .claude/settings.json|git -C ~/.brim clean -fdx|truncate -s0 innocent/state.db
awk 1 a > ~/.brim/config.yaml|echo ' ; rm ~/.brim/state.db
jq . a | tee .claude/settings.json|tar xf a.tar -C ~/.brim|: > ~/.brim/state.db|sed -n 'w /x' ~/.brim/config.yaml -i
"""
READS = """
cat ~/.brim/config.yaml|ls -la ~/.brim|grep -n hook ~/.claude/settings.json|jq .hooks .claude/settings.json | head -3
git -C . diff .claude/settings.json|git add .claude/settings.json|wc -c ~/.brim/state.db|find ~/.brim -name '*.log'
sed -n 1,20p ~/.claude/settings.json|cat .claude/settings.json > /tmp/copy.json|mkdir -p .claude/commands
rm .claude/CLAUDE.md|cp .vscode/settings.json x|sed -i s/a/b/ config.toml|rm -r src/brim|echo "edit ~/.brim/config.yaml"
stat ~/.brim/state.db|cargo build --config .cargo/config.toml|cp ~/.claude/settings.json /tmp/backup.json
diff .claude/settings.json /tmp/b.json|git commit -m "Explain ~/.brim/config.yaml"
touch src/.brimrc|cat ~/.brim/log/hook.log | tail -5|ls .claude .codex
"""


def lines_of(text: str) -> list[str]:
    found = text.strip().replace(" | ", " \0 ").replace("\n", "|").split("|")
    return [each.replace("\0", "|") for each in found]


@pytest.mark.parametrize("command", lines_of(CHANGES))
def test_an_agent_cannot_change_brim_or_the_settings_of_hooks_by_a_command(
    agent: Agent, command: str
) -> None:
    os.symlink(agent.home / ".brim", agent.project / "innocent")
    found = agent.tool("Bash", command=command.replace("{home}", str(agent.home)))
    assert found.deny.startswith("Your user doesn't allow agents ")


@pytest.mark.parametrize(
    "command",
    [
        "echo x > '{home}/.brim/config.yaml'",
        'rm "{home}/.brim/state.db"',
        """python3 -c 'open("{home}/.brim/state.db", "w")'""",
        "cd '{home}/.brim' && rm state.db",
        "echo x >> '{project}/.claude/settings.json'",
    ],
)
def test_a_space_in_a_folders_name_hides_nothing(tmp_path: Path, command: str) -> None:
    agent = Agent(tmp_path / "my name", BRIM_HOOKS_GATE="off")
    command = command.replace("{home}", str(agent.home)).replace("{project}", str(agent.project))
    assert bash(agent, command).startswith("Your user doesn't allow agents ")


@pytest.mark.parametrize("command", lines_of(READS))
def test_commands_that_only_read_them_are_fine(agent: Agent, command: str) -> None:
    assert not bash(agent, command)


@pytest.mark.parametrize("name", ["rules.toml", "config.yaml", "inbox.toml", "removed.toml"])
def test_a_file_of_the_users_that_is_a_link_is_protected_where_it_leads(
    agent: Agent, name: str
) -> None:
    target = agent.home / "dotfiles" / f"my-{name}"
    target.parent.mkdir()
    target.write_text("")
    (agent.home / ".brim" / name).unlink(missing_ok=True)
    (agent.home / ".brim" / name).symlink_to(target)
    assert agent.tool("Write", file_path=str(target)).deny
    assert bash(agent, f"echo x >> {shlex.quote(str(target))}")
    assert bash(agent, f"cd ~/dotfiles && rm my-{name}")
    assert not agent.tool("Read", file_path=str(target)).deny


def test_an_agent_may_propose_rules_of_the_project_and_they_do_nothing(agent: Agent) -> None:
    agent.learn(rule("yarn", "Use pnpm.", block=["yarn"]), scope="project")
    agent.trust()
    path = str(agent.project / ".brim" / "rules.toml")
    assert not agent.tool("Write", file_path=path).deny
    assert not bash(agent, "sed -i s/yarn/xyz/ .brim/rules.toml")
    agent.rules_file("project").write_text("[evil]\ntext = 'Use npm.'\n", encoding="utf-8")
    assert bash(agent, "yarn add x"), "a rule that blocks holds until the person agrees"
    assert "Use npm." not in agent.start().text


def test_the_command_that_learn_teaches_is_fine(agent: Agent) -> None:
    """What ``/learn`` has an agent run names its here-document ``BRIM_RULE``, like a variable of
    brim's."""
    assert not bash(agent, "brim learn - <<'BRIM_RULE'\nUse pnpm, never npm.\nBRIM_RULE")
    assert bash(agent, "env -u CLAUDECODE brim learn --replaces=pnpm 'Use npm'")


def test_a_person_can_turn_that_off_and_a_project_cannot(agent: Agent) -> None:
    agent.configure("hooks: {protect: false}\n", "project")
    agent.trust()
    agent.environ["BRIM_HOOKS_PROTECT"] = (
        "false"  # a project's settings can set variables in Claude Code
    )
    assert bash(agent, "brim pause")
    permit(agent, "brim")
    assert not bash(agent, "brim pause")
    assert bash(agent, "brim pause")
    agent.configure("hooks: {protect: false}\n")
    assert not bash(agent, "brim pause")


def test_it_holds_where_nothing_is_stored_and_where_hooks_only_inject(tmp_path: Path) -> None:
    agent = Agent(tmp_path, BRIM_HOOKS="injection-only")
    assert bash(agent, "brim pause")
    agent.learn(PNPM)
    assert bash(agent, "npm install")
