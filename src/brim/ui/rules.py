"""The page Rules: what is taught, how it fares, what waits for review, and what an agent would
hear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from brim.activation.context import Context
from brim.behaviors.behavior import Behavior, BehaviorKind, EdgeKind, Status
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


@dataclass(frozen=True)
class Row:
    """One rule of the table."""

    rule: Behavior
    outcome: RuleOutcome
    tokens: dict[str, int]


@dataclass(frozen=True)
class Planned:
    """What an agent would hear: the plan, as ``brim rules why`` makes it, and why each rule is in
    or out."""

    plan: InjectionPlan
    why: Mapping[str, str]
    """Why each rule is in or out, by its id."""
    waiting: list[Behavior]
    left_out: int
    """Constraints that don't fit."""
    read: int
    """Rules that are left out because the agent reads them in its own files."""


def planned(place: Place, given: Mapping[str, str]) -> Planned:
    """Return the plan for the situation that *given* says: a prompt, a file, a command, a number of
    tokens.

    It's made for the agent that brim is installed for, as its hooks make it.
    """
    tokens = given.get("tokens", "")
    if tokens and not tokens.isdecimal():
        raise InputError(f"a budget is a whole number of tokens, not {tokens[:40]!r}")
    workspace, agent = as_agent(lambda flags: place.workspace(flags=flags))
    budget = int(tokens) if tokens else workspace.config.yours[START_KEY]
    file, prompt, command = (given.get(name, "").strip() for name in ("file", "prompt", "command"))
    context = Context(
        file=[file] if file else None, prompt=prompt, command=command, **workspace.surroundings
    )
    begins, config = not (file or prompt or command), workspace.config
    with workspace.open() as scopes:
        planner, read = agents_planner(
            scopes, config, context, agent, workspace.cwd, begins=begins, now=workspace.now
        )
        plan = planner.plan(budget)
        why = {item.id: planner.why(item) for item in plan.items}
        waiting = planner.waiting() if begins else []
    return Planned(plan, why, waiting, len(constraints_left_out(plan)), len(read))


def plan(place: Place, request: Request) -> Response:
    """Return what an agent would hear, as a part of the page."""
    return page("plan.html", place, found=planned(place, request.query_params))


def rules(place: Place, request: Request) -> Response:
    """Show the page."""
    workspace = place.workspace()
    with workspace.open() as scopes:
        every = sorted(scopes.behaviors(), key=lambda each: (each.name.casefold(), each.id))
        came = outcomes(scopes, every)
        live = [each for each in every if each.live]
        tokens = all_tier_tokens(scopes, live, workspace.config)
        conflicts = [(newer, each.other) for newer, each in unmarked_conflicts(scopes)]
        by_id = {each.id: each for each in live}
        for edge in scopes.all_edges():
            if edge.kind is EdgeKind.CONFLICTS and edge.source in by_id and edge.target in by_id:
                conflicts.append((by_id[edge.source], by_id[edge.target]))
        pairs = duplicate_pairs(scopes)
    budget = workspace.config.yours[START_KEY] or 0
    return page(
        "rules.html",
        place,
        here="rules",
        said=request.query_params.get("said", ""),
        rows=[Row(each, came[each.id], tokens[each.id]) for each in live],
        away=[each for each in every if not each.live],
        notes=[each for each in live if each.status is Status.PENDING],
        corrections=Suggestions(workspace.home).waiting(workspace.project),
        conflicts=conflicts[:MOST_PAIRS],
        pairs=pairs[:MOST_PAIRS],
        found=planned(place, {}),
        budget=budget,
        most=max(LARGEST_BUDGET, budget),
        project=workspace.project,
        trusted=workspace.trusted,
    )


def rule(place: Place, request: Request) -> Response:
    """Show one rule, and what can be done with it."""
    workspace = place.workspace()
    with workspace.open() as scopes:
        found = scopes.find(request.path_params["id"])
        tokens = all_tier_tokens(scopes, [found], workspace.config)[found.id]
        row = Row(found, outcomes(scopes, [found])[found.id], tokens)
        events = scopes.store(found.scope).events(behavior=found.id, limit=20)
    return page(
        "rule.html",
        place,
        here="rules",
        row=row,
        events=events[::-1],
        form=as_yaml(found),
        kinds=list(BehaviorKind),
    )


# What a person does -------------------------------------------------------------------------------


def _blocks(form: dict[str, str]) -> tuple[str, ...]:
    """Return what a form wants refused; ``InputError`` if that is nearly everything and the person
    didn't say so."""
    kind, pattern = form.get("kind", RUN), form.get("pattern", "").strip()
    if kind not in (RUN, EDIT, TOOL) or not pattern:
        raise InputError(
            "say what to refuse: a command such as npm install, a path such as dist/**, or a tool's name"
        )
    found = checked_blocks([f"{kind} {pattern}"])
    if (much := too_much(found[0])) and not form.get("sure"):
        raise InputError(
            f"this would refuse {much}: tick the box if you mean that; nothing was changed"
        )
    return found


