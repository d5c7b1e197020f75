"""Rules for an agent: what applies now, what there is, why; and what an agent may note about
them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar

from brim.config.places import branch_of
from brim.errors import InputError, StoreError
from brim.mcp.measures import local_mode
from brim.rules.compiled import RuleIndex
from brim.rules.languages import language_of
from brim.rules.library import plan_now
from brim.rules.outlook import DeliveryLimits, outlook
from brim.rules.plan import InjectionPlan, Item
from brim.rules.rulebook import check_text, name_for
from brim.rules.situation import Situation
from brim.rules.source import NATIVE
from brim.rules.stored import StoredRule, StoredRules
from brim.rules.text import render, summary_of
from brim.rules.tiers import Tier
from brim.tokens.counters import counter_for
from brim.tokens.protocol import TokenCounter
from brim.workspace import Workspace

START_KEY = "token_budget.default"

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Call = Callable[Concatenate[Workspace, Arguments], Result]


def hiding_project_text(call: Call[Arguments, Result]) -> Call[Arguments, Result]:
    """Let *call* say that a project can't be read, but not why: the project's own words would be in
    it."""

    @wraps(call)
    def calling(
        workspace: Workspace, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        try:
            return call(workspace, *args, **kwargs)
        except StoreError as error:
            if not _is_of_project(error, workspace):
                raise
            path = os.path.join(workspace.usable_project or "", ".brim")
            problem = "can't be read: ask the user to run 'brim doctor'"
            raise StoreError(f"{path}: {problem}", error.reason) from None

    return calling


def _is_of_project(error: StoreError, workspace: Workspace) -> bool:
    """Whether *error* is about the project's own file, and won't pass."""
    if error.reason in ("busy", "full", "read-only") or workspace.usable_project is None:
        return False
    return not str(error).startswith(workspace.home)


LOOKED_AT = 10_000
"""Characters of a text that are looked at: more says nothing new about what is being done."""

MOST_FILES = 20

_WORD = re.compile(r"[^\s\"'`(),;<>|=*?\[\]{}]+")


def situation_in(workspace: Workspace, text: str = "", task: str = "") -> Situation:
    """Return the situation that *text* tells of."""
    current_branch = ""
    if workspace.usable_project is not None:
        current_branch = branch_of(workspace.usable_project)
    prompt = f"{text[:LOOKED_AT]}\n{task.strip()[:200]}".strip()
    return Situation(prompt, tuple(files_in(text)), branch=current_branch)


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

NOTHING = "No rule matters here."
LONGEST_SUMMARY = 300
"""Characters of a summary in a list: a rule without a place to cut is its own summary."""


@dataclass(frozen=True)
class RuleAnswer:
    """One line of a list."""

    name: str
    kind: str
    scope: str
    summary: str

    @classmethod
    def of(cls, rule: StoredRule) -> Self:
        """Return the line of *rule*."""
        summary = " ".join(rule.text(Tier.SUMMARY).removeprefix("- ").split())
        if len(summary) > LONGEST_SUMMARY:
            summary = f"{summary[:LONGEST_SUMMARY]}…"
        return cls(rule.name, rule.kind, rule.source, summary)


@dataclass(frozen=True)
class Rules:
    """What there is: ``total`` match, and the first of them are here."""

    rules: list[RuleAnswer]
    total: int


def active_text(workspace: Workspace, situation: str = "", task: str = "") -> str:
    """Return what matters, within ``token_budget.default``, everything in the text included; empty
    if nothing does."""
    return _planned_text(workspace, situation, task)[0]


def active_answer(workspace: Workspace, situation: str = "", task: str = "") -> str:
    """Return what matters.

    Where there is nothing to tell, say whether nothing matters or nothing fits.
    """
    text, plan = _planned_text(workspace, situation, task)
    if text:
        return text
    if not plan.items:
        return NOTHING
    remedy = f"the limits leave no room: ask the user to raise {START_KEY}"
    return f"Rules that matter here: {len(plan.items):,}, but {remedy}"


def _planned_text(workspace: Workspace, situation: str, task: str) -> tuple[str, InjectionPlan]:
    """Return the text, with the pointer if something is cut and the pointer fits, and its plan."""
    config = workspace.config.yours
    counter = counter_for(config["model"], mode=local_mode(config))
    plan = plan_now(
        workspace.rulebook.open_index(),
        situation_in(workspace, situation, task),
        budget=config[START_KEY],
        max_chars=config["injection.max_chars"],
        counter=counter,
    )
    text = render(plan)
    is_cut = any(_has_longer_text(item) for item in (*plan.summarized, *plan.name_only))
    if is_cut and _fits(text + POINTER, plan, counter):
        text += POINTER
    return text, plan


def _fits(text: str, plan: InjectionPlan, counter: TokenCounter) -> bool:
    if plan.max_chars is not None and len(text) > plan.max_chars:
        return False
    return plan.token_budget is None or int(counter.count(text)) <= plan.token_budget


def _has_longer_text(item: Item) -> bool:
    """Whether there is more to read of a rule than its summary or its name."""
    return item.tier is Tier.NAME_ONLY or summary_of(item.behavior) != item.behavior.canonical


def list_rules(workspace: Workspace, query: str = "", limit: int = 50) -> Rules:
    """Return the rules in force that *query* is a part of: of the name or the text."""
    index = workspace.rulebook.open_index()
    wanted = query.strip().casefold()
    texts = index.texts()
    rules = []
    for rule in _rules_in_force(index):
        if wanted in f"{rule.name} {texts[rule.number]}".casefold():
            rules.append(rule)
    rules.sort(key=lambda rule: rule.name.casefold())
    answers = [RuleAnswer.of(rule) for rule in rules[: max(0, limit)]]
    return Rules(answers, len(rules))


def why_text(workspace: Workspace, id: str, situation: str = "") -> str:
    """Return whether one rule is told in *situation*, and why."""
    index = workspace.rulebook.open_index()
    rule = found_rule(index, id)
    happening = None
    if situation.strip():
        happening = situation_in(workspace, situation)
    forecast = outlook(index, DeliveryLimits.of(workspace.config), happening)
    for choice in forecast.choices:
        if choice.id == rule.id:
            return f"{rule.name}: {choice.reason}"
    return f"{rule.name}: it isn't told here"


def expanded_text(workspace: Workspace, id: str) -> str:
    """Return one rule whole."""
    index = workspace.rulebook.open_index()
    rule = found_rule(index, id)
    text = f"{rule.name} [{rule.kind}] ({rule.source})\n"
    if rule.condition:
        text += f"when: {rule.condition}\n"
    return f"{text}\n{index.texts()[rule.number]}\n"


def found_rule(index: RuleIndex, id: str) -> StoredRule:
    """Return the rule that *id* means: a name, or the beginning of one."""
    wanted = id.strip().casefold()
    if not wanted:
        raise InputError("the name is empty: give one; the tool 'list' has them")
    matches = []
    for rule in _rules_in_force(index):
        if rule.name.casefold() == wanted:
            return rule
        if rule.name.casefold().startswith(wanted):
            matches.append(rule)
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join([rule.name for rule in matches[:5]])
        raise InputError(f"{id!r} could be {names}: give the whole name")
    raise InputError(f"no rule is called {id[:80]!r}: the tool 'list' has their names")


def _rules_in_force(index: RuleIndex) -> list[StoredRule]:
    return [rule for rule in StoredRules(index).all() if rule.source != NATIVE]


# Notes --------------------------------------------------------------------------------------------

LONGEST = 4_000
"""Characters of a note. A rule is short; a document is not learned by accident."""


@dataclass(frozen=True)
class Note:
    """What became of a note."""

    name: str
    result: str
    """What was done, and what a person may do next."""


def learn_note(
    workspace: Workspace, right: str, wrong: str = "", *, agent: str = "", session: str = ""
) -> Note:
    """Put *right* into the inbox. It's a rule once the user accepts it."""
    check_text(right)
    _check_length("right", right)
    _check_length("wrong", wrong)
    name = workspace.rulebook.inbox.add(
        name_for(right),
        right.strip(),
        instead_of=" ".join(wrong.split()),
        agent=agent or "an agent",
        session=session,
        project=workspace.project or "",
    )
    return Note(name, "noted; it's a rule once the user accepts it: brim rules review")


def _check_length(name: str, text: str) -> None:
    if len(text) > LONGEST:
        raise InputError(
            f"{name} has {len(text):,} characters, more than {LONGEST:,}:"
            " say the rule in a sentence"
        )
