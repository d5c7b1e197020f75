"""``brim learn``: what is taught is stored once, with every wording, and nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest

from brim.behaviors.learning import id_of
from tests.cli.conftest import Brim
from tests.cli.seeding import database, events, everything, refused, rule, seed, stored

RULE = "Use uv, never pip."


def test_what_was_learned_is_shown_and_stored(brim: Brim) -> None:
    ran = brim(
        "learn",
        "--user",
        RULE,
        "--wrong",
        "pip install x",
        "--file",
        "setup.py",
        "--task",
        "packaging",
    )
    assert (ran.code, ran.err) == (0, "")
    (behavior,) = everything(brim)
    assert ran.lines[0].startswith("Learned for ")
    for text in (
        behavior.kind.value,
        "only when they work on Python files and the task is packaging or dependencies",
        RULE,
    ):
        assert text in ran.out
    assert (behavior.id, behavior.canonical, behavior.scope, behavior.status) == (
        id_of(RULE),
        RULE,
        "user",
        "active",
    )
    assert (behavior.provenance.wrong, behavior.provenance.file) == ("pip install x", "setup.py")
    assert [event.kind for event in events(brim, behavior.id)] == ["learned"]


def test_everything_can_be_said(brim: Brim) -> None:
    options = (
        "--kind preference --name uv/only --tags a,b, --when task=x --when task=y --when team=core"
    )
    found = brim("learn", "--user", RULE, *options.split(), "--summary", "uv only", "--json").json
    behavior = found["behavior"]
    assert (behavior["kind"], behavior["name"], behavior["tags"]) == (
        "preference",
        "uv/only",
        ["a", "b"],
    )
    assert behavior["when"] == {"task": ["x", "y"], "team": ["core"]}
    assert behavior["summary"] == "uv only"
    assert found["merged_with"] is None
    assert found["tokens"]["full"] > 0


def test_standard_input_is_read(brim: Brim) -> None:
    assert brim("learn", "--user", "-", stdin="Always test.\nTwice.\n").code == 0
    assert everything(brim)[0].canonical == "Always test.\nTwice."
    refused(brim("learn", "--user", "-", "--wrong", "-"), "cannot both")


def test_the_same_text_again_is_a_confirmation(brim: Brim) -> None:
    first = brim("learn", "--user", RULE, "--json").json["behavior"]
    ran = brim("learn", "--user", "use UV,  never pip.")
    assert ran.lines[0].startswith("Already known for ")
    (behavior,) = everything(brim)
    assert behavior.id == first["id"]
    assert behavior.usage.confirmed == 1
    assert behavior.confidence > first["confidence"]
    assert [event.kind for event in events(brim, behavior.id)] == ["learned", "confirmed"]


def test_another_wording_is_kept_and_told(brim: Brim) -> None:
    brim("learn", "--user", "Run the tests before you push.")
    ran = brim("learn", "--user", "Always run tests before you push")
    assert ran.lines[0].startswith("Learned for ")
    assert "says nearly the same: 'brim rules remove" in ran.err
    assert len(everything(brim)) == 2


def test_a_rule_that_differs_in_sense_is_another_rule(brim: Brim) -> None:
    brim("learn", "--user", "Use uv, not pip.")
    brim("learn", "--user", "Use pip, not uv.")
    assert len(everything(brim)) == 2


def test_a_text_whose_id_another_has_since_it_was_edited_gets_its_own(brim: Brim) -> None:
    seed(brim, rule(id_of(RULE), "Commit small steps."))
    assert brim("learn", "--user", RULE).code == 0
    assert {each.canonical for each in everything(brim)} == {RULE, "Commit small steps."}
    assert stored(brim, id_of(RULE)).canonical == "Commit small steps."


def test_secrets_are_masked_and_counted(brim: Brim) -> None:
    ran = brim("learn", "--user", "Set OPENAI_API_KEY=sk-abcdefghijklmnopqrst1234 first", "--json")
    assert "1 secret masked" in ran.err
    assert "sk-abc" not in ran.out
    assert b"sk-abc" not in database(brim).read_bytes()


# What it understood


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("In Python files, use pathlib instead of os.path", "when they work on Python files."),
        (
            "Use factories in tests/ instead of fixtures",
            "when they work on tests/** or the task is testing.",
        ),
        ("Answer in one sentence.", "at the start of every session."),
    ],
)
def test_two_lines_say_whose_it_is_and_when_agents_hear_it(
    brim: Brim, text: str, heard: str
) -> None:
    (brim.cwd / ".git").mkdir()
    first, second = brim("learn", text).lines
    assert first == f"Learned for this project ({brim.cwd.name}): {text}"
    assert second.endswith(f"Agents hear it {heard}")


def test_a_rule_that_is_too_long_for_a_sessions_start_is_kept_and_told(brim: Brim) -> None:
    ran = brim(
        "learn", "--user", "-", stdin="12:00:01 ERROR worker 7: connection reset by peer\n" * 500
    )
    assert ran.code == 0
    assert "say it shorter" in ran.err


@pytest.mark.parametrize("text", ["🎉", "استخدم uv دائما", "לעולם אל תדחוף ל-main", "``` x"])
def test_any_script_can_be_learned(brim: Brim, text: str) -> None:
    assert brim("learn", "--user", text).code == 0
    assert everything(brim)[0].canonical == text


# Contradictions

OLD, NEW = "Use pnpm, not npm", "Use bun, not pnpm"


def test_two_rules_that_contradict_each_other_are_kept_and_marked(brim: Brim) -> None:
    brim("learn", "--user", OLD)
    ran = brim("learn", "--user", NEW, "--json")
    assert "use-pnpm-not-npm" in ran.err
    assert [each["text"] for each in ran.json["conflicts"]] == [OLD]
    assert {each.canonical for each in everything(brim) if each.live} == {OLD, NEW}
    assert (NEW in brim("prompt").out, OLD in brim("prompt").out) == (True, False)
    (hint,) = brim("rules", "audit", "--json").json["hints"]
    assert (hint["rule"], hint["ids"]) == ("contradiction", [id_of(NEW), id_of(OLD)])
    assert "agents don't hear" in hint["text"]
    assert brim("rules", "remove", id_of(OLD)).code == 0
    assert brim("rules", "audit", "--json").json["hints"] == []


def test_the_rule_that_is_said_again_is_the_newer_one(brim: Brim) -> None:
    for text in (OLD, NEW, OLD):
        brim("learn", "--user", text)
    assert (NEW in brim("prompt").out, OLD in brim("prompt").out) == (False, True)


def test_a_rule_that_is_replaced_is_put_away_and_comes_back_when_it_is_taught_again(
    brim: Brim,
) -> None:
    brim("learn", "--user", OLD)
    found = brim("learn", "--user", NEW, "--replaces", "use-pnpm-not-npm", "--json").json
    assert [each["status"] for each in found["replaced"]] == ["superseded"]
    assert stored(brim, id_of(OLD)).superseded_by == id_of(NEW)
    brim("learn", "--user", OLD, "--replaces", "use-bun")
    assert (stored(brim, id_of(OLD)).status, stored(brim, id_of(NEW)).status) == (
        "active",
        "superseded",
    )
    assert brim("rules", "audit").lines[-1] == "all is well"


def test_a_rule_for_every_project_is_not_replaced_by_one_of_a_project(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim("learn", OLD, "--user")
    refused(brim("learn", NEW, "--replaces", "use-pnpm-not-npm"), "every project", "--user")
    assert everything(brim, "project") == []


def test_a_store_in_which_everything_contradicts_everything_stays_bounded(brim: Brim) -> None:
    words = ("Always", "Never")
    seed(
        brim,
        *(
            rule(f"b-{at}", f"{words[at % 2]} use tabs{' ' * at}.", created_at=float(at))
            for at in range(60)
        ),
    )
    found = brim("learn", "--user", "Never use tabs!", "--json").json
    assert len(found["conflicts"]) <= 10
    assert brim("rules", "audit").code == 0


# Scopes


def test_in_a_project_it_is_the_projects_and_the_new_project_is_trusted(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    ran = brim("learn", RULE)
    assert (ran.code, ran.err) == (0, "")
    assert [each.scope for each in everything(brim, "project")] == ["project"]
    assert everything(brim) == []


def test_a_project_that_was_there_before_is_not_trusted_by_learning(brim: Brim) -> None:
    (brim.cwd / ".brim").mkdir()
    assert "brim rules trust" in brim("learn", RULE).err


def test_what_the_other_scope_says_already_is_told_and_not_merged(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim("learn", RULE, "--user")
    ran = brim("learn", "Always use uv and never pip")
    assert "for every project; both are kept" in ran.err
    assert [each.canonical for each in everything(brim)] == [RULE]
    assert [each.canonical for each in everything(brim, "project")] == [
        "Always use uv and never pip"
    ]


def test_outside_of_a_project_it_has_to_be_said_whose_it_is(brim: Brim) -> None:
    refused(brim("learn", RULE), "not in a project", "--user", "--project")
    assert not (brim.home / ".brim").exists()


def test_the_working_folder_becomes_a_project_if_a_person_says_so(brim: Brim) -> None:
    assert brim("learn", RULE, "--project").code == 0
    assert [each.canonical for each in everything(brim, "project")] == [RULE]
    assert "trusted" in brim("doctor").out
    (brim.cwd / "src").mkdir()
    assert brim("learn", "Use tabs.", cwd=brim.cwd / "src").code == 0
    assert len(everything(brim, "project")) == 2


def test_the_home_folder_does_not_become_a_project(brim: Brim) -> None:
    refused(brim("learn", RULE, "--project", cwd=brim.home), "not in a project", "--user")
    assert not list(brim.home.glob(".brim/trust*"))


# Bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([""], ["empty"]),
        ([" \n\t "], ["empty"]),
        (["x", "--kind", "law"], ["'law'", "constraint, directive"]),
        (["x", "--name", "a b"], ["'a b'"]),
        (["x", "--tags", "a,b c"], ["'b c'"]),
        (["x", "--when", "language"], ["KEY=VALUE", "'language'"]),
        (["x", "--when", "=x"], ["KEY=VALUE"]),
        (["--wrong", "x"], ["TEXT"]),
    ],
)
def test_bad_input_is_named_and_makes_no_file(
    brim: Brim, options: list[str], words: list[str]
) -> None:
    (brim.cwd / ".git").mkdir()
    refused(brim("learn", *options), *words)
    assert not (brim.cwd / ".brim").exists()
    assert not (brim.home / ".brim").exists()


def test_control_characters_are_kept_and_not_printed(brim: Brim) -> None:
    text = "Ring the \a bell, \x1b[31mred\u202e, and keep \r\n lines."
    ran = brim("learn", "--user", "-", stdin=text)
    assert ran.code == 0
    assert not {"\x1b", "\a", "\u202e"}.intersection(ran.out)
    assert everything(brim)[0].canonical == text


def test_bytes_that_are_no_text_do_not_stop_it(brim: Brim) -> None:
    assert brim("learn", "--user", b"caf\xe9 only").code == 0
    refused(brim("learn", "--user", "-", stdin=b"zero \0 byte"), "binary")
    refused(brim("learn", "--user", "-", stdin=b"caf\xe9"), "UTF-8")
    assert len(everything(brim)) == 1


@pytest.mark.parametrize("damage", ["damaged", "another version"])
def test_a_file_that_cannot_be_used_is_left_as_it_is(brim: Brim, damage: str) -> None:
    seed(brim, rule("b-1"))
    if damage == "damaged":
        database(brim).write_bytes(b"no database at all" * 100)
    else:
        connection = sqlite3.connect(database(brim))
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    before = database(brim).read_bytes()
    refused(brim("learn", "--user", RULE), damage, str(database(brim)))
    assert database(brim).read_bytes() == before


def test_processes_that_learn_the_same_at_once_end_in_one_behavior(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    texts = [RULE] * 4
    running = [
        brim.start("learn", text, fork=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for text in texts
    ]
    for process in running:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    (behavior,) = everything(brim, "project")
    # The process that made the folder trusts it, perhaps after another has taught the rule.
    taught = [event for event in events(brim, behavior.id, "project") if event.kind != "trusted"]
    assert len(taught) == len(texts)
    assert behavior.usage.confirmed == len(texts) - 1


def test_what_is_said_anew_is_named_and_what_was_said_before_is_kept(brim: Brim) -> None:
    brim("learn", "--user", RULE, "--summary", "uv!")
    ran = brim("learn", "--user", RULE, "--summary", "uv only")
    assert ran.code == 0
    assert "summary changed" in ran.out
    assert events(brim, id_of(RULE))[-1].detail["before"] == {"summary": "uv!"}


def test_a_text_over_the_limit_is_refused_and_the_line_end_of_standard_input_does_not_count(
    brim: Brim,
) -> None:
    text = "word " * 199_999 + "words"
    assert brim("learn", "--user", "-", stdin=f"{text}\n").code == 0
    assert len(everything(brim)[0].canonical) == 1_000_000
    refused(brim("learn", "--user", "-", stdin=f"{text}x\n"), "1,000,000 characters, not 1,000,001")


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="nothing is read-only for root"
)
def test_a_project_in_which_nothing_could_be_made_is_not_trusted(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.cwd.chmod(0o500)
    try:
        refused(brim("learn", RULE), "cannot be made")
    finally:
        brim.cwd.chmod(0o700)
    assert brim("rules", "trust", "--list", "--json").json == {"projects": []}


def test_a_project_that_several_processes_begin_at_once_is_trusted(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    started = [
        brim.start("learn", RULE, fork=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(6)
    ]
    for each in started:
        _, errors = each.communicate(timeout=300)
        assert each.returncode == 0, errors
    assert [
        each["valid"] for each in brim("rules", "trust", "--list", "--json").json["projects"]
    ] == [True]
