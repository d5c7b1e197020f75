"""Everyone who trims a history: OpenAI dicts in, OpenAI dicts out, called as its own documentation
says for agents.

Where a library takes a counter it gets brim's, so that differences are of the selection and not of
the counting. LiteLLM has its own. Messages are converted before the clock starts, kept messages
come back as the caller's own dicts, and a peer's counter is asked about those dicts: a peer is
timed for its own work and for what it asks to be counted. Peers are imported when they are started,
with telemetry and downloads switched off; an absent one is a row that says so.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import brim
from brim.messages import FifoPruner, SlidingWindowPruner, SummarizePruner, WatermarkPruner
from brim.models import model
from brim.tokens import TokenCounter

Message = dict[str, Any]
Trim = Callable[[list[Message], int], tuple[list[Message], float]]
"""Takes a history and the most tokens; returns what is left of it, and the seconds that the library
took."""

PRICED = "claude-sonnet-4-5"
"""Whose prices decide where ``low="auto"`` is, and what a replayed conversation costs."""

OFFLINE = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
}


@dataclass(frozen=True)
class Trimmer:
    """One row of the table."""

    name: str
    package: str
    start: Callable[[TokenCounter], Trim]
    """Returns the trimmer of one conversation, with its state if it has any; imports the
    library."""
    every: int = 1
    """Measured on one of so many cases only, so that a run ends; a prime, for limits come in fours
    to sevens."""

    @property
    def ours(self) -> bool:
        """Whether this is brim."""
        return self.package == "brim"

    @property
    def version(self) -> str | None:
        """The installed version, or None if the package is absent."""
        if self.ours:
            return brim.__version__
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what *call* returns, and the seconds of processor time it took: a busy machine slows
    other clocks."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def _brim(make: Callable[[], Any], **options: Any) -> Callable[[TokenCounter], Trim]:
    def start(counter: TokenCounter) -> Trim:
        pruner = make()

        def trim(messages: list[Message], target: int) -> tuple[list[Message], float]:
            pruned, seconds = timed(
                lambda: pruner.prune(
                    messages, target, counter=counter, provider="openai", **options
                )
            )
            return list(pruned.messages), seconds

        return trim

    return start


def _langchain(
    start_on: str | Sequence[str], *, approximate: bool = False
) -> Callable[[TokenCounter], Trim]:
    """LangChain's ``trim_messages`` as its guides show it for agents, beginning with *start_on*."""

    def start(counter: TokenCounter) -> Trim:
        from langchain_core.messages import convert_to_messages, trim_messages

        def trim(messages: list[Message], target: int) -> tuple[list[Message], float]:
            native = convert_to_messages(messages)
            own = {id(message): dict_ for message, dict_ in zip(native, messages, strict=True)}

            def count(some: list[Any]) -> int:
                return int(counter.count_messages([own[id(message)] for message in some]))

            trimmed, seconds = timed(
                lambda: trim_messages(
                    native,
                    max_tokens=target,
                    token_counter="approximate" if approximate else count,
                    strategy="last",
                    start_on=start_on,
                    end_on=("human", "tool"),
                    include_system=True,
                )
            )
            return [own[id(message)] for message in trimmed], seconds

        return trim

    return start


def _langchain_editing(counter: TokenCounter) -> Trim:
    """LangChain's context editing: it clears results of tools, and drops nothing."""
    from langchain.agents.middleware import ClearToolUsesEdit
    from langchain_core.messages import convert_to_messages

    def trim(messages: list[Message], target: int) -> tuple[list[Message], float]:
        native = convert_to_messages(messages)
        own = {id(message): dict_ for message, dict_ in zip(native, messages, strict=True)}
        kept = list(native)

        def written(some: Sequence[Any]) -> list[Message]:
            return [
                own.get(id(each)) or {**messages[at], "content": each.content}
                for at, each in enumerate(some)
            ]

        edit = ClearToolUsesEdit(trigger=target)
        count = lambda some: int(counter.count_messages(written(some)))  # noqa: E731 - what it takes
        _, seconds = timed(lambda: edit.apply(kept, count_tokens=count))
        return written(kept), seconds

    return trim


