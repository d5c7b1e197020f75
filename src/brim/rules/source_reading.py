"""What does a file of rules say now, and what of it applies?"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, replace

from brim.errors import StoreError
from brim.record import PlainData
from brim.rules.accepted import (
    AcceptedRules,
    CheckDecisions,
    RulesDecision,
    decide_own,
    decide_project,
    write_removed,
)
from brim.rules.file import FileContent, read_content
from brim.rules.losses import note_loss
from brim.rules.paragraphs import split_text
from brim.rules.rule import WrittenRule
from brim.rules.source import PROJECT, RuleSource


@dataclass(frozen=True)
class SourceState(PlainData):
    """What a source says now."""

    rules: tuple[WrittenRule, ...]
    waiting: int = 0
    """Rules that wait for the person's consent."""
    news: tuple[str, ...] = ()
    proposed: frozenset[str] = frozenset()
    """The digests of rules of a native file that no call is compared with: no person has agreed."""


def estimated_count(source: RuleSource) -> int:
    """Return about how many rules *source* has, without reading each."""
    content = _content(source)
    if content.problem and source.native is None:
        content = read_content(_accepted(source).path)
    return len(re.findall(r"^[ \t]*[\[-]", content.text, re.MULTILINE))


def read_source(source: RuleSource) -> SourceState:
    """Return the rules that apply; what the user's own file lost is kept."""
    if source.native is not None:
        from brim.rules.native_reading import read_native  # a hook seldom reads Markdown

        rules = read_native(source.native, source.project or os.path.dirname(source.path))
        news = (rules.problem,) if rules.problem else ()
        agreed = CheckDecisions(source.accepted_folder).agreed
        digests = frozenset([rule.digest for rule in rules.rules])
        return SourceState(rules.rules, news=news, proposed=digests - agreed)
    return _state(_decision(source, _content(source)))


def read_blocks(source: RuleSource) -> SourceState:
    """Return only the rules that block something, quickly."""
    if source.native is not None:
        return SourceState(())
    content = _content(source)
    if content.problem:
        return _state(_decision(source, content))
    blocking = []
    for paragraph in split_text(content.text).paragraphs:
        if "block" in paragraph.text:
            blocking.append(paragraph.text)
    # The other rules are missing from this text, so nothing is concluded from that.
    decision = _decision(source, FileContent("".join(blocking)), is_whole=False)
    rules = [rule for rule in decision.rules if rule.block and not rule.off]
    return SourceState(tuple(rules))


def _content(source: RuleSource) -> FileContent:
    """Return the text of the file, or why it can't be used."""
    return read_content(source.path, follow_links=source.kind != PROJECT)


def _accepted(source: RuleSource) -> AcceptedRules:
    return AcceptedRules(source.home, source.project if source.kind == PROJECT else None)


def _decision(source: RuleSource, content: FileContent, *, is_whole: bool = True) -> RulesDecision:
    name = _name_for_people(source.path)
    accepted = _accepted(source)
    if source.kind == PROJECT:
        return decide_project(content, name, accepted.load())
    decision = decide_own(content, name, accepted.last_good_text())
    if is_whole:
        return _keep(source, accepted, decision)
    return decision


def _keep(source: RuleSource, accepted: AcceptedRules, decision: RulesDecision) -> RulesDecision:
    """Keep the last good copy of the user's own file, and what vanished from it; return what is
    left to be told now."""
    try:
        if decision.vanished:
            write_removed(source.home, decision.vanished, time.strftime("%Y-%m-%d"))
            note_loss(source.home, decision.losses)
        if decision.good_text:
            accepted.keep_copy(decision.good_text)
    except (OSError, StoreError):
        if decision.losses:  # a full or read-only disk: it's said as long as it's so
            return replace(decision, news=(*decision.news, decision.losses))
    return decision


def _state(decision: RulesDecision) -> SourceState:
    rules = [rule for rule in decision.rules if not rule.off]
    return SourceState(tuple(rules), len(decision.proposals), decision.news)


def _name_for_people(path: str) -> str:
    home = os.path.expanduser("~")
    if path.startswith(home + os.sep):
        return f"~{path[len(home) :]}"
    return path
