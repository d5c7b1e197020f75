"""Where do the words of a command lead? Folders, variables, braces, patterns and links are followed
as a shell does, as far as the command itself says what they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice

from brim.config.places import home_folder
from brim.hooks.arguments import has_option, operands, option_values
from brim.hooks.changed_files import OPEN
from brim.hooks.landing import Landing
from brim.hooks.protected_files import (
    PARTS,
    WHOLE,
    holds_hooks,
    is_below,
    is_protected,
    may_be_protected,
    memory_files,
    steering_files,
    transcript_folders,
    user_home,
)
from brim.hooks.settings_edits import leaves_hooks
from brim.hooks.shell_variables import QUOTED, WORD, ShellVariables, unquoted
from brim.hooks.state import HookWorkspace
from brim.rules.globs import alternatives

_REDIRECTION = rf"{QUOTED}|\\.|(?<!\S)#[^\n]*|(?:&>>?|>>?[|&]?|<>)[ \t]*(?P<file>{WORD})"
_DOCUMENT = r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n(?:.*?\n)??[ \t]*\2[ \t]*(?=\n|$)"
_PATH = r"[^\s'\"`=:,;()\[\]<>|&]+"
_PARTS = r"[=:,'\"()\[\]]|\s+"
_GOING = ("cd", "pushd")
_GOING_WRAPPERS = {"env": "-C|--chdir", "sudo": "-D|--chdir"}
"""Programs that run another one in a folder, and their options for it."""
_WHICH = r"(?:which|command\s+-v|type\s+-p)\s+brim\b|import brim\b[^\n]{0,40}__(?:path|file)__"
_MOST_FOLDERS = 5
_MOST_NAMES = 2_000
_LONGEST = 60_000


class ShellPaths:
    """The paths that the words of one *text* mean; ``go`` follows it from folder to folder."""

    def __init__(self, text: str, folder: str, workspace: HookWorkspace) -> None:
        self.text = text[:_LONGEST]
        self._workspace = workspace
        self._home = user_home(workspace)
        user = re.escape(os.path.basename(self._home))
        self._tilde = rf"^~(?:{user})?(?=/|$)"
        self._brim = os.path.realpath(workspace.home)
        self.folders = [folder]
        """Where commands may run; the last is where the next one does."""
        self._variables = ShellVariables(self.text, self._from_hook())
        self._steering: list[str] | None = None
        self._links: dict[str, str] = {}
        """The links that commands have made, and where they lead."""
        self._is_lost = False
        """Whether commands go to a folder that can't be read."""

    # Following ------------------------------------------------------------------------------------

    def go(self, words: list[str]) -> None:
        """Follow ``cd`` to another folder, and ``ln -s``."""
        if words[0] == "ln":
            self._link(operands(words[1:]))
        target = _target(words)
        if not target:
            return
        self._is_lost = _is_open(self.spelled_out(target))
        if target == "-":
            target = self.folders[-2:][0]
        if len(self.folders) < _MOST_FOLDERS:
            paths = self._real_paths(target, self.folders[-1])
            self.folders += islice(paths, 1)

    def _link(self, operands: list[str]) -> None:
        folder = self.folders[-1]
        if len(operands) != 2:
            return
        link = os.path.normpath(os.path.join(folder, self.spelled_out(operands[1])))
        for target in self._real_paths(operands[0], folder):
            self._links[link] = target

    def _from_hook(self) -> dict[str, str]:
        """Return the variables of the hook that may be parts of paths."""
        values = {
            name: value for name, value in self._workspace.environ.items() if value.startswith("/")
        }
        return values | {"HOME": self._home, "BRIM_HOME": self._brim, "PWD": self.folders[0]}

    def spelled_out(self, word: str) -> str:
        """Return *word* with the values of its variables, as far as the text sets them."""
        return self._variables.spelled_out(word)

    # Protected files ------------------------------------------------------------------------------

    def protected(self, word: str, *, removes: bool = False, only_removes: bool = False) -> bool:
        """Whether a command that changes the file *word* changes a protected one. A command that
        *only_removes* may take away settings without brim's hooks."""
        for path in self._paths(word):
            if path == self._brim or self._is_protected_file(path, only_removes=only_removes):
                return True
            if removes and self._is_protected_folder(path):
                return True
        return False

    def _is_protected_file(self, path: str, *, only_removes: bool) -> bool:
        if not is_protected(path, self._workspace):
            return False
        if only_removes and holds_hooks(path, self._workspace):
            return not leaves_hooks(path, None)
        return True

    def _is_protected_folder(self, path: str) -> bool:
        """Whether *path* is a folder that nobody may remove: brim's, an agent's, one of its
        sessions."""
        if path in transcript_folders(self._workspace.environ):
            return True
        return os.path.basename(path) in WHOLE and may_be_protected(path, self._workspace)

    def holds_steering(self, word: str, patterns: tuple[str, ...]) -> bool:
        """Whether a protected file is somewhere below the folder *word*; with *patterns*, one that
        they match."""
        for path in self._paths(word):
            start = path.rstrip("/") + "/"
            for file in self._threatened(start, is_any=not patterns):
                names = (file, f"{word.rstrip('/')}/{file[len(start) :]}")
                if not patterns or _any_matches(names, patterns):
                    return True
        return False

    def _threatened(self, start: str, *, is_any: bool) -> list[str]:
        """Return the protected files whose paths begin with *start*, and that exist; of a folder
        of transcripts, one that may be there."""
        project = os.path.realpath(self._workspace.project or self.folders[0])
        files = [self._brim, *self.steering, *memory_files(project)]
        if is_any and f"{project}/".startswith(start):  # it may be removed, with its settings
            files = [path for path in files if not path.startswith(f"{project}/")]
        files = [path for path in files if path.startswith(start) and os.path.exists(path)]
        for folder in transcript_folders(self._workspace.environ):
            if start.startswith(f"{folder}/") or f"{folder}/".startswith(start):
                files.append(f"{folder}/project/session.jsonl")
        return files

    def lands_on_steering(self, landing: Landing) -> bool:
        """Whether something that is copied or unpacked takes the place of a protected file."""
        source = next(self._real_paths(landing.source, self.folders[-1]), "")
        for folder in self._real_paths(landing.folder, self.folders[-1]):
            for path in self._steering_below(folder):
                if not landing.is_archive:
                    has_it = self._holds(source, os.path.relpath(path, folder))
                else:
                    has_it = os.path.dirname(path) == folder or self.names_parts()
                if has_it:
                    return True
        return False

    def _steering_below(self, folder: str) -> list[str]:
        """Return the files in *folder* that steer agents, and that exist."""
        return [path for path in self.steering if is_below(path, [folder]) and os.path.exists(path)]

    def _holds(self, source: str, name: str) -> bool:
        """Whether the folder *source* has the file *name*; if it isn't there yet, whether the text
        names that."""
        if os.path.isdir(source):
            return os.path.lexists(os.path.join(source, name))
        return not os.path.lexists(source) and os.path.basename(name) in self.text

    def names_parts(self) -> bool:
        """Whether the text has the name of a protected file, and apart from it its folder's."""
        text = self.text.lower()
        folders = {folder for folder, name in PARTS if name in text}
        return any(re.search(rf"(?<![a-z]){folder}(?![a-z])", text) for folder in folders)

    def is_unclear(self, word: str) -> bool:
        """Whether *word* may lead to a protected file by what isn't known of it."""
        word = self.spelled_out(word)
        if not _is_open(word):
            return self._is_lost and not word.startswith(("/", "~"))
        before = re.split(r"[$`]", word)[0]
        if "/" not in before:
            return word != "$()" or word == OPEN
        folder = before.rpartition("/")[0] or "/"
        return any(
            f"{self._brim}/".startswith(f"{path.rstrip('/')}/")
            for path in self._real_paths(folder, self.folders[-1])
        )

    def named(self) -> str:
        """Return the first protected file that the text names anywhere, or a folder of brim that
        it goes to; empty if there is none."""
        for folder in self.folders[1:]:
            if folder == self._brim or folder.startswith(f"{self._brim}/"):
                return folder
        program = re.search(_WHICH, self.text)
        if program:
            return program[0]
        return self.named_in(self.text)

    def named_in(self, code: str) -> str:
        """Return the first protected file that *code* in any language names; empty if there is
        none."""
        for folder, short in ((home_folder(self._workspace.environ), "~"), (self.folders[0], ".")):
            code = code.replace(f"{folder}/", f"{short}/")  # a path ends at a space
        joined = code + "\n" + re.sub(r"""["']\s*[,/+.]\s*["']""", "/", code)
        from_home = re.search(r"(?i)\bhome\b|expanduser|homedir|~", joined)
        names = re.findall(_PATH, joined)[:_MOST_NAMES]
        names += re.findall(r"\}(/[\w./*-]+)", joined)
        for written in names:
            name = str(written).strip("{}")
            if self.protected(name):
                return name
            if any(fnmatchcase(path, name) for path in self._patterns_for(name)):
                return name
            below_home = f"{self._home}/{name.lstrip('/')}"
            if from_home and self.protected(below_home):
                return name
        return ""

    def names_launcher(self) -> bool:
        """Whether the text names the folder of brim's launchers, or goes there."""
        launchers = os.path.join(self._brim, "bin")
        if launchers in self.folders:
            return True
        names = re.findall(_PATH, self.text)[:_MOST_NAMES]
        paths = [path for name in names for path in self._real_paths(name, self.folders[-1])]
        return has_option(re.escape(launchers), paths)

    def _patterns_for(self, name: str) -> list[str]:
        if not name.startswith("*/"):
            return []
        return [f"{self._brim}/", *self.steering]

    @property
    def steering(self) -> list[str]:
        """The files that steer agents here."""
        if self._steering is None:
            paths = [os.path.realpath(path) for path in steering_files(self._workspace)]
            self._steering = paths
        return self._steering

    # Words ----------------------------------------------------------------------------------------

    def _paths(self, word: str) -> Iterator[str]:
        """Yield the real paths that *word* may mean: it or a part of it, as after ``=``."""
        parts = [word]
        if not os.path.isabs(word) or re.search(_PARTS, word):
            parts += re.split(_PARTS, word)
        glued = re.match(r"-\w(?P<path>[~/$.].*)", word)
        if glued:
            parts.append(glued["path"])
        for part in parts:
            if not part:
                continue
            yield from self._real_paths(part, self.folders[-1])
            for folder in self.folders[:-1]:
                for path in self._real_paths(part, folder):
                    if os.path.lexists(path):
                        yield path

    def _real_paths(self, word: str, folder: str) -> Iterator[str]:
        word = self.spelled_out(word)
        if "\0" in word:
            return
        for written in alternatives(word):
            choice = re.sub(self._tilde, lambda _: self._home, written, count=1)
            path = os.path.normpath(os.path.join(folder, choice))
            for link, target in self._links.items():
                if f"{path}/".startswith(f"{link}/"):
                    yield os.path.realpath(target + path[len(link) :])
            if any(sign in choice for sign in "*?["):
                yield from self._matching(path)
            yield os.path.realpath(path)

    def _matching(self, pattern: str) -> Iterator[str]:
        """Yield the files that steer agents, and the folders that they are in, which *pattern*
        matches."""
        parts = pattern.split("/")
        project = os.path.realpath(self._workspace.project or self.folders[0])
        for path in (*self.steering, *memory_files(project)):
            names = path.split("/")
            if len(names) < len(parts):
                continue
            pairs = zip(names, parts, strict=False)
            if all(_shell_matches(name, part) for name, part in pairs):
                yield "/".join(names[: len(parts)])


