"""``brim rules edit``: what a person writes is stored, or kept in their file."""

from __future__ import annotations

import shlex
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from brim.behaviors import Rule, When
from brim.behaviors.summary import summarize
from brim.behaviors.yaml_form import as_yaml, from_yaml
from tests.cli.conftest import COMMAND, Brim, Ran
from tests.cli.seeding import events, refused, rule, seed, stored
from tests.store.making import behaviors

OLD = rule(
    "b-1",
    "Use uv, never pip.\nAsk first.",
    name="use-uv",
    summary=summarize("Use uv, never pip.\nAsk first."),
    tags=("python", "c"),
    when={"language": "python", "file": ["a/**", "b"]},
    priority=2,
)


def editor(brim: Brim, script: str) -> dict[str, str]:
    """Return the environment in which *script*, Python that changes ``text``, is the editor."""
    path = brim.write(
        "editor.py",
        "import sys, os, pathlib\npath = pathlib.Path(sys.argv[-1])\ntext = path.read_text(encoding='utf-8')\n"
        f"{script}\npath.write_bytes(text.encode('utf-8', 'surrogateescape'))\n",
    )
    return {
        "EDITOR": f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}",
        "TMPDIR": str(temporary(brim)),
    }


def temporary(brim: Brim) -> Path:
    folder = brim.home / "tmp"
    folder.mkdir(exist_ok=True)
    return folder


def edit(brim: Brim, script: str, *options: str) -> Ran:
    return brim("rules", "edit", "b-1", *options, env=editor(brim, script))


def kept(brim: Brim) -> list[Path]:
    """Return the files that were kept for a person."""
    return sorted(temporary(brim).rglob("*.yaml"))


def test_what_was_edited_is_stored_and_costed_anew(brim: Brim) -> None:
    seed(brim, OLD)
    before = brim("rules", "why", "b-1", "--json").json["rule"]["tokens"]
    ran = edit(
        brim,
        "text = text.replace('Ask first.', 'Ask first, and wait for an answer.').replace('use-uv', 'uv-only')",
    )
    assert (ran.code, ran.err) == (0, "")
    assert "name, summary, canonical" in ran.out
    after = stored(brim, "b-1")
    assert (after.name, after.canonical) == (
        "uv-only",
        "Use uv, never pip.\nAsk first, and wait for an answer.",
    )
    assert after.summary == summarize(after.canonical)
    assert brim("rules", "why", "b-1", "--json").json["rule"]["tokens"]["full"] > before["full"]
    assert kept(brim) == []


def test_the_old_text_stays_in_the_history(brim: Brim) -> None:
    seed(brim, OLD)
    edit(brim, "text = text.replace('uv, never pip', 'pip')")
    assert events(brim, "b-1")[-1].kind == "edited"
    assert events(brim, "b-1")[-1].detail["before"]["canonical"] == OLD.canonical


def test_every_field_can_be_edited(brim: Brim) -> None:
    seed(brim, OLD)
    new = "name: n\nkind: constraint\ntags: [x]\nwhen: {task: testing, team: 7}\nsummary: s\npriority: 9\n"
    new += "canonical: |\n  Hi\n"
    found = edit(brim, f"text = {new!r}", "--json").json
    assert found["changed"] == ["name", "kind", "tags", "when", "summary", "priority", "canonical"]
    after = stored(brim, "b-1")
    assert (after.kind, after.tags, after.when) == (
        "constraint",
        ("x",),
        When.of({"task": "testing", "team": "7"}),
    )
    assert (after.summary, after.priority, after.canonical) == ("s", 9, "Hi\n")
    assert found["behavior"]["name"] == "n"


def test_a_summary_that_somebody_wrote_is_not_made_anew(brim: Brim) -> None:
    seed(brim, replace(OLD, summary="my own words"))
    edit(brim, "text = text.replace('Ask first.', 'Ask.')")
    assert stored(brim, "b-1").summary == "my own words"


def test_a_field_that_was_taken_out_stays_and_a_summary_can_be_emptied(brim: Brim) -> None:
    seed(brim, replace(OLD, summary="my own words"))
    assert edit(brim, "text = 'summary:\\n'").code == 0
    assert stored(brim, "b-1").summary == ""
    assert stored(brim, "b-1").tags == OLD.tags


@pytest.mark.parametrize("script", ["", "text = text"])
def test_unchanged_is_said_and_writes_nothing(brim: Brim, script: str) -> None:
    seed(brim, OLD)
    assert edit(brim, script).out == "unchanged: use-uv (b-1)\n"
    assert [event.kind for event in events(brim, "b-1")] == ["learned"]
    assert kept(brim) == []


