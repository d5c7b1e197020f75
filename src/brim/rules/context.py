"""``Context``: the situation that rules of the library are wanted for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from brim.errors import InputError
from brim.record import PlainData, set_fields
from brim.rules.conditions import ALIASES, KEYS
from brim.rules.languages import language_of
from brim.rules.stems import stems_of

Given = str | Iterable[str] | None


@dataclass(frozen=True)
class Context(PlainData):
    """The situation: any of these may be unknown, and each may be one text or several.

    The language is that of the files, unless it is given.

    >>> context = Context(file="src/app.py", prompt="install it with uv")
    >>> context.facts["language"]
    ('python',)
    >>> "uv" in context.words
    True
    """

    file: tuple[str, ...]
    task: tuple[str, ...]
    language: tuple[str, ...]
    environment: tuple[str, ...]
    project_type: tuple[str, ...]
    branch: tuple[str, ...]
    prompt: str
    """What a person typed."""
    command: str
    """The shell command that an agent is about to run."""
    custom: tuple[tuple[str, tuple[str, ...]], ...]
    """Other keys with their values, sorted by key."""

    def __init__(
        self,
        *,
        file: Given = None,
        task: Given = None,
        language: Given = None,
        environment: Given = None,
        project_type: Given = None,
        branch: Given = None,
        prompt: str = "",
        command: str = "",
        custom: Mapping[str, Given] | Iterable[tuple[str, Given]] | None = None,
    ) -> None:
        custom_facts: dict[str, tuple[str, ...]] = {}
        for key, value in dict(custom or ()).items():
            custom_facts[_checked_key(key)] = _texts(str(key), value)
        for key, text in (("prompt", prompt), ("command", command)):
            if not isinstance(text, str):
                raise InputError(f"the context's {key} must be a text, not {text!r}")
        set_fields(
            self,
            _texts("file", file),
            _texts("task", task),
            _texts("language", language),
            _texts("environment", environment),
            _texts("project_type", project_type),
            _texts("branch", branch),
            prompt,
            command,
            tuple(sorted((key, values) for key, values in custom_facts.items() if values)),
        )

    @cached_property
    def facts(self) -> Mapping[str, tuple[str, ...]]:
        """Everything known, by key: what was given, and the files' language."""
        facts: dict[str, tuple[str, ...]] = {}
        for key in KEYS:
            if getattr(self, key):
                facts[key] = getattr(self, key)
        for name, values in self.custom:
            key = ALIASES.get(name, name)
            facts[key] = tuple(dict.fromkeys((*facts.get(key, ()), *values)))
        if "language" not in facts:
            languages = _languages_of(facts.get("file", ()))
            if languages:
                facts["language"] = languages
        return facts

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of prompt and command."""
        return frozenset((*stems_of(self.prompt), *stems_of(self.command)))

    def __str__(self) -> str:
        keys = [key for key in KEYS if key in self.facts]
        keys += [key for key in self.facts if key not in KEYS]
        parts = [f"{key} {' or '.join(self.facts[key])}" for key in keys]
        return ", ".join(parts) or "nothing known"


def _languages_of(files: Iterable[str]) -> tuple[str, ...]:
    languages: dict[str, None] = {}
    for file in files:
        language = language_of(file)
        if language:
            languages[language] = None
    return tuple(languages)


def _texts(key: str, value: object) -> tuple[str, ...]:
    """Return *value* as texts, each once and without blank ones."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, list | tuple | set | frozenset):
        raise InputError(f"the context's {key} must be a text or a list of texts, not {value!r}")
    texts: dict[str, None] = {}
    for text in value:
        if not isinstance(text, str):
            problem = f"must be a text or a list of texts, not {value!r}"
            raise InputError(f"the context's {key} {problem}")
        if text.strip():
            texts[text.strip()] = None
    if isinstance(value, set | frozenset):
        return tuple(sorted(texts))
    return tuple(texts)


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not key.strip() or not key.isprintable():
        raise InputError(f"a key of the context must be a text, not {key!r}")
    return key.strip()