def _is_open(word: str) -> bool:
    """Whether *word* has a part that isn't known."""
    return "$" in word or "`" in word


def _target(words: list[str]) -> str:
    """Return the folder that a command goes to, or runs another one in; empty if none."""
    if words[0] in _GOING:
        return "".join(operands(words[1:])[-1:]) or "~"
    if words[0] not in _GOING_WRAPPERS:
        return ""
    return "".join(option_values(_GOING_WRAPPERS[words[0]], words[1:])[:1])


def redirected_files(text: str) -> list[str]:
    """Return the files that redirections in *text* write, outside of quotes and here-documents.

    >>> redirected_files("{ a; b; } > x; echo '> y' 2>> \\"z\\"")
    ['x', 'z']
    """
    text = re.sub(_DOCUMENT, r"\3", text[:_LONGEST], flags=re.DOTALL)
    files: list[str] = []
    for match in re.finditer(_REDIRECTION, text):
        if match["file"]:
            files.append(unquoted(match["file"]))
    return files


def _any_matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _shell_matches(name: str, pattern: str) -> bool:
    """Whether a shell's *pattern* matches *name*: hidden files only if it begins with a dot."""
    if name.startswith(".") and not pattern.startswith("."):
        return False
    return fnmatchcase(name, pattern)
