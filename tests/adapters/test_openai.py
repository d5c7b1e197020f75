"""The OpenAI SDK: its chat and Responses APIs through a wrapped client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

import openai
import pytest

from brim.adapters import openai as adapter
from brim.errors import InputError, LimitReached, UnknownPrice
from brim.guard import Guard
from brim.rules import Rule
from tests.adapters.contract import (
    ANSWER,
    MAX_OUTPUT,
    NOT_JSON,
    SCOPE,
    SYSTEM,
    TARGET,
    TASK,
    Agent,
    Contract,
    Read,
    said_by_program,
)
from tests.adapters.model import TOOL, Model, parallel

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
CHAT_TOOLS: list[Any] = [
    {"type": "function", "function": {"name": TOOL, "parameters": SCHEMA, "strict": True}}
]
ITEM_TOOLS: list[Any] = [{"type": "function", "name": TOOL, "parameters": SCHEMA, "strict": True}]


def clients(url: str, **settings: Any) -> tuple[openai.OpenAI, openai.AsyncOpenAI]:
    about: Any = {"base_url": f"{url}/v1", "api_key": "x"}
    guard = Guard("gpt-4o", **settings)
    plain, later = openai.OpenAI(**about), openai.AsyncOpenAI(**about)
    shared: Any = {
        **settings,
        "ledger": guard.ledger,
    }  # one limit for both, also if there is no ledger
    return adapter.guard(plain, **shared), adapter.guard(later, **shared)


class ChatAgent(Agent):
    """A loop around ``chat.completions``."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.client, self.later = clients(url, **settings)

    def asked(self, messages: list[Any]) -> dict[str, Any]:
        return {"model": "gpt-4o", "messages": messages, "tools": CHAT_TOOLS, **self.more}

    def begin(self, task: str) -> list[Any]:
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]

    def go_on(self, messages: list[Any], message: Any, read_file: Read) -> str:
        """Run the tools; return the text if there's nothing to run."""
        messages.append(message)
        for call in message.tool_calls or ():
            path = json.loads(call.function.arguments)["path"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": read_file(path)})
        return "" if message.tool_calls else message.content

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        messages, said = self.begin(task), ""
        while not said:
            if stream:
                with self.client.chat.completions.stream(**self.asked(messages)) as events:
                    for _ in events:
                        pass
                    message: Any = events.get_final_completion().choices[0].message
            else:
                message = (
                    self.client.chat.completions.create(**self.asked(messages)).choices[0].message
                )
            said = self.go_on(messages, message, read_file)
        return said

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        messages, said = self.begin(task), ""
        while not said:
            if stream:
                async with self.later.chat.completions.stream(**self.asked(messages)) as events:
                    async for _ in events:
                        pass
                    message: Any = (await events.get_final_completion()).choices[0].message
            else:
                message = (
                    (await self.later.chat.completions.create(**self.asked(messages)))
                    .choices[0]
                    .message
                )
            said = self.go_on(messages, message, read_file)
        return said

    async def aclose(self) -> None:
        await self.later.close()

    def close(self) -> None:
        self.client.close()


class ItemAgent(Agent):
    """A loop around ``responses``."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.client, self.later = clients(url, **settings)

    def asked(self, items: list[Any]) -> dict[str, Any]:
        about = {"input": items, "instructions": SYSTEM, "tools": ITEM_TOOLS, "store": False}
        return {"model": "gpt-4o", **about, **self.more}

    def go_on(self, items: list[Any], response: Any, read_file: Read) -> str:
        items += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        for call in calls:
            output = read_file(json.loads(call.arguments)["path"])
            items.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": output}
            )
        return "" if calls else response.output_text

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        items: list[Any] = [{"role": "user", "content": task}]
        said = ""
        while not said:
            if stream:
                with self.client.responses.stream(**self.asked(items)) as events:
                    response: Any = events.get_final_response()
            else:
                response = self.client.responses.create(**self.asked(items))
            said = self.go_on(items, response, read_file)
        return said

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        items: list[Any] = [{"role": "user", "content": task}]
        said = ""
        while not said:
            if stream:
                async with self.later.responses.stream(**self.asked(items)) as events:
                    response: Any = await events.get_final_response()
            else:
                response = await self.later.responses.create(**self.asked(items))
            said = self.go_on(items, response, read_file)
        return said

    async def aclose(self) -> None:
        await self.later.close()

    def close(self) -> None:
        self.client.close()


class TestChat(Contract):
    answer_schema: ClassVar[dict[str, Any]] = {
        "response_format": {"type": "json_schema", "json_schema": {"name": "bug", "schema": ANSWER}}
    }
    named_tool: ClassVar[dict[str, Any]] = {
        "tool_choice": {"type": "function", "function": {"name": TOOL}}
    }
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": NOT_JSON,
        "a header that HTTP doesn't allow": {"extra_headers": {"x-trace": "one\ntwo"}},
    }

    def agent(self, url: str, **settings: Any) -> Agent:
        return ChatAgent(url, **settings)


class TestResponses(Contract):
    answer_schema: ClassVar[dict[str, Any]] = {
        "text": {"format": {"type": "json_schema", "name": "bug", "schema": ANSWER}}
    }
    named_tool: ClassVar[dict[str, Any]] = {"tool_choice": {"type": "function", "name": TOOL}}
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": NOT_JSON,
        "a header that HTTP doesn't allow": {"extra_headers": {"x-trace": "one\ntwo"}},
    }

    def agent(self, url: str, **settings: Any) -> Agent:
        return ItemAgent(url, **settings)


@pytest.fixture
def model() -> Any:
    with Model(parallel(0)) as model:
        yield model
        while OPENED:
            OPENED.pop().close()


OPENED: list[openai.OpenAI] = []
"""Clients that are closed when the test ends."""
HELLO: list[Any] = [{"role": "user", "content": TASK}]


def client(model: Model, **settings: Any) -> openai.OpenAI:
    OPENED.append(openai.OpenAI(base_url=f"{model.url}/v1", api_key="x"))
    return adapter.guard(OPENED[-1], **settings)


def test_chunks_of_a_plain_stream_all_have_a_choice(model: Model) -> None:
    guard = Guard("gpt-4o", limit_usd="1")
    wrapped = client(model, guard=guard)
    stream = wrapped.chat.completions.create(model="gpt-4o", messages=HELLO, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "Done."
    status = guard.status()
    assert status is not None
    assert (status.spent, status.reserved) == (model.spent, 0)
    about: Any = {"stream": True, "stream_options": {"include_usage": True}}
    asked = list(wrapped.chat.completions.create(model="gpt-4o", messages=HELLO, **about))
    assert asked[-1].usage is not None  # who asks for usage gets it


def test_a_client_with_other_options_is_guarded_too(model: Model) -> None:
    wrapped = (
        client(model, limit_usd="0.0001", max_output=500)
        .with_options(timeout=5)
        .copy(max_retries=0)
    )
    assert wrapped.max_retries == 0
    assert wrapped.timeout == 5
    with pytest.raises(LimitReached):
        wrapped.chat.completions.create(model="gpt-4o", messages=HELLO)
    assert model.requests == []


def test_only_a_setting_adds_a_cap(model: Model) -> None:
    client(model).chat.completions.create(model="gpt-4o", messages=HELLO)
    client(model, max_output=300).chat.completions.create(model="gpt-4o", messages=HELLO)
    client(model, max_output=300).chat.completions.create(
        model="gpt-4o", messages=HELLO, max_tokens=200
    )
    client(model, max_output=300).responses.create(model="gpt-4o", input=TASK)
    found = [
        {key: value for key, value in each.body.items() if key.startswith("max")}
        for each in model.answered
    ]
    assert found == [
        {},
        {"max_completion_tokens": 300},
        {"max_tokens": 200},
        {"max_output_tokens": 300},
    ]


def test_the_longest_answers_are_reserved_for(model: Model) -> None:
    def reserved(**more: Any) -> int:
        with pytest.raises(LimitReached) as refused:
            client(model, limit_usd="0").chat.completions.create(
                model="gpt-4o", messages=HELLO, **more
            )
        return refused.value.amount

    assert reserved(max_tokens=1_000) > 10_000  # 1,000 tokens of output at 10 dollars per million
    assert reserved(max_tokens=1_000, n=3) > 30_000
    assert reserved() > 160_000  # 16,384 is the most that it writes


def test_tiers_and_tools_of_the_provider_are_reserved_for(model: Model) -> None:
    def reserved(**more: Any) -> int:
        with pytest.raises(LimitReached) as refused:
            client(model, limit_usd="0").responses.create(
                model="gpt-5", input=TASK, max_output_tokens=1_000, **more
            )
        return refused.value.amount

    assert reserved(service_tier="priority") > 1.5 * reserved()
    searching: Any = {"tools": [{"type": "web_search"}]}
    assert reserved(**searching, max_tool_calls=2) >= reserved() + 20_000  # a search costs a cent
    assert reserved(**searching, extra_body={"max_tool_calls": 2}) == reserved(
        **searching, max_tool_calls=2
    )
    with pytest.raises(UnknownPrice, match="max_tool_calls"):
        client(model, limit_usd="100").responses.create(model="gpt-5", input=TASK, **searching)
    assert model.requests == []


def test_what_the_provider_keeps_is_sent_as_it_is_and_reserved_for(model: Model) -> None:
    model.script = parallel(1)
    guard = Guard("gpt-4o", limit_usd="5", max_output=MAX_OUTPUT, target=TARGET)
    wrapped = client(model, guard=guard)
    first = wrapped.responses.create(model="gpt-4o", input=TASK, tools=ITEM_TOOLS)
    call = next(item for item in first.output if item.type == "function_call")
    output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "text"}
    last = wrapped.responses.create(
        model="gpt-4o", input=[output], previous_response_id=first.id, tools=ITEM_TOOLS
    )
    assert last.output_text == "Done."
    status = guard.status()
    assert status is not None
    assert (status.spent, status.reserved) == (model.spent, 0)
    with pytest.raises(LimitReached) as refused:
        client(model, limit_usd="0.2").responses.create(
            model="gpt-4o", input="Go on.", previous_response_id=last.id
        )
    assert refused.value.amount > 300_000  # a window of 128,000 tokens


def test_rules_are_told_in_a_system_message(model: Model) -> None:
    rules = [Rule("uv", "use-uv", "constraint", "Install packages with uv.")]
    wrapped = client(model, rules=rules)
    wrapped.chat.completions.create(model="gpt-4o", messages=HELLO)
    wrapped.responses.create(model="gpt-4o", input=TASK, instructions="Be brief.")
    chat, items = model.answered
    assert "Install packages with uv." in chat.messages[0]["content"]
    assert items.body["instructions"].startswith("Be brief.")
    assert "Install packages with uv." in items.body["instructions"]


def test_a_stream_that_is_left_early_stays_reserved(model: Model) -> None:
    guard = Guard("gpt-4o", limit_usd="1")
    wrapped = client(model, guard=guard)
    with wrapped.chat.completions.create(model="gpt-4o", messages=HELLO, stream=True) as stream:
        next(iter(stream))
    status = guard.status()
    assert status is not None
    assert status.reserved > 0 == status.spent


def test_a_guard_of_ones_own_is_one_conversation(model: Model) -> None:
    guard = Guard("gpt-4o", limit_usd="1")

    async def main() -> None:
        about: Any = {"base_url": f"{model.url}/v1", "api_key": "x"}
        async with adapter.guard(openai.AsyncOpenAI(**about), guard=guard) as wrapped:
            await wrapped.chat.completions.create(model="gpt-4o", messages=HELLO)

    asyncio.run(main())
    assert guard.gauge.used_tokens == model.answered[0].tokens
    with pytest.raises(InputError, match="not both"):
        client(model, guard=guard, scope=SCOPE)
    with pytest.raises(InputError, match="OpenAI"):
        adapter.guard("client")


def test_other_requests_are_left_alone(model: Model) -> None:
    with pytest.raises(openai.NotFoundError):
        client(model, limit_usd="0").embeddings.create(model="text-embedding-3-small", input="text")


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script = parallel(3)
    assert said_by_program("openai", model, tmp_path) == "Done."
    assert len(model.answered) == 4


@pytest.mark.parametrize(
    "options",
    [
        {"include_obfuscation": False},
        {"include_usage": False},
        {"include_obfuscation": False, "include_usage": True},
    ],
)
@pytest.mark.parametrize("is_extra", [False, True])
def test_options_of_a_stream_are_kept_and_usage_is_asked_for(
    model: Model, options: dict[str, bool], is_extra: bool
) -> None:
    guard = Guard("gpt-4o", limit_usd="1")
    about: Any = {"model": "gpt-4o", "messages": HELLO, "stream": True}
    given: Any = {"stream_options": options}
    more: Any = {"extra_body": given} if is_extra else given
    chunks = list(client(model, guard=guard).chat.completions.create(**about, **more))
    assert model.answered[-1].body["stream_options"] == {**options, "include_usage": True}
    asked_for_usage = options.get("include_usage", False)
    assert all(chunk.choices for chunk in chunks) is not asked_for_usage
    assert spent_and_reserved(guard) == (model.spent, 0)


APIS = ("chat", "responses")


def request_of(api: str, *, stream: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"messages": HELLO} if api == "chat" else {"input": TASK}
    return {"model": "gpt-4o", "stream": stream, **content}


def endpoint(wrapped: Any, api: str) -> Any:
    return wrapped.chat.completions if api == "chat" else wrapped.responses


def spent_and_reserved(guard: Guard) -> tuple[int, int]:
    status = guard.status()
    assert status is not None
    return status.spent, status.reserved


READERS: dict[str, Callable[[Any], Any]] = {
    "bytes": lambda response: list(response.iter_bytes()),
    "text": lambda response: list(response.iter_text()),
    "lines": lambda response: list(response.iter_lines()),
    "all at once": lambda response: response.read(),
    "parsed": lambda response: list(response.parse()),
}
"""How the caller of ``with_streaming_response`` may read a stream."""
ASYNC_READERS: dict[str, Callable[[Any], Any]] = {
    "bytes": lambda response: response.iter_bytes(),
    "text": lambda response: response.iter_text(),
    "lines": lambda response: response.iter_lines(),
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("reader", READERS)
def test_a_streaming_response_is_settled_however_it_is_read(
    model: Model, api: str, reader: str
) -> None:
    guard = Guard("gpt-4o", limit_usd="1")
    raw = endpoint(client(model, guard=guard), api).with_streaming_response
    with raw.create(**request_of(api, stream=True)) as response:
        assert "Done." in str(READERS[reader](response))
    assert spent_and_reserved(guard) == (model.spent, 0)
    assert model.spent > 0


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("reader", [*ASYNC_READERS, "all at once", "parsed"])
def test_an_async_streaming_response_is_settled_however_it_is_read(
    model: Model, api: str, reader: str
) -> None:
    guard = Guard("gpt-4o", limit_usd="1")

    async def parts(response: Any) -> list[Any]:
        if reader == "all at once":
            return [await response.read()]
        stream = await response.parse() if reader == "parsed" else ASYNC_READERS[reader](response)
        return [part async for part in stream]

    async def main() -> str:
        about: Any = {"base_url": f"{model.url}/v1", "api_key": "x"}
        async with adapter.guard(openai.AsyncOpenAI(**about), guard=guard) as wrapped:
            raw = endpoint(wrapped, api).with_streaming_response
            async with raw.create(**request_of(api, stream=True)) as response:
                return str(await parts(response))

    assert "Done." in asyncio.run(main())
    assert spent_and_reserved(guard) == (model.spent, 0)
    assert model.spent > 0


@pytest.mark.parametrize("api", APIS)
def test_a_streaming_response_that_is_not_read_warns(model: Model, api: str) -> None:
    guard = Guard("gpt-4o", limit_usd="1")
    raw = endpoint(client(model, guard=guard), api).with_streaming_response
    with (
        pytest.warns(
            UserWarning, match="closed before its usage came, so its money stays reserved"
        ),
        raw.create(**request_of(api, stream=True)),
    ):
        pass
    spent, reserved = spent_and_reserved(guard)
    assert reserved > 0 == spent


@pytest.mark.parametrize("api", APIS)
def test_an_async_streaming_response_that_is_not_read_warns(model: Model, api: str) -> None:
    guard = Guard("gpt-4o", limit_usd="1")

    async def main() -> None:
        about: Any = {"base_url": f"{model.url}/v1", "api_key": "x"}
        async with adapter.guard(openai.AsyncOpenAI(**about), guard=guard) as wrapped:
            raw = endpoint(wrapped, api).with_streaming_response
            async with raw.create(**request_of(api, stream=True)):
                pass

    with pytest.warns(
        UserWarning, match="closed before its usage came, so its money stays reserved"
    ):
        asyncio.run(main())
    spent, reserved = spent_and_reserved(guard)
    assert reserved > 0 == spent


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("way", ["with_raw_response", "with_streaming_response"])
def test_a_raw_response_is_settled_when_it_is_parsed(
    model: Model, api: str, stream: bool, way: str
) -> None:
    guard = Guard("gpt-4o", limit_usd="1")
    raw = getattr(endpoint(client(model, guard=guard), api), way).create(
        **request_of(api, stream=stream)
    )
    with raw if way == "with_streaming_response" else nullcontext(raw) as response:
        answer = response.parse()
        assert "Done." in str(list(answer) if stream else answer)
    assert spent_and_reserved(guard) == (model.spent, 0)
    assert model.spent > 0
