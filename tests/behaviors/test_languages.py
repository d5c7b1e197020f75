from __future__ import annotations

import pytest

from brim.behaviors.languages import known_languages, language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("/abs/Card.TSX", "typescript"),
        ("types/index.d.ts", "typescript"),
        ("C:\\code\\main.rs", "rust"),
        ("Dockerfile", "docker"),
        ("ops/docker-compose.yml", "docker"),
        ("values.yml", "yaml"),
        (".zshrc", "shell"),
        ("analysis.R", "r"),
        ("a.b.c.go", "go"),
        ("notes", None),
        ("x.unknown", None),
        ("src.py/", None),
        (".gitignore", None),
        ("", None),
    ],
)
def test_language_of_a_file_name(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_languages_are_lower_case_words() -> None:
    assert all(language == language.lower() and " " not in language for language in known_languages())
