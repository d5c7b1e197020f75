"""Reads providers' responses and their usage reports, which come in five forms.

What differs is whether the prompt's total contains the cached tokens. Anthropic leaves them out;
OpenAI (chat, responses, Codex) and Gemini put them in, and also list them separately.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brim.errors import InputError
from brim.record import PlainData

_MOST = 10**12
_STANDARD_SERVICE = ("", "standard", "default", "auto")


@dataclass(frozen=True)
class Tokens(PlainData):
    """The tokens of one request, each counted once."""

    input: int = 0
    """Prompt tokens that were neither read from nor written to a cache."""
    output: int = 0
    """Tokens that the model wrote, its reasoning included."""
    cache_read: int = 0
    """Prompt tokens read from a cache."""
    cache_write_5m: int = 0
    """Prompt tokens written to a cache for five minutes, or for whatever time the provider's only
    cache has."""
    cache_write_1h: int = 0
    """Prompt tokens written to a cache for an hour."""
    writes_are_input: bool = False
    """Whether cache writes without a price of their own are charged as input: OpenAI's way."""
    factors: tuple[str, ...] = ()
    """What changes the whole price: ``batch``, ``fast``, ``us``, or a service tier that has no
    price here."""
    extras: tuple[int, ...] = ()
    """What has a price of its own: tokens of sound in ``input`` and in ``output``, and searches;
    empty if nothing."""
    compactions: tuple[Tokens, ...] = ()
    """Requests that the provider made to compact the conversation: they are charged, but not part
    of the prompt."""
    tool_uses: tuple[tuple[str, int], ...] = ()
    """How often the provider ran each tool that has a fee of its own: OpenAI's, by their kinds."""

    @property
    def fresh(self) -> int:
        """All tokens but those read from a cache: what a limit in tokens counts."""
        own = self.input + self.output + self.cache_write_5m + self.cache_write_1h
        return own + sum(each.fresh for each in self.compactions)

    @property
    def is_nothing(self) -> bool:
        """Whether nothing was used that could cost anything."""
        return not (self.prompt or self.output or self.extras or self.compactions or self.tool_uses)

    @property
    def prompt(self) -> int:
        """The whole prompt, cached tokens included: what long-context tiers are measured by."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h


def read_usage(usage: object) -> Tokens:
    """Read *usage*, a mapping or object with the provider's own names.

    A whole response is read too: its usage, and its service tier. A counter that is missing or
    ``None`` is 0. One that is negative, or no whole number, is an ``InputError`` that names it; so
    is a report without any known counter.

    >>> read_usage({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 80}}).input
    20
    """
    has = _Report(usage)
    if inner := has.first("usage", "usageMetadata", "usage_metadata"):
        tokens = read_usage(has.get(inner))
        return replace(tokens, factors=tokens.factors or _factors(has), tool_uses=_tool_uses(has))
    if has.first(
        "promptTokenCount", "candidatesTokenCount", "prompt_token_count", "candidates_token_count"
    ):
        return _gemini(has)
    if has.first("prompt_tokens", "completion_tokens"):
        read, written = (
            ("prompt_cache_hit_tokens", "cache_read_input_tokens"),
            "cache_creation_input_tokens",
        )
        return _openai(has, "prompt_tokens", "completion_tokens", read, written)
    if has.first(
        "input_token_details", "output_token_details", "cache_read_tokens", "cache_write_tokens"
    ):
        return _framework(has)
    if has.first("input_tokens_details", "cached_input_tokens", "cache_write_input_tokens"):
        return _openai(
            has,
            "input_tokens",
            "output_tokens",
            ("cached_input_tokens",),
            "cache_write_input_tokens",
        )
    if has.first(
        "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
    ):
        return _anthropic(has)
    raise InputError("usage has none of the token counters of Anthropic, OpenAI, Codex or Gemini")


class _Report:
    """A usage report, or a part of one: a mapping, or an object of an SDK."""

    def __init__(self, usage: object, path: str = "usage") -> None:
        self._path = path
        self.get: Callable[[str], object]
        if type(usage) is dict or isinstance(usage, Mapping):
            self.get = usage.get
        else:
            self.get = lambda key: getattr(usage, key, None)

    def first(self, *keys: str) -> str | None:
        """Return the first of *keys* that has a value."""
        for key in keys:
            if self.get(key) is not None:
                return key
        return None

    def part(self, key: str) -> _Report:
        return _Report(self.get(key), f"{self._path}.{key}")

    def parts(self, *keys: str) -> list[_Report]:
        """Return the items of the first list among *keys*."""
        found = next(
            (value for key in keys if isinstance(value := self.get(key), (list, tuple))), ()
        )
        return [_Report(item, f"{self._path}.{keys[0]}[{at}]") for at, item in enumerate(found)]

    def sound(self, *keys: str) -> int:
        """Return the tokens of sound that Gemini lists under one of *keys*."""
        parts = [part for part in self.parts(*keys) if part.text("modality") == "audio"]
        return sum(part.count("tokenCount", "token_count") for part in parts)

    def text(self, key: str) -> str:
        value = self.get(key)
        value = getattr(value, "value", value)  # SDKs have enumerations
        return value.lower() if isinstance(value, str) else ""

    def count(self, *keys: str) -> int:
        """Return the number at the first of *keys* that has a value."""
        key = self.first(*keys)
        if key is None:
            return 0
        value = self.get(key)
        if type(value) is int and 0 <= value <= _MOST:
            return value
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        if type(whole) is not int or not 0 <= whole <= _MOST:
            raise InputError(
                f"{self._path}.{key} must be a whole number of tokens, not {repr(value)[:40]}"
            )
        return whole


def _anthropic(has: _Report) -> Tokens:
    by_time = has.part("cache_creation")
    hour, minutes = (
        by_time.count("ephemeral_1h_input_tokens"),
        by_time.count("ephemeral_5m_input_tokens"),
    )
    unsaid = max(0, has.count("cache_creation_input_tokens") - hour - minutes)
    fresh, output, read = (
        has.count(f"{name}_tokens") for name in ("input", "output", "cache_read_input")
    )
    extras = _extras(0, 0, has.part("server_tool_use").count("web_search_requests"))
    # Top-level counters leave out what compactions took, and what another model answered has
    # another price.
    steps = has.parts("iterations")
    foreign = {step.text("type") for step in steps} - {"", "message", "compaction"}
    compactions = tuple(_anthropic(step) for step in steps if step.text("type") == "compaction")
    factors = (*_factors(has), *sorted(foreign))
    return Tokens(fresh, output, read, minutes + unsaid, hour, False, factors, extras, compactions)


def _framework(has: _Report) -> Tokens:
    """LangChain's and pydantic-ai's usage: the prompt's total contains what was cached."""
    cached, made = has.part("input_token_details"), has.part("output_token_details")
    tiers = ("", "flex_", "priority_")  # LangChain puts the service tier before the name
    read = cached.count(*(f"{tier}cache_read" for tier in tiers)) or has.count("cache_read_tokens")
    hour = cached.count("ephemeral_1h_input_tokens") or has.count("cache_write_1h_tokens")
    # LangChain's cache_creation is 0 if the times are listed; pydantic-ai's total contains those of
    # an hour.
    created = cached.count(*(f"{tier}cache_creation" for tier in tiers)) + cached.count(
        "ephemeral_5m_input_tokens"
    )
    minutes = created or max(0, has.count("cache_write_tokens") - hour)
    heard = cached.count("audio") or has.count("input_audio_tokens")
    spoken = made.count("audio") or has.count("output_audio_tokens")
    fresh = max(0, has.count("input_tokens") - read - minutes - hour)
    extras = _extras(heard, spoken, 0)
    return Tokens(
        fresh, has.count("output_tokens"), read, minutes, hour, writes_are_input=True, extras=extras
    )