def _litellm(_: TokenCounter) -> Trim:
    from litellm.utils import trim_messages

    logging.getLogger("LiteLLM").setLevel(
        logging.CRITICAL
    )  # it logs what it catches, and returns the input

    def trim(messages: list[Message], target: int) -> tuple[list[Message], float]:
        trimmed, seconds = timed(lambda: trim_messages(messages, model="gpt-4o", max_tokens=target))
        return list(trimmed), seconds

    return trim


def _pydantic_message(group: list[Message]) -> Any:
    """Return dicts that pydantic-ai has as one message: an answer, prompts, or the results of
    calls."""
    from pydantic_ai import messages as ai

    first = group[0]
    if first["role"] == "assistant":
        calls = [
            ai.ToolCallPart(call["function"]["name"], call["function"]["arguments"], call["id"])
            for call in first.get("tool_calls") or ()
        ]
        said = [ai.TextPart(first["content"])] if first.get("content") else []
        return ai.ModelResponse([*said, *calls])
    if first["role"] == "tool":
        return ai.ModelRequest(
            [ai.ToolReturnPart("tool", each["content"], each["tool_call_id"]) for each in group]
        )
    kinds: dict[str, Any] = {"system": ai.SystemPromptPart, "user": ai.UserPromptPart}
    return ai.ModelRequest([kinds[each["role"]](each["content"]) for each in group])


def _harness(counter: TokenCounter) -> Trim:
    """pydantic-ai-harness's sliding window, from the target down to half of it, as in its
    documentation."""
    from pydantic_ai_harness.compaction import SlidingWindowCompaction

    def trim(messages: list[Message], target: int) -> tuple[list[Message], float]:
        groups: list[list[Message]] = []
        for message in messages:
            before = groups[-1][-1]["role"] if groups else ""
            if (before, message["role"]) in (("tool", "tool"), ("system", "user")):
                # One request each in pydantic-ai.
                groups[-1].append(message)
            else:
                groups.append([message])
        native = [_pydantic_message(group) for group in groups]
        own = {id(made): group for made, group in zip(native, groups, strict=True)}
        if int(counter.count_messages(messages)) <= target:
            return messages, 0.0
        strategy: Any = SlidingWindowCompaction(
            max_tokens=target,
            keep_tokens=target // 2,
            tokenizer=lambda text: int(counter.count(text)),
        )
        kept, seconds = timed(lambda: asyncio.run(strategy.compact(native, SimpleNamespace())))
        written = [own.get(id(each)) or [_from_pydantic(each)] for each in kept]
        return [message for group in written for message in group], seconds

    return trim


def _from_pydantic(message: Any) -> Message:
    """Return a message that the harness made: a system prompt that it kept."""
    text = "\n".join(str(part.content) for part in message.parts)
    return {
        "role": "system" if message.parts[0].part_kind == "system-prompt" else "user",
        "content": text,
    }


class _HaystackCounter:
    """brim's counter behind Haystack's protocol; knows the dict of every message it made."""

    def __init__(self, counter: TokenCounter) -> None:
        from haystack.dataclasses import ChatMessage

        self._counter = counter
        self._convert = ChatMessage.from_openai_dict_format
        self._own: dict[int, tuple[Any, Message]] = {}

    def read(self, messages: Sequence[Message]) -> list[Any]:
        """Return *messages* as Haystack's, remembered with their dicts."""
        native = [self._convert(message) for message in messages]
        self._own |= {
            id(made): (made, message) for made, message in zip(native, messages, strict=True)
        }
        return native

    def write(self, native: Sequence[Any]) -> list[Message]:
        """Return the caller's dicts, and for messages that Haystack made its own."""
        return [
            self._own[id(message)][1]
            if id(message) in self._own
            else message.to_openai_dict_format()
            for message in native
        ]

    def count(self, messages: list[Any], tools: object = None) -> int:  # noqa: ARG002 - the protocol has it
        """Return the tokens of *messages*."""
        return int(self._counter.count_messages(self.write(messages)))


