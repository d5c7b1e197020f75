"""Options that several commands have, and the settings behind them."""

from __future__ import annotations

import os

from brim.config import Config, load
from brim.errors import BrimError, ConfigError, InputError
from brim.models.overrides import use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
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


def settings(**flags: object) -> Config:
    """Return the settings in force, with *flags* on top, and make their models known to the process."""
    if flags.get("model") == "":
        raise InputError("--model is empty: name a model, or leave the option out")
    try:
        folder: str | None = os.getcwd()
    except OSError:  # it was deleted
        folder = None
    config = load(os.environ, folder, flags)
    try:
        use(config["models"])
    except ConfigError as error:
        where = config.where(str(error))
        raise ConfigError(f"config: {where}: {error}" if where else str(error)) from None
    return config