def _extras(heard: int, spoken: int, searches: int) -> tuple[int, ...]:
    return (heard, spoken, searches) if heard or spoken or searches else ()


def _openai(
    has: _Report, prompt: str, output: str, cached: tuple[str, ...], cache_written: str
) -> Tokens:
    details = has.part(f"{prompt}_details")
    read = details.count("cached_tokens") or has.count(*cached)
    written = details.count("cache_write_tokens", "cache_creation_tokens") or has.count(
        cache_written
    )
    fresh = max(0, has.count(prompt) - read - written)
    heard, spoken = (
        details.count("audio_tokens"),
        has.part(f"{output}_details").count("audio_tokens"),
    )
    # LiteLLM reports the searches of Claude in OpenAI's form.
    extras = _extras(heard, spoken, has.part("server_tool_use").count("web_search_requests"))
    return Tokens(
        fresh,
        has.count(output),
        read,
        written,
        writes_are_input=True,
        factors=_factors(has),
        extras=extras,
    )


def _gemini(has: _Report) -> Tokens:
    prompt = has.count("promptTokenCount", "prompt_token_count")
    read = has.count("cachedContentTokenCount", "cached_content_token_count")
    tools = has.count("toolUsePromptTokenCount", "tool_use_prompt_token_count")
    answer = has.count("candidatesTokenCount", "candidates_token_count")
    thoughts = has.count("thoughtsTokenCount", "thoughts_token_count")
    heard = has.sound("promptTokensDetails", "prompt_tokens_details")
    spoken = has.sound("candidatesTokensDetails", "candidates_tokens_details")
    # What cached sound costs isn't known.
    cached = ("cached-audio",) if has.sound("cacheTokensDetails", "cache_tokens_details") else ()
    extras, factors = _extras(heard, spoken, 0), (*_factors(has), *cached)
    fresh = max(0, prompt - read) + tools
    return Tokens(fresh, answer + thoughts, read, factors=factors, extras=extras)


