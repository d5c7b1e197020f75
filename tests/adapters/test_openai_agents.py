"""``brim_run_config`` with the OpenAI Agents SDK itself: the Responses and the chat API."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK isn't installed: run scripts/adapters openai_agents")

import agents
from agents.models.openai_provider import OpenAIProvider
from openai import AsyncOpenAI

from brim.adapters.openai_agents import brim_run_config
from tests.adapters.contract import SYSTEM, Agent, Contract, Read


class Provider(agents.ModelProvider):
    """Makes a client for each call, because every run of a test has an event loop of its own."""

    def __init__(self, url: str, use_responses: bool) -> None:
        self.url, self.use_responses = url, use_responses

    def get_model(self, model_name: str | None) -> Any:
        client = AsyncOpenAI(base_url=f"{self.url}/v1", api_key="none")
        return OpenAIProvider(openai_client=client, use_responses=self.use_responses).get_model(model_name)


class SdkAgent(Agent):
    def __init__(self, url: str, use_responses: bool, **settings: Any) -> None:
        provider = Provider(url, use_responses)
        given = agents.RunConfig(
            model_provider=provider,
            model_settings=agents.ModelSettings(include_usage=True),
            tracing_disabled=True,
        )
        self.config = brim_run_config(given, **settings)

    def made(self, read_file: Read) -> Any:
        def reads(path: str) -> str:
            """Read a file."""
            return read_file(path)

        tool = agents.function_tool(reads, name_override="read_file", failure_error_function=None)
        return agents.Agent(name="reader", instructions=SYSTEM, model="gpt-4o", tools=[tool])

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        found = agents.Runner.run_sync(self.made(read_file), task, run_config=self.config, max_turns=100)
        return str(found.final_output)

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        about: Any = {"run_config": self.config, "max_turns": 100}
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
