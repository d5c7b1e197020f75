"""``brim rules audit``: which rules were kept in past sessions, and which were broken."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Iterator

from brim.cli.options import add_json, command, here, option, whole_number
from brim.cli.output import counted, cut, emit, home_path, paint, printable
from brim.cli.progress import ReadingProgress
from brim.cli.tables import table
from brim.config.places import home_folder
from brim.errors import InputError
from brim.rules.checks import CallPlace
from brim.rules.file import RulesFile
from brim.rules.mistakes import PROBLEM, RuleMistake, find_mistakes, problems_in
from brim.rules.native import NativeFile
from brim.rules.native_reading import read_native
from brim.rules.outlook import DeliveryLimits, outlook
from brim.rules.rulebook import ACTIVE, RuleEntry
from brim.rules.source import NATIVE, USER
from brim.sessions.rule_audit import (
    DAYS,
    AuditedRule,
    RuleAudit,
    audit_cache,
    audit_rules,
    audit_totals,
    past_sessions,
)
from brim.sessions.session_files import SessionFile, named_files
from brim.workspace import Workspace

MOST_ROWS = 10
"""Broken calls of one rule that are shown; the rest is in ``--json``."""
LONGEST = 80
_SESSIONS = (".jsonl",)


@command(
    option(
        "file",
        nargs="?",
        metavar="FILE",
        help="rules, as in CLAUDE.md or rules.toml, or one session's .jsonl file (default: every"
        " rule that counts here, and all sessions of this project)",
    ),
    option(
        "--days",
        type=whole_number(1),
        default=DAYS,
        metavar="N",
        help=f"sessions of the last N days (default: {DAYS})",
    ),
    add_json,
)
def audit(options: Namespace) -> int:
    """Say which rules agents kept in past sessions, and which they broke.

    brim compares the calls in the session files of your agents with the checks of your rules. No
    model is asked, and nothing is changed. A rule is kept in a session if a call was made that it
    is about, and none broke it. In a project, its sessions count; elsewhere, all do.

    Mistakes in rules files come last. Exits with 1 if there is one.

    Examples:
      brim rules audit
      brim rules audit CLAUDE.md --days 7
    """
    workspace = here()
    entries = _entries(options.file, workspace)
    files = _files(options, workspace)
    place = CallPlace(
        folder=workspace.cwd,
        project=workspace.project or "",
        home=home_folder(workspace.environ),
    )
    progress = ReadingProgress()
    with progress:
        result = audit_rules(
            entries,
            files,
            place,
            days=options.days,
            cache=audit_cache(workspace.environ),
            on_read=progress,
        )
    mistakes: list[RuleMistake] = []
    if options.file is None:
        book = workspace.rulebook
        mistakes = find_mistakes(
            book, outlook(book.open_index(), DeliveryLimits.of(workspace.config))
        )
    data = {
        **audit_totals(result),
        "days": result.days,
        "audit": [rule.to_dict() for rule in result.rules],
        "mistakes": [mistake.to_dict() for mistake in mistakes],
    }
    emit(data, _view(result, mistakes), options.as_json)
    return int(bool(problems_in(mistakes)))


def _entries(path: str | None, workspace: Workspace) -> list[RuleEntry]:
    """Return the rules of the file *path*, or every rule that counts here."""
    if path is None or path.endswith(_SESSIONS):
        return [entry for entry in workspace.rulebook.entries() if entry.state == ACTIVE]
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file; name a file with rules, or a session's .jsonl")
    full_path = os.path.abspath(path)
    if path.endswith(".toml"):
        rules = RulesFile(full_path, follow_links=True).read().rules
        return [RuleEntry(rule, USER, full_path) for rule in rules]
    file = NativeFile(full_path, os.path.basename(path))
    native = read_native(file, os.path.dirname(full_path))
    if native.problem:
        raise InputError(native.problem)
    return [RuleEntry(rule, NATIVE, full_path) for rule in native.rules]


def _files(options: Namespace, workspace: Workspace) -> list[SessionFile]:
    if options.file is not None and options.file.endswith(_SESSIONS):
        return named_files([options.file])
    return past_sessions(workspace.environ, workspace.project, days=options.days, now=workspace.now)


# How it looks -------------------------------------------------------------------------------------


def _view(result: RuleAudit, mistakes: list[RuleMistake]) -> str:
    checked = len(result.checked)
    title = f"{checked:,} of {counted(len(result.rules), 'rule')} can be checked"
    if checked:
        title += f", in {counted(result.sessions, 'session')}"
    parts = [title]
    if checked and result.sessions:
        parts += _outcome_view(result)
    for mistake in mistakes:
        parts.append(_mistake_view(mistake))
    return "\n".join(parts)


def _outcome_view(result: RuleAudit) -> Iterator[str]:
    for rule in result.broken:
        yield f"\n{paint('broken', 'red')}  {_rule_line(rule)}"
        rows = [
            [_day(broken.time), broken.session[:8], cut(broken.call, LONGEST)]
            for broken in rule.broken[-MOST_ROWS:]
        ]
        yield table(rows)
        hidden = len(rule.broken) - MOST_ROWS
        if hidden > 0:
            yield paint(f"and {hidden:,} earlier: --json lists them", "faint")
    never = []
    for rule in result.checked:
        if rule.kept_sessions and not rule.broken:
            yield f"\n{paint('kept', 'green')}  {_rule_line(rule)}"
        elif not rule.broken and not rule.stopped:
            never.append(rule.name)
    if never:
        yield f"\nnever relevant  {printable(', '.join(never))}"


def _rule_line(rule: AuditedRule) -> str:
    """Return a rule with how often it was kept, broken and stopped."""
    counts = []
    if rule.broken:
        counts.append(f"{counted(len(rule.broken), 'time')}")
    if rule.kept_sessions:
        counts.append(f"kept in {counted(rule.kept_sessions, 'session')}")
    if rule.stopped:
        counts.append(f"{counted(rule.stopped, 'call')} stopped by brim")
    return f"{printable(rule.name)}: {cut(rule.text, LONGEST)} ({', '.join(counts)})"


def _day(moment: float | None) -> str:
    if moment is None:
        return ""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def _mistake_view(mistake: RuleMistake) -> str:
    colour = "red" if mistake.kind == PROBLEM else "yellow"
    text = home_path(printable(f"{mistake.text}; {mistake.fix}"))
    return f"{paint(mistake.kind, colour)}: {text}"
