"""What git commands do to unfinished work."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from brim.memory.repetition.commands import CommandPart
from brim.record import PlainData

_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
_NO_FILES = {"-b", "-B", "--orphan", "--detach", "-t", "--track", "-p", "--patch"}
_SIDES = {"--ours", "--theirs", "--merge", "-m", "--conflict"}
"""Which side of a conflict is taken: that is merging, and takes nothing back."""
_MOVES = frozenset(
    [
        "bisect",
        "checkout",
        "switch",
        "restore",
        "reset",
        "stash",
        "pull",
        "merge",
        "rebase",
        "revert",
        "apply",
        "am",
    ],
)
_STASH = {
    "push": "stash",
    "save": "stash",
    "pop": "pop",
    "apply": "pop",
    "drop": "drop",
    "clear": "drop",
}
_EVERYTHING = frozenset([".", "./", ":/", "*"])
_BACK = ("HEAD~", "HEAD^", "@~", "@^", "ORIG_HEAD", "HEAD@{")


@dataclass(frozen=True)
class GitStep(PlainData):
    """One git command that matters."""

    does: str
    """``commit``, ``stash``, ``pop``, ``drop``, ``restore`` or ``reset``."""
    paths: tuple[str, ...] = ()
    """What is restored, as it is written; what isn't a path isn't a file that was edited."""
    everything: bool = False
    commits: bool = False
    """Whether a reset also takes back what was committed."""

    def takes_back(self, path: str) -> bool:
        """Whether it takes back what was done to the file *path*."""
        return self.everything or any(covers(pattern, path) for pattern in self.paths)


def git_steps(command: list[CommandPart]) -> list[GitStep]:
    """Return what the git commands in *command* do to unfinished work, in order."""
    steps = [_step(words) for words in _git_commands(command)]
    return [step for step in steps if step is not None]


def moves_tree(command: list[CommandPart]) -> bool:
    """Whether *command* puts other versions of files in place: afterwards all is another try."""
    return any(words[0] in _MOVES for words in _git_commands(command))


def _git_commands(command: list[CommandPart]) -> list[list[str]]:
    """Return the words of each git command in *command*, from its verb on."""
    commands = []
    for part in command:
        program, *words = part.named
        if program not in ("git", "git.exe"):
            continue
        while words and words[0].startswith("-"):
            words = words[2:] if words[0] in _WITH_VALUE else words[1:]
        if words:
            commands.append(words)
    return commands


@dataclass(frozen=True)
class GitArguments(PlainData):
    """What a git command is given after its verb."""

    words: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The words that aren't flags: paths, commits, branches."""
        return [word for word in self.words if not word.startswith("-")]

    @property
    def flags(self) -> set[str]:
        """The flags, without the values that are joined to them."""
        return {word.partition("=")[0] for word in self.words if word.startswith("-")}


def _step(words: list[str]) -> GitStep | None:
    verb, *arguments = words
    reader = _READERS.get(verb)
    if reader is None:
        return None
    return reader(GitArguments(tuple(arguments)))


def _commit(arguments: GitArguments) -> GitStep | None:
    if "--dry-run" in arguments.flags:
        return None
    return GitStep("commit")


def _go_on(arguments: GitArguments) -> GitStep | None:
    """Return the step of a merge or rebase: going on commits what a conflict needed."""
    if "--continue" not in arguments.flags:
        return None
    return GitStep("commit")


def _stash(arguments: GitArguments) -> GitStep | None:
    verb, *paths = arguments.names or ["push"]
    if verb not in _STASH:
        return None
    return GitStep(_STASH[verb], tuple(paths))


def _reset(arguments: GitArguments) -> GitStep | None:
    if "--hard" not in arguments.flags:
        return None
    goes_back = any(name.startswith(_BACK) for name in arguments.names)
    return GitStep("reset", everything=True, commits=goes_back)


def _checkout(arguments: GitArguments) -> GitStep | None:
    paths = arguments.names
    if "--" in arguments.words:
        paths = list(arguments.words[arguments.words.index("--") + 1 :])
    return _restored(arguments, paths)


def _restore(arguments: GitArguments) -> GitStep | None:
    flags = arguments.flags
    only_staged = flags & {"--staged", "-S"} and not flags & {"--worktree", "-W"}
    if only_staged:
        return None
    paths = []
    for before, word in pairwise(("", *arguments.words)):
        if before not in ("-s", "--source") and not word.startswith("-"):
            paths.append(word)
    return _restored(arguments, paths)


def _restored(arguments: GitArguments, paths: list[str]) -> GitStep | None:
    """Return the step that puts *paths* back, if *arguments* don't mean something else."""
    if not paths or arguments.flags & (_NO_FILES | _SIDES):
        return None
    return GitStep("restore", tuple(paths), everything=not _EVERYTHING.isdisjoint(paths))


_READERS = {
    "commit": _commit,
    "stash": _stash,
    "reset": _reset,
    "checkout": _checkout,
    "restore": _restore,
    "merge": _go_on,
    "rebase": _go_on,
    "cherry-pick": _go_on,
    "revert": _go_on,
    "am": _go_on,
}
"""What reads the arguments of each git command that matters, by its verb."""


def covers(pattern: str, path: str) -> bool:
    """Whether *pattern*, as a command has it, is the file *path* or a folder above it.

    >>> covers("src/a.py", "/home/me/shop/src/a.py"), covers("src/", "/home/me/shop/src/a.py")
    (True, True)
    >>> covers("main", "/home/me/shop/src/main.py")
    False
    """
    wanted = _path_names(pattern, without=("", ".", ".."))
    names = _path_names(path, without=("", "."))
    size = len(wanted)
    if not wanted:
        return False
    if names[-size:] == wanted:
        return True
    is_folder = size > 1 or pattern.endswith("/") or pattern.startswith("/")
    if not is_folder:
        return False
    return any(names[start : start + size] == wanted for start in range(len(names) - size))


def _path_names(path: str, *, without: tuple[str, ...]) -> list[str]:
    return [name for name in path.replace("\\", "/").split("/") if name not in without]
