"""The terms under which the index files conditions, so that a situation finds them.

Looking up sometimes gives too many conditions, never too few: each is compared with the situation
again. A pattern for paths is filed under what its last part must be: a name, an ending, or
anything.
"""

from __future__ import annotations

from brim.rules.blocks import pattern_words
from brim.rules.situation import Situation
from brim.rules.stems import stem, words_of
from brim.rules.when import BRANCH, LANGUAGE, PATH, RUN, TASK, Clause, Condition

_WILD = "*?[]"
_ANYTHING = "path:"


def filed_terms(condition: Condition) -> list[str]:
    """Return the terms of a condition: one clause of each case is enough to find it."""
    terms: list[str] = []
    for case in condition.cases:
        terms += _clause_terms(case[0])
    return list(dict.fromkeys(terms))


def _clause_terms(clause: Clause) -> list[str]:
    if clause.key == PATH:
        return [_path_term(pattern) for pattern in clause.values]
    if clause.key == LANGUAGE:
        return [f"language:{value}" for value in clause.values]
    if clause.key == RUN:
        return [_program_term(pattern_words(value)[0]) for value in clause.values]
    if clause.key == BRANCH:
        return ["branch:"]
    if clause.key == TASK:
        return [f"task:{stem(word)}" for value in clause.values for word in words_of(value)[:1]]
    return ["environment:"]


def _path_term(pattern: str) -> str:
    last = pattern.rsplit("/", 1)[-1]
    literal = last[max([last.rfind(sign) for sign in _WILD]) + 1 :]
    if literal and literal == last:
        return f"path:{last}"
    _, dot, ending = literal.rpartition(".")
    return f"path:*.{ending}" if dot and ending else _ANYTHING


def _program_term(program: str) -> str:
    return "run:" if any(sign in program for sign in _WILD) else f"run:{program}"


def situation_terms(situation: Situation) -> list[str]:
    """Return the terms under which conditions may be filed that *situation* meets."""
    terms: list[str] = []
    for path in situation.all_paths:
        name = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        terms += [f"path:{name}", _ANYTHING]
        parts = name.split(".")
        terms += [f"path:*.{ending}" for ending in parts[1:]]
    terms += [f"language:{language}" for language in sorted(situation.all_languages)]
    for command in situation.commands:
        if command and command[0]:
            terms.append(f"run:{command[0]}")
    if situation.commands:
        terms.append("run:")
    for word in situation.prompt_start.split():
        terms.append(f"run:{word.strip(_SIGNS).rsplit('/', 1)[-1]}")
    stems = situation.prompt_stems | situation.command_stems
    terms += [f"task:{word_stem}" for word_stem in sorted(stems)]
    if situation.branch:
        terms.append("branch:")
    if situation.environments:
        terms.append("environment:")
    return list(dict.fromkeys(terms))


_SIGNS = "`'\"()[]<>,;:?!."
