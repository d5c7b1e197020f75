"""What was learned, told to an agent: what matters now, what there is, why, and one rule whole."""

from __future__ import annotations

from dataclasses import dataclass

from brim.behaviors.behavior import LIVE, Status
from brim.errors import InputError
from brim.injection.lines import summary_of
from brim.injection.rendering import render
from brim.mcp.measuring import local_mode
from brim.mcp.situation import context_of
from brim.store.planner import START_KEY, Planner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior
    from brim.injection.plan import InjectionPlan
    from brim.mcp.here import Here
    from brim.store.scopes import Scopes

POINTER = "`brim://behaviors/expand/NAME` has one of these whole\n"
"""The last line where something was cut: how to get the rest."""

NOTHING = "Nothing that was learned matters here."
LONGEST = 300
"""Characters of a summary in a list: a rule without a place to cut is its own summary."""


@dataclass(frozen=True)
class Rule:
    """One line of a list."""

    id: str
    name: str
    kind: str
    status: str
    scope: str
    summary: str


@dataclass(frozen=True)
class Rules:
    """What there is: ``total`` match, and the first of them are here."""

    rules: list[Rule]
    total: int


def active_text(here: Here, situation: str = "", task: str = "") -> str:
    """Return what matters, within ``token_budget.default``, everything in the text included; empty if nothing does."""
    with here.open() as scopes:
        return _told(scopes, here, _planner(scopes, here, situation, task))


def active_answer(here: Here, situation: str = "", task: str = "") -> str:
    """Return what matters; where there is nothing to tell, say whether nothing matters or nothing fits."""
    with here.open() as scopes:
        planner = _planner(scopes, here, situation, task)
        if text := _told(scopes, here, planner):
            return text
        matter = len(planner.plan(None, limited=False).included)
    if not matter:
        return NOTHING
    return f"Rules that matter here: {matter:,}, but the limits leave no room: ask the user to raise {START_KEY}"


def list_rules(here: Here, query: str = "", limit: int = 50) -> Rules:
    """Return the live rules that *query* is a part of: of the id, the name, a tag or the text."""
    with here.open() as scopes:
        found = [each for each in scopes.behaviors(LIVE) if _matches(each, query.strip().casefold())]
    found.sort(key=lambda each: (each.name.casefold(), each.id))
    return Rules([_rule(each) for each in found[: max(0, limit)]], len(found))


def why_text(here: Here, id: str, situation: str = "") -> str:
    """Return the account of one rule: its conditions, what came over which edge, and the tier that it gets."""
    from brim.activation.why import explain

    with here.open() as scopes:
        behavior = found_rule(scopes, id)
        if not behavior.live:
            return f"{behavior.name} ({behavior.id}): out: it is {behavior.status}"
        planner = _planner(scopes, here, situation)
        account = explain(scopes, planner.context, behavior.id, now=here.now, parameters=planner.parameters)
        others = {flow.giver for step in account.steps for flow in step.flows}
        names = {each.id: each.name for each in scopes.get_many({behavior.id, *others}).values()}
        alone, plan = planner.plan(None, limited=False), planner.plan(here.config[START_KEY])
    lines = [account.text(names), f"  tier: {_tier_in(alone, behavior.id)}"]
    budget = "without a limit" if plan.token_budget is None else f"within {plan.token_budget:,} tokens"
    return "\n".join([*lines, f"  {budget}: {_tier_in(plan, behavior.id)}"])


def expanded_text(here: Here, id: str) -> str:
    """Return one rule whole. An unconfirmed note is told by its summary only, as everywhere, until it is accepted."""
    with here.open() as scopes:
        behavior = found_rule(scopes, id)
    if not behavior.live:
        raise InputError(f"{behavior.name} ({behavior.id}) is {behavior.status}, so it is not told")
    tags = "".join(f" #{tag}" for tag in behavior.tags)
    head = f"{behavior.name} [{behavior.kind.value}]{tags} ({behavior.id}, {behavior.scope})\n"
    head += f"when: {behavior.when}\n" if behavior.when else ""
    if behavior.status is Status.PENDING:
        until = f"Unconfirmed note of an agent; its summary, until the user runs 'brim review accept {behavior.id}':"
        return f"{head}\n{until}\n{summary_of(behavior)}\n"
    return f"{head}\n{behavior.canonical}\n"


def found_rule(scopes: Scopes, id: str) -> Behavior:
    """Return the rule that *id* means: an id, a name, or the beginning of either."""
    if not id.strip():
        raise InputError("the id is empty: give an id or a name; the tool 'list' has them")
    return scopes.find(id.strip())


def _planner(scopes: Scopes, here: Here, situation: str, task: str = "") -> Planner:
    context = context_of(here, situation, task)
    return Planner(scopes, here.config, context, now=here.now, mode=local_mode(here.config))


def _told(scopes: Scopes, here: Here, planner: Planner) -> str:
    plan = planner.plan(here.config[START_KEY])
    if plan.over_budget:
        problem = f"{'; '.join(plan.reasons)}: ask the user to raise {START_KEY}\n"
        return problem if _fits(problem, scopes, here, plan) else ""
    text = render(plan)
    return text + POINTER if _holds_back(plan) and _fits(text + POINTER, scopes, here, plan) else text


def _fits(text: str, scopes: Scopes, here: Here, plan: InjectionPlan) -> bool:
    """Whether *text* keeps to every limit of *plan*, counted as the plan was."""
    from brim.tokens.counters import counter_for

    if plan.max_chars is not None and len(text) > plan.max_chars:
        return False
    calibrations = scopes.user.calibrations if scopes.user is not None else None
    counter = counter_for(here.config["model"], mode=local_mode(here.config), calibrations=calibrations)
    return plan.token_budget is None or int(counter.count(text)) <= plan.token_budget


def _holds_back(plan: InjectionPlan) -> bool:
    """Whether there is more to read of something; of an unconfirmed note there is not."""
    cut = [item.behavior for item in plan.summarized if summary_of(item.behavior) != item.behavior.canonical.strip()]
    behaviors = [*cut, *(item.behavior for item in plan.name_only)]
    return any(behavior.status is not Status.PENDING for behavior in behaviors)


def _tier_in(plan: InjectionPlan, id: str) -> str:
    item = next((item for item in plan.items if item.id == id), None)
    return "omitted: it is not activated" if item is None else f"{item.tier}: {item.reason}"


def _rule(behavior: Behavior) -> Rule:
    summary = " ".join(summary_of(behavior).split())
    return Rule(
        behavior.id,
        behavior.name,
        behavior.kind.value,
        behavior.status.value,
        behavior.scope,
        summary if len(summary) <= LONGEST else f"{summary[:LONGEST]}…",
    )


def _matches(behavior: Behavior, query: str) -> bool:
    texts = (behavior.id, behavior.name, *behavior.tags, behavior.summary, behavior.canonical)
    return not query or any(query in text.casefold() for text in texts)
