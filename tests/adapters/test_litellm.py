"""LiteLLM: a logger among its callbacks, and its functions wrapped."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

if os.environ.get("BRIM_ADAPTER") != "litellm":
    pytest.skip("LiteLLM is tested in an environment of its own: make adapters", allow_module_level=True)

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch prices from the network

import litellm

from brim.adapters.litellm import BrimLogger, wrap
from tests.adapters.contract import SYSTEM, TASK, Agent, Contract, Read
from tests.adapters.model import TOOL

pytestmark = pytest.mark.filterwarnings("default")  # LiteLLM's own

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS: list[Any] = [{"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}]
HELLO: list[Any] = [{"role": "user", "content": TASK}]


class LiteAgent(Agent):
    """A loop around ``completion`` and ``acompletion``, wrapped."""

    name = "openai/gpt-4o"

    def __init__(self, url: str, **settings: Any) -> None:
        self.url, self.wrapped = url, wrap(**settings)

    def completion(self, **asked: Any) -> Any:
        return self.wrapped.completion(**asked)

    async def acompletion(self, **asked: Any) -> Any:
        return await self.wrapped.acompletion(**asked)

    def asked(self, messages: list[Any], stream: bool) -> dict[str, Any]:
        about = {"api_base": f"{self.url}/v1", "api_key": "x", "stream": stream, "tools": TOOLS}
        return {"model": self.name, "messages": messages, **about}

    def begin(self, task: str) -> list[Any]:
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]

    def go_on(self, messages: list[Any], response: Any, read_file: Read) -> str:
        message = response.choices[0].message
        messages.append(message)
        for call in message.tool_calls or ():
            path = json.loads(call.function.arguments)["path"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": read_file(path)})
        return "" if message.tool_calls else message.content

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        messages, said = self.begin(task), ""
        while not said:
            response = self.completion(**self.asked(messages, stream))
            if stream:
                response = litellm.stream_chunk_builder(list(response))
            said = self.go_on(messages, response, read_file)
        return said

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        messages, said = self.begin(task), ""
        while not said:
            response = await self.acompletion(**self.asked(messages, stream))
            if stream:
                response = litellm.stream_chunk_builder([chunk async for chunk in response])
            said = self.go_on(messages, response, read_file)
        return said


class LoggedAgent(LiteAgent):
    """A loop around ``litellm.acompletion``, with a logger among the callbacks."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.url = url
        litellm.callbacks = [BrimLogger(**settings)]

    async def acompletion(self, **asked: Any) -> Any:
        return await litellm.acompletion(**asked)

    async def aclose(self) -> None:
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)


class ClaudeAgent(LoggedAgent):
    """The same with a model of Anthropic's, which LiteLLM translates for."""

    name = "anthropic/claude-sonnet-4-5"

    def asked(self, messages: list[Any], stream: bool) -> dict[str, Any]:
        return {**super().asked(messages, stream), "api_base": self.url}


@pytest.fixture(autouse=True)
def no_callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


class TestWrapped(Contract):
    def agent(self, url: str, **settings: Any) -> Agent:
        return LiteAgent(url, **settings)


class TestLogger(Contract):
    ways = ("async", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return LoggedAgent(url, **settings)


class TestLoggerWithClaude(Contract):
    ways = ("async", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return ClaudeAgent(url, **settings)
