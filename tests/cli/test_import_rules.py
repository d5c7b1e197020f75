"""``brim rules import`` learns the bullets of a file, once each, after showing them."""

from __future__ import annotations

import cProfile
import random

from brim.behaviors.when import When
from brim.store.imports import RulesReader
from brim.store.scopes import Scopes
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, edges_in, events_in, recalled, remember

RULES = """\
# Shop

## Testing
- Run `make test` before pushing.
- Never push to main without a review.
- [the docs](docs/testing.md)

## Release steps
1. Bump the version.
2. Tag it.
"""


def test_each_bullet_is_shown_before_it_is_stored(brim: Brim) -> None:
    brim.write("CLAUDE.md", RULES)
    ran = brim("rules", "import", "CLAUDE.md")
    assert (ran.code, ran.lines[0]) == (1, "4 rules: 3 added, 1 left out")
    assert "--yes" in ran.err
    rows = {line.split()[1]: line for line in ran.lines if line.startswith("added")}
    assert sorted(rows) == ["constraint", "directive", "procedure"]
    assert "testing" in rows["directive"]
    assert "CLAUDE.md:6  only a link" in ran.out
    assert not (brim.home / ".brim").exists()


def test_each_bullet_becomes_a_behavior_that_says_where_it_comes_from(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write("docs/AGENTS.md", RULES)
    ran = brim("rules", "import", "AGENTS.md", "--yes", cwd=brim.cwd / "docs")
    assert (ran.code, ran.lines[-1]) == (0, "stored: 3 rules added")
    found = {each.kind.value: each for each in recalled(brim, "project").values()}
    assert found["procedure"].canonical == "Release steps:\n1. Bump the version.\n2. Tag it."
    came = found["constraint"].provenance
    assert (came.source, came.file, came.note) == ("rules", "docs/AGENTS.md", "Testing")
    assert found["directive"].when == When(file="docs/**")
    assert len(events_in(brim, "learned", "project")) == 3
    assert (brim.cwd / "docs" / "AGENTS.md").read_text() == RULES


def test_reading_the_file_again_changes_nothing_not_even_what_was_forgotten(brim: Brim) -> None:
    brim.write("CLAUDE.md", RULES)
    brim("rules", "import", "CLAUDE.md", "--yes")
    id = next(id for id, each in recalled(brim).items() if each.kind == "procedure")
    brim("rules", "remove", id)
    before = recalled(brim)
    ran = brim("rules", "import", "CLAUDE.md", "--yes")
    assert (ran.code, ran.lines[-1]) == (0, "there is nothing new to store")
    assert recalled(brim) == before


def test_what_the_other_scope_says_is_told(brim: Brim) -> None:
    remember(brim, behavior("mine", text="Always use uv instead of pip."))
    (brim.cwd / ".git").mkdir()
    ran = brim("rules", "import", brim.write("rules.md", "- Use uv instead of pip.\n"), "--yes")
    assert ran.code == 0
    assert "name-mine (mine) for every project" in ran.err
    assert len(recalled(brim, "project")) == 1


def test_secrets_are_neither_shown_nor_stored(brim: Brim) -> None:
    secret = "ghp_" + "a1B2" * 9
    ran = brim(
        "rules", "import", brim.write("rules.md", f"- Log in with {secret}.\n"), "--yes", "--json"
    )
    assert secret not in ran.out
    assert "1 secret" in ran.err
    assert all(secret not in each.canonical for each in recalled(brim).values())


def test_the_json_lists_what_becomes_of_each_rule(brim: Brim) -> None:
    brim.write("CLAUDE.md", RULES)
    found = brim("rules", "import", "CLAUDE.md", "--dry-run", "--json").json
    assert [(each["what"], each["line"]) for each in found["rules"]] == [
        ("added", 4),
        ("added", 5),
        ("added", 9),
        ("left out", 6),
    ]
    assert (found["stored"], len(found["added"])) == (False, 3)


def test_a_file_without_rules_and_one_that_is_not_there(brim: Brim) -> None:
    brim.write("empty.md", "")
    ran = brim("rules", "import", "empty.md", "--yes")
    assert (ran.code, ran.out) == (0, "no rules were found\n")
    assert brim("rules", "import", "gone.md").code == 2
    assert brim("rules", "import").code == 2
    brim.write("binary.md", b"\x00")
    assert "binary" in brim("rules", "import", "binary.md").err
    for text in (
        "[1, 2, 3]",
        '{"rule": "Never push"}',
        '[{"role": "user", "content": "Never push"}]',
    ):
        brim.write("chat.json", text)
        refused = brim("rules", "import", "chat.json", "--yes")
        assert (refused.code, "chat.json: JSON, not a file with rules" in refused.err) == (2, True)


def test_of_many_contradictions_a_few_are_told(brim: Brim) -> None:
    names = ("pnpm", "npm", "bun", "yarn")
    brim.write(
        "rules.md",
        "\n".join(f"- Use {one}, not {two}" for one in names for two in names if one != two),
    )
    told = brim("rules", "import", "rules.md", "--user", "--yes").err.splitlines()
    assert sum(" conflicts with " in line for line in told) == 10
    assert "more contradictions: 'brim rules audit'" in told[-1]


def test_a_text_that_is_too_long_is_left_out_and_told(brim: Brim) -> None:
    reader = RulesReader("user", 0.0)
    reader.read("- " + "word " * 200_001 + "\n- Use tabs.\n", "X.md")
    with Scopes({"user": str(brim.home / "none.db")}) as scopes:
        plan = reader.plan(scopes)
    assert [each.what for each in reader.outcomes] == ["left out", "added"]
    assert len(plan.added) == 1


def test_twice_the_bullets_take_about_twice_the_work() -> None:
    def work(bullets: int) -> int:
        words = [
            "deploy",
            "branch",
            "queue",
            "cache",
            "schema",
            "retry",
            "invoice",
            "alert",
            "worker",
            "token",
        ]
        drawn = random.Random(1)
        # No two runs have a text in common: what was masked once isn't masked again.
        lines = (
            f"- Step {number} of {bullets}: {' '.join(drawn.choices(words, k=9))}\n"
            for number in range(bullets)
        )
        reader = RulesReader("user", 0.0)
        reader.read("".join(lines), "CLAUDE.md")
        profile = cProfile.Profile()
        plan = profile.runcall(reader.plan, Scopes({}))
        assert len(plan.added) == bullets
        profile.create_stats()
        return sum(calls for _, calls, *_ in profile.stats.values())

    work(10)  # reads the word lists
    assert work(200) < 2.5 * work(100)


def test_a_file_too_large_to_be_rules_is_refused_without_reading_it_all(brim: Brim) -> None:
    brim.write("CLAUDE.md", "- one more rule\n" * 200_000)
    ran = brim("rules", "import", "CLAUDE.md")
    assert (ran.code, ran.err) == (
        2,
        "brim: CLAUDE.md: larger than 2,000,000 bytes: split it, or name another file\n",
    )


def test_agents_hear_what_was_imported_first_of_all(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write("CLAUDE.md", "- Never push to main.\n")
    ran = brim("rules", "import", "--yes")
    assert (ran.code, ran.lines[-1], ran.err) == (0, "stored: 1 rule added", "")
    assert "is trusted" in brim("doctor").out


def test_a_rule_that_contradicts_a_stored_one_is_marked_and_one_that_contradicts_another_is_said(
    brim: Brim,
) -> None:
    brim("learn", "--user", "Use npm, not yarn.")
    brim.write(
        "CLAUDE.md",
        "- Use pnpm, not npm.\n- Always use tabs in Go files.\n- Never use tabs in Go files.\n",
    )
    ran = brim("rules", "import", "CLAUDE.md", "--yes")
    assert [each.kind for each in edges_in(brim)] == ["conflicts"]
    assert ran.err.count("conflicts with") == 2
