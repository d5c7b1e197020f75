"""What git commands do to unfinished work."""

from __future__ import annotations

from dataclasses import dataclass

from brim.memory.repetition.commands import CommandPart
from brim.record import PlainData

_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
_NO_FILES = {"-b", "-B", "--orphan", "--detach", "-t", "--track", "-p", "--patch"}
_SIDES = {"--ours", "--theirs", "--merge", "-m", "--conflict"}
"""Which side of a conflict is taken: that is merging, and takes nothing back."""
_GO_ON = ("merge", "rebase", "cherry-pick", "revert", "am")
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
    steps = []
    for words in _git_commands(command):
        step = _step(words)
        if step is not None:
            steps.append(step)
    return steps


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


def _step(words: list[str]) -> GitStep | None:
    verb, *arguments = words
    names = [word for word in arguments if not word.startswith("-")]
    flags = {word for word in arguments if word.startswith("-")} - {"--"}
    if _commits(verb, flags):
        return GitStep("commit")
    if verb == "stash":
        return _stash_step(names)
    if verb == "reset" and "--hard" in flags:
        commits = any(name.startswith(_BACK) for name in names)
        return GitStep("reset", everything=True, commits=commits)
    if flags & _NO_FILES or _takes_a_side(flags):
        return None
    paths = _restored_paths(verb, arguments, flags)
    if not paths:
        return None
    return GitStep("restore", tuple(paths), not _EVERYTHING.isdisjoint(paths))


def _stash_step(names: list[str]) -> GitStep | None:
    verb, *arguments = names or ["push"]
    does = _STASH.get(verb)
    if does is None:
        return None
    return GitStep(does, tuple(arguments))


def _takes_a_side(flags: set[str]) -> bool:
    """Whether a file is taken from one side of a merge."""
    return any(flag.partition("=")[0] in _SIDES for flag in flags)


def _commits(verb: str, flags: set[str]) -> bool:
    if verb == "commit":
        return "--dry-run" not in flags
    return verb in _GO_ON and "--continue" in flags


def _restored_paths(verb: str, arguments: list[str], flags: set[str]) -> list[str]:
    """Return what ``git checkout`` or ``git restore`` puts back."""
    if verb == "checkout":
        if "--" in arguments:
            return arguments[arguments.index("--") + 1 :]
        return [word for word in arguments if not word.startswith("-")]
    if verb != "restore":
        return []
    if flags & {"--staged", "-S"} and not flags & {"--worktree", "-W"}:
        return []
    paths = []
    before = ""
    for word in arguments:
        if before not in ("-s", "--source") and not word.startswith("-"):
            paths.append(word)
        before = word
    return paths


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
