"""The terms of a request: what it asks for that changes its price.

A service tier, a fast mode or a region multiplies the price. Sound has rates of its own. Tools that
the provider runs have a fee for each use, and the model reads the prompt again after each.
``read_terms`` reads all of that from a request, so that a reservation is the most that the request
can cost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from brim.files import data_rows
from brim.record import PlainData

CHEAPER_TIERS = ("flex", "batch")
"""Tiers that cost less than the standard one.

A provider may answer with the standard tier, so that is reserved.
"""
STANDARD = ("", "auto", "default", "standard", "standard_only", "global", "not_available")
"""Values of a tier, a speed or a region that don't change the price."""
OPEN = ("", "auto")
"""Values that leave the choice to the provider's settings for the project."""
ANTHROPIC_ROUNDS = 10
"""How often Claude is called in one request while tools run on the server:
``data/server_tools.tsv`` has the source."""
FREES_CODE_EXECUTION = ("web_search_20260209", "web_fetch_20260209")
"""Tools that make code execution free; so do their later versions."""
CLIENT_TOOLS = (
    "apply_patch",
    "bash",
    "computer",
    "computer_use",
    "computer_use_preview",
    "custom",
    "function",
    "local_shell",
    "memory",
    "namespace",
    "str_replace_based_edit_tool",
    "text_editor",
)
"""Kinds of tools that the client runs: they cost nothing but tokens."""

WEB_PLUGINS = ("web", "file-parser")
"""Plugins of OpenRouter's that have a fee."""
COMPACTS_AT = 50_000
"""The shortest prompt that a provider compacts if a request doesn't say it: Anthropic's minimum.
Source: https://platform.claude.com/docs/en/build-with-claude/compaction-threshold"""
CONFIGS = ("config", "generationConfig", "generation_config")
"""Fields in which a request to Gemini has others."""
KEPT_PROMPTS = (
    "previous_response_id",
    "use_previous_response_id",
    "conversation",
    "conversation_id",
    "cached_content",
    "cachedContent",
)
"""Fields that name a part of the prompt which the provider keeps, so that brim can't see it."""

_DATE = r"_(\d{8}|\d{4}_\d\d_\d\d)$"
_SCHEMAS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "function",
    "function_declarations",
    "functionDeclarations",
    "toolSpec",
    "cachePoint",
)
_HOLDERS = (
    "content",
    "parts",
    "inline_data",
    "inlineData",
    "file_data",
    "fileData",
    "source",
)
"""Fields of a part of a request that hold other parts."""
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class ServerTool(PlainData):
    """One line of ``data/server_tools.tsv``: a tool that the provider runs."""

    api: str
    kind: str
    models: str
    fee: str
    """US dollars, ``model`` for the model's own rate of searches, or ``?`` if nothing limits it."""
    per: str
    """``use``, or ``request`` if it's charged once."""
    field: str
    """The field of a request that limits the uses; ``-`` if there is none."""
    most: str
    """The documented maximum of uses without that field; ``-`` if there is none."""
    rereads: str
    """``yes`` if the model reads the prompt again after a use."""

    @property
    def has_shared_limit(self) -> bool:
        """Whether one limit holds for all tools of the request."""
        return self.field == "max_tool_calls"

    @property
    def limit_field(self) -> str:
        """The field that limits the uses, as one says it to a person."""
        if self.has_shared_limit:
            return f"{self.field} of the request"
        return f"its {self.field}"


