"""What a rule can refuse: patterns, how they are matched, and what a person is asked about."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from brim.behaviors import Rule
from brim.behaviors.duplicates import merge
from brim.behaviors.jsonl import dump, load
from brim.behaviors.learning import learn
from brim.behaviors.yaml_form import as_yaml, from_yaml
from brim.errors import InputError
from brim.rules.blocks import (
    asked_for,
    checked_blocks,
    commands_of,
    described,
    refused_command,
    refused_path,
    refused_tool,
    too_much,
)

BLOCKS = ("run npm install", "run git commit -m 'no: \"this\"'", "edit dist/**", "tool mcp__web__*")


@pytest.mark.parametrize(
    ("pattern", "command", "is_refused"),
    [
        ("git push --force", "git push --force", True),
        ("git push --force", "git push origin main --force", True),
        ("git push --force", "git -C web push -q --force origin", True),
        ("git push --force", "git push --force=yes", True),
        ("git push --force", "git push --force-with-lease", False),
        ("git push --force", "git push", False),
        ("git push", "git commit -m push", False),
        ("git push", "git stash push", False),
        ("git push", "git --no-pager push", True),
        ("git push origin main", "git push -u origin main", True),
        ("git push origin main", "git push origin topic main", False),
        ("rm -rf", "rm -rf build", True),
        ("rm -rf", "rm -fr build", True),
        ("rm -rf", "rm -r -v -f build", True),
        ("rm -rf", "rm -r build", False),
        ("find -delete", "find . -maxdepth 2 -ls", False),
        ("find -delete", "find . -name x -delete", True),
        ("npm", "npm test", True),
        ("npm *", "npm test", True),
        ("npm *", "npm", False),
        ("*-deploy", "aws-deploy now", True),
        ("sudo", "sudo ls", True),
        ("sudo rm", "sudo rm x", True),
        ("./scripts/deploy.sh", "bash -c 'scripts/deploy.sh --now'", True),
        ("python manage.py migrate", "python manage.py migrate app", True),
        ("python manage.py migrate", "python manage.py test migrate", False),
        ("git commit -m 'a b'", "git commit -m 'a b'", True),
        ("git commit -m 'a b'", "git commit -m a b", False),
        ("npm install", "NPM INSTALL", False),
    ],
)
def test_commands(pattern: str, command: str, is_refused: bool) -> None:
    assert checked_blocks([f"run {pattern}"])
    assert bool(refused_command(pattern, commands_of(command))) is is_refused


@pytest.mark.parametrize(
    ("pattern", "path", "is_refused"),
    [
        ("dist/**", "dist/a.js", True),
        ("dist/", "packages/web/dist/a.js", True),
        ("dist", "dist/a/b.js", True),
        ("dist", "dist", True),
        ("dist/**", "distant/a.js", False),
        ("*.lock", "web/yarn.lock", True),
        ("*.{lock,sum}", "go.sum", True),
        ("/etc/**", "/etc/hosts", True),
        ("/etc/**", "etc/hosts", False),
        ("~/.ssh/**", "/home/me/.ssh/config", True),
        ("~/.ssh/**", "~/.ssh/config", False),  # the shell's home isn't this one
        ("src/gen_*.py", "src/gen_a.py", True),
        ("src/gen_*.py", "src/sub/gen_a.py", False),
        ("src/**/gen.py", "src/a/b/gen.py", True),
        (".env", "web/.env", True),
        (".env", ".env.example", False),
    ],
)
def test_paths(pattern: str, path: str, is_refused: bool) -> None:
    (block,) = checked_blocks([f"edit {pattern}"])
    place = {"folder": "/home/me/shop/src/..", "project": "/home/me/shop", "home": "/home/me"}
    assert refused_path(block.removeprefix("edit "), path, **place) is is_refused


def test_a_link_is_where_it_leads_and_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    os.symlink(tmp_path / "dist", tmp_path / "out")
    place = {"folder": str(tmp_path), "project": str(tmp_path), "home": "/home/me"}
    assert refused_path("dist/**", "out/a.js", **place)
    assert refused_path("out/**", "out/a.js", **place)
    assert not refused_path("out/**", "dist/a.js", **place)


def test_tools() -> None:
    assert refused_tool("WebFetch", "webfetch")
    assert refused_tool("mcp__github__*", "mcp__github__create_pr")
    assert not refused_tool("Web", "WebFetch")


@pytest.mark.parametrize(
    "block",
    [
        "",
        "run",
        "run ",
        "npm install",
        "push x",
        "run npm install && rm x",
        "run npm install; ls",
        "run curl x | sh",
        "run $(npm install)",
        "run npm > x",
        "run 'npm",
        "run A=1 npm",
        "run -rf",
        "run a\nb",
        "run # x",
        "edit ../x",
        "edit src/../x",
        "edit src/[ab",
        "edit a\0b",
        "tool a b",
        "run " + "x" * 400,
    ],
)
def test_a_pattern_that_could_never_match_is_an_error(block: str) -> None:
    with pytest.raises(InputError):
        checked_blocks([block])


@pytest.mark.parametrize(
    "blocks", ["run npm", None, [3], [None], [["run npm"]], [f"run x{n}" for n in range(51)]]
)
def test_what_is_not_a_list_of_blocks_is_an_error(blocks: object) -> None:
    with pytest.raises(InputError):
        checked_blocks(blocks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("block", "much"),
    [
        *((f"edit {each}", "every edit") for each in ("*", "**", "**/*", "/**", "~/**", ".")),
        *((f"edit {each}", "") for each in ("src/**", "*.py", "**/*.lock")),
        *((f"run {each}", f"every {each} command") for each in ("git", "ls", "python")),
        ("run *", "every command"),
        ("run * *", "every command"),
        *((f"run {each}", "") for each in ("git push", "terraform", "* --force")),
        ("tool *", "every tool"),
        ("tool Bash", "every call of Bash"),
        ("tool WebFetch", ""),
    ],
)
def test_a_block_of_nearly_everything_is_known_as_one(block: str, much: str) -> None:
    assert too_much(*checked_blocks([block])) == much


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("Never run npm install", "run npm install"),
        ("Never run `npm install`.", "run npm install"),
        ("Don't use 'pip install', use uv.", "run pip install"),
        ("You must not run terraform apply!", "run terraform apply"),
        ("Never run git push --force.", "run git push --force"),
        ("Never edit the files under dist/", "edit dist/**"),
        ("Don't touch src/generated/api.py", "edit src/generated/api.py"),
        ("Never run npm install on CI", ""),
        ("Never run `npm install` without --ignore-scripts", ""),
        ("Never use print for logging", ""),
        ("Never edit generated files", ""),
        ("Never push to main", ""),
        ("Use pnpm", ""),
        ("Never use tabs", ""),
        ("Never run the tests in parallel", ""),
        ("Never use os.path", ""),
    ],
)
def test_only_words_that_ask_for_a_block_are_offered_one(text: str, block: str) -> None:
    assert asked_for(text) == block


def test_it_is_said_in_words() -> None:
    assert [described(each) for each in ("run npm i", "edit a/**", "tool X")] == [
        '"npm i"',
        "edits of a/**",
        "the tool X",
    ]


# Kept with the rule -------------------------------------------------------------------------------

RULE = Rule("b-1", "use-pnpm", "constraint", "Use pnpm.", blocks=BLOCKS)


def test_blocks_go_through_the_files_for_git_and_for_an_editor() -> None:
    assert load(dump([RULE])).behaviors == (RULE,)
    assert from_yaml(as_yaml(RULE), RULE, "x") == RULE
    assert from_yaml(as_yaml(RULE), replace(RULE, blocks=()), "x") == RULE
    assert from_yaml("blocks: run npm i", RULE, "x").blocks == ("run npm i",)
    assert from_yaml("blocks: []", RULE, "x").blocks == from_yaml("blocks:", RULE, "x").blocks == ()


def test_a_broken_block_in_a_file_is_a_problem_of_its_line() -> None:
    text = dump([RULE]).replace("run npm install", "run npm install; ls")
    (problem,) = load(text).problems
    assert "isn't one simple command" in str(problem)
    with pytest.raises(InputError, match="x:1: "):
        from_yaml("blocks: [run '']", RULE, "x")


def test_a_rule_with_a_block_is_a_constraint_and_an_agent_cannot_teach_one() -> None:
    found = learn("Use pnpm", blocks=["run npm  install"], now=0.0).behavior
    assert (found.kind, found.blocks) == ("constraint", ("run npm install",))
    assert (
        learn("Use pnpm", blocks=["run npm install"], kind="preference", now=0.0).behavior.kind
        == "preference"
    )
    note = learn("Use pnpm", blocks=["run npm install"], source="agent", now=0.0).behavior
    assert (note.kind, note.blocks) == ("directive", ())


def test_learning_it_again_adds_and_never_takes_away() -> None:
    first = learn("Use pnpm", blocks=["run npm install"], now=0.0).behavior
    assert learn("Use pnpm", now=1.0, existing=[first]).behavior.blocks == first.blocks
    more = learn("Use pnpm", blocks=["run npm i"], now=1.0, existing=[first]).behavior
    assert more.blocks == ("run npm install", "run npm i")


def test_a_merge_keeps_the_blocks_of_both() -> None:
    other = Rule(
        "b-2", "other", "directive", "Use pnpm now.", blocks=["run npm i", "run npm install"]
    )
    merged = merge(RULE, other, 0.0)
    assert merged.kept.blocks == (*BLOCKS, "run npm i")
    assert "blocks added: run npm i" in merged.changes
