"""Options that several commands have, each declared once, and what they mean.

A command is a function with ``@command(...)``: its docstring is its help, and the arguments of the
decorator are the options it takes, each a function that adds something to a parser.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brim.activation.context import Context
from brim.agents import agent_at_work
from brim.cli.output import note
from brim.config import Config
from brim.errors import BrimError, InputError, PersonNeeded
from brim.models.overrides import use
from brim.record import PlainData
from brim.tokens.inputs import read_text
from brim.workspace import Workspace, working_folder

Adder = Callable[[ArgumentParser], object]

__all__ = ["Workspace", "working_folder"]

NOTHING_YET = "no rules yet: brim learn 'Use uv, not pip'"


@dataclass(frozen=True)
class Command(PlainData):
    """What a command does, the options it takes, and its help."""

    run: Callable[[Namespace], int]
    options: tuple[Adder, ...]
    help: str


def command(*options: Adder) -> Callable[[Callable[[Namespace], int]], Command]:
    """Make a command of a function: *options* add what it takes, its docstring is its help."""
    return lambda run: Command(run, options, run.__doc__ or "")


def option(
    *names: str, completer: Callable[..., list[str]] | None = None, **settings: Any
) -> Adder:
    """Return a function that adds one option or argument to a parser.

    *completer* completes it in a shell.
    """

    def add(parser: ArgumentParser) -> None:
        added: Any = parser.add_argument(*names, **settings)
        if completer is not None:
            added.completer = completer

    return add


def one_of(*options: Adder) -> Adder:
    """Return a function that adds *options*, of which only one may be given."""

    def add(parser: ArgumentParser) -> None:
        group: Any = parser.add_mutually_exclusive_group()
        for each in options:
            each(group)

    return add


def add_json(parser: ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")


def check_words(command: str, usage: str, words: Sequence[str]) -> None:
    """Raise unless *command* takes so many *words*: *usage* is how they are written, such as
    ``SCOPE [USD]``."""
    parts = usage.split()
    least = sum(part[0] != "[" and part[-1] != "]" for part in parts)
    if len(words) < least or (len(words) > len(parts) and "..." not in usage):
        raise InputError(f"write it as: {command} {usage}".rstrip())


def check_belongs(options: Namespace, owners: Mapping[str, Collection[str]], command: str) -> None:
    """Raise if an option was given that belongs to other actions of *command* than
    ``options.action``."""
    for name, actions in owners.items():
        value = getattr(options, name)
        if (
            value is not None
            and value is not False
            and value != ""
            and options.action not in actions
        ):
            homes = " and ".join(f"'{command} {action}'" for action in actions)
            raise InputError(f"--{name.replace('_', '-')} belongs to {homes}")


# Numbers and texts --------------------------------------------------------------------------------


def whole_number(least: int, most: int | None = None) -> Any:
    """Return the type of an option that takes a whole number from *least* to *most*."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ArgumentTypeError(f"must be a whole number, not {text[:60]!r}") from None
        if value < least:
            raise ArgumentTypeError(f"must be {least} or more, not {value}")
        if most is not None and value > most:
            raise ArgumentTypeError(f"must be {most} or less, not {value}")
        return value

    return number


def text_of(given: str) -> str:
    """Return *given*, or standard input without its last line end if it is ``-``."""
    if given != "-":
        return given
    return read_text("-").removesuffix("\n").removesuffix("\r")


def values_by_key(option: str, given: Iterable[str] | None) -> dict[str, list[str]]:
    """Return the values *given* to *option* as ``KEY=VALUE``, by key."""
    found: dict[str, list[str]] = {}
    for pair in given or ():
        key, equals, value = pair.partition("=")
        if not key or not equals or not value:
            raise InputError(f"{option} takes KEY=VALUE, not {pair!r}")
        found.setdefault(key, []).append(value)
    return found


# Settings and models ------------------------------------------------------------------------------


