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
from brim.rules.plan import InjectionPlan
from brim.rules.text import render, summary_of
from brim.store.planner import START_KEY, Planner
from brim.store.rulebook import RuleFilter, note_down
from brim.store.scopes import Scopes
from brim.tokens.counters import counter_for
from brim.workspace import Workspace

Given = ParamSpec("Given")
Found = TypeVar("Found")
Call = Callable[Concatenate[Workspace, Given], Found]


def without_broken_project(read: Call[Given, Found]) -> Call[Given, Found]:
    """Let *read* go on without a project that can't be read: the user's own rules are told."""
    return _guarded(read, tries_again=True)


def hiding_project_text(call: Call[Given, Found]) -> Call[Given, Found]:
    """Let *call* say that a project can't be read, but not why: the project's own words would be in
    it."""
    return _guarded(call, tries_again=False)


def _guarded(call: Call[Given, Found], *, tries_again: bool) -> Call[Given, Found]:
    @wraps(call)
    def calling(workspace: Workspace, /, *given: Given.args, **named: Given.kwargs) -> Found:
        try:
            return call(workspace, *given, **named)
        except StoreError as error:
            passing = error.reason in ("busy", "full", "read-only")
            if (
                passing
                or workspace.usable_project is None
                or str(error).startswith(workspace.database)
            ):
                raise
            if not tries_again:
                path = workspace.databases[-1]
                raise StoreError(
                    f"{path}: can't be read: ask the user to run 'brim doctor'", error.reason
                ) from None
            workspace.problems["project"] = str(error)
        return call(workspace, *given, **named)

    return calling


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

    >>> files_in("Fix src/app.py and the Dockerfile, see https://example.com/a.py and version 3.11.")
    ['src/app.py', 'Dockerfile']
    """
    found: dict[str, None] = {}
    for word in _WORD.findall(text[:LOOKED_AT]):
        name = word.rstrip(".:!")
        folder, _, last = name.rpartition("/")
        if name and "://" not in name and (language_of(name) or (folder and "." in last[1:-1])):
            found[name] = None
    return list(found)[:MOST_FILES]


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
        summary = summary if len(summary) <= LONGEST_SUMMARY else f"{summary[:LONGEST_SUMMARY]}…"
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
        return _told(scopes, workspace, _planner(scopes, workspace, situation, task))


@without_broken_project
def active_answer(workspace: Workspace, situation: str = "", task: str = "") -> str:
    """Return what matters.

    Where there is nothing to tell, say whether nothing matters or nothing fits.
    """
    with workspace.open(create=True) as scopes:
        planner = _planner(scopes, workspace, situation, task)
        if text := _told(scopes, workspace, planner):
            return text
        matter = len(planner.plan(None, limited=False).included)
    if not matter:
        return NOTHING
    return f"Rules that matter here: {matter:,}, but the limits leave no room: ask the user to raise {START_KEY}"


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
        alone, plan = (
            planner.plan(None, limited=False),
            planner.plan(workspace.config.yours[START_KEY]),
        )
    lines = [f"{behavior.name}: {account.outcome}", f"  tier: {_tier_in(alone, behavior.id)}"]
    budget = (
        "without a limit" if plan.token_budget is None else f"within {plan.token_budget:,} tokens"
    )
    return "\n".join([*lines, f"  {budget}: {_tier_in(plan, behavior.id)}"])


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
    head += f"when: {behavior.when}\n" if behavior.when else ""
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


def _told(scopes: Scopes, workspace: Workspace, planner: Planner) -> str:
    """Return the text, with the pointer if something is cut and the pointer fits, counted as the
    plan was."""
    config = workspace.config.yours
    plan = planner.plan(config[START_KEY])
    text = render(plan)
    cut = [
        item.behavior
        for item in plan.summarized
        if summary_of(item.behavior) != item.behavior.canonical.strip()
    ]
    cut += [item.behavior for item in plan.name_only]
    if all(behavior.status is Status.PENDING for behavior in cut):
        # Of an unconfirmed note there is no more to read.
        return text
    longer = text + POINTER
    calibrations = scopes.user.calibrations if scopes.user is not None else None
    counter = counter_for(config["model"], mode=local_mode(config), calibrations=calibrations)
    fits = plan.token_budget is None or int(counter.count(longer)) <= plan.token_budget
    return longer if fits and (plan.max_chars is None or len(longer) <= plan.max_chars) else text


def _tier_in(plan: InjectionPlan, id: str) -> str:
    item = next((item for item in plan.items if item.id == id), None)
    return "omitted: it is not activated" if item is None else f"{item.tier}: {item.reason}"


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
    rule, result = learned.behavior, "; ".join(learned.changes)
    if rule.status is Status.PENDING:
        result += f"; unconfirmed until the user runs 'brim rules review accept {rule.id}'"
    return Note(rule.id, rule.name, rule.kind.value, rule.status.value, result)


def _check_length(name: str, text: str, remedy: str) -> None:
    if len(text) > LONGEST:
        raise InputError(f"{name} has {len(text):,} characters, more than {LONGEST:,}: {remedy}")
