"""``brim rules why``, ``prompt`` and ``activate``: what an agent would be told here, and why."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from brim.activation.context import Context
from brim.behaviors.behavior import Rule
from brim.behaviors.jsonl import as_object
from brim.behaviors.sentences import heard
from brim.cli.counts import basis_of
from brim.cli.options import (
    add_json,
    add_model,
    command,
    here,
    option,
    planning_flags,
    token_budget,
)
from brim.cli.output import counted, emit, lines, note, paint, printable, say_json, wrapped
from brim.cli.plan_views import plan_view, waiting_view
from brim.cli.rule_details import rule_details
from brim.cli.rule_options import NO_RULES, add_situation, rule_argument, situation_of, tell_trust
from brim.errors import BrimError, InputError
from brim.install.agents import NAMES
from brim.install.installation import as_agent
from brim.rules.plan import InjectionPlan
from brim.rules.session import Session
from brim.rules.text import render
from brim.store.details import RuleDetails, read_details
from brim.store.events import note_injection
from brim.store.fates import planned_fate, put_away_fate
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
from brim.store.scopes import Scopes
from brim.tokens.counters import counter_for
from brim.workspace import Workspace

EVENTS = ("prompt", "tool", *BEGINNINGS, "resume")
SITUATION = ("file", "task", "language", "prompt", "command", "set")
"""The options that say what is done. A place alone is where a session begins."""
AGENTS_MODEL = "claude-sonnet-4-5"
"""The model that counts are shown for if neither a session nor a setting names one."""


@command(
    rule_argument(optional=True),
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
    workspace, agent = _place(planning_flags(options, START_KEY), options)
    if options.text:
        return _print_text(options, workspace, agent, floor="fit")
    return _plan(options, workspace, agent)


def _place(flags: Mapping[str, object], options: Namespace) -> tuple[Workspace, str]:
    """Return the workspace as an agent's hooks have it, and the agent."""
    return as_agent(lambda own_flags: here({**flags, **own_flags}), options.agent or "")


def _begins(options: Namespace) -> bool:
    """Whether nothing says what is done: then a session begins."""
    return not any(getattr(options, name) for name in SITUATION)


def _plan(options: Namespace, workspace: Workspace, agent: str) -> int:
    context = situation_of(options, workspace)
    with workspace.open() as scopes:
        planner, read = _planner(options, workspace, scopes, context, agent)
        waiting: Sequence[Rule] = ()
        if _begins(options):
            waiting = planner.waiting()
        plan = planner.plan(workspace.config.yours[START_KEY])
        if options.as_json:
            say_json(_plan_dict(planner, plan, waiting, read, context))
        elif plan.items:
            notes = [_agents_line(agent, read)]
            if not agent:
                notes.insert(0, _model_line(plan, scopes, workspace))
            print(lines(plan_view(planner, plan), *notes, waiting_view(waiting)))
        else:
            _tell_nothing(scopes, context)
            if waiting:
                print(waiting_view(waiting))
    tell_trust(workspace)
    return int(bool(constraints_left_out(plan)))


def _plan_dict(
    planner: Planner,
    plan: InjectionPlan,
    waiting: Sequence[Rule],
    read: Iterable[str],
    context: Context,
) -> dict[str, Any]:
    later = [{"id": rule.id, "name": rule.name, "when": heard(rule)} for rule in waiting]
    return {
        "context": _situation_dict(context),
        **planner.to_dict(plan),
        "waiting": later,
        "read": sorted(read),
    }


def _agents_line(agent: str, read: Collection[str]) -> str:
    """Say how many rules are left out because *agent* reads them itself."""
    if not read:
        return ""
    return f"left out: {counted(len(read), 'rule')} that {NAMES[agent]} reads in its own files"


def _model_line(plan: InjectionPlan, scopes: Scopes, workspace: Workspace) -> str:
    """Say what the text takes for the model of the newest session: an estimate for most."""
    model = workspace.config.yours["model"] or _session_model(workspace) or AGENTS_MODEL
    calibrations = None
    if scopes.user is not None:
        calibrations = scopes.user.calibrations
    count = counter_for(model, calibrations=calibrations).count(render(plan))
    return wrapped(f"{int(count):,} tokens for {model} ({basis_of(count)})")


def _planner(
    options: Namespace, workspace: Workspace, scopes: Scopes, context: Context, agent: str
) -> tuple[Planner, set[str]]:
    """Return the planner for what *agent* is told here, and what is left out because it reads that
    itself."""
    return agents_planner(
        scopes,
        workspace.config,
        context,
        agent,
        workspace.cwd or "",
        begins=_begins(options),
        now=workspace.now,
    )


