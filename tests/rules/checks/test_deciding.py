"""Calls that break a rule are found however they are written; other calls break nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import ToolCall
from brim.rules.checks import (
    Breach,
    CallPlace,
    CheckedCall,
    CheckIndex,
    RuleCheck,
    breach_of,
    check_for,
    fulfilled_needs,
    waits_for,
)
from brim.rules.checks.everyday import everyday_rules
from tests.rules.checks.sentences import check_named, edit, read, shell, wordings, write


def examples(kind: str) -> list[tuple[str, str]]:
    """The calls of the table: what breaks each rule, or what doesn't."""
    pairs = []
    for rule in everyday_rules():
        if rule.stance != "done":
            name = rule.row.get("like", rule.name)
            pairs += [(name, command) for command in rule.row[kind]]
    return pairs


def check_of(text: str) -> RuleCheck:
    check = check_for(text)
    assert check is not None
    return check


@pytest.mark.parametrize(("name", "command"), examples("breaks"))
def test_a_call_of_the_table_breaks_its_rule(name: str, command: str) -> None:
    check = check_named(name)
    pending = shell(command)
    assert breach_of(check, pending) is not None
    assert set(check.keys) & pending.keys


@pytest.mark.parametrize(("name", "command"), examples("ok"))
def test_an_innocent_call_of_the_table_passes(name: str, command: str) -> None:
    assert breach_of(check_named(name), shell(command)) is None


@pytest.mark.parametrize("rule", [rule for rule in everyday_rules() if rule.row.get("needs")])
def test_each_command_of_the_table_is_what_the_rule_needs(rule) -> None:  # type: ignore[no-untyped-def]
    check = check_named(rule.name)
    for command in rule.row["ok"]:
        assert fulfilled_needs(check, shell(command)) == (0,)
    assert fulfilled_needs(check, shell("ls -la && git status")) == ()


WRAPPERS = [
    "{}",
    "cd web && {}",
    "sudo {}",
    "sudo -u me -E {}",
    "env A=1 B=2 {}",
    "A=1 {}",
    "nohup {} &",
    "timeout 60 {}",
    "time {}",
    "command {}",
    "({})",
    "{{ {}; }}",
    "if true; then {}; fi",
    "for x in a b; do {}; done",
    "true || {}",
    "echo start; {} | tee log",
    "echo $({})",
    "bash -lc {q}",
    "sh -c {q}",
    "eval {q}",
    "bash <<'EOF'\n{}\nEOF",
    "echo {q} | bash",
    "cat <<'EOF' | sh\n{}\nEOF",
    "echo x | xargs -n 1 {}",
    "parallel {} ::: a b",
    "find . -name x -exec {} \\;",
    "sudo bash -c {q}",
    "env -i sh -c {q}",
    "npx -y {}",
    "# a comment\n{}",
]
INNOCENT = [
    "echo {q}",
    "printf %s {q}",
    "grep -rn {q} .",
    "git log --grep {q}",
    "git commit -m {q}",
    "# {}",
    "ls  # {}",
    "cat <<'EOF' > notes.md\n{}\nEOF",
    "python - <<'EOF'\n# {}\nEOF",
    "rg {q} src",
    "gh pr create --title x --body {q}",
    "sed -n '/x/p' notes.md # {}",
]
BROKEN = [
    ("Use pnpm, not npm", "npm install left-pad"),
    ("Use pnpm, not npm", "npm i"),
    ("Use uv, never pip", "pip3 install requests"),
    ("Use uv, never pip", "python3 -m pip install requests"),
    ("Never force-push", "git -C web push -f origin x"),
    ("Never push to main", "git push origin HEAD:main"),
    ("Never use rm -rf", "rm -r -f build"),
    ("Don't use docker", "docker compose up -d"),
    ("Never run terraform apply", "terraform apply -auto-approve"),
    ("Never use wget", "/usr/bin/wget https://x"),
]


