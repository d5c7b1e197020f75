"""Rules in ordinary words get their check, and rules that no call shows get none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.rules.checks import NOT_CHECKED, CallPlace, RuleCheck, check_for
from brim.rules.checks.everyday import EverydayRule, everyday_rules
from tests.rules.checks.sentences import (
    is_broken_by,
    lines_of,
    wordings,
    wordings_with_calls,
)


def test_every_everyday_rule_has_five_wordings_in_each_language() -> None:
    counts = Counter((rule, language) for rule, language, _ in wordings())
    languages = {"en", "de", "fr", "es", "pt"}
    assert {language for _, language in counts} == languages
    assert all(count >= 5 for count in counts.values())
    assert len(counts) >= 40 * len(languages)


def test_every_wording_has_a_check() -> None:
    unread = [wording for wording in wordings() if check_for(wording[2]) is None]
    assert unread == []


def test_rules_in_other_words_have_a_check() -> None:
    unread = [line for line in lines_of("other_wordings.txt") if check_for(line) is None]
    assert unread == []


def test_a_rule_that_no_call_shows_has_none() -> None:
    lines = lines_of("not_checked.txt")
    assert len(lines) >= 60
    assert [line for line in lines if check_for(line) is not None] == []
    assert NOT_CHECKED == "not checked: no call shows whether this is kept"


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("main is protected, so don't push to it", "git push origin topic"),
        ("All changes land on main through pull requests. No direct pushes.", "git push"),
        ("don't use docker-compose, use docker compose w/o hyphen", "docker compose up"),
        ("never plain `pytest`; `python -m pytest`", "python -m pytest"),
        ("En vez de pytest usa python -m pytest", "python -m pytest"),
        ("Statt npm wird hier bun benutzt.", "bun add left-pad"),
        ("Pas de git add -A ni de git add . ; ajoute les fichiers un par un", "git add a.py"),
        ("Don't use git add .", "git add a.py"),
    ],
)
def test_what_a_rule_wants_instead_is_never_stopped(text: str, passing: str) -> None:
    check = check_for(text)
    assert check is None or not is_broken_by(check, f"run: {passing}", CallPlace())


@pytest.mark.parametrize("rule", everyday_rules(), ids=lambda rule: rule.name)
def test_wordings_of_one_rule_lead_to_the_same_kind_of_check(rule: EverydayRule) -> None:
    names = {check.name for check in map(check_for, _texts_of(rule.name)) if check is not None}
    if names:
        assert rule.name in names


def _texts_of(name: str) -> list[str]:
    return [text for rule, _, text in wordings() if rule == name]


@pytest.mark.parametrize(
    "text",
    [
        "{}, unless I ask.",
        "{} if it is late.",
        "{} when the moon is full.",
        "If it rains, {}.",
        "{} on Fridays.",
        "{}?",
        "{}, except in CI.",
        "We said for years: people say {} and nobody cares.",
    ],
)
@pytest.mark.parametrize(
    "rule", ["never push to main", "don't use sudo", "run the tests at the end"]
)
def test_a_condition_that_no_call_shows_leaves_no_check(text: str, rule: str) -> None:
    sentence = text.format(rule)
    if "unless I ask" in sentence and "run the tests" not in rule:
        assert check_for(sentence) is not None  # that is what "stopped once" does
    else:
        assert check_for(sentence) is None


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        (
            "Use pnpm, not npm",
            "npm install, i, add, ci, update, uninstall, run and test are stopped once, with this rule"
            " as the reason",
        ),
        ("Never push", "git push is stopped once, with this rule as the reason"),
        (
            "Run `just fmt` before you finish",
            "asks for just fmt before a turn is over, if files have changed",
        ),
        (
            "Don't touch src/legacy",
            "changes to src/legacy are stopped once, with this rule as the reason",
        ),
        (
            "Run the tests before every commit",
            "git commit is stopped once if the tests didn't run after the last change",
        ),
    ],
)
def test_a_check_says_what_it_does(text: str, promise: str) -> None:
    check = check_for(text)
    assert check is not None
    assert check.promise == promise


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("Don't touch legacy/", "changes to files in legacy/ are stopped once"),
        ("Never read or commit `secrets/`", "reading and git add of files in secrets/ are"),
        ("Never read .env", "reading .env files is stopped once"),
        ("Don't delete files in data/", "deleting files in data/ is stopped once"),
        ("Don't add files to legacy/", "new files in legacy/ are stopped once"),
    ],
)
def test_a_check_names_changes_as_a_person_would(text: str, wording: str) -> None:
    check = check_for(text)
    assert check is not None
    assert check.promise.startswith(wording)


def test_what_a_person_declares_counts_whatever_the_words() -> None:
    check = check_for("Be nice", block=["run pip install", "dist/**"], before_done="just fmt && ls")
    assert check is not None
    assert check.refused == ("run pip install", "edit dist/**")
    assert check.needs == ("just fmt", "ls")
    assert check.is_before_done
    assert check_for("Never run x", block=["run pip install"]).promise == "pip install is refused"  # type: ignore[union-attr]


def test_two_sentences_are_one_check() -> None:
    check = check_for("Never use sudo. Don't use docker.")
    assert check is not None
    assert {"run sudo", "run docker"} <= set(check.keys)


def test_a_check_is_one_text_and_back() -> None:
    for _, _, text in wordings():
        check = check_for(text)
        assert check is not None
        assert RuleCheck.from_text(check.to_text()) == check
        assert "\n" not in check.to_text()
    assert RuleCheck.from_text('{"calls":["x"],"of_a_later_brim":1}') == RuleCheck(calls=("x",))


@pytest.mark.parametrize(("text", "breaking", "passing"), list(wordings_with_calls()))
def test_a_wording_stops_what_it_means(
    text: str, breaking: str, passing: str, tmp_path: Path
) -> None:
    if breaking.startswith("edit: "):  # a migration is kept if it's there already
        existing = tmp_path / breaking.removeprefix("edit: ").partition(" :: ")[0]
        existing.parent.mkdir(parents=True, exist_ok=True)
        existing.write_text("old\n")
    place = CallPlace(str(tmp_path), str(tmp_path), branch="topic")
    check = check_for(text)
    assert check is not None
    assert is_broken_by(check, breaking, place)
    assert not is_broken_by(check, passing, place)


# Promises -----------------------------------------------------------------------------------------

ENGLISH = [text for _, language, text in wordings() if language == "en"]
ONE_CLAUSE = [text for text in ENGLISH if not set(",;:–()`|") & set(text)]
REASONS = [
    " – it broke twice",
    ", it hurts everybody",
    " because the pipeline hates it",
    " (trust us)",
]
MARKUP = ["- {}", "* {}", "3. {}", "**{}**", "> {}", "⚠️ {}", "{} 🚫", "{}!!", "  {}  "]
CONDITIONS = [
    "{} on Fridays",
    "{} if it rains",
    "{} when the moon is full",
    "{}, except in the docs",
    "{}, but it's okay in fixtures",
    "If it rains, {}",
    "On release branches, {}",
    "In the docs folder, {}",
    "{} unless the lockfile is missing",
    "Is it true that {}?",
    "Backend: {}",
]


@given(st.sampled_from(ENGLISH), st.sampled_from(REASONS))
def test_a_reason_changes_nothing(text: str, reason: str) -> None:
    assert check_for(text.rstrip(".!") + reason) == check_for(text)


@given(st.sampled_from(list(wordings())), st.sampled_from(MARKUP))
def test_markup_changes_nothing(wording: tuple[str, str, str], markup: str) -> None:
    text = wording[2]
    assert check_for(markup.format(text)) == check_for(text)


@given(st.sampled_from(ONE_CLAUSE), st.sampled_from(CONDITIONS))
def test_a_condition_that_no_call_shows_is_never_dropped(text: str, condition: str) -> None:
    assert check_for(condition.format(text.rstrip(".!"))) is None


@given(st.sampled_from(ONE_CLAUSE), st.sampled_from(["in", "for", "on", "from", "during"]))
def test_a_place_that_is_not_understood_leaves_no_check(text: str, preposition: str) -> None:
    assert check_for(f"{text.rstrip('.!')} {preposition} Zorbling.") is None


@pytest.mark.parametrize(
    "text",
    [
        "Never delete branches with `git branch -D`",
        "Contributors never `git branch -D`",
        "No zapping of refs (`git branch -D`), please",
        "Never, for any reason whatsoever, `git branch -D`",
        "Never whip out `git branch -D`",
        "`git branch -D` destroys work. Please don't.",
        "Never use `git branch -D` to clean up",
    ],
)
def test_words_that_only_describe_a_command_need_not_be_known(text: str) -> None:
    check = check_for(text)
    assert check is not None
    assert check.calls == ("git branch -D",)


@pytest.mark.parametrize(
    "text",
    [
        "Never mention `git branch -D`",
        "Never delete branches in Zorbling with `git branch -D`",
        "Never use `docker` images",
        "For JSON, use jq instead of python",
    ],
)
def test_words_that_limit_a_rule_leave_no_check(text: str) -> None:
    assert check_for(text) is None


@pytest.mark.parametrize(
    ("text", "stopped", "passing"),
    [
        ("Use podman instead of docker", "docker ps", "podman ps"),
        ("Use ./gradlew, not gradle", "gradle build", "./gradlew build"),
        ("`git push --force` is forbidden, `--force-with-lease` is ok", "git push -f", "git push --force-with-lease"),
        ("Run scripts through `uv run`, never with bare `python`", "python a.py", "uv run python a.py"),
        ("Never use `git tag`", "git tag v1", "git tag --list"),
        ("Never use `docker compose down -v`", "docker compose down --volumes", "docker compose down"),
        ("No commits on `main`.", "git switch main && git commit -m x", "git switch main"),
        ("Call pytest via `uv run pytest`", "pytest -q", "uv run pytest -q"),
    ],
)  # fmt: skip
def test_what_a_rule_names_as_better_passes(text: str, stopped: str, passing: str) -> None:
    check = check_for(text)
    assert check is not None
    assert is_broken_by(check, f"run: {stopped}", CallPlace())
    assert not is_broken_by(check, f"run: {passing}", CallPlace())


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    check = check_for(text)
    assert check is None or RuleCheck.from_text(check.to_text()) == check
    assert check_for(text) == check
