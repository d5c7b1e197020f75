"""What bare ``brim`` shows before it is installed: what past sessions cost and lost, or where it
looked for sessions.
"""

from __future__ import annotations

from brim.agents import TABLE
from brim.cli.output import counted, dollars
from brim.cli.tables import table
from brim.figures import rounded
from brim.sessions.report.overview import Overview
from brim.sessions.report.words import total_cost
from brim.sessions.rule_audit import RuleAudit

NEEDLESS = ("repeated", "unused")
"""The kinds of waste that no request needed."""


def past_view(past: Overview, audit: RuleAudit | None) -> str:
    """Return what past sessions spent, forgot, broke and wasted, each with its next command."""
    sessions = counted(past.bill.sessions, "session")
    rows = [
        ["spent", f"{total_cost(past)} in the last {past.days} days, {sessions}", "brim usage"],
        ["forgotten", _forgotten(past), "brim memory lost"],
        ["rules", _broken(audit), "brim rules audit"],
        ["wasted", _wasted(past), "brim report"],
    ]
    return f"{table(rows)}\n\n{_steps()}"


def no_sessions_view() -> str:
    """Return where brim looked for sessions, and what to type next."""
    names = [line.title for line in TABLE]
    looked = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"No sessions of {looked} in the last 30 days.\n\n{_steps()}"


def _steps() -> str:
    steps = [
        ["brim init", "adds hooks to your agents; brim uninstall takes them out again"],
        ['brim learn "Use pnpm, not npm"', "stops the calls that break a rule in your words"],
        ["brim limit 5/day", "stops agents in this project at $5.00 a day"],
    ]
    return table(steps)


def _forgotten(past: Overview) -> str:
    compactions = counted(len(past.lost.items), "compaction")
    dropped = []
    for kind, (before, lost, _) in past.lost.counts.items():
        if lost:
            dropped.append(f"{lost:,} of {counted(before, kind)}")
    if not past.lost.items:
        return "nothing: no compaction"
    if not dropped:
        return f"nothing in {compactions}"
    return f"{', '.join(dropped)} in {compactions}"


def _broken(audit: RuleAudit | None) -> str:
    """Return how many of the checkable rules were broken."""
    if audit is None:
        return "not compared yet"
    if not audit.rules:
        return "none here: no CLAUDE.md, AGENTS.md or rules.toml"
    number = counted(len(audit.rules), "rule")
    if not audit.checked:
        return f"none of {number} can be checked"
    checkable = f"{len(audit.checked):,} checkable of {number}"
    if not audit.broken:
        return f"none broken ({checkable})"
    return f"{len(audit.broken):,} broken ({checkable})"


def _wasted(past: Overview) -> str:
    cost = past.break_cost
    tokens = 0
    for waste in past.waste:
        if waste.kind in NEEDLESS:
            cost += waste.cost
            tokens += waste.tokens
    parts = []
    if past.breaks:
        parts.append(counted(len(past.breaks), "cache break"))
    if tokens:
        parts.append(f"{rounded(tokens)} tokens of results that nothing used")
    if not parts:
        return "nothing that brim can see"
    return f"{dollars(cost)}: {', '.join(parts)}"
