"""When is a rule told? A ``Condition`` is declared in a file, or read from the words of a rule.

A condition is met if one of its cases is, and a case is met if each of its clauses is. A clause is
a key with values of which any will do: ``path`` with patterns, ``language``, ``run`` with commands,
``branch``, ``task`` and ``environment``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from brim.errors import InputError
from brim.record import PlainData
from brim.rules.blocks import checked_blocks, pattern_words
from brim.rules.globs import alternatives
from brim.rules.languages import all_languages, language_of
from brim.rules.situation import Situation
from brim.rules.stems import stem, words_of

PATH = "path"
LANGUAGE = "language"
RUN = "run"
BRANCH = "branch"
TASK = "task"
ENVIRONMENT = "environment"
KEYS = (PATH, LANGUAGE, RUN, BRANCH, TASK, ENVIRONMENT)

ALIASES = {
    "paths": PATH,
    "file": PATH,
    "files": PATH,
    "glob": PATH,
    "globs": PATH,
    "languages": LANGUAGE,
    "command": RUN,
    "commands": RUN,
    "branches": BRANCH,
    "env": ENVIRONMENT,
}
"""Other names that people give to the keys."""

TEST_FILES = (
    "tests/**",
    "test/**",
    "__tests__/**",
    "spec/**",
    "test_*",
    "*_test.*",
    "*.test.*",
    "*.spec.*",
    "*Test.*",
    "*_spec.*",
)
"""Where tests are, in most projects."""

EXAMPLES = '"*.rs", "rust", "run git push", "branch release/*" or "task testing"'

_WORDED = (RUN, BRANCH, TASK, ENVIRONMENT, LANGUAGE, PATH)
"""Keys that can stand before a value, as in ``run git push``."""
_FILE_NAMES = ("dockerfile", "makefile", "justfile", "gemfile", "rakefile")


@dataclass(frozen=True)
class Clause(PlainData):
    """A key with its values; one of them has to be true."""

    key: str
    values: tuple[str, ...]

    def is_met(self, situation: Situation) -> bool:
        """Whether *situation* has one of the values."""
        return any(self._is_value_met(value, situation) for value in self.values)

    def _is_value_met(self, value: str, situation: Situation) -> bool:
        if self.key == PATH:
            return situation.has_path(value)
        if self.key == LANGUAGE:
            return value in situation.all_languages
        if self.key == RUN:
            return situation.runs(value)
        if self.key == BRANCH:
            return situation.is_on(value)
        if self.key == TASK:
            return situation.names_task(value)
        return value in situation.environments

    def __str__(self) -> str:
        if self.values == TEST_FILES:
            return "test files"
        values = ", ".join(self.values)
        if self.key in (PATH, LANGUAGE):
            return values
        return f"{self.key} {values}"


Case = tuple[Clause, ...]


@dataclass(frozen=True)
class Condition(PlainData):
    """When a rule is told; without cases it's always."""

    cases: tuple[Case, ...] = ()

    def is_met(self, situation: Situation) -> bool:
        """Whether one of the cases is true in *situation*."""
        return self.case_met(situation) is not None

    def case_met(self, situation: Situation) -> Case | None:
        """Return the first case that is true in *situation*."""
        for case in self.cases:
            if all(clause.is_met(situation) for clause in case):
                return case
        return None

    def within(self, clause: Clause) -> Condition:
        """Return the condition that also asks for *clause*, in every case."""
        if not self.cases:
            return Condition(((clause,),))
        return Condition(tuple([(*case, clause) for case in self.cases]))

    def to_text(self) -> str:
        """Return the condition as the index has it: what ``condition_in`` reads."""
        cases = []
        for case in self.cases:
            cases.append([[clause.key, list(clause.values)] for clause in case])
        return json.dumps(cases, ensure_ascii=False)

    def __bool__(self) -> bool:
        return bool(self.cases)

    def __str__(self) -> str:
        if not self.cases:
            return "always"
        return " or ".join([case_words(case) for case in self.cases])


