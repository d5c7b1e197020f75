"""The table of everyday rules: which concepts mean which check.

``data/everyday.toml`` has them, each with examples. Text is all that's known of a rule there;
nothing of this is read when a call is decided.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from brim.files import data_file
from brim.record import PlainData
from brim.rules.checks.check import (
    COMMIT,
    CREATE,
    DELETE,
    EDIT,
    EXISTING,
    READ,
    TURN_END,
    RuleCheck,
)
from brim.rules.checks.sentence import COMMA, COMMAND, FLAG, PATH, Token
from brim.rules.checks.stance import DO, NO, rejected_objects

VERBS = {
    "EDIT": (EDIT,),
    "TOUCH": (EDIT, DELETE),
    "LEAVEALONE": (EDIT, DELETE),
    "READ": (READ,),
    "DELETE": (DELETE,),
    "COMMIT": (COMMIT,),
    "PUSH": (COMMIT,),
}
"""What verbs forbid to do with a file."""
ACTS_IN_WORDS = {
    EDIT: "edits of",
    EXISTING: "edits of",
    CREATE: "new files in",
    DELETE: "deletion of",
    READ: "reading",
    COMMIT: "git add of",
}
_ANY_VERB = "*VERB"


@dataclass(frozen=True)
class Description(PlainData):
    """Concepts that a sentence must have and may have."""

    required: tuple[tuple[str, ...], ...]
    optional: frozenset[str]
    needs_verb: bool

    @classmethod
    def read(cls, text: str) -> Description:
        """Read ``"PUSH|SEND MAIN + COMMIT"``."""
        first, _, second = text.partition("+")
        required = []
        for word in first.split():
            if word != _ANY_VERB:
                required.append(tuple(word.split("|")))
        return cls(tuple(required), frozenset(second.split()), _ANY_VERB in first)

    def fits(self, tokens: list[Token]) -> bool:
        """Whether *tokens* have all that's required, and nothing else of meaning."""
        for concepts in self.required:
            if not any(token.says(*concepts) for token in tokens):
                return False
        if self.needs_verb and not acts_of_verbs(tokens):
            return False
        allowed = set(self.optional)
        for concepts in self.required:
            allowed.update(concepts)
        if self.needs_verb:
            allowed.update(VERBS)
            allowed.add("ADD")
        return all(token.is_light or token.says(*allowed) for token in tokens)


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
        if stance != self.stance and not (stance.startswith("git ") and self.stance == TURN_END):
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
        calls: list[str] = []
        for pattern in self.row.get("calls", ()):
            calls.append(_with_branches(pattern, branches))
        needs: tuple[str, ...] = ()
        if self.row.get("needs"):
            needs = (" / ".join(self.row["needs"]),)
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
            before=TURN_END if needs else "",
            wording=wording.replace("{acts}", acts_in_words(acts)),
        )

    def _texts(self, key: str) -> tuple[str, ...]:
        return tuple(self.row.get(key, ()))

    def _acts(self, tokens: list[Token]) -> tuple[str, ...]:
        acts = self.row.get("acts", "")
        if acts == "verbs":
            return acts_of_verbs(tokens)
        return tuple(acts.split())


def acts_of_verbs(tokens: list[Token]) -> tuple[str, ...]:
    """Return what the verbs among *tokens* forbid to do with files; a ban without a verb forbids
    to touch them."""
    acts: list[str] = []
    for token in tokens:
        for concept, verb_acts in VERBS.items():
            if token.says(concept) and not token.says(PATH, "FILES"):
                acts += verb_acts
    words = {token.text.lower() for token in tokens}
    if not words.isdisjoint(("git", "repo")) and any(token.says("ADD") for token in tokens):
        acts.append(COMMIT)
    if not acts and any(token.says("BAN") for token in tokens):
        acts = [EDIT, DELETE]
    return tuple(dict.fromkeys(acts))


def acts_in_words(acts: Iterable[str]) -> str:
    """Return *acts* as a promise names them: ``edits of and git add of``."""
    words = dict.fromkeys([ACTS_IN_WORDS[act] for act in acts])
    return " and ".join(words)


def _branches_in(tokens: list[Token]) -> list[str]:
    branches = [token.text.lower() for token in tokens if token.says("MAIN")]
    return list(dict.fromkeys(branches)) or ["main"]


def _with_branches(pattern: str, branches: list[str]) -> str:
    """Return *pattern* with each word that has ``{branch}`` once for each of *branches*."""
    words = []
    for word in pattern.split(" "):
        plain = word.removeprefix("@")
        sign = word[: len(word) - len(plain)]
        names = dict.fromkeys([plain.replace("{branch}", name) for name in branches])
        words.append(sign + "|".join(names))
    return " ".join(words)


def _without_better_way(tokens: list[Token], better: str) -> list[Token]:
    """Return *tokens* without what the sentence is for; all of them if it's against that."""
    rejected = rejected_objects(tokens)
    if any(token.says(better) for token in rejected):
        return tokens
    return [token for token in tokens if not token.says(better)]


@cache
def everyday_rules() -> tuple[EverydayRule, ...]:
    """Return the table."""
    table = tomllib.loads(data_file(__file__, "everyday.toml").decode())
    rules = []
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
        concepts = table.get(command, frozenset())
        if token.says(FLAG) and named and named[-1].says(COMMAND):
            both = f"{named[-1].value} {command}"
            if both in table:
                named[-1] = Token(table[both] | {COMMAND}, both, both)
                continue
        if token.says(COMMAND):
            named.append(Token(token.concepts | concepts, token.text, token.value))
        else:
            named.append(token)
    return named


def _is_for_a_command(tokens: list[Token]) -> bool:
    """Whether the sentence is for one command and against another: *use A, not B*."""
    rejected = [token for token in rejected_objects(tokens) if token.says(COMMAND)]
    commands = [token for token in tokens if token.says(COMMAND)]
    is_pair = any(token.says(COMMA, "INSTEAD", "BUT", "USE") for token in tokens)
    return is_pair and bool(rejected) and len(rejected) < len(commands)


def everyday_checks(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the checks that the sentence asks for: of one rule, or of one for each object."""
    tokens = with_concepts(tokens)
    if stance == NO and _is_for_a_command(tokens):
        return []
    for rule in everyday_rules():
        if rule.fits(tokens, stance):
            return [rule.check(tokens)]
    objects = [token for token in tokens if not token.is_light]
    if len(objects) < 2 or stance == "do":
        return []
    checks: list[RuleCheck] = []
    for token in objects:
        sentence = [other for other in tokens if other.is_light or other is token]
        rules = [rule for rule in everyday_rules() if rule.fits(sentence, stance)]
        if not rules or rules[0].instead or (stance == NO and rules[0].stance != NO):
            return []
        checks.append(rules[0].check([token]))
    return checks
