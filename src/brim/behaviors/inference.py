"""The conditions that a rule's own words speak of: languages, files, commands, tasks, branches.

What is read here is evidence for or against a rule in a situation. It never excludes one: only a
condition that a person declared does that.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from brim.behaviors.tasks import is_program, programs_of, tasks_of, tasks_run
from brim.behaviors.when import EDITING, When
from brim.behaviors.words import looked_at, tokens
from brim.files import data_rows
from brim.rules.languages import language_of

MOST = 3
"""Languages or tasks that a rule may be for. One that names more is for none in particular."""

QUALITIES = frozenset({"security", "performance", "design", "debugging"})
"""Tasks that rules speak of without being for them: *Errors have a code* isn't only for those who
look for bugs."""
_OPENING = 4
"""Words at the beginning that say what a rule is about: *Commit messages are in English*."""
_PATH = re.compile(
    r"`([^`\s]+)`|(?<![\w/:.@-])(\.{0,2}/?(?:[\w.*@-]+/)+(?:[\w.*{},-]*\w|\*\*?)?|\*\.[\w{},]+)(?![\w/])"
)
_EXTENSION = re.compile(
    r"(?<![\w*/])`?\*?(\.[a-z][a-z0-9]{0,5})`?(?= (?:file|module|script|component|test)s?\b)"
)
_LINK = re.compile(r"\bhttps?://[^\s)>`]+")
_COMMAND = re.compile(r"`([^`\n]{2,80})`")
_RUN = re.compile(
    r"\b(?:run|running|runs|call|invoke|execut\w+|ausführ\w+|lanc\w+|exécut\w+|ejecut\w+|rod\w+)\s*$",
    re.I,
)
_RUNNING = re.compile(
    r"\b(?:when|whenever|before|after|if) (?:you |we )?run(?:ning)? ([a-z][a-z0-9-]+)", re.I
)
_BRANCH = re.compile(
    r"\b(?:on|auf|sur|en|em) (?:the |dem |der |la |el |a |o )?`?(main|master|develop|trunk|release/\*)`?\b",
    re.I,
)


@lru_cache(2048)  # a rule is asked for it at every step on its way into the store
def infer(text: str, *, heading: str = "") -> When:
    """Return the conditions that *text* speaks of, under its *heading*; often none.

    >>> str(infer("In Python files, use pathlib instead of os.path"))
    'language python'
    >>> str(infer("Before committing, run the linter")), str(infer("Use factories in tests/ instead of fixtures"))
    ('task git', 'file tests/**, task testing')
    """
    text, heading = _LINK.sub(" ", looked_at(text)), heading[:200]
    about = f"{heading}\n{text}"
    files = _files(text) or _files(heading, anywhere=True)
    languages = _languages(about) or [each for each in map(language_of, files) if each]
    found = {
        "file": files,
        "language": languages,
        "task": _tasks(text, heading),
        "branch": [found.lower() for found in _BRANCH.findall(text)],
        "command": _commands(text),
    }
    kept = {key: tuple(dict.fromkeys(values)) for key, values in found.items()}
    if len(kept["language"]) > MOST:
        kept["language"] = ()
    return When.of({key: values[:MOST] for key, values in kept.items() if values})


def _languages(text: str) -> list[str]:
    """Return the languages that *text* names, by name or by the ending of their files."""
    names, cased = _names(), _names("cased")
    found = [names[word] for word in tokens(text) if word in names]
    found += [
        cased[word]
        for word in re.findall(r"[A-Za-z+#]+", text)
        if word in cased and _is_language(word, text)
    ]
    return found + [
        language for each in _EXTENSION.findall(text) if (language := language_of(f"x{each}"))
    ]


def _is_language(word: str, text: str) -> bool:
    """Whether *word*, which is also an English word or a letter, is meant as a language: *in Go*,
    *Go code*."""
    what = r"(?:code|files?|modules?|packages?|scripts?|tests?|structs?|services?|version)"
    return bool(
        re.search(rf"\b(?:in|for|with|of) {word}\b|\b{word} {what}\b|^{word}$", text, re.MULTILINE)
    )


def _files(text: str, *, anywhere: bool = False) -> list[str]:
    """Return the patterns for the files that *text* is for: those that stand after a word for a
    place."""
    found, places = [], _words("place")
    for match in _PATH.finditer(text):
        path = (match[1] or match[2]).strip(".,;:").removeprefix("./")
        before = text[max(0, match.start() - 40) : match.start()].lower().rstrip("`( ").split()
        near = [word.strip("`,.:;()") for word in before[-4:]]
        scoped = anywhere or match.start() == 0 or any(word in places for word in near)
        if scoped and _is_path(path):
            found.append(path)
    return found


def _is_path(path: str) -> bool:
    if (
        path.startswith(("http", "-", "@", "/", "~", "$"))
        or not set("/.").intersection(path)
        or "(" in path
    ):
        return False
    is_folder = path.endswith(("/", "/*", "/**")) or "*" in path
    return is_folder or (language_of(path) is not None and not path.startswith("."))


def _tasks(text: str, heading: str) -> list[str]:
    """Return what a rule is done with: of its heading, its first words, and the clauses that say
    when."""
    words = text.replace("`", "").split()
    opening = tasks_of(" ".join(words[:_OPENING]))
    found = [task for task in (*tasks_of(heading), *opening) if task not in QUALITIES]
    # What a linter or formatter is run on is what was changed, whether the rule says so or not.
    changes = next(
        words for kind, words in data_rows(__file__, "condition_words.tsv") if kind == "change"
    )
    lints = any("linting" in tasks for tasks in (opening, *map(tasks_run, _COMMAND.findall(text))))
    if lints or re.search(changes, f"{heading}\n{text}", re.IGNORECASE):
        found.insert(0, EDITING)
    clauses = []
    moments = _words("moment")
    for at, word in enumerate(words):
        if word.strip("*_,.:;(").lower() in moments:
            clause = " ".join(words[at + 1 : at + 8])
            clauses.append(re.split(r"[,.;:]", clause)[0])
    for clause in clauses:
        found += tasks_of(clause)
    return found


def _commands(text: str) -> list[str]:
    """Return the programs that *text* says to run, or to leave: those after *run*, and known ones
    in backticks."""
    found = [program for program in _RUNNING.findall(text) if is_program(program)]
    for match in _COMMAND.finditer(text):
        programs = programs_of(match[1])
        if (
            programs
            and "/" not in programs[0]
            and (
                is_program(programs[0])
                or _RUN.search(text[max(0, match.start() - 40) : match.start()])
            )
        ):
            found.append(
                programs[1]
                if programs[1:] and programs[1].startswith(f"{programs[0]} ")
                else programs[0]
            )
    return found


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(
        word
        for each, words in data_rows(__file__, "condition_words.tsv")
        if each == kind
        for word in words.split()
    )


@cache
def _names(kind: str = "language") -> dict[str, str]:
    return dict(pair.split("=") for pair in _words(kind))
