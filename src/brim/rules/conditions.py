"""Conditions under which a rule of the library matters (``When``), and the situation that they are
compared with (``Context``). Patterns for paths are in ``brim.rules.globs``."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from brim.errors import InputError
from brim.record import PlainData, set_fields
from brim.rules.globs import alternatives, matches
from brim.rules.languages import language_of
from brim.rules.stems import stems_of

Given = str | Iterable[str] | None

Values = tuple[str, ...]

KEYS = ("file", "language", "task", "environment", "project_type", "branch")
"""The conditions that brim infers. Any other key is a custom one, which the caller has to give."""

PATTERNS = frozenset({"file", "branch"})
"""Conditions whose values are globs. The others are equal or not, in upper or lower case."""

ALIASES = {
    "file_path": "file",
    "path": "file",
    "lang": "language",
    "env": "environment",
    "project": "project_type",
}
"""Other names that people and other tools give to the same things."""

NOT_CI = ("environment", ("not ci",))
"""A condition that nothing has to confirm: the rule counts as one without it, but not in CI."""

Match = namedtuple("Match", ("confirmed", "contradicted", "absent"))
"""What became of each condition: three tuples of keys. One contradicted key, and the rule is
out."""


@dataclass(frozen=True)
class When(PlainData):
    """Conditions by key, each with the values of which any will do.

    >>> When(language="python", file=["src/**", "tests/**"]).match({"language": ("Python",), "task": ("testing",)})
    Match(confirmed=('language',), contradicted=(), absent=('file',))
    """

    conditions: tuple[tuple[str, Values], ...]
    """Each key and its values, by key; what ``When.of(dict(conditions))`` gives again."""

    def __init__(
        self,
        *,
        file: Given = None,
        language: Given = None,
        task: Given = None,
        environment: Given = None,
        project_type: Given = None,
        branch: Given = None,
        custom: Mapping[str, Given] | None = None,
        conditions: Iterable[tuple[str, object]] = (),
    ) -> None:
        named = zip(KEYS, (file, language, task, environment, project_type, branch), strict=True)
        by_key: dict[str, Values] = {}
        given = [pair for pair in (*named, *(custom or {}).items()) if pair[1] is not None]
        for key, value in (*given, *conditions):
            if not isinstance(key, str) or not key or not key.isprintable():
                raise InputError(f"a condition's key must be a text, not {key!r}")
            name = ALIASES.get(key, key)
            by_key[name] = _once([*by_key.get(name, ()), *_wanted_values(name, value)])
        set_fields(self, tuple(sorted((key, values) for key, values in by_key.items() if values)))

    @classmethod
    def of(cls, mapping: Mapping[str, object]) -> When:
        """Return the conditions in *mapping*: keys with a text or a list of texts each, as a file
        holds them."""
        if not hasattr(mapping, "items"):
            example = "{'language': 'python'}"
            raise InputError(f"conditions are keys with values, such as {example}, not {mapping!r}")
        return cls(conditions=mapping.items())

    def match(self, facts: Mapping[str, Values]) -> Match:
        """Compare each condition with *facts*: what is known of the situation, by key."""
        confirmed: list[str] = []
        contradicted: list[str] = []
        absent: list[str] = []
        for key, values in self.conditions:
            known = facts.get(key)
            if (key, values) == NOT_CI:
                if known and "ci" in known:
                    contradicted.append(key)
            elif not known:
                absent.append(key)
            elif any(meets(key, fact, value) for fact in known for value in values):
                confirmed.append(key)
            else:
                contradicted.append(key)
        return Match(tuple(confirmed), tuple(contradicted), tuple(absent))

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def __str__(self) -> str:
        words = [f"{key} {' or '.join(values)}" for key, values in self.conditions]
        return ", ".join(words) or "always"


def meets(key: str, fact: str, value: str) -> bool:
    """Return whether *fact* satisfies a condition on *key* with *value*."""
    if key == "file":
        return matches(fact, value)
    if key == "branch":
        return fact == value or matches("/" + fact, "/" + value)
    return fact.casefold() == value.casefold()


def _wanted_values(key: str, value: object) -> list[str]:
    """Return the values that one may stand for: patterns with braces several."""
    if value is None:
        raise InputError(f"the condition {key!r} must be a text or a list of texts, not None")
    values: list[str] = []
    for text in _texts(value, f"the condition {key!r}"):
        if not text:
            raise InputError(f"the condition {key!r} has a value that isn't text: {text!r}")
        if key not in PATTERNS:
            values.append(text)
            continue
        for pattern in alternatives(text):
            # A folder is what is in it: a file's path never ends with a slash.
            is_folder = key == "file" and pattern.endswith("/")
            values.append(f"{pattern}**" if is_folder else pattern)
    return values


def _texts(value: object, subject: str) -> list[str]:
    """Return *value* as texts, without spaces around them; sets in one order."""
    if value is None:
        return []
    values = [value] if isinstance(value, str) else value
    problem = f"{subject} must be a text or a list of texts, not {value!r}"
    if not isinstance(values, list | tuple | set | frozenset):
        raise InputError(problem)
    texts = []
    for text in values:
        if not isinstance(text, str):
            raise InputError(problem)
        texts.append(text.strip())
    return sorted(texts) if isinstance(values, set | frozenset) else texts


def _once(texts: Iterable[str]) -> Values:
    return tuple(dict.fromkeys(texts))


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

    file: Values
    task: Values
    language: Values
    environment: Values
    project_type: Values
    branch: Values
    prompt: str
    """What a person typed."""
    command: str
    """The shell command that an agent is about to run."""
    custom: tuple[tuple[str, Values], ...]
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
        custom_facts: dict[str, Values] = {}
        for key, value in dict(custom or ()).items():
            if not isinstance(key, str) or not key.strip() or not key.isprintable():
                raise InputError(f"a key of the context must be a text, not {key!r}")
            custom_facts[key.strip()] = _known_values(key, value)
        for key, text in (("prompt", prompt), ("command", command)):
            if not isinstance(text, str):
                raise InputError(f"the context's {key} must be a text, not {text!r}")
        set_fields(
            self,
            _known_values("file", file),
            _known_values("task", task),
            _known_values("language", language),
            _known_values("environment", environment),
            _known_values("project_type", project_type),
            _known_values("branch", branch),
            prompt,
            command,
            tuple(sorted((key, values) for key, values in custom_facts.items() if values)),
        )

    @cached_property
    def facts(self) -> Mapping[str, Values]:
        """Everything known, by key: what was given, and the files' language."""
        facts: dict[str, Values] = {}
        for key in KEYS:
            if getattr(self, key):
                facts[key] = getattr(self, key)
        for name, values in self.custom:
            key = ALIASES.get(name, name)
            facts[key] = _once((*facts.get(key, ()), *values))
        languages = [language_of(file) for file in facts.get("file", ())]
        known_languages = _once([language for language in languages if language])
        if known_languages:
            facts.setdefault("language", known_languages)
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


def _known_values(key: str, value: object) -> Values:
    """Return the values of a fact, each once and without blank ones."""
    return _once([text for text in _texts(value, f"the context's {key}") if text])