def change_rule(place: Place, form: dict[str, str]) -> str:
    """Edit, replace, remove, restore or merge a rule, or make it refuse something."""
    workspace, action = place.workspace(), form.get("action", "")
    with workspace.open() as scopes, scopes.writing():
        rule = scopes.find(form.get("rule", ""))
        if action == "remove":
            remove_rules(scopes, [rule], now=workspace.now, reason=form.get("reason", ""))
            return f"Removed {rule.name}. You find it under “Put away”."
        if action == "restore":
            back, _ = restore_rules(scopes, [rule], now=workspace.now)
            return (
                f"{rule.name} is back{f', {back[0].status}' if back and not back[0].live else ''}."
            )
        if action == "merge":
            return _merge(scopes, workspace, rule, scopes.find(form.get("other", "")))
        if action == "replace":
            said = {"right": _text(form), "wrong": ""}
            taught = teach(scopes, said, rule.scope, replaces=[rule], now=workspace.now)
            return f"{taught.learned.behavior.name} takes the place of {rule.name}."
        if action == "block":
            changes: dict[str, object] = {"blocks": checked_blocks([*rule.blocks, *_blocks(form)])}
        elif action == "edit":
            new = from_yaml(form.get("text", ""), rule, "the rule")
            changes = {
                field: getattr(new, field)
                for field in FIELDS
                if getattr(new, field) != getattr(rule, field)
            }
            if any(
                too_much(each) for each in new.blocks if each not in rule.blocks
            ) and not form.get("sure"):
                raise InputError(
                    "this would refuse nearly everything: tick the box if you mean that"
                )
        else:
            raise InputError(f"nothing can be done with a rule by {action[:40]!r}")
        if changes:
            edit_rule(scopes, rule, changes, now=workspace.now)
        return (
            f"Changed {rule.name}: {', '.join(changes)}."
            if changes
            else f"{rule.name} is as it was."
        )


def _merge(scopes: Scopes, workspace: Workspace, rule: Behavior, other: Behavior) -> str:
    chosen = [
        pair
        for pair in duplicate_pairs(scopes)
        if {pair.one.id, pair.other.id} == {rule.id, other.id}
    ]
    done = merge_pairs(scopes, chosen, now=workspace.now)
    if not done:
        raise InputError(
            f"{named(rule)} and {named(other)} don't say the same any more: nothing was changed"
        )
    return f"Merged {done[0].superseded.name} into {done[0].kept.name}."


def _text(form: dict[str, str]) -> str:
    if not form.get("text", "").strip():
        raise InputError("say the rule in a sentence, such as: Use pnpm, not npm")
    return form["text"]


def learn(place: Place, form: dict[str, str]) -> str:
    """Teach a rule."""
    return _teach(place.workspace(), form)


def review(place: Place, form: dict[str, str]) -> str:
    """Accept or dismiss a correction that brim noticed, or a note of an agent."""
    workspace, accept = place.workspace(), form.get("action") == "accept"
    if form.get("action") not in ("accept", "dismiss"):
        raise InputError("accept it or dismiss it")
    if rule_id := form.get("rule"):
        with workspace.open() as scopes, scopes.writing():
            decided = decide_notes(scopes, [scopes.find(rule_id)], accept=accept, now=workspace.now)
        return f"{'Accepted' if accept else 'Dismissed'} {decided[0].name}."
    number = form.get("number", "")
    corrections = Suggestions(workspace.home)
    found = corrections.find(int(number) if number.isdecimal() else 0)
    if not accept:
        corrections.take(found.number)
        return "Dismissed."
    return _teach(workspace, form, found)


def _teach(workspace: Workspace, form: dict[str, str], correction: Suggestion | None = None) -> str:
    """Teach the rule in *form*, or make a rule of *correction*; return what to say about it."""
    scope, text = (
        "user" if form.get("everywhere") or workspace.project is None else "project",
        _text(form),
    )
    if scope == "project":
        workspace.begin_project()
    with workspace.open() as scopes:
        if correction is not None:
            corrections = Suggestions(workspace.home)
            taught = accept_correction(
                scopes, corrections, correction.number, text, scope, now=workspace.now
            )
        else:
            with scopes.writing(scope):
                taught = teach(scopes, {"right": text, "wrong": ""}, scope, now=workspace.now)
    rule = taught.learned.behavior
    return f"Saved as {rule.name}. Agents hear it {heard(rule)}."
