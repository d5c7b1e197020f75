"""``Brim`` with pydantic-ai itself: OpenAI's chat and Responses APIs, and Anthropic's."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

if os.environ.get("BRIM_ADAPTER") != "pydantic_ai":
    pytest.skip(
        "pydantic-ai is tested in an environment of its own: scripts/adapters pydantic_ai",
        allow_module_level=True,
    )

import pydantic_ai
from pydantic_ai.capabilities import ModelFallback
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from brim.adapters import pydantic_ai as adapter
from brim.errors import InputError, LimitReached, UnknownPrice
from brim.models import cost
from brim.money import open_ledger
from brim.rules import Rule
from tests.adapters.contract import (
    NOT_JSON,
    SYSTEM,
    TASK,
    WINDOW,
    Agent,
    Contract,
    Failed,
    Read,
    contents,
    found_in,
    said_by_program,
)
from tests.adapters.model import Model, parallel

pytestmark = pytest.mark.usefixtures("left_open")


class Bug(BaseModel):
    """What was found."""

    line: int


class Asking(Contract):
    """What the agents of the contract ask for."""

    answer_schema: ClassVar[dict[str, Any]] = {"output_type": pydantic_ai.NativeOutput(Bug)}
    named_tool: ClassVar[dict[str, Any]] = {
        "model_settings": lambda _: {"tool_choice": ["read_file"]}
    }
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": {"model_settings": NOT_JSON},
        "a tool that doesn't exist": {"model_settings": lambda _: {"tool_choice": ["nonsense"]}},
    }


def list_files() -> str:
    """Lists the files."""
    return "src/a.py"


class PydanticAgent(Agent):
    def __init__(self, model: Any, **settings: Any) -> None:
        self.model, self.brim = model, adapter.guard(**settings)

    def made(self, read_file: Read) -> Any:
        about: Any = {"instructions": SYSTEM, "capabilities": [self.brim], **self.more}
        agent: Any = pydantic_ai.Agent(self.model(), **about)
        agent.tool_plain(read_file, name="read_file", description="Reads a file.")
        agent.tool_plain(
            list_files
        )  # one of two tools is chosen by its name, and the only one isn't
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


class TestChat(Asking):
    def agent(self, url: str, **settings: Any) -> Agent:
        return PydanticAgent(
            lambda: OpenAIChatModel(
                "gpt-4o", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none")
            ),
            **settings,
        )


class TestResponses(Asking):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        return PydanticAgent(
            lambda: OpenAIResponsesModel(
                "gpt-4o", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none")
            ),
            **settings,
        )


class TestAnthropic(Asking):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async-stream")
    model_name: ClassVar[str] = "claude-sonnet-4-6"

    def agent(self, url: str, **settings: Any) -> Agent:
        return PydanticAgent(
            lambda: AnthropicModel(
                "claude-sonnet-4-6", provider=AnthropicProvider(base_url=url, api_key="none")
            ),
            **settings,
        )

    def thinking_agent(self, url: str, **settings: Any) -> Agent:
        return PydanticAgent(
            lambda: AnthropicModel(
                "claude-opus-5-5", provider=AnthropicProvider(base_url=url, api_key="none")
            ),
            **settings,
        )


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(window=WINDOW, script=lambda _: ["Done."]) as started:
        yield started


def chat(model: Model, name: str = "gpt-4o") -> Any:
    return OpenAIChatModel(
        name, provider=OpenAIProvider(base_url=f"{model.url}/v1", api_key="none")
    )


def test_the_history_keeps_what_the_request_leaves_out(model: Model) -> None:
    model.script = parallel(20)
    agent: Any = pydantic_ai.Agent(
        chat(model), capabilities=[adapter.guard(target=2_000, max_output=500)]
    )
    agent.tool_plain(contents, name="read_file")
    messages = agent.run_sync(TASK).all_messages()
    parts = [
        part for message in messages for part in message.parts if part.part_kind == "tool-return"
    ]
    assert [part.content for part in parts] == [contents(part.content.split()[1]) for part in parts]
    assert any("[Cleared" in str(request.messages) for request in model.answered)


def test_runs_of_one_conversation_stay_cut(model: Model) -> None:
    model.script = lambda turn: ["Done."] if turn % 6 == 5 else parallel(99)(turn)
    brim = adapter.guard(limit_usd="1", target=4_000, max_output=500)
    agent: Any = pydantic_ai.Agent(chat(model), capabilities=[brim])
    agent.tool_plain(contents, name="read_file")
    history: list[Any] = []
    for question in (TASK, "And now?", "And then?", "Sure?"):
        history = agent.run_sync(question, message_history=history).all_messages()
    assert len(model.answered) == 24
    assert 1 <= model.rewritten(TASK) <= 10
    assert brim.guard.status().spent == model.spent  # type: ignore[union-attr]


def test_the_longest_answer_is_sent_only_if_someone_said_so(model: Model) -> None:
    for brim, settings, sent in (
        (adapter.guard(limit_usd="1"), {"max_tokens": 300}, 300),
        (adapter.guard(limit_usd="1", max_output=200), {}, 200),
        (adapter.guard(limit_usd="1", max_output=200), {"max_tokens": 300}, 300),
        (adapter.guard(limit_usd="1"), {}, None),
    ):
        about: Any = {"model_settings": settings}
        pydantic_ai.Agent(chat(model), capabilities=[brim], **about).run_sync(TASK)
        assert model.answered[-1].body.get("max_completion_tokens") == sent


def test_rules_are_told_with_the_instructions(model: Model) -> None:
    brim = adapter.guard(
        rules=[Rule("uv", "use-uv", "constraint", "Install packages with uv.")], max_output=500
    )
    pydantic_ai.Agent(chat(model), instructions=SYSTEM, capabilities=[brim]).run_sync(TASK)
    said = [
        str(message["content"])
        for message in model.answered[-1].messages
        if message["role"] == "system"
    ]
    assert said[0].startswith(SYSTEM)
    assert "Install packages with uv." in "".join(said)


def test_instructions_are_counted_once(model: Model) -> None:
    brim = adapter.guard(limit_usd="1", max_output=500)
    agent: Any = pydantic_ai.Agent(chat(model), instructions="word " * 400, capabilities=[brim])
    seen: list[int] = []
    counting = brim._guards.call

    def call(*args: Any, **kwargs: Any) -> Any:
        made = counting(*args, **kwargs)
        seen.append(int(made.guard.fit(args[1], tools=kwargs["tools"]).tokens))
        return made

    brim._guards.call = call  # type: ignore[method-assign]
    agent.run_sync(TASK)
    assert seen == [model.answered[0].tokens]


@pytest.mark.parametrize(
    "settings",
    [{"openai_previous_response_id": "resp_1"}, {"openai_conversation_id": "conv_1"}],
)
def test_a_prompt_that_the_provider_keeps_is_reserved_for(
    model: Model, settings: dict[str, Any]
) -> None:
    def reserved(**more: Any) -> int:
        provider = OpenAIProvider(base_url=f"{model.url}/v1", api_key="none")
        brim = adapter.guard(limit_usd="0", max_output=500)
        agent: Any = pydantic_ai.Agent(
            OpenAIResponsesModel("gpt-4o", provider=provider), capabilities=[brim], **more
        )
        with pytest.raises(Exception) as raised:  # noqa: PT011 (the framework may wrap it)
            agent.run_sync(TASK)
        refused = found_in(raised.value, LimitReached)
        assert isinstance(refused, LimitReached)
        return refused.amount

    assert reserved() < 10_000
    assert reserved(model_settings=settings) > 300_000  # a window of 128,000 tokens
    assert model.requests == []


def test_every_attempt_is_paid_with_the_model_that_answers(model: Model) -> None:
    model.fail(500, 500, 500)
    brim = adapter.guard(limit_usd="1", max_output=500)
    attempts = [ModelFallback(chat(model, "gpt-4o-mini")), brim]
    assert pydantic_ai.Agent(chat(model), capabilities=attempts).run_sync(TASK).output == "Done."
    assert [request.body["model"] for request in model.requests] == ["gpt-4o"] * 3 + ["gpt-4o-mini"]
    found = brim.guard.status()
    assert found is not None
    assert found.spent == model.spent
    assert (
        found.reserved > 0
    )  # an answer of 500 may have been billed: that reservation waits for its lease


def test_a_fallback_model_is_refused(model: Model) -> None:
    both = FallbackModel(chat(model), chat(model, "gpt-4o-mini"))
    with pytest.raises(InputError, match=r"use capabilities=\[ModelFallback"):
        pydantic_ai.Agent(both, capabilities=[adapter.guard()]).run_sync(TASK)
    assert model.requests == []


def test_a_stream_that_is_left_keeps_its_reservation(model: Model) -> None:
    brim = adapter.guard(limit_usd="1", max_output=500)

    async def leave(_: Any, events: AsyncIterable[Any]) -> None:
        async for _event in events:
            raise Failed

    with pytest.raises(Failed):
        pydantic_ai.Agent(chat(model), capabilities=[brim]).run_sync(
            TASK, event_stream_handler=leave
        )
    found = brim.guard.status()
    assert found is not None
    assert found.spent == 0
    assert found.reserved > 0


def test_a_stream_that_breaks_off_keeps_its_reservation(model: Model) -> None:
    model.breaks_off = True
    model.script = lambda _: ["word " * 500]
    brim = adapter.guard(limit_usd="1", max_output=1_000)
    provider = AnthropicProvider(base_url=model.url, api_key="none")
    agent = pydantic_ai.Agent(
        AnthropicModel("claude-sonnet-4-6", provider=provider), capabilities=[brim]
    )
    agent.run_sync(TASK, event_stream_handler=watch)
    found = brim.guard.status()
    assert found is not None
    assert found.spent == 0
    assert found.reserved >= model.spent > 0


def test_an_answer_that_must_follow_a_schema(model: Model) -> None:
    model.script = lambda turn: [("final_result", {"line": 7})]
    brim = adapter.guard(limit_usd="1", max_output=500)
    agent: Any = pydantic_ai.Agent(chat(model), output_type=Bug, capabilities=[brim])
    assert agent.run_sync(TASK).output == Bug(line=7)
    assert brim.guard.status().spent == model.spent  # type: ignore[union-attr]


def test_a_model_that_is_not_known_is_named(model: Model) -> None:
    with pytest.raises(UnknownPrice):
        pydantic_ai.Agent(
            chat(model, "my-deployment"), capabilities=[adapter.guard(limit_usd="1")]
        ).run_sync(TASK)
    brim = adapter.guard(model="gpt-4o", limit_usd="1", max_output=500)
    assert (
        pydantic_ai.Agent(chat(model, "my-deployment"), capabilities=[brim]).run_sync(TASK).output
        == "Done."
    )
    assert brim.guard.status().spent == cost(model.answered[0].usage, "gpt-4o")  # type: ignore[union-attr]


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script, model.window = parallel(3), 128_000
    assert said_by_program("pydantic_ai", model, tmp_path).startswith("Done.\n")
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        assert ledger.status("shop/agent-1").spent == model.spent
