"""The page Rules: every rule, what waits for review, and what an agent would hear."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from brim.config.places import branch_of
from brim.errors import InputError
from brim.install.installation import as_agent
from brim.rules.blocks import KINDS, RUN, checked_blocks, too_much
from brim.rules.delivery import DID_NOT_FIT
from brim.rules.file import check_paragraph
from brim.rules.keeping import kept_words, why_not_checked
from brim.rules.mistakes import find_mistakes
from brim.rules.outlook import (
    DeliveryLimits,
    RuleOutlook,
    outlook,
    outlook_here,
    situation_for,
    told_words,
)
from brim.rules.rule import patterns_of
from brim.rules.rulebook import ACTIVE, Rulebook, RuleEntry
from brim.rules.situation import Situation
from brim.rules.source import NATIVE, PROJECT, USER
from brim.ui.place import Place, page
from brim.workspace import Workspace

START_KEY = "token_budget.default"
LARGEST_BUDGET = 4_000
"""Where the slider ends, unless the setting is higher."""
MOST_FINDINGS = 50
STATES = {"waiting": "not before you accept it: brim rules trust", "off": "it is switched off"}


@dataclass(frozen=True)
class ListedRule:
    """One rule of the table."""

    entry: RuleEntry
    forecast: str
    """When agents are told it."""
    promises: tuple[str, ...]
    """How it's kept."""

    @property
    def id(self) -> str:
        """What the pages call it."""
        return f"{self.entry.place}:{self.entry.name}"


@dataclass(frozen=True)
class Planned:
    """What an agent would hear, as ``brim rules why`` says it."""

    forecast: RuleOutlook
    budget: int | None
    left_out: int
    """Rules that don't fit."""


def planned(place: Place, form: Mapping[str, str]) -> Planned:
    """Return what is told in a situation: a prompt, a file, a command, a number of tokens.

    It's made for the agent that brim is installed for.
    """
    tokens = form.get("tokens", "")
    if tokens and not tokens.isdecimal():
        raise InputError(f"a budget is a whole number of tokens, not {tokens[:40]!r}")
    workspace, _ = as_agent(lambda flags: place.workspace(flags=flags))
    limits = DeliveryLimits.of(workspace.config)
    if tokens:
        limits = replace(limits, start=int(tokens))
    forecast = outlook_here(workspace.rulebook, limits, _situation(workspace, form))
    left_out = [choice for choice in forecast.start.choices if choice.reason == DID_NOT_FIT]
    return Planned(forecast, limits.start, len(left_out))


def _situation(workspace: Workspace, form: Mapping[str, str]) -> Situation | None:
    path = form.get("file", "").strip()
    current_branch = ""
    if workspace.project is not None:
        current_branch = branch_of(workspace.project)
    return situation_for(
        prompt=form.get("prompt", "").strip(),
        paths=(path,) if path else (),
        command=form.get("command", "").strip(),
        branch=current_branch,
    )


def plan(place: Place, request: Request) -> Response:
    """Return what an agent would hear, as a part of the page."""
    return page("plan.html", place, found=planned(place, request.query_params))


def rules(place: Place, request: Request) -> Response:
    """Show the page."""
    workspace = place.workspace()
    book = workspace.rulebook
    forecast = outlook(book.open_index(), DeliveryLimits.of(workspace.config))
    entries = book.entries()
    budget = workspace.config.yours[START_KEY] or 0
    notes = book.inbox.notes()
    return page(
        "rules.html",
        place,
        here="rules",
        said=request.query_params.get("said", ""),
        rows=[_row(entry, forecast) for entry in entries if entry.place != NATIVE],
        native=[entry for entry in entries if entry.place == NATIVE],
        away=book.removed.read().split.names,
        notes=[item for item in notes if item.project in ("", workspace.project)],
        findings=find_mistakes(book, forecast)[:MOST_FINDINGS],
        found=planned(place, {}),
        budget=budget,
        most=max(LARGEST_BUDGET, budget),
        project=workspace.project,
        trusted=workspace.trusted,
    )


def _row(entry: RuleEntry, forecast: RuleOutlook) -> ListedRule:
    words = STATES.get(entry.state)
    if words is None:
        words = told_words(entry.condition, at_start=forecast.is_told_at_start(entry.rule))
    promises = kept_words(entry.rule, is_agreed=not entry.check_state)
    return ListedRule(
        entry, words, tuple(promises or [why_not_checked(entry.rule, entry.check_state)])
    )