class _Here(Workspace):
    """A person's workspace, which warns of ignored settings."""

    @cached_property
    def config(self) -> Config:
        found: Config = Workspace.config.func(self)  # type: ignore[attr-defined] # a cached property
        for key, where in found.ignored.items():
            if key not in _warned:
                _warned.add(key)
                note(
                    f"{where}: a project's file can't set {key} like this, so it's ignored; remove it"
                )
        return found


_warned: set[str] = set()


def here(flags: Mapping[str, object] | None = None) -> Workspace:
    """Return the workspace of the person who typed the command, with *flags* on top of the
    settings."""
    return _Here.here(who="person", flags=flags)


def settings(flags: Mapping[str, object] | None = None, /, **more: object) -> Config:
    """Return the settings in force, with *flags* by key and, where a key is one word, by name; None
    is not given."""
    return here({**(flags or {}), **more}).config


def own_prices(config: Config) -> Mapping[str, Any]:
    """Return the user's own models, and use only those: prices in a project's file could make
    anything look cheap."""
    own: Mapping[str, Any] = config.yours["models"]
    if config["models"] != own:
        use(own)
        if "models" not in _warned:
            _warned.add("models")
            note(
                "the models in this project's file don't count here: put them into your own, see 'brim config path'"
            )
    return own


def add_model(
    parser: ArgumentParser, default: str = "the setting 'model', else the o200k_base encoding"
) -> None:
    """Add ``--model``, which completes model names; *default* says what is used without it."""
    text = f"model to count for, in any spelling (default: {default})"
    option("--model", "-m", metavar="MODEL", help=text, completer=complete_model)(parser)


def complete_model(prefix: str, **_: object) -> list[str]:
    """Return the model names that begin with what was typed; the configuration's too, if it can be
    read."""
    from brim.models.catalog import models

    with suppress(BrimError):
        settings()
    return [model.name for model in models(f"{prefix}*")][:200]


def token_budget(help: str, type: Any = None) -> Adder:
    """Return a function that adds ``--token-budget``."""
    return option("--token-budget", type=type, metavar="N", help=help)


def planning_flags(options: Namespace, budget_key: str) -> dict[str, object]:
    """Return the options of a plan by setting; ``--token-budget`` sets *budget_key*."""
    return {budget_key: options.token_budget, "model": options.model}


# Rules --------------------------------------------------------------------------------------------


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
    """Return the scope that ``add_scope`` was given, else the project if there is one, else the
    user."""
    if options.scope == "project" and workspace.project is None:
        raise InputError(
            "not in a project: run this in a git repository, or 'mkdir .brim' first, or say --user"
        )
    return options.scope or ("project" if workspace.project is not None else "user")


def tell_trust(workspace: Workspace) -> None:
    """Warn if agents don't hear this project's rules, or not all of them."""
    stored = workspace.project and os.path.exists(
        os.path.join(workspace.project, ".brim", "brim.db")
    )
    if stored and not workspace.trusted:
        note("this project isn't trusted, so agents don't hear its rules: see 'brim rules trust'")
    elif stored:
        with workspace.open(create=False) as scopes:
            if changes := workspace.changes_of(scopes):
                note(changes)


_NARGS = {(False, False): None, (False, True): "?", (True, False): "+", (True, True): "*"}


def rule(
    name: str = "id", *, metavar: str = "RULE", several: bool = False, optional: bool = False
) -> Adder:
    """Return a function that adds the argument *name*, one rule or *several*, and completes ids and
    names."""
    return option(
        name,
        metavar=metavar,
        nargs=_NARGS[several, optional],
        help="its id, or a part of its name or text that no other rule has",
        completer=complete_rule,
    )


def complete_rule(prefix: str, **_: object) -> list[str]:
    """Return the ids and names of stored rules that begin with what was typed; nothing if they
    cannot be read."""
    found: list[str] = []
    with suppress(BrimError), here().open() as scopes:
        found = [text for behavior in scopes.behaviors() for text in (behavior.id, behavior.name)]
    return [text for text in dict.fromkeys(found) if text.startswith(prefix)][:200]


