from __future__ import annotations

import pytest
from hypothesis import given

from brim.behaviors.inference import infer
from brim.behaviors.when import When
from tests.texts import ANY_TEXT


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("In Python files, use pathlib instead of os.path", {"language": "python"}),
        ("In Go code, wrap errors with %w", {"language": "go"}),
        ("Never push to main", {"task": "git"}),
        ("`.tsx` files use named exports", {"language": "typescript"}),
        ("Never edit files in `migrations/`", {"file": "migrations/"}),
        ("Dans les fichiers de src/api/, pas de print", {"file": "src/api/"}),
        ("Before committing, squash what belongs together", {"task": "git"}),
        ("Commit messages are in English", {"task": "git"}),
        ("When you run cargo, pass --locked", {"command": "cargo"}),
        ("On main, only fast-forward merges", {"branch": "main"}),
        ("Run `make fmt` after every change", {"task": "editing", "command": "make fmt"}),
        (
            "Run `just fmt` after making Rust changes",
            {"command": "just fmt", "language": "rust", "task": "editing"},
        ),
        ("Test the crate that was changed", {"task": "editing"}),
        ("Type hints on all code", {"task": "editing"}),
        ("Mention every file you touched", {"task": "editing"}),
        ("Format with black after writing or editing a file", {"task": "editing"}),
        ("Update snapshots after running `cargo insta`", {"command": "cargo insta"}),
        ("Nach jeder Änderung den Formatierer laufen lassen", {"task": "editing"}),
    ],
)
def test_conditions_are_read_from_the_words_of_a_rule(text: str, when: dict[str, str]) -> None:
    found = dict(infer(text).conditions)
    for key, value in when.items():
        assert value in found[key] or f"{value}**" in found[key]
    assert found.keys() == when.keys()


@pytest.mark.parametrize(
    "text",
    [
        "IMPORTANT: Always use UTC",
        "Go ahead and ask if unsure",
        "Use `src/utils/http.ts` whenever data is fetched",
        "Answer in British English",
        "A header is required",
        "Say so before running any long job",
        "Use `require` in `curly: true` style",
        "See https://example.com/docs/api/ before anything else",
    ],
)
def test_rule_for_everything_has_no_condition(text: str) -> None:
    assert not infer(text)


def test_heading_says_what_a_rule_is_for() -> None:
    assert dict(infer("Mock the network", heading="Testing").conditions) == {"task": ("testing",)}


def test_rule_that_names_many_languages_is_for_none_of_them() -> None:
    assert "language" not in dict(
        infer("Python, Rust, Java and Ruby clients have one interface").conditions
    )


@given(ANY_TEXT, ANY_TEXT)
def test_any_text_gives_conditions(text: str, heading: str) -> None:
    infer(text, heading=heading)


def test_rule_with_a_linter_is_for_every_change() -> None:
    assert "editing" in dict(infer("Style: `uv run ruff check .`").conditions)["task"]
    assert "editing" not in dict(infer("Tests: `uv run pytest`").conditions)["task"]


@pytest.mark.parametrize(
    "text",
    [
        "Run `acme verify` before you say that something works.",
        "Fix all errors before considering the task complete.",
        "After completing a task, run `acme all`.",
        "Run `acme fix` before finalizing changes.",
        "Once everything is done, update the notes.",
        "All checks must pass.",
        "Every new feature or bug fix is covered by an example.",
        "When modifying code, keep the docs in step.",
        "Style: `vendor/bin/pint --dirty`",
        "Use `yarn fix` for the layout.",
        "Check for type errors before you run any script, open the app or call the work complete.",
        "Code that you hand over must compile.",
        "Get the tests to pass.",
        "Add tests for new behavior.",
        "Test your changes: `acme try`",
        "Lint with `acme`, no new warnings.",
        "New features need an example.",
    ],
)
def test_rules_for_the_end_of_a_change_are_for_every_change(text: str) -> None:
    assert "editing" in dict(infer(text).conditions)["task"]


def test_rules_under_a_heading_about_changes_are_for_every_change() -> None:
    assert infer("**Build**: `acme build`", heading="Verifying changes").conditions == (
        ("task", ("editing",)),
    )


def test_qualities_are_no_moments_unless_the_rule_says_when() -> None:
    assert not infer("Errors have a code", heading="Error handling")
    assert not infer("Sanitize every input", heading="Security")
    assert infer("When you debug, keep the log open") == When.of({"task": ["debugging"]})


@pytest.mark.parametrize(
    "text",
    [
        "Complete sentences in answers.",
        "The build works on Linux alone.",
        "Finished parcels have a seal.",
    ],
)
def test_what_is_complete_is_not_always_a_change(text: str) -> None:
    assert "editing" not in dict(infer(text).conditions).get("task", ())
