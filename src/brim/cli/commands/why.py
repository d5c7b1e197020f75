"""``brim rules why``, ``prompt`` and ``activate``: what an agent would be told here, and why."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from brim.activation.context import Context
from brim.activation.explanation import explain
from brim.behaviors.behavior import Behavior
from brim.behaviors.jsonl import as_object
from brim.behaviors.sentences import heard
from brim.cli.commands.rules import whole_rule
from brim.cli.options import (
    NOTHING_YET,
    add_json,
    add_model,
    add_situation,
    command,
    here,
    option,
    planning_flags,
    rule,
    situation_of,
    tell_trust,
    token_budget,
)
from brim.cli.output import (
    basis_of,
    counted,
    emit,
    heading,
    kind_of,
    lines,
    listed,
    note,
    paint,
    printable,
    say_json,
    symbols,
    table,
    wrapped,
)
from brim.errors import BrimError, InputError
from brim.install.agents import NAMES
from brim.install.installation import as_agent
from brim.rules.plan import InjectionPlan, Item
from brim.rules.session import Session
from brim.rules.text import render, summary_of
from brim.store.events import note_injection
from brim.store.loaded import agents_planner
from brim.store.planner import (
    BEGINNINGS,
    DYNAMIC_KEY,
    START_KEY,
    Planner,
    constraints_left_out,
    session_planner,
    tell_session,
)
from brim.store.rulebook import find_rule, named
from brim.store.scopes import Scopes
from brim.tokens.counters import counter_for
from brim.workspace import Workspace

EVENTS = ("prompt", "tool", *BEGINNINGS, "resume")
SITUATION = ("file", "task", "language", "prompt", "command", "set")
"""The options that say what is done. A place alone is where a session begins."""
AGENTS_MODEL = "claude-sonnet-4-5"
"""The model that counts are shown for if neither a session nor a setting names one."""


@command(
    rule(optional=True),
    option("--text", action="store_true", help="print only the text that the agent gets"),
    option(
        "--agent",
        choices=tuple(NAMES),
        help="for which agent (default: the first that brim is installed for)",
    ),
    token_budget("tokens that it may take (default: the setting token_budget.default)"),
    add_model,
    add_situation,
    add_json,
)
def why(options: Namespace) -> int:
    """Show what an agent would be told here, and why.

    Without RULE, brim lists the rules that fit the budget, why, and in how much detail (full,
    summary, name-only, omitted). If you don't describe a situation, that's the start of a session;
    below are the rules that come later, and when. With RULE, brim shows everything about that rule,
    and why it applies or doesn't.

    As in hooks, rules that the agent reads itself, in CLAUDE.md and the like, are left out. Nothing
    is recorded.

    Exits with 1 if constraints don't fit.

    Examples:
      brim rules why --file src/app.py
      brim rules why pathlib --prompt 'run the tests'
    """
    if options.id is not None:
        return _why_rule(options)
    if options.text:
        flags = planning_flags(options, START_KEY)
        workspace, agent = as_agent(lambda more: here({**flags, **more}), options.agent or "")
        return _print_text(options, workspace, agent, floor="fit")
    return _plan(options)


def _plan(options: Namespace) -> int:
    flags = planning_flags(options, START_KEY)
    workspace, agent = as_agent(lambda more: here({**flags, **more}), options.agent or "")
    context = situation_of(options, workspace)
    begins = not any(getattr(options, name) for name in SITUATION)
    with workspace.open() as scopes:
        planner, read = _planner(options, workspace, scopes, context, agent)
        waiting = planner.waiting() if begins else []
        plan = planner.plan(workspace.config.yours[START_KEY])
        if options.as_json:
            later = [{"id": each.id, "name": each.name, "when": heard(each)} for each in waiting]
            found = {**planner.to_dict(plan), "waiting": later, "read": sorted(read)}
            say_json({"context": _situation_dict(context), **found})
        elif not plan.items:
            _tell_nothing(scopes, context)
            if waiting:
                print(waiting_view(waiting))
        else:
            own = (
                f"left out: {counted(len(read), 'rule')} that {NAMES[agent]} reads in its own files"
                if read
                else ""
            )
            ours = ""
            if not agent:  # what the text takes for the model of the newest session here, which is an estimate for most
                model = workspace.config.yours["model"] or _session_model(workspace) or AGENTS_MODEL
                calibrations = scopes.user.calibrations if scopes.user is not None else None
                count = counter_for(model, calibrations=calibrations).count(render(plan))
                ours = wrapped(f"{int(count):,} tokens for {model} ({basis_of(count)})")
            print(lines(plan_view(planner, plan), ours, own, waiting_view(waiting)))
    tell_trust(workspace)
    return 1 if constraints_left_out(plan) else 0


def _planner(
    options: Namespace, workspace: Workspace, scopes: Scopes, context: Context, agent: str
) -> tuple[Planner, set[str]]:
    """Return the planner for what *agent* is told here, and what is left out because it reads that
    itself."""
    begins = not any(getattr(options, name) for name in SITUATION)
    folder, now = workspace.cwd or "", workspace.now
    return agents_planner(scopes, workspace.config, context, agent, folder, begins=begins, now=now)


def _session_model(workspace: Workspace) -> str:
    from brim.cli.commands.status import session_of

    with suppress(BrimError):
        if found := session_of(workspace):
            return str(found["model"])
    return ""


def _why_rule(options: Namespace) -> int:
    flags = {START_KEY: options.token_budget}
    workspace, agent = as_agent(lambda more: here({**flags, **more}), options.agent or "")
    context = situation_of(options, workspace)
    with workspace.open() as scopes:
        try:
            behavior = find_rule(scopes, options.id)
        except InputError as error:
            hint = (
                "; 'brim rules why --prompt TEXT' shows what a prompt brings"
                if len(options.id.split()) > 1
                else ""
            )
            raise InputError(f"{error}{hint}") from None
        who = {field: as_object(behavior)[field] for field in ("id", "name", "kind", "status")}
        if behavior.live:
            planner, read = _planner(options, workspace, scopes, context, agent)
            by = NAMES[agent] if behavior.id in read else ""
            found, view = _explained(planner, scopes, workspace, context, behavior, read_by=by)
        else:
            outcome = _put_away(scopes, behavior)
            found = {
                "value": 0.0,
                "outcome": outcome,
                "tier": "omitted",
                "reason": outcome,
                "planned": None,
            }
            view = printable(f"{named(behavior)}: {outcome}")
    whole, about = whole_rule(workspace, behavior.id)
    result = {**who, "context": _situation_dict(context), **found, "rule": whole}
    emit(result, f"{about}\n\n{paint('why', 'faint')}\n{view}", options.as_json)
    if behavior.scope == "project":
        tell_trust(workspace)
    return 0


def _put_away(scopes: Scopes, behavior: Behavior) -> str:
    """Return why a rule that is not live takes part in nothing."""
    if behavior.superseded_by is not None:
        other = scopes.get(behavior.superseded_by)
        return f"out: it was superseded by {named(other) if other is not None else behavior.superseded_by}"
    back = (
        f"; 'brim rules restore {behavior.id}' brings it back"
        if behavior.status == "forgotten"
        else ""
    )
    return f"out: it is {behavior.status.value}{back}"


def _explained(
    planner: Planner,
    scopes: Scopes,
    workspace: Workspace,
    context: Context,
    behavior: Behavior,
    *,
    read_by: str,
) -> tuple[dict[str, Any], str]:
    """Return the account of one live rule, for JSON and for people; *read_by* is the agent that
    reads it itself."""
    account = explain(scopes, context, behavior.id, now=workspace.now, course=planner.course)
    alone, plan = planner.plan(None, limited=False), planner.plan(workspace.config.yours[START_KEY])
    mapped, item = _item(alone, behavior.id), _item(plan, behavior.id)
    as_json = {
        "value": account.value,
        "outcome": account.outcome,
        "tier": "omitted" if mapped is None else str(mapped.tier),
        "planned": None
        if item is None
        else {**planner.item_dict(item), "token_budget": plan.token_budget},
        "reason": account.outcome if mapped is None else mapped.reason,
        "read_by": read_by or None,
    }
    outcome = (
        f"{read_by} reads it in its own files" if read_by and mapped is None else account.outcome
    )
    told = [f"{named(behavior)}: {outcome}"]
    if mapped is not None:
        told.append(f"  tier     {mapped.tier}: {mapped.reason}")
    if item is not None and mapped is not None:
        within = "" if plan.token_budget is None else f" within {plan.token_budget:,} tokens"
        changed = "" if item.tier is mapped.tier else f": {item.reason}"
        told.append(f"  planned  {item.tier}{within}{changed}")
    return as_json, "\n".join(printable(line) for line in told)


def _item(plan: InjectionPlan, id: str) -> Item | None:
    return next((item for item in plan.items if item.id == id), None)


def _situation_dict(context: Context) -> dict[str, list[str]]:
    return {key: list(values) for key, values in context.facts.items()}


def _tell_nothing(scopes: Scopes, context: Context) -> None:
    nothing = scopes.user is None and scopes.project is None
    note(NOTHING_YET if nothing else f"no rule applies here ({context})")


@command(
    option("--tiered", action="store_true", help="by tiers: whole, as a summary, or by name"),
    token_budget(
        "tokens that it may take; 0 means no limit (default: the setting token_budget.default)"
    ),
    add_model,
    add_situation,
    add_json,
)
def prompt(options: Namespace) -> int:
    """Print the text that an agent should be told here.

    Nothing else goes to standard output. Everything that matters goes in whole, and the least
    important is left out until it fits. With --tiered it goes in as detail, summary or name, by how
    much it matters: 'brim rules why' shows which and why. Exits with 1 if it does not fit:
    constraints are never cut below a summary. Then the smallest possible text is printed, and
    standard error says by how much it is too long.

    Examples:
      brim dev prompt --file src/app.py > rules.md
      brim dev prompt --tiered --token-budget 800 --model gpt-4o
    """
    return _print_text(
        options,
        here(planning_flags(options, START_KEY)),
        "",
        floor="summary",
        whole=not options.tiered,
    )


def _print_text(
    options: Namespace, workspace: Workspace, agent: str, *, floor: str, whole: bool = False
) -> int:
    """Print what *agent* is told, and nothing else; *floor* and *whole* are those of the
    planner."""
    budget = workspace.config.yours[START_KEY]
    if budget == 0 and options.token_budget is not None:
        budget = None
    context = situation_of(options, workspace)
    with workspace.open() as scopes:
        planner, _ = _planner(options, workspace, scopes, context, agent)
        found = planner.plan(budget, whole=whole, floor=floor)
        text = render(found)
        if options.as_json:
            say_json({"text": text, "tokens": int(found.total_tokens), **planner.to_dict(found)})
        elif sys.stdout is not None:
            sys.stdout.write(text)
        if not found.items:
            _tell_nothing(scopes, context)
    note(*found.reasons)
    tell_trust(workspace)
    return 1 if found.over_budget else 0


# Sessions -----------------------------------------------------------------------------------------


@command(
    option(
        "--session",
        metavar="ID",
        help="the agent's session (default: none, and nothing is recorded)",
    ),
    option(
        "--agent", metavar="ID", help="a sub-agent of it: has its own window, spends from its total"
    ),
    option("--event", choices=EVENTS, default="prompt", help="what happened (default: prompt)"),
    token_budget(
        "tokens that it may take; 0 is off (default: the setting token_budget.dynamic_context)"
    ),
    add_model,
    add_situation,
    add_json,
)
def activate(options: Namespace) -> int:
    """Print what an agent should be told now, within its session's budget.

    Nothing else goes to standard output. With --session it counts against that session's total,
    what was shown a short while ago is left out, and what goes in is noted as used. Without,
    nothing is recorded. A session is told nothing of a project that is not trusted: see 'brim rules
    trust'.

    Events:
      prompt            a person typed something (the default); only these count as prompts
      tool              the agent is about to call a tool
      start             a session begins: the budget is token_budget.default, and is not charged to the session
      clear, compact    the window was emptied: as start, and everything may be shown again
      resume            a session goes on where it was

    Exits with 1, and tells the agent nothing, if the constraints alone are too much for the budget.

    Examples:
      brim dev activate --file src/app.py --prompt 'run the tests'
      brim dev activate --session 4f1c --event tool --command 'uv run pytest' --json
    """
    for name in ("session", "agent"):
        if getattr(options, name) == "":
            raise InputError(f"--{name} is empty: name one, or leave the option out")
    if options.agent is not None and options.session is None:
        raise InputError("--agent belongs to --session: whose agent is it?")
    flags = planning_flags(options, START_KEY if options.event in BEGINNINGS else DYNAMIC_KEY)
    workspace = Workspace.here(who="person" if options.session is None else "agent", flags=flags)
    context = situation_of(options, workspace)
    with workspace.open(create=True) as scopes, _session(scopes, options, workspace) as session:
        planner = session_planner(
            scopes, workspace.config, context, session, options.event, now=workspace.now
        )
        found = tell_session(planner, session, options.event, floor="summary")
        if found.included and not found.over_budget and options.session is not None:
            told, active = (
                [item.behavior for item in found.included],
                [each.id for each in planner.results],
            )
            note_injection(
                scopes,
                told,
                active,
                now=workspace.now,
                session=options.session,
                event=options.event,
            )
    # Printed after it is written: charged but not said is a loss, said but not charged a broken
    # promise.
    _say_told(planner, found, session, options)
    tell_trust(workspace)
    if found.over_budget:
        note(f"nothing was told: {'; '.join(found.reasons)}")
        return 1
    if not found.included and not options.as_json:
        note(*found.reasons)
    return 0


@contextmanager
def _session(scopes: Scopes, options: Namespace, workspace: Workspace) -> Iterator[Session]:
    """Give the session; everything inside is one transaction with its charge. One without an id is
    not kept."""
    limits = workspace.config.yours.section("session")
    if options.session is None:
        yield Session(**{**limits, "max_tokens": None})
    elif scopes.user is None and scopes.project is None:  # nothing to tell, so nothing to remember
        yield Session(**limits)
    else:
        with (
            scopes.writing("user"),
            scopes.session(options.session, options.agent or "", **limits) as session,
        ):
            yield session


def _say_told(planner: Planner, found: InjectionPlan, session: Session, options: Namespace) -> None:
    text = "" if found.over_budget else render(found)
    if not options.as_json:
        if sys.stdout is not None:
            sys.stdout.write(text)
        return
    told = {
        "text": text,
        "tokens": int(found.total_tokens) if text else 0,
        "budget": found.token_budget,
    }
    state = {field: getattr(session, field) for field in ("used", "remaining", "prompts")}
    whose = (
        None
        if options.session is None
        else {"id": options.session, "agent": options.agent, **state}
    )
    say_json({**told, "event": options.event, "session": whose, **planner.to_dict(found)})


# How a plan looks ---------------------------------------------------------------------------------


def plan_view(planner: Planner, plan: InjectionPlan) -> str:
    """Return what goes in within the budget, in how much detail, and why."""
    found = []
    for item in plan.items:
        rule, value, tier = item.behavior, f"{item.activation:.2f}", str(item.tier)
        if item.tier is not item.mapped:
            tier = f"{item.mapped} {symbols('→', '->')} {item.tier}"
        tokens, kind = (
            (f"{int(item.tokens):,}", kind_of(rule)) if item.tier else ("", rule.kind.value)
        )
        found.append([value, tier, tokens, kind, planner.why(item), summary_of(rule)])
    rows, more = listed(found)
    head = ["activation", "tier", "tokens", "kind", "why", "rule"]
    shown = heading(table([head, *rows], right=(0, 2), optional=(3, 4, 1)))
    return lines(shown, more, f"\n{total_line(plan)}", *plan.reasons)


def waiting_view(rules: Sequence[Behavior]) -> str:
    """Return the rules that come later, each with when agents are told it; empty if there are
    none."""
    if not rules:
        return ""
    rows, more = listed([[summary_of(each), heard(each)] for each in rules])
    count = f"{counted(len(rules), 'more rule')} {'waits' if len(rules) == 1 else 'wait'} for the right moment"
    return lines(f"\n{count}:", heading(table([["rule", "told"], *rows])), more)


def total_line(plan: InjectionPlan) -> str:
    """Return what the plan takes in all, and how that was counted."""
    total, budget = plan.total_tokens, plan.token_budget
    taken = (
        f"{int(total):,} tokens, no limit"
        if budget is None
        else f"{int(total):,} of {budget:,} tokens"
    )
    basis = (
        total.basis
        if total.low == total.high
        else f"{total.basis} ({total.low:,} to {total.high:,})"
    )
    characters = (
        [] if plan.max_chars is None else [f"{plan.characters:,} of {plan.max_chars:,} characters"]
    )
    line = ", ".join([taken, *characters, f"{basis} for {plan.counter}"])
    return paint(wrapped(line), "red") if constraints_left_out(plan) else wrapped(line)
