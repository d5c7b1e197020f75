"""``brim assemble`` shows what ``WorkingMemory.assemble`` assembles from a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brim.window import MemoryConfig, WorkingMemory
from brim.window.assembly import SECTIONS
from tests.cli.conftest import Brim, Ran

CHAT = [
    {"role": "user", "content": "Why were 14 lines rejected?"},
    {"role": "assistant", "content": "All of them miss a comma."},
    {"role": "user", "content": "Since when?"},
    {"role": "assistant", "content": "Since the third of March."},
]
MEMORY = """\
model: gpt-4o
memory:
  max_working_memory_tokens: 5_000
  output_reserve: 500
system_prompt: Answer briefly.
procedure: {file: texts/procedure.md}
knowledge:
  - text: Lines end in LF.
    source: wiki
    score: 0.5
  - file: texts/notes.md
    score: 0.9
episodes: It happened before.
history: {file: chat.json}
current_message: Who changed it?
"""
GIVEN: dict[str, Any] = {
    "system_prompt": "Answer briefly.",
    "procedure": "Look first.\n",
    "knowledge": [{"text": "Lines end in LF.", "source": "wiki"}],
    "episodes": ["It happened before."],
    "history": CHAT,
    "current_message": "Who changed it?",
}


@pytest.fixture
def assemble(brim: Brim) -> Brim:
    brim.write("memory.yaml", MEMORY)
    brim.write("texts/procedure.md", "Look first.\n")
    brim.write("texts/notes.md", "The importer reads JSON lines.\n")
    brim.write("chat.json", json.dumps(CHAT))
    return brim


def refused(ran: Ran, *words: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("brim: ")
    assert ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err


def test_json_is_what_the_library_assembles(assemble: Brim) -> None:
    ran = assemble("assemble", "--config", "memory.yaml", "--json")
    assert ran.code == 0
    config = MemoryConfig(max_working_memory_tokens=5_000, output_reserve=500)
    notes = {"text": "The importer reads JSON lines.\n", "source": "texts/notes.md"}
    given = {**GIVEN, "knowledge": [notes, *GIVEN["knowledge"]]}
    found = WorkingMemory(config, model="gpt-4o").assemble(**given)
    assert ran.json["messages"] == found.messages
    assert (ran.json["tokens"], ran.json["budget"], ran.json["history_budget"]) == (
        int(found.tokens),
        4_500,
        found.history_budget,
    )
    assert {section["name"]: section["tokens"] for section in ran.json["sections"]} == {
        section.name: int(section.tokens) for section in found.sections
    }
    assert (ran.json["fits"], ran.json["over_budget"], ran.json["over_by"], ran.json["reason"]) == (True, False, 0, "")
    assert (ran.json["model"], ran.json["provider"], ran.json["context_window"]) == ("gpt-4o", "openai", 128_000)
    assert ran.json["receipt"]["pruner"] == "fifo"


def test_each_section_is_shown_with_its_share_and_source(assemble: Brim) -> None:
    ran = assemble("assemble", "--config", "memory.yaml")
    assert (ran.code, ran.err) == (0, "")
    rows = {line[:16].strip(): line for line in ran.lines if line}
    assert set(SECTIONS) <= set(rows)
    assert rows["system_prompt"].endswith("memory.yaml:5")
    assert rows["procedure"].endswith("texts/procedure.md")
    assert rows["knowledge"].endswith("texts/notes.md, wiki")
    assert rows["episodes"].endswith("memory.yaml:13")
    assert rows["history"].endswith("chat.json")
    assert "4,500" in rows["budget"]
    assert ran.lines[-1] == "fits"


def test_what_was_dropped_is_shown_with_the_reason(assemble: Brim) -> None:
    assemble.write("memory.yaml", f"{MEMORY}context_window: 540\n".replace("5_000", "540\n  max_knowledge_tokens: 6"))
    ran = assemble("assemble", "--config", "memory.yaml")
    assert "dropped" in ran.out
    assert "knowledge[1]" in ran.out
    assert "larger than the limit of 6 tokens" in ran.out
    assert "history  " in ran.out
    assert "min_history_tokens" in ran.err


def test_messages_are_ready_to_send(assemble: Brim) -> None:
    ran = assemble("assemble", "--config", "memory.yaml", "--messages")
    assert ran.code == 0
    assert [message["role"] for message in ran.json[:2]] == ["system", "system"]
    assert ran.json[2:-1] == CHAT
    found = assemble("assemble", "--config", "memory.yaml", "--messages", "--model", "claude-sonnet-4-5").json
    assert found["system"] == "Answer briefly.\n\nLook first.\n"
    assert found["messages"][1:-1] == CHAT
    refused(assemble("assemble", "--config", "memory.yaml", "--messages", "--provider", "gemini"), "messages[0].parts")
    talk = [{"role": "user", "parts": [{"text": "Why?"}]}, {"role": "model", "parts": [{"text": "A comma."}]}]
    assemble.write("chat.json", json.dumps(talk))
    found = assemble("assemble", "--config", "memory.yaml", "--messages", "--provider", "gemini").json
    assert set(found) == {"systemInstruction", "contents"}


def test_a_flag_outranks_the_file_and_the_file_the_settings(assemble: Brim) -> None:
    found = assemble("assemble", "--config", "memory.yaml", "--json", "-m", "gpt-4", env={"BRIM_MODEL": "gpt-5"}).json
    assert found["model"] == "gpt-4"
    found = assemble("assemble", "--config", "memory.yaml", "--json", env={"BRIM_MODEL": "gpt-5"}).json
    assert found["model"] == "gpt-4o"
    assemble.write("memory.yaml", MEMORY.replace("model: gpt-4o\n", "provider: anthropic\n"))
    found = assemble("assemble", "--config", "memory.yaml", "--json", env={"BRIM_MODEL": "gpt-5"}).json
    assert (found["model"], found["provider"]) == ("gpt-5", "anthropic")
    assert assemble("assemble", "--config", "memory.yaml", "--json").json["model"] is None


@pytest.mark.parametrize("strategy", ["fifo", "sliding", "summarize", "watermark", "cap"])
def test_any_strategy_may_prune(assemble: Brim, strategy: str) -> None:
    found = assemble("assemble", "--config", "memory.yaml", "--strategy", strategy, "--json").json
    assert found["receipt"]["pruner"] == strategy


def test_over_the_budget_ends_with_1(assemble: Brim) -> None:
    assemble.write("memory.yaml", MEMORY.replace("5_000", "520"))
    ran = assemble("assemble", "--config", "memory.yaml")
    assert ran.code == 1
    assert "over the budget" in ran.lines[-1]
    assert "min_history_tokens" in ran.err
    ran = assemble("assemble", "--config", "memory.yaml", "--json")
    assert (ran.code, ran.json["fits"], ran.json["over_budget"]) == (1, True, True)


def test_over_the_window_ends_with_1(assemble: Brim) -> None:
    assemble.write("memory.yaml", f"{MEMORY}context_window: 520\n")
    ran = assemble("assemble", "--config", "memory.yaml")
    assert (ran.code, ran.lines[-1]) == (1, "does not fit")
    assert "the largest part is" in ran.err


def test_the_file_may_be_json(assemble: Brim) -> None:
    text = json.dumps({**GIVEN, "current_message": "Why 😀 \\u00e9\x80?"}, indent=2).replace("  ", "\t")
    assemble.write("memory.json", text)
    ran = assemble("assemble", "--config", "memory.json", "--messages")
    assert ran.json[-1]["content"] == "Why 😀 \\u00e9\x80?"
    assemble.write("memory.json", text.replace('"procedure"', '"procedures"'))
    refused(assemble("assemble", "--config", "memory.json"), "memory.json:3", "procedures")


def test_the_file_may_come_from_standard_input(assemble: Brim) -> None:
    ran = assemble("assemble", "--config", "-", "--json", stdin=MEMORY)
    assert ran.code == 0
    assert ran.json["sections"][0]["source"] == "standard input:5"


def test_paths_are_relative_to_the_file(assemble: Brim) -> None:
    (assemble.cwd / "elsewhere").mkdir()
    ran = assemble("assemble", "--config", "../memory.yaml", "--json", cwd=assemble.cwd / "elsewhere")
    assert ran.code == 0


def test_a_history_may_be_a_request_body(assemble: Brim) -> None:
    assemble.write("chat.json", json.dumps({"messages": CHAT, "system": "Be brief."}))
    ran = assemble("assemble", "--config", "memory.yaml", "--json")
    assert ran.json["messages"][2:-1] == CHAT
    assert "only its messages are used" in ran.err


def test_items_may_be_a_file_of_json(assemble: Brim) -> None:
    assemble.write("items.json", json.dumps([{"text": "a", "score": 1}, {"text": "b", "score": 2}]))
    assemble.write("memory.yaml", "knowledge: {file: items.json}\ncurrent_message: Why?\n")
    found = assemble("assemble", "--config", "memory.yaml", "--json").json
    assert found["sections"][2]["items"] == 2


def test_a_current_message_may_be_a_message(assemble: Brim) -> None:
    assemble.write("memory.yaml", "current_message: {role: user, content: [{type: input_text, text: Why?}]}\n")
    assert assemble("assemble", "--config", "memory.yaml", "--json").json["provider"] == "responses"


def test_a_model_that_nobody_knows_is_said(assemble: Brim) -> None:
    assert "nobody-knows-me" in assemble("assemble", "--config", "memory.yaml", "-m", "nobody-knows-me").err


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n"])
def test_an_empty_file_is_an_empty_request(brim: Brim, text: str) -> None:
    brim.write("memory.yaml", text)
    ran = brim("assemble", "--config", "memory.yaml", "--messages")
    assert (ran.code, ran.json) == (0, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\n", ["memory.yaml:1", "unknown key a", "system_prompt"]),
        ("model: gpt-4o\nmemory:\n  max_tokens: 5\n", ["memory.yaml:3", "memory.max_tokens", "output_reserve"]),
        ("memory:\n  output_reserve: 2k\n", ["memory.yaml:2", "output_reserve", "whole number"]),
        ("memory:\n  output_reserve: -1\n", ["memory.yaml:2", "memory.output_reserve"]),
        ("memory: 5\n", ["memory.yaml:1", "memory must be"]),
        ("system_prompt: 5\n", ["memory.yaml:1", "system_prompt must be a text"]),
        ("\nsystem_prompt: [a]\n", ["memory.yaml:2", "system_prompt"]),
        ("system_prompt: {file: gone.md}\n", ["memory.yaml:1", "system_prompt", "gone.md"]),
        ("system_prompt: {file: 5}\n", ["memory.yaml:1", "system_prompt.file"]),
        ("system_prompt: {file: .}\n", ["memory.yaml:1", "system_prompt"]),
        ("procedure: 2024-01-01\n", ["memory.yaml:1", "procedure", "date", "quotes"]),
        ("history: text\n", ["memory.yaml:1", "history must be a list"]),
        ("history: {file: bad.json}\n", ["memory.yaml:1", "history", "bad.json:1:2", "not JSON"]),
        ("tools: {}\n", ["memory.yaml:1", "tools must be a list"]),
        ("model: gpt-4o\nknowledge:\n  - a\n  - 5\n", ["memory.yaml:2", "knowledge[1]"]),
        ("episodes: [{title: a}]\n", ["memory.yaml:1", "episodes[0]"]),
        ("knowledge: [{text: a, score: high}]\n", ["memory.yaml:1", "knowledge[0].score"]),
        ("current_message: [a]\n", ["memory.yaml:1", "current_message must be"]),
        ("provider: bedrock\n", ["memory.yaml:1", "provider must be one of"]),
        ("model: 5\n", ["memory.yaml:1", "model must be a text"]),
        ("model: ''\n", ["memory.yaml:1", "model must be a text"]),
        ("context_window: 0\n", ["memory.yaml:1", "context_window"]),
        ("context_window: big\n", ["memory.yaml:1", "context_window"]),
        ("provider: gemini\nhistory:\n  - {role: system, content: a}\n", ["memory.yaml:2", "system_prompt"]),
        ("history: &a [*a]\n", ["memory.yaml:1", "aliases repeat"]),
        ("history: [{1: a}]\n", ["memory.yaml:1", "key that is not a text"]),
        ("a: [\n", ["memory.yaml:2", "not valid YAML"]),
        ("- a\n", ["memory.yaml:1", "mapping"]),
        ("model: a\nmodel: b\n", ["memory.yaml:2", "set twice"]),
    ],
)
def test_a_mistake_is_refused_with_file_line_and_key(brim: Brim, text: str, words: list[str]) -> None:
    brim.write("memory.yaml", text)
    brim.write("bad.json", "{[")
    refused(brim("assemble", "--config", "memory.yaml"), *words)


def test_aliases_that_multiply_are_refused(brim: Brim) -> None:
    levels = "".join(f"  - &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 12))
    brim.write("memory.yaml", f"history:\n  - &l0 [a]\n{levels}")
    refused(brim("assemble", "--config", "memory.yaml"), "memory.yaml:", "aliases repeat")


def test_json_that_is_no_object_is_refused(brim: Brim) -> None:
    brim.write("memory.json", "[]")
    refused(brim("assemble", "--config", "memory.json"), "memory.json:1", "object")
    brim.write("memory.json", "{,}")
    refused(brim("assemble", "--config", "memory.json"), "memory.json:1:2", "not JSON")


def test_wrong_usage_is_refused(assemble: Brim) -> None:
    refused(assemble("assemble", "--config", "gone.yaml"), "gone.yaml")
    refused(assemble("assemble", "--config", "memory.yaml", "--json", "--messages"), "--messages")
    assert assemble("assemble").code == 2
    assert assemble("assemble", "--config", "memory.yaml", "--strategy", "lifo").code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("knowledge: [{text: b}, {text: c, scor: 3}]", ["memory.yaml:1", "knowledge[1].scor"]),
        ("episodes: [{file: notes.md, text: both}]", ["memory.yaml:1", "episodes[0]", "a file and a text"]),
        ('system_prompt: {file: "a\\0b"}', ["memory.yaml:1", "no such file"]),
    ],
)
def test_a_mistake_in_an_item_is_refused(brim: Brim, text: str, words: list[str]) -> None:
    brim.write("memory.yaml", f"{text}\n")
    refused(brim("assemble", "--config", "memory.yaml"), *words)
