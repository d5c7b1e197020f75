"""What a shell command does: its parts, whether it checks the work, waits, writes files or moves
git's tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from re import Pattern

from brim.files import data_lines, data_rows
from brim.record import PlainData
from brim.rules.programs import launched, program
from brim.rules.shell import pieces

_FILTER = (
    "tail",
    "head",
    "cat",
    "less",
    "more",
    "tee",
    "sort",
    "uniq",
    "cut",
    "wc",
    "sed",
    "awk",
    "grep",
    "rg",
    "tr",
)
_INTERPRETERS = ("python", "python3", "php", "ruby")
_TESTS = ("test", "tests", "runtest", "spec", "eunit")
_BUILDS = ("build", "compile", "check")
_TEST_CALL = r"(?i)((?:\w+(?:\.|::))?(?:run_?)?tests?(?:_\w+)?)\s*\(([^;]{0,200})"
_TEST_FILE = (
    r"(?:^|[/\\=])((?:test_\w{1,80}|\w{1,80}_(?:test|spec)|\w{1,80}(?:Test|Spec))\.\w{1,5})$"
)
_TEST_SCRIPT = r"(?i)(?:^|[/_.-])(?:run)?tests?(?:[/_.-]|$)|(?:^|/)spec[_.]|[a-z0-9]Tests?\."
_IN_PLACE = r"-\w*i|--in-place"
_SUFFIX = r"\.\w{1,8}$"
_WITH_VALUE = ("-C", "--prefix", "--cwd", "--manifest-path")
_SELECTS = (
    "-k",
    "-t",
    "-m",
    "-run",
    "--run",
    "-R",
    "--filter",
    "--grep",
    "-g",
    "--tests",
    "--test",
)
_SELECTS_IN_ONE = ("-Dtest=", "-run=", "--filter=", "--tests=", "-k=", "--grep=")
_GIT_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
_NO_FILES = {"-b", "-B", "--orphan", "--detach", "-t", "--track", "-p", "--patch"}
_SIDES = {"--ours", "--theirs", "--merge", "-m", "--conflict"}
"""Which side of a conflict is taken: that is merging, and takes nothing back."""
_GO_ON = ("merge", "rebase", "cherry-pick", "revert", "am")
_MOVES = (
    *("bisect", "checkout", "switch", "restore", "reset", "stash", "pull"),
    *("merge", "rebase", "revert", "apply", "am"),
)
_STASH = {
    "push": "stash",
    "save": "stash",
    "pop": "pop",
    "apply": "pop",
    "drop": "drop",
    "clear": "drop",
}
_EVERYTHING = (".", "./", ":/", "*")
_BACK = ("HEAD~", "HEAD^", "@~", "@^", "ORIG_HEAD", "HEAD@{")


@cache
def any_of(name: str) -> Pattern[str]:
    """Return one pattern that finds any of the patterns in the list ``data/<name>``. Case doesn't
    matter."""
    return re.compile(
        "|".join([f"(?:{line})" for line in data_lines(__file__, name)]),
        re.IGNORECASE | re.MULTILINE,
    )


@cache
def _checks() -> list[tuple[str, list[str]]]:
    found = [(kind, name.split()) for kind, name in data_rows(__file__, "checks.tsv")]
    return sorted(found, key=lambda check: -len(check[1]))


@dataclass(frozen=True)
class Check(PlainData):
    """A command that checks the work: a ``test``, a ``build`` or a ``lint``."""

    kind: str
    name: str
    """The words it begins with, as in ``cargo test``."""
    target: str
    """What it checks, flags left out; empty if that is everything there is."""


@dataclass(frozen=True)
class CommandPart(PlainData):
    """One command of several: its words without launchers and settings; whether it only filters
    what came before."""

    words: tuple[str, ...]
    filters: bool
    redirects: tuple[str, ...] = ()
    """The files that its output is redirected to."""

    @property
    def named(self) -> list[str]:
        """The words with the bare name of the program: ``./node_modules/.bin/jest`` is ``jest``."""
        return _named(list(self.words))


def parts(command: str) -> list[CommandPart]:
    """Return the commands in *command*, in order; the text of here-documents is left out.

    >>> [part.words for part in parts("cd app && FOO=1 npx jest 'a b' | tail -5")]
    [('cd', 'app'), ('jest', 'a b'), ('tail', '-5')]
    """
    found = []
    for piece in pieces(command):
        if words := launched(piece.words):
            found.append(
                CommandPart(tuple(words), piece.piped and words[0] in _FILTER, tuple(piece.writes))
            )
    return found


def _named(words: list[str]) -> list[str]:
    return [program(words[0]), *words[1:]] if words else words


def check_in(command: list[CommandPart]) -> tuple[Check | None, bool]:
    """Return the last check in *command*, None if there is none, and whether the exit code is the
    check's own."""
    for part in reversed(command):
        found = None if part.filters else _check(part.named)
        if found is not None:
            return found, part is command[-1]
    return None, True


