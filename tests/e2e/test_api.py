"""The model API of the end-to-end tests: it speaks the three wires, follows its script, and forgets nothing."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.e2e.api import anthropic, gemini, responses
from tests.e2e.api.script import Call, Overflow, Say
from tests.e2e.api.server import ModelApi

TOOLS = [{"name": "Bash"}]
MESSAGES = {"model": "claude-opus-5-5", "stream": True, "tools": TOOLS, "messages": [{"role": "user", "content": "hi"}]}
RESPONSES = {"model": "gpt-5.5-codex", "stream": True, "input": [{"role": "user", "content": "hi"}]}
CONTENTS = {"tools": TOOLS, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
STREAM = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
WIRES = [("/v1/messages?beta=true", MESSAGES), ("/v1/responses", RESPONSES), (STREAM, CONTENTS)]


def post(api: ModelApi, path: str, body: object) -> list[dict[str, Any]]:
    """Return the events of a stream, or the one object that came instead."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(api.url + path, json.dumps(body).encode()), timeout=30) as answer:
        text = answer.read().decode()
    if answer.headers["content-type"] == "application/json":
        return [json.loads(text)]
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


@pytest.mark.parametrize(("path", "body"), WIRES)
def test_steps_of_the_script_come_in_their_order_and_then_the_model_is_done(
    api: ModelApi, path: str, body: dict[str, Any]
) -> None:
    api.will(Call("Bash", {"command": "make check"}), Say("It is green."))
    answers = [json.dumps(post(api, path, body)) for _ in range(3)]
    assert "make check" in answers[0]
    assert "It is green." in answers[1]
    assert "Done." in answers[2]
    assert [asked.only("hi").role for asked in api.turns] == ["user"] * 3


@pytest.mark.parametrize(("path", "body"), WIRES)
def test_a_prompt_that_is_too_long_is_refused_once(api: ModelApi, path: str, body: dict[str, Any]) -> None:
    api.will(Overflow())
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(api, path, body)
    assert refused.value.code == 400
    assert "1050000" in refused.value.read().decode()
    assert "Done." in json.dumps(post(api, path, body))


def test_usage_is_what_the_script_says_and_what_was_there_before_is_cached(api: ModelApi) -> None:
    api.will(Say(tokens=1_000), Say(tokens=190_000))
    post(api, "/v1/messages", MESSAGES)
    opened = post(api, "/v1/messages", MESSAGES)[0]["message"]["usage"]
    assert (opened["cache_read_input_tokens"], opened["cache_creation_input_tokens"]) == (1_000, 189_000)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {**MESSAGES, "messages": [{"role": "user", "content": anthropic.SUMMARY_ASKED}]}),
        ("/v1/responses", {**RESPONSES, "input": [{"role": "user", "content": responses.SUMMARY_ASKED}]}),
        (STREAM, {"systemInstruction": {"parts": [{"text": gemini.SUMMARY_ASKED}]}, "contents": CONTENTS["contents"]}),
    ],
)
def test_a_summary_takes_no_step_of_the_script(api: ModelApi, path: str, body: dict[str, Any]) -> None:
    api.will(Say("The next step."))
    api.summary = "What was done so far."
    assert "What was done so far." in json.dumps(post(api, path, body))
    assert [asked.kind for asked in api.asked] == ["compaction"]
    assert len(api.script) == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/messages/count_tokens", MESSAGES), ("/v1beta/models/gemini-2.5-flash:countTokens", CONTENTS)],
)
def test_tokens_can_be_counted(api: ModelApi, path: str, body: dict[str, Any]) -> None:
    counted = post(api, path, body)[0]
    assert next(iter(counted.values())) > 0
    assert api.turns == []


def test_whatever_is_wanted_from_the_network_is_refused_and_kept(api: ModelApi) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": api.url, "https": api.url}))
    for url in ("http://telemetry.invalid/v1/messages", "https://telemetry.invalid/"):
        with pytest.raises(urllib.error.URLError):
            opener.open(url, timeout=30)
    assert api.elsewhere == ["http://telemetry.invalid/v1/messages", "telemetry.invalid:443"]
    assert api.asked == []
