"""What would brim do about a call? For people, before an agent makes it."""

from __future__ import annotations

from dataclasses import dataclass

from brim.agents.call import ToolCall
from brim.config.places import branch_of, home_folder
from brim.record import PlainData
from brim.rules.checks import CallPlace, CheckedCall, RuleCheck, breach_of, waits_for
from brim.rules.rule import EVERY_BREACH, patterns_of
from brim.rules.rulebook import ACTIVE, Rulebook, RuleEntry
from brim.rules.situation import Situation, commands_in
from brim.rules.stored_checks import holds_in
from brim.workspace import Workspace


@dataclass(frozen=True)
class ForecastBreach(PlainData):
    """A rule that a call would break, and what brim would do."""

    kind: str
    """``stops once`` or ``refuses``."""
    rule: str
    part: str
    """What of the call breaks it."""
    wording: str
    """The check, for people."""


def broken_by(book: Rulebook, call: ToolCall, workspace: Workspace) -> list[ForecastBreach]:
    """Return the rules of *book* that *call* would break."""
    branch = ""
    if workspace.project is not None:
        branch = branch_of(workspace.project)
    place = CallPlace(
        folder=workspace.cwd,
        project=workspace.project or "",
        home=home_folder(workspace.environ),
        branch=branch,
    )
    pending = CheckedCall(call, place)
    commands: tuple[tuple[str, ...], ...] = ()
    if call.command:
        commands = commands_in(call.command)
    situation = Situation(paths=call.files, command=call.command, commands=commands, branch=branch)
    breaches = []
    for entry in book.entries():
        if entry.state == ACTIVE:
            breaches += _breaches(entry, pending, situation)
    return breaches


def _breaches(entry: RuleEntry, pending: CheckedCall, situation: Situation) -> list[ForecastBreach]:
    breaches = []
    blocks = patterns_of(entry.rule.block)
    if blocks:
        refused = breach_of(RuleCheck(refused=blocks), pending)
        if refused is not None:
            wording = ", ".join([block.removeprefix("run ") for block in blocks])
            breaches.append(ForecastBreach("refuses", entry.name, refused.part, wording))
    check = entry.check
    if breaches or check is None or not holds_in(entry.rule.when, pending, situation):
        return breaches
    broken = breach_of(check, pending)
    if broken is not None:
        kind = "refuses" if EVERY_BREACH in entry.rule.block else "stops once"
        breaches.append(ForecastBreach(kind, entry.name, broken.part, check.wording))
    else:
        command = waits_for(check, pending)
        if command:
            needs = f"unless {check.wording} ran after the last change"
            breaches.append(ForecastBreach("stops once", entry.name, command, needs))
    return breaches
