"""The table of everyday rules: which concepts mean which check.

``data/everyday.toml`` has them, each with examples. Text is all that's known of a rule there;
nothing of this is read when a call is decided.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from brim.files import data_file
from brim.record import PlainData
from brim.rules.checks.acts import acts_in_words, acts_of_verbs, allowed_with_verbs
from brim.rules.checks.check import TURN_END, RuleCheck
from brim.rules.checks.sentence import COMMA, COMMAND, FLAG, LIGHT, Token
from brim.rules.checks.stance import DO, NO, rejected_objects

_ANY_VERB = "*VERB"
_CONJUNCTIONS = frozenset("and or nor und oder noch sowie et ou ni y o u e nem".split())


@dataclass(frozen=True)
class Description(PlainData):
    """Concepts that a sentence must have and may have."""

    required: tuple[tuple[str, ...], ...]
    allowed: frozenset[str]
    needs_verb: bool

    @classmethod
    def read(cls, text: str) -> Description:
        """Read ``"PUSH|SEND MAIN + COMMIT"``."""
        first, _, second = text.partition("+")
        required: list[tuple[str, ...]] = []
        allowed = set(LIGHT)
        allowed.update(second.split())
        for word in first.split():
            if word == _ANY_VERB:
                allowed |= allowed_with_verbs()
                continue
            concepts = word.split("|")
            required.append(tuple(concepts))
            allowed.update(concepts)
        return cls(tuple(required), frozenset(allowed), _ANY_VERB in first)

    def fits(self, tokens: list[Token]) -> bool:
        """Whether *tokens* have all that's required, and nothing else of meaning."""
        for concepts in self.required:
            if not any(token.says(*concepts) for token in tokens):
                return False
        if self.needs_verb and not acts_of_verbs(tokens):
            return False
        return not any(token.concepts.isdisjoint(self.allowed) for token in tokens)


@dataclass(frozen=True)
class EverydayRule(PlainData):
    """One row of the table."""

    name: str
    stance: str
    descriptions: tuple[Description, ...]
    instead: str
    row: Mapping[str, Any] = field(repr=False, default_factory=dict)

    def fits(self, tokens: list[Token], stance: str) -> bool:
        """Whether a sentence with *tokens* and *stance* is this rule."""
        if self.instead and stance == DO and rejected_objects(tokens):
            stance = NO
        waits_for_command = stance.startswith("git ") and self.stance == TURN_END
        if stance != self.stance and not waits_for_command:
            return False
        if self.instead:
            tokens = _without_better_way(tokens, self.instead)
        return any(description.fits(tokens) for description in self.descriptions)

    def check(self, tokens: list[Token]) -> RuleCheck:
        """Return the check for the sentence with *tokens*."""
        if "like" in self.row:
            return everyday_rule(self.row["like"]).check(tokens)
        acts = self._acts(tokens)
        branches = _branches_in(tokens)
        calls = [_with_branches(pattern, branches) for pattern in self.row.get("calls", ())]
        needs = self._texts("needs")
        before = ""
        if needs:
            needs = (" / ".join(needs),)
            before = TURN_END
        wording = self.row["wording"].replace("{branches}", " and ".join(branches))
        return RuleCheck(
            name=self.name,
            calls=tuple(calls),
            passes=self._texts("passes"),
            paths=self._texts("paths"),
            other_paths=self._texts("other_paths"),
            acts=acts,
            written=self.row.get("written", ""),
            written_in=self._texts("written_in"),
            written_not_in=self._texts("written_not_in"),
            in_comments=self.row.get("in_comments", False),
            message=self.row.get("message", ""),
            subject=self.row.get("subject", ""),
            needs=needs,
            before=before,
            wording=wording.replace("{acts}", acts_in_words(acts)),
        )

    def _texts(self, key: str) -> tuple[str, ...]:
        return tuple(self.row.get(key, ()))

    def _acts(self, tokens: list[Token]) -> tuple[str, ...]:
        acts = self.row.get("acts", "")
        if acts == "verbs":
            return acts_of_verbs(tokens)
        return tuple(acts.split())


def _branches_in(tokens: list[Token]) -> list[str]:
    branches: list[str] = []
    for token in tokens:
        if token.says("MAIN"):
            branches.append(token.text.split(" ")[0])
    if not branches:
        return ["main"]
    return list(dict.fromkeys(branches))


