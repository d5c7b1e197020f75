"""How a rule is shown on the command line."""

from __future__ import annotations

from typing import Any

from brim.cli.output import block, paint, printable
from brim.rules.outlook import NOT_CHECKED, RuleOutlook, kept_words, told_words
from brim.rules.rulebook import OFF, REMOVAL, WAITING, RuleEntry, visible
from brim.rules.source import NATIVE

REMEDY = "Make it checkable: --block COMMAND or --before-done COMMAND"
STATE_WORDS = {
    WAITING: "not before you accept it: brim rules trust",
    OFF: "it is switched off",
    REMOVAL: "it was removed, and holds until you agree: brim rules trust",
}
NATIVE_WORDS = "told by your agent"


def told_line(entry: RuleEntry, forecast: RuleOutlook) -> str:
    """Return when agents are told a rule."""
    if entry.state in STATE_WORDS:
        return STATE_WORDS[entry.state]
    if entry.place == NATIVE:
        return NATIVE_WORDS
    return told_words(entry.condition, at_start=forecast.is_told_at_start(entry.rule))


def promise_view(entry: RuleEntry, forecast: RuleOutlook) -> list[str]:
    """Return when a rule is told and how it's kept, line by line."""
    view = [f"told  {printable(told_line(entry, forecast))}"]
    promises = kept_words(entry.rule)
    for words in promises:
        view.append(f"kept  {printable(words)}")
    if not promises:
        view.append(f"      not checked: {NOT_CHECKED}. {REMEDY}")
    return view


def entry_object(entry: RuleEntry, forecast: RuleOutlook) -> dict[str, Any]:
    """Return a rule for ``--json``."""
    rule = entry.rule
    return {
        "name": rule.name,
        "text": rule.text,
        "when": [str(case) for case in _cases(entry)],
        "inferred": entry.is_inferred,
        "block": list(rule.block),
        "before_done": rule.before_done,
        "kind": rule.kind,
        "must": rule.is_must,
        "tags": list(rule.tags),
        "place": entry.place,
        "file": entry.path,
        "line": rule.line,
        "state": entry.state,
        "told": told_line(entry, forecast),
        "kept": kept_words(rule),
    }


def _cases(entry: RuleEntry) -> list[str]:
    words = []
    for case in entry.condition.cases:
        words.append(" and ".join([str(clause) for clause in case]))
    return words


def state_of(entry: RuleEntry) -> str:
    """Return what brim does about a rule, in a word or two."""
    if entry.state != "active":
        return paint(entry.state, "yellow")
    words = []
    if entry.place == NATIVE:
        words.append(NATIVE_WORDS)
    else:
        words.append("told")
    if entry.rule.block:
        words.append(paint("refused", "red"))
    if entry.rule.before_done:
        words.append("before done")
    if not entry.is_kept:
        words.append("not checked")
    return ", ".join(words)


def paragraph_view(text: str) -> str:
    """Return a paragraph of a rules file, indented, with every character visible."""
    return block(visible(text.strip("\n")))