ALWAYS = Condition()


@lru_cache(500)
def condition_in(text: str) -> Condition:
    """Return the condition that ``Condition.to_text`` has written."""
    cases = []
    for case in json.loads(text):
        cases.append(tuple([Clause(key, tuple(values)) for key, values in case]))
    return Condition(tuple(cases))


def case_words(case: Case) -> str:
    """Return a case as ``why`` shows it: ``*.rs and branch main``."""
    return " and ".join([str(clause) for clause in case])


def any_of(*clauses: Clause) -> Condition:
    """Return the condition that one of *clauses* is true."""
    return Condition(tuple([(clause,) for clause in clauses]))


# Reading what a file declares ---------------------------------------------------------------------


def read_condition(value: object) -> Condition:
    """Return the condition that a file declares: a text, a list (any of them) or a table (all of
    them).

    >>> str(read_condition("*.rs")), str(read_condition(["rust", "run cargo publish"]))
    ('*.rs', 'rust or run cargo publish')
    >>> str(read_condition({"language": "rust", "branch": "main"}))
    'rust and branch main'
    """
    if isinstance(value, str):
        return any_of(_read_text(value))
    if isinstance(value, list):
        cases: list[Case] = []
        for item in value:
            if isinstance(item, list):
                raise InputError(f"a list inside a list isn't a when: use {EXAMPLES}")
            cases += read_condition(item).cases
        if not cases:
            raise InputError(f"an empty list isn't a when: use {EXAMPLES}, or leave it out")
        return Condition(tuple(cases))
    if isinstance(value, Mapping):
        if not value:
            raise InputError(f"an empty table isn't a when: use {EXAMPLES}, or leave it out")
        return Condition((tuple([_read_key(key, part) for key, part in value.items()]),))
    raise InputError(f"{value!r} isn't a when: use {EXAMPLES}")


def _read_key(key: str, value: object) -> Clause:
    name = ALIASES.get(key, key)
    if name not in KEYS:
        raise InputError(f"a when has no {key!r}: use {', '.join(KEYS)}")
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InputError(f"the list of {key} is empty: name at least one")
    read_values: list[str] = []
    for item in values:
        if not isinstance(item, str):
            raise InputError(f"{key} must be a text or a list of texts, not {item!r}")
        read_values += _read_values(name, item)
    return Clause(name, tuple(dict.fromkeys(read_values)))


def _read_text(text: str) -> Clause:
    first, _, remainder = text.strip().partition(" ")
    if remainder and first in _WORDED:
        return Clause(first, tuple(_read_values(first, remainder)))
    if text.strip().lower() in all_languages():
        return Clause(LANGUAGE, (text.strip().lower(),))
    if _is_path_pattern(text.strip()):
        return Clause(PATH, tuple(_read_values(PATH, text)))
    raise InputError(f"{text!r} isn't a when: use {EXAMPLES}")


def _is_path_pattern(text: str) -> bool:
    if not text or text.split() != [text]:
        return False
    return any(sign in text for sign in "*/.?[") or text.lower() in _FILE_NAMES


def _read_values(key: str, value: str) -> list[str]:
    value = value.strip()
    if not value or not value.isprintable():
        raise InputError(f"{key} has an empty value: use {EXAMPLES}")
    if key == PATH:
        return [path_pattern(pattern) for pattern in alternatives(value)]
    if key == LANGUAGE:
        if value.lower() not in all_languages():
            raise InputError(
                f"{value!r} isn't a language that brim knows: name its files, such as *.xyz"
            )
        return [value.lower()]
    if key == RUN:
        return [_command_pattern(value)]
    if key == TASK:
        return [value.lower()]
    return [value]


