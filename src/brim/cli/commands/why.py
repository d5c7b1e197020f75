"""``brim rules why``, ``prompt`` and ``activate``: what an agent would be told here, and why."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from brim.agents.call import ToolCall
from brim.cli.options import (
    add_json,
    add_model,
    command,
    here,
    option,
    planning_flags,
    token_budget,
    values_by_key,
)
from brim.cli.output import cut, emit, lines, note, paint, printable, say_json, symbols, wrapped
from brim.cli.rule_options import (
    NO_RULES,
    add_place,
    add_situation,
    rule_argument,
    situation_of,
    tell_trust,
)
from brim.cli.rule_views import counts_words, entry_object, paragraph_view, promise_view
from brim.cli.tables import heading, listed, table
from brim.errors import InputError
from brim.install.forecast import ForecastBreach, broken_by
from brim.install.native_files import NativeReaders
from brim.rules.activation import activate as spread
from brim.rules.conditions import Context
from brim.rules.delivery import DID_NOT_FIT, Choice
from brim.rules.history import PATIENCE, RuleHistory, stop_line
from brim.rules.library import LibraryRules, library_rules
from brim.rules.mapper import ActivationTierMapper
from brim.rules.outlook import DeliveryLimits, RuleOutlook, outlook_here
from brim.rules.plan import InjectionPlan, Item
from brim.rules.rulebook import RuleEntry
from brim.rules.session import Session
from brim.rules.situation import Situation
from brim.rules.source import NATIVE
from brim.rules.state import RulesState
from brim.rules.text import render
from brim.rules.tiers import Tier
from brim.tokens.inputs import text_of
from brim.workspace import Workspace

START_KEY = "token_budget.default"
DYNAMIC_KEY = "token_budget.dynamic_context"
EMPTY: Mapping[str, tuple[str, ...]] = {}
LONGEST = 60
"""Columns of a rule's text in a list."""


@command(
    rule_argument(optional=True),
    option("--text", action="store_true", help="print only the text that the agent gets"),
    option("--verbose", "-v", action="store_true", help="also the numbers behind the order"),
    token_budget("tokens that a session's start may take (default: the setting)"),
    add_model,
    add_situation,
    add_place,
    add_json,
)
def why(options: Namespace) -> int:
    """Show what an agent would be told here, and why.

    Each rule comes with one reason. Hooks decide by the same function. If you don't say what
    happens, that's the start of a session. With RULE, brim shows that rule whole: where it stands,
    when it's told and how it's kept. Nothing is recorded.

    Exits with 1 if a rule that must be followed doesn't fit.

    Examples:
      brim rules why --file src/app.py
      brim rules why --run 'git push'
      brim rules why use-pnpm --prompt 'install the packages'
    """
    workspace = here(planning_flags(options, START_KEY))
    situation = situation_of(options, workspace)
    book = workspace.rulebook
    if options.id is not None:
        return _why_rule(options, workspace, situation)
    forecast = outlook_here(book, DeliveryLimits.of(workspace.config), situation)
    if options.text:
        return emit(
            {"text": forecast.text, "tokens": forecast.total_tokens},
            forecast.text.rstrip("\n"),
            options.as_json,
        )
    choices = forecast.choices
    breaches = broken_by(book, _forecast_call(options), workspace)
    result = {
        "text": forecast.text,
        "tokens": forecast.total_tokens,
        "rules": [_choice_object(choice) for choice in choices],
        "broken": [broken.to_dict() for broken in breaches],
    }
    view = ""
    if choices or breaches:
        view = lines(*map(_breach_line, breaches), _choices_view(forecast, options.verbose))
    emit(result, view, options.as_json, empty=NO_RULES)
    note(*forecast.news)
    tell_trust(workspace)
    return int(any(_is_missing(choice) for choice in forecast.start.choices))


def _forecast_call(options: Namespace) -> ToolCall:
    """Return the call that the options describe: a command, or an edit of files."""
    if options.run:
        return ToolCall(name="Bash", kind="shell", input={"command": options.run})
    return ToolCall(name="Edit", kind="edit", input={"paths": options.file})


def _breach_line(broken: ForecastBreach) -> str:
    """Return what a call would break, and what brim would do."""
    return printable(f"{broken.kind}  {broken.part} (rule {broken.rule}: {broken.wording})")


def _is_missing(choice: Choice) -> bool:
    return choice.rule.protected and choice.reason == DID_NOT_FIT


def _choices_view(forecast: RuleOutlook, verbose: bool) -> str:
    """Return a line for each rule, with the reason, and what the text takes."""
    names = ["rule", "why", "text"]
    if verbose:
        names[1:1] = ["tier", "activation", "tokens"]
    rows = []
    for choice in forecast.choices:
        row = [printable(choice.rule.name), _painted_reason(choice), cut(_line(choice), LONGEST)]
        if verbose:
            tokens = choice.rule.tokens(choice.tier, "o200k_base")
            row[1:1] = [str(choice.tier), f"{choice.activation:.2f}", f"{tokens:,}"]
        rows.append(row)
    rows, hidden = listed(rows)
    right = (2, 3) if verbose else ()
    view = heading(table([names, *rows], right=right, optional=(len(names) - 1,)))
    return lines(view, hidden, f"\n{forecast.total_tokens:,} tokens now")


