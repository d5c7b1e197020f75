"""Which rules apply? A project's file proposes, what the user has accepted decides.

``~/.brim/accepted/<repository>/`` has the accepted wording of a project's rules and a digest of
every content that was ever accepted: such a rule applies on any branch and in any worktree. The
user's own file needs nobody's consent; there the folder has the last good copy, which goes on
applying where the file has a mistake or is gone.

So an agent that edits a file can propose a rule, and can't add, loosen or remove one that blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from brim.config.trust import CHECKS, DIGESTS, LOCK, accepted_folder, make_accepted
from brim.files import locked, read_safely, replace_file
from brim.record import PlainData
from brim.rules.file import NAME, FileContent, RulesFile, read_content
from brim.rules.paragraphs import inserted, replaced, split_text, without
from brim.rules.reading import RulesText, read_rules
from brim.rules.rule import WrittenRule

EMPTY = "is empty"
MOST_NAMED = 3
"""Rules that are named if many were lost."""
NEW = "new"
CHANGED = "changed"
REMOVED = "removed"


@dataclass(frozen=True)
class RuleProposal(PlainData):
    """A difference between a project's file and what the user has accepted."""

    kind: str
    """``new``, ``changed`` or ``removed``."""
    name: str
    old: str = ""
    """The accepted paragraph."""
    new: str = ""
    """The paragraph in the file."""


@dataclass(frozen=True)
class RulesDecision(PlainData):
    """The rules of one file that apply, and what a person should hear about it."""

    rules: tuple[WrittenRule, ...]
    proposals: tuple[RuleProposal, ...] = ()
    news: tuple[str, ...] = ()
    """Mistakes and losses, each with what to do."""
    losses: str = ""
    """Which rules someone took out of the user's own file by hand: to be said once."""
    vanished: tuple[str, ...] = ()
    """Paragraphs that someone took out of the user's own file by hand."""
    good_text: str = ""
    """The text to keep as the last good copy of the user's own file."""


@dataclass(frozen=True)
class Acceptance(PlainData):
    """What the user has accepted of one file."""

    wording: RulesText
    contents: frozenset[tuple[str, str]] = frozenset()
    """The digest and the name of every rule that was ever accepted."""

    @property
    def digests(self) -> frozenset[str]:
        """The digests of all contents."""
        return frozenset([digest for digest, _ in self.contents])

    def has(self, rule: WrittenRule) -> bool:
        """Whether this content was accepted under this name."""
        return (rule.digest, rule.name) in self.contents


class AcceptedRules:
    """The accepted rules of a project, or the last good copy of the user's own file."""

    def __init__(self, home: str, project: str | None) -> None:
        self.project = project
        self.folder = accepted_folder(home, project)
        self.path = os.path.join(self.folder, NAME)
        self.digests_path = os.path.join(self.folder, DIGESTS)

    @property
    def exists(self) -> bool:
        """Whether the user has accepted the project, or the user's own file was good once."""
        return os.path.exists(self.path) or os.path.exists(self.digests_path)

    def load(self) -> Acceptance:
        """Return what was accepted; of files that can't be read, nothing."""
        wording = read_rules(read_content(self.path).text)
        contents = {(rule.digest, rule.name) for rule in wording.rules}
        with suppress(OSError, UnicodeError), open(self.digests_path, encoding="utf-8") as file:
            for line in file:
                digest, _, name = line.rstrip("\n").partition(" ")
                contents.add((digest, name))
        return Acceptance(wording, frozenset(contents))

    def last_good_text(self) -> str:
        """Return the last good copy of the user's own file; empty if there is none."""
        return read_content(self.path).text

    def accept(self, content: str, names: Iterable[str] | None = None) -> None:
        """Accept the rules of *content*, which the user was shown: those in *names*, or all.

        A name that isn't in *content* is a removal that the user agrees to.
        """
        proposed = read_rules(content)
        with locked(os.path.join(self.folder, LOCK), prepare=self._make_folder):
            accepted = self.load()
            if names is None:
                names = {*proposed.split.names, *accepted.wording.split.names}
            text = read_content(self.path).text
            for name in sorted(names):
                text = _with_paragraph(text, name, proposed)
            contents = set(accepted.contents)
            for rule in proposed.rules:
                if rule.name in names:
                    contents.add((rule.digest, rule.name))
            lines = sorted(map(" ".join, contents))
            replace_file(self.digests_path, "\n".join([*lines, ""]).encode())
            replace_file(self.path, text.encode("utf-8", "surrogateescape"))

    def keep_copy(self, text: str) -> None:
        """Keep *text* as the last good copy of the user's own file."""
        with locked(os.path.join(self.folder, LOCK), prepare=self._make_folder):
            if read_content(self.path).text != text:
                replace_file(self.path, text.encode("utf-8", "surrogateescape"))

    def forget(self) -> None:
        """Take back all that was accepted."""
        for path in (self.digests_path, self.path):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _make_folder(self) -> None:
        make_accepted(self.folder, self.project)


