"""The page Rules: what is taught, how it fares, what waits for review, and what an agent would
hear."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from brim.activation.context import Context
from brim.behaviors.behavior import BehaviorKind, EdgeKind, Rule, Status
from brim.behaviors.learning import propose
from brim.behaviors.sentences import heard
from brim.behaviors.yaml_form import FIELDS, as_yaml, from_yaml
from brim.errors import InputError
from brim.install.installation import as_agent
from brim.rules.blocks import EDIT, RUN, TOOL, checked_blocks, too_much
from brim.rules.plan import InjectionPlan
from brim.store.loaded import agents_planner
from brim.store.planner import START_KEY, constraints_left_out
from brim.store.rulebook import (
    accept_correction,
    decide_notes,
    duplicate_pairs,
    edit_rule,
    merge_pairs,
    named,
    remove_rules,
    restore_rules,
    teach,
    unmarked_conflicts,
)
from brim.store.scopes import Scopes
from brim.store.statistics import RuleOutcome, all_tier_tokens, outcomes
from brim.store.suggestions import Suggestion, Suggestions
from brim.ui.place import Place, page
from brim.workspace import Workspace

LARGEST_BUDGET = 4_000
"""Where the slider ends, unless the setting is higher."""
MOST_PAIRS = 50
MOST_EVENTS = 20


@dataclass(frozen=True)
class Row:
    """One rule of the table."""

    rule: Rule
    outcome: RuleOutcome
    tokens: dict[str, int]


@dataclass(frozen=True)
class Planned:
    """What an agent would hear: the plan, as ``brim rules why`` makes it, and why each rule is in
    or out."""

    plan: InjectionPlan
    why: Mapping[str, str]
    """Why each rule is in or out, by its id."""
    waiting: list[Rule]
    left_out: int
    """Constraints that don't fit."""
    read: int
    """Rules that are left out because the agent reads them in its own files."""


def planned(place: Place, form: Mapping[str, str]) -> Planned:
    """Return the plan for a situation: a prompt, a file, a command, a number of tokens.

    It's made for the agent that brim is installed for, as its hooks make it.
    """
    tokens = form.get("tokens", "")
    if tokens and not tokens.isdecimal():
        raise InputError(f"a budget is a whole number of tokens, not {tokens[:40]!r}")
    workspace, agent = as_agent(lambda flags: place.workspace(flags=flags))
    budget = workspace.config.yours[START_KEY]
    if tokens:
        budget = int(tokens)
    context = _context(workspace, form)
    begins = not any(form.get(name, "").strip() for name in ("file", "prompt", "command"))
    with workspace.open() as scopes:
        planner, read = agents_planner(
            scopes,
            workspace.config,
            context,
            agent,
            workspace.cwd,
            begins=begins,
            now=workspace.now,
        )
        plan = planner.plan(budget)
        reasons = {item.id: planner.why(item) for item in plan.items}
        waiting: list[Rule] = []
        if begins:
            waiting = planner.waiting()
    return Planned(plan, reasons, waiting, len(constraints_left_out(plan)), len(read))


def _context(workspace: Workspace, form: Mapping[str, str]) -> Context:
    files = None
    if form.get("file", "").strip():
        files = [form["file"].strip()]
    return Context(
        file=files,
        prompt=form.get("prompt", "").strip(),
        command=form.get("command", "").strip(),
        **workspace.surroundings,
    )


def plan(place: Place, request: Request) -> Response:
    """Return what an agent would hear, as a part of the page."""
    return page("plan.html", place, found=planned(place, request.query_params))