def quoted(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(("text", "command"), BROKEN)
def test_a_wrapper_hides_nothing(text: str, command: str, wrapper: str) -> None:
    pending = shell(wrapper.format(command, q=quoted(command)))
    check = check_of(text)
    assert breach_of(check, pending) is not None
    assert set(check.keys) & pending.keys


@given(st.lists(st.sampled_from(WRAPPERS[:16]), max_size=3), st.sampled_from(BROKEN))
def test_wrappers_in_wrappers_hide_nothing(wrappers: list[str], broken: tuple[str, str]) -> None:
    text, command = broken
    for wrapper in wrappers:
        if wrapper.startswith(("if", "for", "(", "{")) or "|" in wrapper or "&" in wrapper:
            command = wrapper.format(command, q=quoted(command))
        else:
            command = wrapper.format(f"bash -c {quoted(command)}")
    assert breach_of(check_of(text), shell(command)) is not None


@pytest.mark.parametrize("wrapper", INNOCENT)
@pytest.mark.parametrize(("text", "command"), BROKEN)
def test_a_text_that_names_a_call_is_none(text: str, command: str, wrapper: str) -> None:
    assert breach_of(check_of(text), shell(wrapper.format(command, q=quoted(command)))) is None


@given(
    st.lists(st.sampled_from(INNOCENT), min_size=1, max_size=4),
    st.sampled_from(BROKEN),
    st.sampled_from(["\n", "\ntrue && ", "\nls | head; "]),
)
def test_texts_that_name_a_call_are_none_however_they_are_joined(
    wrappers: list[str], broken: tuple[str, str], between: str
) -> None:
    text, command = broken
    lines = [wrapper.format(command, q=quoted(command)) for wrapper in wrappers]
    assert breach_of(check_of(text), shell(between.join(lines))) is None


CHECKS = [(text, check) for _, _, text in wordings() if (check := check_for(text))]
PASSING = [command for _, command in examples("ok")]


@given(st.sampled_from(PASSING), st.sets(st.integers(0, len(CHECKS) - 1), max_size=200))
def test_rules_that_do_not_name_a_call_never_stop_it(command: str, numbers: set[int]) -> None:
    """All rules together stop what each of them stops, and nothing else."""
    rules = [CHECKS[number] for number in sorted(numbers)]
    pending = shell(command)
    alone = [(text, breach_of(check, pending)) for text, check in rules]
    expected = {text: breach for text, breach in alone if breach is not None}
    assert dict(CheckIndex(rules).breaches(pending)) == expected


@given(st.sampled_from(["ls", "git status", "cat README.md", "pytest -q", "make", "cd x"]))
def test_an_everyday_call_breaks_no_rule_that_forbids_other_programs(command: str) -> None:
    named = ("pytest", "make test", "make lint", "pytest -x")
    for text, check in CHECKS:
        breach = breach_of(check, shell(command))
        is_about_tests = check.name == "full-test-suite"
        assert breach is None or is_about_tests or any(name in text for name in named)


# Package managers ---------------------------------------------------------------------------------

MANAGERS = {
    "npm": ["npm install", "npm i x", "npm add x", "npm ci", "npm uninstall x", "npm run build"],
    "pnpm": ["pnpm install", "pnpm i", "pnpm add x", "pnpm remove x"],
    "yarn": ["yarn", "yarn install", "yarn add x"],
    "bun": ["bun install", "bun i", "bun add x"],
    "pip": ["pip install x", "pip3 install x", "python -m pip install x", "uv run pip install x"],
    "uv": ["uv add x", "uv sync", "uv pip install x"],
    "poetry": ["poetry add x", "poetry install"],
    "conda": ["conda install x", "conda env update -f x.yml"],
}
OTHER_CALLS = [
    "npm --version", "npm view x", "npm publish", "npm ls", "pnpm --version", "yarn --version",
    "yarn info x", "bun --version", "pip --version", "pip list", "pip show x", "uv --version", "uv run x",
    "poetry run x", "conda activate x", "npm help install", "which npm", "command -v pip",
]  # fmt: skip


@pytest.mark.parametrize("better", MANAGERS)
@pytest.mark.parametrize("worse", MANAGERS)
def test_use_one_and_not_the_other(better: str, worse: str) -> None:
    if better == worse:
        return
    for text in (f"Use {better}, not {worse}", f"Use {better} instead of {worse}."):
        check = check_of(text)
        for command in MANAGERS[worse]:
            assert breach_of(check, shell(command)) is not None, command
        for command in [*MANAGERS[better], *OTHER_CALLS]:
            is_worse_inside = worse == "pip" and "pip install" in command
            assert breach_of(check, shell(command)) is None or is_worse_inside, command


# Files and texts ----------------------------------------------------------------------------------


def test_paths_are_kept_from_edits_whoever_makes_them() -> None:
    check = check_of("Don't touch src/legacy")
    assert breach_of(check, edit("src/legacy/a.py", "x")) == Breach("src/legacy/a.py")
    assert breach_of(check, write("/work/shop/src/legacy/a.py", "x"))
    assert breach_of(check, shell("cd src && sed -i s/a/b/ legacy/a.py"))
    assert breach_of(check, shell("echo x > src/legacy/a.py"))
    assert breach_of(check, shell("rm -r src/legacy"))
    assert breach_of(check, shell("sudo tee src/legacy/a.py < x"))
    assert breach_of(check, read("src/legacy/a.py")) is None
    assert breach_of(check, edit("src/app.py", "see src/legacy/a.py")) is None
    assert breach_of(check, shell("cat src/legacy/a.py; grep -r x src/legacy")) is None
    assert breach_of(check, edit("/elsewhere/src2/legacy.py", "x")) is None


def test_a_patch_is_an_edit() -> None:
    patch = "*** Begin Patch\n*** Update File: src/legacy/a.py\n@@\n-a\n+b\n*** End Patch"
    call = ToolCall(name="apply_patch", kind="edit", input={"input": patch})
    pending = CheckedCall(call, CallPlace("/work/shop", "/work/shop"))
    assert breach_of(check_of("Don't touch src/legacy"), pending)
    assert breach_of(check_of("Don't touch docs/"), pending) is None


def test_committing_a_file_is_no_edit() -> None:
    check = check_of("Never commit .env files")
    assert breach_of(check, shell("git add .env"))
    assert breach_of(check, shell("git add -f web/.env.local"))
    assert breach_of(check, shell("git add .env.example")) is None
    assert breach_of(check, edit(".env", "A=1")) is None
    assert breach_of(check_of("Never read .env files"), read(".env"))
    assert breach_of(check_of("Never read .env files"), shell("cat .env"))


def test_only_existing_migrations_are_kept(tmp_path: Path) -> None:
    check = check_of("Never edit existing migrations")
    place = CallPlace(str(tmp_path), str(tmp_path))
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "1.py").write_text("x")
    assert breach_of(check, write("migrations/1.py", "y", place=place))
    assert breach_of(check, edit("migrations/1.py", "y", "x", place=place))
    assert breach_of(check, write("migrations/2.py", "y", place=place)) is None


