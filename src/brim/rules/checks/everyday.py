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
from brim.rules.checks.acts import ABOUT_VERBS, acts_in_words, acts_of_verbs
from brim.rules.checks.check import TURN_END, RuleCheck
from brim.rules.checks.names import globs_of
from brim.rules.checks.stance import DO, NO, rejected_objects
from brim.rules.checks.tokens import COMMA, COMMAND, FLAG, PATH, Statement, Token

_ANY_VERB = "*VERB"
_AROUND_TEXT = (
    " + LANGNAME LANGPY PYTHON TYPESCRIPT LEAVE ADD COMMENTS FILES"
    " COMMIT RULES CREATE WRITE EDIT NEW CODEWORD REMOVE SKIP LINTER TYPES"
)
"""What a statement may say around a text that mustn't be written."""
_TEXTS = (
    "calls",
    "passes",
    "paths",
    "other_paths",
    "written_in",
    "written_not_in",
)
"""Lists of a row that a check has under the same name."""
_PLAIN = ("written", "in_comments", "packages", "message", "subject")
"""Values of a row that a check has under the same name."""


@dataclass(frozen=True)
class Description(PlainData):
    """Concepts that a statement must have and may have."""

    required: tuple[tuple[str, ...], ...]
    optional: frozenset[str]
    needs_verb: bool

    @classmethod
    def read(cls, text: str) -> Description:
        """Read ``"PUSH|SEND MAIN + COMMIT"``.

        >>> Description.read("PUSH|SEND MAIN + COMMIT").required
        (('PUSH', 'SEND'), ('MAIN',))
        """
        first, _, second = text.partition("+")
        required: list[tuple[str, ...]] = []
        optional = set(second.replace("+", " ").split())
        for word in first.split():
            if word == _ANY_VERB:
                optional.update(ABOUT_VERBS)
                continue
            concepts = tuple(word.split("|"))
            required.append(concepts)
            optional.update(concepts)
        return cls(tuple(required), frozenset(optional), _ANY_VERB in first)

    def fits(self, statement: Statement) -> bool:
        """Whether *statement* has all that's required, and nothing else of meaning."""
        if not all(statement.says(*concepts) for concepts in self.required):
            return False
        if self.needs_verb and not acts_of_verbs(statement):
            return False
        return statement.consists_of(*self.optional)


@dataclass(frozen=True)
class EverydayRule(PlainData):
    """One row of the table."""

    name: str
    stance: str
    descriptions: tuple[Description, ...]
    instead: str
    row: Mapping[str, Any] = field(repr=False, default_factory=dict)

    @classmethod
    def read(cls, name: str, row: Mapping[str, Any]) -> EverydayRule:
        """Return the rule of one row."""
        around = ""
        if "written" in row:
            around = _AROUND_TEXT
        descriptions = tuple([Description.read(f"{text}{around}") for text in row["says"]])
        return cls(name, row["stance"], descriptions, row.get("instead", ""), row)

    def fits(self, statement: Statement, stance: str) -> bool:
        """Whether *statement* with this *stance* is the rule."""
        if not self._has_stance(statement, stance):
            return False
        if self.instead:
            statement = _without_better_way(statement, self.instead)
        if "written" in self.row:
            statement = statement.without(PATH)  # where it mustn't be written
        if statement.says(*self.row.get("unless", ())):
            return False
        # "Never force-push with `git push --force`" names its own command once more.
        in_words = statement.without(*self.row.get("commands", ()))
        return any(
            description.fits(statement) or description.fits(in_words)
            for description in self.descriptions
        )

    def _has_stance(self, statement: Statement, stance: str) -> bool:
        """Whether *statement*, whose stance is *stance*, wants what this rule wants."""
        if self.instead and self.stance == NO and stance == DO:
            return bool(rejected_objects(statement))
        if self.stance == TURN_END and stance.startswith("git "):
            return True
        if "written" in self.row and statement.says("REMOVE"):
            return stance != NO
        return stance == self.stance

    def check(self, statement: Statement) -> RuleCheck:
        """Return the check for *statement*."""
        if "like" in self.row:
            return everyday_rule(self.row["like"]).check(statement)
        values: dict[str, Any] = {"acts": self._acts(statement)}
        for key in _TEXTS:
            values[key] = tuple(self.row.get(key, ()))
        for key in _PLAIN:
            if key in self.row:
                values[key] = self.row[key]
        if "needs" in self.row:
            values["needs"] = (" / ".join(self.row["needs"]),)
            values["before"] = TURN_END
        if "written" in self.row:
            values["written_under"] = _globs_in(statement)
        branches = _branches_in(statement)
        values["calls"] = tuple([_with_branches(call, branches) for call in values["calls"]])
        return RuleCheck(name=self.name, wording=self._wording(values, branches), **values)

    def _acts(self, statement: Statement) -> tuple[str, ...]:
        acts = self.row.get("acts", "")
        if acts == "verbs":
            return acts_of_verbs(statement)
        return tuple(acts.split())

    def _wording(self, values: Mapping[str, Any], branches: list[str]) -> str:
        """Return what a person is told about the check."""
        wording: str = self.row["wording"]
        wording = wording.replace("{branches}", " and ".join(branches))
        if wording.startswith("{acts} "):
            wording = acts_in_words(values["acts"], wording.removeprefix("{acts} "))
        if values.get("written_under"):
            wording += f" under {', '.join(values['written_under'])}"
        return wording


