"""The Anthropic SDK: a middleware of its client."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import anthropic
import pytest

from brim.adapters import anthropic as adapter
from brim.errors import LimitReached, UnknownPrice
from brim.guard import Guard
from brim.rules import Rule
from tests.adapters.contract import (
    ANSWER,
    MAX_OUTPUT,
    NOT_JSON,
    SYSTEM,
    TASK,
    Agent,
    Contract,
    Read,
    said_by_program,
)
from tests.adapters.model import TOOL, Model, parallel

pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")

MODEL = "claude-sonnet-4-5"
TOOLS: list[Any] = [
    {"name": TOOL, "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}},
]
HELLO: list[Any] = [{"role": "user", "content": TASK}]


class ClaudeAgent(Agent):
    """A loop around ``messages``."""

    def __init__(self, url: str, *, name: str = MODEL, **settings: Any) -> None:
        self.name = name
        about: Any = {"base_url": url, "api_key": "x", "middleware": [adapter.guard(**settings)]}
        self.client, self.later = anthropic.Anthropic(**about), anthropic.AsyncAnthropic(**about)

    def asked(self, messages: list[Any]) -> dict[str, Any]:
        about = {"system": SYSTEM, "tools": TOOLS, "max_tokens": MAX_OUTPUT}
        return {"model": self.name, "messages": messages, **about, **self.more}

    def go_on(self, messages: list[Any], response: Any, read_file: Read) -> str:
        messages.append({"role": "assistant", "content": response.content})
        calls = [block for block in response.content if block.type == "tool_use"]
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": read_file(call.input["path"]),
            }
            for call in calls
        ]
        if results:
            messages.append({"role": "user", "content": results})
        return "" if calls else response.content[-1].text

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        messages: list[Any] = [{"role": "user", "content": task}]
        said = ""
        while not said:
            if stream:
                with self.client.messages.stream(**self.asked(messages)) as events:
                    response: Any = events.get_final_message()
            else:
                response = self.client.messages.create(**self.asked(messages))
            said = self.go_on(messages, response, read_file)
        return said

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        messages: list[Any] = [{"role": "user", "content": task}]
        said = ""
        while not said:
            if stream:
                async with self.later.messages.stream(**self.asked(messages)) as events:
                    response: Any = await events.get_final_message()
            else:
                response = await self.later.messages.create(**self.asked(messages))
            said = self.go_on(messages, response, read_file)
        return said

    async def aclose(self) -> None:
        await self.later.close()

    def close(self) -> None:
        self.client.close()


class TestMessages(Contract):
    answer_schema: ClassVar[dict[str, Any]] = {
        "output_config": {"format": {"type": "json_schema", "schema": ANSWER}}
    }
    named_tool: ClassVar[dict[str, Any]] = {"tool_choice": {"type": "tool", "name": TOOL}}
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": NOT_JSON,
        "a header that HTTP doesn't allow": {"extra_headers": {"x-trace": "one\ntwo"}},
    }

    def agent(self, url: str, **settings: Any) -> Agent:
        return ClaudeAgent(url, **settings)

    def thinking_agent(self, url: str, **settings: Any) -> Agent:
        return ClaudeAgent(url, name="claude-opus-5-5", **settings)


@pytest.fixture
def model() -> Any:
    with Model(parallel(0)) as model:
        yield model


def client(model: Model, **settings: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        base_url=model.url, api_key="x", middleware=[adapter.guard(**settings)]
    )


def test_a_raw_response_and_a_raw_stream_are_settled(model: Model) -> None:
    guard = Guard(MODEL, limit_usd="1")
    guarded = client(model, guard=guard)
    raw = guarded.messages.with_raw_response.create(model=MODEL, messages=HELLO, max_tokens=500)
    assert raw.parse().content[0].text == "Done."  # type: ignore[union-attr]
    with guarded.messages.with_streaming_response.create(
        model=MODEL, messages=HELLO, max_tokens=500
    ) as streamed:
        assert "Done." in streamed.parse().content[0].text  # type: ignore[union-attr]
    events = list(guarded.messages.create(model=MODEL, messages=HELLO, max_tokens=500, stream=True))
    assert events[-1].type == "message_stop"
    status = guard.status()
    assert status is not None
    assert (status.spent, status.reserved) == (model.spent, 0)
    assert len(model.answered) == 3


@pytest.mark.parametrize(
    ("statuses", "is_kept"), [((500, 500, 500), True), ((429, 429, 429), False)]
)
def test_a_call_that_fails_for_good(model: Model, statuses: tuple[int, ...], is_kept: bool) -> None:
    guard = Guard(MODEL, limit_usd="1")
    model.fail(*statuses)
    with pytest.raises(anthropic.APIStatusError):
        client(model, guard=guard).messages.create(model=MODEL, messages=HELLO, max_tokens=500)
    status = guard.status()
    assert status is not None
    assert len(model.requests) == 3
    with guard.call(HELLO, max_output=500) as call:
        once = call.reserved
        call.release()
    assert status.reserved == (once if is_kept else 0)  # three attempts, one reservation


def test_tokens_can_be_counted_when_the_limit_is_spent(model: Model) -> None:
    guarded = client(model, limit_usd="0")
    with pytest.raises(LimitReached):
        guarded.messages.create(model=MODEL, messages=HELLO, max_tokens=500)
    assert model.requests == []
    with pytest.raises(anthropic.NotFoundError):  # it was sent: this model has no such endpoint
        guarded.messages.count_tokens(model=MODEL, messages=HELLO)


def test_regions_and_tools_of_the_provider_are_reserved_for(model: Model) -> None:
    about: Any = {"model": "claude-sonnet-4-6", "messages": HELLO, "max_tokens": 1_000}

    def reserved(**more: Any) -> int:
        with pytest.raises(LimitReached) as refused:
            client(model, limit_usd="0").messages.create(**about, **more)
        return refused.value.amount

    def search(**more: Any) -> dict[str, Any]:
        return {"tools": [{"type": "web_search_20250305", "name": "web_search", **more}]}

    assert reserved(extra_body={"inference_geo": "us"}) > reserved()
    assert reserved(**search(max_uses=2)) >= reserved() + 20_000  # a search costs a cent
    with pytest.raises(UnknownPrice, match="max_uses"):
        client(model, limit_usd="100").messages.create(**about, **search())
    assert model.requests == []


def test_rules_are_told_in_the_system_prompt(model: Model) -> None:
    rules = [Rule("uv", "use-uv", "constraint", "Install packages with uv.")]
    client(model, rules=rules).messages.create(model=MODEL, messages=HELLO, max_tokens=500)
    assert "Install packages with uv." in model.answered[0].body["system"]


def test_the_transcript_of_the_caller_stays_as_it_is(model: Model) -> None:
    model.script = parallel(30)
    agent, messages = ClaudeAgent(model.url, target=2_000), [*HELLO]
    said = ""
    while not said:
        response = agent.client.messages.create(**agent.asked(messages))
        said = agent.go_on(messages, response, lambda path: path * 20)
    assert len(messages) == 62
    assert "Cleared" not in str(messages)
    assert model.refused == []
    assert "Cleared" in str(model.answered[-1].messages)


def test_the_program_of_the_page_runs_with_a_model_that_thinks(
    model: Model, tmp_path: Path
) -> None:
    model.script, model.thinks = parallel(3), True
    assert said_by_program("anthropic", model, tmp_path) == "Done."


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script = parallel(3)
    assert said_by_program("anthropic", model, tmp_path) == "Done."
    assert len(model.answered) == 4