def _session_model(workspace: Workspace) -> str:
    """Return the model of the newest session here; empty if there is none."""
    from brim.cli.commands.status import session_of

    with suppress(BrimError):
        session = session_of(workspace)
        if session:
            return str(session["model"])
    return ""


def _why_rule(options: Namespace) -> int:
    workspace, agent = _place({START_KEY: options.token_budget}, options)
    context = situation_of(options, workspace)
    with workspace.open() as scopes:
        details = _details(scopes, options.id, workspace)
        rule = details.rule
        if rule.live:
            planner, read = _planner(options, workspace, scopes, context, agent)
            reader = ""
            if rule.id in read:
                reader = NAMES[agent]
            fate = planned_fate(
                planner,
                scopes,
                rule,
                context=context,
                budget=workspace.config.yours[START_KEY],
                now=workspace.now,
                read_by=reader,
            )
        else:
            fate = put_away_fate(scopes, rule)
    fields = as_object(rule)
    result = {
        **{name: fields[name] for name in ("id", "name", "kind", "status")},
        "context": _situation_dict(context),
        **fate.to_dict(),
        "rule": details.to_dict(),
    }
    view = "\n".join(printable(line) for line in fate.lines)
    emit(result, f"{rule_details(details)}\n\n{paint('why', 'faint')}\n{view}", options.as_json)
    if rule.scope == "project":
        tell_trust(workspace)
    return 0


def _details(scopes: Scopes, text: str, workspace: Workspace) -> RuleDetails:
    try:
        return read_details(scopes, text, workspace.config)
    except InputError as error:
        hint = ""
        if len(text.split()) > 1:
            hint = "; 'brim rules why --prompt TEXT' shows what a prompt brings"
        raise InputError(f"{error}{hint}") from None


def _situation_dict(context: Context) -> dict[str, list[str]]:
    return {key: list(values) for key, values in context.facts.items()}


def _tell_nothing(scopes: Scopes, context: Context) -> None:
    if scopes.user is None and scopes.project is None:
        note(NO_RULES)
    else:
        note(f"no rule applies here ({context})")


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
        plan = planner.plan(budget, whole=whole, floor=floor)
        text = render(plan)
        if options.as_json:
            say_json({"text": text, "tokens": int(plan.total_tokens), **planner.to_dict(plan)})
        elif sys.stdout is not None:
            sys.stdout.write(text)
        if not plan.items:
            _tell_nothing(scopes, context)
    note(*plan.reasons)
    tell_trust(workspace)
    return int(plan.over_budget)


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
    budget_key = DYNAMIC_KEY
    if options.event in BEGINNINGS:
        budget_key = START_KEY
    workspace = _sessions_workspace(planning_flags(options, budget_key), options)
    context = situation_of(options, workspace)
    with workspace.open(create=True) as scopes, _session(scopes, options, workspace) as session:
        planner = session_planner(
            scopes, workspace.config, context, session, options.event, now=workspace.now
        )
        plan = tell_session(planner, session, options.event, floor="summary")
        if plan.included and not plan.over_budget and options.session is not None:
            note_injection(
                scopes,
                [item.behavior for item in plan.included],
                [activation.id for activation in planner.results],
                now=workspace.now,
                session=options.session,
                event=options.event,
            )
    # Printed after it is written: charged but not said is a loss, said but not charged a broken
    # promise.
    _say_plan(planner, plan, session, options)
    tell_trust(workspace)
    if plan.over_budget:
        note(f"nothing was told: {'; '.join(plan.reasons)}")
    elif not plan.included and not options.as_json:
        note(*plan.reasons)
    return int(plan.over_budget)


def _sessions_workspace(flags: Mapping[str, object], options: Namespace) -> Workspace:
    """Return the workspace: a session's is that of an agent, so a project must be trusted."""
    if options.session is None:
        return Workspace.here(who="person", flags=flags)
    return Workspace.here(who="agent", flags=flags)


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


def _say_plan(planner: Planner, plan: InjectionPlan, session: Session, options: Namespace) -> None:
    text = ""
    tokens = 0
    if not plan.over_budget:
        text = render(plan)
    if text:
        tokens = int(plan.total_tokens)
    if options.as_json:
        result = {"text": text, "tokens": tokens, "budget": plan.token_budget}
        result |= {"event": options.event, "session": _session_dict(session, options)}
        say_json({**result, **planner.to_dict(plan)})
    elif sys.stdout is not None:
        sys.stdout.write(text)


def _session_dict(session: Session, options: Namespace) -> dict[str, Any] | None:
    if options.session is None:
        return None
    return {
        "id": options.session,
        "agent": options.agent,
        "used": session.used,
        "remaining": session.remaining,
        "prompts": session.prompts,
    }
