"""What counts as lost: what was there, and is not in the summary in any way a reader would find
it."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.memory import facts as module
from brim.memory.facts import KINDS, measure, numbers_in, paths_in


def lost(summary: str, kind: str, text: str) -> bool:
    return bool(measure(summary, [(kind, text)]).lost)


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
    ("summary", "number", "is_lost"),
    [
        ("The timeout is 30 seconds.", "30 s", False),
        ("The timeout is 30s.", "30-second", False),
        ("The timeout is 30 minutes.", "30 s", True),
        ("At most 1000 tokens.", "1,000 tokens", False),
        ("At most 2.50 MB.", "2.5 MB", False),
        ("It costs $5.", "$5", False),
        ("It costs 5 dollars.", "$5", False),
        ("Some limit.", "80%", True),
        ("It is 80%.", "80%", False),
    ],
)
def test_a_number_is_kept_with_its_unit(summary: str, number: str, is_lost: bool) -> None:
    assert lost(summary, "number", number) is is_lost


def test_a_decision_is_kept_if_most_of_its_words_are() -> None:
    decision = "`Which database should we use?`: SQLite"
    assert not lost("We decided which database to use: SQLite.", "decision", decision)
    assert lost("A store was chosen.", "decision", decision)


def test_counts_say_how_many_there_were_and_how_many_were_lost() -> None:
    measured = measure(
        "only app.py", [("file", "app.py"), ("file", "b.py"), ("number", "5 ms"), ("other", "x")]
    )
    assert measured.counts() == {"file": [2, 1], "number": [1, 1]}
    assert measured.lost == (("file", "b.py"), ("number", "5 ms"))


def test_versions_hosts_and_abbreviations_are_no_files() -> None:
    assert paths_in("Python 3.11, e.g. v2.0, i.e. 1.5.2; it ended. Next one.") == []


def test_small_numbers_versions_dates_and_parts_of_names_are_left_out() -> None:
    text = "issue 42, line-7, 3.11, 2027-01-15, sha 1a2b3c, 5 apples, 192.168.0.1, at 12:345, in 2026, /srv/500"
    assert numbers_in(text) == []


def test_a_large_number_without_a_unit_is_kept_with_the_words_around_it() -> None:
    assert numbers_in("Use port 8443; retries=500, see #1234 and port 8443") == [
        "port 8443",
        "retries=500",
        "see #1234 and",
    ]
    assert lost("The server listens on another port.", "number", "port 8443")
    assert not lost("It is https://localhost:8443/.", "number", "port 8443")
    assert not lost("1500 people", "number", "1,500 users")


def test_in_a_pasted_log_only_numbers_with_a_unit_count() -> None:
    assert numbers_in("port 8443 " + "x" * 1_000 + " 30 s") == ["30 s"]


@given(
    st.lists(st.tuples(st.sampled_from((*KINDS, "other")), st.text(max_size=40)), max_size=8),
    st.text(max_size=200),
)
def test_what_is_lost_was_had_and_a_summary_with_everything_loses_nothing(
    had: list[tuple[str, str]], summary: str
) -> None:
    measured = measure(summary, had)
    assert set(measured.lost) <= set(measured.had) <= set(had)
    assert measured.lost == measure(summary, measured.had).lost


@given(st.text(max_size=300))
def test_nothing_in_a_text_raises(text: str) -> None:
    for path in paths_in(text):
        assert path in text
    for number in numbers_in(text):
        assert not lost(f"so {text} it", "number", number)
