"""``brim learn --block`` and ``brim rules allow``: what a person types, is asked and is shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Brim, Ran
from tests.cli.seeding import everything
from tests.cli.stored import write_rules
from tests.cli.test_asking import asked
from tests.cli.test_edit import editor

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")


def blocks(brim: Brim) -> list[tuple[str, ...]]:
    return [each.blocks for each in everything(brim)]


def failed(brim: Brim, code: int, *arguments: str, **more: Any) -> Ran:
    ran = brim(*arguments, **more)
    assert ran.code == code, ran
    return ran


def test_blocks_are_stored_shown_listed_and_imported(brim: Brim, tmp_path: Path) -> None:
    said = brim(
        "learn",
        "--user",
        "--block",
        "npm install",
        "--block",
        "npm i",
        "--block-edit",
        "dist/",
        "Use pnpm",
    )
    assert 'Refuses "npm install", "npm i", edits of dist/**.' in said.out
    assert "brim init" in said.err, "no agent has hooks here"
    assert brim("rules", "why", "pnpm", "--json").json["rule"]["blocks"] == [
        "run npm install",
        "run npm i",
        "edit dist/**",
    ]
    assert (
        'refuses     "npm install", "npm i", edits of dist/**' in brim("rules", "why", "pnpm").out
    )
    assert '"npm install"' in brim("rules").out
    path = tmp_path / "rules.jsonl"
    write_rules(brim, path)
    brim("rules", "edit", "pnpm", env=editor(brim, "text = text.replace('run npm install, ', '')"))
    assert blocks(brim) == [("run npm i", "edit dist/**")]
    shown = brim("rules", "import", str(path), "--user", "--yes").out
    assert "blocks: run npm i, edit dist/**" in shown
    assert blocks(brim) == [("run npm install", "run npm i", "edit dist/**")]
    path.write_text(path.read_text().replace('"blocks"', '"blocks_of_yore"'))
    brim("rules", "import", str(path), "--user", "--yes")
    assert blocks(brim) == [("run npm install", "run npm i", "edit dist/**")], (
        "what a file leaves out stays"
    )


def test_rules_of_a_markdown_file_leave_blocks_as_they_are(brim: Brim, tmp_path: Path) -> None:
    brim("learn", "--user", "--block", "npm install", "Use pnpm, not npm")
    (tmp_path / "CLAUDE.md").write_text("- Use pnpm, not npm\n- Use pnpm, and not npm\n")
    brim("rules", "import", str(tmp_path / "CLAUDE.md"), "--user", "--yes")
    assert ("run npm install",) in blocks(brim)


@pytest.mark.parametrize(
    "given", [("--block", "git"), ("--block-edit", "**"), ("--block-tool", "Bash")]
)
def test_a_block_of_nearly_everything_needs_a_yes(brim: Brim, given: tuple[str, str]) -> None:
    refused = failed(brim, 1, "learn", "--user", *given, "Mine")
    assert "this would refuse every" in refused.err
    assert "--yes" in refused.err
    assert everything(brim) == []
    brim("learn", "--user", *given, "--yes", "Mine")
    assert len(everything(brim)) == 1


@pytest.mark.parametrize("pattern", ["", "npm &&", "'npm", "$(x)", "a\nb"])
def test_a_broken_block_is_wrong_usage(brim: Brim, pattern: str) -> None:
    assert failed(brim, 2, "learn", "--user", "--block", pattern, "Mine").err
    assert everything(brim) == []


@pytest.mark.parametrize(
    ("option", "example"), [("--block", "npm"), ("--block-edit", "dist"), ("--block-tool", "Web")]
)
def test_an_empty_block_is_told_what_to_name(brim: Brim, option: str, example: str) -> None:
    ran = brim("learn", option, " ", "Use pnpm.")
    assert ran.code == 2
    assert ran.err.startswith("brim: a block can't be empty: name ")
    assert example in ran.err


def test_a_secret_is_not_kept_in_a_block(brim: Brim) -> None:
    said = failed(
        brim, 2, "learn", "--user", "--block", f"curl -u sk-ant-api03-{'a1B2' * 20}", "Mine"
    )
    assert "secret" in said.err
    assert everything(brim) == []


@needs_terminal
@pytest.mark.parametrize(
    ("answer", "found"), [("y\n", ("run npm install",)), ("\n", ()), ("n\n", ())]
)
def test_words_that_ask_for_a_block_are_offered_one(
    brim: Brim, answer: str, found: tuple[str, ...]
) -> None:
    code, shown = asked(brim, answer, "learn", "--user", "Never run npm install")
    assert (code, 'Also refuse "npm install"? [y/N]' in shown) == (0, True)
    assert blocks(brim) == [found]


@needs_terminal
def test_other_words_are_not_and_nothing_is_asked_in_a_pipe(brim: Brim) -> None:
    code, shown = asked(brim, "", "learn", "--user", "Use pnpm")
    assert (code, "[y/N]" in shown) == (0, False)
    brim("learn", "--user", "Never run npm install")
    assert blocks(brim) == [(), ()]


@needs_terminal
def test_a_person_is_asked_about_a_block_of_nearly_everything(brim: Brim) -> None:
    code, shown = asked(brim, "n\n", "learn", "--user", "--block-edit", "**", "Mine")
    assert (code, "This would refuse every edit. Really? [y/N]" in shown) == (1, True)
    code, shown = asked(brim, "y\nn\n", "learn", "--user", "--block-edit", "**", "Mine")
    assert (code, "No agent could do that until you remove the rule. Sure? [y/N]" in shown) == (
        1,
        True,
    )
    assert blocks(brim) == []
    assert asked(brim, "y\ny\n", "learn", "--user", "--block-edit", "**", "Mine")[0] == 0
    assert blocks(brim) == [("edit **",)]


def test_an_edit_to_refuse_everything_is_not_taken(brim: Brim) -> None:
    brim("learn", "--user", "Mine")
    change = editor(brim, "text = text.replace('blocks: []', 'blocks: [\"run git\"]')")
    assert "every git command" in failed(brim, 2, "rules", "edit", "mine", env=change).err
    assert blocks(brim) == [()]
    brim("rules", "edit", "mine", "--yes", env=change)
    assert blocks(brim) == [("run git",)]


# Allowing -----------------------------------------------------------------------------------------


def test_a_rule_is_allowed_once_or_in_a_session(brim: Brim) -> None:
    brim("learn", "--user", "--block", "npm install", "Use pnpm")
    id = brim("rules", "why", "pnpm", "--json").json["id"]
    assert brim("rules", "allow", "pnpm", "--once", "--json").json == {
        "id": id,
        "name": "use-pnpm",
        "how": "once",
        "session": "",
    }
    assert brim("rules", "allow", id, "--session", "s-1", "--json").json["session"] == "s-1"
    assert "hasn't refused a call yet" in failed(brim, 2, "rules", "allow", "pnpm", "--session").err
    kinds = [each["kind"] for each in brim("rules", "why", "pnpm", "--json").json["rule"]["events"]]
    assert kinds == ["learned", "lifted", "lifted"]


def test_what_cannot_be_allowed_is_said(brim: Brim) -> None:
    brim("learn", "--user", "Use pnpm")
    assert "refuses nothing" in failed(brim, 2, "rules", "allow", "pnpm", "--once").err
    assert "for how long?" in failed(brim, 2, "rules", "allow", "pnpm").err
    assert "no rule" in failed(brim, 2, "rules", "allow", "yarn", "--once").err
    assert (
        brim("rules", "allow", "brim", "--once").out
        == "allowed by brim: the next such call, within an hour\n"
    )


def test_trust_shows_what_a_project_refuses(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim("learn", "--project", "--block", "npm install", "Use pnpm")
    brim("rules", "trust", "--remove")
    assert 'refuses "npm install"' in brim("rules", "trust", "--dry-run").out
    found = json.loads(brim("rules", "trust", "--dry-run", "--json").out)
    assert found["behaviors"][0]["blocks"] == ["run npm install"]