def path_pattern(pattern: str) -> str:
    """Return *pattern* with a folder written as everything in it.

    >>> path_pattern("src/"), path_pattern("./docs/*.md"), path_pattern(".go")
    ('src/**', 'docs/*.md', '*.go')
    """
    pattern = pattern.replace("\\", "/").removeprefix("./")
    if ".." in pattern.split("/"):
        raise InputError(f"{pattern!r} leads out of the project: name the folder itself")
    if pattern.count("[") != pattern.count("]"):
        raise InputError(f"can't match {pattern!r}: a [ or ] is missing")
    if pattern.endswith("/"):
        return f"{pattern}**"
    is_ending = pattern.startswith(".") and pattern[1:].isalnum()
    if is_ending and not is_known_dotfile(pattern):
        return f"*{pattern}"
    return pattern


def is_known_dotfile(name: str) -> bool:
    """Whether *name* is a file of its own rather than an ending: ``.env`` is, ``.go`` isn't."""
    return language_of(f"x{name}") is None


@lru_cache(1_000)
def _command_pattern(value: str) -> str:
    return checked_blocks([f"run {value}"])[0].removeprefix("run ")


# Finding conditions in an index -------------------------------------------------------------------

# A condition is filed under terms, so that a situation finds it. Looking up sometimes gives too
# many conditions, never too few: each is compared with the situation again. A pattern for paths is
# filed under what its last part must be: a name, an ending, or anything.

ANY_PATH = "path:"
"""Where patterns are filed whose end says nothing."""
ANY_PROGRAM = "run:"
_WILD = "*?[]"
_SENTENCE_SIGNS = "`'\"()[]<>,;:?!."


def filed_terms(condition: Condition) -> list[str]:
    """Return the terms of a condition: one clause of each case is enough to find it."""
    terms: list[str] = []
    for case in condition.cases:
        first = case[0]
        for value in first.values:
            terms.append(_filed_term(first.key, value))
    return list(dict.fromkeys(terms))


def _filed_term(key: str, value: str) -> str:
    """Return the term under which a clause with this value is filed."""
    if key == PATH:
        return _path_term(value)
    if key == LANGUAGE:
        return f"language:{value}"
    if key == RUN:
        return _program_term(pattern_words(value)[0])
    if key == TASK:
        words = words_of(value)
        if words:
            return f"task:{stem(words[0])}"
        return "task:"
    return f"{key}:"


def _path_term(pattern: str) -> str:
    last = pattern.rsplit("/", 1)[-1]
    literal = last
    for sign in _WILD:
        literal = literal.rpartition(sign)[2]
    if literal and literal == last:
        return f"path:{last}"
    _, dot, ending = literal.rpartition(".")
    if dot and ending:
        return f"path:*.{ending}"
    return ANY_PATH


def _program_term(program: str) -> str:
    for sign in _WILD:
        if sign in program:
            return ANY_PROGRAM
    return f"run:{program}"


def situation_terms(situation: Situation) -> list[str]:
    """Return the terms under which conditions may be filed that *situation* meets."""
    terms: list[str] = []
    for path in situation.all_paths:
        terms += _terms_of_path(path)
    for language in sorted(situation.all_languages):
        terms.append(f"language:{language}")
    for command in situation.commands:
        terms += [f"run:{command[0]}", ANY_PROGRAM]
    for word in situation.prompt_start.split():
        # A prompt may name a command: "then git push it".
        program = word.strip(_SENTENCE_SIGNS).rsplit("/", 1)[-1]
        terms.append(f"run:{program}")
    for word_stem in sorted(situation.prompt_stems | situation.command_stems):
        terms.append(f"task:{word_stem}")
    if situation.branch:
        terms.append(f"{BRANCH}:")
    if situation.environments:
        terms.append(f"{ENVIRONMENT}:")
    return list(dict.fromkeys(terms))


def _terms_of_path(path: str) -> list[str]:
    name = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    terms = [f"path:{name}", ANY_PATH]
    for ending in name.split(".")[1:]:
        terms.append(f"path:*.{ending}")
    return terms
