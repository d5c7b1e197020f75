"""Whether a shell command checks the work: a test, a build or a lint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Self

from brim.files import data_lines, data_rows
from brim.memory.repetition.commands import CommandPart, with_bare_program
from brim.record import PlainData

_INTERPRETERS = ("python", "python3", "php", "ruby")
_TEST_WORDS = ("test", "tests", "runtest", "spec", "eunit")
_BUILD_WORDS = ("build", "compile", "check")
_TEST_CALL = re.compile(
    r"(?i)((?:\w+(?:\.|::))?(?:run_?)?tests?(?:_\w+)?)\s*\(([^;]{0,200})",
)
_TEST_FILE = re.compile(
    r"(?:^|[/\\=])((?:test_\w{1,80}|\w{1,80}_(?:test|spec)|\w{1,80}(?:Test|Spec))\.\w{1,5})$"
)
_TEST_SCRIPT = re.compile(
    r"(?i)(?:^|[/_.-])(?:run)?tests?(?:[/_.-]|$)|(?:^|/)spec[_.]|[a-z0-9]Tests?\."
)
_GRADLE_TASKS = ("test", "build", "compile")
_PROGRAM_ENDINGS = {"test": "-test", "build": "build"}
_WITH_VALUE = ("-C", "--prefix", "--cwd", "--manifest-path")
_SELECTS = frozenset(
    ["-k", "-t", "-m", "-run", "--run", "-R", "--filter", "--grep", "-g", "--tests", "--test"],
)
_SELECTS_IN_ONE = ("-Dtest=", "-run=", "--filter=", "--tests=", "-k=", "--grep=")
_CODE_FLAGS = ("-e", "-E", "-c", "--eval", "-eval")
_WHOLE_FOLDERS = (".", "..", "tests", "test", "src", "spec")


@dataclass(frozen=True)
class Check(PlainData):
    """A command that checks the work: a ``test``, a ``build`` or a ``lint``."""

    kind: str
    name: str
    """The words it begins with, as in ``cargo test``."""
    target: str
    """What it checks, flags left out; empty if that is everything there is."""


def check_in(command: list[CommandPart]) -> tuple[Check | None, bool]:
    """Return the last check in *command*, and whether the exit code is the check's own."""
    for part in reversed(command):
        if part.filters:
            continue
        check = _check(part.named)
        if check is not None:
            return check, part is command[-1]
    return None, True


def _check(words: list[str]) -> Check | None:
    """Return the check that *words* run: the first that one of ``_READERS`` sees in them."""
    if not words:
        return None
    call = ProgramCall.of(words)
    for reader in _READERS:
        check = reader(call)
        if check is not None:
            return check
    return None


@dataclass(frozen=True)
class ProgramCall(PlainData):
    """A program and what it is given, without the folders that flags such as ``-C`` name."""

    words: list[str]
    plain: list[str]
    """The program and the words that aren't flags."""

    @classmethod
    def of(cls, words: list[str]) -> Self:
        """Return the call in *words*."""
        remaining = [words[0]]
        for before, word in pairwise(words):
            if before not in _WITH_VALUE:
                remaining.append(word)
        plain = [remaining[0]]
        for word in remaining[1:]:
            if not word.startswith("-") or word in ("--test", "--build"):
                plain.append(word)
        return cls(remaining, plain)

    @property
    def program(self) -> str:
        """The bare name of the program."""
        return self.words[0]

    @property
    def runs_scripts(self) -> bool:
        """Whether it's an interpreter."""
        return self.program in data_lines(__file__, "runners.txt")

    def check(self, kind: str, name: str, size: int) -> Check:
        """Return the check *name*, which the first *size* plain words are."""
        return Check(kind, name, _target(self.words[1:], self.plain[size:]))


def _interpreted(call: ProgramCall) -> Check | None:
    """Return the check that an interpreter runs: ``python tests/run.py``."""
    if call.program not in _INTERPRETERS:
        return None
    return _check(with_bare_program(call.words[1:]))


