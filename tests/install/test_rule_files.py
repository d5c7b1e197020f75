"""``brim rules import`` finds the files that agents read their rules from, and knows what each is
for."""

from __future__ import annotations

from typing import Any

import pytest

from brim.install.rule_places import loaders_of
from brim.workspace import Workspace
from tests.cli.conftest import Brim
from tests.cli.stored import recalled


@pytest.fixture
def project(brim: Brim) -> Brim:
    (brim.cwd / ".git").mkdir()
    return brim


def imported(brim: Brim, *arguments: str) -> dict[str, Any]:
    """Return what an import says, by what it says of it: the file and text, or why not."""
    ran = brim("rules", "import", *arguments, "--dry-run", "--json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json
    return found


def rules(found: dict[str, Any]) -> dict[str, str]:
    return {each["text"]: each["file"] for each in found["rules"] if each["what"] == "added"}


FILES = {
    "CLAUDE.md": "- Use one.\n",
    "CLAUDE.local.md": "- Use two.\n",
    ".claude/CLAUDE.md": "- Use three.\n",
    ".claude/rules/deep/four.md": "- Use four.\n",
    "AGENTS.md": "- Use five.\n",
    "GEMINI.md": "- Use six.\n",
    ".cursorrules": "- Use seven.\n",
    ".cursor/rules/eight.mdc": "- Use eight.\n",
    ".github/copilot-instructions.md": "- Use nine.\n",
    ".github/instructions/ten.instructions.md": "- Use ten.\n",
    "api/AGENTS.md": "- Use eleven.\n",
    "api/.claude/rules/twelve.md": "- Use twelve.\n",
}


def test_every_file_of_the_project_is_found_and_others_are_not(project: Brim) -> None:
    for name, text in FILES.items():
        project.write(name, text)
    for name in (
        "node_modules/x/CLAUDE.md",
        ".venv/AGENTS.md",
        "vendor/CLAUDE.md",
        "docs/rules.md",
        "sub/CLAUDE.md",
    ):
        project.write(name, "- Use none.\n")
    (project.cwd / "sub" / ".git").mkdir()
    found = rules(imported(project))
    assert sorted(found.values()) == sorted(FILES)
    assert rules(imported(project, ".")) == found


def test_without_any_there_is_nothing_to_import(project: Brim) -> None:
    ran = project("rules", "import")
    assert (ran.code, "CLAUDE.md" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "front", "expected"),
    [
        (
            ".cursor/rules/a.mdc",
            "globs: *.ts, src/*.{js,jsx}\nalwaysApply: false",
            ["*.ts", "src/*.js", "src/*.jsx"],
        ),
        (".cursor/rules/a.mdc", "globs: *.ts\nalwaysApply: true", None),
        (".cursor/rules/a.mdc", "globs: **/*", None),
        (".cursor/rules/a.mdc", "description: when writing tests\nglobs:", None),
        (
            ".claude/rules/a.md",
            "paths:\n  - 'api/**/*.py'\n  - \"web/**\"",
            ["api/**/*.py", "web/**"],
        ),
        (
            ".github/instructions/a.instructions.md",
            'applyTo: "**/*.sql,**/*.ddl"',
            ["**/*.sql", "**/*.ddl"],
        ),
        ("api/CLAUDE.md", "x: y", ["api/**"]),
        ("api/.claude/rules/a.md", "paths: ['*.py']", ["api/*.py"]),
    ],
)
def test_conditions_of_a_file_are_those_of_its_rules(
    project: Brim, name: str, front: str, expected: list[str] | None
) -> None:
    project.write(name, f"---\n{front}\n---\n\n- Use it here.\n")
    [rule] = imported(project)["added"]
    assert rule["when"] == ({"file": expected} if expected else {})


def test_what_brim_cannot_follow_is_listed(project: Brim) -> None:
    project.write(
        ".claude/rules/a.md", "---\npaths: ['a/**', '!a/b/**', '[']\n---\n- Use it here.\n"
    )
    left = {
        each["text"]: each["why"]
        for each in imported(project)["rules"]
        if each["what"] == "left out"
    }
    assert left == {"!a/b/**": "excludes files, which brim can't", "[": "not a pattern for files"}


