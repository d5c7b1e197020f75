"""``CheckedCall``: a call that is about to be made, read once for all checks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from brim.record import PlainData
from brim.rules.checks.files import (
    DELETE,
    EDIT,
    GIVING,
    PASSING_ON,
    READ,
    WRITE,
    FileAct,
    acts_of,
    paths_given_by,
)
from brim.rules.checks.invocation import Invocation, invocations, named_programs

_CHANGING_TOOLS = ("edit", "write", "shell")
"""Kinds of tools whose files are changed. A shell's are those of a patch in its command."""
_MESSAGE_OPTIONS = ("-m", "--message")


class CallToCheck(Protocol):
    """What is read of a call: ``brim.agents.call.ToolCall`` has it."""

    @property
    def name(self) -> str:
        """The agent's word for the tool."""

    @property
    def kind(self) -> str:
        """What the tool does: ``shell``, ``read``, ``edit``, ``write``…"""

    @property
    def command(self) -> str:
        """The shell command."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of a command that was given as a list."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it names."""

    @property
    def moved(self) -> tuple[str, ...]:
        """The files that it gives another name."""

    @property
    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """Each edit: the file, the text taken out, the text put in."""


@dataclass(frozen=True)
class ShellCommand(PlainData):
    """A command alone, to hold against a check."""

    command: str
    name: str = ""
    kind: str = "shell"
    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    changes: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class CallPlace(PlainData):
    """Where a call happens."""

    folder: str = ""
    """The folder that the agent is in."""
    project: str = ""
    home: str = ""
    branch: str = ""
    """The branch that is checked out, if that is known."""


class CheckedCall:
    """A call and its place. What is asked for is read once, for all checks."""

    def __init__(self, call: CallToCheck, place: CallPlace) -> None:
        self.call = call
        self.place = place

    @cached_property
    def command(self) -> str:
        """The text of its command; empty if it has none."""
        return self.call.command or " ".join(self.call.words)

    @cached_property
    def keys(self) -> frozenset[str]:
        """What it has that a check may be about. A look at the words, nothing is parsed."""
        keys = {f"tool {self.call.name.lower()}"}
        if self.command:
            keys.update(("run", "files"))
            keys.update([f"run {name}" for name in named_programs(self.command)])
        if ">" in self.command or "tee" in self.command or self.call.changes:
            keys.add("write")
        if self.call.files:
            keys.add("files")
        return frozenset(keys)

    def may_name(self, part: str) -> bool:
        """Whether the path of a file that it names without a command may have *part*, which is in
        lower case: a link leads anywhere."""
        return any(part in path.lower() or os.path.islink(path) for path in self._full_paths)

    @cached_property
    def _full_paths(self) -> list[str]:
        folder = self.place.folder
        paths = (*self.call.files, *self.call.moved)
        return [
            os.path.join(folder, os.path.expanduser(path)) for path in paths if "\0" not in path
        ]

    @cached_property
    def invocations(self) -> list[Invocation]:
        """The commands that it runs."""
        if not self.command:
            return []
        return invocations(list(self.call.words) or self.command)

    @cached_property
    def file_acts(self) -> list[FileAct]:
        """What it does with files."""
        folder = self.place.folder
        acts = self._acts_of_tool()
        found_paths: tuple[str, ...] = ()
        for invocation in self.invocations:
            if not GIVING.isdisjoint(invocation.ran.wrappers + invocation.ran.feeders):
                acts += acts_of(invocation, folder, found_paths)
            elif invocation.program not in PASSING_ON:
                acts += acts_of(invocation, folder)
                found_paths = paths_given_by(invocation)
            if invocation.program == "cd" and invocation.arguments:
                folder = os.path.join(folder, os.path.expanduser(invocation.arguments[0]))
        return acts

    def _acts_of_tool(self) -> list[FileAct]:
        """Return what it does with files without a command."""
        folder = self.place.folder
        kind = self.call.kind
        if kind == "read":
            return [FileAct(READ, path, folder) for path in self.call.files]
        if kind not in _CHANGING_TOOLS:
            return []
        acts = [FileAct(DELETE, path, folder) for path in self.call.moved]
        for path in self.call.files:
            if kind == "write" or self._writes_whole(path):
                acts.append(FileAct(WRITE, path, folder))
            else:
                acts.append(FileAct(EDIT, path, folder))
        return acts

    def _writes_whole(self, path: str) -> bool:
        """Whether the call puts text into the file at *path* and takes none out."""
        edited = {file for file, before, _ in self.call.changes if before}
        return bool(self.call.changes) and path not in edited

    @cached_property
    def changes(self) -> list[tuple[str, str, str]]:
        """The file, the old and the new text of each edit, also of ``cat > FILE <<EOF``."""
        changes = list(self.call.changes)
        for invocation in self.invocations:
            text = "\n".join(invocation.ran.documents)
            if not text:
                continue
            paths = invocation.ran.writes
            if invocation.program == "tee":
                paths = (*paths, *invocation.arguments)
            changes += [(path, "", text) for path in paths]
        return changes

    @cached_property
    def messages(self) -> list[str]:
        """The commit messages that it gives."""
        messages: list[str] = []
        for invocation in self.invocations:
            if invocation.program == "git" and invocation.arguments[:1] == ("commit",):
                messages += _messages_of(invocation)
        return messages


def _messages_of(commit: Invocation) -> list[str]:
    """Return the message that ``git commit`` gets: several ``-m`` are its paragraphs."""
    paragraphs: list[str] = []
    for option in _MESSAGE_OPTIONS:
        for value in commit.values.get(option, ()):
            if "$()" in value:
                paragraphs += commit.ran.documents
            else:
                paragraphs.append(value)
    if not paragraphs:
        return []
    return ["\n\n".join(paragraphs)]