def test_only_new_documents_are_stopped(tmp_path: Path) -> None:
    check = check_of("Never create markdown files unless I ask")
    place = CallPlace(str(tmp_path), str(tmp_path))
    (tmp_path / "README.md").write_text("x")
    assert breach_of(check, write("NOTES.md", "y", place=place))
    assert breach_of(check, write("README.md", "y", place=place)) is None
    assert breach_of(check, edit("README.md", "y", "x", place=place)) is None


@pytest.mark.parametrize(
    ("text", "path", "line", "innocent"),
    [
        ("No console.log", "a.ts", "  console.log(x)", "  // console.log(x)"),
        ("No print statements", "a.py", "    print(x)", "    pprint(x)"),
        ("Never use any in TypeScript", "a.tsx", "const x: any = 1", "// any of them: any way"),
        ("Never use @ts-ignore", "a.ts", "// @ts-ignore", "// ignore"),
        ("Do not add type: ignore", "a.py", "x = y  # type: ignore[x]", "x = y  # ignored"),
        ("No debugger statements", "a.js", "  debugger;", "  startDebugger();"),
        ("Use pathlib, not os.path", "a.py", "x = os.path.join(a)", "x = Path(a)"),
        ("Never hardcode API keys", "a.py", 'key = "AKIAABCDEFGHIJKLMNOP"', 'key = env["KEY"]'),
    ],
)
def test_new_lines_are_read(text: str, path: str, line: str, innocent: str) -> None:
    check = check_of(text)
    assert breach_of(check, edit(path, f"a\n{line}\nb", "a\nb")) is not None
    assert breach_of(check, write(path, line)) is not None
    assert breach_of(check, shell(f"cat > {path} <<'EOF'\n{line}\nEOF")) is not None
    assert breach_of(check, edit(path, innocent)) is None
    assert breach_of(check, edit(path, f"{line}\nb", f"{line}\na")) is None  # it was there
    assert breach_of(check, edit(path, "b", line)) is None  # it's removed
    assert breach_of(check, edit("notes.rst", line)) is None or "keys" in text
    assert breach_of(check, shell(f"grep -rn {quoted(line)} src")) is None


