"""Histories in JSON, written back in the same form.

One is a list of messages, a request body or an agent's transcript.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from brim.errors import InputError
from brim.messages import Provider, Pruned, Pruner
from brim.messages.formats import provider_of, read
from brim.messages.transcript import conversation, is_transcript
from brim.tokens.costs import difference
from brim.tokens.count import Count
from brim.tokens.inputs import name_of, read_text
from brim.tokens.messages.request import split
from brim.tokens.protocol import TokenCounter

BODIES = ("messages", "input", "contents")
"""Where a request body has its messages: OpenAI's chat and Anthropic's, OpenAI's Responses,
Gemini's."""


@dataclass
class Document:
    """What was read: its *messages*, and where they stand in it.

    *key* names them in a request *body*; both are empty for a plain list. *lines* are the lines of
    the file that the messages of a transcript begin in, and *broken* those that are not JSON.
    """

    name: str
    text: str
    messages: list[Any]
    body: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    lines: list[int] | None = None
    broken: list[int] = field(default_factory=list)

    @property
    def model(self) -> str | None:
        """The model that the request body names, if it does."""
        name = self.body.get("model")
        return name if isinstance(name, str) and name else None

    @property
    def unit(self) -> str:
        """What a place is counted in."""
        return "message" if self.lines is None else "line"

    def place(self, index: int) -> int:
        """Return where the message *index* stands: its place in the list, or its line in a
        transcript."""
        if self.lines is None:
            return index
        return self.lines[min(index, len(self.lines) - 1)] if self.lines else 1

    def provider(self, asked: str, model: str | None = None) -> tuple[Provider, str]:
        """Return whose rules hold, and how that was found.

        *asked* is what ``--provider`` says.
        """
        model = model or self.model
        found = provider_of(self.messages, asked, model)  # type: ignore[arg-type] # argparse has checked it
        if asked != "auto":
            return found, "given with --provider"
        if self.lines is not None:
            return "anthropic", "it is a Claude Code transcript"
        if self.key in ("input", "contents"):
            return (
                "responses" if self.key == "input" else "gemini",
                f"inferred from the request's {self.key}",
            )
        if self.key and found in ("openai", "anthropic") and self._is_anthropic():
            return "anthropic", "inferred from the request's fields"
        if provider_of(self.messages, "auto") != provider_of(self.messages, "auto", "claude"):
            return (
                found,
                f"inferred from the model's name, {model}"
                if model
                else "the default for plain messages",
            )
        return found, "inferred from the messages"

    def _is_anthropic(self) -> bool:
        tools = self.body.get("tools")
        first = tools[0] if isinstance(tools, list) and tools else None
        named = isinstance(first, dict) and "input_schema" in first
        return named or any(field in self.body for field in ("system", "anthropic_version"))

    def looks_otherwise(self, asked: str) -> str:
        """Return what to say if the messages have the shape of another provider than was *asked*
        for; else nothing."""
        looks = provider_of(self.messages, "auto")
        sure = looks == provider_of(self.messages, "auto", "claude")
        if asked in ("auto", looks) or not sure or not self.messages:
            return ""
        return f"{self.name}: the messages have the shape of {looks}, not of {asked}"

    def with_messages(self, messages: list[Any]) -> str:
        """Return the JSON with *messages* in place of its own, in the same form."""
        try:
            if self.key:
                return json.dumps(
                    {**self.body, self.key: messages}, ensure_ascii=False, **layout_of(self.text)
                )
            if (
                messages and self.text.strip().count("\n") == len(self.messages) + 1
            ):  # a line for each message
                rows = ",\n".join(
                    f"  {json.dumps(message, ensure_ascii=False)}" for message in messages
                )
                return f"[\n{rows}\n]"
            return json.dumps(messages, ensure_ascii=False, **layout_of(self.text))
        except RecursionError:
            raise InputError("nested too deeply to be written") from None

    def besides_messages(self, tools: list[Any] | None, counter: TokenCounter) -> Count:
        """Return what the rest of a request body takes: its system text, the schema of the
        answer."""
        if not self.key:
            return Count(0)
        request: Any = {**self.body, self.key: []}
        return difference(counter.count_messages(request, tools), counter.count_messages([], tools))

    def pins(self, given: list[str], provider: Provider) -> set[int | str]:
        """Return the places and ids in *given*.

        One that names nothing is a mistake.
        """
        ids = {id_ for entry in read(self.messages if given else [], provider) for id_ in entry.ids}
        found: set[int | str] = set()
        for text in given:
            if text in ids:
                found.add(text)
            elif text.isdecimal() and len(text) < 10 and int(text) < len(self.messages):
                found.add(int(text))
            else:
                raise InputError(
                    f"--pin {text}: no message has that place or id; there are {len(self.messages):,}"
                )
        return found

    def fit(
        self,
        pruner: Pruner,
        target: int,
        *,
        model: str,
        counter: TokenCounter,
        tools: list[Any] | None = None,
        provider: str = "auto",
        pin: list[str] | None = None,
        fill: bool = False,
    ) -> Pruned:
        """Prune the messages so that the whole request, with system text and tools, takes at most
        *target* tokens."""
        own: Any = split(self.body, None).tools if self.key else None
        if tools is not None and own:
            raise InputError(f"{self.name}: the request has tools of its own: leave --tools out")
        tools = (own or None) if tools is None else tools
        rest = self.besides_messages(tools, counter)
        whose, _ = self.provider(provider, model)
        room, pins = max(0, target - int(rest)), self.pins(pin or [], whose) or None
        pruned = pruner.prune(
            self.messages,
            room,
            model=model,
            tools=tools,
            provider=whose,
            counter=counter,
            fill=fill,
            pin=pins,
        )
        return _including(pruned, rest, target) if rest else pruned


