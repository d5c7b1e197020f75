"""What a person typed is told from what the client wrote into the same kind of message."""

from __future__ import annotations

from typing import Any

import pytest

from brim.agents.claude.lines import words
from brim.agents.claude.value import tagged, typed_text


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("fix the parser", "fix the parser"),
        ("<b> is a tag that I ask about", "<b> is a tag that I ask about"),
        (
            "<command-name>/model</command-name>\n <command-args>sonnet</command-args>",
            "/model sonnet",
        ),
        ("<command-message>x</command-message>\n<command-name>/review</command-name>", "/review"),
        ("<command-name>clear</command-name><command-args></command-args>", "/clear"),
        ("<bash-input>git status</bash-input>", "!git status"),
        ("<user-memory-input>use tabs</user-memory-input>", "#use tabs"),
    ],
)
def test_what_a_person_typed_is_shown_as_typed(written: str, typed: str) -> None:
    assert typed_text(written) == typed


@pytest.mark.parametrize(
    "written",
    [
        "<task-notification>\n<task-id>a1</task-id>",
        "<channel source='ci'>red</channel>",
        "Another Claude session sent a message: stop",
        "<system-reminder>Today is Sunday.</system-reminder>",
        "<local-command-stdout>Set model</local-command-stdout>",
        "<local-command-caveat>The command below</local-command-caveat>",
        "<command-message>still no name</command-message>",
        "<bash-stdout>clean</bash-stdout>",
        "[Request interrupted by user]",
        "  <system-reminder>indented</system-reminder>",
    ],
)
def test_what_a_machine_wrote_was_typed_by_nobody(written: str) -> None:
    assert typed_text(written) == ""
    assert words({}, written) == (written, False)


@pytest.mark.parametrize(
    "line",
    [
        {"isMeta": True},
        {"isSynthetic": True},
        {"isSidechain": True},
        {"origin": {"kind": "task-notification"}},
        {"promptSource": "system"},
        {"parent_tool_use_id": "toolu_1"},
        {"sourceToolUseID": "toolu_1"},
    ],
)
def test_a_line_that_says_so_is_the_machines(line: dict[str, Any]) -> None:
    assert words(line, "fix the parser") == ("fix the parser", False)


@pytest.mark.parametrize(
    "line", [{}, {"origin": {"kind": "human"}}, {"promptSource": "typed"}, {"promptSource": "sdk"}]
)
def test_otherwise_a_person_typed_it(line: dict[str, Any]) -> None:
    assert words(line, "fix the parser") == ("fix the parser", True)


def test_what_the_client_added_to_a_persons_words_is_left_out() -> None:
    content = [
        {"type": "text", "text": "<system-reminder>x</system-reminder>"},
        {"type": "text", "text": "fix it"},
    ]
    assert words({}, content) == ("fix it", True)


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Fix it.\n<system-reminder>\nToday is Sunday.\n</system-reminder>", "Fix it."),
        (
            "Fix it.\n\n<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\n",
            "Fix it.",
        ),
        ("What is a <system-reminder>?", "What is a <system-reminder>?"),
        (
            "Drop the <system-reminder>x</system-reminder>",
            "Drop the <system-reminder>x</system-reminder>",
        ),
        (
            "a\n<system-reminder>b</system-reminder>\nc",
            "a\n<system-reminder>b</system-reminder>\nc",
        ),
    ],
)
def test_reminders_after_a_persons_words_are_left_out(written: str, typed: str) -> None:
    assert typed_text(written) == typed


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("<ide_opened_file>The user opened /p/a.py.</ide_opened_file>\nFix it.", "Fix it."),
        (
            "<ide_selection>a < b</ide_selection><ide_opened_file>x</ide_opened_file> Fix it.",
            "Fix it.",
        ),
        ("<ide_selection>see </ide_selection> here</ide_selection>\nFix it.", "Fix it."),
        (
            "<system-reminder>a</system-reminder>\nFix it.\n<system-reminder>b</system-reminder>",
            "Fix it.",
        ),
        ("<ide_opened_file>x</ide_opened_file>\n<command-name>/model</command-name>", "/model"),
        ("<ide_opened_file>x</ide_opened_file>\n<task-notification>y</task-notification>", ""),
        ("<ide_opened_file>x</ide_opened_file>\n", ""),
        ("<ide_opened_file>Fix it.", ""),
    ],
)
def test_what_an_editor_shows_before_a_persons_words_is_left_out(written: str, typed: str) -> None:
    assert typed_text(written) == typed


def test_a_tag_that_is_not_closed_holds_nothing() -> None:
    assert tagged("<status>done", "status") == ""
    assert tagged("<status> done </status>", "status") == "done"
