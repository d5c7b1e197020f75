"""``brim dev window`` shows what ``TokenBudgetCalculator`` calculates."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import pytest

from brim.messages import TokenBudget, TokenBudgetCalculator
from tests.cli.conftest import Brim

CHAT = [
    {"role": "system", "content": "You are a careful engineer."},
    {"role": "user", "content": "Why does naïve façade fail?"},
    {"role": "assistant", "content": None},
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Search the documentation.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string", "description": "words"}},
            },
        },
    }
]
KEYS = {field.name for field in fields(TokenBudget)}


def calculated(*arguments: Any, **options: Any) -> dict[str, Any]:
    return asdict(TokenBudgetCalculator().calculate(*arguments, **options))


def shown(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in KEYS}


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-4", "claude-sonnet-4-5", "gemini-2.5-pro", "nobody-knows-me"]
)
def test_json_is_the_calculated_budget(brim: Brim, model: str) -> None:
    brim.write("chat.json", json.dumps(CHAT))
    brim.write("tools.json", json.dumps(TOOLS))
    arguments = (
        "--messages",
        "chat.json",
        "--directive",
        "Answer briefly.",
        "--tools",
        "tools.json",
    )
    ran = brim("dev", "window", "-m", model, *arguments, "--json")
    assert ran.code == 0
    assert shown(ran.json) == calculated(model, CHAT, "Answer briefly.", tools=TOOLS)
    assert ran.json["tools_tokens"] > 0


def test_json_says_whether_it_fits_and_whether_the_model_is_known(brim: Brim) -> None:
    found = brim("dev", "window", "-m", "gpt-4o", "--json").json
    assert found.keys() >= KEYS | {"fits", "resolved"}
    assert (found["fits"], found["resolved"]) == (True, True)
    assert brim("dev", "window", "-m", "nobody-knows-me", "--json").json["resolved"] is False


def test_the_parts_are_shown_with_their_share(brim: Brim) -> None:
    ran = brim("dev", "window", "-m", "gpt-4o")
    assert ran.code == 0
    assert "gpt-4o" in ran.lines[0]
    assert "128,000" in ran.lines[0]
    table = {line[4:].split("  ")[0]: line for line in ran.lines[2:]}
    assert set(table) == {"messages", "free for memory", "response reserve", "safety buffer"}
    for name, tokens, share in (
        ("response reserve", "4,096", "3.2%"),
        ("safety buffer", "6,400", "5.0%"),
    ):
        assert tokens in table[name]
        assert share in table[name]
    assert "117,501" in table["free for memory"]


def test_a_directive_is_shown_when_there_is_one(brim: Brim) -> None:
    assert "directive" in brim("dev", "window", "-m", "gpt-4o", "--directive", "Be brief.").out


def test_messages_may_be_a_request_body(brim: Brim) -> None:
    body = {"model": "gpt-4o", "messages": CHAT}
    ran = brim("dev", "window", "-m", "gpt-4o", "--messages", "-", "--json", stdin=json.dumps(body))
    assert ran.json["messages_tokens"] == calculated("gpt-4o", CHAT)["messages_tokens"]


def test_an_anthropic_body_counts_its_system_text(brim: Brim) -> None:
    turns = [{"role": "user", "content": "Hi"}]
    body = {"system": "You are a careful engineer. " * 20, "messages": turns}
    brim.write("chat.json", json.dumps(body))
    ran = brim("dev", "window", "-m", "claude-sonnet-4-5", "--messages", "chat.json", "--json")
    assert (
        ran.json["messages_tokens"]
        > calculated("claude-sonnet-4-5", turns)["messages_tokens"] + 100
    )


def test_a_directive_may_be_a_file(brim: Brim) -> None:
    brim.write("rules.md", "Always answer in German.\n")
    found = brim("dev", "window", "-m", "gpt-4o", "--directive", "@rules.md", "--json").json
    assert found["directive_tokens"] == TokenBudgetCalculator().count_tokens(
        "Always answer in German.\n", "gpt-4o"
    )


def test_max_output_takes_the_place_of_the_reserve(brim: Brim) -> None:
    found = brim("dev", "window", "-m", "gpt-4o", "--max-output", "16000", "--json").json
    assert shown(found) == calculated("gpt-4o", [], max_output=16_000)
    assert found["response_reserve"] == 16_000
    assert (
        brim("dev", "window", "-m", "gpt-4o", "--max-output", "0", "--json").json[
            "response_reserve"
        ]
        == 0
    )


def test_a_window_takes_the_place_of_the_tables(brim: Brim) -> None:
    found = brim("dev", "window", "-m", "claude-sonnet-4-5", "--window", "1000000", "--json").json
    assert shown(found) == calculated("claude-sonnet-4-5", [], context_window=1_000_000)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_window_that_is_over_full_has_no_memory_and_ends_with_1(
    brim: Brim, form: list[str]
) -> None:
    brim.write("chat.json", json.dumps([{"role": "user", "content": "word\n" * 5_000}]))
    ran = brim("dev", "window", "-m", "gpt-4", "--messages", "chat.json", *form)
    assert ran.code == 1
    if form:
        assert (ran.json["memory_tokens"], ran.json["fits"], ran.json["is_constrained"]) == (
            0,
            False,
            True,
        )
    else:
        assert "does not fit" in ran.err
        assert all(len(line) <= 80 for line in ran.lines)


def test_a_response_larger_than_the_window_ends_with_1(brim: Brim) -> None:
    assert brim("dev", "window", "-m", "gpt-4", "--max-output", "9000").code == 1


def test_little_room_is_said_and_ends_with_0(brim: Brim) -> None:
    ran = brim("dev", "window", "-m", "gpt-4o", "--window", "1500")
    assert ran.code == 0
    assert "constrained" in ran.err


def test_an_unknown_model_is_divided_and_a_note_says_that_it_is_a_guess(brim: Brim) -> None:
    ran = brim("dev", "window", "-m", "nobody-knows-me")
    assert ran.code == 0
    assert "8,192" in ran.lines[0]
    assert "guess" in ran.err


def test_the_reserves_are_settings(brim: Brim) -> None:
    brim.configure("window:\n  response_reserve_max: 1_000\n  safety_buffer_ratio: 0.1\n")
    found = brim("dev", "window", "--model", "gpt-4o", "--json").json
    assert (found["response_reserve"], found["safety_buffer"]) == (1_000, 12_800)


def test_a_target_that_is_not_given_leaves_the_reserves_of_the_settings(brim: Brim) -> None:
    brim.configure("window:\n  response_reserve_max: 1_000\n  safety_buffer_ratio: 0.1\n")
    brim.write("one.json", '[{"role": "user", "content": "Hello"}]')
    assert "target  114,200  " in brim("dev", "fit", "one.json", "--model", "gpt-4o-mini").err