@dataclass(frozen=True, slots=True)
class Terms(PlainData):
    """What a request asks for that changes its price."""

    service_tier: str = ""
    speed: str = ""
    inference_geo: str = ""
    answers: int = 1
    """How many answers are asked for."""
    hears: bool = False
    """Whether the prompt may hold sound."""
    speaks: bool = False
    """Whether the answer may be sound."""
    searches: int = 0
    """The most searches that are charged at the model's own rate."""
    tool_uses: tuple[tuple[str, int], ...] = ()
    """The most uses of each tool with a fee of its own."""
    prompts: int = 1
    """How often the model may read a prompt: once more after each use of a tool that the provider
    runs."""
    tool_cost: int | None = None
    """The most that the provider's tools may cost, in micro-dollars, if the caller says so."""
    has_hidden_fee: bool = False
    """Whether a tool has a fee that no response reports."""
    unlimited: str = ""
    """Why no maximum is known, and which parameter sets one; empty if there is a maximum."""
    compacts_at: int | None = None
    """The shortest prompt, in tokens, that the provider summarizes before it answers; None if it
    doesn't."""
    standing: tuple[str, ...] = ()
    """What multiplied the price of an earlier answer although its request didn't ask for it."""

    @property
    def factors(self) -> tuple[str, ...]:
        """What multiplies the price, by the names in the table of models."""
        names = []
        for name in (self.service_tier, self.speed):
            if name not in STANDARD and name not in CHEAPER_TIERS:
                names.append(name)
        if self.inference_geo == "us":
            names.append("us")
        for name in self.standing:
            choice = self.service_tier
            if name == "us":
                choice = self.inference_geo
            if choice in OPEN and name not in names:
                names.append(name)
        return tuple(names)

    @property
    def has_server_tools(self) -> bool:
        """Whether the provider may run tools."""
        return bool(self.searches or self.tool_uses or self.prompts > 1 or self.unlimited)

    def compacts(self, prompt: int) -> bool:
        """Whether the provider may summarize a prompt of so many tokens before it answers."""
        return self.compacts_at is not None and prompt >= self.compacts_at

    def with_tool_cost(self, amount: int) -> Terms:
        """Return these terms with *amount* as the most that the provider's tools cost."""
        return replace(self, tool_cost=amount, searches=0, tool_uses=(), prompts=1, unlimited="")


def read_terms(
    options: Mapping[str, Any],
    model: str,
    tools: Iterable[Any] | None = None,
    messages: Iterable[Any] = (),
) -> Terms:
    """Return the terms of a request to *model*: its *tools*, its *messages* and all its other
    fields."""
    options = _with_config(options)
    configured_tools = () if tools else options.get("tools")
    uses = _ServerToolUses(options, model)
    uses.add_tools([*(tools or ()), *_items(configured_tools), *_implied_tools(options, model)])
    return Terms(
        service_tier=_service_tier(options),
        speed=_word(options.get("speed")),
        inference_geo=_word(options.get("inference_geo")),
        answers=_answers(options),
        hears=any(_has_sound(message) for message in messages),
        speaks=any(_word(modality) == "audio" for modality in _modalities(options)),
        searches=uses.searches,
        tool_uses=tuple(uses.with_fee.items()),
        prompts=uses.prompts,
        has_hidden_fee=uses.has_hidden_fee,
        unlimited=uses.unlimited,
        compacts_at=_compacts_at(options),
    )


def keeps_prompt(options: Mapping[str, Any]) -> bool:
    """Whether a request with these fields has a part of its prompt that the provider keeps."""
    options = _with_config(options)
    if any(options.get(name) for name in KEPT_PROMPTS):
        return True
    prompt = options.get("prompt")  # of the Responses API; elsewhere it is a text
    return prompt is not None and not isinstance(prompt, str | list | tuple)


