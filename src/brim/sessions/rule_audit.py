"""Which rules were kept in past sessions, and which were broken? Every call that agents wrote down
is compared with the same checks as a pending one. No model is asked.

A rule is relevant in a session if a call was made that its check is about: a command of that
program, an edit. What a rule asks for before the end is looked at when the turn has ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from brim.agents.call import Event, ToolCall
from brim.agents.events import End, Message, StateSeen, ToolResult
from brim.agents.stream import read
from brim.config.own_folder import make_folder
from brim.config.places import user_folder
from brim.errors import InputError
from brim.figures import counted
from brim.files import read_safely, replace_file, sha256_hex
from brim.record import PlainData
from brim.rules.checks import CallPlace, CheckedCall, RuleCheck, breach_of, check_for, waits_for
from brim.rules.keeping import narrowed
from brim.rules.rule import patterns_of
from brim.rules.rulebook import RuleEntry
from brim.rules.situation import Situation
from brim.rules.stored_checks import holds_in
from brim.rules.when import Condition
from brim.sessions.session_files import SessionFile, newest_first
from brim.sessions.work_steps import WorkSteps, steps_after

DAYS = 30
_DAY = 86_400
_LARGEST_CACHE = 64 << 20
_NOT_MADE = ("Stopped once by brim: ", "Your user doesn't allow ", "Held once by brim: ")
"""How the results of calls begin that brim didn't let happen."""
_PATHS = ("edit", "write")


@dataclass(frozen=True)
class BrokenCall(PlainData):
    """A call that broke a rule."""

    session: str
    time: float | None
    call: str
    """What of it broke the rule, in one short line."""


@dataclass(frozen=True)
class AuditedRule(PlainData):
    """What became of one rule in past sessions."""

    name: str
    text: str
    place: str
    check: str
    """What brim looks for, for people; empty if no call shows whether it's kept."""
    kept_sessions: int = 0
    """Sessions in which it was relevant and not broken."""
    stopped: int = 0
    """Calls that brim stopped or refused."""
    broken: tuple[BrokenCall, ...] = ()


@dataclass(frozen=True)
class RuleAudit(PlainData):
    """What became of all rules."""

    rules: tuple[AuditedRule, ...]
    sessions: int
    days: int | None

    @property
    def checked(self) -> list[AuditedRule]:
        """The rules of which calls show whether they're kept."""
        return [rule for rule in self.rules if rule.check]

    @property
    def broken(self) -> list[AuditedRule]:
        """The rules that were broken, most often first."""
        broken = [rule for rule in self.rules if rule.broken]
        return sorted(broken, key=lambda rule: -len(rule.broken))


# Which sessions -----------------------------------------------------------------------------------


def past_sessions(
    environ: Mapping[str, str], project: str | None, *, days: int, now: float
) -> list[SessionFile]:
    """Return the sessions of the last *days* in *project*, or in all projects."""
    since = now - days * _DAY
    files = []
    for file, is_here in newest_first(environ, project):
        is_wanted = is_here or project is None
        if is_wanted and file.stamp.modified / 1e9 >= since:
            files.append(file)
    return files


def audit_rules(
    entries: Iterable[RuleEntry],
    files: list[SessionFile],
    place: CallPlace,
    *,
    days: int | None = None,
    cache: str | None = None,
    on_read: Callable[[int, int, int], object] = lambda *_: None,
) -> RuleAudit:
    """Return what became of the rules *entries* in the sessions *files*.

    *cache* is the path of what was found before: a session that is as it was isn't read again.
    """
    tallies = [RuleTally(entry) for entry in entries]
    tested = [tally for tally in tallies if tally.check is not None]
    checked = [AuditedCheck(tally.entry, tally.check) for tally in tallies if tally.check]
    cached = AuditCache(cache, checked, place)
    total = sum([file.stamp.size for file in files])
    number = 0
    for file in files:
        findings = cached.findings(file)
        if findings is None and checked:
            findings = _audit_file(file, checked, place)
            cached.keep(file, findings)
        if findings is not None:
            number += 1
            for tally, finding in zip(tested, findings, strict=True):
                tally.add(finding, file.session)
        on_read(file.stamp.size, total, len(files))
    cached.save()
    return RuleAudit(tuple([tally.audited for tally in tallies]), number, days)


def _audit_file(
    file: SessionFile, rules: list[AuditedCheck], place: CallPlace
) -> list[SessionFinding] | None:
    """Return what one session did with each rule; None if it can't be read."""
    reading = SessionAudit(rules, place)
    try:
        for event in read(file.path, format=file.format or None):
            reading.take(event)
    except InputError:
        return None
    return reading.finish()


