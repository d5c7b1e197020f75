"""Histories in JSON, written back in the same form.

One is a list of messages, a request body or an agent's transcript.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from brim.errors import InputError
from brim.messages.entries import Provider
from brim.messages.formats import read
from brim.messages.layouts import provider_of
from brim.messages.pruners import Pruner
from brim.messages.receipt import Pruned
from brim.messages.transcript import conversation, is_transcript
from brim.models.names import CLAUDE
from brim.tokens.costs import difference
from brim.tokens.count import Count
from brim.tokens.inputs import name_of, read_text
from brim.tokens.messages.request import BODIES, split
from brim.tokens.protocol import TokenCounter

KEYS: dict[str, Provider] = {"input": "responses", "contents": "gemini"}
"""Fields of a request that only one provider has."""
LONGEST_PLACE = 10
"""A number with more digits is no place."""


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

        if not self.lines:
            return 1

        return self.lines[min(index, len(self.lines) - 1)]

    def provider(self, asked: str, model: str | None = None) -> tuple[Provider, str]:
        """Return whose rules hold, and how that was found.

        *asked* is what ``--provider`` says.
        """
        model = model or self.model
        provider = self._provider(asked, model)
        if asked != "auto":
            return provider, "given with --provider"

        if self.lines is not None:
            return "anthropic", "it is a Claude Code transcript"

        if self.key in KEYS:
            return KEYS[self.key], f"inferred from the request's {self.key}"

        if self.key and provider in ("openai", "anthropic") and self._is_anthropic():
            return "anthropic", "inferred from the request's fields"

        return provider, self._source_of_guess(model)

    def _source_of_guess(self, model: str | None) -> str:
        """Return what the provider was inferred from, if the request doesn't show it."""
        if not self._is_plain:
            return "inferred from the messages"

        if model:
            return f"inferred from the model's name, {model}"

        return "the default for plain messages"

    def _provider(self, asked: str, model: str | None = None) -> Provider:
        # argparse has checked what is asked for
        return provider_of(self.messages, asked, model)  # type: ignore[arg-type]

    @property
    def _is_plain(self) -> bool:
        """Whether the messages are in every format, so that only the model's name can tell."""
        return self._provider("auto") != self._provider("auto", CLAUDE)

    def _is_anthropic(self) -> bool:
        """Whether the request has fields that only Anthropic's API takes."""
        if "system" in self.body or "anthropic_version" in self.body:
            return True

        tools = self.body.get("tools")
        if not isinstance(tools, list) or not tools:
            return False

        return isinstance(tools[0], dict) and "input_schema" in tools[0]

    def looks_otherwise(self, asked: str) -> str:
        """Return what to say if the messages have the shape of another provider than was *asked*
        for; else nothing."""
        if not self.messages or self._is_plain:
            return ""

        shape = self._provider("auto")
        if asked in ("auto", shape):
            return ""

        return f"{self.name}: the messages have the shape of {shape}, not of {asked}"

    def with_messages(self, messages: list[Any]) -> str:
        """Return the JSON with *messages* in place of its own, in the same form."""
        try:
            if self.key:
                return _written({**self.body, self.key: messages}, self.text)

            if messages and self._has_line_per_message:
                rows = (f"  {json.dumps(message, ensure_ascii=False)}" for message in messages)
                return "[\n" + ",\n".join(rows) + "\n]"

            return _written(messages, self.text)
        except RecursionError:
            raise InputError("nested too deeply to be written") from None

    @property
    def _has_line_per_message(self) -> bool:
        return self.text.strip().count("\n") == len(self.messages) + 1

    def besides_messages(self, tools: list[Any] | None, counter: TokenCounter) -> Count:
        """Return what the rest of a request body takes: its system text, the schema of the
        answer."""
        if not self.key:
            return Count(0)

        request: Any = {**self.body, self.key: []}
        return difference(counter.count_messages(request, tools), counter.count_messages([], tools))

    def pins(self, names: list[str], provider: Provider) -> set[int | str]:
        """Return the places and ids in *names*.

        One that names nothing is a mistake.
        """
        ids: set[str] = set()
        if names:
            for entry in read(self.messages, provider):
                ids |= entry.ids

        pins: set[int | str] = set()
        for name in names:
            is_place = name.isdecimal() and len(name) < LONGEST_PLACE
            if name in ids:
                pins.add(name)
            elif is_place and int(name) < len(self.messages):
                pins.add(int(name))
            else:
                raise InputError(
                    f"--pin {name}: no message has that place or id; "
                    f"there are {len(self.messages):,}"
                )

        return pins

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
        own_tools: Any = None
        if self.key:
            own_tools = split(self.body, None).tools

        if tools is not None and own_tools:
            raise InputError(f"{self.name}: the request has tools of its own: leave --tools out")

        if tools is None:
            tools = own_tools or None

        outside = self.besides_messages(tools, counter)
        receiver, _ = self.provider(provider, model)
        pruned = pruner.prune(
            self.messages,
            max(0, target - int(outside)),
            model=model,
            tools=tools,
            provider=receiver,
            counter=counter,
            fill=fill,
            pin=self.pins(pin or [], receiver) or None,
        )
        if not outside:
            return pruned

        return _including(pruned, outside, target)


