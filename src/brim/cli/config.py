"""``brim config``: the settings in force."""

from __future__ import annotations

import click

from brim.cli.options import json_option, settings
from brim.cli.output import faint, say, say_json, table
from brim.config import SETTINGS


@click.group("config", short_help="Show the settings in force, and where each comes from.")
def command() -> None:
    """Show the settings in force, and where each comes from.

    \b
    Example:
      brim config list
    """


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List every setting with its value and where it was set.

    A flag is stronger than an environment variable, that than the project's .brim/config.yaml, that than the user's
    ~/.brim/config.yaml, that than the default.

    \b
    Example:
      BRIM_MODEL=gpt-4o brim config list
    """
    config = settings()
    if as_json:
        say_json({key: {"value": value.value, "origin": value.origin} for key, value in config.values.items()})
        return
    rows = [["setting", "value", "set by", "meaning"]]
    for setting in SETTINGS:
        value = config.values[setting.key]
        rows.append([setting.key, _shown(value.value), value.origin, setting.help])
    lines = table(rows).split("\n")
    say("\n".join([faint(lines[0]), *lines[1:]]))


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return ", ".join(value) or "-" if isinstance(value, dict) else str(value)
