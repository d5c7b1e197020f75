"""Does a call break a rule? ``breach_of`` compares a check with a call that was read once.

Only what a call shows counts: its commands, the files that it names, and the lines that it writes.
Whatever can't be read breaks nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

from brim.record import PlainData
from brim.rules.blocks import pattern_words, refused_path, refused_tool, runs
from brim.rules.checks.check import (
    CREATE,
    DELETE,
    EDIT,
    EXISTING,
    OUTPUT,
    READ,
    TURN_END,
    WRITE,
    Breach,
    RuleCheck,
)
from brim.rules.checks.files import FileAct, acts_of
from brim.rules.checks.invocation import (
    Invocation,
    canonical_words,
    invocations,
    named_programs,
)
from brim.rules.checks.matching import is_called
from brim.rules.globs import fits

_COMMENT = ("#", "//", "/*", "*", "<!--", "--", '"""')
_HARMLESS = frozenset(("--version", "--help", "--dry-run"))
"""Options with which a command only says something."""
_LARGEST = 1 << 20
_MESSAGES = ("-m", "--message")


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
            keys.add("run")
            keys.add("files")
            keys.update([f"run {name}" for name in named_programs(self.command)])
            if ">" in self.command or "tee" in self.command:
                keys.add("write")
        if self.call.files:
            keys.add("files")
        if self.call.changes:
            keys.add("write")
        return frozenset(keys)

    @cached_property
    def invocations(self) -> list[Invocation]:
        """The commands that it runs."""
        if self.call.words:
            return invocations(list(self.call.words))
        if self.command:
            return invocations(self.command)
        return []

    @cached_property
    def file_acts(self) -> list[FileAct]:
        """What it does with files."""
        folder = self.place.folder
        acts = self._acts_of_tool()
        for invocation in self.invocations:
            acts += acts_of(invocation, folder)
            if invocation.program == "cd" and invocation.arguments:
                folder = os.path.join(folder, os.path.expanduser(invocation.arguments[0]))
        return acts

    def _acts_of_tool(self) -> list[FileAct]:
        """Return what it does with files without a command."""
        folder = self.place.folder
        if self.call.kind == "read":
            return [FileAct(READ, path, folder) for path in self.call.files]
        if self.call.kind not in ("edit", "write", "shell"):
            return []
        edited = {path for path, before, _ in self.call.changes if before}
        acts = [FileAct(DELETE, path, folder) for path in self.call.moved]
        for path in self.call.files:
            is_whole = self.call.kind == "write" or (path not in edited and self.call.changes)
            acts.append(FileAct(WRITE if is_whole else EDIT, path, folder))
        return acts

    @cached_property
    def changes(self) -> list[tuple[str, str, str]]:
        """The file, the old and the new text of each edit, also of ``cat > FILE <<EOF``."""
        changes = list(self.call.changes)
        for invocation in self.invocations:
            paths = invocation.ran.writes
            if invocation.program == "tee":
                paths = (*paths, *invocation.arguments)
            text = "\n".join(invocation.ran.documents)
            if text:
                changes += [(path, "", text) for path in paths]
        return changes

    @cached_property
    def messages(self) -> list[str]:
        """The commit messages that it gives."""
        messages = []
        for invocation in self.invocations:
            if invocation.program == "git" and invocation.arguments[:1] == ("commit",):
                messages += _messages_of(invocation)
        return messages


def _messages_of(invocation: Invocation) -> list[str]:
    """Return the message that ``git commit`` gets: several ``-m`` are its paragraphs."""
    parts: list[str] = []
    for option in _MESSAGES:
        for value in invocation.values.get(option, ()):
            if "$()" in value:
                parts += invocation.ran.documents
            else:
                parts.append(value)
    return ["\n\n".join(parts)] if parts else []


def breach_of(check: RuleCheck, pending: CheckedCall) -> Breach | None:
    """Return what of *pending* breaks the rule of *check*; None if nothing does."""
    for block in check.refused:
        part = _refused_part(block, pending)
        if part:
            return Breach(part, refused=True)
    part = _called(check, pending) or _touched(check, pending)
    part = part or _wrong_message(check, pending) or _written(check, pending)
    if part:
        return Breach(part)
    return None


