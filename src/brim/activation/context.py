"""``Context``: what is known of the situation that behaviors are wanted for."""

from __future__ import annotations

from brim._frozen import Frozen
from brim._light import MappingProxy
from brim.behaviors.when import ALIASES, KEYS
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Given = str | Iterable[str] | None


class _Derived(Frozen):
    """What follows from the fields of a context; kept apart so that two contexts are compared by what was given."""

    __slots__ = ("facts", "words")

    facts: Mapping[str, tuple[str, ...]]
    """Everything known, by key: what was given, the language of the files, the task of prompt and command."""
    words: frozenset[str]
    """The stems of prompt and command."""


class Context(_Derived):
    """The situation: any of these may be unknown, and each may be one text or several.

    The language is that of the files, and the task is what prompt and command are about, unless they are given.

    >>> context = Context(file="src/app.py", prompt="install it with uv")
    >>> context.facts["language"], "uv" in context.words
    (('python',), True)
    """

    __slots__ = ("file", "task", "language", "environment", "project_type", "branch", "prompt", "command", "custom")

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
    """Further keys with their values, by key."""

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
        known = {
            "file": _texts("file", file),
            "task": _texts("task", task),
            "language": _texts("language", language),
            "environment": _texts("environment", environment),
            "project_type": _texts("project_type", project_type),
            "branch": _texts("branch", branch),
        }
        further = {_key(key): _texts(str(key), value) for key, value in dict(custom or ()).items()}
        further = {key: values for key, values in further.items() if values}
        prompt, command = _text("prompt", prompt), _text("command", command)
        self._fill(**known, prompt=prompt, command=command, custom=tuple(sorted(further.items())))
        facts = {key: values for key, values in known.items() if values}
        for name, values in self.custom:
            key = ALIASES.get(name, name)
            facts[key] = tuple(dict.fromkeys((*facts.get(key, ()), *values)))
        self._fill(words=_infer(facts, prompt, command), facts=MappingProxy(facts))

    def __str__(self) -> str:
        keys = [*(key for key in KEYS if key in self.facts), *(key for key in self.facts if key not in KEYS)]
        said = [f"{key} {' or '.join(self.facts[key])}" for key in keys]
        return ", ".join(said) or "nothing known"


def _infer(facts: dict[str, tuple[str, ...]], prompt: str, command: str) -> frozenset[str]:
    """Add to *facts* the language and the task if they can be told, and return the stems."""
    if "file" in facts and "language" not in facts:
        from brim.behaviors.tasks import language_of

        languages = [language for language in map(language_of, facts["file"]) if language]
        if languages:
            facts["language"] = tuple(dict.fromkeys(languages))
    if "task" in facts:
        from brim.behaviors.tasks import named_task

        facts["task"] = tuple(dict.fromkeys((*facts["task"], *map(named_task, facts["task"]))))
    texts = [text for text in (prompt, command) if text]
    if not texts:
        return frozenset()
    from brim.behaviors.words import words_of

    if "task" not in facts:
        from brim.behaviors.tasks import tasks_of

        # All that it may be: a guess that leaves one out would put out the behaviors for it.
        tasks = [task for text in texts for task in tasks_of(text)]
        if tasks:
            facts["task"] = tuple(dict.fromkeys(tasks))
    return frozenset().union(*map(words_of, texts))


def _texts(key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple, set, frozenset)) or not all(isinstance(each, str) for each in values):
        raise InputError(f"the context's {key} must be a text or a list of texts, not {value!r}")
    if isinstance(values, (set, frozenset)):
        values = sorted(values)
    return tuple(dict.fromkeys(each.strip() for each in values if each.strip()))


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"the context's {key} must be a text, not {value!r}")
    return value


def _key(key: object) -> str:
    if not isinstance(key, str) or not key.strip() or not key.isprintable():
        raise InputError(f"a key of the context must be a text, not {key!r}")
    return key.strip()
