"""Options that commands about rules have, each declared once, and what they mean."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import Any

from brim.cli.options import Adder, here, one_of, option
from brim.cli.output import note
from brim.config.places import branch_of
from brim.errors import BrimError, InputError
from brim.rules.outlook import situation_for
from brim.rules.rulebook import Rulebook
from brim.rules.situation import Situation
from brim.rules.source import PROJECT, USER
from brim.tokens.inputs import text_of
from brim.workspace import Workspace

NO_RULES = "no rules yet: brim learn 'Use uv, not pip'"

MOST_COMPLETIONS = 200
"""Names that a shell is offered."""


def add_scope(parser: ArgumentParser) -> None:
    """Add ``--project`` and ``--user``."""
    one_of(
        option(
            "--project",
            **scope_option(PROJECT),
            help="in this project's .brim/rules.toml (default inside a project)",
        ),
        option("--user", **scope_option(USER), help="in your own ~/.brim/rules.toml, for all"),
    )(parser)


def add_place(parser: ArgumentParser) -> None:
    """Add ``--project`` and ``--user`` for a rule that is there already."""
    one_of(
        option("--project", **scope_option(PROJECT), help="only a rule of this project"),
        option("--user", **scope_option(USER), help="only a rule of your own"),
    )(parser)


def scope_option(name: str) -> dict[str, Any]:
    """Return the arguments that make an option set ``scope`` to *name*."""
    return {"dest": "scope", "action": "store_const", "const": name}


def scope_of(options: Namespace, workspace: Workspace) -> str:
    """Return the place that ``add_scope`` was given.

    By default it's the project if there is one, else the user.
    """
    if options.scope == PROJECT and workspace.project is None:
        raise InputError(
            "not in a project: run this in a git repository, or 'mkdir .brim' first, or say --user"
        )
    if options.scope:
        return str(options.scope)
    if workspace.project is None:
        return USER
    return PROJECT


def tell_trust(workspace: Workspace) -> None:
    """Warn if agents don't hear this project's rules, or not all of them."""
    if workspace.project is None:
        return
    book = workspace.rulebook
    if not book.is_trusted:
        if os.path.lexists(book.file(PROJECT).path):
            note("this project isn't trusted, so its rules aren't told: brim rules trust")
        return
    note(workspace.changes)


_NARGS = {(False, False): None, (False, True): "?", (True, False): "+", (True, True): "*"}


def rule_argument(
    name: str = "id", *, metavar: str = "RULE", several: bool = False, optional: bool = False
) -> Adder:
    """Return a function that adds the argument *name*: one rule, or *several*."""
    return option(
        name,
        metavar=metavar,
        nargs=_NARGS[several, optional],
        help="its name, or a part of its name or text that no other rule has",
        completer=complete_rule,
    )


def complete_rule(prefix: str, **_: object) -> list[str]:
    """Return the names of rules that begin with what was typed.

    There are none if the rules can't be read.
    """
    names: list[str] = []
    with suppress(BrimError):
        for entry in here().rulebook.entries(native=False):
            if entry.name.startswith(prefix):
                names.append(entry.name)
    return names[:MOST_COMPLETIONS]


# The situation ------------------------------------------------------------------------------------


def add_situation(parser: ArgumentParser) -> None:
    """Add the options that say what happens."""
    group = parser.add_argument_group("what happens", "nothing means that a session begins")
    group.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="FILE",
        help="file that is read or changed; may be repeated",
    )
    group.add_argument("--run", default="", metavar="COMMAND", help="command that is about to run")
    group.add_argument(
        "--prompt", default="", metavar="TEXT", help="what the person typed; - is standard input"
    )


def situation_of(options: Namespace, workspace: Workspace) -> Situation | None:
    """Return the situation that the options describe; None if a session begins."""
    current_branch = ""
    if workspace.project is not None:
        current_branch = branch_of(workspace.project)
    return situation_for(
        prompt=text_of(options.prompt),
        paths=tuple([_inside(path, workspace) for path in options.file]),
        command=options.run,
        branch=current_branch,
    )


def _inside(path: str, workspace: Workspace) -> str:
    """Return *path* as rules name it: relative to the project."""
    if workspace.project is None:
        return path
    full = os.path.realpath(os.path.join(workspace.cwd, path))
    relative = os.path.relpath(full, workspace.project)
    if relative.startswith(os.pardir):
        return path
    return relative.replace(os.sep, "/")


def rules_of(options: Namespace, book: Rulebook, names: list[str]) -> list[Any]:
    """Return the rules of rules files that *names* mean; if one isn't found, none is."""
    place = options.scope or ""
    entries = []
    for name in names:
        entry = book.own(name, place)
        if entry not in entries:
            entries.append(entry)
    return entries
