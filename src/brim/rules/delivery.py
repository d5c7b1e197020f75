"""What is an agent told now, and why? One function decides, for hooks and for ``brim rules why``.

At the start of a session everything is told if it fits; otherwise the rules without a *when*,
musts first, then older. With a prompt or a tool call come the rules whose *when* it meets, then
rules that share a word with it. If these leave room, rules under the same headings follow, and with
a prompt all that is left, if it fits. No score decides whether a rule's *when* is met; scores only
order the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from brim.record import PlainData
from brim.rules.compiled import RuleIndex
from brim.rules.fitting import Budget, LineSize, fitted
from brim.rules.session import Session
from brim.rules.situation import Situation
from brim.rules.source import USER
from brim.rules.spreading import STEPS, Link, Spreading
from brim.rules.stored import (
    MOST_CANDIDATES,
    StoredRule,
    StoredRules,
)
from brim.rules.tiers import INTRODUCTION, Tier, left_out
from brim.rules.when import LANGUAGE, PATH, TEST_FILES, Case, case_words

START = "start"
"""A session begins, or its window was cleared or compacted."""
LATE_START = "late start"
"""The first prompt after a start at which not all rules could be read."""
PROMPT = "prompt"
CALL = "call"
SUBAGENT = "subagent"

AT_START_MUST = 0.8
AT_START = 0.7
BY_WHEN_MUST = 1.0
BY_WHEN = 0.9
BY_WORDS = 0.7
NEIGHBOUR = 0.69
SUMMARY_FROM = 0.3
NAME_FROM = 0.1

MOST_AT_ONCE = 60
"""Rules that a prompt or call may bring. The budget of 500 tokens holds fewer."""

FEWEST_TOKENS = 4
"""What the shortest line takes."""

TOLD_AT_START = "told at start"
ALREADY_TOLD = "already told"
DID_NOT_FIT = "didn't fit"
NO_WORD = "waits: nothing here is about it"
SAME_HEADING = "now: stands under the same heading"
EVERYTHING_LEFT = "now: all that is left fits"
RELATED = "now: related to a rule that is told"
OVERRIDDEN = "weakened by a rule that is told"


@dataclass(frozen=True)
class Choice(PlainData):
    """One rule and what becomes of it now."""

    rule: StoredRule
    tier: Tier
    activation: float
    reason: str

    @property
    def id(self) -> str:
        """What a session knows the rule by."""
        return self.rule.id


@dataclass(frozen=True)
class Delivery(PlainData):
    """What is told now: the choices in their order, the text, and what it takes."""

    choices: tuple[Choice, ...]
    text: str
    total_tokens: int
    waiting: int
    """Rules that were neither told before nor now."""

    @property
    def included(self) -> tuple[Choice, ...]:
        """The choices that are in the text."""
        return tuple(_included(self.choices))


def deliver(
    index: RuleIndex,
    moment: str,
    situation: Situation,
    session: Session,
    budget: Budget,
    *,
    explain: bool = False,
) -> Delivery:
    """Return what is told at *moment*. Nothing is noted in *session*: see ``note``.

    With *explain* every other rule is among the choices too, with the reason why it isn't told.
    """
    rules = StoredRules(index)
    beyond = 0
    is_start = moment in (START, LATE_START)
    if is_start:
        told_before = session if moment == LATE_START else Session()
        choices, beyond = _at_start(rules, budget, told_before)
    elif moment == SUBAGENT:
        choices = _chosen(rules.musts(), AT_START_MUST, AT_START, TOLD_AT_START)
    else:
        limit = None if explain or budget.tokens is None else MOST_AT_ONCE
        choices, beyond = _now(rules, moment, situation, session, limit)
    if not is_start:
        budget = replace(budget, tokens=session.budget(budget.tokens))
    choices = _with_neighbours(rules, choices, session)
    choices = _fit(choices, budget, beyond)
    if moment in (PROMPT, CALL) and not _uncounted(choices, beyond):
        choices = _with_spare_room(rules, moment, choices, session, budget)
    text, tokens = _worded(choices, beyond, budget)
    told_ids = {choice.id for choice in _included(choices)}
    if not is_start:
        told_ids.update(session.shown)
    waiting = max(0, rules.count - len(told_ids))
    if explain:
        choices += _untold(rules, choices, None if is_start else session)
    return Delivery(tuple(choices), text, tokens, waiting)


def note(delivery: Delivery, moment: str, session: Session) -> None:
    """Note in *session* what was told. What is told at the start isn't charged."""
    if moment in (START, LATE_START):
        session.record(delivery)
    elif delivery.text:
        session.charge(delivery)