def _check(words: list[str]) -> Check | None:
    if not words:
        return None
    if words[0] in _INTERPRETERS and (found := _check(_named(words[1:]))):
        return found
    words = [
        word for word, before in zip(words, ["", *words], strict=False) if before not in _WITH_VALUE
    ]
    plain = [
        words[0],
        *[word for word in words[1:] if not word.startswith("-") or word in ("--test", "--build")],
    ]
    runs = words[0] in data_lines(__file__, "runners.txt")
    script = words[1] if runs and len(words) > 1 else words[0] if words[0].endswith(".sh") else ""
    if script and re.search(_TEST_SCRIPT, script):
        return Check(
            "test", script if script == words[0] else f"{words[0]} {script}", target=script
        )
    for kind, name in _checks():
        if (
            plain[0] == name[0]
            and plain[1 : len(name) - 1] == name[1:-1]
            and len(plain) >= len(name)
        ):
            last = plain[len(name) - 1]
            if last == name[-1] or (len(name) > 1 and last.startswith(name[-1] + ":")):
                return Check(
                    kind, " ".join([*name[:-1], last]), _target(words[1:], plain[len(name) :])
                )
    return _unlisted(words, plain)


def _unlisted(words: list[str], plain: list[str]) -> Check | None:
    """Return the check that a program says itself to be which no list names: ``forge test``, ``-e
    'Pkg.test()'``."""
    if words[0] in data_lines(__file__, "runners.txt") and len(words) > 2:
        for flag, code in pairwise(words[1:]):
            if flag in ("-e", "-E", "-c", "--eval", "-eval") and (
                found := re.search(_TEST_CALL, code)
            ):
                target = found[2].replace("'", "").replace('"', "")
                return Check("test", f"{words[0]} {found[1]}", target.strip(" )"))
    if words[0] in data_lines(__file__, "files.txt") or words[0] in data_lines(
        __file__, "looking.txt"
    ):
        return None
    task = plain[1] if len(plain) > 1 else ""
    if words[0] in ("gradle", "gradlew"):  # :app:testDebugUnitTest, compileKotlin
        task = next(
            (
                name
                for name in ("test", "build", "compile")
                if name in task.rpartition(":")[2].lower()
            ),
            task,
        )
    kind = "test" if task in _TESTS else "build" if task in _BUILDS else ""
    named = "test" if words[0].endswith("-test") else "build" if words[0].endswith("build") else ""
    if named:  # elm-test, gprbuild
        return Check(kind or named, words[0], _target(words[1:], plain[1:]))
    if kind:
        return Check(kind, " ".join(plain[:2]), _target(words[1:], plain[2:]))
    given = [found[1] for word in words[1:] if (found := re.search(_TEST_FILE, word))]
    return Check("test", words[0], " ".join(given)) if given else None


def _target(words: list[str], places: list[str]) -> str:
    """Return what is checked: places and names, and what a flag selects. A folder is everything in
    it, so nothing."""
    chosen = [word for word in places if not _is_folder(word)]
    chosen += [value for flag, value in pairwise(words) if flag in _SELECTS]
    return " ".join(
        sorted({*chosen, *[word for word in words if word.startswith(_SELECTS_IN_ONE)]})
    )


def _is_folder(word: str) -> bool:
    last = word.rstrip("/").rsplit("/", 1)[-1]
    known = word.endswith(("/", "...")) or last in (".", "..", "tests", "test", "src", "spec")
    return known or ("/" in word and "." not in last)


def polls(command: list[CommandPart]) -> bool:
    """Whether a *command* looks if something is ready yet."""
    poll = any_of("polls.txt")
    return any(not part.filters and poll.match(" ".join(part.words)[:500]) for part in command)


def looks(command: list[CommandPart], also: tuple[str, ...] = ()) -> bool:
    """Whether a *command* only looks at what is there: ``data/looking.txt``. It may call the
    programs *also*, too."""
    programs = (*data_lines(__file__, "looking.txt"), *also)
    return bool(command) and all(part.words[0] in programs for part in command)


