"""Small messages of each format, made by hand, and a counter whose tokens can be added up in the
head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brim.messages import Provider, repair, validate
from brim.tokens import Count

Message = dict[str, Any]

MODELS: dict[Provider, str] = {
    "openai": "gpt-4o",
    "responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
}


def words(number: int) -> str:
    """Return a text of *number* words, which ``WordCounter`` takes for as many tokens."""
    return " ".join(["word"] * number)


class WordCounter:
    """A word is a token. Names, ids and framing are none, so a message costs what its texts do."""

    def __init__(self, model: str | None = None) -> None:
        self.model = model

    def count(self, text: str, /) -> Count:
        return Count(text.count("word"))

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        return Count(sum(str(each).count("word") for each in (*messages, *(tools or ()))))


def chat_calls(*ids: str, content: str | None = None) -> Message:
    function = {"name": "read", "arguments": "{}"}
    calls = [{"id": id_, "type": "function", "function": function} for id_ in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def chat_result(id_: str, text: Any = "done") -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def item_call(id_: str, family: str = "function", **fields: Any) -> Message:
    return {"type": f"{family}_call", "call_id": id_, "name": "read", "arguments": "{}", **fields}


def item_output(id_: str, text: Any = "done", family: str = "function", **fields: Any) -> Message:
    return {"type": f"{family}_call_output", "call_id": id_, "output": text, **fields}


def item_reasoning(id_: str, text: str = "hm") -> Message:
    return {"type": "reasoning", "id": id_, "summary": [{"type": "summary_text", "text": text}]}


def tool_use(id_: str) -> Message:
    return {"type": "tool_use", "id": id_, "name": "read", "input": {}}


def tool_result(id_: str, text: Any = "done") -> Message:
    return {"type": "tool_result", "tool_use_id": id_, "content": text}


def thinking(text: str = "hm") -> Message:
    return {"type": "thinking", "thinking": text, "signature": "s"}


def search(id_: str) -> list[Message]:
    """Return a search of Anthropic's own: the call and its result."""
    call = {"type": "server_tool_use", "id": id_, "name": "web_search", "input": {}}
    return [call, {"type": "web_search_tool_result", "tool_use_id": id_, "content": []}]


def text_block(text: str) -> Message:
    return {"type": "text", "text": text}


def assistant(*blocks: Message) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def answers(*blocks: Message) -> Message:
    return {"role": "user", "content": list(blocks)}


def function_calls(*names: str, text: str = "") -> Message:
    said = [{"text": text}] if text else []
    return {
        "role": "model",
        "parts": [*said, *({"functionCall": {"name": name, "args": {}}} for name in names)],
    }


def function_responses(*names: str, text: str = "done") -> Message:
    return {
        "role": "user",
        "parts": [{"functionResponse": {"name": name, "response": {"a": text}}} for name in names],
    }


def user(provider: Provider, text: str) -> Message:
    """Return a prompt."""
    return (
        {"role": "user", "parts": [{"text": text}]}
        if provider == "gemini"
        else {"role": "user", "content": text}
    )


def says(provider: Provider, text: str) -> Message:
    """Return an answer of the assistant's."""
    if provider == "gemini":
        return {"role": "model", "parts": [{"text": text}]}
    return {"role": "assistant", "content": text}


def step(provider: Provider, id_: str, text: str) -> list[Message]:
    """Return a call and its result, which says *text*."""
    if provider == "openai":
        return [chat_calls(id_), chat_result(id_, text)]
    if provider == "responses":
        return [item_call(id_), item_output(id_, text)]
    if provider == "anthropic":
        return [assistant(tool_use(id_)), answers(tool_result(id_, text))]
    return [function_calls(id_), function_responses(id_, text=text)]


def talk(provider: Provider, turns: int, each: int = 10) -> list[Message]:
    """Return *turns* turns of a prompt and an answer, of *each* words both; every text is
    another."""
    made = []
    for turn in range(turns):
        made += [user(provider, f"{turn}? {words(each)}"), says(provider, f"{turn}! {words(each)}")]
    return made


def places(messages: Sequence[Any], kept: Sequence[Any]) -> list[int]:
    """Return where each of *kept* stands in *messages*, by identity."""
    where = {id(message): at for at, message in enumerate(messages)}
    return [where[id(message)] for message in kept]


def mended(
    provider: Provider, *messages: Any, restore_calls: bool = False
) -> tuple[list[Any], list[tuple[int, str, str]]]:
    """Return the repaired messages, and index, rule and action of every change; the result is
    valid."""
    repaired = repair(list(messages), provider, restore_calls=restore_calls)
    assert validate(repaired.messages, provider) == []
    return repaired.messages, [
        (change.index, change.rule, change.action) for change in repaired.changes
    ]


def texts(provider: Provider, *messages: Any) -> list[str]:
    """Return the texts of the changes."""
    return [change.text for change in repair(list(messages), provider).changes]
