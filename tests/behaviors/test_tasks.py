from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors import tasks
from brim.behaviors.tasks import known_tasks, task_of, tasks_of
from brim.behaviors.words import stem
from brim.files import data_lines, data_rows
from brim.rules import languages
from brim.rules.languages import language_of
from tests.texts import ANY_TEXT


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("uv run pytest", "testing"),
        ("uv run --frozen pytest -x", "testing"),
        ("cd x && pytest", "testing"),
        ("cargo test", "testing"),
        ("npm run test", "testing"),
        ("npm run test:unit", "testing"),
        ("FOO=1 sudo -E python -m pytest tests", "testing"),
        ("timeout 300 .venv/bin/pytest -x", "testing"),
        ("bash -c 'pytest -q'", "testing"),
        ("docker compose exec web pytest", "testing"),
        ("for f in a b; do pytest $f; done", "testing"),
        ("make test", "testing"),
        ("git commit -m 'fix the failing tests'", "git"),
        ("/usr/bin/git push", "git"),
        ("make", "building"),
        ("make -j4", "building"),
        ("docker build .", "building"),
        ("pip install requests", "dependencies"),
        ("uv pip install x", "dependencies"),
        ("python manage.py migrate", "database"),
        ("kubectl apply -f x.yaml", "deployment"),
        ("npx eslint .", "linting"),
        ("ruff check", "linting"),
        ("Add tests for the new endpoint", "testing"),
        ("Fix the failing test in auth", "debugging"),
        ("Why does it crash?", "debugging"),
        ("Rename the class and simplify it", "refactoring"),
        ("Please review this PR", "review"),
        ("Write docstrings and update the README", "documentation"),
        ("make it faster", "performance"),
        ("Is there an XSS vulnerability?", "security"),
        ("Draft a roadmap", "planning"),
        ("hello there", None),
        ("time to go", None),
        ("Build a login page", None),
        ("Show the checkout page", None),
        ("", None),
        ("sudo", None),
        ("FOO=1", None),
    ],
)
def test_task_of_a_prompt_or_command(text: str, task: str | None) -> None:
    assert task_of(text) == task


def test_all_tasks_of_a_text_are_told_the_clearest_first() -> None:
    assert tasks_of("git commit -m 'fix tests'") == ("git", "testing", "debugging")


def test_equal_tasks_stand_in_the_order_of_the_table() -> None:
    assert tasks_of("a bug in a test") == ("testing", "debugging")


@settings(deadline=None)
@given(
    st.one_of(
        ANY_TEXT,
        st.lists(st.sampled_from(["sudo", "uv", "run", "&&", "A=1", "-x", "pytest", "5"])).map(
            " ".join
        ),
    )
)
def test_any_text_has_known_tasks_or_none(text: str) -> None:
    assert set(tasks_of(text)) <= set(known_tasks())
    assert task_of(text) == next(iter(tasks_of(text)), None)


def stems() -> list[str]:
    """Return the lines that ``data/task_stems.tsv`` has: ``python -m tests.behaviors.test_tasks``
    writes them."""
    found: dict[str, list[str]] = {}
    for task, how, said in data_rows(tasks.__file__, "tasks.tsv"):
        for word in {stem(word) for word in said.split()} if how == "word" else ():
            found.setdefault(word, []).append(task)
    return [f"{word}\t{' '.join(tasks)}" for word, tasks in sorted(found.items())]


def test_the_stems_of_the_words_are_those_in_the_file() -> None:
    assert stems() == list(data_lines(tasks.__file__, "task_stems.tsv"))


def test_the_words_of_subjects_are_stems() -> None:
    from brim.behaviors.words import words_of
    from brim.files import data_rows

    for subject, both, rules, prompts in data_rows(tasks.__file__, "subjects.tsv"):
        for each in (*both.split(), *rules.split()):
            assert tasks.subjects_of([each])[f"#{subject}"] == 1
        for each in (*both.split(), *prompts.split()):
            assert tasks.subjects_asked([each])[f"#{subject}"] == 1
        for each in f"{both} {rules} {prompts}".split():
            assert words_of(each), f"no text has the stem {each!r}"


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
    assert all(
        language == language.lower() and " " not in language
        for _, language in data_rows(languages.__file__, "languages.tsv")
    )


if __name__ == "__main__":
    path = Path(tasks.__file__).parent / "data" / "task_stems.tsv"
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    path.write_text("\n".join([*head, *stems()]) + "\n", encoding="utf-8")
