"""Which rules does a pending call break? Found once for each call, for what refuses it and for what
stops it once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from brim.agents.call import Event, HookCall
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.config.places import branch_of, home_folder
from brim.hooks.situations import rules_of, situation_of
from brim.hooks.state import HookWorkspace, log
from brim.hooks.transcript import size_of, transcript_of, whole_lines
from brim.record import PlainData
from brim.rules.checks.deciding import CallPlace, CheckedCall
from brim.rules.compiled import RuleIndex
from brim.rules.stored_checks import CheckedRule, StoredChecks
from brim.sessions.work_steps import WorkSteps, steps_of

TAIL = 2 << 20
"""Bytes at the end of a transcript that are read for what ran before a command."""


@dataclass(frozen=True)
class BrokenRule(PlainData):
    """A rule that a pending call breaks."""

    rule: CheckedRule
    part: str
    """What of the call breaks it, in one short line."""
    missing: str = ""
    """What should have run before; empty if the call itself is what breaks the rule."""


def breaches_of(call: HookCall, workspace: HookWorkspace) -> list[BrokenRule]:
    """Return the rules that *call* breaks; none if that can't be found out."""
    if workspace.breaches is None:
        workspace.breaches = []
        try:
            workspace.breaches = _find_breaches(call, workspace)
        except Exception as error:  # what blocks refuse doesn't depend on it
            log(workspace.environ, f"checks: {type(error).__name__}: {error}")
    return workspace.breaches


def _find_breaches(call: HookCall, workspace: HookWorkspace) -> list[BrokenRule]:
    reader = rules_of(call, workspace)
    if reader is None or not call.tool.name or not reader.ask(_has_checks):
        return []
    pending = CheckedCall(call.tool, place_of_call(call, workspace))
    rules = reader.ask(lambda index: StoredChecks(index).about(pending))
    if not rules:
        return []
    situation = situation_of(call, workspace)
    breaches = []
    for rule in rules:
        breach = rule.breach(pending, situation)
        if breach is not None:
            breaches.append(BrokenRule(rule, breach.part))
            continue
        command = rule.waiting_command(pending, situation)
        if command:
            breaches += _too_early(rule, command, pending, call)
    return breaches


def _has_checks(index: RuleIndex) -> bool:
    """Whether any rule is checked, so that nothing is loaded in vain."""
    return index.database.execute("SELECT 1 FROM check_keys LIMIT 1").fetchone() is not None


def place_of_call(call: HookCall, workspace: HookWorkspace) -> CallPlace:
    """Return where *call* happens."""
    branch = ""
    if workspace.project is not None:
        branch = branch_of(workspace.project)
    return CallPlace(
        folder=call.cwd or workspace.cwd,
        project=workspace.project or "",
        home=home_folder(workspace.environ),
        branch=branch,
    )


def _too_early(
    rule: CheckedRule, command: str, pending: CheckedCall, call: HookCall
) -> list[BrokenRule]:
    """Return *rule* if its *command* comes before what must have run after the last change."""
    steps = _steps_in_tail(call)
    if not steps.files:
        return []
    steps = replace(steps, commands=(*steps.commands, call.tool))
    if steps.fulfil(rule.check, pending.place):
        return []
    return [BrokenRule(rule, command, missing=rule.check.wording)]


def _steps_in_tail(call: HookCall) -> WorkSteps:
    """Return the steps at the end of the transcript of the agent that makes *call*."""
    path = transcript_of(call)
    events: list[Event] = []
    feed: Feed | None = None
    for at, data in whole_lines(path, max(0, size_of(path) - TAIL), most=TAIL):
        if feed is None:
            feed = Feed(reader=AnyReader(writer=call.agent), start=at)
        events += feed.feed(data)
    if feed is not None:
        events += feed.reader.finish()
    return steps_of(events, by_turn=False)
