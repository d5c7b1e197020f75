"""Rules for an agent: what applies now, what there is, why; and what an agent may note about
them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar

from brim.activation.context import Context
from brim.activation.explanation import explain
from brim.behaviors.behavior import LIVE, Rule, Status
from brim.behaviors.learning import propose
from brim.errors import InputError, StoreError
from brim.mcp.measures import local_mode
from brim.rules.languages import language_of
from brim.rules.plan import InjectionPlan, Item
from brim.rules.text import render, summary_of
from brim.rules.tiers import Tier
from brim.store.planner import START_KEY, Planner
from brim.store.rulebook import RuleFilter, note_down
from brim.store.scopes import Scopes
from brim.tokens.counters import counter_for
from brim.workspace import Workspace

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Call = Callable[Concatenate[Workspace, Arguments], Result]


def without_broken_project(read: Call[Arguments, Result]) -> Call[Arguments, Result]:
    """Let *read* go on without a project that can't be read: the user's own rules are told."""
    return _guarded(read, tries_again=True)


def hiding_project_text(call: Call[Arguments, Result]) -> Call[Arguments, Result]:
    """Let *call* say that a project can't be read, but not why: the project's own words would be in
    it."""
    return _guarded(call, tries_again=False)


def _guarded(call: Call[Arguments, Result], *, tries_again: bool) -> Call[Arguments, Result]:
    @wraps(call)
    def calling(
        workspace: Workspace, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        try:
            return call(workspace, *args, **kwargs)
        except StoreError as error:
            if not _is_of_project(error, workspace):
                raise
            if not tries_again:
                path = workspace.databases[-1]
                raise StoreError(
                    f"{path}: can't be read: ask the user to run 'brim doctor'", error.reason
                ) from None
            workspace.problems["project"] = str(error)
        return call(workspace, *args, **kwargs)

    return calling


def _is_of_project(error: StoreError, workspace: Workspace) -> bool:
    """Whether *error* is about the project's own file, and won't pass."""
    if error.reason in ("busy", "full", "read-only") or workspace.usable_project is None:
        return False
    return not str(error).startswith(workspace.database)


LOOKED_AT = 10_000
"""Characters of a text that are looked at: more says nothing new about what is being done."""

MOST_FILES = 20

_WORD = re.compile(r"[^\s\"'`(),;<>|=*?\[\]{}]+")


def context_of(workspace: Workspace, text: str = "", task: str = "") -> Context:
    """Return the situation that *text* tells of, with what can be told by looking around."""
    text = text[:LOOKED_AT]
    return Context(
        file=files_in(text), task=task.strip()[:200] or None, prompt=text, **workspace.surroundings
    )


def files_in(text: str) -> list[str]:
    """Return the words of *text* that name files: those with an ending that is known, or a path
    with any ending.

    >>> files_in("Fix src/app.py and the Dockerfile, see https://example.com/a.py and 3.11.")
    ['src/app.py', 'Dockerfile']
    """
    files: list[str] = []
    for word in _WORD.findall(text[:LOOKED_AT]):
        name = word.rstrip(".:!")
        if _is_file(name) and name not in files:
            files.append(name)
            if len(files) == MOST_FILES:
                break
    return files


def _is_file(name: str) -> bool:
    """Whether a word is the name of a file."""
    if not name or "://" in name:
        return False
    if language_of(name):
        return True
    folder, _, base = name.rpartition("/")
    return bool(folder) and "." in base[1:-1]


# Rules in force -----------------------------------------------------------------------------------

POINTER = "`brim://behaviors/expand/NAME` has one of these whole\n"
"""The last line where something was cut: how to get the rest."""

NOTHING = "Nothing that was learned matters here."
LONGEST_SUMMARY = 300
"""Characters of a summary in a list: a rule without a place to cut is its own summary."""


@dataclass(frozen=True)
class RuleAnswer:
    """One line of a list."""

    id: str
    name: str
    kind: str
    status: str
    scope: str
    summary: str

    @classmethod
    def of(cls, rule: Rule) -> Self:
        """Return the line of *rule*."""
        summary = " ".join(summary_of(rule).split())
        if len(summary) > LONGEST_SUMMARY:
            summary = f"{summary[:LONGEST_SUMMARY]}…"
        return cls(rule.id, rule.name, rule.kind.value, rule.status.value, rule.scope, summary)


@dataclass(frozen=True)
class Rules:
    """What there is: ``total`` match, and the first of them are here."""

    rules: list[RuleAnswer]
    total: int


@without_broken_project
def active_text(workspace: Workspace, situation: str = "", task: str = "") -> str:
    """Return what matters, within ``token_budget.default``, everything in the text included; empty
    if nothing does."""
    with workspace.open(create=True) as scopes:
        planner = _planner(scopes, workspace, situation, task)
        return _planned_text(scopes, workspace, planner)


@without_broken_project
def active_answer(workspace: Workspace, situation: str = "", task: str = "") -> str:
    """Return what matters.

    Where there is nothing to tell, say whether nothing matters or nothing fits.
    """
    with workspace.open(create=True) as scopes:
        planner = _planner(scopes, workspace, situation, task)
        text = _planned_text(scopes, workspace, planner)
        if text:
            return text
        rules = len(planner.plan(None, limited=False).included)
    if not rules:
        return NOTHING
    remedy = f"the limits leave no room: ask the user to raise {START_KEY}"
    return f"Rules that matter here: {rules:,}, but {remedy}"


@hiding_project_text
def list_rules(workspace: Workspace, query: str = "", limit: int = 50) -> Rules:
    """Return the live rules that *query* is a part of: of the id, the name, a tag or the text."""

    wanted = RuleFilter((query.strip(),))
    with workspace.open(create=True) as scopes:
        rules = [rule for rule in scopes.behaviors(LIVE) if wanted.matches(rule)]
    rules.sort(key=lambda rule: (rule.name.casefold(), rule.id))
    return Rules([RuleAnswer.of(rule) for rule in rules[: max(0, limit)]], len(rules))


@without_broken_project
def why_text(workspace: Workspace, id: str, situation: str = "") -> str:
    """Return why one rule applies or does not, and the tier that it gets."""

    with workspace.open(create=True) as scopes:
        behavior = found_rule(scopes, id)
        if not behavior.live:
            return f"{behavior.name} ({behavior.id}): out: it is {behavior.status}"
        planner = _planner(scopes, workspace, situation)
        account = explain(
            scopes, planner.context, behavior.id, now=workspace.now, course=planner.course
        )
        unlimited_plan = planner.plan(None, limited=False)
        plan = planner.plan(workspace.config.yours[START_KEY])
    budget = "without a limit"
    if plan.token_budget is not None:
        budget = f"within {plan.token_budget:,} tokens"
    lines = [
        f"{behavior.name}: {account.outcome}",
        f"  tier: {_tier_in(unlimited_plan, behavior.id)}",
        f"  {budget}: {_tier_in(plan, behavior.id)}",
    ]
    return "\n".join(lines)


@without_broken_project
def expanded_text(workspace: Workspace, id: str) -> str:
    """Return one rule whole.

    An unconfirmed note is told by its summary only, as everywhere, until it is accepted.
    """
    with workspace.open(create=True) as scopes:
        behavior = found_rule(scopes, id)
    if not behavior.live:
        raise InputError(f"{behavior.name} ({behavior.id}) is {behavior.status}, so it is not told")
    tags = "".join(f" #{tag}" for tag in behavior.tags)
    head = f"{behavior.name} [{behavior.kind.value}]{tags} ({behavior.id}, {behavior.scope})\n"
    if behavior.when:
        head += f"when: {behavior.when}\n"
    if behavior.status is Status.PENDING:
        until = f"until the user runs 'brim rules review accept {behavior.id}'"
        return (
            f"{head}\nUnconfirmed note of an agent; its summary, {until}:\n{summary_of(behavior)}\n"
        )
    return f"{head}\n{behavior.canonical}\n"


def found_rule(scopes: Scopes, id: str) -> Rule:
    """Return the rule that *id* means: an id, a name, or the beginning of either."""
    if not id.strip():
        raise InputError("the id is empty: give an id or a name; the tool 'list' has them")
    return scopes.find(id.strip())


def _planner(scopes: Scopes, workspace: Workspace, situation: str, task: str = "") -> Planner:
    context = context_of(workspace, situation, task)
    return Planner(
        scopes,
        workspace.config,
        context,
        now=workspace.now,
        mode=local_mode(workspace.config.yours),
    )


def _planned_text(scopes: Scopes, workspace: Workspace, planner: Planner) -> str:
    """Return the text, with the pointer if something is cut and the pointer fits, counted as the
    plan was."""
    config = workspace.config.yours
    plan = planner.plan(config[START_KEY])
    text = render(plan)
    if not any(map(_has_longer_text, [*plan.summarized, *plan.name_only])):
        return text
    longer = text + POINTER
    if plan.max_chars is not None and len(longer) > plan.max_chars:
        return text
    if plan.token_budget is None:
        return longer
    calibrations = None
    if scopes.user is not None:
        calibrations = scopes.user.calibrations
    counter = counter_for(config["model"], mode=local_mode(config), calibrations=calibrations)
    if int(counter.count(longer)) > plan.token_budget:
        return text
    return longer


def _has_longer_text(item: Item) -> bool:
    """Whether there is more to read of a rule than its summary or its name."""
    rule = item.behavior
    if rule.status is Status.PENDING:  # agents hear only the summary of an unconfirmed note
        return False
    return item.tier is Tier.NAME_ONLY or summary_of(rule) != rule.canonical.strip()


def _tier_in(plan: InjectionPlan, id: str) -> str:
    for item in plan.items:
        if item.id == id:
            return f"{item.tier}: {item.reason}"
    return "omitted: it is not activated"


# Notes and verdicts -------------------------------------------------------------------------------

LONGEST = 4_000
"""Characters of a note. A rule is short; a document is not learned by accident."""


@dataclass(frozen=True)
class Note:
    """What became of a note."""

    id: str
    name: str
    kind: str
    status: str
    result: str
    """What was done, and what a person may do next."""


@hiding_project_text
def learn_note(
    workspace: Workspace, right: str, wrong: str = "", situation: str = "", *, session: str = ""
) -> Note:
    """Keep *right* as a pending note of the project. What a person has taught stays as it is."""
    workspace.need_trust()
    _check_length("right", right, "say the rule in a sentence")
    _check_length("wrong", wrong, "say the rule in a sentence")
    file = next(iter(files_in(situation)), "")
    proposal = propose(
        right, wrong=wrong, file=file, source="agent", session=session, now=workspace.now
    )
    with workspace.open(create=True) as scopes, scopes.writing("project"):
        learned = note_down(scopes, proposal, now=workspace.now)
    rule = learned.behavior
    result = "; ".join(learned.changes)
    if rule.status is Status.PENDING:
        result += f"; unconfirmed until the user runs 'brim rules review accept {rule.id}'"
    return Note(rule.id, rule.name, rule.kind.value, rule.status.value, result)


def _check_length(name: str, text: str, remedy: str) -> None:
    if len(text) > LONGEST:
        raise InputError(f"{name} has {len(text):,} characters, more than {LONGEST:,}: {remedy}")