def rules(place: Place, request: Request) -> Response:
    """Show the page."""
    workspace = place.workspace()
    with workspace.open() as scopes:
        stored = sorted(scopes.behaviors(), key=lambda rule: (rule.name.casefold(), rule.id))
        outcome_of = outcomes(scopes, stored)
        live = [rule for rule in stored if rule.live]
        tokens = all_tier_tokens(scopes, live, workspace.config)
        conflicts = _conflicts(scopes, live)
        pairs = duplicate_pairs(scopes)
    budget = workspace.config.yours[START_KEY] or 0
    return page(
        "rules.html",
        place,
        here="rules",
        said=request.query_params.get("said", ""),
        rows=[Row(rule, outcome_of[rule.id], tokens[rule.id]) for rule in live],
        away=[rule for rule in stored if not rule.live],
        notes=[rule for rule in live if rule.status is Status.PENDING],
        corrections=Suggestions(workspace.home).waiting(workspace.project),
        conflicts=conflicts[:MOST_PAIRS],
        pairs=pairs[:MOST_PAIRS],
        found=planned(place, {}),
        budget=budget,
        most=max(LARGEST_BUDGET, budget),
        project=workspace.project,
        trusted=workspace.trusted,
    )


def _conflicts(scopes: Scopes, live: list[Rule]) -> list[tuple[Rule, Rule]]:
    """Return pairs of rules that contradict each other."""
    pairs = [(newer, conflict.other) for newer, conflict in unmarked_conflicts(scopes)]
    rules = {rule.id: rule for rule in live}
    for edge in scopes.all_edges():
        if edge.kind is EdgeKind.CONFLICTS and edge.source in rules and edge.target in rules:
            pairs.append((rules[edge.source], rules[edge.target]))
    return pairs


def rule(place: Place, request: Request) -> Response:
    """Show one rule, and what can be done with it."""
    workspace = place.workspace()
    with workspace.open() as scopes:
        rule = scopes.find(request.path_params["id"])
        tokens = all_tier_tokens(scopes, [rule], workspace.config)[rule.id]
        row = Row(rule, outcomes(scopes, [rule])[rule.id], tokens)
        events = scopes.store(rule.scope).events(behavior=rule.id, limit=MOST_EVENTS)
    return page(
        "rule.html",
        place,
        here="rules",
        row=row,
        events=events[::-1],
        form=as_yaml(rule),
        kinds=list(BehaviorKind),
    )


# What a person does -------------------------------------------------------------------------------


def _blocks(form: dict[str, str]) -> tuple[str, ...]:
    """Return what a form wants refused; ``InputError`` if that is nearly everything and the person
    didn't say so."""
    kind = form.get("kind", RUN)
    pattern = form.get("pattern", "").strip()
    if kind not in (RUN, EDIT, TOOL) or not pattern:
        raise InputError(
            "say what to refuse: a command such as npm install, a path such as dist/**,"
            " or a tool's name"
        )
    blocks = checked_blocks([f"{kind} {pattern}"])
    refusal = too_much(blocks[0])
    if refusal and not form.get("sure"):
        raise InputError(
            f"this would refuse {refusal}: tick the box if you mean that; nothing was changed"
        )
    return blocks


def change_rule(place: Place, form: dict[str, str]) -> str:
    """Edit, replace, remove, restore or merge a rule, or make it refuse something."""
    workspace = place.workspace()
    action = form.get("action", "")
    if action not in _ACTIONS:
        raise InputError(f"nothing can be done with a rule by {action[:40]!r}")
    with workspace.open() as scopes, scopes.writing():
        rule = scopes.find(form.get("rule", ""))
        return _ACTIONS[action](scopes, rule, form, workspace.now)


def _remove(scopes: Scopes, rule: Rule, form: dict[str, str], now: float) -> str:
    remove_rules(scopes, [rule], now=now, reason=form.get("reason", ""))
    return f"Removed {rule.name}. You find it under “Put away”."


def _restore(scopes: Scopes, rule: Rule, _: dict[str, str], now: float) -> str:
    restored, _unchanged = restore_rules(scopes, [rule], now=now)
    if restored and not restored[0].live:
        return f"{rule.name} is back, {restored[0].status}."
    return f"{rule.name} is back."


def _merge(scopes: Scopes, rule: Rule, form: dict[str, str], now: float) -> str:
    other = scopes.find(form.get("other", ""))
    ids = {rule.id, other.id}
    pairs = [pair for pair in duplicate_pairs(scopes) if {pair.one.id, pair.other.id} == ids]
    merged = merge_pairs(scopes, pairs, now=now)
    if not merged:
        raise InputError(
            f"{named(rule)} and {named(other)} don't say the same any more: nothing was changed"
        )
    return f"Merged {merged[0].superseded.name} into {merged[0].kept.name}."


