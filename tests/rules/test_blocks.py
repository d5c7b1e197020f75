"""What a rule can refuse: patterns, how they are matched, and what a person is asked about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brim.errors import InputError
from brim.rules.blocks import (
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


def test_it_is_said_in_words() -> None:
    assert [described(each) for each in ("run npm i", "edit a/**", "tool X")] == [
        '"npm i"',
        "edits of a/**",
        "the tool X",
    ]
