"""``brim rules review``: decide about agents' notes, corrections, and the checks that brim
proposes."""

from __future__ import annotations

import time
from argparse import Namespace

from brim.cli.asking import agrees, answer, is_person_there, need_person, one_key
from brim.cli.options import add_json, command, here, option
from brim.cli.output import block, counted, cut, emit, note, paint, printable
from brim.cli.rule_options import add_scope
from brim.errors import InputError
from brim.rules.inbox import InboxNote
from brim.rules.keeping import proposed_words
from brim.rules.rulebook import ACTIVE, Rulebook, RuleEntry, visible
from brim.rules.source import PROJECT, USER
from brim.workspace import Workspace

ACTIONS = ("list", "accept", "dismiss")
LONGEST = 300
"""Characters of a rule that are printed."""


@command(
    option("action", nargs="?", choices=ACTIONS, default="list", help="default: list"),
    option("ids", nargs="*", metavar="NAME", help="which notes and rules, by their names"),
    option("--text", default="", metavar="TEXT", help="for accept: other words"),
    add_scope,
    add_json,
)
def review(options: Namespace) -> int:
    """Decide about checks that brim proposes, corrections of yours, and what agents noted.

    brim proposes to check rules of CLAUDE.md, AGENTS.md and the like, and imported ones: calls that
    break them would be stopped once. On a terminal, one Enter agrees to all.

    Notes wait in ~/.brim/inbox.toml, and agents aren't told them before you accept them. On a
    terminal, brim asks about each: a accepts it, e lets you change the words first, d dismisses it,
    any other key leaves it for later.

      list              what waits (default)
      accept NAME ...   make rules of these notes, and let brim check these rules
      dismiss NAME ...  take these notes off the list ('brim rules restore' brings them back), and
                        don't check these rules

    Examples:
      brim rules review
      brim rules review accept use-pnpm --text "Use pnpm, not npm"
      brim rules review dismiss use-ruff
    """
    if options.text and (options.action != "accept" or len(options.ids) != 1):
        raise InputError("--text belongs to 'brim rules review accept NOTE'")
    if options.action == "list":
        return _list(options)
    if not options.ids:
        raise InputError(
            f"which one? 'brim rules review' lists them: brim rules review {options.action} NAME"
        )
    need_person("accepts or dismisses notes and checks")
    return _decide(options)


def _list(options: Namespace) -> int:
    """Show what waits; a person at a terminal is asked about it."""
    workspace = here()
    proposed = proposed_checks(workspace.rulebook)
    notes = workspace.rulebook.inbox.notes()
    waiting = [item for item in notes if item.project in ("", workspace.project or "")]
    asks = bool(waiting or proposed) and not options.as_json and is_person_there()
    views = []
    if proposed:
        views.append(_proposed_view(proposed))
    if not asks:
        views += [_note_view(item) for item in waiting]
    result = {
        "notes": [_note_object(item) for item in waiting],
        "checks": [_proposed_object(entry) for entry in proposed],
    }
    emit(result, "\n\n".join(views), options.as_json)
    if asks:
        _ask_about_checks(proposed, workspace)
        _ask_about(waiting, workspace, options)
    elif not options.as_json:
        _tell_next(waiting, proposed)
    elsewhere = len(notes) - len(waiting)
    if elsewhere:
        note(f"{counted(elsewhere, 'note')} about other projects: run it there")
    return 0


def _tell_next(waiting: list[InboxNote], proposed: list[RuleEntry]) -> None:
    """Say what can be done about what waits."""
    if not waiting and not proposed:
        note("nothing to review")
    if proposed:
        note("'brim rules review accept NAME' lets brim check a rule, 'dismiss NAME' doesn't")
    if waiting:
        note("'brim rules review accept NAME' makes a rule of a note, 'dismiss NAME' takes it away")


# Checks -------------------------------------------------------------------------------------------


def proposed_checks(book: Rulebook) -> list[RuleEntry]:
    """Return the rules that brim could check, about which a person hasn't decided; of those that
    say the same in several native files, the first."""
    proposed: dict[str, RuleEntry] = {}
    for entry in book.entries():
        if entry.state == ACTIVE and entry.is_proposed:
            key = f"{entry.place} {entry.name}"
            if entry.native is not None:
                key = f"{entry.native.accepted_folder} {entry.rule.digest}"
            proposed.setdefault(key, entry)
    return list(proposed.values())


def _proposed_view(proposed: list[RuleEntry]) -> str:
    rows = []
    for entry in proposed:
        name = paint(printable(entry.name), "green")
        text = cut(entry.rule.text, LONGEST)
        rows.append(f"{name}  {text}\n  {printable(proposed_words(entry.rule))}")
    return "\n".join(rows)


