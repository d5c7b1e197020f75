"""``Situation``: what is happening, as far as rules care: a prompt, a call, a branch.

Paths and languages that a prompt names count like those of a call. A command's quoted text doesn't
count as a command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from brim.record import PlainData
from brim.rules.blocks import commands_of, pattern_words, runs
from brim.rules.globs import matches
from brim.rules.languages import language_of, named_languages
from brim.rules.programs import launched, program
from brim.rules.stems import stem, stems_of, words_of

_PROMPT_CHARS = 20_000
"""Characters of a prompt that are looked at."""
_WRITTEN_CHARS = 1_500
"""Characters of the text being written that are looked at."""
_PATH_SIGNS = "`'\"()[]<>,;:?!*"


@dataclass(frozen=True)
class Situation(PlainData):
    """What a rule's condition and words are compared with. Everything may be empty."""

    prompt: str = ""
    """What a person typed."""
    paths: tuple[str, ...] = ()
    """The files that a call reads or changes."""
    command: str = ""
    """The shell command of a call."""
    commands: tuple[tuple[str, ...], ...] = ()
    """Its simple commands, from ``commands_in``."""
    written: str = ""
    """The text that a call writes."""
    branch: str = ""
    environments: tuple[str, ...] = field(default=())
    """Where the agent runs: ``ci``."""

    @cached_property
    def prompt_start(self) -> str:
        """The part of the prompt that is looked at."""
        return self.prompt[:_PROMPT_CHARS]

    @cached_property
    def all_paths(self) -> tuple[str, ...]:
        """The paths of the call, and those that the prompt names."""
        return tuple(dict.fromkeys([*self.paths, *named_paths(self.prompt_start)]))

    @cached_property
    def all_languages(self) -> frozenset[str]:
        """The languages of the paths, and those that the prompt names."""
        languages = {language_of(path) for path in self.all_paths}
        languages.update(named_languages(self.prompt_start))
        languages.discard(None)
        return frozenset([str(language) for language in languages])

    @cached_property
    def prompt_words(self) -> list[str]:
        """The words of the prompt in order, in lower case."""
        return words_of(self.prompt_start)

    @cached_property
    def prompt_stems(self) -> frozenset[str]:
        """The stems of the prompt's words."""
        return frozenset(map(stem, self.prompt_words))

    def has_path(self, pattern: str) -> bool:
        """Whether a path of the call or the prompt is one that *pattern* means."""
        return any(matches(path, pattern) for path in self.all_paths)

    def is_on(self, pattern: str) -> bool:
        """Whether the branch is one that *pattern* means."""
        if not self.branch:
            return False
        return matches(f"/{self.branch}", f"/{pattern}")

    def runs(self, pattern: str) -> bool:
        """Whether the call runs the command *pattern*, or the prompt names it."""
        words = pattern_words(pattern)
        for command in self.commands:
            if command and command[0] and runs(list(command), words):
                return True
        return self._prompt_names(words)

    def _prompt_names(self, words: list[str]) -> bool:
        """Whether the prompt has *words* one after the other. One word alone must be quoted as
        code: *make* is also a verb."""
        if not self.prompt:
            return False
        if len(words) == 1:
            return re.search(rf"`{re.escape(words[0])}(?:`| )", self.prompt_start) is not None
        phrase = r"\s+".join(map(re.escape, words))
        return re.search(rf"(?<![\w-]){phrase}(?![\w-])", self.prompt_start) is not None

    def names_task(self, task: str) -> bool:
        """Whether the prompt or the program words of the call have each word of *task*."""
        stems = self.prompt_stems | self.command_stems
        task_stems = set(map(stem, words_of(task)))
        return bool(task_stems) and task_stems <= stems

    @cached_property
    def command_stems(self) -> frozenset[str]:
        """The stems of the words of the call's commands, without quoted text."""
        stems: list[str] = []
        for command in self.commands:
            for word in command:
                if word.split() == [word]:
                    stems += stems_of(word)
        return frozenset(stems)

    @cached_property
    def query(self) -> dict[str, float]:
        """The stems that rules are found by, with what each counts.

        Words of the prompt and the command count 1; words of paths and written text count a half.
        """
        weights: dict[str, float] = {}
        for path in self.paths:
            words = f"{path} {language_of(path) or ''}"
            weights.update(dict.fromkeys(stems_of(words), 0.5))
        weights.update(dict.fromkeys(stems_of(self.written[:_WRITTEN_CHARS]), 0.5))
        weights.update(dict.fromkeys(stems_of(self.prompt_start), 1.0))
        weights.update(dict.fromkeys(self.command_stems, 1.0))
        return weights


def commands_in(command: str) -> tuple[tuple[str, ...], ...]:
    """Return the simple commands that *command* runs, also what other programs run.

    >>> commands_in("cd x && uv run pytest -q")
    (('cd', 'x'), ('uv', 'run', 'pytest', '-q'), ('pytest', '-q'))
    """
    commands: list[tuple[str, ...]] = []
    for words in commands_of(command):
        commands.append(tuple(words))
        inner = launched(words)
        if inner and inner != words and words[0]:
            commands.append((program(inner[0]), *inner[1:]))
    return tuple(commands)


def named_paths(text: str) -> list[str]:
    """Return the words of *text* that are paths or names of files.

    >>> named_paths("Look at src/app.py and (Makefile), e.g. at https://x.org/a.py")
    ['src/app.py', 'Makefile']
    """
    paths: list[str] = []
    for word in text.split():
        path = word.strip(_PATH_SIGNS).rstrip(".")
        if not path or "//" in path or path.startswith("@"):
            continue
        if language_of(path) or ("/" in path and _has_ending(path)):
            paths.append(path)
    return list(dict.fromkeys(paths))


def _has_ending(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return "." in name or path.endswith("/")
