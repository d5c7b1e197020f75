"""``brim learn --block`` and ``brim rules allow``: what a person types, is asked and is shown."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.cli.conftest import Brim, Ran
from tests.cli.test_asking import asked
from tests.cli.written import editor, rules_in, rules_path, texts

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")


def blocks(brim: Brim) -> list[tuple[str, ...]]:
    return [rule.block for rule in rules_in(brim).rules]


def failed(brim: Brim, code: int, *arguments: str, **more: Any) -> Ran:
    ran = brim(*arguments, **more)
    assert ran.code == code, ran
    return ran


def test_blocks_are_written_as_people_write_them(brim: Brim) -> None:
    words = ("--block", "npm install", "--block", "dist/", "--block", "tool WebFetch")
    said = brim("learn", "--user", *words, "Use pnpm")
    assert '"npm install", edits of dist/**, the tool WebFetch are refused' in said.out
    assert "brim init" in said.err, "no agent has hooks here"
    assert blocks(brim) == [("run npm install", "edit dist/**", "tool WebFetch")]
    text = rules_path(brim).read_text()
    assert 'block = ["npm install", "dist/**", "tool WebFetch"]' in text


@pytest.mark.parametrize(
    "given", [("--block", "git"), ("--block", "edit **"), ("--block", "tool Bash")]
)
def test_a_block_of_nearly_everything_needs_a_yes(brim: Brim, given: tuple[str, str]) -> None:
    refused = failed(brim, 1, "learn", "--user", *given, "Mine")
    assert "this would refuse every" in refused.err
    assert "--yes" in refused.err
    assert texts(brim) == []
    brim("learn", "--user", *given, "--yes", "Mine")
    assert len(texts(brim)) == 1


@pytest.mark.parametrize("pattern", ["", "npm &&", "'npm", "$(x)", "a\nb"])
def test_a_broken_block_is_wrong_usage(brim: Brim, pattern: str) -> None:
    assert failed(brim, 2, "learn", "--user", "--block", pattern, "Mine").err
    assert texts(brim) == []


def test_a_secret_is_not_kept_in_a_block(brim: Brim) -> None:
    said = failed(
        brim, 2, "learn", "--user", "--block", f"curl -u sk-ant-api03-{'a1B2' * 20}", "Mine"
    )
    assert "secret" in said.err
    assert texts(brim) == []


@needs_terminal
@pytest.mark.parametrize(("answer", "found"), [("y\n", ("check",)), ("\n", ()), ("n\n", ())])
def test_a_check_that_stops_calls_is_offered_to_refuse_them(
    brim: Brim, answer: str, found: tuple[str, ...]
) -> None:
    code, shown = asked(brim, answer, "learn", "--user", "Never run npm install")
    assert (code, "Refuse them always? [y/N]" in shown) == (0, True)
    assert blocks(brim) == [found]


@needs_terminal
def test_other_words_are_not_and_nothing_is_asked_in_a_pipe(brim: Brim) -> None:
    code, shown = asked(brim, "", "learn", "--user", "Prefer small functions")
    assert (code, "[y/N]" in shown) == (0, False)
    brim("learn", "--user", "Never run npm install")
    assert blocks(brim) == [(), ()]


@needs_terminal
def test_a_person_is_asked_about_a_block_of_nearly_everything(brim: Brim) -> None:
    code, shown = asked(brim, "n\n", "learn", "--user", "--block", "edit **", "Mine")
    assert (code, "This would refuse every edit. Really? [y/N]" in shown) == (1, True)
    code, shown = asked(brim, "y\nn\n", "learn", "--user", "--block", "edit **", "Mine")
    assert (code, "No agent could do that until you remove the rule. Sure? [y/N]" in shown) == (
        1,
        True,
    )
    assert blocks(brim) == []
    assert asked(brim, "y\ny\n", "learn", "--user", "--block", "edit **", "Mine")[0] == 0
    assert blocks(brim) == [("edit **",)]


def test_an_edit_to_refuse_everything_is_not_taken(brim: Brim) -> None:
    brim("learn", "--user", "Mine")
    change = editor(brim, "text = text + 'block = \"git\"'")
    assert "every git command" in failed(brim, 1, "rules", "edit", "mine", env=change).err
    assert blocks(brim) == [()]
    brim("rules", "edit", "mine", "--yes", env=change)
    assert blocks(brim) == [("run git",)]


# Allowing -----------------------------------------------------------------------------------------


def test_a_rule_is_allowed_once_or_in_a_session(brim: Brim) -> None:
    brim("learn", "--user", "--block", "npm install", "Use pnpm")
    assert brim("rules", "allow", "pnpm", "--once", "--json").json == {
        "name": "use-pnpm",
        "how": "once",
        "session": "",
    }
    assert brim("rules", "allow", "pnpm", "--json").json["how"] == "once"
    assert brim("rules", "allow", "pnpm", "--session", "s-1", "--json").json["session"] == "s-1"
    assert "hasn't stopped a call yet" in failed(brim, 2, "rules", "allow", "pnpm", "--session").err


def test_what_cannot_be_allowed_is_said(brim: Brim) -> None:
    brim("learn", "--user", "Prefer small functions")
    assert "stops and refuses nothing" in failed(brim, 2, "rules", "allow", "small").err
    assert "no rule" in failed(brim, 2, "rules", "allow", "yarn", "--once").err
    assert (
        brim("rules", "allow", "brim", "--once").out
        == "allowed by brim: the next such call, within an hour\n"
    )


def test_trust_shows_what_a_project_refuses(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim("learn", "--project", "--block", "npm install", "Use pnpm")
    brim("rules", "trust", "--remove")
    assert 'block = "npm install"' in brim("rules", "trust", "--dry-run").out