def _proposed_object(entry: RuleEntry) -> dict[str, str]:
    return {
        "name": entry.name,
        "text": entry.rule.text,
        "file": entry.path,
        "check": proposed_words(entry.rule),
    }


def _ask_about_checks(proposed: list[RuleEntry], workspace: Workspace) -> None:
    """Ask once about all *proposed* checks."""
    if not proposed:
        return
    need_person("lets brim check rules")
    if not agrees(f"Check {counted(len(proposed), 'rule')} like this?"):
        note("nothing was changed: 'brim rules review dismiss NAME' declines one for good")
        return
    for entry in proposed:
        _decide_check(entry, workspace, yes=True)
    workspace.rulebook.open_index().close()
    print(f"brim checks {counted(len(proposed), 'rule')} now")


def _decide_check(entry: RuleEntry, workspace: Workspace, *, yes: bool) -> None:
    """Note what a person wants; for a project's native file that begins the project."""
    if yes and entry.native is not None and entry.native.project is not None:
        workspace.begin_project()
        if not workspace.trusted:
            raise InputError("this project isn't trusted: run 'brim rules trust' first")
    workspace.rulebook.decide_check(entry, yes=yes)


# Notes --------------------------------------------------------------------------------------------


def _note_view(item: InboxNote) -> str:
    origin = "a correction of yours"
    if item.agent:
        origin = f"noted by {item.agent}"
    title = f"{paint(printable(item.rule.name), 'green')}  {printable(origin)}"
    return f"{title}\n{block(visible(item.rule.text))}"


def _note_object(item: InboxNote) -> dict[str, str]:
    return {
        "name": item.rule.name,
        "text": item.rule.text,
        "agent": item.agent,
        "session": item.session,
        "project": item.project,
    }


def _ask_about(notes: list[InboxNote], workspace: Workspace, options: Namespace) -> None:
    """Ask about each note; the end of input leaves the others for later."""
    need_person("accepts or dismisses notes")
    for item in notes:
        print(_note_view(item))
        key = one_key("  a accept, e edit first, d dismiss, any other key: later ")
        if not key:
            return
        if key == "a":
            _accept(item, "", workspace, options)
        elif key == "e":
            text = answer("  the rule: ")
            if text:
                _accept(item, text, workspace, options)
        elif key == "d":
            _dismiss(workspace.rulebook, item.rule.name)
            print("  dismissed")


def _accept(item: InboxNote, text: str, workspace: Workspace, options: Namespace) -> str:
    place = options.scope or (PROJECT if item.project else USER)
    if place == PROJECT:
        workspace.begin_project()
    entry = workspace.rulebook.accept_note(item.rule.name, place, text)
    if not options.as_json:
        print(printable(f"Accepted {entry.name}: {entry.rule.text}"))
    return entry.name


def _dismiss(book: Rulebook, name: str) -> None:
    book.dismiss_note(name, day=time.strftime("%Y-%m-%d"))


def _decide(options: Namespace) -> int:
    workspace = here()
    notes = {item.rule.name: item for item in workspace.rulebook.inbox.notes()}
    checks = {entry.name: entry for entry in proposed_checks(workspace.rulebook)}
    for name in options.ids:
        _need_proposal(name, notes, checks, workspace)
    names = []
    for name in options.ids:
        if name in notes:
            names.append(_decide_note(notes[name], workspace, options))
        else:
            names.append(_decide_listed_check(checks[name], workspace, options))
    workspace.rulebook.open_index().close()
    return emit({f"{options.action}ed": names}, "", options.as_json)


def _need_proposal(
    name: str, notes: dict[str, InboxNote], checks: dict[str, RuleEntry], workspace: Workspace
) -> None:
    """Raise an ``InputError`` if nothing that waits in this project has that name."""
    if name not in notes and name not in checks:
        raise InputError(f"nothing here is called {name!r}: 'brim rules review' lists it")
    if name not in notes:
        return
    project = notes[name].project
    if project not in ("", workspace.project):
        raise InputError(f"{name} is about {project}: run it there")


def _decide_note(item: InboxNote, workspace: Workspace, options: Namespace) -> str:
    """Make a rule of a note, or take it away; return the name."""
    if options.action == "accept":
        return _accept(item, options.text, workspace, options)
    _dismiss(workspace.rulebook, item.rule.name)
    if not options.as_json:
        print(printable(f"Dismissed {item.rule.name}"))
    return item.rule.name


def _decide_listed_check(entry: RuleEntry, workspace: Workspace, options: Namespace) -> str:
    """Let brim check a rule or not, and return its name."""
    accepts = options.action == "accept"
    _decide_check(entry, workspace, yes=accepts)
    verb = "doesn't check"
    if accepts:
        verb = "checks"
    if not options.as_json:
        print(printable(f"brim {verb} {entry.name}: {cut(entry.rule.text, LONGEST)}"))
    return entry.name