def _with_branches(pattern: str, branches: list[str]) -> str:
    """Return *pattern* with each word that has ``{branch}`` once for each of *branches*."""
    words: list[str] = []
    for word in pattern.split(" "):
        name = word.removeprefix("@")
        sign = word[: len(word) - len(name)]
        names = dict.fromkeys([name.replace("{branch}", branch) for branch in branches])
        words.append(sign + "|".join(names))
    return " ".join(words)


def _without_better_way(tokens: list[Token], better: str) -> list[Token]:
    """Return *tokens* without what the sentence is for; all of them if it's against that."""
    if any(token.says(better) for token in rejected_objects(tokens)):
        return tokens
    return [token for token in tokens if not token.says(better)]


# The table ----------------------------------------------------------------------------------------


@cache
def everyday_rules() -> tuple[EverydayRule, ...]:
    """Return the table."""
    table = tomllib.loads(data_file(__file__, "everyday.toml").decode())
    rules: list[EverydayRule] = []
    for name, row in table.items():
        descriptions = tuple([Description.read(text) for text in row["says"]])
        rules.append(EverydayRule(name, row["stance"], descriptions, row.get("instead", ""), row))
    return tuple(rules)


def everyday_rule(name: str) -> EverydayRule:
    """Return the rule of the table that is called *name*."""
    for rule in everyday_rules():
        if rule.name == name:
            return rule
    raise KeyError(name)


@cache
def _concepts_of_commands() -> dict[str, frozenset[str]]:
    """Return what the commands of the table say, by their words."""
    concepts: dict[str, set[str]] = {}
    for rule in everyday_rules():
        for concept, commands in rule.row.get("commands", {}).items():
            for command in commands:
                concepts.setdefault(command.lower(), set()).add(concept)
    return {command: frozenset(names) for command, names in concepts.items()}


def with_concepts(tokens: list[Token]) -> list[Token]:
    """Return *tokens*, with what the table says about the commands among them.

    A command and the option after it count as one: ``npm install`` with ``--force``.
    """
    table = _concepts_of_commands()
    named: list[Token] = []
    for token in tokens:
        command = " ".join(token.value.lower().split())
        if token.says(FLAG) and named and named[-1].says(COMMAND):
            both = f"{named[-1].value} {command}"
            if both in table:
                named[-1] = Token(table[both] | {COMMAND}, both, both)
                continue
        concepts = token.concepts
        if token.says(COMMAND):
            concepts |= table.get(command, frozenset())
        named.append(Token(concepts, token.text, token.value))
    return named


# Which rules a sentence means ---------------------------------------------------------------------


def everyday_checks(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the checks that the sentence asks for: of one rule, or of one for each object."""
    tokens = with_concepts(tokens)
    if stance == NO and _is_for_a_command(tokens):
        return []
    for rule in everyday_rules():
        if rule.fits(tokens, stance):
            return [rule.check(tokens)]
    if stance == DO:
        return []
    return _checks_of_objects(tokens, stance)


def _is_for_a_command(tokens: list[Token]) -> bool:
    """Whether the sentence is for one command and against another: *use A, not B*."""
    rejected = [token for token in rejected_objects(tokens) if token.says(COMMAND)]
    commands = [token for token in tokens if token.says(COMMAND)]
    is_pair = any(token.says(COMMA, "INSTEADOF", "BUT", "USE") for token in tokens)
    return is_pair and 0 < len(rejected) < len(commands)


def _checks_of_objects(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return one check for each object; none if one of them is in no rule."""
    objects = [token for token in tokens if not token.is_light]
    if len(objects) < 2:
        return []
    if not _are_listed(tokens):
        return []
    checks: list[RuleCheck] = []
    for token in objects:
        sentence = [other for other in tokens if other.is_light or other is token]
        rule = _rule_of_object(sentence, stance)
        if rule is None:
            return []
        checks.append(rule.check([token]))
    return checks


def _are_listed(tokens: list[Token]) -> bool:
    """Whether a comma or conjunction, or something that forbids, stands between all objects."""
    is_separated = True
    for token in tokens:
        if token.is_light:
            is_separated = is_separated or token.says(COMMA, "NEG") or token.text in _CONJUNCTIONS
        elif is_separated:
            is_separated = False
        else:
            return False
    return True


def _rule_of_object(sentence: list[Token], stance: str) -> EverydayRule | None:
    """Return the rule for a sentence with one object."""
    for rule in everyday_rules():
        if rule.fits(sentence, stance) and (stance != NO or rule.stance == NO):
            return rule
    return None
