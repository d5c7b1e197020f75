"""``brim activate``: what an agent should be told now, within its session's budget."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from brim.cli.learned import Place, add_context, context_of
from brim.cli.output import note, say_json
from brim.cli.planning import add_planning, flags_of
from brim.cli.settings import add_json
from brim.errors import InputError
from brim.store.planner import DYNAMIC_KEY, START_KEY, Planner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from brim.injection.plan import InjectionPlan
    from brim.injection.session import Session
    from brim.store.scopes import Scopes

BEGINNINGS = {"start": "startup", "clear": "clear", "compact": "compact"}
"""The events after which the window holds nothing that was told before, and what a session calls them."""
EVENTS = ("prompt", "tool", *BEGINNINGS, "resume")

HELP = """\
Print what an agent should be told now, and nothing else on standard output. With --session it counts against that
session's total, what was shown a short while ago is left out, and what goes in is noted as used. Without, nothing is
recorded. A session is told nothing of a project that is not trusted: see 'brim trust'.

Events:
  prompt            a person typed something (the default); only these count as prompts
  tool              the agent is about to call a tool
  start             a session begins: the budget is token_budget.default, and is not charged to the session
  clear, compact    the window was emptied: as start, and everything may be shown again
  resume            a session goes on where it was

Ends with 1, and tells the agent nothing, if the constraints alone are too much for the budget.

Examples:
  brim activate --file src/app.py --prompt 'run the tests'
  brim activate --session 4f1c --event tool --command 'uv run pytest' --json
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    about = parser.add_argument_group("the session")
    about.add_argument("--session", metavar="ID", help="the agent's session (default: none, and nothing is recorded)")
    about.add_argument("--agent", metavar="ID", help="a sub-agent of it: has its own window, spends from its total")
    about.add_argument("--event", choices=EVENTS, default="prompt", help="what happened (default: prompt)")
    add_planning(parser, "tokens that it may take; 0 is off (default: the setting token_budget.dynamic_context)")
    add_context(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the text, and return the exit code."""
    for name in ("session", "agent"):
        if getattr(options, name) == "":
            raise InputError(f"--{name} is empty: name one, or leave the option out")
    if options.agent is not None and options.session is None:
        raise InputError("--agent belongs to --session: whose agent is it?")
    budget_key = START_KEY if options.event in BEGINNINGS else DYNAMIC_KEY
    place = Place(flags_of(options, budget_key), for_agent=options.session is not None)
    context = context_of(options, place)
    with place.open() as scopes:
        planner = Planner(scopes, place.config, context, now=place.now)
        with _session(scopes, options, place) as session:
            plan = _told(planner, session, options.event)
            if plan.included and not plan.over_budget and options.session is not None:
                _note(scopes, planner, plan, options, place.now)
    # Said after it is written: what is charged and not said is a loss, what is said and not charged a broken promise.
    _say(planner, plan, session, options)
    place.tell_trust()
    if plan.over_budget:
        note(f"nothing was told: {'; '.join(plan.reasons)}")
        return 1
    if not plan.included and not options.as_json:
        for reason in plan.reasons:
            note(reason)
    return 0


@contextmanager
def _session(scopes: Scopes, options: Namespace, place: Place) -> Iterator[Session]:
    """Hand out the session; everything inside is one transaction with its charge. One that nobody named is not kept."""
    from brim.injection.session import Session

    limits = place.config.section("session")
    if options.session is None:
        yield Session(**{**limits, "max_tokens": None})
    elif scopes.user is None and scopes.project is None:  # nothing to tell, so nothing to remember
        yield Session(**limits)
    else:
        with scopes.writing("user"), scopes.session(options.session, options.agent or "", **limits) as session:
            yield session


def _told(planner: Planner, session: Session, event: str) -> InjectionPlan:
    """Let *event* happen to *session*, and return what is told then. What is over budget is not told."""
    if event == "prompt":
        session.next_prompt()
    session.begin(BEGINNINGS.get(event, event))
    if event in BEGINNINGS:
        plan = planner.plan(planner.config[START_KEY], session=session)
        if not plan.over_budget:
            session.record(plan)
        return plan
    dynamic = planner.config[DYNAMIC_KEY]
    plan = planner.plan(session.budget(dynamic), session=session)
    if session.remaining == 0 and dynamic != 0 and plan.token_budget == 0:
        plan = plan.changed(reasons=(f"the {session.used:,} tokens of this session are used up",))
    if not plan.over_budget:
        session.charge(plan)
    return plan


def _note(scopes: Scopes, planner: Planner, plan: InjectionPlan, options: Namespace, now: float) -> None:
    from brim.store.together import note_injection

    told = [item.behavior for item in plan.included]
    active = [result.id for result in planner.results]
    note_injection(scopes, told, active, now=now, session=options.session, event=options.event)


def _say(planner: Planner, plan: InjectionPlan, session: Session, options: Namespace) -> None:
    from brim.injection.rendering import render

    text = "" if plan.over_budget else render(plan)
    if not options.as_json:
        if sys.stdout is not None:
            sys.stdout.write(text)
        return
    state = {
        "id": options.session,
        "agent": options.agent,
        "used": session.used,
        "remaining": session.remaining,
        "prompts": session.prompts,
    }
    tokens = int(plan.total_tokens) if text else 0
    say_json(
        {
            "text": text,
            "tokens": tokens,
            "budget": plan.token_budget,
            "event": options.event,
            "session": None if options.session is None else state,
            **planner.to_dict(plan),
        }
    )
