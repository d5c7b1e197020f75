"""Checks as a hook reads them from the index: only those that can be about a call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brim.record import PlainData
from brim.rules.checks.check import Breach, RuleCheck
from brim.rules.checks.deciding import CheckedCall, breach_of, waits_for
from brim.rules.checks.paths import longest_part
from brim.rules.compiled import RuleIndex
from brim.rules.rule import EVERY_BREACH
from brim.rules.situation import Situation
from brim.rules.source import RuleSource
from brim.rules.when import (
    BRANCH,
    ENVIRONMENT,
    LANGUAGE,
    PATH,
    TASK,
    Case,
    Clause,
    Condition,
    condition_in,
)

_COLUMNS = (
    "name, digest, text, source, condition, scope, check_text,"
    " EXISTS (SELECT 1 FROM blocks WHERE rule = rules.number AND kind = ?)"
)
FILES = "files"
"""The key of a call that names files."""
_FILE_KEY = f"{FILES} "
_EDIT_BLOCK = "edit "
_WILD = frozenset("*?[")
_CHUNK = 500


@dataclass(frozen=True)
class CheckedRule(PlainData):
    """A rule with what shows that it's broken."""

    name: str
    digest: str
    text: str
    source: RuleSource
    written_condition: str
    """When it's told, as the index has it: few callers ask."""
    scope: Condition
    """Where it holds, as a person declared it."""
    check: RuleCheck
    is_refused: bool = False
    """Whether calls that break it are refused every time."""

    @property
    def condition(self) -> Condition:
        """When it's told."""
        return condition_in(self.written_condition)

    def breach(self, pending: CheckedCall, situation: Situation) -> Breach | None:
        """Return what of *pending* breaks the rule; None if nothing does, or it doesn't hold
        here."""
        if not holds_in(self.scope, pending, situation):
            return None
        return breach_of(self.check, pending)

    def waiting_command(self, pending: CheckedCall, situation: Situation) -> str:
        """Return the command of *pending* that waits until something has run; empty if none
        does."""
        if not holds_in(self.scope, pending, situation):
            return ""
        return waits_for(self.check, pending)


class StoredChecks:
    """The checks of an index that count here, also of files that the agent loads by itself."""

    def __init__(self, index: RuleIndex) -> None:
        self._database = index.database
        self._sources = index.by_number

    def about(self, pending: CheckedCall) -> list[CheckedRule]:
        """Return the rules whose check can be about *pending*."""
        shared = [key for key in self._keys() if _is_shared(key, pending)]
        rules: list[CheckedRule] = []
        for start in range(0, len(shared), _CHUNK):
            chunk = shared[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            rows = f"number IN (SELECT rule FROM check_keys WHERE key IN ({marks}))"  # noqa: S608
            rules += self._read(rows, chunk, source="+source")
        return rules

    def _keys(self) -> list[str]:
        """Return what the checks of the index are about."""
        rows = self._database.execute("SELECT DISTINCT key FROM check_keys ORDER BY key")
        return [row[0] for row in rows]

    def closing(self) -> list[CheckedRule]:
        """Return the rules with something that must have run before a turn is over."""
        return [rule for rule in self._read("closing", []) if rule.check.is_before_done]

    def _read(
        self, condition: str, values: list[str], *, source: str = "source"
    ) -> Iterator[CheckedRule]:
        """Yield the rules that meet *condition*. With a plus before the *source*, SQLite looks for
        them by the condition."""
        numbers = list(self._sources)
        marks = ",".join("?" * len(numbers))
        sql = (
            f"SELECT {_COLUMNS} FROM rules"  # noqa: S608
            f" WHERE {source} IN ({marks}) AND {condition} ORDER BY number"
        )
        for row in self._database.execute(sql, [EVERY_BREACH, *numbers, *values]):
            name, digest, text, number, condition_text, scope, check_text, is_refused = row
            yield CheckedRule(
                name,
                digest,
                text,
                self._sources[number],
                condition_text,
                condition_in(scope),
                _check_in(check_text),
                is_refused=bool(is_refused),
            )


def _check_in(text: str) -> RuleCheck:
    """Return the check that the index has as *text*, which this version of brim has written: a hook
    reads dozens, and ``RuleCheck.from_text`` looks for fields of other versions."""
    values: dict[str, Any] = {}
    for name, value in json.loads(text).items():
        values[name] = tuple(value) if isinstance(value, list) else value
    return RuleCheck(**values)


# What a check is filed under ----------------------------------------------------------------------


def filed_keys(check: RuleCheck) -> tuple[str, ...]:
    """Return the keys of *check*, for files with what their paths must have."""
    keys = [key for key in check.keys if key != FILES]
    patterns = list(check.paths)
    for block in check.refused:
        if block.startswith(_EDIT_BLOCK):
            patterns.append(block.removeprefix(_EDIT_BLOCK))
    keys += [f"{FILES} {longest_part(pattern)}" for pattern in patterns]
    return tuple(dict.fromkeys(keys))


def _is_shared(key: str, pending: CheckedCall) -> bool:
    """Whether *pending* has *key*. Which files a command touches isn't known yet: any may be."""
    if not key.startswith(_FILE_KEY):
        return key in pending.keys
    if FILES not in pending.keys:
        return False
    return bool(pending.command) or pending.may_name(key.removeprefix(_FILE_KEY))


# Where a rule holds -------------------------------------------------------------------------------


def holds_in(scope: Condition, pending: CheckedCall, situation: Situation) -> bool:
    """Whether a rule with this *scope* holds for *pending*.

    A command names few of the files that it's about, so it's only the folders of a scope that leave
    it out.
    """
    if not scope:
        return True
    return any(_holds_in_case(case, pending, situation) for case in scope.cases)


def _holds_in_case(case: Case, pending: CheckedCall, situation: Situation) -> bool:
    return all(_holds_in_clause(clause, pending, situation) for clause in case)


def _holds_in_clause(clause: Clause, pending: CheckedCall, situation: Situation) -> bool:
    if clause.key in (BRANCH, ENVIRONMENT, TASK):
        return clause.is_met(situation)
    if clause.key not in (PATH, LANGUAGE):
        return True
    if pending.call.files:
        return clause.is_met(situation)
    if clause.key == LANGUAGE:
        return True
    return any(_may_be_in(pattern, pending) for pattern in clause.values)


def _may_be_in(pattern: str, pending: CheckedCall) -> bool:
    """Whether a command may be about files like *pattern*: it runs in their folder or names it."""
    folder = _folder_of(pattern)
    if not folder:
        return True
    working_folder = f"{pending.place.folder}/".replace("\\", "/")
    return f"/{folder}/" in working_folder or f"{folder}/" in f"{pending.command} "


def _folder_of(pattern: str) -> str:
    """Return the folder with which *pattern* begins; empty if it's about any folder.

    >>> _folder_of("web/**"), _folder_of("**/*.py"), _folder_of("*.rs")
    ('web', '', '')
    """
    parts = pattern.strip("/").split("/")[:-1]
    folder: list[str] = []
    for part in parts:
        if not _WILD.isdisjoint(part):
            break
        folder.append(part)
    return "/".join(folder)
