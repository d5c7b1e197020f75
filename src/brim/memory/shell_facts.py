"""What a shell command says about the work: files that it shows and changes, and itself.

Some commands are one thing in different words: then the latest is the one to remember.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from brim.files import data_lines
from brim.memory.comparison import Fact, longest_part
from brim.memory.facts import paths_in
from brim.memory.repetition.commands import CommandPart, looks, parts, writes
from brim.record import PlainData
from brim.rules.shell import unwrapped

LONGEST = 200
"""Characters of a command that is worth remembering: a longer one is a script for once."""

_PRINTING = ("cat", "head", "tail", "less", "bat", "sed", "awk", "nl", "jq")
"""Programs that show a file."""
_CUT = re.compile(
    r"\s*(?:2>&1\s*)?\|&?\s*"
    r"(?:tail|head|grep|egrep|rg|sed|awk|tee|cat|less|sort|uniq|wc|cut|jq)\b[^;&]*$"
)
"""The end of a command that only cuts its output."""
_SIGN = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|(&&|\|\||;)", re.DOTALL)
"""A quoted text, or what stands between two commands."""
_COMPOUND = ("for ", "while ", "until ", "if ", "case ", "(", "{", "function ")
"""How a command opens that has others inside."""
_NUMBER = re.compile(r"\d+")
_VALUE = re.compile(r"[-=/.\"'$]|\d")
"""What a word has that is a flag, a path, a number or a quoted value, and no name of a step."""


@dataclass(frozen=True)
class ShellFacts(PlainData):
    """What a shell command says about the work."""

    shows: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """The commands in it that are worth remembering."""


@lru_cache(maxsize=1_024)
def shell_facts(command: str) -> ShellFacts:
    """Return what a shell *command* says about the work.

    >>> shell_facts("cd /srv/app && sed -n '1,80p' src/app.py | head -40").shows
    ('src/app.py',)
    >>> shell_facts("cd /srv/app && uv run pytest -q tests/test_a.py 2>&1 | tail -5").commands
    ('uv run pytest -q tests/test_a.py',)
    """
    command = unwrapped(command).strip()
    command_parts = parts(command)
    changes = tuple(dict.fromkeys(writes(command_parts)))
    return ShellFacts(
        shows=_shown_files(command_parts, changes),
        changes=changes,
        commands=tuple(_noted_commands(command)),
    )


def _shown_files(command_parts: list[CommandPart], changes: tuple[str, ...]) -> tuple[str, ...]:
    if not looks(command_parts):
        return ()
    files: dict[str, None] = {}
    for part in command_parts:
        if part.named[0] not in _PRINTING:
            continue
        for word in part.words[1:]:
            if paths_in(word) == [word] and word not in changes:
                files[word] = None
    return tuple(files)


def _noted_commands(command: str) -> Iterator[str]:
    """Yield the commands in *command*, each once, without what cuts its output."""
    if "\n" in command or "<<" in command:
        return
    for text in dict.fromkeys(_steps(command)):
        if text.startswith(_COMPOUND):
            return
        command_parts = parts(text)
        if len(text) > LONGEST or not command_parts:
            continue
        if looks(command_parts, data_lines(__file__, "everyday_commands.txt")):
            continue
        yield text


def _steps(command: str) -> Iterator[str]:
    """Yield what runs one after the other in *command*."""
    start = 0
    for match in _SIGN.finditer(command):
        if match[1] is not None:
            yield _without_filter(command[start : match.start()])
            start = match.end()
    yield _without_filter(command[start:])


def _without_filter(text: str) -> str:
    return _CUT.sub("", text).strip().removesuffix("2>&1").strip()


# One thing in different words ---------------------------------------------------------------------


def without_numbers(fact: Fact) -> Fact:
    """Return what commands have in common that differ in numbers only; other facts as they are.

    >>> without_numbers(("command", "pytest --count 30"))
    ('command', 'pytest --count 0')
    """
    kind, text = fact
    if kind != "command":
        return fact
    return kind, _NUMBER.sub("0", " ".join(text.split()))


def replaces(later: str, earlier: str) -> bool:
    """Whether *later* does what the *earlier* command was to do.

    It has that inside, or is inside it, or it calls the same program for the same steps with other
    flags.

    >>> replaces("stack --resolver lts-21 test", "stack test")
    True
    >>> replaces("npm run test", "npm run lint")
    False
    """
    if f" {later} " in f" {earlier} " or f" {earlier} " in f" {later} ":
        return True
    later_words = longest_part(later).split()
    earlier_words = longest_part(earlier).split()
    if not later_words or not earlier_words or later_words[0] != earlier_words[0]:
        return False
    steps = {word for word in earlier_words[1:] if not _VALUE.search(word)}
    return bool(steps) and steps <= set(later_words)
