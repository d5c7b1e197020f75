"""LiteLLM: a logger among its callbacks, and its functions wrapped."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

if os.environ.get("BRIM_ADAPTER") != "litellm":
    pytest.skip(
        "LiteLLM is tested in an environment of its own: make adapters", allow_module_level=True
    )

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch prices from the network

import litellm

from brim.adapters import litellm as adapter
from brim.adapters.litellm import wrap
from brim.errors import InputError
from brim.guard import Guard
from tests.adapters.contract import (
    ANSWER,
    NOT_JSON,
    SYSTEM,
    TASK,
    Agent,
    Contract,
    Read,
    found_in,
    said_by_program,
)
from tests.adapters.model import TOOL, Model, parallel

pytestmark = pytest.mark.filterwarnings(
    "ignore::Warning:pydantic",
    "ignore::DeprecationWarning",
    "ignore::pydantic.warnings.PydanticDeprecatedSince211",
)

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS: list[Any] = [{"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}]
HELLO: list[Any] = [{"role": "user", "content": TASK}]
ANSWER_SCHEMA: dict[str, Any] = {
    "response_format": {"type": "json_schema", "json_schema": {"name": "bug", "schema": ANSWER}}
}
UNSENDABLE: dict[str, Any] = {
    "a body that isn't JSON": NOT_JSON,
    "a message that LiteLLM doesn't know": {
        "messages": [{"role": "user", "content": [{"type": "nonsense", "nonsense": object()}]}]
    },
    "a parameter that LiteLLM doesn't take": {"tool_choice": object()},
}
NAMED_TOOL: dict[str, Any] = {"tool_choice": {"type": "function", "function": {"name": TOOL}}}


async def at_rest(guard: Guard) -> None:
    """Wait for what LiteLLM does in the background, at most a minute."""
    for _ in range(6_000):
        status = guard.status()
        if status is None or not status.reserved:
            return
        await asyncio.sleep(0.01)


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
        return {"model": self.name, "messages": messages, **about, **self.more}

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
        self.url, self.logger = url, adapter.guard(**settings)
        litellm.callbacks = [self.logger]

    async def acompletion(self, **asked: Any) -> Any:
        return await litellm.acompletion(**asked)

    async def aclose(self) -> None:
        await at_rest(self.logger.guard)


class ClaudeAgent(LiteAgent):
    """Wrapped functions with a model of Anthropic's: LiteLLM translates for it, and retries only if
    it's asked to."""

    name = "anthropic/claude-sonnet-4-5"

    def asked(self, messages: list[Any], stream: bool) -> dict[str, Any]:
        return {**super().asked(messages, stream), "api_base": self.url, "num_retries": 3}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Take back the callbacks, and collect the connections that LiteLLM keeps for event loops that
    have ended."""
    yield
    litellm.callbacks = []
    litellm.in_memory_llm_clients_cache.flush_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(parallel(0)) as model:
        yield model


class TestChat(Contract):
    answer_schema: ClassVar[dict[str, Any]] = ANSWER_SCHEMA
    named_tool: ClassVar[dict[str, Any]] = NAMED_TOOL
    unsendable: ClassVar[dict[str, Any]] = UNSENDABLE

    def agent(self, url: str, **settings: Any) -> Agent:
        return LiteAgent(url, **settings)


class TestLogger(Contract):
    answer_schema: ClassVar[dict[str, Any]] = ANSWER_SCHEMA
    named_tool: ClassVar[dict[str, Any]] = NAMED_TOOL
    unsendable: ClassVar[dict[str, Any]] = UNSENDABLE
    ways = ("async", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return LoggedAgent(url, **settings)


class TestClaude(Contract):
    answer_schema: ClassVar[dict[str, Any]] = ANSWER_SCHEMA
    named_tool: ClassVar[dict[str, Any]] = NAMED_TOOL
    unsendable: ClassVar[dict[str, Any]] = UNSENDABLE
    ways_with_thinking = (
        "plain",
        "async",
    )  # this agent adds up the texts and calls of a stream, and nothing else

    def agent(self, url: str, **settings: Any) -> Agent:
        return ClaudeAgent(url, **settings)

    def thinking_agent(self, url: str, **settings: Any) -> Agent:
        agent = ClaudeAgent(url, **settings)
        agent.name = "anthropic/claude-opus-5-5"
        return agent


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script = parallel(3)
    assert said_by_program("litellm", model, tmp_path) == "Done."
    assert len(model.answered) == 4


def about(model: Model, **more: Any) -> dict[str, Any]:
    return {
        "model": "openai/gpt-4o",
        "messages": HELLO,
        "api_base": f"{model.url}/v1",
        "api_key": "x",
        **more,
    }


def spent(guard: Guard) -> tuple[int, int]:
    status = guard.status()
    assert status is not None
    return status.spent, status.reserved


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_an_answer_from_the_cache_costs_nothing(model: Model, is_wrapped: bool) -> None:
    guard = Guard("openai/gpt-4o", limit_usd="1")
    litellm.cache = litellm.Cache()
    ask = wrap(guard=guard).acompletion if is_wrapped else litellm.acompletion
    litellm.callbacks = [] if is_wrapped else [adapter.guard(guard=guard)]

    async def main() -> None:
        for _ in range(2):
            answer = await ask(**about(model, caching=True))
            assert answer.choices[0].message.content == "Done."
            await asyncio.sleep(0.2)  # the answer is put into the cache in the background
            await at_rest(guard)

    try:
        asyncio.run(main())
    finally:
        litellm.cache = None
    assert len(model.answered) == 1
    assert spent(guard) == (model.spent, 0)


def test_a_retry_of_litellm_and_of_its_router_is_paid_once(model: Model) -> None:
    guard = Guard("openai/gpt-4o", limit_usd="1")
    litellm.callbacks = [adapter.guard(guard=guard)]
    params = {key: value for key, value in about(model).items() if key != "messages"}
    router = litellm.Router(
        [{"model_name": "main", "litellm_params": {**params, "max_retries": 0}}], num_retries=2
    )

    async def main() -> None:
        model.fail(500, 529)
        await litellm.acompletion(**about(model, num_retries=2, max_retries=0))
        model.fail(500)
        await router.acompletion(model="main", messages=HELLO)
        await at_rest(guard)

    asyncio.run(main())
    assert len(model.answered) == 2
    assert spent(guard) == (model.spent, 0)


def test_responses_and_anthropic_messages_are_guarded(model: Model) -> None:
    guard = Guard("gpt-4o", limit_usd="1")
    litellm.callbacks = [adapter.guard(guard=guard)]

    async def main(stream: bool) -> None:
        about_it = {"api_base": f"{model.url}/v1", "api_key": "x", "stream": stream}
        answer = await litellm.aresponses(model="openai/gpt-4o", input=TASK, **about_it)
        claude = {
            "model": "anthropic/claude-sonnet-4-5",
            "max_tokens": 500,
            **about_it,
            "api_base": model.url,
        }
        other = await litellm.anthropic_messages(messages=HELLO, **claude)
        for events in (answer, other) if stream else ():
            assert [event async for event in events]
        await at_rest(guard)

    asyncio.run(main(False))
    assert len(model.answered) == 2
    assert spent(guard) == (model.spent, 0)
    asyncio.run(main(True))
    assert len(model.answered) == 4
    assert spent(guard) == (model.spent, 0)


def test_what_a_logger_cannot_guard_is_not_sent_or_said(model: Model) -> None:
    litellm.callbacks = [adapter.guard(limit_usd="1")]

    async def by_place() -> None:
        await litellm.acompletion("openai/gpt-4o", HELLO, api_base=f"{model.url}/v1", api_key="x")

    with pytest.raises(Exception) as raised:  # noqa: PT011
        asyncio.run(by_place())
    assert found_in(raised.value, InputError)
    assert model.requests == []
    with pytest.warns(UserWarning, match="isn't guarded"):
        litellm.completion(**about(model))


@pytest.mark.parametrize(
    ("field", "models"),
    [("fallbacks", ["openai/gpt-4o"]), ("models", ["openai/gpt-4o"])],
)
def test_a_dearer_model_cannot_answer_in_place_of_the_one_that_was_reserved(
    model: Model, field: str, models: list[str]
) -> None:
    asked: dict[str, Any] = {"messages": HELLO, "max_tokens": 100, field: models}
    asked |= {"api_base": f"{model.url}/v1", "api_key": "x"}
    guarded = wrap(limit_usd="1")
    with pytest.raises(InputError, match=f"{field}: brim reserves money for one model"):
        guarded.completion("openai/gpt-4o-mini", **asked)
    with pytest.raises(InputError, match=f"{field}: brim reserves money for one model"):
        asyncio.run(guarded.acompletion("openai/gpt-4o-mini", **asked))
    assert model.requests == []


def test_the_longest_answer_of_claude_is_part_of_the_window(model: Model) -> None:
    model.window = 200_000
    guard = Guard("anthropic/claude-sonnet-4-5", limit_usd="5")
    text = {"role": "user", "content": "word " * 1_000}
    history = [text, *[{"role": "assistant", "content": "word " * 1_000}, text] * 80]
    asked: dict[str, Any] = {
        "model": "anthropic/claude-sonnet-4-5",
        "messages": history,
        "api_base": model.url,
        "api_key": "x",
    }
    wrap(guard=guard).completion(**asked)
    assert model.refused == []
    assert model.answered[0].body["max_tokens"] == 64_000
    assert 80_000 < model.answered[0].tokens < 136_000
