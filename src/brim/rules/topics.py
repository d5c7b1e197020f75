"""What a rule is about: the files, the language or the command that a phrase names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from brim.files import data_rows
from brim.record import PlainData
from brim.rules.prose_words import (
    FOLDER_NAME,
    folders_in,
    leading_paths,
    paths_in,
    split_languages,
)
from brim.rules.when import LANGUAGE, PATH, RUN, TEST_FILES, Clause

_DETERMINERS = (
    r"(?:(?i:the|an?|any|all|every|each|new|existing|our|your|of|le|les|la|las|los|el|os|as|o|tous"
    r"|todos|todas|toda|todo|den|der|dem|die|das|alle|allen|jede|jeder|jedem)\s+)*"
)
_NOUN = (
    r"(?i:(?:source |test |generated )?(?:files?|code|modules?|scripts?|components?|sources?"
    r"|packages?|class(?:es)?|tests?|templates?|queries|migrations?|pages?|handlers?|routes?"
    r"|stylesheets?|anything|everything|something|Dateien?|Skripte?n?|Komponenten?|Ordner|fichiers?"
    r"|archivos?|ficheros?|código|arquivos?|componentes?|composants?|dossiers?|carpetas?|pastas?)"
    r"(?!\w))"
)
_WITHIN = (
    r"\s+(?:(?i:that (?:is|are|lives?) )?)(?i:in|under|inside|within|below|matching|of|from|dans"
    r"|sous|en|em|de|unter|im)\s+"
)
_HYPHEN = r"-(?=Dateien?\b|Code\b|Skripte?n?\b|Komponenten?\b)"
"""German joins a language and its noun: *Python-Dateien*."""
_CHANGES_OF = r"(?i:changes (?:to|in|under)|edits (?:to|in)|work (?:in|on|under))\s+"


@dataclass(frozen=True)
class Topic(PlainData):
    """What a text begins with."""

    clause: Clause
    end: int
    """Where it ends in the text."""
    is_bare: bool = False
    """Whether it's a language without a word such as *files*."""
    is_plain_path: bool = False
    """Whether it's the path of one place, without a word such as *files*."""


def leading_topic(text: str) -> Topic | None:
    """Return the topic that *text* begins with.

    >>> str(leading_topic("all Python scripts in `tools/` must have a main").clause)
    'tools/**'
    >>> str(leading_topic("TypeScript and Vue code").clause), leading_topic("answers")
    ('typescript, vue', None)
    """
    text = re.sub(_HYPHEN, " ", text)
    start = _end_of(_DETERMINERS + f"(?:{_CHANGES_OF})?" + _DETERMINERS, text)
    phrase = text[start:]
    for reader in (_place, _named_topic, _topic_in_language, _topic_in_place):
        topic = reader(phrase)
        if topic is not None:
            return Topic(topic.clause, start + topic.end, topic.is_bare, topic.is_plain_path)
    return None


def _named_topic(text: str) -> Topic | None:
    name = re.match(_named_pattern(), text)
    if name is None or name.lastgroup is None:
        return None
    clause = _named_clauses()[int(name.lastgroup[1:])]
    return _narrowed(clause, text, name.end())


def _topic_in_language(text: str) -> Topic | None:
    """Read *Python files*, *Go code in `cmd/`* or a language alone."""
    languages, after = split_languages(text)
    if not languages:
        return None
    end = len(text) - len(after)
    noun = re.match(rf"[\s-]{_NOUN}", after)
    clause = Clause(LANGUAGE, tuple(dict.fromkeys(languages)))
    if noun is None:
        return Topic(clause, end, is_bare=True)
    return _narrowed(clause, text, end + noun.end())


def _topic_in_place(text: str) -> Topic | None:
    """Read *files under src/*, or *fichiers Python*."""
    noun = re.match(_NOUN, text)
    if noun is None:
        return None
    after = text[noun.end() :]
    inside = re.match(_WITHIN + _DETERMINERS, after)
    if inside is not None:
        place = _place(after[inside.end() :])
        if place is not None:
            return Topic(place.clause, noun.end() + inside.end() + place.end)
    languages, remainder = split_languages(after.lstrip())
    if languages:
        clause = Clause(LANGUAGE, tuple(dict.fromkeys(languages)))
        return Topic(clause, len(text) - len(remainder))
    place = _place(after.lstrip())
    if place is not None:
        return Topic(place.clause, len(text) - len(after.lstrip()) + place.end)
    return None


def _place(text: str) -> Topic | None:
    """Read paths, or *the `web` folder*."""
    written = leading_paths(text)
    if not written:
        folder = re.match(rf"{FOLDER_NAME} (?:folder|directory|dir)\b", text)
        if folder is None:
            return None
        return Topic(Clause(PATH, tuple(folders_in(folder[0]))), folder.end())
    patterns = paths_in(written) or folders_in(f"{written} folder")
    if not patterns:
        return None
    end = len(written)
    noun = re.match(rf"\s{_NOUN}|\s(?:folder|directory|dir)\b", text[end:])
    has_noun = noun is not None
    if noun is not None:
        end += noun.end()
    is_plain = not has_noun and "*" not in written and not written.strip("`").endswith("/")
    return Topic(Clause(PATH, tuple(patterns)), end, is_plain_path=is_plain)


def _narrowed(clause: Clause, text: str, end: int) -> Topic:
    """Return *clause*, or the place that follows it in *text*: *Python scripts in `tools/`*."""
    inside = re.match(_WITHIN + _DETERMINERS, text[end:])
    if inside is not None and clause.key != RUN:
        place = _place(text[end + inside.end() :])
        if place is not None:
            return Topic(place.clause, end + inside.end() + place.end)
    return Topic(clause, end)


def _end_of(pattern: str, text: str) -> int:
    match = re.match(pattern, text)
    if match is None:
        return 0
    return match.end()


@cache
def _named_clauses() -> list[Clause]:
    clauses = []
    for key, values, _ in data_rows(__file__, "named_topics.tsv"):
        patterns = TEST_FILES if values == "tests" else tuple(values.split(", "))
        clauses.append(Clause(key, patterns))
    return clauses


@cache
def _named_pattern() -> str:
    """Return one pattern for all names; its groups have the places of their clauses."""
    groups: list[str] = []
    rows: Iterable[list[str]] = data_rows(__file__, "named_topics.tsv")
    for place, (_, _, names) in enumerate(rows):
        groups.append(f"(?P<n{place}>(?:{'|'.join(names.split(', '))})(?![\\w-]))")
    return f"(?i:{'|'.join(groups)})"
