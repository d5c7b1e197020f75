"""A refusal is told from a failure by the client's own sentence, never by a word in a command's
output."""

from __future__ import annotations

import pytest

from brim.agents.claude.lines import refusal_of, refusal_of_decision


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            "permission",
        ),
        ("The user doesn\u2019t want to proceed with this tool use.", "permission"),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", "permission"),
        ("PreToolUse:Bash hook error: not on this branch", "permission"),
        ("Error: User rejected tool use", "permission"),
        ("[Request interrupted by user for tool use]", "interrupt"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cascade"),
        (
            "<tool_use_error>Cancelled: parallel tool call Bash(make) errored</tool_use_error>",
            "cascade",
        ),
    ],
)
def test_the_sentences_of_the_client_are_refusals(said: str, refusal: str) -> None:
    assert refusal_of(said) == refusal


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Exit code 1\nrm: cannot remove 'x': Permission denied",
        "grep: 1: [Request interrupted by user]",
        "<tool_use_error>String to replace not found in file.</tool_use_error>",
        "AssertionError: sibling tool call errored",
    ],
)
def test_a_failure_is_no_refusal(said: str) -> None:
    assert refusal_of(said) == ""


@pytest.mark.parametrize(
    ("word", "refusal"),
    [
        *(("reject", "permission"), ("deny", "permission"), ("user-rejected", "permission")),
        *(
            ("permission-rule", "permission"),
            ("cancelled", "interrupt"),
            ("interrupted", "interrupt"),
        ),
        *(("sibling-error", "cascade"), ("accept", ""), ("", ""), ("new-word", "")),
    ],
)
def test_the_words_of_the_client_for_its_decision(word: str, refusal: str) -> None:
    assert refusal_of_decision(word) == refusal
