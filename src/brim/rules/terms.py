"""The terms under which the index files conditions, so that a situation finds them.

Looking up sometimes gives too many conditions, never too few: each is compared with the situation
again. A pattern for paths is filed under what its last part must be: a name, an ending, or
anything.
"""

from __future__ import annotations

from brim.rules.blocks import pattern_words
from brim.rules.situation import Situation
from brim.rules.stems import stem, words_of
from brim.rules.when import BRANCH, ENVIRONMENT, LANGUAGE, PATH, RUN, TASK, Condition

ANY_PATH = "path:"
"""Where patterns are filed whose end says nothing."""
ANY_PROGRAM = "run:"
_WILD = "*?[]"
_SIGNS = "`'\"()[]<>,;:?!."


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
        program = word.strip(_SIGNS).rsplit("/", 1)[-1]
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