# The situation ------------------------------------------------------------------------------------


def add_situation(parser: ArgumentParser) -> None:
    """Add the options that describe the situation."""
    about = parser.add_argument_group(
        "the situation", "what you don't give is inferred, or left open"
    )
    about.add_argument(
        "--file", action="append", metavar="FILE", help="file that is worked on; may be repeated"
    )
    about.add_argument("--task", metavar="TASK", help="such as testing (default: from the prompt)")
    about.add_argument("--language", metavar="NAME", help="such as python (default: from the file)")
    about.add_argument(
        "--prompt", default="", metavar="TEXT", help="what the person typed; - is standard input"
    )
    about.add_argument(
        "--command", default="", metavar="TEXT", help="shell command that is about to run"
    )
    about.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="a condition of your own; may be repeated",
    )


def situation_of(options: Namespace, workspace: Workspace) -> Context:
    """Return the situation that the options describe, completed from the project and the
    environment."""
    return Context(
        file=options.file,
        task=options.task,
        language=options.language,
        prompt=text_of(options.prompt),
        command=options.command,
        custom=values_by_key("--set", options.set),
        **workspace.surroundings,
    )


# People -------------------------------------------------------------------------------------------


def need_person(what: str) -> None:
    """Raise if an agent runs this command: *what* it does loosens something, which only a person
    may do."""
    if agent := agent_at_work(os.environ):
        by = (
            f"and this command was run by {agent}"
            if agent != "an agent"
            else "and an agent ran this command"
        )
        raise PersonNeeded(
            f"only a person {what}, {by}: nothing was changed. Your user can do it in a terminal of their own"
        )


# Questions ----------------------------------------------------------------------------------------


def add_yes(parser: ArgumentParser) -> None:
    """Add ``--yes`` and ``--dry-run``."""
    one_of(
        option("--yes", "-y", action="store_true", help="do it without asking"),
        option("--dry-run", action="store_true", help="only show what would be done"),
    )(parser)


def says_yes(question: str, *, yes: bool, no: str = "nothing was changed") -> bool:
    """Whether to go on: *yes* was given, or a person at the terminal agrees. If not, print *no*."""
    if yes:
        return True
    if not is_person_there():
        note(f"{no}: pass --yes to do it without a question")
        return False
    if answer(f"{question} [y/N] ").casefold() in ("y", "yes"):
        return True
    note(no)
    return False


def is_person_there() -> bool:
    """Whether a person can read a question and type an answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def agrees(question: str) -> bool:
    """Whether a person at the terminal agrees: a bare Enter does, the end of input doesn't."""
    return answer(f"{question} [Y/n] ", at_end="n").casefold() in ("", "y", "yes")


def one_key(question: str) -> str:
    """Ask on standard error, and return the key that a person pressed, in lower case; empty at the
    end of input."""
    try:
        import termios
        import tty
    except ImportError:  # Windows: then with Enter
        return answer(question)[:1].lower()
    try:
        before = termios.tcgetattr(sys.stdin)
    except termios.error:  # not a terminal
        return answer(question)[:1].lower()
    sys.stdout.flush()
    print(question, end="", file=sys.stderr, flush=True)
    try:
        tty.setcbreak(sys.stdin, termios.TCSANOW)  # what was typed ahead counts
        key = os.read(sys.stdin.fileno(), 1).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
    print(key if key.isprintable() else "", file=sys.stderr)
    return "" if key == "\x04" else key.lower()


def answer(question: str, *, at_end: str = "") -> str:
    """Ask on standard error, so that standard output stays clean.

    Return the answer, *at_end* if there is none.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    print(question, end="", file=sys.stderr, flush=True)
    typed = sys.stdin.readline()
    if not typed.endswith("\n"):
        print(file=sys.stderr)
    return typed.strip() if typed else at_end
