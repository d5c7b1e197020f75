"""The tables: every rule has a source and a date, and a name finds its row."""

from __future__ import annotations

from pathlib import Path

import pytest

import brim.tokens.messages.rules as rules

DATA = Path(rules.__file__).parent / "data"


@pytest.mark.parametrize("path", sorted(DATA.iterdir()), ids=lambda path: path.name)
def test_every_table_has_a_date(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert 'date": "20' in text or "date: 20" in text


def test_every_rule_has_a_source() -> None:
    for row in rules.load("images")["rules"]:
        assert row["source"].startswith("https://")
    media = rules.load("media")
    assert all(row["source"] for kind in ("audio", "video", "page") for row in media[kind])
    assert all(
        rules.load("tools")[name]["source"].startswith("https://")
        for name in ("openai", "anthropic")
    )


def test_every_interval_contains_its_point() -> None:
    media = rules.load("media")
    for low, high, point in [
        *(
            (row["rate"][1], row["rate"][2], row["rate"][0])
            for kind in ("audio", "video")
            for row in media[kind]
        ),
        *((row["text"][1], row["text"][2], row["text"][0]) for row in media["page"]),
        *(
            (row["low"], row["high"], row["auto"])
            for row in rules.load("tools")["anthropic"]["system_prompt"]
        ),
        *(
            (row["low"], row["high"], row["any"])
            for row in rules.load("tools")["anthropic"]["system_prompt"]
        ),
    ]:
        assert low <= point <= high


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o", "openai-chat"),
        ("GPT-4o", "openai-chat"),
        ("azure/gpt-4o-2024-08-06", "openai-chat"),
        ("ft:gpt-4o:org::id", "openai-chat"),
        ("gpt-3.5-turbo-0301", "openai-chat-0301"),
        ("gpt-4.1-mini", "openai"),
        ("gpt-4.9", "openai"),
        ("gpt-4oh", "openai"),
        ("o3-mini", "openai"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic"),
        ("claude-opus-5[1m]", "anthropic"),
        ("models/gemini-2.5-pro", "gemini"),
        ("claudette", "other"),
        ("", "other"),
    ],
)
def test_a_name_finds_its_family(name: str, family: str) -> None:
    assert rules.family(rules.spellings(name)).title == family


def test_the_longest_prefix_wins_in_every_spelling() -> None:
    table = rules.load("tools")["anthropic"]["system_prompt"]
    for name in (
        "claude-opus-4-8",
        "anthropic/claude-opus-4.8",
        "claude-4-8-opus",
        "claude-opus-4-8-20260101",
    ):
        assert rules.best(table, rules.spellings(name))["auto"] == 290
