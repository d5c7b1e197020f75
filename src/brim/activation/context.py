"""``Context``: the situation that behaviors are wanted for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brim.behaviors.tasks import named_task, programs_of, subjects_asked, tasks_of
from brim.behaviors.when import ALIASES, EDITING, KEYS
from brim.behaviors.words import tokens, word_list, words_of
from brim.errors import InputError
from brim.record import PlainData, set_fields
from brim.rules.languages import language_of

Given = str | Iterable[str] | None


NEAR = 0.5
"""What a word of a path or of the text being written counts; a word of the prompt or the command
counts 1."""

SUBJECT = 1.0
"""What a subject of the prompt counts if one of its words speaks of it; two or more count twice
that."""

MOST_WRITTEN = 1_500
"""Characters of the text being written that are looked at."""


@dataclass(frozen=True)
class Context(PlainData):
    """The situation: any of these may be unknown, and each may be one text or several.

    The language is that of the files, and the task is what prompt and command are about, unless
    they are given.

    >>> context = Context(file="src/app.py", prompt="install it with uv")
    >>> context.facts["language"], "uv" in context.words
    (('python',), True)
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
    written: str
    """The text that an agent is about to write."""
    open: tuple[str, ...]
    """Files that are open or were just used. They speak for a rule, never against one."""
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
        written: str = "",
        open: Given = None,
        custom: Mapping[str, Given] | Iterable[tuple[str, Given]] | None = None,
    ) -> None:
        others = {_key(key): _texts(str(key), value) for key, value in dict(custom or ()).items()}
        given = zip(
            self.__match_args__,
            (file, task, language, environment, project_type, branch),
            strict=False,
        )
        for key, text in (("prompt", prompt), ("command", command), ("written", written)):
            if not isinstance(text, str):
                raise InputError(f"the context's {key} must be a text, not {text!r}")
        known = tuple(sorted((key, values) for key, values in others.items() if values))
        set_fields(
            self,
            *[_texts(key, value) for key, value in given],
            prompt,
            command,
            written,
            _texts("open", open),
            known,
        )

    @cached_property
    def facts(self) -> Mapping[str, tuple[str, ...]]:
        """Everything known, by key: what was given, the files' language, the task of prompt and
        command."""
        facts: dict[str, Any] = {
            key: getattr(self, key) for key in self.__match_args__[:6] if getattr(self, key)
        }
        for name, values in self.custom:
            key = ALIASES.get(name, name)
            facts[key] = tuple(dict.fromkeys((*facts.get(key, ()), *values)))
        if "file" in facts and "language" not in facts:
            facts["language"] = tuple(dict.fromkeys(filter(None, map(language_of, facts["file"]))))
        if "task" in facts:
            facts["task"] = tuple(dict.fromkeys((*facts["task"], *map(named_task, facts["task"]))))
        elif self._texts:
            # Every task that it may be: a guess that leaves one out would silence the behaviors for
            # it.
            facts["task"] = tuple(
                dict.fromkeys(task for text in self._texts for task in tasks_of(text))
            )
        return {key: values for key, values in facts.items() if values}

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of prompt and command."""
        if not self._texts:
            return frozenset()

        return frozenset().union(*map(words_of, self._texts))

    @cached_property
    def evidence(self) -> Mapping[str, tuple[str, ...]]:
        """The facts, and what speaks for a rule without being certain: files that are named or
        open, programs run."""
        found: dict[str, tuple[str, ...]] = dict(self.facts)
        files = (*found.get("file", ()), *self.open, *_paths(self.prompt))
        if files:
            found["file"] = tuple(dict.fromkeys(files))
            languages = (*found.get("language", ()), *filter(None, map(language_of, files)))
            found["language"] = tuple(dict.fromkeys(languages))
        if self.command:
            found["command"] = programs_of(self.command)
        if self.written or (self.prompt and not _only_asks(self.prompt)):
            found["task"] = (*found.get("task", ()), EDITING)
        return {key: values for key, values in found.items() if values}

    @cached_property
    def terms(self) -> dict[str, float]:
        """The stems of everything that is said, done or written, each with what it counts."""

        found: dict[str, float] = {}
        files = self.evidence.get("file", ())
        for text, weight in ((self.written[:MOST_WRITTEN], NEAR), ("\n".join(files), NEAR)):
            if text:
                found.update(dict.fromkeys(words_of(text), weight))
        found.update(dict.fromkeys(self.words, 1.0))
        if self.prompt:
            found.update(
                {
                    subject: SUBJECT * min(many, 2)
                    for subject, many in subjects_asked(self.words).items()
                }
            )
        return found

    @property
    def _texts(self) -> list[str]:
        return [text for text in (self.prompt, self.command) if text]

    def __str__(self) -> str:
        keys = [
            *(key for key in KEYS if key in self.facts),
            *(key for key in self.facts if key not in KEYS),
        ]
        return (
            ", ".join([f"{key} {' or '.join(self.facts[key])}" for key in keys]) or "nothing known"
        )


def _texts(key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple, set, frozenset)) or not all(
        isinstance(each, str) for each in values
    ):
        raise InputError(f"the context's {key} must be a text or a list of texts, not {value!r}")
    if isinstance(values, (set, frozenset)):
        values = sorted(values)
    return tuple(dict.fromkeys(each.strip() for each in values if each.strip()))


def _only_asks(prompt: str) -> bool:
    """Whether *prompt* is a question, and not a request phrased as one: *can you fix it?*"""
    if not prompt.rstrip().endswith("?"):
        return False

    text = prompt[-1_000:].rstrip("? \n")
    for end in ("! ", "? ", "\n"):
        text = text.replace(end, ". ")
    said = tokens(text.rsplit(". ", 1)[-1])
    return not said or said[0] not in word_list("requests.txt")


def _paths(text: str) -> list[str]:
    """Return the words of *text* that are paths or names of files."""
    if "/" not in text and "." not in text:
        return []

    words = [word.strip("`'\"()[]<>,;:?!*").rstrip(".") for word in text[:4_000].split()]
    return [
        word
        for word in words
        if ("/" in word or "." in word) and "//" not in word and language_of(word)
    ]


def _key(key: object) -> str:
    if not isinstance(key, str) or not key.strip() or not key.isprintable():
        raise InputError(f"a key of the context must be a text, not {key!r}")
    return key.strip()
