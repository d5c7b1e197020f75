"""What the commands about behaviors share: the files of this place, the situation in it, and which scope is meant."""

from __future__ import annotations

import os
import time

from brim.cli.output import note
from brim.cli.settings import settings, working_folder
from brim.config import project_folder, user_folder
from brim.errors import BrimError, InputError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Mapping
    from typing import Any

    from brim.activation.context import Context
    from brim.behaviors.behavior import Behavior
    from brim.config import Config
    from brim.store.scopes import Scopes


NOTHING_YET = "nothing has been learned yet: brim learn --right 'Use uv, not pip'"
"""What is said where there is nothing to show."""


class Place:
    """Where a command runs: the project there (if there is one), the user's folder, and the settings in force.

    A person who types a command in a project may use it, trusted or not. *for_agent* says that an agent's session is
    told: then neither the settings nor the behaviors of a project count unless it is trusted.
    """

    def __init__(self, flags: Mapping[str, object] | None = None, *, for_agent: bool = False) -> None:
        folder = working_folder()
        self.project = project_folder(os.environ, folder) if folder is not None else None
        self.user = user_folder(os.environ)
        self.now = time.time()
        self._usable = not for_agent or self._is_trusted()
        self.config: Config = settings(flags or {}) if self._usable else _own_settings(flags or {})

    def open(self, *, migrate: bool = True) -> Scopes:
        """Open what is stored here and may be used; with *migrate* an older file is brought up to date."""
        from brim.store.scopes import open_scopes

        return open_scopes(self.project, self.user, trusted=self._usable, migrate=migrate)

    def scope(self, options: Namespace) -> str:
        """Return the scope that ``add_scope`` was given, else the project if there is one, else the user."""
        if options.scope == "project" and self.project is None:
            raise InputError(
                "there is no project here: run it inside a git repository, or 'mkdir .brim', or say --user"
            )
        return options.scope or ("project" if self.project is not None else "user")

    def begin_project(self) -> None:
        """Make the project's ``.brim/`` if it is not there, and trust it: what brim made is nobody else's word.

        In this order: a project in which nothing could be made is not trusted, whatever is put there later. Of several
        processes that begin it at once, the one that made the folder trusts it.
        """
        if self.project is None:
            return
        from brim.store.trust import trust

        folder = os.path.join(self.project, ".brim")
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            return
        except OSError as error:
            raise StoreError(f"{folder}: cannot be made: {error.strerror or error}", "read-only") from None
        trust(self.project, self.user, now=self.now)

    def tell_trust(self) -> None:
        """Say so if hooks would leave this project's behaviors out."""
        if self.project is None or not os.path.exists(os.path.join(self.project, ".brim", "brim.db")):
            return
        if not self._is_trusted():
            note("this project is not trusted, so agents are not told its behaviors: see 'brim trust'")

    def _is_trusted(self) -> bool:
        """Whether what lies here may steer an agent; where there is no project, nothing does."""
        if self.project is None:
            return True
        from brim.store.trust import is_trusted

        return is_trusted(self.project, self.user)


def _own_settings(flags: Mapping[str, object]) -> Config:
    """Return the settings in force without the project's."""
    from brim.config import load
    from brim.models.overrides import use

    config = load(os.environ, None, flags)
    use(config["models"])
    return config


def add_scope(parser: ArgumentParser) -> None:
    """Add ``--project`` and ``--user``."""
    which = parser.add_mutually_exclusive_group()
    for scope, text in (
        ("project", "in this project's .brim/ (default inside a project)"),
        ("user", "in your own ~/.brim/, for every project"),
    ):
        which.add_argument(f"--{scope}", dest="scope", action="store_const", const=scope, help=text)


def add_behavior(
    parser: ArgumentParser, name: str = "id", *, metavar: str = "ID", help: str = "", several: bool = False
) -> None:
    """Add the argument *name*, which means a behavior, or *several*, and completes ids and names."""
    option: Any = parser.add_argument(
        name,
        metavar=metavar,
        nargs="+" if several else None,
        help=help or "its id, its name, or the beginning of either",
    )
    option.completer = complete_behavior


def found_each(scopes: Scopes, given: Iterable[str]) -> list[Behavior]:
    """Return the behaviors that *given* mean, each once however often and by whatever name it was given."""
    return list({each.id: each for each in map(scopes.find, given)}.values())


def complete_behavior(prefix: str, **_: object) -> list[str]:
    """Return the ids and names of what is stored here that begin with what was typed; nothing if it cannot be read."""
    try:
        with Place().open() as scopes:
            found = [text for behavior in scopes.behaviors() for text in (behavior.id, behavior.name)]
    except BrimError:
        return []
    return [text for text in dict.fromkeys(found) if text.startswith(prefix)][:200]


def add_context(parser: ArgumentParser) -> None:
    """Add the options that say what the situation is."""
    about = parser.add_argument_group("the situation", "what is not given is found out, or left open")
    about.add_argument("--file", action="append", metavar="FILE", help="file that is worked on; may be repeated")
    about.add_argument("--task", metavar="TASK", help="such as testing (default: from the prompt)")
    about.add_argument("--language", metavar="NAME", help="such as python (default: from the file)")
    about.add_argument("--environment", metavar="NAME", help="such as ci (default: ci if CI is set)")
    about.add_argument("--project-type", metavar="NAME", help="default: from the files in the project's folder")
    about.add_argument("--branch", metavar="NAME", help="default: the one that is checked out")
    about.add_argument("--prompt", default="", metavar="TEXT", help="what the person typed; - is standard input")
    about.add_argument("--command", default="", metavar="TEXT", help="shell command that is about to run")
    about.add_argument("--set", action="append", metavar="KEY=VALUE", help="a condition of your own; may be repeated")


def context_of(options: Namespace, place: Place) -> Context:
    """Return the situation that ``add_context`` was given, with what can be told by looking around."""
    from brim.activation.context import Context
    from brim.store.project import branch, environment, project_types

    project = place.project
    return Context(
        file=options.file,
        task=options.task,
        language=options.language,
        environment=options.environment or environment(os.environ),
        project_type=options.project_type or (project_types(project) if project else None),
        branch=options.branch or (branch(project) if project else None),
        prompt=text_of(options.prompt),
        command=options.command,
        custom=values_by_key("--set", options.set),
    )


def values_by_key(option: str, given: Iterable[str] | None) -> dict[str, list[str]]:
    """Return what *option* was *given* as ``KEY=VALUE``, any number of times."""
    found: dict[str, list[str]] = {}
    for pair in given or ():
        key, equals, value = pair.partition("=")
        if not key or not equals or not value:
            raise InputError(f"{option} takes KEY=VALUE, not {pair!r}")
        found.setdefault(key, []).append(value)
    return found


def text_of(given: str) -> str:
    """Return *given*, or what standard input holds if it is ``-``, without the line end that every file has."""
    if given != "-":
        return given
    from brim.cli.messages import read_text

    return read_text("-").removesuffix("\n").removesuffix("\r")
