"""Whether a shell command checks the work: a test, a build or a lint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

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
    if not words:
        return None
    if words[0] in _INTERPRETERS:
        check = _check(with_bare_program(words[1:]))
        if check is not None:
            return check
    words = _without_values(words)
    script = _test_script(words)
    if script:
        name = script if script == words[0] else f"{words[0]} {script}"
        return Check("test", name, target=script)
    plain = _plain_words(words)
    return _listed(words, plain) or _code_that_tests(words) or _unlisted(words, plain)


def _without_values(words: list[str]) -> list[str]:
    """Return *words* without the folders that flags such as ``-C`` name."""
    remaining = [words[0]]
    for before, word in pairwise(words):
        if before not in _WITH_VALUE:
            remaining.append(word)
    return remaining


def _plain_words(words: list[str]) -> list[str]:
    """Return the program and the words that aren't flags."""
    plain = [words[0]]
    for word in words[1:]:
        if not word.startswith("-") or word in ("--test", "--build"):
            plain.append(word)
    return plain


def _runs_scripts(program: str) -> bool:
    return program in data_lines(__file__, "runners.txt")


def _test_script(words: list[str]) -> str:
    """Return the test script that *words* run, empty if they run none."""
    script = ""
    if _runs_scripts(words[0]) and len(words) > 1:
        script = words[1]
    elif words[0].endswith(".sh"):
        script = words[0]
    return script if script and _TEST_SCRIPT.search(script) else ""


@cache
def _listed_checks() -> list[tuple[str, list[str]]]:
    """Return kind and words of every check in ``data/checks.tsv``, the longest first."""
    rows = [(kind, name.split()) for kind, name in data_rows(__file__, "checks.tsv")]
    return sorted(rows, key=lambda row: -len(row[1]))


def _listed(words: list[str], plain: list[str]) -> Check | None:
    """Return the check that ``data/checks.tsv`` names."""
    for kind, name in _listed_checks():
        size = len(name)
        if len(plain) < size or plain[: size - 1] != name[:-1]:
            continue
        last = plain[size - 1]
        # "npm run test" is also "npm run test:unit", but "jest" isn't "jest:x".
        if last == name[-1] or (size > 1 and last.startswith(f"{name[-1]}:")):
            label = " ".join([*name[:-1], last])
            return Check(kind, label, _target(words[1:], plain[size:]))
    return None


def _code_that_tests(words: list[str]) -> Check | None:
    """Return the check in code that an interpreter is given: ``-e 'Pkg.test()'``."""
    if not _runs_scripts(words[0]) or len(words) < 3:
        return None
    for flag, code in pairwise(words[1:]):
        if flag not in _CODE_FLAGS:
            continue
        call = _TEST_CALL.search(code)
        if call is not None:
            target = call[2].replace("'", "").replace('"', "").strip(" )")
            return Check("test", f"{words[0]} {call[1]}", target)
    return None


def _unlisted(words: list[str], plain: list[str]) -> Check | None:
    """Return the check that a program says itself to be: ``forge test``, ``elm-test``."""
    program = words[0]
    for names in ("files.txt", "looking.txt"):
        if program in data_lines(__file__, names):
            return None
    kind = _kind_of_task(program, plain[1] if len(plain) > 1 else "")
    if program.endswith("-test"):
        return Check(kind or "test", program, _target(words[1:], plain[1:]))
    if program.endswith("build"):
        return Check(kind or "build", program, _target(words[1:], plain[1:]))
    if kind:
        return Check(kind, " ".join(plain[:2]), _target(words[1:], plain[2:]))
    files = _test_files(words[1:])
    if not files:
        return None
    return Check("test", program, " ".join(files))


def _test_files(words: list[str]) -> list[str]:
    files = []
    for word in words:
        match = _TEST_FILE.search(word)
        if match is not None:
            files.append(match[1])
    return files


def _kind_of_task(program: str, task: str) -> str:
    """Return the kind of check that *task* is; gradle's are called ``:app:testDebugUnitTest``."""
    if program in ("gradle", "gradlew"):
        folded = task.rpartition(":")[2].lower()
        for word in ("test", "build", "compile"):
            if word in folded:
                task = word
                break
    if task in _TEST_WORDS:
        return "test"
    if task in _BUILD_WORDS:
        return "build"
    return ""


def _target(words: list[str], places: list[str]) -> str:
    """Return what is checked: places and names, and what a flag selects.

    A folder is everything in it, so it is nothing to tell checks apart by.
    """
    chosen = set()
    for word in places:
        if not _is_folder(word):
            chosen.add(word)
    for flag, value in pairwise(words):
        if flag in _SELECTS:
            chosen.add(value)
    for word in words:
        if word.startswith(_SELECTS_IN_ONE):
            chosen.add(word)
    return " ".join(sorted(chosen))


def _is_folder(word: str) -> bool:
    last = word.rstrip("/").rsplit("/", 1)[-1]
    if word.endswith(("/", "...")) or last in _WHOLE_FOLDERS:
        return True
    return "/" in word and "." not in last
