"""Conditions under which a behavior matters (``When``). Patterns for paths are in
``brim.rules.globs``."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from brim.errors import InputError
from brim.record import PlainData, set_fields
from brim.rules.globs import alternatives, matches

Given = str | Iterable[str] | None

Condition = tuple[str, tuple[str, ...]]
"""A key and the values that it may have."""

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
    for text in values:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"the condition {key!r} has a value that isn't text: {text!r}")
    if isinstance(values, (set, frozenset)):
        values = sorted(values)
    name = ALIASES.get(key, key)
    plain_values: list[str] = []
    for text in values:
        plain_values += _alternatives(name, text.strip())
    return tuple(dict.fromkeys(plain_values))


def _alternatives(key: str, value: str) -> list[str]:
    """Return the values that one with braces stands for. A folder is what is in it: a file's path
    never ends with a slash, so *src/* would match nothing."""
    if key not in PATTERNS:
        return [value]
    patterns = alternatives(value)
    if key != "file":
        return patterns
    return [f"{pattern}**" if pattern.endswith("/") else pattern for pattern in patterns]