def _factors(has: _Report) -> tuple[str, ...]:
    service = has.text("service_tier")
    signs = [service if service not in _STANDARD_SERVICE else ""]
    signs += [
        sign for key, sign in (("speed", "fast"), ("inference_geo", "us")) if has.text(key) == sign
    ]
    return tuple(sign for sign in signs if sign)


def _tool_uses(response: _Report) -> tuple[tuple[str, int], ...]:
    """Return how often a response of OpenAI's Responses API used each tool with a fee."""
    kinds = [tool.text("type") for tool in response.parts("tools")]
    is_preview = any(kind.startswith("web_search_preview") for kind in kinds)
    counts: dict[str, int] = {}
    containers: set[str] = set()
    for item in response.parts("output"):
        kind = item.text("type")
        if kind == "web_search_call" and item.part("action").text("type") in ("", "search"):
            name = "web_search_preview" if is_preview else "web_search"
            counts[name] = counts.get(name, 0) + 1
        elif kind == "file_search_call":
            counts["file_search"] = counts.get("file_search", 0) + 1
        elif kind == "code_interpreter_call":
            containers.add(item.text("container_id"))
    if containers:
        counts[_container(response)] = len(containers)
    return tuple(counts.items())


def _container(response: _Report) -> str:
    """Return the kind of the container that a response used, by its memory."""
    for tool in response.parts("tools"):
        memory = tool.part("container").text("memory_limit")
        if memory not in ("", "1g"):
            return f"code_interpreter_{memory}"
    return "code_interpreter"


# Whole responses ----------------------------------------------------------------------------------

_MODELS = ("model", "model_version", "modelVersion", "model_name")
_IDS = ("id", "response_id", "responseId", "provider_response_id")


@dataclass(frozen=True)
class Reported(PlainData):
    """What one request took, as its response says."""

    tokens: Tokens
    model: str = ""
    """The model that answered; empty if the response doesn't say."""
    request_id: str = ""
    """The provider's id of the response; empty if it has none."""
    reports_tools: bool = False
    """Whether it says how often the provider ran tools."""


def read_response(response: object) -> Reported:
    """Read a response of Anthropic, OpenAI (chat, Responses), Gemini, LiteLLM, LangChain or
    pydantic-ai.

    A bare usage report is read too; its model is unknown. ``InputError`` if there's no usage in it:
    a streamed answer has it at its end, and OpenAI's chat only with
    ``stream_options={"include_usage": True}``.
    """
    metadata = _field(response, "response_metadata")  # LangChain's
    details = _field(response, "provider_details")  # pydantic-ai's
    given: object = response
    if metadata is not None:
        given = {
            "usage": _field(response, "usage_metadata"),
            "service_tier": _field(metadata, "service_tier"),
        }
    elif details is not None:
        given = {
            "usage": _field(response, "usage"),
            "service_tier": _field(details, "service_tier"),
        }
    try:
        tokens = read_usage(given)
    except InputError as error:
        what = type(response).__name__
        raise InputError(
            f"{what}: can't read its usage: give the provider's whole response ({error})"
        ) from None
    model = _first(response, *_MODELS) or _first(metadata, "model_name", "model")
    return Reported(tokens, model, _first(response, *_IDS), _reports_tools(response))


def _reports_tools(response: object) -> bool:
    """Whether *response* says how often the provider ran tools: Anthropic's messages and OpenAI's
    Responses do."""
    if _field(response, "type") == "message" or _field(response, "object") == "response":
        return True
    usage = _field(response, "usage")
    return _field(usage, "server_tool_use") is not None


def _first(holder: object, *names: str) -> str:
    """Return the first of the fields *names* that holds a text."""
    return next(
        (found for name in names if isinstance(found := _field(holder, name), str) and found), ""
    )


def _field(holder: object, name: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(name)
    try:
        return getattr(holder, name, None)
    except Exception:  # a property of a stranger's class can raise anything
        return None