# Which rules --------------------------------------------------------------------------------------


def _at_start(rules: StoredRules, budget: Budget, session: Session) -> tuple[list[Choice], int]:
    """Return what to tell at the start, and how many rules wait for their moment."""
    if rules.count > MOST_CANDIDATES and not _may_fit(rules, budget):
        standing = [rule for rule in rules.standing() if not _is_told(rule.id, session)]
        choices = _chosen(standing, AT_START_MUST, AT_START, TOLD_AT_START)
        return choices, rules.count - len(standing)
    every_rule = [rule for rule in rules.all() if not _is_told(rule.id, session)]
    choices = _chosen(every_rule, AT_START_MUST, AT_START, TOLD_AT_START)
    size = LineSize()
    for rule in every_rule:
        size = size.plus(LineSize.of(rule, Tier.FULL, budget))
    if budget.holds(size, 0):
        return choices, 0
    standing = [rule for rule in every_rule if not rule.waits]
    waiting = [_waits(rule) for rule in every_rule if rule.waits]
    choices = _chosen(standing, AT_START_MUST, AT_START, TOLD_AT_START)
    return choices + waiting, len(waiting)


def _may_fit(rules: StoredRules, budget: Budget) -> bool:
    """Whether so many rules could fit, by their sum in the index."""
    sums = rules.totals[1]
    return budget.tokens is None or budget.tokens_of(sums[budget.encoding_number]) <= budget.tokens


def _chosen(rules: Iterable[StoredRule], must: float, should: float, reason: str) -> list[Choice]:
    choices = []
    for rule in rules:
        choices.append(Choice(rule, Tier.FULL, must if rule.must else should, reason))
    return choices


def _waits(rule: StoredRule) -> Choice:
    return Choice(rule, Tier.OMITTED, 0.0, f"waits for: {rule.condition}")


def _now(
    rules: StoredRules, moment: str, situation: Situation, session: Session, limit: int | None
) -> tuple[list[Choice], int]:
    """Return the rules that a prompt or call is about, and how many there are beyond *limit*: first
    by when, then by words."""
    matches = rules.sharing_words(situation)
    meeting_scores: dict[int, float] = {}
    meeting_ids: set[str] = set()
    for number, id in rules.meeting(situation).items():
        if session.allows(id, Tier.FULL):
            meeting_scores[number] = matches.scores.get(number, 0.0)
            meeting_ids.add(id)
    told_ids = {id for id in session.shown if _is_told(id, session)}
    numbers = rules.ranked(meeting_scores)
    numbers += rules.ranked(
        matches.scores, without=meeting_ids | told_ids, with_waiting=moment != CALL
    )
    by_number = rules.numbered(numbers[:limit])
    choices = []
    reasons: dict[str, str] = {}
    for number in numbers[:limit]:
        rule = by_number.get(number)
        if rule is None:
            continue  # another file has the same rule
        if rule.id in meeting_ids:
            when = rule.written_condition
            if when not in reasons:  # many rules have the same one
                reasons[when] = _reason_met(rule, situation)
            activation = BY_WHEN_MUST if rule.must else BY_WHEN
            choices.append(Choice(rule, Tier.FULL, activation, reasons[when]))
        else:
            reason = f'now: shares "{matches.stems[number]}"'
            choices.append(Choice(rule, Tier.FULL, BY_WORDS, reason))
    return choices, len(numbers) - len(numbers[:limit])


def _reason_met(rule: StoredRule, situation: Situation) -> str:
    case = rule.condition.case_met(situation)
    if case:
        return f"now: {_case_reason(case)}"
    return TOLD_AT_START


def _is_told(id: str, session: Session) -> bool:
    """Whether the whole text of a rule is in this window."""
    record = session.shown.get(id)
    return record is not None and record.best is Tier.FULL


