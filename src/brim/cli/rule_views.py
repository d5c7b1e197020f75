"""How a rule is shown on the command line."""

from __future__ import annotations

from typing import Any

from brim.cli.output import block, counted, paint, printable
from brim.install.native_files import NativeReaders
from brim.rules.checks import NOT_CHECKED
from brim.rules.keeping import kept_words, proposed_words, why_not_checked
from brim.rules.outlook import RuleOutlook, told_words
from brim.rules.rule import EVERY_BREACH
from brim.rules.rulebook import OFF, REMOVAL, WAITING, RuleEntry, visible
from brim.rules.source import NATIVE
from brim.rules.state import RuleCounts

REMEDY = "Make it checkable: --block COMMAND or --before-done COMMAND"
STATE_WORDS = {
    WAITING: "not before you accept it: brim rules trust",
    OFF: "it is switched off",
    REMOVAL: "it was removed, and holds until you agree: brim rules trust",
}


def told_line(entry: RuleEntry, forecast: RuleOutlook, readers: NativeReaders) -> str:
    """Return when agents are told a rule."""
    if entry.state in STATE_WORDS:
        return STATE_WORDS[entry.state]
    by_brim = told_words(entry.condition, at_start=forecast.is_told_at_start(entry.rule))
    if entry.place != NATIVE:
        return by_brim
    by_agents = readers.words(entry)
    if readers.all_load(entry):
        return by_agents
    if not by_agents:
        return by_brim
    return f"{by_agents}; others {by_brim}"


def promise_view(entry: RuleEntry, forecast: RuleOutlook, readers: NativeReaders) -> list[str]:
    """Return when a rule is told and how it's kept, line by line."""
    view = [f"told  {printable(told_line(entry, forecast, readers))}"]
    promises = kept_words(entry.rule, is_agreed=not entry.check_state)
    for words in promises:
        view.append(f"kept  {printable(words)}")
    if entry.is_proposed:
        words = printable(proposed_words(entry.rule))
        view.append(f"      if you agree (brim rules review): {words}")
    elif not promises:
        reason = why_not_checked(entry.rule, entry.check_state)
        remedy = f". {REMEDY}" if reason == NOT_CHECKED else ""
        view.append(f"      {reason}{remedy}")
    return view


def counts_words(counts: RuleCounts) -> str:
    """Return what happened because of a rule, in a few words; empty if nothing did."""
    parts = []
    if counts.sessions_told:
        parts.append(f"told in {counted(counts.sessions_told, 'session')}")
    if counts.stopped:
        stopped = f"stopped {counted(counts.stopped, 'call')}"
        parts.append(f"{stopped} ({counts.obeyed:,} obeyed, {counts.repeated:,} repeated)")
    if counts.asked:
        parts.append(f"asked {counted(counts.asked, 'time')} before done")
    if counts.refused:
        parts.append(f"refused {counted(counts.refused, 'call')}")
    if counts.allowed:
        parts.append(f"allowed {counted(counts.allowed, 'call')}")
    return ", ".join(parts)


def entry_object(entry: RuleEntry, forecast: RuleOutlook, readers: NativeReaders) -> dict[str, Any]:
    """Return a rule for ``--json``."""
    rule = entry.rule
    return {
        "name": rule.name,
        "text": rule.text,
        "when": [str(case) for case in _cases(entry)],
        "inferred": entry.is_inferred,
        "block": True if EVERY_BREACH in rule.block else list(rule.block),
        "before_done": rule.before_done,
        "passes": list(rule.passes),
        "kind": rule.kind,
        "must": rule.is_must,
        "tags": list(rule.tags),
        "place": entry.place,
        "file": entry.path,
        "line": rule.line,
        "state": entry.state,
        "status": status_words(entry, readers),
        "told": told_line(entry, forecast, readers),
        "kept": kept_words(rule, is_agreed=not entry.check_state),
        "proposed": proposed_words(rule) if entry.is_proposed else "",
    }


def _cases(entry: RuleEntry) -> list[str]:
    words = []
    for case in entry.condition.cases:
        words.append(" and ".join([str(clause) for clause in case]))
    return words


def status_words(entry: RuleEntry, readers: NativeReaders) -> list[str]:
    """Return what brim does about a rule, each in a word or two."""
    if entry.state != "active":
        return [entry.state]
    words = [*_told_words(entry, readers), *_check_words(entry)]
    if entry.is_proposed:
        return [*words, "proposed"]
    if not entry.is_kept:
        return [*words, "not checked"]
    return words


def _told_words(entry: RuleEntry, readers: NativeReaders) -> list[str]:
    """Return who tells a rule: the agents that load its file, brim, or both."""
    own = ""
    if entry.place == NATIVE:
        own = readers.words(entry)
    if not own:
        return ["told"]
    if readers.all_load(entry):
        return [own]
    return [own, "told to others"]


def _check_words(entry: RuleEntry) -> list[str]:
    """Return what happens to a call that breaks a rule."""
    check = entry.check
    words = []
    if check is not None and check.stops and EVERY_BREACH not in entry.rule.block:
        words.append("stopped")
    if entry.rule.block:
        words.append("refused")
    if check is not None and check.is_before_done:
        words.append("before done")
    return words


_COLOURS = {"refused": "red", "proposed": "yellow"}


def state_of(entry: RuleEntry, readers: NativeReaders) -> str:
    """Return what brim does about a rule, for a table."""
    words = status_words(entry, readers)
    if entry.state != "active":
        return paint(words[0], "yellow")
    painted = [paint(word, _COLOURS[word]) if word in _COLOURS else word for word in words]
    return ", ".join(painted)


def paragraph_view(text: str) -> str:
    """Return a paragraph of a rules file, indented, with every character visible."""
    return block(visible(text.strip("\n")))