def rule(place: Place, request: Request) -> Response:
    """Show one rule, and what can be done with it."""
    workspace = place.workspace()
    book = workspace.rulebook
    entry = _entry(book, request.path_params["id"])
    forecast = outlook(book.open_index(), DeliveryLimits.of(workspace.config))
    form = book.paragraph(entry)
    return page("rule.html", place, here="rules", row=_row(entry, forecast), form=form)


def _entry(book: Rulebook, id: str) -> RuleEntry:
    """Return the rule that a page calls *id*."""
    scope, _, name = id.partition(":")
    for entry in book.entries(native=False):
        if (entry.place, entry.name) == (scope, name):
            return entry
    raise InputError("There is no such rule: it may have been renamed or removed.")


# What a person does -------------------------------------------------------------------------------


def change_rule(place: Place, form: dict[str, str]) -> str:
    """Edit, remove or restore a rule, or make it refuse something."""
    book = place.workspace().rulebook
    action = form.get("action", "")
    if action == "restore":
        target = USER if form.get("everywhere") else ""
        message = f"{book.restore(form.get('rule', ''), target).name} is back."
    elif action in _ACTIONS:
        message = _ACTIONS[action](book, _entry(book, form.get("rule", "")), form)
    else:
        raise InputError(f"nothing can be done with a rule by {action[:40]!r}")
    book.open_index().close()
    return message


def _remove(book: Rulebook, entry: RuleEntry, _: dict[str, str]) -> str:
    book.remove(entry, day=time.strftime("%Y-%m-%d"))
    return f"Removed {entry.name}. You find it under “Removed”."


def _block(book: Rulebook, entry: RuleEntry, form: dict[str, str]) -> str:
    kind = form.get("kind", RUN)
    pattern = form.get("pattern", "").strip()
    if kind not in KINDS or not pattern:
        raise InputError(
            "say what to refuse: a command such as npm install, a path such as dist/**,"
            " or a tool's name"
        )
    (block,) = checked_blocks([f"{kind} {pattern}"])
    _check_meant([block], form)
    changed = book.change(
        entry, {"block": list(dict.fromkeys([*patterns_of(entry.rule.block), block]))}
    )
    return f"Changed {changed.name}."


def _check_meant(blocks: list[str], form: dict[str, str]) -> None:
    """Raise if one of *blocks* refuses nearly everything and the person didn't say so."""
    for block in blocks:
        refusal = too_much(block)
        if refusal and not form.get("sure"):
            raise InputError(
                f"this would refuse {refusal}: tick the box if you mean that; nothing was changed"
            )


def _edit(book: Rulebook, entry: RuleEntry, form: dict[str, str]) -> str:
    text = form.get("text", "").replace("\r\n", "\n")
    new = check_paragraph(text)
    _check_meant([block for block in new.block if block not in entry.rule.block], form)
    changed = book.rewrite(entry, text)
    if changed.rule.digest == entry.rule.digest and changed.name == entry.name:
        return f"{entry.name} is as it was."
    return f"Changed {changed.name}."


_ACTIONS: dict[str, Callable[[Rulebook, RuleEntry, dict[str, str]], str]] = {
    "remove": _remove,
    "block": _block,
    "edit": _edit,
}


def learn(place: Place, form: dict[str, str]) -> str:
    """Teach a rule."""
    workspace = place.workspace()
    target = _target(workspace, form)
    learned = workspace.rulebook.learn(
        target, {"text": form.get("text", "").strip(), "learned": time.strftime("%Y-%m-%d")}
    )
    return _saved(workspace, learned.entry)


def _target(workspace: Workspace, form: dict[str, str]) -> str:
    """Return the place whose file is written: the project's, unless the form says otherwise."""
    if form.get("everywhere") or workspace.project is None:
        return USER
    workspace.begin_project()
    return PROJECT


def _saved(workspace: Workspace, entry: RuleEntry) -> str:
    forecast = outlook(workspace.rulebook.open_index(), DeliveryLimits.of(workspace.config))
    row = _row(entry, forecast)
    if entry.state != ACTIVE:
        return f"Saved as {entry.name}. Agents aren't told it before you accept it."
    return f"Saved as {entry.name}. Agents are told it {row.forecast}."


def review(place: Place, form: dict[str, str]) -> str:
    """Accept or dismiss a note of an agent, or a correction that brim noticed."""
    workspace = place.workspace()
    name = form.get("note", "")
    action = form.get("action")
    if action == "accept":
        target = _target(workspace, form)
        entry = workspace.rulebook.accept_note(name, target, form.get("text", "").strip())
        return _saved(workspace, entry)
    if action == "dismiss":
        workspace.rulebook.dismiss_note(name, day=time.strftime("%Y-%m-%d"))
        return "Dismissed."
    raise InputError("accept it or dismiss it")
