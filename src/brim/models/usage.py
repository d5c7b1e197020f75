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
        for request in self.compactions:
            own += request.fresh
        return own

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
    report = _Report(usage)
    if type(usage) is dict and _OTHER_FORMS.isdisjoint(usage) and report.first(*_ANTHROPIC):
        return _anthropic(report)
    usage_field = report.first(*_WRAPPERS)
    if usage_field is not None:
        tokens = read_usage(report.get(usage_field))
        factors = tokens.factors or _factors(report)
        return replace(tokens, factors=factors, tool_uses=_tool_uses(report))
    for counters, read in _FORMS:
        if report.first(*counters) is not None:
            return read(report)
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
        value = self.get(key)
        if value is None:
            return _NO_REPORT
        return _Report(value, f"{self._path}.{key}")

    def parts(self, *keys: str) -> list[_Report]:
        """Return the items of the first list among *keys*."""
        for key in keys:
            value = self.get(key)
            if isinstance(value, list | tuple):
                path = f"{self._path}.{keys[0]}"
                return [_Report(item, f"{path}[{at}]") for at, item in enumerate(value)]
        return []

    def sound(self, *keys: str) -> int:
        """Return the tokens of sound that Gemini lists under one of *keys*."""
        parts = [part for part in self.parts(*keys) if part.text("modality") == "audio"]
        return sum(part.count("tokenCount", "token_count") for part in parts)

    def text(self, key: str) -> str:
        value = self.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            value = getattr(value, "value", None)  # SDKs have enumerations
        if isinstance(value, str):
            return value.lower()
        return ""

    def count(self, *keys: str) -> int:
        """Return the number at the first of *keys* that has a value."""
        for key in keys:
            value = self.get(key)
            if value is None:
                continue
            if type(value) is int and 0 <= value <= _MOST:
                return value
            return self._whole_number(key, value)
        return 0

    def _whole_number(self, key: str, value: object) -> int:
        if isinstance(value, float) and value.is_integer():
            number = int(value)
            if 0 <= number <= _MOST:
                return number
        raise InputError(
            f"{self._path}.{key} must be a whole number of tokens, not {repr(value)[:40]}"
        )


_NO_REPORT = _Report({})
"""A part that isn't there: it counts nothing."""


def _anthropic(report: _Report) -> Tokens:
    by_time = report.part("cache_creation")
    written_1h = by_time.count("ephemeral_1h_input_tokens")
    written_5m = by_time.count("ephemeral_5m_input_tokens")
    written = report.count("cache_creation_input_tokens")
    without_time = max(0, written - written_1h - written_5m)
    # Top-level counters leave out what compactions took, and what another model answered has
    # another price.
    compactions = []
    foreign = set()
    for iteration in report.parts("iterations"):
        kind = iteration.text("type")
        if kind == "compaction":
            compactions.append(_anthropic(iteration))
        elif kind not in ("", "message"):
            foreign.add(kind)
    return Tokens(
        input=report.count("input_tokens"),
        output=report.count("output_tokens"),
        cache_read=report.count("cache_read_input_tokens"),
        cache_write_5m=written_5m + without_time,
        cache_write_1h=written_1h,
        factors=(*_factors(report), *sorted(foreign)),
        extras=_extras(searches=_searches(report)),
        compactions=tuple(compactions),
    )


def _framework(report: _Report) -> Tokens:
    """LangChain's and pydantic-ai's usage: the prompt's total contains what was cached."""
    inputs = report.part("input_token_details")
    outputs = report.part("output_token_details")
    read = inputs.count(*_with_tier("cache_read")) or report.count("cache_read_tokens")
    written_1h = inputs.count("ephemeral_1h_input_tokens")
    written_1h = written_1h or report.count("cache_write_1h_tokens")
    # LangChain's cache_creation is 0 if the times are listed; pydantic-ai's total contains those of
    # an hour.
    written_5m = inputs.count(*_with_tier("cache_creation"))
    written_5m += inputs.count("ephemeral_5m_input_tokens")
    written_5m = written_5m or max(0, report.count("cache_write_tokens") - written_1h)
    extras = _extras(
        sound_in=inputs.count("audio") or report.count("input_audio_tokens"),
        sound_out=outputs.count("audio") or report.count("output_audio_tokens"),
    )
    return Tokens(
        input=max(0, report.count("input_tokens") - read - written_5m - written_1h),
        output=report.count("output_tokens"),
        cache_read=read,
        cache_write_5m=written_5m,
        cache_write_1h=written_1h,
        writes_are_input=True,
        extras=extras,
    )


def _with_tier(name: str) -> tuple[str, ...]:
    """Return the counters that LangChain calls *name*, with the service tier before it."""
    return (name, f"flex_{name}", f"priority_{name}")


def _chat(report: _Report) -> Tokens:
    """The usage of OpenAI's chat and of those who copy it."""
    return _openai(
        report,
        prompt="prompt_tokens",
        output="completion_tokens",
        read=("prompt_cache_hit_tokens", "cache_read_input_tokens"),
        written="cache_creation_input_tokens",
    )


def _responses(report: _Report) -> Tokens:
    """The usage of OpenAI's Responses API and of Codex."""
    return _openai(
        report,
        prompt="input_tokens",
        output="output_tokens",
        read=("cached_input_tokens",),
        written="cache_write_input_tokens",
    )