def _replace(scopes: Scopes, rule: Rule, form: dict[str, str], now: float) -> str:
    proposal = propose(_text(form), scope=rule.scope, now=now)
    taught = teach(scopes, proposal, replaces=[rule], now=now)
    return f"{taught.learned.behavior.name} takes the place of {rule.name}."


def _block(scopes: Scopes, rule: Rule, form: dict[str, str], now: float) -> str:
    blocks = checked_blocks([*rule.blocks, *_blocks(form)])
    return _change(scopes, rule, {"blocks": blocks}, now)


def _edit(scopes: Scopes, rule: Rule, form: dict[str, str], now: float) -> str:
    new = from_yaml(form.get("text", ""), rule, "the rule")
    new_blocks = [block for block in new.blocks if block not in rule.blocks]
    if any(map(too_much, new_blocks)) and not form.get("sure"):
        raise InputError("this would refuse nearly everything: tick the box if you mean that")
    values = {field: getattr(new, field) for field in FIELDS}
    changes = {key: value for key, value in values.items() if value != getattr(rule, key)}
    return _change(scopes, rule, changes, now)


def _change(scopes: Scopes, rule: Rule, changes: Mapping[str, object], now: float) -> str:
    if not changes:
        return f"{rule.name} is as it was."
    edit_rule(scopes, rule, changes, now=now)
    return f"Changed {rule.name}: {', '.join(changes)}."


_ACTIONS: dict[str, Callable[[Scopes, Rule, dict[str, str], float], str]] = {
    "remove": _remove,
    "restore": _restore,
    "merge": _merge,
    "replace": _replace,
    "block": _block,
    "edit": _edit,
}


def _text(form: dict[str, str]) -> str:
    if not form.get("text", "").strip():
        raise InputError("say the rule in a sentence, such as: Use pnpm, not npm")
    return form["text"]


def learn(place: Place, form: dict[str, str]) -> str:
    """Teach a rule."""
    return _teach(place.workspace(), form)


def review(place: Place, form: dict[str, str]) -> str:
    """Accept or dismiss a correction that brim noticed, or a note of an agent."""
    workspace = place.workspace()
    if form.get("action") not in ("accept", "dismiss"):
        raise InputError("accept it or dismiss it")
    accept = form["action"] == "accept"
    if form.get("rule"):
        return _decide_note(workspace, form["rule"], accept=accept)
    number = 0
    if form.get("number", "").isdecimal():
        number = int(form["number"])
    corrections = Suggestions(workspace.home)
    correction = corrections.find(number)
    if accept:
        return _teach(workspace, form, correction)
    corrections.take(correction.number)
    return "Dismissed."


def _decide_note(workspace: Workspace, rule_id: str, *, accept: bool) -> str:
    with workspace.open() as scopes, scopes.writing():
        decided = decide_notes(scopes, [scopes.find(rule_id)], accept=accept, now=workspace.now)
    verb = "Dismissed"
    if accept:
        verb = "Accepted"
    return f"{verb} {decided[0].name}."


def _teach(workspace: Workspace, form: dict[str, str], correction: Suggestion | None = None) -> str:
    """Teach the rule in *form*, or make a rule of *correction*; return what to say about it."""
    text = _text(form)
    scope = "project"
    if form.get("everywhere") or workspace.project is None:
        scope = "user"
    else:
        workspace.begin_project()
    with workspace.open() as scopes:
        if correction is not None:
            corrections = Suggestions(workspace.home)
            taught = accept_correction(
                scopes, corrections, correction.number, text, scope, now=workspace.now
            )
        else:
            with scopes.writing(scope):
                proposal = propose(text, scope=scope, now=workspace.now)
                taught = teach(scopes, proposal, now=workspace.now)
    rule = taught.learned.behavior
    return f"Saved as {rule.name}. Agents hear it {heard(rule)}."
