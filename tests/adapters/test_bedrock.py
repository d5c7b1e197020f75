"""boto3: a wrapped client for Amazon Bedrock's Converse, plain and streamed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest

if os.environ.get("BRIM_ADAPTER") != "bedrock":
    pytest.skip(
        "boto3 is tested in an environment of its own: scripts/adapters bedrock",
        allow_module_level=True,
    )

import boto3
from botocore.config import Config

from brim.adapters import bedrock as adapter
from brim.errors import InputError
from brim.rules import Rule
from tests.adapters.contract import (
    SYSTEM,
    TASK,
    WINDOW,
    Agent,
    Contract,
    Read,
    said_by_program,
)
from tests.adapters.model import Model, parallel

NAME = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
THINKING = "us.anthropic.claude-opus-5-5"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {
    "toolSpec": {
        "name": "read_file",
        "description": "Reads a file.",
        "inputSchema": {"json": SCHEMA},
    }
}


def plain(url: str) -> Any:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    config = Config(retries={"max_attempts": 3, "mode": "standard"})
    return boto3.client("bedrock-runtime", endpoint_url=url, config=config, **keys)


class BedrockAgent(Agent):
    def __init__(self, name: str, url: str, **settings: Any) -> None:
        self.name, self.client = name, adapter.guard(plain(url), **settings)

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        transcript: list[Any] = [{"role": "user", "content": [{"text": task}]}]
        while True:
            about: Any = {
                "modelId": self.name,
                "messages": transcript,
                "system": [{"text": SYSTEM}],
                "toolConfig": {"tools": [TOOL], **self.more.get("toolConfig", {})},
                **{name: value for name, value in self.more.items() if name != "toolConfig"},
            }
            if stream:
                message = joined(self.client.converse_stream(**about)["stream"])
            else:
                message = self.client.converse(**about)["output"]["message"]
            transcript.append(message)
            calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
            if not calls:
                return str(message["content"][-1]["text"])
            results = []
            for call in calls:
                content = [{"text": read_file(call["input"]["path"])}]
                results.append({"toolResult": {"toolUseId": call["toolUseId"], "content": content}})
            transcript.append({"role": "user", "content": results})

    def close(self) -> None:
        self.client.close()


def joined(events: Any) -> Any:
    """Return the message of a stream."""
    blocks: dict[int, Any] = {}
    for event in events:
        start = event.get("contentBlockStart")
        if start:
            blocks[start["contentBlockIndex"]] = {
                "toolUse": {**start["start"]["toolUse"], "input": ""}
            }
        delta = event.get("contentBlockDelta")
        if delta:
            add(blocks.setdefault(delta["contentBlockIndex"], {}), delta["delta"])
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return {"role": "assistant", "content": list(blocks.values())}


def add(block: Any, delta: Any) -> None:
    if "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
    if "toolUse" in delta:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    if "reasoningContent" in delta:
        thought = block.setdefault("reasoningContent", {}).setdefault("reasoningText", {})
        thought.update(delta["reasoningContent"])


class TestConverse(Contract):
    ways: ClassVar[tuple[str, ...]] = ("plain", "stream")
    model_name: ClassVar[str] = NAME
    thinking_mark: ClassVar[str] = "reasoningContent"
    answer_schema: ClassVar[dict[str, Any]] = {}
    named_tool: ClassVar[dict[str, Any]] = {
        "toolConfig": {"toolChoice": {"tool": {"name": "read_file"}}}
    }
    unsendable: ClassVar[dict[str, Any]] = {
        "a parameter that boto3 doesn't take": {"nonsense": 1},
        "a value of a wrong type": {"inferenceConfig": {"temperature": "hot"}},
    }

    def agent(self, url: str, **settings: Any) -> Agent:
        return BedrockAgent(NAME, url, **settings)

    def thinking_agent(self, url: str, **settings: Any) -> Agent:
        return BedrockAgent(THINKING, url, **settings)

    @pytest.mark.parametrize("status", [500, 503])
    def test_a_retry_is_paid_once(self, model: Model, ledger: Any, way: str, status: int) -> None:
        super().test_a_retry_is_paid_once(model, ledger, way, status)

    def test_the_schema_of_an_answer_is_counted(self, model: Model, way: str) -> None:
        pytest.skip("Converse has no schemas of answers but tools")


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(window=WINDOW, script=parallel(1)) as started:
        yield started


def test_rules_and_the_cap_are_sent_and_the_original_stays(model: Model) -> None:
    model.script = lambda _: ["Done."]
    original = plain(model.url)
    rules = [Rule("uv", "use-uv", "constraint", "Install packages with uv.")]
    guarded = adapter.guard(original, rules=rules, max_output=300)
    request: Any = {"modelId": NAME, "messages": [{"role": "user", "content": [{"text": TASK}]}]}
    guarded.converse(system=[{"text": SYSTEM}], **request)
    body = model.answered[-1].body
    assert body["system"][0] == {"text": SYSTEM}
    assert "Install packages with uv." in body["system"][1]["text"]
    assert body["inferenceConfig"] == {"maxTokens": 300}
    original.converse(**request)
    assert "system" not in model.answered[-1].body
    assert type(guarded).__name__ == type(original).__name__
    with pytest.raises(InputError, match="bedrock-runtime"):
        adapter.guard("client")


def test_a_summary_is_sent_in_the_message_that_follows_it(model: Model) -> None:
    model.script = lambda _: ["word " * 200]
    settings: Any = {"target": 1_500, "max_output": 300, "summarize": lambda _: "They asked."}
    guarded = adapter.guard(plain(model.url), **settings)
    messages: list[Any] = []
    for turn in range(10):
        text = f"{turn} " + "why " * 100
        messages.append({"role": "user", "content": [{"text": text}]})
        answer = guarded.converse(modelId=NAME, messages=messages)
        messages.append(answer["output"]["message"])
    sent = model.answered[-1].messages
    assert "They asked." in str(sent)
    assert [message["role"] for message in sent[:3]] == ["user", "assistant", "user"]
    assert all(one["role"] != next_["role"] for one, next_ in pairwise(sent))


def test_a_stream_that_is_left_early_keeps_its_reservation(model: Model) -> None:
    guarded = adapter.guard(plain(model.url), limit_usd="1", max_output=500)
    request: Any = {"modelId": NAME, "messages": [{"role": "user", "content": [{"text": TASK}]}]}
    stream = guarded.converse_stream(**request)["stream"]
    next(iter(stream))
    stream.close()
    status = guarded.brim_guards.guard.status()
    assert status.spent == 0
    assert status.reserved > 0


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script = parallel(3)
    assert said_by_program("bedrock", model, tmp_path).endswith("Done.")
