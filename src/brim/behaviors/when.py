"""Conditions under which a behavior matters (``When``), and the patterns for paths in them.

In a pattern ``*`` is any characters but ``/``, ``?`` is one, ``[abc]``, ``[a-z]`` and ``[!a]`` are
one of a set, and ``**`` as a whole part crosses ``/``: any number of folders, even none. A pattern
without a leading ``/`` matches the tail of a path. ``{a,b}`` is either: ``alternatives`` writes
such a pattern out.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from brim.errors import InputError
from brim.record import PlainData, set_fields

Given = str | Iterable[str] | None

Condition = tuple[str, tuple[str, ...]]
"""A key and the values that it may have."""

KEYS = ("file", "language", "task", "environment", "project_type", "branch")
"""The conditions that brim infers. Any other key is a custom one, which the caller has to give."""

_WILD = frozenset("*?[")

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

EDITING = "editing"
"""The task of changing files, which no word names: a rule for every change is for it."""

NOT_CI = ("environment", ("not ci",))
"""A condition that nothing has to confirm: the rule counts as one without it, but not in CI."""

Match = namedtuple("Match", ("confirmed", "contradicted", "absent"))
"""What became of each condition: three tuples of keys. One contradicted key, and the behavior is
out."""

_NOTHING_ASKED = Match((), (), ())


@dataclass(frozen=True)
class When(PlainData):
    """Conditions by key, each with the values of which any will do.

    >>> When(language="python", file=["src/**", "tests/**"]).match({"language": ("Python",), "task": ("testing",)})
    Match(confirmed=('language',), contradicted=(), absent=('file',))
    """

    conditions: tuple[Condition, ...]
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
        kept: dict[str, tuple[str, ...]] = {}
        given = [pair for pair in (*named, *(custom or {}).items()) if pair[1] is not None]
        for key, value in (*given, *conditions):
            if not isinstance(key, str) or not key or not key.isprintable():
                raise InputError(f"a condition's key must be a text, not {key!r}")
            name = ALIASES.get(key, key)
            kept[name] = tuple(dict.fromkeys((*kept.get(name, ()), *_values(key, value))))
        set_fields(self, tuple(sorted((key, values) for key, values in kept.items() if values)))

    @classmethod
    def of(cls, mapping: Mapping[str, object]) -> When:
        """Return the conditions in *mapping*: keys with a text or a list of texts each, as a file
        holds them."""
        if not hasattr(mapping, "items"):
            raise InputError(
                f"conditions are keys with values, such as {{'language': 'python'}}, not {mapping!r}"
            )
        return cls(conditions=mapping.items())

    def match(self, facts: Mapping[str, tuple[str, ...]]) -> Match:
        """Compare each condition with *facts*: what is known of the situation, by key."""
        if not self.conditions:
            return _NOTHING_ASKED
        found: tuple[list[str], ...] = ([], [], [])
        confirmed, contradicted, absent = found
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
        return Match(*map(tuple, found))

    @property
    def waits(self) -> bool:
        """Whether one of the conditions has to be confirmed."""
        return self.conditions not in ((), (NOT_CI,))

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def __str__(self) -> str:
        return (
            ", ".join(f"{key} {' or '.join(values)}" for key, values in self.conditions) or "always"
        )


def meets(key: str, fact: str, value: str) -> bool:
    """Return whether *fact* satisfies a condition on *key* with *value*."""
    if key == "file":
        return matches(fact, value)
    if key == "branch":
        return fact == value or matches("/" + fact, "/" + value)
    return fact.casefold() == value.casefold()


def _values(key: str, value: object) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple, set, frozenset)):
        raise InputError(f"the condition {key!r} must be a text or a list of texts, not {value!r}")
    for each in values:
        if not isinstance(each, str) or not each.strip():
            raise InputError(f"the condition {key!r} has a value that isn't text: {each!r}")
    kept = [each.strip() for each in values]
    if ALIASES.get(key, key) in PATTERNS:
        kept = [pattern for each in kept for pattern in alternatives(each)]
    if ALIASES.get(key, key) == "file":
        # A folder is what is in it: a file's path never ends with a slash, so "src/" would match
        # nothing.
        kept = [each + "**" if each.endswith("/") else each for each in kept]
    return tuple(sorted(set(kept)) if isinstance(values, (set, frozenset)) else dict.fromkeys(kept))


def matches(path: str, pattern: str) -> bool:
    """Whether *path* is one that *pattern* means.

    >>> matches("/home/me/shop/src/app.py", "src/*.py"), matches("src/a/b.py", "src/*.py")
    (True, False)
    >>> matches("src/a/b.py", "src/**/*.py"), matches("app.py", "**/*.py"), matches("docs/x", "docs/**")
    (True, True, True)
    """
    path, pattern = path.replace("\\", "/"), pattern.replace("\\", "/")
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if pattern.startswith("/"):
        return path.startswith("/") and _parts(steps, pattern[1:].split("/"))
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return _parts(steps, ["**", *parts]) if parts else False


MOST_ALTERNATIVES = 64
"""How many patterns one with braces may stand for. More is taken as it is written."""


def alternatives(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for.

    >>> alternatives("src/*.{ts,tsx}"), alternatives("{a,b{c,d}}"), alternatives("a{b"), alternatives("{x}")
    (['src/*.ts', 'src/*.tsx'], ['a', 'bc', 'bd'], ['a{b'], ['{x}'])
    """
    waiting = [pattern]
    found: list[str] = []
    while waiting:
        if len(waiting) + len(found) > MOST_ALTERNATIVES:
            return [pattern]
        first = waiting.pop(0)
        if braces := re.search(r"\{([^{}]*,[^{}]*)\}", first):
            before, after = first[: braces.start()], first[braces.end() :]
            waiting[:0] = [before + choice + after for choice in braces[1].split(",")]
        else:
            found.append(first)
    return list(dict.fromkeys(found))


def _parts(steps: list[str], parts: list[str]) -> bool:
    """Whether *parts* match all of *steps*; each part leads from the numbers of steps that can be
    done to others."""
    done = [0]
    for part in parts:
        if part == "**":
            done = list(range(done[0], len(steps) + 1)) if done else []
        else:
            done = [
                number + 1 for number in done if number < len(steps) and fits(steps[number], part)
            ]
    return len(steps) in done


@lru_cache(4096)
def fits(word: str, pattern: str) -> bool:
    """Whether *pattern*, with ``*``, ``?`` and ``[...]``, matches all of *word*; ``/`` is a letter
    like others."""
    if pattern in ("*", word):
        return True
    if _WILD.isdisjoint(pattern):
        return False

    return fnmatchcase(word, pattern.replace("[^", "[!"))