def _with_paragraph(text: str, name: str, proposed: RulesText) -> str:
    """Return the accepted *text* with the paragraph that *proposed* has for *name*, or without
    one."""
    old = split_text(text).named(name)
    new = proposed.split.named(name)
    if new is None:
        if old is None:
            return text
        return without(text, old)
    if proposed.rule(name) is None:  # a mistake isn't accepted: the old wording holds
        return text
    if old is None:
        return inserted(text, name, new.body + "\n")
    return replaced(text, old, new.body)


# Deciding -----------------------------------------------------------------------------------------


def decide_project(content: FileContent, path: str, acceptance: Acceptance) -> RulesDecision:
    """Return which rules of a project's file apply.

    A rule applies if its content was accepted. Else it waits, and the accepted wording of that name
    holds. A rule that was removed holds while it blocks something, until the user agrees. All hold
    if the file is gone, empty or can't be read.
    """
    accepted = acceptance.wording
    if not content.problem and not content.text.strip():
        content = FileContent(problem=EMPTY)
    if content.problem:
        if not accepted.rules:
            return RulesDecision(())
        return RulesDecision(accepted.rules, news=(_unusable(path, content, len(accepted.rules)),))
    text = read_rules(content.text)
    rules: list[WrittenRule] = []
    proposals: list[RuleProposal] = []
    for rule in text.rules:
        if rule.digest in acceptance.digests:
            rules.append(rule)
        else:
            kind = NEW if accepted.rule(rule.name) is None else CHANGED
            proposals.append(_proposal(kind, rule.name, accepted, text))
    for old in accepted.rules:
        holds = _still_holds(old, text, acceptance)
        if holds:
            rules.append(old)
        if holds == REMOVED:
            proposals.append(_proposal(REMOVED, old.name, accepted, text))
    news = tuple([f"{path}, {mistake}" for mistake in text.mistakes])
    return RulesDecision(tuple(rules), tuple(proposals), news)


def _still_holds(old: WrittenRule, text: RulesText, acceptance: Acceptance) -> str:
    """Return why the accepted rule *old* holds although the file doesn't have it so: it was
    ``changed``, or ``removed``; empty if it doesn't."""
    if any(rule.digest == old.digest for rule in text.rules):
        return ""
    new = text.rule(old.name)
    if new is not None and new.digest not in acceptance.digests:
        return CHANGED
    if new is not None and acceptance.has(new):
        return ""  # the wording of another branch
    if text.mistakes:
        return CHANGED  # it may be the one with the mistake
    if old.block:
        return REMOVED
    return ""


def decide_own(content: FileContent, path: str, good_text: str) -> RulesDecision:
    """Return which rules of the user's own file apply; *good_text* is its last good copy.

    All of them; and where there is a mistake, the rule as it was. If the file is gone, empty or
    can't be read, its last good rules.
    """
    problem = content.problem
    if not problem and not content.text.strip() and good_text:
        problem = EMPTY
    if problem:
        return _without_file(problem, path, good_text, is_missing=content.is_missing)
    text = read_rules(content.text)
    lost = _lost_rules(text, good_text)
    news = tuple([f"{path}, {mistake}" for mistake in text.mistakes])
    if text.mistakes:
        rules = (*text.rules, *lost.rules)
        return RulesDecision(rules, news=news, good_text=_merged(text, lost))
    vanished: list[WrittenRule] = []
    if lost.rules:
        digests = {rule.digest for rule in text.rules}
        vanished = [rule for rule in lost.rules if rule.digest not in digests]
    return RulesDecision(
        text.rules,
        news=news,
        losses=_loss_words(path, vanished),
        vanished=tuple([_body(lost, rule.name) for rule in vanished]),
        good_text=content.text,
    )