def test_an_emptied_file_means_no(brim: Brim) -> None:
    seed(brim, OLD)
    ran = edit(brim, "text = ' '")
    assert (ran.code, kept(brim)) == (1, [])
    assert stored(brim, "b-1") == OLD


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "text = text.replace('directive', 'law')",
            ("rule.yaml:7", "'law'", "constraint, directive"),
        ),
        ("text = text.replace('use-uv', 'use uv')", ("rule.yaml:6", "'use uv'")),
        ("text = text.replace('priority: 2', 'priority: high')", ("whole number", "'high'")),
        ("text = text.replace('[python, c]', '3')", ("tags must be a list",)),
        ("text = text.replace('[python, c]', '[a b]')", ("'a b'",)),
        ("text = text.replace('name:', 'id: x\\nname:')", ("'id' cannot be edited",)),
        ("text = text.replace('\\nkind:', '\\nname: y\\nkind:')", ("rule.yaml:7", "twice")),
        ("text = 'name: [1\\n'", ("not valid YAML",)),
        ("text = 'just words'", ("must be a mapping",)),
        ("text = 'canonical: \"  \"\\n'", ("empty",)),
        ("text = 'canonical: \\x01\\n'", ("not valid YAML",)),
        ("text = 'name: \\udcff\\n'", ("not UTF-8 text",)),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_file_is_kept(
    brim: Brim, script: str, words: tuple[str, ...]
) -> None:
    seed(brim, OLD)
    ran = edit(brim, script)
    (file,) = kept(brim)
    refused(ran, *words, "nothing was changed", str(file))
    assert stored(brim, "b-1") == OLD


def test_what_somebody_else_changed_meanwhile_is_not_written_over(brim: Brim) -> None:
    seed(brim, OLD)
    other = f"import subprocess; subprocess.run([{COMMAND!r}, 'rules', 'remove', 'b-1'], check=True, stdout=2)\n"
    ran = edit(brim, other + "text = text.replace('never', 'not')")
    (file,) = kept(brim)
    refused(ran, "changed while you edited it", str(file))
    assert "not pip" in file.read_text()
    assert stored(brim, "b-1").canonical == OLD.canonical
    assert stored(brim, "b-1").status == "forgotten"


def test_being_used_meanwhile_is_no_change(brim: Brim) -> None:
    seed(brim, OLD)
    learn = [COMMAND, "learn", "--user", OLD.canonical]
    other = f"import subprocess; subprocess.run({learn!r}, check=True, stdout=2)\n"
    assert edit(brim, other + "text = text.replace('never', 'not')").code == 0
    assert stored(brim, "b-1").canonical == "Use uv, not pip.\nAsk first."
    assert stored(brim, "b-1").usage.confirmed == 1


def test_only_its_owner_can_read_the_file(brim: Brim) -> None:
    seed(brim, OLD)
    edit(brim, "text = oct(path.stat().st_mode) + ': ' + oct(path.parent.stat().st_mode) + ': ['")
    (file,) = kept(brim)
    assert file.read_text() == f"{oct(stat.S_IFREG | 0o600)}: {oct(stat.S_IFDIR | 0o700)}: ["


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("no-such-editor-here", "cannot be started"),
        ("false", "ended with 1"),
        ("vi 'x", "set EDITOR"),
    ],
)
def test_an_editor_that_fails_changes_nothing_and_leaves_nothing(
    brim: Brim, command: str, word: str
) -> None:
    seed(brim, OLD)
    ran = brim("rules", "edit", "b-1", env={"EDITOR": command, "TMPDIR": str(temporary(brim))})
    refused(ran, word, "nothing was changed")
    assert kept(brim) == []
    assert stored(brim, "b-1") == OLD


def test_visual_comes_before_editor(brim: Brim) -> None:
    seed(brim, OLD)
    visual = editor(brim, "")
    assert (
        brim("rules", "edit", "b-1", env={"VISUAL": visual["EDITOR"], "EDITOR": "false"}).code == 0
    )


def test_secrets_are_masked(brim: Brim) -> None:
    seed(brim, OLD)
    ran = edit(
        brim, "text = text.replace('Ask first.', 'Set OPENAI_API_KEY=sk-abcdefghijklmnopqrst1234')"
    )
    assert "1 secret masked" in ran.err
    assert "sk-abc" not in stored(brim, "b-1").canonical


def test_what_is_not_there_is_said(brim: Brim) -> None:
    refused(brim("rules", "edit", "nothing"), "'nothing'")


@settings(deadline=None)
@example(Rule("b", "b", "directive", "x", summary="\ud800x"), "Use uv.")
@given(behaviors, st.text(min_size=1).filter(lambda text: bool(text.strip())))
def test_the_file_says_exactly_what_the_behavior_says(behavior: Rule, text: str) -> None:
    old = replace(behavior, canonical=text)
    assume("\\ud" not in ascii(str(old.when)))  # half of a surrogate pair: no file can hold it
    again = from_yaml(
        as_yaml(old),
        replace(old, name="other", tags=(), when=When(), canonical="other", priority=-1),
        "f",
    )
    assert again == old


@pytest.mark.parametrize(
    "text",
    ["a", "a\n", "a\n\n", "  led\nx", " \n x", "x \n", "\n\nx", "- a\n- b", "#x", "a\tb", "\ta"],
)
def test_ordinary_texts_are_blocks_that_can_be_read(text: str) -> None:
    assert "canonical: |" in as_yaml(rule("b-1", text))


def test_a_file_that_the_editor_took_away_is_no_work_to_be_kept(brim: Brim) -> None:
    seed(brim, rule("b-1"))
    environment = {"EDITOR": "rm", "TMPDIR": str(temporary(brim))}
    ran = brim("rules", "edit", "b-1", env=environment)
    refused(ran, "is gone: the editor did not leave a file; nothing was changed")
    assert "what you wrote" not in ran.err
    assert not list(temporary(brim).iterdir())