def _openai(
    report: _Report, *, prompt: str, output: str, read: tuple[str, ...], written: str
) -> Tokens:
    """Read counters by these names; the details have the same ones in all of OpenAI's forms."""
    details = report.part(f"{prompt}_details")
    cache_read = details.count("cached_tokens") or report.count(*read)
    cache_written = details.count("cache_write_tokens", "cache_creation_tokens")
    cache_written = cache_written or report.count(written)
    extras = _extras(
        sound_in=details.count("audio_tokens"),
        sound_out=report.part(f"{output}_details").count("audio_tokens"),
        searches=_searches(report),  # LiteLLM reports those of Claude in OpenAI's form
    )
    return Tokens(
        input=max(0, report.count(prompt) - cache_read - cache_written),
        output=report.count(output),
        cache_read=cache_read,
        cache_write_5m=cache_written,
        writes_are_input=True,
        factors=_factors(report),
        extras=extras,
    )


def _gemini(report: _Report) -> Tokens:
    prompt = report.count("promptTokenCount", "prompt_token_count")
    read = report.count("cachedContentTokenCount", "cached_content_token_count")
    tools = report.count("toolUsePromptTokenCount", "tool_use_prompt_token_count")
    answer = report.count("candidatesTokenCount", "candidates_token_count")
    thoughts = report.count("thoughtsTokenCount", "thoughts_token_count")
    extras = _extras(
        sound_in=report.sound("promptTokensDetails", "prompt_tokens_details"),
        sound_out=report.sound("candidatesTokensDetails", "candidates_tokens_details"),
    )
    factors = _factors(report)
    if report.sound("cacheTokensDetails", "cache_tokens_details"):
        factors += ("cached-audio",)  # its price isn't known
    return Tokens(
        input=max(0, prompt - read) + tools,
        output=answer + thoughts,
        cache_read=read,
        factors=factors,
        extras=extras,
    )


def _converse(report: _Report) -> Tokens:
    """The usage of Amazon Bedrock's Converse, whose input leaves out what was cached."""
    written = report.count("cacheWriteInputTokens")
    written_1h = 0
    for detail in report.parts("cacheDetails"):
        if detail.text("ttl") == "1h":
            written_1h += detail.count("inputTokens")
    return Tokens(
        input=report.count("inputTokens"),
        output=report.count("outputTokens"),
        cache_read=report.count("cacheReadInputTokens"),
        cache_write_5m=max(0, written - written_1h),
        cache_write_1h=written_1h,
        factors=_factors(report),
    )


_WRAPPERS = ("usage", "usageMetadata", "usage_metadata")
"""Where a whole response has its usage."""
_ANTHROPIC = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_FORMS = (
    (("inputTokens", "outputTokens"), _converse),
    (
        (
            "promptTokenCount",
            "candidatesTokenCount",
            "prompt_token_count",
            "candidates_token_count",
        ),
        _gemini,
    ),
    (("prompt_tokens", "completion_tokens"), _chat),
    (
        (
            "input_token_details",
            "output_token_details",
            "cache_read_tokens",
            "cache_write_tokens",
        ),
        _framework,
    ),
    (("input_tokens_details", "cached_input_tokens", "cache_write_input_tokens"), _responses),
    (_ANTHROPIC, _anthropic),
)
"""The forms of a report: the counters that only it and later forms have, and what reads it."""
_OTHER_FORMS = frozenset(_WRAPPERS).union(*(counters for counters, _ in _FORMS[:-1]))
"""A report with none of these is Anthropic's, the most frequent form, or none that is known."""


def _searches(report: _Report) -> int:
    return report.part("server_tool_use").count("web_search_requests")


def _extras(*, sound_in: int = 0, sound_out: int = 0, searches: int = 0) -> tuple[int, ...]:
    extras = (sound_in, sound_out, searches)
    if any(extras):
        return extras
    return ()


def _factors(report: _Report) -> tuple[str, ...]:
    factors = []
    service = report.text("service_tier")
    if service not in _STANDARD_SERVICE:
        factors.append(service)
    if report.text("speed") == "fast":
        factors.append("fast")
    if report.text("inference_geo") == "us":
        factors.append("us")
    return tuple(factors)


def _tool_uses(response: _Report) -> tuple[tuple[str, int], ...]:
    """Return how often a response of OpenAI's Responses API used each tool with a fee."""
    counts: dict[str, int] = {}
    containers: set[str] = set()
    for item in response.parts("output"):
        kind = item.text("type")
        if kind == "web_search_call":
            if item.part("action").text("type") in ("", "search"):
                name = _search_tool(response)
                counts[name] = counts.get(name, 0) + 1
        elif kind == "file_search_call":
            counts["file_search"] = counts.get("file_search", 0) + 1
        elif kind == "code_interpreter_call":
            containers.add(item.text("container_id"))
    if containers:
        counts[_container(response)] = len(containers)
    return tuple(counts.items())


def _search_tool(response: _Report) -> str:
    """Return the kind of the search tool that a response used: the preview has another fee."""
    for tool in response.parts("tools"):
        if tool.text("type").startswith("web_search_preview"):
            return "web_search_preview"
    return "web_search"


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
    report = response
    if metadata is not None:
        report = {
            "usage": _field(response, "usage_metadata"),
            "service_tier": _field(metadata, "service_tier"),
        }
    elif details is not None:
        report = {
            "usage": _field(response, "usage"),
            "service_tier": _field(details, "service_tier"),
        }
    try:
        tokens = read_usage(report)
    except InputError as error:
        kind = type(response).__name__
        raise InputError(
            f"{kind}: can't read its usage: give the provider's whole response ({error})"
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
    for name in names:
        value = _field(holder, name)
        if isinstance(value, str) and value:
            return value
    return ""


def _field(holder: object, name: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(name)
    try:
        return getattr(holder, name, None)
    except Exception:  # a property of a stranger's class can raise anything
        return None