def goes_to(command: list[CommandPart]) -> str:
    """Return the folder that a *command* goes to and stays in; empty if it stays where it was."""
    folders = [
        part.words[1]
        for part in command
        if part.words[0] in ("cd", "pushd") and len(part.words) > 1
    ]
    return folders[-1] if folders else ""


def unfiltered(command: list[CommandPart]) -> str:
    """Return a *command* as one line without what only cuts its output: the same call is the same
    whatever is shown."""
    return " ; ".join([" ".join(part.words) for part in command if not part.filters])


def writes(command: list[CommandPart]) -> list[str]:
    """Return the files that a *command* changes in place or rewrites, as far as its words tell."""
    files: list[str] = []
    for part in command:
        program, *given = part.named
        if program in ("sed", "gsed", "perl", "ruby") and any(
            re.match(_IN_PLACE, word) for word in given
        ):
            files += [
                word for word in given[1:] if not word.startswith("-") and re.search(_SUFFIX, word)
            ]
        elif program == "tee":
            files += [word for word in given if not word.startswith("-")]
        files += part.redirects
    return [file for file in files if file and not file.startswith(("/dev/", "&", "$"))]


@dataclass(frozen=True)
class GitStep(PlainData):
    """One git command that matters: ``commit``, ``stash``, ``pop``, ``drop``, ``restore`` or
    ``reset``."""

    does: str
    paths: tuple[str, ...] = ()
    """What is restored, as it is written; what isn't a path isn't a file that was edited."""
    everything: bool = False
    commits: bool = False
    """Whether a reset also takes back what was committed."""


def git_steps(command: list[CommandPart]) -> list[GitStep]:
    """Return what the git commands in *command* do to unfinished work, in order."""
    return [step for words in _git(command) if (step := _step(words)) is not None]


def moves_tree(command: list[CommandPart]) -> bool:
    """Whether *command* puts other versions of files in place: what runs after it is another
    try."""
    return any(words[0] in _MOVES for words in _git(command))


def _git(command: list[CommandPart]) -> list[list[str]]:
    """Return the words of each git command in *command*, from its verb on."""
    found = []
    for part in command:
        program, *words = part.named
        if program in ("git", "git.exe"):
            while words and words[0].startswith("-"):
                words = words[2:] if words[0] in _GIT_WITH_VALUE else words[1:]
            found += [words] if words else []
    return found


def _step(words: list[str]) -> GitStep | None:
    verb, *given = words
    flags = {word for word in given if word.startswith("-") and word != "--"}
    names = [word for word in given if not word.startswith("-")]
    chosen = flags & _NO_FILES or {flag.partition("=")[0] for flag in flags} & _SIDES
    if (verb == "commit" and "--dry-run" not in flags) or (
        verb in _GO_ON and "--continue" in flags
    ):
        return GitStep("commit")
    if verb == "stash":
        does = _STASH.get(names[0] if names else "push")
        return GitStep(does, tuple(names[1:])) if does else None
    if verb == "reset" and "--hard" in flags:
        return GitStep(
            "reset", everything=True, commits=any(name.startswith(_BACK) for name in names)
        )
    paths = []
    if verb == "checkout" and not chosen:
        paths = given[given.index("--") + 1 :] if "--" in given else names
    elif (
        verb == "restore"
        and not chosen
        and (flags & {"--worktree", "-W"} or not flags & {"--staged", "-S"})
    ):
        sources = ("-s", "--source")
        paths = [
            word for word, before in zip(given, ["", *given], strict=False) if before not in sources
        ]
        paths = [word for word in paths if not word.startswith("-")]
    return (
        GitStep("restore", tuple(paths), any(path in _EVERYTHING for path in paths))
        if paths
        else None
    )


def covers(given: str, path: str) -> bool:
    """Whether *given*, as written in a command, is the file *path* or a folder above it.

    >>> covers("src/a.py", "/home/user/project/src/a.py"), covers("src/", "/home/user/project/src/a.py")
    (True, True)
    >>> covers("main", "/home/user/project/src/main.py")
    False
    """
    wanted = [part for part in given.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    there = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if not wanted:
        return False
    if there[-len(wanted) :] == wanted:
        return True
    folder = len(wanted) > 1 or given.endswith("/") or given.startswith("/")
    return folder and any(
        there[at : at + len(wanted)] == wanted for at in range(len(there) - len(wanted))
    )
