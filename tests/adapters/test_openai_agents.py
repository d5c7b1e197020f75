"""``brim_run_config`` with the OpenAI Agents SDK itself: the Responses and the chat API."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, ClassVar

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK isn't installed: run scripts/adapters openai_agents")

import agents
from agents.models.openai_provider import OpenAIProvider
from openai import AsyncOpenAI

from brim.adapters.openai_agents import brim_run_config
from tests.adapters.contract import SYSTEM, Agent, Contract, Read


CLIENT: ContextVar[AsyncOpenAI] = ContextVar("client")
"""Of this run: a client belongs to one event loop."""


class Provider(agents.ModelProvider):
    def __init__(self, use_responses: bool) -> None:
        self.use_responses = use_responses

    def get_model(self, model_name: str | None) -> Any:
        provider = OpenAIProvider(openai_client=CLIENT.get(), use_responses=self.use_responses)
        return provider.get_model(model_name)


class SdkAgent(Agent):
    def __init__(self, url: str, use_responses: bool, **settings: Any) -> None:
        self.url = url
        given = agents.RunConfig(
            model_provider=Provider(use_responses),
            model_settings=agents.ModelSettings(include_usage=True),
            tracing_disabled=True,
        )
        self.config = brim_run_config(given, **settings)

    def client(self) -> AsyncOpenAI:
        made = AsyncOpenAI(base_url=f"{self.url}/v1", api_key="none")
        CLIENT.set(made)
        return made

    def made(self, read_file: Read) -> Any:
        def reads(path: str) -> str:
            """Read a file."""
            return read_file(path)

        tool = agents.function_tool(reads, name_override="read_file", failure_error_function=None)
        return agents.Agent(name="reader", instructions=SYSTEM, model="gpt-4o", tools=[tool])

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # the SDK runs in the thread's own
        client = self.client()
        try:
            found = agents.Runner.run_sync(self.made(read_file), task, run_config=self.config, max_turns=100)
            return str(found.final_output)
        finally:
            loop.run_until_complete(client.close())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()
            asyncio.set_event_loop(None)

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        about: Any = {"run_config": self.config, "max_turns": 100}
        async with self.client():
            if not stream:
                return str((await agents.Runner.run(self.made(read_file), task, **about)).final_output)
            streamed = agents.Runner.run_streamed(self.made(read_file), task, **about)
            async for _ in streamed.stream_events():
                pass
            return str(streamed.final_output)


class TestResponses(Contract):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return SdkAgent(url, True, **settings)


class TestChat(Contract):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return SdkAgent(url, False, **settings)
