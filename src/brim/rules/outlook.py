"""What would an agent be told here, and how is a rule kept? For people, in words.

``deliver`` decides, as in hooks; nothing is noted anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from brim.config.values import Config
from brim.record import PlainData
from brim.rules.compiled import RuleIndex
from brim.rules.delivery import (
    ALREADY_TOLD,
    CALL,
    PROMPT,
    START,
    TOLD_AT_START,
    Choice,
    Delivery,
    deliver,
    note,
)
from brim.rules.fitting import Budget, vocabulary_of
from brim.rules.rule import WrittenRule
from brim.rules.rulebook import Rulebook
from brim.rules.session import Session
from brim.rules.situation import Situation, commands_in
from brim.rules.tiers import Tier
from brim.rules.when import (
    BRANCH,
    ENVIRONMENT,
    LANGUAGE,
    PATH,
    RUN,
    TASK,
    TEST_FILES,
    Case,
    Clause,
    Condition,
)

NO_ROOM = "when a prompt or call shares a word with it: it doesn't fit at the start"
AT_START = "at the start of every session"
_MOMENTS = {
    PATH: "with files like {}",
    LANGUAGE: "with {} files",
    RUN: "before {}",
    BRANCH: "on the branch {}",
    ENVIRONMENT: "in {}",
    TASK: "when a prompt names {}",
}


@dataclass(frozen=True)
class RuleOutlook(PlainData):
    """What a session is told at its start, and then with one prompt or call."""

    start: Delivery
    now: Delivery | None = None
    """None if nothing happens but the start."""
    news: tuple[str, ...] = ()
    """Mistakes in the files, and what waits for consent."""

    @property
    def text(self) -> str:
        """The text that the agent gets now."""
        if self.now is None:
            return self.start.text
        return self.now.text

    @property
    def total_tokens(self) -> int:
        """What that text takes."""
        if self.now is None:
            return self.start.total_tokens
        return self.now.total_tokens

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Every rule with what becomes of it, those that are told first."""
        if self.now is None:
            return _told_first(self.start.choices)
        told_ids = {choice.id for choice in self.start.included}
        choices = []
        for choice in self.now.choices:
            was_told = choice.reason == ALREADY_TOLD and choice.id in told_ids
            choices.append(replace(choice, reason=TOLD_AT_START) if was_told else choice)
        return _told_first(choices)

    def choice(self, rule: WrittenRule) -> Choice | None:
        """Return what becomes of *rule*; None if it isn't in force here."""
        for choice in self.choices:
            if choice.id == rule.digest:
                return choice
        return None

    def is_told_at_start(self, rule: WrittenRule) -> bool:
        """Whether every session begins with the whole *rule*."""
        for choice in self.start.included:
            if choice.id == rule.digest:
                return choice.tier is Tier.FULL
        return False


@dataclass(frozen=True)
class DeliveryLimits(PlainData):
    """The settings that limit what is told."""

    start: int | None
    moment: int | None
    session: int | None
    per_injection: int | None
    backoff: int
    characters: int | None
    model: str | None = None

    @classmethod
    def of(cls, config: Config) -> DeliveryLimits:
        """Return those of the user's settings: a project's file doesn't change them."""
        own = config.yours
        return cls(
            start=own["token_budget.default"],
            moment=own["token_budget.dynamic_context"],
            session=own["session.max_tokens"],
            per_injection=own["session.max_per_injection"],
            backoff=own["session.backoff"],
            characters=own["injection.max_chars"],
            model=own["model"],
        )


def outlook(
    index: RuleIndex,
    limits: DeliveryLimits,
    situation: Situation | None = None,
    *,
    index_now: RuleIndex | None = None,
) -> RuleOutlook:
    """Return what a new session would be told, and then in *situation*; *index_now* also has the
    rules of the folders that this touches."""
    session = Session(limits.session, limits.per_injection, limits.backoff)
    encoding, ratio = vocabulary_of(limits.model)
    budget = Budget(limits.start, limits.characters, encoding=encoding, ratio=ratio)
    start = deliver(index, START, Situation(), session, budget, explain=True)
    if situation is None:
        return RuleOutlook(start)
    note(start, START, session)
    moment = PROMPT
    if situation.paths or situation.command:
        moment = CALL
    session.next_prompt()
    budget = replace(budget, tokens=limits.moment)
    now = deliver(index_now or index, moment, situation, session, budget, explain=True)
    return RuleOutlook(start, now)


def outlook_here(
    book: Rulebook, limits: DeliveryLimits, situation: Situation | None
) -> RuleOutlook:
    """Return what a new session would be told in the project of *book*, and then in *situation*."""
    index = book.open_index()
    index_now = None
    if situation is not None:
        index_now = book.open_index(situation.all_paths)
    forecast = outlook(index, limits, situation, index_now=index_now)
    return replace(forecast, news=tuple((index_now or index).news))


def situation_for(
    *, prompt: str = "", paths: tuple[str, ...] = (), command: str = "", branch: str = ""
) -> Situation | None:
    """Return what happens; None if nothing does, as at the start of a session."""
    if not (prompt or paths or command):
        return None
    commands: tuple[tuple[str, ...], ...] = ()
    if command:
        commands = commands_in(command)
    return Situation(prompt, paths, command, commands, branch=branch)


def _told_first(choices: tuple[Choice, ...] | list[Choice]) -> tuple[Choice, ...]:
    included = [choice for choice in choices if choice.tier is not Tier.OMITTED]
    at_start: list[Choice] = []
    waiting: list[Choice] = []
    for choice in choices:
        if choice.tier is Tier.OMITTED:
            (at_start if choice.reason == TOLD_AT_START else waiting).append(choice)
    return (*included, *at_start, *waiting)


# In words -----------------------------------------------------------------------------------------


def told_words(condition: Condition, *, at_start: bool) -> str:
    """Say when a rule with *condition* is told, if it is told *at_start* or not."""
    if at_start:
        if condition:
            return f"{AT_START} while all rules fit, else {moment_words(condition)}"
        return AT_START
    if condition:
        return moment_words(condition)
    return NO_ROOM


def moment_words(condition: Condition) -> str:
    """Return *condition* as a moment.

    >>> from brim.rules.when import read_condition
    >>> moment_words(read_condition(["*.rs", "run git push"]))
    'with files like *.rs, or before git push'
    """
    return ", or ".join([_case_words(case) for case in condition.cases])


def _case_words(case: Case) -> str:
    return " and ".join([_clause_words(clause) for clause in case])


def _clause_words(clause: Clause) -> str:
    if clause.values == TEST_FILES:
        return "with test files"
    return _MOMENTS[clause.key].format(" or ".join(clause.values))