def _line(choice: Choice) -> str:
    return choice.rule.text(Tier.FULL).removeprefix("- ").strip()


def _painted_reason(choice: Choice) -> str:
    reason = printable(choice.reason)
    if choice.reason == DID_NOT_FIT:
        return paint(reason, "red")
    if choice.tier is Tier.OMITTED:
        return paint(reason, "faint")
    if choice.tier is not Tier.FULL:
        return f"{reason} ({choice.tier})"
    return reason


def _choice_object(choice: Choice) -> dict[str, Any]:
    return {
        "name": choice.rule.name,
        "tier": str(choice.tier),
        "reason": choice.reason,
        "activation": choice.activation,
        "place": choice.rule.source,
        "file": choice.rule.path,
    }


def _why_rule(options: Namespace, workspace: Workspace, situation: Situation | None) -> int:
    book = workspace.rulebook
    try:
        entry = book.find(options.id, options.scope or "")
    except InputError as error:
        hint = ""
        if len(options.id.split()) > 1:
            hint = "; 'brim rules why --prompt TEXT' shows what a prompt brings"
        raise InputError(f"{error}{hint}") from None
    forecast = outlook_here(book, DeliveryLimits.of(workspace.config), situation)
    choice = forecast.choice(entry.rule)
    reason = "it isn't in force here"
    if choice is not None:
        reason = choice.reason
    readers = NativeReaders(workspace)
    history = RuleHistory(book, now=workspace.now)
    counts = history.counts(entry)
    result = {
        **entry_object(entry, forecast, readers),
        "reason": reason,
        "counts": counts.to_dict(),
    }
    paragraph = entry.rule.text
    if entry.place != NATIVE:
        paragraph = book.paragraph(entry)
    place = printable(f"{entry.path}, line {entry.rule.line}")
    view = lines(
        f"{paint(printable(entry.name), 'green')}  {place}",
        paragraph_view(paragraph),
        *promise_view(entry, forecast, readers),
        *_history_view(history, entry),
        f"now   {printable(reason)}",
    )
    emit(result, view, options.as_json)
    if entry.place == "project":
        tell_trust(workspace)
    return 0


def _history_view(history: RuleHistory, entry: RuleEntry) -> list[str]:
    """Return what happened because of a rule, and the last call that it stopped."""
    view = []
    words = counts_words(history.counts(entry))
    if words:
        view.append(f"so far  {words}")
    last_stop = history.last_stop(entry)
    if last_stop is not None:
        view.append(printable(f"last  {stop_line(last_stop)}"))
    return view


# For people who build agents ----------------------------------------------------------------------


def add_facts(parser: ArgumentParser) -> None:
    """Add the options that say what an activation knows."""
    add_situation(parser)
    parser.add_argument("--task", metavar="TASK", help="such as testing")
    parser.add_argument("--language", metavar="NAME", help="such as python")
    parser.add_argument(
        "--set", action="append", metavar="KEY=VALUE", help="a fact of your own; may be repeated"
    )


def context_of(options: Namespace, workspace: Workspace) -> Context:
    """Return what the options and the place say, for the activation engine."""
    return Context(
        file=options.file,
        task=options.task,
        language=options.language,
        prompt=text_of(options.prompt),
        command=options.run,
        custom=values_by_key("--set", options.set),
        **workspace.surroundings,
    )


@command(
    option("--tiered", action="store_true", help="by tiers: whole, as a summary, or by name"),
    token_budget("tokens that it may take; 0 means no limit (default: the setting)"),
    add_model,
    add_facts,
    add_json,
)
def prompt(options: Namespace) -> int:
    """Print the rules for a system prompt, in sections.

    Nothing else goes to standard output. With --tiered, the activation of each rule decides how
    much of it goes in: whole, as a summary, or by name; without it, each goes in whole, the least
    important left out until it fits. Exits with 1 if it doesn't fit: constraints are never cut
    below a summary. Then standard error says by how much the text is too long.

    Examples:
      brim dev prompt --file src/app.py > rules.md
      brim dev prompt --tiered --token-budget 800 --model gpt-4o
    """
    workspace = here(planning_flags(options, START_KEY))
    budget = workspace.config.yours[START_KEY]
    if budget == 0 and options.token_budget is not None:
        budget = None
    rules = library_rules(workspace.rulebook.entries(native=False))
    plan = _plan(rules, context_of(options, workspace), workspace, budget, whole=not options.tiered)
    text = render(plan)
    if options.as_json:
        say_json({"text": text, **_plan_object(plan)})
    elif sys.stdout is not None:
        sys.stdout.write(text)
    if not plan.items:
        note(NO_RULES)
    note(*plan.reasons)
    tell_trust(workspace)
    return int(plan.over_budget)


