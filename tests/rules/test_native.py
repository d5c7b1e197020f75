"""Native files: where they are, when they apply, who loads which."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.agents import agent_named
from brim.rules.native import (
    AGENTS,
    CLAUDE,
    GEMINI,
    NativeFile,
    all_files,
    nested_files,
    root_files,
)
from brim.rules.native_reading import read_native


def loaded_kinds(project: Path, agent: str) -> list[str]:
    """Return the kinds of files in the root of *project* that *agent* loads by itself."""
    loading = agent_named(agent).file_loading({"HOME": "/nobody"}, str(project), str(project))
    return [file.kind for file in root_files(str(project)) if file.is_loaded_by(loading)]


def write(project: Path, path: str, text: str) -> None:
    file = project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def conditions(project: Path, file: NativeFile) -> dict[str, str]:
    return {rule.text: str(rule.when) for rule in read_native(file, str(project)).rules}


def paths(files: list[NativeFile], project: Path) -> list[str]:
    return [str(Path(file.path).relative_to(project)) for file in files]


def test_every_native_file_is_found(tmp_path: Path) -> None:
    names = [
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        "QWEN.md",
        ".cursorrules",
        ".github/copilot-instructions.md",
        ".claude/rules/web.md",
        ".cursor/rules/sub/api.mdc",
        ".github/instructions/py.instructions.md",
    ]
    for name in (*names, "src/api/AGENTS.md", "node_modules/x/AGENTS.md", "README.md"):
        write(tmp_path, name, "- Use uv.\n")
    assert paths(root_files(str(tmp_path)), tmp_path) == names
    assert paths(all_files(str(tmp_path)), tmp_path) == [*names, "src/api/AGENTS.md"]


def test_a_nested_file_applies_in_its_folder_only(tmp_path: Path) -> None:
    for name in ("AGENTS.md", "src/AGENTS.md", "src/api/CLAUDE.md", "docs/AGENTS.md"):
        write(tmp_path, name, "- Use uv.\n")
    found = nested_files(str(tmp_path), ["src/api/users.py", str(tmp_path / "src" / "x.py")])
    assert paths(found, tmp_path) == ["src/AGENTS.md", "src/api/CLAUDE.md"]
    assert conditions(tmp_path, found[1]) == {"Use uv.": "src/api/**"}
    assert nested_files(str(tmp_path), ["x.py", "../y/z.py", "/etc/passwd"]) == []


@pytest.mark.parametrize(
    ("path", "matter", "condition"),
    [
        (".cursor/rules/a.mdc", "description: x\nglobs: web/**/*.{ts,tsx}\nalwaysApply: false", ""),
        (".cursor/rules/a.mdc", "globs: web/**\nalwaysApply: true", "always"),
        (".claude/rules/a.md", 'paths:\n  - "src/**/*.py"', "src/**/*.py"),
        (".github/instructions/a.instructions.md", 'applyTo: "**/*.py"', "**/*.py"),
        (".github/instructions/a.instructions.md", 'applyTo: "**"', "always"),
        (".cursor/rules/a.mdc", "description: x", "always"),
    ],
)
def test_front_matter_says_for_which_files(
    tmp_path: Path, path: str, matter: str, condition: str
) -> None:
    write(tmp_path, path, f"---\n{matter}\n---\n- Use uv.\n")
    (file,) = root_files(str(tmp_path))
    expected = condition or "web/**/*.ts, web/**/*.tsx"
    assert conditions(tmp_path, file) == {"Use uv.": expected}


def test_what_an_agent_loads_by_itself(tmp_path: Path) -> None:
    write(tmp_path, "CLAUDE.md", "- Use uv.\n")
    write(tmp_path, "AGENTS.md", "- Use pnpm.\n")
    write(tmp_path, "GEMINI.md", "- Use bun.\n")
    assert loaded_kinds(tmp_path, "claude") == [CLAUDE]
    assert loaded_kinds(tmp_path, "codex") == [AGENTS]
    assert loaded_kinds(tmp_path, "gemini") == [GEMINI]
    assert loaded_kinds(tmp_path, "opencode") == [AGENTS]
    (tmp_path / "CLAUDE.md").unlink()
    assert loaded_kinds(tmp_path, "claude") == [AGENTS]


MARKDOWN = """---
title: x
---
# Shop

This is a shop. It has tests.

<!-- - not this -->

## Style

- Use structlog.
  Never print.
  - not even in tests
- [x] Sort imports

Always use UTC for times.

| a | b |
|---|---|

## Don'ts

* Force-push
* Amend

## Release

Follow these steps:

1. make check
2. tag

```sh
- rm -rf x
```

@docs/more.md
"""


def test_a_paragraph_is_a_rule(tmp_path: Path) -> None:
    write(tmp_path, "AGENTS.md", MARKDOWN)
    write(tmp_path, "docs/more.md", "- Imported. See @../AGENTS.md and @/etc/passwd.md\n")
    (file,) = root_files(str(tmp_path))
    rules = read_native(file, str(tmp_path)).rules
    assert [(rule.text, rule.section, rule.line) for rule in rules] == [
        ("Use structlog.\nNever print.\n- not even in tests", "Style", 12),
        ("Sort imports", "Style", 15),
        ("Always use UTC for times.", "Style", 17),
        ("Don'ts: Force-push", "Don'ts", 24),
        ("Don'ts: Amend", "Don'ts", 25),
        ("Follow these steps: \n1. make check\n2. tag", "Release", 31),
        ("Imported. See @../AGENTS.md and @/etc/passwd.md", "", 1),
    ]
    names = [rule.name for rule in rules]
    write(tmp_path, "AGENTS.md", "- New one.\n" + MARKDOWN.replace("---\ntitle: x\n---\n", ""))
    assert set(names) < {rule.name for rule in read_native(file, str(tmp_path)).rules}


def test_files_outside_of_the_project_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, "secret.md", "- A secret.\n")
    project = tmp_path / "shop"
    project.mkdir()
    (project / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    assert root_files(str(project)) == []
    (project / "CLAUDE.md").unlink()
    write(project, "AGENTS.md", "- Use uv\u200b.\n")
    (project / "CLAUDE.md").symlink_to(project / "AGENTS.md")
    assert paths(root_files(str(project)), project) == ["CLAUDE.md", "AGENTS.md"]
    (rule,) = read_native(root_files(str(project))[1], str(project)).rules
    assert rule.text == "Use uv."
