"""``brim learn`` and ``brim rules``: what a person teaches is text, and brim says what becomes of
it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Brim, Ran
from tests.cli.test_asking import asked
from tests.cli.written import editor, rules_in, rules_path, texts, write_rule

PNPM = "Use pnpm, not npm"
CLAUDE = {"CLAUDECODE": "1"}
needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")


def failed(ran: Ran, words: str, code: int = 2) -> None:
    assert ran.code == code, ran
    assert words in ran.err, ran.err


# learn --------------------------------------------------------------------------------------------


def test_a_rule_is_a_paragraph_of_the_users_file(brim: Brim) -> None:
    ran = brim("learn", "--user", PNPM, "--block", "npm install", "--tags", "packages, js")
    assert ran.code == 0
    assert ran.lines == [
        f"Learned for all your projects: {PNPM}",
        "told  at the start of every session",
        'kept  "npm install" is refused, with this rule as the reason',
        "kept  npm install, i, add, ci, update, uninstall, run and test are stopped once, with this rule as"
        " the reason",
    ]
    rule = rules_in(brim).rule("use-pnpm-not-npm")
    assert rule is not None
    assert (rule.text, rule.block, rule.tags) == (PNPM, ("run npm install",), ("packages", "js"))


def test_a_rule_that_nothing_checks_says_so(brim: Brim) -> None:
    ran = brim("learn", "--user", "Prefer small functions")
    assert ran.lines[1:] == [
        "told  at the start of every session",
        "      not checked: no call shows whether this is kept. Make it checkable: --block COMMAND"
        " or --before-done COMMAND",
    ]


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("In Python files, use pathlib instead of os.path", "with python files"),
        ("When you touch `src/api/**` update openapi.yaml", "with files like src/api/**"),
        ("Never run `git push --force`", "before git push --force"),
    ],
)
def test_when_is_read_from_the_words(brim: Brim, text: str, when: str) -> None:
    told = brim("learn", "--user", text, "--json").json["rule"]["told"]
    assert told == f"at the start of every session while all rules fit, else {when}"
    assert rules_in(brim).rules[0].when.cases == ()  # it's read again when a word changes


def test_when_and_before_done_are_declared(brim: Brim) -> None:
    ran = brim(
        "learn", "--user", "Run just fmt.", "--when", "*.rs", "--when", "run git commit",
        "--before-done", "just fmt",
    )  # fmt: skip
    assert "else with files like *.rs, or before git commit" in ran.out
    assert "kept  asks for just fmt before a turn is over, if files have changed" in ran.out
    failed(brim("learn", "--user", "x y", "--when", "sometimes"), "isn't a when")
    failed(brim("learn", "--user", "x y", "--block", "a; b"), "isn't one simple command")
    assert len(rules_in(brim).rules) == 1


def test_a_sorted_file_stays_sorted_and_every_other_byte_stays(brim: Brim) -> None:
    write_rule(brim, "aaa", "First.")
    write_rule(brim, "zzz", "Last.")
    path = rules_path(brim)
    path.write_text("# mine\n\n" + path.read_text() + "\n# the end\n")
    before = path.read_text()
    brim("learn", "--user", "Use uv.", "--name", "mmm")
    after = path.read_text()
    assert rules_in(brim).split.names == ["aaa", "mmm", "zzz"]
    paragraph = after[after.index("[mmm]") : after.index("[zzz]")]
    assert after.replace(paragraph, "") == before


def test_the_same_text_again_adds_what_is_new(brim: Brim) -> None:
    brim("learn", "--user", PNPM, "--block", "npm install")
    ran = brim("learn", "--user", "use  pnpm, not NPM.", "--block", "npm ci")
    assert ran.lines[0].startswith("Already known for all your projects")
    (rule,) = rules_in(brim).rules
    assert rule.block == ("run npm install", "run npm ci")


def test_a_rule_takes_the_place_of_another(brim: Brim) -> None:
    brim("learn", "--user", PNPM)
    ran = brim("learn", "--user", "Use bun", "--replaces", "use-pnpm")
    assert "brim rules restore use-pnpm-not-npm" in ran.err
    assert texts(brim) == ["Use bun"]
    failed(brim("learn", "--user", "Use deno", "--replaces", "nothing"), "no rule matches")
    assert texts(brim) == ["Use bun"]


def test_secrets_are_masked_and_counted(brim: Brim) -> None:
    ran = brim("learn", "--user", "Set OPENAI_API_KEY=sk-abcdefghijklmnopqrst1234 first", "--json")
    assert "1 secret masked" in ran.err
    assert "sk-abc" not in ran.out
    assert b"sk-abc" not in rules_path(brim).read_bytes()


@pytest.mark.parametrize(
    "text", ["🎉 yes", "استخدم uv دائما", "לעולם אל תדחוף", 'say "x" \\n', "a'''b"]
)
def test_any_script_and_any_quote_can_be_learned(brim: Brim, text: str) -> None:
    assert brim("learn", "--user", text).code == 0
    assert texts(brim) == [text]


@pytest.mark.parametrize("text", ["", "  ", "\u200b"])
def test_nothing_is_no_rule(brim: Brim, text: str) -> None:
    failed(brim("learn", "--user", text), "Say the rule")


def test_standard_input_is_read(brim: Brim) -> None:
    assert brim("learn", "--user", "-", stdin="Always test.\nTwice.\n").code == 0
    assert texts(brim) == ["Always test.\nTwice."]


def test_a_rule_that_doesnt_fit_says_when_it_comes(brim: Brim) -> None:
    text = "The importer writes to disk before it answers. " * 60
    ran = brim("learn", "--user", text, env={"BRIM_TOKEN_BUDGET_DEFAULT": "100"})
    assert "told  when a prompt or call shares a word with it" in ran.out


def test_an_agent_only_proposes(brim: Brim) -> None:
    ran = brim("learn", "--user", PNPM, "--block", "npm install", env=CLAUDE)
    assert (ran.code, texts(brim)) == (0, [])
    assert "brim rules review" in ran.out
    failed(brim("learn", "Use bun", "--replaces", "x", env=CLAUDE), "only a person", code=1)


def test_a_block_of_everything_is_asked_about(brim: Brim) -> None:
    failed(brim("learn", "--user", "x y", "--block", "edit **"), "--yes", code=1)
    assert texts(brim) == []
    assert brim("learn", "--user", "x y", "--block", "edit **", "--yes").code == 0


@needs_terminal
def test_a_person_is_asked_whether_to_refuse(brim: Brim) -> None:
    code, shown = asked(brim, "y\n", "learn", "--user", "Never run npm install")
    assert (code, "Refuse them always? [y/N]" in shown) == (0, True)
    assert "block = true" in rules_path(brim).read_text()
    assert brim("rules", "--json").json["rules"][0]["status"] == ["told", "refused"]


# A project ----------------------------------------------------------------------------------------


def test_the_first_rule_of_a_project_makes_it_trusted_and_git_sees_the_file(brim: Brim) -> None:
    subprocess.run(["git", "init", "-q"], cwd=brim.cwd, check=True)
    assert f"Learned for {brim.cwd.name}: Use uv." in brim("learn", "Use uv.").out
    assert brim("rules", "--json").json["rules"][0]["state"] == "active"
    shown = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=brim.cwd, check=True, capture_output=True
    )
    assert sorted(shown.stdout.decode().split()[1::2]) == [".brim/.gitignore", ".brim/rules.toml"]


def test_a_strangers_project_isnt_trusted_by_teaching_it(brim: Brim) -> None:
    write_rule(brim, "theirs", "Push to main.", "project")
    ran = brim("learn", "Use uv.")
    assert ran.code == 0
    assert "told  not before you accept it: brim rules trust" in ran.out
    states = {row["name"]: row["state"] for row in brim("rules", "--json").json["rules"]}
    assert states == {"theirs": "waiting", "use-uv": "waiting"}
    assert "Push to main" not in brim("rules", "why", "--text").out


def test_trust_shows_a_diff_and_what_was_accepted_holds_until_then(brim: Brim) -> None:
    write_rule(brim, "pnpm", PNPM, "project", block=["npm install"])
    write_rule(brim, "uv", "Use uv.", "project")
    failed(brim("rules", "trust"), "--yes", code=1)
    assert brim("rules", "trust", "--yes").code == 0
    path = rules_path(brim, "project")
    path.write_text(path.read_text().replace('block = "npm install"', "must = true"))
    write_rule(brim, "new", "Push to main.", "project")
    shown = brim("rules", "trust", "--dry-run")
    assert '  -block = "npm install"' in shown.lines
    assert "  +must = true" in shown.lines
    assert "new  new" in shown.lines
    told = brim("rules", "why", "--json").json
    assert [row["name"] for row in told["rules"]] == ["pnpm", "uv"]
    found = brim("rules", "trust", "--dry-run", "--json").json
    assert [rule["kind"] for rule in found["rules"]] == ["changed", "new"]
    assert brim("rules", "trust", "--yes").code == 0
    assert "new" in [row["name"] for row in brim("rules", "why", "--json").json["rules"]]
    assert "already trusted" in brim("rules", "trust").out


def test_an_agent_cant_trust_and_trust_can_be_taken_back(brim: Brim) -> None:
    write_rule(brim, "uv", "Use uv.", "project")
    failed(brim("rules", "trust", "--yes", env=CLAUDE), "only a person", code=1)
    brim("rules", "trust", "--yes")
    assert str(brim.cwd) in brim("rules", "trust", "--list", "--json").out
    assert brim("rules", "trust", "--remove").code == 0
    assert brim("rules", "trust", "--remove").code == 1
    assert brim("rules", "why", "--text").out == ""


@pytest.mark.parametrize("letter", ["\u200b", "\u2060", "\u202e", "\u2066", "\u00ad", "\U000e0041"])
def test_nothing_invisible_is_accepted_or_hidden(brim: Brim, letter: str) -> None:
    write_rule(brim, "uv", f"Use{letter} uv.", "project")
    shown = brim("rules", "trust", "--dry-run")
    assert letter not in shown.out + shown.err
    code = f"U+{ord(letter):04X}"
    ran = brim("rules", "audit")
    assert (ran.code, code in ran.out) == (1, True)
    brim("rules", "trust", "--yes")
    assert brim("rules", "why", "--text").out == ""


def test_worktrees_and_clean_keep_rules(brim: Brim) -> None:
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "init", "-q"], cwd=brim.cwd, check=True)
    brim("learn", PNPM, "--block", "npm install")
    subprocess.run([*git, "add", "-A"], cwd=brim.cwd, check=True)
    subprocess.run([*git, "commit", "-qm", "rules"], cwd=brim.cwd, check=True)
    other = brim.home / "tree"
    subprocess.run([*git, "worktree", "add", "-q", str(other), "-b", "b"], cwd=brim.cwd, check=True)
    for folder in (brim.cwd, other):
        assert PNPM in brim("rules", "why", "--text", cwd=folder).out
    subprocess.run([*git, "clean", "-fdxq"], cwd=brim.cwd, check=True)
    assert PNPM in brim("rules", "why", "--text").out
    subprocess.run([*git, "rm", "-q", ".brim/rules.toml"], cwd=brim.cwd, check=True)
    listed = brim("rules", "--json").json["rules"]
    assert [row["state"] for row in listed] == ["active"]  # the file is gone, so it holds
    rules_path(brim, "project").parent.mkdir(exist_ok=True)
    rules_path(brim, "project").write_text('[uv]\ntext = "Use uv."\n')
    listed = brim("rules", "--json").json["rules"]
    states = {row["name"]: row["state"] for row in listed}
    assert states == {"uv": "waiting", "use-pnpm-not-npm": "removed"}  # it blocks, so it holds
    assert PNPM in brim("rules", "why", "--text").out


# List, why ----------------------------------------------------------------------------------------


def test_every_rule_of_every_place_is_listed(brim: Brim) -> None:
    brim("learn", "--user", PNPM, "--block", "npm install")
    (brim.cwd / ".git").mkdir()
    brim("learn", "Use uv.", "--before-done", "uv lock")
    brim.write("CLAUDE.md", "- Prefer small commits.\n")
    ran = brim("rules")
    rows = [line.split("  ") for line in ran.lines[1:]]
    states = [[cell.strip() for cell in row if cell.strip()][1] for row in rows]
    assert states == [
        "told, stopped, refused",
        "told, stopped, before done",
        "told by Claude Code, opencode and Copilot CLI, told to others, not checked",
    ]
    assert brim("rules", "commits").code == 0
    failed(brim("rules", "nothing"), "nothing matches; 3 rules in all", code=1)
    assert [row["place"] for row in brim("rules", "--user", "--json").json["rules"]] == ["user"]


def test_a_mistake_costs_one_rule_and_is_told_with_its_line(brim: Brim) -> None:
    brim("learn", "--user", PNPM, "--block", "npm install")
    brim("rules")
    path = rules_path(brim)
    path.write_text(path.read_text().replace("block =", "blok =") + '\n[uv]\ntext = "Use uv."\n')
    ran = brim("rules")
    assert "rules.toml, line 3: 'blok' isn't a key of a rule; did you mean 'block'?" in ran.err
    assert brim("rules", "audit").code == 1
    told = brim("rules", "why", "--json").json["rules"]
    assert [row["name"] for row in told] == ["use-pnpm-not-npm", "uv"]


def test_why_has_one_reason_for_each_rule(brim: Brim) -> None:
    for name, text, when in (
        ("rust", "Write it in Rust " * 30, "*.rs"),
        ("push", "Ask before you push " * 30, "run git push"),
        ("lambda", "A lambda is better than a class. Never. " * 30, ""),
        ("always", "Be kind.", ""),
    ):
        write_rule(brim, name, text, **({"when": when} if when else {}))
    env = {"BRIM_TOKEN_BUDGET_DEFAULT": "30"}

    def reasons(*words: str) -> dict[str, str]:
        rows = brim("rules", "why", *words, "--json", env=env).json["rules"]
        return {row["name"]: row["reason"] for row in rows}

    start = reasons()
    assert (start["always"], start["rust"], start["push"]) == (
        "told at start",
        "waits for: *.rs",
        "waits for: run git push",
    )
    assert reasons("--file", "src/a.rs")["rust"] == "now: file *.rs"
    assert reasons("--run", "git push origin")["push"] == "now: run git push"
    assert reasons("--prompt", "use a lambda")["lambda"] == 'now: shares "lambda"'
    assert reasons("--file", "src/a.rs")["always"] == "told at start"
    shown = brim("rules", "why", "rust", "--file", "a.rs", env=env)
    assert "now   now: file *.rs" in shown.lines
    assert '  when = "*.rs"' in shown.lines


def test_why_text_is_what_hooks_say(brim: Brim) -> None:
    brim("learn", "--user", PNPM)
    assert brim("rules", "why", "--text").out == (f"Rules your user set, kept by brim:\n- {PNPM}\n")
    failed(brim("rules", "why", "nothing"), "no rule matches 'nothing'")
    failed(brim("rules", "why", "use bnpm"), "--prompt TEXT")


# Changing -----------------------------------------------------------------------------------------


def test_a_key_is_changed_and_the_comments_stay(brim: Brim) -> None:
    path = rules_path(brim)
    path.parent.mkdir()
    path.write_text('# why\n[pnpm]\ntext = "Use pnpm."  # really\n\n[uv]\ntext = "Use uv."\n')
    ran = brim("rules", "edit", "pnpm", "--block", "npm install", "--text", "Use pnpm here.")
    assert ran.lines[0] == "Changed pnpm: Use pnpm here."
    assert path.read_text() == (
        '# why\n[pnpm]\ntext = "Use pnpm here."  # really\nblock = "npm install"\n\n'
        '[uv]\ntext = "Use uv."\n'
    )
    brim("rules", "edit", "pnpm", "--block", "")
    assert "block" not in path.read_text()
    failed(brim("rules", "edit", "pnpm", "--when", "never ever"), "isn't a when")


def test_the_paragraph_is_edited_in_an_editor(brim: Brim) -> None:
    brim("learn", "--user", PNPM)
    env = editor(brim, "text = text.replace('pnpm,', 'bun,')")
    assert brim("rules", "edit", "pnpm", env=env).code == 0
    assert texts(brim) == ["Use bun, not npm"]
    assert brim("rules", "edit", "bun", env=editor(brim, "text = ''")).code == 1
    ran = brim("rules", "edit", "bun", env=editor(brim, "text = '[x]\\ntxt = 1\\n'"))
    failed(ran, "did you mean 'text'?")
    kept = ran.err.split("what you wrote is in ")[1].strip()
    assert "txt = 1" in Path(kept.replace("~", str(brim.home))).read_text()
    assert texts(brim) == ["Use bun, not npm"]
    failed(brim("rules", "edit", "bun", env={**CLAUDE, "EDITOR": "true"}), "only a person", code=1)


def test_a_rule_of_a_native_file_is_changed_there(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write("CLAUDE.md", "- Prefer small commits.\n")
    failed(brim("rules", "remove", "small"), "CLAUDE.md, line 1: change it there")


def test_what_is_removed_comes_back_as_it_was(brim: Brim) -> None:
    brim("learn", "--user", PNPM, "--block", "npm install")
    brim("learn", "--user", "Use uv.")
    failed(brim("rules", "remove", "pnpm", "nothing"), "no rule matches")
    assert len(texts(brim)) == 2
    before = rules_in(brim).rule("use-pnpm-not-npm")
    assert "brim rules restore use-pnpm-not-npm" in brim("rules", "remove", "pnpm").out
    assert texts(brim) == ["Use uv."]
    assert brim("rules", "restore").lines == ["use-pnpm-not-npm"]
    assert "any more" not in brim("rules").err
    assert brim("rules", "restore", "use-pnpm-not-npm", "--user").code == 0
    after = rules_in(brim).rule("use-pnpm-not-npm")
    assert before is not None
    assert after is not None
    assert after.digest == before.digest
    failed(brim("rules", "restore", "use-pnpm-not-npm", "--user"), "no removed rule")
    failed(brim("rules", "remove", "uv", env=CLAUDE), "only a person", code=1)


def test_a_removed_rule_comes_back_to_where_it_was(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim("learn", "--user", PNPM, "--block", "npm install")
    brim("learn", "Use tabs.")
    brim("rules", "trust", "--yes")
    brim("rules", "remove", "pnpm", "tabs")
    assert brim("rules", "restore", "use-pnpm-not-npm", "use-tabs").code == 0
    assert texts(brim) == [PNPM]
    assert texts(brim, "project") == ["Use tabs."]
    brim("rules", "remove", "tabs")
    other = brim.cwd.parent / "other"
    (other / ".git").mkdir(parents=True)
    failed(brim("rules", "restore", "use-tabs", cwd=other), "was removed from")
    assert brim("rules", "restore", "use-tabs", "--user", cwd=other).code == 0
    assert texts(brim) == [PNPM, "Use tabs."]


def test_a_file_that_is_gone_is_written_again_as_it_was(brim: Brim) -> None:
    path = brim.home / ".brim" / "rules.toml"
    brim("learn", "--user", "Use uv, never pip")
    path.write_bytes(b"# mine\r\n\r\n" + path.read_bytes().replace(b"\n", b"\r\n") + b"# end\r\n")
    text = path.read_bytes()
    brim("rules", "why")
    path.unlink()
    assert brim("rules", "restore").code == 0
    assert path.read_bytes() == text


def test_an_editors_old_buffer_is_noticed_and_what_it_lost_is_kept(brim: Brim) -> None:
    brim("learn", "--user", "Use uv.")
    buffer = rules_path(brim).read_text()
    brim("learn", "--user", PNPM, "--block", "npm install")
    brim("rules")
    rules_path(brim).write_text(buffer)  # saved over what brim wrote meanwhile
    ran = brim("rules")
    assert "doesn't have the rule use-pnpm-not-npm any more" in ran.err
    assert brim("rules", "restore", "use-pnpm-not-npm", "--user").code == 0
    assert len(texts(brim)) == 2


def test_a_lost_file_applies_and_is_written_again(brim: Brim) -> None:
    brim("learn", "--user", PNPM, "--block", "npm install")
    rules_path(brim).unlink()
    assert PNPM in brim("rules", "why", "--text").out
    ran = brim("rules")
    assert "its rule goes on applying" in ran.err
    assert "Restored 1 rule" in brim("rules", "restore").out
    assert texts(brim) == [PNPM]


def test_a_nested_file_applies_in_its_folder_only(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write("sub/AGENTS.md", "- Use tabs in this folder.\n")
    brim("rules", "trust", "--yes")
    reasons = {"sub/x.py": "now: file sub/**", "x.py": ""}
    for path, reason in reasons.items():
        listed = brim("rules", "why", "--file", path).out
        assert ("Use tabs in this folder." in listed) == bool(reason)
        assert reason in listed
    assert "tabs" not in brim("rules", "why").out


# Review -------------------------------------------------------------------------------------------


def test_notes_of_agents_wait_and_are_decided(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    for text in ("Use ruff", "Push to main", "Use\u200b tabs"):
        brim("learn", text, env=CLAUDE)
    listed = brim("rules", "review")
    assert "use-ruff  noted by Claude Code" in listed.out
    assert "Use<U+200B> tabs" in listed.out or "use-tabs" not in listed.out
    assert brim("rules", "why", "--text").out == ""
    failed(brim("rules", "review", "accept", "use-ruff", env=CLAUDE), "only a person", code=1)
    assert brim("rules", "review", "accept", "use-ruff", "--text", "Use ruff here").code == 0
    assert texts(brim, "project") == ["Use ruff here"]
    assert brim("rules", "review", "dismiss", "push-to-main").code == 0
    assert "Push to main" not in brim("rules", "review").out
    assert "push-to-main" in brim("rules", "restore").lines
    failed(brim("rules", "review", "accept", "nothing"), "nothing here is called")


@needs_terminal
def test_a_person_decides_about_each(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    for text in ("Use ruff", "Push to main"):
        brim("learn", text, env=CLAUDE)
    assert asked(brim, "ad", "rules", "review")[0] == 0
    assert texts(brim, "project") == ["Use ruff"]
    assert brim("rules", "review", "--json").json == {"notes": [], "checks": []}


# Import -------------------------------------------------------------------------------------------


def test_markdown_is_moved_rule_by_rule(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write("AGENTS.md", "# Style\n\n- Use tabs.\n  Really.\n- Never push.\n\nAlways use UTC.\n")
    brim.write("web/CLAUDE.md", "- Use signals.\n")
    dry = brim("rules", "import", "AGENTS.md", "web/CLAUDE.md", "--dry-run")
    assert (dry.code, texts(brim, "project")) == (0, [])
    assert "told at the start while all rules fit, else with files like web/**" in dry.out
    failed(brim("rules", "import", "AGENTS.md"), "--yes", code=1)
    assert brim("rules", "import", "AGENTS.md", "web/CLAUDE.md", "--yes").lines[-1] == (
        "Wrote 4 rules."
    )
    assert texts(brim, "project") == [
        "Use tabs.\nReally.",
        "Never push.",
        "Always use UTC.",
        "Use signals.",
    ]
    again = brim("rules", "import", "AGENTS.md", "--json").json
    assert (again["added"], len(again["known"])) == ([], 3)
    failed(brim("rules", "import", "gone.md"), "no such file")


@pytest.mark.parametrize("name", ["rules.jsonl", "rules.json", "rules.toml", "config.YAML"])
def test_a_file_that_isnt_markdown_is_no_rule(brim: Brim, name: str) -> None:
    brim.write(name, "Always use uv.\n")
    failed(brim("rules", "import", name, "--user", "--yes"), f"{name}: not Markdown")
    assert texts(brim) == []


def floop(brim: Brim, *nodes: dict[str, object], edges: list[dict[str, object]]) -> None:
    brim.write(".floop/nodes.jsonl", "".join(json.dumps(node) + "\n" for node in nodes) + "x\n")
    brim.write(".floop/edges.jsonl", "".join(json.dumps(edge) + "\n" for edge in edges))


def node(id: str, text: str, scope: str = "", **more: object) -> dict[str, object]:
    content = {"name": f"learned/{id}", "kind": "directive", "content": {"canonical": text}, **more}
    return {"id": id, "kind": "behavior", "content": content, "metadata": {"scope": scope}}


def test_floop_comes_with_conditions_and_edges(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    floop(
        brim,
        node("one", "Use gofmt.", when={"language": "go", "task": "coding", "weather": "rain"}),
        node("two", "Use uv.", "global", when={"file_ext": [".py"]}),
        {**node("old", "Use pip."), "kind": "forgotten-behavior"},
        edges=[
            {"source": "one", "target": "two", "kind": "similar-to", "weight": 0.5},
            {"source": "two", "target": "one", "kind": "similar-to", "weight": 0.5},
            {"source": "one", "target": "gone", "kind": "requires"},
        ],
    )
    ran = brim("rules", "import", ".", "--yes")
    assert ran.code == 0
    for problem in ("forgotten behavior", "when weather is rain", "gone: there is no such rule"):
        assert problem in ran.err
    (one,) = rules_in(brim, "project").rules
    (two,) = rules_in(brim).rules
    assert (one.name, str(one.when), str(two.when)) == ("one", "go", "*.py")
    assert [(edge.kind, edge.target, edge.weight) for edge in one.edges] == [
        ("related", "two", 0.5)
    ]
    assert brim("rules", "audit").code == 0


# Audit --------------------------------------------------------------------------------------------


def test_audit_ends_with_pairs_secrets_and_edges_to_nowhere(brim: Brim) -> None:
    write_rule(brim, "a", "Use pnpm, not npm.")
    write_rule(brim, "b", "Use npm, not pnpm.")
    write_rule(brim, "c", "Please use pnpm, not npm!")
    write_rule(brim, "d", "The password: hunter2hunter2", requires=["nowhere"])
    ran = brim("rules", "audit")
    assert ran.code == 1
    assert ran.lines[0] == "3 of 4 rules can be checked, in 0 sessions"
    kinds = [mistake["kind"] for mistake in brim("rules", "audit", "--json").json["mistakes"]]
    assert kinds == ["problem", "hint", "hint", "hint"]
    assert "d requires nowhere, which isn't a rule" in ran.out
    assert "a and b use the same words: do they contradict each other?" in ran.out
    assert "a and c say the same" in ran.out
    assert "d has a secret in it" in ran.out


# For builders -------------------------------------------------------------------------------------


def test_prompt_and_activate_show_the_tiers(brim: Brim) -> None:
    write_rule(brim, "never", "Never push to main.", kind="constraint")
    write_rule(brim, "py", "Use pathlib in Python.", when="python")
    whole = brim("dev", "prompt", "--file", "a.py")
    assert "## Constraints\n- Never push to main." in whole.out
    told = brim("dev", "activate", "--file", "a.py", "--json").json
    rows = told["rules"]
    assert brim("dev", "activate", "--file", "a.py").out == told["text"]
    by_name = {row["name"]: row for row in rows}
    assert by_name["py"]["tier"] == "full"
    assert by_name["never"]["tier"] in ("summary", "full")
    assert "language python" in by_name["py"]["reasons"]
    other = brim("dev", "activate", "--file", "a.go", "--json").json["rules"]
    assert "py" not in [row["name"] for row in other]
    tight = brim("dev", "prompt", "--tiered", "--token-budget", "5")
    assert (tight.code, "over the budget" in tight.err) == (1, True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_cant_be_written_is_said(brim: Brim) -> None:
    brim("learn", "--user", PNPM)
    folder = rules_path(brim).parent
    folder.chmod(0o500)
    try:
        ran = brim("learn", "--user", "Use uv.")
        assert ran.code == 2
        assert PNPM in brim("rules", "why", "--text").out
    finally:
        folder.chmod(0o700)


def test_a_rule_gets_a_name_that_needs_no_quotes_in_a_shell(brim: Brim) -> None:
    brim("learn", "--user", "Don't touch the folder, it’s old")
    assert "dont-touch-folder-its-old" in brim("rules").out
