"""google-genai: a wrapped client, plain, streamed, async, in chats and with automatic calls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

if os.environ.get("BRIM_ADAPTER") != "google_genai":
    pytest.skip(
        "google-genai is tested in an environment of its own: scripts/adapters google_genai",
        allow_module_level=True,
    )

from google import genai
from google.genai import types

import brim
from brim.adapters import google_genai as adapter
from brim.errors import InputError
from brim.guard import Guard
from brim.money import open_ledger
from brim.rules import Rule
from tests.adapters.contract import (
    ANSWER,
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

NAME = "gemini-2.5-pro"
TOOL: Any = {
    "function_declarations": [
        {
            "name": "read_file",
            "description": "Reads a file.",
            "parameters_json_schema": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
            },
        }
    ]
}


def opened(url: str, **settings: Any) -> genai.Client:
    retry = types.HttpRetryOptions(
        attempts=4, initial_delay=0.01, max_delay=0.02, http_status_codes=[500, 529]
    )
    options = types.HttpOptions(base_url=url, retry_options=retry)
    return adapter.guard(genai.Client(api_key="x", http_options=options), **settings)


class GoogleAgent(Agent):
    def __init__(self, url: str, **settings: Any) -> None:
        self.client = opened(url, **settings)

    def config(self) -> Any:
        about: Any = {"system_instruction": SYSTEM, "tools": [TOOL], **self.more}
        return types.GenerateContentConfig(**about)

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        transcript: list[Any] = [types.UserContent(task)]
        while True:
            about: Any = {"model": NAME, "contents": transcript, "config": self.config()}
            if stream:
                chunks = list(self.client.models.generate_content_stream(**about))
            else:
                chunks = [self.client.models.generate_content(**about)]
            if self.answered(transcript, chunks, read_file):
                return str(chunks[-1].text)

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        transcript: list[Any] = [types.UserContent(task)]
        models = self.client.aio.models
        while True:
            about: Any = {"model": NAME, "contents": transcript, "config": self.config()}
            if stream:
                chunks = [chunk async for chunk in await models.generate_content_stream(**about)]
            else:
                chunks = [await models.generate_content(**about)]
            if self.answered(transcript, chunks, read_file):
                return str(chunks[-1].text)

    def answered(self, transcript: list[Any], chunks: list[Any], read_file: Read) -> bool:
        """Append an answer and the results of its calls; return whether there were none."""
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        transcript.append(types.ModelContent(parts))
        calls = [part.function_call for part in parts if part.function_call]
        results = []
        for call in calls:
            answer = {"result": read_file(call.args["path"])}
            results.append(types.Part.from_function_response(name=call.name, response=answer))
        if results:
            transcript.append(types.UserContent(results))
        return not results

    async def aclose(self) -> None:
        await self.client.aio.aclose()

    def close(self) -> None:
        self.client.close()


class TestClient(Contract):
    model_name: ClassVar[str] = NAME
    answer_schema: ClassVar[dict[str, Any]] = {
        "response_mime_type": "application/json",
        "response_json_schema": ANSWER,
    }
    named_tool: ClassVar[dict[str, Any]] = {
        "tool_config": {
            "function_calling_config": {"mode": "ANY", "allowed_function_names": ["read_file"]}
        }
    }
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": {"http_options": {"extra_body": {"user": object()}}},
    }

    def agent(self, url: str, **settings: Any) -> Agent:
        return GoogleAgent(url, **settings)

    def test_the_choice_of_a_tool_is_counted(self, model: Model, way: str) -> None:
        pytest.skip("it takes no tokens of Gemini's")


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(window=WINDOW, script=parallel(1)) as started:
        yield started


def test_a_chat_and_its_automatic_calls_are_guarded(model: Model, tmp_path: Path) -> None:
    model.script, model.window = parallel(3), 100_000
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        client = opened(model.url, ledger=ledger, scope="shop", max_output=500)

        def read_file(path: str) -> str:
            """Reads a file."""
            return contents(path)

        chat = client.chats.create(model=NAME, config={"tools": [read_file]})
        assert chat.send_message(TASK).text == "Done."
        status = ledger.status("shop")
        client.close()
    assert len(model.answered) == 4
    assert (status.reserved, status.spent) == (0, model.spent)


def test_rules_are_told_and_other_requests_pass(model: Model) -> None:
    model.script = lambda _: ["Done."]
    rules = [Rule("uv", "use-uv", "constraint", "Install packages with uv.")]
    client = opened(model.url, rules=rules, max_output=300)
    client.models.generate_content(model=NAME, contents=TASK)
    body = model.answered[-1].body
    assert "Install packages with uv." in str(body["systemInstruction"])
    assert body["generationConfig"]["maxOutputTokens"] == 300
    with pytest.raises(Exception, match="404"):
        client.models.count_tokens(model=NAME, contents=TASK)
    client.close()


def test_the_original_client_stays_as_it_was(model: Model) -> None:
    model.script = lambda _: ["Done."]
    plain = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=model.url))
    calls: list[Any] = []
    guarded = adapter.guard(plain, limit_usd="1", on_call=lambda *about: calls.append(about))
    guarded.models.generate_content(model=NAME, contents=TASK, config={"max_output_tokens": 500})
    del guarded
    plain.models.generate_content(model=NAME, contents=TASK)
    assert [cost for _, cost in calls] == [brim.cost(model.answered[0].usage, NAME)]
    assert isinstance(adapter.guard(plain), genai.Client)
    plain.close()
    with pytest.raises(InputError, match=r"google\.genai\.Client"):
        adapter.guard("client")


def test_a_stream_that_breaks_off_keeps_its_reservation(model: Model) -> None:
    model.breaks_off = True
    model.script = lambda _: ["One.", ("read_file", {"path": "a"})]
    guard = Guard(NAME, limit_usd="1")
    client = opened(model.url, guard=guard)
    about: Any = {"model": NAME, "contents": TASK, "config": {"max_output_tokens": 500}}
    with pytest.warns(UserWarning, match="its money stays reserved"):
        list(client.models.generate_content_stream(**about))
    client.close()
    status = guard.status()
    assert status is not None
    assert status.spent == 0
    assert status.reserved >= model.spent > 0


def test_a_stream_that_is_left_early_keeps_its_reservation(model: Model) -> None:
    model.script = lambda _: ["One.", ("read_file", {"path": "a"})]

    async def leave() -> None:
        client = opened(model.url, guard=guard)
        about: Any = {"model": NAME, "contents": TASK, "config": {"max_output_tokens": 500}}
        stream = await client.aio.models.generate_content_stream(**about)
        await anext(stream)
        await stream.aclose()
        await client.aio.aclose()

    guard = Guard(NAME, limit_usd="1")
    asyncio.run(leave())
    status = guard.status()
    assert status is not None
    assert status.spent == 0
    assert status.reserved > 0


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script = parallel(3)
    assert "Done." in said_by_program("google_genai", model, tmp_path)
