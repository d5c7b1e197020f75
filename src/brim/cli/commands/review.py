"""``brim rules review``: decide about agents' notes, and corrections that brim noticed."""

from __future__ import annotations

import time
from argparse import Namespace

from brim.cli.asking import answer, is_person_there, need_person, one_key
from brim.cli.options import add_json, command, here, option
from brim.cli.output import block, counted, emit, note, paint, printable
from brim.cli.rule_options import add_scope
from brim.errors import InputError
from brim.rules.inbox import InboxNote
from brim.rules.rulebook import Rulebook, visible
from brim.rules.source import PROJECT, USER
from brim.workspace import Workspace

ACTIONS = ("list", "accept", "dismiss")


@command(
    option("action", nargs="?", choices=ACTIONS, default="list", help="default: list"),
    option("ids", nargs="*", metavar="NOTE", help="which notes, by their names"),
    option("--text", default="", metavar="TEXT", help="for accept: other words"),
    add_scope,
    add_json,
)
def review(options: Namespace) -> int:
    """Decide about corrections that brim noticed in your prompts, and about what agents noted.

    They wait in ~/.brim/inbox.toml, and agents aren't told them before you accept them. On a
    terminal, brim asks about each: a accepts it, e lets you change the words first, d dismisses it,
    any other key leaves it for later.

      list              the notes that wait (default)
      accept NOTE ...   make rules of these notes
      dismiss NOTE ...  take these notes off the list; 'brim rules restore' brings them back

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
            f"which note? 'brim rules review' lists them: brim rules review {options.action} NOTE"
        )
    need_person("accepts or dismisses notes")
    return _decide(options)


def _list(options: Namespace) -> int:
    """Show what waits; a person at a terminal is asked about each note."""
    workspace = here()
    notes = workspace.rulebook.inbox.notes()
    waiting = [item for item in notes if item.project in ("", workspace.project or "")]
    asks = bool(waiting) and not options.as_json and is_person_there()
    views = []
    if not asks:
        views = [_note_view(item) for item in waiting]
    result = {"notes": [_note_object(item) for item in waiting]}
    emit(result, "\n\n".join(views), options.as_json)
    if asks:
        _ask_about(waiting, workspace, options)
    elif not waiting and not options.as_json:
        note("nothing to review")
    elif not options.as_json:
        note("'brim rules review accept NOTE' makes a rule of one, 'dismiss NOTE' takes it away")
    elsewhere = len(notes) - len(waiting)
    if elsewhere:
        note(f"{counted(elsewhere, 'note')} about other projects: run it there")
    return 0


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
    book = workspace.rulebook
    by_name = {item.rule.name: item for item in book.inbox.notes()}
    for name in options.ids:
        if name not in by_name:
            raise InputError(f"no note is called {name!r}: 'brim rules review' lists them")
        project = by_name[name].project
        if project not in ("", workspace.project):
            raise InputError(f"{name} is about {project}: run it there")
    names: list[str] = []
    for name in options.ids:
        if options.action == "accept":
            names.append(_accept(by_name[name], options.text, workspace, options))
        else:
            _dismiss(book, name)
            names.append(name)
            if not options.as_json:
                print(printable(f"Dismissed {name}"))
    book.open_index().close()
    return emit({f"{options.action}ed": names}, "", options.as_json)
