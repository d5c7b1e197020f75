"""How a working memory is divided between its sections, and the file that it is assembled from."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

from brim.errors import ConfigError, InputError
from brim.history import PROVIDERS, FifoPruner, Provider, Pruner
from brim.history.document import kind_of, read_document, read_json
from brim.history.draft import whole_number
from brim.record import Value
from brim.tokens.counters import counter_for
from brim.tokens.inputs import read_text
from brim.tokens.protocol import TokenCounter, require_counter
from brim.window.assembler import Assembler, Chosen, Limits, Parts, Tail, listed, text_in
from brim.window.assembly import Assembly

TOKENS = "a whole number of tokens"


@dataclass(frozen=True, slots=True)
class MemoryConfig(Value):
    """The limits of a working memory, in tokens of its model."""

    max_working_memory_tokens: int = 100_000
    """All sections together, and the response."""
    output_reserve: int = 4_096
    """Kept for the response."""
    min_history_tokens: int = 4_000
    """History keeps at least this much."""
    max_knowledge_tokens: int = 3_000
    """Retrieved knowledge takes at most this much."""
    max_episode_tokens: int = 1_000
    """Episode snippets take at most this much."""

    def __post_init__(self) -> None:
        for field in fields(self):
            whole_number(field.name, getattr(self, field.name), 0, TOKENS)


class WorkingMemory:
    """Divides the working memory of an agent that runs on *model*.

    >>> memory = WorkingMemory(MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192))
    >>> memory.history_budget(system_prompt=1_200, procedure=300, knowledge=1_500, episodes=400, current_message=100)
    138308
    """

    def __init__(
        self, config: MemoryConfig | None = None, *, model: str | None = None, counter: TokenCounter | None = None
    ) -> None:
        self.config = config or MemoryConfig()
        self.model = model
        if counter is not None:
            require_counter(counter)
        self._counter = counter or counter_for(model)

    def history_budget(
        self,
        *,
        system_prompt: int | str | None = 0,
        procedure: int | str | None = 0,
        knowledge: int | str | None = 0,
        episodes: int | str | None = 0,
        current_message: int | str | None = 0,
    ) -> int:
        """Return the tokens left for message history.

        0 if the sections leave none.

        Each section is given as its number of tokens, or as its text, which is then counted. None is one that isn't
        there.
        """
        names = ("system_prompt", "procedure", "knowledge", "episodes", "current_message")
        sections = (system_prompt, procedure, knowledge, episodes, current_message)
        taken = sum(map(self._tokens, names, sections))
        return max(0, self.config.max_working_memory_tokens - taken - self.config.output_reserve)

    def assemble(
        self,
        *,
        system_prompt: str | None = "",
        procedure: str | None = "",
        knowledge: Iterable[Any] | str | None = (),
        episodes: Iterable[Any] | str | None = (),
        history: Iterable[Any] | None = (),
        current_message: Any = "",
        provider: Provider | Literal["auto"] = "auto",
        pruner: Pruner | None = None,
        tools: Iterable[Any] | None = None,
        context_window: int | None = None,
    ) -> Assembly:
        """Return the request to send.

        It holds all that must be in it, and as much of *history* as fits.

        *knowledge* and *episodes* are lists of texts, or of dicts or objects with ``text`` or ``content`` and perhaps
        ``score``, ``title`` and ``source``. *history* is a list of messages of any *provider*; *current_message* is a
        text, or a message of the same provider. *pruner* decides which history leaves, ``FifoPruner`` by default.
        *tools* go with the request and are counted. *context_window* outranks the model's window.

        System prompt, knowledge and current message always stay. Of the history the newest ``min_history_tokens``
        stay while the window allows, and episodes and procedure make way for them.

        >>> memory = WorkingMemory(model="gpt-4o")
        >>> memory.assemble(system_prompt="Answer briefly.", knowledge=["Lines end in LF."], current_message="Why?")
        Assembly(3 messages, 37 of 95,904 tokens, fits)
        """
        model = self.model or getattr(self._counter, "model", None)
        config, counter = self.config, self._counter
        tail = Tail.of(history, current_message, provider, model)
        budget = config.max_working_memory_tokens - config.output_reserve
        limits = Limits.of(model, context_window, budget, config.output_reserve)
        if pruner is not None and (isinstance(pruner, type) or not callable(getattr(pruner, "prune", None))):
            raise InputError(f"pruner must be a pruner such as FifoPruner(), not {str(pruner)[:60]}")
        schemas = list(listed("tools", tools)) or None
        parts = Parts(
            tail.provider,
            text_in("system_prompt", system_prompt),
            text_in("procedure", procedure),
            Chosen.of("knowledge", knowledge, config.max_knowledge_tokens, counter),
            Chosen.of("episodes", episodes, config.max_episode_tokens, counter),
        )
        min_history, pruner = config.min_history_tokens, pruner or FifoPruner()
        return Assembler(counter, model, limits, min_history, pruner, schemas, tail).assemble(parts)

    def _tokens(self, name: str, section: int | str | None) -> int:
        if section is None or isinstance(section, str):
            return int(self._counter.count(section)) if section else 0
        return whole_number(name, section, 0, TOKENS)


# The file --------------------------------------------------------------------------------------------------------
#
# The YAML or JSON file that a working memory is assembled from.
#
# Mistakes are reported with their line.

TEXTS = ("system_prompt", "procedure")
ITEMS = ("knowledge", "episodes")
KEYS = ("model", "provider", "memory", *TEXTS, *ITEMS, "history", "current_message", "tools", "context_window")
"""Every key that there is. Anything else is an error."""
TEXT_KEYS = frozenset(("text", "content", "page_content"))
ITEM_KEYS = ("text", "file", "title", "source", "score", "content", "page_content", "metadata")
"""What an item of knowledge, or an episode, may say of itself."""
CHOICES = ("auto", *PROVIDERS)

MOST_VALUES = 1_000_000
"""Values in one file, each counted as often as aliases repeat it: aliases of aliases would multiply without end."""
DEEPEST = 100


class MemoryFile:
    """What was read from *path*.

    ``values`` has a key for each that was set; files that it names are read already.
    """

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == "-" else path
        self._folder = "" if path == "-" else os.path.dirname(path)
        self._lines: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self.notes: list[str] = []
        """What the reader should know."""
        given = self._read(path)
        self.values: dict[str, Any] = {key: self._value(key, value) for key, value in given.items()}

    def source(self, key: str) -> str:
        """Return where *key* was set: the file it names, or ``NAME:LINE``.

        Empty if it was not.
        """
        return self._files.get(key) or self._lines.get(key, "")

    def at(self, problem: str) -> str:
        """Return *problem* with the line of the key that it begins with, if it begins with one."""
        keys = [key for key in self._lines if problem.startswith(key) and not problem[len(key) :][:1].isalnum()]
        where = self._lines[max(keys, key=len)] if keys else self.name
        return f"config: {where}: {problem}"

    def config(self) -> MemoryConfig:
        """Return the limits under ``memory``."""

        given = self.values.get("memory", {})
        known = tuple(MemoryConfig.__dataclass_fields__)
        for key in given:
            if key not in known:
                raise ConfigError(
                    f"config: {self._where(f'memory.{key}')}: unknown key memory.{key}; there are {', '.join(known)}"
                )
        try:
            return MemoryConfig(**given)
        except InputError as error:
            raise ConfigError(self.at(f"memory.{error}")) from None

    def _read(self, path: str) -> dict[str, Any]:
        from brim.config.text import read_mapping

        text = read_text(path).removeprefix("\ufeff")
        if path.endswith(".json"):
            values: Any = read_json(path)
            if not isinstance(values, dict):
                raise ConfigError(f"config: {self.name}:1: must be an object of settings, not {kind_of(values)}")
            _, self._lines = read_mapping(_as_yaml(text), self.name, MOST_VALUES)  # for the lines alone
        else:
            values, self._lines = read_mapping(text, self.name, MOST_VALUES)
        for key in values:
            if key not in KEYS:
                raise ConfigError(f"config: {self._where(key)}: unknown key {key}; there are {', '.join(KEYS)}")
        found: dict[str, Any] = values
        return found

    def _value(self, key: str, value: Any) -> Any:
        """Return what the rest of the program takes for *key*."""
        if value is None:
            return {} if key == "memory" else None
        try:
            _check_plain(value)
        except ValueError as error:
            raise ConfigError(f"config: {self._where(key)}: {key} {error}") from None
        if key in TEXTS or key == "current_message":
            return self._text_or_message(key, value)
        if key in ITEMS:
            return self._items(key, value)
        if key in ("history", "tools"):
            return self._list(key, value)
        wrong = {
            "model": None if isinstance(value, str) and value else "a text",
            "provider": None if value in CHOICES else f"one of {', '.join(CHOICES)}",
            "memory": None if isinstance(value, dict) else "a mapping of limits",
        }.get(key)
        return self._refuse(key, wrong, value) if wrong else value

    def _text_or_message(self, key: str, value: Any) -> Any:
        if _names_file(value):
            return self._open(key, value, read_text)
        if isinstance(value, str) or (key == "current_message" and isinstance(value, dict)):
            return value
        kinds = "a text (in quotes if it looks like something else), or file: PATH"
        return self._refuse(key, f"{kinds}, or a message" if key == "current_message" else kinds, value)

    def _items(self, key: str, value: Any) -> Any:
        """Return the items under *key*; a file is one item, but a JSON file is a list of them."""
        if _names_file(value) and str(value["file"]).endswith(".json"):
            return self._open(key, value, read_json)
        several = value if isinstance(value, list) else [value]
        return [self._item(key, at, item) for at, item in enumerate(several)]

    def _item(self, key: str, at: int, item: Any) -> Any:
        for name in item if isinstance(item, dict) else ():
            if name not in ITEM_KEYS:
                raise ConfigError(
                    f"config: {self._where(key)}: unknown key {key}[{at}].{name}; there are {', '.join(ITEM_KEYS)}"
                )
        if isinstance(item, dict) and "file" in item and not TEXT_KEYS.isdisjoint(item):
            raise ConfigError(f"config: {self._where(key)}: {key}[{at}] has a file and a text: use one of them")
        if not isinstance(item, dict) or "file" not in item or "text" in item or "content" in item:
            return item
        rest = {name: inner for name, inner in item.items() if name != "file"}
        return {"source": item["file"], **rest, "text": self._open(key, item, read_text)}

    def _list(self, key: str, value: Any) -> Any:
        found = value
        if _names_file(value) and key == "tools":
            found = self._open(key, value, read_json)
        elif _names_file(value):
            document = self._open(key, value, read_document)
            if any(name not in (document.key, "model") for name in document.body):
                self.notes.append(f"{document.name}: a request body: only its messages are used")
            found = document.messages
        what = "messages" if key == "history" else "schemas"
        return found if isinstance(found, list) else self._refuse(key, f"a list of {what}, or file: PATH", found)

    def _open(self, key: str, value: Any, reader: Callable[[str], Any]) -> Any:
        """Return what *reader* reads from the file that *value* names, relative to this one."""
        path = value["file"]
        if not isinstance(path, str) or not path:
            self._refuse(f"{key}.file", "a path", path)
        found = os.path.join(self._folder, path)
        self._files[key] = found
        try:
            return reader(found)
        except InputError as error:
            raise ConfigError(f"config: {self._where(key)}: {key}: {error}") from None

    def _refuse(self, key: str, wanted: str, value: Any) -> Any:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else kind_of(value)
        raise ConfigError(f"config: {self._where(key)}: {key} must be {wanted}, not {shown}")

    def _where(self, key: str) -> str:
        return self._lines.get(key) or self._lines.get(key.partition(".")[0]) or self.name


def _as_yaml(text: str) -> str:
    """Return JSON without what YAML does not take: tabs between tokens, halves of characters, rare characters."""
    import re

    pattern = r"(\\\\)|\\u[0-9a-fA-F]{4}|[\t\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
    return re.sub(pattern, lambda found: found[1] or " ", text)


def _names_file(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"file"}


def _check_plain(value: Any) -> None:
    """Raise ``ValueError`` unless *value* can be written as JSON."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        seen += 1
        if seen > MOST_VALUES or depth > DEEPEST:
            raise ValueError("holds too much, or refers to itself")
        if isinstance(one, dict):
            if not all(isinstance(name, str) for name in one):
                raise ValueError("has a key that is not a text; put it in quotes")
            waiting += [(inner, depth + 1) for inner in one.values()]
        elif isinstance(one, list):
            waiting += [(inner, depth + 1) for inner in one]
        elif one is not None and not isinstance(one, (str, bool, int, float)):
            raise ValueError(f"holds {str(one)[:40]!r}, which YAML reads as a {type(one).__name__}; put it in quotes")