def test_a_line_that_a_file_has_already_is_not_new(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(x)\n")
    place = CallPlace(str(tmp_path), str(tmp_path))
    check = check_of("No print statements")
    assert breach_of(check, write("a.py", "print(x)\ny = 1\n", place=place)) is None
    assert breach_of(check, write("a.py", "print(y)\n", place=place))


def test_commit_messages_are_read_however_they_are_given() -> None:
    check = check_of("Use conventional commits")
    heredoc = "git commit -m \"$(cat <<'EOF'\n{}\n\nMore.\nEOF\n)\""
    assert breach_of(check, shell(heredoc.format("Add login")))
    assert breach_of(check, shell(heredoc.format("feat: add login"))) is None
    assert breach_of(check, shell("git commit")) is None
    signed = check_of("Never add Co-Authored-By to commits")
    assert breach_of(signed, shell(heredoc.format("x\n\nCo-Authored-By: Claude <x@y>")))


# Blocks, branches, moments ------------------------------------------------------------------------


def test_a_declared_block_is_refused_with_all_its_aliases() -> None:
    check = check_for("Use uv", block=["run pip install", "npm install", "tool WebFetch"])
    assert check is not None
    for command in ("pip3 install x", "python -m pip install x", "npm i", "sudo npm add x"):
        breach = breach_of(check, shell(command))
        assert breach is not None
        assert breach.refused
    call = ToolCall(name="WebFetch", input={"url": "https://x"})
    assert breach_of(check, CheckedCall(call, CallPlace())) == Breach("WebFetch", refused=True)


def test_a_push_without_a_branch_counts_on_the_branch() -> None:
    check = check_of("Never push to main")
    on_main = CallPlace("/work/shop", "/work/shop", branch="main")
    on_topic = CallPlace("/work/shop", "/work/shop", branch="topic")
    for command in ("git push", "git push origin", "git push -u origin HEAD"):
        assert breach_of(check, shell(command, on_main))
        assert breach_of(check, shell(command, on_topic)) is None
    assert breach_of(check, shell("git push origin topic", on_main)) is None


def test_a_commit_waits_for_the_tests() -> None:
    check = check_of("Run the tests before every commit")
    assert waits_for(check, shell("git add x && git commit -m x")) == "git commit -m x"
    assert waits_for(check, shell("git status")) == ""
    assert breach_of(check, shell("git commit -m x")) is None
    assert fulfilled_needs(check, shell("uv run pytest -q")) == (0,)


@pytest.mark.parametrize("option", ["--check", "--diff", "--help"])
def test_a_formatter_that_changes_nothing_has_not_formatted(option: str) -> None:
    check = check_of("Run ruff format before you finish")
    assert fulfilled_needs(check, shell("ruff format .")) == (0,)
    assert fulfilled_needs(check, shell(f"ruff format {option} .")) == ()
    only_checked = check_of("Run `ruff format --check` before you finish")
    assert fulfilled_needs(only_checked, shell("ruff format --check .")) == (0,)


def test_what_cannot_be_read_breaks_nothing() -> None:
    for _, check in CHECKS:
        assert breach_of(check, shell("git push --force 'origin")) is None
        assert breach_of(check, CheckedCall(ToolCall(), CallPlace())) is None
        assert breach_of(check, edit("a\0b", "x")) is None


def test_deciding_imports_nothing_of_compiling() -> None:
    code = "import brim.rules.checks.deciding, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    for name in ("recognition", "everyday", "general", "lexicon", "clauses", "stance"):
        assert f"brim.rules.checks.{name}" not in modules
    assert "tomllib" not in modules


MANIFESTS = [
    (
        "package.json",
        '{"version": "1.0.0",\n "dependencies": {\n  "react": "^18.0.0"\n }}\n',
        '  "react": "^18.0.0",\n  "left-pad": "^1.3.0"',
        '  "react": "^19.0.0"',
    ),
    (
        "pyproject.toml",
        '[project]\nversion = "1.0"\ndependencies = [\n  "httpx>=0.27",\n]\n',
        '  "httpx>=0.27",\n  "requests>=2",',
        '  "httpx>=0.28",\n]\nversion = "1.1"\n[tool.ruff]\nselect = ["E"]',
    ),
    ("requirements-dev.txt", "httpx==1\n", "httpx==1\nrequests\n", "httpx==2\n# requests\n"),
    (
        "Cargo.toml",
        '[package]\nversion = "0.1.0"\n[dependencies]\nserde = "1"\n',
        'serde = "1"\ntokio = { version = "1", features = ["full"] }',
        'serde = "1.1"\n[profile.release]\nlto = true',
    ),
    (
        "go.mod",
        "module example.org/shop\n\ngo 1.22\n\nrequire github.com/a/b v1.0.0\n",
        "require github.com/c/d v1.2.0",
        "require github.com/a/b v1.1.0",
    ),
    ("Gemfile", "gem 'rails', '~> 7'\n", "gem 'rails'\ngem 'devise'", "gem 'rails', '~> 8'"),
]


@pytest.mark.parametrize(("name", "text", "adding", "other"), MANIFESTS, ids=lambda part: part[:12])
def test_a_new_package_in_a_manifest_breaks_the_rule(
    tmp_path: Path, name: str, text: str, adding: str, other: str
) -> None:
    check = check_for("No new dependencies without asking me.")
    assert check is not None
    (tmp_path / name).write_text(text)
    place = CallPlace(str(tmp_path), str(tmp_path))
    assert breach_of(check, edit(name, adding, "old", place)) is not None
    assert breach_of(check, edit(name, other, "old", place)) is None
    assert breach_of(check, write(name, text, place)) is None
    assert breach_of(check, write(f"new/{name}", text, place)) is None


@pytest.mark.parametrize(
    ("text", "stopped", "passing"),
    [
        ("No sudo.", 'ssh -p 22 bastion "sudo journalctl -u api"', "ssh sudo.example.org uptime"),
        ("Never read .env", "grep KEY .env", 'rg "\\.env" docs'),
        ("Never read .env", "rg -e KEY .env", "grep .env README.md"),
    ],
)
def test_what_a_command_is_given(text: str, stopped: str, passing: str) -> None:
    check = check_for(text)
    assert check is not None
    assert breach_of(check, shell(stopped)) is not None
    assert breach_of(check, shell(passing)) is None


# Files --------------------------------------------------------------------------------------------

CHANGING = [
    "git checkout -- legacy/x",
    "git checkout HEAD~1 -- legacy/x",
    "git checkout HEAD legacy/x",
    "git restore legacy/x",
    "git restore --source=HEAD~1 legacy/",
    "git restore --staged --worktree legacy/x",
    "git stash -- legacy/x",
    "git clean -fd legacy",
    "git mv legacy/x y",
    "git rm legacy/x",
    "mv legacy/x y",
    "mv y legacy/x",
    "cp a legacy/",
    "cp -t legacy a b",
    "rm -rf legacy",
    "sed -i.bak s/a/b/ legacy/x",
    "sed -i -e s/a/b/ legacy/x",
    "perl -pi -e s/a/b/ legacy/x",
    "echo x | tee -a legacy/x",
    "echo x >> legacy/new",
    "touch legacy/new",
    "truncate -s0 legacy/x",
    "ln -s a legacy/x",
    "dd if=a of=legacy/x",
    "rsync -a src/ legacy/",
    "install -m 644 a legacy/x",
    "chmod +x legacy/x",
    "patch legacy/x < p.diff",
    "cd legacy && sed -i s/a/b/ x",
    "find legacy -name '*.py' -delete",
    "find legacy -type f -exec sed -i s/a/b/ {} +",
    "ls legacy/*.py | xargs sed -i s/a/b/",
    "grep -rl foo legacy | xargs sed -i s/foo/bar/",
    "npx prettier --write legacy/x",
    "black legacy/",
    "npx eslint --fix legacy/",
    "ruff format legacy",
    "gofmt -w legacy/",
    "unzip a.zip -d legacy",
    "tar xf a.tar -C legacy",
    "curl -sSL http://localhost/x -o legacy/x",
    "wget -O legacy/x http://localhost/x",
]
READING = [
    "cat legacy/x",
    "ls legacy",
    "grep -rn foo legacy",
    "git diff -- legacy/x > out",
    "git log legacy/x",
    "git show HEAD:legacy/x",
    "git restore --staged legacy/x",
    "git checkout legacy",
    "git checkout -b topic origin/legacy",
    "sed -n 1,5p legacy/x",
    "cp legacy/x other",
    "rsync -a legacy/ other/",
    "find legacy -name '*.py'",
    "find . -name legacy -prune -o -print | xargs wc -l",
    "grep -rl foo src | xargs sed -i s/a/b/",
    "ls legacy && ls src | xargs rm",
    "black --check legacy",
    "ruff check legacy",
    "npx prettier --check legacy/x",
    "npx eslint legacy/",
    "git log legacy/x | tee out.txt",
]


@pytest.mark.parametrize("command", CHANGING)
def test_a_command_that_changes_files_is_stopped(command: str) -> None:
    check = check_for("Don't touch legacy/")
    assert check is not None
    assert breach_of(check, shell(command)) is not None


@pytest.mark.parametrize("command", READING)
def test_a_command_that_reads_files_passes(command: str) -> None:
    check = check_for("Don't touch legacy/")
    assert check is not None
    assert breach_of(check, shell(command)) is None


def test_looking_for_a_file_is_not_reading_it() -> None:
    check = check_for("Never read .env")
    assert check is not None
    assert breach_of(check, shell("cat .env")) is not None
    assert breach_of(check, shell("find . -name .env")) is None


@pytest.mark.parametrize("command", ["npm install -g x", "npm i -g x", "npm i", "npm add x"])
def test_npm_install_is_any_install(command: str) -> None:
    check = check_for("Never npm install")
    assert check is not None
    assert breach_of(check, shell(command)) is not None
