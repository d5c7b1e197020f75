"""Options that commands about rules have, each declared once, and what they mean."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import Any

from brim.activation.context import Context
from brim.cli.options import Adder, here, one_of, option, text_of, values_by_key
from brim.cli.output import note
from brim.errors import BrimError, InputError
from brim.workspace import Workspace

NO_RULES = "no rules yet: brim learn 'Use uv, not pip'"

MOST_COMPLETIONS = 200
"""Names that a shell is offered."""


def add_scope(parser: ArgumentParser) -> None:
    """Add ``--project`` and ``--user``."""
    one_of(
        option(
            "--project",
            **scope_option("project"),
            help="in this project's .brim/ (default inside a project)",
        ),
        option("--user", **scope_option("user"), help="in your own ~/.brim/, for every project"),
    )(parser)


def scope_option(name: str) -> dict[str, Any]:
    """Return the arguments that make an option set ``scope`` to *name*."""
    return {"dest": "scope", "action": "store_const", "const": name}


def scope_of(options: Namespace, workspace: Workspace) -> str:
    """Return the scope that ``add_scope`` was given.

    By default it's the project if there is one, else the user.
    """
    if options.scope == "project" and workspace.project is None:
        raise InputError(
            "not in a project: run this in a git repository, or 'mkdir .brim' first, or say --user"
        )
    if options.scope:
        return str(options.scope)
    if workspace.project is None:
        return "user"
    return "project"


def tell_trust(workspace: Workspace) -> None:
    """Warn if agents don't hear this project's rules, or not all of them."""
    if workspace.project is None:
        return
    if not os.path.exists(os.path.join(workspace.project, ".brim", "brim.db")):
        return
    if not workspace.trusted:
        note("this project isn't trusted, so agents don't hear its rules: see 'brim rules trust'")
        return
    with workspace.open(create=False) as scopes:
        note(workspace.changes_of(scopes))


_NARGS = {(False, False): None, (False, True): "?", (True, False): "+", (True, True): "*"}


def rule_argument(
    name: str = "id", *, metavar: str = "RULE", several: bool = False, optional: bool = False
) -> Adder:
    """Return a function that adds the argument *name*: one rule, or *several*."""
    return option(
        name,
        metavar=metavar,
        nargs=_NARGS[several, optional],
        help="its id, or a part of its name or text that no other rule has",
        completer=complete_rule,
    )


def complete_rule(prefix: str, **_: object) -> list[str]:
    """Return the ids and names of stored rules that begin with what was typed.

    There are none if the rules can't be read.
    """
    names: list[str] = []
    with suppress(BrimError), here().open() as scopes:
        for stored in scopes.behaviors():
            names += [stored.id, stored.name]
    return [name for name in dict.fromkeys(names) if name.startswith(prefix)][:MOST_COMPLETIONS]


# The situation ------------------------------------------------------------------------------------


def add_situation(parser: ArgumentParser) -> None:
    """Add the options that describe the situation."""
    group = parser.add_argument_group(
        "the situation", "what you don't give is inferred, or left open"
    )
    group.add_argument(
        "--file", action="append", metavar="FILE", help="file that is worked on; may be repeated"
    )
    group.add_argument("--task", metavar="TASK", help="such as testing (default: from the prompt)")
    group.add_argument("--language", metavar="NAME", help="such as python (default: from the file)")
    group.add_argument(
        "--prompt", default="", metavar="TEXT", help="what the person typed; - is standard input"
    )
    group.add_argument(
        "--command", default="", metavar="TEXT", help="shell command that is about to run"
    )
    group.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="a condition of your own; may be repeated",
    )


def situation_of(options: Namespace, workspace: Workspace) -> Context:
    """Return the situation that the options describe.

    The project and the environment complete it.
    """
    return Context(
        file=options.file,
        task=options.task,
        language=options.language,
        prompt=text_of(options.prompt),
        command=options.command,
        custom=values_by_key("--set", options.set),
        **workspace.surroundings,
    )
