"""``Brim`` with pydantic-ai itself: OpenAI's chat and Responses APIs, and Anthropic's."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any, ClassVar

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai isn't installed: run scripts/adapters pydantic_ai")

import pydantic_ai
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from brim.adapters.pydantic_ai import Brim
from tests.adapters.contract import SYSTEM, Agent, Contract, Read


class PydanticAgent(Agent):
    def __init__(self, model: Any, **settings: Any) -> None:
        self.model, self.brim = model, Brim(**settings)

    def made(self, read_file: Read) -> Any:
        agent: Any = pydantic_ai.Agent(self.model(), instructions=SYSTEM, capabilities=[self.brim])
        agent.tool_plain(read_file, name="read_file", description="Reads a file.")
        return agent

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        handler: Any = {"event_stream_handler": watch} if stream else {}
        return str(self.made(read_file).run_sync(task, **handler).output)

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        handler: Any = {"event_stream_handler": watch} if stream else {}
        return str((await self.made(read_file).run(task, **handler)).output)


async def watch(_: Any, events: AsyncIterable[Any]) -> None:
    async for _event in events:
        pass


class TestChat(Contract):
    def agent(self, url: str, **settings: Any) -> Agent:
        return PydanticAgent(
            lambda: OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none")), **settings
        )


class TestResponses(Contract):
    def agent(self, url: str, **settings: Any) -> Agent:
        return PydanticAgent(
            lambda: OpenAIResponsesModel("gpt-4o", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none")),
            **settings,
        )


class TestAnthropic(Contract):
    model_name: ClassVar[str] = "claude-sonnet-4-6"

    def agent(self, url: str, **settings: Any) -> Agent:
        return PydanticAgent(
            lambda: AnthropicModel("claude-sonnet-4-6", provider=AnthropicProvider(base_url=url, api_key="none")),
            **settings,
        )
