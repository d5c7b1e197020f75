"""Options that several commands have, and the settings behind them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from brim.config import Config, load
from brim.errors import ConfigError
from brim.models.overrides import use

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]

MODES = click.Choice(["auto", "approximate", "exact", "api"])


def complete_model(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the model names that begin with what was typed."""
    from brim.models.catalog import models

    return [model.name for model in models(f"{incomplete}*")][:100]


def model_option(command: Command) -> Command:
    """Add ``--model``."""
    return click.option(
        "-m",
        "--model",
        metavar="MODEL",
        shell_complete=complete_model,
        help="Model to count for, in any spelling. [default: the setting 'model', else the o200k_base encoding]",
    )(command)


def json_option(command: Command) -> Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def settings(**flags: object) -> Config:
    """Return the settings in force, with *flags* on top, and make their models known to the process."""
    config = load(os.environ, os.getcwd(), flags)
    try:
        use(config["models"])
    except ConfigError as error:
        where = config.where(str(error).split(" ", 1)[0])
        raise ConfigError(f"config: {where}: {error}" if where else str(error)) from None
    return config