@pytest.mark.parametrize("torn", ["globs: [src/**", "paths: {a: [b", "globs: src/*.{ts"])
def test_a_torn_pattern_is_listed_and_does_not_silence_the_rule(project: Brim, torn: str) -> None:
    project.write(".claude/rules/a.md", f"---\n{torn}\n---\n- Use it here.\n")
    found = imported(project)
    assert [each["when"] for each in found["added"]] == [{}]
    assert [each["why"] for each in found["rules"] if each["what"] == "left out"] == [
        "not a pattern for files"
    ]


def test_imports_are_followed_inside_the_project_and_listed_otherwise(project: Brim) -> None:
    project.write(
        "CLAUDE.md",
        "@docs/style.md\n@gone.md\n@~/x.md\n\nSee @README.md for an overview.\n\n- Use one.\n",
    )
    project.write("docs/style.md", "@../CLAUDE.md\n- Use two.\n")
    project.write("README.md", "- A feature to use.\n")
    (project.home / "x.md").write_text("- Use three.\n")
    found = imported(project)
    assert rules(found) == {"Use one.": "CLAUDE.md", "Use two.": "docs/style.md"}
    left = {each["text"]: each["why"] for each in found["rules"] if each["text"].startswith("@")}
    assert left == {
        "@gone.md": "imports a file that is not there",
        "@~/x.md": "imports a file outside of the project: name it to read it too",
        "@README.md": "only mentions a file: name it to read it too",
    }


def test_a_link_to_the_same_file_is_read_once(project: Brim) -> None:
    project.write("CLAUDE.md", "- Use one.\n")
    (project.cwd / "AGENTS.md").symlink_to("CLAUDE.md")
    assert len(imported(project)["rules"]) == 1
    project("rules", "import", "--yes")
    [id] = recalled(project, "project")
    assert [
        each["agent"] for each in project("rules", "why", id, "--json").json["rule"]["read_by"]
    ] == [
        "claude",
        "codex",
    ]


def test_claude_codes_notes_on_corrections_are_read(project: Brim) -> None:
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project.cwd.resolve()))
    folder = project.home / ".claude" / "projects" / slug / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [No mocks](no_mocks.md)\n")
    (folder / "no_mocks.md").write_text(
        "---\nname: no mocks\ntype: feedback\n---\nNever mock the database.\n"
    )
    (folder / "who.md").write_text("---\nname: who\ntype: user\n---\nWrites Go.\n")
    found = imported(project)
    assert rules(found) == {"Never mock the database.": "no_mocks.md"}
    assert [each["why"] for each in found["rules"] if each["what"] == "left out"] == [
        "the index of the notes, not a correction",
        "a note about the user, not a correction",
    ]


def test_the_users_own_files_are_found(project: Brim) -> None:
    for name in (
        ".claude/CLAUDE.md",
        ".claude/rules/a.md",
        ".codex/AGENTS.md",
        ".gemini/GEMINI.md",
    ):
        path = project.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"- Use {name.replace('.', ' ')}\n")
    assert len(rules(imported(project, "--user"))) == 4


def test_a_file_that_cannot_be_read_does_not_stop_the_others(project: Brim) -> None:
    project.write("CLAUDE.md", "- Use one.\n")
    (project.cwd / "AGENTS.md").write_bytes(b"\0\1\2")
    found = imported(project)
    assert (list(rules(found)), "AGENTS.md" in found["problems"][0]) == (["Use one."], True)


def test_a_rule_that_left_the_file_is_said(project: Brim) -> None:
    project.write("CLAUDE.md", "- Use one.\n- Use two.\n")
    project("rules", "import", "--yes")
    project.write("CLAUDE.md", "- Use two.\n")
    ran = project("rules", "import", "--yes")
    assert "CLAUDE.md doesn't have use" in ran.err
    assert len(recalled(project, "project")) == 2


@pytest.mark.parametrize(
    ("name", "agents"),
    [
        ("CLAUDE.md", ["claude"]),
        (".claude/rules/a.md", ["claude"]),
        ("rules/a.md", []),
        ("AGENTS.md", ["claude", "codex"]),
        ("AGENTS.override.md", ["codex"]),
        ("GEMINI.md", ["gemini"]),
        (".cursorrules", []),
    ],
)
def test_which_agents_load_a_file_of_the_project(
    project: Brim, name: str, agents: list[str]
) -> None:
    project.write(name, "- Use it.\n")
    environ = {"HOME": str(project.home)}
    workspace = Workspace(environ, str(project.cwd), who="person", now=1.8e9)
    loaders = loaders_of(str(project.cwd / name), workspace, scoped=False)
    assert [loader.agent for loader in loaders] == agents