def _globs_in(statement: Statement) -> tuple[str, ...]:
    """Return the globs of the paths that *statement* names."""
    globs: list[str] = []
    for path in statement.values(PATH):
        globs += globs_of(path)
    return tuple(globs)


def _branches_in(statement: Statement) -> list[str]:
    """Return the branches that *statement* names; ``main`` if it names none."""
    branches: list[str] = []
    for token in statement.tokens:
        if token.says("MAIN"):
            branches.append(token.text.split(" ")[0])
    if not branches:
        return ["main"]
    return list(dict.fromkeys(branches))


def _with_branches(pattern: str, branches: list[str]) -> str:
    """Return *pattern* with each word that has ``{branch}`` once for each of *branches*.

    >>> _with_branches("git push $ @{branch}", ["main", "master"])
    'git push $ @main|master'
    """
    if "{branch}" not in pattern:
        return pattern
    words: list[str] = []
    for word in pattern.split(" "):
        name = word.removeprefix("@")
        sign = word[: len(word) - len(name)]
        names = dict.fromkeys([name.replace("{branch}", branch) for branch in branches])
        words.append(sign + "|".join(names))
    return " ".join(words)


def _without_better_way(statement: Statement, better: str) -> Statement:
    """Return *statement* without what it's for; all of it if it's against that."""
    if any(token.says(better) for token in rejected_objects(statement)):
        return statement
    return statement.without(better)


# The table ----------------------------------------------------------------------------------------


@cache
def everyday_rules() -> tuple[EverydayRule, ...]:
    """Return the table."""
    return _read_table("everyday.toml")


@cache
def table_rules() -> tuple[EverydayRule, ...]:
    """Return the table, and the rules about texts that mustn't be written."""
    return everyday_rules() + _read_table("texts.toml")


def _read_table(name: str) -> tuple[EverydayRule, ...]:
    table = tomllib.loads(data_file(__file__, name).decode())
    return tuple([EverydayRule.read(rule, row) for rule, row in table.items()])


def everyday_rule(name: str) -> EverydayRule:
    """Return the rule of the table that is called *name*."""
    for rule in everyday_rules():
        if rule.name == name:
            return rule
    raise KeyError(name)


@cache
def _concepts_of_commands() -> dict[str, frozenset[str]]:
    """Return what the commands of the table say, by their words."""
    concepts: dict[str, frozenset[str]] = {}
    for rule in everyday_rules():
        for concept, commands in rule.row.get("commands", {}).items():
            for command in commands:
                key = command.lower()
                concepts[key] = concepts.get(key, frozenset()) | {concept}
    return concepts


def with_concepts(statement: Statement) -> Statement:
    """Return *statement*, with what the table says about the commands in it.

    A command and the option after it count as one: ``npm install`` with ``--force``.
    """
    table = _concepts_of_commands()
    tokens: list[Token] = []
    for token in statement.tokens:
        command = " ".join(token.value.lower().split())
        both = ""
        if token.says(FLAG) and tokens:
            both = f"{tokens[-1].value} {command}"
        if both in table:
            tokens[-1] = Token(table[both] | {COMMAND}, both, both)
        elif token.says(COMMAND):
            tokens.append(token.meaning(*token.concepts, *table.get(command, ())))
        else:
            tokens.append(token)
    return Statement(tuple(tokens))


# Which rules a statement means --------------------------------------------------------------------


def everyday_checks(statement: Statement, stance: str) -> list[RuleCheck]:
    """Return the checks that *statement* asks for: of one rule, or of one for each object."""
    statement = with_concepts(statement)
    if stance == NO and _is_for_a_command(statement):
        return []
    for rule in table_rules():
        if rule.fits(statement, stance):
            return [rule.check(statement)]
    if stance == DO or not _are_listed(statement):
        return []
    return _checks_of_objects(statement, stance)


def _is_for_a_command(statement: Statement) -> bool:
    """Whether *statement* is for one command and against another: *use A, not B*."""
    rejected = [token for token in rejected_objects(statement) if token.says(COMMAND)]
    commands = statement.values(COMMAND)
    is_pair = statement.says(COMMA, "INSTEADOF", "BUT", "USE")
    return is_pair and 0 < len(rejected) < len(commands)


def _are_listed(statement: Statement) -> bool:
    """Whether a comma or conjunction, or something that forbids, stands between all objects.

    *On release branches, never X* isn't a list: its first object says where the rule holds.
    """
    if statement.tokens[0].says("PREPOSITION"):
        return False
    is_separated = True
    for token in statement.tokens:
        if token.is_light:
            is_separated = is_separated or token.says(COMMA, "AND", "NEG")
            continue
        if not is_separated:
            return False
        is_separated = False
    return True


def _checks_of_objects(statement: Statement, stance: str) -> list[RuleCheck]:
    """Return one check for each object; none if one of them is in no rule."""
    objects = statement.objects
    checks: list[RuleCheck] = []
    for chosen in objects:
        tokens = [token for token in statement.tokens if token.is_light or token is chosen]
        rule = _rule_of_object(Statement(tuple(tokens)), stance)
        if rule is None:
            return []
        checks.append(rule.check(Statement((chosen,))))
    return checks


def _rule_of_object(statement: Statement, stance: str) -> EverydayRule | None:
    """Return the rule for a statement with one object."""
    for rule in table_rules():
        if rule.fits(statement, stance) and (stance != NO or rule.stance == NO):
            return rule
    return None
