"""Options that several commands have, each declared once, and what they mean.

A command is a function with ``@command(...)``: its docstring is its help, and the arguments of the
decorator are the options it takes, each a function that adds something to a parser. Those about
rules are in ``brim.cli.rule_options``, so that other commands don't load rules.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brim.cli.output import note
from brim.config.values import Config
from brim.errors import BrimError, InputError
from brim.record import PlainData
from brim.workspace import Workspace, use_models

Adder = Callable[[ArgumentParser], object]

MOST_COMPLETIONS = 200
"""Names that a shell is offered."""


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

    *completer* completes its value in a shell.
    """

    def add(parser: ArgumentParser) -> None:
        argument: Any = parser.add_argument(*names, **settings)
        if completer is not None:
            argument.completer = completer

    return add


def one_of(*options: Adder) -> Adder:
    """Return a function that adds *options*, of which only one may be given."""

    def add(parser: ArgumentParser) -> None:
        group: Any = parser.add_mutually_exclusive_group()
        for add_option in options:
            add_option(group)

    return add


def add_json(parser: ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")


def check_words(command: str, usage: str, words: Sequence[str]) -> None:
    """Raise unless *command* takes so many *words*.

    *usage* is how they are written, such as ``SCOPE [USD]``.
    """
    parts = usage.split()
    needed = sum(part[0] != "[" and part[-1] != "]" for part in parts)
    too_many = len(words) > len(parts) and "..." not in usage
    if len(words) < needed or too_many:
        raise InputError(f"write it as: {command} {usage}".rstrip())


def check_belongs(options: Namespace, owners: Mapping[str, Collection[str]], command: str) -> None:
    """Raise if an option was given that belongs to other actions of *command*.

    *owners* has the actions of each option.
    """
    for name, actions in owners.items():
        if getattr(options, name) in (None, False, "") or options.action in actions:
            continue
        homes = " and ".join(f"'{command} {action}'" for action in actions)
        raise InputError(f"--{name.replace('_', '-')} belongs to {homes}")


# Numbers and texts --------------------------------------------------------------------------------


def whole_number(lowest: int, highest: int | None = None) -> Any:
    """Return the type of an option that takes a whole number from *lowest* to *highest*."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ArgumentTypeError(f"must be a whole number, not {text[:60]!r}") from None
        if value < lowest:
            raise ArgumentTypeError(f"must be {lowest} or more, not {value}")
        if highest is not None and value > highest:
            raise ArgumentTypeError(f"must be {highest} or less, not {value}")
        return value

    return number


def values_by_key(option: str, pairs: Iterable[str] | None) -> dict[str, list[str]]:
    """Return the values that *option* was given as ``KEY=VALUE``, by key."""
    values: dict[str, list[str]] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not key or not equals or not value:
            raise InputError(f"{option} takes KEY=VALUE, not {pair!r}")
        values.setdefault(key, []).append(value)
    return values


# Settings and models ------------------------------------------------------------------------------


class _Here(Workspace):
    """A person's workspace, which warns of ignored settings."""

    @cached_property
    def config(self) -> Config:
        config: Config = Workspace.config.func(self)  # type: ignore[attr-defined] # a cached property
        for key, where in config.ignored.items():
            if key not in _warned:
                _warned.add(key)
                note(
                    f"{where}: a project's file can't set {key} like this,"
                    " so it's ignored; remove it"
                )
        return config


_warned: set[str] = set()


def here(flags: Mapping[str, object] | None = None) -> Workspace:
    """Return the workspace of the person who typed the command.

    *flags* go on top of the settings.
    """
    return _Here.here(who="person", flags=flags)


def settings(flags: Mapping[str, object] | None = None, /, **named_flags: object) -> Config:
    """Return the settings in force, with *flags* by key.

    A key of one word can be given by name. None is not given.
    """
    return here({**(flags or {}), **named_flags}).config


def lenient_workspace() -> Workspace:
    """Return the workspace of the person who typed a command that only shows something.

    A mistake in the settings is said once, and everything else is shown.
    """
    workspace = here()
    workspace.goes_on = True
    _ = workspace.config
    problem = workspace.problems.get("user", "")
    if problem and problem not in _warned:
        _warned.add(problem)
        note(f"{problem}. Correct that line in an editor; your limits go on applying: brim limit")
    return workspace


def own_prices(config: Config) -> Mapping[str, Any]:
    """Use only the user's own models, and return them.

    Prices in a project's file could make anything look cheap.
    """
    own: Mapping[str, Any] = config.yours["models"]
    if config["models"] == own:
        return own
    use_models(own)
    if "models" not in _warned:
        _warned.add("models")
        note(
            "the models in this project's file don't count here:"
            " put them into your own, see 'brim config path'"
        )
    return own


def add_model(
    parser: ArgumentParser, default: str = "the setting 'model', else the o200k_base encoding"
) -> None:
    """Add ``--model``, which completes model names; *default* says what is used without it."""
    text = f"model to count for, in any spelling (default: {default})"
    option("--model", "-m", metavar="MODEL", help=text, completer=complete_model)(parser)


def complete_model(prefix: str, **_: object) -> list[str]:
    """Return the model names that begin with what was typed.

    The configuration's are among them, if it can be read.
    """
    from brim.models.catalog import models

    with suppress(BrimError):
        settings()
    return [model.name for model in models(f"{prefix}*")][:MOST_COMPLETIONS]


def token_budget(help: str, type: Any = None) -> Adder:
    """Return a function that adds ``--token-budget``."""
    return option("--token-budget", type=type, metavar="N", help=help)


def planning_flags(options: Namespace, budget_key: str) -> dict[str, object]:
    """Return the options of a plan by setting; ``--token-budget`` sets *budget_key*."""
    return {budget_key: options.token_budget, "model": options.model}