def _including(pruned: Pruned, outside: Count, target: int) -> Pruned:
    """Return *pruned* with what the request holds *outside* the messages in its numbers."""
    receipt = pruned.receipt
    after = receipt.after + outside
    fits = int(after) <= target
    reason = ""
    if not fits:
        over = int(after) - target
        inside = f"{int(receipt.after):,} in them and the tools"
        reason = (
            f"what is never dropped takes {int(after):,} tokens, {over:,} too many "
            f"({outside:,} outside the messages, {inside})"
        )

    cache = receipt.cache
    if cache is not None:
        cache = replace(cache, prefix_tokens=cache.prefix_tokens + int(outside))

    receipt = replace(
        receipt,
        before=receipt.before + outside,
        after=after,
        target=target,
        cache=cache,
        fits=fits,
        reason=reason,
    )
    return replace(pruned, tokens=after, fits=fits, receipt=receipt)


def _written(value: Any, text: str) -> str:
    """Return the JSON of *value*, laid out as *text* is."""
    return json.dumps(value, ensure_ascii=False, **layout_of(text))


# Reading files


def read_document(path: str) -> Document:
    """Return the messages in *path*: a list, a request body or a transcript; ``InputError`` if it
    isn't any of them."""
    text = read_text(path)
    name = name_of(path)
    try:
        value = _parsed(text, name)
    except InputError:
        lines, broken = _lines(text)
        document = _transcript(name, text, lines, broken)
        if document is not None:
            return document

        if not broken and sum(line is not None for line in lines) > 1:
            raise InputError(
                f"{name}: JSON lines, but neither messages nor a transcript of Claude Code"
            ) from None

        raise

    return _transcript(name, text, [value], []) or _document(name, text, value)


def read_messages(path: str) -> Any:
    """Return the list of messages or the request body in *path*."""
    text = read_text(path)
    name = name_of(path)
    document = _document(
        name,
        text,
        _parsed(text, name),
        strict=False,
    )
    return document.body or document.messages


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
    kinds: dict[type, str] = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a yes or no",
        type(None): "null",
    }
    return kinds.get(type(value), "a number")


def layout_of(text: str) -> dict[str, Any]:
    """Return the arguments of ``json.dumps`` that lay JSON out as *text* is: in one line, or
    indented as much."""
    text = text.lstrip("\ufeff \t\r\n").rstrip()
    _, newline, following = text.partition("\n")
    if newline:
        indent = following[: len(following) - len(following.lstrip(" \t"))]
        return {"indent": indent or 0, "separators": None}

    key = text.find('":')
    if key >= 0 and text[key + 2 : key + 3] != " ":
        return {"indent": None, "separators": (",", ":")}

    return {"indent": None, "separators": None}


def _document(
    name: str,
    text: str,
    value: Any,
    *,
    strict: bool = True,
) -> Document:
    """Return the messages in *value*; *strict* wants a list of them in a request body too."""
    if isinstance(value, list):
        return Document(name, text, value)

    problem = f"{name}: messages must be a list of messages or a request body"
    if not isinstance(value, dict):
        raise InputError(f"{problem}, not {kind_of(value)}")

    for key in BODIES:
        messages = value.get(key)
        if messages is None:
            continue

        if strict and not isinstance(messages, list):
            raise InputError(f"{name}: {key} must be a list of messages, not {kind_of(messages)}")

        return Document(
            name,
            text,
            messages,
            body=value,
            key=key,
        )

    raise InputError(f"{problem}, not an object without messages, input or contents")


def _transcript(
    name: str,
    text: str,
    lines: list[Any],
    broken: list[int],
) -> Document | None:
    """Return the conversation in *lines*, or None if they aren't a transcript."""
    if not is_transcript(lines):
        return None

    spoken = conversation(lines)
    messages = [message.message for message in spoken]
    numbers = [message.line_number for message in spoken]
    return Document(
        name,
        text,
        messages,
        lines=numbers,
        broken=broken,
    )


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
