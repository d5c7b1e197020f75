"""The guarded configuration with the OpenAI Agents SDK itself: the Responses and the chat API."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

if os.environ.get("BRIM_ADAPTER") != "openai_agents":
    pytest.skip(
        "the OpenAI Agents SDK is tested in an environment of its own: scripts/adapters openai_agents",
        allow_module_level=True,
    )

import agents
from agents.models.openai_provider import OpenAIProvider
from openai import AsyncOpenAI

from brim.adapters import openai_agents as adapter
from brim.errors import InputError
from brim.money import open_ledger
from brim.rules import Rule
from tests.adapters.contract import (
    NOT_JSON,
    SYSTEM,
    TASK,
    WINDOW,
    Agent,
    Contract,
    Read,
    contents,
    said_by_program,
)
from tests.adapters.model import Model, parallel

CLIENT: ContextVar[AsyncOpenAI] = ContextVar("client")
"""Of this run: a client belongs to one event loop."""


class Provider(agents.ModelProvider):
    def __init__(self, use_responses: bool) -> None:
        self.use_responses = use_responses

    def get_model(self, model_name: str | None) -> Any:
        provider = OpenAIProvider(openai_client=CLIENT.get(), use_responses=self.use_responses)
        return provider.get_model(model_name)


class Bug(BaseModel):
    """What was found."""

    line: int


class Asking(Contract):
    """What the agents of the contract ask for."""

    answer_schema: ClassVar[dict[str, Any]] = {"output_type": Bug}
    named_tool: ClassVar[dict[str, Any]] = {
        "model_settings": agents.ModelSettings(tool_choice="read_file")
    }
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": {
            "model_settings": agents.ModelSettings(extra_body=NOT_JSON["extra_body"])
        },
        "a parameter that the SDK doesn't take": {
            "model_settings": agents.ModelSettings(extra_args={"nonsense": 1})
        },
        "a parameter that is given twice": {
            "model_settings": agents.ModelSettings(extra_args={"model": "gpt-5"})
        },
    }


class SdkAgent(Agent):
    def __init__(self, url: str, use_responses: bool, **settings: Any) -> None:
        self.url = url
        given = agents.RunConfig(
            model_provider=Provider(use_responses),
            model_settings=agents.ModelSettings(include_usage=True),
            tracing_disabled=True,
        )
        self.config = adapter.guard(given, **settings)

    def client(self) -> AsyncOpenAI:
        made = AsyncOpenAI(base_url=f"{self.url}/v1", api_key="none")
        CLIENT.set(made)
        return made

    def made(self, read_file: Read) -> Any:
        def reads(path: str) -> str:
            """Read a file."""
            return read_file(path)

        tool = agents.function_tool(reads, name_override="read_file", failure_error_function=None)
        about: Any = {"instructions": SYSTEM, "model": "gpt-4o", **self.more}
        return agents.Agent(name="reader", tools=[tool], **about)

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # the SDK runs in the thread's own
        client = self.client()
        try:
            found = agents.Runner.run_sync(
                self.made(read_file), task, run_config=self.config, max_turns=100
            )
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
                return str(
                    (await agents.Runner.run(self.made(read_file), task, **about)).final_output
                )
            streamed = agents.Runner.run_streamed(self.made(read_file), task, **about)
            async for _ in streamed.stream_events():
                pass
            return str(streamed.final_output)


class TestResponses(Asking):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return SdkAgent(url, True, **settings)


class TestChat(Asking):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return SdkAgent(url, False, **settings)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(window=WINDOW, script=lambda _: ["Done."]) as started:
        yield started


def started(model: Model, **settings: Any) -> SdkAgent:
    return SdkAgent(model.url, True, **settings)


async def ask(agent: SdkAgent, sdk_agent: Any, task: Any = TASK, **more: Any) -> Any:
    async with agent.client():
        return await agents.Runner.run(
            sdk_agent, task, run_config=agent.config, max_turns=100, **more
        )


def status(agent: SdkAgent) -> Any:
    provider: Any = agent.config.model_provider
    return provider.guard.status()


def test_the_result_keeps_what_the_request_leaves_out(model: Model) -> None:
    model.script = parallel(20)
    agent = started(model, target=2_000, max_output=500)
    items = asyncio.run(ask(agent, agent.made(contents))).to_input_list()
    texts = [item["output"] for item in items if item.get("type") == "function_call_output"]
    assert texts == [contents(text.split()[1]) for text in texts]
    assert any("[Cleared" in str(request.messages) for request in model.answered)


def test_a_session_is_a_conversation_that_stays_cut(model: Model) -> None:
    model.script = lambda turn: ["Done."] if turn % 6 == 5 else parallel(99)(turn)
    agent = started(model, limit_usd="1", target=4_000, max_output=500)
    session = agents.SQLiteSession("one")
    for question in (TASK, "And now?", "And then?", "Sure?"):
        asyncio.run(ask(agent, agent.made(contents), question, session=session))
    session.close()
    assert len(model.answered) == 24
    assert 1 <= model.rewritten(TASK) <= 10
    assert status(agent).spent == model.spent


def test_a_model_of_an_agents_own_is_refused_unless_it_is_guarded(model: Model) -> None:
    agent = started(model, limit_usd="1", max_output=500)

    async def both() -> None:
        async with agent.client() as client:
            own = agents.OpenAIResponsesModel("gpt-4o", client)
            with pytest.raises(
                InputError, match=r"agent 'reader' has a model of its own .*guarded\(model\)"
            ):
                await agents.Runner.run(
                    agents.Agent(name="reader", model=own), TASK, run_config=agent.config
                )
            assert model.requests == []
            provider: Any = agent.config.model_provider
            guarded = agents.Agent(name="reader", model=provider.guarded(own))
            assert (
                await agents.Runner.run(guarded, TASK, run_config=agent.config)
            ).final_output == "Done."

    asyncio.run(both())
    assert status(agent).spent == model.spent > 0


def test_a_model_of_the_configuration_is_guarded(model: Model) -> None:
    agent = started(model)

    async def go() -> Any:
        async with agent.client() as client:
            own = agents.RunConfig(
                model=agents.OpenAIResponsesModel("gpt-4o", client), tracing_disabled=True
            )
            config = adapter.guard(own, limit_usd="1", max_output=500)
            await agents.Runner.run(agents.Agent(name="reader"), TASK, run_config=config)
            return config

    assert asyncio.run(go()).model_provider.guard.status().spent == model.spent > 0


def test_a_filter_of_the_callers_is_kept(model: Model) -> None:
    def louder(data: Any) -> Any:
        data.model_data.instructions = "LOUD"
        return data.model_data

    agent = started(model, max_output=500)
    agent.config = adapter.guard(
        agents.RunConfig(
            model_provider=Provider(True), tracing_disabled=True, call_model_input_filter=louder
        )
    )
    asyncio.run(ask(agent, agent.made(contents)))
    assert model.answered[0].body["instructions"] == "LOUD"


def test_what_the_provider_keeps_is_sent_as_it_is_and_paid(model: Model) -> None:
    agent = started(model, limit_usd="5", max_output=500)
    first = asyncio.run(ask(agent, agent.made(contents)))
    more: Any = {"previous_response_id": first.last_response_id}
    assert asyncio.run(ask(agent, agent.made(contents), "And now?", **more)).final_output == "Done."
    assert model.answered[1].body["previous_response_id"] == first.last_response_id
    assert status(agent).spent == model.spent
    assert status(agent).reserved == 0


def test_a_handoff_is_counted_and_paid(model: Model) -> None:
    model.script = lambda turn: ["Done."] if turn else [("transfer_to_writer", {})]
    agent = started(model, limit_usd="1", max_output=500)
    writer = agents.Agent(name="writer", model="gpt-4o-mini", instructions="Write.")
    reader = agents.Agent(name="reader", model="gpt-4o", handoffs=[writer])
    assert asyncio.run(ask(agent, reader)).final_output == "Done."
    assert [request.body["model"] for request in model.answered] == ["gpt-4o", "gpt-4o-mini"]
    assert status(agent).spent == model.spent


def test_rules_are_told_with_the_instructions(model: Model) -> None:
    rules = [Rule("uv", "use-uv", "constraint", "Install packages with uv.")]
    agent = started(model, rules=rules, max_output=500)
    asyncio.run(ask(agent, agent.made(contents)))
    said = model.answered[0].body["instructions"]
    assert said.startswith(SYSTEM)
    assert "Install packages with uv." in said


def test_the_longest_answer_is_sent_only_if_someone_said_so(model: Model) -> None:
    for settings, own, sent in (
        ({}, 300, 300),
        ({"max_output": 200}, None, 200),
        ({"max_output": 200}, 300, 300),
        ({}, None, None),
    ):
        agent = started(model, limit_usd="1", **settings)
        reader = agents.Agent(
            name="reader", model="gpt-4o", model_settings=agents.ModelSettings(max_tokens=own)
        )
        asyncio.run(ask(agent, reader))
        assert model.answered[-1].body.get("max_output_tokens") == sent


def test_a_stream_without_usage_keeps_its_reservation_and_its_answer(model: Model) -> None:
    agent = SdkAgent(model.url, False, limit_usd="1", max_output=500)
    agent.config.model_settings = None
    with pytest.warns(UserWarning, match="reserved"):
        assert asyncio.run(agent.arun(TASK, contents, stream=True)) == "Done."
    assert status(agent).reserved > 0


def test_an_answer_that_must_follow_a_schema(model: Model) -> None:
    model.script = lambda _: ['{"line": 7}']
    agent = started(model, limit_usd="1", max_output=500)
    reader = agents.Agent(name="reader", model="gpt-4o", output_type=Bug)
    assert asyncio.run(ask(agent, reader)).final_output == Bug(line=7)
    assert status(agent).spent == model.spent


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script, model.window = parallel(3), 128_000
    assert said_by_program("openai_agents", model, tmp_path).startswith("Done.\n")
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        assert ledger.status("shop/agent-1").spent == model.spent