def _without_file(problem: str, path: str, good_text: str, *, is_missing: bool) -> RulesDecision:
    """Return the last good rules, which apply while the file has a *problem*."""
    good = read_rules(good_text)
    if good.rules:
        news = _unusable(path, FileContent(problem=problem), len(good.rules))
        return RulesDecision(good.rules, news=(news,), good_text=good_text)
    if is_missing or problem == EMPTY:
        return RulesDecision(())
    return RulesDecision((), news=(_unusable(path, FileContent(problem=problem), 0),))


def _lost_rules(text: RulesText, good_text: str) -> RulesText:
    """Return the rules of the last good copy that *text* has under no name."""
    names = {rule.name for rule in text.rules}
    lost = ""
    for paragraph in split_text(good_text).paragraphs:
        if paragraph.name not in names:
            lost += paragraph.text
    return read_rules(lost)


def _loss_words(path: str, vanished: list[WrittenRule]) -> str:
    """Say which rules someone took out of the file by hand; empty if nobody did."""
    if not vanished:
        return ""
    if len(vanished) == 1:
        name = vanished[0].name
        return f"{path} doesn't have the rule {name} any more. It's kept: brim rules restore {name}"
    names = ", ".join([rule.name for rule in vanished[:MOST_NAMED]])
    unnamed_count = len(vanished) - MOST_NAMED
    if unnamed_count > 0:
        names += f" and {unnamed_count:,} more"
    return (
        f"{path} doesn't have {len(vanished):,} rules any more: {names}. "
        "They're kept: brim rules restore"
    )


def _unusable(path: str, content: FileContent, count: int) -> str:
    if not count:
        return f"{path} {content.problem}"
    rules = "its rule goes" if count == 1 else f"its {count:,} rules go"
    return f"{path} {content.problem}: {rules} on applying. To write it again: brim rules restore"


def _proposal(kind: str, name: str, accepted: RulesText, text: RulesText) -> RuleProposal:
    return RuleProposal(kind, name, _body(accepted, name), _body(text, name))


def _merged(text: RulesText, lost: RulesText) -> str:
    """Return the rules of *text* that can be read, and those that it *lost*."""
    merged = ""
    for part in (text, lost):
        for rule in part.rules:
            merged += f"{_body(part, rule.name)}\n\n"
    return merged


def _body(text: RulesText, name: str) -> str:
    paragraph = text.split.named(name)
    if paragraph is None:
        return ""
    return paragraph.body


def write_removed(home: str, paragraphs: Iterable[str], day: str) -> None:
    """Keep *paragraphs* that vanished from the user's own file in ``removed.toml``."""
    removed = RulesFile(os.path.join(home, "removed.toml"))
    for paragraph in paragraphs:
        removed.keep(paragraph, day)


# The checks of native files -----------------------------------------------------------------------


_LARGEST = 8 << 20
_YES = "yes"
_NO = "no"


class CheckDecisions:
    """The decisions in the *folder* with what a person has accepted."""

    def __init__(self, folder: str, project: str | None = None) -> None:
        self.path = os.path.join(folder, CHECKS)
        self._folder = folder
        self._project = project

    @property
    def agreed(self) -> frozenset[str]:
        """The digests of the rules that calls are compared with."""
        return self._digests(_YES)

    @property
    def declined(self) -> frozenset[str]:
        """The digests of the rules that a person doesn't want to be checked."""
        return self._digests(_NO)

    def decide(self, digests: Iterable[str], *, yes: bool) -> None:
        """Note that a person wants the rules with these *digests* to be checked, or doesn't."""
        with locked(os.path.join(self._folder, LOCK), prepare=self._make_folder):
            decisions = self._load()
            decisions.update(dict.fromkeys(digests, _YES if yes else _NO))
            lines = [f"{answer} {digest}" for digest, answer in sorted(decisions.items())]
            replace_file(self.path, "\n".join([*lines, ""]).encode())

    def _digests(self, answer: str) -> frozenset[str]:
        decisions = self._load()
        return frozenset([digest for digest in decisions if decisions[digest] == answer])

    def _load(self) -> dict[str, str]:
        """Return the answer for each digest; of a file that can't be read, none."""
        decisions: dict[str, str] = {}
        with suppress(OSError, UnicodeError):
            for line in read_safely(self.path, at_most=_LARGEST).decode().splitlines():
                answer, _, digest = line.partition(" ")
                decisions[digest] = answer
        return decisions

    def _make_folder(self) -> None:
        make_accepted(self._folder, self._project)
