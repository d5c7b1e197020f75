"""``BrimMiddleware`` with LangChain itself: OpenAI's chat and Responses APIs, and Anthropic's."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

pytest.importorskip("langchain", reason="LangChain isn't installed: run scripts/adapters langchain")

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI

from brim.adapters.langchain import BrimMiddleware
from tests.adapters.contract import SYSTEM, Agent, Contract, Read


class LangChainAgent(Agent):
    def __init__(self, model: Any, **settings: Any) -> None:
        self.model, self.middleware = model, BrimMiddleware(**settings)

    def made(self, read_file: Read) -> Any:
        tool = StructuredTool.from_function(read_file, name="read_file", description="Reads a file.")
        return create_agent(self.model, [tool], system_prompt=SYSTEM, middleware=[self.middleware])

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        given: Any = {"messages": [("user", task)]}
        if not stream:
            return str(self.made(read_file).invoke(given, ABOUT)["messages"][-1].text)
        last = None
        for mode, seen in self.made(read_file).stream(given, ABOUT, stream_mode=["messages", "values"]):
            last = seen if mode == "values" else last
        return str(last["messages"][-1].text) if last else ""

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        given: Any = {"messages": [("user", task)]}
        if not stream:
            return str((await self.made(read_file).ainvoke(given, ABOUT))["messages"][-1].text)
        last = None
        async for mode, seen in self.made(read_file).astream(given, ABOUT, stream_mode=["messages", "values"]):
            last = seen if mode == "values" else last
        return str(last["messages"][-1].text) if last else ""


ABOUT: Any = {"recursion_limit": 200}


class TestChat(Contract):
    def agent(self, url: str, **settings: Any) -> Agent:
        about: Any = {"base_url": f"{url}/v1", "api_key": "none", "stream_usage": True}
        return LangChainAgent(ChatOpenAI(model="gpt-4o", **about), **settings)


class TestResponses(Contract):
    def agent(self, url: str, **settings: Any) -> Agent:
        about: Any = {"base_url": f"{url}/v1", "api_key": "none", "use_responses_api": True}
        return LangChainAgent(ChatOpenAI(model="gpt-4o", **about), **settings)


class TestAnthropic(Contract):
    model_name: ClassVar[str] = "claude-sonnet-4-6"

    def agent(self, url: str, **settings: Any) -> Agent:
        model: Any = ChatAnthropic(model_name="claude-sonnet-4-6", base_url=url, api_key="none")
        return LangChainAgent(model, **settings)