def _case_reason(case: Case) -> str:
    first = case[0]
    if first.values == TEST_FILES:
        return case_words(case)
    if first.key == PATH:
        return f"file {case_words(case)}"
    if first.key != LANGUAGE:
        return case_words(case)
    return f"language {case_words(case)}"


def _with_neighbours(rules: StoredRules, choices: list[Choice], session: Session) -> list[Choice]:
    """Return *choices* with what spreads along their edges: related rules as a summary or name, and
    rules that another one overrides with less detail."""
    seeds: dict[str, float] = {}
    numbers: list[int] = []
    own_names: set[str] = set()
    for choice in choices:
        if choice.activation:
            seeds[choice.rule.name] = choice.activation
            numbers.append(choice.rule.number)
        if choice.rule.source == USER:
            own_names.add(choice.rule.name)
    links = [link for link in rules.links(numbers) if _may_count(link, own_names)]
    if not links:
        return choices
    values = _spread(seeds, links)
    weakened = [_weakened(choice, values) for choice in choices]
    return weakened + _related(rules, choices, values, session)


def _spread(seeds: dict[str, float], links: list[Link]) -> dict[str, float]:
    """Return the values of *seeds* and of what their *links* lead to. A neighbour alone never
    reaches a whole text."""
    spreading = Spreading(seeds, links)
    for _ in range(STEPS):
        spreading.step()
    values = {}
    for name, value in spreading.values.items():
        values[name] = value if name in seeds else min(NEIGHBOUR, value)
    return values


def _weakened(choice: Choice, values: dict[str, float]) -> Choice:
    """Return *choice* with less detail if another rule overrides it."""
    value = values.get(choice.rule.name, choice.activation)
    if value >= choice.activation:
        return choice
    return Choice(choice.rule, _tier(value, choice.rule), value, OVERRIDDEN)


def _related(
    rules: StoredRules, choices: list[Choice], values: dict[str, float], session: Session
) -> list[Choice]:
    """Return the rules that only the edges of others lead to."""
    ids = {choice.id for choice in choices}
    ids.update(session.shown)
    names = set(values).difference([choice.rule.name for choice in choices])
    related: list[Choice] = []
    for rule in rules.named(names):
        tier = _tier(values[rule.name], rule)
        if rule.id not in ids and tier is not Tier.OMITTED:
            related.append(Choice(rule, tier, values[rule.name], RELATED))
    return related


def _may_count(link: Link, own_names: set[str]) -> bool:
    """Whether *link* may have an effect: a project's file can't weaken a rule of the user."""
    if not link.takes or link.owner == USER:
        return True
    return link.target not in own_names and link.source not in own_names


# What has room beside them -----------------------------------------------------------------------


class SpareRoom:
    """What a budget holds beside the choices that fit into it."""

    def __init__(self, choices: list[Choice], session: Session, budget: Budget) -> None:
        self.choices = list(choices)
        self._session = session
        self._budget = budget
        self._ids = {choice.id for choice in choices}
        self._size = LineSize()
        for choice in _included(choices):
            self._size = self._size.plus(LineSize.of(choice.rule, choice.tier, budget))

    def add(self, rules: Iterable[StoredRule], reason: str) -> None:
        """Add those of *rules* that weren't told yet, if all of them fit."""
        new_rules = [rule for rule in rules if self._is_new(rule)]
        size = self._size
        for rule in new_rules:
            size = size.plus(LineSize.of(rule, Tier.FULL, self._budget))
        if new_rules and self._budget.holds(size, 0):
            self.choices += _chosen(new_rules, BY_WORDS, BY_WORDS, reason)
            self._ids.update([rule.id for rule in new_rules])
            self._size = size

    def _is_new(self, rule: StoredRule) -> bool:
        return rule.id not in self._ids and not _is_told(rule.id, self._session)