def _plan(
    rules: LibraryRules,
    context: Context,
    workspace: Workspace,
    budget: int | None,
    *,
    whole: bool,
    session: Session | None = None,
) -> InjectionPlan:
    config = workspace.config.yours
    return _mapper(workspace).plan(
        spread(rules.graph, context, now=workspace.now),
        rules.rules,
        budget=budget,
        model=config["model"],
        max_chars=config["injection.max_chars"],
        fill=config["injection.fill"],
        whole=whole,
        session=session,
    )


def _mapper(workspace: Workspace) -> ActivationTierMapper:
    return ActivationTierMapper(**workspace.config.yours.section("tiers"))


@command(
    option("--session", metavar="ID", help="a session, whose total it counts against"),
    option("--verbose", "-v", action="store_true", help="show the activations, not the text"),
    token_budget("tokens that it may take (default: the setting token_budget.dynamic_context)"),
    add_model,
    add_facts,
    add_json,
)
def activate(options: Namespace) -> int:
    """Print what matters in a situation, by spreading activation and tiers.

    This is the activation of 'brim.activate', with the rules of your rules files. Hooks don't use
    it: 'brim rules why' shows what they tell. With --session it counts as a prompt of that session:
    what was told a short while ago is left out, and the session's total holds. Exits with 1 if
    constraints don't fit.

    Examples:
      brim dev activate --file src/app.py --prompt 'run the tests'
      brim dev activate --task testing --token-budget 500 --json
    """
    if options.session == "":
        raise InputError("--session is empty: name one, or leave the option out")
    workspace = here(planning_flags(options, DYNAMIC_KEY))
    config = workspace.config.yours
    rules = library_rules(workspace.rulebook.entries(native=False))
    context = context_of(options, workspace)
    with _session(options.session, workspace) as session:
        session.next_prompt()
        budget = session.budget(config[DYNAMIC_KEY])
        plan = _plan(rules, context, workspace, budget, whole=False, session=session)
        if not plan.over_budget:
            session.charge(plan)
    text = ""
    if not plan.over_budget:
        text = render(plan)
    reasons = {
        result.id: result.reasons for result in spread(rules.graph, context, now=workspace.now)
    }
    if options.as_json:
        say_json({"context": str(context), "text": text, **_plan_object(plan, reasons)})
    elif options.verbose:
        print(_plan_view(plan, reasons))
    elif sys.stdout is not None:
        sys.stdout.write(text)
    note(*plan.reasons)
    return int(plan.over_budget)


@contextmanager
def _session(id: str | None, workspace: Workspace) -> Iterator[Session]:
    """Hand out a session to be charged; one without an id is kept nowhere."""
    limits = workspace.config.yours.section("session")
    if id is None:
        yield Session(None, None)
        return
    os.makedirs(workspace.home, mode=0o700, exist_ok=True)
    with (
        closing(RulesState(workspace.home, now=workspace.now, patience=PATIENCE)) as state,
        state.charging(id, **limits) as session,
    ):
        yield session


def _plan_object(
    plan: InjectionPlan, reasons: Mapping[str, tuple[str, ...]] = EMPTY
) -> dict[str, Any]:
    return {
        "tokens": int(plan.total_tokens),
        "token_budget": plan.token_budget,
        "over_budget": plan.over_budget,
        "rules": [_item_object(item, reasons) for item in plan.items],
    }


def _item_object(item: Item, reasons: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    return {
        "name": item.id,
        "tier": str(item.tier),
        "mapped": str(item.mapped),
        "activation": item.activation,
        "tokens": int(item.tokens),
        "reason": item.reason,
        "reasons": list(reasons.get(item.id, ())),
    }


def _plan_view(plan: InjectionPlan, reasons: Mapping[str, tuple[str, ...]]) -> str:
    rows = []
    for item in plan.items:
        tier = str(item.tier)
        if item.tier is not item.mapped:
            tier = f"{item.mapped} {symbols('→', '->')} {item.tier}"
        reason = ", ".join(reasons.get(item.id, ()))
        rows.append([f"{item.activation:.2f}", tier, f"{int(item.tokens):,}", reason, item.id])
    rows, hidden = listed(rows)
    head = ["activation", "tier", "tokens", "why", "rule"]
    total = f"{int(plan.total_tokens):,} tokens, no limit"
    if plan.token_budget is not None:
        total = f"{int(plan.total_tokens):,} of {plan.token_budget:,} tokens"
    view = heading(table([head, *rows], right=(0, 2)))
    return lines(view, hidden, f"\n{wrapped(f'{total} for {plan.counter}')}")
