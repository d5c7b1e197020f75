"""``brim config``: the settings in force."""

from __future__ import annotations

from brim.cli.output import heading, say, say_json, table
from brim.cli.settings import add_json, settings
from brim.config import SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HELP = """\
List every setting with its value and where it was set. A flag is stronger than an environment variable, that than the
project's .brim/config.yaml, that than the user's ~/.brim/config.yaml, that than the default.

Example:
  BRIM_MODEL=gpt-4o brim config list
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("action", choices=["list"], help="what to do")
    add_json(parser)


def run(options: Namespace) -> int:
    """List the settings."""
    config = settings()
    if options.as_json:
        say_json({key: {"value": value.value, "origin": value.origin} for key, value in config.values.items()})
        return 0
    rows = [["setting", "value", "set by", "meaning"]]
    for setting in SETTINGS:
        value = config.values[setting.key]
        rows.append([setting.key, _shown(value.value), value.origin, setting.help])
    say(heading(table(rows)))
    return 0


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return ", ".join(value) or "-" if isinstance(value, dict) else str(value)