def _test_script(call: ProgramCall) -> Check | None:
    """Return the check in a script that its name says tests."""
    words = call.words
    script = ""
    if call.runs_scripts and len(words) > 1:
        script = words[1]
    elif words[0].endswith(".sh"):
        script = words[0]
    if not _TEST_SCRIPT.search(script):
        return None
    name = " ".join(dict.fromkeys([words[0], script]))
    return Check("test", name, target=script)


@cache
def _listed_checks() -> list[tuple[str, list[str]]]:
    """Return kind and words of every check in ``data/checks.tsv``, the longest first."""
    rows = [(kind, name.split()) for kind, name in data_rows(__file__, "checks.tsv")]
    return sorted(rows, key=lambda row: -len(row[1]))


def _listed(call: ProgramCall) -> Check | None:
    """Return the check that ``data/checks.tsv`` names."""
    plain = call.plain
    for kind, name in _listed_checks():
        size = len(name)
        if len(plain) < size or plain[: size - 1] != name[:-1]:
            continue
        last = plain[size - 1]
        # "npm run test" is also "npm run test:unit", but "jest" isn't "jest:x".
        if last == name[-1] or (size > 1 and last.startswith(f"{name[-1]}:")):
            return call.check(kind, " ".join([*name[:-1], last]), size)
    return None


def _code_that_tests(call: ProgramCall) -> Check | None:
    """Return the check in code that an interpreter is given: ``-e 'Pkg.test()'``."""
    if not call.runs_scripts:
        return None
    for flag, code in pairwise(call.words[1:]):
        match = _TEST_CALL.search(code)
        if flag in _CODE_FLAGS and match is not None:
            target = match[2].replace("'", "").replace('"', "").strip(" )")
            return Check("test", f"{call.program} {match[1]}", target)
    return None


def _named_check(call: ProgramCall) -> Check | None:
    """Return the check that a program says itself to be: ``forge test``, ``elm-test``."""
    program = call.program
    if _only_handles_files(program):
        return None
    task = " ".join(call.plain[1:2])
    kind = _kind_of_task(program, task)
    for ending in ("test", "build"):
        if program.endswith(_PROGRAM_ENDINGS[ending]):
            return call.check(kind or ending, program, 1)
    if not kind:
        return None
    return call.check(kind, f"{program} {task}", 2)


def _tests_files(call: ProgramCall) -> Check | None:
    """Return the check of a program that is given files of tests."""
    if _only_handles_files(call.program):
        return None
    matches = [_TEST_FILE.search(word) for word in call.words[1:]]
    files = [match[1] for match in matches if match is not None]
    if not files:
        return None
    return Check("test", call.program, " ".join(files))


def _only_handles_files(program: str) -> bool:
    """Whether *program* looks at files or moves them, whatever they are called."""
    return program in data_lines(__file__, "files.txt") + data_lines(__file__, "looking.txt")


def _kind_of_task(program: str, task: str) -> str:
    """Return the kind of check that *task* is; gradle's are called ``:app:testDebugUnitTest``."""
    if program in ("gradle", "gradlew"):
        folded = task.rpartition(":")[2].lower()
        task = next((word for word in _GRADLE_TASKS if word in folded), task)
    if task in _TEST_WORDS:
        return "test"
    if task in _BUILD_WORDS:
        return "build"
    return ""


_READERS = (_interpreted, _test_script, _listed, _code_that_tests, _named_check, _tests_files)


def _target(words: list[str], places: list[str]) -> str:
    """Return what is checked: places and names, and what a flag selects.

    A folder is everything in it, so it is nothing to tell checks apart by.
    """
    targets = {word for word in places if not _is_folder(word)}
    for flag, name in pairwise(["", *words]):
        if flag in _SELECTS or name.startswith(_SELECTS_IN_ONE):
            targets.add(name)
    return " ".join(sorted(targets))


def _is_folder(word: str) -> bool:
    last = word.rstrip("/").rsplit("/", 1)[-1]
    if word.endswith(("/", "...")) or last in _WHOLE_FOLDERS:
        return True
    return "/" in word and "." not in last