def _including(pruned: Pruned, rest: Count, target: int) -> Pruned:
    """Return *pruned* with the *rest* of the request in its numbers."""
    receipt = pruned.receipt
    before, after = receipt.before + rest, receipt.after + rest
    fits, cache = int(after) <= target, receipt.cache
    parts = f"{rest:,} outside the messages, {int(receipt.after):,} in them and the tools"
    reason = (
        ""
        if fits
        else f"what is never dropped takes {int(after):,} tokens, {int(after) - target:,} too many ({parts})"
    )
    if cache:
        cache = replace(cache, prefix_tokens=cache.prefix_tokens + int(rest))
    receipt = replace(
        receipt, before=before, after=after, target=target, cache=cache, fits=fits, reason=reason
    )
    return replace(pruned, tokens=after, fits=fits, receipt=receipt)


def read_document(path: str) -> Document:
    """Return the messages in *path*: a list, a request body or a transcript; ``InputError`` if it
    isn't any of them."""
    text, name = read_text(path), name_of(path)
    try:
        value = _parsed(text, name)
    except InputError:
        lines, broken = _lines(text)
        if found := _transcript(name, text, lines, broken):
            return found
        if not broken and sum(line is not None for line in lines) > 1:
            raise InputError(
                f"{name}: JSON lines, but neither messages nor a transcript of Claude Code"
            ) from None
        raise
    return _transcript(name, text, [value], []) or _document(name, text, value)


def read_messages(path: str) -> Any:
    """Return the list of messages or the request body in *path*."""
    text, name = read_text(path), name_of(path)
    found = _document(name, text, _parsed(text, name), strict=False)
    return found.body or found.messages


def read_tools(path: str) -> list[Any]:
    """Return the tool schemas in *path*."""
    tools = read_json(path)
    if not isinstance(tools, list):
        raise InputError(f"{name_of(path)}: tools must be a list of schemas, not {kind_of(tools)}")
    return tools


def read_json(path: str) -> Any:
    """Return the JSON in *path*."""
    return _parsed(read_text(path), name_of(path))


def kind_of(value: object) -> str:
    """Return what a JSON value is, in words."""
    return {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a yes or no",
        type(None): "null",
    }.get(type(value), "a number")


def layout_of(text: str) -> dict[str, Any]:
    """Return the arguments of ``json.dumps`` that lay JSON out as *text* is: in one line, or
    indented as much."""
    text = text.lstrip("\ufeff \t\r\n").rstrip()
    _, newline, rest = text.partition("\n")
    inner = rest[: len(rest) - len(rest.lstrip(" \t"))]
    key = text.find('":')
    tight = not newline and key >= 0 and text[key + 2 : key + 3] != " "
    return {
        "indent": (inner or 0) if newline else None,
        "separators": (",", ":") if tight else None,
    }


def _document(name: str, text: str, value: Any, *, strict: bool = True) -> Document:
    """Return the messages in *value*; *strict* wants a list of them in a request body too."""
    if isinstance(value, list):
        return Document(name, text, value)
    key = (
        next((key for key in BODIES if value.get(key) is not None), "")
        if isinstance(value, dict)
        else ""
    )
    if not key:
        what = (
            "an object without messages, input or contents"
            if isinstance(value, dict)
            else kind_of(value)
        )
        raise InputError(
            f"{name}: messages must be a list of messages or a request body, not {what}"
        )
    if strict and not isinstance(value[key], list):
        raise InputError(f"{name}: {key} must be a list of messages, not {kind_of(value[key])}")
    return Document(name, text, value[key], body=value, key=key)


def _transcript(name: str, text: str, lines: list[Any], broken: list[int]) -> Document | None:
    """Return the conversation in *lines*, or None if they aren't a transcript."""
    if not is_transcript(lines):
        return None
    spoken = conversation(lines)
    numbers = [each.line_number for each in spoken]
    return Document(name, text, [each.message for each in spoken], lines=numbers, broken=broken)


def _lines(text: str) -> tuple[list[Any], list[int]]:
    """Return the JSON in each line, None where there is none, and the numbers of the lines that are
    not JSON."""
    lines: list[Any] = []
    broken = []
    # Not splitlines: a text in JSON may hold any of the other line ends as it is.
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        try:
            lines.append(json.loads(line) if line.strip() else None)
        except (ValueError, RecursionError):
            lines.append(None)
            broken.append(number)
    return lines, broken


def _parsed(text: str, name: str) -> Any:
    def refuse(constant: str) -> float:
        raise InputError(f"{name}: not JSON: {constant} is not a number there")

    def number(digits: str) -> float:
        value = float(digits)
        return value if abs(value) < float("inf") else refuse(digits)

    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=refuse, parse_float=number)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise InputError(f"{name}: {error}") from None
    except RecursionError:
        raise InputError(f"{name}: nested too deeply") from None
