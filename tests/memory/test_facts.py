"""What counts as lost: what was there, and is not in the summary in any way a reader would find
it."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.memory import facts as module
from brim.memory.comparison import KINDS, compare
from brim.memory.facts import paths_in, quantities_in


def lost(summary: str, kind: str, text: str) -> bool:
    return bool(compare([(kind, text)], summary).lost)


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("summary", "path", "is_lost"),
    [
        ("We changed src/app.py.", "src/app.py", False),
        ("We changed `app.py`.", "/home/user/project/src/app.py", False),
        ("We changed myapp.py and app.pyc.", "src/app.py", True),
        ("Nothing is named.", "src/app.py", True),
        ("The Makefile was changed.", "build/Makefile", False),
        ("See APP.PY", "src/app.py", False),
    ],
)
def test_a_path_is_kept_if_its_file_is_named(summary: str, path: str, is_lost: bool) -> None:
    assert lost(summary, "file", path) is is_lost


@pytest.mark.parametrize(
    ("summary", "command", "is_lost"),
    [
        ("Run `pytest -q  tests/a.py` again.", "pytest -q tests/a.py", False),
        ("Run pytest -q tests/a.py", "cd /srv/app && pytest -q tests/a.py | tail -5", False),
        ("Run the tests.", "pytest -q tests/a.py", True),
    ],
)
def test_a_command_is_kept_if_its_words_stand_together(
    summary: str, command: str, is_lost: bool
) -> None:
    assert lost(summary, "command", command) is is_lost


@pytest.mark.parametrize(
    ("summary", "rule", "is_lost"),
    [
        ("Never touch legacy; no OpenRewrite.", "Never touch legacy, no OpenRewrite", False),
        ("Never touch the legacy package.", "Never touch legacy, no OpenRewrite", True),
        ("Always run the tests of the cluster.", "Always run tests with --cluster", True),
        ("Always run tests with `--cluster`.", "Always run tests with --cluster", False),
    ],
)
def test_a_rule_is_kept_only_with_its_flags_and_identifiers(
    summary: str, rule: str, is_lost: bool
) -> None:
    assert lost(summary, "instruction", rule) is is_lost


@pytest.mark.parametrize(
    ("summary", "number", "is_lost"),
    [
        ("The timeout is 30 seconds.", "30 s", False),
        ("The timeout is 30s.", "30-second", False),
        ("The timeout is 30 minutes.", "30 s", True),
        ("The timeout is at most 1000 tokens.", "1,000 tokens", False),
        ("The timeout is 2.50 MB.", "2.5 MB", False),
        ("The timeout costs $5.", "$5", False),
        ("The timeout costs 5 dollars.", "$5", False),
        ("Some timeout.", "80%", True),
        ("The timeout is 80%.", "80%", False),
    ],
)
def test_an_instruction_is_kept_only_with_its_numbers(
    summary: str, number: str, is_lost: bool
) -> None:
    assert lost(summary, "instruction", f"The timeout: {number}") is is_lost


def test_a_decision_is_kept_if_most_of_its_words_are() -> None:
    decision = "`Which database should we use?`: SQLite"
    assert not lost("We decided which database to use: SQLite.", "decision", decision)
    assert lost("A store was chosen.", "decision", decision)


def test_counts_say_how_many_there_were_and_how_many_were_lost() -> None:
    comparison = compare(
        [("file", "app.py"), ("file", "b.py"), ("command", "make"), ("other", "x")], "only app.py"
    )
    assert comparison.counts() == {"file": [2, 1], "command": [1, 1]}
    assert comparison.lost == (("file", "b.py"), ("command", "make"))


def test_versions_hosts_and_abbreviations_are_no_files() -> None:
    assert paths_in("Python 3.11, e.g. v2.0, i.e. 1.5.2; it ended. Next one.") == []


def test_numbers_without_a_unit_are_left_out() -> None:
    text = (
        "issue 42, line-7, 3.11, 2027-01-15, sha 1a2b3c, 5 apples, 192.168.0.1, port 8443, in 2026"
    )
    assert quantities_in(text) == []


def test_a_quantity_is_there_once_however_it_is_written() -> None:
    assert [one.text for one in quantities_in("30 s, then 30 seconds, and 40%")] == ["30 s", "40%"]


@given(
    st.lists(st.tuples(st.sampled_from((*KINDS, "other")), st.text(max_size=40)), max_size=8),
    st.text(max_size=200),
)
def test_what_is_lost_was_had_and_a_summary_with_everything_loses_nothing(
    had: list[tuple[str, str]], summary: str
) -> None:
    comparison = compare(had, summary)
    assert set(comparison.lost) <= set(comparison.before) <= set(had)
    assert comparison.lost == compare(comparison.before, summary).lost


@given(st.text(max_size=300))
def test_nothing_in_a_text_raises(text: str) -> None:
    for path in paths_in(text):
        assert path in text
    for quantity in quantities_in(text):
        assert quantity.text in text
