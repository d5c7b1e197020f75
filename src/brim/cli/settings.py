"""Options that several commands have, and the settings behind them."""

from __future__ import annotations

import os

from brim.config import Config, load
from brim.errors import BrimError, ConfigError, InputError
from brim.models.overrides import use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Mapping
    from typing import Any


def add_model(parser: ArgumentParser, default: str = "the setting 'model', else the o200k_base encoding") -> None:
    """Add ``--model``, which completes model names; *default* says what is taken without it."""
    text = f"model to count for, in any spelling (default: {default})"
    option: Any = parser.add_argument("--model", "-m", metavar="MODEL", help=text)
    option.completer = complete_model


def add_json(parser: ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")


def complete_model(prefix: str, **_: object) -> list[str]:
    """Return the model names that begin with what was typed; the configuration's too, if it can be read."""
    from contextlib import suppress

    from brim.models.catalog import models

    with suppress(BrimError):
        settings()
    return [model.name for model in models(f"{prefix}*")][:200]


def whole_number(least: int) -> Any:
    """Return the type of an option that takes a whole number from *least* on."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            from argparse import ArgumentTypeError

            raise ArgumentTypeError(f"{value} is less than {least}")
        return value

    number.__name__ = "whole number"  # argparse says: invalid whole number value
    return number


def settings(flags: Mapping[str, object] | None = None, /, **more: object) -> Config:
    """Return the settings in force, and make their models known to the process.

    On top are *flags* by key (``{"token_budget.default": options.token_budget}``) and, where a key is one word, by name
    (``model=options.model``). None is a flag that was not given; a text is read as a variable would be.
    """
    if more.get("model") == "":
        raise InputError("--model is empty: name a model, or leave the option out")
    config = load(os.environ, working_folder(), {**(flags or {}), **more})
    try:
        use(config["models"])
    except ConfigError as error:
        where = config.where(str(error))
        raise ConfigError(f"config: {where}: {error}" if where else str(error)) from None
    warn_of_removed(config)
    return config


_warned: set[str] = set()


def warn_of_removed(config: Config) -> None:
    """Say once on standard error which settings are set that no longer exist."""
    from brim.cli.output import note

    for key, where in config.removed.items():
        if key not in _warned:
            _warned.add(key)
            note(f"{where}: {key} is no longer a setting, so it is ignored; remove it")


def working_folder() -> str | None:
    """Return the folder that the command runs in; None if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None