def _with_spare_room(
    rules: StoredRules, moment: str, choices: list[Choice], session: Session, budget: Budget
) -> list[Choice]:
    """Return *choices*, which fit, and what has room beside them: rules under the same headings,
    and with a prompt all rules without a when that weren't told yet, if they fit together."""
    budget = replace(budget, tokens=_spare_tokens(session, budget.tokens))
    numbers = [choice.rule.number for choice in _included(choices)]
    weakened_names = _names_weakened_by(rules, choices, numbers)
    room = SpareRoom(choices, session, budget)
    for rule in rules.under_headings_of(numbers):
        if rule.name not in weakened_names:
            room.add([rule], SAME_HEADING)
    untold_count = rules.count - len(session.shown)
    may_fit = budget.tokens is None or untold_count * FEWEST_TOKENS <= budget.tokens
    if moment == PROMPT and may_fit:
        left = [rule for rule in rules.standing() if rule.name not in weakened_names]
        room.add(left, EVERYTHING_LEFT)
    return room.choices


def _names_weakened_by(rules: StoredRules, choices: list[Choice], numbers: list[int]) -> set[str]:
    """Return the names of the rules that edges of the rules *numbers* weaken."""
    names = {choice.rule.name for choice in _included(choices)}
    weakened_names: set[str] = set()
    for link in rules.links(numbers):
        if link.takes and link.source in names:
            weakened_names.add(link.target)
        if link.kind == "conflicts" and link.target in names:
            weakened_names.add(link.source)
    return weakened_names


def _spare_tokens(session: Session, tokens: int | None) -> int | None:
    """Return what may be told beside the rules that a moment is about: half of the session's total
    is kept for such rules."""
    if session.remaining is None or session.max_tokens is None:
        return tokens
    spare = max(0, session.remaining - session.max_tokens // 2)
    if tokens is None:
        return spare
    return min(tokens, spare)


def _tier(activation: float, rule: StoredRule) -> Tier:
    if activation >= BY_WORDS:
        return Tier.FULL
    if activation >= SUMMARY_FROM or rule.protected:
        return Tier.SUMMARY
    if activation >= NAME_FROM:
        return Tier.NAME_ONLY
    return Tier.OMITTED


# The text -----------------------------------------------------------------------------------------


def _fit(choices: list[Choice], budget: Budget, beyond: int) -> list[Choice]:
    """Return *choices* at the tiers at which they fit into *budget*."""
    wanted = _included(choices)
    tiers = fitted([(choice.rule, choice.tier) for choice in wanted], budget, beyond)
    tier_by_id = {choice.id: tier for choice, tier in zip(wanted, tiers, strict=True)}
    changed = []
    for choice in choices:
        tier = tier_by_id.get(choice.id, Tier.OMITTED)
        reason = choice.reason
        if tier is Tier.OMITTED and choice.tier is not Tier.OMITTED:
            reason = DID_NOT_FIT
        changed.append(Choice(choice.rule, tier, choice.activation, reason))
    return changed


def _worded(choices: list[Choice], beyond: int, budget: Budget) -> tuple[str, int]:
    """Return the text of *choices*, musts first, and its tokens. Its last line counts those that
    didn't fit, and rules *beyond* them."""
    uncounted = _uncounted(choices, beyond)
    included = sorted(_included(choices), key=lambda choice: not choice.rule.must)
    if not included:
        return "", 0
    text = INTRODUCTION
    size = LineSize()
    for choice in included:
        text += choice.rule.text(choice.tier)
        size = size.plus(LineSize.of(choice.rule, choice.tier, budget))
    return text + left_out(uncounted), budget.total_tokens(size, uncounted)


def _uncounted(choices: list[Choice], beyond: int) -> int:
    """Return how many rules didn't fit, with those *beyond* the choices."""
    return beyond + sum([choice.reason == DID_NOT_FIT for choice in choices])


def _included(choices: Iterable[Choice]) -> list[Choice]:
    """Return those of *choices* that are told."""
    return [choice for choice in choices if choice.tier is not Tier.OMITTED]


def _untold(rules: StoredRules, choices: list[Choice], session: Session | None) -> list[Choice]:
    """Return every rule that isn't among *choices*, with the reason why it isn't told now."""
    ids = {choice.id for choice in choices}
    untold = []
    for rule in rules.all():
        if rule.id in ids:
            continue
        reason = NO_WORD
        if session is not None and _is_told(rule.id, session):
            reason = ALREADY_TOLD
        elif rule.waits:
            reason = f"waits for: {rule.condition}"
        untold.append(Choice(rule, Tier.OMITTED, 0.0, reason))
    return untold
