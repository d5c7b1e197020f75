"""``RuleCheck``: what shows that a rule is broken, compiled from its words.

It's plain data: ``to_text`` writes it into one column, ``from_text`` reads it. Whoever decides
about a call reads nothing else of the rule.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from brim.record import PlainData
from brim.rules.checks.invocation import named_programs
from brim.rules.checks.matching import read_pattern

EDIT = "edit"
EXISTING = "existing"
CREATE = "create"
DELETE = "delete"
READ = "read"
COMMIT = "commit"
WRITE = "write"
OUTPUT = "output"
"""What a call does that writes a whole file, which may be there or not: by itself, or with the
output of a program."""

ONLY_CHECKING = ("--check", "--diff", "--collect-only")
"""Options with which a command changes and runs nothing."""
TURN_END = "done"
"""The moment at the end of a turn."""

_WILDCARDS = frozenset("*?[")
NOT_CHECKED = "not checked: no call shows whether this is kept"


@dataclass(frozen=True)
class RuleCheck(PlainData):
    """What breaks a rule: commands, paths, written text, or a command that has not run."""

    name: str = ""
    """The everyday rule that it comes from, or ``command``, ``path``, ``block``."""
    calls: tuple[str, ...] = ()
    """Patterns of the commands that break it: see ``brim.rules.checks.matching``."""
    passes: tuple[str, ...] = ()
    """Patterns of commands that don't break it although ``calls`` mean them."""
    refused: tuple[str, ...] = ()
    """The rule's own blocks: calls that are refused every time."""
    paths: tuple[str, ...] = ()
    """Globs of the files that mustn't be touched, in the ways of ``acts``."""
    other_paths: tuple[str, ...] = ()
    """Globs of files among them that may."""
    acts: tuple[str, ...] = ()
    written: str = ""
    """A regular expression that no new line may match."""
    written_in: tuple[str, ...] = ()
    """Endings of the files in which that counts: ``*.py``."""
    written_not_in: tuple[str, ...] = ()
    """Globs of names of files in which it doesn't."""
    written_under: tuple[str, ...] = ()
    """Globs of the paths in which it counts; everywhere if there are none."""
    in_comments: bool = False
    """Whether comments count too."""
    packages: bool = False
    """Whether a project's manifest mustn't get a new package."""
    message: str = ""
    """A regular expression that no commit message may match."""
    subject: str = ""
    """A regular expression that the first line of each commit message must match."""
    needs: tuple[str, ...] = ()
    """What must have succeeded after the last change: patterns, those of which one will do joined
    by `` / ``."""
    before: str = ""
    """When it must have run: ``done``, or a pattern of the command that waits for it."""
    wording: str = ""
    """The calls that break it, for people: ``npm install, i, add and ci``."""

    @property
    def is_before_done(self) -> bool:
        """Whether it asks for a command before the turn is over."""
        return bool(self.needs) and self.before == TURN_END

    @property
    def waits(self) -> bool:
        """Whether a command must wait until another one has run."""
        return self.before not in ("", TURN_END)

    @property
    def promise(self) -> str:
        """What a person is told that this check does.

        >>> RuleCheck(calls=("sudo",), wording="sudo").promise
        'sudo is stopped once, with this rule as the reason'
        """
        if self.waits:
            return (
                f"{self.before} is stopped once if {self.wording} didn't run after the last change"
            )
        verb = "are"
        if self._is_one_command or self._is_one_deed:
            verb = "is"
        if self.stops:
            return f"{self.wording} {verb} stopped once, with this rule as the reason"
        if self.refused:
            return f"{self.wording} {verb} refused"
        return f"asks for {self.wording} before a turn is over, if files have changed"

    @property
    def _is_one_command(self) -> bool:
        """Whether ``wording`` is one command as it's typed."""
        if any(sign in self.wording for sign in (",", ";", " and ", "(")):
            return False
        first_word = self.wording.split(" ")[0]
        for pattern in (*self.calls, *self.refused):
            programs = pattern.removeprefix("run ").split(" ")[0]
            if first_word in programs.split("|"):
                return True
        return False

    @property
    def _is_one_deed(self) -> bool:
        """Whether ``wording`` says what mustn't be done with files: *reading .env files*."""
        return " and " not in self.wording and self.wording.startswith(("reading ", "deleting "))

    @property
    def stops(self) -> bool:
        """Whether it stops calls, besides those that it refuses."""
        parts = (self.calls, self.paths, self.written, self.packages, self.message, self.subject)
        return self.waits or any(parts)

    @property
    def keys(self) -> tuple[str, ...]:
        """What a call must have for this check to be about it: see ``keys_of`` in ``deciding``.

        ``run npm`` is a command that names the program, ``files`` a call that names files and
        ``write`` one that writes text.
        """
        keys: list[str] = []
        for pattern in self.calls:
            keys += _command_keys(pattern)
        for block in self.refused:
            keys += _block_keys(block)
        if self.waits:
            keys += _command_keys(self.before)
        if self.paths:
            keys.append("files")
        if self.written or self.packages:
            keys.append("write")
        if self.message or self.subject:
            keys.append("run git")
        return tuple(dict.fromkeys(keys))

    def to_text(self) -> str:
        """Return this as one line of JSON, without what is empty.

        >>> RuleCheck(name="sudo", calls=("sudo",)).to_text()
        '{"name":"sudo","calls":["sudo"]}'
        """
        plain = {name: value for name, value in self.to_dict().items() if value}
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> RuleCheck:
        """Return the check that ``to_text`` wrote. A field that this brim doesn't know is left
        out."""
        names = {check_field.name for check_field in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in json.loads(text).items():
            if name not in names:
                continue
            values[name] = value
            if isinstance(value, list):
                values[name] = tuple(value)
        return cls(**values)


def _block_keys(block: str) -> list[str]:
    """Return the keys of one block: ``run npm ci``, ``edit dist/**`` or ``tool WebFetch``."""
    kind, _, pattern = block.partition(" ")
    if kind == "edit":
        return ["files"]
    if kind == "tool":
        return [f"tool {pattern.lower()}"]
    return _command_keys(pattern)


def _command_keys(pattern: str) -> list[str]:
    """Return the keys of the programs that *pattern* means.

    >>> _command_keys("pip3|uv install"), _command_keys("*.sh")
    (['run pip', 'run uv'], ['run'])
    """
    keys: list[str] = []
    for name in read_pattern(pattern).programs:
        if _WILDCARDS.isdisjoint(name):
            keys += [f"run {program}" for program in sorted(named_programs(name))]
        else:
            keys.append("run")
    return keys


@dataclass(frozen=True)
class Breach(PlainData):
    """What of a call breaks a rule."""

    part: str
    """The command, file or line, in one short line."""
    refused: bool = False
    """Whether it's refused every time, not stopped once."""