class AuditCache:
    """What was found in sessions that haven't changed since, for the same rules."""

    def __init__(self, path: str | None, rules: list[AuditedCheck], place: CallPlace) -> None:
        self._path = path
        texts = [f"{place.project} {place.home}"]
        for rule in rules:
            texts += [rule.check.to_text(), str(rule.scope), str(rule.entry.condition)]
        self._rules = sha256_hex("\n".join(texts).encode("utf-8", "replace"))[:24]
        self._known: dict[str, Any] = self._load()
        self._current: dict[str, Any] = {}

    def findings(self, file: SessionFile) -> list[SessionFinding] | None:
        """Return what is known of *file*; None if nothing is."""
        entry = self._known.get(self._key(file))
        if not isinstance(entry, list):
            return None
        self._current[self._key(file)] = entry
        with suppress(TypeError, ValueError, KeyError):
            return [SessionFinding.from_plain(plain) for plain in entry]
        return None

    def keep(self, file: SessionFile, findings: list[SessionFinding] | None) -> None:
        """Keep what was found in *file*."""
        if findings is not None:
            self._current[self._key(file)] = [finding.to_dict() for finding in findings]

    def save(self) -> None:
        """Write what is known of the sessions that were asked for."""
        if self._path is None or self._current == self._known:
            return
        if not os.path.isdir(os.path.dirname(os.path.dirname(self._path))):
            return  # brim isn't set up here, and only looking makes no folder
        with suppress(OSError):
            make_folder(os.path.dirname(self._path))
            data = {"rules": self._rules, "files": self._current}
            replace_file(self._path, json.dumps(data).encode(), durable=False)

    def _key(self, file: SessionFile) -> str:
        return f"{file.path} {file.stamp.inode} {file.stamp.size} {file.stamp.modified}"

    def _load(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        with suppress(OSError, ValueError, RecursionError):
            data = json.loads(read_safely(self._path, at_most=_LARGEST_CACHE))
            if isinstance(data, dict) and data.get("rules") == self._rules:
                files = data.get("files")
                if isinstance(files, dict):
                    return files
        return {}


# One rule, and one session ------------------------------------------------------------------------


@dataclass
class SessionFinding:
    """What one session did with one rule."""

    is_relevant: bool = False
    """Whether a call was made that it's about."""
    stopped: int = 0
    broken: list[tuple[float | None, str]] = field(default_factory=list)
    """Each call that broke it: when, and what of it."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"relevant": self.is_relevant, "stopped": self.stopped, "broken": self.broken}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> SessionFinding:
        """Return what ``to_dict`` gave."""
        broken = [(moment, str(call)) for moment, call in plain["broken"]]
        return cls(bool(plain["relevant"]), int(plain["stopped"]), broken)


@dataclass
class RuleTally:
    """One rule, and what was seen of it so far."""

    entry: RuleEntry
    kept_sessions: int = 0
    stopped: int = 0
    broken: list[BrokenCall] = field(default_factory=list)

    def add(self, finding: SessionFinding, session: str) -> None:
        """Add what one *session* did."""
        self.stopped += finding.stopped
        for moment, call in finding.broken:
            self.broken.append(BrokenCall(session, moment, call))
        if finding.is_relevant and not finding.broken:
            self.kept_sessions += 1

    def __post_init__(self) -> None:
        self.check = audited_check(self.entry)

    @property
    def audited(self) -> AuditedRule:
        """What became of the rule."""
        wording = ""
        if self.check is not None:
            wording = self.check.wording
        return AuditedRule(
            name=self.entry.name,
            text=self.entry.rule.text,
            place=self.entry.place,
            check=wording,
            kept_sessions=self.kept_sessions,
            stopped=self.stopped,
            broken=tuple(sorted(self.broken, key=lambda broken: broken.time or 0.0)),
        )


@dataclass(frozen=True)
class AuditedCheck:
    """A rule of which calls show whether it's kept."""

    entry: RuleEntry
    check: RuleCheck

    @property
    def scope(self) -> Condition:
        """Where the rule holds."""
        return self.entry.rule.when

    @cached_property
    def keys(self) -> frozenset[str]:
        """What a call must have one of that it's about."""
        return frozenset(self.check.keys)


def audited_check(entry: RuleEntry) -> RuleCheck | None:
    """Return what shows that a rule was broken, whether a person has agreed to its check or not."""
    rule = entry.rule
    text = "" if entry.check_state == "off" else rule.text
    check = check_for(text, block=patterns_of(rule.block), before_done=rule.before_done)
    if check is None:
        return None
    return narrowed(check, rule.passes)


class SessionAudit:
    """Compares the calls of one session with rules, event by event."""

    def __init__(self, rules: list[AuditedCheck], place: CallPlace) -> None:
        self._rules = [(rule, SessionFinding()) for rule in rules]
        self._place = place
        self._open_calls: dict[str, ToolCall] = {}
        self._steps = WorkSteps()
        """What was done in this turn."""
        self._work = WorkSteps()
        """What was done in the session."""
        self._time: float | None = None

    def take(self, event: Event) -> None:
        """Take the next event."""
        self._time = event.time or self._time
        if isinstance(event, StateSeen):
            self._see_state(event)
        elif isinstance(event, ToolCall):
            self._open_calls[event.id] = event
        elif isinstance(event, ToolResult):
            call = self._open_calls.pop(event.id, None)
            if call is not None:
                self._see_call(call, event)
        elif isinstance(event, Message) and event.human and not event.agent:
            self._end_turn()
            self._steps = steps_after(event)
        elif isinstance(event, End) and not event.agent:
            self._end_turn()

    def finish(self) -> list[SessionFinding]:
        """Look at the last turn; return what the session did with each rule."""
        self._end_turn()
        return [finding for _, finding in self._rules]

    def _see_state(self, event: StateSeen) -> None:
        if event.name == "folder" and event.value and not event.agent:
            self._place = replace(self._place, folder=event.value)
        elif event.name == "branch" and not event.agent:
            self._place = replace(self._place, branch=event.value)

    def _see_call(self, call: ToolCall, result: ToolResult) -> None:
        """Compare a *call* with the rules, once its *result* says whether it was made."""
        was_held = any(words in result.text[:400] for words in _NOT_MADE)
        if result.refusal and not was_held:
            return  # the person, or another call, kept it from happening
        pending = PastCheckedCall(call, self._place)
        situation = Situation(
            paths=tuple([self._inside(path) for path in call.files]),
            command=call.command,
            branch=self._place.branch,
        )
        for rule, finding in self._rules:
            if rule.keys.isdisjoint(pending.keys):
                continue
            if not holds_in(rule.scope, pending, situation):
                continue
            part = self._broken_part(rule.check, call, pending)
            if part and was_held:
                finding.stopped += 1
            elif part:
                finding.broken.append((call.time or self._time, part))
            if part or _is_about(rule.check, call):
                finding.is_relevant = True
        if not result.error and not was_held:
            self._steps = self._steps.after(call)
            self._work = self._work.after(call)

    def _broken_part(self, check: RuleCheck, call: ToolCall, pending: CheckedCall) -> str:
        """Return what of *call* breaks the rule of *check*; empty if nothing does."""
        breach = breach_of(check, pending)
        if breach is not None:
            return breach.part.replace(f"{_NO_FOLDER}/", "")
        command = waits_for(check, pending)
        if not command or not self._work.files:
            return ""
        steps = replace(self._work, commands=(*self._work.commands, call))
        return "" if steps.fulfil(check, self._place) else command

    def _end_turn(self) -> None:
        """Compare the turn with what rules ask for before the end."""
        if not self._steps.files:
            return
        paths = tuple([self._inside(path) for path in self._steps.files])
        situation = Situation(paths=paths, branch=self._place.branch)
        for rule, finding in self._rules:
            condition = rule.entry.condition
            if not rule.check.is_before_done or (condition and not condition.is_met(situation)):
                continue
            finding.is_relevant = True
            if not self._steps.fulfil(rule.check, self._place):
                finding.broken.append((self._time, f"a turn ended without {rule.check.wording}"))
        self._steps = replace(self._steps, files=(), commands=())

    def _inside(self, path: str) -> str:
        """Return *path* as seen from the project."""
        full_path = os.path.normpath(os.path.join(self._place.folder, path))
        project = os.path.join(self._place.project, "")
        if self._place.project and full_path.startswith(project):
            return full_path[len(project) :].replace(os.sep, "/")
        return path


def _is_about(check: RuleCheck, call: ToolCall) -> bool:
    """Whether *call* could have broken the rule: one about files is about edits."""
    if check.paths or check.written:
        return call.kind in _PATHS or bool(call.patch)
    return True


_NO_FOLDER = os.path.join(os.devnull, "then")
"""A folder that can't be there: what a past call wrote isn't compared with the file of today."""


class PastCheckedCall(CheckedCall):
    """A call that was made long ago: its files may be others by now."""

    @cached_property
    def changes(self) -> list[tuple[str, str, str]]:
        """The edits of files that can't be there."""
        changes = []
        for path, before, after in super().changes:
            name = path.replace("\\", "/").rsplit("/", 1)[-1]
            changes.append((f"{_NO_FOLDER}/{name}", before, after))
        return changes


def audit_totals(audit: RuleAudit) -> dict[str, Any]:
    """Return the audit in a few numbers."""
    return {
        "rules": len(audit.rules),
        "checked": len(audit.checked),
        "sessions": audit.sessions,
        "broken": len(audit.broken),
        "broken_calls": sum([len(rule.broken) for rule in audit.rules]),
        "stopped": sum([rule.stopped for rule in audit.rules]),
    }


def audit_line(audit: RuleAudit) -> str:
    """Return the audit in one line; empty if there is nothing to say."""
    checked = len(audit.checked)
    if not checked or not audit.sessions:
        return ""
    title = f"{checked:,} of {counted(len(audit.rules), 'rule')} can be checked"
    calls = sum([len(rule.broken) for rule in audit.rules])
    if not calls:
        return f"{title}, and none was broken; brim rules audit"
    return f"{title}, {len(audit.broken):,} broken by {counted(calls, 'call')}; brim rules audit"


def audit_cache(environ: Mapping[str, str]) -> str:
    """Return where it's kept what audits have found."""
    return os.path.join(user_folder(environ), "cache", "rule-audit.json")