def waits_for(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the command of *pending* that must wait until what *check* needs has run; empty if
    none must."""
    if check.before in ("", TURN_END):
        return ""
    branch = pending.place.branch
    for invocation in pending.invocations:
        if is_called(check.before, invocation, branch):
            return invocation.line
    return ""


def fulfilled_needs(check: RuleCheck, pending: CheckedCall) -> tuple[int, ...]:
    """Return which of the needs of *check* the command of *pending* runs, by their places."""
    places = []
    for place, need in enumerate(check.needs):
        for invocation in pending.invocations:
            if any(is_called(pattern, invocation) for pattern in need.split(" / ")):
                places.append(place)
                break
    return tuple(places)


def _called(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the command that breaks *check*."""
    if not check.calls:
        return ""
    branch = pending.place.branch
    for invocation in pending.invocations:
        if not _HARMLESS.isdisjoint(invocation.options):
            continue
        if not any(is_called(pattern, invocation, branch) for pattern in check.calls):
            continue
        if not any(is_called(pattern, invocation, branch) for pattern in check.passes):
            return invocation.line
    return ""


def _refused_part(block: str, pending: CheckedCall) -> str:
    """Return what of the call the *block* of the rule refuses."""
    kind, _, pattern = block.partition(" ")
    if kind == "tool":
        return pending.call.name if refused_tool(pattern, pending.call.name) else ""
    if kind == "edit":
        changing = (EDIT, CREATE, DELETE)
        return _path_among((pattern,), (), changing, pending)
    words = canonical_words(pattern_words(pattern))
    for invocation in pending.invocations:
        is_same = runs(invocation.ran.words, words)
        if is_same or runs(canonical_words(invocation.ran.words), words):
            return invocation.line
    return ""


# Files --------------------------------------------------------------------------------------------


def _touched(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the file that the call touches against *check*."""
    if not check.paths or "files" not in pending.keys:
        return ""
    return _path_among(check.paths, check.other_paths, check.acts or (EDIT,), pending)


def _path_among(
    patterns: Iterable[str],
    other_patterns: tuple[str, ...],
    acts: Iterable[str],
    pending: CheckedCall,
) -> str:
    for act in pending.file_acts:
        if not _is_act(act, acts):
            continue
        for pattern in patterns:
            if not _may_mean(pattern, act) or not _is_meant(pattern, act, pending.place):
                continue
            if not any(_is_meant(other, act, pending.place) for other in other_patterns):
                return act.path
    return ""


def _is_act(act: FileAct, acts: Iterable[str]) -> bool:
    """Whether *act* is one of *acts*. Only a file that isn't there can be created."""
    if act.kind not in (EDIT, WRITE, OUTPUT):
        return act.kind in acts
    if EDIT in acts:
        return True
    if act.kind == EDIT:
        return EXISTING in acts
    if os.path.lexists(act.full_path):
        return EXISTING in acts
    return CREATE in acts and act.kind == WRITE


def _may_mean(pattern: str, act: FileAct) -> bool:
    """Whether a look at its parts without wildcards lets it seem possible: links apart, which only
    a full comparison follows."""
    plain = max(re.split(r"[*?\[\]{},/~]+", pattern), key=len)
    return plain.lower() in act.full_path.lower() or os.path.islink(act.full_path)


def _is_meant(pattern: str, act: FileAct, place: CallPlace) -> bool:
    project = place.project or place.folder
    if "\0" in act.path:
        return False
    return refused_path(pattern, act.path, folder=act.folder, project=project, home=place.home)


# Texts --------------------------------------------------------------------------------------------


@lru_cache(256)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _wrong_message(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the line of a commit message that breaks *check*."""
    if not check.message and not check.subject:
        return ""
    for message in pending.messages:
        subject = message.strip().split("\n")[0]
        if check.subject and not _compiled(check.subject).match(subject):
            return subject
        if check.message:
            match = _compiled(check.message).search(message)
            if match is not None:
                return match[0].strip()
    return ""


def _written(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the new line that breaks *check*."""
    if not check.written:
        return ""
    for path, before, after in pending.changes:
        if not any(_is_named(path, pattern) for pattern in check.written_in):
            continue
        if any(fits(_name_of(path), pattern) for pattern in check.written_not_in):
            continue
        if check.written_under and not _is_under(path, check.written_under, pending):
            continue
        line = _wrong_line(check, before, after)
        if line and line not in _lines_of(os.path.join(pending.place.folder, path)):
            return f"{line.strip()[:80]} in {path}"
    return ""


def _is_under(path: str, patterns: tuple[str, ...], pending: CheckedCall) -> bool:
    """Whether one of *patterns* means *path*."""
    act = FileAct(WRITE, path, pending.place.folder)
    return any(_is_meant(pattern, act, pending.place) for pattern in patterns)


def _is_named(path: str, pattern: str) -> bool:
    return _name_of(path).endswith(pattern.lstrip("*"))


def _name_of(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def _wrong_line(check: RuleCheck, before: str, after: str) -> str:
    """Return the first line of *after*, but not of *before*, that *check* forbids."""
    old_lines = {line.strip() for line in before.splitlines()}
    expression = _compiled(check.written)
    for line in after.splitlines():
        plain = line.strip()
        if plain in old_lines:
            continue
        if plain.startswith(_COMMENT) and not check.in_comments:
            continue
        if expression.search(line):
            return line
    return ""


def _lines_of(path: str) -> frozenset[str]:
    """Return the lines of the file as it is: a line that is there already isn't new."""
    try:
        if os.path.getsize(path) > _LARGEST:
            return frozenset()
        with open(path, encoding="utf-8", errors="replace") as file:
            return frozenset(file.read().splitlines())
    except (OSError, ValueError):
        return frozenset()


# Many checks --------------------------------------------------------------------------------------


class CheckIndex:
    """Checks by what a call must have, so that most of them aren't looked at."""

    def __init__(self, checks: Iterable[tuple[str, RuleCheck]]) -> None:
        self._by_key: dict[str, list[tuple[str, RuleCheck]]] = {}
        for rule, check in checks:
            for key in check.keys:
                self._by_key.setdefault(key, []).append((rule, check))

    def breaches(self, pending: CheckedCall) -> list[tuple[str, Breach]]:
        """Return the rules that *pending* breaks, each with what breaks it."""
        candidates: dict[str, RuleCheck] = {}
        for key in sorted(pending.keys & self._by_key.keys()):
            candidates.update(self._by_key[key])
        breaches = []
        for rule, check in candidates.items():
            breach = breach_of(check, pending)
            if breach is not None:
                breaches.append((rule, breach))
        return breaches