class _ServerToolUses:
    """Adds up how often the provider may run tools in one request."""

    def __init__(self, options: Mapping[str, Any], model: str) -> None:
        self._options = options
        self._model = model
        self._api = api_of(model)
        self._rounds = 0
        self.searches = 0
        self.with_fee: dict[str, int] = {}
        self.has_hidden_fee = False
        self.unlimited = ""

    @property
    def prompts(self) -> int:
        """How often the model may read a prompt."""
        if self._api == "anthropic":
            return min(1 + self._rounds, ANTHROPIC_ROUNDS)
        return 1 + self._rounds

    def add_tools(self, tools: Sequence[Any]) -> None:
        """Add the uses of *tools*."""
        has_free_code = any(_frees_code_execution(tool) for tool in tools)
        shared_rounds = 0
        for definition in tools:
            kind = kind_of(definition)
            if not kind:
                continue
            if kind == "code_execution" and self._api == "anthropic" and has_free_code:
                continue
            tool = server_tool(self._api, kind, self._model)
            if tool is None or tool.fee == "?":
                self.has_hidden_fee = True
                self.unlimited = (
                    f"nothing says what the tool {kind!r} costs at most: set tool_usd of the guard"
                )
                continue
            uses = self._most_uses(tool, definition)
            if uses is None:
                self.unlimited = (
                    f"nothing limits the tool {kind!r}: "
                    f"set {tool.limit_field}, or tool_usd of the guard"
                )
                continue
            self._add_fee(tool, uses)
            if tool.rereads == "no":
                continue
            if tool.has_shared_limit:
                shared_rounds = uses
            else:
                self._rounds += uses
        self._rounds += shared_rounds

    def _most_uses(self, tool: ServerTool, definition: Any) -> int | None:
        """Return how often *tool* can run; None if nothing limits it."""
        value = None
        if tool.has_shared_limit:
            value = self._options.get(tool.field)
        elif tool.field != "-":
            value = _get(definition, tool.field)
        if isinstance(value, int) and not isinstance(value, bool):
            return max(0, value)
        if tool.most == "-":
            return None
        return int(tool.most)

    def _add_fee(self, tool: ServerTool, uses: int) -> None:
        if tool.fee == "0":
            return
        if tool.per == "request":
            uses = min(uses, 1)
        if tool.fee == "model":
            self.searches += uses
        else:
            self.with_fee[tool.kind] = self.with_fee.get(tool.kind, 0) + uses


@cache
def server_tools() -> tuple[ServerTool, ...]:
    """Return every tool that a provider is known to run."""
    return tuple(ServerTool(*row) for row in data_rows(__file__, "server_tools.tsv"))


def server_tool(api: str, kind: str, model: str) -> ServerTool | None:
    """Return the tool *kind* of *api* for *model*; None if it isn't known."""
    name = model.lower().rpartition("/")[2]
    for tool in server_tools():
        if tool.api != api or tool.kind != kind:
            continue
        if tool.models == "*" or name.startswith(tool.models):
            return tool
    return None


def tool_fee(kind: str, model: str) -> int | None:
    """Return what one use of OpenAI's tool *kind* costs, in micro-dollars; None if that isn't
    known."""
    tool = server_tool("openai", kind, model)
    if tool is None or tool.fee in ("model", "?"):
        return None
    whole, _, places = tool.fee.partition(".")
    return int(whole + places.ljust(6, "0")[:6])


def api_of(model: str) -> str:
    """Return whose tools *model* is given."""
    name = model.lower()
    if "claude" in name:
        return "anthropic"
    if "gemini" in name:
        return "gemini"
    return "openai"


def kind_of(tool: Any) -> str:
    """Return the kind of a tool that the provider runs, without its date; empty if the client runs
    it."""
    if any(_get(tool, name) is not None for name in _SCHEMAS):
        return ""
    kind = re.sub(_DATE, "", _word(_get(tool, "type"))) or _lone_key(tool)
    if kind == "shell" and _word(_get(_get(tool, "environment"), "type")).startswith("container"):
        kind = "code_interpreter"
    if kind == "code_interpreter":
        return _interpreter(tool)
    if kind == "shell" or kind in CLIENT_TOOLS:
        return ""
    return kind


def _lone_key(tool: Any) -> str:
    """Return the kind of a tool of Gemini's form, such as ``{"googleSearch": {}}``."""
    if not isinstance(tool, Mapping) or len(tool) != 1:
        return ""
    (key,) = tool
    if key == "name":
        return ""
    return _snake_case(key)


def _interpreter(tool: Any) -> str:
    """Return the kind of a code interpreter: its fee depends on the memory of its container."""
    memory = _word(_get(_get(tool, "container"), "memory_limit"))
    if memory in ("", "1g"):
        return "code_interpreter"
    return f"code_interpreter_{memory}"


