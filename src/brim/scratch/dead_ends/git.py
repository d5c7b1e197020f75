"""What the git commands in a shell command do to work that is not finished: keep it, put it aside, take it back."""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.dead_ends.commands import Part

_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
_NO_FILES = {"-b", "-B", "--orphan", "--detach", "-t", "--track", "-p", "--patch"}
_SIDES = {"--ours", "--theirs", "--merge", "-m", "--conflict"}
"""Which side of a conflict is taken: that is merging, and takes nothing back."""
_GO_ON = ("merge", "rebase", "cherry-pick", "revert", "am")
_MOVES = (
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
)
_BACK = ("HEAD~", "HEAD^", "@~", "@^", "ORIG_HEAD", "HEAD@{")


class GitStep(Frozen):
    """One git command that matters: ``commit``, ``stash``, ``pop``, ``drop``, ``restore`` or ``reset``."""

    __slots__ = ("commits", "does", "everything", "paths")

    does: str
    paths: tuple[str, ...]
    """What is restored, as it is written; what is no path is no file that was edited."""
    everything: bool
    commits: bool
    """Whether a reset also takes back what was committed."""

    def __init__(
        self, *, does: str, paths: tuple[str, ...] = (), everything: bool = False, commits: bool = False
    ) -> None:
        self._fill(does=does, paths=paths, everything=everything, commits=commits)


def git_steps(command: list[Part]) -> list[GitStep]:
    """Return what the git commands in *command* do, in order."""
    found = []
    for part in command:
        if part.words[0].rsplit("/", 1)[-1] in ("git", "git.exe") and len(part.words) > 1:
            step = _step(_after_options(list(part.words[1:])))
            if step is not None:
                found.append(step)
    return found


def moves_tree(command: list[Part]) -> bool:
    """Whether *command* puts other versions of files in place: what runs after it is another try."""
    for part in command:
        if part.words[0].rsplit("/", 1)[-1] in ("git", "git.exe"):
            verb = _after_options(list(part.words[1:]))[:1]
            if verb and verb[0] in _MOVES:
                return True
    return False


def _after_options(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _WITH_VALUE else words[1:]
    return words


def _step(words: list[str]) -> GitStep | None:
    if not words:
        return None
    verb, given = words[0], words[1:]
    flags = {word for word in given if word.startswith("-") and word != "--"}
    names = [word for word in given if not word.startswith("-")]
    step = None
    chosen = flags & _NO_FILES or {flag.partition("=")[0] for flag in flags} & _SIDES
    if (verb == "commit" and "--dry-run" not in flags) or (verb in _GO_ON and "--continue" in flags):
        step = GitStep(does="commit")
    elif verb == "stash":
        step = _stash(names[0] if names else "push", names[1:])
    elif verb == "reset" and "--hard" in flags:
        step = GitStep(does="reset", everything=True, commits=any(name.startswith(_BACK) for name in names))
    elif verb == "checkout" and not chosen:
        step = _restored(given[given.index("--") + 1 :] if "--" in given else names)
    elif verb == "restore" and not chosen and (flags & {"--worktree", "-W"} or not flags & {"--staged", "-S"}):
        step = _restored(_without_source(given))
    return step


def _stash(what: str, names: list[str]) -> GitStep | None:
    does = {"push": "stash", "save": "stash", "pop": "pop", "apply": "pop", "drop": "drop", "clear": "drop"}.get(what)
    return None if does is None else GitStep(does=does, paths=tuple(names))


def _without_source(given: list[str]) -> list[str]:
    kept = []
    skip = False
    for word in given:
        if skip:
            skip = False
        elif word in ("-s", "--source"):
            skip = True
        elif not word.startswith("-"):
            kept.append(word)
    return kept


def _restored(paths: list[str]) -> GitStep | None:
    if not paths:
        return None
    return GitStep(does="restore", paths=tuple(paths), everything=any(path in (".", "./", ":/", "*") for path in paths))


def covers(given: str, path: str) -> bool:
    """Whether *given*, as somebody writes it in a command, is the file *path* or a folder above it.

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
    return folder and any(there[at : at + len(wanted)] == wanted for at in range(len(there) - len(wanted)))