def _haystack(**options: Any) -> Callable[[TokenCounter], Trim]:
    """Haystack's compactor, given the target itself; None means that it leaves the history as it
    is."""

    def start(counter: TokenCounter) -> Trim:
        from haystack.hooks.compaction import SlidingWindowCompactor

        compactor = SlidingWindowCompactor(**options)

        def trim(messages: list[Message], target: int) -> tuple[list[Message], float]:
            theirs = _HaystackCounter(counter)
            native = theirs.read(messages)
            compacted, seconds = timed(lambda: compactor.compact(native, target, theirs))
            return theirs.write(native if compacted is None else compacted), seconds

        return trim

    return start


def _haystack_hook(counter: TokenCounter) -> Trim:
    """Haystack's compactor in its hook, with the documented marks: from 0.7 of the window down to
    0.4 of it.

    The target is where it must act, so it is 0.7 of the window. What was compacted stays compacted
    in the agent's state: later calls bring only the messages that are new.
    """
    from haystack.components.agents.state import State
    from haystack.hooks.compaction import CompactionHook, SlidingWindowCompactor

    theirs = _HaystackCounter(counter)
    state = State(
        schema={"context_tokens": {"type": int}}, data={"messages": [], "context_tokens": 0}
    )
    seen = 0

    def trim(messages: list[Message], target: int) -> tuple[list[Message], float]:
        nonlocal seen
        window = max(1, int(target / 0.7))
        hook = CompactionHook(SlidingWindowCompactor(), context_window=window, token_counter=theirs)
        state.data["messages"] = state.data["messages"] + theirs.read(messages[seen:])
        seen = len(messages)
        _, seconds = timed(lambda: hook.run(state))
        return theirs.write(state.data["messages"]), seconds

    return trim


TRIMMERS = (
    Trimmer("brim fifo", "brim", _brim(FifoPruner)),
    Trimmer("brim fifo, fill", "brim", _brim(FifoPruner, fill=True)),
    Trimmer("brim sliding window", "brim", _brim(SlidingWindowPruner)),
    Trimmer("brim summarize", "brim", _brim(SummarizePruner)),
    Trimmer("brim watermark 0.6", "brim", _brim(WatermarkPruner)),
    Trimmer(
        "brim watermark auto",
        "brim",
        _brim(lambda: WatermarkPruner(low="auto", prices=model(PRICED).price())),
    ),
    Trimmer("LangChain, starts on human", "langchain-core", _langchain("human")),
    Trimmer(
        "LangChain, approximate count", "langchain-core", _langchain("human", approximate=True)
    ),
    Trimmer("LangChain, on human or ai", "langchain-core", _langchain(("human", "ai"))),
    Trimmer("LangChain, context editing", "langchain", _langchain_editing),
    Trimmer("pydantic-ai-harness", "pydantic-ai-harness", _harness),
    Trimmer("LiteLLM", "litellm", _litellm, every=13),
    Trimmer("Haystack, defaults", "haystack-ai", _haystack()),
    Trimmer("Haystack, strict", "haystack-ai", _haystack(min_keep_steps=0, omission_note=None)),
    Trimmer("Haystack, hook 0.7 to 0.4", "haystack-ai", _haystack_hook),
)


def start_all(counter: TokenCounter) -> tuple[list[Trimmer], dict[str, str]]:
    """Import everyone; return who is here, and why the others are not."""
    os.environ.update(OFFLINE)
    warnings.filterwarnings("ignore", message=".*is an experimental component")
    present, absent = [], {}
    for trimmer in TRIMMERS:
        try:
            trimmer.start(counter)
            present.append(trimmer)
        except ImportError as error:
            absent[trimmer.name] = f"not installed ({error})"
    return present, absent