def _with_config(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *options* with what Gemini's requests have in a field of its own beside them."""
    for name in CONFIGS:
        config = options.get(name)
        if isinstance(config, Mapping):
            options = {**config, **options}
        elif config is not None and hasattr(config, "__dict__"):  # an object of google-genai
            options = {**vars(config), **options}
    return options


def _service_tier(options: Mapping[str, Any]) -> str:
    """Return the tier that a request asks for; Amazon Bedrock has it in an object."""
    tier = options.get("service_tier") or options.get("serviceTier")
    if isinstance(tier, Mapping):
        tier = tier.get("type")
    return _word(tier)


def _modalities(options: Mapping[str, Any]) -> Sequence[Any]:
    """Return the kinds of answers that a request asks for: texts, sound."""
    for name in ("modalities", "response_modalities", "responseModalities"):
        modalities = _items(options.get(name))
        if modalities:
            return modalities
    return ()


def _compacts_at(options: Mapping[str, Any]) -> int | None:
    """Return how long a prompt must be to be compacted by the provider; None if it never is."""
    management = options.get("context_management")
    edits = _items(management) or _items(_get(management, "edits"))
    for edit in edits:
        if not _word(_get(edit, "type")).startswith("compact"):
            continue
        threshold = _get(_get(edit, "trigger"), "value") or _get(edit, "compact_threshold")
        if isinstance(threshold, int):
            return threshold
        return COMPACTS_AT
    return None


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    return ()


def _answers(options: Mapping[str, Any]) -> int:
    """Return how many answers a request asks for."""
    for name in ("n", "candidate_count", "candidateCount"):
        number = options.get(name)
        if isinstance(number, int):
            return max(1, number)
    return 1


def _implied_tools(options: Mapping[str, Any], model: str) -> Iterator[Mapping[str, Any]]:
    """Yield the tools that a request gets from its other fields or from its model."""
    if options.get("mcp_servers"):
        yield {"type": "mcp_toolset"}
    if "-search-preview" in model or "-search-api" in model:
        yield {"type": "chat_search"}
    elif options.get("web_search_options") is not None:
        yield {"type": "web_search_options"}
    if model.lower().rpartition("/")[2].startswith("sonar"):  # Perplexity's models always search
        yield {"type": "sonar_search"}
    if options.get("search_parameters"):  # xAI's
        yield {"type": "live_search"}
    if model.endswith(":online"):
        yield {"type": "web_plugin"}
    for plugin in _items(options.get("plugins")):
        name = _get(plugin, "id")
        if name in WEB_PLUGINS:
            yield {"type": f"{name}_plugin"}


def _frees_code_execution(tool: Any) -> bool:
    kind = _word(_get(tool, "type"))
    return any(kind[:-8] == name[:-8] and kind >= name for name in FREES_CODE_EXECUTION)


def _has_sound(part: Any, depth: int = 0) -> bool:
    """Whether *part* of a request holds sound: films have a sound track."""
    if part is None or isinstance(part, str | bytes | int | float) or depth > _DEEPEST:
        return False
    if isinstance(part, list | tuple):
        return any(_has_sound(inner, depth + 1) for inner in part)
    if _is_sound(part):
        return True
    return any(_has_sound(_get(part, name), depth + 1) for name in _HOLDERS)


def _is_sound(part: Any) -> bool:
    if _word(_get(part, "type")) in ("input_audio", "audio") or _get(part, "audio") is not None:
        return True
    mime_types = [_word(_get(part, name)) for name in ("mime_type", "mimeType", "media_type")]
    return any(mime_type.startswith(("audio/", "video/")) for mime_type in mime_types)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _word(value: Any) -> str:
    """Return *value* in lower case if it's a text or an enumeration of texts; otherwise an empty
    text."""
    text = getattr(value, "value", value)
    if isinstance(text, str):
        return text.lower()
    return ""


def _get(holder: Any, name: str) -> Any:
    if type(holder) is dict or isinstance(holder, Mapping):  # the first is ten times as fast
        return holder.get(name)
    try:
        return getattr(holder, name, None)
    except Exception:  # a property of a stranger's class can raise anything
        return None
